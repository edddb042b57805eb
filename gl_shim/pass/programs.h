/* SPDX-License-Identifier: MIT */
/* gl_shim/pass/programs.h - which programs did the work of a pass (--pipelines).
 *
 * A shader is known by the FNV-1a of its source, of all strings joined, or of its binary; a program
 * by its shaders when it is linked (layer/frame/pipeline.h). What was counted since the last
 * glUseProgram belongs to the program that was in use: it is added to the open pass where another
 * is used, and where the pass ends. Program pipelines, assembly programs, fixed functions and what
 * a display list uses are nobody's. Without --pipelines all of these return at once. Owner thread
 * of the context; the tables are the share group's, under its lock.
 */
#ifndef PASSTALLY_GL_SHIM_PROGRAMS_H
#define PASSTALLY_GL_SHIM_PROGRAMS_H

#include "gl_shim/context/context.h"

#include <stdatomic.h>

/* Of a share group. */
struct gl_programs {
	struct gl_shader *shaders;
	struct gl_program *programs;
	atomic_bool in_lists; /* a display list uses one, so what is in use may not be known */
};

/* What a context uses. */
struct gl_used {
	struct tally_pipeline *pipeline; /* NULL: nobody's */
	struct gl_pending_counts before; /* of the open pass: what has been added already */
};

/* After the calls of these names. */
void gl_shader_created(struct gl_context *c, GLuint shader, GLenum type);
void gl_shader_source(struct gl_context *c, GLuint shader, GLsizei n, const GLchar *const *strings,
		      const GLint *lengths);
void gl_shader_binary(struct gl_context *c, GLsizei n, const GLuint *shaders, const void *binary,
		      GLsizei len);
void gl_shader_compiled(struct gl_context *c, GLuint shader);
void gl_shader_deleted(struct gl_context *c, GLuint shader);
void gl_program_attach(struct gl_context *c, GLuint program, GLuint shader);
void gl_program_detach(struct gl_context *c, GLuint program, GLuint shader);
void gl_program_made(struct gl_context *c, GLuint program); /* linked */
void gl_program_loaded(struct gl_context *c, GLuint program, const void *binary, GLsizei len);
void gl_program_of_source(struct gl_context *c, GLuint program, GLenum type, GLsizei n,
			  const GLchar *const *strings);
void gl_program_named(struct gl_context *c, GLuint program, const char *name, size_t len);
void gl_program_gone(struct gl_context *c, GLuint program);
/* After glUseProgram. The first time after it was linked the driver is asked whether that went
 * well: a program that is not linked is not used. */
void gl_program_use(struct gl_context *c, GLuint program);

/* What the next draw or dispatch uses; NULL: nobody's, or it is not known. */
struct tally_pipeline *gl_program_in_use(const struct gl_context *c);

/* Where a pass ends, what was counted since the last time is added to it. */
extern const struct gl_around gl_around_programs;
/* With the share group. */
void gl_programs_finish(struct gl_programs *programs);

#endif
