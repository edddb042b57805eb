/* SPDX-License-Identifier: MIT */
/* scenes/gl/contexts.c - several contexts, on one thread and on two. */
#include "scenes/gl/scenes.h"

#include <pthread.h>
#include <semaphore.h>

struct stage_peer *scene_peers[2];
static GLuint texture, framebuffers[2];

/* Not with glFinish, which may be the end of a frame. */
static void
wait_for_gpu(void)
{
	GLsync sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
	if (glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, 10000000000ull) == GL_WAIT_FAILED)
		stage_fail("waiting for the GPU");
	glDeleteSync(sync);
}

static void
draw_small(struct stage *s, GLuint framebuffer, int count)
{
	stage_target(s, framebuffer, SMALL, SMALL);
	glClear(GL_COLOR_BUFFER_BIT);
	stage_draw(s, 0, count, 4);
}

/* ---- switching: three contexts of one share group take turns on one thread ---- */

static void
init_switching(struct stage *s)
{
	texture = stage_texture(GL_RGBA8, SMALL, SMALL, 1);
	glFlush();
	for (int i = 0; i < 2; i++) {
		scene_peers[i] = stage_peer_create(s, true);
		stage_peer_make_current(s, scene_peers[i]);
		stage_peer_use_vertices(s);
		framebuffers[i] = stage_framebuffer(texture, 0, 0);
	}
	stage_peer_make_current(s, NULL);
}

static void
frame_switching(struct stage *s)
{
	stage_peer_make_current(s, scene_peers[0]);
	draw_small(s, framebuffers[0], 300);
	stage_peer_make_current(s, scene_peers[1]);
	draw_small(s, framebuffers[1], 150);
	stage_peer_make_current(s, scene_peers[1]);
	stage_draw(s, 50, 60, 5);
	stage_peer_make_current(s, NULL);
	glBindTexture(GL_TEXTURE_2D, texture);
	scene_show(s, texture);
}

/* Making current a context that is already current separates nothing. */
static const struct expect_pass switching_passes[] = {
	{ SMALL_DRAWN(300), .context = 1 },
	{ DRAWN(2, 210), CLEARED, IN_SMALL, .context = 2 },
	{ DRAWN(1, 3), CLEARED },
};

/* Like a tidy program: nothing is in flight when a context is destroyed. */
void
scene_finish_peers(struct stage *s)
{
	for (int i = 0; i < 2; i++) {
		if (!scene_peers[i])
			continue;
		stage_peer_make_current(s, scene_peers[i]);
		wait_for_gpu();
		stage_peer_make_current(s, NULL);
		stage_peer_destroy(s, scene_peers[i]);
		scene_peers[i] = NULL;
	}
}

/* ---- threads: a worker draws a texture that the main thread shows ---- */

static pthread_t worker;
static sem_t go, ready;
static bool stop;
static struct stage *worker_stage;

static void *
worker_main(void *arg)
{
	struct stage_peer *peer = arg;
	stage_peer_make_current(worker_stage, peer);
	stage_peer_use_vertices(worker_stage);
	GLuint framebuffer = stage_framebuffer(texture, 0, 0);
	/* Uniforms belong to shared programs: this thread has its own program. */
	struct stage mine = *worker_stage;
	stage_make_program(&mine);
	for (;;) {
		sem_wait(&go);
		if (stop)
			break;
		draw_small(&mine, framebuffer, 450);
		wait_for_gpu();
		sem_post(&ready);
	}
	stage_release(worker_stage);
	return NULL;
}

static void
init_threads(struct stage *s)
{
	texture = stage_texture(GL_RGBA8, SMALL, SMALL, 1);
	scene_peers[0] = stage_peer_create(s, true);
	wait_for_gpu();
	worker_stage = s;
	sem_init(&go, 0, 0);
	sem_init(&ready, 0, 0);
	if (pthread_create(&worker, NULL, worker_main, scene_peers[0]))
		stage_fail("no thread");
}

static void
frame_threads(struct stage *s)
{
	sem_post(&go);
	sem_wait(&ready);
	glBindTexture(GL_TEXTURE_2D, texture);
	scene_show(s, texture);
}

static void
finish_threads(struct stage *s)
{
	stop = true;
	sem_post(&go);
	pthread_join(worker, NULL);
	scene_finish_peers(s);
}

static const struct expect_pass threads_passes[] = {
	{ SMALL_DRAWN(450), .context = 1 },
	{ DRAWN(1, 3), CLEARED },
};

const struct scene context_scenes[] = {
	SCENE(switching, SCENE_ALL, .init = init_switching, .finish = scene_finish_peers),
	SCENE(threads, SCENE_ALL, .init = init_threads, .finish = finish_threads),
	{ 0 },
};
