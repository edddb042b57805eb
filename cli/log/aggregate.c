/* SPDX-License-Identifier: MIT */
#include "cli/log/device_summary.h"
#include "cli/log/rows.h"

#include "cli/log/input.h"
#include "cli/shared/each.h"
#include "json/record_read.h"
#include "query/statistics/run_statistics.h"

#include <stdio.h>
#include <string.h>

/* ---- notes, without duplicates, and marks, which get the number of their frame ---- */

/* A frame was read: the marks in it, which are before it in the log, get its number. */
static void
number_marks(struct tally_aggregate *a, const struct tally_frame_record *f)
{
	GArray *marks = a->state->notes.marks;
	for (guint i = marks->len; i-- > 0;) {
		const struct tally_mark *mark = &g_array_index(marks, struct tally_mark, i);
		if (mark->ns < f->start_ns || mark->ns - f->start_ns >= f->cpu_ns)
			continue;
		char *old = g_ptr_array_index(a->notes, mark->note);
		char *text = g_strdup_printf("%s, frame %" G_GUINT64_FORMAT, old, f->frame);
		g_hash_table_remove(a->state->notes.set, old);
		g_hash_table_add(a->state->notes.set, text);
		a->notes->pdata[mark->note] = text;
		g_array_remove_index(marks, i);
	}
}

static bool
is_mark(const struct tally_note_record *r)
{
	return r->has_time && r->source &&
	       (strcmp(r->source, "mark") == 0 || strcmp(r->source, "trigger") == 0);
}

static void
add_note(struct tally_aggregate *a, const struct tally_note_record *r)
{
	enum { MOST_NOTES = 1000 };
	if (a->notes->len >= MOST_NOTES)
		return;
	struct tally_aggregate_state *s = a->state;
	char *text = r->source && *r->source ? g_strdup_printf("%s: %s", r->source, r->message)
					     : g_strdup(r->message);
	bool mark = is_mark(r);
	if (mark) {
		if (strcmp(r->source, "trigger") == 0)
			a->paused = g_str_has_prefix(r->message, "capture pauses");
		/* Two equal marks are two separate marks. */
		if (!s->notes.first_ns)
			s->notes.first_ns = r->time_ns;
		uint64_t since_ns = r->time_ns > s->notes.first_ns ? r->time_ns - s->notes.first_ns
								   : 0;
		char *plain = text;
		text = g_strdup_printf("%s, %.3f s into the log", plain, (double)since_ns / 1e9);
		g_free(plain);
	}
	if (!g_hash_table_add(s->notes.set, text))
		return;
	g_ptr_array_add(a->notes, text);
	const struct tally_mark waiting = { r->time_ns, a->notes->len - 1 };
	if (mark)
		g_array_append_val(s->notes.marks, waiting);
}

/* ---- frames ---- */

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
}

static bool
is_warmup(const struct tally_aggregate *a, const struct tally_device_summary *d,
	  const struct tally_frame_record *f)
{
	return d->seen <
	       (a->state->warmup ? tally_warmup_frames(a->state->warmup, f) : a->warmup);
}

/* A frame that submits pictured command buffers again has their numbers, and no new one. */
static void
add_pictured(struct tally_aggregate *a, const struct tally_frame_record *f)
{
	uint32_t last = 0, newest = 0;
	for (uint32_t i = 0; i < f->n_passes; i++)
		newest = MAX(newest, f->passes[i].picture);
	TALLY_EACH_OF (const struct tally_pictured_pass, old, a->pictured)
		last = MAX(last, old->number);
	for (uint32_t i = 0; i < f->n_passes && newest > last; i++) {
		const struct tally_pass_record *p = &f->passes[i];
		const struct tally_pictured_pass pass = { f->device, p->id, f->frame,
							  p->picture };
		if (p->picture)
			g_array_append_val(a->pictured, pass);
	}
}

static void
read_frame(struct tally_aggregate *a, const struct tally_frame_record *f)
{
	struct tally_device_summary *d = tally_aggregate_need_device(a, f->device);
	if (!a->state->notes.first_ns)
		a->state->notes.first_ns = f->start_ns;
	number_marks(a, f);
	add_pictured(a, f);
	bool skipped = is_warmup(a, d, f);
	d->first = d->seen ? d->first : f->frame;
	d->missed = f->frame - d->first - d->seen++;
	if (skipped) {
		d->warmed_up++;
		d->warmed_up_ns += f->cpu_ns;
		for (const struct tally_aggregate_watch *w = a->watch; w; w = w->then)
			if (w->skipped)
				w->skipped(w->user, f);
		return;
	}
	tally_device_summary_count(d, f);
	a->by->add(a, d, f);
	TALLY_EACH (struct tally_group, g, a->state->touched)
		add_values(a, g);
	for (const struct tally_aggregate_watch *w = a->watch; w; w = w->then)
		if (w->frame)
			w->frame(w->user, f, a->state->touched);
	TALLY_EACH (struct tally_group, g, a->state->touched)
		forget_parts(g);
	g_ptr_array_set_size(a->state->touched, 0);
}

/* The option by which no frame may have been captured although some ended. */
static void
find_wait(struct tally_aggregate *a)
{
	static const struct {
		const char *key, *off;
	} late[] = { { "skip", "0" }, { "start-on", "none" } };
	a->waits = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(late) && !a->waits; i++) {
		const char *value = tally_log_option(&a->identity, late[i].key, late[i].off);
		if (!value || !*value)
			continue;
		g_autofree char *option = g_strdup_printf("--%s %s", late[i].key, value);
		a->waits = g_intern_string(option);
	}
}

static void
read_header(struct tally_aggregate *a, const struct tally_header_record *r)
{
	a->header.pid = r->pid;
	a->header.started_unix_ns = r->started_unix_ns;
	a->header.process_start_ns = r->process_start_ns;
	a->program = g_intern_string(r->program);
	tally_pass_names_program(&a->state->groups.names, r->program);
	a->version = g_intern_string(r->version);
	tally_log_identity_read(&a->identity, r);
	find_wait(a);
}

void
tally_aggregate_add(struct tally_aggregate *a, const struct tally_log_line *line)
{
	for (const struct tally_aggregate_watch *w = a->watch; w; w = w->then)
		if (w->line)
			w->line(w->user, line);
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
	case TALLY_LINE_PIPELINE:
		tally_pipeline_names_add(a, &line->pipeline);
		break;
	case TALLY_LINE_FRAME:
		read_frame(a, &line->frame);
		break;
	case TALLY_LINE_NOTE:
		add_note(a, &line->note);
		break;
	case TALLY_LINE_END:
		a->has_end = true;
		a->end_reason = g_intern_string(line->end.reason);
		a->end_frames = line->end.frames;
		a->end_frames_dropped = line->end.frames_dropped;
		break;
	default:
		break;
	}
}

void
tally_aggregate_forget_frames(struct tally_aggregate *a)
{
	TALLY_EACH (struct tally_device_summary, d, a->devices)
		tally_device_summary_forget(d);
	TALLY_EACH (struct tally_group, g, a->groups) {
		for (uint32_t i = 0; i < g->n_series; i++)
			tally_stats_finish(&g->series[i].stats);
		g->frames = g->flags = 0;
		g->index_sum = 0;
		g->n_series = 0;
		tally_group_make_series(g, TALLY_N_FIXED_SERIES - 1);
	}
}

static void
init(struct tally_aggregate *a, const char *path, const struct tally_grouping *by, uint64_t warmup)
{
	*a = (struct tally_aggregate){ .by = by, .warmup = warmup, .path = g_strdup(path) };
	tally_log_identity_init(&a->identity);
	a->devices = g_ptr_array_new_with_free_func(tally_device_summary_destroy);
	struct tally_aggregate_state *s = g_new0(struct tally_aggregate_state, 1);
	s->devices = g_hash_table_new(NULL, NULL);
	s->touched = g_ptr_array_new();
	a->state = s;
	tally_keys_init(a);
	a->pictured = g_array_new(FALSE, FALSE, sizeof(struct tally_pictured_pass));
	tally_groups_init(a);
	a->notes = g_ptr_array_new();
	s->notes.set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->notes.marks = g_array_new(FALSE, FALSE, sizeof(struct tally_mark));
}

void
tally_aggregate_begin(struct tally_aggregate *a, const char *path,
		      const struct tally_aggregate_watch *watch)
{
	init(a, path, &tally_by_pass, 0);
	a->watch = watch;
}

void
tally_aggregate_finish(struct tally_aggregate *a)
{
	struct tally_aggregate_state *s = a->state;
	if (!s)
		return;
	g_hash_table_destroy(s->keys);
	g_array_unref(a->keys);
	g_array_unref(a->pictured);
	tally_groups_finish(a);
	g_ptr_array_unref(a->notes);
	g_hash_table_destroy(s->notes.set);
	g_array_unref(s->notes.marks);
	g_hash_table_destroy(s->devices);
	g_ptr_array_unref(s->touched);
	tally_warmup_destroy(s->warmup);
	g_free(s);
	g_ptr_array_unref(a->devices);
	g_free(a->path);
	tally_log_identity_finish(&a->identity);
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
	const struct tally_log_taker taker = { add_line, a, "reading", path, false };
	status = tally_log_read_lines(reader, &taker, &a->skipped, &error);
	if (status == TALLY_READ_TRUNCATED) {
		a->truncated = true;
		if (command)
			tally_cli_complain(command,
					   "%s: the last line (%" G_GUINT64_FORMAT
					   ") is cut, as when the program was killed; all "
					   "lines before it are used",
					   path, error.line);
		return TALLY_EXIT_OK;
	}
	return status == TALLY_READ_END ? TALLY_EXIT_OK
					: tally_cli_read_failed(NULL, path, status, &error);
}

int
tally_aggregate_read_watched(struct tally_aggregate *a, const char *command, const char *path,
			     const struct tally_grouping *by, uint64_t warmup,
			     const struct tally_aggregate_watch *watch, bool skip_bad)
{
	init(a, path, by, warmup);
	a->skips_bad = skip_bad;
	a->watch = watch;
	return read_log(a, command, path);
}
