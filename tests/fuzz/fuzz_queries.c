/* SPDX-License-Identifier: MIT */
/* Any answers of a driver to passtally's questions about queries: OpenGL's own, INTEL's and
 * AMD's, and Vulkan's. The first byte chooses. The driver here returns and writes what the
 * input contains; it never writes past the room that it is given, but fills it. No source may
 * wait for a result, ask about an object that it was never given, or give a value that is no
 * number. */
#include "tests/fuzz/fuzz_queries.h"

#include "query/gl/api.h"
#include "query/source/harvest.h"

#include <math.h>

const struct fuzz_target fuzz_target = { "queries", "", 300 };

#define INTERVALS 6
#define FRAMES 4

struct fuzz_input fuzz_answers;
static bool available; /* the driver's last answer */

/* ---- OpenGL ---- */

void
fuzz_text(char *out, size_t size)
{
	size_t n = size ? fuzz_byte(&fuzz_answers) % 24 : 0;
	bool endless = fuzz_byte(&fuzz_answers) > 240;
	n = endless || n > size ? size : n;
	for (size_t i = 0; i < n; i++)
		out[i] = endless ? 'x' : (char)fuzz_byte(&fuzz_answers);
	if (n < size)
		out[n] = '\0';
}

static bool
has_extension(const struct tally_gl_api *api, const char *name)
{
	return ((uintptr_t)api->user >> (strlen(name) % 8) & 1) != 0;
}

static unsigned
get_error(void)
{
	uint8_t one = fuzz_byte(&fuzz_answers);
	return one > 250 ? 0x0502 : one > 245 ? 0x0507 : 0;
}

static void
get_integer(unsigned name, int *out)
{
	if (fuzz_byte(&fuzz_answers) % 8)
		*out = (int)fuzz_number(&fuzz_answers);
	(void)name;
}

static void
get_integer64(unsigned name, int64_t *out)
{
	if (fuzz_byte(&fuzz_answers) % 8)
		*out = (int64_t)fuzz_number(&fuzz_answers);
	(void)name;
}

static void
nothing(void)
{
}

/* Each call answers in full, in part with zeros, twice the same, or not at all. */
static void
generate(int n, unsigned *names)
{
	static unsigned next;
	uint8_t how = fuzz_byte(&fuzz_answers) % 16;
	fuzz_require(n > 0, "names are asked for by the piece");
	for (int i = 0; i < n && how != 1; i++)
		names[i] = how == 2 ? 0 : how == 3 ? 7 : ++next;
}

static void
delete_names(int n, const unsigned *names)
{
	for (int i = 0; i < n; i++)
		available = names[i] & 0x10000;
}

static void
delete_monitors(int n, unsigned *names)
{
	delete_names(n, names);
}

static void
use_query(unsigned target, unsigned name)
{
	fuzz_require(target && name, "a query has a target and a name");
}

static void
use_counter(unsigned name, unsigned target)
{
	use_query(target, name);
}

static void
end_query(unsigned target)
{
	fuzz_require(target != 0, "a query has a target");
}

static void
get_query(unsigned target, unsigned name, int *out)
{
	(void)target;
	get_integer(name, out);
}

static bool
answers(unsigned query, unsigned name)
{
	fuzz_require(query != 0, "no question about a query that is none");
	fuzz_require(name != 0x8866 || available, "no result is waited for");
	return fuzz_byte(&fuzz_answers) % 8 != 0;
}

static void
get_object32(unsigned query, unsigned name, unsigned *out)
{
	if (answers(query, name))
		*out = (unsigned)fuzz_number(&fuzz_answers);
	available = name == 0x8867 && *out;
}

static void
get_object64(unsigned query, unsigned name, uint64_t *out)
{
	if (answers(query, name))
		*out = fuzz_number(&fuzz_answers);
	available = false;
}

/* ---- performance monitors and queries ---- */

/* A list of `size` entries; the driver decides how many there are. */
static void
list(int *n, int size, unsigned *out)
{
	int there = (int)(fuzz_byte(&fuzz_answers) < 250 ? fuzz_byte(&fuzz_answers) % 6
							 : (int)fuzz_number(&fuzz_answers));
	for (int i = 0; out && i < size && i < there; i++)
		out[i] = fuzz_byte(&fuzz_answers) % 8; /* often the same twice */
	if (n && fuzz_byte(&fuzz_answers) < 250)
		*n = there;
}

static void
amd_groups(int *n, int size, unsigned *out)
{
	list(n, size, out);
}

static void
amd_counters(unsigned group, int *n, int *most, int size, unsigned *out)
{
	(void)group;
	list(n, size, out);
	if (most && fuzz_byte(&fuzz_answers) < 240)
		*most = (int)fuzz_byte(&fuzz_answers) % 5;
}

static void
amd_text(int size, int *length, char *out)
{
	if (out && size > 0)
		fuzz_text(out, (size_t)size);
	if (length)
		*length = (int)fuzz_number(&fuzz_answers);
}

static void
amd_group_text(unsigned group, int size, int *length, char *out)
{
	(void)group;
	amd_text(size, length, out);
}

static void
amd_counter_text(unsigned group, unsigned counter, int size, int *length, char *out)
{
	(void)group, (void)counter;
	amd_text(size, length, out);
}

static void
amd_info(unsigned group, unsigned counter, unsigned what, void *out)
{
	static const unsigned types[] = { 0x1405, 0x8BC2, 0x8BC3, 0x1406 };
	(void)group, (void)counter;
	unsigned type = fuzz_byte(&fuzz_answers) < 240 ? types[fuzz_byte(&fuzz_answers) % 4]
						       : (unsigned)fuzz_number(&fuzz_answers);
	if (what == 0x8BC0) /* COUNTER_TYPE_AMD */
		memcpy(out, &type, sizeof(type));
	else
		fuzz_fill(&fuzz_answers, out, 2 * sizeof(float));
}

static void
amd_select(unsigned monitor, unsigned char enable, unsigned group, int n, unsigned *counters)
{
	(void)enable, (void)group, (void)counters;
	fuzz_require(monitor && n > 0, "a monitor counts something");
}

static void
use_monitor(unsigned monitor)
{
	fuzz_require(monitor != 0, "a monitor has a name");
}

static void
amd_data(unsigned monitor, unsigned what, int size, unsigned *out, int *written)
{
	use_monitor(monitor);
	if (what == 0x8BC6)
		fuzz_require(available, "no monitor is waited for");
	if (fuzz_byte(&fuzz_answers) % 16 == 0)
		return;
	if (what == 0x8BC6)
		fuzz_fill(&fuzz_answers, out, (size_t)size);
	else
		*out = fuzz_byte(&fuzz_answers) < 200 ? fuzz_byte(&fuzz_answers)
						      : (unsigned)fuzz_number(&fuzz_answers);
	if (written && fuzz_byte(&fuzz_answers) % 8)
		*written = fuzz_byte(&fuzz_answers) % 4 ? size : (int)fuzz_number(&fuzz_answers);
	if (what == 0x8BC4)
		available = *out;
}

static void
intel_first(unsigned *out)
{
	if (fuzz_byte(&fuzz_answers) < 240)
		*out = fuzz_byte(&fuzz_answers) % 4;
}

static void
intel_next(unsigned id, unsigned *out)
{
	(void)id;
	intel_first(out);
}

static void
intel_query(unsigned id, unsigned size, char *name, unsigned *bytes, unsigned *n,
	    unsigned *instances, unsigned *caps)
{
	(void)id;
	fuzz_text(name, size);
	*bytes = fuzz_byte(&fuzz_answers) < 240 ? fuzz_byte(&fuzz_answers)
						: (unsigned)fuzz_number(&fuzz_answers);
	*n = fuzz_byte(&fuzz_answers) < 250 ? fuzz_byte(&fuzz_answers) % 8
					    : (unsigned)fuzz_number(&fuzz_answers);
	*instances = fuzz_byte(&fuzz_answers) % 3;
	*caps = fuzz_byte(&fuzz_answers) % 3;
}

static void
intel_counter(unsigned id, unsigned counter, unsigned name_size, char *name, unsigned text_size,
	      char *text, unsigned *offset, unsigned *size, unsigned *kind, unsigned *type,
	      uint64_t *most)
{
	static const unsigned sizes[] = { 4, 8, 4, 8, 4 };
	(void)id, (void)counter;
	uint8_t which = fuzz_byte(&fuzz_answers);
	fuzz_text(name, name_size);
	fuzz_text(text, text_size);
	*offset = which < 240 ? fuzz_byte(&fuzz_answers) : (unsigned)fuzz_number(&fuzz_answers);
	*size = which < 240 ? sizes[which % 5] : (unsigned)fuzz_number(&fuzz_answers);
	*kind = 0x94F0 + fuzz_byte(&fuzz_answers) % 7;
	*type = 0x94F8 + which % 6;
	*most = fuzz_number(&fuzz_answers);
}

static void
intel_create(unsigned id, unsigned *out)
{
	static unsigned next;
	(void)id;
	uint8_t how = fuzz_byte(&fuzz_answers);
	if (how < 250)
		*out = how > 240 ? 0 : ++next;
}

static void
intel_data(unsigned handle, unsigned flags, int size, void *out, unsigned *written)
{
	use_monitor(handle);
	fuzz_require(flags == 0x83F9 || flags == 0x83FA,
		     "no query is waited for (DONOT_FLUSH, or NONBLOCK of the old extension)");
	uint8_t how = fuzz_byte(&fuzz_answers) % 8;
	if (how == 0)
		return;
	if (how > 2)
		fuzz_fill(&fuzz_answers, out, (size_t)size);
	*written = how == 1 ? 0 : how == 2 ? (unsigned)fuzz_number(&fuzz_answers) : (unsigned)size;
}

static bool
read_disjoint(struct tally_gl_api *api)
{
	api->disjoint_seen |= fuzz_byte(&fuzz_answers) > 200;
	return api->disjoint_seen;
}

static void
fill_gl(struct tally_gl_api *api)
{
	uint8_t how = fuzz_byte(&fuzz_answers);
	*api = (struct tally_gl_api){
		.es = how & 1,
		.version = how & 2   ? 46
			   : how & 4 ? 33
				     : 20,
		.has_extension = has_extension,
		.user = (void *)(uintptr_t)fuzz_byte(&fuzz_answers),
		.sources = "all",
		.driver = how & 8    ? "Intel iris"
			  : how & 16 ? "llvmpipe"
				     : "other",
		.GetError = get_error,
		.GetIntegerv = get_integer,
		.GetInteger64v = get_integer64,
		.Flush = nothing,
		.GenQueries = generate,
		.DeleteQueries = delete_names,
		.BeginQuery = use_query,
		.EndQuery = end_query,
		.QueryCounter = use_counter,
		.GetQueryiv = get_query,
		.GetQueryObjectuiv = get_object32,
		.GetQueryObjectui64v = how & 32 ? NULL : get_object64,
		.GetPerfMonitorGroupsAMD = amd_groups,
		.GetPerfMonitorCountersAMD = amd_counters,
		.GetPerfMonitorGroupStringAMD = amd_group_text,
		.GetPerfMonitorCounterStringAMD = amd_counter_text,
		.GetPerfMonitorCounterInfoAMD = amd_info,
		.GenPerfMonitorsAMD = generate,
		.DeletePerfMonitorsAMD = delete_monitors,
		.SelectPerfMonitorCountersAMD = amd_select,
		.BeginPerfMonitorAMD = use_monitor,
		.EndPerfMonitorAMD = use_monitor,
		.GetPerfMonitorCounterDataAMD = amd_data,
		.GetFirstPerfQueryIdINTEL = intel_first,
		.GetNextPerfQueryIdINTEL = intel_next,
		.GetPerfQueryInfoINTEL = intel_query,
		.GetPerfCounterInfoINTEL = intel_counter,
		.CreatePerfQueryINTEL = intel_create,
		.DeletePerfQueryINTEL = use_monitor,
		.BeginPerfQueryINTEL = use_monitor,
		.EndPerfQueryINTEL = use_monitor,
		.GetPerfQueryDataINTEL = intel_data,
		.timestamps_in_tiles = how & 64,
		.read_disjoint = how & 128 ? read_disjoint : NULL,
	};
}

void
fuzz_check_sample(const struct tally_sample *out, const struct tally_counter *const *counters)
{
	fuzz_require(!out->has_time || out->end_ns >= out->begin_ns,
		     "an interval has no negative time");
	for (uint32_t i = 0; i < out->n; i++) {
		if (!(out->valid[i / 64] >> i % 64 & 1))
			continue;
		fuzz_require(out->values[i].storage == counters[i]->storage,
			     "a value is of its kind");
		fuzz_require(out->values[i].storage != TALLY_STORAGE_F64 ||
				     isfinite(out->values[i].f64),
			     "a value is a number");
	}
}

static void
read_intervals(struct tally_harvest *h, uint32_t *slots)
{
	uint32_t room = tally_harvest_max_values(h);
	struct tally_value *values = calloc(room + 1, sizeof(*values));
	uint64_t *valid = malloc((room / 64 + 1) * sizeof(*valid));
	for (unsigned i = 0; i < INTERVALS && values && valid; i++) {
		if (slots[i] == TALLY_NO_SLOT)
			continue;
		const struct tally_layout *layout = &tally_harvest_layout(h, slots[i])->layout;
		struct tally_sample out = { .values = values,
					    .valid = valid,
					    .n = layout->n_counters };
		fuzz_require(out.n <= room, "a slot has room for its values");
		memset(valid, 0, (room / 64 + 1) * sizeof(*valid));
		enum tally_status status = tally_harvest_read(h, slots[i], &out);
		if (status == TALLY_NOT_READY) {
			memset(valid, 0, (room / 64 + 1) * sizeof(*valid));
			tally_harvest_give_up(h, slots[i], &out);
		}
		fuzz_require(status != TALLY_LOST || out.flags, "what is lost is flagged");
		fuzz_check_sample(&out, layout->counters);
		slots[i] = TALLY_NO_SLOT;
	}
	free(values);
	free(valid);
}

static void
try_gl(void)
{
	static struct tally_source *(*const create[])(struct tally_gl_api *) = {
		tally_gl_timestamp_create,
		tally_gl_statistics_create,
		tally_gl_intel_create,
		tally_gl_amd_create,
	};
	struct tally_gl_api api;
	fill_gl(&api);
	struct tally_source *sources[4];
	uint8_t which = fuzz_byte(&fuzz_answers);
	for (unsigned i = 0; i < 4; i++) {
		sources[i] = which >> i & 1 ? NULL : create[i](&api);
		if (sources[i])
			sources[i]->wanted = which & 16 ? NULL : "all";
	}
	struct tally_harvest *h = tally_harvest_create(sources, 4, 2, 64);
	for (unsigned frame = 0; h && frame < FRAMES; frame++) {
		uint32_t slots[INTERVALS], n;
		tally_harvest_sets(h, &n);
		tally_harvest_select(h, n ? frame % n : 0);
		for (unsigned i = 0; i < INTERVALS; i++) {
			slots[i] = tally_harvest_begin(h);
			if (fuzz_byte(&fuzz_answers) > 250)
				tally_harvest_yield(h, fuzz_byte(&fuzz_answers) %
							       (TALLY_GL_USE_MONITORS + 1));
			if (slots[i] != TALLY_NO_SLOT)
				tally_harvest_end(h, slots[i]);
			if (fuzz_byte(&fuzz_answers) % 4 == 0)
				tally_harvest_gap(h);
		}
		read_intervals(h, slots);
		tally_harvest_retry(h);
		tally_harvest_frame_end(h);
	}
	tally_harvest_destroy(h, which & 32);
}

#ifndef PASSTALLY_HAS_VULKAN
void
fuzz_vk_queries(void)
{
}
#endif

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_answers = (struct fuzz_input){ data, size };
	available = false;
	if (fuzz_byte(&fuzz_answers) % 2)
		fuzz_vk_queries();
	else
		try_gl();
	return 0;
}
