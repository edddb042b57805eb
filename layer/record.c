#include "layer/record.h"

#include <string.h>

#define WORD(table, v) ((unsigned)(v) < sizeof(table) / sizeof((table)[0]) ? (table)[v] : NULL)

const char *
tally_storage_name(unsigned v)
{
	static const char *const words[TALLY_N_STORAGES] = {
		[TALLY_STORAGE_U64] = "u64",
		[TALLY_STORAGE_I64] = "i64",
		[TALLY_STORAGE_F64] = "f64",
	};
	return WORD(words, v);
}

const char *
tally_counter_kind_name(unsigned v)
{
	static const char *const words[TALLY_N_KINDS] = {
		[TALLY_KIND_EVENT] = "event",
		[TALLY_KIND_DURATION] = "duration",
		[TALLY_KIND_RATIO] = "ratio",
		[TALLY_KIND_THROUGHPUT] = "throughput",
		[TALLY_KIND_RAW] = "raw",
		[TALLY_KIND_TIMESTAMP] = "timestamp",
	};
	return WORD(words, v);
}

const char *
tally_scope_name(unsigned v)
{
	static const char *const words[TALLY_N_SCOPES] = {
		[TALLY_SCOPE_WORKLOAD] = "workload",
		[TALLY_SCOPE_PASS] = "pass",
		[TALLY_SCOPE_SUBMISSION] = "submission",
		[TALLY_SCOPE_FRAME] = "frame",
		[TALLY_SCOPE_DEVICE] = "device",
	};
	return WORD(words, v);
}

const char *
tally_api_name(unsigned v)
{
	static const char *const words[TALLY_N_APIS] = {
		[TALLY_API_OPENGL] = "opengl",
		[TALLY_API_OPENGL_ES] = "opengl-es",
		[TALLY_API_VULKAN] = "vulkan",
	};
	return WORD(words, v);
}

const char *
tally_pass_kind_name(unsigned v)
{
	static const char *const words[TALLY_N_PASS_KINDS] = {
		[TALLY_PASS_RENDER] = "render",         [TALLY_PASS_COMPUTE] = "compute",
		[TALLY_PASS_TRANSFER] = "transfer",     [TALLY_PASS_RAYTRACING] = "raytracing",
		[TALLY_PASS_BUILD] = "build",           [TALLY_PASS_OTHER] = "other",
	};
	return WORD(words, v);
}

const char *
tally_load_op_name(unsigned v)
{
	static const char *const words[TALLY_N_LOAD_OPS] = {
		[TALLY_LOAD_UNKNOWN] = "unknown",
		[TALLY_LOAD_LOAD] = "load",
		[TALLY_LOAD_CLEAR] = "clear",
		[TALLY_LOAD_DONT_CARE] = "dontcare",
	};
	return WORD(words, v);
}

const char *
tally_store_op_name(unsigned v)
{
	static const char *const words[TALLY_N_STORE_OPS] = {
		[TALLY_STORE_UNKNOWN] = "unknown",
		[TALLY_STORE_STORE] = "store",
		[TALLY_STORE_DISCARD] = "discard",
		[TALLY_STORE_RESOLVE] = "resolve",
	};
	return WORD(words, v);
}

const char *
tally_level_name(unsigned v)
{
	static const char *const words[TALLY_N_LEVELS] = {
		[TALLY_LEVEL_INFO] = "info",
		[TALLY_LEVEL_WARNING] = "warning",
		[TALLY_LEVEL_ERROR] = "error",
	};
	return WORD(words, v);
}

const char *
tally_flag_name(unsigned flag)
{
	static const char *const words[TALLY_N_FLAGS] = {
		[TALLY_FLAG_INDIRECT] = "indirect",
		[TALLY_FLAG_LIST] = "list",
		[TALLY_FLAG_IMMEDIATE] = "immediate",
		[TALLY_FLAG_CONDITIONAL] = "conditional",
		[TALLY_FLAG_RASTERIZER_DISCARD] = "rasterizer_discard",
		[TALLY_FLAG_TRANSFORM_FEEDBACK] = "transform_feedback",
		[TALLY_FLAG_SELECT] = "select",
		[TALLY_FLAG_RESOLVE] = "resolve",
		[TALLY_FLAG_READBACK] = "readback",
		[TALLY_FLAG_SYNC] = "sync",
		[TALLY_FLAG_MIPMAP] = "mipmap",
		[TALLY_FLAG_TILING] = "tiling",
		[TALLY_FLAG_YIELDED] = "yielded",
		[TALLY_FLAG_DISJOINT] = "disjoint",
		[TALLY_FLAG_LOST] = "lost",
		[TALLY_FLAG_INCOMPLETE] = "incomplete",
		[TALLY_FLAG_DROPPED] = "dropped",
		[TALLY_FLAG_UNCALIBRATED] = "uncalibrated",
		[TALLY_FLAG_NO_TIMESTAMPS] = "no_timestamps",
		[TALLY_FLAG_APPROXIMATE] = "approximate",
		[TALLY_FLAG_OVERFLOW] = "overflow",
		[TALLY_FLAG_SATURATED] = "saturated",
		[TALLY_FLAG_PARTIAL] = "partial",
		[TALLY_FLAG_LATE] = "late",
		[TALLY_FLAG_LABEL_DROPPED] = "label_dropped",
		[TALLY_FLAG_BAD_TIME] = "bad_time",
		[TALLY_FLAG_SIMULTANEOUS] = "simultaneous",
		[TALLY_FLAG_DISTURBED] = "disturbed",
		[TALLY_FLAG_UNSAMPLED] = "unsampled",
		[TALLY_FLAG_FULL] = "full",
	};
	return WORD(words, flag);
}

int
tally_name_find(const char *(*name)(unsigned), unsigned n, const char *word, size_t len)
{
	for (unsigned i = 0; i < n; i++) {
		const char *w = name(i);
		if (w && strlen(w) == len && memcmp(w, word, len) == 0)
			return (int)i;
	}
	return -1;
}

bool
tally_counter_adds_up(const struct tally_counter *counter)
{
	static const char *const levels[] = {
		"percent", "hertz", "kelvin", "celsius", "watts", "volts", "amps",
	};
	if (counter->kind == TALLY_KIND_RATIO || counter->kind == TALLY_KIND_TIMESTAMP)
		return false;
	if (!counter->unit) /* a log need not say */
		return true;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (strcmp(counter->unit, levels[i]) == 0)
			return false;
	}
	return !strchr(counter->unit, '/');
}

double
tally_value_f64(struct tally_value v)
{
	switch (v.storage) {
	case TALLY_STORAGE_I64:
		return (double)v.i64;
	case TALLY_STORAGE_F64:
		return v.f64;
	default:
		return (double)v.u64;
	}
}
