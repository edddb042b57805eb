/* SPDX-License-Identifier: MIT */
#include "query/sampler/reader.h"

#include "layer/base/clock.h"
#include "layer/base/futex.h"
#include "layer/base/own_threads.h"
#include "layer/base/thread.h"
#include "layer/capture/trigger.h"
#include "layer/log.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HISTORY_BYTES ((size_t)8 << 20)
#define NS_PER_MS UINT64_C(1000000)
#define DEFAULT_NS NS_PER_MS
/* The period where a reading takes long, and with `exact`, where boundaries are read anyway. */
#define SLOW_NS (100 * NS_PER_MS)
/* Readings may take at most one part in COST_SHARE of the time. */
#define COST_SHARE 50
/* The number of costs examined together: the median represents all, because some are
 * interrupted. */
#define N_COSTS 15
/* How often a thread that waits for the source's descriptor checks whether a reading
 * was requested. */
#define DUE_LOOK_NS (2 * NS_PER_MS)
/* If frames have passed for this long without a captured one, nothing is being captured. */
#define IDLE_NS (1000 * NS_PER_MS)
/* If no frame has passed, the game may have stopped presenting, or be in a long frame, whose
 * values would be lost: therefore later, and only for sources that are slow to read. */
#define STILL_NS (3000 * NS_PER_MS)

struct tally_sampler_waits tally_sampler_waits = {
	.open_ns = 500 * NS_PER_MS,
	.first_ns = 100 * NS_PER_MS, /* a killed game loses no more */
	.answer_ns = 100 * NS_PER_MS,
	.stop_ns = 250 * NS_PER_MS,
};
struct tally_sampler_frames tally_sampler_frames;
_Atomic uint64_t tally_sampler_gpu;

/* State that only the thread uses. */
struct reading_loop {
	uint64_t period_ns, next_ns;
	uint64_t costs[N_COSTS];
	unsigned n_costs;
	/* The values of tally_sampler_frames when a captured frame was last seen. */
	uint64_t captured, all, captured_ns;
	bool idle;
	bool missed; /* it was idle since the previous reading */
};

/* ---- for other threads ---- */

void
tally_reader_wake(struct tally_reader *r)
{
	atomic_fetch_add(&r->wake, 1);
	tally_futex_wake_all(&r->wake);
}

void
tally_reader_ask(struct tally_reader *r, uint64_t number)
{
	uint64_t wanted = atomic_load(&r->wanted);
	while (wanted < number && !atomic_compare_exchange_weak(&r->wanted, &wanted, number))
		;
	tally_reader_wake(r);
}

static void
report_silent(const struct tally_reader *r)
{
	tally_log_say(TALLY_LEVEL_WARNING, r->kind->row.name,
		      "a reading takes over %u ms: this source's values are left out until it "
		      "answers",
		      (unsigned)(r->answer_ns / NS_PER_MS));
}

bool
tally_reader_await(struct tally_reader *r, uint64_t number, uint64_t until_ns)
{
	for (;;) {
		uint32_t answers = atomic_load(&r->answers);
		uint64_t now_ns = tally_clock_now_ns();
		bool counts = atomic_load(&r->phase) == TALLY_READER_COUNTS;
		pthread_mutex_lock(&r->lock);
		bool done = r->done >= number;
		bool late = !done && now_ns >= until_ns && !r->silent;
		bool give_up = !done && (late || r->silent || !counts);
		if (late)
			r->silent = true;
		if (give_up && r->unanswered < number)
			r->unanswered = number;
		bool answered = done && r->unanswered < number;
		pthread_mutex_unlock(&r->lock);
		if (late)
			report_silent(r);
		if (done || give_up)
			return answered;
		tally_futex_wait(&r->answers, answers, until_ns - now_ns);
	}
}

bool
tally_reader_covers(struct tally_reader *r, uint64_t time_ns)
{
	struct tally_reading last;
	pthread_mutex_lock(&r->lock);
	bool covers = tally_history_last(r->history, &last) && last.time_ns >= time_ns;
	pthread_mutex_unlock(&r->lock);
	return covers;
}

bool
tally_reader_leaves(_Atomic uint32_t *word, uint32_t value, uint64_t until_ns)
{
	while (atomic_load(word) == value) {
		uint64_t now_ns = tally_clock_now_ns();
		if (now_ns >= until_ns)
			return false;
		tally_futex_wait(word, value, until_ns - now_ns);
	}
	return true;
}

static void
dealt_with(struct tally_reader *r)
{
	atomic_fetch_add(&r->answers, 1);
	tally_futex_wake_all(&r->answers);
}

static void
enter_phase(struct tally_reader *r, enum tally_reader_phase phase)
{
	atomic_store(&r->phase, phase);
	tally_futex_wake_all(&r->phase);
}

/* ---- opening ---- */

/* For statuses whose source gives no reason. */
static const char *const words_for[] = {
	[TALLY_UNSUPPORTED] = "this machine does not have it",
	[TALLY_DENIED] = "this user may not read it",
	[TALLY_NO_MEMORY] = "out of memory",
	[TALLY_NOT_READY] = "it could not be opened",
	[TALLY_LOST] = "it could not be opened",
};

static enum tally_status
make_room(struct tally_reader *r)
{
	uint32_t n = r->src->n_counters;
	r->history = tally_history_create(n, HISTORY_BYTES);
	r->totals = calloc((size_t)n + 1, sizeof(*r->totals));
	r->unknown = calloc((size_t)n / 64 + 1, sizeof(*r->unknown));
	return r->history && r->totals && r->unknown ? TALLY_OK : TALLY_NO_MEMORY;
}

/* The second of two counters that share a key; NULL: there is none. An object of the log has one
 * value of a key. What different sources offer is told apart by tally_key_table_add(). */
static const struct tally_counter *
find_double(const struct tally_snapshot_source *src)
{
	for (uint32_t i = 1; i < src->n_counters; i++)
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(src->counters[i]->key, src->counters[k]->key) == 0)
				return src->counters[i];
	return NULL;
}

static enum tally_status
start_source(struct tally_reader *r)
{
	struct tally_snapshot_source *src = r->src;
	if (src->n_counters == 0) {
		snprintf(src->reason, sizeof(src->reason), "nothing of it was asked for");
		return TALLY_UNSUPPORTED;
	}
	const struct tally_counter *second = find_double(src);
	if (second)
		return tally_unsupported(src->reason, "two of its counters are called %s",
					 second->key);
	enum tally_status status = make_room(r);
	return status == TALLY_OK ? src->ops->start(src) : status;
}

/* Probes, opens and starts the source r->src; on error the source is closed again. */
static enum tally_status
open_source(struct tally_reader *r)
{
	struct tally_snapshot_source *src = r->src;
	const struct tally_config *config = r->config;
	bool exact = config->snapshot == TALLY_SNAPSHOT_EXACT;
	src->config = config;
	src->gpu = &tally_sampler_gpu;
	enum tally_status status = src->ops->probe(src);
	if (status == TALLY_OK) {
		src->wanted = config->counters;
		src->metrics_wanted = true;
		/* The moment at which a count is reported matters only there. */
		src->settle_ns = exact ? config->mali_delay_ns : 0;
		src->keys = r->keys;
		status = src->ops->open(src);
		src->wanted = NULL;
		src->keys = NULL;
	}
	src->config = NULL;
	if (status != TALLY_OK)
		return status;
	status = start_source(r);
	if (status != TALLY_OK)
		src->ops->close(src);
	return status;
}

/* False: there is nothing to read, and the source is freed. */
static bool
open_reader(struct tally_reader *r)
{
	r->src = r->kind->create();
	enum tally_status status = r->src ? open_source(r) : TALLY_NO_MEMORY;
	const char *reason = r->src ? r->src->reason : "";
	if (status != TALLY_OK && !reason[0])
		reason = words_for[status];
	snprintf(r->reason, sizeof(r->reason), "%s", reason);
	if (status != TALLY_OK) {
		if (r->src)
			r->src->ops->destroy(r->src);
		return false;
	}
	r->pace = tally_sampler_pace_of(r->src, r->config);
	r->answer_ns = tally_sampler_waits.answer_ns + r->src->settle_ns;
	return true;
}

/* ---- when to read ---- */

struct tally_sampler_pace
tally_sampler_pace_of(const struct tally_snapshot_source *src, const struct tally_config *config)
{
	uint64_t most = src->most_period_ns ? src->most_period_ns : UINT64_MAX;
	struct tally_sampler_pace pace = {
		.due_fd = src->due_fd,
		.period_ns = config->period_ns ? config->period_ns : DEFAULT_NS,
		.most_ns = most,
		.always = config->start_on.kind == TALLY_TRIGGER_HW ||
			  config->stop_on.kind == TALLY_TRIGGER_HW,
	};
	/* A missing interrupt must not end the capture's readings. */
	if (config->snapshot == TALLY_SNAPSHOT_EXACT || src->due_fd)
		pace.period_ns = SLOW_NS;
	if (pace.period_ns < src->least_period_ns)
		pace.period_ns = src->least_period_ns;
	/* A source reports when it is read too often; one that is read too rarely
	 * loses counts. */
	if (pace.period_ns > most)
		pace.period_ns = most;
	if (pace.most_ns > SLOW_NS)
		pace.most_ns = SLOW_NS;
	if (pace.most_ns < pace.period_ns)
		pace.most_ns = pace.period_ns;
	return pace;
}

static uint64_t
median_of(uint64_t costs[N_COSTS])
{
	for (unsigned i = 1; i < N_COSTS; i++) {
		uint64_t cost = costs[i];
		unsigned k = i;
		for (; k > 0 && costs[k - 1] > cost; k--)
			costs[k] = costs[k - 1];
		costs[k] = cost;
	}
	return costs[N_COSTS / 2];
}

/* Lengthens the period until readings take at most one part in COST_SHARE of the time. */
static void
slow_down(struct tally_reader *r, struct reading_loop *loop)
{
	uint64_t cost_ns = median_of(loop->costs), slower = loop->period_ns;
	loop->n_costs = 0;
	while (slower < r->pace.most_ns && cost_ns > slower / COST_SHARE)
		slower = slower > r->pace.most_ns / 2 ? r->pace.most_ns : 2 * slower;
	if (slower == loop->period_ns)
		return;
	tally_log_say(TALLY_LEVEL_INFO, r->kind->row.name, "its totals are read every %.3f ms",
		      (double)slower / 1e6);
	loop->period_ns = slower;
}

/* Whether nothing is being captured. */
static bool
is_idle(const struct tally_reader *r, struct reading_loop *loop, uint64_t now_ns)
{
	uint64_t captured = atomic_load(&tally_sampler_frames.captured);
	uint64_t all = atomic_load(&tally_sampler_frames.all);
	uint64_t still_ns = r->src->least_period_ns ? STILL_NS : UINT64_MAX;
	if (r->pace.always)
		return false;
	if (captured != loop->captured) {
		loop->captured = captured;
		loop->all = all;
		loop->captured_ns = now_ns;
		loop->idle = false;
	} else if (now_ns - loop->captured_ns >= (all != loop->all ? IDLE_NS : still_ns)) {
		loop->idle = true;
	}
	loop->missed |= loop->idle;
	return loop->idle;
}

/* Sleeps until a captured frame begins, or a reading is requested. */
static void
sleep_idle(struct tally_reader *r, const struct reading_loop *loop, uint32_t wake)
{
	atomic_fetch_add(&tally_sampler_frames.asleep, 1);
	if (atomic_load(&tally_sampler_frames.captured) == loop->captured)
		tally_futex_wait(&r->wake, wake, TALLY_FOREVER);
	atomic_fetch_sub(&tally_sampler_frames.asleep, 1);
}

/* Waits for at most that long. True: the source reports that a reading is due. */
static bool
wait_for(struct tally_reader *r, uint32_t wake, uint64_t ns)
{
	if (!r->pace.due_fd) {
		tally_futex_wait(&r->wake, wake, ns);
		return false;
	}
	struct pollfd due = { .fd = *r->pace.due_fd, .events = POLLIN };
	int ms = (int)((ns < DUE_LOOK_NS ? ns : DUE_LOOK_NS) / NS_PER_MS) + 1;
	int n = poll(&due, 1, ms);
	if (n > 0 && due.revents & (POLLERR | POLLHUP | POLLNVAL)) {
		r->pace.due_fd = NULL;
		return false;
	}
	return n > 0;
}

/* ---- reading ---- */

static bool
is_lost(enum tally_status status)
{
	return status != TALLY_OK && status != TALLY_NOT_READY;
}

static void
lose(struct tally_reader *r)
{
	struct tally_snapshot_source *src = r->src;
	src->ops->stop(src);
	snprintf(r->lost, sizeof(r->lost), "%s",
		 src->reason[0] ? src->reason : "it stopped counting");
	tally_log_say(TALLY_LEVEL_WARNING, r->kind->row.name,
		      "it counts no more, values end here: %s", r->lost);
	enter_phase(r, TALLY_READER_LOST);
}

/* Stores the reading in the history, with the lock held. */
static bool
keep(struct tally_reader *r, const struct tally_totals *now, uint64_t number, bool missed)
{
	uint64_t answered = r->done > r->unanswered ? r->done : r->unanswered;
	/* The deltas of the totals during unobserved time are unknown. */
	for (uint32_t i = 0; i < r->src->n_counters && (r->silent || missed); i++)
		tally_bit_set(r->unknown, i);
	for (uint32_t i = 0; i < r->src->n_levels && i < TALLY_MAX_LEVELS; i++)
		r->levels[i] = r->src->levels[i];
	return tally_history_add(
		r->history,
		&(struct tally_reading){
			.first = answered + 1,
			.number = number,
			.time_ns = now->begin_ns + (now->end_ns - now->begin_ns) / 2,
			.totals = r->totals,
			.unknown = r->unknown,
			.flags = now->flags,
		});
}

static enum tally_status
read_totals(struct tally_reader *r, bool missed)
{
	uint64_t number = atomic_load(&r->wanted);
	struct tally_totals now = { .totals = r->totals, .unknown = r->unknown };
	memset(r->unknown, 0, (r->src->n_counters + 63) / 64 * sizeof(*r->unknown));
	enum tally_status status = r->src->ops->sample(r->src, &now);
	if (is_lost(status))
		lose(r);
	pthread_mutex_lock(&r->lock);
	bool kept = status == TALLY_OK && keep(r, &now, number, missed);
	if (!kept && r->unanswered < number)
		r->unanswered = number;
	r->done = number;
	r->silent = false;
	pthread_mutex_unlock(&r->lock);
	if (status == TALLY_OK && !kept)
		tally_log_say(TALLY_LEVEL_WARNING, r->kind->row.name,
			      "out of memory: totals are read less finely than asked for");
	dealt_with(r);
	return status;
}

/* Takes one reading and computes when the next is due. False: the source is lost. */
static bool
read_next(struct tally_reader *r, struct reading_loop *loop)
{
	/* The thread's CPU time, not the time that passed: the machine may be busy, or the source
	 * may be waiting. */
	uint64_t begin_ns = tally_clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	enum tally_status status = read_totals(r, loop->missed);
	uint64_t now_ns = tally_clock_now_ns();
	if (is_lost(status))
		return false;
	loop->missed = loop->idle;
	loop->costs[loop->n_costs] =
		tally_clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	if (status == TALLY_OK && ++loop->n_costs == N_COSTS)
		slow_down(r, loop);
	/* Missed readings are not made up for. */
	bool in_step = now_ns >= loop->next_ns && now_ns - loop->next_ns < loop->period_ns;
	loop->next_ns = (in_step ? loop->next_ns : now_ns) + loop->period_ns;
	return true;
}

static void
read_until_stopped(struct tally_reader *r)
{
	struct reading_loop loop = {
		.period_ns = r->pace.period_ns,
		.captured = atomic_load(&tally_sampler_frames.captured),
		.all = atomic_load(&tally_sampler_frames.all),
		.captured_ns = tally_clock_now_ns(),
		.idle = !r->pace.always && tally_trigger_capture() != TALLY_CAPTURE_RUNS,
	};
	uint64_t done = 0;
	bool first = true, counts = true;
	while (counts && !atomic_load(&r->stop)) {
		uint32_t wake = atomic_load(&r->wake);
		uint64_t now_ns = tally_clock_now_ns(), wanted = atomic_load(&r->wanted);
		bool idle = is_idle(r, &loop, now_ns);
		if (!first && wanted == done && (idle || now_ns < loop.next_ns)) {
			if (idle) {
				sleep_idle(r, &loop, wake);
				continue;
			}
			if (!wait_for(r, wake, loop.next_ns - now_ns))
				continue;
		}
		first = false;
		done = wanted;
		counts = read_next(r, &loop);
	}
	if (!counts)
		return;
	if (is_lost(read_totals(r, loop.missed)))
		return;
	r->src->ops->stop(r->src);
	enter_phase(r, TALLY_READER_STOPPED);
	dealt_with(r);
}

/* ---- the thread ---- */

static void
wait_to_close(struct tally_reader *r)
{
	uint32_t wake = atomic_load(&r->wake);
	for (; !atomic_load(&r->close); wake = atomic_load(&r->wake))
		tally_futex_wait(&r->wake, wake, TALLY_FOREVER);
}

static void
run_opened(struct tally_reader *r)
{
	uint32_t opening = TALLY_READER_OPENING;
	if (atomic_compare_exchange_strong(&r->phase, &opening, TALLY_READER_COUNTS)) {
		tally_reader_start(r->next);
		read_until_stopped(r);
		wait_to_close(r);
	} else {
		r->src->ops->stop(r->src);
	}
	struct tally_snapshot_source *src = r->src;
	r->src = NULL;
	src->ops->close(src);
	src->ops->destroy(src);
}

static void *
run_thread(void *data)
{
	struct tally_reader *r = data;
	tally_own_threads_enter();
	while (r && !open_reader(r)) {
		struct tally_reader *closed = r, *(*next)(void) = r->next;
		closed->src = NULL;
		bool in_time = atomic_exchange(&closed->phase, TALLY_READER_CLOSED) ==
			       TALLY_READER_OPENING;
		r = in_time ? next() : NULL;
		tally_futex_wake_all(&closed->phase);
	}
	if (r)
		run_opened(r);
	tally_own_threads_leave();
	if (r)
		enter_phase(r, TALLY_READER_CLOSED);
	return NULL;
}

void
tally_reader_start(struct tally_reader *(*next)(void))
{
	struct tally_reader *r;
	while ((r = next()) && !tally_thread_start(run_thread, r)) {
		snprintf(r->reason, sizeof(r->reason), "no thread could be started for it");
		atomic_store(&r->phase, TALLY_READER_CLOSED);
	}
}
