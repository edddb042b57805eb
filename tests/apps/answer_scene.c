/* SPDX-License-Identifier: MIT */
/* answer_scene.c - frames of three labeled passes, with a cause of slowness planted on request.
 *
 *   answer_scene [--WORD NUMBER]...
 *
 * Shadows, GBuffer and Lighting draw the same picture; a frame ends with glFinish().
 *
 *   frames      the number of frames
 *   heavy       how often GBuffer draws its picture
 *   heavy-each  only in every N-th frame
 *   sleep       milliseconds of sleep before a frame draws
 *   wait        milliseconds of sleep after a frame has drawn
 *   sleep-each  sleep and wait only in every N-th frame
 *   cap         frames a second, as a frame limiter keeps them
 *   busy        milliseconds of work of the CPU in a frame, up to half less or more of them
 *   within      as busy, but between the draws of GBuffer and Lighting
 *   inside      as busy, but between two draws of Lighting, the frame's last pass
 *   nap         milliseconds of sleep between two draws of Lighting
 *   last        how often Lighting draws its picture
 *   late        from this frame on a pass Late exists, whose long shader is made in it
 */
#include <epoxy/gl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scenes/gl/stage.h"

#define SIZE 192
#define MS 1000000

static const char vertex[] = "IN vec2 pos;\n"
			     "void main() {\n"
			     "	vec2 corner = vec2(gl_VertexID == 1, gl_VertexID == 2);\n"
			     "	gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0 + 0.0 * pos.x);\n"
			     "}\n";
static const char fragment[] = "RESULT\n"
			       "void main() {\n"
			       "	float x = gl_FragCoord.x;\n"
			       "	for (int i = 0; i < 24; i++) x = sin(x) + 0.5;\n"
			       "	COLOR = vec4(x);\n"
			       "}\n";

struct scene {
	struct stage stage;
	unsigned frames, heavy, heavy_each, sleep_ms, wait_ms, sleep_each, cap, busy_ms, late;
	unsigned within_ms, inside_ms, nap_ms, last;
	GLuint program, late_program;
	GLuint targets[4];
	int64_t deadline_ns;
};

static int64_t
now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void
sleep_until(int64_t ns)
{
	const struct timespec t = { .tv_sec = ns / (1000 * MS), .tv_nsec = ns % (1000 * MS) };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

/* A shader that takes a compiler a while. */
static GLuint
make_long_program(struct stage *s)
{
	enum { LINES = 60, ROOM = 80 };
	static char text[LINES * ROOM];
	int used = snprintf(text, sizeof(text),
			    "RESULT\nvoid main() {\n"
			    "	float x = gl_FragCoord.x;\n");
	for (int i = 0; i < LINES - 10; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "	x = sin(x * %d.0) + fract(x + 0.%d);\n", i % 7 + 1, i + 1);
	snprintf(text + used, sizeof(text) - (size_t)used, "	COLOR = vec4(x);\n}\n");
	return stage_program(s, vertex, text);
}

static void
begin_pass(struct scene *scene, unsigned index, const char *label, GLuint program, unsigned draws)
{
	glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 0, -1, label);
	stage_target(&scene->stage, scene->targets[index], SIZE, SIZE);
	glUseProgram(program);
	for (unsigned i = 0; i < draws; i++)
		glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void
draw_pass(struct scene *scene, unsigned index, const char *label, GLuint program, unsigned draws)
{
	begin_pass(scene, index, label, program, draws);
	glPopDebugGroup();
}

static int64_t
length_of(unsigned ms, unsigned frame)
{
	return (int64_t)ms * MS * (int64_t)(8 + frame * 7 % 16) / 16;
}

static void
work(unsigned ms, unsigned frame)
{
	for (int64_t end = now_ns() + length_of(ms, frame); now_ns() < end;)
		;
}

static void
draw_last(struct scene *scene, unsigned frame)
{
	begin_pass(scene, 2, "Lighting", scene->program, scene->last);
	if (scene->inside_ms)
		work(scene->inside_ms, frame);
	if (scene->nap_ms)
		sleep_until(now_ns() + length_of(scene->nap_ms, frame));
	if (scene->inside_ms || scene->nap_ms)
		glDrawArrays(GL_TRIANGLES, 0, 3);
	glPopDebugGroup();
}

static void
draw_frame(struct scene *scene, unsigned frame)
{
	bool heavy = scene->heavy_each == 0 || frame % scene->heavy_each == scene->heavy_each - 1;
	bool sleeps = scene->sleep_each && frame % scene->sleep_each == scene->sleep_each - 1;
	stage_begin_frame(&scene->stage);
	if (scene->sleep_ms && sleeps)
		sleep_until(now_ns() + (int64_t)scene->sleep_ms * MS);
	if (scene->busy_ms)
		work(scene->busy_ms, frame);
	draw_pass(scene, 0, "Shadows", scene->program, 1);
	draw_pass(scene, 1, "GBuffer", scene->program, heavy ? scene->heavy : 1);
	if (scene->within_ms)
		work(scene->within_ms, frame);
	draw_last(scene, frame);
	if (scene->late && frame == scene->late)
		scene->late_program = make_long_program(&scene->stage);
	if (scene->late_program)
		draw_pass(scene, 3, "Late", scene->late_program, 1);
	if (scene->wait_ms && sleeps)
		sleep_until(now_ns() + (int64_t)scene->wait_ms * MS);
	stage_end_frame(&scene->stage);
	if (scene->cap) {
		scene->deadline_ns += (int64_t)1000 * MS / scene->cap;
		sleep_until(scene->deadline_ns);
	}
}

int
main(int argc, char **argv)
{
	const struct stage_options options = {
		.platform = STAGE_SURFACELESS,
		.api = STAGE_CORE,
		.end = STAGE_END_FINISH,
		.major = 4,
		.minor = 3,
		.width = SIZE,
		.height = SIZE,
	};
	static struct scene scene = { .frames = 120, .heavy = 1, .last = 1 };
	const struct {
		const char *name;
		unsigned *value;
	} words[] = {
		{ "--frames", &scene.frames },
		{ "--heavy", &scene.heavy },
		{ "--heavy-each", &scene.heavy_each },
		{ "--sleep", &scene.sleep_ms },
		{ "--wait", &scene.wait_ms },
		{ "--sleep-each", &scene.sleep_each },
		{ "--cap", &scene.cap },
		{ "--busy", &scene.busy_ms },
		{ "--within", &scene.within_ms },
		{ "--inside", &scene.inside_ms },
		{ "--nap", &scene.nap_ms },
		{ "--last", &scene.last },
		{ "--late", &scene.late },
	};
	for (int i = 1; i + 1 < argc; i += 2)
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if (strcmp(argv[i], words[k].name) == 0)
				*words[k].value = (unsigned)strtoul(argv[i + 1], NULL, 10);
	stage_open(&scene.stage, &options);
	scene.program = stage_program(&scene.stage, vertex, fragment);
	for (unsigned i = 0; i < 4; i++)
		scene.targets[i] = stage_framebuffer(stage_texture(GL_RGBA8, SIZE, SIZE, 1), 0, 0);
	scene.deadline_ns = now_ns();
	for (unsigned frame = 0; frame < scene.frames; frame++)
		draw_frame(&scene, frame);
	stage_check("the frames");
	stage_close(&scene.stage);
	return 0;
}
