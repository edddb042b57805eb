/* SPDX-License-Identifier: MIT */
/* cli/compare/junit.h - a comparison as JUnit's XML, which GitLab, Jenkins and others show beside a
 * build: a test case for each time and gated value. One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_JUNIT_H
#define PASSTALLY_CLI_COMPARE_JUNIT_H

#include "cli/compare/compare.h"

/* A regression is a failure, what cannot be decided is skipped. Returns
 * TALLY_EXIT_OK or, after an error on standard error, another status. */
int tally_compare_write_junit(const char *path, const struct tally_compare *c);

#endif
