/* SPDX-License-Identifier: MIT */
/* gl_shim/image/image_info.h - size, format and label of textures and renderbuffers, by name.
 *
 * The records are kept per share group, written by the calls that allocate storage, and read
 * when a framebuffer's target is determined. Each function takes the group's lock for a table
 * look-up; driver calls (asking which texture is bound) are made outside it. If an object's
 * creation was not seen, the driver is asked about it if the context has direct state access;
 * else its size and format are recorded as unknown.
 */
#ifndef PASSTALLY_GL_SHIM_IMAGE_INFO_H
#define PASSTALLY_GL_SHIM_IMAGE_INFO_H

#include <stdatomic.h>

#include "gl_shim/context/context.h"

struct gl_share_group;
struct gl_image_entry;

struct gl_image_info {
	bool known;
	GLenum format; /* internal format, GL_NONE = unknown */
	uint32_t width, height, layers, samples;
};

struct gl_images {
	struct gl_image_entry *textures, *renderbuffers;
	atomic_uint generation; /* increments when a size or format that was used changes */
	atomic_bool labelled;   /* some object has a label */
};

void gl_image_renderbuffer(struct gl_context *c, GLuint name, GLenum format, GLsizei samples,
			   GLsizei width, GLsizei height);
/* 0: none, or it cannot be queried now. */
GLuint gl_bound_renderbuffer(struct gl_context *c);
void gl_image_forget_bound_renderbuffer(struct gl_context *c);
/* Only a call for level 0 (or a storage call) sets a size and format. */
void gl_image_texture(struct gl_context *c, GLuint name, GLenum target, GLenum format,
		      GLsizei samples, GLsizei width, GLsizei height, GLsizei depth);
void gl_image_bound_texture(struct gl_context *c, GLenum target, GLint level, GLint format,
			    GLsizei samples, GLsizei width, GLsizei height, GLsizei depth);
void gl_image_forget_texture(struct gl_context *c, GLuint name);
void gl_image_forget_bound_texture(struct gl_context *c, GLenum target);
void gl_image_forget_all(struct gl_context *c);

/* The objects were deleted. */
void gl_images_remove(struct gl_share_group *group, bool texture, GLsizei n,
		      const GLuint *names);

/* Whether it is one of the six. */
bool gl_is_cube_face(GLenum target);
/* The texture bound at `target` in the active unit, 0 when none or not a texture target. */
GLuint gl_bound_texture(struct gl_context *c, GLenum target);

/* The information about the object; asks the driver when there is none. */
struct gl_image_info gl_image_of_texture(struct gl_context *c, GLuint name);
struct gl_image_info gl_image_of_renderbuffer(struct gl_context *c, GLuint name);

/* A label given to the object; text NULL removes it. The read function copies it into out. */
void gl_image_set_label(struct gl_share_group *group, bool texture, GLuint name,
			const char *text, size_t len);
bool gl_image_get_label(struct gl_share_group *group, bool texture, GLuint name,
			char *out, size_t size);
void gl_images_finish(struct gl_images *images);

/* The format's name without GL_, "?" when hooks.rules does not list it. */
const char *gl_format_name(GLenum internal_format);

#endif
