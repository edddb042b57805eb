/* SPDX-License-Identifier: MIT */
#include "cli/answer/text.h"

#include "cli/answer/words.h"
#include "cli/shared/text.h"

#include <inttypes.h>
#include <math.h>

double
tally_answer_change_ratio(const struct tally_answer_change *c)
{
	return MAX(c->after_ns, c->before_ns) / MAX(MIN(c->after_ns, c->before_ns), 1);
}

/* Of a pass that most frames had only before a change, or have only since. */
static const char *
presence_text(const struct tally_answer_change *c)
{
	bool new = c->what_before_ns <= 0;
	if (c->seldom)
		return new ? ", seldom there before" : ", seldom there now";
	return new ? ", new" : ", gone";
}

/* ", 4 times the pixels"; "": as many, or not known. */
static const char *
times_text(double before, double after, const char *pass, const char *of)
{
	double times = before > 0 ? after / before : 1;
	if (after <= 0 || fabs(times - 1) <= 0.1)
		return "";
	return tally_phrase(times < 10 ? ", %s%.2g times the %s" : ", %s%.0f times the %s",
			    pass, times, of);
}

static const char *
pixels_text(const struct tally_answer_change *c, bool same_draws)
{
	const double *width = c->work[TALLY_WORK_WIDTH];
	const double *height = c->work[TALLY_WORK_HEIGHT];
	const double *shaded = c->work[TALLY_WORK_FRAGMENTS];
	const char *pass = c->is_pass || !c->drew
				   ? ""
				   : tally_phrase("%s ", tally_short_name(c->drew));
	const char *pixels = times_text(width[0] * height[0], width[1] * height[1], pass,
					"pixels");
	if (*pixels == '\0')
		return same_draws ? times_text(shaded[0], shaded[1], "", "fragments") : "";
	return tally_phrase("%s (%.0fx%.0f -> %.0fx%.0f)", pixels, width[0], height[0],
			    width[1], height[1]);
}

static const char *
place_text(const char *in)
{
	return in ? tally_phrase(" (%s)", in) : "";
}

/* Whether it has about as many draws, and they do not explain a quarter of the time. */
static bool
has_as_many(const struct tally_answer_change *c)
{
	const double *n = c->work[TALLY_WORK_DRAWS];
	double draws = n[1] / MAX(n[0], 1) - 1;
	double time = c->what_after_ns / MAX(c->what_before_ns, 1) - 1;
	return fabs(draws) <= 0.1 && (draws * time <= 0 || 4 * fabs(draws) < fabs(time));
}

/* All passes took longer, or shorter, for about the same: what made them so is not known. */
static bool
is_drift(const struct tally_answer_change *c)
{
	return !c->is_pass && c->work[TALLY_WORK_DRAWS][0] > 0 && has_as_many(c);
}

bool
tally_answer_change_known(const struct tally_answer_change *c)
{
	return c->what && !c->starved && !c->no_cpu && !is_drift(c);
}

/* "bloom 0.35 -> 3.10 ms, same draws" */
static const char *
what_changed(const struct tally_answer_change *c)
{
	if (!c->what)
		return "cannot tell of what";
	const double *n = c->work[TALLY_WORK_DRAWS];
	const double *vertices = c->work[TALLY_WORK_VERTICES];
	const char *draws = "", *drew = c->is_pass ? tally_short_name(c->drew) : "";
	const char *of = c->draws ? c->draws : "draws";
	const bool same = fabs(n[1] - n[0]) <= 0.02 * n[0];
	if (c->starved)
		draws = tally_phrase(", or its driver had no CPU%s",
				     c->after_ns < c->before_ns ? " before" : "");
	else if (c->is_pass && MIN(c->what_before_ns, c->what_after_ns) <= 0)
		draws = presence_text(c);
	else if (n[0] <= 0 && n[1] <= 0)
		draws = "";
	else if (same || has_as_many(c))
		draws = tally_phrase(", %s %s%s%s", same ? "same" : "about as many", of,
				     pixels_text(c, true),
				     times_text(vertices[0], vertices[1], "", "vertices"));
	else if (c->is_pass || (n[1] - n[0]) * (c->after_ns - c->before_ns) > 0)
		draws = tally_phrase(", %s%s%.0f -> %.0f %s%s", drew, *drew ? " " : "", n[0], n[1],
				     of, pixels_text(c, false));
	return tally_phrase("%s%s %s%s", tally_short_name(c->what), place_text(c->in),
			    tally_from_to_text(c->what_before_ns, c->what_after_ns), draws);
}

static void
add_time(GString *text, const char *before, const struct tally_answer_time *t)
{
	if (t->what)
		g_string_append_printf(text, "%s%s%s %s", before, tally_short_name(t->what),
				       place_text(t->in),
				       tally_from_to_text(t->before_ns, t->after_ns));
}

const char *
tally_answer_presence_text(const struct tally_answer_device *d)
{
	const struct tally_answer_change *c = &d->began;
	double ns = fabs(c->what_after_ns - c->what_before_ns);
	const char *more = d->n_more_began ? tally_phrase(", and %u more", d->n_more_began) : "";
	return c->what ? tally_phrase("from frame %" PRIu64 " on %s (%.0f %% of the frame)%s",
				      c->frame, what_changed(c), 100 * ns / d->range_ns, more)
		       : NULL;
}

const char *
tally_answer_calls_began_text(const struct tally_answer_device *d)
{
	const char *calls = d->calls_began.ns ? tally_event_text(&d->calls_began) : NULL;
	return calls ? tally_phrase(d->calls_ended ? "up to frame %" PRIu64 " each frame had %s"
						   : "from frame %" PRIu64 " on each frame has %s",
				    d->calls_frame - d->calls_ended, calls)
		     : NULL;
}

const char *
tally_answer_alternating_text(const struct tally_answer_device *d)
{
	static const char *const words[] = { [2] = "2nd", [3] = "3rd", [4] = "4th" };
	const struct tally_alternating *a = &d->alternating;
	const char *from = "", *rest = "";
	if (!a->what)
		return NULL;
	if (a->until)
		from = tally_phrase("from frame %" PRIu64 " to %" PRIu64 " ", a->from, a->until);
	else if (a->from)
		from = tally_phrase("from frame %" PRIu64 " on ", a->from);
	if (a->else_ns > 0)
		rest = tally_phrase(", the others %s", tally_duration_text(a->else_ns));
	return tally_phrase(a->is_pass ? "%severy %s frame has %s%s, %s%s"
				       : "%severy %s frame has %s%s %s%s",
			    from, words[a->period], tally_short_name(a->what), place_text(a->in),
			    tally_duration_text(a->ns), rest);
}

const char *
tally_answer_change_text(const struct tally_answer_change *c)
{
	const char *where, *clock = "", *thread = "";
	g_autoptr(GString) more = g_string_new(NULL);
	if (!c->starved)
		add_time(more, ", of it ", &c->within);
	add_time(more, ", and ", &c->also);
	add_time(more, c->calls.after_ns <= c->what_after_ns ? ", of it " : ", with ", &c->calls);
	if (c->until > c->frame)
		where = tally_phrase("from frame %" PRIu64 " to %" PRIu64 " gradually",
				     c->frame, c->until);
	else
		where = tally_phrase("from %sframe %" PRIu64 " on", c->about ? "about " : "",
				     c->frame);
	if (c->clock_before > 0)
		clock = tally_phrase(", GPU clock %.0f -> %.0f MHz%s", c->clock_before,
				     c->clock_after, c->held ? ", held down" : "");
	if (c->thread)
		thread = tally_phrase(", meanwhile %s worked %s", tally_short_name(c->thread),
				      tally_from_to_text(c->thread_ns[0], c->thread_ns[1]));
	return tally_phrase("%s %.1f times %s: %s; %s%s%s%s", where, tally_answer_change_ratio(c),
			    c->after_ns > c->before_ns ? "slower" : "faster",
			    tally_from_to_text(c->before_ns, c->after_ns), what_changed(c),
			    more->str, thread, clock);
}
