#include "gl_shim/platform.h"

#include <pthread.h>
#include <string.h>

#include "gl_shim/real.h"
#include "gl_shim/state.h"
#include "layer/clock.h"

#define MAX_DRAWABLES 64
#define SECOND_NS UINT64_C(1000000000)

/* ---- look-ups ---- */

void *
gl_platform_proc(const char *name, void *real, const char *prefix)
{
	if (!real || gl_shim_disabled())
		return real;
	int row = gl_hook_find(name);
	if (row < 0)
		return real;
	/* glvnd gives stubs that lead nowhere for the other platform's names. */
	if (gl_hooks[row].slot < 0 && strncmp(name, prefix, strlen(prefix)) != 0)
		return real;
	if (!gl_real_is_own(real))
		gl_real_learn(row, real);
	return (void *)(uintptr_t)gl_hooks[row].hook;
}

void *
gl_platform_symbol(const char *name, const void *lookup)
{
	int row = gl_hook_find(name);
	void *found = row < 0 ? NULL : gl_real_learned(row);
	if (!found)
		found = gl_real_next(name);
	const struct link_map *map = found || !lookup ? NULL : gl_real_owner(lookup);
	if (map)
		found = gl_real_symbol(map, name);
	return found || !lookup ? found : gl_real_in_library(name);
}

/* ---- make-current ---- */

struct gl_switch
gl_switch_begin(enum gl_platform platform, void *handle, struct gl_drawable drawable,
		bool release_only)
{
	struct gl_switch s = { .platform = platform, .handle = handle, .drawable = drawable };
	s.on = !gl_shim_disabled() && !release_only && !gl_current_is(platform, handle, drawable);
	if (s.on)
		s.old = gl_current_leave();
	return s;
}

/* A context that is current for the first time has the drawable's size for its viewport (GL 4.6
 * spec 13.8.1): nothing need be asked of the window system. */
static void
learn_first_size(uintptr_t drawable)
{
	struct tally_extent size;
	if (gl_current->live && !gl_drawable_known(drawable) &&
	    gl_first_viewport(gl_current, &size))
		gl_drawable_learn(drawable, size, false);
}

void
gl_switch_end(const struct gl_switch *s, bool succeeded, void *(*lookup)(const char *name),
	      bool indirect)
{
	if (!s->on)
		return;
	if (!succeeded) {
		gl_current_back(s->old);
		return;
	}
	gl_current_enter(s->platform, s->handle, s->drawable, lookup, indirect);
	learn_first_size(s->drawable.draw);
}

/* ---- drawables ---- */

/* The most recently used stands first; slots of key 0 are free. */
static struct drawable {
	uintptr_t key;
	struct tally_extent size;
	uint64_t measured_ns; /* 0 = never */
	uint64_t swapped_ns;  /* as a whole; 0 = never */
	bool fixed;           /* never changes its size */
} drawables[MAX_DRAWABLES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards drawables; a leaf */

/* With the lock held: the entry of `key`, moved to the front; a new one takes the oldest's room. */
static struct drawable *
entry_of(uintptr_t key)
{
	size_t at = 0;
	while (at < MAX_DRAWABLES - 1 && drawables[at].key != key && drawables[at].key != 0)
		at++;
	struct drawable found = { .key = key };
	if (drawables[at].key == key)
		found = drawables[at];
	memmove(&drawables[1], &drawables[0], at * sizeof(drawables[0]));
	drawables[0] = found;
	return &drawables[0];
}

static bool
is_fixed(uintptr_t drawable)
{
	pthread_mutex_lock(&lock);
	bool fixed = entry_of(drawable)->fixed;
	pthread_mutex_unlock(&lock);
	return fixed;
}

bool
gl_drawable_stale(uintptr_t drawable)
{
	if (!drawable)
		return false;
	uint64_t now = tally_clock_now_ns();
	pthread_mutex_lock(&lock);
	const struct drawable *d = entry_of(drawable);
	bool stale = !d->measured_ns || (!d->fixed && now - d->measured_ns >= SECOND_NS);
	pthread_mutex_unlock(&lock);
	return stale;
}

bool
gl_drawable_outdated(uintptr_t drawable)
{
	if (!gl_current->live)
		return false;
	bool changed = gl_viewport_changed(gl_current);
	return gl_drawable_stale(drawable) || (changed && !is_fixed(drawable));
}

bool
gl_drawable_known(uintptr_t drawable)
{
	if (!drawable)
		return true;
	pthread_mutex_lock(&lock);
	bool known = entry_of(drawable)->measured_ns != 0;
	pthread_mutex_unlock(&lock);
	return known;
}

void
gl_drawable_learn(uintptr_t drawable, struct tally_extent size, bool fixed)
{
	if (!drawable)
		return;
	uint64_t now = tally_clock_now_ns();
	pthread_mutex_lock(&lock);
	struct drawable *d = entry_of(drawable);
	d->size = size;
	d->measured_ns = now;
	d->fixed = d->fixed || fixed;
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

static struct tally_extent
known_size(uintptr_t drawable)
{
	struct tally_extent size = { 0 };
	if (!drawable)
		return size;
	pthread_mutex_lock(&lock);
	size = entry_of(drawable)->size;
	pthread_mutex_unlock(&lock);
	return size;
}

struct tally_extent
gl_drawable_size(enum gl_platform platform, void *display, uintptr_t drawable)
{
	/* Never asked here: a draw may come when the drawable is gone (GLX 1.4 spec 3.3.6 lets a
	 * destroyed pbuffer live on while it is current), and X answers with an error that ends
	 * the game. Make-current and swap ask. */
	(void)platform;
	(void)display;
	return known_size(drawable);
}

/* ---- swaps ---- */

/* A swap of this kind happened: does it end a frame? */
static bool
ends_frame(uintptr_t drawable, bool whole)
{
	uint64_t now = tally_clock_now_ns();
	pthread_mutex_lock(&lock);
	struct drawable *d = entry_of(drawable);
	bool ends = whole || !d->swapped_ns || now - d->swapped_ns >= SECOND_NS;
	if (whole)
		d->swapped_ns = now;
	pthread_mutex_unlock(&lock);
	return ends;
}

struct gl_present
gl_present_begin(uintptr_t drawable, bool whole)
{
	struct gl_present p = { .drawable = drawable, .whole = whole };
	p.on = drawable && !gl_shim_disabled();
	if (p.on && gl_current->live)
		p.context = gl_swap_begin(drawable);
	return p;
}

void
gl_present_end(const struct gl_present *p, bool succeeded)
{
	if (!p->on)
		return;
	bool ends = succeeded && ends_frame(p->drawable, p->whole);
	if (p->context)
		gl_swap_end(p->context, p->drawable, ends, known_size(p->drawable));
	else if (ends)
		gl_swapped_elsewhere(p->drawable, known_size(p->drawable));
}

void
gl_platform_forked_child(void)
{
	pthread_mutex_init(&lock, NULL);
	gl_egl_forked_child();
}
