/* SPDX-License-Identifier: MIT */
/* layer/session/collector.h - the one thread that takes finished passes from all streams to the
 * recorder.
 *
 * The thread exists between start() and the end of the capture; other threads reach it with
 * layer/frame/queue.h.
 */
#ifndef PASSTALLY_LAYER_SESSION_COLLECTOR_H
#define PASSTALLY_LAYER_SESSION_COLLECTOR_H

#include "layer/annotator.h"
#include "layer/recorder.h"

/* Takes the open recorder, whose header is written. `annotate` (NULL: none) adds to frames; its
 * create() is called with `config`, which outlives the capture: in the collector thread, or here,
 * before any frame, where the game's first boundary needs a reading (exact snapshots). When
 * everything is in place the capture is running for all threads. False: no thread could be
 * created, and the recorder remains the caller's. */
bool tally_collector_start(const struct tally_recorder_ops *ops, struct tally_recorder *recorder,
			   const struct tally_annotator_ops *annotate,
			   const struct tally_config *config);

/* Has everything available and the `end` line written and the log closed; waits at
 * most `timeout_ns` for it. */
void tally_collector_stop(const char *reason, uint64_t timeout_ns);

/* In a forked child: forgets the parent's capture, including the file. */
void tally_collector_forget(void);

#endif
