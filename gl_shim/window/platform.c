/* SPDX-License-Identifier: MIT */
#include "gl_shim/window/platform.h"

#include <string.h>

#include "gl_shim/context/state.h"
#include "gl_shim/image/drawable.h"
#include "gl_shim/image/framebuffer.h"
#include "gl_shim/pass/frames.h"
#include "gl_shim/window/dispatch.h"
#include "gl_shim/window/real.h"

/* ---- look-ups ---- */

void *
gl_platform_proc(const char *name, void *real, const char *prefix)
{
	if (!real || !name || gl_shim_disabled())
		return real;
	int row = gl_hook_find(name);
	if (row < 0)
		return real;
	/* For the other platform's names glvnd returns stubs that lead nowhere. */
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
	s.on = !gl_shim_disabled() && !release_only &&
	       !gl_current_is(platform, handle, drawable);
	if (s.on)
		s.old = gl_current_leave();
	return s;
}

/* A context that is current for the first time has a viewport of the drawable's size (GL 4.6
 * spec 13.8.1), so the window system need not be asked. */
static void
learn_first_size(uintptr_t drawable)
{
	struct tally_extent size;
	if (gl_current->live && drawable && !gl_drawable_size(drawable).measured_ns &&
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
	gl_current_enter(s->platform, s->handle, s->drawable, indirect);
	if (gl_current->state && !gl_current->next)
		gl_current->next = gl_next_for(lookup);
	learn_first_size(s->drawable.draw);
}

/* ---- fences and waits ---- */

void
gl_platform_fence(void)
{
	if (gl_current->live)
		gl_pass_may_end(gl_current);
}

struct tally_clock_wait
gl_platform_wait(void)
{
	if (!gl_current->live)
		return (struct tally_clock_wait){ 0 };
	gl_wait(gl_current);
	return tally_clock_wait_begin();
}

/* ---- swaps ---- */

void
gl_platform_paced(int interval)
{
	if (gl_current->live)
		gl_drawable_paced(gl_current->state->drawable.draw, interval);
}

__attribute__((hot)) bool
gl_drawable_outdated(uintptr_t drawable)
{
	if (!gl_current->live)
		return false;
	bool changed = gl_viewport_changed(gl_current);
	return gl_drawable_stale(drawable) || (changed && !gl_drawable_size(drawable).fixed);
}

__attribute__((hot)) struct gl_present
gl_present_begin(uintptr_t drawable, bool whole)
{
	struct gl_present p = { .drawable = drawable, .whole = whole };
	p.on = drawable && !gl_shim_disabled();
	if (p.on && gl_current->live)
		p.context = gl_current_park();
	if (p.on)
		p.wait = tally_clock_wait_begin();
	return p;
}

__attribute__((hot)) void
gl_present_end(const struct gl_present *p, bool succeeded)
{
	if (!p->on)
		return;
	uint64_t now_ns = tally_clock_wait_end(&p->wait);
	struct tally_presented presented = { .window = (int64_t)p->drawable + 1 };
	bool ends = succeeded &&
		    gl_drawable_swapped(p->drawable, p->whole, now_ns, &presented.size);
	if (p->context)
		gl_swap_end(p->context, ends, presented);
	else if (ends)
		gl_swapped_elsewhere(presented);
}
