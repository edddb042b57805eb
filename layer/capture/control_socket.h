/* SPDX-License-Identifier: MIT */
/* layer/capture/control_socket.h - the local socket below layer/capture/control.c, and its
 * protection.
 *
 * The socket is created once, in the thread that starts the capture, served by one thread, and
 * removed by any. The code follows no link, replaces nothing but a dead socket of the same
 * user, and does nothing to a descriptor that the game closed and opened again. Only accept()
 * and receive() block.
 */
#ifndef PASSTALLY_LAYER_CAPTURE_CONTROL_SOCKET_H
#define PASSTALLY_LAYER_CAPTURE_CONTROL_SOCKET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct tally_control_socket {
	int fd;
	dev_t dev;
	ino_t ino; /* of the descriptor */
	dev_t file_dev;
	ino_t file_ino; /* of the file at `path` */
	struct timespec file_made; /* needed because file systems reuse inode numbers */
	char path[PATH_MAX]; /* absolute */
};

/* Binds and listens. False: nothing is left over and `why` has a sentence. */
bool tally_control_socket_open(struct tally_control_socket *s, const char *path,
			       char *why, size_t size);
/* Removes the file, if it is still passtally's, and makes accept() return.
 * Async-signal-safe. */
void tally_control_socket_remove(const struct tally_control_socket *s);
/* Async-signal-safe. */
void tally_control_socket_close(const struct tally_control_socket *s);

/* The next client, which the caller closes; -1: there will be no more. */
int tally_control_socket_accept(const struct tally_control_socket *s);
/* Whether the process at the other end runs as our user. */
bool tally_control_socket_is_user(int fd);
/* Receives at most size - 1 bytes of one packet, and puts a NUL after it. False: none within a
 * second, or a tenth of a second while other clients wait. */
bool tally_control_socket_receive(const struct tally_control_socket *s, int fd, char *out,
				  size_t size, size_t *len);
void tally_control_socket_send(int fd, const char *data, size_t len);

#endif
