/* SPDX-License-Identifier: MIT */
/* layer/session/session.h - one capture: configuration, log, collector thread, start and stop.
 *
 * There is one session per process, shared by the GL shim and the Vulkan layer. It starts with
 * the first pass, never in a process that does not render. All functions may be called from any
 * thread; none waits for the GPU. After fork the child has no session until it renders; then it
 * gets its own, with its own file.
 */
#ifndef PASSTALLY_LAYER_SESSION_SESSION_H
#define PASSTALLY_LAYER_SESSION_SESSION_H

#include "layer/annotator.h"
#include "layer/config/config.h"
#include "layer/recorder.h"

/* The configuration in force, read at the first call (files and environment), then
 * constant until the process ends. NULL when PASSTALLY_DISABLE is set: then everything
 * is a pure pass-through. */
const struct tally_config *tally_session_config(void);
/* The same, for a program that sets options itself, as in PASSTALLY_OPTIONS: all other places
 * take precedence over it, and a note reports if an earlier call has already read the
 * configuration. `own` may be NULL and is not kept. */
const struct tally_config *tally_session_config_of(const char *own);

/* Opens the log and starts the collector thread, once; later calls return at once. False:
 * nothing is captured (disabled, the log could not be opened, out of memory), which is
 * reported once with log.h. */
bool tally_session_start(const struct tally_recorder_ops *ops);
/* Sets the annotator that adds to frames. Every front end sets the same one, before the first
 * start. `ops` is static. */
void tally_session_use_annotator(const struct tally_annotator_ops *ops);
bool tally_session_running(void);

/* Writes everything that is finished and the `end` line, and closes the log. Called at exit, at
 * _exit (by the shim's hook) and when a limit is reached; a second call does nothing. Waits at
 * most 2 s for the collector thread. `reason` is static. */
void tally_session_stop(const char *reason);

/* Registers `last` to be called once, at the start of the tally_session_stop() that ends a
 * running capture: a last chance to publish the passes of the game's threads. It runs in the
 * thread that stops, which may be inside a signal handler or in the middle of any call: it must
 * not take a lock that it could wait for, and must not allocate. At most 8 functions; a
 * registered one is not added again. False: no room. The library that contains it must never be
 * unloaded (-z nodelete). */
bool tally_session_on_stop(void (*last)(void));

/* The rotation index of a captured frame: it increases by one from each captured frame to the
 * next, whatever --every, --skip and --start-on leave out (pauses do count), and is the same
 * for all devices. */
uint64_t tally_session_rotation(uint64_t frame);
/* The frame whose index is 0, if one is captured; those before have it, too. */
uint64_t tally_session_first_frame(void);
/* Called when a label begins, for --start-on label:NAME and --stop-on
 * label:NAME. Cheap when unused. */
void tally_session_saw_label(const char *name, size_t len);

#endif
