/* SPDX-License-Identifier: MIT */
/* layer/session/process.h - the header line's information about the game's process.
 *
 * Filled once by tally_process_read(); the strings belong to the struct. Reads /proc, so it may
 * block as open(2) does; values that cannot be read are left out. tally_process_finish()
 * accepts a zeroed struct.
 */
#ifndef PASSTALLY_LAYER_SESSION_PROCESS_H
#define PASSTALLY_LAYER_SESSION_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_process {
	const char **argv; /* NULL: unknown */
	uint32_t n_argv;
	char *text; /* argv's strings */
};

/* Reads the command line, at most 64 KiB of it. */
void tally_process_read(struct tally_process *process);
void tally_process_finish(struct tally_process *process);

/* When the process began, on CLOCK_MONOTONIC; 0 = not known. Reads /proc. */
uint64_t tally_process_start_ns(void);

/* Path of the executable; "" when /proc does not have it. Under Wine that of the .exe, as the
 * process names it: with the slashes of Windows. Never blocks for long. */
void tally_process_program(char *out, size_t size);

/* The name by which people know the program: the name with which it was executed (that of a
 * link or a script, not of its target), under Wine the .exe as above. Files for one program and
 * %e use its base name. */
void tally_process_called(char *out, size_t size);

/* Returns which word of a command line names the program: the first, or the .exe after Wine's
 * own words. */
size_t tally_process_named_by(const char *const *argv, size_t n_argv);

#endif
