/* SPDX-License-Identifier: MIT */
/* cli/bench/turn.h - one run of a program under `passtally run`, for the commands that run programs
 * in turn. One thread; blocks until the program has ended.
 */
#ifndef PASSTALLY_CLI_BENCH_TURN_H
#define PASSTALLY_CLI_BENCH_TURN_H

#include <stdbool.h>
#include <stdint.h>

struct tally_turn {
	const char *command; /* for messages */
	char *const *words; /* the program and its arguments; not ended by NULL */
	int n_words;
	const char *folder; /* where it runs; NULL = here */
	uint64_t frames; /* after so many it is not measured any more, and soon ended */
};

/* Writes the log to `log`. Returns false after an error on standard error, which is also a program
 * that fails or shows no frame. */
bool tally_turn_run(const struct tally_turn *turn, const char *log);

#endif
