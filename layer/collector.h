/* layer/collector.h - the one thread that takes finished passes from all streams to the recorder.
 *
 * The thread exists between start() and the end of the capture; layer/queue.h is how the others
 * reach it.
 */
#ifndef PASSTALLY_LAYER_COLLECTOR_H
#define PASSTALLY_LAYER_COLLECTOR_H

#include "layer/annotator.h"
#include "layer/recorder.h"

/* Takes the open recorder, whose header is written, and who adds to frames (NULL: none). False:
 * no thread could be made, both stay the caller's. */
bool tally_collector_start(const struct tally_recorder_ops *ops, struct tally_recorder *recorder,
			   const struct tally_annotator_ops *annotate,
			   struct tally_annotator *annotator);

/* Write what is there, the `end` line, and close: waits at most `timeout_ns` for it. */
void tally_collector_stop(const char *reason, uint64_t timeout_ns);
/* Whoever waits in stop(), now or later, goes on at once. Any thread, does not block. */
void tally_collector_hurry(void);

/* In a forked child: forget the parent's capture, the file included. */
void tally_collector_forget(void);

#endif
