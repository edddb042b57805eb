#include "query/linux/event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "query/linux/files.h"
#include "query/linux/pmu.h"

static const struct {
	uint8_t which;
	uint32_t type;
	uint64_t config;
	bool in_kernel; /* happens there: of user mode alone there is none */
} kinds[] = {
	{ TALLY_LINUX_TASK_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false },
	{ TALLY_LINUX_PAGE_FAULTS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false },
	{ TALLY_LINUX_MINOR_FAULTS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false },
	{ TALLY_LINUX_MAJOR_FAULTS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false },
	{ TALLY_LINUX_CONTEXT_SWITCHES, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true },
	{ TALLY_LINUX_MIGRATIONS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true },
	{ TALLY_LINUX_CYCLES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false },
	{ TALLY_LINUX_INSTRUCTIONS, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false },
	{ TALLY_LINUX_CACHE_REFERENCES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false },
	{ TALLY_LINUX_CACHE_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false },
	{ TALLY_LINUX_BRANCHES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false },
	{ TALLY_LINUX_BRANCH_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false },
	{ TALLY_LINUX_STALLED_FRONTEND, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	  false },
	{ TALLY_LINUX_STALLED_BACKEND, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	  false },
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* nr, enabled, running, and a value and an id each. */
struct group_data {
	uint64_t n, enabled, running;
	struct {
		uint64_t value, id;
	} of[TALLY_LINUX_MAX_EVENTS];
};

static int
open_event(uint32_t type, uint64_t config, bool user_only, pid_t tid, int cpu, int group)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = config;
	attr.exclude_kernel = user_only;
	attr.exclude_hv = 1;
	/* A group starts whole: on Linux 6.18 a page-fault event that joins a task clock which runs
	 * already counts nothing until the thread is switched out, and no time tells of it. */
	attr.disabled = group < 0;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
	return (int)syscall(SYS_perf_event_open, &attr, tid, cpu, group, PERF_FLAG_FD_CLOEXEC);
}

/* The descriptor, or an errno below 0. */
static int
try_event(uint32_t type, uint64_t config, bool user_only, int group)
{
	int fd = open_event(type, config, user_only, 0, -1, group);
	return fd < 0 ? -errno : fd;
}

int
tally_linux_event_try(bool *user_only)
{
	int fd = -EACCES;
	for (unsigned only = 0; only < 2; only++) {
		*user_only = only;
		fd = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, only, -1);
		if (fd != -EACCES && fd != -EPERM)
			break;
	}
	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

/* ---- the plan ---- */

static void
add_event(struct tally_linux_plan *plan, unsigned kind, uint64_t config, unsigned group)
{
	plan->events[plan->n_events++] = (struct tally_linux_event){
		.which = kinds[kind].which,
		.group = (uint8_t)group,
		.type = kinds[kind].type,
		.config = config,
	};
}

static void
plan_software(struct tally_linux_plan *plan, uint64_t asked)
{
	unsigned group = plan->n_groups++;
	for (unsigned k = 0; k < N_KINDS; k++) {
		bool leads = kinds[k].which == TALLY_LINUX_TASK_CLOCK;
		if (kinds[k].type != PERF_TYPE_SOFTWARE ||
		    (kinds[k].in_kernel && plan->user_only) ||
		    (!leads && !(asked & TALLY_LINUX_BIT(kinds[k].which))))
			continue;
		int fd = try_event(kinds[k].type, kinds[k].config, plan->user_only, -1);
		if (fd < 0)
			continue;
		close(fd);
		add_event(plan, k, kinds[k].config, group);
	}
}

/* Into the first group from *group on that takes it. The descriptor, or an errno below 0. */
static int
join_group(const struct tally_linux_plan *plan, unsigned kind, uint64_t config, const int *leaders,
	   uint32_t *group)
{
	int fd = -ENOENT;
	for (uint32_t g = *group; g < plan->n_groups && fd < 0; g++) {
		fd = try_event(kinds[kind].type, config, plan->user_only, leaders[g]);
		if (fd >= 0)
			*group = g;
	}
	return fd;
}

static int
lead_group(struct tally_linux_plan *plan, unsigned kind, uint64_t config, int *leaders,
	   uint32_t *group)
{
	int fd = try_event(kinds[kind].type, config, plan->user_only, -1);
	if (fd < 0)
		return fd;
	if (plan->n_groups == TALLY_LINUX_MAX_GROUPS) {
		close(fd);
		return -ENOSPC;
	}
	*group = plan->n_groups++;
	leaders[*group] = fd;
	return fd;
}

/* Hardware events of one kind of cores: each into the first group that takes it. The groups stand
 * open on the calling thread meanwhile, for the processor's limits show only so. */
static void
plan_hardware(struct tally_linux_plan *plan, uint64_t asked, uint64_t pmu)
{
	int leaders[TALLY_LINUX_MAX_GROUPS], open_fds[TALLY_LINUX_MAX_EVENTS];
	uint32_t n_open = 0, first = plan->n_groups;
	for (unsigned k = 0; k < N_KINDS; k++) {
		uint64_t config = kinds[k].config | pmu << 32;
		if (kinds[k].type != PERF_TYPE_HARDWARE ||
		    !(asked & TALLY_LINUX_BIT(kinds[k].which)) ||
		    plan->n_events == TALLY_LINUX_MAX_EVENTS)
			continue;
		uint32_t group = first;
		int fd = join_group(plan, k, config, leaders, &group);
		if (fd < 0)
			fd = lead_group(plan, k, config, leaders, &group);
		if (fd < 0)
			continue;
		open_fds[n_open++] = fd;
		add_event(plan, k, config, group);
	}
	while (n_open)
		close(open_fds[--n_open]);
}

/* Events by group, in a stable order; `first` and `counted`. */
static void
finish_plan(struct tally_linux_plan *plan)
{
	struct tally_linux_event sorted[TALLY_LINUX_MAX_EVENTS];
	uint32_t n = 0;
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		plan->first[g] = (uint8_t)n;
		for (uint32_t i = 0; i < plan->n_events; i++)
			if (plan->events[i].group == g)
				sorted[n++] = plan->events[i];
	}
	plan->first[plan->n_groups] = (uint8_t)n;
	memcpy(plan->events, sorted, n * sizeof(*sorted));
	for (uint32_t i = 0; i < n; i++)
		plan->counted |= TALLY_LINUX_BIT(plan->events[i].which);
	plan->has_hardware = plan->n_groups > 1;
}

int
tally_linux_plan_make(struct tally_linux_plan *plan, uint64_t asked)
{
	*plan = (struct tally_linux_plan){ 0 };
	int error = tally_linux_event_try(&plan->user_only);
	if (error)
		return error;
	plan_software(plan, asked);
	if (asked & TALLY_LINUX_OF_HARDWARE) {
		/* One kind of cores needs no name, and older kernels know none. */
		uint32_t pmus[TALLY_LINUX_PMUS];
		uint32_t n = tally_linux_pmus("", pmus);
		if (n < 2)
			plan_hardware(plan, asked, 0);
		for (uint32_t i = 0; i < n && n >= 2; i++)
			plan_hardware(plan, asked, pmus[i]);
	}
	finish_plan(plan);
	return plan->n_events ? 0 : ENOENT;
}

/* ---- one thread ---- */

void
tally_linux_plan_close(const struct tally_linux_plan *plan, int fds[TALLY_LINUX_MAX_EVENTS])
{
	/* Leaders last. */
	for (uint32_t i = plan->n_events; i-- > 0;) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

int
tally_linux_plan_open(const struct tally_linux_plan *plan, pid_t tid,
		      int fds[TALLY_LINUX_MAX_EVENTS])
{
	int error = 0;
	for (uint32_t i = 0; i < TALLY_LINUX_MAX_EVENTS; i++)
		fds[i] = -1;
	for (uint32_t i = 0; i < plan->n_events && !error; i++) {
		const struct tally_linux_event *e = &plan->events[i];
		uint32_t leader = plan->first[e->group];
		int fd = open_event(e->type, e->config, plan->user_only, tid, -1,
				    leader == i ? -1 : fds[leader]);
		if (fd < 0)
			error = errno;
		fds[i] = tally_linux_lift_fd(fd);
	}
	for (uint32_t g = 0; g < plan->n_groups && !error; g++)
		if (ioctl(fds[plan->first[g]], PERF_EVENT_IOC_ENABLE, 0) != 0)
			error = errno;
	if (error)
		tally_linux_plan_close(plan, fds);
	return error;
}

int
tally_linux_plan_read(const struct tally_linux_plan *plan, const int fds[TALLY_LINUX_MAX_EVENTS],
		      struct tally_linux_reading *out)
{
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		uint32_t first = plan->first[g], n = plan->first[g + 1] - first;
		struct group_data data;
		size_t size = (3 + 2 * (size_t)n) * sizeof(uint64_t);
		ssize_t got = read(fds[first], &data, size);
		if (got < 0)
			return errno;
		if ((size_t)got != size || data.n != n)
			return EPROTO;
		out->times[g].enabled = data.enabled;
		out->times[g].running = data.running;
		for (uint32_t i = 0; i < n; i++)
			out->values[first + i] = data.of[i].value;
	}
	return 0;
}

uint64_t
tally_linux_scale(uint64_t value, uint64_t enabled, uint64_t running)
{
	if (enabled <= running)
		return value;
	/* value = q * running + r: q * enabled + r * enabled / running. Exact below 4 s, which
	 * samples are apart. */
	while (enabled >> 32) {
		enabled >>= 1;
		running = running >> 1 ? running >> 1 : 1;
	}
	return value / running * enabled + value % running * enabled / running;
}

void
tally_linux_plan_add(const struct tally_linux_plan *plan, const struct tally_linux_reading *before,
		     const struct tally_linux_reading *after, struct tally_linux_totals *totals)
{
	/* On a machine with several kinds of cores one counter is several events, each of which
	 * runs on its own kind: together they ran as long as all of them. */
	struct {
		uint64_t value, enabled, running;
	} sums[TALLY_LINUX_N_OF_PROCESS] = { 0 };

	for (uint32_t i = 0; i < plan->n_events; i++) {
		unsigned which = plan->events[i].which, g = plan->events[i].group;
		uint64_t enabled = after->times[g].enabled - before->times[g].enabled;
		sums[which].value += after->values[i] - before->values[i];
		sums[which].running += after->times[g].running - before->times[g].running;
		if (enabled > sums[which].enabled)
			sums[which].enabled = enabled;
	}
	for (unsigned which = 0; which < TALLY_LINUX_N_OF_PROCESS; which++) {
		if (sums[which].enabled > 0 && sums[which].running == 0)
			totals->unknown |= TALLY_LINUX_BIT(which);
		else if (sums[which].value)
			totals->total[which] += tally_linux_scale(
				sums[which].value, sums[which].enabled, sums[which].running);
	}
}

/* ---- one CPU ---- */

int
tally_linux_event_open_cpu_cycles(unsigned cpu)
{
	int fd = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, -1, (int)cpu, -1);
	if (fd >= 0)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return tally_linux_lift_fd(fd);
}

bool
tally_linux_event_read_scaled(int fd, uint64_t *value, struct tally_linux_group_times *times)
{
	struct group_data data;
	size_t size = 5 * sizeof(uint64_t);
	if (read(fd, &data, size) != (ssize_t)size || data.n != 1)
		return false;
	*value = data.of[0].value;
	times->enabled = data.enabled;
	times->running = data.running;
	return true;
}

/* ---- for people ---- */

int32_t
tally_linux_event_paranoid(void)
{
	char text[32];
	uint64_t value;
	const char *p = text;
	if (!tally_linux_read_path("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) ||
	    !tally_linux_next_number(&p, &value) || value > 99)
		return INT32_MAX;
	return text[0] == '-' ? -(int32_t)value : (int32_t)value;
}

enum tally_status
tally_linux_event_explain(int error, int32_t paranoid, char *out, size_t size)
{
	switch (error) {
	case EACCES:
	case EPERM:
		if (paranoid > 2 && paranoid != INT32_MAX)
			snprintf(out, size,
				 "kernel.perf_event_paranoid is %d: perf is for root alone; this "
				 "allows it until the machine starts anew: sudo sysctl "
				 "kernel.perf_event_paranoid=2",
				 (int)paranoid);
		else
			snprintf(out, size,
				 "a sandbox, container or security policy refuses "
				 "perf_event_open (%s): allow it there, for example by the "
				 "capability CAP_PERFMON or its seccomp profile",
				 error == EPERM ? "EPERM" : "EACCES");
		return TALLY_DENIED;
	case ENOSYS:
		snprintf(out, size,
			 "this kernel has no perf_event_open, or a sandbox hides it: a kernel "
			 "with CONFIG_PERF_EVENTS is needed");
		return TALLY_UNSUPPORTED;
	case EMFILE:
	case ENFILE:
		snprintf(out, size,
			 "no file descriptors are left for perf: raise the limit "
			 "(ulimit -n)");
		return TALLY_UNSUPPORTED;
	case ENOSPC:
		snprintf(out, size,
			 "the program has more threads than descriptors can be spared for: name "
			 "fewer counters, or raise the limit (ulimit -n) where it is below 2048");
		return TALLY_UNSUPPORTED;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		snprintf(out, size,
			 "this machine does not have the events of perf that are "
			 "needed");
		return TALLY_UNSUPPORTED;
	case EBUSY:
		snprintf(out, size,
			 "another program holds the processor's counters for itself: "
			 "end it");
		return TALLY_UNSUPPORTED;
	case ENOMEM:
		snprintf(out, size, "out of memory");
		return TALLY_NO_MEMORY;
	default:
		snprintf(out, size, "perf_event_open failed with errno %d", error);
		return TALLY_UNSUPPORTED;
	}
}
