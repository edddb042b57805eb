/* SPDX-License-Identifier: MIT */
/* cli/compare/pair.h - passes that are the same but for their label or their size.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_PAIR_H
#define PASSTALLY_CLI_COMPARE_PAIR_H

#include "cli/compare/compare.h"

/* Makes one subject of a pass that only the base has and one that only the new side has, where
 * nothing but the label differs (by a word, or one has none), or nothing but the size: both are
 * next to the same passes, in as many frames, of one kind with the same attachments, make as many
 * calls, and no other pass on either side is so. The subject's name says what differs. */
void tally_compare_pair(struct tally_compare *c);

#endif
