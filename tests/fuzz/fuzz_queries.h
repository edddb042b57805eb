/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_queries.h - what the drivers of fuzz_queries.c share
 *
 * OpenGL's and Vulkan's say what one input has, byte by byte. One thread calls.
 */
#ifndef PASSTALLY_TESTS_FUZZ_QUERIES_H
#define PASSTALLY_TESTS_FUZZ_QUERIES_H

#include "query/source/source.h"
#include "tests/fuzz/fuzz.h"

/* The input, less what was said. */
extern struct fuzz_input fuzz_answers;

/* Text of the driver in `size` bytes; at times not terminated. */
void fuzz_text(char *out, size_t size);

/* No negative time, each valid value of its counter's kind and a number. */
void fuzz_check_sample(const struct tally_sample *out, const struct tally_counter *const *counters);

/* Every Vulkan source over a driver that answers so. */
void fuzz_vk_queries(void);

#endif
