/* SPDX-License-Identifier: MIT */
/* tests/apps/vk_life.c - how a Vulkan program ends, forks and execs, on tests/fake_vk.
 *
 *   vk_life close|destroy|fork|exec|exit_threads|kill|requests [--frames N]
 *
 * N submissions of three render passes of 1, 2 and 3 draws, then what is asked for. What may be
 * submitted is tested by vk_stream and vk_exact; this program tests what the process does.
 */
#include "layer/passtally.h"
#include "tests/apps/vk_stream.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_THREADS 4

static char **arguments;
static struct stream stream;

static VkCommandBuffer
record(struct stream *s, const struct target *t)
{
	VkCommandBuffer cb = stream_buffer(s, s->graphics, false);
	stream_begin(s, cb, 0);
	for (uint32_t draws = 1; draws <= 3; draws++)
		stream_draw_pass(cb, t, draws);
	stream_end(s, cb);
	return cb;
}

static void
render(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = record(s, &t);
	for (unsigned i = 0; i < s->frames; i++)
		stream_run(s, s->queue, 1, &cb);
}

static void
say(const char *what)
{
	puts(what);
	fflush(stdout);
}

static int
act_close(struct stream *s)
{
	stream_close(s);
	return 0;
}

/* The last submission is not waited for by the program, but by the destruction of the
 * device. */
static int
act_destroy(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = record(s, &t);
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &cb,
	};
	stream_submit(s, s->queue, &info, VK_NULL_HANDLE);
	vkDeviceWaitIdle(s->device);
	stream_close(s);
	return 0;
}

static void
wait_for(pid_t pid)
{
	int status = -1;
	waitpid(pid, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	fflush(stdout);
}

static int
act_fork(struct stream *s)
{
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			if (i)
				exit(9);
			_exit(10);
		}
		wait_for(pid);
	}
	render(s); /* the parent continues */
	stream_close(s);
	return 0;
}

static int
act_exec(struct stream *s)
{
	(void)s;
	char mode[] = "close";
	arguments[1] = mode;
	execv("/proc/self/exe", arguments);
	return 4;
}

static pthread_barrier_t all;

static void *
leave(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&all);
	exit(8);
}

static int
act_exit_threads(struct stream *s)
{
	(void)s;
	pthread_barrier_init(&all, NULL, N_THREADS);
	for (int i = 1; i < N_THREADS; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, leave, NULL))
			return 5;
	}
	leave(NULL);
	return 6;
}

static int
act_requests(struct stream *s)
{
	int start = passtally_start(), mark = passtally_mark("boss");
	render(s);
	printf("%d %d %d\n", start, mark, passtally_stop());
	stream_close(s);
	return 0;
}

static int
act_kill(struct stream *s)
{
	(void)s;
	raise(SIGKILL);
	return 7;
}

static const struct {
	const char *name;
	int (*act)(struct stream *s);
} acts[] = {
	{ "close", act_close }, { "destroy", act_destroy },           { "fork", act_fork },
	{ "exec", act_exec },   { "exit_threads", act_exit_threads }, { "kill", act_kill },
	{ "requests", act_requests },
};

static int
run(int (*act)(struct stream *s), struct stream *s)
{
	if (setjmp(s->out)) {
		stream_close(s);
		return 3;
	}
	stream_open(s);
	render(s);
	say("rendered");
	return act(s);
}

int
main(int argc, char **argv)
{
	arguments = argv;
	stream.frames = argc > 3 ? (unsigned)atoi(argv[3]) : 8;
	for (uint32_t i = 0; i < COUNT(acts); i++) {
		if (argc > 1 && strcmp(argv[1], acts[i].name) == 0)
			return run(acts[i].act, &stream);
	}
	fputs("usage: vk_life close|destroy|fork|exec|exit_threads|kill|requests "
	      "[--frames N]\n", stderr);
	return 2;
}
