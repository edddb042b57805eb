/* SPDX-License-Identifier: MIT */
/* cli/compare/series.h - reads a log into series for a comparison: for each pass and for the
 * frames, the values of each key in frame order.
 *
 * A series keeps at most TALLY_COMPARE_POINTS numbers, so that memory grows with passes and keys,
 * not with frames. Sums, extremes and N stay exact. One thread; out of memory ends the program.
 */
#ifndef PASSTALLY_CLI_COMPARE_SERIES_H
#define PASSTALLY_CLI_COMPARE_SERIES_H

#include "cli/answer/answer.h"
#include "cli/log/aggregate.h"

#define TALLY_COMPARE_POINTS 2048

struct tally_compare_values {
	struct tally_moments moments;
	bool estimated;
	double origin; /* the first value: floats of the differences from it are precise enough */
	struct tally_course points;
};

/* A pass, the work outside passes, or the frames of a device, in one log. */
struct tally_compare_source {
	const struct tally_group *group; /* NULL = the source is the frames of a device */
	uint32_t device;
	uint64_t frames; /* number of frames it was seen in */
	/* elements: struct tally_compare_values *, by the aggregate's series; NULL = none */
	GPtrArray *values;
	/* frames only: CPU time, which is not a series of passes */
	struct tally_compare_values cpu;
	/* of frames, if the filter selects it: elements: uint64_t, each frame's cpu_ns */
	GArray *frame_ns;
};

struct tally_compare_log {
	/* names, devices and keys, options sorted by key; its series hold no values */
	struct tally_aggregate aggregate;
	GPtrArray *sources; /* elements: struct tally_compare_source * */
	char *arguments; /* as typed, quoted for a shell; NULL = the log does not have them */
	/* those to compare, by number; elements: struct tally_device_summary *, borrowed */
	GPtrArray *devices;
	struct tally_answer *answer; /* how the run itself went */
	const struct tally_compare_filter *filter;
	/* Private to series.c: */
	struct tally_aggregate_watch watch;
	GArray *selected; /* elements: struct selected, indexed by series */
};

/* What is read of logs. */
struct tally_compare_filter {
	GPtrArray *patterns; /* elements: char *, with * and ?; NULL or none = every key */
	bool frame_times; /* keep each frame's time, 8 bytes a frame */
	uint64_t warmup; /* as in cli/log/warmup.h */
	int64_t device; /* -1: those on top */
	bool again; /* what is wrong with a log was said */
};
bool tally_compare_wants(const struct tally_compare_filter *filter, const char *key);

/* Returns TALLY_EXIT_OK, or another status after an error on standard error. The caller destroys
 * the log in either case; the filter outlives it. */
int tally_compare_log_read(struct tally_compare_log **out, const char *path,
			   const struct tally_compare_filter *filter);
void tally_compare_log_destroy(struct tally_compare_log *log);
/* The number of one of them. */
uint32_t tally_compare_log_device(const struct tally_compare_log *log, uint32_t slot);
/* Where the speed of a compared device changed most during the run; NULL: nowhere. */
const struct tally_answer_change *tally_compare_log_change(const struct tally_compare_log *log);
/* Number of frames of the compared devices, and of those left out as the warm-up. */
uint64_t tally_compare_log_frames(const struct tally_compare_log *log, uint64_t *warmup);

void tally_compare_values_add(struct tally_compare_values *values, struct tally_value v);
/* The points of one of `parts` equal parts of a series, each the mean of as many values. The caller
 * frees them with g_free(). */
double *tally_compare_values_part(const struct tally_compare_values *values, uint32_t part,
				  uint32_t parts, uint32_t *n);

#endif
