/* SPDX-License-Identifier: MIT */
/* layer/pass_id.h - the identity by which a pass is recognized across frames, runs and builds.
 *
 * FNV-1a, 64 bits, over the UTF-8 string
 * "v1|kind|label path|role:format:samples:layers,...|size|ordinal" (docs/identity.md has the
 * grammar and test vectors). No pointer, handle or object number is part of it. Any thread;
 * nothing here blocks or allocates.
 */
#ifndef PASSTALLY_LAYER_PASS_ID_H
#define PASSTALLY_LAYER_PASS_ID_H

#include "layer/record.h"

#define TALLY_FNV_OFFSET UINT64_C(0xcbf29ce484222325)
uint64_t tally_fnv1a(uint64_t hash, const void *bytes, size_t len);

/* The frame's largest presented target; 0 x 0 when nothing was presented. */
struct tally_extent {
	uint32_t width, height;
};

/* The hash of everything but the ordinal: its state after "v1|...|size|". */
uint64_t tally_pass_id_base(enum tally_pass_kind kind, const char *label,
			    const struct tally_target *target, struct tally_extent presented);
/* The id of the ordinal-th (from 0) pass of that base in the frame. */
uint64_t tally_pass_id_finish(uint64_t base, uint32_t ordinal);

#endif
