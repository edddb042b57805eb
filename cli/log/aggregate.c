/* SPDX-License-Identifier: MIT */
#include "cli/log/aggregate_parts.h"

#include "cli/log/input.h"
#include "cli/shared/each.h"
#include "query/statistics/run_statistics.h"

#include <stdio.h>
#include <string.h>

/* Values */

/* Joins a value with those of the frame being read. */
static inline void
add_part(struct tally_group *g, uint32_t series, struct tally_value v, enum tally_join join)
{
	struct tally_joined *part = &g->parts[series];
	part->value = part->n++ ? tally_join_values(part->value, v, join) : v;
}

static void
add_tallies(struct tally_group *g, const struct tally_pass_record *p)
{
	for (unsigned k = 0; k < TALLY_N_CALL_COUNTS; k++)
		if (!(p->unknown & tally_call_count_names[k].unknown))
			add_part(g, TALLY_SERIES_DRAWS + k,
				 tally_u64(tally_call_count(&p->call_counts, k)), TALLY_JOIN_SUM);
}

static void
add_keyed(struct tally_aggregate *a, struct tally_group *g, const struct tally_keyed_value *values,
	  uint32_t n, bool metrics)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = tally_aggregate_key(a, values[i].key, metrics);
		struct tally_series *s = tally_group_series(g, TALLY_N_FIXED_SERIES + k);
		add_part(g, TALLY_N_FIXED_SERIES + k, values[i].value,
			 g_array_index(a->keys, struct tally_key, k).join);
		if (values[i].estimated)
			s->estimated = true;
	}
}

/* `index`: of the pass in its frame. */
static void
touch(struct tally_aggregate *a, struct tally_group *g, double index)
{
	if (!g->touched) {
		g->touched = true;
		g->index_sum += index;
		g_ptr_array_add(a->state->touched, g);
	}
	g->n_parts++;
	a->state->keys.guess = 0;
}

static void
add_pass(struct tally_aggregate *a, struct tally_group *g, const struct tally_pass_record *p,
	 uint32_t index)
{
	touch(a, g, index);
	g->flags |= p->flags;
	if (p->has_gpu)
		add_part(g, TALLY_SERIES_GPU, tally_u64(p->gpu_ns), TALLY_JOIN_SUM);
	add_tallies(g, p);
	add_keyed(a, g, p->counters, p->n_counters, false);
	if (a->by != TALLY_BY_FRAME)
		add_keyed(a, g, p->metrics, p->n_metrics, true);
}

static void
add_workloads(struct tally_aggregate *a, struct tally_group *pass,
	      const struct tally_pass_record *p, uint32_t index, uint64_t frame)
{
	if (pass->placed_in != frame + 1)
		pass->n_placed = 0;
	pass->placed_in = frame + 1;
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		const struct tally_workload_record *w = &p->workloads[i];
		struct tally_group *g = tally_group_next_workload(a, pass, w->command);
		/* All commands of a pass come before those of the next one. */
		touch(a, g, index + 1 - 1 / (double)(pass->n_placed + 1));
		g->flags |= w->flags;
		if (w->has_gpu)
			add_part(g, TALLY_SERIES_GPU, tally_u64(w->gpu_ns), TALLY_JOIN_SUM);
		add_keyed(a, g, w->counters, w->n_counters, false);
	}
}

/* Measured work that belongs to no pass gets a separate group, so that the shares add up. */
static void
add_outside(struct tally_aggregate *a, const struct tally_frame_record *f)
{
	struct tally_device_summary *d = tally_aggregate_need_device(a, f->device);
	if (!d->outside) {
		d->outside = tally_group_create(a, f->device, NULL);
		d->outside->outside = true;
		d->outside->kind = TALLY_PASS_OTHER;
		d->outside->name = g_strdup("(outside passes)");
	}
	touch(a, d->outside, f->n_passes);
	if (f->has_unattributed_gpu)
		add_part(d->outside, TALLY_SERIES_GPU, tally_u64(f->unattributed_gpu_ns),
			 TALLY_JOIN_SUM);
	add_keyed(a, d->outside, f->unattributed, f->n_unattributed, false);
}

/* The joined values of a group's parts count as one value each, if no watcher takes them. */
static void
add_values(const struct tally_aggregate *a, struct tally_group *g)
{
	struct tally_value v;
	g->frames++;
	for (uint32_t i = 0; i < g->n_series && !(a->watch && a->watch->takes_values); i++)
		if (tally_group_value(a, g, i, &v))
			tally_stats_add(&g->series[i].stats, v);
}

static void
forget_parts(struct tally_group *g)
{
	for (uint32_t i = 0; i < g->n_series; i++)
		g->parts[i].n = 0;
	g->n_parts = 0;
	g->touched = false;
}

/* Adds the frame's row: for a counter also the remainder that no pass has, and the metrics
 * of the whole frame, which are not those of its passes. */
static void
add_frame_totals(struct tally_aggregate *a, struct tally_group *g,
		 const struct tally_frame_record *f)
{
	if (!g->touched)
		touch(a, g, 0);
	for (uint32_t i = 0; i < f->n_unattributed; i++) {
		const struct tally_keyed_value *v = &f->unattributed[i];
		uint32_t k = tally_aggregate_key(a, v->key, false);
		struct tally_series *s = tally_group_series(g, TALLY_N_FIXED_SERIES + k);
		struct tally_joined *part = &g->parts[TALLY_N_FIXED_SERIES + k];
		if (g_array_index(a->keys, struct tally_key, k).join != TALLY_JOIN_SUM ||
		    (part->n && part->n != g->n_parts))
			continue;
		add_part(g, TALLY_N_FIXED_SERIES + k, v->value, TALLY_JOIN_SUM);
		part->n = g->n_parts;
		s->estimated |= v->estimated;
	}
	for (uint32_t i = 0; i < f->n_metrics; i++) {
		const struct tally_keyed_value *v = &f->metrics[i];
		uint32_t k = tally_aggregate_key(a, v->key, true);
		struct tally_series *s = tally_group_series(g, TALLY_N_FIXED_SERIES + k);
		tally_stats_add(&s->stats, v->value);
		g->parts[TALLY_N_FIXED_SERIES + k].n = 0;
		s->estimated |= v->estimated;
	}
}

static bool
is_warmup(const struct tally_aggregate *a, const struct tally_device_summary *d)
{
	return d->seen <
	       (a->state->warmup ? tally_warmup_frames(a->state->warmup, d->device) : a->warmup);
}

static void
read_frame(struct tally_aggregate *a, const struct tally_frame_record *f)
{
	struct tally_device_summary *d = tally_aggregate_need_device(a, f->device);
	if (!a->state->notes.first_ns)
		a->state->notes.first_ns = f->start_ns;
	tally_notes_add_frame(a, f);
	bool skipped = is_warmup(a, d);
	d->seen++;
	if (skipped) {
		d->warmed_up++;
		d->warmed_up_ns += f->cpu_ns;
		if (a->watch && a->watch->skipped)
			a->watch->skipped(a->watch->user, f);
		return;
	}
	tally_device_summary_count(a, d, f);
	struct tally_group *frame_group = NULL;
	if (a->by == TALLY_BY_FRAME) {
		frame_group = tally_group_create(a, f->device, NULL);
		frame_group->frame = f->frame;
		frame_group->flags = f->flags;
		frame_group->name = g_strdup_printf("%" G_GUINT64_FORMAT, f->frame);
		frame_group->record = *f;
		frame_group->record.set = NULL;
		frame_group->record.passes = NULL;
		frame_group->record.unattributed = NULL;
		frame_group->record.metrics = NULL;
	}
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *p = &f->passes[i];
		struct tally_group *g = tally_group_find(a, f->device, p, i);
		g->only_name = frame_group != NULL;
		g = frame_group ? frame_group : g;
		tally_device_summary_add_queue(a, d, g, p);
		if (a->by == TALLY_BY_WORKLOAD)
			add_workloads(a, g, p, i, f->frame);
		else
			add_pass(a, g, p, i);
		for (struct tally_group *r = g->parent; r; r = r->parent)
			if (!r->only)
				add_pass(a, r, p, i);
	}
	if (frame_group)
		add_frame_totals(a, frame_group, f);
	else if (a->by != TALLY_BY_WORKLOAD && (f->has_unattributed_gpu || f->n_unattributed))
		add_outside(a, f);
	TALLY_EACH (struct tally_group, g, a->state->touched)
		add_values(a, g);
	if (a->watch && a->watch->frame)
		a->watch->frame(a->watch->user, f, a->state->touched);
	TALLY_EACH (struct tally_group, g, a->state->touched)
		forget_parts(g);
	g_ptr_array_set_size(a->state->touched, 0);
}

/* What ends a frame, and the option by which none may have been captured although some ended. */
static void
read_frame_options(struct tally_aggregate *a, const struct tally_header_record *r)
{
	tally_text_replace(&a->waits, NULL);
	tally_text_replace(&a->boundary, NULL);
	for (uint32_t i = 0; i < r->n_options; i++) {
		const struct tally_key_text *o = &r->options[i];
		if (strcmp(o->key, "frame") == 0 && strcmp(o->value, "present") != 0)
			tally_text_replace(&a->boundary, o->value);
		bool late = strcmp(o->key, "start-on") == 0 && *o->value &&
			    strcmp(o->value, "none") != 0;
		late |= strcmp(o->key, "skip") == 0 && strcmp(o->value, "0") != 0;
		if (late && !a->waits)
			a->waits = g_strdup_printf("--%s %s", o->key, o->value);
	}
}

static void
read_header(struct tally_aggregate *a, const struct tally_header_record *r)
{
	a->header.pid = r->pid;
	a->header.started_unix_ns = r->started_unix_ns;
	tally_text_replace(&a->program, r->program);
	tally_text_replace(&a->version, r->version);
	read_frame_options(a, r);
	tally_log_identity_read(&a->identity, r);
}

void
tally_aggregate_add(struct tally_aggregate *a, const struct tally_log_line *line)
{
	a->state->keys.guess = 0;
	if (a->watch && a->watch->line)
		a->watch->line(a->watch->user, line);
	switch (line->type) {
	case TALLY_LINE_HEADER:
		read_header(a, &line->header);
		break;
	case TALLY_LINE_DEVICE:
		tally_device_summary_read(a, &line->device);
		break;
	case TALLY_LINE_PASS_INFO:
		tally_pass_names_add(&a->state->groups.names, &line->pass_info);
		break;
	case TALLY_LINE_FRAME:
		read_frame(a, &line->frame);
		break;
	case TALLY_LINE_NOTE:
		tally_notes_add(a, &line->note);
		break;
	case TALLY_LINE_END:
		a->has_end = true;
		tally_text_replace(&a->end_reason, line->end.reason);
		a->end_frames = line->end.frames;
		a->end_frames_dropped = line->end.frames_dropped;
		break;
	default:
		break;
	}
}

static void
init(struct tally_aggregate *a, const char *path, enum tally_by by, uint64_t warmup)
{
	*a = (struct tally_aggregate){ .by = by, .warmup = warmup, .path = g_strdup(path) };
	tally_log_identity_init(&a->identity);
	a->devices = g_ptr_array_new_with_free_func(tally_device_summary_destroy);
	struct tally_aggregate_state *s = g_new0(struct tally_aggregate_state, 1);
	s->devices = g_hash_table_new(NULL, NULL);
	s->touched = g_ptr_array_new();
	a->state = s;
	tally_keys_init(a);
	tally_groups_init(a);
	tally_notes_init(a);
}

void
tally_aggregate_begin(struct tally_aggregate *a, const char *path,
		      const struct tally_aggregate_watch *watch)
{
	init(a, path, TALLY_BY_PASS, 0);
	a->watch = watch;
}

void
tally_aggregate_finish(struct tally_aggregate *a)
{
	struct tally_aggregate_state *s = a->state;
	if (!s)
		return;
	tally_keys_finish(a);
	tally_groups_finish(a);
	tally_notes_finish(a);
	g_hash_table_destroy(s->devices);
	g_ptr_array_unref(s->touched);
	tally_warmup_destroy(s->warmup);
	g_free(s);
	g_ptr_array_unref(a->devices);
	g_free(a->path);
	g_free(a->program);
	g_free(a->waits);
	g_free(a->boundary);
	g_free(a->version);
	tally_log_identity_finish(&a->identity);
	g_free(a->end_reason);
	*a = (struct tally_aggregate){ 0 };
}

static bool
look_ahead(void *user, const struct tally_log_line *line)
{
	return tally_warmup_add(user, line);
}

static struct tally_log_reader *
open_log(struct tally_aggregate *a, const char *path, enum tally_read_status *status,
	 struct tally_read_error *error)
{
	struct tally_log_reader *reader;
	if (a->warmup != TALLY_WARMUP_AUTO) {
		reader = tally_log_input_open(path, status, error);
	} else {
		a->state->warmup = tally_warmup_create();
		reader = tally_log_input_open_ahead(path, a->skips_bad, look_ahead,
						    a->state->warmup, status, error);
	}
	if (reader && a->skips_bad)
		tally_log_reader_skip_bad(reader);
	return reader;
}

static bool
add_line(void *user, const struct tally_log_line *line)
{
	tally_aggregate_add(user, line);
	return true;
}

static int
read_log(struct tally_aggregate *a, const char *command, const char *path)
{
	struct tally_read_error error = { 0 };
	enum tally_read_status status = TALLY_READ_OK;
	struct tally_log_reader *reader = open_log(a, path, &status, &error);
	if (!reader)
		return tally_cli_read_failed(NULL, path, status, &error);
	const struct tally_log_taker taker = { add_line, a, "reading", path };
	status = tally_log_read_lines(reader, &taker, &a->skipped, &error);
	if (status == TALLY_READ_TRUNCATED) {
		a->truncated = true;
		tally_cli_complain(command,
				   "%s: the last line (%" G_GUINT64_FORMAT
				   ") is cut, as when the program was killed; all lines before it "
				   "are used",
				   path, error.line);
		return TALLY_EXIT_OK;
	}
	return status == TALLY_READ_END ? TALLY_EXIT_OK
					: tally_cli_read_failed(NULL, path, status, &error);
}

int
tally_aggregate_read_watched(struct tally_aggregate *a, const char *command, const char *path,
			     enum tally_by by, uint64_t warmup,
			     const struct tally_aggregate_watch *watch, bool skip_bad)
{
	init(a, path, by, warmup);
	a->skips_bad = skip_bad;
	a->watch = watch;
	return read_log(a, command, path);
}
