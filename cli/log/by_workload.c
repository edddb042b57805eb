/* SPDX-License-Identifier: MIT */
#include "cli/log/device_summary.h"
#include "cli/log/rows.h"

#include <string.h>

/* The row of the next command of a pass, indexed over all its segments. If a frame has a clear
 * where others have a draw, the clear gets a separate row at that index. */
static struct tally_group *
next_workload(struct tally_aggregate *a, struct tally_pass_row *pass, const char *command)
{
	GHashTable *rows = a->state->groups.workloads;
	const struct tally_workload_row key = {
		.pass = &pass->group,
		.place = pass->n_placed++,
		.command = g_intern_string(command),
	};
	struct tally_group *g = g_hash_table_lookup(rows, &key);
	if (g)
		return g;
	g = tally_group_create(a, pass->group.device, NULL);
	g->id = pass->group.id;
	g->kind = pass->group.kind;
	g->label = pass->group.label;
	g_autofree char *name = g_strdup_printf("%s: %u %s", pass->group.name,
						key.place + 1, command);
	g->name = tally_row_text(a, name);
	struct tally_workload_row *w = (struct tally_workload_row *)g;
	w->pass = key.pass;
	w->place = key.place;
	w->command = key.command;
	g_hash_table_add(rows, w);
	return g;
}

/* How many commands of each word the frame has had so far; lost: some are not listed. */
struct counted {
	bool lost;
	struct {
		const char *command; /* the log's */
		uint32_t n;
	} of[8];
};

/* The number of the next one, from 1; 0 = not known. */
static uint32_t
count(struct counted *counted, const char *command)
{
	for (size_t i = 0; i < G_N_ELEMENTS(counted->of); i++) {
		const char *word = counted->of[i].command;
		if (word && strcmp(word, command) != 0)
			continue;
		counted->of[i].command = command;
		counted->of[i].n++;
		return counted->lost ? 0 : counted->of[i].n;
	}
	return 0;
}

static void
add_workloads(struct tally_aggregate *a, struct tally_device_summary *d,
	      const struct tally_pass_record *p, uint32_t index, uint64_t frame,
	      struct counted *counted)
{
	struct tally_pass_row *pass = tally_pass_row(a, d->device, p);
	tally_device_summary_add_queue(a, d, &pass->group, p);
	if (pass->placed_in != frame + 1)
		pass->n_placed = 0;
	pass->placed_in = frame + 1;
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		const struct tally_workload_record *w = &p->workloads[i];
		struct tally_group *g = next_workload(a, pass, w->command);
		/* All commands of a pass come before those of the next one. */
		tally_group_touch(a, g, index + 1 - 1 / (double)(pass->n_placed + 1));
		g->flags |= w->flags;
		struct tally_workload_row *row = (struct tally_workload_row *)g;
		row->number = count(counted, w->command);
		row->groups = tally_row_text(a, w->group);
		row->pipeline = w->has_pipeline && w->pipeline < p->n_pipelines
					? tally_pipeline_name(a, p->pipelines[w->pipeline].id)
					: NULL;
		if (w->has_gpu)
			tally_group_add_gpu(g, w->gpu_ns);
		tally_group_add_keyed(a, g, w->counters, w->n_counters, false);
	}
	counted->lost |= (p->flags & TALLY_FLAG(DROPPED)) != 0;
}

static void
add(struct tally_aggregate *a, struct tally_device_summary *d, const struct tally_frame_record *f)
{
	struct counted counted = { .lost = f->dropped_passes > 0 };
	for (uint32_t i = 0; i < f->n_passes; i++)
		add_workloads(a, d, &f->passes[i], i, f->frame, &counted);
}

const struct tally_grouping tally_by_workload = {
	.word = "workload",
	.columns = "number,per_frame_ns,share,pipeline,groups",
	.none = "lists no workloads: a run with --granularity draw does, or a note says why not",
	.parts = true,
	.row_bytes = sizeof(struct tally_workload_row),
	.add = add,
};
