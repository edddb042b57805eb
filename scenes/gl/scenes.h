/* SPDX-License-Identifier: MIT */
/* scenes/gl/scenes.h - a scene: what is drawn, and what a perfect log says of it.
 *
 * The expectation stands beside the drawing code and is written by hand from the counts in the
 * calls; nothing in it is computed from what passtally says. `passtally-scenes-gl --expect` prints
 * it as JSON for passtally selftest and tests/live/scenes.py. One thread, but for the scenes that
 * start their own.
 */
#ifndef PASSTALLY_SCENES_GL_SCENES_H
#define PASSTALLY_SCENES_GL_SCENES_H

#include "scenes/gl/stage.h"

/* What of a pass the log must leave out, or what this table cannot state. */
enum {
	EXPECT_NO_DRAWS = 1 << 0,     /* `draws` absent from the log */
	EXPECT_NO_VERTICES = 1 << 1,  /* ... `vertices` */
	EXPECT_NO_INSTANCES = 1 << 2, /* ... `instances` */
	EXPECT_ANY_PRIMITIVES = 1 << 3, /* primitives_submitted not stated */
	EXPECT_ANY_SHADED = 1 << 4,     /* vertex_shader_invocations not stated (indexed draws) */
	EXPECT_ANY_COPIES = 1 << 5,
};

struct expect_pass {
	const char *kind;  /* "render", "compute", "transfer" */
	const char *label; /* NULL: none */
	const char *flags; /* the words that must be there, and no others; blanks between */
	const char *load;  /* NULL: not stated */
	const char *store;
	int draws, vertices, instances, primitives, shaded;
	int dispatches, copies, clears;
	int fragments; /* at least so many shader invocations, 0 = not stated */
	int shaded_compute; /* compute_shader_invocations, 0 = not stated */
	int width, height;  /* 0 = the stage's own; -1: no size */
	int samples, colors; /* 0 = not stated */
	const char *depth;   /* format, NULL = not stated */
	int same_as;   /* 1 + index of the pass whose id and key this one shares; 0 = its own */
	int segment;
	int context; /* which context of the scene, in order of first use */
	int device;  /* which share group, in order of first use */
	int window;  /* 1: its target is the screen */
	unsigned unsure;
};

struct scene {
	const char *name;
	unsigned apis; /* bits 1 << enum stage_api */
	int major, minor;       /* desktop GL */
	int es_major, es_minor; /* OpenGL ES */
	void (*init)(struct stage *s);
	void (*frame)(struct stage *s, unsigned number);
	void (*finish)(struct stage *s); /* may be NULL */
	const struct expect_pass *passes;
	int n_passes;
	unsigned devices; /* share groups; 0 = 1 */
	bool needs_surface; /* not on --platform surfaceless */
	bool varies; /* no frame is stated: how much is drawn is up to the machine */
};

#define SCENE_CORE (1u << STAGE_CORE)
#define SCENE_COMPAT (1u << STAGE_COMPAT)
#define SCENE_GLES (1u << STAGE_GLES)
#define SCENE_DESKTOP (SCENE_CORE | SCENE_COMPAT)
#define SCENE_ALL (SCENE_DESKTOP | SCENE_GLES)
#define SCENE_PASSES(table) .passes = table, .n_passes = (int)(sizeof(table) / sizeof(table[0]))

/* One table a file, ended by a row without a name. */
extern const struct scene target_scenes[];
extern const struct scene transfer_scenes[];
extern const struct scene draw_scenes[];
extern const struct scene legacy_scenes[];
extern const struct scene label_scenes[];
extern const struct scene gles_scenes[];
extern const struct scene context_scenes[];
extern const struct scene measure_scenes[];

/* The expectation as one JSON object on stdout. */
void expect_print(const struct scene *scene, const struct stage_options *options,
		  unsigned frames);

#endif
