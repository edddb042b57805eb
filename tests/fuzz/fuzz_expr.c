/* SPDX-License-Identifier: MIT */
/* Any bytes into the parser of metric expressions. It must end, stay in its memory, point inside
 * the text when it refuses, say why, and evaluate what it takes to a finite number or to nothing.
 *
 * With clang: -fsanitize=fuzzer,address,undefined. Else the main() below reads the files of the
 * folder it is given, and makes some thousand more from each by changing bytes.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/metric/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_expr: not so: %s\n", what);
	abort();
}

static void
check_error(const struct tally_expr_error *error, const char *text, size_t size)
{
	char out[1024];
	require(error->message[0], "an error has a message");
	require(error->offset <= size, "the place is in the text");
	require(error->line >= 1 && error->column >= 1, "lines and columns count from 1");
	require(error->column <= error->offset + 1, "no more columns than bytes");
	size_t n = tally_expr_explain(error, text, size, out, sizeof(out));
	require(n < sizeof(out) && strlen(out) == n, "what is explained has the length it says");
	require(n > 2 && out[n - 1] == '\n' && out[n - 2] == '^', "a caret ends it");
	unsigned lines = 0;
	for (size_t i = 0; i < n; i++)
		lines += out[i] == '\n';
	require(lines == 3, "message, line and caret");
	require(tally_expr_explain(error, text, size, out, 3) == n, "the length without room");
}

static void
check_values(const struct tally_expr *e)
{
	static const double some[] = { 0, 1, -1, 0.5, 1e300, 1e-300, 18446744073709551615.0 };
	uint32_t n = tally_expr_n_names(e);
	require(n <= TALLY_EXPR_MAX_NAMES, "a bounded number of names");
	double *values = malloc((n + 1) * sizeof(*values));
	uint64_t *valid = malloc((n / 64 + 1) * sizeof(*valid));
	if (!values || !valid)
		abort();
	for (unsigned round = 0; round < 8; round++) {
		memset(valid, round == 7 ? 0x55 : 0xff, (n / 64 + 1) * sizeof(*valid));
		for (uint32_t i = 0; i < n; i++) {
			require(tally_expr_name(e, i) && *tally_expr_name(e, i),
				"a name has bytes");
			values[i] = some[(i + round) % 7];
		}
		double out = 42;
		if (tally_expr_evaluate(e, values, valid, &out))
			require(isfinite(out), "a value is finite");
		else
			require(out == 42, "what is absent leaves the result alone");
	}
	free(values);
	free(valid);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of the very size: one byte too far is found. */
	char *exact = malloc(size ? size : 1);
	if (!exact)
		return 0;
	if (size)
		memcpy(exact, data, size);
	struct tally_expr_error error;
	struct tally_expr *e = tally_expr_parse(exact, size, &error);
	if (e)
		check_values(e);
	else
		check_error(&error, exact, size);
	tally_expr_destroy(e);
	free(exact);
	return 0;
}

#ifndef PASSTALLY_LIBFUZZER

#define ROUNDS 2000

static uint32_t state = 1;

static uint32_t
roll(uint32_t n)
{
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return (state >> 8) % n;
}

/* A few bytes become others, of those that mean something more often than not. */
static void
change(uint8_t *bytes, size_t size)
{
	static const char words[] = "()+-*/,.$[]{}0129eEmaxins_ \t\n\xc3\xa9";
	for (uint32_t n = roll(4) + 1; n > 0; n--) {
		uint8_t *at = &bytes[roll((uint32_t)size)];
		*at = roll(8) ? (uint8_t)words[roll(sizeof(words))] : (uint8_t)roll(256);
	}
}

static int
run_file(const char *path)
{
	static uint8_t bytes[1 << 17], changed[1 << 17];
	FILE *file = fopen(path, "rb");
	if (!file) {
		perror(path);
		return 1;
	}
	size_t size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, size);
	for (unsigned i = 0; size && size < 8192 && i < ROUNDS; i++) {
		memcpy(changed, bytes, size);
		change(changed, size);
		LLVMFuzzerTestOneInput(changed, roll(4) ? size : roll((uint32_t)size));
	}
	printf("ok %s\n", path);
	return 0;
}

int
main(int argc, char **argv)
{
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	if (!folder) {
		fprintf(stderr, "fuzz_expr: name the folder of inputs\n");
		return 2;
	}
	int failed = 0, n = 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		char name[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", argv[1], entry->d_name);
		failed |= run_file(name);
		n++;
	}
	closedir(folder);
	return failed || n == 0;
}

#endif
