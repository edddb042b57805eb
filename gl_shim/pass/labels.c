/* SPDX-License-Identifier: MIT */
#include "gl_shim/pass/labels.h"

#include <string.h>

#include "gl_shim/context/state.h"
#include "gl_shim/pass/passes.h"

void
gl_push_group(struct gl_context *c, const GLchar *text, GLsizei len)
{
	struct gl_labels *l = &c->state->labels;
	size_t n = gl_label_length(text, len);
	l->depth++;
	l->changed = true;
	c->open = 0; /* the next draw notes the group, or begins a pass with it */
	if (l->depth > GL_MAX_GROUPS)
		return;
	size_t at = l->end[l->depth - 1];
	size_t blank = at && at < GL_MAX_PATH ? 1 : 0;
	size_t room = GL_MAX_PATH - at - blank;
	if (n > room)
		n = room;
	if (blank)
		l->path[at] = '/';
	if (n)
		memcpy(l->path + at + blank, text, n);
	l->end[l->depth] = (uint16_t)(at + blank + n);
	l->interned[l->depth] = NULL;
}

void
gl_pop_group(struct gl_context *c)
{
	struct gl_labels *l = &c->state->labels;
	if (l->depth == 0) /* the game's own error */
		return;
	l->depth--;
	if (l->depth < l->low)
		l->low = l->depth;
	l->changed = true;
	c->open = 0; /* the next draw checks whether its pass is still inside the group */
}

enum { MOST_INSIDE = 4, MOST_NOTED = 256 };

static void
add_inside(struct gl_inside *in, const char *name, size_t len)
{
	static const char more[] = ", ...";
	if (in->n > MOST_INSIDE || len == 0)
		return;
	/* One name may be a part of another: a list for people may then lack one. */
	if (in->n && memmem(in->text, in->len, name, len))
		return;
	bool fits = in->n < MOST_INSIDE && in->len + len + 2 + sizeof(more) <= sizeof(in->text);
	if (!fits) {
		name = more + 2;
		len = sizeof(more) - 3;
	}
	in->n = fits ? in->n + 1 : MOST_INSIDE + 1;
	if (in->len) {
		memcpy(in->text + in->len, ", ", 2);
		in->len = (uint16_t)(in->len + 2);
	}
	memcpy(in->text + in->len, name, len);
	in->len = (uint16_t)(in->len + len);
}

void
gl_note_inside(struct gl_context *c)
{
	const struct gl_context_state *s = c->state;
	struct gl_labels *l = &c->state->labels;
	unsigned around = s->now.label_depth;
	l->changed = false;
	if (!s->now.pass || l->inside.n_noted == MOST_NOTED ||
	    s->config->granularity <= TALLY_GRANULARITY_SUBMIT)
		return;
	/* The pass began inside a group that has ended since: that group is now one of those
	 * inside the pass, no longer one around it. */
	if (l->low < around && s->now.label) {
		const char *last = strrchr(s->now.label, '/');
		last = last ? last + 1 : s->now.label;
		add_inside(&l->inside, last, strlen(last));
	}
	unsigned low = l->low < around ? l->low : around;
	if (l->depth <= low || l->depth > GL_MAX_GROUPS)
		return;
	size_t at = l->end[l->depth - 1];
	at += at && l->end[l->depth] > at;
	add_inside(&l->inside, l->path + at, l->end[l->depth] - at);
}

const char *
gl_take_inside(struct gl_context *c)
{
	struct gl_inside *in = &c->state->labels.inside;
	const char *text = tally_stream_intern_label(c->state->stream, in->text, in->len);
	in->n = in->len = 0;
	in->n_noted++;
	return text;
}

const char *
gl_label_path(struct gl_context *c, unsigned depth)
{
	struct gl_context_state *s = c->state;
	struct gl_labels *l = &s->labels;
	if (depth > GL_MAX_GROUPS)
		depth = GL_MAX_GROUPS;
	if (depth == 0 || !s->stream)
		return NULL;
	if (!l->interned[depth])
		l->interned[depth] = tally_stream_intern_label(s->stream, l->path,
							       l->end[depth]);
	return l->interned[depth];
}

void
gl_keep_label(struct gl_context *c, GLenum type, GLuint name, GLsizei len, const GLchar *label)
{
	size_t n = gl_label_length(label, len);
	struct gl_framebuffer *fbo;
	switch (type) {
	case GL_FRAMEBUFFER:
		fbo = name ? gl_framebuffer_get(c, name) : NULL;
		if (!fbo)
			return;
		free(fbo->label);
		fbo->label = n ? strndup(label, n) : NULL;
		return;
	case GL_TEXTURE:
	case GL_RENDERBUFFER:
		gl_image_set_label(c->state->group, type == GL_TEXTURE, name,
				   n ? label : NULL, n);
		return;
	case GL_PROGRAM:
	case GL_PROGRAM_OBJECT_EXT:
		gl_program_named(c, name, label, n);
		return;
	default:
		return;
	}
}

GLuint
gl_labelled_name(struct gl_context *c, GLenum type, GLuint name)
{
	return type == GL_QUERY || type == GL_QUERY_OBJECT_EXT ? gl_query_to_driver(c, name) : name;
}
