/* SPDX-License-Identifier: MIT */
#include "cli/report/html.h"

#include "cli/compare/compare.h"
#include "cli/shared/each.h"

#include <math.h>
#include <string.h>

static void
put_percent(struct tally_out *o, const struct tally_compare_row *row, bool known, double v)
{
	double relative;
	bool there = known && tally_compare_relative(row, v, &relative);
	tally_out_f64(o, NULL, there ? 100 * relative : (double)NAN);
}

static void
put_row(struct tally_out *o, const struct tally_compare *c, const struct tally_compare_row *row)
{
	const struct tally_compare_subject *s = row->subject;
	bool both = row->n[TALLY_SIDE_BASE] && row->n[TALLY_SIDE_NEW];
	tally_out_array(o, NULL);
	tally_out_u64(o, NULL, tally_compare_device(c, s->slot));
	if (s->frame || s->outside)
		tally_out_text(o, NULL, s->frame ? "frame" : "outside");
	else
		tally_out_id(o, NULL, s->id);
	tally_out_text(o, NULL, row->key);
	tally_out_text(o, NULL, tally_verdict_names[row->verdict]);
	put_percent(o, row, both, row->mean[TALLY_SIDE_NEW] - row->mean[TALLY_SIDE_BASE]);
	put_percent(o, row, row->tested, row->low);
	put_percent(o, row, row->tested, row->high);
	tally_out_end_array(o);
}

/* Sides that `compare` refuses because they differ in more than intended. */
static char *
refusal(const struct tally_compare *c)
{
	if (tally_compare_on_both_sides(c))
		return g_strdup("A and B are the same run");
	GString *why = g_string_new(NULL);
	TALLY_EACH (const struct tally_compare_unlike, u, c->unlike)
		if (u->kind != TALLY_UNLIKE_NOTE)
			g_string_append_printf(why, "%s%s: %s in A, %s in B", why->len ? "; " : "",
					       u->what, u->side[TALLY_SIDE_BASE],
					       u->side[TALLY_SIDE_NEW]);
	return g_string_free(why, why->len == 0);
}

static void
put_judged(struct tally_out *o, struct tally_compare *c)
{
	tally_compare_judge(c);
	tally_compare_conclude(c);
	tally_out_text(o, "conclusion", tally_conclusion_names[c->conclusion]);
	tally_out_f64(o, "same_pct", 100 * TALLY_COMPARE_SAME);
	tally_out_array(o, "rows");
	TALLY_EACH (const struct tally_compare_row, row, c->rows)
		put_row(o, c, row);
	tally_out_end_array(o);
}

void
tally_html_verdict_put(struct tally_out *o, const char *const logs[2], uint64_t warmup)
{
	const struct tally_compare_filter all = { .patterns = NULL };
	struct tally_compare c;
	bool good = strcmp(logs[0], "-") != 0 && strcmp(logs[1], "-") != 0;
	if (!good)
		return;
	tally_compare_init(&c);
	c.settings.confidence = TALLY_COMPARE_CONFIDENCE;
	for (unsigned side = 0; good && side < TALLY_N_SIDES; side++) {
		struct tally_compare_log *log;
		good = tally_compare_log_read(&log, logs[side], warmup, -1, &all) ==
		       TALLY_EXIT_OK;
		g_ptr_array_add(c.logs[side], log);
	}
	if (good) {
		tally_compare_join(&c);
		tally_compare_find_unlike(&c);
		g_autofree char *why = refusal(&c);
		tally_out_object(o, "verdict");
		if (why)
			tally_out_text(o, "refused", why);
		else
			put_judged(o, &c);
		tally_out_end_object(o);
	}
	tally_compare_finish(&c);
}
