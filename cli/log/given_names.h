/* SPDX-License-Identifier: MIT */
/* cli/log/given_names.h - names that a person gave passes with `passtally name`.
 *
 * One file a program, programs/PROGRAM.names in the folder of passtally's settings, with a line
 * `ID = "NAME"` for each; --names FILE is another one, to share. One thread.
 */
#ifndef PASSTALLY_CLI_GIVEN_NAMES_H
#define PASSTALLY_CLI_GIVEN_NAMES_H

#include "cli/shared/cli.h"

#define TALLY_MAX_GIVEN_NAME 512 /* bytes */

/* The file of a program, by its path; freed with g_free(). NULL: no home is known. */
char *tally_given_names_path(const char *program);
/* Adds the names in `text`, the contents of the file `path`, to `names`, which maps uint64_t * to
 * char *. False: *why, freed with g_free(), is "PATH:LINE: what is wrong". */
bool tally_given_names_parse(GHashTable *names, const char *path, const char *text, char **why);
/* The names of a program's passes, those of --names before those of its own file; NULL: none. A
 * file with an error is reported on standard error, once, and has no names. The caller frees
 * the table. */
GHashTable *tally_given_names_load(const char *program);

/* Takes the option --names of each command that shows passes. */
tally_arg_take tally_given_names_take;

#endif
