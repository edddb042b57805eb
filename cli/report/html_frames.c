/* SPDX-License-Identifier: MIT */
#include "cli/report/html_frames.h"

#include <stdbool.h>

void
tally_html_frames_init(struct tally_html_frames *f, uint64_t most_bytes)
{
	*f = (struct tally_html_frames){ .step = 1, .pass_step = 1, .most_bytes = most_bytes };
	f->rows = g_array_new(FALSE, FALSE, sizeof(struct tally_html_frame));
}

static struct tally_html_frame *
row_at(const struct tally_html_frames *f, guint row)
{
	return &g_array_index(f->rows, struct tally_html_frame, row);
}

static void
drop_passes(struct tally_html_frames *f, struct tally_html_frame *row)
{
	f->n_bytes -= row->n_bytes;
	g_clear_pointer(&row->passes, g_free);
	row->n_bytes = 0;
}

void
tally_html_frames_finish(struct tally_html_frames *f)
{
	for (guint i = 0; i < f->rows->len; i++)
		drop_passes(f, row_at(f, i));
	g_array_unref(f->rows);
}

/* The first one if they are as slow as each other. */
static bool
is_slower(const struct tally_html_frame *a, const struct tally_html_frame *b)
{
	return a->columns[TALLY_HTML_CPU] > b->columns[TALLY_HTML_CPU];
}

/* Of the rows from `first` on that share the passes of one. */
static void
keep_slowest(struct tally_html_frames *f, guint first)
{
	guint end = MIN(first + f->pass_step, f->rows->len), slowest = first;
	for (guint i = first; i < end; i++)
		if (is_slower(row_at(f, i), row_at(f, slowest)))
			slowest = i;
	for (guint i = first; i < end; i++)
		if (i != slowest)
			drop_passes(f, row_at(f, i));
}

/* Replaces a row by another, but for its samples. */
static void
replace(struct tally_html_frame *row, struct tally_html_frame by)
{
	by.columns[TALLY_HTML_SAMPLE_CPU] = row->columns[TALLY_HTML_SAMPLE_CPU];
	by.columns[TALLY_HTML_SAMPLE_GPU] = row->columns[TALLY_HTML_SAMPLE_GPU];
	*row = by;
}

static void
halve(struct tally_html_frames *f)
{
	guint n = 0;
	for (guint i = 0; i < f->rows->len; i += 2, n++) {
		struct tally_html_frame *a = row_at(f, i), *b = a + 1;
		bool second = i + 1 < f->rows->len && is_slower(b, a);
		if (i + 1 < f->rows->len)
			drop_passes(f, second ? a : b);
		if (second)
			replace(a, *b);
		*row_at(f, n) = *a;
	}
	g_array_set_size(f->rows, n);
	f->step *= 2;
	f->pass_step = MAX(f->pass_step / 2, 1);
}

void
tally_html_frames_add(struct tally_html_frames *f, const struct tally_html_frame *frame)
{
	if (f->rows->len == TALLY_HTML_MOST_ROWS && f->n % f->step == 0)
		halve(f);
	bool first = f->n++ % f->step == 0;
	struct tally_html_frame *last = first ? NULL : row_at(f, f->rows->len - 1);
	if (last && !is_slower(frame, last))
		return;
	struct tally_html_frame copy = *frame;
	copy.passes = g_memdup2(frame->passes, frame->n_bytes);
	f->n_bytes += frame->n_bytes;
	if (last) {
		drop_passes(f, last);
		replace(last, copy);
	} else {
		g_array_append_val(f->rows, copy);
	}
	guint row = f->rows->len - 1;
	keep_slowest(f, row - row % f->pass_step);
	while (f->n_bytes > f->most_bytes && f->pass_step < f->rows->len) {
		f->pass_step *= 2;
		for (guint i = 0; i < f->rows->len; i += f->pass_step)
			keep_slowest(f, i);
	}
}
