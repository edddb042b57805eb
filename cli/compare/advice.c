/* SPDX-License-Identifier: MIT */
#include "cli/compare/advice.h"

#include "cli/compare/row.h"
#include "cli/compare/row_text.h"
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

static double
limit_of(const struct tally_compare *c)
{
	return c->settings.has_fail_above ? c->settings.fail_above : TALLY_COMPARE_SAME;
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
	g_autofree char *quoted = g_shell_quote(program);
	bool plain = !strpbrk(program, " \t\n\"'\\$`*?;&|<>()");
	bool words = log->arguments && *log->arguments;
	return tally_phrase("%s%s%s", plain ? program : quoted, words ? " " : "",
			    words ? log->arguments : "");
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
		after = change->gradual ? UINT64_MAX : MAX(after, change->until);
	}
	if (changed && after < frames - MIN(frames, TALLY_COMPARE_LEAST))
		tally_print_line(p, "what came after it is compared by --warmup %" G_GUINT64_FORMAT,
				 after);
	return changed;
}

void
tally_print_advice(const struct tally_printer *p)
{
	const struct tally_compare *c = p->c;
	if (c->conclusion != TALLY_CONCLUSION_INCONCLUSIVE || !c->n_open || print_change(p))
		return;
	uint32_t runs;
	double limit = limit_of(c), reach = find_reach(c, &runs);
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
