/* SPDX-License-Identifier: MIT */
#include "gl_shim/pass/events.h"

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

/* So many bytes take longer than small passes do. */
#define LARGE_UPLOAD (4u << 20)

/* Done in the call, and the passes that are not drawn yet begin before it. */
static void
share_time(const struct gl_context *c, uint64_t bytes)
{
	struct gl_scene *scene = &c->state->scene;
	for (unsigned i = 0; c->state->caps.works_at_once && bytes >= LARGE_UPLOAD && i < scene->n;
	     i++)
		scene->passes[i]->flags |= TALLY_FLAG(SHARED_TIME);
}

uint64_t
gl_upload_bytes(const struct gl_context *c, const void *data, GLsizei width, GLsizei height,
		GLsizei depth, GLenum format, GLenum type)
{
	bool by_buffer = c->live && c->state->pixel_unpack_buffer;
	if (!c->live || (!data && !by_buffer) || width <= 0 || height <= 0 || depth <= 0)
		return 0;
	uint64_t bytes = (uint64_t)width * (uint64_t)height * (uint64_t)depth *
			 pixel_bytes(format, type);
	share_time(c, bytes);
	return by_buffer ? 0 : bytes;
}

uint64_t
gl_upload_size(const struct gl_context *c, const void *data, GLsizeiptr size)
{
	uint64_t bytes = gl_data_bytes(data, size);
	if (c->live)
		share_time(c, bytes);
	return bytes;
}

/* ---- first draws ---- */

/* Drivers number programs from 1; the first draw of one with a larger name is not timed. */
static bool
has_bit(GLuint program)
{
	return program > 0 && program < 64 * GL_FRESH_WORDS;
}

void
gl_program_linked(struct gl_context *c, GLuint program)
{
	if (!has_bit(program))
		return;
	atomic_fetch_or_explicit(&c->state->group->fresh[program / 64], 1ULL << program % 64,
				 memory_order_relaxed);
	if (c->state->program == program)
		gl_program_used(c, program);
}

void
gl_program_used(struct gl_context *c, GLuint program)
{
	_Atomic uint64_t *fresh = c->state->group->fresh;
	uint64_t bit = 1ULL << program % 64;
	bool first = has_bit(program) &&
		     atomic_load_explicit(&fresh[program / 64], memory_order_relaxed) & bit;
	c->state->program = program;
	c->state->fresh_program = first ? program : 0;
	if (first)
		c->open = 0; /* the next draw does not take the fast path */
}

void
gl_program_deleted(struct gl_context *c, GLuint program)
{
	if (has_bit(program))
		atomic_fetch_and_explicit(&c->state->group->fresh[program / 64],
					  ~(1ULL << program % 64), memory_order_relaxed);
}

struct tally_event
gl_first_draw_begin(struct gl_context *c, const char *call)
{
	if (!c->live || !c->state->fresh_program || gl_compiles_only(c->state))
		return (struct tally_event){ 0 };
	struct tally_event event = gl_event(c, TALLY_EVENT_FIRST_DRAW, call, 0);
	event.object = c->state->fresh_program;
	return event;
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
