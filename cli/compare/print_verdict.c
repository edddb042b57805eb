/* SPDX-License-Identifier: MIT */
#include "cli/compare/print_verdict.h"

#include "cli/compare/row.h"
#include "cli/log/device_summary.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

/* More runs than this are not what somebody waits for. */
#define MOST_RUNS 20
#define LEAST_RUNS 5
/* A larger limit is none. */
#define MOST_LIMIT 0.5

/* Whether the value is one of those that make the conclusion what it is. */
static bool
counts(const struct tally_compare *c, const struct tally_compare_row *row)
{
	return tally_compare_decides(c, row) &&
	       (c->conclusion == TALLY_CONCLUSION_REGRESSION     ? row->fails
		: c->conclusion == TALLY_CONCLUSION_INCONCLUSIVE ? row->open
								 : tally_row_changed(row));
}

/* The change of a value, larger where it is worse; of a time in nanoseconds. */
static double
size_of(const struct tally_compare *c, const struct tally_compare_row *row)
{
	const bool open = c->conclusion == TALLY_CONCLUSION_INCONCLUSIVE;
	double size = tally_row_seen(row) * (row->worse ? row->worse : 1);
	/* What may fail is as large as it may be. */
	if (open && c->settings.has_fail_above && row->tested && row->worse)
		size = row->worse > 0 ? row->high : -row->low;
	if (!row->is_time)
		tally_compare_relative(row, size, &size);
	bool either = (open && !c->settings.has_fail_above) ||
		      c->conclusion == TALLY_CONCLUSION_MIXED ||
		      c->conclusion == TALLY_CONCLUSION_FASTER ||
		      c->conclusion == TALLY_CONCLUSION_LESS;
	return either ? fabs(size) : size;
}

/* The value that decides the conclusion: the largest change in milliseconds of a pass, or of the
 * frame where no pass accounts for half of the frame's; else of a pass that has another label or
 * size, or of any value, in percent. NULL = none. */
static const struct tally_compare_row *
find_decisive(const struct tally_compare *c)
{
	/* Passes, frames, other values. */
	const struct tally_compare_row *best[3] = { NULL };
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		bool other = !row->is_time || !row->tested || row->subject->paired;
		unsigned kind = other ? 2 : row->subject->frame;
		if (counts(c, row) && (!best[kind] || size_of(c, row) > size_of(c, best[kind])))
			best[kind] = row;
	}
	if (best[0] && best[1])
		return 2 * size_of(c, best[0]) >= size_of(c, best[1]) ? best[0] : best[1];
	return best[0] ? best[0] : best[1] ? best[1] : best[2];
}

/* The pass, and the key if it is not a time. */
static const char *
key_name(const struct tally_printer *p, const struct tally_compare_row *row)
{
	if (tally_row_is_main(row) || row->pace)
		return tally_row_name(p->c, row);
	return tally_phrase("%s, %s", tally_subject_text(p->c, row->subject),
			    tally_row_key(p, row));
}

/* Of a frame's change half to twice is one pass, that only one side has, or that has another label
 * or size. */
static const char *
cause_text(const struct tally_printer *p, const struct tally_compare_row *frame)
{
	const double change = tally_row_seen(frame);
	const struct tally_compare_row *most = NULL;
	double most_part = 0.5;
	TALLY_EACH (const struct tally_compare_row, row, p->c->rows) {
		const struct tally_compare_subject *s = row->subject;
		double ns[TALLY_N_SIDES];
		for (unsigned i = 0; i < TALLY_N_SIDES; i++)
			ns[i] = row->mean[i] * (double)row->n[i] / (double)frame->n[i];
		double part = (ns[1] - ns[0]) / change;
		bool other = s->paired || !s->frames[0] || !s->frames[1];
		if (!other || !tally_row_is_main(row) || !(part > most_part))
			continue;
		most_part = part;
		most = row;
	}
	if (!most || most_part > 2)
		return "";
	const char *name = tally_subject_text(p->c, most->subject);
	const struct tally_unit *unit = &p->unit;
	if (most->subject->paired)
		return tally_phrase(": %s, %.*f -> %.*f %s", name, unit->decimals,
				    most->mean[0] / unit->ns, unit->decimals,
				    most->mean[1] / unit->ns, unit->word);
	return tally_phrase(": %s is %s, %.*f %s a frame", name,
			    most->subject->frames[1] ? "new" : "gone", unit->decimals,
			    most_part * fabs(change) / unit->ns, unit->word);
}

/* "GBuffer +142.4% (99 %: +41.4% to +243.4%)". */
static const char *
decisive_text(const struct tally_printer *p, const struct tally_compare_row *row)
{
	const char *name = key_name(p, row);
	if (!row->tested)
		return tally_phrase("%s: %s", name,
				    row->verdict == TALLY_VERDICT_FEW
					    ? "too few frames"
					    : "not measured on both sides");
	bool others = row->against_others;
	return tally_phrase("%s %s%s%s (%g %%: %s)%s", name,
			    tally_row_change(p, row, tally_row_seen(row)),
			    others ? ", against the other passes " : "",
			    others ? tally_row_change(p, row, row->difference) : "",
			    100 * p->c->settings.confidence, tally_row_interval(p, row),
			    row->subject->frame && row->is_time ? cause_text(p, row) : "");
}

static const char *
conclusion_text(const struct tally_printer *p)
{
	const struct tally_compare *c = p->c;
	const struct tally_compare_row *row = find_decisive(c);
	const char *text = row ? decisive_text(p, row) : "nothing was measured";
	g_autofree char *word = g_ascii_strup(tally_conclusion_names[c->conclusion], -1);
	double limit = 100 * c->settings.fail_above;
	switch (c->conclusion) {
	case TALLY_CONCLUSION_REGRESSION:
		return tally_phrase("REGRESSION: %u regression%s above %g %%, the largest %s",
				    c->n_failed, TALLY_S(c->n_failed), limit, text);
	case TALLY_CONCLUSION_INCONCLUSIVE:
		if (c->settings.has_fail_above && !c->has_gates)
			return "INCONCLUSIVE: no compared value can fail: name one with --gate";
		return tally_phrase("INCONCLUSIVE: %u change%s cannot be told from %s%s %s",
				    c->n_open, TALLY_S(c->n_open),
				    c->had_no_cpu > TALLY_COMPARE_BUSY ? "a busy machine" : "noise",
				    c->n_open == 1 ? ":" : ", the largest", text);
	case TALLY_CONCLUSION_NO_REGRESSION:
		return tally_phrase("OK: no regression above %g %%", limit);
	case TALLY_CONCLUSION_MIXED:
		return tally_phrase("MIXED: some %s rose and some fell, the largest change is %s",
				    c->has_gates ? "times" : "values", text);
	case TALLY_CONCLUSION_SAME:
		return tally_phrase("SAME: no %s changed by more than %g %%",
				    c->has_gates ? "time" : "value", 100 * TALLY_COMPARE_SAME);
	default:
		return tally_phrase("%s: %s", word, text);
	}
}

void
tally_print_conclusion(const struct tally_printer *p, const char *mark)
{
	const char *text = conclusion_text(p);
	if (p->lines) {
		g_ptr_array_add(p->lines, g_strdup(text));
		return;
	}
	g_autofree char *safe = p->style->markdown ? tally_markdown_escape(text) : NULL;
	tally_text_print(p->out, "%s%s\n", safe ? mark : "", safe ? safe : text);
}

/* Of the gated values that are known in too few frames the one that needs the most. */
static void
print_few(const struct tally_printer *p)
{
	const struct tally_compare *c = p->c;
	const struct tally_compare_row *few = NULL;
	TALLY_EACH (const struct tally_compare_row, row, c->rows)
		if (row->verdict == TALLY_VERDICT_FEW && row->worse && (!few || row->pace))
			few = row;
	tally_print_line(p,
			 "%u gated value%s known in too few frames to judge, as %s: record "
			 "%" G_GUINT64_FORMAT " frames a side or more",
			 c->n_few, TALLY_ARE(c->n_few), key_name(p, few),
			 few->pace ? tally_pace_least(c) : TALLY_COMPARE_LEAST);
}

/* The largest distance of an open value's interval from its estimate, as a part of the base, and
 * the runs a side that gave it. An error shrinks with the root of the runs. */
static double
find_reach(const struct tally_compare *c, uint32_t *runs)
{
	double most = 0;
	*runs = 1;
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		double half;
		if (!row->open || !row->tested || !row->is_time ||
		    !tally_compare_relative(row, (row->high - row->low) / 2, &half) || half < most)
			continue;
		most = half;
		*runs = row->runs ? MIN(c->logs[0]->len, c->logs[1]->len) : 1;
	}
	return most;
}

/* The least of the round limits that is no smaller. */
static double
round_limit(double v)
{
	static const double limits[] = { 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5 };
	for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
		if (v <= limits[i])
			return limits[i];
	return 1;
}

/* "./game --level 3", for a shell; or the side, as the log does not have it. */
static const char *
command_of(const struct tally_compare *c, enum tally_side side)
{
	const struct tally_compare_log *log = g_ptr_array_index(c->logs[side], 0);
	const char *program = log->aggregate.program;
	if (!program)
		return side == TALLY_SIDE_BASE ? "BASE" : "NEW";
	g_autofree char *word = tally_text_word(program);
	bool words = log->arguments && *log->arguments;
	return tally_phrase("%s%s%s", word, words ? " " : "", words ? log->arguments : "");
}

/* " --frames 30", where the runs had a limit. */
static const char *
frames_of(const struct tally_compare *c)
{
	const struct tally_compare_log *log = g_ptr_array_index(c->logs[TALLY_SIDE_BASE], 0);
	const char *frames = tally_log_option(&log->aggregate.identity, "frames", "0");
	return frames ? tally_phrase(" --frames %s", frames) : "";
}

/* Of single runs: whether a pass changed within one of them, so that not other work decides. */
static bool
print_change(const struct tally_printer *p)
{
	bool changed = false;
	uint64_t after = 0, frames = UINT64_MAX;
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		const struct tally_compare_log *log = p->c->logs[side]->pdata[0];
		const struct tally_answer_change *change = tally_compare_log_change(log);
		const struct tally_device_summary *device = log->devices->pdata[0];
		frames = MIN(frames, device->seen);
		if (p->c->logs[side]->len >= TALLY_COMPARE_LEAST_RUNS || !change)
			continue;
		changed |= change->is_pass;
		after = MAX(after, change->until);
	}
	if (changed && after < frames - MIN(frames, TALLY_COMPARE_LEAST))
		tally_print_line(p, "what came after it is compared by --warmup %" G_GUINT64_FORMAT,
				 after);
	return changed;
}

/* What would make an unclear comparison clear: how many runs, the command, and which limit this
 * machine can hold. Prints nothing unless the conclusion is open. */
static void
print_advice(const struct tally_printer *p)
{
	const struct tally_compare *c = p->c;
	if (c->conclusion != TALLY_CONCLUSION_INCONCLUSIVE || !c->n_open || print_change(p))
		return;
	uint32_t runs;
	double limit = tally_compare_limit(c), reach = find_reach(c, &runs);
	if (!(reach > 0))
		return;
	/* A change of the limit is found where the interval reaches half as far. */
	double needed = limit > 0 ? ceil(runs * pow(2 * reach / limit, 2)) : INFINITY;
	double least = round_limit(2 * reach * sqrt((double)runs / MOST_RUNS));
	if (least > MOST_LIMIT && least > limit) {
		tally_print_line(p,
				 "no limit is within reach here, not even with %d runs of each: "
				 "other work, or a clock that moves, decides the times",
				 MOST_RUNS);
		return;
	}
	double n = CLAMP(needed, MAX(LEAST_RUNS, runs + 1), MAX(MOST_RUNS, runs + 1));
	g_autofree char *safe_base = tally_text_escape(command_of(c, TALLY_SIDE_BASE));
	g_autofree char *safe_new = tally_text_escape(command_of(c, TALLY_SIDE_NEW));
	g_autofree char *safe_frames = tally_text_escape(frames_of(c));
	bool other = needed > MOST_RUNS && least > limit;
	if (other)
		tally_print_line(p,
				 "a limit of %g %% is out of reach here; %g %% is not, with %d "
				 "runs of each",
				 100 * limit, 100 * least, MOST_RUNS);
	const char *gate = c->settings.has_fail_above
				   ? tally_phrase(
					     " --fail-above %g%%",
					     100 * (needed > MOST_RUNS ? MAX(limit, least) : limit))
				   : "";
	tally_print_line(p, "to decide %s: passtally bench -n %.0f%s%s -- %s --vs %s",
			 other ? "that" : "it", n, safe_frames, gate, safe_base, safe_new);
}

void
tally_print_verdict(const struct tally_printer *p)
{
	const struct tally_compare *c = p->c;
	uint32_t less = 0, more = 0, runs = 0, against = 0;
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		less += row->verdict == TALLY_VERDICT_LESS;
		more += row->verdict == TALLY_VERDICT_MORE;
		runs += row->runs && row->tested;
		against += row->against_others;
	}
	tally_print_line(p,
			 "%u value%s tested by %s: %u rose, %u fell; in %g %% of comparisons "
			 "chance alone reports a time as changed, in as many another value",
			 c->n_tested, TALLY_S(c->n_tested),
			 runs == 0 ? "frames"
			 : runs == c->n_tested
				 ? "whole runs"
				 : "whole runs (by frames where fewer than 5 runs a side have it)",
			 more, less, 100 * (1 - c->settings.confidence));
	if (runs == 0 && c->n_tested)
		tally_print_line(
			p, "The intervals are of these runs: others of the same programs "
			   "differ, too. A gate needs five logs a side or more, taken in turn "
			   "(passtally bench)");
	if (against)
		tally_print_line(p,
				 "* judged against the other passes: what they all have in common "
				 "is left out");
	if (c->settings.has_fail_above && c->n_blind)
		tally_print_line(p,
				 "%u value%s could be more than %g %% worse and would not be seen",
				 c->n_blind, TALLY_S(c->n_blind), 100 * c->settings.fail_above);
	if (c->settings.has_fail_above && c->n_few)
		print_few(p);
	print_advice(p);
	tally_print_conclusion(p, "- ");
}
