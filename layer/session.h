/* layer/session.h - one capture: configuration, log, collector thread, life and death.
 *
 * There is one session a process, shared by the GL shim and the Vulkan layer. It starts with the
 * first pass, never in a process that does not render. All functions may be called from any
 * thread; none waits for the GPU. After fork the child has no session until it renders, and then
 * its own, with a file of its own.
 */
#ifndef PASSTALLY_LAYER_SESSION_H
#define PASSTALLY_LAYER_SESSION_H

#include "layer/annotator.h"
#include "layer/config/config.h"
#include "layer/recorder.h"

/* The configuration in force, read at the first call (files and environment), then constant until
 * the process ends. NULL when PASSTALLY_DISABLE is set: be a pure pass-through. */
const struct tally_config *tally_session_config(void);

/* Open the log and start the collector thread, once; later calls answer at once. False: nothing
 * is captured (disabled, the log could not be opened, out of memory), reported once through
 * log.h. */
bool tally_session_start(const struct tally_recorder_ops *ops);
/* Who adds to frames; to be said before the first start, by every front end the same. Static. */
void tally_session_use_annotator(const struct tally_annotator_ops *ops);
bool tally_session_running(void);

/* Write everything that is finished, the `end` line, and close. Called at exit, at _exit (by the
 * shim's hook) and when a limit is reached; a second call does nothing. Waits at most 2 s for the
 * collector thread. `reason` is static. */
void tally_session_stop(const char *reason);

/* Have `last` called once, at the start of the tally_session_stop() that ends a running capture: a
 * last chance to publish what the game's threads hold. It runs in the thread that stops, which may
 * be inside a signal handler or in the middle of any call: it must take no lock that it could wait
 * for, and not allocate. At most 8 functions; one that is there already is not added again. False:
 * no room. The library that holds it must never be unloaded (-z nodelete). */
bool tally_session_on_stop(void (*last)(void));

/* The turn of a captured frame among those that are: goes up by one from each to the next, whatever
 * --every, --skip and --start-on leave out (pauses do count), and the same for all devices. */
uint64_t tally_session_rotation(uint64_t frame);
/* A label began somewhere: --start-on label:NAME and --stop-on label:NAME. Cheap when unused. */
void tally_session_saw_label(const char *name, size_t len);

#endif
