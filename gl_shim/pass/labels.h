/* SPDX-License-Identifier: MIT */
/* gl_shim/pass/labels.h - debug groups, markers and object labels.
 *
 * Each context has its own group stack. A pass is named by the group path that covers all of
 * its work: a group that was left before the pass continued does not name it. Owner thread
 * only.
 *
 * Groups inside a pass are noted, except for the first few passes that have some: the report
 * suggests that --split group would separate them.
 */
#ifndef PASSTALLY_GL_SHIM_LABELS_H
#define PASSTALLY_GL_SHIM_LABELS_H

#include <string.h>

#include "gl_shim/context/context.h"

#define GL_MAX_GROUPS 64
#define GL_MAX_PATH 512

/* The groups that were seen inside the open pass: their names, joined by ", ". */
struct gl_inside {
	unsigned n;
	uint16_t len;
	uint16_t n_noted; /* passes that got their list */
	char text[128];
};

struct gl_labels {
	bool changed; /* a group began or ended since the last work */
	unsigned depth; /* may exceed GL_MAX_GROUPS: deeper groups are only counted */
	unsigned low; /* lowest depth since the last work in the open pass */
	struct gl_inside inside;
	uint16_t end[GL_MAX_GROUPS + 1]; /* length of the path down to each depth; end[0] = 0 */
	const char *interned[GL_MAX_GROUPS + 1];
	char path[GL_MAX_PATH];
};

/* len < 0: NUL-terminated (KHR_debug). Markers use 0 for that, which hooks.rules maps. The
 * result is at most GL_MAX_PATH. */
static inline size_t
gl_label_length(const GLchar *text, GLsizei len)
{
	return text ? strnlen(text, len < 0 ? GL_MAX_PATH : (size_t)len) : 0;
}

void gl_push_group(struct gl_context *c, const GLchar *text, GLsizei len);
void gl_pop_group(struct gl_context *c);
/* The driver's name of the labeled object. */
GLuint gl_labelled_name(struct gl_context *c, GLenum type, GLuint name);
/* Keeps a copy of an object's label, or removes it. */
void
gl_keep_label(struct gl_context *c, GLenum type, GLuint name, GLsizei len, const GLchar *label);

/* Work continues the open pass after groups began or ended: notes the groups around it. */
void gl_note_inside(struct gl_context *c);
/* Call when a pass with groups inside ends: returns the list of their labels, interned; NULL
 * when there is no room. */
const char *gl_take_inside(struct gl_context *c);

/* The interned path of the first `depth` groups; NULL when there is none or no memory. */
const char *gl_label_path(struct gl_context *c, unsigned depth);

#endif
