/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz.h - what the fuzz targets share: one file a target, one main() for all.
 *
 * A target defines LLVMFuzzerTestOneInput(), which takes any bytes, and `fuzz_target`, which says
 * how driver.c, the main() of the tests, makes more inputs from the kept ones. With clang a second
 * program links libFuzzer in place of driver.c: see tests/fuzz/meson.build. A target keeps no
 * state from one input to the next. One thread calls.
 */
#ifndef PASSTALLY_TESTS_FUZZ_H
#define PASSTALLY_TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fuzz_target {
	const char *name;
	const char *words; /* bytes that mean something here */
	unsigned rounds; /* changed inputs that a test makes from each kept one */
};
extern const struct fuzz_target fuzz_target;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks a condition; otherwise the program aborts and prints the condition. */
static inline void
fuzz_require(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_%s: not so: %s\n", fuzz_target.name, what);
	abort();
}

/* A copy of exactly that size, so that a sanitizer finds one byte too far. The caller frees it. */
static inline void *
fuzz_copy(const uint8_t *data, size_t size)
{
	void *exact = malloc(size ? size : 1);
	if (!exact)
		abort();
	if (size)
		memcpy(exact, data, size);
	return exact;
}

/* Writes a new file each time: replacing the text of an existing file may wait for the disk. */
static inline void
fuzz_write(const char *path, const void *bytes, size_t size)
{
	remove(path);
	FILE *file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
		abort();
}

/* ---- an input as answers, one after another; zeros at its end ---- */

struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t
fuzz_byte(struct fuzz_input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/* One byte chooses: the byte itself, a number near a limit, or the eight bytes that follow. */
static inline uint64_t
fuzz_number(struct fuzz_input *in)
{
	uint8_t first = fuzz_byte(in);
	uint64_t number = 0;
	if (first < 0xa0)
		return first;
	if (first < 0xe0)
		return (UINT64_C(1) << (first & 63)) - ((first & 1) ? 1 : 0);
	if (first < 0xf0)
		return UINT64_MAX - (first & 15);
	for (unsigned i = 0; i < sizeof(number); i++)
		number = number << 8 | fuzz_byte(in);
	return number;
}

static inline void
fuzz_fill(struct fuzz_input *in, void *out, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)out)[i] = fuzz_byte(in);
}

#endif
