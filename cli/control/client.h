/* SPDX-License-Identifier: MIT */
/* cli/control/client.h - finds running games by their control sockets and sends them
 * requests.
 *
 * `passtally run` gives each process of a game a socket in a folder of the user: passtally/
 * in $XDG_RUNTIME_DIR, or passtally-UID in $TMPDIR (or /tmp) where that is not set. Only
 * sockets of the same user are contacted. One thread; a request waits at most 3 s.
 */
#ifndef PASSTALLY_CLI_CONTROL_CLIENT_H
#define PASSTALLY_CLI_CONTROL_CLIENT_H

#include <glib.h>
#include <stdbool.h>

struct tally_control_game {
	char *path; /* path of the socket */
	long pid; /* as this process sees it; the game may be in a container */
};

/* The value of the option `control` for a game's processes; creates the folder (mode 0700).
 * The caller frees it; NULL with a reason in `why`. */
char *tally_control_pattern(char *why, size_t size);
/* The games with a listening socket: an array of struct tally_control_game; unless `pid` is 0 only
 * the one of that process, or those that it started if it is a `passtally run`. Removes the sockets
 * of processes that have ended. */
GPtrArray *tally_control_list(long pid);

/* The game's answer: the text after "ok" (*refused is false) or "error". The caller frees
 * it; NULL, with a reason in `why`, if there was no answer. `pid` may be NULL. */
char *tally_control_ask(const char *path, const char *request, bool *refused, long *pid,
			char *why, size_t size);
/* The path of a game's log, as its process knows it; NULL if there was no answer. The caller frees
 * it. */
char *tally_control_log(const char *path);

#endif
