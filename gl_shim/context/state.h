/* SPDX-License-Identifier: MIT */
/* gl_shim/context/state.h - the whole record of a GL context, and its share group.
 *
 * A context's state belongs to the thread it is current to. A share group is used by several
 * threads: `lock` guards its tables and is never held across a driver call or another lock.
 */
#ifndef PASSTALLY_GL_SHIM_STATE_H
#define PASSTALLY_GL_SHIM_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <uthash.h>

#include "gl_shim/context/context.h"
#include "gl_shim/game/hide.h"
#include "gl_shim/game/query_names.h"
#include "gl_shim/image/framebuffer.h"
#include "gl_shim/image/image_info.h"
#include "gl_shim/pass/labels.h"
#include "gl_shim/pass/programs.h"
#include "gl_shim/pass/snapshot.h"
#include "layer/session/session.h"
#include "query/gl/api.h"
#include "query/source/harvest.h"

enum { GL_FRESH_WORDS = 512 };

struct gl_share_group {
	pthread_mutex_t lock; /* guards sizes and formats, device and refs */
	unsigned refs; /* contexts */
	struct gl_images images;
	atomic_bool lists_query; /* some display list begins one of the game's queries */
	atomic_bool lists_dispatch; /* some display list may run compute shaders */
	/* pass/events.c: a bit of each program that was linked and has not drawn since */
	_Atomic uint64_t fresh[GL_FRESH_WORDS];
	struct gl_programs programs;
	struct tally_device *device; /* created by the first context with work */
	const struct tally_counter **counters; /* reported for the device so far */
	uint32_t n_counters;
	_Atomic int interval; /* of swaps, as described; GL_INTERVAL_UNKNOWN = not yet */
	unsigned n_intervals; /* so many were described */
};

enum gl_probe_state {
	GL_PROBE_PENDING = 0, /* the driver has not been asked yet */
	GL_PROBE_DONE, /* stream and harvest exist */
	GL_PROBE_OFF, /* no capture in this context, or it is over */
};

/* The pass that is open now, with what decides whether the next command continues it. */
struct gl_open_pass {
	bool open; /* in the sense of the rules, measured or not */
	bool idle; /* represents all work of a frame that is not captured */
	enum tally_pass_kind kind;
	uint64_t key;
	uint64_t frame; /* the device's open frame when it began */
	struct tally_pass *pass; /* NULL: open but not captured */
	unsigned label_depth; /* group path that covers all of it so far */
	const char *label;
	struct gl_framebuffer *fbo; /* RENDER: its framebuffer, for invalidate; may be NULL */
	struct tally_workload *load; /* granularity draw: the open command */
	uint64_t flags; /* flags of the commands before it */
};

/* The last pass of the frames, if a flush or fence of the program follows it. Its queries end
 * before that: afterwards they would have a batch of their own, which the next flush submits. */
struct gl_last_pass {
	enum tally_pass_kind kind;
	uint64_t key;
	uint32_t frames; /* that ended so, in a row */
	bool closed;	 /* at this frame's flush, for that reason */
	bool went_on;	 /* wrongly: never again */
};

/* What an option does around each pass, besides its queries. */
struct gl_around {
	/* Before its queries begin. */
	void (*pass_begins)(struct gl_context *c, struct tally_pass *pass);
	/* After they have ended; pass: NULL where it is not captured. Without `usable` no GL
	 * call is allowed. */
	void (*pass_ends)(struct gl_context *c, struct tally_pass *pass, bool usable);
};
#define GL_MAX_AROUND 3

#define GL_SCENE_PASSES 64

/* The passes that a tile-based driver may draw together with the next commands: the last render
 * pass and the work since that is not rendering; none before the last gap. */
struct gl_scene {
	uint64_t key; /* framebuffer that was rendered to last, 0 = none yet */
	unsigned n;
	struct tally_pass *passes[GL_SCENE_PASSES];
};

/* The context's lifetime. Guarded by context.c's lock. */
struct gl_life {
	bool current; /* current to some thread */
	uint64_t released; /* increasing: who released a drawable last */
	bool entered; /* it has been current */
	bool doomed; /* destroyed by the game while current */
	bool indirect;
};

/* What the driver reports about the context; set once, by the probe. */
struct gl_caps {
	char driver[256]; /* api.driver */
	char *extensions; /* " a b c ", one blank around each token */
	bool core_profile; /* names must be generated before they are used */
	bool release_flushes; /* a make-current flushes: KHR_context_flush_control */
	bool intel; /* compute runs in a separate batch: G14, see passes.c */
	bool works_at_once; /* copies and dispatches are done in their calls */
	bool has_texture_dsa;
};

/* Which counters the game uses itself, and which set is selected. */
struct gl_counting {
	bool game_counts; /* the game uses one of these two extensions itself, here or elsewhere */
	bool game_monitors; /* it makes monitors in this context */
	unsigned uses_seen; /* gl_game_uses when it was last acted on */
	bool counts, timed; /* tally_harvest_counts(), tally_harvest_has_time() */
	/* Of each pass: YIELDED, once passtally had counters of one of the two extensions and
	 * yielded them; NO_TIMESTAMPS, where not `timed`. */
	uint64_t pass_flags;
	bool gave_up; /* results that the harvest is to ask for again */
	uint32_t n_off; /* sources known to have failed */
};

/* What the passes of a frame that is captured have in common; passtally's own time is measured in
 * some of them: see passes.c. */
struct gl_frame {
	uint64_t frame; /* UINT64_MAX: there was none */
	const struct tally_layout *layout;
	uint32_t n; /* passes of it so far */
	uint32_t n_first; /* the first of them that are all measured */
	uint64_t last_ns; /* of the last one that was measured */
};

/* Where no query may be issued: see gl_no_query_zone(). */
struct gl_zone {
	bool perhaps_ended; /* a list was called inside glBegin: it may contain the glEnd */
	bool in_begin; /* between glBegin and glEnd */
	bool lost; /* the context was reset: issue nothing more */
	GLenum in_list; /* GL_COMPILE, GL_COMPILE_AND_EXECUTE or 0 */
};

/* The largest viewport on the window, of this frame and the last that had one; 0 = none. */
struct gl_window {
	struct tally_extent viewport, last_viewport;
};

struct gl_context_state {
	struct gl_context pub; /* must be first: what the wrappers see */

	/* Read or written for each pass or frame. */
	enum gl_probe_state probe;
	bool by_draw; /* granularity draw */
	bool split; /* the next work command starts a pass with any key */
	bool gap; /* the GPU may idle since the open pass's last work */
	const struct tally_config *config;
	struct gl_share_group *group;
	struct tally_harvest *harvest;
	struct tally_stream *stream;
	const _Atomic uint64_t *frame_state; /* tally_device_state(); NULL before the probe */
	struct gl_open_pass now;
	uint64_t standing; /* TALLY_FLAG bits that hold for work issued now */
	struct gl_zone zone;
	struct gl_frame captured; /* the last one */
	struct gl_counting counting;
	uint64_t presented; /* tally_n_presented_by_vulkan when it was last looked at */
	GLuint program, fresh_program; /* bound; the same where it has never drawn */
	struct gl_last_pass last;
	const struct gl_around *around[GL_MAX_AROUND + 1]; /* ends with NULL */
	struct gl_labels labels;
	uint64_t idle_end; /* the last frame with an idle pass, + 1 */
	struct gl_used used; /* --pipelines */
	struct gl_pictures *pictures; /* --pictures, else NULL */
	bool pictures_read; /* in this frame, which takes its time */
	struct gl_drawable drawable;
	struct gl_snapshots snapshots;
	uint64_t submits; /* flushes so far, for granularity submit */
	struct gl_window window;
	struct gl_hidden hidden;
	struct tally_gl_api api;
	struct gl_framebuffers framebuffers;
	struct gl_scene scene;

	enum gl_platform platform;
	void *handle;
	int64_t number;
	struct gl_life life;
	struct gl_caps caps;
	struct gl_queries queries;
	GLuint pixel_pack_buffer, pixel_unpack_buffer;
	bool uses_pack_buffer; /* one was bound before */
	UT_hash_handle hh; /* of context.c's table */
};

/* The context whose queries are being created or read on this thread. It shows queries.c whose
 * names the sources' calls refer to. Every function that calls into the harvest sets it. */
extern __thread struct gl_context_state *gl_worker __attribute__((tls_model("initial-exec")));

/* The device's open frame; 0 before there is a device. */
static inline uint64_t
gl_frame_now(const struct gl_context_state *s)
{
	return s->frame_state
		       ? atomic_load_explicit(s->frame_state, memory_order_acquire) >> 1
		       : 0;
}

/* Whether it is captured, unless the capture is over. */
static inline bool
gl_frame_captured(const struct gl_context_state *s)
{
	return s->frame_state && atomic_load_explicit(s->frame_state, memory_order_relaxed) & 1;
}

/* The GPU may idle from here on, and the driver has had to draw all issued work. */
static inline void
gl_gap(struct gl_context_state *s)
{
	tally_harvest_gap(s->harvest);
	s->scene.n = 0;
}

/* Whether no query may be issued here: inside glBegin/glEnd, while a list is
 * compiled, after a reset. */
static inline bool
gl_no_query_zone(const struct gl_context_state *s)
{
	return s->zone.in_begin || s->zone.in_list || s->zone.lost;
}

/* Whether the work of the open frame is known not to be captured: then a command that may issue
 * queries needs only the counts of the idle pass, which are discarded. */
static inline bool
gl_idles(const struct gl_context_state *s)
{
	return s->now.idle && s->now.frame == gl_frame_now(s) && !gl_no_query_zone(s);
}

/* Makes a key of two, for comparisons within the process. */
static inline uint64_t
gl_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a ^ (b * UINT64_C(0x9e3779b97f4a7c15));
	x ^= x >> 32;
	return x * UINT64_C(0xd6e8feb86659fd93);
}

/* Whether the command is being compiled rather than executed. */
static inline bool
gl_compiles_only(const struct gl_context_state *s)
{
	return s->zone.in_list == GL_COMPILE;
}

#endif
