/* SPDX-License-Identifier: MIT */
#include "gl_shim/image/drawable.h"

#include <pthread.h>
#include <string.h>

#include "layer/base/clock.h"

#define MAX_DRAWABLES 64
#define SECOND_NS UINT64_C(1000000000)

/* The most recently used entry is first; entries with key 0 are free. */
static struct drawable {
	uintptr_t key;
	struct gl_drawable_size known;
	uint64_t swapped_ns; /* last swap of the whole drawable; 0 = never */
} drawables[MAX_DRAWABLES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards drawables; a leaf lock */

/* Finds the entry of `key` and moves it to the front; a new one replaces the oldest.
 * Called with the lock held. */
static __attribute__((hot)) struct drawable *
entry_of(uintptr_t key)
{
	size_t at = 0;
	if (drawables[0].key == key)
		return &drawables[0];
	while (at < MAX_DRAWABLES - 1 && drawables[at].key != key && drawables[at].key != 0)
		at++;
	struct drawable found = { .key = key, .known.interval = GL_INTERVAL_UNKNOWN };
	if (drawables[at].key == key)
		found = drawables[at];
	memmove(&drawables[1], &drawables[0], at * sizeof(drawables[0]));
	drawables[0] = found;
	return &drawables[0];
}

__attribute__((hot)) struct gl_drawable_size
gl_drawable_size(uintptr_t drawable)
{
	struct gl_drawable_size found = { .interval = GL_INTERVAL_UNKNOWN };
	if (!drawable)
		return found;
	pthread_mutex_lock(&lock);
	found = entry_of(drawable)->known;
	pthread_mutex_unlock(&lock);
	return found;
}

__attribute__((hot)) bool
gl_drawable_stale(uintptr_t drawable)
{
	struct gl_drawable_size known = gl_drawable_size(drawable);
	return drawable && (!known.measured_ns ||
			    (!known.fixed &&
			     tally_clock_now_ns() - known.measured_ns >= SECOND_NS));
}

void
gl_drawable_learn(uintptr_t drawable, struct tally_extent size, bool fixed)
{
	if (!drawable)
		return;
	uint64_t now = tally_clock_now_ns();
	pthread_mutex_lock(&lock);
	struct gl_drawable_size *known = &entry_of(drawable)->known;
	known->size = size;
	known->measured_ns = now;
	known->fixed |= fixed;
	pthread_mutex_unlock(&lock);
}

void
gl_drawable_learn_pbuffer(uintptr_t drawable, bool pbuffer)
{
	if (!drawable)
		return;
	pthread_mutex_lock(&lock);
	entry_of(drawable)->known.pbuffer = pbuffer;
	pthread_mutex_unlock(&lock);
}

void
gl_drawable_paced(uintptr_t drawable, int interval)
{
	if (!drawable)
		return;
	pthread_mutex_lock(&lock);
	entry_of(drawable)->known.interval = interval;
	pthread_mutex_unlock(&lock);
}

void
gl_drawable_forget(uintptr_t drawable)
{
	if (!drawable)
		return;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAX_DRAWABLES; i++) {
		if (drawables[i].key != drawable)
			continue;
		memmove(&drawables[i], &drawables[i + 1],
			(MAX_DRAWABLES - 1 - i) * sizeof(drawables[0]));
		drawables[MAX_DRAWABLES - 1] = (struct drawable){ 0 };
		break;
	}
	pthread_mutex_unlock(&lock);
}

__attribute__((hot)) bool
gl_drawable_swapped(uintptr_t drawable, bool whole, uint64_t now_ns, struct tally_extent *size)
{
	pthread_mutex_lock(&lock);
	struct drawable *d = entry_of(drawable);
	bool ends = whole || !d->swapped_ns || now_ns - d->swapped_ns >= SECOND_NS;
	if (whole)
		d->swapped_ns = now_ns;
	*size = d->known.size;
	pthread_mutex_unlock(&lock);
	return ends;
}

void
gl_drawables_forked_child(void)
{
	pthread_mutex_init(&lock, NULL);
}
