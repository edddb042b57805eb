/* SPDX-License-Identifier: MIT */
/* gl_shim/image/framebuffer.h - the contents of a context's framebuffers, from the calls that set
 * them.
 *
 * Attachments and draw buffers are tracked from the game's calls; the driver is asked, once and
 * at the next use, about changes that are not tracked call by call (direct state access). They
 * determine a pass's key (which objects) and its target (which sizes and formats). FBOs are not
 * shared between contexts (GL 4.6 spec 5.1), so the owner's thread needs no lock.
 */
#ifndef PASSTALLY_GL_SHIM_FRAMEBUFFER_H
#define PASSTALLY_GL_SHIM_FRAMEBUFFER_H

#include <uthash.h>

#include "gl_shim/context/context.h"

#define GL_MAX_ATTACHMENTS (TALLY_MAX_COLOR + 2)
#define GL_ATTACH_DEPTH TALLY_MAX_COLOR
#define GL_ATTACH_STENCIL (TALLY_MAX_COLOR + 1)

struct gl_attachment {
	GLenum type; /* GL_NONE, GL_TEXTURE or GL_RENDERBUFFER */
	GLuint name;
	GLint level, layer; /* layer: for a cube map its face, from 0 */
	bool layered; /* all layers at once; possibly of an image with only one */
	GLsizei views; /* OVR_multiview, else 0 */
	GLsizei samples; /* implicit multisampling, else 0 */
};

/* A framebuffer whose attachments are switched without rebinding returns
 * to the same few targets. */
#define GL_RECENT_TARGETS 8
#define GL_RECENT_FRAMEBUFFERS 16u /* a power of two */
struct gl_recent_target {
	uint64_t key;
	unsigned generation;
	bool incomplete;
	const struct tally_target *target;
};

/* What each pass on it reads lies in front. */
struct gl_framebuffer {
	GLuint name;
	bool ask; /* contents unknown: ask the driver at the next use */
	bool dirty; /* key and target are stale */
	bool incomplete; /* the driver draws nothing to it */
	unsigned images_seen; /* the generation of the group's images that target was made from */
	uint64_t key;
	const struct tally_target *target; /* interned; NULL = not known */
	char *label;
	uint64_t invalidated; /* in this frame + 1, since the last pass on it; 0 = not */
	bool invalidated_color; /* not its depth alone */
	unsigned n_draw_buffers;
	GLenum draw_buffers[TALLY_MAX_COLOR];
	struct gl_attachment at[GL_MAX_ATTACHMENTS];
	GLint default_width, default_height; /* framebuffers without attachments */
	struct gl_recent_target recent[GL_RECENT_TARGETS];
	UT_hash_handle hh;
};

struct gl_framebuffers {
	GLuint draw, read;
	struct gl_framebuffer *recent[GL_RECENT_FRAMEBUFFERS]; /* looked up recently, by name */
	struct gl_framebuffer *table; /* by name, without 0 */
	uintptr_t window_drawable;
	bool window_asked;
	struct gl_framebuffer window; /* FBO 0 */
	struct tally_target window_target; /* formats, asked once per drawable */
};

void gl_bind_framebuffer(struct gl_context *c, GLenum target, GLuint framebuffer);
void gl_new_framebuffers(struct gl_context *c, GLsizei n, const GLuint *names);
void gl_delete_framebuffers(struct gl_context *c, GLsizei n, const GLuint *names);
/* The framebuffer bound at GL_READ_FRAMEBUFFER, or at any other target: for drawing. */
GLuint gl_framebuffer_at(const struct gl_context *c, GLenum target);
/* buffers NULL: the vendor's call has other arguments, so the driver is asked. */
void gl_draw_buffers(struct gl_context *c, GLuint framebuffer, GLsizei n, const GLenum *buffers);
/* The driver is to be asked for the framebuffer's contents, as after glPopAttrib(), which may
 * have restored the draw buffers (GL_COLOR_BUFFER_BIT). */
void gl_framebuffer_touch(struct gl_context *c, GLuint framebuffer);
void gl_attach_renderbuffer(struct gl_context *c, GLuint fbo, GLenum attachment, GLuint name);
/* `face`: a cube map's; any other value counts as none, and `layer` holds. */
void gl_attach_texture(struct gl_context *c, GLuint fbo, GLenum attachment, GLenum face,
		       GLuint name, GLint level, GLint layer, GLsizei samples);
void gl_attach_layered(struct gl_context *c, GLuint fbo, GLenum attachment, GLuint name,
		       GLint level, GLsizei views);
/* A new viewport may mean that the game resized the window: its size is
 * asked at the next swap. */
void gl_viewport(struct gl_context *c, GLint x, GLint y, GLsizei width, GLsizei height);
/* So may a blit to it, up to these corners: to what is bound, or to framebuffer `to`. */
void gl_blit_bound_reaches(struct gl_context *c, GLint x0, GLint y0, GLint x1, GLint y1);
void gl_blit_reaches(struct gl_context *c, GLuint to, GLint x0, GLint y0, GLint x1, GLint y1);
/* Called at a swap: whether the largest viewport on the window has
 * changed since the last swap. */
bool gl_viewport_changed(struct gl_context *c);
/* The window's size was asked: an open pass that draws to it has that size. */
void gl_window_measured(struct gl_context *c);
void gl_invalidate(struct gl_context *c, GLuint framebuffer, GLsizei n,
		   const GLenum *attachments);
/* Whether that, of colors or not, discards the target: its colors decide, if any. */
bool gl_invalidates(const struct tally_target *target, bool color);

/* The named objects are detached from the bound framebuffers; their sizes
 * and formats are forgotten. */
void gl_delete_textures(struct gl_context *c, GLsizei n, const GLuint *names);
void gl_delete_renderbuffers(struct gl_context *c, GLsizei n, const GLuint *names);

/* The record of a framebuffer of this context, with key and target up to date. Makes GL calls
 * (in an error guard) if the driver has to be asked. `bound`: it is the draw framebuffer. NULL
 * when out of memory, or for FBO 0 without a drawable. */
struct gl_framebuffer *gl_framebuffer_resolve(struct gl_context *c, GLuint name, bool bound);
/* Whether the driver refuses to draw to the framebuffer that is bound for it, where a list is
 * compiled and the record cannot be brought up to date: asks at most whether it is complete, which
 * no list contains. */
bool gl_framebuffer_refuses(struct gl_context *c);
/* The same record without the update, created if it is new; NULL when out of memory. */
struct gl_framebuffer *gl_framebuffer_get(struct gl_context *c, GLuint name);
/* The label that names a pass: the framebuffer's, else that of its first labeled attachment. It
 * is copied into out; "" when there is none. */
void gl_framebuffer_label(struct gl_context *c, const struct gl_framebuffer *fbo, char *out,
			  size_t size);
/* Asks the driver for the attachments and, when it is bound for drawing, the draw buffers. This
 * does not bind the framebuffer. False when it is neither bound nor can be queried by name;
 * then its contents stay unknown. */
bool gl_framebuffer_ask(struct gl_context *c, struct gl_framebuffer *fbo, bool bound);
/* GL_NONE at the end is not kept: the driver, which is asked for all, returns more of them than
 * the program named. */
void gl_framebuffer_set_draw_buffers(struct gl_framebuffer *fbo, GLsizei n,
				     const GLenum *buffers);
/* Queries the draw buffers of the framebuffer that is bound for drawing. Called inside an error
 * guard, as is the next function. */
void gl_framebuffer_ask_draw_buffers(struct gl_context *c, struct gl_framebuffer *fbo);
/* Queries the formats and samples of the window's buffers, while FBO 0 is bound. */
void gl_framebuffer_ask_window(struct gl_context *c, struct tally_target *target);
void gl_framebuffers_finish(struct gl_framebuffers *fbs);

#endif
