/* SPDX-License-Identifier: MIT */
#include "cli/report/queues.h"

#include "cli/shared/text.h"

#define MOST_PASSES 3
#define LITTLE 0.05 /* a pass that ran less than this beside others is not named */

static gint
by_beside(gconstpointer x, gconstpointer y)
{
	const struct tally_beside *a = x, *b = y;
	return a->beside_ns < b->beside_ns ? 1 : a->beside_ns > b->beside_ns ? -1 : 0;
}

void
tally_queues_print(FILE *out, const struct tally_aggregate *a,
		   const struct tally_device_summary *d)
{
	const struct tally_queues *q = &d->queues_at_once;
	if (!q->frames)
		return;
	double frame = 1e6 * (double)q->frames;
	g_autoptr(GString) line = g_string_new("queues, ms a frame:");
	for (uint32_t i = 0; i < q->n; i++)
		g_string_append_printf(line, " %d.%d %.3g,", q->rows[i].family, q->rows[i].index,
				       (double)q->rows[i].busy_ns / frame);
	g_string_append_printf(line, " any of them %.3g, several at once %.3g",
			       (double)q->any_ns / frame, (double)q->several_ns / frame);
	g_autoptr(GList) all = g_list_sort(g_hash_table_get_values(q->beside), by_beside);
	unsigned n = 0;
	for (GList *l = all; l && n < MOST_PASSES; l = l->next) {
		const struct tally_beside *b = l->data;
		const struct tally_group *g =
			tally_aggregate_find_pass(a, d->device, b->id);
		double share = (double)b->beside_ns / (double)b->gpu_ns;
		if (g && share >= LITTLE)
			g_string_append_printf(line, "%s %s (%.0f %% of its time)",
					       n++ ? "," : "; beside other queues:", g->name,
					       100 * share);
	}
	tally_text_print_line(out, "%s", line->str);
}
