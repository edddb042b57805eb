/* gl_shim/state.h - one GL context's whole record, and its share group.
 *
 * A context's state belongs to the thread it is current to. A share group is used by several
 * threads: `lock` guards its tables and is never held across a driver call or another lock.
 */
#ifndef PASSTALLY_GL_SHIM_STATE_H
#define PASSTALLY_GL_SHIM_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "gl_shim/context.h"
#include "gl_shim/framebuffer.h"
#include "gl_shim/hide.h"
#include "gl_shim/labels.h"
#include "gl_shim/queries.h"
#include "gl_shim/image_info.h"
#include "gl_shim/snapshot.h"
#include "layer/session.h"
#include "query/gl/api.h"
#include "query/source/harvest.h"

struct gl_share_group {
	pthread_mutex_t lock; /* guards sizes and formats, device and refs */
	unsigned refs; /* contexts */
	struct gl_images images;
	atomic_bool lists_query; /* some display list begins a query of the game's */
	struct tally_device *device; /* from the first context that works */
	const struct tally_counter **counters; /* said for the device so far */
	uint32_t n_counters;
};

enum gl_probe_state {
	GL_PROBE_PENDING = 0, /* nothing was asked of the driver yet */
	GL_PROBE_DONE, /* stream and harvest are there */
	GL_PROBE_OFF, /* no capture in this context: forward and do nothing */
};

/* The pass that is open now: what decides whether the next command continues it. */
struct gl_open_pass {
	bool open; /* in the sense of the rules, measured or not */
	enum tally_pass_kind kind;
	uint64_t key;
	uint64_t frame; /* the device's open frame when it began */
	struct tally_pass *pass; /* NULL: open but not captured */
	unsigned label_depth; /* group path that covers all of it so far */
	const char *label;
	struct gl_framebuffer *fbo; /* RENDER: its target, for invalidate; may be NULL */
	struct tally_workload *load; /* granularity draw: the command that goes on */
	uint64_t flags; /* of the commands before it */
};

#define GL_SCENE_PASSES 64

/* The passes that a driver which draws tile by tile may draw together with what comes next: the
 * last render pass and what is not rendering since; none before the last gap. */
struct gl_scene {
	uint64_t key; /* of the framebuffer that was rendered to last, 0 = none yet */
	struct tally_pass *passes[GL_SCENE_PASSES];
	unsigned n;
};

/* From its making to its end. Under context.c's lock. */
struct gl_life {
	bool current; /* to some thread */
	uint64_t released; /* counts up: who gave a drawable up last */
	bool entered; /* it has been current */
	bool doomed; /* destroyed by the game while current */
	bool indirect;
};

/* What the driver says of the context; set once, by the probe. */
struct gl_caps {
	char driver[256]; /* api.driver */
	char *extensions; /* " a b c ", one blank around each token */
	bool core_profile; /* names must be generated before they are used */
	bool release_flushes; /* to make another context current: KHR_context_flush_control */
	bool intel; /* compute runs in a batch of its own: FACTS 3.4, see passes.c */
	bool has_texture_dsa;
};

/* What of the counters is whose, and which take their turn. */
struct gl_counting {
	bool game_counts; /* the game uses one of these two extensions itself, here or elsewhere */
	bool game_monitors; /* it makes monitors in this context */
	bool minded_game; /* what the first says was acted on */
	bool yielded; /* one of the two was ours before */
	uint64_t set_frame; /* the frame that the harvest's set was selected for */
	uint32_t n_off; /* sources known to have given up */
};

/* Where no query may be issued: see gl_no_query_zone(). */
struct gl_zone {
	bool in_begin; /* between glBegin and glEnd */
	bool perhaps_ended; /* a list was called inside glBegin: it may hold the glEnd */
	GLenum in_list; /* GL_COMPILE, GL_COMPILE_AND_EXECUTE or 0 */
	bool lost; /* the context was reset: issue nothing more */
};

/* The largest viewport on the window, of this frame and the last that had one; 0 = none. */
struct gl_window {
	struct tally_extent viewport, last_viewport;
};

struct gl_context_state {
	struct gl_context pub; /* first: what the wrappers see */

	enum gl_platform platform;
	void *handle;
	int64_t number;
	struct gl_share_group *group;
	struct gl_life life;
	struct gl_drawable drawable;

	enum gl_probe_state probe;
	const struct tally_config *config;
	struct tally_gl_api api;
	struct gl_caps caps;
	struct gl_counting counting;
	struct tally_harvest *harvest;
	struct tally_stream *stream;

	struct gl_open_pass now;
	struct gl_scene scene;
	struct gl_zone zone;
	bool by_draw; /* granularity draw */
	bool split; /* the next work command starts a pass whatever its key */
	bool gap; /* the GPU may idle since the open pass's last work */
	bool took_all; /* every query target was left to the game: see lists_query */
	uint64_t standing; /* TALLY_FLAG bits that hold for work issued now */
	uint64_t submits; /* flushes so far, for granularity submit */

	struct gl_window window;
	struct gl_framebuffers framebuffers;
	struct gl_labels labels;
	struct gl_queries queries;
	struct gl_hidden hidden;
	struct gl_snapshots snapshots;
	GLuint pixel_pack_buffer;
};

/* The context whose queries are being made or read on this thread: queries.c knows by it whose
 * names the sources' calls concern. Set by each function that calls into the harvest. */
extern __thread struct gl_context_state *gl_worker __attribute__((tls_model("initial-exec")));

/* The device's open frame; 0 before there is a device. */
static inline uint64_t
gl_frame_now(const struct gl_context_state *s)
{
	return s->group->device ? tally_device_frame(s->group->device) : 0;
}

/* Time may pass on the GPU, and the driver was made to draw what it has. */
static inline void
gl_gap(struct gl_context_state *s)
{
	tally_harvest_gap(s->harvest);
	s->scene.n = 0;
}

/* No query may be issued here: inside glBegin/glEnd, while a list is compiled, after a reset. */
static inline bool
gl_no_query_zone(const struct gl_context_state *s)
{
	return s->zone.in_begin || s->zone.in_list || s->zone.lost;
}

/* Is the command being compiled rather than run? */
static inline bool
gl_compiles_only(const struct gl_context_state *s)
{
	return s->zone.in_list == GL_COMPILE;
}

/* Close the current context's pass (GL calls) and park the thread in the pass-through context. */
struct gl_context *gl_current_park(void);

/* Set up capture in a context at its first work command or swap; makes GL calls. */
void gl_probe_context(struct gl_context_state *s);

#endif
