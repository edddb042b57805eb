/* SPDX-License-Identifier: MIT */
/* gl_shim/image/picture.h - --pictures: what a pass drew to, copied where it ends.
 *
 * The copy goes over a framebuffer of the shim's own into a buffer, which is read frames later,
 * when its fence has passed. Everything that is bound or set for it is put back, but the program is
 * given later names afterwards. Only in the pictured frame is anything called; owner thread of the
 * context only, where queries may be issued.
 */
#ifndef PASSTALLY_GL_SHIM_PICTURE_H
#define PASSTALLY_GL_SHIM_PICTURE_H

#include "gl_shim/context/state.h"

/* NULL: out of memory. */
struct gl_pictures *gl_pictures_create(void);
/* Makes no GL call: what the context owns goes with it. Accepts NULL. */
void gl_pictures_destroy(struct gl_pictures *p);

/* Where s->pictures is set: keeps what a pass draws to if its frame is pictured, and copies it at
 * its end. */
extern const struct gl_around gl_around_picture;
/* These objects are deleted: others may get their names before the pass ends. `type`: GL_TEXTURE or
 * GL_RENDERBUFFER. */
void gl_pictures_forget(struct gl_context *c, GLenum type, GLsizei n, const GLuint *names);
/* Where a frame ends: hands over what the GPU has finished. True: there was something, so that the
 * frame that begins is longer by that. */
bool gl_pictures_collect(struct gl_context *c);

#endif
