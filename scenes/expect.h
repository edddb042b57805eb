/* SPDX-License-Identifier: MIT */
/* scenes/expect.h - what a perfect log contains for a pass, for the scenes of both APIs.
 *
 * The expectation is next to the drawing code and is written by hand from the counts in the
 * calls; nothing in it is computed from passtally's output. The programs print it as JSON
 * (--expect) for passtally selftest and the tests of tests/live. One thread.
 */
#ifndef PASSTALLY_SCENES_EXPECT_H
#define PASSTALLY_SCENES_EXPECT_H

#include <stdbool.h>
#include <stdint.h>

/* The size of every stage that is not opened with another size. */
#define SCREEN_WIDTH 256
#define SCREEN_HEIGHT 192

/* The values of a pass that the log must leave out, or that this table cannot state. */
enum {
	EXPECT_NO_DRAWS = 1 << 0,       /* `draws` absent from the log */
	EXPECT_NO_VERTICES = 1 << 1,    /* ... `vertices` */
	EXPECT_NO_INSTANCES = 1 << 2,   /* ... `instances` */
	EXPECT_NO_COUNTERS = 1 << 3,    /* no statistic; with granularity draw: as in the row */
	EXPECT_NO_TIME = 1 << 4,        /* no separate time */
	EXPECT_ANY_PRIMITIVES = 1 << 5, /* primitives_submitted not stated */
	EXPECT_ANY_SHADED = 1 << 6,     /* vertex_shader_invocations not stated (indexed draws) */
	EXPECT_ANY_FRAGMENTS = 1 << 7,  /* fragment_shader_invocations not stated */
	EXPECT_ANY_COPIES = 1 << 8,
	EXPECT_ANY_WORKLOADS = 1 << 9, /* number of workloads not stated */
	EXPECT_ANY_COUNTERS = EXPECT_ANY_PRIMITIVES | EXPECT_ANY_SHADED | EXPECT_ANY_FRAGMENTS,
};

struct expect_pass {
	const char *kind;  /* "render", "compute", "transfer" */
	const char *label; /* NULL: none */
	const char *flags; /* exactly these words must be there, with blanks between */
	const char *load;  /* NULL: not stated */
	const char *store;
	int draws, vertices, instances;
	int dispatches, copies, clears;
	int primitives, shaded;
	int fragments; /* OpenGL: at least this many shader invocations, 0: not stated */
	int computed;  /* compute_shader_invocations, 0: not stated */
	int width, height;   /* 0: the screen's, for a render pass; -1: no size */
	int layers, samples; /* 0: not stated */
	const char *depth;   /* format, NULL: not stated */
	int device; /* in order of first use; OpenGL: share groups */
	unsigned unsure;
	/* OpenGL */
	int colors;  /* 0: not stated, -1: none */
	int same_as; /* 1 + index of the pass with the same id and key; 0: it has its own */
	int segment;
	int context; /* which context of the scene, in order of first use */
	/* Vulkan */
	const char *color; /* formats separated by blanks; NULL: not stated */
	int workloads;  /* with granularity draw; 0: draws, dispatches, copies and clears */
	int submission; /* which of the frame's submissions */
};

/* A render pass of d draws of whole triangles: n vertices of i instances in total. */
#define INSTANCED(d, n, i) \
	.kind = "render", .draws = (d), .vertices = (n), .instances = (i), \
	.primitives = (n) / 3, .shaded = (n)
/* ... each of one instance. */
#define DRAWN(d, n) INSTANCED(d, n, d)

/* CLOCK_MONOTONIC, for scenes whose duration depends on the clock. */
uint64_t scene_clock_ns(void);

/* Prints a member of the JSON object that is open, after the members printed before; NULL:
 * null. */
void expect_number(const char *key, long long value);
void expect_word(const char *key, const char *word);
/* A whole object: opens it, prints members, closes it with the array of its passes. */
void expect_begin(const char *scene, unsigned frames, unsigned devices);
void expect_end(const struct expect_pass *passes, int n, bool vulkan);

#endif
