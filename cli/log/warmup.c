/* SPDX-License-Identifier: MIT */
#include "cli/log/warmup.h"

#include "cli/shared/each.h"
#include "cli/shared/sort.h"

#include <stdlib.h>
#include <string.h>

/* A loading frame takes more than this many times the typical frame time, and is at least this
 * much longer. */
#define SLOW_FACTOR 4
#define SLOW_NS UINT64_C(10000000)
/* The typical time is that of the quickest quarter of the subsequent frames: a busy machine, or a
 * program that becomes slower, does not change it. One in FEW of them may take as long. */
#define QUICK 4
#define FEW 20
/* With quick frames in between, a frame must take this long: a busy machine delays a frame by
 * less. */
#define LONG_NS UINT64_C(100000000)
/* Loading continues if another slow frame comes within this many frames. */
#define MOST_GAP 16
/* Of the frames examined at most one in this many is left out. */
#define LEAST_SHARE 4

/* Frames after the last that loaded something, in which the GPU or its driver may finish it. */
#define IN_FLIGHT 3

/* Limits for the start of a log with many devices, or with very many passes. */
#define MOST_FRAMES (4 * TALLY_WARMUP_FRAMES)
#define MOST_PASSES 400000

bool
tally_warmup_take(const char *command, const struct tally_arg *arg, void *to, const char *value)
{
	(void)arg;
	guint64 v = TALLY_WARMUP_AUTO;
	if (strcmp(value, "auto") != 0 &&
	    !g_ascii_string_to_unsigned(value, 10, 0, TALLY_WARMUP_AUTO - 1, &v, NULL))
		return TALLY_FAIL(false, command,
				  "--warmup %s: must be auto or a whole number of frames", value);
	*(uint64_t *)to = v;
	return true;
}

/* The times of frames that are not loading. */
struct normal {
	uint64_t typical;
	uint64_t longest; /* exceeded by few frames */
};

static struct normal
normal_of(const uint64_t *values, size_t n)
{
	g_autofree uint64_t *sorted = g_memdup2(values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), tally_order_u64);
	struct normal normal = { sorted[(n - 1) / QUICK], sorted[n - 1 - n / FEW] };
	return normal;
}

static bool
is_slow(uint64_t ns, const struct normal *normal)
{
	return ns / SLOW_FACTOR >= normal->typical && ns - normal->typical >= SLOW_NS &&
	       ns > normal->longest;
}

/* The length of the slow start: it ends where no slow frame follows within `gap` frames. */
static size_t
slow_start(const uint64_t *frame_ns, size_t n, const struct normal *normal, size_t gap)
{
	size_t end = 0;
	for (size_t i = 0; i < n && i <= end + gap; i++)
		if (is_slow(frame_ns[i], normal))
			end = i + 1;
	return end;
}

/* The longest start of at most `end` frames of whose time at least half is in slow frames, if
 * these are half of the frames and it ends with one; or in long ones, if it ends with one. */
static size_t
mostly_slow(const uint64_t *frame_ns, size_t end, const struct normal *normal)
{
	size_t longest = 0, n_slow = 0;
	double slow_ns = 0, long_ns = 0, all = 0;
	for (size_t i = 0; i < end; i++) {
		double ns = (double)frame_ns[i];
		bool slow = is_slow(frame_ns[i], normal), lengthy = frame_ns[i] >= LONG_NS;
		all += ns;
		slow_ns += slow ? ns : 0;
		long_ns += slow && lengthy ? ns : 0;
		n_slow += slow;
		if (slow && ((2 * n_slow >= i + 1 && 2 * slow_ns >= all) ||
			     (lengthy && 2 * long_ns >= all)))
			longest = i + 1;
	}
	return longest;
}

size_t
tally_warmup_count(const uint64_t *frame_ns, size_t n, size_t last)
{
	size_t most = n / LEAST_SHARE;
	if (most == 0)
		return 0;
	/* The frames after those that could be left out: they cannot shift it. */
	const struct normal normal = normal_of(frame_ns + most, n - most);
	size_t end = slow_start(frame_ns, MIN(n, last), &normal, MOST_GAP);
	if (end > most) /* the times never become even: only an unbroken start may be loading */
		end = slow_start(frame_ns, MIN(n, last), &normal, 0);
	return end > most ? 0 : mostly_slow(frame_ns, end, &normal);
}

/* The start of a log */

struct device {
	uint32_t number;
	GArray *frame_ns; /* elements: uint64_t, at most TALLY_WARMUP_FRAMES */
	bool is_late; /* the capture began after the program's first frame: it does not load */
	bool counted; /* `count` is known */
	size_t count;
	size_t made; /* up to the last of them in which the program made or loaded something */
};

struct tally_warmup {
	GPtrArray *devices; /* elements: struct device * */
	size_t n_full; /* devices whose frames are all examined */
	uint64_t frames, passes;
};

static void
free_device(gpointer p)
{
	struct device *d = p;
	g_array_unref(d->frame_ns);
	g_free(d);
}

struct tally_warmup *
tally_warmup_create(void)
{
	struct tally_warmup *w = g_new0(struct tally_warmup, 1);
	w->devices = g_ptr_array_new_with_free_func(free_device);
	return w;
}

/* Whether it made shaders, memory or an upload. */
static bool
makes(const struct tally_frame_record *f)
{
	for (uint32_t i = 0; i < f->n_events; i++) {
		enum tally_event_kind kind = f->events[i].kind;
		if (kind <= TALLY_EVENT_UPLOAD || kind == TALLY_EVENT_MEMORY)
			return true;
	}
	return false;
}

static struct device *
find_device(const struct tally_warmup *w, uint32_t number)
{
	TALLY_EACH (struct device, d, w->devices)
		if (d->number == number)
			return d;
	return NULL;
}

static struct device *
need_device(struct tally_warmup *w, const struct tally_frame_record *f)
{
	struct device *d = find_device(w, f->device);
	if (d)
		return d;
	d = g_new0(struct device, 1);
	d->number = f->device;
	d->is_late = f->frame > 0;
	d->frame_ns = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_ptr_array_add(w->devices, d);
	return d;
}

bool
tally_warmup_add(struct tally_warmup *w, const struct tally_log_line *line)
{
	if (line->type != TALLY_LINE_FRAME)
		return true;
	const struct tally_frame_record *f = &line->frame;
	struct device *d = need_device(w, f);
	w->frames++;
	w->passes += f->n_passes;
	if (!(f->flags & (TALLY_FLAG(PARTIAL) | TALLY_FLAG(PICTURED))) &&
	    d->frame_ns->len < TALLY_WARMUP_FRAMES) {
		g_array_append_val(d->frame_ns, f->cpu_ns);
		d->made = makes(f) ? d->frame_ns->len : d->made;
		d->counted = false;
		w->n_full += d->frame_ns->len == TALLY_WARMUP_FRAMES;
	}
	return w->n_full < w->devices->len && w->frames < MOST_FRAMES && w->passes < MOST_PASSES;
}

size_t
tally_warmup_frames(struct tally_warmup *w, const struct tally_frame_record *f)
{
	struct device *d = find_device(w, f->device);
	if (!d)
		return f->frame == 0 && f->cpu_ns >= LONG_NS && makes(f);
	if (d->is_late)
		return 0;
	/* Slow frames in which nothing was loaded are a busy machine's. */
	if (!d->counted)
		d->count = tally_warmup_count((const uint64_t *)(void *)d->frame_ns->data,
					      d->frame_ns->len,
					      d->made ? d->made + IN_FLIGHT : SIZE_MAX);
	d->counted = true;
	return d->count;
}

void
tally_warmup_destroy(struct tally_warmup *w)
{
	if (!w)
		return;
	g_ptr_array_unref(w->devices);
	g_free(w);
}
