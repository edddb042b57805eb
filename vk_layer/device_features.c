/* SPDX-License-Identifier: MIT */
#include "vk_layer/device_features.h"
#include "vk_layer/chain.h"
#include "vk_sizes.h"

#include "layer/base/sandbox.h"
#include "layer/session/session.h"
#include "query/sources.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define HOST_RESET_EXTENSION VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME
#define CALIBRATED_EXT VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME
#define CALIBRATED_KHR "VK_KHR_calibrated_timestamps" /* newer than our oldest headers */
#define PERFORMANCE_QUERY VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME
#define EXECUTABLES VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME
#define EXECUTABLES_TYPE \
	VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR
#define MAX_EXTENSIONS 4 /* that we add */

/* ---- what the game requests ---- */

static bool
lists(const VkDeviceCreateInfo *info, const char *name)
{
	return vk_lists(info->enabledExtensionCount, info->ppEnabledExtensionNames, name);
}

VkLayerDeviceCreateInfo *
vk_device_node(const VkDeviceCreateInfo *info, VkLayerFunction function)
{
	return vk_loader_node(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, function);
}

static const VkPhysicalDeviceFeatures *
core_features(const VkDeviceCreateInfo *info)
{
	const VkPhysicalDeviceFeatures2 *all = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
	return all ? &all->features : info->pEnabledFeatures;
}

/* Whether the structure of this type is in the chain, and that member of it is true. */
static bool
enables(const VkDeviceCreateInfo *info, VkStructureType type, size_t member)
{
	const char *s = vk_find_in_chain(info->pNext, type);
	VkBool32 is = VK_FALSE;
	if (s)
		memcpy(&is, s + member, sizeof(is));
	return is;
}
#define ENABLES(info, NAME, name, member) \
	enables(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##NAME, \
		offsetof(VkPhysicalDevice##name, member))

void
vk_features_of_game(const VkDeviceCreateInfo *info, struct vk_enabled *out)
{
	const VkPhysicalDeviceFeatures *core = core_features(info);
	const VkDeviceGroupDeviceCreateInfo *group = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO);
	bool statistics = core && core->pipelineStatisticsQuery;
	bool mesh = ENABLES(info, MESH_SHADER_FEATURES_EXT, MeshShaderFeaturesEXT, meshShader) ||
		    ENABLES(info, MESH_SHADER_FEATURES_EXT, MeshShaderFeaturesEXT, taskShader) ||
		    ENABLES(info, MESH_SHADER_FEATURES_NV, MeshShaderFeaturesNV, meshShader) ||
		    ENABLES(info, MESH_SHADER_FEATURES_NV, MeshShaderFeaturesNV, taskShader);
	*out = (struct vk_enabled){
		.pipeline_statistics = statistics,
		.inherited_queries = core && core->inheritedQueries,
		.host_reset =
			ENABLES(info, VULKAN_1_2_FEATURES, Vulkan12Features, hostQueryReset) ||
			ENABLES(info, HOST_QUERY_RESET_FEATURES, HostQueryResetFeatures,
				hostQueryReset),
		.layouts_apart =
			ENABLES(info, VULKAN_1_2_FEATURES, Vulkan12Features,
				separateDepthStencilLayouts) ||
			ENABLES(info, SEPARATE_DEPTH_STENCIL_LAYOUTS_FEATURES,
				SeparateDepthStencilLayoutsFeatures, separateDepthStencilLayouts),
		.depth_resolve = lists(info, VK_KHR_DEPTH_STENCIL_RESOLVE_EXTENSION_NAME),
		.mesh_shader = mesh,
		.game_statistics = statistics,
		.counts_inside = statistics || mesh,
		.game_performance = ENABLES(info, PERFORMANCE_QUERY_FEATURES_KHR,
					    PerformanceQueryFeaturesKHR,
					    performanceCounterQueryPools),
		.multi_device = group && group->physicalDeviceCount > 1,
	};
}

/* ---- what the device supports ---- */

struct offer {
	VkPhysicalDeviceProperties properties;
	VkPhysicalDeviceFeatures core;
	bool host_reset, host_reset_is_extension;
	bool calibrated;
	const char *calibrated_extension;
	bool has_performance, performance, performance_pools;
	bool executables;
};

struct vk_extensions
vk_extensions_read(const struct vk_instance *instance, VkPhysicalDevice physical)
{
	struct vk_extensions all = { NULL, 0 };
	PFN_vkEnumerateDeviceExtensionProperties ask =
		instance->next.EnumerateDeviceExtensionProperties;
	/* Drivers have some 250. For their number alone the loader would make lists of 140 KB. */
	const uint32_t room = all.n = 1024;
	all.rows = calloc(room, sizeof(all.rows[0]));
	if (!all.rows || ask(physical, NULL, &all.n, all.rows) < 0) {
		free(all.rows);
		return (struct vk_extensions){ NULL, 0 };
	}
	all.n = all.n < room ? all.n : room; /* a driver may report more than it wrote */
	return all;
}

bool
vk_extensions_have(const struct vk_extensions *all, const char *name)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (strcmp(all->rows[i].extensionName, name) == 0)
			return true;
	return false;
}

/* The device may support an older version than its instance. Then these calls are valid
 * only with the extension. */
static bool
in_core(const struct vk_instance *instance, const VkPhysicalDeviceProperties *device,
	uint32_t version)
{
	return instance->api_version >= version && device->apiVersion >= version;
}

bool
vk_features_feedback(const struct vk_instance *instance, const VkPhysicalDeviceProperties *device)
{
	return in_core(instance, device, VK_API_VERSION_1_3);
}

PFN_vkGetPhysicalDeviceProperties2
vk_reads_properties2(const struct vk_instance *instance,
		     const VkPhysicalDeviceProperties *device)
{
	if (in_core(instance, device, VK_API_VERSION_1_1))
		return instance->next.GetPhysicalDeviceProperties2;
	return instance->has_properties2 ? instance->next.GetPhysicalDeviceProperties2KHR : NULL;
}

static PFN_vkGetPhysicalDeviceFeatures2
reads_features2(const struct vk_instance *instance, const VkPhysicalDeviceProperties *device)
{
	if (in_core(instance, device, VK_API_VERSION_1_1))
		return instance->next.GetPhysicalDeviceFeatures2;
	return instance->has_properties2 ? instance->next.GetPhysicalDeviceFeatures2KHR : NULL;
}

static bool
wants_performance(const struct tally_config *config)
{
	bool wanted = false;
	for (uint32_t i = 0; i < tally_n_vk_sources; i++)
		wanted |= tally_vk_sources[i].performance_query &&
			  tally_vk_source_wanted(config->sources, config->counters,
						 &tally_vk_sources[i]);
	return wanted;
}

static void
read_features(PFN_vkGetPhysicalDeviceFeatures2 ask, VkPhysicalDevice physical, void *chain)
{
	VkPhysicalDeviceFeatures2 features = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
		.pNext = chain,
	};
	ask(physical, &features);
}

/* Queried only where it will be used: a driver may make preparations when it is queried. */
static void
read_performance(PFN_vkGetPhysicalDeviceFeatures2 ask, VkPhysicalDevice physical,
		 struct offer *out)
{
	VkPhysicalDevicePerformanceQueryFeaturesKHR performance = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR,
	};
	const struct tally_config *config = tally_session_config();

	out->has_performance = true;
	if (!config || !wants_performance(config))
		return;
	read_features(ask, physical, &performance);
	out->performance = performance.performanceCounterQueryPools;
	out->performance_pools = performance.performanceCounterMultipleQueryPools;
}

static bool
read_executables(PFN_vkGetPhysicalDeviceFeatures2 ask, VkPhysicalDevice physical)
{
	VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {
		.sType = EXECUTABLES_TYPE,
	};
	read_features(ask, physical, &executables);
	return executables.pipelineExecutableInfo;
}

/* Both sides of the clock mapping: the GPU's clock and the CPU's. */
static bool
has_both_clocks(PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT ask,
		VkPhysicalDevice physical)
{
	VkTimeDomainEXT domains[16];
	uint32_t n = 16;
	bool gpu = false, cpu = false;
	if (!ask || ask(physical, &n, domains) < 0)
		return false;
	for (uint32_t i = 0; i < n && i < 16; i++) {
		gpu |= domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
		cpu |= domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
	}
	return gpu && cpu;
}

static void
read_calibration(const struct vk_instance *instance, VkPhysicalDevice physical,
		 const VkDeviceCreateInfo *info, const struct vk_extensions *all,
		 struct offer *out)
{
	bool khr = vk_extensions_have(all, CALIBRATED_KHR);
	bool ext = vk_extensions_have(all, CALIBRATED_EXT);
	if (ext && !(khr && lists(info, CALIBRATED_KHR))) {
		out->calibrated_extension = CALIBRATED_EXT;
		out->calibrated = has_both_clocks(
			instance->next.GetPhysicalDeviceCalibrateableTimeDomainsEXT, physical);
	} else if (khr) {
		out->calibrated_extension = CALIBRATED_KHR;
		out->calibrated = has_both_clocks(
			(PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)
				instance->next.GetPhysicalDeviceCalibrateableTimeDomainsKHR,
			physical);
	}
}

static void
read_offer(const struct vk_instance *instance, VkPhysicalDevice physical,
	   const VkDeviceCreateInfo *info, const struct vk_extensions *all, struct offer *out)
{
	memset(out, 0, sizeof(*out));
	instance->next.GetPhysicalDeviceProperties(physical, &out->properties);
	instance->next.GetPhysicalDeviceFeatures(physical, &out->core);
	bool is_core = in_core(instance, &out->properties, VK_API_VERSION_1_2);
	out->host_reset_is_extension = !is_core;
	PFN_vkGetPhysicalDeviceFeatures2 ask = reads_features2(instance, &out->properties);
	if (ask && (is_core || vk_extensions_have(all, HOST_RESET_EXTENSION))) {
		VkPhysicalDeviceHostQueryResetFeatures reset = {
			.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
		};
		read_features(ask, physical, &reset);
		out->host_reset = reset.hostQueryReset;
	}
	/* These extensions depend on the one that queries properties in detail. */
	if (ask)
		read_calibration(instance, physical, info, all, out);
	if (ask && vk_extensions_have(all, PERFORMANCE_QUERY))
		read_performance(ask, physical, out);
	const struct tally_config *config = tally_session_config();
	if (ask && config && config->pipeline_statistics &&
	    vk_extensions_have(all, EXECUTABLES))
		out->executables = read_executables(ask, physical);
}

/* ---- the copy ---- */

/* Our own structures. Without an sType, or with has_core false, one is not used. */
struct own {
	VkPhysicalDeviceFeatures core; /* the game's, with the layer's additions */
	VkPhysicalDeviceHostQueryResetFeatures reset;
	VkPhysicalDevicePerformanceQueryFeaturesKHR performance;
	VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables;
};

/* What is changed, and where. */
struct plan {
	struct own own;
	bool has_core, performance_pools;
	const char *extensions[MAX_EXTENSIONS];
	uint32_t n_extensions;
	/* Structures of the game's chain to patch; NULL: not present. */
	const VkBaseInStructure *features2, *vulkan12, *reset, *performance_node;
	const VkBaseInStructure *last; /* the chain is cloned up to this; NULL: not cloned */
	size_t clone_size;
};

/* Aligned so that structures of every kind can be stored one after the other. */
static size_t
aligned(size_t size)
{
	return (size + 15) & ~(size_t)15;
}

/* Longer than any structure that a device is made with, or will be. */
#define MAX_UNKNOWN ((size_t)1024)

/* A structure newer than our registry, or a driver's own: nobody says where it ends, so what
 * follows it in memory is copied too. The kernel copies what is mapped, and faults on nothing.
 * False: it refuses, or may not be asked (a sandbox). */
static bool
copy_unknown(char *to, const VkBaseInStructure *s)
{
	/* In two parts, as a part is copied whole or not at all. */
	size_t to_border = 4096 - ((uintptr_t)s & 4095);
	size_t first = to_border < MAX_UNKNOWN ? to_border : MAX_UNKNOWN;
	struct iovec from[2] = {
		{ (void *)(uintptr_t)s, first },
		{ (char *)(uintptr_t)s + first, MAX_UNKNOWN - first },
	};
	struct iovec into = { to, MAX_UNKNOWN };
	return !tally_is_filtered() &&
	       process_vm_readv(getpid(), &into, 1, from, 2, 0) >= (ssize_t)sizeof(*s);
}

/* 0: not known. */
static size_t
known_size(const VkBaseInStructure *s)
{
	return s->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO
		       ? sizeof(VkLayerDeviceCreateInfo)
		       : vk_structure_size(s->sType);
}

static size_t
node_size(const VkBaseInStructure *s)
{
	size_t known = known_size(s);
	return known ? aligned(known) : MAX_UNKNOWN;
}

/* Computes how much of the chain has to be cloned to change `wanted`. False: the chain has a
 * structure before it that cannot be copied, and nothing is changed. */
static bool
reach(struct plan *plan, const VkDeviceCreateInfo *info, const VkBaseInStructure *wanted)
{
	size_t size = 0;
	char scratch[MAX_UNKNOWN];
	for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
		if (!known_size(s) && !copy_unknown(scratch, s))
			return false;
		size += node_size(s);
		if (s != wanted)
			continue;
		if (size > plan->clone_size) {
			plan->clone_size = size;
			plan->last = wanted;
		}
		return true;
	}
	return false;
}

/* The core features: both bits are in one structure. */
static void
plan_core(struct plan *plan, const VkDeviceCreateInfo *info, const struct offer *offer,
	  struct vk_patched *out)
{
	struct vk_enabled *enabled = &out->enabled;
	bool statistics = offer->core.pipelineStatisticsQuery && !enabled->pipeline_statistics;
	bool inherited = offer->core.inheritedQueries && !enabled->inherited_queries;
	if (!statistics && !inherited)
		return;
	const VkBaseInStructure *there = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
	if (there && !reach(plan, info, there))
		return;
	plan->features2 = there;
	plan->has_core = !there;
	const VkPhysicalDeviceFeatures *core = core_features(info);
	if (core)
		plan->own.core = *core;
	plan->own.core.pipelineStatisticsQuery |= statistics;
	plan->own.core.inheritedQueries |= inherited;
	enabled->pipeline_statistics |= statistics;
	enabled->inherited_queries |= inherited;
	out->adds = true;
}

/* Whether it is enabled only because the layer added it. */
static bool
plan_extension(struct plan *plan, const VkDeviceCreateInfo *info, const char *name)
{
	if (lists(info, name))
		return false;
	plan->extensions[plan->n_extensions++] = name;
	return true;
}

static void
plan_host_reset(struct plan *plan, const VkDeviceCreateInfo *info, const struct offer *offer,
		struct vk_patched *out)
{
	struct vk_enabled *enabled = &out->enabled;
	if (!offer->host_reset || enabled->host_reset)
		return;
	const VkBaseInStructure *vulkan12 = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
	const VkBaseInStructure *reset = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES);
	const VkBaseInStructure *there = vulkan12 ? vulkan12 : reset;
	if (there && !reach(plan, info, there))
		return;
	plan->vulkan12 = vulkan12;
	plan->reset = reset;
	if (!there)
		plan->own.reset = (VkPhysicalDeviceHostQueryResetFeatures){
			.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
			.hostQueryReset = VK_TRUE,
		};
	enabled->host_reset = true;
	out->adds = true;
	if (offer->host_reset_is_extension)
		enabled->added_host_reset = plan_extension(plan, info, HOST_RESET_EXTENSION);
}

static void
plan_calibration(struct plan *plan, const VkDeviceCreateInfo *info, const struct offer *offer,
		 struct vk_patched *out)
{
	out->enabled.calibrated = offer->calibrated;
	if (!offer->calibrated || !plan_extension(plan, info, offer->calibrated_extension))
		return;
	out->enabled.added_calibrated = true;
	out->adds = true;
}

/* Not where the game itself uses performance queries (R18), and not without host reset, without
 * which they could not be used. */
static void
plan_performance(struct plan *plan, const VkDeviceCreateInfo *info, const struct offer *offer,
		 bool wanted, struct vk_patched *out)
{
	struct vk_enabled *enabled = &out->enabled;
	enabled->performance_offered = offer->has_performance;
	if (!offer->performance || enabled->game_performance || !enabled->host_reset ||
	    enabled->multi_device || !wanted)
		return;
	const VkStructureType type =
		VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR;
	const VkBaseInStructure *there = vk_find_in_chain(info->pNext, type);
	if (there && !reach(plan, info, there))
		return;
	plan->performance_node = there;
	plan->performance_pools = offer->performance_pools;
	if (!there)
		plan->own.performance = (VkPhysicalDevicePerformanceQueryFeaturesKHR){
			.sType = type,
			.performanceCounterQueryPools = VK_TRUE,
			.performanceCounterMultipleQueryPools = offer->performance_pools,
		};
	enabled->performance = true;
	enabled->performance_pools = offer->performance_pools;
	out->adds = true;
	enabled->added_performance = plan_extension(plan, info, PERFORMANCE_QUERY);
}

/* Where the game names the feature, it has decided. */
static void
plan_executables(struct plan *plan, const VkDeviceCreateInfo *info, const struct offer *offer,
		 struct vk_patched *out)
{
	struct vk_enabled *enabled = &out->enabled;
	const VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR *there =
		vk_find_in_chain(info->pNext, EXECUTABLES_TYPE);
	enabled->executables = offer->executables && (!there || there->pipelineExecutableInfo);
	if (!enabled->executables || there)
		return;
	plan->own.executables = (VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR){
		.sType = EXECUTABLES_TYPE,
		.pipelineExecutableInfo = VK_TRUE,
	};
	enabled->added_executables = plan_extension(plan, info, EXECUTABLES);
	out->adds = true;
}

static void
patch_node(const struct plan *plan, const VkBaseInStructure *from, VkBaseOutStructure *to)
{
	if (from == plan->features2) {
		((VkPhysicalDeviceFeatures2 *)to)->features = plan->own.core;
	} else if (from == plan->performance_node) {
		VkPhysicalDevicePerformanceQueryFeaturesKHR *features = (void *)to;
		features->performanceCounterQueryPools = VK_TRUE;
		features->performanceCounterMultipleQueryPools |= plan->performance_pools;
	} else if (from == plan->vulkan12) {
		((VkPhysicalDeviceVulkan12Features *)to)->hostQueryReset = VK_TRUE;
	} else if (from == plan->reset) {
		((VkPhysicalDeviceHostQueryResetFeatures *)to)->hostQueryReset = VK_TRUE;
	}
}

/* Copies the chain up to plan->last; what follows is the game's own. */
static void
clone_chain(const struct plan *plan, struct vk_patched *out, char *memory)
{
	const VkBaseInStructure *from = out->info.pNext;
	const void **link = &out->info.pNext;
	for (;;) {
		VkBaseOutStructure *to = (VkBaseOutStructure *)memory;
		if (known_size(from))
			memcpy(to, from, known_size(from));
		else if (!copy_unknown(memory, from))
			*to = *(const VkBaseOutStructure *)from; /* not after reach() */
		patch_node(plan, from, to);
		*link = to;
		if (from == plan->last)
			return;
		link = (const void **)&to->pNext;
		memory += node_size(from);
		from = from->pNext;
	}
}

/* Adds it to the front of the chain, unless it is not used. */
static void
link_own(struct vk_patched *out, void *structure)
{
	VkBaseOutStructure *s = structure;
	if (!s->sType)
		return;
	s->pNext = (void *)(uintptr_t)out->info.pNext;
	out->info.pNext = s;
}

static void
write_extensions(const struct plan *plan, struct vk_patched *out, const char **names)
{
	uint32_t n = out->info.enabledExtensionCount;
	if (plan->n_extensions == 0)
		return;
	if (n)
		memcpy(names, out->info.ppEnabledExtensionNames, n * sizeof(*names));
	memcpy(names + n, plan->extensions, plan->n_extensions * sizeof(*names));
	out->info.ppEnabledExtensionNames = names;
	out->info.enabledExtensionCount = n + plan->n_extensions;
}

static bool
write_copy(const struct plan *plan, struct vk_patched *out)
{
	size_t names = ((size_t)out->info.enabledExtensionCount + plan->n_extensions) *
		       sizeof(const char *);
	size_t own_size = aligned(sizeof(struct own));
	char *memory = calloc(1, own_size + plan->clone_size + names);
	if (!memory)
		return false;
	out->memory = memory;
	struct own *own = (struct own *)memory;
	*own = plan->own;
	if (plan->last)
		clone_chain(plan, out, memory + own_size);
	if (plan->has_core)
		out->info.pEnabledFeatures = &own->core;
	link_own(out, &own->reset);
	link_own(out, &own->performance);
	link_own(out, &own->executables);
	write_extensions(plan, out, (const char **)(memory + own_size + plan->clone_size));
	return true;
}

bool
vk_features_patch(const struct vk_instance *instance, VkPhysicalDevice physical,
		  const struct vk_extensions *all, const VkDeviceCreateInfo *info,
		  bool performance, struct vk_patched *out)
{
	memset(out, 0, sizeof(*out));
	out->info = *info;
	out->link = vk_device_node(info, VK_LAYER_LINK_INFO);
	vk_features_of_game(info, &out->enabled);
	struct offer offer;
	read_offer(instance, physical, info, all, &offer);
	struct plan plan = { 0 };
	if (!out->enabled.multi_device) /* else timestamps only */
		plan_core(&plan, info, &offer, out);
	plan_host_reset(&plan, info, &offer, out);
	plan_performance(&plan, info, &offer, performance, out);
	plan_calibration(&plan, info, &offer, out);
	plan_executables(&plan, info, &offer, out);
	if (!out->adds)
		return true;
	if (!write_copy(&plan, out)) {
		vk_features_of_game(info, &out->enabled);
		out->adds = false;
		return false;
	}
	out->link = vk_device_node(&out->info, VK_LAYER_LINK_INFO);
	return true;
}
