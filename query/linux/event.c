/* SPDX-License-Identifier: MIT */
#include "query/linux/event.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layer/base/sandbox.h"
#include "layer/base/small_file.h"

#define MAX_PMUS 4
#define HARDWARE(which_, config_) \
	{ TALLY_LINUX_##which_, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config_, false }

static const struct {
	uint8_t which;
	uint32_t type;
	uint64_t config;
	bool in_kernel; /* occurs in the kernel: user mode alone never counts it */
} kinds[] = {
	{ TALLY_LINUX_TASK_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false },
	{ TALLY_LINUX_MIGRATIONS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true },
	HARDWARE(CYCLES, CPU_CYCLES),
	HARDWARE(INSTRUCTIONS, INSTRUCTIONS),
	HARDWARE(CACHE_REFERENCES, CACHE_REFERENCES),
	HARDWARE(CACHE_MISSES, CACHE_MISSES),
	HARDWARE(BRANCHES, BRANCH_INSTRUCTIONS),
	HARDWARE(BRANCH_MISSES, BRANCH_MISSES),
	HARDWARE(STALLED_FRONTEND, STALLED_CYCLES_FRONTEND),
	HARDWARE(STALLED_BACKEND, STALLED_CYCLES_BACKEND),
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int
open_event(uint32_t type, uint64_t config, bool user_only, pid_t tid)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = config;
	attr.exclude_kernel = user_only;
	attr.exclude_hv = 1;
	/* Threads that the thread starts are included, processes are not. */
	attr.inherit = 1;
	attr.inherit_thread = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Returns 0 or an errno. */
static int
try_event(uint32_t type, uint64_t config, bool user_only)
{
	int fd = open_event(type, config, user_only, 0);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

int
tally_linux_event_try(bool *user_only)
{
	int error = tally_is_filtered() ? ECANCELED : EACCES;
	for (unsigned only = 0; only < 2 && (error == EACCES || error == EPERM); only++) {
		*user_only = only;
		error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, only);
	}
	return error;
}

/* ---- kinds of CPU cores ---- */

/* Units of CPU cores have a file `cpus`; others (for memory controllers or graphics) have
 * `cpumask`. */
static bool
read_unit(const char *folder, const char *name, uint32_t *type)
{
	char cpus[512], path[512], text[64];
	long long value;
	if (snprintf(cpus, sizeof(cpus), "%s/%s/cpus", folder, name) >= (int)sizeof(cpus) ||
	    snprintf(path, sizeof(path), "%s/%s/type", folder, name) >= (int)sizeof(path) ||
	    !tally_small_file_read(cpus, text, sizeof(text)) ||
	    !tally_small_file_number(path, &value) || value < 0 || value > INT32_MAX)
		return false;
	*type = (uint32_t)value;
	return true;
}

/* The numbers (`type`) of the units that serve only some of the CPUs, as a phone's big and little
 * cores; returns 0 where the machine does not distinguish kinds. Reads folders and may allocate. */
static uint32_t
list_pmus(uint32_t types[MAX_PMUS])
{
	static const char folder[] = "/sys/bus/event_source/devices";
	DIR *dir = tally_small_file_list(folder);
	if (!dir)
		return 0;
	uint32_t n = 0;
	const struct dirent *entry;
	while (n < MAX_PMUS && (entry = readdir(dir))) {
		uint32_t type;
		if (entry->d_name[0] == '.' || !read_unit(folder, entry->d_name, &type))
			continue;
		/* Sorted, so that the order does not depend on the folder. */
		uint32_t at = n++;
		for (; at > 0 && types[at - 1] > type; at--)
			types[at] = types[at - 1];
		types[at] = type;
	}
	closedir(dir);
	return n;
}

/* ---- the plan ---- */

static void
add_event(struct tally_linux_plan *plan, unsigned kind, uint64_t pmu)
{
	uint64_t config = kinds[kind].config | pmu << 32;
	if (plan->n == TALLY_LINUX_MAX_EVENTS ||
	    (kinds[kind].in_kernel && plan->user_only) ||
	    try_event(kinds[kind].type, config, plan->user_only) != 0)
		return;
	plan->counted |= TALLY_LINUX_BIT(kinds[kind].which);
	plan->events[plan->n++] = (struct tally_linux_event){
		.which = kinds[kind].which,
		.type = kinds[kind].type,
		.config = config,
	};
}

int
tally_linux_plan_make(struct tally_linux_plan *plan, uint64_t asked)
{
	*plan = (struct tally_linux_plan){ 0 };
	int error = tally_linux_event_try(&plan->user_only);
	if (error)
		return error;
	/* On a machine with one kind of core none has to be named, and older kernels cannot
	 * name one. */
	uint32_t pmus[MAX_PMUS];
	uint32_t n = asked & TALLY_LINUX_OF_HARDWARE ? list_pmus(pmus) : 0;
	asked |= TALLY_LINUX_BIT(TALLY_LINUX_TASK_CLOCK);
	for (unsigned k = 0; k < N_KINDS; k++) {
		if (!(asked & TALLY_LINUX_BIT(kinds[k].which)))
			continue;
		if (kinds[k].type != PERF_TYPE_HARDWARE || n < 2)
			add_event(plan, k, 0);
		else
			for (uint32_t i = 0; i < n; i++)
				add_event(plan, k, pmus[i]);
	}
	return plan->n ? 0 : ENOENT;
}

/* ---- one thread ---- */

int
tally_linux_plan_open(const struct tally_linux_plan *plan, pid_t tid, int *fds)
{
	uint32_t n = 0;
	int error = 0;
	while (n < plan->n && !error) {
		const struct tally_linux_event *e = &plan->events[n];
		int fd = open_event(e->type, e->config, plan->user_only, tid);
		if (fd < 0)
			error = errno;
		else
			fds[n++] = tally_small_file_lift(fd);
	}
	while (error && n > 0)
		close(fds[--n]);
	return error;
}

int
tally_linux_event_read(int fd, struct tally_linux_reading *out)
{
	ssize_t got = read(fd, out, sizeof(*out));
	return got < 0 ? errno : (size_t)got != sizeof(*out) ? EPROTO : 0;
}

uint64_t
tally_linux_scale(uint64_t value, uint64_t enabled, uint64_t running)
{
	if (enabled <= running)
		return value;
	/* With value = q * running + r, this is q * enabled + r * enabled / running. It is
	 * exact below 4 s, and samples are less than that apart. */
	while (enabled >> 32) {
		enabled >>= 1;
		running = running >> 1 ? running >> 1 : 1;
	}
	return value / running * enabled + value % running * enabled / running;
}

void
tally_linux_plan_add(const struct tally_linux_plan *plan,
		     const struct tally_linux_reading *before,
		     const struct tally_linux_reading *after,
		     struct tally_linux_totals *totals)
{
	/* On a machine with several kinds of cores a counter consists of several events, each
	 * of which runs only on its own kind: the running times of these events add up. */
	struct tally_linux_reading sums[TALLY_LINUX_N] = { 0 };
	for (uint32_t i = 0; i < plan->n; i++) {
		struct tally_linux_reading *sum = &sums[plan->events[i].which];
		uint64_t enabled = after[i].enabled - before[i].enabled;
		sum->value += after[i].value - before[i].value;
		sum->running += after[i].running - before[i].running;
		if (enabled > sum->enabled)
			sum->enabled = enabled;
	}
	for (unsigned which = 0; which < TALLY_LINUX_N; which++) {
		if (sums[which].enabled > 0 && sums[which].running == 0)
			totals->unknown |= TALLY_LINUX_BIT(which);
		else if (sums[which].value)
			totals->total[which] += tally_linux_scale(
				sums[which].value, sums[which].enabled, sums[which].running);
	}
}

/* ---- messages ---- */

int32_t
tally_linux_event_paranoid(void)
{
	long long value;
	return tally_small_file_number("/proc/sys/kernel/perf_event_paranoid", &value) &&
			       llabs(value) <= 99
		       ? (int32_t)value
		       : INT32_MAX;
}

#define NO_DESCRIPTORS \
	"no file descriptors are left for perf: raise the limit (ulimit -n)"
#define TOO_OLD "this kernel cannot count threads that start later: Linux 5.13 is needed"
#define NO_EVENTS "this machine does not have the events of perf that are needed"

static const struct {
	int error;
	enum tally_status status;
	const char *words;
} errors[] = {
	{ ENOSYS, TALLY_UNSUPPORTED,
	  "this kernel has no perf_event_open: a kernel with CONFIG_PERF_EVENTS is needed" },
	{ ECANCELED, TALLY_UNSUPPORTED,
	  "a filter of system calls is in force (a container's, or the program's own sandbox), "
	  "which could end the program for perf_event_open" },
	{ EMFILE, TALLY_UNSUPPORTED, NO_DESCRIPTORS },
	{ ENFILE, TALLY_UNSUPPORTED, NO_DESCRIPTORS },
	{ ENOSPC, TALLY_UNSUPPORTED,
	  "the program has more threads than descriptors can be spared for: name fewer "
	  "counters, or raise the limit (ulimit -n) where it is below 2048" },
	{ E2BIG, TALLY_UNSUPPORTED, TOO_OLD },
	{ EINVAL, TALLY_UNSUPPORTED, TOO_OLD },
	{ ENOENT, TALLY_UNSUPPORTED, NO_EVENTS },
	{ ENODEV, TALLY_UNSUPPORTED, NO_EVENTS },
	{ EOPNOTSUPP, TALLY_UNSUPPORTED, NO_EVENTS },
	{ EBUSY, TALLY_UNSUPPORTED,
	  "another program holds the processor's counters for itself: end it" },
	{ ENOMEM, TALLY_NO_MEMORY, "out of memory" },
};

enum tally_status
tally_linux_event_explain(int error, int32_t paranoid, char *reason)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (errors[i].error != error)
			continue;
		snprintf(reason, TALLY_REASON_BYTES, "%s", errors[i].words);
		return errors[i].status;
	}
	if (error != EACCES && error != EPERM)
		return tally_unsupported(reason, "perf_event_open failed with errno %d",
					 error);
	if (paranoid > 2 && paranoid != INT32_MAX)
		snprintf(reason, TALLY_REASON_BYTES,
			 "kernel.perf_event_paranoid is %d: perf is for root alone; "
			 "this allows it until the machine starts anew: sudo sysctl "
			 "kernel.perf_event_paranoid=2",
			 (int)paranoid);
	else
		snprintf(reason, TALLY_REASON_BYTES,
			 "a container or security policy refuses perf_event_open (%s): "
			 "allow it there, for example by the capability CAP_PERFMON",
			 error == EPERM ? "EPERM" : "EACCES");
	return TALLY_DENIED;
}
