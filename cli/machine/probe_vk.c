/* SPDX-License-Identifier: MIT */
#include "cli/machine/probe.h"

#include "cli/shared/text.h"
#include "query/source/source.h"
#include "query/sources.h"
#include "query/vk/source.h"

#include <dlfcn.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#define LOADER "libvulkan.so.1"
#define MAX_DEVICES 32
#define MAX_FAMILIES 32

/* Functions of an instance: those that every Vulkan has, and those that are NULL without an
 * extension or Vulkan 1.1. */
#define NEEDED(F) \
	F(DestroyInstance) \
	F(EnumeratePhysicalDevices) \
	F(GetPhysicalDeviceProperties) \
	F(GetPhysicalDeviceFeatures) \
	F(GetPhysicalDeviceQueueFamilyProperties) \
	F(EnumerateDeviceExtensionProperties) \
	F(CreateDevice) \
	F(DestroyDevice) \
	F(GetDeviceProcAddr)
#define OPTIONAL(F) \
	F(GetPhysicalDeviceCalibrateableTimeDomainsEXT) \
	F(EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR) \
	F(GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR)
#define OF_VULKAN_1_1(F) \
	F(GetPhysicalDeviceProperties2) \
	F(GetPhysicalDeviceFeatures2)

/* Vulkan's loader, and an instance. */
struct vulkan {
	uint32_t version; /* version of the instance */
	VkInstance instance;
	PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
#define MEMBER(name) PFN_vk##name name;
	NEEDED(MEMBER) OPTIONAL(MEMBER) OF_VULKAN_1_1(MEMBER)
#undef MEMBER
};

/* One physical device and its properties. */
struct gpu {
	VkPhysicalDevice handle;
	VkPhysicalDeviceProperties properties;
	VkPhysicalDeviceDriverProperties driver; /* zeroed if the device does not report it */
	VkQueueFamilyProperties families[MAX_FAMILIES];
	uint32_t n_families;
	bool statistics, inherited, host_reset, calibrated;
	bool has_reset_extension;
	bool has_performance, performance, performance_pools;
};

static bool
find_functions(struct vulkan *v)
{
	PFN_vkVoidFunction found;
	bool all = true;
/* All function pointers have the same size and representation. */
#define FIND(name) \
	found = v->GetInstanceProcAddr(v->instance, "vk" #name); \
	memcpy(&v->name, &found, sizeof(found));
#define FIND_NEEDED(name) FIND(name) all &= found != NULL;
	NEEDED(FIND_NEEDED)
	OPTIONAL(FIND)
	if (v->version >= VK_API_VERSION_1_1) {
		OF_VULKAN_1_1(FIND)
	}
	return all;
}

static void
close_vulkan(struct vulkan *v)
{
	if (v->instance && v->DestroyInstance)
		v->DestroyInstance(v->instance, NULL);
	/* The library stays loaded: drivers leave threads and handlers running. */
}

static bool
open_vulkan(struct vulkan *v, char *why, size_t size)
{
	void *library = dlopen(LOADER, RTLD_NOW | RTLD_LOCAL);
	void *get = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
	*v = (struct vulkan){ 0 };
	if (!get) {
		snprintf(why, size, "no Vulkan: its loader, " LOADER ", is not installed");
		return false;
	}
	memcpy(&v->GetInstanceProcAddr, &get, sizeof(get));
	PFN_vkVoidFunction found[2] = {
		v->GetInstanceProcAddr(NULL, "vkEnumerateInstanceVersion"),
		v->GetInstanceProcAddr(NULL, "vkCreateInstance"),
	};
	PFN_vkEnumerateInstanceVersion read_version;
	PFN_vkCreateInstance create;
	memcpy(&read_version, &found[0], sizeof(read_version));
	memcpy(&create, &found[1], sizeof(create));
	/* A loader of Vulkan 1.0 refuses any other version. */
	v->version = VK_API_VERSION_1_0;
	if (read_version && read_version(&v->version) != VK_SUCCESS)
		v->version = VK_API_VERSION_1_0;
	if (v->version > VK_API_VERSION_1_2)
		v->version = VK_API_VERSION_1_2;
	const VkApplicationInfo application = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pApplicationName = "passtally",
		.apiVersion = v->version,
	};
	const VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = &application,
	};
	VkResult result = create ? create(&info, NULL, &v->instance)
				 : VK_ERROR_INITIALIZATION_FAILED;
	if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
		snprintf(why, size, "no Vulkan: its loader finds no driver");
		return false;
	}
	if (result != VK_SUCCESS || !find_functions(v)) {
		snprintf(why, size, "no Vulkan instance could be made (VkResult %d)", result);
		close_vulkan(v);
		return false;
	}
	return true;
}

/* ---- device properties ---- */

static bool
has_extension(const VkExtensionProperties *all, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(all[i].extensionName, name) == 0)
			return true;
	return false;
}

static bool
read_waits(const struct gpu *g)
{
	return tally_vk_read_waits(g->driver.driverID, g->properties.vendorID);
}

static bool
reads_both_clocks(const struct vulkan *v, VkPhysicalDevice gpu)
{
	VkTimeDomainEXT domains[16];
	uint32_t n = G_N_ELEMENTS(domains);
	bool device = false, monotonic = false;
	if (!v->GetPhysicalDeviceCalibrateableTimeDomainsEXT ||
	    v->GetPhysicalDeviceCalibrateableTimeDomainsEXT(gpu, &n, domains) < 0)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		device |= domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
		monotonic |= domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
	}
	return device && monotonic;
}

static void
read_extensions(const struct vulkan *v, struct gpu *g)
{
	uint32_t n = 0;
	if (v->EnumerateDeviceExtensionProperties(g->handle, NULL, &n, NULL) < 0 || !n)
		return;
	g_autofree VkExtensionProperties *all = g_new0(VkExtensionProperties, n);
	if (v->EnumerateDeviceExtensionProperties(g->handle, NULL, &n, all) >= 0) {
		g->calibrated = has_extension(all, n,
					      VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) &&
				reads_both_clocks(v, g->handle);
		g->has_reset_extension = has_extension(all, n,
						       VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME);
		g->has_performance = has_extension(
			all, n, VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME);
	}
}

static void
read_gpu(const struct vulkan *v, VkPhysicalDevice handle, struct gpu *g)
{
	*g = (struct gpu){ .handle = handle, .n_families = MAX_FAMILIES };
	v->GetPhysicalDeviceProperties(handle, &g->properties);
	v->GetPhysicalDeviceQueueFamilyProperties(handle, &g->n_families, g->families);
	VkPhysicalDeviceFeatures features = { 0 };
	v->GetPhysicalDeviceFeatures(handle, &features);
	g->statistics = features.pipelineStatisticsQuery;
	g->inherited = features.inheritedQueries;
	read_extensions(v, g);
	uint32_t version = g->properties.apiVersion;
	if (version < VK_API_VERSION_1_1)
		return;
	g->driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
	VkPhysicalDeviceProperties2 properties = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
		/* A driver that does not know the structure leaves it untouched. */
		.pNext = &g->driver,
	};
	if (v->GetPhysicalDeviceProperties2)
		v->GetPhysicalDeviceProperties2(handle, &properties);
	VkPhysicalDeviceHostQueryResetFeatures reset = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES
	};
	VkPhysicalDevicePerformanceQueryFeaturesKHR performance = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR
	};
	VkPhysicalDeviceFeatures2 all = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
		.pNext = &reset,
	};
	if (g->has_performance)
		reset.pNext = &performance;
	if (v->GetPhysicalDeviceFeatures2 &&
	    (version >= VK_API_VERSION_1_2 || g->has_reset_extension))
		v->GetPhysicalDeviceFeatures2(handle, &all);
	g->host_reset = reset.hostQueryReset;
	g->performance = g->host_reset && performance.performanceCounterQueryPools;
	g->performance_pools = performance.performanceCounterMultipleQueryPools;
}

/* ---- facts for people ---- */

static char *
describe_family(const VkQueueFamilyProperties *f, uint32_t number)
{
	static const struct {
		VkQueueFlags bit;
		const char *word;
	} words[] = {
		{ VK_QUEUE_GRAPHICS_BIT, "graphics" },
		{ VK_QUEUE_COMPUTE_BIT, "compute" },
		{ VK_QUEUE_TRANSFER_BIT, "transfer" },
		{ VK_QUEUE_SPARSE_BINDING_BIT, "sparse" },
		{ VK_QUEUE_PROTECTED_BIT, "protected" },
	};
	GString *text = g_string_new(NULL);
	g_string_printf(text, "queue family %u:", number);
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (f->queueFlags & words[i].bit)
			g_string_append_printf(text, " %s", words[i].word);
	g_string_append_printf(text, "; %u queue%s; ", f->queueCount, TALLY_S(f->queueCount));
	if (f->timestampValidBits)
		g_string_append_printf(text, "time stamps of %u bits", f->timestampValidBits);
	else
		g_string_append(text, "no time stamps: what runs there has no GPU time");
	return g_string_free(text, FALSE);
}

/* Strings that the array frees, and NULL at the end. */
static GPtrArray *
gather_facts(const struct gpu *g)
{
	GPtrArray *facts = g_ptr_array_new_with_free_func(g_free);
	static const char *const types[] = { "a device of another kind", "an integrated GPU",
					     "a discrete GPU", "a virtual GPU", "the CPU" };
	uint32_t v = g->properties.apiVersion;
	unsigned type = (unsigned)g->properties.deviceType;
	g_ptr_array_add(facts, g_strdup_printf("Vulkan %u.%u.%u, %s", VK_API_VERSION_MAJOR(v),
					VK_API_VERSION_MINOR(v), VK_API_VERSION_PATCH(v),
					types[type < G_N_ELEMENTS(types) ? type : 0]));
	for (uint32_t i = 0; i < g->n_families; i++)
		g_ptr_array_add(facts, describe_family(&g->families[i], i));
	g_ptr_array_add(facts, g_strdup_printf("time stamps: %g ns a tick",
					(double)g->properties.limits.timestampPeriod));
	const struct {
		bool offered;
		const char *yes, *no;
	} rows[] = {
		{ g->calibrated, "calibrated time stamps: yes",
		  "calibrated time stamps: no, GPU times are not on the CPU's time line" },
		{ g->host_reset, "host query reset: yes",
		  "host query reset: no, queries are reset in the command buffers" },
		{ g->inherited, "inherited queries: yes",
		  "inherited queries: no, secondary command buffers are counted one by one" },
		{ read_waits(g),
		  "lavapipe waits until the device is idle whenever a query is read: frames "
		  "are slower than without a capture", NULL },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const char *fact = rows[i].offered ? rows[i].yes : rows[i].no;
		if (fact)
			g_ptr_array_add(facts, g_strdup(fact));
	}
	g_ptr_array_add(facts, NULL);
	return facts;
}

/* ---- sources of the device ---- */

static VkDevice
create_device(const struct vulkan *v, const struct gpu *g)
{
	const float priority = 1;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	const VkPhysicalDeviceFeatures features = { .pipelineStatisticsQuery = g->statistics };
	VkPhysicalDeviceHostQueryResetFeatures reset = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
		.hostQueryReset = VK_TRUE,
	};
	VkPhysicalDevicePerformanceQueryFeaturesKHR performance = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR,
		.pNext = &reset,
		.performanceCounterQueryPools = VK_TRUE,
		.performanceCounterMultipleQueryPools = g->performance_pools,
	};
	const char *extensions[3];
	uint32_t n = 0;
	if (g->calibrated)
		extensions[n++] = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
	if (g->performance)
		extensions[n++] = VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME;
	if (g->performance && g->has_reset_extension)
		extensions[n++] = VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME;
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.pNext = g->performance ? &performance : NULL,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
		.enabledExtensionCount = n,
		.ppEnabledExtensionNames = extensions,
		.pEnabledFeatures = &features,
	};
	VkDevice device = VK_NULL_HANDLE;
	if (!g->n_families || v->CreateDevice(g->handle, &info, NULL, &device) != VK_SUCCESS)
		return VK_NULL_HANDLE;
	return device;
}

#define FIND_IN(v, api, name) \
	do { \
		PFN_vkVoidFunction found_ = (v)->GetDeviceProcAddr((api)->device, "vk" #name); \
		memcpy(&(api)->name, &found_, sizeof(found_)); \
	} while (0)

static void
fill_api(const struct vulkan *v, const struct gpu *g, VkDevice device, struct tally_vk_api *api)
{
	*api = (struct tally_vk_api){
		.device = device,
		.physical = g->handle,
		.timestamp_period = g->properties.limits.timestampPeriod,
		.pipeline_statistics = g->statistics,
		.performance_offered = g->has_performance,
		.performance_query = g->performance,
		.performance_pools = g->performance_pools,
		.n_families = g->n_families,
		.driver_id = g->driver.driverID,
		.compute_crashes = read_waits(g),
		.EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR =
			v->EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR,
		.GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR =
			v->GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR,
	};
	if (g->performance) {
		FIND_IN(v, api, AcquireProfilingLockKHR);
		FIND_IN(v, api, ReleaseProfilingLockKHR);
		FIND_IN(v, api, ResetQueryPool);
		PFN_vkVoidFunction found = v->GetDeviceProcAddr(device, "vkResetQueryPoolEXT");
		if (!api->ResetQueryPool)
			memcpy(&api->ResetQueryPool, &found, sizeof(found));
	}
	FIND_IN(v, api, CreateQueryPool);
	FIND_IN(v, api, DestroyQueryPool);
	FIND_IN(v, api, CmdResetQueryPool);
	FIND_IN(v, api, CmdWriteTimestamp);
	FIND_IN(v, api, CmdBeginQuery);
	FIND_IN(v, api, CmdEndQuery);
	FIND_IN(v, api, GetQueryPoolResults);
	if (g->calibrated) {
		PFN_vkVoidFunction found = v->GetDeviceProcAddr(device,
								"vkGetCalibratedTimestampsEXT");
		memcpy(&api->GetCalibratedTimestamps, &found, sizeof(found));
	}
}

/* Whether there is a queue family on which it can count. */
static bool
covers_any(const struct tally_vk_source *src, const struct gpu *g)
{
	for (uint32_t i = 0; i < g->n_families; i++) {
		const struct tally_vk_family family = {
			.flags = g->families[i].queueFlags,
			.timestamp_bits = g->families[i].timestampValidBits,
			.index = i,
			.set = src->n_sets ? 1 : 0,
		};
		if (src->ops->covers(src, &family))
			return true;
	}
	return false;
}

/* Whether the driver can create a query pool for the counters that it reports as compatible. */
static bool
makes_pools(const struct tally_vk_source *src, const struct gpu *g)
{
	const struct tally_vk_api *api = src->api;
	for (uint32_t i = 0; i < g->n_families; i++) {
		struct tally_vk_family family = { .flags = g->families[i].queueFlags,
						  .index = i };
		for (family.set = 1; family.set <= src->n_sets; family.set++) {
			VkQueryPool pool = VK_NULL_HANDLE;
			if (!src->ops->covers(src, &family))
				continue;
			if (src->ops->create_pool((struct tally_vk_source *)src, &family, 1,
						  &pool) != TALLY_OK)
				return false;
			api->DestroyQueryPool(api->device, pool, NULL);
		}
	}
	return true;
}

struct opened {
	struct tally_vk_source *src;
	bool open;
};

static struct tally_source_info
open_source(struct opened *o, const struct gpu *g)
{
	struct tally_vk_source *src = o->src;
	struct tally_source_info row = { .name = src->ops->name };
	enum tally_status status = src->ops->open(src);
	o->open = status == TALLY_OK;
	row.on = o->open && covers_any(src, g);
	if (row.on && !makes_pools(src, g)) {
		row.on = false;
		row.reason = "the driver makes no query pool of what it says fits together";
		return row;
	}
	if (row.on)
		row.reason = src->reason[0] ? src->reason : NULL;
	else if (!o->open)
		row.reason = status == TALLY_NO_MEMORY ? "out of memory" : src->reason;
	else
		row.reason = src->ops->delivers_time ? "no queue family has time stamps"
						     : "no queue family can count it";
	return row;
}

static void
close_sources(struct opened *sources, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sources[i].open)
			sources[i].src->ops->close(sources[i].src);
		tally_vk_source_destroy(sources[i].src);
	}
}

/* Everything except the counters. */
static struct tally_device_record
describe_driver(const struct gpu *g, char version[TALLY_VK_VERSION_SIZE])
{
	return (struct tally_device_record){
		.api = TALLY_API_VULKAN,
		.name = g->properties.deviceName,
		.driver = g->driver.driverName[0] ? g->driver.driverName
						  : tally_vk_vendor(g->properties.vendorID),
		.driver_version = g->driver.driverInfo[0]
					  ? g->driver.driverInfo
					  : tally_vk_version(&g->properties, version),
		.beneath = -1,
	};
}

static bool
describe(const struct vulkan *v, const struct gpu *g, uint32_t number, const char *wanted,
	 tally_probe_report *report, void *data)
{
	VkDevice handle = create_device(v, g);
	if (!handle)
		return false;
	struct tally_vk_api api;
	fill_api(v, g, handle, &api);
	struct opened sources[TALLY_MAX_VK_SOURCES] = { { NULL, false } };
	struct tally_source_info rows[1 + TALLY_MAX_VK_SOURCES] = {
		{ .name = tally_api_source.name, .on = true }
	};
	g_autoptr(GPtrArray) counters = g_ptr_array_new();
	g_autoptr(GPtrArray) sets = g_ptr_array_new();
	struct tally_key_table keys = { NULL };
	g_autoptr(GPtrArray) facts = gather_facts(g);
	char version[TALLY_VK_VERSION_SIZE];
	struct tally_device_record device = describe_driver(g, version);
	device.device = number;
	device.sources = rows;
	device.n_sources = 1;
	for (uint32_t i = 0; i < tally_n_vk_sources; i++) {
		bool asked = tally_vk_source_wanted(NULL, wanted, &tally_vk_sources[i]);
		struct tally_vk_source *src = asked ? tally_vk_sources[i].create(&api) : NULL;
		sources[i].src = src;
		if (!asked)
			rows[device.n_sources++] = (struct tally_source_info){
				.name = tally_vk_sources[i].row.name,
				.reason = tally_vk_sources[i].on_request,
			};
		if (!src)
			continue;
		src->wanted = wanted;
		src->keys = &keys;
		struct tally_source_info row = open_source(&sources[i], g);
		rows[device.n_sources++] = row;
		for (uint32_t k = 0; row.on && k < src->n_counters; k++) {
			g_ptr_array_add(counters, (void *)src->counters[k]);
			if (!src->n_sets)
				tally_key_table_reserve(&keys, src->counters[k]);
		}
		for (uint32_t k = 0; row.on && k < src->n_sets; k++)
			g_ptr_array_add(sets, (void *)src->sets[k]);
	}
	tally_key_table_finish(&keys);
	device.counters = (const struct tally_counter *const *)counters->pdata;
	device.n_counters = counters->len;
	device.serialized_by = tally_vk_serialized_by(read_waits(g), sets->len > 0);
	report(data, &(struct tally_probe_found){
			     .device = &device,
			     .facts = (const char *const *)facts->pdata,
			     .sets = (const struct tally_counter_set *const *)sets->pdata,
			     .n_sets = sets->len,
		     });
	close_sources(sources, tally_n_vk_sources);
	v->DestroyDevice(handle, NULL);
	return true;
}

bool
tally_probe_vk(const char *counters, tally_probe_report *report, void *data, char *why,
	       size_t size)
{
	struct vulkan v;
	if (!open_vulkan(&v, why, size))
		return false;
	VkPhysicalDevice gpus[MAX_DEVICES];
	uint32_t n = MAX_DEVICES, n_described = 0;
	VkResult result = v.EnumeratePhysicalDevices(v.instance, &n, gpus);
	if (result < 0)
		n = 0;
	for (uint32_t i = 0; i < n; i++) {
		g_autofree struct gpu *g = g_new(struct gpu, 1);
		read_gpu(&v, gpus[i], g);
		if (describe(&v, g, n_described, counters, report, data))
			n_described++;
		else
			snprintf(why, size, "%s: no device could be made on it",
				 g->properties.deviceName);
	}
	if (!n)
		snprintf(why, size,
			 "Vulkan is installed, but has no device (VkResult %d)", result);
	close_vulkan(&v);
	return n_described > 0;
}

bool
tally_probe_vk_loads(const char *library, char *why, size_t size)
{
	struct vulkan v;
	if (!open_vulkan(&v, why, size))
		return false;
	g_autofree char *maps = NULL;
	bool there = g_file_get_contents("/proc/self/maps", &maps, NULL, NULL) &&
		     strstr(maps, library);
	close_vulkan(&v);
	if (!there)
		snprintf(why, size, "a Vulkan program started with it does not load it");
	return there;
}
