/* SPDX-License-Identifier: MIT */
#include "gl_shim/image/framebuffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl_shim/context/state.h"
#include "gl_shim/image/drawable.h"

#define MAX_FRAMEBUFFERS 65536

static void
reset(struct gl_framebuffer *fbo, GLuint name)
{
	fbo->name = name;
	fbo->dirty = true;
	fbo->n_draw_buffers = 1;
	fbo->draw_buffers[0] = name ? GL_COLOR_ATTACHMENT0 : GL_BACK;
}

static struct gl_framebuffer *
find_in_table(struct gl_framebuffers *fbs, GLuint name)
{
	struct gl_framebuffer *fbo = NULL;
	HASH_FIND(hh, fbs->table, &name, sizeof(name), fbo);
	if (fbo)
		fbs->recent[name % GL_RECENT_FRAMEBUFFERS] = fbo;
	return fbo;
}

/* NULL: it was not looked up recently, as 0 never is. */
static inline struct gl_framebuffer *
recent(const struct gl_framebuffers *fbs, GLuint name)
{
	struct gl_framebuffer *fbo = fbs->recent[name % GL_RECENT_FRAMEBUFFERS];
	return fbo && fbo->name == name ? fbo : NULL;
}

static struct gl_framebuffer *
find(struct gl_framebuffers *fbs, GLuint name)
{
	struct gl_framebuffer *fbo = recent(fbs, name);
	return fbo ? fbo : find_in_table(fbs, name);
}

struct gl_framebuffer *
gl_framebuffer_get(struct gl_context *c, GLuint name)
{
	struct gl_framebuffers *fbs = &c->state->framebuffers;
	if (name == 0) {
		if (fbs->window.n_draw_buffers == 0)
			reset(&fbs->window, 0);
		return &fbs->window;
	}
	struct gl_framebuffer *fbo = find(fbs, name);
	if (fbo)
		return fbo;
	if (HASH_COUNT(fbs->table) >= MAX_FRAMEBUFFERS)
		return NULL;
	fbo = calloc(1, sizeof(*fbo));
	if (!fbo)
		return NULL;
	reset(fbo, name);
	/* The creation of this framebuffer was not seen: the driver is asked for its
	 * contents. */
	fbo->ask = true;
	HASH_ADD(hh, fbs->table, name, sizeof(fbo->name), fbo);
	if (!fbo->hh.tbl) {
		free(fbo);
		return NULL;
	}
	return fbo;
}

/* Something about the framebuffer changed: the next draw has to examine it again. */
static void
touch(struct gl_context *c, struct gl_framebuffer *fbo)
{
	if (!fbo)
		return;
	fbo->dirty = true;
	c->open = 0;
}

GLuint
gl_framebuffer_at(const struct gl_context *c, GLenum target)
{
	const struct gl_framebuffers *fbs = &c->state->framebuffers;
	return target == GL_READ_FRAMEBUFFER ? fbs->read : fbs->draw;
}

/* ---- binding and lifetime ---- */

/* Whether an unknown `name` got bound. The game created it elsewhere or invented it, which may
 * be an error. */
static bool
was_bound(struct gl_context *c, GLenum target, GLuint name)
{
	GLint bound = 0;
	if (c->state->zone.in_begin)
		return false;
	gl_hush_begin(c); /* a context without the second binding answers with an error */
	c->next->GetIntegerv(target == GL_READ_FRAMEBUFFER ? GL_READ_FRAMEBUFFER_BINDING
							   : GL_FRAMEBUFFER_BINDING, &bound);
	gl_hush_end(c);
	if ((GLuint)bound != name)
		return false;
	gl_framebuffer_get(c, name); /* known from here on, if memory allows */
	return true;
}

static inline void
set_bound(struct gl_context *c, GLenum target, GLuint name)
{
	struct gl_framebuffers *fbs = &c->state->framebuffers;
	if (target != GL_DRAW_FRAMEBUFFER)
		fbs->read = name;
	if (target != GL_READ_FRAMEBUFFER && fbs->draw != name) {
		fbs->draw = name;
		c->open = 0;
	}
}

static __attribute__((noinline)) void
bind_another(struct gl_context *c, GLenum target, GLuint name)
{
	if (find_in_table(&c->state->framebuffers, name) || was_bound(c, target, name))
		set_bound(c, target, name);
}

/* For one that was looked up recently, as most were, this calls nothing and saves no registers. */
__attribute__((hot)) void
gl_bind_framebuffer(struct gl_context *c, GLenum target, GLuint framebuffer)
{
	if (target != GL_FRAMEBUFFER && target != GL_DRAW_FRAMEBUFFER &&
	    target != GL_READ_FRAMEBUFFER)
		return; /* an error */
	if (framebuffer && !recent(&c->state->framebuffers, framebuffer))
		bind_another(c, target, framebuffer);
	else
		set_bound(c, target, framebuffer);
}

void
gl_new_framebuffers(struct gl_context *c, GLsizei n, const GLuint *names)
{
	for (GLsizei i = 0; names && i < n; i++) {
		struct gl_framebuffer *fbo = names[i] ? gl_framebuffer_get(c, names[i]) : NULL;
		if (!fbo)
			continue;
		/* The framebuffer is new and empty, whatever had the name before. */
		memset(fbo->at, 0, sizeof(fbo->at));
		reset(fbo, names[i]);
		fbo->default_width = fbo->default_height = 0;
		fbo->ask = false;
	}
}

void
gl_delete_framebuffers(struct gl_context *c, GLsizei n, const GLuint *names)
{
	struct gl_context_state *s = c->state;
	struct gl_framebuffers *fbs = &s->framebuffers;
	for (GLsizei i = 0; names && i < n; i++) {
		if (!names[i])
			continue;
		if (fbs->draw == names[i]) {
			fbs->draw = 0;
			c->open = 0;
		}
		if (fbs->read == names[i])
			fbs->read = 0;
		struct gl_framebuffer *fbo = find(fbs, names[i]);
		if (!fbo)
			continue;
		if (s->now.fbo == fbo)
			s->now.fbo = NULL;
		fbs->recent[names[i] % GL_RECENT_FRAMEBUFFERS] = NULL;
		HASH_DEL(fbs->table, fbo);
		free(fbo->label);
		free(fbo);
	}
}

void
gl_framebuffers_finish(struct gl_framebuffers *fbs)
{
	struct gl_framebuffer *fbo, *tmp;
	HASH_ITER (hh, fbs->table, fbo, tmp) {
		HASH_DEL(fbs->table, fbo);
		free(fbo->label);
		free(fbo);
	}
	free(fbs->window.label);
	fbs->window.label = NULL;
}

/* ---- draw buffers ---- */

void
gl_draw_buffers(struct gl_context *c, GLuint framebuffer, GLsizei n, const GLenum *buffers)
{
	struct gl_framebuffer *fbo = gl_framebuffer_get(c, framebuffer);
	if (!fbo || n < 0 || c->state->zone.in_list == GL_COMPILE)
		return;
	if (buffers || n == 0)
		gl_framebuffer_set_draw_buffers(fbo, n, buffers);
	else
		fbo->ask = true;
	touch(c, fbo);
}

void
gl_framebuffer_touch(struct gl_context *c, GLuint framebuffer)
{
	struct gl_framebuffer *fbo = gl_framebuffer_get(c, framebuffer);
	if (!fbo)
		return;
	fbo->ask = true;
	touch(c, fbo);
}

/* ---- attachments ---- */

static void
attach(struct gl_context *c, GLuint name, GLenum attachment, const struct gl_attachment *at)
{
	struct gl_framebuffer *fbo = name ? gl_framebuffer_get(c, name) : NULL;
	if (!fbo)
		return;
	if (attachment >= GL_COLOR_ATTACHMENT0 &&
	    attachment < GL_COLOR_ATTACHMENT0 + TALLY_MAX_COLOR)
		fbo->at[attachment - GL_COLOR_ATTACHMENT0] = *at;
	if (attachment == GL_DEPTH_ATTACHMENT || attachment == GL_DEPTH_STENCIL_ATTACHMENT)
		fbo->at[GL_ATTACH_DEPTH] = *at;
	if (attachment == GL_STENCIL_ATTACHMENT || attachment == GL_DEPTH_STENCIL_ATTACHMENT)
		fbo->at[GL_ATTACH_STENCIL] = *at;
	touch(c, fbo);
}

void
gl_attach_renderbuffer(struct gl_context *c, GLuint fbo, GLenum attachment, GLuint name)
{
	struct gl_attachment at = { .type = name ? GL_RENDERBUFFER : GL_NONE, .name = name };
	attach(c, fbo, attachment, &at);
}

void
gl_attach_texture(struct gl_context *c, GLuint fbo, GLenum attachment, GLenum face,
			GLuint name, GLint level, GLint layer, GLsizei samples)
{
	struct gl_attachment at = {
		.type = name ? GL_TEXTURE : GL_NONE,
		.name = name,
		.level = level,
		.layer = gl_is_cube_face(face) ? (GLint)(face - GL_TEXTURE_CUBE_MAP_POSITIVE_X)
					       : layer,
		.samples = samples,
	};
	attach(c, fbo, attachment, &at);
}

void
gl_attach_layered(struct gl_context *c, GLuint fbo, GLenum attachment, GLuint name,
			GLint level, GLsizei views)
{
	struct gl_attachment at = {
		.type = name ? GL_TEXTURE : GL_NONE,
		.name = name,
		.level = level,
		.layered = true,
		.views = views,
	};
	attach(c, fbo, attachment, &at);
}

/* Deleted objects are detached from the bound framebuffers (GL 4.6 spec 9.2.8). */
static void
detach(struct gl_context *c, GLenum type, GLsizei n, const GLuint *names)
{
	struct gl_context_state *s = c->state;
	const GLuint bound[2] = { s->framebuffers.draw, s->framebuffers.read };
	for (int b = 0; b < 2; b++) {
		struct gl_framebuffer *fbo = bound[b] ? gl_framebuffer_get(c, bound[b]) : NULL;
		for (GLsizei i = 0; fbo && names && i < n; i++) {
			for (int a = 0; a < GL_MAX_ATTACHMENTS; a++) {
				if (fbo->at[a].type != type || fbo->at[a].name != names[i])
					continue;
				fbo->at[a] = (struct gl_attachment){ 0 };
				touch(c, fbo);
			}
		}
	}
}

void
gl_delete_textures(struct gl_context *c, GLsizei n, const GLuint *names)
{
	detach(c, GL_TEXTURE, n, names);
	gl_images_remove(c->state->group, true, n, names);
}

void
gl_delete_renderbuffers(struct gl_context *c, GLsizei n, const GLuint *names)
{
	detach(c, GL_RENDERBUFFER, n, names);
	gl_images_remove(c->state->group, false, n, names);
}

/* ---- the window's size ---- */

static void
reach(struct gl_context_state *s, GLuint to, int64_t right, int64_t top)
{
	if (to || s->zone.in_list)
		return;
	if (right > s->window.viewport.width)
		s->window.viewport.width = (uint32_t)right;
	if (top > s->window.viewport.height)
		s->window.viewport.height = (uint32_t)top;
}

void
gl_viewport(struct gl_context *c, GLint x, GLint y, GLsizei width, GLsizei height)
{
	if (width > 0 && height > 0)
		reach(c->state, c->state->framebuffers.draw, (int64_t)x + width,
		      (int64_t)y + height);
}

void
gl_blit_reaches(struct gl_context *c, GLuint to, GLint x0, GLint y0, GLint x1, GLint y1)
{
	reach(c->state, to, x0 > x1 ? x0 : x1, y0 > y1 ? y0 : y1);
}

void
gl_blit_bound_reaches(struct gl_context *c, GLint x0, GLint y0, GLint x1, GLint y1)
{
	gl_blit_reaches(c, c->state->framebuffers.draw, x0, y0, x1, y1);
}

__attribute__((hot)) bool
gl_viewport_changed(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	struct tally_extent now = s->window.viewport;
	if (!now.width || !now.height)
		return false; /* not set in this frame */
	bool changed = now.width != s->window.last_viewport.width ||
		       now.height != s->window.last_viewport.height;
	s->window.last_viewport = now;
	s->window.viewport = (struct tally_extent){ 0 };
	return changed;
}

/* ---- invalidation ---- */

static bool
is_color(GLenum attachment)
{
	return attachment != GL_DEPTH_ATTACHMENT && attachment != GL_STENCIL_ATTACHMENT &&
	       attachment != GL_DEPTH_STENCIL_ATTACHMENT && attachment != GL_DEPTH &&
	       attachment != GL_STENCIL;
}

bool
gl_invalidates(const struct tally_target *target, bool color)
{
	return color || (target && target->n_color == 0);
}

static void
invalidate(struct gl_context *c, struct gl_framebuffer *fbo, bool color)
{
	struct gl_context_state *s = c->state;
	if (!fbo || s->zone.in_list)
		return;
	if (gl_idles(s))
		return; /* whether it was before the frame's last work on it is not known */
	if (!s->now.open || s->now.fbo != fbo) {
		fbo->invalidated_color = color ||
					 (fbo->invalidated && fbo->invalidated_color);
		fbo->invalidated = gl_frame_now(s) + 1;
	} else if (gl_invalidates(fbo->target, color)) {
		if (s->now.pass)
			s->now.pass->store = TALLY_STORE_DISCARD;
		c->open = 0; /* if more work follows, this discard was not at the end */
	}
}

void
gl_invalidate(struct gl_context *c, GLuint framebuffer, GLsizei n,
		    const GLenum *attachments)
{
	bool color = false;
	for (GLsizei i = 0; i < n && attachments && !color; i++)
		color = is_color(attachments[i]);
	if (n > 0 && attachments)
		invalidate(c, gl_framebuffer_get(c, framebuffer), color);
}

/* ---- key and target ---- */

enum { WINDOW_KEY = 1, OTHER_KEY };

/* The same for an object that was attached by another call, and for the driver's answer: there
 * an image of one layer is not layered. */
static uint64_t
hash_attachment(struct gl_context *c, uint64_t h, unsigned role, const struct gl_attachment *at)
{
	if (at->type == GL_NONE)
		return h;
	bool layered = at->layered && gl_image_of_texture(c, at->name).layers != 1;
	h = gl_mix(h, role);
	h = gl_mix(h, (uint64_t)at->type << 32 | at->name);
	h = gl_mix(h, (uint64_t)(uint32_t)at->level << 32 | (uint32_t)at->layer);
	return gl_mix(h, (uint64_t)layered << 63 | (uint64_t)(uint32_t)at->views << 32 |
			       (uint32_t)at->samples);
}

static struct tally_attachment
describe(struct gl_context *c, const struct gl_attachment *at, struct tally_target *t)
{
	if (at->type == GL_NONE)
		return (struct tally_attachment){ 0 };
	struct gl_image_info image = at->type == GL_TEXTURE
					     ? gl_image_of_texture(c, at->name)
					     : gl_image_of_renderbuffer(c, at->name);
	struct tally_attachment out = {
		.format = image.known ? gl_format_name(image.format) : "?",
		.samples = at->samples > 1 ? (uint32_t)at->samples : image.samples,
		.layers = at->views     ? (uint32_t)at->views
			  : at->layered ? image.layers
					: 1,
	};
	if (image.known && at->level >= 0 && at->level < 32) {
		uint32_t w = image.width >> at->level, h = image.height >> at->level;
		w = w ? w : 1;
		h = h ? h : 1;
		/* Attachments may differ in size: the area drawn to is the smallest. */
		if (!t->width || w < t->width)
			t->width = w;
		if (!t->height || h < t->height)
			t->height = h;
		if (out.layers > t->layers)
			t->layers = out.layers;
		if (out.samples > t->samples)
			t->samples = out.samples;
	}
	return out;
}

static void
build_target(struct gl_context *c, const struct gl_framebuffer *fbo, struct tally_target *t)
{
	for (unsigned i = 0; i < fbo->n_draw_buffers; i++) {
		GLenum buffer = fbo->draw_buffers[i];
		if (buffer < GL_COLOR_ATTACHMENT0 ||
		    buffer >= GL_COLOR_ATTACHMENT0 + TALLY_MAX_COLOR)
			continue;
		const struct gl_attachment *at = &fbo->at[buffer - GL_COLOR_ATTACHMENT0];
		if (at->type == GL_NONE)
			continue;
		t->color[i] = describe(c, at, t);
		t->n_color = i + 1;
	}
	const struct gl_attachment *depth = &fbo->at[GL_ATTACH_DEPTH];
	const struct gl_attachment *stencil = &fbo->at[GL_ATTACH_STENCIL];
	t->depth = describe(c, depth, t);
	if (stencil->name != depth->name || stencil->type != depth->type)
		t->stencil = describe(c, stencil, t);
	if (!t->width) {
		t->width = fbo->default_width > 0 ? (uint32_t)fbo->default_width : 0;
		t->height = fbo->default_height > 0 ? (uint32_t)fbo->default_height : 0;
	}
}

static uint64_t
build_key(struct gl_context *c, const struct gl_framebuffer *fbo)
{
	uint64_t h = OTHER_KEY;
	bool any = false;
	for (unsigned i = 0; i < fbo->n_draw_buffers; i++) {
		GLenum buffer = fbo->draw_buffers[i];
		h = gl_mix(h, buffer);
		if (buffer >= GL_COLOR_ATTACHMENT0 &&
		    buffer < GL_COLOR_ATTACHMENT0 + TALLY_MAX_COLOR) {
			const struct gl_attachment *at = &fbo->at[buffer - GL_COLOR_ATTACHMENT0];
			h = hash_attachment(c, h, i, at);
			any |= at->type != GL_NONE;
		}
	}
	h = hash_attachment(c, h, GL_ATTACH_DEPTH, &fbo->at[GL_ATTACH_DEPTH]);
	h = hash_attachment(c, h, GL_ATTACH_STENCIL, &fbo->at[GL_ATTACH_STENCIL]);
	any |= fbo->at[GL_ATTACH_DEPTH].type != GL_NONE;
	/* With nothing attached, the framebuffer's default size is the target's. */
	if (any)
		return h;
	h = gl_mix(h, fbo->name);
	return gl_mix(h, (uint64_t)(uint32_t)fbo->default_width << 32 |
			       (uint32_t)fbo->default_height);
}

/* Brings the window's target and key up to date. Whether they changed. */
static bool
look_at_window(struct gl_context *c, struct gl_framebuffer *fbo, bool bound)
{
	struct gl_context_state *s = c->state;
	struct gl_framebuffers *fbs = &s->framebuffers;
	if (fbs->window_drawable != s->drawable.draw) {
		fbs->window_drawable = s->drawable.draw;
		fbs->window_asked = false;
		fbo->dirty = true;
	}
	struct tally_extent size = gl_drawable_size(s->drawable.draw).size;
	struct tally_target *t = &fbs->window_target;
	if (size.width != t->width || size.height != t->height)
		fbo->dirty = true;
	if (bound && fbo->ask) { /* glPopAttrib() may have brought other draw buffers back */
		gl_hush_begin(c);
		gl_framebuffer_ask_draw_buffers(c, fbo);
		gl_hush_end(c);
		fbo->ask = false;
	}
	if (!fbo->dirty && (fbs->window_asked || !bound))
		return false;
	if (bound && !fbs->window_asked) {
		gl_hush_begin(c);
		gl_framebuffer_ask_window(c, t);
		gl_hush_end(c);
		fbs->window_asked = true;
	}
	t->width = size.width;
	t->height = size.height;
	t->layers = 1;
	t->presented = true;
	fbo->key = gl_mix(WINDOW_KEY, s->drawable.draw);
	for (unsigned i = 0; i < fbo->n_draw_buffers; i++)
		fbo->key = gl_mix(fbo->key, fbo->draw_buffers[i]);
	return true;
}

/* The same for the key of another framebuffer. */
static bool
look_at_object(struct gl_context *c, struct gl_framebuffer *fbo, unsigned generation, bool bound)
{
	if (fbo->ask && gl_framebuffer_ask(c, fbo, bound))
		fbo->dirty = true;
	if (!fbo->dirty && fbo->images_seen == generation)
		return false;
	fbo->key = build_key(c, fbo);
	return true;
}

/* A context without framebuffers (OpenGL ES 1) raises an error and returns 0. */
static bool
ask_incomplete(struct gl_context *c)
{
	gl_hush_begin(c);
	GLenum status = c->next->CheckFramebufferStatus(GL_FRAMEBUFFER);
	gl_hush_end(c);
	return status && status != GL_FRAMEBUFFER_COMPLETE;
}

/* The target for fbo->key: one that this framebuffer had recently, or a new one. */
static const struct tally_target *
find_target(struct gl_context *c, struct gl_framebuffer *fbo, unsigned generation, bool bound)
{
	struct gl_recent_target *slot = &fbo->recent[fbo->key % GL_RECENT_TARGETS];
	if (fbo->name && slot->target && slot->key == fbo->key && slot->generation == generation) {
		fbo->incomplete = slot->incomplete;
		return slot->target;
	}
	struct tally_target target = { 0 };
	if (fbo->name) {
		build_target(c, fbo, &target);
		fbo->incomplete = bound && ask_incomplete(c);
	} else {
		target = c->state->framebuffers.window_target;
	}
	slot->incomplete = fbo->incomplete;
	slot->target = tally_stream_intern_target(c->state->stream, &target);
	slot->key = fbo->key;
	slot->generation = generation;
	return slot->target;
}

static __attribute__((noinline)) struct gl_framebuffer *
bring_up_to_date(struct gl_context *c, GLuint name, unsigned generation, bool bound)
{
	struct gl_framebuffer *fbo = gl_framebuffer_get(c, name);
	if (!fbo || (!name && !c->state->drawable.draw))
		return NULL; /* without a surface there is nothing to draw to */
	if (name ? !look_at_object(c, fbo, generation, bound) : !look_at_window(c, fbo, bound))
		return fbo;
	fbo->target = find_target(c, fbo, generation, bound);
	fbo->images_seen = generation;
	fbo->dirty = false;
	return fbo;
}

__attribute__((hot)) struct gl_framebuffer *
gl_framebuffer_resolve(struct gl_context *c, GLuint name, bool bound)
{
	const struct gl_context_state *s = c->state;
	unsigned generation = atomic_load_explicit(&s->group->images.generation,
						   memory_order_acquire);
	struct gl_framebuffer *fbo = recent(&s->framebuffers, name);
	if (fbo && !fbo->ask && !fbo->dirty && fbo->images_seen == generation)
		return fbo;
	return bring_up_to_date(c, name, generation, bound);
}

void
gl_window_measured(struct gl_context *c)
{
	struct tally_pass *pass = c->state->now.pass;
	const struct gl_framebuffer *window = NULL;
	if (pass && pass->target && pass->target->presented)
		window = gl_framebuffer_resolve(c, 0, false);
	if (window && window->target)
		pass->target = window->target;
}

bool
gl_framebuffer_refuses(struct gl_context *c)
{
	const struct gl_context_state *s = c->state;
	GLuint name = s->framebuffers.draw;
	struct gl_framebuffer *fbo = name ? gl_framebuffer_get(c, name) : NULL;
	if (!fbo || s->zone.in_begin || s->zone.lost)
		return false;
	return fbo->dirty || fbo->ask ? ask_incomplete(c) : fbo->incomplete;
}

void
gl_framebuffer_label(struct gl_context *c, const struct gl_framebuffer *fbo, char *out,
		     size_t size)
{
	out[0] = '\0';
	if (fbo->label) {
		snprintf(out, size, "%s", fbo->label);
		return;
	}
	for (int i = 0; i < GL_MAX_ATTACHMENTS; i++) {
		const struct gl_attachment *at = &fbo->at[i];
		if (at->type != GL_NONE &&
		    gl_image_get_label(c->state->group, at->type == GL_TEXTURE, at->name, out,
				       size))
			return;
	}
}
