/* SPDX-License-Identifier: MIT */
#include "gl_shim/window/dispatch.h"

#include <pthread.h>
#include <stdatomic.h>

#include "gl_shim/window/real.h"
#include "layer/base/keep_loaded.h"

/* One each for GLX and EGL; two more for threads that fill the same one at the same moment. */
#define MAX_PROVIDERS 4

enum provider_state { FREE = 0, CLAIMED, READY };
static struct provider {
	_Atomic(enum provider_state) state; /* when READY, the rest is constant */
	void *(*lookup)(const char *name);
	struct gl_next next;
} providers[MAX_PROVIDERS];

static struct gl_next unbound; /* the next library after the shim in search order */
static pthread_once_t unbound_filled = PTHREAD_ONCE_INIT;
static _Atomic(const struct gl_next *) first;

static void *
look_up_with(void *data, const char *name)
{
	void *(*const *lookup)(const char *) = data;
	return (*lookup)(name);
}

static void *
look_up_unbound(void *data, const char *name)
{
	void *found = gl_real_next(name);
	int row = found ? -1 : gl_hook_find(name);
	if (row >= 0)
		found = gl_real_learned(row);
	if (!found && data)
		found = gl_loader_find(data, name, NULL);
	return gl_real_is_own(found) ? NULL : found;
}

static void
fill_unbound(void)
{
	/* This handle is never closed: from here on the library's functions
	 * may be called at any time. */
	void *library = gl_real_library("gl");
	gl_next_fill(&unbound, look_up_unbound, library);
}

const struct gl_next *
gl_next_default(void)
{
	const struct gl_next *next = atomic_load_explicit(&first, memory_order_acquire);
	if (next)
		return next;
	pthread_once(&unbound_filled, fill_unbound);
	/* When disabled, no provider ever comes: the wrappers find the
	 * table here without a call. */
	if (gl_shim_disabled())
		__atomic_store_n(&gl_passthrough.next, &unbound, __ATOMIC_RELEASE);
	return &unbound;
}

const struct gl_next *
gl_next_for(void *(*lookup)(const char *name))
{
	for (unsigned i = 0; i < MAX_PROVIDERS; i++) {
		struct provider *p = &providers[i];
		if (atomic_load_explicit(&p->state, memory_order_acquire) == READY &&
		    p->lookup == lookup)
			return &p->next;
	}
	/* No lock is held here: the driver is called. */
	struct gl_next next;
	gl_next_fill(&next, look_up_with, &lookup);
	/* The functions may be in another library than the look-up: keep
	 * that one loaded as well. */
	tally_keep_loaded((const void *)(uintptr_t)next.Clear);
	for (unsigned i = 0; i < MAX_PROVIDERS; i++) {
		struct provider *p = &providers[i];
		enum provider_state state = FREE;
		if (!atomic_compare_exchange_strong(&p->state, &state, CLAIMED))
			continue;
		p->lookup = lookup;
		p->next = next;
		atomic_store_explicit(&p->state, READY, memory_order_release);
		const struct gl_next *none = NULL;
		atomic_compare_exchange_strong(&first, &none, &p->next);
		return &p->next;
	}
	return gl_next_default();
}
