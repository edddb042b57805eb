/* SPDX-License-Identifier: MIT */
#include "query/sampler/reader.h"

#include "layer/base/clock.h"
#include "layer/base/futex.h"
#include "layer/log.h"
#include "query/sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)

/* Never freed, so that a thread of the game may ask for a sample at any time. */
struct tally_sampler {
	/* In the order in which they are opened. */
	struct tally_reader readers[TALLY_MAX_SNAPSHOT_SOURCES];
	const struct tally_config *config;
	const struct tally_snapshot_source_row *kinds;
	uint32_t n_kinds, next_kind;
	uint64_t created_ns;
	struct tally_key_table keys; /* of the sources that are being opened */
	_Atomic uint32_t n_readers; /* readers started so far */
	_Atomic uint32_t all_open; /* no more readers will be started */
	bool ready, created, stopped, stuck;
	uint32_t n_rows, n_sources; /* valid once the sampler is ready */
	struct tally_reader *sources[TALLY_MAX_SNAPSHOT_SOURCES];
	_Atomic uint64_t number; /* of the newest sample that was requested */
	_Atomic uint32_t n_visitors; /* threads of the game that are inside the sampler */
	_Atomic pid_t pid;
};
static struct tally_sampler sampler;
static atomic_bool live; /* samples may be taken */
static atomic_bool exact;

/* ---- samples ---- */

__attribute__((hot)) bool
tally_snapshot_exact(void)
{
	return atomic_load_explicit(&exact, memory_order_relaxed);
}

/* Asks all sources at once, then waits for each: this takes the slowest one's time,
 * not the sum. */
static bool
read_all(struct tally_reader *const *readers, uint32_t n, uint64_t number)
{
	bool any = false;
	uint64_t begin_ns = tally_clock_now_ns();
	for (uint32_t i = 0; i < n; i++)
		tally_reader_ask(readers[i], number);
	for (uint32_t i = 0; i < n; i++)
		any |= tally_reader_await(readers[i], number, begin_ns + readers[i]->answer_ns);
	return any;
}

static void
leave(void)
{
	atomic_fetch_sub(&sampler.n_visitors, 1);
}

/* False: there is no capture, or the capture belongs to the process from which this
 * one was forked. */
static bool
enter(void)
{
	if (!atomic_load(&live) || atomic_load(&sampler.pid) != getpid())
		return false;
	atomic_fetch_add(&sampler.n_visitors, 1);
	if (atomic_load(&live))
		return true;
	leave();
	return false;
}

uint64_t
tally_snapshot_take(void)
{
	uint64_t number = TALLY_NO_SNAPSHOT;
	if (!enter())
		return number;
	int saved_errno = errno;
	uint64_t asked = atomic_fetch_add(&sampler.number, 1) + 1;
	if (read_all(sampler.sources, sampler.n_sources, asked))
		number = asked;
	errno = saved_errno;
	leave();
	return number;
}

void
tally_sampler_cover(struct tally_sampler *s, uint64_t time_ns)
{
	struct tally_reader *behind[TALLY_MAX_SNAPSHOT_SOURCES];
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n_sources; i++)
		if (atomic_load(&s->sources[i]->phase) == TALLY_READER_COUNTS &&
		    !tally_reader_covers(s->sources[i], time_ns))
			behind[n++] = s->sources[i];
	if (n)
		read_all(behind, n, atomic_fetch_add(&s->number, 1) + 1);
}

void
tally_sampler_use_gpu(struct tally_sampler *s, uint64_t pci_number)
{
	(void)s;
	atomic_store(&tally_sampler_gpu, pci_number);
}

void
tally_sampler_lock(struct tally_sampler *s)
{
	for (uint32_t i = 0; i < s->n_sources; i++)
		pthread_mutex_lock(&s->sources[i]->lock);
}

void
tally_sampler_unlock(struct tally_sampler *s)
{
	for (uint32_t i = s->n_sources; i-- > 0;)
		pthread_mutex_unlock(&s->sources[i]->lock);
}

__attribute__((hot)) void
tally_sampler_frame_begins(bool captured)
{
	atomic_fetch_add(&tally_sampler_frames.all, 1);
	if (!captured)
		return;
	atomic_fetch_add(&tally_sampler_frames.captured, 1);
	if (atomic_load(&tally_sampler_frames.asleep) == 0 || !enter())
		return;
	for (uint32_t i = 0; i < sampler.n_sources; i++)
		tally_reader_wake(sampler.sources[i]);
	leave();
}

/* ---- opening: one source after the other; one that opens keeps the thread that opened it ---- */

static bool
is_wanted(const struct tally_snapshot_source_row *kind, const struct tally_config *config)
{
	if (tally_source_wanted(config->sources, &kind->row))
		return true;
	return kind->with_cpu && (config->cpu || (!config->sources && config->counters &&
						  kind->named(config->counters)));
}

static bool
counts_already(const struct tally_sampler *s, const char *name)
{
	for (uint32_t i = 0; name && i < atomic_load(&s->n_readers); i++)
		if (strcmp(s->readers[i].kind->row.name, name) == 0 &&
		    atomic_load(&s->readers[i].phase) == TALLY_READER_COUNTS)
			return true;
	return false;
}

/* Adds a row for a source that does not count because another one does. */
static void
refuse(struct tally_reader *r, const struct tally_snapshot_source_row *kind)
{
	r->kind = kind;
	snprintf(r->reason, sizeof(r->reason), "%s counts the same, and more", kind->unless);
	atomic_store(&r->phase, TALLY_READER_CLOSED);
	atomic_fetch_add(&sampler.n_readers, 1);
}

/* Called by one thread after the other: the next source that is to be opened, or NULL, which ends
 * the list. */
static struct tally_reader *
take_next(void)
{
	struct tally_sampler *s = &sampler;
	while (s->next_kind < s->n_kinds && s->n_readers < TALLY_MAX_SNAPSHOT_SOURCES) {
		const struct tally_snapshot_source_row *kind = &s->kinds[s->next_kind++];
		struct tally_reader *r = &s->readers[s->n_readers];
		if (!is_wanted(kind, s->config))
			continue;
		if (counts_already(s, kind->unless)) {
			if (tally_source_wanted(s->config->sources, &kind->row))
				refuse(r, kind);
			continue;
		}
		r->kind = kind;
		r->config = s->config;
		r->keys = &s->keys;
		r->next = take_next;
		tally_reader_ask(r, 1);
		atomic_store(&r->phase, TALLY_READER_OPENING);
		atomic_fetch_add(&s->n_readers, 1);
		return r;
	}
	tally_key_table_finish(&s->keys);
	atomic_store(&s->all_open, 1);
	tally_futex_wake_all(&s->all_open);
	return NULL;
}

/* False: it is still opening, and will be closed once the kernel answers. */
static bool
has_opened(struct tally_reader *r)
{
	uint32_t opening = TALLY_READER_OPENING;
	if (!atomic_compare_exchange_strong(&r->phase, &opening, TALLY_READER_GIVEN_UP))
		return true;
	tally_log_say(TALLY_LEVEL_WARNING, r->kind->row.name,
		      "it did not open within %u ms and is left out of this run",
		      (unsigned)(tally_sampler_waits.open_ns / NS_PER_MS));
	return false;
}

void
tally_sampler_ready(struct tally_sampler *s)
{
	if (s->ready)
		return;
	tally_reader_leaves(&s->all_open, 0, s->created_ns + tally_sampler_waits.open_ns);
	s->ready = true;
	/* Only the last one can still be opening. */
	for (uint32_t i = 0; i < atomic_load(&s->n_readers); i++) {
		struct tally_reader *r = &s->readers[i];
		s->n_rows++;
		if (has_opened(r) && atomic_load(&r->phase) != TALLY_READER_CLOSED)
			s->sources[s->n_sources++] = r;
	}
	if (s->n_sources == 0)
		return;
	/* The first sample provides the totals from which counting starts. */
	for (uint32_t i = 0; i < s->n_sources; i++)
		tally_reader_await(s->sources[i], 1,
				   tally_clock_now_ns() + s->sources[i]->answer_ns);
	atomic_store(&exact, s->config->snapshot == TALLY_SNAPSHOT_EXACT);
	atomic_store(&live, true);
}

bool
tally_sampler_is_ready(struct tally_sampler *s)
{
	if (!s->ready &&
	    (tally_reader_leaves(&s->all_open, 0, s->created_ns + tally_sampler_waits.first_ns) ||
	     tally_clock_now_ns() >= s->created_ns + tally_sampler_waits.open_ns))
		tally_sampler_ready(s);
	return s->ready;
}

/* ---- lifetime ---- */

static void
forget_readers(struct tally_sampler *s)
{
	memset(s, 0, sizeof(*s));
	for (uint32_t i = 0; i < TALLY_MAX_SNAPSHOT_SOURCES; i++)
		s->readers[i].lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* A thread of the previous capture may still hang. */
static bool
is_free(const struct tally_sampler *s)
{
	for (uint32_t i = 0; i < s->n_readers; i++)
		if (atomic_load(&s->readers[i].phase) != TALLY_READER_CLOSED)
			return false;
	return (!s->created || s->stuck) && atomic_load(&s->n_visitors) == 0;
}

struct tally_sampler *
tally_sampler_create_of(const struct tally_config *config,
			const struct tally_snapshot_source_row *kinds, uint32_t n)
{
	/* The fork happened while no capture was active, or one was ending: abandon()
	 * was not called. */
	bool of_parent = sampler.pid != getpid();
	if (config->snapshot == TALLY_SNAPSHOT_OFF || (!of_parent && !is_free(&sampler)))
		return NULL;
	forget_readers(&sampler);
	sampler.pid = getpid();
	sampler.created = true;
	sampler.created_ns = tally_clock_now_ns();
	sampler.config = config;
	sampler.kinds = kinds;
	sampler.n_kinds = n;
	sampler.number = 1;
	atomic_store(&tally_sampler_gpu, 0);
	tally_reader_start(take_next);
	/* The game's first boundary must have its sample. */
	if (config->snapshot == TALLY_SNAPSHOT_EXACT)
		tally_sampler_ready(&sampler);
	return &sampler;
}

struct tally_sampler *
tally_sampler_create(const struct tally_config *config)
{
	return tally_sampler_create_of(config, tally_snapshot_sources, tally_n_snapshot_sources);
}

/* Gives a warning for each reader that does not stop counting in time. */
static void
await_readers(struct tally_sampler *s)
{
	uint64_t until_ns = tally_clock_now_ns() + tally_sampler_waits.stop_ns;
	for (uint32_t i = 0; i < s->n_readers; i++) {
		struct tally_reader *r = &s->readers[i];
		if (!tally_reader_leaves(&r->phase, TALLY_READER_COUNTS, until_ns))
			tally_log_say(TALLY_LEVEL_WARNING, r->kind->row.name,
				      "it does not answer at the end of the run: it is left "
				      "alone, and what it counted last is not in the log");
	}
}

void
tally_sampler_stop(struct tally_sampler *s)
{
	if (s->stopped)
		return;
	tally_sampler_ready(s);
	atomic_store(&exact, false);
	atomic_store(&live, false);
	s->stopped = true;
	for (uint32_t i = 0; i < s->n_readers; i++) {
		atomic_store(&s->readers[i].stop, true);
		tally_reader_wake(&s->readers[i]);
	}
	await_readers(s);
}

static bool
close_reader(struct tally_reader *r, uint64_t until_ns)
{
	atomic_store(&r->close, true);
	tally_reader_wake(r);
	uint32_t phase;
	while ((phase = atomic_load(&r->phase)) != TALLY_READER_CLOSED)
		if (!tally_reader_leaves(&r->phase, phase, until_ns))
			return false;
	tally_history_destroy(r->history);
	free(r->totals);
	free(r->unknown);
	r->history = NULL;
	r->totals = r->unknown = NULL;
	return true;
}

/* No new threads enter; those inside leave when their own wait is over. */
static bool
visitors_leave(struct tally_sampler *s, uint64_t until_ns)
{
	uint32_t n;
	while ((n = atomic_load(&s->n_visitors)) != 0) {
		if (tally_clock_now_ns() >= until_ns)
			return false;
		tally_futex_wait(&s->n_visitors, n, NS_PER_MS);
	}
	return true;
}

void
tally_sampler_destroy(struct tally_sampler *s)
{
	if (!s)
		return;
	tally_sampler_stop(s);
	uint64_t until_ns = tally_clock_now_ns() + tally_sampler_waits.stop_ns;
	s->stuck = !visitors_leave(s, until_ns);
	for (uint32_t i = 0; i < s->n_readers; i++)
		s->stuck |= !close_reader(&s->readers[i], until_ns);
	if (!s->stuck)
		s->created = false;
}

void
tally_sampler_abandon(struct tally_sampler *s)
{
	if (!s)
		return;
	int saved_errno = errno;
	atomic_store(&live, false);
	atomic_store(&exact, false);
	/* Their memory stays: a thread that no longer exists may have been using
	 * any part of it. */
	for (uint32_t i = 0; i < s->n_readers; i++) {
		struct tally_reader *r = &s->readers[i];
		uint32_t phase = atomic_load(&r->phase);
		bool open = phase == TALLY_READER_COUNTS || phase == TALLY_READER_LOST ||
			    phase == TALLY_READER_STOPPED;
		struct tally_snapshot_source *src = r->src;
		if (open && src)
			src->ops->abandon(src);
	}
	errno = saved_errno;
	forget_readers(s);
}

/* ---- results ---- */

uint32_t
tally_sampler_n_rows(const struct tally_sampler *s)
{
	return s->n_rows;
}

struct tally_source_info
tally_sampler_row(const struct tally_sampler *s, uint32_t i)
{
	const struct tally_reader *r = &s->readers[i];
	uint32_t phase = atomic_load(&r->phase);
	bool on = phase == TALLY_READER_COUNTS || phase == TALLY_READER_STOPPED;
	const char *reason = phase == TALLY_READER_LOST       ? r->lost
			     : phase == TALLY_READER_GIVEN_UP ? "it did not answer in time"
							      : r->reason;
	return (struct tally_source_info){ r->kind->row.name, on, reason[0] ? reason : NULL };
}

uint32_t
tally_sampler_n_sources(const struct tally_sampler *s)
{
	return s->n_sources;
}

const struct tally_snapshot_source *
tally_sampler_source(const struct tally_sampler *s, uint32_t i)
{
	return s->sources[i]->src;
}

const struct tally_snapshot_level *
tally_sampler_levels(const struct tally_sampler *s, uint32_t i)
{
	return s->sources[i]->levels;
}

struct tally_history *
tally_sampler_history(struct tally_sampler *s, uint32_t i)
{
	return s->sources[i]->history;
}
