/* SPDX-License-Identifier: MIT */
/* cli/compare/common.h - takes out what all passes have in common: the machine's speed.
 *
 * A busy machine, or a clock that moves, slows all passes of a frame alike. Where many passes are
 * in every frame of both sides, each is judged by what is left without that. One run a side
 * does not know the machine's speed at all, so there the frame, too, has to have changed by more
 * than its passes have in common before it fails a gate. One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_COMMON_H
#define PASSTALLY_CLI_COMPARE_COMMON_H

#include "cli/compare/compare.h"

/* After all rows were tested by themselves. */
void tally_compare_judge_common(struct tally_compare *c);

#endif
