/* SPDX-License-Identifier: MIT */
/* query/source/counter_set.h - counters that cannot all be counted at once: sets, the choice
 * among them, and their rotation.
 *
 * A hardware source offers many counters, and the GPU counts only some of them together. A set
 * is what one source can deliver at once. Each captured frame counts one set; the sets of all
 * sources take turns (rotation), and a frame's line names its `set`; sources without sets
 * always count. A pass keeps the layout under which its values were counted. Sets are created
 * once, when a source opens, and outlive the description of the device (they are never freed).
 * Any thread may read them.
 */
#ifndef PASSTALLY_QUERY_COUNTER_SET_H
#define PASSTALLY_QUERY_COUNTER_SET_H

#include "layer/record.h"

#include <stdbool.h>
#include <stdint.h>

#define TALLY_NO_SET UINT32_MAX

/* Counters that are counted together. */
struct tally_counter_set {
	/* set: for the frame's `set` and for --set; NULL where there is nothing to
	 * choose from. */
	struct tally_layout layout;
	const char *category; /* group, block or query type, for --counters; may be NULL */
	uint32_t bytes; /* size of one result as the driver writes it; 0 = unknown */
};

/* Whether the user requested this counter, which a source offers. `set` and `category` may be
 * NULL. With a NULL list, or the item `overview`, the counter's `overview` decides. Items are
 * keys, names without regard to case, globs, set names, categories; `all` selects
 * everything. */
bool tally_counter_wanted(const char *list, const struct tally_counter *counter, const char *set,
			  const char *category, bool overview);

/* A copy, strings included, that lives as long as the process: equal contents give equal
 * pointers. NULL on OOM. Takes no lock. */
const struct tally_counter *tally_counter_keep(const struct tally_counter *counter);

/* Derives a key from a driver's name: lower case, digits and single '_': "GPU Time Elapsed"
 * becomes gpu_time_elapsed. At most size - 1 bytes; "counter" when nothing is left. */
void tally_counter_slug(const char *name, char *out, size_t size);

/* Keys of one context or device, made so that no two counters share one: `key` itself, or with
 * the source's name in front ("gl-amd.name"), or that with a number. Two counters of one source
 * that are equal in everything but the key they got are one counter, seen in several sets.
 * Zeroed is empty; free with tally_key_table_finish(). NULL, for add() and reserve(): every
 * counter gets its key. */
struct tally_key_table {
	struct tally_key_entry *entries; /* by key */
};
/* Assigns a key to the counter, whose `key` is the preferred one, and adds it; NULL on OOM. The
 * result is that of tally_counter_keep(). counter->key is set to the copy's. */
const struct tally_counter *tally_key_table_add(struct tally_key_table *table,
						struct tally_counter *counter);
bool tally_key_table_has(const struct tally_key_table *table, const char *key);
/* Adds a counter that keeps its key whatever the table contains, and that lives as long as the
 * table; false on OOM. */
bool tally_key_table_reserve(struct tally_key_table *table, const struct tally_counter *counter);
void tally_key_table_finish(struct tally_key_table *table);

/* As tally_counter_keep(), for a set of counters that were kept. */
const struct tally_counter_set *tally_counter_set_keep(const struct tally_counter_set *set);

/* The sets that have a name, for the device line: one block, which the caller frees; NULL: there
 * is none, or no memory. The texts live as long as the process. A set's counters are the last ones
 * of its layout: those before them are of other sources. */
struct tally_set_info *tally_counter_sets_list(const struct tally_counter_set *const *sets,
					       uint32_t n, uint32_t *n_out);

/* Puts n counters into as few sets as a driver allows, in order: `fits(data, chosen, n_chosen)`
 * reports whether these (indices) can be counted together; each set is filled greedily, and a
 * counter that does not fit alone is left out. `set_of[i]` becomes the set's number,
 * TALLY_NO_SET for a counter that was left out. `order` gets all indices, set by set, and those
 * left out at the end. Returns the number of sets. fits() is called at most about n * sets times;
 * all of `chosen` but the last are a set for which it was true before. */
typedef bool tally_counter_fits(void *data, const uint32_t *chosen, uint32_t n_chosen);
uint32_t tally_counter_group(uint32_t n, uint32_t *set_of, uint32_t *order,
			     tally_counter_fits *fits, void *data);

/* Whether --set, with this value, means the set of that name. */
bool tally_set_is_pinned(const char *name, const char *pinned);
/* The index of the set to count, of n sets: `turn` is the number of captured frames; `pinned`
 * (--set) or NULL: the index of the set with that name, TALLY_NO_SET when there is none. */
uint32_t tally_counter_turn(const struct tally_counter_set *const *sets, uint32_t n,
			    const char *pinned, uint64_t turn);

#endif
