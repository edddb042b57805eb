/* SPDX-License-Identifier: MIT */
#include "cli/log/device_summary.h"
#include "cli/log/rows.h"

#include <string.h>

/* "vertex+fragment cdfb829e", or the stages' entry points where these say more. */
static char *
describe(const struct tally_pipeline_record *p)
{
	enum { MOST_STAGES = 4 };
	if (p->name && *p->name)
		return g_strdup(p->name);
	GString *text = g_string_new(NULL);
	for (uint32_t i = 0; i < p->n_stages && i < MOST_STAGES; i++) {
		const char *entry = p->stages[i].entry;
		bool says = entry && *entry && strcmp(entry, "main") != 0;
		g_string_append_printf(text, "%s%s", i ? "+" : "",
				       says ? entry : tally_stage_name(p->stages[i].stage));
	}
	if (p->n_stages > MOST_STAGES)
		g_string_append_printf(text, "+%u more", p->n_stages - MOST_STAGES);
	g_string_append_printf(text, " %08x", (unsigned)(p->id >> 32));
	return g_string_free(text, FALSE);
}

/* What drivers have two names for, over all executables: anv has one for each width. */
static void
add_statistics(struct tally_pipeline_name *to, const struct tally_pipeline_record *p)
{
	for (uint32_t i = 0; i < p->n_statistics; i++) {
		const struct tally_value *v = &p->statistics[i].value;
		const char *key = p->statistics[i].key;
		if (v->storage != TALLY_STORAGE_U64)
			continue;
		if (g_str_has_suffix(key, ": Instructions") ||
		    g_str_has_suffix(key, ": Instruction Count"))
			to->instructions += v->u64;
		else if (strstr(key, ": Spill"))
			to->spills += v->u64;
	}
	to->measured = p->n_statistics > 0;
}

void
tally_pipeline_names_add(struct tally_aggregate *a, const struct tally_pipeline_record *p)
{
	struct tally_pipeline_name *name = g_new0(struct tally_pipeline_name, 1);
	g_autofree char *text = describe(p);
	name->text = tally_row_text(a, text);
	name->kind = p->kind;
	add_statistics(name, p);
	g_hash_table_replace(a->state->groups.pipeline_names, g_memdup2(&p->id, sizeof(p->id)),
			     name);
}

const char *
tally_pipeline_name(struct tally_aggregate *a, uint64_t id)
{
	const struct tally_pipeline_name *known = g_hash_table_lookup(
		a->state->groups.pipeline_names, &id);
	if (known)
		return known->text;
	g_autofree char *start = g_strdup_printf("%08x", (unsigned)(id >> 32));
	return tally_row_text(a, start);
}

static int
compare_ids(const void *a, const void *b, void *unused)
{
	const uint64_t *x = a, *y = b;
	(void)unused;
	return (*x > *y) - (*x < *y);
}

static struct tally_group *
pipeline_row(struct tally_aggregate *a, uint32_t device, uint64_t id)
{
	struct tally_groups *s = &a->state->groups;
	const struct tally_pass_key key = { .id = id, .device = device };
	struct tally_group *g = g_hash_table_lookup(s->pipelines, &key);
	if (g)
		return g;
	const struct tally_pipeline_name *known = g_hash_table_lookup(s->pipeline_names, &id);
	g_autofree char *name = tally_pass_names_number(&s->names, device,
							tally_pipeline_name(a, id));
	g = tally_group_create(a, device, NULL);
	g->id = id;
	g->kind = known ? known->kind : TALLY_PASS_OTHER;
	g->name = tally_row_text(a, name);
	((struct tally_pipeline_row *)g)->passes = g_tree_new_full(compare_ids, NULL, g_free, NULL);
	g_hash_table_insert(s->pipelines, g_memdup2(&key, sizeof(key)), g);
	return g;
}

/* The same in each frame. */
static void
add_compiled(struct tally_aggregate *a, struct tally_group *g)
{
	const struct tally_pipeline_name *known =
		g_hash_table_lookup(a->state->groups.pipeline_names, &g->id);
	if (!known || !known->measured)
		return;
	const struct tally_keyed_value values[] = {
		{ .key = "compiled_instructions", .value = { .u64 = known->instructions } },
		{ .key = "compiled_spills", .value = { .u64 = known->spills } },
	};
	tally_group_add_keyed(a, g, values, G_N_ELEMENTS(values), false);
}

/* Whether what was measured of the pass is the pipeline's alone; clears begin most passes, as a
 * call in OpenGL, unseen in Vulkan, and are in its time. */
static bool
did_all(const struct tally_pass_record *p)
{
	const struct tally_call_counts *all = &p->call_counts;
	return p->n_pipelines == 1 && !p->unknown && !all->copies &&
	       all->draws == p->pipelines[0].call_counts.draws &&
	       all->dispatches == p->pipelines[0].call_counts.dispatches;
}

/* The time of the pass's commands that used its k-th pipeline. */
static bool
time_of_commands(const struct tally_pass_record *p, uint32_t k, uint64_t *ns)
{
	bool known = false;
	*ns = 0;
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		const struct tally_workload_record *w = &p->workloads[i];
		if (!w->has_pipeline || w->pipeline != k)
			continue;
		if (!w->has_gpu)
			return false;
		*ns += w->gpu_ns;
		known = true;
	}
	return known && !(p->flags & TALLY_FLAG(DROPPED));
}

static void
add(struct tally_aggregate *a, struct tally_device_summary *d, const struct tally_frame_record *f)
{
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *p = &f->passes[i];
		tally_pass_row(a, d->device, p); /* the answer above the table names it */
		for (uint32_t k = 0; k < p->n_pipelines; k++) {
			struct tally_group *g = pipeline_row(a, d->device, p->pipelines[k].id);
			tally_device_summary_add_queue(a, d, g, p);
			tally_group_touch(a, g, i);
			GTree *passes = ((struct tally_pipeline_row *)g)->passes;
			if (!g_tree_lookup_extended(passes, &p->id, NULL, NULL))
				g_tree_insert(passes, g_memdup2(&p->id, sizeof(p->id)), NULL);
			if (g->n_parts == 1)
				add_compiled(a, g);
			tally_group_add_call_counts(g, &p->pipelines[k].call_counts, p->unknown);
			uint64_t ns;
			if (!did_all(p)) {
				if (time_of_commands(p, k, &ns))
					tally_group_add_gpu(g, ns);
				continue;
			}
			g->flags |= p->flags;
			if (p->has_gpu)
				tally_group_add_gpu(g, p->gpu_ns);
			tally_group_add_keyed(a, g, p->counters, p->n_counters, false);
		}
	}
}

const struct tally_grouping tally_by_pipeline = {
	.word = "pipeline",
	.columns = "per_frame_ns,share,n,draws,dispatches,vertices",
	.none = "lists no pipelines: --pipelines lists them, where shaders draw",
	.untimed = "the GPU time of a pipeline is known where it did all the work of its "
		   "passes (clears in it)",
	.parts = true,
	.row_bytes = sizeof(struct tally_pipeline_row),
	.add = add,
};
