/* layer/block.h - which processes are left alone: launchers, shells, parts of browsers.
 *
 * A game's environment is inherited by all that stands between the person and the game. The table
 * is data/blocklist; `block` and `allow` of the configuration add to it and take from it, and
 * allow wins. Any thread; no locks. tally_block_early() reads a configuration only for a program
 * that the table names; what cannot be read or allocated leaves the table's word.
 */
#ifndef PASSTALLY_LAYER_BLOCK_H
#define PASSTALLY_LAYER_BLOCK_H

#include "layer/config/config.h"

struct tally_block_entry {
	const char *pattern, *reason, *group;
};
/* Names sorted in lower case, then patterns with * or ?, then arguments. */
extern const struct tally_block_entry tally_blocklist[];
extern const size_t tally_blocklist_names, tally_blocklist_globs, tally_blocklist_arguments;

/* The row that a base name or an argument of the command line meets, or NULL. */
const struct tally_block_entry *tally_block_find(const char *name);
const struct tally_block_entry *tally_block_find_argument(const char *argument);

struct tally_block_verdict {
	bool blocked;
	const char *name; /* what decided: a name of the process or an argument; NULL: nothing */
	const struct tally_block_entry *entry; /* NULL: `block` or `allow` of the configuration */
};
/* Of a process by its program (a path) and its command line, which may be NULL. Names in the
 * verdict point into what is given here. */
struct tally_block_verdict tally_block_decide(const struct tally_config *config,
					      const char *program, const char *const *argv,
					      size_t n_argv);

/* Is this process left alone? Of its program (a path or a name) and its command line, which is read
 * from /proc. A note says so, and which option captures it. */
bool tally_block_leaves_alone(const struct tally_config *config, const char *program);

/* For a library's start: a compare of the name that this process was executed by with the table.
 * Read once. What else may decide waits for the configuration (layer/session.c). */
bool tally_block_early(void);

#endif
