#include "query/sampler/internal.h"

#include "layer/clock.h"
#include "layer/futex.h"
#include "layer/log.h"
#include "layer/own_threads.h"
#include "layer/thread.h"

#include <poll.h>
#include <stdatomic.h>

#define NS_PER_MS UINT64_C(1000000)
#define DEFAULT_NS NS_PER_MS
/* Where reading is dear, and with `exact`, where boundaries are read anyway. */
#define SELDOM_NS (100 * NS_PER_MS)
/* Reading may take one part in so many of the time. */
#define COST_SHARE 50
#define STOP_LOOK_NS (20 * NS_PER_MS)
/* Looked at together: the middle one stands for all, as some are interrupted. */
#define N_COSTS 15

static struct {
	_Atomic uint32_t stop; /* 1: end; the thread sleeps on it */
	_Atomic uint32_t running; /* 1 until the thread is through */
	_Atomic uint64_t period_ns;
	struct tally_sampler_pace pace;
	tally_sampler_read *read;
} thread;

struct tally_sampler_pace
tally_sampler_pace_of(const struct tally_sampler *s, const struct tally_config *config)
{
	uint64_t least = 0, most = UINT64_MAX;
	const int *due_fd = NULL;
	for (uint32_t i = 0; i < tally_sampler_n_sources(s); i++) {
		const struct tally_snapshot_source *src = tally_sampler_source(s, i);
		if (src->least_period_ns > least)
			least = src->least_period_ns;
		if (src->most_period_ns && src->most_period_ns < most)
			most = src->most_period_ns;
		if (src->due_fd)
			due_fd = src->due_fd;
	}
	struct tally_sampler_pace pace = {
		.due_fd = due_fd,
		.period_ns = config->period_ns ? config->period_ns : DEFAULT_NS,
		.most_ns = most,
	};
	/* An interrupt that does not come must not end the capture's readings. */
	if (config->snapshot == TALLY_SNAPSHOT_EXACT || due_fd)
		pace.period_ns = SELDOM_NS;
	if (pace.period_ns < least)
		pace.period_ns = least;
	/* A source that is asked too often says no, one that is asked too seldom loses counts. */
	if (pace.period_ns > most)
		pace.period_ns = most;
	if (pace.most_ns > SELDOM_NS)
		pace.most_ns = SELDOM_NS;
	if (pace.most_ns < pace.period_ns)
		pace.most_ns = pace.period_ns;
	return pace;
}

static uint64_t
middle_of(uint64_t costs[N_COSTS])
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

/* The period that keeps reading below its share of the time. */
static uint64_t
slow_down(uint64_t period_ns, uint64_t cost_ns)
{
	uint64_t slower = period_ns;
	while (slower < thread.pace.most_ns && cost_ns > slower / COST_SHARE)
		slower = slower > thread.pace.most_ns / 2 ? thread.pace.most_ns : 2 * slower;
	if (slower != period_ns) {
		tally_log_say(TALLY_LEVEL_WARNING, "sampler",
			      "reading the counters takes %.0f us, over %d %% of the period of "
			      "%.3f ms: the totals are read every %.3f ms instead",
			      (double)cost_ns / 1e3, 100 / COST_SHARE, (double)period_ns / 1e6,
			      (double)slower / 1e6);
		atomic_store(&thread.period_ns, slower);
	}
	return slower;
}

/* Sleeps for at most that long. True: a source says that a sample is due. Where one may say so,
 * nobody wakes us to stop: we look every so often. */
static bool
wait_for(uint64_t ns)
{
	if (!thread.pace.due_fd) {
		tally_futex_wait(&thread.stop, 0, ns);
		return false;
	}
	struct pollfd due = { .fd = *thread.pace.due_fd, .events = POLLIN };
	int ms = (int)((ns < STOP_LOOK_NS ? ns : STOP_LOOK_NS) / NS_PER_MS) + 1;
	int n = poll(&due, 1, ms);
	if (n > 0 && due.revents & (POLLERR | POLLHUP | POLLNVAL)) {
		thread.pace.due_fd = NULL;
		return false;
	}
	return n > 0;
}

static void *
run_thread(void *data)
{
	(void)data;
	uint64_t costs[N_COSTS];
	unsigned n_costs = 0;
	uint64_t period_ns = thread.pace.period_ns;
	uint64_t next_ns = tally_clock_now_ns() + period_ns;
	tally_own_threads_enter();
	while (!atomic_load(&thread.stop)) {
		uint64_t now_ns = tally_clock_now_ns();
		if (now_ns < next_ns && !wait_for(next_ns - now_ns))
			continue;
		if (thread.read(&costs[n_costs]) != TALLY_NO_SNAPSHOT && ++n_costs == N_COSTS) {
			period_ns = slow_down(period_ns, middle_of(costs));
			n_costs = 0;
		}
		now_ns = tally_clock_now_ns();
		/* What was missed is not made up for. */
		bool in_step = now_ns >= next_ns && now_ns - next_ns < period_ns;
		next_ns = (in_step ? next_ns : now_ns) + period_ns;
	}
	tally_own_threads_leave();
	atomic_store(&thread.running, 0);
	tally_futex_wake_all(&thread.running);
	return NULL;
}

bool
tally_sampler_thread_start(struct tally_sampler_pace pace, tally_sampler_read *read)
{
	thread.pace = pace;
	thread.read = read;
	atomic_store(&thread.period_ns, pace.period_ns);
	atomic_store(&thread.stop, 0);
	atomic_store(&thread.running, 1);
	if (tally_thread_start(run_thread, NULL))
		return true;
	atomic_store(&thread.running, 0);
	return false;
}

bool
tally_sampler_thread_stop(uint64_t timeout_ns)
{
	atomic_store(&thread.stop, 1);
	tally_futex_wake_all(&thread.stop);
	uint64_t begin = tally_clock_now_ns();
	while (atomic_load(&thread.running)) {
		uint64_t since = tally_clock_now_ns() - begin;
		if (since >= timeout_ns)
			return false;
		tally_futex_wait(&thread.running, 1, timeout_ns - since);
	}
	return true;
}

void
tally_sampler_thread_forget(void)
{
	atomic_store(&thread.stop, 0);
	atomic_store(&thread.running, 0);
}

uint64_t
tally_sampler_period_ns(void)
{
	return atomic_load(&thread.period_ns);
}
