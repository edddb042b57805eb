/* SPDX-License-Identifier: MIT */
/* query/metric/internal.h - shared by the binding and the evaluation of metrics.
 *
 * query/metric/bind.c makes a set: it finds the meaning of the names of each expression on one
 * device. query/metric/set.c evaluates it. Every value has a slot: first those from calls and
 * the clock, then constants, counters and metrics in the order of binding. One thread at a
 * time.
 */
#ifndef PASSTALLY_QUERY_METRIC_INTERNAL_H
#define PASSTALLY_QUERY_METRIC_INTERNAL_H

#include "query/metric/metric.h"

#define TALLY_NO_SLOT UINT32_MAX
#define TALLY_UNUSED_SLOT (UINT32_MAX - 1) /* a counter that no metric names */

/* The slots that every set has, in order: at first as in tally_call_count_names. */
enum tally_metric_special {
	TALLY_SPECIAL_DRAWS = 0,
	TALLY_SPECIAL_VERTICES,
	TALLY_SPECIAL_INSTANCES,
	TALLY_SPECIAL_DISPATCHES,
	TALLY_SPECIAL_GPU_NS,
	TALLY_SPECIAL_PIXELS,
	TALLY_SPECIAL_DURATION,
	TALLY_N_SPECIALS,
};

enum { TALLY_SLOT_KNOWN = 1, TALLY_SLOT_ESTIMATED = 2 };

/* A hash table with open addressing, by the text of keys or by their addresses. It does not
 * grow: room for n keys is allocated at once. All zeros is an empty table. */
struct tally_name_table {
	struct tally_name_row {
		const char *key;
		uint32_t value;
	} * rows;
	uint32_t mask;
	bool by_address;
};

/* The slot of a name's value and its divisor: the number of cores, for a mean. */
struct tally_metric_ref {
	uint32_t slot;
	double divisor;
};

struct tally_bound_metric {
	struct tally_metric metric;
	struct tally_expr *expr;
	struct tally_metric_ref *refs; /* one per name of expr */
	uint32_t n_refs;
	uint32_t slot;
	bool logged;
};

struct tally_metric_set {
	struct tally_bound_metric *bound; /* each comes after those that it names */
	uint32_t n_bound, room_bound;
	uint32_t *logged; /* indices in bound */
	uint32_t n_logged;
	double *values;
	uint8_t *state; /* TALLY_SLOT_* of the current evaluation */
	uint8_t *initial; /* constants are marked as known */
	uint32_t n_slots, room_slots, room_initial;
	struct tally_name_table by_address; /* every counter of the device */
	struct tally_name_table by_text; /* the counters that metrics name */
	char **strings; /* owned */
	uint32_t n_strings, room_strings;
};

#endif
