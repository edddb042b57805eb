/* layer/control_socket.h - the local socket below layer/control.c, with what keeps it private.
 *
 * Made once, in the thread that starts the capture; served by one thread; removed by any. Follows
 * no link, replaces nothing but a dead socket of the same user, and does nothing to a descriptor
 * that the game closed and opened again. Only accept() and receive() block.
 */
#ifndef PASSTALLY_LAYER_CONTROL_SOCKET_H
#define PASSTALLY_LAYER_CONTROL_SOCKET_H

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
	struct timespec file_made; /* file systems use such numbers again */
	char path[PATH_MAX]; /* absolute */
};

/* Bind and listen. False: nothing is left and `why` holds a sentence. */
bool
tally_control_socket_open(struct tally_control_socket *s, const char *path, char *why, size_t size);
/* Remove the file, if it is still ours, and make accept() end. Async-signal-safe. */
void tally_control_socket_remove(const struct tally_control_socket *s);
/* Async-signal-safe. */
void tally_control_socket_close(const struct tally_control_socket *s);

/* The next client, the caller's to close; -1: there will be none any more. */
int tally_control_socket_accept(const struct tally_control_socket *s);
/* Does the process at the other end run as our user? */
bool tally_control_socket_is_user(int fd);
/* One packet, at most size - 1 bytes of it, and a NUL after it. False: none within a second,
 * or a tenth of one while other clients wait. */
bool tally_control_socket_receive(const struct tally_control_socket *s, int fd, char *out,
				  size_t size, size_t *len);
void tally_control_socket_send(int fd, const char *data, size_t len);

#endif
