/* SPDX-License-Identifier: MIT */
/* tests/fake_kernel/kernel.h - the interfaces between the parts of the simulated kernel.
 *
 * Everything runs under one lock that interpose.c takes. Functions return 0 or more, or a
 * negative errno, as the kernel's own do. A test library: it may allocate and print.
 */
#ifndef FAKE_KERNEL_KERNEL_H
#define FAKE_KERNEL_KERNEL_H

#include "tests/fake_kernel/drive.h"
#include "tests/fake_kernel/wire.h"

#include <stdbool.h>
#include <stdint.h>

enum fake_kind { FAKE_NOTHING = 0, FAKE_KBASE, FAKE_KBASE_OLD, FAKE_PANFROST, FAKE_PANTHOR };
enum { FAKE_FRONT = 0, FAKE_TILER, FAKE_L2, FAKE_CORE };

struct fake_gpu {
	const char *name;
	uint32_t product; /* as panfrost's GPU_PROD_ID returns it */
	uint32_t n_values; /* of a block */
	uint32_t hwver; /* of the layout of 32-bit buffers */
};

#define FAKE_MAX_RULES 16

/* "off, core 1, at sample 3" */
struct fake_rule {
	char word[24];
	int block, index; /* -1: all */
	uint32_t at, until; /* samples; 0: always */
};

struct fake_fault {
	char call[16];
	int error;
	unsigned hang_ms; /* the call succeeds after that */
	uint32_t from, until; /* calls of that name; 0: always */
};

struct fake_config {
	enum fake_kind kind;
	bool csf;
	struct fake_gpu gpu;
	uint64_t cores; /* the mask */
	uint32_t l2;
	uint32_t major, minor;
	uint32_t groups, node, nomem, set, domains, features, unstable, period_ns;
	uint32_t enum_extra, meta_extra; /* bytes by which items are larger */
	bool unknown; /* items of types that no reader knows yet */
	bool phys, all_blocks, junk, decoy, busy, longid, regular, noscope, mono;
	char props[16], lists[16];
	struct fake_rule rules[FAKE_MAX_RULES];
	uint32_t n_rules;
	struct fake_fault faults[FAKE_MAX_RULES];
	uint32_t n_faults;
};

extern struct fake_config fake_config;

/* config.c */
bool fake_configure(const char *text); /* reports on stderr what it does not understand */
/* The rule `word` for that block at that sample, or NULL. block -1: any. */
const struct fake_rule *fake_rule(const char *word, int block, int index, uint32_t sample);
/* Counts a call by that name, and traces it; returns 0 or the error that the call is to fail
 * with. */
int fake_fault(const char *call);
/* The time that this thread's call takes once no other thread waits for the simulated kernel's
 * lock. */
extern _Thread_local unsigned fake_hang_ms;

/* trace.c */
void fake_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports a call that a program may not make, and counts it. Returns -error. */
int fake_misuse(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* counts.c: what a reader saw last, from which its deltas follow */
struct fake_base {
	uint64_t script_ns, clock_ns;
	uint64_t seen[FAKE_BLOCKS][FAKE_INSTANCES][FAKE_COUNTERS];
};
struct fake_kernel_state *fake_kernel_get_state(void);
void fake_base_reset(struct fake_base *base);
/* Returns the cycles of the GPU's clock since the last call: one for each ns of the script's
 * clock. */
uint64_t fake_base_cycles(struct fake_base *base);
/* Stops the clocks for one sample; returns CLOCK_MONOTONIC_RAW. */
uint64_t fake_base_sample(struct fake_base *base);
/* Records a sample, made this long after the reader's last one. */
void fake_count_sample(uint64_t since_ns, uint64_t now_ns);
uint64_t fake_base_growth(struct fake_base *base, unsigned block, unsigned instance,
			  unsigned counter);
uint32_t fake_n_instances(unsigned block);
/* Physical number of the n-th instance. */
uint32_t fake_instance(unsigned block, uint32_t n);
uint32_t fake_highest_core(void);
uint64_t fake_raw_ns(void); /* CLOCK_MONOTONIC_RAW */

/* buffer32.c: 32-bit buffers of vinstr and panfrost; masks by block, bit i: values 4i..4i+3.
 * fake_buffer_fill() returns the time at which it filled the buffer. */
uint32_t fake_buffer_bytes(void);
uint64_t fake_buffer_fill(struct fake_base *base, const uint32_t *masks, uint32_t sample,
			  void *out);

/* An open file. */
struct fake_file;
struct fake_file_ops {
	int (*ioctl)(struct fake_file *file, unsigned command, void *argument);
	/* Whether there is something to read. Negative: the file is gone. NULL: never. */
	int (*ready)(struct fake_file *file);
	/* Returns the memory file to map, and its length; NULL: none. */
	int (*map)(struct fake_file *file, size_t *bytes);
	void (*release)(struct fake_file *file);
};
struct fake_file {
	const struct fake_file_ops *ops;
	int fd;
	const char *what;
};

/* interpose.c: a new file with its descriptor, -error when there is none. Takes `file`. */
int fake_file_add(struct fake_file *file);
/* Returns a memory file of the simulated kernel, and maps it at `out`. */
int fake_memory(size_t bytes, void **out);
void fake_memory_free(int fd, void *at, size_t bytes);

struct fake_file *fake_kbase_open(void);
struct fake_file *fake_kbase_old_open(void);
struct fake_file *fake_panfrost_open(const char *driver);
int fake_kinstr_enum(struct kb_enum_info *info);
int fake_kinstr_setup(union kb_prfcnt_setup *setup);
int fake_vinstr_setup(const struct kb_reader_setup *setup);
uint64_t fake_gpu_id(void);
/* Whether the device went away. */
bool fake_gone(uint32_t sample);

#endif
