/* SPDX-License-Identifier: MIT */
/* layer/session/block.h - decides which processes are not captured: launchers, shells, parts of
 * browsers.
 *
 * Every process between the user and the game inherits the game's environment. The table is
 * data/blocklist; `block` and `allow` of the configuration add to it and remove from it, and
 * `allow` takes precedence. Any thread; no locks. tally_block_early() reads a configuration
 * only for a program that the table names; if that cannot be read or allocated, the table
 * decides.
 */
#ifndef PASSTALLY_LAYER_SESSION_BLOCK_H
#define PASSTALLY_LAYER_SESSION_BLOCK_H

#include "layer/config/config.h"

struct tally_block_entry {
	const char *pattern, *reason, *group;
};
/* Names sorted in lower case, then patterns with * or ?, then arguments. */
extern const struct tally_block_entry tally_blocklist[];
extern const size_t tally_blocklist_names, tally_blocklist_globs, tally_blocklist_arguments;

/* The row that matches a base name or an argument of the command line, or NULL. */
const struct tally_block_entry *tally_block_find(const char *name);
const struct tally_block_entry *tally_block_find_argument(const char *argument);

struct tally_block_verdict {
	bool blocked;
	const char *name; /* what decided: a name or an argument; NULL: nothing */
	const struct tally_block_entry *entry; /* NULL: `block` or `allow` of the configuration */
};
/* Decides for a process by its program (a path) and its command line, which may be NULL. Names
 * in the verdict point into these arguments. */
struct tally_block_verdict tally_block_decide(const struct tally_config *config,
					      const char *program, const char *const *argv,
					      size_t n_argv);

/* Whether this process is not to be captured, by its program (a path or a name) and its command
 * line, which is read from /proc. A note reports that, and which option captures it. */
bool tally_block_leaves_alone(const struct tally_config *config, const char *program);

/* Called when a library starts: compares the name that this process was executed by
 * with the table. The name is read once. All other criteria wait for the
 * configuration (layer/session/session.c). */
bool tally_block_early(void);

#endif
