/* SPDX-License-Identifier: MIT */
/* gl_shim/image/framebuffer_ask.c - asks the driver for a framebuffer's contents, if they were
 * set by calls that are not tracked one by one. */
#include "gl_shim/context/state.h"

/* Which framebuffer is asked: by binding target, or by name where `named`. */
struct asked {
	bool named;
	GLuint at;
};

static GLint
ask(struct gl_context *c, const struct asked *fbo, GLenum point, GLenum what)
{
	GLint value = 0;
	if (fbo->named)
		c->next->GetNamedFramebufferAttachmentParameteriv(fbo->at, point, what, &value);
	else
		c->next->GetFramebufferAttachmentParameteriv(fbo->at, point, what, &value);
	return value;
}

static void
ask_attachment(struct gl_context *c, const struct asked *fbo, GLenum point,
	       struct gl_attachment *at)
{
	int version = c->state->api.version;
	*at = (struct gl_attachment){ 0 };
	GLenum type = (GLenum)ask(c, fbo, point, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE);
	if (type != GL_TEXTURE && type != GL_RENDERBUFFER)
		return;
	at->type = type;
	at->name = (GLuint)ask(c, fbo, point, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME);
	if (type == GL_RENDERBUFFER)
		return;
	at->level = ask(c, fbo, point, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL);
	if (version >= 32)
		at->layered = ask(c, fbo, point, GL_FRAMEBUFFER_ATTACHMENT_LAYERED) != 0;
	if (at->layered)
		return; /* for a cube map the driver would still return a face */
	GLenum face = (GLenum)ask(c, fbo, point, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE);
	if (gl_is_cube_face(face))
		at->layer = (GLint)(face - GL_TEXTURE_CUBE_MAP_POSITIVE_X);
	else if (version >= 30)
		at->layer = ask(c, fbo, point, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER);
}

void
gl_framebuffer_set_draw_buffers(struct gl_framebuffer *fbo, GLsizei n, const GLenum *buffers)
{
	fbo->n_draw_buffers = 1;
	fbo->draw_buffers[0] = GL_NONE;
	for (GLsizei i = 0; i < n && i < TALLY_MAX_COLOR; i++) {
		fbo->draw_buffers[i] = buffers[i];
		if (buffers[i] != GL_NONE)
			fbo->n_draw_buffers = (unsigned)i + 1;
	}
}

void
gl_framebuffer_ask_draw_buffers(struct gl_context *c, struct gl_framebuffer *fbo)
{
	const struct gl_context_state *s = c->state;
	GLenum buffers[TALLY_MAX_COLOR] = { GL_NONE };
	GLint max_draw = 1;
	if (s->api.version < (s->api.es ? 30 : 20))
		return;
	c->next->GetIntegerv(GL_MAX_DRAW_BUFFERS, &max_draw);
	for (int i = 0; i < TALLY_MAX_COLOR && i < max_draw; i++) {
		GLint value = GL_NONE;
		c->next->GetIntegerv(GL_DRAW_BUFFER0 + (GLenum)i, &value);
		buffers[i] = (GLenum)value;
	}
	gl_framebuffer_set_draw_buffers(fbo, TALLY_MAX_COLOR, buffers);
}

bool
gl_framebuffer_ask(struct gl_context *c, struct gl_framebuffer *fbo, bool bound)
{
	const struct gl_context_state *s = c->state;
	bool old_es = s->api.es && s->api.version < 30;
	if (!bound && !s->caps.has_texture_dsa)
		return false;
	struct asked asked = {
		.named = !bound,
		.at = !bound   ? fbo->name
		      : old_es ? GL_FRAMEBUFFER
			       : GL_DRAW_FRAMEBUFFER,
	};
	GLint max_color = 1;
	gl_hush_begin(c);
	if (!old_es)
		c->next->GetIntegerv(GL_MAX_COLOR_ATTACHMENTS, &max_color);
	for (int i = 0; i < TALLY_MAX_COLOR && i < max_color; i++)
		ask_attachment(c, &asked, GL_COLOR_ATTACHMENT0 + (GLenum)i, &fbo->at[i]);
	ask_attachment(c, &asked, GL_DEPTH_ATTACHMENT, &fbo->at[GL_ATTACH_DEPTH]);
	ask_attachment(c, &asked, GL_STENCIL_ATTACHMENT, &fbo->at[GL_ATTACH_STENCIL]);
	if (bound)
		gl_framebuffer_ask_draw_buffers(c, fbo);
	if (bound && s->api.version >= (s->api.es ? 31 : 43)) {
		c->next->GetFramebufferParameteriv(asked.at, GL_FRAMEBUFFER_DEFAULT_WIDTH,
						   &fbo->default_width);
		c->next->GetFramebufferParameteriv(asked.at, GL_FRAMEBUFFER_DEFAULT_HEIGHT,
						   &fbo->default_height);
	}
	gl_hush_end(c);
	/* The draw buffers could not be queried by name. */
	fbo->ask = !bound;
	return true;
}

static GLint
window_bits(struct gl_context *c, GLenum point, GLenum what)
{
	GLint n = 0, type = GL_NONE;
	/* A missing attachment must not be asked about: a debug callback of
	 * the game would report it. */
	c->next->GetFramebufferAttachmentParameteriv(
		GL_FRAMEBUFFER, point, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &type);
	if (type != GL_NONE)
		c->next->GetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, point, what, &n);
	return n;
}

static const char *
window_color(GLint r, GLint g, GLint b, GLint a)
{
	static const struct {
		GLint r, g, b, a;
		const char *name;
	} known[] = {
		{ 8, 8, 8, 8, "RGBA8" },    { 8, 8, 8, 0, "RGB8" },
		{ 5, 6, 5, 0, "RGB565" },   { 10, 10, 10, 2, "RGB10_A2" },
		{ 10, 10, 10, 0, "RGB10" }, { 5, 5, 5, 1, "RGB5_A1" },
		{ 4, 4, 4, 4, "RGBA4" },    { 16, 16, 16, 16, "RGBA16F" },
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].r == r && known[i].g == g && known[i].b == b && known[i].a == a)
			return known[i].name;
	return "?";
}

static const char *
window_depth(GLint depth, GLint stencil)
{
	if (depth == 24)
		return stencil ? "DEPTH24_STENCIL8" : "DEPTH_COMPONENT24";
	if (depth == 32)
		return stencil ? "DEPTH32F_STENCIL8" : "DEPTH_COMPONENT32";
	if (depth == 16)
		return "DEPTH_COMPONENT16";
	return depth ? "?" : NULL;
}

void
gl_framebuffer_ask_window(struct gl_context *c, struct tally_target *t)
{
	struct gl_context_state *s = c->state;
	const struct gl_next *gl = c->next;
	GLint r = 0, g = 0, b = 0, a = 0, depth = 0, stencil = 0, samples = 0;
	if (s->api.version >= 30) {
		GLenum color = s->api.es ? GL_BACK : GL_BACK_LEFT;
		GLint type = GL_NONE;
		gl->GetFramebufferAttachmentParameteriv(
			GL_FRAMEBUFFER, color, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &type);
		if (type == GL_NONE && !s->api.es)
			color = GL_FRONT_LEFT;
		r = window_bits(c, color, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE);
		g = window_bits(c, color, GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE);
		b = window_bits(c, color, GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE);
		a = window_bits(c, color, GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE);
		depth = window_bits(c, GL_DEPTH, GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE);
		stencil = window_bits(c, GL_STENCIL, GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE);
	} else {
		gl->GetIntegerv(GL_RED_BITS, &r);
		gl->GetIntegerv(GL_GREEN_BITS, &g);
		gl->GetIntegerv(GL_BLUE_BITS, &b);
		gl->GetIntegerv(GL_ALPHA_BITS, &a);
		gl->GetIntegerv(GL_DEPTH_BITS, &depth);
		gl->GetIntegerv(GL_STENCIL_BITS, &stencil);
	}
	gl->GetIntegerv(GL_SAMPLES, &samples);
	uint32_t n = samples > 1 ? (uint32_t)samples : 1;
	t->samples = n;
	t->n_color = r ? 1 : 0;
	t->color[0] = (struct tally_attachment){ .format = window_color(r, g, b, a),
						 .samples = n,
						 .layers = 1 };
	if (!r)
		t->color[0] = (struct tally_attachment){ 0 };
	const char *format = window_depth(depth, stencil);
	if (format)
		t->depth = (struct tally_attachment){ .format = format,
						      .samples = n,
						      .layers = 1 };
}
