/* SPDX-License-Identifier: MIT */
#include "query/gl/intel_dialect.h"

#include <math.h>
#include <string.h>

#include "layer/config/config.h"

/* The standard dialect follows its text in the registry; the other one follows the document of
 * 2011 (a driver for Sandy Bridge), in which 0x9405 is a gap and its non-blocking read is what
 * the standard calls FLUSH. */
static const struct tally_intel_dialect dialects[] = {
	{
		.extension = "GL_INTEL_performance_query",
		.read_flags = 0x83F9, /* DONOT_FLUSH */
		.types = { 0x94F8, 0x94F9, 0x94FA, 0x94FB, 0x94FC },
		.kinds = { 0x94F0, 0x94F1, 0x94F2, 0x94F3, 0x94F4, 0x94F5 },
		.has_caps = true,
		.has_raw_max = true,
		.serialized_by = "gl-intel: Mesa's Intel drivers stall at each begin and end",
	},
	{
		.extension = "GL_INTEL_performance_queries",
		.read_flags = 0x83FA, /* NONBLOCK */
		.types = { 0x9402, 0x9403, 0x9404, 0, 0x9406 },
		/* MISC1, TIMEFRACTION, CYCLESPERTHREAD, THROUGHPUT, MISC2 */
		.kinds = { 0x9407, 0x9408, 0x9409, 0x940A, 0x940B, 0 },
		.has_limit = true,
	},
};

const struct tally_intel_dialect *
tally_intel_dialect_of(const struct tally_gl_api *api)
{
	for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
		if (api->has_extension(api, dialects[i].extension))
			return &dialects[i];
	}
	return NULL;
}

static const struct {
	uint32_t size;
	enum tally_storage storage;
	uint32_t bits;
} types[TALLY_INTEL_N_TYPES] = {
	[TALLY_INTEL_UINT32] = { 4, TALLY_STORAGE_U64, 32 },
	[TALLY_INTEL_UINT64] = { 8, TALLY_STORAGE_U64, 64 },
	[TALLY_INTEL_FLOAT] = { 4, TALLY_STORAGE_F64, 32 },
	[TALLY_INTEL_DOUBLE] = { 8, TALLY_STORAGE_F64, 64 },
	[TALLY_INTEL_BOOL32] = { 4, TALLY_STORAGE_U64, 1 },
};

static const enum tally_counter_kind kinds[TALLY_INTEL_N_KINDS] = {
	[TALLY_INTEL_EVENT] = TALLY_KIND_EVENT,
	[TALLY_INTEL_DURATION_NORM] = TALLY_KIND_RATIO,
	[TALLY_INTEL_DURATION_RAW] = TALLY_KIND_DURATION,
	[TALLY_INTEL_THROUGHPUT] = TALLY_KIND_THROUGHPUT,
	[TALLY_INTEL_RAW] = TALLY_KIND_RAW,
	[TALLY_INTEL_TIMESTAMP] = TALLY_KIND_TIMESTAMP,
};

/* The index of `value` among n, or n. */
static unsigned
place_of(const unsigned *values, unsigned n, unsigned value)
{
	unsigned i = 0;
	while (i < n && (!value || values[i] != value))
		i++;
	return i;
}

/* Whether the word occurs in the text, in any case, before the part about its usage. */
static bool
tells(const char *text, const char *word)
{
	const char *end = strstr(text, "Usage:");
	for (; *text && text != end; text++) {
		size_t i = 0;
		while (word[i] && tally_lower(text[i]) == word[i])
			i++;
		if (!word[i])
			return true;
	}
	return false;
}

/* Units of Mesa's metric descriptions (intel/perf) that neither the type nor the text gives. */
static const struct {
	const char *name, *unit;
	enum tally_counter_kind kind;
} known[] = {
	{ "GPU Time Elapsed", "ns", TALLY_KIND_DURATION },
	{ "GPU Core Clocks", "cycles", TALLY_KIND_DURATION },
	{ "AVG GPU Core Frequency", "hertz", TALLY_KIND_RAW },
};

/* Words of a description that give the unit; the first one that occurs is used. */
static const struct {
	const char *word, *unit;
} units[] = {
	{ "percentage of", "percent" },
	{ "nanosecond", "ns" },
	{ "microsecond", "us" },
	{ "frequency in hz", "hertz" },
	{ "frequency in the measurement", "hertz" },
	{ "in hz", "hertz" },
	{ "unit: percent.", "percent" },
	{ "unit: ns.", "ns" },
	{ "unit: us.", "us" },
	{ "unit: hz.", "hertz" },
	{ "unit: bytes.", "bytes" },
};

static const char *
unit_of(const struct tally_intel_said *said, unsigned kind)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (tells(said->text, units[i].word))
			return units[i].unit;
	}
	if (tells(said->text, "(per thread") || tells(said->text, "cycles per hardware thread"))
		return "cycles/thread";
	if (tells(said->text, "clock cycles") || tells(said->text, "unit: cycles."))
		return "cycles";
	if (kind == TALLY_INTEL_THROUGHPUT && tells(said->text, "bytes"))
		return "bytes";
	return "1";
}

/* The number of bits for raw_max + 1 values; a raw_max of 0 or 1 carries no information. */
static uint32_t
width_of(uint64_t raw_max, uint32_t bits)
{
	uint32_t width = raw_max > 1 ? 64 - (uint32_t)__builtin_clzll(raw_max) : bits;
	return width < bits ? width : bits;
}

bool
tally_intel_describe(const struct tally_intel_dialect *dialect,
		     const struct tally_intel_said *said, struct tally_intel_field *field,
		     struct tally_counter *counter)
{
	unsigned type = place_of(dialect->types, TALLY_INTEL_N_TYPES, said->type);
	unsigned kind = place_of(dialect->kinds, TALLY_INTEL_N_KINDS, said->kind);
	if (type == TALLY_INTEL_N_TYPES)
		return false;
	bool whole = types[type].storage == TALLY_STORAGE_U64;
	bool narrow = whole && (said->size == 1 || said->size == 2 || said->size == 4);
	if (said->size != types[type].size && !(narrow && said->size < types[type].size))
		return false;
	*field = (struct tally_intel_field){ said->offset, said->size,
					     (enum tally_intel_type)type };
	*counter = (struct tally_counter){
		.name = said->name,
		.unit = unit_of(said, kind),
		.description = said->text,
		.kind = kind < TALLY_INTEL_N_KINDS ? kinds[kind] : TALLY_KIND_RAW,
		.storage = types[type].storage,
		.scope = TALLY_SCOPE_WORKLOAD,
		.width_bits = whole && dialect->has_raw_max
				      ? width_of(said->raw_max, types[type].bits)
				      : types[type].bits,
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (dialect->has_caps && strcmp(known[i].name, said->name) == 0) {
			counter->unit = known[i].unit;
			counter->kind = known[i].kind;
			return true;
		}
	}
	/* A ratio, a rate or an average, whatever type the driver reports: it does not add up.
	 * On Haswell, Mesa has averages that are whole numbers and events. */
	bool average = dialect->has_caps && tells(said->text, "average");
	if (!whole || average)
		counter->kind = TALLY_KIND_RATIO;
	else if (kind == TALLY_INTEL_RAW && counter->unit[1] == 's')
		counter->kind = TALLY_KIND_DURATION; /* ns, us */
	return true;
}

/* If there are fewer bytes than the type has, they are the low-order ones. */
static uint64_t
whole_at(const char *at, uint32_t size)
{
	const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	uint64_t v = 0;
	memcpy((char *)&v + (big_endian ? sizeof(v) - size : 0), at, size);
	return v;
}

bool
tally_intel_decode(const struct tally_intel_field *field, const void *data, size_t written,
		   struct tally_value *out)
{
	const char *at = (const char *)data + field->offset;
	if (field->offset > written || written - field->offset < field->size)
		return false;
	float f;
	double d;
	out->storage = types[field->type].storage;
	switch (field->type) {
	case TALLY_INTEL_FLOAT:
		memcpy(&f, at, sizeof(f));
		out->f64 = (double)f;
		return isfinite(f);
	case TALLY_INTEL_DOUBLE:
		memcpy(&d, at, sizeof(d));
		out->f64 = d;
		return isfinite(d);
	default:
		out->u64 = whole_at(at, field->size);
		if (field->type == TALLY_INTEL_BOOL32)
			out->u64 = out->u64 != 0;
		return true;
	}
}

/* Mesa: raw reports for Intel's own tools, and a set that checks the unit. */
bool
tally_intel_is_blob(const char *query)
{
	return strncmp(query, "Intel_Raw_", 10) == 0 || strstr(query, "TestOa");
}

bool
tally_intel_is_pipeline(const char *query)
{
	return strstr(query, "Pipeline Statistics") ||
	       strcmp(query, "Intel_Pipeline_Query") == 0;
}

bool
tally_intel_is_basic(const char *query)
{
	return strstr(query, "Render Metrics Basic") || strstr(query, "RenderBasic") ||
	       strcmp(query, "Intel_GT_Hardware_Counters") == 0;
}

/* In the older dialect, with this spelling. */
bool
tally_intel_reports_disturbance(const char *counter)
{
	return strcmp(counter, "SplitOccured") == 0 ||
	       strcmp(counter, "CoreFrequencyChanged") == 0;
}

bool
tally_intel_is_elapsed(const char *counter)
{
	return strcmp(counter, "GPU Time Elapsed") == 0;
}

bool
tally_intel_in_overview(const char *counter)
{
	/* Pipeline statistics as gl-statistics takes, and the inputs of the metrics of the
	 * overview (data/metrics/intel.txt), in Mesa's spelling. */
	static const char *const names[] = {
		"N primitives submitted",
		"N vertex shader invocations",
		"N fragment shader invocations",
		"N compute shader invocations",
		"GPU Core Clocks",
		"EU Active",
		"EU Stall",
		"Rasterized Pixels",
		"Early Depth Test Fails",
		"Sampler Texels",
		"Sampler Texels Misses",
		"GTI Read Throughput",
		"GTI Write Throughput",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(counter, names[i]) == 0)
			return true;
	return false;
}
