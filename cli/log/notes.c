/* SPDX-License-Identifier: MIT */
#include "cli/log/notes.h"

#include <string.h>

/* A frame was read: the marks in it, which are before it in the log, get its number. */
void
tally_notes_add_frame(struct tally_aggregate *a, const struct tally_frame_record *f)
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

void
tally_notes_add(struct tally_aggregate *a, const struct tally_note_record *r)
{
	enum { MOST_NOTES = 1000 };
	if (a->notes->len >= MOST_NOTES)
		return;
	struct tally_aggregate_state *s = a->state;
	char *text = r->source && *r->source ? g_strdup_printf("%s: %s", r->source, r->message)
					     : g_strdup(r->message);
	bool mark = is_mark(r);
	if (mark) {
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

void
tally_notes_init(struct tally_aggregate *a)
{
	struct tally_notes *n = &a->state->notes;
	a->notes = g_ptr_array_new();
	n->set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	n->marks = g_array_new(FALSE, FALSE, sizeof(struct tally_mark));
}

void
tally_notes_finish(struct tally_aggregate *a)
{
	g_ptr_array_unref(a->notes);
	g_hash_table_destroy(a->state->notes.set);
	g_array_unref(a->state->notes.marks);
}
