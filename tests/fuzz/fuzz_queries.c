/* SPDX-License-Identifier: MIT */
/* Any answers of a driver to our questions about queries: OpenGL's own, INTEL's and AMD's, and
 * Vulkan's. The first byte chooses. The driver here says and writes what the input has; it never
 * writes past the room that it is given, but fills it. No source may wait for a result, ask about
 * an object that it was never given, or give a value that is no number. */
#include "tests/fuzz/fuzz.h"

#include "query/gl/api.h"
#include "query/source/harvest.h"
#include "tests/fuzz/fuzz_queries.h"
#ifdef PASSTALLY_HAS_VULKAN
#include "query/vk/source.h"
#endif

#include <math.h>

const struct fuzz_target fuzz_target = { "queries", "", 300 };

#define INTERVALS 6
#define FRAMES 4

struct fuzz_input fuzz_answers;
static bool available; /* the driver said so last */

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

/* A list of `size` places; how many there are is the driver's word. */
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
		tally_harvest_frame_end(h);
	}
	tally_harvest_destroy(h, which & 32);
}

/* ---- Vulkan ---- */

#ifdef PASSTALLY_HAS_VULKAN
#define SLOTS 4

static VkResult
result(void)
{
	static const VkResult some[] = { VK_NOT_READY,  VK_ERROR_DEVICE_LOST,
					 VK_TIMEOUT,    VK_ERROR_OUT_OF_HOST_MEMORY,
					 VK_INCOMPLETE, VK_ERROR_UNKNOWN };
	uint8_t how = fuzz_byte(&fuzz_answers);
	return how < 200 ? VK_SUCCESS : some[how % 6];
}

static VkResult VKAPI_CALL
vk_create(VkDevice device, const VkQueryPoolCreateInfo *info, const VkAllocationCallbacks *a,
	  VkQueryPool *out)
{
	static uintptr_t next;
	(void)device, (void)a;
	fuzz_require(info->queryCount > 0, "a pool has queries");
	VkResult got = result();
	if (got == VK_SUCCESS)
		*out = (VkQueryPool)++next;
	return got;
}

static void VKAPI_CALL
vk_destroy(VkDevice device, VkQueryPool pool, const VkAllocationCallbacks *a)
{
	(void)device, (void)pool, (void)a;
}

static void VKAPI_CALL
vk_reset(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t n)
{
	(void)device, (void)first;
	fuzz_require(pool != VK_NULL_HANDLE && n > 0, "a pool is reset");
}

static void VKAPI_CALL
vk_cmd_reset(VkCommandBuffer cb, VkQueryPool pool, uint32_t first, uint32_t n)
{
	(void)cb;
	vk_reset(NULL, pool, first, n);
}

static void VKAPI_CALL
vk_stamp(VkCommandBuffer cb, VkPipelineStageFlagBits stage, VkQueryPool pool, uint32_t n)
{
	(void)cb, (void)stage, (void)n;
	fuzz_require(pool != VK_NULL_HANDLE, "a query has a pool");
}

static void VKAPI_CALL
vk_begin(VkCommandBuffer cb, VkQueryPool pool, uint32_t n, VkQueryControlFlags flags)
{
	vk_stamp(cb, flags, pool, n);
}

static void VKAPI_CALL
vk_end(VkCommandBuffer cb, VkQueryPool pool, uint32_t n)
{
	vk_stamp(cb, 0, pool, n);
}

static VkResult VKAPI_CALL
vk_results(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t n, size_t size, void *data,
	   VkDeviceSize stride, VkQueryResultFlags flags)
{
	(void)device, (void)first, (void)stride;
	fuzz_require(pool != VK_NULL_HANDLE && n > 0, "a query has a pool");
	fuzz_require(!(flags & VK_QUERY_RESULT_WAIT_BIT), "no result is waited for");
	VkResult got = result();
	if (fuzz_byte(&fuzz_answers) % 8)
		fuzz_fill(&fuzz_answers, data, size);
	return got;
}

static VkResult VKAPI_CALL
vk_clocks(VkDevice device, uint32_t n, const VkCalibratedTimestampInfoEXT *infos, uint64_t *values,
	  uint64_t *deviation)
{
	(void)device, (void)infos;
	VkResult got = result();
	for (uint32_t i = 0; i < n && fuzz_byte(&fuzz_answers) % 8; i++)
		values[i] = fuzz_number(&fuzz_answers);
	if (fuzz_byte(&fuzz_answers) % 8)
		*deviation = fuzz_number(&fuzz_answers);
	return got;
}

static VkResult VKAPI_CALL
vk_list(VkPhysicalDevice physical, uint32_t family, uint32_t *n, VkPerformanceCounterKHR *counters,
	VkPerformanceCounterDescriptionKHR *texts)
{
	(void)physical, (void)family;
	uint32_t there = fuzz_byte(&fuzz_answers) < 240 ? fuzz_byte(&fuzz_answers) % 12
							: (uint32_t)fuzz_number(&fuzz_answers);
	uint32_t room = counters || texts ? *n : 0;
	for (uint32_t i = 0; i < room && i < there && i < 64; i++) {
		counters[i].unit = fuzz_byte(&fuzz_answers) % 14;
		counters[i].storage = fuzz_byte(&fuzz_answers) % 8;
		counters[i].scope = fuzz_byte(&fuzz_answers) % 5;
		counters[i].uuid[0] = fuzz_byte(&fuzz_answers) % 4;
		fuzz_text(texts[i].name, sizeof(texts[i].name));
		fuzz_text(texts[i].category, sizeof(texts[i].category));
		fuzz_text(texts[i].description, sizeof(texts[i].description));
		texts[i].flags = fuzz_byte(&fuzz_answers);
	}
	*n = room && there > room && fuzz_byte(&fuzz_answers) < 200 ? room : there;
	return result();
}

static void VKAPI_CALL
vk_runs(VkPhysicalDevice physical, const VkQueryPoolPerformanceCreateInfoKHR *info, uint32_t *runs)
{
	(void)physical;
	fuzz_require(info->counterIndexCount > 0, "a set has counters");
	if (fuzz_byte(&fuzz_answers) < 250)
		*runs = fuzz_byte(&fuzz_answers) % 4;
}

static VkResult VKAPI_CALL
vk_lock(VkDevice device, const VkAcquireProfilingLockInfoKHR *info)
{
	(void)device;
	fuzz_require(info->timeout < 1000000000, "the lock is not waited for");
	return result();
}

static void VKAPI_CALL
vk_release(VkDevice device)
{
	(void)device;
}

static void
fill_vk(struct tally_vk_api *api)
{
	uint8_t how = fuzz_byte(&fuzz_answers);
	*api = (struct tally_vk_api){
		.device = (VkDevice)(uintptr_t)1,
		.physical = (VkPhysicalDevice)(uintptr_t)2,
		.CreateQueryPool = vk_create,
		.DestroyQueryPool = vk_destroy,
		.CmdResetQueryPool = vk_cmd_reset,
		.ResetQueryPool = how & 1 ? vk_reset : NULL,
		.CmdWriteTimestamp = vk_stamp,
		.CmdBeginQuery = vk_begin,
		.CmdEndQuery = vk_end,
		.GetQueryPoolResults = vk_results,
		.GetCalibratedTimestamps = how & 2 ? vk_clocks : NULL,
		.pipeline_statistics = how & 4,
		.mesh_shader = how & 8,
		.performance_offered = true,
		.performance_query = true,
		.performance_pools = how & 16,
		.EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR = vk_list,
		.GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR = vk_runs,
		.AcquireProfilingLockKHR = vk_lock,
		.ReleaseProfilingLockKHR = vk_release,
		.n_families = fuzz_byte(&fuzz_answers) % 20,
	};
	if (how & 32)
		fuzz_fill(&fuzz_answers, &api->timestamp_period, sizeof(api->timestamp_period));
	else
		api->timestamp_period = 1.0f;
}

static void
read_slot(struct tally_vk_source *src, const struct tally_vk_family *family, VkQueryPool pool,
	  uint32_t slot)
{
	size_t row = src->ops->row_bytes(src, family);
	void *rows = row ? calloc(SLOTS, row) : NULL;
	const struct tally_counter *const *counters = src->counters;
	struct tally_sample out = { .n = src->n_counters };
	if (src->n_sets) {
		counters = src->sets[family->set - 1]->layout.counters;
		out.n = src->sets[family->set - 1]->layout.n_counters;
	}
	out.values = calloc(out.n + 1, sizeof(*out.values));
	out.valid = calloc(out.n / 64 + 1, sizeof(*out.valid));
	enum tally_status got = rows ? src->ops->fetch(src, family, pool, 0, SLOTS, rows)
				     : TALLY_OK;
	unsigned which = fuzz_byte(&fuzz_answers) % 3 + 1;
	if (got == TALLY_OK) {
		got = src->ops->read(src, family, pool, rows, slot, 1, which, &out);
		fuzz_require(got != TALLY_NOT_READY || !out.has_time,
			     "what is not ready has no time");
		fuzz_require(which == TALLY_VK_BOTH || !out.has_time,
			     "half an interval has no time");
		if (got == TALLY_OK)
			fuzz_check_sample(&out, counters);
	}
	free(out.values);
	free(out.valid);
	free(rows);
}

static void
use_vk(struct tally_vk_source *src)
{
	const VkCommandBuffer cb = (VkCommandBuffer)(uintptr_t)3;
	struct tally_vk_family family = {
		.flags = fuzz_byte(&fuzz_answers),
		.timestamp_bits = fuzz_byte(&fuzz_answers) % 80,
		.set = src->n_sets ? fuzz_byte(&fuzz_answers) % src->n_sets + 1 : 0,
	};
	VkQueryPool pool = VK_NULL_HANDLE;
	if (!src->ops->covers(src, &family) ||
	    src->ops->create_pool(src, &family, SLOTS, &pool) != TALLY_OK)
		return;
	src->ops->record_reset(src, cb, pool, 0, SLOTS);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		src->ops->begin(src, cb, pool, slot, 1);
		src->ops->end(src, cb, pool, slot, 1);
		src->ops->tick(src, (slot + 1) * UINT64_C(2000000000));
		read_slot(src, &family, pool, slot);
	}
}

void
fuzz_vk_queries(void)
{
	static struct tally_vk_source *(*const create[])(const struct tally_vk_api *) = {
		tally_vk_timestamp_create,
		tally_vk_statistics_create,
		tally_vk_khr_create,
	};
	struct tally_vk_api api;
	fill_vk(&api);
	for (unsigned i = 0; i < 3; i++) {
		struct tally_vk_source *src = create[i](&api);
		if (!src)
			continue;
		src->wanted = "all";
		enum tally_status status = src->ops->open(src);
		fuzz_require(status == TALLY_OK || src->reason[0], "a source that is off says why");
		if (status == TALLY_OK) {
			use_vk(src);
			src->ops->close(src);
		}
		tally_vk_source_destroy(src);
	}
}
#else
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
