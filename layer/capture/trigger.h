/* SPDX-License-Identifier: MIT */
/* layer/capture/trigger.h - which frames are captured: --start-on, --stop-on, --skip, --frames,
 * --every, --seconds, and what starts and stops the capture while the game runs.
 *
 * Any thread. Each frame costs a few loads; nothing waits. Every source of a start or stop (a
 * label, a signal, the hardware, the control socket) changes one word, which is read where a
 * frame begins, so a window of captured frames consists of whole frames. start() and stop() may
 * be called in a signal handler.
 */
#ifndef PASSTALLY_LAYER_CAPTURE_TRIGGER_H
#define PASSTALLY_LAYER_CAPTURE_TRIGGER_H

#include "layer/config/config.h"

enum tally_capture {
	TALLY_CAPTURE_WAITS = 0, /* for --start-on; frame:N is counted by each device */
	TALLY_CAPTURE_RUNS,
	TALLY_CAPTURE_PAUSED, /* stopped on request; can be started again */
};

enum tally_trigger_cause {
	TALLY_CAUSE_OPTION = 0, /* --start-on, --stop-on: label, signal, hw */
	TALLY_CAUSE_CONTROL, /* passtally trigger */
	TALLY_CAUSE_PROGRAM, /* itself, by passtally.h */
};

/* Sets the state of a new process; `config` outlives it. Called in one
 * thread, before all others. */
void tally_trigger_reset(const struct tally_config *config);

/* Catches the requested signals, unless the game handles them: called as the capture starts. A
 * signal that the game handles or ignores remains the game's, which a note reports. */
void tally_trigger_catch_signals(void);
/* In a forked child: restores the default action of the signals that we catch. */
void tally_trigger_release_signals(void);

void tally_trigger_start(enum tally_trigger_cause cause);
void tally_trigger_stop(enum tally_trigger_cause cause);
enum tally_capture tally_trigger_capture(void);

/* For a source with its own trigger (microblaze): the hardware's counting began or ended. Does
 * what --start-on hw and --stop-on hw request, and nothing without them. */
void tally_trigger_saw_hardware(bool counting);
void tally_trigger_saw_label(const char *name, size_t len);

/* These work like the functions of layer/capture/capture.h and layer/session/session.h with
 * these names. *count is the device's own state for --skip, --every and --frames:
 * TALLY_NO_FRAME at first. */
#define TALLY_NO_FRAME UINT64_MAX
bool tally_trigger_wants_frame(uint64_t frame, _Atomic uint64_t *count);
const char *tally_trigger_over(uint64_t frame, uint64_t count);
uint64_t tally_trigger_first_frame(void);
uint64_t tally_trigger_rotation(uint64_t frame);
bool tally_trigger_idles(uint64_t frame, uint64_t count);

/* --pictures: the first frame that begins after the call is pictured. False: the run has none. */
bool tally_trigger_ask_picture(void);
/* Whether a device's open frame is pictured. */
bool tally_trigger_wants_picture(uint64_t frame);

/* The capture ends, with the program or by a limit: reports it if the event that it waited for
 * never came. */
void tally_trigger_report_end(bool with_program);

#endif
