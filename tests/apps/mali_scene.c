/* SPDX-License-Identifier: MIT */
/* tests/apps/mali_scene.c - passes whose cost in a simulated GPU's counters is known.
 *
 *   mali_scene [--frames N] [--by work|clock] [--length MS]
 *
 * Under tests/fake_kernel the program sets what is counted while it draws. By work: in each
 * pass the script's clock jumps by some microseconds and stands still otherwise. By clock:
 * while the draws of a pass run it runs at one to four times the real clock, and it stands
 * still between passes. Prints a JSON line a frame: for each pass by how much the script's
 * clock advanced and how long the pass took, then the longest time between two samples, all in
 * nanoseconds. Without the simulated kernel it draws the same.
 */
#include <epoxy/gl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/gl/stage.h"
#include "tests/fake_kernel/drive.h"

#define SIZE 256
#define N_PASSES 5u

static GLuint framebuffers[N_PASSES];

struct cost {
	uint64_t script_ns, length_ns;
};

static uint64_t
now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The counts are added between the first draw and the one that closes the pass. */
static struct cost
pass_by_work(struct stage *s, unsigned frame, unsigned pass)
{
	struct cost cost = { .script_ns = (uint64_t)(1 + pass + 10 * (frame % 7)) * 1000 };
	stage_draw(s, (int)pass, 30, pass);
	fake_kernel_advance(cost.script_ns);
	stage_draw(s, (int)pass + 100, 30, pass);
	return cost;
}

/* Draws for about that long; nothing else runs on the GPU before or after. */
static struct cost
pass_by_clock(struct stage *s, unsigned pass, unsigned length_ms)
{
	struct cost cost;
	glFinish();
	uint64_t begin = now_ns(), shows = fake_kernel_set_speed(1 + pass % 4);
	do {
		stage_draw(s, 0, 3 * STAGE_TRIANGLES, pass);
		glFinish();
	} while (now_ns() - begin < (uint64_t)length_ms * 1000000);
	cost.script_ns = fake_kernel_set_speed(0) - shows;
	cost.length_ns = now_ns() - begin;
	return cost;
}

static void
draw_frame(struct stage *s, unsigned frame, unsigned length_ms)
{
	printf("[");
	for (unsigned pass = 0; pass < N_PASSES; pass++) {
		struct cost cost;
		stage_target(s, framebuffers[pass], SIZE, SIZE);
		cost = length_ms ? pass_by_clock(s, pass, length_ms)
				 : pass_by_work(s, frame, pass);
		printf("%s[%llu, %llu]", pass ? ", " : "", (unsigned long long)cost.script_ns,
		       (unsigned long long)cost.length_ns);
	}
	printf(", %llu]\n", (unsigned long long)fake_kernel_longest_ns());
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
	struct stage s;
	unsigned frames = 20, length_ms = 20;
	bool by_clock = false;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--frames") == 0)
			frames = (unsigned)strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--length") == 0)
			length_ms = (unsigned)strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--by") == 0)
			by_clock = strcmp(argv[i + 1], "clock") == 0;
	}
	stage_open(&s, &options);
	for (unsigned pass = 0; pass + 1 < N_PASSES; pass++)
		framebuffers[pass] =
			stage_framebuffer(stage_texture(GL_RGBA8, SIZE, SIZE, 1), 0, 0);
	framebuffers[N_PASSES - 1] = s.screen;
	for (unsigned frame = 0; frame < frames; frame++) {
		stage_begin_frame(&s);
		draw_frame(&s, frame, by_clock ? length_ms : 0);
		stage_end_frame(&s);
	}
	stage_check("at the end");
	stage_close(&s);
	return 0;
}
