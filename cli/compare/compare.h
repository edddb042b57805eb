/* SPDX-License-Identifier: MIT */
/* cli/compare/compare.h - compares two sides of logs, joined by pass identity.
 *
 * A subject is a pass, the work outside passes, or the whole frame; a row is one key of a
 * subject. Rows with a gate (times) share one Holm correction, all others a
 * second one. Printing takes three files (text and Markdown, JSON). One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_H
#define PASSTALLY_CLI_COMPARE_H

#include "cli/compare/means.h"
#include "cli/compare/series.h"
#include "cli/shared/out.h"

#include <stdio.h>

enum tally_side { TALLY_SIDE_BASE = 0, TALLY_SIDE_NEW, TALLY_N_SIDES };

enum tally_verdict {
	TALLY_VERDICT_ONE_SIDE = 0, /* the other side has no value */
	TALLY_VERDICT_FEW, /* too few frames to judge */
	TALLY_VERDICT_EQUAL, /* both sides have the same constant value */
	TALLY_VERDICT_UNSEEN, /* cannot tell: the interval is wider than "the same" */
	TALLY_VERDICT_SAME, /* no change larger than TALLY_COMPARE_SAME is possible */
	TALLY_VERDICT_LESS,
	TALLY_VERDICT_MORE,
	TALLY_N_VERDICTS,
};

/* The conclusion, which with --fail-above is the exit status. */
enum tally_conclusion {
	TALLY_CONCLUSION_SAME = 0, /* every time that matters is known to be unchanged */
	TALLY_CONCLUSION_FASTER,
	TALLY_CONCLUSION_SLOWER, /* regressions, but none above the limit */
	TALLY_CONCLUSION_MIXED,
	TALLY_CONCLUSION_LESS, /* these two only where no time was compared */
	TALLY_CONCLUSION_MORE,
	TALLY_CONCLUSION_NO_REGRESSION, /* with a gate: all that matters is below it */
	TALLY_CONCLUSION_INCONCLUSIVE,
	TALLY_CONCLUSION_REGRESSION,
	TALLY_N_CONCLUSIONS,
};

struct tally_gate {
	char *key;
	int worse; /* +1: a larger value is worse, -1: a smaller one is */
};

/* The defaults of the command. */
#define TALLY_COMPARE_CONFIDENCE 0.99
#define TALLY_COMPARE_SAME 0.03 /* changes below this part are called the same */
/* With fewer runs on either side the values are parts of runs: successive frames are alike, so
 * the parts have to be long. */
#define TALLY_COMPARE_LEAST_RUNS 5
#define TALLY_COMPARE_PARTS 8
/* A side with fewer frames than this is shown but not judged. */
#define TALLY_COMPARE_LEAST 8
/* Where other programs had a driver's CPUs for more than this part of its time, a time of single
 * runs is judged against the other passes only; for more than the second, none is. */
#define TALLY_COMPARE_BUSY 0.2
#define TALLY_COMPARE_LOST 0.75

struct tally_compare_settings {
	/* of each interval; 1 minus it is the level of all alarms together */
	double confidence;
	bool has_fail_above;
	double fail_above; /* as a fraction: 0.05 = 5 % */
	GArray *gates; /* elements: struct tally_gate; NULL = none */
	unsigned allowed; /* bits, 1 << enum tally_unlike_kind: may differ */
};

struct tally_compare_row;

struct tally_compare_subject {
	bool frame, outside;
	uint32_t slot; /* index of the device among those compared */
	uint64_t id;
	char *name; /* not escaped: the first new log's */
	bool renamed; /* another log has another */
	/* The base's pass has another label or size, hence this id, too; the name has both. */
	bool paired;
	uint64_t base_id;
	const char *label; /* NULL = none */
	enum tally_pass_kind kind;
	uint64_t frames[TALLY_N_SIDES]; /* number of frames it was seen in */
	/* one struct tally_compare_source * per log, or NULL */
	GPtrArray *sources[TALLY_N_SIDES];
	const struct tally_compare_source *first[TALLY_N_SIDES]; /* of those that are not NULL */
	const struct tally_compare_row *gpu; /* its GPU time; NULL: not measured */
	const struct tally_compare_subject
		*whole; /* the frame of its device; NULL: there is none */
};

/* The property of the frames' times, other than their mean, that a gate compares. */
enum tally_pace {
	TALLY_PACE_NONE = 0,
	TALLY_PACE_P99,
	TALLY_PACE_HITCHES, /* in 1000 frames, by the rule of cli/answer/hitch.h */
	TALLY_N_PACES,
};

struct tally_compare_row {
	const struct tally_compare_subject *subject;
	const char *key, *unit; /* unit NULL = not stated */
	/* struct tally_compare_values *, borrowed, of each log that has any */
	GPtrArray *values[TALLY_N_SIDES];
	bool is_cpu; /* the frame time, or one of its paces */
	enum tally_pace pace; /* otherwise NONE; then `mean` is the p99 or the hitches */
	bool is_time; /* in nanoseconds */
	bool ratio; /* a fraction, an average or a metric: not a sum over the frame */
	bool estimated; /* on at least one side */
	int worse; /* as in tally_gate; 0 = no change counts as a regression */
	enum tally_verdict verdict;
	bool runs; /* judged by whole runs instead of frames */
	uint64_t n[TALLY_N_SIDES]; /* number of values */
	double mean[TALLY_N_SIDES];
	/* what was judged: the new mean less the base's, or the part of the base's mean by which
	 * the pass changed against the other passes of its frames (`against_others`, or where that
	 * contradicts the means and nothing can be told) */
	double difference;
	bool against_others;
	double se, df;
	double low, high; /* interval of the difference */
	double p, p_holm;
	/* with one to four runs a side: by which part of the base the typical frame changed, less
	 * what all passes have in common */
	double typical;
	/* its mean changed, its typical frame did not: slow frames did */
	bool uneven;
	bool doubted; /* `typical` is known */
	bool tested; /* it has an error, an interval and a p */
	bool fails; /* a regression beyond the threshold */
	/* no regression was found, but the interval includes one beyond the threshold */
	bool blind;
	bool open; /* it leaves the conclusion open */
};

/* The values by which a row is judged on one side. */
struct tally_evidence {
	GArray *values; /* elements: double, of each run, or of each of its parts */
	uint64_t frames;
	double mean; /* over all frames */
	double least_se; /* as in tally_means_side */
	bool constant; /* always this value: */
	double constant_at;
};

/* The kind of property that differs: all but notes are refused unless --allow names them. */
enum tally_unlike_kind {
	TALLY_UNLIKE_NOTE = 0,
	TALLY_UNLIKE_DEVICE,
	TALLY_UNLIKE_DRIVER,
	TALLY_UNLIKE_SIZE,
	TALLY_UNLIKE_OPTIONS,
	TALLY_UNLIKE_PROGRAM, /* another name, and most of the time in other passes */
	TALLY_N_UNLIKE,
};

/* A property that differs between the sides, or within one of them. */
struct tally_compare_unlike {
	enum tally_unlike_kind kind;
	char *what; /* for example "driver_version" */
	char *side[TALLY_N_SIDES]; /* the value or values on each side; never NULL */
	/* Private to unlike.c: elements: char *, without duplicates; a log does not state it, which
	 * agrees with anything; it is listed anyway. */
	GPtrArray *said[TALLY_N_SIDES];
	bool silent, always;
};

struct tally_compare {
	struct tally_compare_settings settings;
	GPtrArray *logs[TALLY_N_SIDES]; /* elements: struct tally_compare_log *, owned */
	uint32_t n_slots;
	GPtrArray *subjects; /* elements: struct tally_compare_subject *; frames come first */
	/* elements: struct tally_compare_row *; sorted by subject, then by key */
	GPtrArray *rows;
	GPtrArray *unlike; /* elements: struct tally_compare_unlike * */
	uint32_t n_tested, n_failed, n_blind;
	uint32_t n_few; /* rows that have a gate but too few frames with a value */
	uint32_t n_open; /* rows that leave the conclusion open */
	/* the part of its time for which a side's driver on the CPU had none that was free */
	double had_no_cpu;
	bool has_gates; /* on any row: a time, or by --gate; the others then decide nothing */
	enum tally_conclusion conclusion;
};

void tally_compare_judge(struct tally_compare *c);
/* Paces (pace.c): their keys, NULL for none; a side's values of a row that has one; and of how many
 * frames the slowest is hardly by chance below their p99, and a delay of one frame in 100 hardly in
 * none of them. */
extern const char *const tally_pace_keys[TALLY_N_PACES];
void tally_pace_gather(const struct tally_compare_row *row, enum tally_side side,
		       struct tally_evidence *e);
uint64_t tally_pace_least(const struct tally_compare *c);
/* Decides the conclusion, and whether a row takes part in it. */
void tally_compare_conclude(struct tally_compare *c);
bool tally_compare_decides(const struct tally_compare *c, const struct tally_compare_row *row);
/* Why the sides are not compared, or NULL: a run is on both, or they differ (after
 * tally_compare_find_unlike()) in what would be mistaken for a change of the program. The caller
 * frees it. */
char *tally_compare_refusal(const struct tally_compare *c);
/* Lists where the program, options, devices or machines of the sides differ, and the clocks of
 * their GPUs (unlike.c). */
void tally_compare_find_unlike(struct tally_compare *c);

/* The words of --allow; notes have none (NULL). */
extern const char *const tally_unlike_names[TALLY_N_UNLIKE];
extern const char *const tally_conclusion_names[TALLY_N_CONCLUSIONS];

struct tally_compare_style {
	bool markdown;
	bool all; /* print rows without a change too */
	size_t width; /* 0 = no limit */
	const char *names[TALLY_N_SIDES]; /* what the sides are called, NULL: by their logs */
};
void tally_compare_print(FILE *out, const struct tally_compare *c,
			 const struct tally_compare_style *style);
/* What differs, then the lines below the tables, as they are printed, the last one the
 * conclusion: elements char *, which go with the array. The caller releases it. */
GPtrArray *tally_compare_lines(const struct tally_compare *c);
/* JUnit's XML, which GitLab, Jenkins and others show beside a build: a test case for each time and
 * gated value; a regression is a failure, what cannot be decided is skipped. Returns TALLY_EXIT_OK
 * or, after an error on standard error, another status. */
int tally_compare_write_junit(const char *path, const struct tally_compare *c);
void tally_compare_print_json(FILE *out, const struct tally_compare *c);
/* The members of the same object, for the page of two logs. */
void tally_compare_put_json(struct tally_out *o, const struct tally_compare *c);

#endif
