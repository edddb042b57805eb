/* layer/process.h - what the header line says of the game's process.
 *
 * Filled once by tally_process_read(); the strings belong to the struct. Reads /proc, so it may
 * block as open(2) does; what can not be read is left out. tally_process_finish() accepts a
 * zeroed struct.
 */
#ifndef PASSTALLY_LAYER_PROCESS_H
#define PASSTALLY_LAYER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_process {
	const char **argv; /* NULL: unknown */
	uint32_t n_argv;
	char *text; /* argv's strings */
};

/* The command line, at most 64 KiB of it. */
void tally_process_read(struct tally_process *process);
void tally_process_finish(struct tally_process *process);

/* Path of the executable; "" when /proc does not say. Under Wine of the .exe, as the process names
 * it: with the slashes of Windows. Never blocks for long. */
void tally_process_program(char *out, size_t size);

/* What people call it: by what it was executed (a link's or a script's name, not what that leads
 * to), under Wine the .exe as above. Files for one program and %e go by its base name. */
void tally_process_called(char *out, size_t size);

/* Which of a command line's words names the program: the first, or the .exe after Wine's own
 * words. */
size_t tally_process_named_by(const char *const *argv, size_t n_argv);

#endif
