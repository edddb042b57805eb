/* SPDX-License-Identifier: MIT */
#include "cli/machine/probe.h"

#include "query/gl/api.h"

#include <epoxy/gl.h>
#include <glib.h>

/* More than one tile, however much on-chip memory a GPU has: 16 MiB. */
#define SIZE 2048
/* A round takes this long on the GPU, so that what the scheduler of a busy machine takes
 * between two calls is small in comparison. */
#define ROUND_NS UINT64_C(10000000)
/* The round takes this long on the CPU, but not by the timestamps: they are useless. */
#define HOPELESS_NS UINT64_C(100000000)
#define MOST_DRAWS 512
#define MOST_ROUNDS 40
#define BUDGET_NS UINT64_C(2000000000)
/* One result must occur in this many more rounds than the other. */
#define LEAD 5

struct bench {
	struct tally_gl_api *api;
	uint64_t mask; /* the bits of a timestamp */
	GLuint targets[2];
	unsigned stamps[3];
	int draws; /* of the heavy pass */
};

static const char vertex[] = "attribute vec2 at;\n"
			     "void main() { gl_Position = vec4(at, 0.0, 1.0); }\n";
static const char fragment[] = "#ifdef GL_ES\n"
			       "precision mediump float;\n"
			       "#endif\n"
			       "void main() { gl_FragColor = vec4(0.5); }\n";

static uint64_t
now_ns(void)
{
	return (uint64_t)g_get_monotonic_time() * 1000;
}

static GLuint
make_shader(GLenum kind, const char *text)
{
	GLuint shader = glCreateShader(kind);
	glShaderSource(shader, 1, &text, NULL);
	glCompileShader(shader);
	return shader;
}

static GLuint
make_target(void)
{
	GLuint texture, framebuffer;
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, SIZE, SIZE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	return framebuffer;
}

static bool
set_up(struct bench *b)
{
	/* One triangle over the whole target, one over a few pixels of it. */
	static const float corners[] = { -1, -1, 3, -1, -1, 3, 0, 0, 0.01f, 0, 0, 0.01f };
	GLuint program = glCreateProgram(), buffer;
	GLint linked = 0;
	glAttachShader(program, make_shader(GL_VERTEX_SHADER, vertex));
	glAttachShader(program, make_shader(GL_FRAGMENT_SHADER, fragment));
	glBindAttribLocation(program, 0, "at");
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &linked);
	glUseProgram(program);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STATIC_DRAW);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	/* Blended, because otherwise a GPU draws only what is finally visible. */
	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	glViewport(0, 0, SIZE, SIZE);
	for (int i = 0; i < 2; i++)
		b->targets[i] = make_target();
	b->api->GenQueries(3, b->stamps);
	return linked && glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE &&
	       b->stamps[2] && b->api->GetError() == GL_NO_ERROR;
}

static void
draw_light(void)
{
	glDrawArrays(GL_TRIANGLES, 3, 3);
}

static bool
read_stamps(struct bench *b, uint64_t ticks[3])
{
	/* All work is done, so the results are available unless they never come. */
	for (int i = 0; i < 3; i++)
		if (!tally_gl_result(b->api, false, b->stamps[i], &ticks[i]))
			return false;
	return b->api->GetError() == GL_NO_ERROR;
}

enum vote { APART, TOGETHER, N_VOTES, NO_VOTE = N_VOTES };

/* One round: whether the light pass is given the time of the heavy one. False: an error. */
static bool
draw_round(struct bench *b, enum vote *vote)
{
	uint64_t ticks[3];
	uint64_t before = now_ns();
	/* The first timestamp is in another framebuffer and done before, so it is right with
	 * any driver. */
	glBindFramebuffer(GL_FRAMEBUFFER, b->targets[0]);
	draw_light();
	b->api->QueryCounter(b->stamps[0], GL_TIMESTAMP);
	glFlush();
	glBindFramebuffer(GL_FRAMEBUFFER, b->targets[1]);
	draw_light();
	b->api->QueryCounter(b->stamps[1], GL_TIMESTAMP);
	for (int i = 0; i < b->draws; i++)
		glDrawArrays(GL_TRIANGLES, 0, 3);
	b->api->QueryCounter(b->stamps[2], GL_TIMESTAMP);
	glFinish();
	*vote = NO_VOTE;
	if (!read_stamps(b, ticks))
		return false;
	uint64_t light = (ticks[1] - ticks[0]) & b->mask;
	uint64_t both = (ticks[2] - ticks[0]) & b->mask;
	uint64_t wall = now_ns() - before;
	if (both < ROUND_NS) {
		b->draws *= wall < HOPELESS_NS ? 2 : 1;
		return b->draws <= MOST_DRAWS;
	}
	if (both > wall + wall / 8)
		return true; /* a clock that does not advance */
	if (light <= both / 8)
		*vote = APART;
	else if (light >= both / 2 && light <= both)
		*vote = TOGETHER;
	return true;
}

static bool
has_timestamps(struct bench *b)
{
	const struct tally_gl_api *api = b->api;
	int bits = 0;
	/* QueryCounter exists only where timestamps are offered. */
	if (api->version < 20 || !api->QueryCounter || !api->GenQueries || !api->GetQueryiv ||
	    !api->GetQueryObjectuiv)
		return false;
	api->GetQueryiv(GL_TIMESTAMP, GL_QUERY_COUNTER_BITS, &bits);
	b->mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << (bits > 0 ? bits : 0)) - 1;
	return bits >= 32;
}

enum tally_tiles
tally_tiles_measure(struct tally_gl_api *api)
{
	struct bench b = { .api = api, .draws = 1 };
	if (!has_timestamps(&b) || !set_up(&b))
		return TALLY_TILES_UNKNOWN;
	uint64_t until = now_ns() + BUDGET_NS;
	int votes[N_VOTES + 1] = { 0 };
	enum vote vote;
	for (int i = 0; i < MOST_ROUNDS && now_ns() < until; i++) {
		if (!draw_round(&b, &vote))
			break;
		votes[vote]++;
		int lead = votes[TOGETHER] - votes[APART];
		if (lead >= LEAD)
			return TALLY_TILES_TOGETHER;
		if (lead <= -LEAD)
			return TALLY_TILES_APART;
	}
	return TALLY_TILES_UNKNOWN;
}
