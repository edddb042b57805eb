/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_queries.h - what the drivers of fuzz_queries.c share
 *
 * Both the OpenGL and the Vulkan driver return what one input contains, byte by byte. One
 * thread calls.
 */
#ifndef PASSTALLY_TESTS_FUZZ_QUERIES_H
#define PASSTALLY_TESTS_FUZZ_QUERIES_H

#include "query/source/source.h"
#include "tests/fuzz/fuzz.h"

/* The rest of the input. */
extern struct fuzz_input fuzz_answers;

/* The driver's text in `size` bytes; sometimes not terminated. */
void fuzz_text(char *out, size_t size);

/* Checks that no time is negative and that each valid value fits its counter's kind and is a
 * number. */
void fuzz_check_sample(const struct tally_sample *out, const struct tally_counter *const *counters);

/* Runs every Vulkan source over a driver that gives such answers. */
void fuzz_vk_queries(void);

#endif
