/* SPDX-License-Identifier: MIT */
#include "gl_shim/pass/events.h"

#include <stdlib.h>

/* ---- uploads ---- */

static unsigned
components(GLenum format)
{
	switch (format) {
	case 0x8227: /* RG */
	case 0x8228: /* RG_INTEGER */
	case 0x190A: /* LUMINANCE_ALPHA */
		return 2;
	case 0x1907: /* RGB */
	case 0x80E0: /* BGR */
	case 0x8D98: /* RGB_INTEGER */
	case 0x8D9A: /* BGR_INTEGER */
		return 3;
	case 0x1908: /* RGBA */
	case 0x80E1: /* BGRA */
	case 0x8D99: /* RGBA_INTEGER */
	case 0x8D9B: /* BGRA_INTEGER */
		return 4;
	default:
		return 1;
	}
}

static unsigned
pixel_bytes(GLenum format, GLenum type)
{
	switch (type) {
	case 0x1400: /* BYTE */
	case 0x1401: /* UNSIGNED_BYTE */
		return components(format);
	case 0x1402: /* SHORT */
	case 0x1403: /* UNSIGNED_SHORT */
	case 0x140B: /* HALF_FLOAT */
	case 0x8D61: /* HALF_FLOAT_OES */
		return 2 * components(format);
	case 0x1404: /* INT */
	case 0x1405: /* UNSIGNED_INT */
	case 0x1406: /* FLOAT */
		return 4 * components(format);
	case 0x8032: /* UNSIGNED_BYTE_3_3_2 */
	case 0x8362: /* UNSIGNED_BYTE_2_3_3_REV */
		return 1;
	case 0x8363: /* UNSIGNED_SHORT_5_6_5 */
	case 0x8364: /* UNSIGNED_SHORT_5_6_5_REV */
	case 0x8033: /* UNSIGNED_SHORT_4_4_4_4 */
	case 0x8365: /* UNSIGNED_SHORT_4_4_4_4_REV */
	case 0x8034: /* UNSIGNED_SHORT_5_5_5_1 */
	case 0x8366: /* UNSIGNED_SHORT_1_5_5_5_REV */
		return 2;
	case 0x8DAD: /* FLOAT_32_UNSIGNED_INT_24_8_REV */
		return 8;
	default: /* packed into 32 bits */
		return 4;
	}
}

uint64_t
gl_upload_bytes(const struct gl_context *c, const void *data, GLsizei width, GLsizei height,
		GLsizei depth, GLenum format, GLenum type)
{
	if (!c->live || !data || c->state->pixel_unpack_buffer || width <= 0 || height <= 0 ||
	    depth <= 0)
		return 0;
	return (uint64_t)width * (uint64_t)height * (uint64_t)depth * pixel_bytes(format, type);
}

/* ---- first draws ---- */

/* Programs of the share group that were linked and have not drawn since. */
struct gl_fresh_program {
	GLuint name;
	UT_hash_handle hh;
};

static struct gl_fresh_program *
find(struct gl_share_group *g, GLuint program)
{
	struct gl_fresh_program *p = NULL;
	HASH_FIND(hh, g->fresh, &program, sizeof(program), p);
	return p;
}

void
gl_program_linked(struct gl_context *c, GLuint program)
{
	struct gl_share_group *g = c->state->group;
	struct gl_fresh_program *p = program ? calloc(1, sizeof(*p)) : NULL;
	if (!p)
		return;
	p->name = program;
	pthread_mutex_lock(&g->lock);
	bool known = find(g, program);
	if (!known) {
		HASH_ADD(hh, g->fresh, name, sizeof(p->name), p);
		known = !p->hh.tbl; /* no memory */
	}
	atomic_store_explicit(&g->n_fresh, HASH_COUNT(g->fresh), memory_order_relaxed);
	pthread_mutex_unlock(&g->lock);
	if (known)
		free(p);
	if (c->state->program == program)
		gl_program_used(c, program);
}

void
gl_program_used(struct gl_context *c, GLuint program)
{
	struct gl_share_group *g = c->state->group;
	c->state->program = program;
	c->state->fresh_program = 0;
	if (!program || !atomic_load_explicit(&g->n_fresh, memory_order_relaxed))
		return;
	pthread_mutex_lock(&g->lock);
	if (find(g, program))
		c->state->fresh_program = program;
	pthread_mutex_unlock(&g->lock);
	if (c->state->fresh_program)
		c->open = 0; /* the next draw does not take the fast path */
}

void
gl_program_deleted(struct gl_context *c, GLuint program)
{
	struct gl_share_group *g = c->state->group;
	if (!atomic_load_explicit(&g->n_fresh, memory_order_relaxed))
		return;
	pthread_mutex_lock(&g->lock);
	struct gl_fresh_program *p = find(g, program);
	if (p)
		HASH_DEL(g->fresh, p);
	atomic_store_explicit(&g->n_fresh, HASH_COUNT(g->fresh), memory_order_relaxed);
	pthread_mutex_unlock(&g->lock);
	free(p);
}

void
gl_programs_forget(struct gl_share_group *g)
{
	struct gl_fresh_program *p, *next;
	HASH_ITER (hh, g->fresh, p, next) {
		HASH_DEL(g->fresh, p);
		free(p);
	}
}

struct tally_event
gl_first_draw_begin(struct gl_context *c, const char *call)
{
	if (!c->live || !c->state->fresh_program || gl_compiles_only(c->state))
		return (struct tally_event){ 0 };
	return gl_event(c, TALLY_EVENT_FIRST_DRAW, call, 0);
}

void
gl_first_draw_end(struct gl_context *c, const struct tally_event *event)
{
	if (!event->begin_ns)
		return;
	tally_event_end(event);
	gl_program_deleted(c, c->state->fresh_program);
	c->state->fresh_program = 0;
}
