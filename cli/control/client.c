/* SPDX-License-Identifier: MIT */
#include "cli/control/client.h"

#include "cli/shared/each.h"
#include "layer/capture/control.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_SECONDS 3
#define SUFFIX ".sock"

/* ---- the folders ---- */

/* The i-th folder to search, or NULL. The caller frees it. */
static char *
folder_name(unsigned i)
{
	const char *runtime = g_getenv("XDG_RUNTIME_DIR");
	/* After `sudo -E` the folder is another user's, who could replace files in it. */
	struct stat st;
	bool has_runtime = runtime && g_path_is_absolute(runtime) && stat(runtime, &st) == 0 &&
			   S_ISDIR(st.st_mode) && st.st_uid == geteuid();
	if (i == 0 && has_runtime)
		return g_build_filename(runtime, "passtally", NULL);
	if (i == (has_runtime ? 1 : 0))
		return g_strdup_printf("%s/passtally-%u", g_get_tmp_dir(),
				       (unsigned)geteuid());
	return NULL;
}

/* Whether it is a folder that no other user can modify. */
static bool
is_private(const char *folder)
{
	struct stat st;
	return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & 077) == 0;
}

char *
tally_control_pattern(char *why, size_t size)
{
	g_autofree char *folder = folder_name(0);
	if (g_mkdir(folder, 0700) < 0 && errno != EEXIST) {
		g_snprintf(why, (gulong)size, "%s cannot be made: %s", folder,
			   g_strerror(errno));
		return NULL;
	}
	if (!is_private(folder)) {
		g_snprintf(why, (gulong)size,
			   "%s is no folder of yours alone (mode 0700)", folder);
		return NULL;
	}
	GString *pattern = g_string_new(folder);
	g_string_replace(pattern, "%", "%%", 0);
	g_string_append(pattern, "/%e-%p" SUFFIX);
	return g_string_free(pattern, FALSE);
}

/* ---- connecting ---- */

/* Connects by way of the open folder's descriptor, so that no path is too long. */
static int
connect_in(int folder, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int len = g_snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
			     folder, name);
	if (len < 0 || (size_t)len >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* connect() also blocks while the game's backlog is full, so it needs a timeout. */
	const struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int
connect_to(const char *path)
{
	g_autofree char *folder = g_path_get_dirname(path);
	g_autofree char *name = g_path_get_basename(path);
	int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -1;
	int fd = connect_in(at, name);
	int error = errno;
	close(at);
	errno = error;
	return fd;
}

static bool
is_ours(int fd, long *pid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return false;
	*pid = (long)peer.pid;
	return peer.uid == geteuid();
}

static void
game_free(void *data)
{
	struct tally_control_game *game = data;
	g_free(game->path);
	g_free(game);
}

/* Adds each listening socket in the folder to `games`, and removes dead ones. A
 * game holds the lock while it creates its socket. */
static void
look_into(const char *folder, GPtrArray *games)
{
	GDir *dir = is_private(folder) ? g_dir_open(folder, 0, NULL) : NULL;
	int at = dir ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	bool locked = at >= 0 && flock(at, LOCK_EX | LOCK_NB) == 0;
	const char *name;
	while (at >= 0 && (name = g_dir_read_name(dir))) {
		if (!g_str_has_suffix(name, SUFFIX))
			continue;
		int fd = connect_in(at, name);
		long pid;
		if (fd < 0 && errno == ECONNREFUSED && locked)
			unlinkat(at, name, 0);
		if (fd >= 0 && is_ours(fd, &pid)) {
			struct tally_control_game *game = g_new0(struct tally_control_game, 1);
			game->path = g_build_filename(folder, name, NULL);
			game->pid = pid;
			g_ptr_array_add(games, game);
		}
		if (fd >= 0)
			close(fd);
	}
	if (at >= 0)
		close(at);
	if (dir)
		g_dir_close(dir);
}

/* The parent of a process; 0 if it cannot be known. */
static long
parent_of(long pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%ld/stat", pid), *stat = NULL;
	long parent = 0;
	/* "PID (NAME) STATE PARENT ...", and a name may contain anything. */
	const char *end = g_file_get_contents(path, &stat, NULL, NULL) ? strrchr(stat, ')') : NULL;
	return end && sscanf(end, ") %*c %ld", &parent) == 1 ? parent : 0;
}

/* Any other parent could be one of games that the user did not mean, as init is of orphans. */
static bool
is_the_command(long pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%ld/comm", pid), *name = NULL;
	return g_file_get_contents(path, &name, NULL, NULL) && strcmp(name, "passtally\n") == 0;
}

static void
keep_of_process(GPtrArray *games, long pid)
{
	bool itself = false;
	TALLY_EACH (const struct tally_control_game, game, games)
		itself |= game->pid == pid;
	bool started_them = !itself && is_the_command(pid);
	for (guint i = games->len; i-- > 0;) {
		long of = ((const struct tally_control_game *)games->pdata[i])->pid;
		while (started_them && of > 1 && of != pid)
			of = parent_of(of);
		if (of != pid)
			g_ptr_array_remove_index(games, i);
	}
}

GPtrArray *
tally_control_list(long pid)
{
	GPtrArray *games = g_ptr_array_new_with_free_func(game_free);
	char *folder;
	for (unsigned i = 0; (folder = folder_name(i)); i++) {
		look_into(folder, games);
		g_free(folder);
	}
	if (pid)
		keep_of_process(games, pid);
	return games;
}

/* ---- requests ---- */

char *
tally_control_ask(const char *path, const char *request, bool *refused, long *pid, char *why,
		  size_t size)
{
	int fd = connect_to(path);
	if (fd < 0) {
		g_snprintf(why, (gulong)size,
			   "%s cannot be reached: %s; does the game run, and render, "
			   "with --control %s?",
			   path, g_strerror(errno), path);
		return NULL;
	}
	long number = 0;
	char *answer = NULL;
	static char reply[TALLY_CONTROL_MAX_REPLY];
	if (!is_ours(fd, &number)) {
		g_snprintf(why, (gulong)size,
			   "the process that listens at %s is not yours", path);
		goto close_socket;
	}
	ssize_t n = send(fd, request, strlen(request), MSG_NOSIGNAL);
	n = n < 0 ? n : recv(fd, reply, sizeof(reply) - 1, 0);
	if (n <= 0) {
		g_snprintf(why, (gulong)size,
			   "process %ld, which listens at %s, does not answer: %s", number, path,
			   n == 0 ? "it closed the connection" : g_strerror(errno));
		goto close_socket;
	}
	reply[n] = '\0';
	char *text = strchr(reply, '\n');
	*refused = strncmp(reply, "ok\n", 3) != 0;
	answer = g_strdup(text ? text + 1 : "");
	if (pid)
		*pid = number;
close_socket:
	close(fd);
	return answer;
}

char *
tally_control_log(const char *path)
{
	char why[512];
	bool refused;
	g_autofree char *answer = tally_control_ask(path, "status", &refused, NULL, why,
						    sizeof(why));
	const char *log = answer ? strstr(answer, "\nlog ") : NULL;
	if (!log)
		return NULL;
	log += strlen("\nlog ");
	return g_strndup(log, strcspn(log, "\n"));
}
