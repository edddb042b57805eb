/* SPDX-License-Identifier: MIT */
/* tests/apps/life.c - programs that end, fork, exec and load in every way.
 *
 *   life MODE [--frames N] [--plugin PATH] [--platform ...]
 *
 * Each mode renders some frames (one pass of one draw of 30 vertices each) and does one thing that
 * a game may do. What it prints on stdout does not depend on time or addresses.
 */
#include "layer/passtally.h"
#include "scenes/gl/stage.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct stage stage;
static struct stage_options options = {
	.platform = STAGE_PBUFFER, .api = STAGE_CORE, .major = 3, .minor = 3, .width = 128,
	  .height = 128,
};
static unsigned frames = 5;
static const char *plugin = "";
static char **arguments;

static void
say(const char *what)
{
	printf("%s\n", what);
	fflush(stdout);
}

static void
render(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		stage_target_screen(&stage);
		glClear(GL_COLOR_BUFFER_BIT);
		stage_draw(&stage, 0, 30, i);
		stage_end_frame(&stage);
	}
}

static void
open_and_render(void)
{
	stage_open(&stage, &options);
	render(frames);
	say("rendered");
}

static void
print_status(const char *who, int status)
{
	if (WIFEXITED(status))
		printf("%s exited with %d\n", who, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		printf("%s got signal %d\n", who, WTERMSIG(status));
	fflush(stdout);
}

static void
wait_for(const char *who, pid_t pid)
{
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		stage_fail("no child");
	print_status(who, status);
}

/* ---- ends ---- */

static int
mode_return(void)
{
	open_and_render();
	return 3;
}

static int
mode_close(void)
{
	open_and_render();
	stage_close(&stage);
	return 0;
}

static int
mode_exit(void)
{
	open_and_render();
	exit(4);
}

static int
mode__exit(void)
{
	open_and_render();
	_exit(5);
}

static int
mode_Exit(void)
{
	open_and_render();
	_Exit(6);
}

static int
mode_quick_exit(void)
{
	open_and_render();
	quick_exit(7);
}

static int
mode_abort(void)
{
	open_and_render();
	abort();
}

static int
mode_kill(void)
{
	open_and_render();
	kill(getpid(), SIGKILL);
	return 1;
}

/* At once after 300 ms. */
static int
mode_kill_early(void)
{
	stage_open(&stage, &options);
	for (unsigned i = 0; i < frames; i++) {
		render(1);
		usleep(300000 / frames);
	}
	kill(getpid(), SIGKILL);
	return 1;
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

/* Holds the lock for which the frames' thread waits, and ends the program. */
static void *
hold_and_kill(void *arg)
{
	prctl(PR_SET_NAME, "loader");
	pthread_mutex_lock(&held);
	atomic_store((atomic_int *)arg, 1);
	sleep(3);
	kill(getpid(), SIGKILL);
	return arg;
}

static int
mode_hang(void)
{
	atomic_int is_held = 0;
	pthread_t thread;
	open_and_render();
	pthread_create(&thread, NULL, hold_and_kill, &is_held);
	while (!atomic_load(&is_held))
		usleep(1000);
	pthread_mutex_lock(&held);
	return 1;
}

static int
mode_term(void)
{
	open_and_render();
	raise(SIGTERM);
	return 1;
}

static int
mode_segv(void)
{
	open_and_render();
	/* In the middle of a frame. */
	glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 0, -1, "crash here");
	stage_draw(&stage, 0, 30, 1);
	raise(SIGSEGV);
	return 1;
}

/* Passes of two groups in one that is around each frame; the program crashes in the first. */
static int
mode_segv_group(void)
{
	open_and_render();
	for (unsigned i = 0; i <= 3000; i++) {
		stage_begin_frame(&stage);
		stage_target_screen(&stage);
		glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 0, -1, "Frame");
		glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 0, -1, "Sky");
		stage_draw(&stage, 0, 30, 1);
		if (i == 3000)
			raise(SIGSEGV);
		glPopDebugGroup();
		glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 0, -1, "Ground");
		stage_draw(&stage, 0, 30, 2);
		glPopDebugGroup();
		glPopDebugGroup();
		stage_end_frame(&stage);
	}
	return 1;
}

/* The program renders and ends before any result can have been read. */
static int
mode_unread(void)
{
	stage_open(&stage, &options);
	stage_target_screen(&stage);
	glClear(GL_COLOR_BUFFER_BIT);
	stage_draw(&stage, 0, 30, 1);
	stage_close(&stage);
	say("closed unread");
	return 0;
}

/* ---- contexts that come and go ---- */

static int
mode_destroy(void)
{
	stage_open(&stage, &options);
	for (unsigned i = 0; i < frames; i++) {
		struct stage_peer *peer = stage_peer_create(&stage, true);
		stage_peer_make_current(&stage, peer);
		stage_peer_use_vertices(&stage);
		stage_target_screen(&stage);
		glClear(GL_COLOR_BUFFER_BIT);
		stage_draw(&stage, 0, 30, i);
		stage_peer_swap(&stage, peer);
		/* The context is destroyed while it is current: it lives until it is
		 * released. */
		stage_peer_destroy(&stage, peer);
		stage_peer_make_current(&stage, NULL);
	}
	say("rendered");
	stage_close(&stage);
	return 0;
}

static void *
render_and_leave(void *arg)
{
	struct stage_peer *peer = arg;
	stage_peer_make_current(&stage, peer);
	stage_peer_use_vertices(&stage);
	stage_target_screen(&stage);
	glClear(GL_COLOR_BUFFER_BIT);
	stage_draw(&stage, 0, 30, 1);
	stage_peer_swap(&stage, peer);
	return NULL; /* the context is still current */
}

static int
mode_thread_leaves(void)
{
	stage_open(&stage, &options);
	for (unsigned i = 0; i < frames; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, render_and_leave, stage_peer_create(&stage,
			true)))
			stage_fail("no thread");
		pthread_join(thread, NULL);
	}
	render(frames);
	say("rendered");
	return 0;
}

static void *
leave_program(void *arg)
{
	(void)arg;
	exit(8);
}

static int
mode_thread_exit(void)
{
	open_and_render();
	pthread_t thread;
	if (pthread_create(&thread, NULL, leave_program, NULL))
		stage_fail("no thread");
	render(100000); /* until the other thread ends us */
	return 1;
}

static pthread_barrier_t all_leave;

static void *
leave_together(void *arg)
{
	pthread_barrier_wait(&all_leave);
	return leave_program(arg);
}

/* Not allowed (exit() may be called once), but programs do it. */
static int
mode_exit_threads(void)
{
	open_and_render();
	pthread_barrier_init(&all_leave, NULL, 4);
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, leave_together, NULL))
			stage_fail("no thread");
	}
	leave_together(NULL);
	return 1;
}

/* ---- fork and exec ---- */

static int
mode_fork_idle(void)
{
	open_and_render();
	pid_t pid = fork();
	if (pid == 0)
		_exit(9); /* exit() would have Mesa wait for threads that the child lacks */
	wait_for("child", pid);
	pid = fork();
	if (pid == 0)
		_Exit(10);
	wait_for("child", pid);
	render(frames);
	say("rendered again");
	return 0;
}

static int
mode_fork_render(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		frames += 2;
		open_and_render();
		exit(11);
	}
	wait_for("child", pid);
	open_and_render();
	return 0;
}

/* The parent has rendered; the child does so in a new process image. */
static int
mode_fork_exec(void)
{
	open_and_render();
	pid_t pid = fork();
	if (pid == 0) {
		execl("/proc/self/exe", "life", "exit", "--frames", "2", (char *)NULL);
		_exit(127);
	}
	wait_for("child", pid);
	render(1);
	return 0;
}

static int
mode_exec(void)
{
	open_and_render();
	char mode[] = "close";
	arguments[1] = mode;
	execv("/proc/self/exe", arguments);
	return 127;
}

static int
mode_spawn(void)
{
	open_and_render();
	char word[] = "true";
	char *const words[] = { word, NULL };
	pid_t pid;
	if (posix_spawnp(&pid, "true", NULL, NULL, words, environ))
		stage_fail("posix_spawn");
	wait_for("true", pid);
	printf("system %d\n", system("exit 3") >> 8);
	render(1);
	return 0;
}

/* ---- loading ---- */

static void
render_by_plugin(void)
{
	void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		fprintf(stderr, "failed: %s\n", dlerror());
		exit(99);
	}
	int (*run)(int) = (int (*)(int))dlsym(handle, "plugin_render");
	if (!run)
		stage_fail("no plugin_render");
	printf("plugin rendered %d\n", run((int)frames));
	fflush(stdout);
	dlclose(handle);
}

static int
mode_plugin(void)
{
	render_by_plugin();
	render_by_plugin();
	return 0;
}

/* Pointers are fetched once, before there is any context, and kept. */
static void (*cached_clear)(GLbitfield);
static void (*cached_draw)(GLenum, GLint, GLsizei);

static int
mode_pointers(void)
{
	void *library = dlopen("libGL.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!library)
		stage_skip("no libGL.so.1");
	cached_clear = (void (*)(GLbitfield))dlsym(library, "glClear");
	cached_draw = (void (*)(GLenum, GLint, GLsizei))dlsym(library, "glDrawArrays");
	stage_open(&stage, &options);
	for (unsigned i = 0; i < frames; i++) {
		stage_target_screen(&stage);
		cached_clear(GL_COLOR_BUFFER_BIT);
		stage_paint(&stage, 1);
		cached_draw(GL_TRIANGLES, 0, 30);
		stage_end_frame(&stage);
	}
	say("rendered");
	return 0;
}

/* What the program asks of passtally itself. */
static int
mode_requests(void)
{
	char longest[300];
	open_and_render();
	int start = passtally_start();
	render(4);
	int mark = passtally_mark("boss");
	int scene = passtally_scene("docks");
	render(4);
	int stop = passtally_stop();
	render(4);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	printf("%d %d %d %d, refused %d %d %d\n", start, mark, scene, stop, passtally_mark(longest),
	       passtally_mark("a\nb"), passtally_request("status"));
	return 0;
}

/* A program that links GL and never renders. */
static int
mode_nothing(void)
{
	say("nothing");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{ "return", mode_return },
	{ "close", mode_close },
	{ "exit", mode_exit },
	{ "_exit", mode__exit },
	{ "_Exit", mode_Exit },
	{ "quick_exit", mode_quick_exit },
	{ "abort", mode_abort },
	{ "kill", mode_kill },
	{ "kill_early", mode_kill_early },
	{ "hang", mode_hang },
	{ "term", mode_term },
	{ "segv", mode_segv },
	{ "segv_group", mode_segv_group },
	{ "unread", mode_unread },
	{ "destroy", mode_destroy },
	{ "thread_leaves", mode_thread_leaves },
	{ "thread_exit", mode_thread_exit },
	{ "exit_threads", mode_exit_threads },
	{ "fork_idle", mode_fork_idle },
	{ "fork_render", mode_fork_render },
	{ "fork_exec", mode_fork_exec },
	{ "exec", mode_exec },
	{ "spawn", mode_spawn },
	{ "plugin", mode_plugin },
	{ "pointers", mode_pointers },
	{ "requests", mode_requests },
	{ "nothing", mode_nothing },
};

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	arguments = argv;
	for (int i = 2; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--frames") == 0)
			frames = (unsigned)strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--plugin") == 0)
			plugin = argv[i + 1];
		else if (strcmp(argv[i], "--platform") == 0)
			options.platform = stage_parse_platform(argv[i + 1]);
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, mode) == 0)
			return modes[i].run();
	}
	fprintf(stderr, "%s is not one of:", mode);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		fprintf(stderr, " %s", modes[i].name);
	fprintf(stderr, "\n");
	return 2;
}
