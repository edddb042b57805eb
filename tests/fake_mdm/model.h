/* SPDX-License-Identifier: MIT */
/* tests/fake_mdm/model.h - a MicroBlaze's debug module, register by register.
 *
 * Written from the facts alone, with nothing of query/: its own layout of items, its own pointer.
 * Cycles pass by the caller's clock; what else is counted follows from cycles, so that tests know
 * what a sample has to hold. Wrong accesses are counted rather than answered well. One thread.
 */
#ifndef PASSTALLY_TESTS_FAKE_MDM_MODEL_H
#define PASSTALLY_TESTS_FAKE_MDM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_MDM_MAX_COUNTERS 64

/* What the selection does behind the last item: not documented, so tests try each. */
enum fake_mdm_end {
	FAKE_MDM_END_ZERO = 0,
	FAKE_MDM_END_WRAP,
	FAKE_MDM_END_STAY,
	FAKE_MDM_END_HOLD, /* what was written last is read */
	FAKE_MDM_N_ENDS,
};

struct fake_mdm_config {
	uint32_t ne, nl, width;
	uint32_t ports; /* cores; all count alike */
	bool parallel, serial; /* the ways that are built in */
	uint32_t key;
	enum fake_mdm_end end;
	uint32_t cycles_per_us; /* 0: the core stands still */
	uint32_t latency; /* latencies are this, and up to 6 more; 0: 3 */
	uint64_t start; /* what counters hold after a Clear: to have them wrap soon */
	bool dead; /* all reads are ones, writes go nowhere */
	bool held; /* a debugger has the lock */
	bool full; /* latencies overlap */
	uint8_t left_over; /* event of all counters that nobody has configured */
	bool saturated; /* latencies of more than 16 bits come now and then */
};

struct fake_mdm_counter {
	uint8_t event;
	uint64_t n, sum, sum_sq; /* n is an event counter's count */
	uint32_t min, max;
	uint32_t status;
};

struct fake_mdm {
	struct fake_mdm_config config;
	struct fake_mdm_counter counters[FAKE_MDM_MAX_COUNTERS], sampled[FAKE_MDM_MAX_COUNTERS];
	uint32_t counter, item; /* what is selected */
	uint32_t written; /* the last item that was */
	bool running, unlocked;
	uint32_t control; /* DBG_CTRL */
	bool has_control;
	uint32_t which; /* cores that are meant */
	uint64_t now_ns, ran_ns; /* ran: while counting, since the last Clear */
	uint64_t cycles; /* counted since the last Clear */
	uint64_t sampled_cycles;
	bool interrupt; /* Dbg_Intr */
	unsigned n_wrong; /* accesses that no one should make */
	char wrong[80]; /* the last of them */
	unsigned n_clears, n_samples, n_reads;
};

void fake_mdm_init(struct fake_mdm *m, const struct fake_mdm_config *config, uint64_t now_ns);
/* So much of an event is counted in `cycles` cycles. */
uint64_t fake_mdm_count(uint32_t event, uint64_t cycles);
/* What the i-th latency is, where config.saturated is not set. */
uint64_t fake_mdm_latency(const struct fake_mdm *m, uint64_t i);
uint32_t fake_mdm_read(struct fake_mdm *m, uint32_t offset, uint64_t now_ns);
void fake_mdm_write(struct fake_mdm *m, uint32_t offset, uint32_t value, uint64_t now_ns);
/* What a cross trigger does: counting starts or stops, and nobody wrote a register. */
void fake_mdm_trigger(struct fake_mdm *m, bool count, uint64_t now_ns);

#endif
