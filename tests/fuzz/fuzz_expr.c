/* SPDX-License-Identifier: MIT */
/* Any bytes into the parser of metric expressions. It must end, stay in its memory, point inside
 * the text when it refuses, say why, and evaluate what it accepts to a finite number or to no
 * value.
 */
#include "tests/fuzz/fuzz.h"

#include "query/metric/expr.h"

#include <math.h>

const struct fuzz_target fuzz_target = { "expr", "()+-*/,.$[]{}0129eEmaxins_ \t\n\xc3\xa9", 2000 };

static void
check_error(const struct tally_expr_error *error, size_t size)
{
	fuzz_require(error->message[0], "an error has a message");
	fuzz_require(error->offset <= size, "the place is in the text");
	fuzz_require(error->line >= 1 && error->column >= 1, "lines and columns count from 1");
	fuzz_require(error->column <= error->offset + 1, "no more columns than bytes");
}

static void
check_values(const struct tally_expr *e)
{
	static const double some[] = { 0, 1, -1, 0.5, 1e300, 1e-300, 18446744073709551615.0 };
	uint32_t n = tally_expr_n_names(e);
	fuzz_require(n <= TALLY_EXPR_MAX_NAMES, "a bounded number of names");
	double *values = malloc((n + 1) * sizeof(*values));
	uint64_t *valid = malloc((n / 64 + 1) * sizeof(*valid));
	if (!values || !valid)
		abort();
	for (unsigned round = 0; round < 8; round++) {
		memset(valid, round == 7 ? 0x55 : 0xff, (n / 64 + 1) * sizeof(*valid));
		for (uint32_t i = 0; i < n; i++) {
			fuzz_require(tally_expr_name(e, i) && *tally_expr_name(e, i),
				     "a name has bytes");
			values[i] = some[(i + round) % 7];
		}
		double out = 42;
		if (tally_expr_evaluate(e, values, valid, &out))
			fuzz_require(isfinite(out), "a value is finite");
		else
			fuzz_require(out == 42, "what is absent leaves the result alone");
	}
	free(values);
	free(valid);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *exact = fuzz_copy(data, size);
	struct tally_expr_error error;
	struct tally_expr *e = tally_expr_parse(exact, size, &error);
	if (e)
		check_values(e);
	else
		check_error(&error, size);
	tally_expr_destroy(e);
	free(exact);
	return 0;
}
