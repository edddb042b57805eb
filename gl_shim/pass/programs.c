/* SPDX-License-Identifier: MIT */
#include "gl_shim/pass/programs.h"

#include "gl_shim/context/state.h"
#include "layer/pass_id.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHADERS 32u /* of one program */
#define LOOK_BACK 32u /* uses of a pass among which a program is looked for */

struct gl_shader {
	GLuint name;
	enum tally_stage stage;
	bool deleted; /* its name lives on while a program has it */
	unsigned n_programs;
	uint64_t source, source_bytes;
	uint64_t code, bytes; /* the source when it was compiled; bytes 0: it was not */
	UT_hash_handle hh;
};

struct gl_program {
	GLuint name;
	bool unknown; /* it has more shaders than fit */
	bool asked, failed; /* whether its last link went well */
	uint32_t n;
	struct gl_shader *shaders[MAX_SHADERS];
	struct tally_pipeline *pipeline;
	char *label;
	UT_hash_handle hh;
};

static bool
is_on(const struct gl_context *c)
{
	return c->live && c->state->config->pipelines;
}

/* The tables, locked; NULL: nothing is kept. */
static struct gl_programs *
lock_tables(struct gl_context *c)
{
	if (!is_on(c))
		return NULL;
	pthread_mutex_lock(&c->state->group->lock);
	return &c->state->group->programs;
}

static void
unlock_tables(struct gl_context *c)
{
	pthread_mutex_unlock(&c->state->group->lock);
}

static struct gl_shader *
find_shader(struct gl_programs *t, GLuint name)
{
	struct gl_shader *s = NULL;
	HASH_FIND(hh, t->shaders, &name, sizeof(name), s);
	return s;
}

static struct gl_program *
find_program(struct gl_programs *t, GLuint name)
{
	struct gl_program *p = NULL;
	HASH_FIND(hh, t->programs, &name, sizeof(name), p);
	return p;
}

static struct gl_program *
need_program(struct gl_programs *t, GLuint name)
{
	struct gl_program *p = find_program(t, name);
	if (p || !name || !(p = calloc(1, sizeof(*p))))
		return p;
	p->name = name;
	HASH_ADD(hh, t->programs, name, sizeof(name), p);
	if (p->hh.tbl)
		return p;
	free(p);
	return NULL;
}

/* ---- shaders ---- */

static enum tally_stage
stage_of(GLenum type)
{
	switch (type) {
	case GL_VERTEX_SHADER:
		return TALLY_STAGE_VERTEX;
	case GL_TESS_CONTROL_SHADER:
		return TALLY_STAGE_TESS_CONTROL;
	case GL_TESS_EVALUATION_SHADER:
		return TALLY_STAGE_TESS_EVALUATION;
	case GL_GEOMETRY_SHADER:
		return TALLY_STAGE_GEOMETRY;
	case GL_TASK_SHADER_NV:
		return TALLY_STAGE_TASK;
	case GL_MESH_SHADER_NV:
		return TALLY_STAGE_MESH;
	case GL_FRAGMENT_SHADER:
		return TALLY_STAGE_FRAGMENT;
	case GL_COMPUTE_SHADER:
		return TALLY_STAGE_COMPUTE;
	default:
		return TALLY_STAGE_OTHER;
	}
}

void
gl_shader_created(struct gl_context *c, GLuint shader, GLenum type)
{
	struct gl_programs *t = shader ? lock_tables(c) : NULL;
	if (!t)
		return;
	struct gl_shader *s = find_shader(t, shader) ? NULL : calloc(1, sizeof(*s));
	if (s) {
		s->name = shader;
		s->stage = stage_of(type);
		HASH_ADD(hh, t->shaders, name, sizeof(shader), s);
		if (!s->hh.tbl)
			free(s);
	}
	unlock_tables(c);
}

/* The hash of all strings joined, and its bytes; 0 bytes: there is none. */
static uint64_t
hash_source(GLsizei n, const GLchar *const *strings, const GLint *lengths, uint64_t *bytes)
{
	uint64_t hash = TALLY_FNV_OFFSET;
	*bytes = 0;
	for (GLsizei i = 0; strings && i < n; i++) {
		if (!strings[i])
			continue;
		size_t len = lengths && lengths[i] >= 0 ? (size_t)lengths[i] : strlen(strings[i]);
		hash = tally_fnv1a(hash, strings[i], len);
		*bytes += len;
	}
	return hash;
}

void
gl_shader_source(struct gl_context *c, GLuint shader, GLsizei n, const GLchar *const *strings,
		 const GLint *lengths)
{
	if (!is_on(c))
		return;
	uint64_t bytes, source = hash_source(n, strings, lengths, &bytes);
	struct gl_programs *t = lock_tables(c);
	struct gl_shader *s = find_shader(t, shader);
	if (s) {
		s->source = source;
		s->source_bytes = bytes;
	}
	unlock_tables(c);
}

void
gl_shader_binary(struct gl_context *c, GLsizei n, const GLuint *shaders, const void *binary,
		 GLsizei len)
{
	if (!is_on(c) || !shaders || !binary || len <= 0)
		return;
	uint64_t code = tally_fnv1a(TALLY_FNV_OFFSET, binary, (size_t)len);
	struct gl_programs *t = lock_tables(c);
	for (GLsizei i = 0; i < n; i++) {
		struct gl_shader *s = find_shader(t, shaders[i]);
		if (!s)
			continue;
		s->code = s->source = code;
		s->bytes = s->source_bytes = (uint64_t)len;
	}
	unlock_tables(c);
}

void
gl_shader_compiled(struct gl_context *c, GLuint shader)
{
	struct gl_programs *t = lock_tables(c);
	if (!t)
		return;
	struct gl_shader *s = find_shader(t, shader);
	if (s) {
		s->code = s->source;
		s->bytes = s->source_bytes;
	}
	unlock_tables(c);
}

static void
drop_shader(struct gl_programs *t, struct gl_shader *s)
{
	if (!s->deleted || s->n_programs)
		return;
	HASH_DEL(t->shaders, s);
	free(s);
}

void
gl_shader_deleted(struct gl_context *c, GLuint shader)
{
	struct gl_programs *t = lock_tables(c);
	if (!t)
		return;
	struct gl_shader *s = find_shader(t, shader);
	if (s) {
		s->deleted = true;
		drop_shader(t, s);
	}
	unlock_tables(c);
}

/* ---- programs ---- */

void
gl_program_attach(struct gl_context *c, GLuint program, GLuint shader)
{
	struct gl_programs *t = lock_tables(c);
	if (!t)
		return;
	struct gl_shader *s = find_shader(t, shader);
	struct gl_program *p = s ? need_program(t, program) : NULL;
	for (uint32_t i = 0; p && i < p->n; i++)
		if (p->shaders[i] == s)
			p = NULL; /* an error: it has it */
	if (p && p->n < MAX_SHADERS) {
		p->shaders[p->n++] = s;
		s->n_programs++;
	} else if (p) {
		p->unknown = true;
	}
	unlock_tables(c);
}

void
gl_program_detach(struct gl_context *c, GLuint program, GLuint shader)
{
	struct gl_programs *t = lock_tables(c);
	if (!t)
		return;
	struct gl_program *p = find_program(t, program);
	for (uint32_t i = 0; p && i < p->n; i++) {
		struct gl_shader *s = p->shaders[i];
		if (s->name != shader)
			continue;
		p->shaders[i] = p->shaders[--p->n];
		s->n_programs--;
		drop_shader(t, s);
		break;
	}
	unlock_tables(c);
}

/* The program has these stages from now on, if the driver agrees. */
static void
set_stages(struct gl_context *c, GLuint program, struct tally_stage_record *stages, uint32_t n)
{
	struct tally_pipeline *pipeline = tally_pipeline_intern(stages, n);
	struct gl_programs *t = lock_tables(c);
	struct gl_program *p = need_program(t, program);
	if (p) {
		p->pipeline = pipeline;
		p->asked = p->failed = false;
		if (pipeline && p->label)
			tally_pipeline_set_name(pipeline, NULL, p->label, strlen(p->label));
	}
	unlock_tables(c);
	if (c->state->program == program)
		gl_program_use(c, program);
}

void
gl_program_made(struct gl_context *c, GLuint program)
{
	struct gl_programs *t = lock_tables(c);
	if (!t)
		return;
	struct tally_stage_record stages[MAX_SHADERS] = { 0 };
	const struct gl_program *p = find_program(t, program);
	uint32_t n = p && !p->unknown ? p->n : 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct gl_shader *s = p->shaders[i];
		stages[i] = (struct tally_stage_record){ .stage = s->stage,
							 .code = s->code,
							 .bytes = s->bytes };
	}
	unlock_tables(c);
	if (p)
		set_stages(c, program, stages, n);
}

void
gl_program_loaded(struct gl_context *c, GLuint program, const void *binary, GLsizei len)
{
	if (!is_on(c) || !binary || len <= 0)
		return;
	struct tally_stage_record stage = {
		.stage = TALLY_STAGE_OTHER,
		.code = tally_fnv1a(TALLY_FNV_OFFSET, binary, (size_t)len),
		.bytes = (uint64_t)len,
	};
	set_stages(c, program, &stage, 1);
}

void
gl_program_of_source(struct gl_context *c, GLuint program, GLenum type, GLsizei n,
		     const GLchar *const *strings)
{
	if (!is_on(c) || !program)
		return;
	struct tally_stage_record stage = { .stage = stage_of(type) };
	stage.code = hash_source(n, strings, NULL, &stage.bytes);
	set_stages(c, program, &stage, 1);
}

void
gl_program_named(struct gl_context *c, GLuint program, const char *name, size_t len)
{
	struct gl_programs *t = lock_tables(c);
	if (!t)
		return;
	struct gl_program *p = need_program(t, program);
	struct tally_pipeline *pipeline = p ? p->pipeline : NULL;
	char *before = p ? p->label : NULL;
	if (p)
		p->label = len ? strndup(name, len) : NULL;
	unlock_tables(c);
	tally_pipeline_set_name(pipeline, before, name, len);
	free(before);
}

static void
free_program(struct gl_programs *t, struct gl_program *p)
{
	while (p->n) {
		struct gl_shader *s = p->shaders[--p->n];
		s->n_programs--;
		drop_shader(t, s);
	}
	HASH_DEL(t->programs, p);
	free(p->label);
	free(p);
}

void
gl_program_gone(struct gl_context *c, GLuint program)
{
	struct gl_programs *t = lock_tables(c);
	if (!t)
		return;
	struct gl_program *p = find_program(t, program);
	if (p)
		free_program(t, p);
	unlock_tables(c);
}

void
gl_programs_finish(struct gl_programs *t)
{
	struct gl_program *p, *next_program;
	HASH_ITER (hh, t->programs, p, next_program)
		free_program(t, p);
	struct gl_shader *s, *next_shader;
	HASH_ITER (hh, t->shaders, s, next_shader) {
		HASH_DEL(t->shaders, s);
		free(s);
	}
}

/* ---- what is in use ---- */

/* Whether the program was linked, asked once after each link; the driver waits for it to be
 * compiled, as it does for the draw that follows. */
static bool
is_linked(struct gl_context *c, GLuint program, struct tally_pipeline **pipeline)
{
	struct gl_programs *t = lock_tables(c);
	const struct gl_program *p = find_program(t, program);
	bool ask = p && !p->asked, failed = p && p->failed;
	*pipeline = p ? p->pipeline : NULL;
	unlock_tables(c);
	if (!ask)
		return !failed;
	GLint linked = 0;
	c->next->GetProgramiv(program, GL_LINK_STATUS, &linked);
	lock_tables(c);
	struct gl_program *again = find_program(t, program);
	if (again && again->pipeline == *pipeline) {
		again->asked = true;
		again->failed = !linked;
	}
	unlock_tables(c);
	return linked;
}

struct tally_pipeline *
gl_program_in_use(const struct gl_context *c)
{
	const struct gl_context_state *s = c->state;
	bool known = !atomic_load_explicit(&s->group->programs.in_lists, memory_order_relaxed);
	return known ? s->used.pipeline : NULL;
}

static void
add_use(struct gl_context_state *s, const struct tally_call_counts *counts)
{
	struct tally_pipeline_use *use = s->now.pass->uses;
	for (unsigned n = 0; use && n < LOOK_BACK; n++, use = use->next) {
		if (use->pipeline == s->used.pipeline) {
			tally_call_counts_add(&use->call_counts, counts);
			return;
		}
	}
	tally_stream_use_pipeline(s->stream, s->now.pass, s->used.pipeline, counts);
}

/* Adds what was counted since the last time to the open pass. */
static void
count_work(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	const struct gl_pending_counts *now = &c->pending;
	const struct gl_pending_counts before = s->used.before;
	struct tally_call_counts since = {
		.draws = now->draws - before.draws,
		.dispatches = now->dispatches - before.dispatches,
		.vertices = now->vertices - before.vertices,
	};
	since.instances = since.draws + (uint64_t)(now->extra_instances - before.extra_instances);
	since.calls = since.draws + since.dispatches +
		      (uint64_t)(now->extra_calls - before.extra_calls);
	s->used.before = *now;
	if (s->now.pass && (since.draws || since.dispatches) && gl_program_in_use(c))
		add_use(s, &since);
}

static __attribute__((noinline)) void
use_program(struct gl_context *c, GLuint program)
{
	struct gl_context_state *s = c->state;
	struct tally_pipeline *pipeline = NULL;
	if (s->zone.in_list)
		atomic_store(&s->group->programs.in_lists, true);
	if (gl_compiles_only(s) || (program && !is_linked(c, program, &pipeline)))
		return;
	if (pipeline == s->used.pipeline)
		return;
	count_work(c);
	s->used.pipeline = pipeline;
}

void
gl_program_use(struct gl_context *c, GLuint program)
{
	if (is_on(c))
		use_program(c, program);
}

static void
begin_programs(struct gl_context *c, struct tally_pass *pass)
{
	(void)pass;
	c->state->used.before = (struct gl_pending_counts){ 0 };
}

static void
end_programs(struct gl_context *c, struct tally_pass *pass, bool usable)
{
	(void)pass, (void)usable;
	count_work(c);
}
const struct gl_around gl_around_programs = {
	.pass_begins = begin_programs,
	.pass_ends = end_programs,
};
