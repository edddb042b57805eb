/* SPDX-License-Identifier: MIT */
/* cli/selftest/show.h - the result of a self-test, for people and for programs.
 *
 * The text has the verdict, each device with its laws and their failures, and what to send. One
 * thread.
 */
#ifndef PASSTALLY_CLI_SELFTEST_SHOW_H
#define PASSTALLY_CLI_SELFTEST_SHOW_H

#include "cli/selftest/laws.h"

#include <stdio.h>

struct tally_selftest_result {
	GPtrArray *devices; /* elements: struct tally_tested_device * */
	const char *missing
		[2]; /* for OpenGL and Vulkan: which device is missing; NULL = none is */
	const char *kept; /* the folder to send; NULL = removed */
	double seconds;
};

/* How many laws have the verdict, over all devices. */
guint tally_selftest_count(const struct tally_selftest_result *result,
			   enum tally_verdict verdict);
void tally_selftest_print(const struct tally_selftest_result *result);
void tally_selftest_print_json(const struct tally_selftest_result *result, FILE *to);

#endif
