/* SPDX-License-Identifier: MIT */
/* tests/apps/perf_scene.c - a deferred frame of twenty passes, each of a known number of draws.
 *
 *   perf_scene [--frames N] [--own amd|intel] [--from FRAME] [--in peer] [--platform pbuffer|...]
 *   perf_scene --expect
 *
 * --expect prints, as JSON, the vertices of each draw of each pass. With --own the program uses the
 * extension itself, from a frame on, over whole frames, and compares the results with what it
 * drew; with --in peer it does so in a second context. Ends with 1 when a result is wrong or GL
 * reports an error.
 */
#include <epoxy/gl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/gl/stage.h"

#define SIZE 64
#define N_PASSES 20u
#define N_COLORS 4

/* Shadows, geometry, occlusion, lights, composition, bloom, grading, and last the screen. */
static const char *const names[N_PASSES] = {
	"shadow 0",  "shadow 1", "shadow 2",    "shadow 3", "geometry",
	"occlusion", "light 0",  "light 1",     "light 2",  "light 3",
	"light 4",   "light 5",  "composition", "bloom 0",  "bloom 1",
	"bloom 2",   "bloom 3",  "grading",     "overlay",  "screen",
};

static GLuint framebuffers[N_PASSES]; /* the last is the stage's screen */
static unsigned errors, wrong;

static unsigned
draws_of(unsigned pass)
{
	return 1 + pass % 5;
}

static unsigned
vertices_of(unsigned pass, unsigned draw)
{
	return 3 * (1 + (pass * 7 + draw * 3) % 20);
}

static void
print_expectation(void)
{
	printf("[\n");
	for (unsigned pass = 0; pass < N_PASSES; pass++) {
		printf("  {\"name\": \"%s\", \"draws\": [", names[pass]);
		for (unsigned draw = 0; draw < draws_of(pass); draw++)
			printf("%s%u", draw ? ", " : "", vertices_of(pass, draw));
		printf("]}%s\n", pass + 1 < N_PASSES ? "," : "");
	}
	printf("]\n");
}

/* ---- the scene ---- */

static GLuint
make_shadow(void)
{
	GLuint framebuffer;
	GLuint texture = stage_texture(GL_DEPTH_COMPONENT24, SIZE, SIZE, 1);

	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, texture, 0);
	glDrawBuffer(GL_NONE);
	glReadBuffer(GL_NONE);
	return framebuffer;
}

static GLuint
make_geometry(void)
{
	GLenum buffers[N_COLORS];
	GLuint framebuffer;

	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	for (unsigned i = 0; i < N_COLORS; i++) {
		buffers[i] = GL_COLOR_ATTACHMENT0 + i;
		glFramebufferTexture2D(GL_FRAMEBUFFER, buffers[i], GL_TEXTURE_2D,
				       stage_texture(GL_RGBA8, SIZE, SIZE, 1), 0);
	}
	GLuint depth = stage_renderbuffer(GL_DEPTH_COMPONENT24, 0, SIZE, SIZE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth);
	glDrawBuffers(N_COLORS, buffers);
	return framebuffer;
}

static void
make_targets(struct stage *s)
{
	for (unsigned pass = 0; pass + 1 < N_PASSES; pass++) {
		if (pass < 4)
			framebuffers[pass] = make_shadow();
		else if (pass == 4)
			framebuffers[pass] = make_geometry();
		else
			framebuffers[pass] = stage_framebuffer(
				stage_texture(GL_RGBA8, SIZE, SIZE, 1), 0, 0);
	}
	framebuffers[N_PASSES - 1] = s->screen;
}

static void
draw_frame(struct stage *s)
{
	for (unsigned pass = 0; pass < N_PASSES; pass++) {
		stage_target(s, framebuffers[pass], SIZE, SIZE);
		glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
		for (unsigned draw = 0; draw < draws_of(pass); draw++)
			stage_draw(s, (int)(10 * draw), (int)vertices_of(pass, draw), pass);
	}
}

/* ---- the program's own use of an extension ---- */

struct own {
	bool amd, intel, open;
	unsigned from;
	GLuint name;      /* monitor or handle */
	unsigned running; /* frames whose result has not arrived yet: one at a time */
	unsigned results;
	unsigned bytes; /* INTEL: size of a result */
	bool in_peer;
	struct stage_peer *peer;
};

static void
expect(bool fine, const char *what)
{
	if (fine)
		return;
	wrong++;
	fprintf(stderr, "wrong: %s\n", what);
}

static void
open_amd(struct own *own)
{
	GLuint draws = 100, vertices = 103;

	glGenPerfMonitorsAMD(1, &own->name);
	glSelectPerfMonitorCountersAMD(own->name, GL_TRUE, 10, 1, &draws);
	glSelectPerfMonitorCountersAMD(own->name, GL_TRUE, 10, 1, &vertices);
}

static void
open_intel(struct own *own)
{
	static char text[] = "Pipeline Statistics Registers";
	char name[256];
	GLuint query = 0, counters, instances, caps;

	glGetPerfQueryIdByNameINTEL(text, &query);
	glGetPerfQueryInfoINTEL(query, sizeof(name), name, &own->bytes, &counters, &instances,
				&caps);
	expect(strcmp(name, text) == 0, "the name of its query type");
	glCreatePerfQueryINTEL(query, &own->name);
}

static void
own_begin(struct own *own)
{
	if (!own->open) {
		own->open = true;
		if (own->amd)
			open_amd(own);
		else
			open_intel(own);
		/* Handles of the other extension can have any value. */
		expect(own->name == 1 || own->intel, "its first monitor is not number 1");
		expect(own->name != 0, "it has no object");
	}
	if (own->running)
		return;
	if (own->amd)
		glBeginPerfMonitorAMD(own->name);
	else
		glBeginPerfQueryINTEL(own->name);
}

static void
hold_against(uint64_t draws, uint64_t vertices)
{
	uint64_t want_draws = 0, want_vertices = 0;

	for (unsigned pass = 0; pass < N_PASSES; pass++) {
		for (unsigned draw = 0; draw < draws_of(pass); draw++, want_draws++)
			want_vertices += vertices_of(pass, draw);
	}
	expect(draws == want_draws && vertices == want_vertices, "the counts of its own query");
}

static void
read_amd(struct own *own)
{
	GLuint ready = 0, data[16];
	GLint written = 0;
	uint64_t vertices;

	glGetPerfMonitorCounterDataAMD(own->name, GL_PERFMON_RESULT_AVAILABLE_AMD, sizeof(ready),
				       &ready, &written);
	if (!ready)
		return;
	glGetPerfMonitorCounterDataAMD(own->name, GL_PERFMON_RESULT_AMD, sizeof(data), data,
				       &written);
	expect(written == 28, "the size of its result");
	memcpy(&vertices, &data[5], sizeof(vertices));
	hold_against(data[2], vertices);
	own->results++;
	own->running = 0;
}

static void
read_intel(struct own *own)
{
	uint64_t data[2] = { 0 };
	GLuint written = 0;

	expect(own->bytes == sizeof(data), "the size of its result");
	glGetPerfQueryDataINTEL(own->name, GL_PERFQUERY_DONOT_FLUSH_INTEL, sizeof(data), data,
				&written);
	if (!written)
		return;
	hold_against(data[1], data[0]);
	own->results++;
	own->running = 0;
}

static void
own_end(struct own *own)
{
	if (!own->running) {
		if (own->amd)
			glEndPerfMonitorAMD(own->name);
		else
			glEndPerfQueryINTEL(own->name);
		own->running = 1;
		return;
	}
	if (own->amd)
		read_amd(own);
	else
		read_intel(own);
}

static void
count_errors(void)
{
	for (GLenum error; (error = glGetError()) != GL_NO_ERROR; errors++)
		fprintf(stderr, "GL error 0x%04x\n", error);
}

/* Runs `what` in the context that uses the extension. */
static void
own_turn(struct own *own, struct stage *s, void (*what)(struct own *own))
{
	if (own->peer)
		stage_peer_make_current(s, own->peer);
	what(own);
	count_errors();
	if (own->peer)
		stage_peer_make_current(s, NULL);
}

static void
own_delete(struct own *own)
{
	if (own->amd)
		glDeletePerfMonitorsAMD(1, &own->name);
	else
		glDeletePerfQueryINTEL(own->name);
}

/* Waits for outstanding results, a frame at a time, so that nothing stalls. */
static void
own_close(struct own *own, struct stage *s)
{
	if (!own->open)
		return;
	for (int i = 0; own->running && i < 64; i++) {
		stage_end_frame(s);
		own_turn(own, s, own_end);
	}
	expect(own->results > 0, "it has no result of its own");
	own_turn(own, s, own_delete);
	printf("own results %u\n", own->results);
}

/* ---- the program ---- */

static void
parse(int argc, char **argv, struct stage_options *options, unsigned *frames, struct own *own)
{
	/* Each option but --expect has a value. */
	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(argv[i], "--expect") == 0) {
			print_expectation();
			exit(0);
		}
		if (strcmp(argv[i], "--frames") == 0) {
			*frames = (unsigned)strtoul(value, NULL, 10);
		} else if (strcmp(argv[i], "--from") == 0) {
			own->from = (unsigned)strtoul(value, NULL, 10);
		} else if (strcmp(argv[i], "--in") == 0) {
			own->in_peer = strcmp(value, "peer") == 0;
		} else if (strcmp(argv[i], "--own") == 0) {
			own->amd = strcmp(value, "amd") == 0;
			own->intel = strcmp(value, "intel") == 0;
		} else if (strcmp(argv[i], "--platform") == 0) {
			options->platform = stage_parse_platform(value);
		} else {
			fprintf(stderr, "%s is not an option\n", argv[i]);
			exit(2);
		}
	}
}

int
main(int argc, char **argv)
{
	struct stage_options options = {
		.platform = STAGE_PBUFFER,
		.api = STAGE_CORE,
		.end = STAGE_END_PRESENT,
		.major = 3,
		.minor = 3,
		.width = SIZE,
		.height = SIZE,
	};
	struct own own = { .from = 0 };
	struct stage s;
	unsigned frames = 3;

	parse(argc, argv, &options, &frames, &own);
	stage_open(&s, &options);
	make_targets(&s);
	own.peer = own.in_peer ? stage_peer_create(&s, true) : NULL;
	count_errors();
	for (unsigned frame = 0; frame < frames; frame++) {
		bool owning = (own.amd || own.intel) && frame >= own.from;
		stage_begin_frame(&s);
		if (owning)
			own_turn(&own, &s, own_begin);
		draw_frame(&s);
		if (owning)
			own_turn(&own, &s, own_end);
		stage_end_frame(&s);
		count_errors();
	}
	own_close(&own, &s);
	count_errors();
	printf("frames %u errors %u\n", frames, errors);
	if (own.peer)
		stage_peer_destroy(&s, own.peer);
	stage_close(&s);
	return errors || wrong;
}
