/* SPDX-License-Identifier: MIT */
#include "layer/capture/control_socket.h"

#include "layer/base/error_text.h"
#include "layer/base/futex.h"
#include "layer/base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16
#define LOCK_TRIES 10
#define LOCK_NAP_NS UINT64_C(2000000)
#define SHORT_OF_NAP_NS UINT64_C(100000000)
#define SILENCE_MS 100
#define SILENCES 10

static void
nap(uint64_t ns)
{
	static _Atomic uint32_t never;
	tally_futex_wait(&never, 0, ns);
}

/* ---- folder and address ---- */

/* Opens the folder of `path` and sets `name` to its last component. -1 with a reason. */
static int
open_folder(const char *path, const char **name, char *why, size_t size)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	*name = slash + 1;
	if (!**name || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0) {
		snprintf(why, size, "%s does not name a file", path);
		return -1;
	}
	int len = slash > path ? (int)(slash - path) : 1;
	snprintf(folder, sizeof(folder), "%.*s", len, path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0) {
		snprintf(why, size, "the folder %s cannot be used (no link is followed): %s",
			 folder, tally_error_text(errno));
	} else {
		/* In a folder like /tmp users cannot move the files of others. */
		uid_t us = geteuid();
		bool sticky = (st.st_mode & S_ISVTX) != 0;
		bool open_to_others = (st.st_mode & S_IWOTH) ||
				      (st.st_uid != us && (st.st_mode & S_IWGRP));
		if ((st.st_uid == us || st.st_uid == 0) && (sticky || !open_to_others))
			return fd;
		snprintf(why, size,
			 "the folder %s belongs to somebody else or others may write to "
			 "it: name a path in one of your own",
			 folder);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Two processes that find the same dead socket must not both replace it. A lock that is held
 * for a long time is not passtally's: then this continues without it, as in a sandbox, which may
 * end the program for it. */
static void
lock_folder(int folder)
{
	unsigned tries = tally_is_filtered() ? 0 : LOCK_TRIES;
	for (unsigned i = 0; i < tries && flock(folder, LOCK_EX | LOCK_NB) != 0; i++)
		nap(LOCK_NAP_NS);
}

/* Makes an address by way of the open folder: nobody can replace the folder,
 * and no path is too long. */
static bool
make_address(struct sockaddr_un *address, int folder, const char *name, char *why, size_t size)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	int len = snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s",
			   folder, name);
	return (len > 0 && (size_t)len < sizeof(address->sun_path)) ||
	       TALLY_REFUSE(why, size,
			    "the name %s is too long for a socket: use at most 80 bytes", name);
}

/* Checks the file that already has the name. True: there is none, or it is passtally's own dead
 * socket, which is removed. */
static bool
clear_way(int folder, const char *name, const char *path, char *why, size_t size)
{
	struct stat st;
	struct sockaddr_un address;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ||
		       TALLY_REFUSE(why, size, "%s: %s", path, tally_error_text(errno));
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return TALLY_REFUSE(why, size,
				    "%s exists and is no socket of yours: it was left alone",
				    path);
	if (!make_address(&address, folder, name, why, size))
		return false;
	int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe < 0)
		return TALLY_REFUSE(why, size, "no socket could be made: %s",
				    tally_error_text(errno));
	bool dead = connect(probe, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
		    errno == ECONNREFUSED;
	close(probe);
	if (!dead)
		return TALLY_REFUSE(why, size,
				    "another process listens at %s: give each its own, %%p in "
				    "the path stands for the process's number",
				    path);
	return unlinkat(folder, name, 0) == 0 || errno == ENOENT;
}

/* The socket gets its name when it listens: before that it would refuse a client as a dead one
 * does. */
static bool
bind_in(struct tally_control_socket *s, int folder, const char *name, char *why, size_t size)
{
	char early[NAME_MAX + 1];
	struct sockaddr_un address;
	snprintf(early, sizeof(early), "%s~", name);
	if (!make_address(&address, folder, early, why, size) ||
	    !clear_way(folder, early, s->path, why, size) ||
	    !clear_way(folder, name, s->path, why, size))
		return false;
	struct stat file, own;
	bool made = bind(s->fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
	if (made && listen(s->fd, BACKLOG) == 0 && fstat(s->fd, &own) == 0 &&
	    fstatat(folder, early, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
	    renameat(folder, early, folder, name) == 0) {
		s->file_dev = file.st_dev;
		s->file_ino = file.st_ino;
		s->file_made = file.st_mtim;
		s->dev = own.st_dev;
		s->ino = own.st_ino;
		return true;
	}
	snprintf(why, size, "%s cannot be made: %s", s->path, tally_error_text(errno));
	if (made)
		unlinkat(folder, early, 0);
	return false;
}

bool
tally_control_socket_open(struct tally_control_socket *s, const char *path, char *why,
			  size_t size)
{
	char here[PATH_MAX] = "";
	const char *name;
	bool relative = path[0] != '/';
	if (relative && !getcwd(here, sizeof(here) - 1))
		return TALLY_REFUSE(why, size, "%s is relative to a folder that is gone", path);
	int len = snprintf(s->path, sizeof(s->path), "%s%s%s", here, relative ? "/" : "", path);
	if (len < 0 || (size_t)len >= sizeof(s->path))
		return TALLY_REFUSE(why, size, "the path is too long");
	int folder = open_folder(s->path, &name, why, size);
	if (folder < 0)
		return false;
	lock_folder(folder);
	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	/* This comes before the bind: the file is created with this
	 * mode, whatever the umask. */
	bool ok = s->fd >= 0 && fchmod(s->fd, 0600) == 0;
	if (!ok)
		snprintf(why, size, "no socket could be made: %s", tally_error_text(errno));
	ok = ok && bind_in(s, folder, name, why, size);
	if (!ok && s->fd >= 0)
		close(s->fd);
	close(folder);
	return ok;
}

static bool
is_open(const struct tally_control_socket *s)
{
	struct stat st;
	return fstat(s->fd, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino;
}

void
tally_control_socket_remove(const struct tally_control_socket *s)
{
	struct stat st;
	if (lstat(s->path, &st) == 0 && st.st_dev == s->file_dev &&
	    st.st_ino == s->file_ino && st.st_mtim.tv_sec == s->file_made.tv_sec &&
	    st.st_mtim.tv_nsec == s->file_made.tv_nsec)
		unlink(s->path);
	if (is_open(s))
		shutdown(s->fd, SHUT_RDWR);
}

void
tally_control_socket_close(const struct tally_control_socket *s)
{
	if (is_open(s))
		close(s->fd);
}

/* ---- clients ---- */

int
tally_control_socket_accept(const struct tally_control_socket *s)
{
	while (is_open(s)) {
		int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			return fd;
		/* The game has no free descriptor left now, but may close one. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			nap(SHORT_OF_NAP_NS);
		else if (errno != EINTR && errno != ECONNABORTED)
			break;
	}
	return -1;
}

bool
tally_control_socket_is_user(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       peer.uid == geteuid();
}

/* True: the client has sent something, or hung up. A silent client gets a second, or
 * less while others wait. */
static bool
wait_for_request(const struct tally_control_socket *s, int fd)
{
	struct pollfd client = { .fd = fd, .events = POLLIN };
	struct pollfd others = { .fd = s->fd, .events = POLLIN };
	for (int i = 0; i < SILENCES; i++) {
		int n = poll(&client, 1, SILENCE_MS);
		if (n > 0 || (n < 0 && errno != EINTR))
			return n > 0;
		if (!is_open(s) || poll(&others, 1, 0) > 0)
			return false;
	}
	return false;
}

bool
tally_control_socket_receive(const struct tally_control_socket *s, int fd, char *out,
			     size_t size, size_t *len)
{
	if (!wait_for_request(s, fd))
		return false;
	ssize_t n = recv(fd, out, size - 1, MSG_TRUNC | MSG_DONTWAIT);
	if (n <= 0)
		return false;
	/* If the request was longer than `out`, *len is more than the text's length. */
	*len = (size_t)n;
	out[*len < size - 1 ? *len : size - 1] = '\0';
	return true;
}

void
tally_control_socket_send(int fd, const char *data, size_t len)
{
	send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}
