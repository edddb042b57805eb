/* SPDX-License-Identifier: MIT */
/* query/sampler/reader.h - one snapshot source and the thread that makes all calls to it.
 *
 * A call into a source may hang in the kernel for an unlimited time. So only the source's own
 * thread makes such calls, and no lock is held across them: other threads ask for a reading and
 * wait for a bounded time. A thread whose wait ended without an answer marks the source as
 * silent; no thread waits for a silent source, and its first reading afterwards does not apply
 * to the time before it. A thread that hangs forever is left alone with its memory.
 *
 * Readers are static and never freed, so that any thread may ask one at any time. Below them stands
 * what sampler.c, which has the list of sources and their lifetime, offers to tests.
 */
#ifndef PASSTALLY_QUERY_SAMPLER_READER_H
#define PASSTALLY_QUERY_SAMPLER_READER_H

#include <pthread.h>
#include <stdatomic.h>

#include "query/sampler/sampler.h"
#include "query/sources.h"

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

/* The numbers of frames that began since the process started, or was forked: captured frames,
 * and all frames. */
struct tally_sampler_frames {
	_Atomic uint64_t captured, all;
	_Atomic uint32_t asleep; /* threads that wait for a captured frame */
};
extern struct tally_sampler_frames tally_sampler_frames;
extern _Atomic uint64_t tally_sampler_gpu; /* see tally_sampler_use_gpu() */

/* The phases of a reader. */
enum tally_reader_phase {
	TALLY_READER_FREE = 0,
	TALLY_READER_OPENING,
	TALLY_READER_COUNTS, /* its readings arrive */
	TALLY_READER_LOST, /* no more readings arrive; what it counted remains valid */
	TALLY_READER_STOPPED, /* the same, because it was asked to stop */
	TALLY_READER_CLOSED, /* the thread has made its last call */
	TALLY_READER_GIVEN_UP, /* it did not open in time */
};

/* One snapshot source with its thread and its history. */
struct tally_reader {
	/* Constant once the reader has started. */
	const struct tally_snapshot_source_row *kind;
	const struct tally_config *config;
	struct tally_key_table *keys;
	/* Called by the thread once it is known whether the source opens: the next reader to open,
	 * by this thread if it has nothing to read itself; NULL: there is none. */
	struct tally_reader *(*next)(void);

	struct tally_snapshot_source *src; /* other threads may read it until it is closed */
	struct tally_sampler_pace pace;
	uint64_t answer_ns; /* how long other threads wait for a reading */
	/* Of the reading that is being taken; used only by the thread. */
	uint64_t *totals, *unknown;

	/* The current enum tally_reader_phase; wakes threads that wait for a phase. */
	_Atomic uint32_t phase;
	_Atomic uint32_t answers; /* wakes threads that wait for a reading */
	_Atomic uint32_t wake; /* wakes the thread */
	_Atomic uint64_t wanted; /* the number that was requested last */
	atomic_bool stop, close;
	/* The reason from opening. */
	char reason[TALLY_REASON_BYTES];
	char lost[TALLY_REASON_BYTES]; /* set before LOST */

	pthread_mutex_t lock; /* held briefly, never during a call into the source */
	/* Protected by the lock: */
	struct tally_history *history;
	struct tally_snapshot_level levels[TALLY_MAX_LEVELS];
	uint64_t done; /* the newest number that it processed */
	uint64_t unanswered; /* requests up to this number have no reading */
	bool silent;
};

/* Starts a thread for the reader that `next` returns, whose `kind`, `config`, `keys`, `next` and
 * phase are set; for the one after it, where no thread could be created. */
void tally_reader_start(struct tally_reader *(*next)(void));

/* Asks for a reading with that number or a later one; never waits. */
void tally_reader_ask(struct tally_reader *r, uint64_t number);
/* Waits until that time for the requested reading; does not wait for a silent source. False:
 * there is no such reading, nor will there be. */
bool tally_reader_await(struct tally_reader *r, uint64_t number, uint64_t until_ns);
/* Whether there is a reading at or after that time. */
bool tally_reader_covers(struct tally_reader *r, uint64_t time_ns);

/* Waits until the word differs from the given value. False: it is still the same. */
bool tally_reader_leaves(_Atomic uint32_t *word, uint32_t value, uint64_t until_ns);
void tally_reader_wake(struct tally_reader *r);

/* ---- sampler.c ---- */

/* tally_sampler_create() with sources other than the product's; at most
 * TALLY_MAX_SNAPSHOT_SOURCES are considered. */
struct tally_sampler *
tally_sampler_create_of(const struct tally_config *config,
			const struct tally_snapshot_source_row *kinds, uint32_t n);

#endif
