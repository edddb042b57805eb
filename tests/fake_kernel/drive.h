/* SPDX-License-Identifier: MIT */
/* tests/fake_kernel/drive.h - how a program or a test sets what the simulated GPU counted.
 *
 * The total of counter c of instance i of block b (0 front end, 1 tiler, 2 L2, 3 shader core by its
 * physical number) is rate(b, i, c) counts for each microsecond of the script's clock, plus
 * what was added to it by name. The script's clock stands still (clock=off), or runs at `speed`
 * times CLOCK_MONOTONIC (clock=mono), and also advances by what a program requests. Programs
 * find the state by dlsym(); without the simulated kernel every call does nothing.
 */
#ifndef FAKE_KERNEL_DRIVE_H
#define FAKE_KERNEL_DRIVE_H

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define FAKE_BLOCKS 4
#define FAKE_INSTANCES 32
#define FAKE_COUNTERS 128
#define FAKE_STATE_MAGIC UINT64_C(0x7061737374616c6b)

struct fake_kernel_state {
	uint64_t magic;
	uint32_t lock; /* for all members below; held for a few instructions */
	uint32_t speed; /* speed of the script's clock */
	uint64_t script_ns; /* at since_ns of CLOCK_MONOTONIC */
	uint64_t since_ns;
	uint64_t n_samples; /* samples that the kernel made, of all readers */
	uint64_t n_misuses;
	uint64_t longest_ns; /* between two samples of one reader; readers may clear it */
	uint64_t kernel_ns; /* spent in the simulated kernel */
	uint64_t added[FAKE_BLOCKS][FAKE_INSTANCES][FAKE_COUNTERS];
};

static inline uint64_t
fake_kernel_rate(unsigned block, unsigned instance, unsigned counter)
{
	return (uint64_t)(counter + 1) * (instance + 1) + 64 * block;
}

static inline struct fake_kernel_state *
fake_kernel_find(void)
{
	static struct fake_kernel_state *found;
	if (!found) {
		struct fake_kernel_state *(*get)(void) = NULL;
		void *symbol = dlsym(RTLD_DEFAULT, "fake_kernel_get_state");
		memcpy(&get, &symbol, sizeof(get));
		found = get ? get() : NULL;
	}
	return found;
}

static inline void
fake_kernel_lock(struct fake_kernel_state *s)
{
	while (__atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE))
		;
}

static inline void
fake_kernel_unlock(struct fake_kernel_state *s)
{
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
}

/* The lock is held. Returns what the script's clock shows, brought up to date. */
static inline uint64_t
fake_kernel_script_ns(struct fake_kernel_state *s)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	s->script_ns += (now_ns - s->since_ns) * s->speed;
	s->since_ns = now_ns;
	return s->script_ns;
}

/* The script's clock jumps. */
static inline void
fake_kernel_advance(uint64_t ns)
{
	struct fake_kernel_state *s = fake_kernel_find();
	if (!s)
		return;
	fake_kernel_lock(s);
	s->script_ns += ns;
	fake_kernel_unlock(s);
}

/* From now on the clock runs at this multiple of the real clock. Returns what it shows now. */
static inline uint64_t
fake_kernel_set_speed(uint32_t speed)
{
	struct fake_kernel_state *s = fake_kernel_find();
	uint64_t shows = 0;
	if (!s)
		return 0;
	fake_kernel_lock(s);
	shows = fake_kernel_script_ns(s);
	s->speed = speed;
	fake_kernel_unlock(s);
	return shows;
}

/* Returns the longest time between two samples of one reader since the last call. */
static inline uint64_t
fake_kernel_longest_ns(void)
{
	struct fake_kernel_state *s = fake_kernel_find();
	return s ? __atomic_exchange_n(&s->longest_ns, 0, __ATOMIC_RELAXED) : 0;
}

/* Adds this many counts to one counter of one instance. */
static inline void
fake_kernel_add(unsigned block, unsigned instance, unsigned counter, uint64_t counts)
{
	struct fake_kernel_state *s = fake_kernel_find();
	if (!s)
		return;
	fake_kernel_lock(s);
	s->added[block][instance][counter] += counts;
	fake_kernel_unlock(s);
}

#endif
