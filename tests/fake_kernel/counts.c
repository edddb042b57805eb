/* SPDX-License-Identifier: MIT */
#include "tests/fake_kernel/kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAKE_CLOCKS_APART_NS 500

static struct fake_kernel_state *state;
static struct fake_kernel_state alone;

/* Shared with every process that maps the file, or the program's own. */
__attribute__((visibility("default"))) struct fake_kernel_state *
fake_kernel_get_state(void)
{
	if (state)
		return state;
	const char *path = getenv("FAKE_KERNEL_STATE");
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path,
				     O_RDWR | O_CREAT | O_CLOEXEC, 0600)
		      : -1;
	void *at = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, sizeof(*state)) == 0)
		at = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		syscall(SYS_close, fd);
	state = at == MAP_FAILED ? &alone : at;
	if (state->magic != FAKE_STATE_MAGIC) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		state->since_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
		state->speed = fake_config.mono;
		state->magic = FAKE_STATE_MAGIC;
	}
	return state;
}

uint64_t
fake_raw_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint32_t
fake_n_instances(unsigned block)
{
	if (block == FAKE_CORE)
		return (uint32_t)__builtin_popcountll(fake_config.cores);
	return block == FAKE_L2 ? fake_config.l2 : 1;
}

uint32_t
fake_instance(unsigned block, uint32_t n)
{
	uint64_t left = fake_config.cores;
	if (block != FAKE_CORE)
		return n;
	while (n-- > 0)
		left &= left - 1;
	return (uint32_t)__builtin_ctzll(left);
}

uint32_t
fake_highest_core(void)
{
	return 63 - (uint32_t)__builtin_clzll(fake_config.cores);
}

/* rate * ns / 1000, a whole number; the product may need more than 64 bits */
static uint64_t
total(uint64_t script_ns, unsigned block, unsigned instance, unsigned counter)
{
	uint64_t rate = fake_kernel_rate(block, instance, counter);
	return script_ns / 1000 * rate + script_ns % 1000 * rate / 1000 +
	       state->added[block][instance][counter];
}

void
fake_count_sample(uint64_t since_ns, uint64_t now_ns)
{
	state->n_samples++;
	if (now_ns - since_ns > state->longest_ns)
		state->longest_ns = now_ns - since_ns;
}

uint64_t
fake_base_sample(struct fake_base *base)
{
	uint64_t before = 0, after = 0;
	fake_kernel_lock(fake_kernel_get_state());
	/* Reads both clocks together: once more where something came between the readings. */
	for (int i = 0; i < 100; i++) {
		before = fake_raw_ns();
		base->script_ns = fake_kernel_script_ns(state);
		after = fake_raw_ns();
		if (after - before < FAKE_CLOCKS_APART_NS)
			break;
	}
	fake_kernel_unlock(state);
	return before + (after - before) / 2;
}

uint64_t
fake_base_growth(struct fake_base *base, unsigned block, unsigned instance, unsigned counter)
{
	uint64_t now = total(base->script_ns, block, instance, counter);
	uint64_t grown = now - base->seen[block][instance][counter];
	base->seen[block][instance][counter] = now;
	return grown;
}

uint64_t
fake_base_cycles(struct fake_base *base)
{
	uint64_t grown = base->script_ns - base->clock_ns;
	base->clock_ns = base->script_ns;
	return grown;
}

void
fake_base_reset(struct fake_base *base)
{
	fake_base_sample(base);
	fake_base_cycles(base);
	for (unsigned block = 0; block < FAKE_BLOCKS; block++) {
		for (uint32_t n = 0; n < fake_n_instances(block); n++) {
			for (unsigned c = 4; c < fake_config.gpu.n_values; c++)
				fake_base_growth(base, block, fake_instance(block, n), c);
		}
	}
}
