#include "query/sampler/internal.h"

#include "layer/clock.h"
#include "layer/futex.h"
#include "layer/log.h"
#include "query/sources.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HISTORY_BYTES ((size_t)8 << 20)
#define STOP_WAIT_NS UINT64_C(1000000000)
#define NAP_NS UINT64_C(50000)

/* A source that was looked for. */
struct row {
	const char *name;
	struct tally_snapshot_source *src; /* NULL: it was off from the start */
	struct tally_history *history;
	uint64_t *totals, *unknown; /* of the reading that is being taken */
	bool counts; /* between start() and stop() */
	atomic_bool on; /* false, and reason true, from the loss on */
	char reason[sizeof(((struct tally_snapshot_source *)0)->reason)]; /* of the start */
	char lost[sizeof(((struct tally_snapshot_source *)0)->reason)];
};

/* Never freed, so that a thread of the game may ask for a sample whenever it likes. */
struct tally_sampler {
	/* Guards rows, histories and the sources' calls once there is a capture. Only log.h's lock
	 * is taken under it. */
	pthread_mutex_t lock;
	struct row rows[TALLY_MAX_SNAPSHOT_SOURCES];
	uint32_t n_rows;
	struct row *sources[TALLY_MAX_SNAPSHOT_SOURCES]; /* on at the start */
	uint32_t n_sources;
	uint64_t number; /* of the newest sample */
	bool created, stopped, stuck;
	_Atomic pid_t pid;
};
static struct tally_sampler sampler = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_bool live; /* samples may be taken */
static atomic_bool exact;

/* ---- reading ---- */

/* No more will come of it; what it counted before stands. */
static void
lose(struct row *row)
{
	row->src->ops->stop(row->src);
	row->counts = false;
	snprintf(row->lost, sizeof(row->lost), "%s",
		 row->src->reason[0] ? row->src->reason : "it stopped counting");
	atomic_store(&row->on, false);
	tally_log_say(TALLY_LEVEL_WARNING, row->name, "it counts no more, values end here: %s",
		      row->lost);
}

static bool
read_row(struct row *row, uint64_t number)
{
	struct tally_totals now = { .totals = row->totals, .unknown = row->unknown };
	memset(row->unknown, 0, (row->src->n_counters + 63) / 64 * sizeof(*row->unknown));
	enum tally_status status = row->src->ops->sample(row->src, &now);
	if (status != TALLY_OK) {
		if (status != TALLY_NOT_READY)
			lose(row);
		return false;
	}
	struct tally_reading reading = {
		.number = number,
		.time_ns = now.begin_ns + (now.end_ns - now.begin_ns) / 2,
		.totals = row->totals,
		.unknown = row->unknown,
		.flags = now.flags,
	};
	if (tally_history_add(row->history, &reading))
		return true;
	tally_log_say(TALLY_LEVEL_WARNING, row->name,
		      "out of memory: totals are read less finely than asked for");
	return false;
}

/* All sources, with the lock held; one number for all. */
static uint64_t
read_all(void)
{
	bool any = false;
	for (uint32_t i = 0; i < sampler.n_sources; i++)
		if (sampler.sources[i]->counts)
			any |= read_row(sampler.sources[i], sampler.number + 1);
	return any ? ++sampler.number : TALLY_NO_SNAPSHOT;
}

static uint64_t
take(uint64_t *cost_ns)
{
	uint64_t number = TALLY_NO_SNAPSHOT;
	pthread_mutex_lock(&sampler.lock);
	if (atomic_load(&live)) {
		uint64_t begin_ns = tally_clock_now_ns();
		number = read_all();
		*cost_ns = tally_clock_now_ns() - begin_ns;
	}
	pthread_mutex_unlock(&sampler.lock);
	return number;
}

bool
tally_snapshot_exact(void)
{
	return atomic_load_explicit(&exact, memory_order_relaxed);
}

uint64_t
tally_snapshot_take(void)
{
	/* Without a capture of this process the lock is left alone: in a forked child nobody may be
	 * there to give it back. */
	if (!atomic_load(&live) || sampler.pid != getpid())
		return TALLY_NO_SNAPSHOT;
	int saved_errno = errno;
	uint64_t cost_ns, number = take(&cost_ns);
	errno = saved_errno;
	return number;
}

void
tally_sampler_cover(struct tally_sampler *s, uint64_t time_ns)
{
	bool covered = true;
	pthread_mutex_lock(&s->lock);
	for (uint32_t i = 0; i < s->n_sources; i++) {
		struct tally_reading last;
		struct row *row = s->sources[i];
		if (row->counts &&
		    (!tally_history_last(row->history, &last) || last.time_ns < time_ns))
			covered = false;
	}
	if (!covered && atomic_load(&live))
		read_all();
	pthread_mutex_unlock(&s->lock);
}

void
tally_sampler_lock(struct tally_sampler *s)
{
	pthread_mutex_lock(&s->lock);
}

void
tally_sampler_unlock(struct tally_sampler *s)
{
	pthread_mutex_unlock(&s->lock);
}

/* ---- opening ---- */

static const char *
words_for(enum tally_status status)
{
	switch (status) {
	case TALLY_UNSUPPORTED:
		return "this machine does not have it";
	case TALLY_DENIED:
		return "this user may not read it";
	case TALLY_NO_MEMORY:
		return "out of memory";
	default:
		return "it could not be opened";
	}
}

static enum tally_status
make_room(struct row *row)
{
	uint32_t n = row->src->n_counters;
	row->history = tally_history_create(n, HISTORY_BYTES);
	row->totals = calloc((size_t)n + 1, sizeof(*row->totals));
	row->unknown = calloc((size_t)n / 64 + 1, sizeof(*row->unknown));
	return row->history && row->totals && row->unknown ? TALLY_OK : TALLY_NO_MEMORY;
}

static void
free_room(struct row *row)
{
	tally_history_destroy(row->history);
	free(row->totals);
	free(row->unknown);
	row->history = NULL;
	row->totals = row->unknown = NULL;
}

/* Probe, open and start what row->src is; on error it is closed again. */
static enum tally_status
open_source(struct row *row, struct tally_snapshot_source *src, const struct tally_config *config,
	    struct tally_key_table *keys)
{
	src->config = config;
	enum tally_status status = src->ops->probe(src);
	if (status != TALLY_OK) {
		src->config = NULL;
		return status;
	}
	src->wanted = config->counters;
	src->metrics_wanted = true;
	/* Only there it matters at which moment a count is told. */
	src->settle_ns = config->snapshot == TALLY_SNAPSHOT_EXACT ? config->mali_delay_ns : 0;
	src->keys = keys;
	status = src->ops->open(src);
	src->config = NULL;
	src->wanted = NULL;
	src->keys = NULL;
	if (status != TALLY_OK)
		return status;
	row->src = src;
	if (src->n_counters == 0) {
		snprintf(src->reason, sizeof(src->reason), "nothing of it was asked for");
		status = TALLY_UNSUPPORTED;
	}
	if (status == TALLY_OK)
		status = make_room(row);
	if (status == TALLY_OK)
		status = src->ops->start(src);
	if (status == TALLY_OK)
		return TALLY_OK;
	free_room(row);
	row->src = NULL;
	src->ops->close(src);
	return status;
}

static void
open_row(const struct tally_snapshot_source_row *kind, const struct tally_config *config,
	 struct tally_key_table *keys)
{
	struct row *row = &sampler.rows[sampler.n_rows++];
	row->name = kind->row.name;
	struct tally_snapshot_source *src = kind->create();
	enum tally_status status = src ? open_source(row, src, config, keys) : TALLY_NO_MEMORY;
	const char *reason = src ? src->reason : "";
	if (status != TALLY_OK && !reason[0])
		reason = words_for(status);
	snprintf(row->reason, sizeof(row->reason), "%s", reason);
	if (status == TALLY_OK) {
		row->counts = true;
		atomic_store(&row->on, true);
		sampler.sources[sampler.n_sources++] = row;
	} else if (src) {
		src->ops->destroy(src);
	}
}

static bool
counts_already(const char *name)
{
	for (uint32_t i = 0; name && i < sampler.n_sources; i++)
		if (strcmp(sampler.sources[i]->name, name) == 0)
			return true;
	return false;
}

static bool
is_wanted(const struct tally_snapshot_source_row *kind, const struct tally_config *config)
{
	if (tally_source_wanted(config->sources, &kind->row))
		return true;
	return kind->with_cpu && (config->cpu || (!config->sources && config->counters &&
						  kind->named(config->counters)));
}

static void
open_rows(const struct tally_config *config, const struct tally_snapshot_source_row *kinds,
	  uint32_t n)
{
	struct tally_key_table keys = { 0 };
	for (uint32_t i = 0; i < n && sampler.n_rows < TALLY_MAX_SNAPSHOT_SOURCES; i++) {
		if (!is_wanted(&kinds[i], config))
			continue;
		if (!counts_already(kinds[i].unless)) {
			open_row(&kinds[i], config, &keys);
		} else if (tally_source_wanted(config->sources, &kinds[i].row)) {
			struct row *row = &sampler.rows[sampler.n_rows++];
			row->name = kinds[i].row.name;
			snprintf(row->reason, sizeof(row->reason), "%s counts the same, and more",
				 kinds[i].unless);
		}
	}
	tally_key_table_finish(&keys);
}

/* ---- life ---- */

/* All but the lock as it was before the first capture. */
static void
forget_rows(void)
{
	memset(sampler.rows, 0, sizeof(sampler.rows));
	sampler.n_rows = sampler.n_sources = 0;
	sampler.number = 0;
	sampler.created = sampler.stopped = sampler.stuck = false;
}

static void
renew_lock(void)
{
	/* Who held it in the parent does not exist here. */
	sampler.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

struct tally_sampler *
tally_sampler_create_of(const struct tally_config *config,
			const struct tally_snapshot_source_row *kinds, uint32_t n)
{
	/* Forked while no capture ran, or one that was ending: abandon() was not called. */
	bool of_parent = sampler.pid != getpid();
	if (config->snapshot == TALLY_SNAPSHOT_OFF || (sampler.created && !of_parent))
		return NULL;
	if (of_parent)
		renew_lock();
	pthread_mutex_lock(&sampler.lock);
	forget_rows();
	sampler.pid = getpid();
	sampler.created = true;
	open_rows(config, kinds, n);
	bool any = sampler.n_sources > 0;
	if (any)
		read_all();
	atomic_store(&live, any);
	atomic_store(&exact, any && config->snapshot == TALLY_SNAPSHOT_EXACT);
	pthread_mutex_unlock(&sampler.lock);
	if (any && !tally_sampler_thread_start(tally_sampler_pace_of(&sampler, config), take))
		tally_log_say(TALLY_LEVEL_WARNING, "sampler",
			      "no thread could be started: totals are read where frames end");
	return &sampler;
}

struct tally_sampler *
tally_sampler_create(const struct tally_config *config)
{
	return tally_sampler_create_of(config, tally_snapshot_sources, tally_n_snapshot_sources);
}

/* Not pthread_mutex_clocklock(): gcc 12's ThreadSanitizer does not know it. */
static bool
lock_until(struct tally_sampler *s, uint64_t until_ns)
{
	static _Atomic uint32_t nobody;
	while (pthread_mutex_trylock(&s->lock) != 0) {
		if (tally_clock_now_ns() >= until_ns)
			return false;
		tally_futex_wait(&nobody, 0, NAP_NS);
	}
	return true;
}

void
tally_sampler_stop(struct tally_sampler *s)
{
	if (s->stopped || s->stuck)
		return;
	atomic_store(&exact, false);
	uint64_t until_ns = tally_clock_now_ns() + STOP_WAIT_NS;
	bool through = tally_sampler_thread_stop(STOP_WAIT_NS);
	if (!through || !lock_until(s, until_ns)) {
		/* The kernel keeps a reading: leave all of it to that thread, for good. */
		atomic_store(&live, false);
		s->stuck = true;
		tally_log_say(TALLY_LEVEL_WARNING, "sampler",
			      "a counter source did not answer for a second: it is left alone");
		return;
	}
	if (atomic_exchange(&live, false))
		read_all();
	for (uint32_t i = 0; i < s->n_sources; i++) {
		struct row *row = s->sources[i];
		if (row->counts)
			row->src->ops->stop(row->src);
		row->counts = false;
	}
	s->stopped = true;
	pthread_mutex_unlock(&s->lock);
}

void
tally_sampler_destroy(struct tally_sampler *s)
{
	if (!s)
		return;
	tally_sampler_stop(s);
	if (s->stuck)
		return; /* no capture after this one has snapshots */
	for (uint32_t i = 0; i < s->n_rows; i++) {
		struct row *row = &s->rows[i];
		struct tally_snapshot_source *src = row->src;
		/* A child that is forked meanwhile must not find it half closed. */
		atomic_store(&row->on, false);
		row->src = NULL;
		if (src) {
			src->ops->close(src);
			src->ops->destroy(src);
		}
		free_room(row);
	}
	forget_rows();
}

void
tally_sampler_abandon(struct tally_sampler *s)
{
	if (!s)
		return;
	atomic_store(&live, false);
	atomic_store(&exact, false);
	tally_sampler_thread_forget();
	renew_lock();
	/* Their memory stays: a thread that is no more may have been anywhere in it. */
	for (uint32_t i = 0; i < s->n_rows; i++)
		if (s->rows[i].src)
			s->rows[i].src->ops->abandon(s->rows[i].src);
	forget_rows();
}

/* ---- what there is ---- */

uint32_t
tally_sampler_n_rows(const struct tally_sampler *s)
{
	return s->n_rows;
}

struct tally_source_info
tally_sampler_row(const struct tally_sampler *s, uint32_t i)
{
	const struct row *row = &s->rows[i];
	bool on = atomic_load(&row->on);
	const char *reason = !on && row->src ? row->lost : row->reason;
	return (struct tally_source_info){ row->name, on, reason[0] ? reason : NULL };
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

struct tally_history *
tally_sampler_history(struct tally_sampler *s, uint32_t i)
{
	return s->sources[i]->history;
}
