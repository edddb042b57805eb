/* SPDX-License-Identifier: MIT */
#include "layer/capture/control.h"

#include "layer/capture/control_socket.h"
#include "layer/capture/trigger.h"
#include "layer/log.h"
#include "layer/session/session.h"
#include "tests/unit/layer/recorder_stub.h"
#include "tests/unit/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* One of the tests is about a forked child that starts threads. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return "die_after_fork=0";
}

static char *folder;
static char why[512];

static char *
in_folder(const char *name)
{
	return g_build_filename(folder, name, NULL);
}

/* ---- a client ---- */

static int
reach(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	g_assert_cmpuint(strlen(path), <, sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const struct timeval patience = { .tv_sec = 10 };
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

static const char *
ask_bytes(const char *path, const char *request, size_t len)
{
	static char reply[TALLY_CONTROL_MAX_REPLY];
	int fd = reach(path);
	g_assert_cmpint(fd, >=, 0);
	g_assert_cmpint(send(fd, request, len, MSG_NOSIGNAL), ==, (ssize_t)len);
	ssize_t n = recv(fd, reply, sizeof(reply) - 1, 0);
	close(fd);
	g_assert_cmpint(n, >, 0);
	reply[n] = '\0';
	return reply;
}

static const char *
ask(const char *path, const char *request)
{
	return ask_bytes(path, request, strlen(request));
}

#define assert_has(text, part) g_assert_nonnull(strstr(text, part))

/* ---- what the socket answers ---- */

static bool
start_session(void)
{
	folder = g_strdup(g_getenv("TEST_FOLDER"));
	return tally_session_start(&stub_recorder);
}

/* In a separate process, whose socket is FOLDER/NAME. */
static bool
in_child(const char *name, const char *more)
{
	g_autofree char *options = g_strdup_printf("log=/tmp/l,control=%s/%s%s", folder, name,
						   more);
	if (folder)
		g_setenv("TEST_FOLDER", folder, TRUE);
	return stub_in_child(options);
}

static void
test_requests(void)
{
	if (!in_child("a%%b", ",start-on=label:L"))
		return;
	g_assert_true(start_session());
	g_autofree char *path = in_folder("a%b");
	struct stat st;
	g_assert_cmpint(lstat(path, &st), ==, 0);
	g_assert_cmpuint(st.st_mode, ==, S_IFSOCK | 0600);

	const char *status = ask(path, "status");
	g_assert_true(g_str_has_prefix(status, "ok\nstate waiting\n"));
	g_autofree char *pid = g_strdup_printf("\npid %d\n", (int)getpid());
	assert_has(status, pid);
	assert_has(status, "\nlog /tmp/l\n");
	assert_has(status, "\nprogram /");

	assert_has(ask(path, "stop"), "ok\nit was not capturing already");
	assert_has(ask(path, "start"), "ok\nthe capture starts");
	g_assert_cmpint(tally_trigger_capture(), ==, TALLY_CAPTURE_RUNS);
	assert_has(ask(path, "start"), "ok\nit was capturing already");
	assert_has(ask(path, "status"), "state capturing");
	assert_has(ask(path, "stop"), "ok\nthe capture pauses");
	assert_has(ask(path, "status"), "state paused");
	assert_has(ask(path, "toggle"), "ok\nthe capture starts");
	assert_has(ask(path, "status"), "state capturing");
	assert_has(ask(path, "toggle"), "ok\nthe capture pauses");
	g_assert_cmpint(tally_trigger_capture(), ==, TALLY_CAPTURE_PAUSED);

	assert_has(ask(path, "mark boss fight"), "ok\nmark boss fight");
	assert_has(ask(path, "mark boss fight"), "ok\n");
	g_autofree char *longest = g_strnfill(TALLY_CONTROL_MAX_MARK, 'x');
	g_autofree char *fits = g_strconcat("mark ", longest, NULL);
	g_autofree char *too_long = g_strconcat("mark x", longest, NULL);
	assert_has(ask(path, fits), "ok\nmark xxx");
	assert_has(ask(path, too_long), "error\na mark's name is 1 to 256 bytes");
	assert_has(ask(path, "mark "), "error\n");
	assert_has(ask(path, "mark a\nb"), "error\n");
	assert_has(ask(path, "mark"), "error\nthis is no request");
	assert_has(ask(path, "starts"), "error\nthis is no request");
	assert_has(ask_bytes(path, "start\0x", 7), "error\nthe request is cut");
	g_autofree char *flood = g_strnfill(TALLY_CONTROL_MAX_REQUEST, 's');
	assert_has(ask(path, flood), "error\nthe request is cut");

	tally_session_stop("exit");
	g_assert_cmpuint(stub_count("note boss fight"), ==, 2);
	g_assert_cmpint(lstat(path, &st), ==, -1);
	g_assert_cmpint(reach(path), ==, -1);
}

/* In a program that has entered a sandbox meanwhile. */
static void
test_sandbox(void)
{
	if (!in_child("sandbox", ""))
		return;
	g_assert_true(start_session());
	g_autofree char *path = in_folder("sandbox");
	int asks = reach(path);
	sandbox_enter();
	g_assert_cmpint(send(asks, "status", 6, MSG_NOSIGNAL), ==, 6);
	char reply[64];
	g_assert_cmpint(recv(asks, reply, sizeof(reply), 0), >, 3);
	g_assert_true(g_str_has_prefix(reply, "ok\n"));
	close(asks);
	/* One that begins there. */
	g_autofree char *later = in_folder("later");
	struct tally_control_socket begun;
	g_assert_true(tally_control_socket_open(&begun, later, why, sizeof(why)));
	tally_control_socket_remove(&begun);
	tally_control_socket_close(&begun);
	tally_session_stop("exit");
}

/* A client that connects and sends nothing, or leaves before the answer, delays nobody for
 * long; nor do many of them. */
static void
test_silent(void)
{
	if (!in_child("s", ""))
		return;
	g_assert_true(start_session());
	g_autofree char *path = in_folder("s");
	int silent[8];
	for (unsigned i = 0; i < G_N_ELEMENTS(silent); i++)
		silent[i] = reach(path);
	int gone = reach(path);
	g_assert_cmpint(send(gone, "status", 6, 0), ==, 6);
	close(gone);
	assert_has(ask(path, "status"), "state capturing"); /* while they are still silent */
	for (unsigned i = 0; i < G_N_ELEMENTS(silent); i++)
		close(silent[i]);
	tally_session_stop("exit");
}

/* The capture ended by itself: the socket still reports that. */
static void
test_over(void)
{
	if (!in_child("o", ",frames=1,stop-on=frame:0"))
		return;
	stub_fail = 3;
	g_assert_true(start_session());
	for (unsigned i = 0; i < 4; i++)
		tally_log_say(TALLY_LEVEL_INFO, "test", "line %u", i);
	for (unsigned i = 0; i < 5000 && tally_session_running(); i++)
		g_usleep(1000);
	g_autofree char *path = in_folder("o");
	assert_has(ask(path, "status"), "state over");
	assert_has(ask(path, "start"), "error\nthe capture is over");
	assert_has(ask(path, "mark x"), "error\nthe capture is over");
	tally_session_stop("exit");
	g_assert_cmpint(reach(path), ==, -1);
}

static int
status_of(pid_t pid)
{
	int status;
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The child does not keep the parent's socket alive, nor answer at it; it has its own. */
static void
test_fork(void)
{
	if (!in_child("f", ""))
		return;
	g_assert_true(start_session());
	g_autofree char *path = in_folder("f");
	assert_has(ask(path, "status"), "state capturing");
	g_usleep(50000); /* until passtally's threads sleep: see test_session.c */
	int ready[2];
	g_assert_cmpint(pipe(ready), ==, 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (!tally_session_start(&stub_recorder))
			_exit(3);
		write(ready[1], "x", 1);
		for (unsigned i = 0;
		     i < 1000 && tally_trigger_capture() == TALLY_CAPTURE_RUNS; i++)
			g_usleep(10000);
		bool paused = tally_trigger_capture() == TALLY_CAPTURE_PAUSED;
		tally_session_stop("exit");
		_exit(paused ? 0 : 4);
	}
	char byte;
	g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
	tally_session_stop("exit");
	g_assert_cmpint(reach(path), ==, -1);
	g_autofree char *own = g_strdup_printf("%s.%d", path, (int)pid);
	assert_has(ask(own, "stop"), "ok\nthe capture pauses");
	g_assert_cmpint(status_of(pid), ==, 0);
	g_assert_cmpint(tally_trigger_capture(), ==, TALLY_CAPTURE_RUNS);
	g_assert_cmpint(g_access(own, F_OK), ==, -1);
}

/* The game closed passtally's descriptor and has its own under that number. */
static void
test_stolen(void)
{
	if (!in_child("d", ""))
		return;
	g_assert_true(start_session());
	g_autofree char *path = in_folder("d");
	assert_has(ask(path, "status"), "state capturing");
	int ours = -1;
	for (int fd = 3; fd < 100 && ours < 0; fd++) {
		struct sockaddr_un name;
		int listens = 0;
		socklen_t len = sizeof(name), int_len = sizeof(listens);
		getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &int_len);
		if (listens && getsockname(fd, (struct sockaddr *)&name, &len) == 0 &&
		    name.sun_family == AF_UNIX && g_str_has_suffix(name.sun_path, "/d~"))
			ours = fd;
	}
	g_assert_cmpint(ours, >=, 0);
	int pair[2];
	g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), ==, 0);
	g_assert_cmpint(dup2(pair[0], ours), ==, ours);
	/* Wakes the thread from the old one, if it slept there already. */
	int fd = reach(path);
	if (fd >= 0)
		close(fd);
	g_usleep(50000);
	tally_session_stop("exit");
	g_assert_cmpint(send(pair[1], "x", 1, MSG_NOSIGNAL), ==, 1); /* not shut down */
	char byte;
	g_assert_cmpint(recv(ours, &byte, 1, 0), ==, 1);
}

static void
test_off(void)
{
	static const char *const options[] = { "log=/tmp/l,control=off", "log=/tmp/l",
					       "log=/tmp/l,control=/proc/no/x" };
	for (unsigned i = 0; i < G_N_ELEMENTS(options); i++) {
		g_autofree char *name = g_strdup_printf("/control/off/subprocess/%u", i);
		g_setenv("PASSTALLY_OPTIONS", options[i], TRUE);
		g_test_trap_subprocess(name, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
		g_test_trap_assert_passed();
	}
}

static void
test_off_one(gconstpointer expected)
{
	stub_init();
	g_assert_true(tally_session_start(&stub_recorder));
	tally_session_stop("exit");
	g_assert_cmpuint(stub_count("note there is no control socket"), ==,
			 GPOINTER_TO_UINT(expected));
	g_assert_cmpuint(stub.n_ends, ==, 1);
}

/* ---- where the socket may be ---- */

static struct tally_control_socket one, two;

/* Set: the file that must not be there yet when a socket begins to listen. */
static const char *not_yet;
static unsigned n_listens;

__attribute__((visibility("default"))) int
listen(int fd, int backlog)
{
	n_listens++;
	g_assert_false(not_yet && g_file_test(not_yet, G_FILE_TEST_EXISTS));
	return (int)syscall(SYS_listen, fd, backlog);
}

/* Who sees the name can talk to the game. */
static void
test_name(void)
{
	g_autofree char *path = in_folder("name"), *early = in_folder("name~");
	not_yet = path;
	n_listens = 0;
	g_assert_true(tally_control_socket_open(&one, path, why, sizeof(why)));
	not_yet = NULL;
	g_assert_cmpuint(n_listens, ==, 1);
	g_assert_cmpint(g_access(early, F_OK), ==, -1);
	tally_control_socket_remove(&one);
	tally_control_socket_close(&one);
	/* Somebody's own file of that name stays. */
	g_assert_true(g_file_set_contents(early, "mine", -1, NULL));
	g_assert_false(tally_control_socket_open(&one, path, why, sizeof(why)));
	g_assert_cmpint(g_access(early, F_OK), ==, 0);
}

static void
test_stale(void)
{
	g_autofree char *path = in_folder("stale");
	g_assert_true(tally_control_socket_open(&one, path, why, sizeof(why)));
	/* Alive: no other process takes its place. */
	g_assert_false(tally_control_socket_open(&two, path, why, sizeof(why)));
	assert_has(why, "another process listens at ");
	assert_has(why, path);
	int fd = reach(path);
	g_assert_cmpint(fd, >=, 0);
	close(fd);
	/* Dead, as after SIGKILL. */
	tally_control_socket_close(&one);
	g_usleep(20000); /* the clock of the file system */
	g_assert_cmpint(reach(path), ==, -1);
	g_assert_cmpint(errno, ==, ECONNREFUSED);
	g_assert_true(tally_control_socket_open(&two, path, why, sizeof(why)));
	/* The dead one's owner must not remove a socket that is not his. */
	tally_control_socket_remove(&one);
	fd = reach(path);
	g_assert_cmpint(fd, >=, 0);
	close(fd);
	tally_control_socket_remove(&two);
	g_assert_cmpint(g_access(path, F_OK), ==, -1);
	g_assert_cmpint(tally_control_socket_accept(&two), >=, 0); /* passtally's, from above */
	g_assert_cmpint(tally_control_socket_accept(&two), ==, -1);
	tally_control_socket_close(&two);
}

/* Other listeners at the path, or files that are not sockets, are left alone. */
static void
test_not_ours(void)
{
	g_autofree char *file = in_folder("file"), *link = in_folder("link");
	g_autofree char *target = in_folder("target"), *stream = in_folder("stream");
	g_assert_true(g_file_set_contents(file, "mine", -1, NULL));
	g_assert_cmpint(symlink(target, link), ==, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	strcpy(address.sun_path, stream);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	g_assert_cmpint(bind(fd, (struct sockaddr *)&address, sizeof(address)), ==, 0);
	g_assert_cmpint(listen(fd, 1), ==, 0);
	g_assert_false(tally_control_socket_open(&one, file, why, sizeof(why)));
	assert_has(why, "is no socket of yours: it was left alone");
	g_assert_false(tally_control_socket_open(&one, link, why, sizeof(why)));
	assert_has(why, "is no socket of yours: it was left alone");
	g_assert_cmpint(g_access(target, F_OK), ==, -1);
	g_assert_false(tally_control_socket_open(&one, stream, why, sizeof(why)));
	assert_has(why, "another process listens at");
	close(fd);
	g_autofree char *text = NULL;
	g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "mine");
	struct stat st;
	g_assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
}

static const struct {
	const char *what;
	unsigned mode;
	bool fine;
} folder_cases[] = {
	{ "ours alone", 0700, true },        { "readable", 0755, true },
	{ "our group's", 0775, true },       { "everybody's", 0777, false },
	{ "others'", 0703, false },          { "as /tmp", 01777, true },
	{ "no right to look", 0300, false },
};

static void
test_folders(void)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(folder_cases); i++) {
		g_test_message("%s", folder_cases[i].what);
		g_autofree char *name = g_strdup_printf("folder%u", i);
		g_autofree char *sub = in_folder(name);
		g_autofree char *path = g_build_filename(sub, "socket", NULL);
		g_assert_cmpint(g_mkdir(sub, 0700), ==, 0);
		g_assert_cmpint(g_chmod(sub, (int)folder_cases[i].mode), ==, 0);
		bool fine = folder_cases[i].fine ||
			    (geteuid() == 0 && folder_cases[i].mode == 0300);
		g_assert_true(tally_control_socket_open(&one, path, why, sizeof(why)) == fine);
		if (!fine) {
			assert_has(why, sub);
			continue;
		}
		tally_control_socket_remove(&one);
		tally_control_socket_close(&one);
	}
	g_autofree char *linked = in_folder("linked"), *first = in_folder("folder0");
	g_autofree char *path = g_build_filename(linked, "socket", NULL);
	g_assert_cmpint(symlink(first, linked), ==, 0);
	g_assert_false(tally_control_socket_open(&one, path, why, sizeof(why)));
	assert_has(why, "no link is followed");
	g_autofree char *missing = in_folder("missing/socket"), *none = in_folder("folder0/");
	g_assert_false(tally_control_socket_open(&one, missing, why, sizeof(why)));
	g_assert_false(tally_control_socket_open(&one, none, why, sizeof(why)));
	assert_has(why, "does not name a file");
}

/* Longer than a socket's address, and relative to the current folder. */
static void
test_long(void)
{
	g_autofree char *component = g_strnfill(150, 'd');
	g_autofree char *sub = in_folder(component);
	g_assert_cmpint(g_mkdir(sub, 0700), ==, 0);
	g_autofree char *path = g_build_filename(sub, "socket", NULL);
	g_assert_true(tally_control_socket_open(&one, path, why, sizeof(why)));
	g_assert_cmpint(g_access(path, F_OK), ==, 0);
	g_autofree char *before = g_get_current_dir();
	g_assert_cmpint(chdir(sub), ==, 0);
	g_assert_true(tally_control_socket_open(&two, "relative", why, sizeof(why)));
	g_assert_cmpint(chdir(before), ==, 0);
	g_autofree char *relative = g_build_filename(sub, "relative", NULL);
	g_assert_cmpint(g_access(relative, F_OK), ==, 0);
	tally_control_socket_remove(&one);
	tally_control_socket_close(&one);
	tally_control_socket_remove(&two);
	tally_control_socket_close(&two);
	g_assert_cmpint(g_access(relative, F_OK), ==, -1);
	g_autofree char *name = g_build_filename(folder, component, component, NULL);
	g_assert_false(tally_control_socket_open(&one, name, why, sizeof(why)));
	assert_has(why, "too long");
}

/* Another process holds the folder's lock: passtally waits a moment and continues. */
static void
test_locked(void)
{
	g_autofree char *path = in_folder("locked");
	int fd = open(folder, O_RDONLY | O_DIRECTORY);
	g_assert_cmpint(flock(fd, LOCK_EX), ==, 0);
	g_assert_true(tally_control_socket_open(&one, path, why, sizeof(why)));
	close(fd);
	tally_control_socket_remove(&one);
	tally_control_socket_close(&one);
}

/* The file mode keeps another user out; and where it does not, passtally refuses. */
static void
test_other_user(void)
{
	if (geteuid() != 0) {
		g_test_skip("only root can be another user");
		return;
	}
	g_autofree char *path = in_folder("private");
	g_assert_cmpint(g_chmod(folder, 0755), ==, 0);
	g_assert_true(tally_control_socket_open(&one, path, why, sizeof(why)));
	for (unsigned open_to_all = 0; open_to_all < 2; open_to_all++) {
		if (open_to_all)
			g_assert_cmpint(g_chmod(path, 0666), ==, 0);
		pid_t pid = fork();
		if (pid == 0) {
			if (setgid(65534) != 0 || setuid(65534) != 0)
				_exit(9);
			int fd = reach(path);
			if (fd < 0)
				_exit(errno == EACCES ? 1 : 8);
			char byte;
			recv(fd, &byte, 1, 0); /* until it is closed */
			_exit(2);
		}
		if (open_to_all) {
			int fd = tally_control_socket_accept(&one);
			g_assert_cmpint(fd, >=, 0);
			g_assert_false(tally_control_socket_is_user(fd));
			close(fd);
		}
		g_assert_cmpint(status_of(pid), ==, open_to_all ? 2 : 1);
	}
	int mine = reach(path), fd = tally_control_socket_accept(&one);
	g_assert_true(tally_control_socket_is_user(fd));
	close(mine);
	close(fd);
	tally_control_socket_remove(&one);
	tally_control_socket_close(&one);
	g_assert_cmpint(g_chmod(folder, 0700), ==, 0);
}

static void
remove_tree(const char *path)
{
	GDir *dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *child = g_build_filename(path, name, NULL);
		remove_tree(child);
	}
	if (dir)
		g_dir_close(dir);
	g_remove(path);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	bool parent = !g_test_subprocess();
	if (parent)
		folder = g_dir_make_tmp("passtally-control-XXXXXX", NULL);
	g_test_add_func("/control/requests", test_requests);
	g_test_add_func("/control/sandbox", test_sandbox);
	g_test_add_func("/control/silent", test_silent);
	g_test_add_func("/control/over", test_over);
	g_test_add_func("/control/fork", test_fork);
	g_test_add_func("/control/stolen", test_stolen);
	g_test_add_func("/control/off", test_off);
	g_test_add_data_func("/control/off/subprocess/0", GUINT_TO_POINTER(0), test_off_one);
	g_test_add_data_func("/control/off/subprocess/1", GUINT_TO_POINTER(0), test_off_one);
	g_test_add_data_func("/control/off/subprocess/2", GUINT_TO_POINTER(1), test_off_one);
	g_test_add_func("/control/stale", test_stale);
	g_test_add_func("/control/name", test_name);
	g_test_add_func("/control/not-ours", test_not_ours);
	g_test_add_func("/control/folders", test_folders);
	g_test_add_func("/control/long", test_long);
	g_test_add_func("/control/locked", test_locked);
	g_test_add_func("/control/other-user", test_other_user);
	int status = g_test_run();
	if (parent)
		remove_tree(folder);
	g_free(folder);
	return status;
}
