/* SPDX-License-Identifier: MIT */
#include "tests/unit/vk_layer/vk_recording_world.h"

static void
dump_slot(GString *out, const struct vk_slot *slot)
{
	if (!slot->page)
		return;
	const char *halves[] = { "?", "<", ">", "" };
	g_string_append_printf(out, " %s%s%u", slot->sources & 1 ? "t" : "",
			       slot->sources & WORLD_STATISTICS ? "c" : "", slot->index);
	g_string_append(out, halves[slot->halves]);
	if (slot->views > 1)
		g_string_append_printf(out, "x%u", slot->views);
}

static void
dump_number(GString *out, const char *name, uint64_t n)
{
	if (n)
		g_string_append_printf(out, " %s%d", name, (int)n);
}

static void
dump_tallies(GString *out, const struct tally_call_counts *t, uint32_t unknown, uint64_t flags)
{
	dump_number(out, "d", t->draws);
	dump_number(out, "v", t->vertices);
	dump_number(out, "i", t->instances);
	dump_number(out, "x", t->dispatches);
	dump_number(out, "c", t->copies);
	dump_number(out, "k", t->clears);
	dump_number(out, "n", vk_n_calls(t));
	dump_number(out, "?", unknown);
	for (unsigned i = 0; i < TALLY_N_FLAGS; i++) {
		if (flags & UINT64_C(1) << i)
			g_string_append_printf(out, " %s", tally_flag_name(i));
	}
}

static void
dump_pass(GString *out, const struct vk_recording *r, const struct vk_pass *p)
{
	g_string_append_printf(out, "%s%s%s%s", p->resuming ? "^" : "",
			       tally_pass_kind_name(p->kind), p->suspended ? "~" : "",
			       p->uncounted ? "!" : "");
	if (p->target)
		g_string_append_printf(out, "@%d", (int)(p->target - world_targets));
	uint64_t always = r->simultaneous ? TALLY_FLAG(SIMULTANEOUS) : 0;
	dump_tallies(out, &p->call_counts, p->unknown, p->flags | always);
	dump_slot(out, &p->slot);
	for (uint32_t i = 0; i < p->n_inner; i++) {
		g_string_append(out, " +");
		dump_slot(out, &r->inner[p->first_inner + i]->own);
	}
	for (uint32_t i = 0; i < p->n_uses; i++) {
		const struct vk_pipeline_use *use = &r->uses[p->first_use + i];
		const struct tally_call_counts *t = &use->call_counts;
		g_string_append_printf(out, " =%d:%dd%dv%di%dx%dn", (int)use->pipeline->id,
				       (int)t->draws, (int)t->vertices, (int)t->instances,
				       (int)t->dispatches, (int)t->calls);
	}
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		const struct vk_workload *w = &r->workloads[p->first_workload + i];
		g_string_append_printf(out, " (%s", w->command);
		dump_tallies(out, &(struct tally_call_counts){ 0 }, 0, w->flags);
		dump_slot(out, &w->slot);
		g_string_append(out, w->owner ? " of another)" : ")");
	}
}

static void
separate(GString *out)
{
	if (out->len && !g_str_has_suffix(out->str, "{"))
		g_string_append(out, "; ");
}

static void
dump_recording(GString *out, const struct vk_recording *r)
{
	for (uint32_t i = 0, n = 0; i <= r->n_items; i++) {
		while (n < vk_passes_before(r, i)) {
			separate(out);
			dump_pass(out, r, &r->passes[n++]);
		}
		if (i == r->n_items)
			break;
		const struct vk_item *item = &r->items[i];
		separate(out);
		switch (item->kind) {
		case VK_ITEM_LABEL_BEGIN:
			g_string_append_printf(out, "[%s", r->text + item->text);
			break;
		case VK_ITEM_LABEL_END:
			g_string_append(out, "]");
			break;
		case VK_ITEM_EXECUTE:
			g_string_append(out, "{");
			dump_recording(out, item->secondary);
			g_string_append(out, "}");
			break;
		}
	}
	if (r->whole.page) {
		g_string_append(out, out->len ? "; whole" : "whole");
		dump_slot(out, &r->whole);
	}
	if (r->uncounted &&
	    (r->continues_pass || world.config.granularity <= TALLY_GRANULARITY_SUBMIT))
		g_string_append(out, " uncounted");
	if (r->broken)
		g_string_append(out, " broken");
	dump_number(out, "dropped", r->dropped);
}

char *
world_dump(unsigned buffer)
{
	struct vk_command *c = world_command(buffer);
	GString *out = g_string_new(NULL);
	if (c->recording)
		dump_recording(out, c->recording);
	return g_string_free(out, FALSE);
}
