/* cli/compare/compare.h - two sides of logs, joined by pass identity and judged.
 *
 * A subject is a pass, what is outside passes, or the whole frame; a row is one key of a subject.
 * All rows that are tested stand under one Holm correction. Printing is three files (text and
 * Markdown, JSON). One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_H
#define PASSTALLY_CLI_COMPARE_H

#include "cli/compare/bootstrap.h"
#include "cli/compare/series.h"

#include <stdio.h>

enum tally_side { TALLY_SIDE_BASE = 0, TALLY_SIDE_NEW, TALLY_N_SIDES };

enum tally_verdict {
	TALLY_VERDICT_ONE_SIDE = 0, /* the other side has no value */
	TALLY_VERDICT_FEW, /* too few frames to judge */
	TALLY_VERDICT_EQUAL, /* the same constant on both sides */
	TALLY_VERDICT_UNSEEN, /* no change that chance would not make */
	TALLY_VERDICT_LESS,
	TALLY_VERDICT_MORE,
	TALLY_N_VERDICTS,
};

struct tally_gate {
	const char *key;
	int worse; /* +1: more is worse, -1: less is */
};

struct tally_compare_settings {
	double confidence; /* of each interval; 1 less it is the level of all alarms together */
	double trim;
	bool has_fail_above;
	double fail_above; /* 0.05 = 5 % */
	const struct tally_gate *gates;
	uint32_t n_gates;
};

struct tally_compare_subject {
	bool frame, outside;
	uint32_t slot; /* which device: the place of it among those compared */
	uint64_t id;
	char *name; /* not escaped */
	const char *label; /* NULL = none */
	enum tally_pass_kind kind;
	uint64_t frames[TALLY_N_SIDES]; /* in how many it was seen */
	GPtrArray
		*sources[TALLY_N_SIDES]; /* of struct tally_compare_source *, a log each or NULL */
};

#define TALLY_COMPARE_CPU UINT32_MAX /* the series of a frame's cpu_ns */

struct tally_compare_row {
	const struct tally_compare_subject *subject;
	const char *key, *unit; /* unit NULL = not said */
	uint32_t series; /* of the key in the log it was first seen in, and likely in the others */
	bool is_time; /* ns */
	bool ratio; /* a share, an average, a metric: not a sum over the frame */
	bool estimated; /* on either side */
	int worse; /* as tally_gate; 0 = a change is no regression */
	enum tally_verdict verdict;
	bool runs; /* judged by whole runs, not by frames */
	uint64_t n[TALLY_N_SIDES]; /* values */
	double mean[TALLY_N_SIDES];
	uint64_t block[TALLY_N_SIDES]; /* frames a block */
	double se, df;
	bool has_interval;
	double low, high; /* of the difference */
	double p, p_holm;
	bool tested;
	bool fails; /* a regression above the threshold */
	bool blind; /* no regression seen, yet one above the threshold would fit the interval too */
};

/* Something that is not the same on both sides, or not within one. */
struct tally_compare_unlike {
	char *what; /* "driver_version" */
	char *side[TALLY_N_SIDES]; /* its value or values; never NULL */
};

struct tally_compare {
	struct tally_compare_settings settings;
	GPtrArray *logs[TALLY_N_SIDES]; /* of struct tally_compare_log *, owned */
	uint32_t n_slots;
	const GArray *numbers; /* of uint32_t, a slot's device; NULL: logs do not agree in them */
	GPtrArray *subjects; /* of struct tally_compare_subject *; frames first */
	GPtrArray *rows; /* of struct tally_compare_row *; by subject, then key */
	GPtrArray *unlike; /* of struct tally_compare_unlike * */
	uint32_t n_tested, n_failed, n_blind;
	uint32_t n_few; /* gated, but known in too few frames */
};

void tally_compare_init(struct tally_compare *c);
void tally_compare_finish(struct tally_compare *c);
/* Join the logs into subjects and rows (join.c), then judge (judge.c). */
void tally_compare_join(struct tally_compare *c);
void tally_compare_judge(struct tally_compare *c);
/* Names both sides' program, options, devices where they differ (unlike.c). */
void tally_compare_find_unlike(struct tally_compare *c);

/* What a row is made of on a side: struct tally_compare_values *, borrowed, one a log that has
 * any. */
GPtrArray *tally_compare_row_values(const struct tally_compare *c,
				    const struct tally_compare_row *row, enum tally_side side);

/* What a slot is called: by its device's number, as report and --device call it, where all logs
 * agree in it; else by its place. */
uint32_t tally_compare_device(const struct tally_compare *c, uint32_t slot);

/* The change over the base's mean; false where that is 0. */
bool tally_compare_relative(const struct tally_compare_row *row, double value, double *out);
const char *tally_verdict_name(unsigned verdict);

struct tally_compare_style {
	bool markdown;
	bool all; /* rows without a change too */
	size_t width; /* of the terminal, 0 = no limit */
};
void tally_compare_print(FILE *out, const struct tally_compare *c,
			 const struct tally_compare_style *style);
void tally_compare_print_json(FILE *out, const struct tally_compare *c);

#endif
