/* SPDX-License-Identifier: MIT */
/* gl_shim/image/drawable.h - the drawables used last: the size of each, and when it was swapped.
 *
 * Nothing here asks the window system: the code that does (platform.h) records the answer here.
 * So a size is known from the first make-current or swap on, and is at most a second old. A
 * draw never asks, because a destroyed pbuffer stays alive while it is current (GLX 1.4 spec
 * 3.3.6) and X would answer with an error that ends the game. Any thread. 0 is no drawable.
 */
#ifndef PASSTALLY_GL_SHIM_DRAWABLE_H
#define PASSTALLY_GL_SHIM_DRAWABLE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "layer/pass_id.h"

#define GL_INTERVAL_UNKNOWN INT_MIN

struct gl_drawable_size {
	struct tally_extent size;
	uint64_t measured_ns; /* 0 = never: the size is 0 x 0 */
	bool fixed;           /* it never changes */
	bool pbuffer;         /* a swap of it does nothing, and submits nothing */
	int interval;         /* refreshes a swap waits for, as the program set it; or UNKNOWN */
};

struct gl_drawable_size gl_drawable_size(uintptr_t drawable);
bool gl_drawable_stale(uintptr_t drawable); /* unknown, or not fixed and a second old */
void gl_drawable_learn(uintptr_t drawable, struct tally_extent size, bool fixed);
void gl_drawable_learn_pbuffer(uintptr_t drawable, bool pbuffer);
void gl_drawable_paced(uintptr_t drawable, int interval);
void gl_drawable_forget(uintptr_t drawable);

/* Records a swap at `now_ns` and returns whether it ends a frame; *size: the drawable's. `whole`
 * false: only a part was shown, which ends a frame only if the drawable has not been swapped as a
 * whole for a second. */
bool gl_drawable_swapped(uintptr_t drawable, bool whole, uint64_t now_ns,
			 struct tally_extent *size);

/* In a forked child: frees the lock, which another thread may have held. */
void gl_drawables_forked_child(void);

#endif
