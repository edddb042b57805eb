/* SPDX-License-Identifier: MIT */
/* layer/frame/intern.h - targets and labels, kept for the life of the process, so that equal ones
 * have equal pointers.
 */
#ifndef PASSTALLY_LAYER_FRAME_INTERN_H
#define PASSTALLY_LAYER_FRAME_INTERN_H

#include "layer/frame/frame_part.h"

/* A cache for each stream in front of the process-wide tables (layer/frame/intern.c): a hit
 * takes no lock. Without a cache (NULL) every call takes it, which is for callers that
 * keep the answer, on any thread. */
struct tally_intern_cache *tally_intern_cache_create(void);
void tally_intern_cache_destroy(struct tally_intern_cache *cache);
const struct tally_target *
tally_intern_target(struct tally_intern_cache *cache, const struct tally_target *target);
const char *tally_intern_label(struct tally_intern_cache *cache, const char *text, size_t len);
/* The name of an object, as a label; NULL after 4096 of them. */
const char *tally_intern_name(const char *text);
void tally_intern_around_fork(bool begins);

#endif
