/* SPDX-License-Identifier: MIT */
/* query/mali/choice.h - which counters of a Mali GPU are read, and the clocks by which their
 * times are converted.
 *
 * While a source is opened, and on the thread that reads it.
 */
#ifndef PASSTALLY_QUERY_MALI_CHOICE_H
#define PASSTALLY_QUERY_MALI_CHOICE_H

#include "query/mali/layout.h"

/* Chooses by src->wanted and src->metrics_wanted; counters whose index is n_values or more are
 * left out. On success src->counters, logged, constants and layout are set, otherwise
 * src->reason. `source` is a static name. */
enum tally_status
tally_mali_choose(struct tally_mali_choice *choice, struct tally_snapshot_source *src,
		  const char *source, uint32_t width_bits, uint32_t n_values,
		  const struct tally_mali_product *product,
		  const struct tally_mali_props *props);
void tally_mali_choice_finish(struct tally_mali_choice *choice,
			      struct tally_snapshot_source *src);
struct tally_mali_clocks tally_mali_clocks_read(void);
/* Converts a timestamp that was taken between the two readings to CLOCK_MONOTONIC: the true
 * time lies between *begin_ns and *end_ns. If it cannot have been taken there, it is not used,
 * and the result is the whole interval between the readings. */
void tally_mali_clocks_apply(const struct tally_mali_clocks *first,
			     const struct tally_mali_clocks *last, uint64_t raw_ns,
			     uint64_t *begin_ns, uint64_t *end_ns);

/* Finds the product with the GPU's id, which has a layout; if there is none, reason says so. `node`
 * names the device, or is NULL. */
enum tally_status
tally_mali_find_described(const struct tally_mali_props *props, const char *node,
			  const struct tally_mali_product **out, char *reason);

/* Explains why the kernel refused: fills `reason` with "what: why; what to do". EPERM and
 * EACCES give TALLY_DENIED, ENOMEM gives TALLY_NO_MEMORY, all others give
 * TALLY_UNSUPPORTED. */
enum tally_status tally_mali_refuse(char *reason, const char *what, int error);

#endif
