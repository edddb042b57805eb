/* SPDX-License-Identifier: MIT */
#include "gl_shim/image/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/capture/trigger.h"
#include "layer/picture/pictures.h"

#define MAX_PENDING 512
#define MAX_BYTES ((size_t)256 << 20) /* of the GPU's memory, until they are read */
#define MAX_AGE_FRAMES 32

/* How each kind is copied and read: the first with its encoding. */
struct form {
	enum tally_pixels pixels;
	GLenum storage, format, type, filter;
};
static const struct form normalized = { TALLY_PIXELS_RGBA8, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE,
					GL_LINEAR };
static const struct form srgb = { TALLY_PIXELS_RGBA8, GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE,
				  GL_LINEAR };
static const struct form floats = { TALLY_PIXELS_RGBA32F, GL_RGBA32F, GL_RGBA, GL_FLOAT,
				    GL_LINEAR };
static const struct form integers = { TALLY_PIXELS_RGBA32I, GL_RGBA32I, GL_RGBA_INTEGER, GL_INT,
				      GL_NEAREST };
static const struct form naturals = { TALLY_PIXELS_RGBA32UI, GL_RGBA32UI, GL_RGBA_INTEGER,
				      GL_UNSIGNED_INT, GL_NEAREST };
static const struct form depths = { TALLY_PIXELS_D32F, 0, GL_DEPTH_COMPONENT, GL_FLOAT,
				    GL_NEAREST };
/* OpenGL ES reads none that is not of floats as such. */
static const struct form depths_es = { TALLY_PIXELS_D16, 0, GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT,
				       GL_NEAREST };

/* A copy that the GPU has not finished, or that is not read yet. */
struct pending {
	GLuint buffer;
	uint32_t pass;
	char name[16];
	enum tally_pixels pixels;
	uint32_t width, height;
};

struct gl_pictures {
	/* What the open pass draws to: an attachment may be replaced before the pass ends. */
	struct gl_attachment at[GL_MAX_ATTACHMENTS];
	bool window;
	uint32_t width, height, samples;
	uint64_t frame; /* of the pending copies */
	GLsync fence;
	uint64_t fenced; /* the frame of the fence */
	unsigned n;
	struct pending pending[MAX_PENDING];
};

#define N_PACK 5
#define N_TRANSFER 11

/* What is put back after a copy. */
struct saved {
	GLint read, draw, renderbuffer, pack_buffer, pack[N_PACK], clamp;
	GLfloat transfer[N_TRANSFER];
	GLboolean scissor, srgb;
	bool one_scissor; /* of the viewports, each has its own */
};

/* The names of our objects. */
enum { FROM, RESOLVED, SMALL, N_OBJECTS };
struct objects {
	GLuint framebuffer[N_OBJECTS], renderbuffer[N_OBJECTS];
};

struct gl_pictures *
gl_pictures_create(void)
{
	return calloc(1, sizeof(struct gl_pictures));
}

void
gl_pictures_destroy(struct gl_pictures *p)
{
	if (p && p->n)
		tally_pictures_refuse(p->pending[0].pass, "and of those after it",
				      "the context ended first");
	free(p);
}

static void
begin_picture(struct gl_context *c, struct tally_pass *pass)
{
	const struct gl_context_state *s = c->state;
	struct gl_pictures *p = s->pictures;
	const struct gl_framebuffer *fbo = s->now.fbo;
	uint64_t frame = tally_stream_pass_frame(pass);
	/* A context that never presents has no end of a frame. */
	if (p->n && frame != p->frame && !s->zone.lost && gl_pictures_collect(c))
		tally_stream_picture_pass(pass, 0);
	if (!tally_trigger_wants_picture(frame))
		return;
	tally_stream_picture_pass(pass, fbo && fbo->target ? tally_pictures_number() : 0);
	if (!pass->picture)
		return;
	memcpy(p->at, fbo->at, sizeof(p->at));
	p->window = fbo->name == 0;
	p->width = fbo->target->width;
	p->height = fbo->target->height;
	p->samples = fbo->target->samples;
}

void
gl_pictures_forget(struct gl_context *c, GLenum type, GLsizei n, const GLuint *names)
{
	struct gl_pictures *p = c->state->pictures;
	for (GLsizei i = 0; p && names && i < n; i++)
		for (unsigned a = 0; a < GL_MAX_ATTACHMENTS; a++)
			if (p->at[a].type == type && p->at[a].name == names[i])
				p->at[a].name = 0;
}

/* ---- state ---- */

/* OpenGL ES lacks the last. */
static const GLenum pack_names[N_PACK] = {
	GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS,  GL_PACK_SKIP_PIXELS,
	GL_PACK_ALIGNMENT,  GL_PACK_SWAP_BYTES,
};
static const GLint pack_plain[N_PACK] = { 0, 0, 0, 1, 0 };

static unsigned
n_pack(const struct gl_context *c)
{
	return c->state->api.es ? N_PACK - 1 : N_PACK;
}

/* Contexts that are no core profile color what is read by them. */
static const GLenum transfer_names[N_TRANSFER] = {
	GL_MAP_COLOR, GL_RED_SCALE,   GL_RED_BIAS,   GL_GREEN_SCALE, GL_GREEN_BIAS, GL_BLUE_SCALE,
	GL_BLUE_BIAS, GL_ALPHA_SCALE, GL_ALPHA_BIAS, GL_DEPTH_SCALE, GL_DEPTH_BIAS,
};
static const GLfloat transfer_plain[N_TRANSFER] = { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0 };

static unsigned
n_transfer(const struct gl_context *c)
{
	return c->state->caps.core_profile ? 0 : N_TRANSFER;
}

static bool
has_viewports(const struct gl_context *c)
{
	const struct tally_gl_api *api = &c->state->api;
	return c->next->Enablei && c->next->Disablei &&
	       api->has_extension(api, api->es ? "GL_OES_viewport_array" : "GL_ARB_viewport_array");
}

/* A copy has the first viewport's scissors; glEnable() would set those of all. */
static void
set_scissor(struct gl_context *c, bool one, bool on)
{
	const struct gl_next *gl = c->next;
	if (one)
		(on ? gl->Enablei : gl->Disablei)(GL_SCISSOR_TEST, 0);
	else
		(on ? gl->Enable : gl->Disable)(GL_SCISSOR_TEST);
}

static struct saved
save(struct gl_context *c)
{
	const struct gl_next *gl = c->next;
	struct saved was = { 0 };
	gl->GetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &was.read);
	gl->GetIntegerv(GL_FRAMEBUFFER_BINDING, &was.draw);
	gl->GetIntegerv(GL_RENDERBUFFER_BINDING, &was.renderbuffer);
	gl->GetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &was.pack_buffer);
	for (unsigned i = 0; i < n_pack(c); i++) {
		gl->GetIntegerv(pack_names[i], &was.pack[i]);
		gl->PixelStorei(pack_names[i], pack_plain[i]);
	}
	for (unsigned i = 0; i < n_transfer(c); i++) {
		gl->GetFloatv(transfer_names[i], &was.transfer[i]);
		gl->PixelTransferf(transfer_names[i], transfer_plain[i]);
	}
	if (!c->state->api.es) {
		gl->GetIntegerv(GL_CLAMP_READ_COLOR, &was.clamp);
		gl->ClampColor(GL_CLAMP_READ_COLOR, 0);
	}
	was.scissor = gl->IsEnabled(GL_SCISSOR_TEST);
	was.srgb = !c->state->api.es && gl->IsEnabled(GL_FRAMEBUFFER_SRGB);
	was.one_scissor = has_viewports(c);
	if (was.scissor)
		set_scissor(c, was.one_scissor, false);
	if (was.srgb)
		gl->Disable(GL_FRAMEBUFFER_SRGB);
	return was;
}

static void
restore(struct gl_context *c, const struct saved *was)
{
	const struct gl_next *gl = c->next;
	if (was->srgb)
		gl->Enable(GL_FRAMEBUFFER_SRGB);
	if (was->scissor)
		set_scissor(c, was->one_scissor, true);
	for (unsigned i = 0; i < n_pack(c); i++)
		gl->PixelStorei(pack_names[i], was->pack[i]);
	for (unsigned i = 0; i < n_transfer(c); i++)
		gl->PixelTransferf(transfer_names[i], was->transfer[i]);
	if (!c->state->api.es)
		gl->ClampColor(GL_CLAMP_READ_COLOR, (GLenum)was->clamp);
	gl->BindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)was->pack_buffer);
	gl->BindRenderbuffer(GL_RENDERBUFFER, (GLuint)was->renderbuffer);
	gl->BindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)was->read);
	gl->BindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)was->draw);
}

/* ---- a copy ---- */

static void
make_objects(struct gl_context *c, struct objects *o)
{
	c->next->GenFramebuffers(N_OBJECTS, o->framebuffer);
	c->next->GenRenderbuffers(N_OBJECTS, o->renderbuffer);
}

static void
drop_objects(struct gl_context *c, struct objects *o)
{
	c->next->DeleteFramebuffers(N_OBJECTS, o->framebuffer);
	c->next->DeleteRenderbuffers(N_OBJECTS, o->renderbuffer);
}

/* Binds what is copied for reading, as the only attachment at `point`. */
static void
bind_source(struct gl_context *c, const struct objects *o, const struct gl_attachment *at,
	    GLenum point)
{
	const struct gl_next *gl = c->next;
	const GLenum target = GL_READ_FRAMEBUFFER;
	int version = c->state->api.version;
	gl->BindFramebuffer(target, o->framebuffer[FROM]);
	gl->FramebufferRenderbuffer(target, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, 0);
	gl->ReadBuffer(point == GL_COLOR_ATTACHMENT0 ? point : GL_NONE);
	if (at->type == GL_RENDERBUFFER)
		gl->FramebufferRenderbuffer(target, point, GL_RENDERBUFFER, at->name);
	else if (at->layer)
		gl->FramebufferTextureLayer(target, point, at->name, at->level, at->layer);
	else if (version >= 32)
		gl->FramebufferTexture(target, point, at->name, at->level);
	else
		gl->FramebufferTexture2D(target, point, GL_TEXTURE_2D, at->name, at->level);
	/* Where a face of a cube map is no layer (OpenGL ES). */
	if (at->type == GL_TEXTURE &&
	    gl->CheckFramebufferStatus(target) != GL_FRAMEBUFFER_COMPLETE) {
		gl->GetError();
		gl->FramebufferTexture2D(target, point,
					 GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)at->layer,
					 at->name, at->level);
	}
}

static const struct form *
form_of(struct gl_context *c, GLenum point, bool depth)
{
	GLint type = 0, encoding = 0;
	c->next->GetFramebufferAttachmentParameteriv(
		GL_READ_FRAMEBUFFER, point, GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE, &type);
	if (depth)
		return c->state->api.es && type != GL_FLOAT ? &depths_es : &depths;
	c->next->GetFramebufferAttachmentParameteriv(
		GL_READ_FRAMEBUFFER, point, GL_FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING, &encoding);
	switch (type) {
	case GL_FLOAT:
		return &floats;
	case GL_INT:
		return &integers;
	case GL_UNSIGNED_INT:
		return &naturals;
	default:
		return encoding == GL_SRGB ? &srgb : &normalized;
	}
}

/* Copies the framebuffer that is bound for reading into one of ours, which is then bound for
 * reading. */
static void
blit(struct gl_context *c, const struct objects *o, unsigned to, const struct form *form,
     const uint32_t from[2], const uint32_t size[2])
{
	const struct gl_next *gl = c->next;
	static const GLenum none = GL_NONE;
	bool scales = from[0] != size[0] || from[1] != size[1];
	bool depth = form->format == GL_DEPTH_COMPONENT;
	gl->BindRenderbuffer(GL_RENDERBUFFER, o->renderbuffer[to]);
	gl->RenderbufferStorage(GL_RENDERBUFFER, form->storage, (GLsizei)size[0], (GLsizei)size[1]);
	gl->BindFramebuffer(GL_DRAW_FRAMEBUFFER, o->framebuffer[to]);
	gl->FramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER,
				    depth ? GL_DEPTH_ATTACHMENT : GL_COLOR_ATTACHMENT0,
				    GL_RENDERBUFFER, o->renderbuffer[to]);
	if (depth) {
		gl->FramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
					    GL_RENDERBUFFER, 0);
		gl->DrawBuffers(1, &none);
	}
	gl->BlitFramebuffer(0, 0, (GLint)from[0], (GLint)from[1], 0, 0, (GLint)size[0],
			    (GLint)size[1], depth ? GL_DEPTH_BUFFER_BIT : GL_COLOR_BUFFER_BIT,
			    scales ? form->filter : GL_NEAREST);
	gl->BindFramebuffer(GL_READ_FRAMEBUFFER, o->framebuffer[to]);
	if (depth)
		gl->ReadBuffer(GL_NONE);
}

static size_t
bytes_of(enum tally_pixels pixels, uint32_t width, uint32_t height)
{
	return tally_pixels_size(pixels) * width * height;
}

/* From the framebuffer that is bound for reading into a buffer. */
static void
read_back(struct gl_context *c, struct tally_pass *pass, const char *name, const struct form *form,
	  const uint32_t size[2])
{
	const struct gl_next *gl = c->next;
	struct gl_pictures *p = c->state->pictures;
	struct pending *to = &p->pending[p->n];
	*to = (struct pending){
		.pass = pass->picture, .pixels = form->pixels, .width = size[0], .height = size[1]
	};
	snprintf(to->name, sizeof(to->name), "%s", name);
	p->frame = tally_stream_pass_frame(pass);
	gl->GenBuffers(1, &to->buffer);
	gl->BindBuffer(GL_PIXEL_PACK_BUFFER, to->buffer);
	gl->BufferData(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)bytes_of(form->pixels, size[0], size[1]),
		       NULL, GL_STREAM_READ);
	gl->ReadPixels(0, 0, (GLsizei)size[0], (GLsizei)size[1], form->format, form->type, NULL);
	p->n++;
}

static bool
has_room(const struct gl_pictures *p, const struct form *form, const uint32_t size[2])
{
	size_t bytes = bytes_of(form->pixels, size[0], size[1]);
	for (unsigned i = 0; i < p->n; i++)
		bytes += bytes_of(p->pending[i].pixels, p->pending[i].width, p->pending[i].height);
	return p->n < MAX_PENDING && bytes <= MAX_BYTES;
}

/* Of a window: its sizes say which it should be, and the driver refuses another. */
static GLenum
window_format(const char *name)
{
	static const GLenum known[] = {
		GL_DEPTH24_STENCIL8, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT32,
		GL_DEPTH_COMPONENT16, GL_RGBA8, GL_RGB8, GL_RGB10_A2, GL_RGB565, GL_RGBA16F,
	};
	for (size_t i = 0; name && i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, gl_format_name(known[i])) == 0)
			return known[i];
	return GL_NONE;
}

/* Depth, and in OpenGL ES what is resolved, is copied only into its own format. GL_NONE: it is not
 * known, or one that each driver understands in its own way. */
static GLenum
own_format(struct gl_context *c, const struct tally_target *target, unsigned index)
{
	const struct gl_pictures *p = c->state->pictures;
	const struct gl_attachment *at = &p->at[index];
	if (!p->window) {
		GLenum format = at->type == GL_TEXTURE
					? gl_image_of_texture(c, at->name).format
					: gl_image_of_renderbuffer(c, at->name).format;
		bool sized = format != GL_DEPTH_COMPONENT && format != GL_DEPTH_STENCIL;
		return sized ? format : GL_NONE;
	}
	if (index == GL_ATTACH_DEPTH)
		return p->samples > 1 ? window_format(target->depth.format) : GL_NONE;
	return c->state->api.es ? window_format(target->color[0].format) : GL_NONE;
}

/* The source is bound for reading. NULL, or why there is no picture. */
static const char *
cannot(struct gl_context *c, bool depth, bool resolves)
{
	if (c->next->CheckFramebufferStatus(GL_READ_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		return "it cannot be attached by itself, or was deleted";
	const struct tally_gl_api *api = &c->state->api;
	if (depth && api->es && !api->has_extension(api, "GL_NV_read_depth"))
		return "OpenGL ES cannot read depth without GL_NV_read_depth";
	return depth && !resolves ? "depth with several samples a pixel is not resolved" : NULL;
}

static const char *
copy(struct gl_context *c, const struct objects *o, struct tally_pass *pass, const char *name,
     GLenum point, unsigned index)
{
	const struct gl_pictures *p = c->state->pictures;
	uint32_t from[2] = { p->width, p->height }, small[2] = { p->width, p->height };
	bool depth = index == GL_ATTACH_DEPTH;
	const struct form *form = form_of(c, point, depth);
	struct form own = *form;
	own.storage = own_format(c, pass->target, index);
	const char *why = cannot(c, depth, p->samples <= 1 || own.storage);
	if (why)
		return why;
	bool converts = !depth || own.storage;
	if (converts)
		tally_picture_shrink(&small[0], &small[1]);
	if (!has_room(p, form, small))
		return "there are too many in the frame, or too large ones";
	if (p->samples > 1)
		blit(c, o, RESOLVED, own.storage ? &own : form, from, from);
	if (converts)
		blit(c, o, SMALL, depth ? &own : form, from, small);
	read_back(c, pass, name, form, small);
	return NULL;
}

static void
picture(struct gl_context *c, const struct objects *o, struct tally_pass *pass, unsigned index)
{
	struct gl_pictures *p = c->state->pictures;
	char name[16] = "depth";
	GLenum point = index == GL_ATTACH_DEPTH ? GL_DEPTH_ATTACHMENT : GL_COLOR_ATTACHMENT0;
	GLint read_buffer = GL_BACK;
	if (index != GL_ATTACH_DEPTH)
		snprintf(name, sizeof(name), "color%u", index);
	gl_guard_begin(c);
	if (p->window) {
		c->next->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
		c->next->GetIntegerv(GL_READ_BUFFER, &read_buffer);
		c->next->ReadBuffer(GL_BACK);
		if (c->next->GetError()) { /* no second buffer */
			c->next->ReadBuffer((GLenum)read_buffer);
			c->next->GetError();
		}
		point = c->state->api.es ? GL_BACK : GL_BACK_LEFT;
		point = index == GL_ATTACH_DEPTH ? GL_DEPTH : point;
	} else {
		bind_source(c, o, &p->at[index], point);
	}
	const char *why = copy(c, o, pass, name, point, index);
	if (p->window) {
		c->next->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
		c->next->ReadBuffer((GLenum)read_buffer);
	} else {
		c->next->BindFramebuffer(GL_READ_FRAMEBUFFER, o->framebuffer[FROM]);
		c->next->FramebufferRenderbuffer(GL_READ_FRAMEBUFFER, point, GL_RENDERBUFFER, 0);
	}
	GLenum error = gl_guard_end(c);
	char text[64];
	if (error && !why) {
		p->n--; /* its buffer's contents are not known */
		c->next->DeleteBuffers(1, &p->pending[p->n].buffer);
		snprintf(text, sizeof(text), "the driver refuses the copy (error 0x%04x)", error);
		why = text;
	}
	if (why)
		tally_pictures_refuse(pass->picture, name, why);
}

/* Why nothing of the pass can be copied, or NULL. */
static const char *
refusal(const struct gl_context_state *s)
{
	const struct tally_gl_api *api = &s->api;
	if (api->version < (api->es ? 30 : 32))
		return "that needs OpenGL 3.2 or OpenGL ES 3.0";
	if (s->standing & TALLY_FLAG(CONDITIONAL))
		return "conditional rendering was on where the pass ended";
	if (s->pictures->fence)
		return "those of an earlier frame are not read yet";
	return NULL;
}

static void
end_picture(struct gl_context *c, struct tally_pass *pass, bool usable)
{
	if (!pass || !pass->picture || !usable)
		return;
	const struct gl_context_state *s = c->state;
	struct gl_pictures *p = s->pictures;
	struct objects objects;
	const char *why = refusal(s);
	if (why) {
		tally_pictures_refuse(pass->picture, "any target", why);
		return;
	}
	gl_hush_begin(c);
	struct saved was = save(c);
	make_objects(c, &objects);
	const struct tally_target *target = pass->target;
	for (unsigned i = 0; i < GL_ATTACH_STENCIL && target; i++) {
		bool there = i == GL_ATTACH_DEPTH ? target->depth.format != NULL
			     : p->window          ? i == 0
						  : p->at[i].type != GL_NONE;
		if (there && (p->window || p->at[i].type != GL_NONE))
			picture(c, &objects, pass, i);
	}
	restore(c, &was);
	drop_objects(c, &objects);
	gl_hush_end(c);
}
const struct gl_around gl_around_picture = {
	.pass_begins = begin_picture,
	.pass_ends = end_picture,
};

/* ---- reading ---- */

static void
hand_over(struct gl_context *c, const struct pending *from)
{
	const struct gl_next *gl = c->next;
	size_t bytes = bytes_of(from->pixels, from->width, from->height);
	struct tally_picture *to = tally_picture_make(from->pixels, from->width, from->height);
	gl->BindBuffer(GL_PIXEL_PACK_BUFFER, from->buffer);
	void *data = gl->MapBufferRange(GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)bytes,
					GL_MAP_READ_BIT);
	if (to && data) {
		to->pass = from->pass;
		to->upside_down = true;
		snprintf(to->name, sizeof(to->name), "%s", from->name);
		memcpy(to->data, data, bytes);
		tally_pictures_hand_over(to);
	} else {
		tally_pictures_refuse(from->pass, from->name, "out of memory");
		free(to);
	}
	if (data)
		gl->UnmapBuffer(GL_PIXEL_PACK_BUFFER);
}

bool
gl_pictures_collect(struct gl_context *c)
{
	const struct gl_next *gl = c->next;
	struct gl_pictures *p = c->state->pictures;
	GLint pack_buffer = 0;
	if (!p->n)
		return false;
	if (!p->fence) {
		p->fence = gl->FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
		p->fenced = gl_frame_now(c->state);
		return false;
	}
	GLenum state = gl->ClientWaitSync(p->fence, 0, 0);
	bool late = gl_frame_now(c->state) - p->fenced > MAX_AGE_FRAMES || state == GL_WAIT_FAILED;
	if (state == GL_TIMEOUT_EXPIRED && !late)
		return false;
	gl_hush_begin(c);
	gl->GetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &pack_buffer);
	for (unsigned i = 0; i < p->n; i++) {
		if (late)
			tally_pictures_refuse(p->pending[i].pass, p->pending[i].name,
					      "the GPU did not finish the copy");
		else
			hand_over(c, &p->pending[i]);
		gl->DeleteBuffers(1, &p->pending[i].buffer);
	}
	gl->BindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)pack_buffer);
	gl->DeleteSync(p->fence);
	gl_hush_end(c);
	p->fence = NULL;
	p->n = 0;
	return true;
}
