/* SPDX-License-Identifier: MIT */
#include "gl_shim/game/hide.h"

#include "gl_shim/context/state.h"

#define MAX_ERROR_POLLS 16 /* a lost context may answer CONTEXT_LOST forever */

static GLenum
drop_errors(const struct gl_context *c)
{
	GLenum first = c->next->GetError(), next = first;
	for (int i = 1; i < MAX_ERROR_POLLS && next != GL_NO_ERROR; i++)
		next = c->next->GetError();
	return first;
}

/* Saves the game's pending errors, which the driver no longer has afterwards. GL 4.6
 * spec 2.3.1 lets it keep one flag or several: if one, errors after the stashed one
 * would have been dropped. */
static void
stash_errors(const struct gl_context *c, struct gl_hidden *h)
{
	bool stashed = h->n_errors > 0;
	GLenum first = GL_NO_ERROR;
	for (int i = 0; i < MAX_ERROR_POLLS; i++) {
		GLenum e = c->next->GetError();
		if (e == GL_NO_ERROR)
			return;
		h->many_flags |= first && e != first;
		first = first ? first : e;
		bool known = stashed && !h->many_flags;
		for (unsigned j = 0; j < h->n_errors; j++)
			known |= h->errors[j] == e;
		if (!known && h->n_errors < GL_STASHED_ERRORS)
			h->errors[h->n_errors++] = e;
	}
}

__attribute__((hot)) void
gl_guard_begin(struct gl_context *c)
{
	struct gl_hidden *h = &c->state->hidden;
	if (h->guards++) {
		drop_errors(c); /* within another: passtally's */
		return;
	}
	stash_errors(c, h);
	if (!h->query_buffer)
		return;
	/* After a bind that failed, the bound buffer differs from the recorded one. */
	GLint bound = 0;
	c->next->GetIntegerv(GL_QUERY_BUFFER_BINDING, &bound);
	h->query_buffer = (GLuint)bound;
	if (bound)
		c->next->BindBuffer(GL_QUERY_BUFFER, 0);
	else
		drop_errors(c);
}

__attribute__((hot)) GLenum
gl_guard_end(struct gl_context *c)
{
	struct gl_hidden *h = &c->state->hidden;
	GLenum error = drop_errors(c);
	if (--h->guards || !h->query_buffer)
		return error;
	c->next->BindBuffer(GL_QUERY_BUFFER, h->query_buffer);
	drop_errors(c);
	return error;
}

void
gl_debug_callback(struct gl_context *c, bool there)
{
	c->state->hidden.has_callback = there;
}

static bool
is_heard(const struct gl_context *c)
{
	const struct tally_gl_api *api = &c->state->api;
	return c->state->hidden.has_callback &&
	       (api->version >= (api->es ? 32 : 43) ||
		(api->has_extension && api->has_extension(api, "GL_KHR_debug"))) &&
	       c->next->IsEnabled(GL_DEBUG_OUTPUT);
}

void
gl_hush_begin(struct gl_context *c)
{
	struct gl_hidden *h = &c->state->hidden;
	gl_guard_begin(c);
	if (h->guards > 1 || !is_heard(c))
		return;
	h->hushed = true;
	c->next->Disable(GL_DEBUG_OUTPUT);
}

GLenum
gl_hush_end(struct gl_context *c)
{
	struct gl_hidden *h = &c->state->hidden;
	GLenum error = gl_guard_end(c);
	if (!h->guards && h->hushed) {
		h->hushed = false;
		c->next->Enable(GL_DEBUG_OUTPUT);
	}
	return error;
}

GLenum
gl_get_error(struct gl_context *c, GLenum (*next)(void))
{
	struct gl_hidden *h = &c->state->hidden;
	if (!h->n_errors || c->state->zone.in_begin)
		return next();
	if (!h->many_flags)
		next(); /* one of the game's too, but raised while another was pending */
	GLenum e = h->errors[0];
	h->n_errors--;
	for (unsigned i = 0; i < h->n_errors; i++)
		h->errors[i] = h->errors[i + 1];
	return e;
}

void
gl_bind_buffer(struct gl_context *c, GLenum target, GLuint buffer)
{
	if (target == GL_QUERY_BUFFER) {
		c->state->hidden.query_buffer = buffer;
	} else if (target == GL_PIXEL_UNPACK_BUFFER) {
		c->state->pixel_unpack_buffer = buffer;
	} else if (target == GL_PIXEL_PACK_BUFFER) {
		c->state->pixel_pack_buffer = buffer;
		c->state->uses_pack_buffer |= buffer != 0;
	}
}

void
gl_pack_buffer_look(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	GLint bound = 0;
	if (!s->uses_pack_buffer || s->api.version < 21 || s->zone.in_begin || s->zone.lost)
		return;
	c->next->GetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &bound);
	s->pixel_pack_buffer = (GLuint)bound;
}

void
gl_delete_buffers(struct gl_context *c, GLsizei n, const GLuint *buffers)
{
	struct gl_context_state *s = c->state;
	for (GLsizei i = 0; buffers && i < n; i++) {
		if (buffers[i] && buffers[i] == s->hidden.query_buffer)
			s->hidden.query_buffer = 0;
		if (buffers[i] && buffers[i] == s->pixel_pack_buffer)
			s->pixel_pack_buffer = 0;
		if (buffers[i] && buffers[i] == s->pixel_unpack_buffer)
			s->pixel_unpack_buffer = 0;
	}
}

bool
gl_read_disjoint(struct tally_gl_api *api)
{
	struct gl_context_state *s = api->user;
	GLint flag = 0;
	s->pub.next->GetIntegerv(GL_GPU_DISJOINT_EXT, &flag);
	if (flag) {
		s->hidden.disjoint_for_game = true;
		api->disjoint_seen = true;
	}
	return flag != 0;
}

/* The game reads the flag: `now` is what the driver reported. The answer includes what the shim
 * saw. */
static bool
game_reads_disjoint(struct gl_context *c, bool now)
{
	struct gl_context_state *s = c->state;
	if (now)
		s->api.disjoint_seen = true;
	bool disjoint = now || s->hidden.disjoint_for_game;
	s->hidden.disjoint_for_game = false;
	return disjoint;
}

/* In contexts without the extension the name is an error and writes nothing; this is left as it
 * is. */
static bool
has_disjoint(const struct gl_context *c)
{
	return c->state->api.read_disjoint && c->state->api.es;
}

#define GL_GETTER(fn, type, one) \
	void fn(struct gl_context *c, void (*next)(GLenum, type *), GLenum pname, type *data) \
	{ \
		next(pname, data); \
		if (pname == GL_GPU_DISJOINT_EXT && data && has_disjoint(c)) \
			*data = game_reads_disjoint(c, *data != 0) ? (type)(one) : 0; \
	}
GL_GETTER(gl_get_integerv, GLint, 1)
GL_GETTER(gl_get_integer64v, GLint64, 1)
GL_GETTER(gl_get_floatv, GLfloat, 1.0f)
GL_GETTER(gl_get_booleanv, GLboolean, 1)
