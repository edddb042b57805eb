/* SPDX-License-Identifier: MIT */
/* scenes/gl/stage.h - a GL context, a place to draw, and geometry whose size is known exactly.
 *
 * For the scenes and the small programs of tests/apps: it opens EGL (surfaceless, a device,
 * pbuffer, X11 window) or GLX, so that a scene is written once. GL comes through libepoxy, as in
 * many real programs. Anything that this machine does not have ends the program with status 77
 * and one line on stderr; anything else that fails ends it with 99. Each stage belongs to the
 * thread that uses it.
 */
#ifndef PASSTALLY_SCENES_GL_STAGE_H
#define PASSTALLY_SCENES_GL_STAGE_H

#include <epoxy/gl.h>
#include <stdbool.h>
#include <stddef.h>

#include "scenes/gl/options.h"

struct stage_window; /* private to the platform */

struct stage {
	struct stage_options options;
	struct stage_window *window;
	GLuint screen; /* framebuffer used as the screen: 0, or one when surfaceless */
	GLuint screen_color, screen_depth;
	GLuint program, sampling_program;
	GLint place, tint, sampling_place;
	GLuint vertex_array, vertices, indices;
};

/* Triangles in the shared vertex buffer, with consecutive corners, and as many indices 0, 1, 2,
 * ... */
#define STAGE_TRIANGLES 1024

/* Opens the platform, makes a context and makes it current. With `bare` no GL call is made. */
void stage_open(struct stage *s, const struct stage_options *options);
void stage_open_bare(struct stage *s, const struct stage_options *options);
void stage_close(struct stage *s);

/* Another context of the same kind, drawing to its own surface of the same size (on a GLX stage
 * to the same window). */
struct stage_peer;
struct stage_peer *stage_peer_create(struct stage *s, bool shared);
void stage_peer_make_current(struct stage *s, struct stage_peer *p); /* NULL: the stage's own */
void stage_peer_swap(struct stage *s, struct stage_peer *p); /* unless frames end by nothing */
/* Vertex arrays are not shared between contexts: makes the current one draw the stage's
 * vertices. */
void stage_peer_use_vertices(struct stage *s);
void stage_peer_destroy(struct stage *s, struct stage_peer *p);
void stage_release(struct stage *s); /* no context current */

void stage_begin_frame(struct stage *s);
void stage_end_frame(struct stage *s);
void stage_terminate_frame(void);
void stage_swap(struct stage *s); /* regardless of `end`; nothing when surfaceless */

/* Shaders: both read the attribute `pos`; `place` is offset and scale; the first paints `tint`,
 * the second a texture on unit 0. NULL geometry and fragment: the stage's own. */
GLuint stage_program(const struct stage *s, const char *vertex, const char *fragment);
/* The program that stage_draw() uses, made again: in the current context, or for another
 * thread. */
void stage_make_program(struct stage *s);
GLuint stage_compute_program(const struct stage *s, const char *text);
GLuint stage_shader(GLenum type, const char *const *texts, int n);
void stage_link(GLuint program);

/* Binds the framebuffer and sets the viewport. */
void stage_target(struct stage *s, GLuint framebuffer, int width, int height);
void stage_target_screen(struct stage *s);
/* `count` corners of the grid from triangle `first` on, colored by `tone`; count is
 * vertices. */
void stage_draw(struct stage *s, int first_triangle, int count, unsigned tone);
/* Sets what stage_draw() sets, for scenes that make the draw call themselves. */
void stage_paint(struct stage *s, unsigned tone);
/* One triangle over the whole target that samples `texture`. */
void stage_draw_textured(struct stage *s, GLuint texture);

GLuint stage_texture(GLenum format, int width, int height, int levels);
GLuint stage_renderbuffer(GLenum format, int samples, int width, int height);
/* A framebuffer over a texture (0 = none) and a depth renderbuffer (0 = none). */
GLuint stage_framebuffer(GLuint texture, GLuint depth_renderbuffer, GLenum depth_attachment);

/* FNV-1a over the pixels of the bound read framebuffer. */
unsigned long long stage_checksum(struct stage *s);
/* Ends the program with 99 when GL reports an error. */
void stage_check(const char *what);

#endif
