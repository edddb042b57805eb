/* SPDX-License-Identifier: MIT */
/* GL_AMD_performance_monitor, by its text and by Mesa's performance_monitor.c. */
#include "tests/fake_gl/perf.h"

#include <stdio.h>
#include <string.h>

#define INVALID_ENUM 0x0500
#define INVALID_VALUE 0x0501
#define INVALID_OPERATION 0x0502
#define COUNTER_TYPE 0x8BC0
#define COUNTER_RANGE 0x8BC1
#define RESULT_AVAILABLE 0x8BC4
#define RESULT_SIZE 0x8BC5
#define RESULT 0x8BC6
#define N_GROUPS 5u

static const struct fake_perf_counter work_counters[] = {
	{ "draws", FAKE_PERF_U32, FAKE_PERF_DRAWS, 0, 0, 0 },
	{ "vertices", FAKE_PERF_U64, FAKE_PERF_VERTICES, 0, 0, 0 },
};
static const struct fake_perf_counter typed_counters[] = {
	{ "Typed uint", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 21, 0, 0 },
	{ "Typed uint64", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 22, 0, 0 },
	{ "Typed float", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 23, 0, 0 },
	{ "Typed percentage", FAKE_PERF_PERCENT, FAKE_PERF_SCRIPT, 24, 0, 0 },
	{ "Typed wrap", FAKE_PERF_U32, FAKE_PERF_WRAP, 25, 0, 0 },
};
/* Counters that exclude each other: only one at a time. */
static const struct fake_perf_counter turn_counters[] = {
	{ "turn 0", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 31, 0, 0 },
	{ "turn 1", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 32, 0, 0 },
	{ "turn 2", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 33, 0, 0 },
	{ "turn 3", FAKE_PERF_PERCENT, FAKE_PERF_SCRIPT, 34, 0, 0 },
	{ "turn 4", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 35, 0, 0 },
	{ "turn 5", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 36, 0, 0 },
	{ "turn 6", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 37, 0, 0 },
	{ "turn 7", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 38, 0, 0 },
};
/* With `conflict` it cannot begin beside a counter of the group "turn". */
static const struct fake_perf_counter lone_counters[] = {
	{ "lone", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 41, 0, 0 },
};

/* The first of those that freedreno lists for the shader processors (a6xx), with Mesa's names. */
static const struct fake_perf_counter adreno_counters[] = {
	{ "PERF_SP_BUSY_CYCLES", FAKE_PERF_U64, FAKE_PERF_VERTICES, 0, 0, 0 },
	{ "PERF_SP_ALU_WORKING_CYCLES", FAKE_PERF_U64, FAKE_PERF_DRAWS, 0, 0, 0 },
	{ "PERF_SP_EFU_WORKING_CYCLES", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 51, 0, 0 },
	{ "PERF_SP_STALL_CYCLES_VPC", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 52, 0, 0 },
	{ "PERF_SP_STALL_CYCLES_TP", FAKE_PERF_U64, FAKE_PERF_VERTICES, 0, 0, 0 },
	{ "PERF_SP_STALL_CYCLES_UCHE", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 53, 0, 0 },
};

/* Numbers of groups and counters are sparse: they are names, not indices. */
static const struct {
	unsigned id;
	const char *name;
	const struct fake_perf_counter *counters;
	unsigned n, most;
} groups[N_GROUPS] = {
	{ 10, "Work", work_counters, 2, 2 },
	{ 25, "Typed", typed_counters, 5, 8 },
	{ 40, "Turns", turn_counters, 8, 1 },
	{ 41, "Lone", lone_counters, 1, 1 },
	{ 52, "SP", adreno_counters, 6, 6 }, /* with `adreno` */
};
#define COUNTER_ID(i) (3 * (i) + 100)

static unsigned
n_groups(void)
{
	return fake_perf.config.adreno ? N_GROUPS : N_GROUPS - 1;
}

static unsigned
n_of(unsigned group)
{
	return groups[group].counters == turn_counters ?
		       (fake_perf.config.sets < 8 ? fake_perf.config.sets : 8) :
		       groups[group].n;
}

static int
find_group(unsigned id)
{
	for (unsigned i = 0; i < n_groups(); i++) {
		if (groups[i].id == id)
			return (int)i;
	}
	return -1;
}

static const struct fake_perf_counter *
find_counter(unsigned group, unsigned id)
{
	int g = find_group(group);
	if (g < 0 || id < COUNTER_ID(0) || (id - COUNTER_ID(0)) % 3)
		return NULL;
	unsigned i = (id - COUNTER_ID(0)) / 3;
	return i < n_of((unsigned)g) ? &groups[g].counters[i] : NULL;
}

static void
get_groups(int *n, int size, unsigned *ids)
{
	if (!fake_perf_call("glGetPerfMonitorGroupsAMD"))
		return;
	if (n)
		*n = (int)n_groups();
	for (int i = 0; ids && i < size && i < (int)n_groups(); i++)
		ids[i] = groups[i].id;
}

static void
get_counters(unsigned group, int *n, int *most, int size, unsigned *ids)
{
	int g = find_group(group);

	if (!fake_perf_call("glGetPerfMonitorCountersAMD"))
		return;
	if (g < 0) {
		fake_perf_error(INVALID_VALUE, "glGetPerfMonitorCountersAMD");
		return;
	}
	*most = (int)groups[g].most;
	*n = (int)n_of((unsigned)g);
	for (int i = 0; ids && i < size && i < *n; i++)
		ids[i] = COUNTER_ID((unsigned)i);
}

/* Cut to the buffer; terminated only where there is room, or never if the test wants that. */
static void
put_text(const char *name, int size, int *length, char *out)
{
	size_t len = strlen(name);

	if (size > 0 && out) {
		size_t n = len < (size_t)size ? len : (size_t)size;
		memcpy(out, name, n);
		if (n < (size_t)size && !fake_perf.config.no_nul)
			out[n] = '\0';
		len = n;
	}
	if (length)
		*length = (int)len;
}

static void
get_group_string(unsigned group, int size, int *length, char *out)
{
	int g = find_group(group);

	if (!fake_perf_call("glGetPerfMonitorGroupStringAMD"))
		return;
	if (g < 0)
		fake_perf_error(INVALID_VALUE, "glGetPerfMonitorGroupStringAMD");
	else
		put_text(groups[g].name, size, length, out);
}

static void
get_counter_string(unsigned group, unsigned id, int size, int *length, char *out)
{
	const struct fake_perf_counter *counter = find_counter(group, id);

	if (!fake_perf_call("glGetPerfMonitorCounterStringAMD"))
		return;
	if (!counter)
		fake_perf_error(INVALID_VALUE, "glGetPerfMonitorCounterStringAMD");
	else
		put_text(counter->name, size, length, out);
}

static void
put_range(const struct fake_perf_counter *counter, void *out)
{
	static const uint64_t wide[2] = { 0, UINT64_MAX };
	static const uint32_t narrow[2] = { 0, UINT32_MAX };
	static const float percent[2] = { 0, 100 };
	static const float unknown[2] = { 0, -1 }; /* as Mesa says it */

	if (counter->type == FAKE_PERF_U64)
		memcpy(out, wide, sizeof(wide));
	else if (counter->type == FAKE_PERF_U32)
		memcpy(out, narrow, sizeof(narrow));
	else
		memcpy(out, counter->type == FAKE_PERF_PERCENT ? percent : unknown,
		       sizeof(percent));
}

static void
get_counter_info(unsigned group, unsigned id, unsigned pname, void *out)
{
	static const unsigned types[] = {
		[FAKE_PERF_U32] = 0x1405, [FAKE_PERF_U64] = 0x8BC2, [FAKE_PERF_FLOAT] = 0x1406,
		[FAKE_PERF_PERCENT] = 0x8BC3,
	};
	const struct fake_perf_counter *counter = find_counter(group, id);

	if (!fake_perf_call("glGetPerfMonitorCounterInfoAMD"))
		return;
	if (!counter)
		fake_perf_error(INVALID_VALUE, "glGetPerfMonitorCounterInfoAMD");
	else if (pname == COUNTER_TYPE)
		memcpy(out, &types[counter->type], sizeof(types[0]));
	else if (pname == COUNTER_RANGE)
		put_range(counter, out);
	else
		fake_perf_error(INVALID_ENUM, "glGetPerfMonitorCounterInfoAMD");
}

static void
gen_monitors(int n, unsigned *names)
{
	if (!fake_perf_call("glGenPerfMonitorsAMD"))
		return;
	for (int i = 0; i < n; i++)
		names[i] = fake_perf_create(fake_perf.monitors);
}

static void
delete_monitors(int n, unsigned *names)
{
	if (!fake_perf_call("glDeletePerfMonitorsAMD"))
		return;
	for (int i = 0; i < n; i++) {
		struct fake_perf_object *o = fake_perf_object(fake_perf.monitors, names[i]);
		if (!o) {
			fake_perf_error(INVALID_VALUE, "glDeletePerfMonitorsAMD");
			continue;
		}
		if (o->active)
			fake_perf_misuse("monitor %u is deleted while it counts", names[i]);
		o->alive = false;
	}
}

static void
select_counters(unsigned name, unsigned char enable, unsigned group, int n, unsigned *ids)
{
	struct fake_perf_object *o = fake_perf_object(fake_perf.monitors, name);
	int g = find_group(group);

	if (!fake_perf_call("glSelectPerfMonitorCountersAMD"))
		return;
	if (!o || g < 0 || n < 0) {
		fake_perf_error(INVALID_VALUE, "glSelectPerfMonitorCountersAMD");
		return;
	}
	if (o->active)
		fake_perf_misuse("counters of monitor %u change while it counts", name);
	if (o->ended && !fake_perf_is_ready(o))
		fake_perf_misuse("the result of monitor %u is thrown away by a selection", name);
	o->ended = false;
	for (int i = 0; i < n; i++) {
		if (!find_counter(group, ids[i])) {
			fake_perf_error(INVALID_VALUE, "glSelectPerfMonitorCountersAMD");
			return;
		}
		uint64_t bit = UINT64_C(1) << (ids[i] - COUNTER_ID(0)) / 3;
		if (enable)
			o->selected[g] |= bit;
		else
			o->selected[g] &= ~bit;
	}
}

/* Whether the driver can count the selection. */
static bool
goes_together(const struct fake_perf_object *o)
{
	for (unsigned i = 0; i < N_GROUPS; i++) {
		if ((unsigned)__builtin_popcountll(o->selected[i]) > groups[i].most)
			return false;
	}
	return !fake_perf.config.conflict || !o->selected[2] || !o->selected[3];
}

/* Whether a result of another selection prevents a begin, as on Intel. */
static bool
stands_in_the_way(const struct fake_perf_object *o)
{
	for (unsigned i = 0; i < FAKE_PERF_MAX_OBJECTS && fake_perf.config.one_set; i++) {
		const struct fake_perf_object *other = &fake_perf.monitors[i];
		if (other->alive && other->ended && !other->was_read &&
		    memcmp(other->counted, o->selected, sizeof(o->selected)) != 0)
			return true;
	}
	return false;
}

static unsigned active_monitor;

static void
begin_monitor(unsigned name)
{
	struct fake_perf_object *o = fake_perf_object(fake_perf.monitors, name);

	if (!fake_perf_call("glBeginPerfMonitorAMD"))
		return;
	unsigned every = fake_perf.config.error_every;
	if (!o) {
		fake_perf_error(INVALID_VALUE, "glBeginPerfMonitorAMD");
	} else if (o->active || !goes_together(o) || stands_in_the_way(o) ||
		   (every && ++fake_perf.serial % every == 0)) {
		fake_perf_error(INVALID_OPERATION, "glBeginPerfMonitorAMD");
	} else {
		if (o->ended && !fake_perf_is_ready(o))
			fake_perf_misuse(
				"monitor %u is begun again with its result unread", name);
		if (fake_perf_object(fake_perf.monitors, active_monitor) &&
		    fake_perf.monitors[active_monitor].active)
			fake_perf.tally.nested++;
		memcpy(o->counted, o->selected, sizeof(o->counted));
		active_monitor = name;
		fake_perf_begin(o);
	}
}

static void
end_monitor(unsigned name)
{
	struct fake_perf_object *o = fake_perf_object(fake_perf.monitors, name);

	if (!fake_perf_call("glEndPerfMonitorAMD"))
		return;
	if (!o)
		fake_perf_error(INVALID_VALUE, "glEndPerfMonitorAMD");
	else if (!o->active)
		fake_perf_error(INVALID_OPERATION, "glEndPerfMonitorAMD");
	else
		fake_perf_end(o);
}

/* All records, in order or in reverse; returns the bytes, writes at most `room` of them. */
static size_t
put_result(const struct fake_perf_object *o, unsigned char *out, size_t room)
{
	unsigned char record[16];
	size_t at = 0;

	for (unsigned k = 0; k < N_GROUPS * 64; k++) {
		unsigned place = fake_perf.config.backwards ? N_GROUPS * 64 - 1 - k : k;
		unsigned g = place / 64, i = place % 64;
		if (!(o->counted[g] & UINT64_C(1) << i))
			continue;
		unsigned names[2] = { groups[g].id, COUNTER_ID(i) };
		memcpy(record, names, sizeof(names));
		size_t size = sizeof(names) + fake_perf_value(&groups[g].counters[i], o,
							      record + sizeof(names));
		if (out && at + size <= room)
			memcpy(out + at, record, size);
		at += size;
	}
	return at;
}

static void
get_data(unsigned name, unsigned pname, int size, unsigned *data, int *written)
{
	struct fake_perf_object *o = fake_perf_object(fake_perf.monitors, name);

	if (!fake_perf_call("glGetPerfMonitorCounterDataAMD"))
		return;
	if (!o || !data) {
		fake_perf_error(o ? INVALID_OPERATION : INVALID_VALUE,
				"glGetPerfMonitorCounterDataAMD");
		return;
	}
	if (size < 4) {
		*written = 0;
		return;
	}
	fake_perf.tally.reads++;
	if (!fake_perf_is_ready(o)) {
		*data = 0;
		*written = 4;
		return;
	}
	fake_perf.tally.ready_reads++;
	size_t all = put_result(o, NULL, 0);
	size_t room = fake_perf.config.ignore_size ? all : (size_t)size;
	switch (pname) {
	case RESULT_AVAILABLE:
		*data = 1;
		*written = 4;
		break;
	case RESULT_SIZE:
		*data = (unsigned)all;
		*written = 4;
		break;
	case RESULT:
		if (all > (size_t)size)
			fake_perf_misuse("%d bytes for a result of %zu", size, all);
		put_result(o, (unsigned char *)data, room);
		*written = (int)(all < room ? all : room) - (fake_perf.config.cut ? 4 : 0);
		o->was_read = true;
		break;
	default:
		fake_perf_error(INVALID_ENUM, "glGetPerfMonitorCounterDataAMD");
	}
}

void *
fake_perf_amd_function(const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} rows[] = {
		{ "glGetPerfMonitorGroupsAMD", (void *)get_groups },
		{ "glGetPerfMonitorCountersAMD", (void *)get_counters },
		{ "glGetPerfMonitorGroupStringAMD", (void *)get_group_string },
		{ "glGetPerfMonitorCounterStringAMD", (void *)get_counter_string },
		{ "glGetPerfMonitorCounterInfoAMD", (void *)get_counter_info },
		{ "glGenPerfMonitorsAMD", (void *)gen_monitors },
		{ "glDeletePerfMonitorsAMD", (void *)delete_monitors },
		{ "glSelectPerfMonitorCountersAMD", (void *)select_counters },
		{ "glBeginPerfMonitorAMD", (void *)begin_monitor },
		{ "glEndPerfMonitorAMD", (void *)end_monitor },
		{ "glGetPerfMonitorCounterDataAMD", (void *)get_data },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(name, rows[i].name) == 0)
			return rows[i].function;
	}
	return NULL;
}
