/* SPDX-License-Identifier: MIT */
/* tests/fake_mdm/model.h - a MicroBlaze's debug module, register by register.
 *
 * Written from the facts alone, with nothing of query/: its own layout of items, its own
 * pointer. Cycles follow the caller's clock; all other counts follow from cycles, so that tests
 * know what a sample has to contain. Invalid accesses are counted and not answered properly.
 * One thread.
 */
#ifndef PASSTALLY_TESTS_FAKE_MDM_MODEL_H
#define PASSTALLY_TESTS_FAKE_MDM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_MDM_MAX_COUNTERS 64

/* What the selection does after the last item: not documented, so tests try each variant. */
enum fake_mdm_end {
	FAKE_MDM_END_ZERO = 0,
	FAKE_MDM_END_WRAP,
	FAKE_MDM_END_STAY,
	FAKE_MDM_END_HOLD, /* reads return what was written last */
	FAKE_MDM_N_ENDS,
};

struct fake_mdm_config {
	uint32_t ne, nl, width;
	uint32_t ports; /* cores; all of them count the same */
	bool parallel, serial; /* the access methods that are built in */
	uint32_t key;
	enum fake_mdm_end end;
	uint32_t cycles_per_us; /* 0: the core does not run */
	uint32_t latency; /* latencies are this value plus up to 6; 0: 3 */
	uint64_t start; /* value of counters after a Clear: to make them wrap soon */
	bool dead; /* all reads are ones, writes go nowhere */
	bool held; /* a debugger has the lock */
	bool full; /* latencies overlap */
	uint8_t left_over; /* event of all counters that are not configured */
	bool saturated; /* some latencies have more than 16 bits */
};

struct fake_mdm_counter {
	uint8_t event;
	uint64_t n, sum, sum_sq; /* n is the count of an event counter */
	uint32_t min, max;
	uint32_t status;
};

struct fake_mdm {
	struct fake_mdm_config config;
	struct fake_mdm_counter counters[FAKE_MDM_MAX_COUNTERS], sampled[FAKE_MDM_MAX_COUNTERS];
	uint32_t counter, item; /* the selected counter and item */
	uint32_t written; /* the item that was written last */
	bool running, unlocked;
	uint32_t control; /* DBG_CTRL */
	bool has_control;
	uint32_t which; /* selected cores */
	uint64_t now_ns, ran_ns; /* ran: counting time since the last Clear */
	uint64_t cycles; /* counted since the last Clear */
	uint64_t sampled_cycles;
	bool interrupt; /* Dbg_Intr */
	unsigned n_wrong; /* accesses that no program should make */
	char wrong[80]; /* the last of these accesses */
	unsigned n_clears, n_samples, n_reads;
};

void fake_mdm_init(struct fake_mdm *m, const struct fake_mdm_config *config, uint64_t now_ns);
/* Returns how often an event is counted in `cycles` cycles. */
uint64_t fake_mdm_count(uint32_t event, uint64_t cycles);
/* Returns the i-th latency, where config.saturated is not set. */
uint64_t fake_mdm_latency(const struct fake_mdm *m, uint64_t i);
uint32_t fake_mdm_read(struct fake_mdm *m, uint32_t offset, uint64_t now_ns);
void fake_mdm_write(struct fake_mdm *m, uint32_t offset, uint32_t value, uint64_t now_ns);
/* A cross trigger: counting starts or stops without a register write. */
void fake_mdm_trigger(struct fake_mdm *m, bool count, uint64_t now_ns);

#endif
