/* SPDX-License-Identifier: MIT */
/* layer/capture/capture.h - the capture of this process for the code below the session: whether
 * one runs, with which options, and whether a frame is in it.
 *
 * The session (layer/session/session.h) sets the state; devices, streams and the collector
 * read it. All functions may be called from any thread; none blocks, allocates or takes a lock.
 */
#ifndef PASSTALLY_LAYER_CAPTURE_CAPTURE_H
#define PASSTALLY_LAYER_CAPTURE_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "layer/capture/trigger.h"

/* The options in force. NULL if the session has not read them, or if
 * nothing is to be captured. */
const struct tally_config *tally_capture_config(void);
/* Called by the session; `config` is never freed. */
void tally_capture_use(const struct tally_config *config);

enum tally_state {
	TALLY_STATE_IDLE = 0, /* no capture has begun */
	TALLY_STATE_RUNNING,
	TALLY_STATE_OVER, /* no other capture begins in this process */
};
enum tally_state tally_capture_state(void);
void tally_capture_set_state(enum tally_state now);

extern _Atomic uint64_t tally_capture_running;
/* Not 0 while the collector accepts passes, and different for each capture of a process and its
 * forks: streams and devices of an earlier one are dead. */
static inline uint64_t
tally_capture_generation(void)
{
	return atomic_load_explicit(&tally_capture_running, memory_order_relaxed);
}
/* For the collector: begin() increments the generation, end() sets it to 0. */
void tally_capture_begin(void);
void tally_capture_end(void);

/* Records that the OpenGL shim is in this process and measures. Called when it is loaded,
 * before anything else. */
void tally_capture_set_shim(void);
bool tally_capture_has_shim(void);

/* A number for a new device of this capture, from 0. */
uint32_t tally_capture_number_device(void);

/* A function that is called when a frame begins, with whether it is captured. It runs in the
 * thread that calls wants_frame() and must not wait. */
typedef void tally_capture_follower(bool captured);
void tally_capture_follow(tally_capture_follower *follower);

/* Whether a frame with this number is inside
 * --skip/--frames/--every/--seconds/--start-on/--stop-on. Called for each frame of a device in
 * order, with that device's own count for these options (only layer/capture/trigger.c
 * interprets it): TALLY_NO_FRAME at first. */
bool tally_capture_wants_frame(uint64_t frame, _Atomic uint64_t *count);

/* Whether nothing is captured from this frame on unless something starts the capture: before
 * --start-on, in a pause, after the end. False for frames that --skip and --every leave out.
 * Called where a frame begins; `count` as above, TALLY_NO_FRAME before there is a device. */
bool tally_capture_idles(uint64_t frame, uint64_t count);

/* Why no frame from this number on will be captured ("frames", "seconds", "stop-on"), or NULL.
 * `count` is the device's: see tally_capture_wants_frame(). */
const char *tally_capture_over(uint64_t frame, uint64_t count);

/* Has the collector keep the black box, once it wakes: a note or a mark that follows wakes
 * it. `why` is static. False: there is no --black-box. */
bool tally_capture_ask_keep(const char *why);
/* For the collector: what was asked since the last call, or NULL. */
const char *tally_capture_take_keep(void);

#endif
