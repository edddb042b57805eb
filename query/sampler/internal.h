/* SPDX-License-Identifier: MIT */
/* query/sampler/internal.h - shared by the sampler's files, and the interface for tests.
 *
 * sampler.c has the list of sources and their lifetime, reader.c the thread of one source and
 * when it reads. Threads as in query/sampler/sampler.h.
 */
#ifndef PASSTALLY_QUERY_SAMPLER_INTERNAL_H
#define PASSTALLY_QUERY_SAMPLER_INTERNAL_H

#include "query/sampler/sampler.h"
#include "query/sources.h"

/* tally_sampler_create() with sources other than the product's; at most
 * TALLY_MAX_SNAPSHOT_SOURCES are considered. */
struct tally_sampler *
tally_sampler_create_of(const struct tally_config *config,
			const struct tally_snapshot_source_row *kinds, uint32_t n);

/* How often a source is read, in ns: the initial period, and the longest that it may become
 * when a reading takes too long. */
struct tally_sampler_pace {
	uint64_t period_ns, most_ns;
	const int *due_fd; /* also read when this descriptor is readable; NULL: none */
	bool always; /* also read while nothing is captured */
};
struct tally_sampler_pace tally_sampler_pace_of(const struct tally_snapshot_source *src,
						const struct tally_config *config);

/* How long others wait for the sources' threads, in ns: until all sources are open, before frames
 * are written without them, for one reading, and for the end. Only tests change it, before they
 * create a sampler: a machine that does not run a thread for that long is not what they test. */
struct tally_sampler_waits {
	uint64_t open_ns, first_ns, answer_ns, stop_ns;
};
extern struct tally_sampler_waits tally_sampler_waits;

/* The period of source i that is in force. */
uint64_t tally_sampler_period_ns(const struct tally_sampler *s, uint32_t i);

/* The numbers of frames that began since the process started, or was forked: captured frames,
 * and all frames. */
struct tally_sampler_frames {
	_Atomic uint64_t captured, all;
	_Atomic uint32_t asleep; /* threads that wait for a captured frame */
};
extern struct tally_sampler_frames tally_sampler_frames;
extern _Atomic uint64_t tally_sampler_gpu; /* see tally_sampler_use_gpu() */

#endif
