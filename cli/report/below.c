/* SPDX-License-Identifier: MIT */
#include "cli/report/below.h"

#include "cli/log/device_summary.h"
#include "cli/log/series.h"
#include "cli/report/columns.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

/* Whether a device whose passes have times can (or, not `draws`, cannot) time single draws. */
static bool
has_timed(const struct tally_aggregate *a, bool draws)
{
	TALLY_EACH (const struct tally_device_summary, d, a->devices)
		if (tally_moments_total(&d->gpu.moments) > 0 &&
		    tally_device_times_draws(d) == draws)
			return true;
	return false;
}

/* A note below the first lines or the table. */
static void
print_note(FILE *to, const char *text)
{
	tally_text_print_wrapped(to, text, 2, 80);
}

static void
print_flagged(FILE *to, const char *what, uint64_t flags)
{
	g_autofree char *words = tally_flags_text(flags, ", ");
	if (flags)
		what = tally_phrase("%s; they are flagged %s (man passtally-log)", what,
				    words);
	print_note(to, what);
}

/* Reports why a table has no times, according to the rows' flags in the log. */
static void
print_untimed(FILE *to, const struct tally_aggregate *a, const GPtrArray *rows)
{
	uint64_t flags = 0;
	guint n_timed = 0;
	TALLY_EACH (const struct tally_group, g, rows) {
		if (g->series[TALLY_SERIES_GPU].stats.moments.n)
			n_timed++;
		else
			flags |= g->flags;
	}
	if (n_timed && (!a->by->parts || n_timed == rows->len))
		return;
	const char *some = n_timed ? "some" : "these";
	bool draws = has_timed(a, true);
	bool together = has_timed(a, false) || (draws && flags & TALLY_FLAG(NO_TIMESTAMPS));
	if (a->by->untimed && rows->len)
		print_note(to, tally_phrase("%s%s", a->by->untimed,
					    draws ? ", or --granularity draw has the "
						    "times of its commands"
						  : ""));
	else if (a->by->parts && together)
		print_note(to, tally_phrase("the GPU time of %s workloads is unknown, only "
					    "that of their passes is known: the driver "
					    "draws those of a pass together "
					    "(docs/limits.md, --granularity draw)",
					    some));
	else if (flags & TALLY_FLAG(SHARED_TIME))
		print_flagged(to, "the GPU time of these rows is unknown: it is a part of that of "
				  TALLY_DRAWN_TOGETHER, flags);
	else
		print_flagged(to, tally_phrase("the GPU time of %s rows is unknown", some), flags);
}

/* Reports why a table has no counters although a device has some. */
static void
print_uncounted(FILE *to, const struct tally_aggregate *a, const GPtrArray *rows)
{
	const uint64_t reasons = TALLY_FLAG(SIMULTANEOUS) | TALLY_FLAG(RECORDED_IDLE) |
				 TALLY_FLAG(YIELDED) | TALLY_FLAG(DROPPED) | TALLY_FLAG(LOST) |
				 TALLY_FLAG(UNSAMPLED) | TALLY_FLAG(UNCOUNTED);
	bool described = false;
	uint64_t flags = 0;
	TALLY_EACH (const struct tally_group, g, rows) {
		flags |= g->flags & reasons;
		for (uint32_t i = 0; i < tally_n_series(a); i++) {
			const struct tally_key *key = tally_series_key(a, i);
			if (key->metric || !key->described)
				continue;
			described = true;
			if (i < g->n_series && g->series[i].stats.moments.n)
				return;
		}
	}
	if (described && flags)
		print_flagged(to, "no counter was measured in these rows", flags);
}

/* Reports that passes ran at the same time, where their shares say so. */
static void
print_overlap(FILE *to, const struct tally_aggregate *a, const GPtrArray *rows)
{
	TALLY_EACH (const struct tally_device_summary, d, a->devices) {
		double sum = 0;
		TALLY_EACH (const struct tally_group, g, rows)
			if (g->device == d->device && !tally_is_rollup(g))
				sum += MAX(tally_group_share(a, g), 0);
		if (sum > 1.005)
			tally_text_print(to, "shares of device %u add up to %.1f %%: passes ran at "
					     "the same time\n", d->device, 100 * sum);
	}
}

/* Reports that a row is of several windows, which have separate answers above it. */
static void
print_windows(FILE *to, const struct tally_answer *answer, const GPtrArray *rows)
{
	TALLY_EACH (const struct tally_group, g, rows) {
		const struct tally_pass_row *pass = tally_as_pass(g);
		const struct tally_answer_device *d = tally_answer_find(answer, g->device);
		if (pass && pass->several_surfaces && d && d->n_windows > 1)
			tally_text_print_line(to, "%s: one row for %u windows; the answers above "
					      "are of each", g->name, d->n_windows);
	}
}

/* Says of passes that change with their target's size, as with a dynamic resolution, how they are
 * summed up: identity has the size in it. */
static void
print_sizes(FILE *to, const struct tally_aggregate *a, const GPtrArray *rows)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	const struct tally_group *first = NULL;
	guint n = 0;
	TALLY_EACH (const struct tally_group, g, rows) {
		const struct tally_device_summary *d = tally_aggregate_device(a, g->device);
		if (!tally_as_pass(g) || !g->label || !d || 3 * g->frames > 2 * d->frames)
			continue;
		guint k = GPOINTER_TO_UINT(g_hash_table_lookup(seen, g->label)) + 1;
		g_hash_table_insert(seen, (char *)g->label, GUINT_TO_POINTER(k));
		n += k == 2;
		if (k == 2 && !first)
			first = g;
	}
	if (!first)
		return;
	print_note(to, tally_phrase("%u label%s more than one row, none in most frames (%s): where "
				    "targets change their size each has a row; --by label has one",
				    n, n == 1 ? " has" : "s have", first->label));
}

void
tally_report_print_below(FILE *to, const struct tally_aggregate *a,
			 const struct tally_answer *answer, const GPtrArray *rows, bool part)
{
	print_untimed(to, a, rows);
	if (!a->by->parts)
		print_uncounted(to, a, rows);
	print_windows(to, answer, rows);
	if (!part) {
		print_overlap(to, a, rows);
		print_sizes(to, a, rows);
	}
	if (tally_rows_mix_devices(rows))
		tally_text_print(to, "share is of the GPU time of the row's device\n");
}
