/* cli/control/client.h - find running games by their control sockets, and ask them.
 *
 * `passtally run` gives each process of a game a socket in a folder of the user's own: passtally/
 * in $XDG_RUNTIME_DIR, or /tmp/passtally-UID where there is none. Only sockets of our own user are
 * spoken to. One thread; asking waits at most 3 s.
 */
#ifndef PASSTALLY_CLI_CONTROL_CLIENT_H
#define PASSTALLY_CLI_CONTROL_CLIENT_H

#include <glib.h>
#include <stdbool.h>

struct tally_control_game {
	char *path; /* of the socket */
	long pid; /* as we see it; the game may be in a container */
};

/* The value of `control` for a game's processes; makes the folder (mode 0700). The caller's; NULL
 * with a reason. */
char *tally_control_pattern(char *why, size_t size);
/* Remove the sockets of processes that are gone. */
void tally_control_sweep(void);
/* The games that listen there: struct tally_control_game. */
GPtrArray *tally_control_list(void);

/* What the game answered: the text after "ok" (*refused is false) or "error". The caller's; NULL,
 * with a reason, when there was no answer. `pid` may be NULL. */
char *tally_control_ask(const char *path, const char *request, bool *refused, long *pid, char *why,
			size_t size);

#endif
