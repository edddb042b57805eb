/* SPDX-License-Identifier: MIT */
#include "cli/answer/windows.h"

/* The only surface that the frame's passes draw to, or -1. */
static int64_t
surface_of(const struct tally_frame_record *f)
{
	int64_t surface = -1;
	for (uint32_t i = 0; i < f->n_passes; i++) {
		int64_t other = f->passes[i].surface;
		if (other >= 0 && surface >= 0 && other != surface)
			return -1;
		surface = other >= 0 ? other : surface;
	}
	return surface;
}

struct tally_window *
tally_windows_find(struct tally_windows *w, const struct tally_frame_record *f)
{
	int64_t surface = surface_of(f);
	for (unsigned i = 0; i < w->n; i++)
		w->all[i].begun &= f->frame == w->next_frame;
	w->next_frame = f->frame + 1;
	if (surface < 0)
		return NULL;
	unsigned i = 0;
	while (i < w->n && w->all[i].surface != surface)
		i++;
	if (i == TALLY_MOST_WINDOWS)
		return NULL;
	if (i == w->n)
		w->all[w->n++].surface = surface;
	else if (i != w->last)
		w->several = true;
	w->last = i;
	return &w->all[i];
}

void
tally_windows_add(struct tally_windows *w, const struct tally_window *of,
		  const struct tally_frame_record *f, bool timed, uint64_t unsure_ns)
{
	for (unsigned i = 0; i < w->n; i++) {
		struct tally_window *to = &w->all[i];
		struct tally_frame_record *sum = &to->sum;
		sum->has_thread &= f->has_thread;
		sum->has_wait &= f->has_wait;
		sum->has_gpu &= f->has_gpu;
		sum->thread_ns += f->thread_ns;
		sum->wait_ns += f->wait_ns;
		sum->gpu_ns += f->gpu_ns;
		sum->minor_faults += f->minor_faults;
		sum->major_faults += f->major_faults;
		sum->disk_bytes += f->disk_bytes;
		sum->overhead_ns += f->overhead_ns;
		to->timed &= timed;
		to->unsure_ns += unsure_ns;
		to->others_ns += to == of ? 0 : f->gpu_ns;
		tally_frame_events_read(&to->events, f);
	}
}

void
tally_window_begin(struct tally_window *window, const struct tally_frame_record *f)
{
	window->begun = window->timed = true;
	window->unsure_ns = window->others_ns = 0;
	window->events = (struct tally_frame_events){ 0 };
	window->sum = (struct tally_frame_record){
		.start_ns = f->start_ns + f->cpu_ns,
		.has_thread = true,
		.has_wait = true,
		.has_gpu = true,
	};
}
