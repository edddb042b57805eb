/* layer/capture.h - the capture of this process as those below the session see it: does one run,
 * with which options, and is a frame in it?
 *
 * The session (layer/session.h) says what is in force; devices, streams and the collector ask. All
 * functions may be called from any thread; none blocks, allocates or takes a lock.
 */
#ifndef PASSTALLY_LAYER_CAPTURE_H
#define PASSTALLY_LAYER_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "layer/trigger.h"

/* The options in force, or NULL: the session has not read them, or nothing is to be captured. */
const struct tally_config *tally_capture_config(void);
/* The session's; `config` is never freed. */
void tally_capture_use(const struct tally_config *config);

enum tally_state {
	TALLY_STATE_IDLE = 0, /* none has begun */
	TALLY_STATE_RUNNING,
	TALLY_STATE_OVER, /* no other begins in this process */
};
enum tally_state tally_capture_state(void);
void tally_capture_set_state(enum tally_state now);

/* Not 0 while the collector takes passes, and another number for each capture of a process and its
 * forks: streams and devices of an earlier one are dead. */
uint64_t tally_capture_generation(void);
/* The collector's: begin() counts the generation up, end() leaves it 0. */
void tally_capture_begin(void);
void tally_capture_end(void);

/* The OpenGL shim is in this process and measures: said as it is loaded, before all else. */
void tally_capture_set_shim(void);
bool tally_capture_has_shim(void);

/* A number for a new device of this capture, from 0. */
uint32_t tally_capture_number_device(void);

/* Who wants to know that a frame begins, and whether it is captured; from the thread that asks
 * wants_frame(), must not wait. */
typedef void tally_capture_follower(bool captured);
void tally_capture_follow(tally_capture_follower *follower);

/* Is a frame with this number inside --skip/--frames/--every/--seconds/--start-on/--stop-on? To be
 * asked of each frame of a device in order, with that device's note of what counts towards them
 * (layer/trigger.c knows what it means): TALLY_NO_FRAME to begin with. */
bool tally_capture_wants_frame(uint64_t frame, _Atomic uint64_t *count);

/* Is nothing captured from this frame on, unless something starts it: before --start-on, in a
 * pause, after the end? False in what --skip and --every leave out. To be asked where a frame
 * begins; `count` as above, TALLY_NO_FRAME before there is a device. */
bool tally_capture_idles(uint64_t frame, uint64_t count);

/* Why no frame from this number on will be captured ("frames", "seconds", "stop-on"), or NULL. The
 * device's count: see tally_capture_wants_frame(). */
const char *tally_capture_over(uint64_t frame, uint64_t count);

#endif
