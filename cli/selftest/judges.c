/* SPDX-License-Identifier: MIT */
#include "cli/selftest/judges.h"

#include "cli/selftest/laws.h"
#include "cli/selftest/reading.h"
#include "cli/shared/each.h"
#include "cli/shared/sort.h"
#include "cli/shared/text.h"
#include "query/sources.h"
#include "query/statistics/run_statistics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* How much the two clocks may differ where one is mapped to the other. */
#define CLOCK_SLACK_NS 1000000
/* In the scenes "work" and "beside" a heavy pass has 16 draws, a light one 1. */
#define LEAST_RATIO 2.0
/* In scene "clock" the GPU works nearly all the time: the share of it that GPU time may be. */
#define CLOCK_LEAST 0.4
#define CLOCK_MOST 1.2

#define PRIMITIVES "primitives_submitted"
#define SHADED "vertex_shader_invocations"
#define FRAGMENTS "fragment_shader_invocations"
#define EXCUSED \
	(TALLY_FLAG(SHARED_TIME) | TALLY_FLAG(NO_TIMESTAMPS) | TALLY_FLAG(DISJOINT) | \
	 TALLY_FLAG(SIMULTANEOUS))

/* The law holds in the scene, or fails with a message. */
static void G_GNUC_PRINTF(4, 5)
	judge(struct tally_trial *t, enum tally_law law, bool holds, const char *format, ...)
{
	TALLY_FORMATTED(what, format);
	if (holds)
		tally_law_hold(t->device, law);
	else
		tally_law_fail(t->device, law, tally_trial_name(t->row), "%s", what);
}

/* The same of one pass. */
#define JUDGE_PASS(t, law, holds, frame, pass, format, ...) \
	judge(t, law, holds, "frame %" PRIu64 ", pass %u: " format, frame, pass, \
	      __VA_ARGS__)

static const struct tally_frame_record *
frame_at(const struct tally_seen_log *log, guint i)
{
	return &g_array_index(log->frames, struct tally_frame_record, i);
}

/* ---- what the program requested ---- */

static void
judge_calls(struct tally_trial *t, uint64_t frame, const struct tally_pass_record *pass,
	    const char *want)
{
	for (unsigned k = 0; k < TALLY_N_CALL_COUNTS; k++) {
		const char *key = tally_call_count_names[k].key;
		uint64_t seen = tally_call_count(&pass->call_counts, k);
		bool known = !(pass->unknown & tally_call_count_names[k].unknown);
		int64_t wanted;
		if (tally_expected_number(want, NULL, key, &wanted))
			JUDGE_PASS(t, TALLY_LAW_CALLS, known && seen == (uint64_t)wanted, frame,
				   pass->index, "%" PRId64 " %s expected, %" PRIu64 " read%s",
				   wanted, key, seen, known ? "" : " (flagged as unknown)");
	}
}

/* ---- what the GPU counted ---- */

/* A statistic lies between two bounds; `source` in messages uses the log's keys. */
static void
judge_range(struct tally_trial *t, enum tally_law law, uint64_t frame,
	    const struct tally_pass_record *pass, const char *key, double least,
	    double most)
{
	const struct tally_value *value = tally_seen_value(pass, key);
	double read = value ? tally_value_f64(*value) : 0.0;
	if (value)
		JUDGE_PASS(t, law, read >= least && read <= most, frame, pass->index,
			   "%s of %.0f to %.0f expected, %.0f read", key, least, most, read);
	else if (tally_seen_counter(&t->log, key) &&
		 !(pass->flags & (TALLY_FLAG(LOST) | TALLY_FLAG(INCOMPLETE))))
		JUDGE_PASS(t, law, false, frame, pass->index, "no %s, which the device counts",
			   key);
}

static void
judge_statistics(struct tally_trial *t, uint64_t frame,
		 const struct tally_pass_record *pass, const char *want)
{
	int64_t wanted, width = 0, height = 0;
	if (tally_expected_number(want, "counters", PRIMITIVES, &wanted)) {
		/* A driver may clear by drawing two triangles, and count them. */
		judge_range(t, TALLY_LAW_PRIMITIVES, frame, pass, PRIMITIVES, (double)wanted,
			    (double)wanted + 2.0 * (double)pass->call_counts.clears);
	}
	/* A GPU that draws tile by tile may run it for the positions first. */
	if (tally_expected_number(want, "counters", SHADED, &wanted))
		judge_range(t, TALLY_LAW_SHADED, frame, pass, SHADED, (double)wanted,
			    2.0 * (double)wanted);
	if (!tally_expected_number(want, NULL, "fragments", &wanted) &&
	    !tally_expected_number(want, "counters", FRAGMENTS, &wanted))
		return;
	tally_expected_number(want, "target", "width", &width);
	tally_expected_number(want, "target", "height", &height);
	/* Pixels that a later draw hides need not be shaded; borders of tiles may be shaded
	 * twice. */
	if (wanted >= width * height)
		judge_range(t, TALLY_LAW_FRAGMENTS, frame, pass, FRAGMENTS,
			    (double)(width * height), 2.0 * (double)wanted);
}

static void
judge_frame(struct tally_trial *t, const struct tally_frame_record *frame)
{
	char **want = t->expected + 1; /* after what is before the first pass */
	guint n = g_strv_length(want);
	judge(t, TALLY_LAW_CALLS, frame->n_passes == n,
	      "frame %" PRIu64 ": %u passes expected, %u read", frame->frame, n,
	      frame->n_passes);
	if (frame->n_passes != n)
		return;
	for (guint i = 0; i < n; i++) {
		const struct tally_pass_record *pass = &frame->passes[i];
		g_autofree char *kind = tally_expected_word(want[i], "kind");
		const char *read = tally_pass_kind_name(pass->kind);
		JUDGE_PASS(t, TALLY_LAW_CALLS, g_strcmp0(kind, read) == 0, frame->frame,
			   i, "%s expected, %s read", kind, read);
		judge_calls(t, frame->frame, pass, want[i]);
		judge_statistics(t, frame->frame, pass, want[i]);
	}
}

/* ---- flags and times ---- */

static void
judge_flags(struct tally_trial *t)
{
	const uint64_t bad = TALLY_FLAG(LOST) | TALLY_FLAG(INCOMPLETE) | TALLY_FLAG(DROPPED);
	TALLY_EACH_OF (const struct tally_frame_record, frame, t->log.frames) {
		for (uint32_t k = 0; k < frame->n_passes; k++) {
			uint64_t flags = frame->passes[k].flags & bad;
			for (unsigned bit = 0; flags && bit < TALLY_N_FLAGS; bit++)
				if (flags & UINT64_C(1) << bit)
					JUDGE_PASS(t, TALLY_LAW_RESULTS, false,
						   frame->frame, k, "flagged %s",
						   tally_flag_name(bit));
		}
	}
	tally_law_hold(t->device, TALLY_LAW_RESULTS);
}

static bool
is_timed(const struct tally_pass_record *pass)
{
	return pass->has_gpu && pass->has_gpu_start;
}

static void
judge_time(struct tally_trial *t, uint64_t frame, const struct tally_pass_record *pass,
	   uint64_t *last)
{
	const enum tally_law law = TALLY_LAW_TIMES;
	if (pass->flags & TALLY_FLAG(BAD_TIME))
		JUDGE_PASS(t, law, false, frame, pass->index, "flagged %s",
			   "bad_time: it ends before it begins, or far from the CPU's clock");
	if (pass->flags & TALLY_FLAG(NO_TIMESTAMPS))
		tally_law_lack(t->device, law, "the driver has no timestamps");
	if (!is_timed(pass)) {
		if (!(pass->flags & (EXCUSED | TALLY_FLAG(BAD_TIME))))
			JUDGE_PASS(t, law, false, frame, pass->index, "no time, and no %s says why",
				   "flag");
		return;
	}
	JUDGE_PASS(t, law, pass->gpu_start_ns >= *last, frame, pass->index,
		   "begins %" PRIu64 " ns before the pass before it", *last - pass->gpu_start_ns);
	*last = pass->gpu_start_ns;
	if (pass->flags & TALLY_FLAG(UNCALIBRATED) || !pass->has_cpu_start)
		return;
	uint64_t end = pass->gpu_start_ns + pass->gpu_ns;
	JUDGE_PASS(t, law, pass->gpu_start_ns + CLOCK_SLACK_NS >= pass->cpu_start_ns, frame,
		   pass->index, "the GPU began it %" PRIu64 " ns before the program did",
		   pass->cpu_start_ns - pass->gpu_start_ns);
	JUDGE_PASS(t, law, end <= t->ours.ended_ns + CLOCK_SLACK_NS, frame, pass->index,
		   "ends %" PRIu64 " ns after the program did", end - t->ours.ended_ns);
}

static void
judge_times(struct tally_trial *t)
{
	/* Contexts may work at the same time: only one context's passes have an order. */
	TALLY_EACH_OF (const struct tally_frame_record, frame, t->log.frames) {
		uint64_t last = 0;
		for (uint32_t k = 0; k < frame->n_passes; k++) {
			if (k && frame->passes[k].context != frame->passes[k - 1].context)
				last = 0;
			judge_time(t, frame->frame, &frame->passes[k], &last);
		}
	}
}

void
tally_judge_frames(struct tally_trial *t)
{
	guint n = tally_trial_frames(t->row);
	judge(t, TALLY_LAW_CALLS, t->log.frames->len == n, "%u frames expected, %u read", n,
	      t->log.frames->len);
	TALLY_EACH_OF (const struct tally_frame_record, frame, t->log.frames)
		judge_frame(t, frame);
	judge_flags(t);
	judge_times(t);
}

/* ---- work ---- */

static double
median(GArray *numbers)
{
	g_array_sort(numbers, tally_order_double);
	return g_array_index(numbers, double, numbers->len / 2);
}

/* The median time of a pass over the frames; 0 = it has none. */
static double
median_time(const struct tally_seen_log *log, uint32_t pass)
{
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(double));
	TALLY_EACH_OF (const struct tally_frame_record, frame, log->frames) {
		if (pass >= frame->n_passes || !is_timed(&frame->passes[pass]))
			continue;
		double time = (double)frame->passes[pass].gpu_ns;
		g_array_append_val(times, time);
	}
	return times->len ? median(times) : 0.0;
}

static void
judge_ratio(struct tally_trial *t, enum tally_law law, uint32_t light, uint32_t heavy)
{
	double less = median_time(&t->log, light), more = median_time(&t->log, heavy);
	bool none = less <= 0.0 && more <= 0.0;
	/* Of neighbors that is flagged: see judge_times(). */
	if (none && law != TALLY_LAW_NEIGHBOR)
		tally_law_lack(t->device, law, "these passes have no time of their own");
	else
		judge(t, law, none || more >= LEAST_RATIO * less,
		      "16 draws took %.0f ns, 1 draw %.0f ns (medians of %u frames)", more, less,
		      t->log.frames->len);
}

static bool
is_statistic(const struct tally_counter *counter)
{
	return g_str_has_suffix(counter->source, "-statistics");
}

/* Two passes of equal work count equally, where both count. */
static void
judge_same(struct tally_trial *t, enum tally_law law, const struct tally_counter *counter,
	   const struct tally_frame_record *frame, uint32_t k,
	   const struct tally_frame_record *first, uint32_t same)
{
	if (same >= first->n_passes)
		return;
	const struct tally_value *one = tally_seen_value(&first->passes[same], counter->key);
	const struct tally_value *other = tally_seen_value(&frame->passes[k], counter->key);
	if (one && other)
		JUDGE_PASS(t, law, tally_value_f64(*one) == tally_value_f64(*other),
			   frame->frame, k,
			   "%s of %s: %.0f; the same work in frame %" PRIu64
			   ", pass %u: %.0f",
			   counter->key, counter->source, tally_value_f64(*other),
			   first->frame, same, tally_value_f64(*one));
}

/* Each pass of a frame, and the `n_kinds`-th after it, do the same as in frame `first` or, where
 * that is NULL, as in their own. */
static void
judge_equal(struct tally_trial *t, enum tally_law law, const struct tally_counter *counter,
	    const struct tally_frame_record *first, uint32_t n_kinds)
{
	TALLY_EACH_OF (const struct tally_frame_record, frame, t->log.frames)
		for (uint32_t k = first ? 0 : n_kinds; k < frame->n_passes; k++)
			judge_same(t, law, counter, frame, k, first ? first : frame, k % n_kinds);
}

void
tally_judge_work(struct tally_trial *t)
{
	tally_judge_frames(t);
	TALLY_EACH (const struct tally_counter, counter, t->log.counters) {
		/* Passes 0 and 2 are equal, so are 1 and 3, in every frame. */
		if (is_statistic(counter))
			judge_equal(t, TALLY_LAW_EQUAL, counter, frame_at(&t->log, 0), 2);
	}
	judge_ratio(t, TALLY_LAW_MORE, 0, 1);
	judge_ratio(t, TALLY_LAW_MORE, 2, 3);
}

void
tally_judge_beside(struct tally_trial *t)
{
	tally_judge_frames(t);
	judge_ratio(t, TALLY_LAW_NEIGHBOR, 2, 0);
}

/* ---- sums ---- */

/* The sum over the first frames. False: there is no value. */
static bool
sum_of(const struct tally_seen_log *log, const char *key, guint n_frames, double *sum)
{
	bool any = false;
	*sum = 0.0;
	for (guint i = 0; i < n_frames; i++) {
		const struct tally_frame_record *frame = frame_at(log, i);
		for (uint32_t k = 0; k < frame->n_passes; k++) {
			const struct tally_value *value = tally_seen_value(&frame->passes[k], key);
			any |= value != NULL;
			*sum += value ? tally_value_f64(*value) : 0.0;
		}
		for (uint32_t k = 0; k < frame->n_unattributed; k++) {
			if (strcmp(frame->unattributed[k].key, key) != 0)
				continue;
			any = true;
			*sum += tally_value_f64(frame->unattributed[k].value);
		}
	}
	return any;
}

void
tally_judge_sums(struct tally_trial *t)
{
	judge_flags(t);
	if (!t->work)
		return;
	guint n = MIN(t->work->frames->len, t->log.frames->len);
	TALLY_EACH (const struct tally_counter, counter, t->log.counters) {
		double here, passes;
		if (!is_statistic(counter) || !sum_of(t->work, counter->key, n, &passes))
			continue;
		if (!sum_of(&t->log, counter->key, n, &here))
			tally_law_lack(t->device, TALLY_LAW_SUMS, "counted pass by pass only");
		else
			judge(t, TALLY_LAW_SUMS, here == passes,
			      "%s of %u frames: %.0f counted pass by pass, %.0f with %s",
			      counter->key, n, passes, here, t->row->options);
	}
}

/* ---- clock ---- */

/* One pass with this many draws, with a time: not one of the earlier trials. */
static bool
is_full(const struct tally_frame_record *frame, uint64_t draws)
{
	return frame->n_passes == 1 && is_timed(&frame->passes[0]) &&
	       frame->passes[0].call_counts.draws == draws && frame->cpu_ns;
}

static bool
makes_no_sense(const struct tally_seen_log *log)
{
	if (!log->frames->len)
		return false;
	const struct tally_frame_record *last = frame_at(log, log->frames->len - 1);
	return last->n_passes && last->passes[0].flags & TALLY_FLAG(BAD_TIME);
}

void
tally_judge_clock(struct tally_trial *t)
{
	/* Medians are compared, not the two times of a frame: a frame may end where the work of
	 * the one before it is waited for, and a busy machine makes both uneven. */
	g_autoptr(GArray) gpu = g_array_new(FALSE, FALSE, sizeof(double));
	g_autoptr(GArray) cpu = g_array_new(FALSE, FALSE, sizeof(double));
	uint64_t most = 0;
	bool first = true; /* the last try, after one of half its work */
	TALLY_EACH_OF (const struct tally_frame_record, frame, t->log.frames) {
		if (frame->n_passes)
			most = MAX(most, frame->passes[0].call_counts.draws);
	}
	TALLY_EACH_OF (const struct tally_frame_record, frame, t->log.frames) {
		double gpu_ns = frame->n_passes ? (double)frame->passes[0].gpu_ns : 0;
		double cpu_ns = (double)frame->cpu_ns;
		if (!is_full(frame, most))
			continue;
		if (!first) {
			g_array_append_val(gpu, gpu_ns);
			g_array_append_val(cpu, cpu_ns);
		}
		first = false;
	}
	if (!gpu->len && !makes_no_sense(&t->log)) {
		tally_law_lack(t->device, TALLY_LAW_CLOCK, "no pass has a time");
		return;
	}
	double share = gpu->len ? median(gpu) / median(cpu) : 0.0;
	judge(t, TALLY_LAW_CLOCK, share >= CLOCK_LEAST && share <= CLOCK_MOST,
	      "the GPU worked nearly all of each frame, but its time is %.3g of the CPU's: %.1f to "
	      "%.1f expected (medians of %u frames; 0: every pass is flagged bad_time)",
	      share, CLOCK_LEAST, CLOCK_MOST, gpu->len);
}

/* ---- counters of the hardware ---- */

/* What is wrong with the value, NULL = nothing. */
static const char *
find_nonsense(const struct tally_counter *counter, double value, double gpu_ns)
{
	/* No GPU comes near this count in that many nanoseconds. */
	static const struct {
		const char *unit;
		double most, a_ns;
		const char *wrong;
	} units[] = {
		{ "percent", 100.5, 0.0, "is not a percentage" },
		{ "cycles", 1e6, 2e4, "is more cycles than all units have in the time" },
		{ "bytes", 1e9, 1e5, "is more than any memory moves in the time" },
	};
	if (!isfinite(value))
		return "is not a number";
	if (value != 0.0 && fabs(value) < 1e-30)
		return "is the bits of something else";
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (strcmp(counter->unit, units[i].unit) == 0 && gpu_ns > 0.0 &&
		    (value < 0.0 || value > units[i].most + units[i].a_ns * gpu_ns))
			return units[i].wrong;
	return NULL;
}

/* Those that the CPU reads while passes run are of the whole device. */
static bool
is_hardware(const struct tally_counter *counter)
{
	const struct tally_source_row *row = tally_source_row_find(counter->source);
	return row && row->hardware && counter->scope < TALLY_SCOPE_DEVICE;
}

/* Whether every set had its turn: the first one came again after another. */
static bool
went_round(const struct tally_seen_log *log)
{
	const char *first = log->frames->len ? frame_at(log, 0)->set : NULL;
	bool other = false;
	TALLY_EACH_OF (const struct tally_frame_record, frame, log->frames) {
		other |= frame->set != first;
		if (other && frame->set == first)
			return true;
	}
	return !other;
}

/* Whether its numbers measure the amount of work, not how it was done, judging by the device's
 * line. The words of its description have to distinguish caches from draws, as units do not. */
static bool
counts_work(const struct tally_counter *counter)
{
	static const char *const how[] = { "busy", "cache",  "clock",  "cycle", "hit",   "idle",
					   "time", "lookup", "memory", "miss",  "stall", "wait" };
	if (counter->kind != TALLY_KIND_EVENT || strcmp(counter->unit, "1") != 0 ||
	    counter->storage == TALLY_STORAGE_F64 || counter->scope > TALLY_SCOPE_PASS)
		return false;
	g_autofree char *said = g_ascii_strdown(counter->description, -1);
	for (size_t i = 0; i < G_N_ELEMENTS(how); i++)
		if (strstr(said, how[i]) || strstr(counter->key, how[i]))
			return false;
	return true;
}

static void
judge_counter(struct tally_trial *t, const struct tally_counter *counter)
{
	bool seen = false;
	TALLY_EACH_OF (const struct tally_frame_record, frame, t->log.frames) {
		for (uint32_t k = 0; k < frame->n_passes; k++) {
			const struct tally_pass_record *pass = &frame->passes[k];
			const struct tally_value *value = tally_seen_value(pass, counter->key);
			if (!value)
				continue;
			seen = true;
			double number = tally_value_f64(*value);
			const char *wrong = find_nonsense(
				counter, number, pass->has_gpu ? (double)pass->gpu_ns : 0.0);
			JUDGE_PASS(t, TALLY_LAW_COUNTERS, !wrong, frame->frame, k,
				   "%s of %s: %g %s %s", counter->key, counter->source,
				   number, counter->unit, wrong ? wrong : "");
		}
	}
	if (!seen && went_round(&t->log) && counter->scope <= TALLY_SCOPE_PASS)
		judge(t, TALLY_LAW_COUNTERS, false, "%s of %s has no value in any of %u frames",
		      counter->key, counter->source, t->log.frames->len);
}

void
tally_judge_counters(struct tally_trial *t)
{
	guint n = 0;
	TALLY_EACH (const struct tally_counter, counter, t->log.counters) {
		if (!is_hardware(counter))
			continue;
		n++;
		judge_counter(t, counter);
		/* Of scene "twins", whose passes are all equal. Frames are not compared with each
		 * other: one may contain a driver's own work. */
		if (counts_work(counter))
			judge_equal(t, TALLY_LAW_COUNTERS, counter, NULL, 1);
	}
	if (!n)
		tally_law_lack(t->device, TALLY_LAW_COUNTERS,
			       "no counters of the GPU's own: passtally doctor says why");
}
