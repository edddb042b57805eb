/* query/metric/internal.h - what binding metrics and evaluating them share.
 *
 * query/metric/bind.c makes a set: it finds what the names of each expression mean on one device.
 * query/metric/set.c evaluates it. Every value has a slot: what the calls and the clock tell, then
 * constants, counters and metrics as they are bound. One thread at a time.
 */
#ifndef PASSTALLY_QUERY_METRIC_INTERNAL_H
#define PASSTALLY_QUERY_METRIC_INTERNAL_H

#include "query/metric/metric.h"

#define TALLY_NO_SLOT UINT32_MAX
#define TALLY_UNUSED_SLOT (UINT32_MAX - 1) /* a counter that no metric names */

/* Slots that every set has, in order. */
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

/* Open addressing; by the text of keys, or by their addresses. Not grown: room for n is taken at
 * once. Zeroed is empty. */
struct tally_name_table {
	struct tally_name_row {
		const char *key;
		uint32_t value;
	} * rows;
	uint32_t mask;
	bool by_address;
};
bool tally_name_table_init(struct tally_name_table *t, uint32_t n, bool by_address);
void tally_name_table_finish(struct tally_name_table *t);
/* Keeps what is there under that key; false: it was there. */
bool tally_name_table_put(struct tally_name_table *t, const char *key, uint32_t value);
uint32_t tally_name_table_find(const struct tally_name_table *t, const char *key);

/* Where a name's value is, and what it is divided by: the cores, for a mean. */
struct tally_metric_ref {
	uint32_t slot;
	double divisor;
};

struct tally_bound_metric {
	struct tally_metric metric;
	struct tally_expr *expr;
	struct tally_metric_ref *refs; /* one a name of expr */
	uint32_t n_refs;
	uint32_t slot;
	bool logged;
};

struct tally_metric_set {
	struct tally_bound_metric *bound; /* each after those that it names */
	uint32_t n_bound, room_bound;
	uint32_t *logged; /* places in bound */
	uint32_t n_logged;
	double *values;
	uint8_t *state; /* TALLY_SLOT_* of this evaluation */
	uint8_t *initial; /* known are the constants */
	uint32_t n_slots, room_slots;
	struct tally_name_table by_address; /* every counter of the device */
	struct tally_name_table by_text; /* those that metrics name */
	char **strings; /* owned */
	uint32_t n_strings, room_strings;
};

#endif
