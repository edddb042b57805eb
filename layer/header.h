/* SPDX-License-Identifier: MIT */
/* layer/header.h - the first line of the log: what was run, and with which options.
 *
 * Called by the session with its lock held; reads /proc and writes the log, so it may block.
 */
#ifndef PASSTALLY_LAYER_HEADER_H
#define PASSTALLY_LAYER_HEADER_H

#include "layer/log_file.h"
#include "layer/recorder.h"

/* Writes and flushes the header. `program`: path of the executable. False: an error note says
 * why nothing is captured. */
bool tally_header_write(const struct tally_naming *naming, const char *program,
			const struct tally_recorder_ops *ops, struct tally_recorder *recorder);

#endif
