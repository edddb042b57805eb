/* SPDX-License-Identifier: MIT */
#include "cli/answer/windows.h"

#define MOST_PASSES 20000 /* of a window that are kept */

/* The surface that the frame presents, or the only one of its passes; -1: not known. */
static int64_t
surface_of(const struct tally_frame_record *f)
{
	int64_t surface = -1;
	if (f->surface >= 0)
		return f->surface;
	for (uint32_t i = 0; i < f->n_passes; i++) {
		int64_t other = f->passes[i].surface;
		if (other >= 0 && surface >= 0 && other != surface)
			return -1;
		surface = other >= 0 ? other : surface;
	}
	return surface;
}

static void
free_counters(gpointer pass)
{
	g_free((gpointer)((struct tally_pass_record *)pass)->counters);
}

struct tally_window *
tally_windows_find(struct tally_windows *w, const struct tally_frame_record *f)
{
	int64_t surface = surface_of(f);
	for (unsigned i = 0; i < w->n; i++)
		w->all[i].begun &= f->frame == w->next_frame;
	w->in_turns |= w->next_frame && f->frame == w->next_frame && !f->has_thread;
	w->next_frame = f->frame + 1;
	if (surface < 0)
		return NULL;
	unsigned i = 0;
	while (i < w->n && w->all[i].surface != surface)
		i++;
	if (i == TALLY_MOST_WINDOWS)
		return NULL;
	struct tally_window *window = &w->all[i];
	w->several |= i < w->n && i != w->last;
	w->last = i;
	if (i < w->n)
		return window;
	w->n++;
	window->surface = surface;
	window->passes = g_array_new(FALSE, FALSE, sizeof(struct tally_pass_record));
	g_array_set_clear_func(window->passes, free_counters);
	return window;
}

/* The same context, or queue: that is in order. */
static bool
is_after(const struct tally_pass_record *a, const struct tally_pass_record *b)
{
	return a->context == b->context && a->queue_family == b->queue_family &&
	       a->queue_index == b->queue_index;
}

/* The one to which the pass's context or queue draws, if to no other; else -1. */
static int64_t
only_window(const struct tally_windows *w, const struct tally_pass_record *p)
{
	int64_t surface = -1;
	for (unsigned i = 0; i < w->n; i++) {
		const struct tally_window *by = &w->all[i];
		if (by->drew.surface != by->surface || !is_after(&by->drew, p))
			continue;
		if (surface >= 0)
			return -1;
		surface = by->surface;
	}
	return surface;
}

/* The window that a pass is for: the one it draws to, or the next of its context or queue
 * does (where threads take turns, of its submission); else the only one of these, else the
 * one that the frame presents. -1: not known. `owners`: of the passes after it. */
static int64_t
owner_of(const struct tally_windows *w, const struct tally_frame_record *f, uint32_t i,
	 const struct tally_window *presented, const int64_t *owners)
{
	const struct tally_pass_record *p = &f->passes[i];
	if (p->surface >= 0)
		return p->surface;
	for (uint32_t k = i + 1; k < f->n_passes; k++)
		if (is_after(p, &f->passes[k]) &&
		    (!w->in_turns || p->submission == f->passes[k].submission))
			return owners[k];
	int64_t only = only_window(w, p);
	return only >= 0 || !presented || w->in_turns ? only : presented->surface;
}

static void
add_passes(struct tally_window *to, const struct tally_frame_record *f,
	   const int64_t *owners)
{
	uint64_t own_ns = 0;
	to->alone = true;
	for (uint32_t i = 0; i < f->n_passes; i++) {
		struct tally_pass_record p = f->passes[i];
		to->alone &= owners[i] == to->surface;
		if (owners[i] != to->surface)
			continue;
		own_ns += p.gpu_ns;
		if (p.surface >= 0)
			to->drew = p;
		/* It has not been presented for long: its next frame is not told. */
		to->begun &= to->passes->len < MOST_PASSES;
		if (!to->begun)
			continue;
		p.index = to->passes->len;
		p.counters = g_memdup2(p.counters, p.n_counters * sizeof(*p.counters));
		g_array_append_val(to->passes, p);
	}
	to->others_ns += to->alone ? 0 : f->gpu_ns - MIN(f->gpu_ns, own_ns);
}

void
tally_windows_add(struct tally_windows *w, const struct tally_window *of,
		  const struct tally_frame_record *f, bool timed, uint64_t unsure_ns)
{
	const bool none = !f->n_passes && !f->dropped_passes; /* its GPU time is 0 */
	g_autofree int64_t *owners = g_new(int64_t, f->n_passes);
	for (uint32_t i = f->n_passes; i-- > 0;) {
		owners[i] = owner_of(w, f, i, of, owners);
		w->n_unplaced += owners[i] < 0;
	}
	for (unsigned i = 0; i < w->n; i++) {
		struct tally_window *to = &w->all[i];
		struct tally_frame_record *sum = &to->sum;
		sum->has_thread &= f->has_thread;
		sum->has_wait &= f->has_wait;
		sum->has_gpu &= f->has_gpu || none;
		sum->thread_ns += f->thread_ns;
		sum->wait_ns += f->wait_ns;
		sum->gpu_ns += f->gpu_ns;
		sum->kernel_ns += f->kernel_ns;
		sum->minor_faults += f->minor_faults;
		sum->major_faults += f->major_faults;
		sum->disk_bytes += f->disk_bytes;
		sum->overhead_ns += f->overhead_ns;
		to->timed &= timed || none;
		to->unsure_ns += unsure_ns;
		add_passes(to, f, owners);
		tally_frame_events_read(&to->events, f);
	}
}

void
tally_window_begin(struct tally_window *window, const struct tally_frame_record *f)
{
	window->begun = window->timed = true;
	window->unsure_ns = window->others_ns = 0;
	g_array_set_size(window->passes, 0);
	window->events = (struct tally_frame_events){ 0 };
	window->sum = (struct tally_frame_record){
		.start_ns = f->start_ns + f->cpu_ns,
		.has_thread = true,
		.has_wait = true,
		.has_gpu = true,
	};
}
