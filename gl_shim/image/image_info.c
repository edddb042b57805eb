/* SPDX-License-Identifier: MIT */
#include "gl_shim/image/image_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "gl_formats.h" /* generated */
#include "gl_shim/context/state.h"

struct gl_image_entry {
	GLuint name;
	bool looked_at; /* a target was built from it: a change must be noticed */
	struct gl_image_info image;
	char *label;
	UT_hash_handle hh;
};

static struct gl_image_entry *
get(struct gl_image_entry **table, GLuint name, bool make)
{
	struct gl_image_entry *entry = NULL;
	HASH_FIND(hh, *table, &name, sizeof(name), entry);
	if (entry || !make || !name)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->name = name;
	HASH_ADD(hh, *table, name, sizeof(name), entry);
	if (!entry->hh.tbl) {
		free(entry);
		return NULL;
	}
	return entry;
}

static struct gl_image_entry **
table_of(struct gl_share_group *group, bool texture)
{
	return texture ? &group->images.textures : &group->images.renderbuffers;
}

static bool
equal(const struct gl_image_info *a, const struct gl_image_info *b)
{
	return a->known == b->known && a->format == b->format && a->width == b->width &&
	       a->height == b->height && a->layers == b->layers &&
	       a->samples == b->samples;
}

static void
set_image(struct gl_share_group *group, bool texture, GLuint name,
	  const struct gl_image_info *image)
{
	if (!name)
		return;
	pthread_mutex_lock(&group->lock);
	struct gl_image_entry *entry = get(table_of(group, texture), name, true);
	if (entry && !equal(&entry->image, image)) {
		entry->image = *image;
		if (entry->looked_at)
			atomic_fetch_add_explicit(&group->images.generation, 1,
						  memory_order_release);
	}
	pthread_mutex_unlock(&group->lock);
}

void
gl_images_remove(struct gl_share_group *group, bool texture, GLsizei n, const GLuint *names)
{
	struct gl_image_entry **table = table_of(group, texture);
	bool looked_at = false;
	pthread_mutex_lock(&group->lock);
	for (GLsizei i = 0; names && i < n; i++) {
		struct gl_image_entry *entry = get(table, names[i], false);
		if (!entry)
			continue;
		looked_at |= entry->looked_at;
		HASH_DEL(*table, entry);
		free(entry->label);
		free(entry);
	}
	if (looked_at)
		atomic_fetch_add_explicit(&group->images.generation, 1,
					  memory_order_release);
	pthread_mutex_unlock(&group->lock);
}

static uint32_t
natural(GLsizei n)
{
	return n > 0 ? (uint32_t)n : 0;
}

static struct gl_image_info
make_image(GLenum format, GLsizei samples, GLsizei width, GLsizei height, GLsizei layers)
{
	return (struct gl_image_info){
		.known = width > 0 && height > 0,
		.format = format,
		.width = natural(width),
		.height = natural(height),
		.layers = layers > 0 ? (uint32_t)layers : 1,
		.samples = samples > 1 ? (uint32_t)samples : 1,
	};
}

/* ---- renderbuffers ---- */

void
gl_image_renderbuffer(struct gl_context *c, GLuint name, GLenum format, GLsizei samples,
		      GLsizei width, GLsizei height)
{
	struct gl_image_info image = make_image(format, samples, width, height, 1);
	set_image(c->state->group, false, name, &image);
}

GLuint
gl_bound_renderbuffer(struct gl_context *c)
{
	GLint name = 0;
	if (!c->state->zone.in_begin)
		c->next->GetIntegerv(GL_RENDERBUFFER_BINDING, &name);
	return (GLuint)name;
}

void
gl_image_forget_bound_renderbuffer(struct gl_context *c)
{
	struct gl_image_info unknown = { 0 };
	set_image(c->state->group, false, gl_bound_renderbuffer(c), &unknown);
}

/* ---- textures ---- */

static const struct {
	GLenum target, binding;
} texture_bindings[] = {
	{ GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D },
	{ GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP },
	{ GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY },
	{ GL_TEXTURE_3D, GL_TEXTURE_BINDING_3D },
	{ GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_BINDING_2D_MULTISAMPLE },
	{ GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY },
	{ GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY },
	{ GL_TEXTURE_RECTANGLE, GL_TEXTURE_BINDING_RECTANGLE },
	{ GL_TEXTURE_1D, GL_TEXTURE_BINDING_1D },
	{ GL_TEXTURE_1D_ARRAY, GL_TEXTURE_BINDING_1D_ARRAY },
};

bool
gl_is_cube_face(GLenum target)
{
	return target >= GL_TEXTURE_CUBE_MAP_POSITIVE_X && target <= GL_TEXTURE_CUBE_MAP_NEGATIVE_Z;
}

GLuint
gl_bound_texture(struct gl_context *c, GLenum target)
{
	if (gl_is_cube_face(target))
		target = GL_TEXTURE_CUBE_MAP;
	for (size_t i = 0; i < sizeof(texture_bindings) / sizeof(texture_bindings[0]);
	     i++) {
		if (texture_bindings[i].target != target || c->state->zone.in_begin)
			continue;
		GLint name = 0;
		c->next->GetIntegerv(texture_bindings[i].binding, &name);
		return (GLuint)name;
	}
	return 0;
}

void
gl_image_texture(struct gl_context *c, GLuint name, GLenum target, GLenum format,
		 GLsizei samples, GLsizei width, GLsizei height, GLsizei depth)
{
	GLsizei layers = depth;
	if (target == GL_TEXTURE_1D_ARRAY) {
		layers = height;
		height = 1;
	} else if (target == GL_TEXTURE_CUBE_MAP || gl_is_cube_face(target)) {
		layers = 6;
	}
	struct gl_image_info image = make_image(format, samples, width, height, layers);
	set_image(c->state->group, true, name, &image);
}

void
gl_image_bound_texture(struct gl_context *c, GLenum target, GLint level, GLint format,
		       GLsizei samples, GLsizei width, GLsizei height, GLsizei depth)
{
	/* Storage calls have no level, only a number of `levels`: 0 is passed for them. */
	if (level != 0 || c->state->zone.in_list)
		return;
	GLuint name = gl_bound_texture(c, target);
	if (name)
		gl_image_texture(c, name, target, (GLenum)format, samples, width, height,
				 depth);
}

void
gl_image_forget_texture(struct gl_context *c, GLuint name)
{
	struct gl_image_info unknown = { 0 };
	set_image(c->state->group, true, name, &unknown);
}

void
gl_image_forget_bound_texture(struct gl_context *c, GLenum target)
{
	GLuint name = c->state->zone.in_list ? 0 : gl_bound_texture(c, target);
	if (name)
		gl_image_forget_texture(c, name);
}

void
gl_image_forget_all(struct gl_context *c)
{
	struct gl_share_group *group = c->state->group;
	pthread_mutex_lock(&group->lock);
	struct gl_image_entry *entry, *tmp;
	HASH_ITER (hh, group->images.textures, entry, tmp)
		entry->image = (struct gl_image_info){ 0 };
	atomic_fetch_add_explicit(&group->images.generation, 1, memory_order_release);
	pthread_mutex_unlock(&group->lock);
}

/* ---- reading ---- */

static struct gl_image_info
ask_texture(struct gl_context *c, GLuint name)
{
	GLint w = 0, h = 0, d = 0, format = 0, samples = 0;
	if (!c->next->IsTexture(name))
		return (struct gl_image_info){ 0 };
	c->next->GetTextureLevelParameteriv(name, 0, GL_TEXTURE_WIDTH, &w);
	c->next->GetTextureLevelParameteriv(name, 0, GL_TEXTURE_HEIGHT, &h);
	c->next->GetTextureLevelParameteriv(name, 0, GL_TEXTURE_DEPTH, &d);
	c->next->GetTextureLevelParameteriv(name, 0, GL_TEXTURE_INTERNAL_FORMAT, &format);
	c->next->GetTextureLevelParameteriv(name, 0, GL_TEXTURE_SAMPLES, &samples);
	return make_image((GLenum)format, samples, w, h, d);
}

static struct gl_image_info
ask_renderbuffer(struct gl_context *c, GLuint name)
{
	GLint w = 0, h = 0, format = 0, samples = 0;
	if (!c->next->IsRenderbuffer(name))
		return (struct gl_image_info){ 0 };
	c->next->GetNamedRenderbufferParameteriv(name, GL_RENDERBUFFER_WIDTH, &w);
	c->next->GetNamedRenderbufferParameteriv(name, GL_RENDERBUFFER_HEIGHT, &h);
	c->next->GetNamedRenderbufferParameteriv(name, GL_RENDERBUFFER_INTERNAL_FORMAT,
						 &format);
	c->next->GetNamedRenderbufferParameteriv(name, GL_RENDERBUFFER_SAMPLES, &samples);
	return make_image((GLenum)format, samples, w, h, 1);
}

static struct gl_image_info
look(struct gl_context *c, bool texture, GLuint name)
{
	struct gl_share_group *group = c->state->group;
	struct gl_image_info image = { 0 };
	pthread_mutex_lock(&group->lock);
	struct gl_image_entry *entry = get(table_of(group, texture), name, true);
	if (entry) {
		entry->looked_at = true;
		image = entry->image;
	}
	pthread_mutex_unlock(&group->lock);
	if (image.known || !name || !c->state->caps.has_texture_dsa)
		return image;
	gl_hush_begin(c);
	image = texture ? ask_texture(c, name) : ask_renderbuffer(c, name);
	gl_hush_end(c);
	if (image.known)
		set_image(group, texture, name, &image);
	return image;
}

struct gl_image_info
gl_image_of_texture(struct gl_context *c, GLuint name)
{
	return look(c, true, name);
}

struct gl_image_info
gl_image_of_renderbuffer(struct gl_context *c, GLuint name)
{
	return look(c, false, name);
}

/* ---- labels ---- */

void
gl_image_set_label(struct gl_share_group *group, bool texture, GLuint name,
		   const char *text, size_t len)
{
	pthread_mutex_lock(&group->lock);
	struct gl_image_entry *entry = get(table_of(group, texture), name, text != NULL);
	if (text)
		atomic_store_explicit(&group->images.labelled, true,
				      memory_order_relaxed);
	if (entry) {
		free(entry->label);
		entry->label = text ? strndup(text, len) : NULL;
	}
	pthread_mutex_unlock(&group->lock);
}

bool
gl_image_get_label(struct gl_share_group *group, bool texture, GLuint name, char *out,
		   size_t size)
{
	pthread_mutex_lock(&group->lock);
	struct gl_image_entry *entry = get(table_of(group, texture), name, false);
	bool found = entry && entry->label;
	if (found)
		snprintf(out, size, "%s", entry->label);
	pthread_mutex_unlock(&group->lock);
	return found;
}

static void
clear(struct gl_image_entry **table)
{
	struct gl_image_entry *entry, *tmp;
	HASH_ITER (hh, *table, entry, tmp) {
		HASH_DEL(*table, entry);
		free(entry->label);
		free(entry);
	}
}

void
gl_images_finish(struct gl_images *images)
{
	clear(&images->textures);
	clear(&images->renderbuffers);
}

/* ---- formats ---- */

static int
compare(const void *key, const void *row)
{
	GLenum a = *(const GLenum *)key, b = ((const struct gl_format *)row)->value;
	return a < b ? -1 : a > b;
}

const char *
gl_format_name(GLenum internal_format)
{
	if (internal_format == 3)
		return "RGB"; /* GL 1.0: a number of components */
	if (internal_format == 4)
		return "RGBA";
	const struct gl_format *f = bsearch(&internal_format, gl_formats,
					    sizeof(gl_formats) / sizeof(gl_formats[0]),
					    sizeof(gl_formats[0]), compare);
	return f ? f->name : "?";
}
