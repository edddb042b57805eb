/* SPDX-License-Identifier: MIT */
#include "cli/answer/answer.h"

#include "cli/answer/words.h"
#include "cli/shared/each.h"
#include "cli/shared/sort.h"
#include "cli/shared/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOW_START_NS UINT64_C(500000000)
#define NEARLY 1.05 /* medians of parts need not add up to that of the whole */
#define UNEVEN 1.5 /* few frames have much more than the typical one */
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

/* Takes ownership of `line`; one that is too wide goes on in the next, indented. */
static void
add_wrapped(GPtrArray *lines, char *line, char after)
{
	char *end;
	while (tally_text_width(line) > TALLY_ANSWER_COLUMNS && (end = line_end(line, after))) {
		char *rest = g_strconcat("  ", end + 1, NULL);
		*end = '\0';
		g_ptr_array_add(lines, line);
		line = rest;
	}
	g_ptr_array_add(lines, tally_text_fit(line, TALLY_ANSWER_COLUMNS));
	g_free(line);
}

static void
add_line(GPtrArray *lines, char *line)
{
	add_wrapped(lines, line, ';');
}

static void
add_items(GPtrArray *lines, const GPtrArray *items, char between)
{
	GString *line = g_string_new(" ");
	for (guint i = 0; i < items->len; i++)
		g_string_append_printf(line, " %s%c",
				       (char *)g_ptr_array_index(items, i), between);
	g_string_truncate(line, line->len - 1);
	add_wrapped(lines, g_string_free(line, FALSE), between);
}

/* Adds lines about the `n` largest items; as many as fit in `most` lines, at least one. */
static void
add_fitting(GPtrArray *lines, const struct tally_answer_device *d, unsigned n, unsigned most,
	    void (*add)(GPtrArray *lines, const struct tally_answer_device *d, unsigned n))
{
	guint before = lines->len;
	for (; n > 0; n--) {
		g_ptr_array_set_size(lines, (gint)before);
		add(lines, d, n);
		if (lines->len - before <= most)
			break;
	}
}

static void
add_skipped(GPtrArray *lines, const struct tally_answer *answer,
	    const struct tally_answer_device *d)
{
	g_autofree char *which = d->skipped == 1
					 ? g_strdup("first frame")
					 : g_strdup_printf("first %" G_GUINT64_FORMAT
							   " frames",
							   d->skipped);
	g_autofree char *time = tally_duration_text((double)d->skipped_ns);
	if (answer->log->warmup == TALLY_WARMUP_AUTO)
		add_line(lines,
			 g_strdup_printf("%s, %s, left out: loading; --warmup 0 keeps %s",
					 which, time, d->skipped == 1 ? "it" : "them"));
	else
		add_line(lines,
			 g_strdup_printf("%s, %s, left out by --warmup", which, time));
}

char *
tally_answer_start_text(const struct tally_answer_device *d)
{
	if (d->first_ns < SLOW_START_NS)
		return NULL;
	g_autofree char *time = tally_duration_text((double)d->first_ns);
	g_autofree char *own = tally_duration_text((double)d->first_own_ns);
	return g_strdup_printf("%s until the first frame was there, %s of it that frame itself",
			       time, own);
}

static void
add_head(GPtrArray *lines, const struct tally_answer *answer,
	 const struct tally_device_summary *s, const struct tally_answer_device *d)
{
	const struct tally_surface *surface = s ? tally_aggregate_surface(s) : NULL;
	g_autofree char *name = tally_short_name(s && s->name ? s->name : "unknown");
	g_autofree char *time = tally_duration_text(d->seconds * 1e9);
	char size[64] = "";
	if (d->window)
		g_snprintf(size, sizeof(size), ", window %u of %u, %ux%u", d->window, d->n_windows,
			   d->width, d->height);
	else if (surface)
		g_snprintf(size, sizeof(size), ", %ux%u", surface->width,
			   surface->height);
	add_line(lines,
		 g_strdup_printf("device %u: %s%s, %" G_GUINT64_FORMAT " frame%s in %s",
				 d->device, name, size, d->frames, TALLY_S(d->frames),
				 time));
	if (d->skipped)
		add_skipped(lines, answer, d);
}

static char *
rate_text(double fps)
{
	return g_strdup_printf("%.*f", fps < 100 ? 1 : 0, fps);
}

char *
tally_answer_speed_text(const struct tally_answer_device *d)
{
	g_autofree char *median = tally_duration_text(d->median_ns);
	g_autofree char *p99 = tally_duration_text(d->p99_ns);
	g_autofree char *fps = rate_text(d->fps), *low_1 = rate_text(d->low_1_fps);
	g_autofree char *low_01 = rate_text(d->low_01_fps);
	/* Where the speed changed, the median of all is that of no frame. */
	return g_strdup_printf(
		"%s fps, 1 %% low %s, 0.1 %% low %s; frame time %s%s%sp99 %s", fps, low_1,
		low_01, d->n_changes ? "" : "median ", d->n_changes ? "" : median,
		d->n_changes ? "" : ", ", p99);
}

static char *
pass_text(const struct tally_answer_pass *p)
{
	g_autofree char *name = tally_short_name(p->name),
			*time = tally_duration_text(p->ns);
	return g_strdup_printf("%s %s %.0f %%", name, time, 100 * p->share);
}

/* At most so many passes with at least a given share, and the sum of the others. */
static GPtrArray *
pass_items(const struct tally_answer_device *d, unsigned most, double least)
{
	GPtrArray *items = g_ptr_array_new_with_free_func(g_free);
	unsigned n_more = 0;
	double more = 0;
	for (guint i = 0; i < d->n_passes; i++) {
		if (d->passes[i].share >= least && items->len < most) {
			g_ptr_array_add(items, pass_text(&d->passes[i]));
			continue;
		}
		n_more++;
		more += d->passes[i].share;
	}
	if (more >= LEAST_SHARE) {
		g_autofree char *time = tally_duration_text(more * d->typical_ns);
		g_ptr_array_add(items, g_strdup_printf("%u more %s %.0f %%", n_more, time,
						       100 * more));
	} else if (n_more) {
		g_ptr_array_add(items, g_strdup("..."));
	}
	return items;
}

/* In order of execution. */
static void
add_pass_items(GPtrArray *lines, const struct tally_answer_device *d, unsigned n)
{
	g_autofree double *shares = g_new(double, d->n_passes);
	for (guint i = 0; i < d->n_passes; i++)
		shares[i] = d->passes[i].share;
	qsort(shares, d->n_passes, sizeof(*shares), tally_order_double);
	double least = MIN(LEAST_SHARE,
			   shares[d->n_passes - 1]); /* the largest is always listed */
	g_autoptr(GPtrArray) items = pass_items(d, n, MAX(shares[d->n_passes - n], least));
	add_items(lines, items, ',');
}

char *
tally_answer_typical_text(const struct tally_answer_device *d)
{
	bool waits = d->bound.waits_within && (d->bound.by == TALLY_BOUND_GPU ||
					       d->bound.doubt == TALLY_DOUBT_WAITS);
	g_autofree char *time = tally_duration_text(d->typical_ns);
	g_autofree char *mean = tally_duration_text(d->mean_gpu_ns);
	g_autofree char *where = g_strdup("");
	if (d->at_once && !d->n_changes && d->mean_gpu_ns * NEARLY < d->typical_ns)
		return g_strdup_printf(
			"typical frame, passes of %s, some at once: %s on the GPU", time, mean);
	if (d->n_changes) {
		g_free(where);
		where = g_strdup_printf(" of the %" G_GUINT64_FORMAT
					" from frame %" G_GUINT64_FORMAT " on",
					d->range.to - d->range.from, d->range_frame);
	}
	/* Frames that alternate between windows, or passes at the same time: the medians of what
	 * most frames have are no frame. */
	if (d->typical_ns > NEARLY * d->range_ns && !waits)
		return g_strdup_printf(
			"passes of most frames, %s on the GPU: not one frame", time);
	bool uneven = !d->n_changes && !waits && d->mean_gpu_ns > UNEVEN * d->typical_ns;
	return g_strdup_printf("typical frame%s, %s on the GPU%s%s", where, time,
			       waits    ? ", waits for the CPU within passes included"
			       : uneven ? "; on average "
					: "",
			       uneven ? mean : "");
}

static void
add_passes(GPtrArray *lines, const struct tally_device_summary *s,
	   const struct tally_answer_device *d)
{
	if (d->n_passes == 0 || d->typical_ns <= 0)
		return;
	g_autofree char *head = tally_answer_typical_text(d);
	add_line(lines, g_strdup_printf("%s:", head));
	add_fitting(lines, d, MIN(d->n_passes, 20), 3, add_pass_items);
	if (d->n_passes == 1 && d->passes[0].draws >= 2)
		add_line(lines, g_strdup_printf("  %.0f draws, %.0f vertices a frame; "
						"--granularity draw %s each",
						d->passes[0].draws, d->passes[0].vertices,
						s && tally_device_times_draws(s) ? "times"
										 : "counts"));
}

char *
tally_answer_hitch_text(const struct tally_answer_hitch *h)
{
	g_autofree char *time = tally_duration_text((double)h->excess_ns);
	g_autofree char *cause = tally_cause_text(h);
	return g_strdup_printf("frame %" G_GUINT64_FORMAT ": +%s, %s", h->frame, time,
			       cause);
}

char *
tally_answer_hitches_text(const struct tally_answer_device *d)
{
	enum { MOST = 4 };
	g_autofree char *time = tally_duration_text((double)d->hitch_ns);
	GString *line = g_string_new(NULL);
	g_string_printf(line, "hitches: %" G_GUINT64_FORMAT ", %s", d->n_hitches, time);
	if (d->period)
		g_string_append_printf(line, ", about every %" G_GUINT64_FORMAT " frames",
				       d->period);
	uint64_t others = d->n_hitches;
	for (guint i = 0; i < MIN(d->sums->len, MOST) && d->n_hitches > 1; i++) {
		const struct tally_answer_sum *s = &g_array_index(
			d->sums, struct tally_answer_sum, i);
		g_string_append_printf(line, "%s %" G_GUINT64_FORMAT " %s", i ? "," : ":",
				       s->n, s->what);
		others -= s->n;
	}
	if (others && d->n_hitches > 1)
		g_string_append_printf(line, ", %" G_GUINT64_FORMAT " of other causes", others);
	return g_string_free(line, FALSE);
}

static int
compare_time(const void *a, const void *b)
{
	const struct tally_answer_hitch *x = a, *y = b;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* In order of time. */
static void
add_worst(GPtrArray *lines, const struct tally_answer_device *d, unsigned n)
{
	struct tally_answer_hitch sorted[TALLY_ANSWER_WORST];
	g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func(g_free);
	memcpy(sorted, d->hitches, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), compare_time);
	for (unsigned i = 0; i < n; i++)
		g_ptr_array_add(items, tally_answer_hitch_text(&sorted[i]));
	if (n < d->n_hitches)
		g_ptr_array_add(items, g_strdup("..."));
	add_items(lines, items, ';');
}

static void
add_hitches(GPtrArray *lines, const struct tally_answer_device *d)
{
	enum { LEAST = 2, MOST = 4 };
	if (d->n_hitches == 0) {
		add_line(lines, g_strdup("hitches: none"));
		return;
	}
	add_line(lines, tally_answer_hitches_text(d));
	/* passtally's cost has a line. */
	unsigned left = TALLY_ANSWER_LINES - 1 - MIN(lines->len, TALLY_ANSWER_LINES - 1);
	add_fitting(lines, d, MIN(d->n_listed, TALLY_ANSWER_WORST), CLAMP(left, LEAST, MOST),
		    add_worst);
}

/* "bloom 0.35 -> 3.10 ms, same draws" */
static char *
what_changed(const struct tally_answer_change *c)
{
	if (!c->what)
		return g_strdup("cannot tell of what");
	g_autofree char *name = tally_short_name(c->what);
	g_autofree char *times = tally_from_to_text(c->what_before_ns, c->what_after_ns);
	if (c->is_pass && c->what_before_ns <= 0)
		return g_strdup_printf("%s %s, new", name, times);
	if (c->draws_before <= 0 && c->draws_after <= 0)
		return g_strdup_printf("%s %s", name, times);
	if (fabs(c->draws_after - c->draws_before) <= 0.02 * c->draws_before)
		return g_strdup_printf("%s %s, same draws", name, times);
	g_autofree char *drew = c->drew ? tally_short_name(c->drew) : NULL;
	return g_strdup_printf("%s %s, %s%s%.0f -> %.0f draws", name, times, drew ? drew : "",
			       drew ? " " : "", c->draws_before, c->draws_after);
}

char *
tally_answer_change_text(const struct tally_answer_change *c)
{
	g_autofree char *what = what_changed(c);
	g_autofree char *times = tally_from_to_text(c->before_ns, c->after_ns);
	g_autofree char *where =
		c->until > c->frame
			? g_strdup_printf("from frame %" G_GUINT64_FORMAT
					  " to %" G_GUINT64_FORMAT " gradually",
					  c->frame, c->until)
			: g_strdup_printf("from %sframe %" G_GUINT64_FORMAT " on%s",
					  c->about ? "about " : "", c->frame,
					  c->gradual ? " gradually" : "");
	bool slower = c->after_ns > c->before_ns;
	g_autofree char *clock = c->clock_before > 0
					 ? g_strdup_printf(
						   ", GPU clock %.0f -> %.0f MHz%s",
						   c->clock_before, c->clock_after,
						   c->held ? ", held down" : "")
					 : g_strdup("");
	return g_strdup_printf("%s %.1f times %s: %s; %s%s", where,
			       slower ? c->after_ns / c->before_ns
				      : c->before_ns / c->after_ns,
			       slower ? "slower" : "faster", times, what, clock);
}

char *
tally_answer_memory_text(const struct tally_answer_device *d)
{
	bool gpu = d->memory_to > 0;
	double from = gpu ? d->memory_from : d->resident_from;
	double to = gpu ? d->memory_to : d->resident_to;
	return to > 0 ? g_strdup_printf("the program's %smemory grows all the time: "
					"%.0f -> %.0f MB",
					gpu ? "GPU " : "", from / 1e6, to / 1e6)
		      : NULL;
}

char *
tally_answer_alternating_text(const struct tally_answer_device *d)
{
	static const char *const words[] = { [2] = "2nd", [3] = "3rd", [4] = "4th" };
	const struct tally_alternating *a = &d->alternating;
	if (!a->part)
		return NULL;
	g_autofree char *name = tally_short_name(a->part->name);
	g_autofree char *time = tally_duration_text(a->ns);
	g_autofree char *rest = tally_duration_text(a->else_ns);
	g_autofree char *others = a->others ? g_strdup_printf(" (and %u more)", a->others)
					    : g_strdup("");
	g_autofree char *from = a->from ? g_strdup_printf("from frame %" G_GUINT64_FORMAT " on ",
							  a->from)
					: g_strdup("");
	return g_strdup_printf("%severy %s frame has %s, %s%s%s%s", from, words[a->period],
			       name, time, a->else_ns > 0 ? ", the others " : "",
			       a->else_ns > 0 ? rest : "", others);
}

/* Where the GPU or a cap limits, other threads do not matter; nor one that hardly works. */
char *
tally_answer_busiest_text(const struct tally_answer_device *d)
{
	enum { LEAST = 25, ALL = 85 };
	double percent = 100 * d->busiest_share;
	if (d->bound.by == TALLY_BOUND_GPU || d->bound.by == TALLY_BOUND_CAP ||
	    !d->busiest || percent < LEAST)
		return NULL;
	g_autofree char *name = tally_short_name(d->busiest);
	return g_strdup_printf(percent >= ALL ? "thread %s works %.0f %% of the time: it may be "
						"what frames wait for"
					      : "busiest other thread: %s, %.0f %% of the time",
			       name, percent);
}

static double
ratio_of(const struct tally_answer_change *c)
{
	return MAX(c->after_ns, c->before_ns) / MAX(MIN(c->after_ns, c->before_ns), 1);
}

/* In order of time. */
static void
add_changes(GPtrArray *lines, const struct tally_answer_device *d, unsigned n)
{
	double ratios[TALLY_CHANGE_MOST];
	unsigned left_out = d->n_changes - n;
	for (unsigned i = 0; i < d->n_changes; i++)
		ratios[i] = ratio_of(&d->changes[i]);
	qsort(ratios, d->n_changes, sizeof(ratios[0]), tally_order_double);
	for (unsigned i = 0; i < d->n_changes; i++)
		if (ratio_of(&d->changes[i]) >= ratios[left_out])
			add_line(lines, tally_answer_change_text(&d->changes[i]));
	if (left_out)
		add_line(lines, g_strdup_printf("  and %u more change%s of speed",
						left_out, TALLY_S(left_out)));
}

char *
tally_answer_calls_text(const struct tally_answer_device *d, int group)
{
	g_autofree char *calls = tally_event_text(&d->calls[group]);
	return d->calls_in[group] >= 1
		       ? g_strdup_printf("each frame, on average: %s", calls)
		       : g_strdup_printf("%.0f %% of frames, on average: %s",
					 100 * d->calls_in[group], calls);
}

char *
tally_answer_cost_text(const struct tally_answer_device *d)
{
	g_autofree char *cost = tally_duration_text(d->mean_cost_ns);
	g_autofree char *once = tally_duration_text(d->once_ns);
	bool much = d->cost_share > TALLY_ANSWER_COST_LIMIT;
	return g_strdup_printf("%spasstally costs %s a frame (%.1f %%)%s%s%s",
			       much ? "warning: " : "", cost, 100 * d->cost_share,
			       d->once_ns > 0 ? ", and " : "", d->once_ns > 0 ? once : "",
			       d->once_ns > 0 ? " once at the start" : "");
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
			add_line(lines, g_strdup_printf("  %s", off));
}

GPtrArray *
tally_answer_lines(const struct tally_answer *answer, const struct tally_answer_device *d,
		   bool brief)
{
	enum { MOST_CHANGES = 2 };
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	const struct tally_device_summary *s = tally_aggregate_device(answer->log, d->device);
	add_head(lines, answer, s, d);
	char *start = brief ? NULL : tally_answer_start_text(d);
	if (start)
		add_line(lines, start);
	add_fitting(lines, d, d->n_changes, brief ? 1 : MOST_CHANGES, add_changes);
	char *memory = brief ? NULL : tally_answer_memory_text(d);
	if (memory)
		add_line(lines, memory);
	char *alternating = brief ? NULL : tally_answer_alternating_text(d);
	if (alternating)
		add_line(lines, alternating);
	add_line(lines, tally_answer_speed_text(d));
	add_line(lines, tally_bound_text(&d->bound, d->frames));
	add_untimed(lines, s, d);
	if (brief) {
		add_passes(lines, s, d);
		return lines;
	}
	if (tally_bound_hint(&d->bound))
		add_line(lines, g_strdup_printf("  %s", tally_bound_hint(&d->bound)));
	char *busiest = tally_answer_busiest_text(d);
	if (busiest)
		add_line(lines, g_strdup_printf("  %s", busiest));
	g_free(busiest);
	add_passes(lines, s, d);
	for (int i = 0; i < TALLY_N_EVENT_GROUPS; i++)
		if (d->calls_in[i] > 0)
			add_line(lines, tally_answer_calls_text(d, i));
	add_hitches(lines, d);
	add_line(lines, tally_answer_cost_text(d));
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

static void
print_device(FILE *out, const struct tally_answer *answer,
	     const struct tally_answer_device *d, bool brief)
{
	g_autoptr(GPtrArray) lines = tally_answer_lines(answer, d, brief);
	for (guint i = 0; i < lines->len; i++)
		tally_text_print_line(out, "%s",
				      (const char *)g_ptr_array_index(lines, i));
}

void
tally_answer_print(FILE *out, const struct tally_answer *answer, int64_t device)
{
	const struct tally_answer_device *whole = choose_main(answer);
	TALLY_EACH (const struct tally_answer_device, d, answer->devices) {
		bool shown = device >= 0 ? d->device == device
					 : !tally_aggregate_is_beneath(answer->log,
								       d->device);
		if (d->frames && shown)
			print_device(out, answer, d, device < 0 && d != whole);
	}
}
