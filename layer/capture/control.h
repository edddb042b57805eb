/* SPDX-License-Identifier: MIT */
/* layer/capture/control.h - the control socket: `passtally trigger` talks to a running game.
 *
 * A local socket (SOCK_SEQPACKET, mode 0600) that only the process's own user may speak to. A
 * request is one packet: "start", "stop", "toggle", "mark NAME",
 * "picture", "keep", "renderdoc" or "status". The answer is one
 * packet: "ok" or "error", a newline and text for people. A thread of passtally serves the
 * socket and sleeps until a request comes; the game's threads never access it. It exists only
 * if a socket was requested and could be created.
 */
#ifndef PASSTALLY_LAYER_CAPTURE_CONTROL_H
#define PASSTALLY_LAYER_CAPTURE_CONTROL_H

#include <stdbool.h>

#define TALLY_CONTROL_MAX_MARK 256
#define TALLY_CONTROL_MAX_REQUEST 512
#define TALLY_CONTROL_MAX_REPLY 16384

/* Creates the socket at `path` and serves it. False if there is none: another process listens
 * there, the existing file is not a socket, or others may write to the folder. A note says why,
 * and the game continues. A socket without a listener is replaced. The session makes sure that
 * this is called at most once per process and fork. `program` and `log` are for "status". */
bool tally_control_start(const char *path, const char *program, const char *log);

/* Removes the socket when the process ends. Async-signal-safe; a second call does nothing. */
void tally_control_stop(void);

/* For the program itself, by layer/passtally.h: the same requests but "status", on any thread.
 * Returns 1 when it was taken, else 0. */
int passtally_take_request(const char *request);

/* In a forked child: forgets the socket, which is the parent's. Async-signal-safe. */
void tally_control_forget(void);

#endif
