/* SPDX-License-Identifier: MIT */
/* random_gl.c - a random OpenGL program that says what it does.
 *
 *   random_gl SEED [FRAMES]
 *
 * One seed is one program: valid calls, some that raise errors, queries, lists, fences and labels
 * among them. It prints what it can see of the driver (pixels, errors, results of its own queries),
 * and for each frame the passes that docs/passes.md makes of its calls, a line each:
 *
 *   pass KIND draws=N vertices=N instances=N clears=N copies=N dispatches=N FLAG...
 *
 * where - stands for what only the GPU, or a display list, knows. tests/random/run_random.py runs
 * it with and without passtally.
 */
#include <epoxy/gl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/gl/stage.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { TARGETS = 4, SIZE = 64, MOST_PASSES = 512, BUFFERS = 3, WINDOW = TARGETS };

enum kind { NOTHING, RENDER, COMPUTE, TRANSFER };
enum flag { INDIRECT = 1, LIST = 2, IMMEDIATE = 4 };

/* A pass as docs/passes.md defines it. */
struct pass {
	enum kind kind;
	unsigned target, flags;
	unsigned draws, vertices, instances, clears, copies, dispatches;
};

struct program {
	struct stage stage;
	uint64_t random;
	GLuint color[TARGETS], depth[TARGETS], framebuffer[TARGETS];
	GLuint buffers[BUFFERS], indirect, storage, mipmapped, copied, compute, list;
	GLuint query;
	GLenum query_target; /* 0: none is active */
	unsigned drawn_to; /* TARGETS: the window */
	unsigned groups; /* debug groups that are open */
	struct pass passes[MOST_PASSES];
	unsigned n_passes;
};

static unsigned
pick(struct program *p, unsigned n)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (unsigned)((p->random >> 11) % n);
}

/* The open pass, if it is of this kind and target, else a new one. */
static struct pass *
work(struct program *p, enum kind kind, unsigned target)
{
	struct pass *last = p->n_passes ? &p->passes[p->n_passes - 1] : NULL;
	if (last && last->kind == kind && last->target == target)
		return last;
	if (p->n_passes == MOST_PASSES)
		stage_fail("more passes than there is room for");
	last = &p->passes[p->n_passes++];
	*last = (struct pass){ .kind = kind, .target = target };
	return last;
}

static void
count_draws(struct program *p, unsigned draws, unsigned vertices, unsigned instances)
{
	struct pass *pass = work(p, RENDER, p->drawn_to);
	pass->draws += draws;
	pass->vertices += vertices;
	pass->instances += instances;
}

/* ---- steps ---- */

static void
bind_target(struct program *p)
{
	p->drawn_to = pick(p, TARGETS + 1);
	if (p->drawn_to == WINDOW)
		stage_target_screen(&p->stage);
	else
		stage_target(&p->stage, p->framebuffer[p->drawn_to], SIZE, SIZE);
}

static void
make_framebuffer(struct program *p, unsigned i)
{
	p->framebuffer[i] = stage_framebuffer(p->color[i], p->depth[i], GL_DEPTH_ATTACHMENT);
}

/* The same attachments in a framebuffer of another name: the same target. */
static void
remake_target(struct program *p)
{
	unsigned i = pick(p, TARGETS);
	glDeleteFramebuffers(1, &p->framebuffer[i]);
	make_framebuffer(p, i);
	p->drawn_to = i;
	glViewport(0, 0, SIZE, SIZE);
}

static void
draw(struct program *p)
{
	unsigned count = 3 * (1 + pick(p, 20)), first = pick(p, 900);
	stage_draw(&p->stage, (int)first, (int)count, pick(p, 200));
	count_draws(p, 1, count, 1);
}

static void
draw_more(struct program *p)
{
	unsigned count = 3 * (1 + pick(p, 6)), n = 1 + pick(p, 4);
	stage_paint(&p->stage, pick(p, 200));
	switch (pick(p, 5)) {
	case 0:
		glDrawElements(GL_TRIANGLES, (GLsizei)count, GL_UNSIGNED_SHORT, NULL);
		count_draws(p, 1, count, 1);
		return;
	case 1:
		glDrawArraysInstanced(GL_TRIANGLES, 3, (GLsizei)count, (GLsizei)n);
		count_draws(p, 1, count * n, n);
		return;
	case 2: {
		GLint firsts[4] = { 0, 3, 6, 9 };
		GLsizei counts[4] = { 3, 6, 3, 6 };
		unsigned sum = 0;
		for (unsigned i = 0; i < n; i++)
			sum += (unsigned)counts[i];
		glMultiDrawArrays(GL_TRIANGLES, firsts, counts, (GLsizei)n);
		count_draws(p, n, sum, n);
		return;
	}
	case 3:
		glDrawArraysInstancedBaseInstance(GL_TRIANGLE_STRIP, 1, 5, (GLsizei)n, 1);
		count_draws(p, 1, 5 * n, n);
		return;
	default:
		glBindBuffer(GL_DRAW_INDIRECT_BUFFER, p->indirect);
		glDrawArraysIndirect(GL_TRIANGLES, NULL);
		work(p, RENDER, p->drawn_to)->flags |= INDIRECT;
		count_draws(p, 1, 0, 0);
		return;
	}
}

static void
draw_immediate(struct program *p)
{
	stage_paint(&p->stage, pick(p, 200));
	glBegin(GL_TRIANGLES);
	for (unsigned i = 0; i < 3; i++)
		glVertex2f((float)i * 0.25f, (float)(i & 1));
	glEnd();
	work(p, RENDER, p->drawn_to)->flags |= IMMEDIATE;
	count_draws(p, 1, 0, 1);
}

static void
call_list(struct program *p)
{
	if (!p->list) {
		p->list = glGenLists(1);
		glNewList(p->list, GL_COMPILE);
		glDrawArrays(GL_TRIANGLES, 0, 6);
		glEndList();
	}
	stage_paint(&p->stage, 9);
	glCallList(p->list);
	work(p, RENDER, p->drawn_to)->flags |= LIST;
}

static void
clear(struct program *p)
{
	static const GLbitfield masks[] = {
		GL_COLOR_BUFFER_BIT,
		GL_DEPTH_BUFFER_BIT,
		GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT,
	};
	if (pick(p, 4) == 0) {
		const float black[4] = { 0 };
		glClearBufferfv(GL_COLOR, 0, black);
	} else {
		glClearColor((float)pick(p, 256) / 255.0f, 0.5f, 0.25f, 1.0f);
		glClear(masks[pick(p, COUNT(masks))]);
	}
	work(p, RENDER, p->drawn_to)->clears++;
}

static void
dispatch(struct program *p)
{
	glUseProgram(p->compute);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, p->storage);
	glDispatchCompute(1 + pick(p, 8), 1, 1);
	if (pick(p, 2))
		glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
	work(p, COMPUTE, 0)->dispatches++;
}

/* Each kind of transfer has a destination of its own: two kinds never share a pass. */
enum { TO_BUFFER = 100, TO_MIPMAP = 200, TO_TEXTURE = 300, BLIT = 400, READ = 500 };

static void
blit(struct program *p)
{
	unsigned from = pick(p, TARGETS), to = (from + 1 + pick(p, TARGETS - 1)) % TARGETS;
	glBindFramebuffer(GL_READ_FRAMEBUFFER, p->framebuffer[from]);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, p->framebuffer[to]);
	glBlitFramebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE / 2, SIZE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	work(p, TRANSFER, BLIT + from * TARGETS + to)->copies++;
	glBindFramebuffer(GL_FRAMEBUFFER, p->framebuffer[to]);
	glViewport(0, 0, SIZE, SIZE);
	p->drawn_to = to;
}

static void
transfer(struct program *p)
{
	unsigned i;
	switch (pick(p, 4)) {
	case 0:
		i = pick(p, BUFFERS - 1);
		glBindBuffer(GL_COPY_READ_BUFFER, p->buffers[i]);
		glBindBuffer(GL_COPY_WRITE_BUFFER, p->buffers[i + 1]);
		glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 64, 256);
		work(p, TRANSFER, TO_BUFFER)->copies++; /* whichever */
		return;
	case 1:
		glBindTexture(GL_TEXTURE_2D, p->mipmapped);
		glGenerateMipmap(GL_TEXTURE_2D);
		work(p, TRANSFER, TO_MIPMAP)->copies++;
		return;
	case 2:
		i = pick(p, TARGETS);
		glCopyImageSubData(p->color[i], GL_TEXTURE_2D, 0, 0, 0, 0, p->copied, GL_TEXTURE_2D,
				   0, 0, 0, 0, SIZE, SIZE, 1);
		work(p, TRANSFER, TO_TEXTURE)->copies++;
		return;
	default:
		blit(p);
		return;
	}
}

static void
read_pixels(struct program *p)
{
	static uint8_t pixels[SIZE * SIZE * 4];
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < sizeof(pixels); i++)
		hash = (hash ^ pixels[i]) * UINT64_C(0x100000001b3);
	printf("read %016llx\n", (unsigned long long)hash);
	work(p, TRANSFER, READ + p->drawn_to)->copies++;
}

/* The program's own queries: what they answer is the game's. */
static void
ask(struct program *p)
{
	static const GLenum targets[] = { GL_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED, GL_TIME_ELAPSED,
					  GL_PRIMITIVES_GENERATED };
	if (!p->query_target) {
		p->query_target = targets[pick(p, COUNT(targets))];
		glGenQueries(1, &p->query);
		glBeginQuery(p->query_target, p->query);
		return;
	}
	GLint current = 0;
	glGetQueryiv(p->query_target, GL_CURRENT_QUERY, &current);
	glEndQuery(p->query_target);
	GLuint64 result = 0;
	glGetQueryObjectui64v(p->query, GL_QUERY_RESULT, &result);
	printf("query %04x current %d result %llu\n", p->query_target, current,
	       p->query_target == GL_TIME_ELAPSED ? 0ull : (unsigned long long)result);
	glDeleteQueries(1, &p->query);
	p->query_target = 0;
}

/* Calls that make no pass, and some that fail. */
static void
disturb(struct program *p)
{
	GLsync sync;
	switch (pick(p, 9)) {
	case 0:
		glFlush();
		return;
	case 1:
		sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
		glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, 1000000000);
		glDeleteSync(sync);
		return;
	case 2:
		glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, -1, pick(p, 2) ? "a" : "b");
		p->groups++;
		return;
	case 3:
		if (p->groups) {
			glPopDebugGroup();
			p->groups--;
		}
		return;
	case 4:
		glEnable(0xdead);
		break;
	case 5:
		glDrawArrays(GL_TRIANGLES, 0, -3); /* draws nothing */
		break;
	case 6:
		glDrawArrays(0xbeef, 0, 3);
		glEnable(0xdead); /* the first error stays */
		break;
	case 7:
		glPushAttrib(GL_ALL_ATTRIB_BITS);
		glPopAttrib();
		return;
	default:
		glFinish();
		return;
	}
	printf("error %04x\n", glGetError());
}

static const struct {
	void (*run)(struct program *p);
	unsigned weight;
} steps[] = {
	{ bind_target, 12 }, { draw, 20 },  { draw_more, 12 }, { draw_immediate, 2 },
	{ call_list, 2 },    { clear, 10 }, { dispatch, 6 },   { transfer, 10 },
	{ read_pixels, 2 },  { ask, 4 },    { disturb, 12 },   { remake_target, 2 },
};

static void
step(struct program *p)
{
	unsigned sum = 0;
	for (size_t i = 0; i < COUNT(steps); i++)
		sum += steps[i].weight;
	unsigned n = pick(p, sum);
	for (size_t i = 0; i < COUNT(steps); i++) {
		if (n < steps[i].weight) {
			steps[i].run(p);
			return;
		}
		n -= steps[i].weight;
	}
}

/* ---- the program ---- */

static void
print_number(const char *name, unsigned value, bool known)
{
	if (known)
		printf(" %s=%u", name, value);
	else
		printf(" %s=-", name);
}

static void
print_pass(const struct pass *pass)
{
	static const char *const kinds[] = { "nothing", "render", "compute", "transfer" };
	bool list = pass->flags & LIST;
	printf("pass %s", kinds[pass->kind]);
	print_number("draws", pass->draws, !list);
	print_number("vertices", pass->vertices, !(pass->flags & (LIST | INDIRECT | IMMEDIATE)));
	print_number("instances", pass->instances, !(pass->flags & (LIST | INDIRECT)));
	print_number("clears", pass->clears, !list);
	print_number("copies", pass->copies, !list);
	print_number("dispatches", pass->dispatches, !list);
	printf("%s%s%s\n", pass->flags & INDIRECT ? " indirect" : "", list ? " list" : "",
	       pass->flags & IMMEDIATE ? " immediate" : "");
}

static void
make_objects(struct program *p)
{
	static const GLuint command[4] = { 6, 2, 0, 0 };
	for (unsigned i = 0; i < TARGETS; i++) {
		p->color[i] = stage_texture(GL_RGBA8, SIZE, SIZE, 1);
		p->depth[i] = stage_renderbuffer(GL_DEPTH_COMPONENT24, 0, SIZE, SIZE);
		make_framebuffer(p, i);
	}
	p->mipmapped = stage_texture(GL_RGBA8, SIZE, SIZE, 4);
	p->copied = stage_texture(GL_RGBA8, SIZE, SIZE, 1);
	glGenBuffers(BUFFERS, p->buffers);
	for (unsigned i = 0; i < BUFFERS; i++) {
		glBindBuffer(GL_COPY_WRITE_BUFFER, p->buffers[i]);
		glBufferData(GL_COPY_WRITE_BUFFER, 1024, NULL, GL_DYNAMIC_COPY);
	}
	glGenBuffers(1, &p->indirect);
	glBindBuffer(GL_DRAW_INDIRECT_BUFFER, p->indirect);
	glBufferData(GL_DRAW_INDIRECT_BUFFER, sizeof(command), command, GL_STATIC_DRAW);
	glGenBuffers(1, &p->storage);
	glBindBuffer(GL_SHADER_STORAGE_BUFFER, p->storage);
	glBufferData(GL_SHADER_STORAGE_BUFFER, 4096, NULL, GL_DYNAMIC_COPY);
	p->compute = stage_compute_program(
		&p->stage,
		"layout(local_size_x = 16) in;\n"
		"layout(std430, binding = 0) buffer B { uint n[]; };\n"
		"void main() { n[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x; }\n");
	stage_check("making the objects");
}

/* Every framebuffer begins as black, and the passes of this are in the first frame. */
static void
clear_all(struct program *p)
{
	glClearColor(0.0f, 0.0f, 0.0f, 1.0f);
	for (unsigned i = 0; i <= TARGETS; i++) {
		p->drawn_to = i;
		if (i == WINDOW)
			stage_target_screen(&p->stage);
		else
			stage_target(&p->stage, p->framebuffer[i], SIZE, SIZE);
		glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
		work(p, RENDER, i)->clears++;
	}
}

static void
run_frame(struct program *p, unsigned number)
{
	if (number == 0)
		clear_all(p);
	for (unsigned n = 1 + pick(p, 60); n > 0; n--)
		step(p);
	printf("frame %u\n", number);
	for (unsigned i = 0; i < p->n_passes; i++)
		print_pass(&p->passes[i]);
	p->n_passes = 0;
	stage_end_frame(&p->stage);
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: random_gl SEED [FRAMES]\n", stderr);
		return 2;
	}
	static struct program p;
	p.random = strtoull(argv[1], NULL, 0) * UINT64_C(0x9e3779b97f4a7c15) + 1;
	const struct stage_options options = {
		.platform = STAGE_PBUFFER,
		.api = STAGE_COMPAT,
		.end = STAGE_END_PRESENT,
		.major = 4,
		.minor = 5,
		.width = 2 * SIZE,
		.height = 2 * SIZE,
	};
	stage_open(&p.stage, &options);
	make_objects(&p);
	unsigned frames = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 6;
	for (unsigned i = 0; i < frames; i++)
		run_frame(&p, i);
	if (p.query_target)
		glEndQuery(p.query_target);
	glFinish(); /* Mesa 22.3's llvmpipe reads freed memory if it is still drawing */
	stage_close(&p.stage);
	return 0;
}
