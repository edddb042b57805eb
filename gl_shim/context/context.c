/* SPDX-License-Identifier: MIT */
#include "gl_shim/context/context.h"

#include <pthread.h>
#include <stdlib.h>

#include "gl_shim/context/state.h"
#include "gl_shim/image/drawable.h"
#include "gl_shim/image/picture.h"
#include "gl_shim/pass/events.h"
#include "gl_shim/pass/frames.h"
#include "gl_shim/pass/passes.h"
#include "layer/base/clock.h"

struct gl_context gl_passthrough;
__thread struct gl_context *gl_current = &gl_passthrough;
__thread struct gl_context_state *gl_worker;

/* Guards everything below, and `current`, `doomed` and `refs` of contexts and share groups. It
 * is first in the lock order, and no driver call is made under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gl_context_state *contexts[2]; /* by platform: tables by handle */
static int64_t n_contexts;
static uint64_t n_released;
static bool fork_watched;

/* The child has no collector and may not use the parent's contexts. It only forwards calls
 * until it creates its own context. */
static void
forked_child(void)
{
	pthread_mutex_init(&lock, NULL);
	gl_current = &gl_passthrough;
	gl_worker = NULL;
	for (int p = 0; p < 2; p++)
		contexts[p] = NULL; /* the records leak: other threads' TLS is gone */
}

static void hand_over(void);

static struct gl_share_group *
group_create(void)
{
	struct gl_share_group *group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	pthread_mutex_init(&group->lock, NULL);
	atomic_init(&group->interval, GL_INTERVAL_UNKNOWN);
	return group;
}

static void
group_release(struct gl_share_group *group)
{
	pthread_mutex_lock(&lock);
	bool last = --group->refs == 0;
	pthread_mutex_unlock(&lock);
	if (!last)
		return;
	tally_device_destroy(group->device);
	gl_images_finish(&group->images);
	gl_programs_finish(&group->programs);
	free(group->counters);
	pthread_mutex_destroy(&group->lock);
	free(group);
}

static void
context_free(struct gl_context_state *s)
{
	if (!s)
		return;
	/* No GL call is made: the context is gone, or is current to no thread. */
	s->zone.lost = true;
	gl_pass_close_silent(&s->pub);
	gl_collect(&s->pub, TALLY_FLAG(LOST));
	tally_stream_destroy(s->stream);
	tally_harvest_destroy(s->harvest, false);
	gl_pictures_destroy(s->pictures);
	gl_framebuffers_finish(&s->framebuffers);
	gl_queries_finish(&s->queries);
	free(s->caps.extensions);
	group_release(s->group);
	free(s);
}

/* Called with the lock held, like the next one. */
static struct gl_context_state *
find_context(enum gl_platform platform, const void *handle)
{
	struct gl_context_state *s;
	HASH_FIND_PTR(contexts[platform], &handle, s);
	return s;
}

static struct gl_context_state *
context_create(enum gl_platform platform, void *handle, void *share)
{
	struct gl_context_state *s = calloc(1, sizeof(*s));
	struct gl_context_state *with = share ? find_context(platform, share) : NULL;
	struct gl_context_state *former = find_context(platform, handle);
	struct gl_share_group *group = with ? with->group : group_create();
	if (s && group) {
		s->handle = handle;
		HASH_ADD_PTR(contexts[platform], handle, s);
	}
	if (!s || !group || !s->hh.tbl) { /* no table: how uthash says out of memory */
		if (!with)
			free(group);
		free(s);
		return NULL;
	}
	if (former)
		HASH_DEL(contexts[platform], former);
	group->refs++;
	s->platform = platform;
	s->number = n_contexts++;
	s->group = group;
	s->pub.state = s;
	s->pub.modes = GL_ALL_MODES;
	if (!fork_watched)
		fork_watched = pthread_atfork(NULL, NULL, forked_child) == 0;
	tally_session_on_stop(hand_over);
	return s;
}

void
gl_context_created(enum gl_platform platform, void *handle, void *share)
{
	pthread_mutex_lock(&lock);
	/* The same address again: the old context was destroyed without being seen. */
	struct gl_context_state *stale = find_context(platform, handle);
	if (stale && stale->life.current)
		stale = NULL; /* leave it to its thread */
	else if (stale)
		HASH_DEL(contexts[platform], stale);
	context_create(platform, handle, share);
	pthread_mutex_unlock(&lock);
	context_free(stale);
}

/* Makes sure that none of passtally's queries is active. Makes GL calls in the current
 * context. */
static void
end_own_queries(struct gl_context *c)
{
	gl_pass_close(c);
	if (c->state->harvest && !gl_no_query_zone(c->state)) {
		gl_worker = c->state;
		gl_gap(c->state);
	}
}

void
gl_context_destroyed(enum gl_platform platform, void *handle)
{
	/* The context may end with the display without being released, and Mesa 22.3's llvmpipe
	 * frees a query that is still active then while its threads write to it. */
	const struct gl_context *c = gl_current;
	if (c->live && c->state->platform == platform && c->state->handle == handle)
		end_own_queries(gl_current);
	pthread_mutex_lock(&lock);
	struct gl_context_state *s = find_context(platform, handle);
	if (s)
		HASH_DEL(contexts[platform], s);
	if (s && s->life.current) {
		s->life.doomed = true; /* until it is released: GLX 1.4 spec 3.3.7, EGL 1.5 3.7.2 */
		s = NULL;
	}
	pthread_mutex_unlock(&lock);
	context_free(s);
}

/* ---- make-current ---- */

__attribute__((hot)) struct gl_context *
gl_current_park(void)
{
	struct gl_context *c = gl_current;
	if (c->live) {
		gl_pass_parks(c->state);
		end_own_queries(c);
	}
	gl_current = &gl_passthrough;
	return c;
}

struct gl_context *
gl_current_leave(void)
{
	struct gl_context *c = gl_current_park();
	if (!c->live)
		return c;
	/* Querying a result flushes, which a release need not do. */
	const struct gl_context_state *s = c->state;
	bool flushes = s->caps.release_flushes && !gl_no_query_zone(s);
	if (flushes)
		gl_submitted(c);
	if (s->zone.lost || flushes)
		gl_collect(c, s->zone.lost ? TALLY_FLAG(LOST) : 0);
	return c;
}

__attribute__((hot)) void
gl_current_back(struct gl_context *old)
{
	gl_current = old;
}

/* The thread released the context. */
static void
release(struct gl_context_state *s)
{
	pthread_mutex_lock(&lock);
	s->life.current = false;
	s->life.released = ++n_released;
	bool gone = s->life.doomed;
	pthread_mutex_unlock(&lock);
	if (gone)
		context_free(s);
}

/* The context that was current to this thread and platform before gl_current_leave(). Set until
 * the outcome of the make-current is known. */
static __thread struct gl_context_state *held;

/* A thread ended with a context current. No GL call is made: the driver's own thread
 * destructor may have run first. */
static pthread_key_t at_thread_end;
static pthread_once_t at_thread_end_once = PTHREAD_ONCE_INIT;
static bool watches_threads;

static void
thread_ended(void *data)
{
	struct gl_context_state *s = data;
	if (held != s)
		return;
	held = NULL;
	gl_current = &gl_passthrough;
	release(s);
}

static void
watch_threads(void)
{
	watches_threads = pthread_key_create(&at_thread_end, thread_ended) == 0;
}

void
gl_current_enter(enum gl_platform platform, void *handle, struct gl_drawable drawable,
		 bool indirect)
{
	struct gl_context_state *old = held;
	held = NULL;
	struct gl_context_state *s = NULL;
	if (handle) {
		pthread_mutex_lock(&lock);
		s = find_context(platform, handle);
		if (!s)
			s = context_create(platform, handle, NULL);
		if (s)
			s->life.current = true;
		pthread_mutex_unlock(&lock);
	}
	if (old && old != s)
		release(old);
	if (!s) {
		gl_current = &gl_passthrough;
		return;
	}
	held = s;
	pthread_once(&at_thread_end_once, watch_threads);
	if (watches_threads)
		pthread_setspecific(at_thread_end, s);
	s->drawable = drawable;
	s->life.indirect = indirect;
	s->pub.open = 0;
	s->config = tally_session_config();
	s->pub.live = !s->config || indirect || s->probe == GL_PROBE_OFF ? GL_FORWARDED
		      : s->probe == GL_PROBE_DONE			    ? GL_MEASURED
										    : GL_NEW;
	gl_current = &s->pub;
}

bool
gl_first_viewport(struct gl_context *c, struct tally_extent *size)
{
	GLint box[4] = { 0 };
	if (c->state->life.entered)
		return false;
	c->state->life.entered = true;
	c->next->GetIntegerv(GL_VIEWPORT, box);
	*size = (struct tally_extent){ (uint32_t)box[2], (uint32_t)box[3] };
	return box[2] > 0 && box[3] > 0;
}

bool
gl_current_is(enum gl_platform platform, void *handle, struct gl_drawable drawable)
{
	struct gl_context_state *s = held;
	if (!s || !handle)
		return !s && !handle;
	return s->platform == platform && s->handle == handle && !s->life.doomed &&
	       s->drawable.draw == drawable.draw && s->drawable.read == drawable.read;
}

/* The context that drew to `drawable` last and is current to no thread now.
 * Called with the lock held. */
static struct gl_context_state *
last_on(uintptr_t drawable)
{
	struct gl_context_state *found = NULL;
	for (int p = 0; p < 2; p++) {
		for (struct gl_context_state *s = contexts[p]; s; s = s->hh.next) {
			if (!s->life.current && s->stream && s->drawable.draw == drawable &&
			    (!found || found->life.released < s->life.released))
				found = s;
		}
	}
	return found;
}

void
gl_swapped_elsewhere(struct tally_presented presented)
{
	struct tally_frame_end end = { .now_ns = tally_clock_now_ns(), .presented = presented };
	pthread_mutex_lock(&lock);
	struct gl_context_state *s = last_on((uintptr_t)(presented.window - 1));
	if (s && s->config->frame == TALLY_FRAME_PRESENT)
		tally_stream_end_frame(s->stream, &end);
	pthread_mutex_unlock(&lock);
}

/* ---- the end ---- */

/* Closes the open frame's passes too, without a GL call. From here on the
 * context only forwards work. */
static void
hand_over_all(struct gl_context_state *s)
{
	gl_pass_close_silent(&s->pub);
	gl_collect(&s->pub, TALLY_FLAG(INCOMPLETE));
	s->probe = GL_PROBE_OFF;
	if (s->pub.live)
		s->pub.live = GL_ENDED;
	if (s->stream)
		tally_stream_publish_last(s->stream);
}

static void
collect_left_behind(struct gl_context_state *s)
{
	for (; s; s = s->hh.next) {
		if (!s->life.current && s->stream)
			hand_over_all(s);
	}
}

static void
hand_over(void)
{
	struct gl_context *c = gl_current;
	struct gl_context_state *s = held;
	if (s && c == &s->pub && c->live) {
		/* This context is still tracked: the game's own exit handlers know queries by
		 * the names that the shim gave them. */
		hand_over_all(s);
	}
	/* The contexts that threads released, or left current when they ended. We may be in a
	 * signal handler, hence trylock. */
	if (pthread_mutex_trylock(&lock) == 0) {
		for (int p = 0; p < 2; p++)
			collect_left_behind(contexts[p]);
		pthread_mutex_unlock(&lock);
	}
}
