/* SPDX-License-Identifier: MIT */
/* query/gauge/gpu.h - the GPU that a process uses, and the files in which the kernel describes
 * its state. One thread at a time. Memory is allocated in take() and choose() only; nothing
 * blocks longer than the kernel needs for a small file.
 */
#ifndef PASSTALLY_QUERY_GAUGE_GPU_H
#define PASSTALLY_QUERY_GAUGE_GPU_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* In units that are whole numbers. */
enum gauge_kind {
	GAUGE_CLOCK = 0, /* kHz */
	GAUGE_BUSY, /* of the whole GPU, in thousandths */
	GAUGE_PROCESS_BUSY, /* this process, over all engines, in thousandths */
	GAUGE_TEMPERATURE, /* thousandths of a degree Celsius */
	GAUGE_POWER, /* mW */
	GAUGE_MEMORY, /* of the whole GPU, KiB */
	GAUGE_PROCESS_MEMORY, /* KiB */
	GAUGE_THROTTLE, /* GAUGE_THROTTLED_* */
	GAUGE_N_KINDS,
};

enum {
	GAUGE_THROTTLED_POWER = 1,
	GAUGE_THROTTLED_THERMAL = 2,
	GAUGE_THROTTLED_CURRENT = 4,
	GAUGE_THROTTLED_OTHER = 8,
};

/* Values of one moment; bit i of known: value i is. */
struct gauge_values {
	uint64_t value[GAUGE_N_KINDS];
	uint32_t known;
};

/* A value that no GPU can have stays unknown: drivers have bugs, and sums of it must not
 * overflow. */
void gauge_put(struct gauge_values *v, enum gauge_kind kind, uint64_t value);

#define GAUGE_MAX_FILES 24
#define GAUGE_MAX_FDS 64 /* that a process has open on one GPU, dup()s among them */
#define GAUGE_MAX_GPUS 8

/* A file that has a value, by absolute path. */
struct gauge_file {
	enum gauge_kind kind;
	bool is_energy; /* microjoules so far: the delta gives the power */
	uint32_t bits; /* of GAUGE_THROTTLE: the meaning of a 1 in it */
	uint32_t num, den; /* to the unit of the kind */
	char *path;
};

/* A GPU that this process has open, or had open. */
struct gauge_candidate {
	struct stat device;
	char node[32]; /* renderD128 */
	uint64_t pci; /* tally_pci_number() of its device, 0 = none */
	int fds[GAUGE_MAX_FDS];
	uint32_t n_fds; /* 0: it was closed */
	bool more; /* there are others, whose clients are not known */
	uint64_t work; /* of this process, at the last examination; 0 if it was not open then */
	uint64_t clients; /* the clients that did that work */
	bool has_base; /* `work` is known */
	bool counts; /* the kernel counts that work */
	bool worked; /* it increased since find() */
};

struct gauge_gpu {
	char root[128];
	struct gauge_candidate seen[GAUGE_MAX_GPUS];
	uint32_t n_seen;
	/* About the GPU that is read: */
	char device[PATH_MAX]; /* its folder in sysfs, "" before one was chosen */
	char driver[32];
	struct gauge_file files[GAUGE_MAX_FILES];
	uint32_t n_files;
	int fds[GAUGE_MAX_FDS]; /* of this process, on this GPU */
	uint32_t n_fds;
	bool more; /* the process' share of the GPU and its memory are not known */
	/* Values at the previous reading, for deltas. */
	uint64_t time_ns, engine_ns, cycles, total_cycles, energy_uj;
	uint64_t clients; /* the clients of these engines and cycles */
	bool had_engines, had_cycles, had_energy;
};

/* Notes which GPUs this process has open and the work it had done on them. False: none; `why`
 * has the reason. */
bool gauge_gpu_find(struct gauge_gpu *gpu, const char *root, char *why);
/* Returns on how many of the GPUs that it has open now this process has had work done since
 * find(). If it is one, that one is read. Otherwise values could be given to frames that the
 * GPU may not have rendered. Call it before each reading. */
uint32_t gauge_gpu_choose(struct gauge_gpu *gpu);
/* Chooses the GPU of that PCI address (tally_pci_number()), regardless of work. False: this
 * process does not have it open. Call it before each reading, in place of choose(). */
bool gauge_gpu_choose_pci(struct gauge_gpu *gpu, uint64_t pci);
/* Chooses seen[i] as the one that is read, regardless of its work, and finds its files. */
void gauge_gpu_take(struct gauge_gpu *gpu, uint32_t i);
/* Whether work on one of the open GPUs would be visible. */
bool gauge_gpu_counts_work(const struct gauge_gpu *gpu);
/* Call it in any case. */
void gauge_gpu_finish(struct gauge_gpu *gpu);
/* Reads everything that can be read now. A suspended GPU has no values. */
void gauge_gpu_read(struct gauge_gpu *gpu, uint64_t now_ns, struct gauge_values *out);

/* ---- query/gauge/usage.c: DRM file information ---- */

/* The information about a descriptor's client in its file; sums over engines and regions. */
struct gauge_usage {
	uint64_t client; /* after gauge_usage_read(): identifies the clients, as a number */
	bool has_client, has_engines, has_cycles, has_total_cycles, has_memory,
		has_frequency;
	bool memory_unclear; /* some of it is in a unit that is not known: so is the sum */
	uint64_t engine_ns, cycles, total_cycles, memory_kib, frequency_hz;
};

/* Whether the device with that folder in sysfs is suspended. Reading another of its files may
 * wake it. */
bool gauge_is_suspended(const char *device);

#endif
