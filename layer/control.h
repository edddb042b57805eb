/* layer/control.h - the control socket: `passtally trigger` talks to a running game.
 *
 * A local socket (SOCK_SEQPACKET, mode 0600) that only the process's own user may speak to. One
 * packet asks: "start", "stop", "mark NAME" or "status"; one packet answers: "ok" or "error", a
 * newline and text for people. Our own thread serves it and sleeps until a request comes; the
 * game's threads never touch it. It exists only where a socket was asked for and could be made.
 */
#ifndef PASSTALLY_LAYER_CONTROL_H
#define PASSTALLY_LAYER_CONTROL_H

#include <stdbool.h>

#define TALLY_CONTROL_MAX_MARK 256
#define TALLY_CONTROL_MAX_REQUEST 512
#define TALLY_CONTROL_MAX_REPLY 16384

/* Make the socket at `path` and serve it. False, and a note says why: there is none, and the game
 * goes on: another process listens there, what is there is no socket, others may write to the
 * folder. A socket without a listener is replaced. At most once a process and fork; the session
 * sees to it. `program` and `log` are for "status". */
bool tally_control_start(const char *path, const char *program, const char *log);

/* The process ends: remove the socket. Async-signal-safe; a second call does nothing. */
void tally_control_stop(void);

/* In a forked child: the socket is the parent's. Async-signal-safe. */
void tally_control_forget(void);

#endif
