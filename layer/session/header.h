/* SPDX-License-Identifier: MIT */
/* layer/session/header.h - the first line of the log: the program and its options.
 *
 * Called by the session with its lock held; reads /proc and writes the log, so it may block.
 */
#ifndef PASSTALLY_LAYER_SESSION_HEADER_H
#define PASSTALLY_LAYER_SESSION_HEADER_H

#include "layer/recorder.h"
#include "layer/session/log_file.h"

/* Writes and flushes the header. `program`: path of the executable. False: an error note gives
 * the reason why nothing is captured. */
bool tally_header_write(const struct tally_naming *naming, const char *program,
			const struct tally_recorder_ops *ops, struct tally_recorder *recorder);

#endif
