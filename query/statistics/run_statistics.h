/* SPDX-License-Identifier: MIT */
/* query/statistics/run_statistics.h - statistics of every value of every pass identity, while
 * the game runs.
 *
 * For the `end` line: N, sum, sum of squares, extremes, mean, deviations
 * (query/statistics/moments.h) of gpu_ns, the call_counts, each counter and each metric, as
 * `passtally report` computes them from the frames: segments of an identity in one frame are
 * joined first, and a value that one of them lacks is not counted; passes of a frame that the
 * run's end cut short are counted. Memory is bounded: TALLY_MAX_STATISTICS values of 170 bytes;
 * later values are left out, which is reported. Collector thread only; a frame costs memory
 * only where it brings new values.
 */
#ifndef PASSTALLY_QUERY_RUN_STATISTICS_H
#define PASSTALLY_QUERY_RUN_STATISTICS_H

#include "layer/record.h"

#include <stddef.h>
#include <string.h>

/* The call_counts by their keys, in the order of a log. Pure; any thread. */
enum { TALLY_N_CALL_COUNTS = 7 };
static const struct {
	const char *key;
	uint32_t unknown; /* the bit of a pass for which it is unknown */
	size_t offset;
} tally_call_count_names[TALLY_N_CALL_COUNTS] = {
	{ "draws", TALLY_UNKNOWN_DRAWS, offsetof(struct tally_call_counts, draws) },
	{ "vertices", TALLY_UNKNOWN_VERTICES, offsetof(struct tally_call_counts, vertices) },
	{ "instances", TALLY_UNKNOWN_INSTANCES, offsetof(struct tally_call_counts, instances) },
	{ "dispatches", TALLY_UNKNOWN_DISPATCHES, offsetof(struct tally_call_counts, dispatches) },
	{ "copies", TALLY_UNKNOWN_COPIES, offsetof(struct tally_call_counts, copies) },
	{ "clears", TALLY_UNKNOWN_CLEARS, offsetof(struct tally_call_counts, clears) },
	{ "calls", 0, offsetof(struct tally_call_counts, calls) },
};

static inline uint64_t
tally_call_count(const struct tally_call_counts *counts, unsigned k)
{
	uint64_t v;
	memcpy(&v, (const char *)counts + tally_call_count_names[k].offset, sizeof(v));
	return v;
}

#define TALLY_MAX_STATISTICS 65536

struct tally_run_statistics;

/* The id under which a digest lists the numbers of the frames themselves: passes have others. */
#define TALLY_STATISTICS_OF_FRAME 0u

/* NULL on OOM. For a `digest` values also have their spread (query/statistics/sketch.h), and the
 * frames their own statistics. */
struct tally_run_statistics *tally_run_statistics_create(bool digest);
void tally_run_statistics_destroy(struct tally_run_statistics *s); /* accepts NULL */

/* Defines what the keys of a device's frames mean; replaces the previous description. The
 * keys of its counters must live as long as `s`. */
void tally_run_statistics_describe(struct tally_run_statistics *s,
				   const struct tally_device_record *device);
/* Adds a frame that was written. Keys of counters must live as long as `s`, those of metrics
 * until the device is described again. */
void tally_run_statistics_add(struct tally_run_statistics *s,
			      const struct tally_frame_record *frame);
/* By device, then in order of appearance; call_counts that were always 0 are left out. The
 * caller frees the list, whose texts live as long as `s` or until the next list; NULL with *n 0 on
 * OOM or when there is nothing. */
struct tally_statistic_record *tally_run_statistics_list(struct tally_run_statistics *s,
							 uint32_t *n);

#endif
