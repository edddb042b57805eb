/* SPDX-License-Identifier: MIT */
#include "cli/answer/text.h"

#include "cli/answer/bound.h"
#include "cli/answer/demand.h"
#include "cli/answer/words.h"
#include "cli/log/device_summary.h"
#include "cli/shared/each.h"
#include "cli/shared/sort.h"
#include "cli/shared/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SLOW_START_NS UINT64_C(500000000)
#define NEARLY 1.05 /* medians of parts need not add up to that of the whole */
#define UNEVEN 1.5 /* few frames have much more than the typical one */
#define TYPICAL 0.85 /* of a frame's GPU time is in passes of most frames, or it is not one */
#define LEAST_SHARE 0.005 /* a pass below it is not listed */

/* The last blank that a line may end before, behind an `after` where there is one, or NULL: one
 * long name has none. */
static char *
line_end(char *line, char after)
{
	size_t width = tally_text_width(line);
	char *found = NULL;
	for (char *at = strchr(line + strspn(line, " "), ' ');
	     at && width - tally_text_width(at) <= TALLY_ANSWER_COLUMNS; at = strchr(at + 1, ' '))
		found = found && found[-1] == after && at[-1] != after ? found : at;
	return found;
}

/* A line that is too wide goes on in the next, indented. NULL: none. */
static void
add_wrapped(GPtrArray *lines, const char *text, char after)
{
	char *line = g_strdup(text), *end;
	while (line && tally_text_width(line) > TALLY_ANSWER_COLUMNS &&
	       (end = line_end(line, after))) {
		char *rest = g_strconcat("  ", end + 1, NULL);
		*end = '\0';
		g_ptr_array_add(lines, line);
		line = rest;
	}
	if (line)
		g_ptr_array_add(lines, tally_text_fit(line, TALLY_ANSWER_COLUMNS));
	g_free(line);
}

static void
add_line(GPtrArray *lines, const char *text)
{
	add_wrapped(lines, text, ';');
}

/* More about the line above it. NULL: nothing. */
static void
add_below(GPtrArray *lines, const char *text)
{
	add_line(lines, text ? tally_phrase("  %s", text) : NULL);
}

/* Adds one of several items to a line of them. */
static void
add_item(GString *line, char between, const char *item)
{
	if (line->len)
		g_string_append_c(line, between);
	g_string_append_printf(line, "%s%s", line->len ? " " : "  ", item);
}

/* Adds lines about the `n` largest items; as many as fit in `most` lines, at least one. Returns how
 * many. */
static unsigned
add_fitting(GPtrArray *lines, const struct tally_answer_device *d, unsigned n, unsigned most,
	    void (*add)(GPtrArray *lines, const struct tally_answer_device *d, unsigned n))
{
	guint before = lines->len;
	for (; n > 0; n--) {
		g_ptr_array_set_size(lines, (gint)before);
		add(lines, d, n);
		if (n == 1 || lines->len - before <= most)
			break;
	}
	return n;
}

const char *
tally_answer_left_out_text(const struct tally_answer *answer, const struct tally_answer_device *d)
{
	const char *which = "first frame", *why = " by --warmup";
	if (!d->skipped)
		return NULL;
	if (d->skipped > 1)
		which = tally_phrase("first %" PRIu64 " frames", d->skipped);
	if (answer->log->warmup == TALLY_WARMUP_AUTO)
		why = tally_phrase(" as loading (--warmup 0 keeps %s)",
				   d->skipped > 1 ? "them" : "it");
	return tally_phrase("%s, %s, left out%s", which,
			    tally_duration_text((double)d->skipped_ns), why);
}

const char *
tally_answer_start_text(const struct tally_answer_device *d)
{
	if (d->first_ns < SLOW_START_NS)
		return NULL;
	return tally_phrase("%s until the first frame was there, %s of it that frame "
			    "itself%s",
			    tally_duration_text((double)d->first_ns),
			    tally_duration_text((double)d->first_own_ns),
			    tally_start_text(d->start, d->first_ns));
}

/* What was loaded until then, below a line about the time that it took. */
static void
add_loaded(GPtrArray *lines, const struct tally_answer_device *d, bool brief)
{
	g_autoptr(GString) line = g_string_new(NULL);
	for (int i = TALLY_EVENT_SHADERS; i < TALLY_N_EVENT_GROUPS; i++)
		if (d->loaded[i].ns)
			add_item(line, ';', tally_event_text(&d->loaded[i]));
	if (!brief && line->len && (d->skipped || d->first_ns >= SLOW_START_NS))
		add_wrapped(lines, line->str, ';');
}

static void
add_head(GPtrArray *lines, const struct tally_answer *answer,
	 const struct tally_device_summary *s, const struct tally_answer_device *d)
{
	const struct tally_surface *surface = s ? tally_aggregate_surface(s) : NULL;
	const char *size = "";
	if (d->window)
		size = tally_phrase(", window %u of %u, %ux%u", d->window, d->n_windows,
				    d->width, d->height);
	else if (surface)
		size = tally_phrase(", %ux%u", surface->width, surface->height);
	const char *name = tally_short_name(s && s->name ? s->name : "unknown");
	const char *of = s && s->missed && !d->window
				 ? tally_phrase(" of %" PRIu64, d->frames + s->missed)
				 : "";
	add_line(lines, tally_phrase("device %u: %s%s, %" PRIu64 "%s frame%s in %s",
				     d->device, name, size, d->frames, of, TALLY_S(d->frames),
				     tally_duration_text(d->seconds * 1e9)));
	add_below(lines, answer->log->paused ? "then the capture was paused" : NULL);
}

static const char *
rate_text(double fps)
{
	return tally_phrase("%.*f", fps < 100 ? 1 : 0, fps);
}

const char *
tally_answer_speed_text(const struct tally_answer_device *d)
{
	/* Where the speed changed, the median of all is that of no frame; a few frames have no
	 * rate; one in a hundred, or in a thousand, is there of as many. */
	enum { LEAST_RATE = 10 };
	bool hundred = d->frames >= 100, thousand = d->frames >= 1000;
	const char *median = tally_phrase("median %s, ", tally_duration_text(d->median_ns));
	if (d->idle_ns > 0)
		return tally_phrase("drawn on demand, waits for events %s of %s; frame time "
				    "median %s",
				    tally_duration_text(d->idle_ns),
				    tally_duration_text(d->seconds * 1e9),
				    tally_duration_text(d->median_ns));
	const char *fps = tally_phrase("%s fps%s%s%s%s; ", rate_text(d->fps),
				       hundred ? ", 1 % low " : "",
				       hundred ? rate_text(d->low_1_fps) : "",
				       thousand ? ", 0.1 % low " : "",
				       thousand ? rate_text(d->low_01_fps) : "");
	return tally_phrase("%sframe time %s%s %s", d->frames < LEAST_RATE ? "" : fps,
			    d->n_changes ? "" : median, hundred ? "p99" : "longest",
			    tally_duration_text(d->p99_ns));
}

static const char *
pass_text(const struct tally_answer_pass *p)
{
	if (!p->largest)
		return tally_short_name(p->name);
	const char *more = p->others ? tally_phrase("%u more", p->others) : "others";
	return tally_phrase("%s and %s drawn together", tally_short_name(p->largest), more);
}

/* In order of execution: the `n` largest, and the sum of the others. */
static void
add_pass_items(GPtrArray *lines, const struct tally_answer_device *d, unsigned n)
{
	g_autofree double *shares = g_new(double, d->n_passes);
	g_autoptr(GString) line = g_string_new(NULL);
	unsigned n_listed = 0;
	double more = 0;
	for (guint i = 0; i < d->n_passes; i++)
		shares[i] = d->passes[i].share;
	qsort(shares, d->n_passes, sizeof(*shares), tally_order_double);
	/* The largest is always listed. */
	double least = MIN(LEAST_SHARE, shares[d->n_passes - 1]);
	least = MAX(shares[d->n_passes - n], least);
	for (guint i = 0; i < d->n_passes; i++) {
		const struct tally_answer_pass *p = &d->passes[i];
		const char *time = tally_duration_text(p->ns);
		if (p->share < least || n_listed == n) {
			more += p->share;
			continue;
		}
		n_listed++;
		add_item(line, ',', tally_phrase("%s %s %.0f %%", pass_text(p), time,
						 100 * p->share));
	}
	const char *time = tally_duration_text(more * d->typical_ns);
	if (more >= LEAST_SHARE)
		add_item(line, ',', tally_phrase("%u more %s %.0f %%",
						 d->n_passes - n_listed, time, 100 * more));
	else if (n_listed < d->n_passes)
		add_item(line, ',', "...");
	add_wrapped(lines, line->str, ',');
}

/* Whether passes that few frames have are what most frames' passes lack of a frame, as where a
 * dynamic resolution gives one pass several targets. */
static bool
lacks_seldom(const struct tally_answer_device *d)
{
	return d->typical_ns < TYPICAL * d->range_gpu_ns &&
	       2 * d->seldom_ns >= d->range_gpu_ns - d->typical_ns;
}

static const char *
seldom_text(const struct tally_answer_device *d)
{
	return tally_phrase("passes that fewer have: %s on average",
			    tally_duration_text(d->seldom_ns));
}

static const char *
range_text(const struct tally_answer_device *d, const char *frames)
{
	return tally_phrase("the %" PRIu64 "%s from frame %" PRIu64 " on",
			    d->range.to - d->range.from, frames, d->range_frame);
}

const char *
tally_answer_bound_text(const struct tally_answer_device *d)
{
	const char *text = d->idle_ns > 0 && d->bound.by == TALLY_BOUND_WAIT
				   ? "bound by events: it draws on demand"
				   : tally_bound_text(&d->bound);
	return d->bound.frames < d->frames
		       ? tally_phrase("%s; in %s", text, range_text(d, " frames"))
		       : text;
}

/* Without what few frames have. */
static const char *
typical_text(const struct tally_answer_device *d)
{
	bool waits = d->bound.waits_within && (d->bound.by != TALLY_BOUND_UNKNOWN ||
					       d->bound.doubt == TALLY_DOUBT_WAITS);
	const char *time = tally_duration_text(d->typical_ns), *where = "", *more = "";
	const char *mean = tally_duration_text(d->mean_gpu_ns);
	if (d->at_once && !d->n_changes && d->mean_gpu_ns * NEARLY < d->typical_ns)
		return tally_phrase("typical frame, passes of %s, some at once: %s on the "
				    "GPU", time, mean);
	/* Frames that alternate between windows, or passes at the same time: the medians of what
	 * most frames have are no frame. */
	if (d->typical_ns > NEARLY * d->range_ns && !waits)
		return tally_phrase("passes of most frames, %s on the GPU: not one frame",
				    time);
	if (d->n_changes)
		where = tally_phrase(" of %s", range_text(d, ""));
	if (lacks_seldom(d))
		return tally_phrase("passes of most frames%s, %s of %s on the GPU", where,
				    time, tally_duration_text(d->range_gpu_ns));
	if (waits)
		more = ", waits for the CPU within passes included";
	else if (d->unplaced)
		more = "; cannot be told: whose the passes are that draw to no window";
	else if (!d->n_changes && d->mean_gpu_ns > UNEVEN * d->typical_ns)
		more = tally_phrase("; on average %s", mean);
	return tally_phrase("typical frame%s, %s on the GPU%s", where, time, more);
}

const char *
tally_answer_typical_text(const struct tally_answer_device *d)
{
	const char *most = typical_text(d);
	return lacks_seldom(d) ? tally_phrase("%s; %s", most, seldom_text(d)) : most;
}

static void
add_passes(GPtrArray *lines, const struct tally_device_summary *s,
	   const struct tally_answer_device *d, unsigned most)
{
	bool times = s && tally_device_times_draws(s);
	if (d->n_passes == 0 || d->typical_ns <= 0)
		return;
	const char *seldom = lacks_seldom(d) ? seldom_text(d) : NULL;
	const struct tally_answer_pass *first = d->passes;
	bool one = d->n_passes == 1 && !first->largest;
	add_line(lines, tally_phrase("%s:%s%s", typical_text(d), one ? " " : "",
				     one ? tally_short_name(first->name) : ""));
	if (!one)
		add_fitting(lines, d, MIN(d->n_passes, 20), most - (seldom && most > 1),
			    add_pass_items);
	else if (first->draws >= 2)
		add_below(lines, tally_phrase("%.0f draws, %.0f vertices a frame; "
					      "--granularity draw %s each",
					      first->draws, first->vertices,
					      times ? "times" : "counts"));
	add_below(lines, seldom);
}

const char *
tally_answer_hitch_text(const struct tally_answer_hitch *h)
{
	return tally_phrase("frame %" PRIu64 ": +%s, %s", h->was.frame,
			    tally_duration_text((double)h->was.excess_ns), tally_cause_text(h));
}

const char *
tally_answer_hitches_text(const struct tally_answer_device *d)
{
	enum { MOST = 4 };
	if (d->n_hitches == 0)
		return NULL;
	g_autoptr(GString) line = g_string_new(NULL);
	g_string_printf(line, "hitches: %" PRIu64 ", %s", d->n_hitches,
			tally_duration_text((double)d->hitch_ns));
	if (d->n_listed > 1)
		g_string_append_printf(line, ", up to %s",
				       tally_duration_text((double)d->hitches->was.excess_ns));
	if (d->period)
		g_string_append_printf(line, ", about every %" PRIu64 " frames", d->period);
	uint64_t others = d->n_hitches;
	for (guint i = 0; i < MIN(d->sums->len, MOST) && d->n_hitches > 1; i++) {
		const struct tally_answer_sum *s = &g_array_index(
			d->sums, struct tally_answer_sum, i);
		g_string_append_printf(line, "%s %" PRIu64 " %s", i ? "," : ":", s->n,
				       s->what);
		others -= s->n;
	}
	if (others && d->n_hitches > 1)
		g_string_append_printf(line, ", %" PRIu64 " of other causes", others);
	return tally_phrase("%s", line->str);
}

static int
compare_time(const void *a, const void *b)
{
	const struct tally_answer_hitch *x = a, *y = b;
	return (x->was.start_ns > y->was.start_ns) - (x->was.start_ns < y->was.start_ns);
}

/* In order of time. */
static void
add_worst(GPtrArray *lines, const struct tally_answer_device *d, unsigned n)
{
	struct tally_answer_hitch sorted[TALLY_ANSWER_WORST];
	g_autoptr(GString) line = g_string_new(NULL);
	memcpy(sorted, d->hitches, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), compare_time);
	for (unsigned i = 0; i < n; i++)
		add_item(line, ';', tally_answer_hitch_text(&sorted[i]));
	if (n < d->n_hitches)
		add_item(line, ';', tally_phrase("and %" PRIu64 " more: report --wide",
						 d->n_hitches - n));
	add_wrapped(lines, line->str, ';');
}

/* Returns whether there is no room for three of the worst. */
static bool
add_hitches(GPtrArray *lines, const struct tally_answer_device *d)
{
	enum { LEAST = 2, MOST = 6, WANTED = 3 };
	/* passtally's cost has a line. */
	unsigned left = TALLY_ANSWER_LINES - 1 - MIN(lines->len, TALLY_ANSWER_LINES - 1);
	unsigned n = add_fitting(lines, d, MIN(d->n_listed, TALLY_ANSWER_WORST),
				 CLAMP(left, LEAST, MOST), add_worst);
	return n < MIN(d->n_listed, WANTED);
}

const char *
tally_answer_memory_text(const struct tally_answer_device *d)
{
	const bool gpu = d->memory.to > 0;
	const struct tally_answer_growth *g = gpu ? &d->memory : &d->resident;
	const char *where = g->frame ? tally_phrase("from about frame %" PRIu64 " on ", g->frame)
				     : "";
	return g->to > 0 ? tally_phrase("%sthe program's %smemory grows all the time: "
					"%.0f -> %.0f MB",
					where, gpu ? "GPU " : "", g->from / 1e6, g->to / 1e6)
			 : NULL;
}

/* Where the GPU or a cap limits, other threads do not matter; nor one that hardly works. */
const char *
tally_answer_busiest_text(const struct tally_answer_device *d)
{
	enum { LEAST = 25, ALL = 85 };
	const char *name = tally_short_name(d->busiest);
	double percent = 100 * d->busiest_share;
	if (d->bound.by == TALLY_BOUND_GPU || d->bound.by == TALLY_BOUND_CAP ||
	    !d->busiest || percent < LEAST)
		return NULL;
	if (percent < ALL)
		return tally_phrase("busiest other thread: %s, %.0f %% of the time", name,
				    percent);
	return tally_phrase("thread %s works %.0f %% of the time: it may be what frames "
			    "wait for", name, percent);
}

static int
rank_of(const struct tally_answer_change *c)
{
	return 2 * tally_answer_change_known(c) + (c->after_ns > c->before_ns);
}

/* Those with a cause in the program first, then slower ones, then the largest. */
static int
compare_changes(const void *a, const void *b)
{
	const struct tally_answer_change *x = *(const struct tally_answer_change *const *)a;
	const struct tally_answer_change *y = *(const struct tally_answer_change *const *)b;
	int rank = rank_of(y) - rank_of(x);
	double ratio = tally_answer_change_ratio(x), other = tally_answer_change_ratio(y);
	return rank ? rank : (ratio < other) - (ratio > other);
}

/* `n` of them, in order of time. */
static void
add_changes(GPtrArray *lines, const struct tally_answer_device *d, unsigned n)
{
	const struct tally_answer_change *first[TALLY_CHANGE_MOST];
	unsigned left_out = d->n_changes - n;
	for (unsigned i = 0; i < d->n_changes; i++)
		first[i] = &d->changes[i];
	qsort(first, d->n_changes, sizeof(first[0]), compare_changes);
	for (unsigned i = 0; i < d->n_changes; i++)
		for (unsigned k = 0; k < n; k++)
			if (first[k] == &d->changes[i])
				add_line(lines, tally_answer_change_text(first[k]));
	if (left_out)
		add_line(lines, tally_phrase("  and %u more change%s of speed: report --wide",
					     left_out, TALLY_S(left_out)));
}

const char *
tally_answer_calls_text(const struct tally_answer_device *d, int group)
{
	const char *calls = tally_event_text(&d->calls[group]);
	return d->calls_in[group] >= 1
		       ? tally_phrase("each frame, on average: %s", calls)
		       : tally_phrase("%.0f %% of frames, on average: %s",
				      100 * d->calls_in[group], calls);
}

const char *
tally_answer_cost_text(const struct tally_answer_device *d)
{
	const char *once = "";
	if (d->once_ns > 0)
		once = tally_phrase(", and %s once at the start",
				    tally_duration_text(d->once_ns));
	return tally_phrase("%spasstally costs %s a frame (%.1f %%)%s",
			    d->cost_share > TALLY_ANSWER_COST_LIMIT ? "warning: " : "",
			    tally_duration_text(d->mean_cost_ns), 100 * d->cost_share,
			    once);
}

/* Why no pass has a time. */
static void
add_untimed(GPtrArray *lines, const struct tally_device_summary *s,
	    const struct tally_answer_device *d)
{
	if (!s || d->bound.doubt != TALLY_DOUBT_NO_GPU_TIMES || d->bound.some_gpu)
		return;
	TALLY_EACH (const char, off, s->off)
		if (strstr(off, "-timestamp: "))
			add_below(lines, off);
}

/* What the thread that ended the last frame did from then on; "": not known. */
static const char *
quiet_text(const struct tally_answer *a)
{
	enum { SOME = 20 }; /* less than a 20th is no work */
	const struct tally_asleep_record *slept = a->quiet_asleep;
	uint64_t work_ns = MIN(a->quiet_work_ns, a->quiet_ns);
	if (slept->ns > a->quiet_ns / 2)
		return tally_phrase(": its thread waited (%s)", tally_asleep_text(slept));
	return work_ns > a->quiet_ns / SOME
		       ? tally_phrase(": its thread worked %s",
				      tally_duration_text((double)work_ns))
		       : "";
}

const char *
tally_answer_quiet_text(const struct tally_answer *a, const struct tally_answer_device *d)
{
	enum { LEAST_MS = 1500, LEAST_FRAMES = 20 };
	bool over = a->log->has_end || a->log->paused || !a->last_ns;
	if (over || a->quiet_ns / 1000000 < LEAST_MS ||
	    d->frames < LEAST_FRAMES || (double)a->quiet_ns < d->p99_ns)
		return NULL;
	if (d->idle_ns > 0 && tally_demand_waited(a->quiet_ns, a->quiet_work_ns, a->quiet_asleep))
		return NULL;
	return tally_phrase("no frame for the last %s or more%s",
			    tally_duration_text((double)a->quiet_ns), quiet_text(a));
}

/* With `n` changes, and `passes` lines of passes. *cramped: as add_hitches(). */
static GPtrArray *
lines_with(const struct tally_answer *answer, const struct tally_answer_device *d,
	   enum tally_answer_length length, unsigned n, unsigned passes, bool *cramped)
{
	bool brief = length == TALLY_ANSWER_BRIEF;
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	const struct tally_device_summary *s = tally_aggregate_device(answer->log, d->device);
	add_head(lines, answer, s, d);
	add_line(lines, brief ? NULL : tally_answer_start_text(d));
	add_line(lines, tally_answer_left_out_text(answer, d));
	add_loaded(lines, d, brief);
	add_line(lines, tally_answer_quiet_text(answer, d));
	add_changes(lines, d, n);
	add_wrapped(lines, tally_answer_presence_text(d), ',');
	add_line(lines, tally_answer_calls_began_text(d));
	add_line(lines, brief ? NULL : tally_answer_memory_text(d));
	add_line(lines, brief ? NULL : tally_answer_alternating_text(d));
	add_line(lines, tally_answer_speed_text(d));
	add_line(lines, tally_answer_bound_text(d));
	add_untimed(lines, s, d);
	add_below(lines, brief ? NULL : tally_bound_hint(&d->bound));
	add_below(lines, brief ? NULL : tally_answer_busiest_text(d));
	add_passes(lines, s, d, passes);
	if (brief)
		return lines;
	for (int i = 0; i < TALLY_N_EVENT_GROUPS; i++)
		if (d->calls_in[i] > 0)
			add_line(lines, tally_answer_calls_text(d, i));
	add_wrapped(lines, d->n_hitches ? tally_answer_hitches_text(d) : "hitches: none", ',');
	if (length == TALLY_ANSWER_USUAL) /* else they are below the table */
		*cramped = add_hitches(lines, d);
	add_line(lines, tally_answer_cost_text(d));
	return lines;
}

GPtrArray *
tally_answer_lines(const struct tally_answer *answer, const struct tally_answer_device *d,
		   enum tally_answer_length length)
{
	enum { ALWAYS = 2, PASSES = 3 };
	static const unsigned most[] = { 1, ALWAYS + 1, TALLY_CHANGE_MOST };
	unsigned n = MIN(d->n_changes, most[length]), passes = PASSES;
	bool cramped = false;
	GPtrArray *lines = lines_with(answer, d, length, n, passes, &cramped);
	while (length == TALLY_ANSWER_USUAL && (cramped || lines->len > TALLY_ANSWER_LINES) &&
	       (n > ALWAYS || passes > 1)) {
		if (passes > 1 && (cramped || n <= ALWAYS))
			passes--; /* the table has them, too */
		else
			n--;
		g_ptr_array_unref(lines);
		lines = lines_with(answer, d, length, n, passes, &cramped);
	}
	return lines;
}

/* The device that has all lines: of those shown, the one with the most frames. */
static const struct tally_answer_device *
choose_main(const struct tally_answer *answer)
{
	const struct tally_answer_device *most = NULL;
	TALLY_EACH (const struct tally_answer_device, d, answer->devices)
		if (d->frames && !tally_aggregate_is_beneath(answer->log, d->device) &&
		    (!most || d->frames > most->frames))
			most = d;
	return most;
}

void
tally_answer_print(FILE *out, const struct tally_answer *answer, int64_t device, bool wide)
{
	const enum tally_answer_length length = wide ? TALLY_ANSWER_ALL : TALLY_ANSWER_USUAL;
	const struct tally_answer_device *whole = choose_main(answer);
	TALLY_EACH (const struct tally_answer_device, d, answer->devices) {
		bool shown = device >= 0 ? d->device == device
					 : !tally_aggregate_is_beneath(answer->log,
								       d->device);
		bool brief = !wide && device < 0 && d != whole;
		if (!d->frames || !shown)
			continue;
		g_autoptr(GPtrArray) lines = tally_answer_lines(
			answer, d, brief ? TALLY_ANSWER_BRIEF : length);
		TALLY_EACH (const char, line, lines)
			tally_text_print_line(out, "%s", line);
	}
}
