/* cli/compare/series.h - a log read into the series that two of are compared: per pass and per
 * frame, the values of each key in order of frames.
 *
 * A series keeps at most TALLY_COMPARE_POINTS numbers: when it is full, neighbours are averaged
 * and a point stands for twice as many frames from there on. So memory grows with passes and keys,
 * not with frames. Sums, extremes and N stay exact. One thread; out of memory ends the program.
 */
#ifndef PASSTALLY_CLI_COMPARE_SERIES_H
#define PASSTALLY_CLI_COMPARE_SERIES_H

#include "cli/log/aggregate.h"

#define TALLY_COMPARE_POINTS 2048

struct tally_compare_values {
	struct tally_moments moments;
	bool estimated;
	double origin; /* the first value: points are distances from it, so that floats do */
	float *points;
	uint32_t n, room;
	uint64_t stride; /* values a point, a power of two */
	double pending; /* sum of those that make no whole point yet */
	uint64_t n_pending;
};

/* A pass, or what is outside passes, or the frames of a device: in one log. */
struct tally_compare_source {
	const struct tally_group *group; /* NULL = frames */
	uint32_t device;
	uint64_t frames; /* in how many it was seen */
	uint32_t n_values;
	struct tally_compare_values **values; /* by the series of the aggregate; NULL = none */
	struct tally_compare_values cpu; /* frames only: what is no series of a pass */
};

struct tally_compare_log {
	struct tally_aggregate aggregate; /* names, devices, keys; its series hold no values */
	GPtrArray *sources; /* of struct tally_compare_source * */
	GPtrArray *options; /* of char *: "key=value", by key */
	char *arguments; /* as typed, quoted for a shell; NULL = not in the log */
	GArray *devices; /* of uint32_t: those to compare, by number */
	/* Private to series.c. */
	struct tally_compare_log_state *state;
};

struct tally_compare_filter {
	GPtrArray *patterns; /* of GPatternSpec *; NULL = every key */
};
bool tally_compare_wants(const struct tally_compare_filter *filter, const char *key);

/* TALLY_EXIT_OK or, told on standard error, another status. `device` -1: those on top. The log is
 * to be destroyed in any case. */
int tally_compare_log_read(struct tally_compare_log **out, const char *path, uint64_t warmup,
			   int64_t device, const struct tally_compare_filter *filter);
void tally_compare_log_destroy(struct tally_compare_log *log);
/* Whether values of this series were taken: the filter wants it, and the log has some. */
bool tally_compare_log_took(const struct tally_compare_log *log, uint32_t series);

void tally_compare_values_add(struct tally_compare_values *values, struct tally_value v);
void tally_compare_values_finish(struct tally_compare_values *values);
/* The points of `n` series, one behind the other, all with the stride of the coarsest; what makes
 * no whole point is left out. The caller's (g_free). */
double *tally_compare_values_join(const struct tally_compare_values *const *values, uint32_t n,
				  uint32_t *n_points);

#endif
