/* SPDX-License-Identifier: MIT */
#include "vk_layer/device_features.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/sandbox.h"

/* ---- a physical device that a test dictates ---- */

#define EXECUTABLES VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR

static struct {
	uint32_t api_version;
	VkPhysicalDeviceFeatures core;
	bool host_reset;
	bool only_gpu_clock;
	bool says_more; /* of the extensions, after it wrote them */
	const char *extensions[8];
	bool performance, performance_pools, executables;
	uint32_t asked_features2, asked_domains_khr;
} gpu;

static VKAPI_ATTR void VKAPI_CALL
get_properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties *out)
{
	(void)physical;
	memset(out, 0, sizeof(*out));
	out->apiVersion = gpu.api_version;
}

static VKAPI_ATTR void VKAPI_CALL
get_features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures *out)
{
	(void)physical;
	*out = gpu.core;
}

static VKAPI_ATTR void VKAPI_CALL
get_features2(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2 *out)
{
	(void)physical;
	gpu.asked_features2++;
	out->features = gpu.core;
	VkPhysicalDevicePerformanceQueryFeaturesKHR *performance = out->pNext;
	if (performance->sType ==
	    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR) {
		performance->performanceCounterQueryPools = gpu.performance;
		performance->performanceCounterMultipleQueryPools = gpu.performance_pools;
		return;
	}
	VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR *executables = out->pNext;
	if (executables->sType == EXECUTABLES) {
		executables->pipelineExecutableInfo = gpu.executables;
		return;
	}
	VkPhysicalDeviceHostQueryResetFeatures *reset = out->pNext;
	g_assert_cmpint(reset->sType, ==,
			VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES);
	reset->hostQueryReset = gpu.host_reset;
}

static VKAPI_ATTR VkResult VKAPI_CALL
enumerate_extensions(VkPhysicalDevice physical, const char *layer, uint32_t *n,
		     VkExtensionProperties *out)
{
	(void)physical;
	g_assert_null(layer);
	uint32_t there = 0;
	for (; gpu.extensions[there]; there++)
		if (out)
			g_strlcpy(out[there].extensionName, gpu.extensions[there],
				  VK_MAX_EXTENSION_NAME_SIZE);
	*n = out && gpu.says_more ? UINT32_MAX : there;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
get_domains(VkPhysicalDevice physical, uint32_t *n, VkTimeDomainEXT *out)
{
	(void)physical;
	out[0] = VK_TIME_DOMAIN_DEVICE_EXT;
	out[1] = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
	*n = gpu.only_gpu_clock ? 1 : 2;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
get_domains_khr(VkPhysicalDevice physical, uint32_t *n, VkTimeDomainEXT *out)
{
	gpu.asked_domains_khr++;
	return get_domains(physical, n, out);
}

static struct vk_instance
make_instance(uint32_t api_version, bool has_properties2)
{
	return (struct vk_instance){
		.next = {
			.GetPhysicalDeviceProperties = get_properties,
			.GetPhysicalDeviceFeatures = get_features,
			.GetPhysicalDeviceFeatures2 = get_features2,
			.GetPhysicalDeviceFeatures2KHR = get_features2,
			.EnumerateDeviceExtensionProperties = enumerate_extensions,
			.GetPhysicalDeviceCalibrateableTimeDomainsEXT = get_domains,
			.GetPhysicalDeviceCalibrateableTimeDomainsKHR = get_domains_khr,
		},
		.api_version = api_version,
		.has_properties2 = has_properties2,
		.tracked = true,
	};
}

static void
set_up_gpu(void)
{
	memset(&gpu, 0, sizeof(gpu));
	gpu.api_version = VK_API_VERSION_1_3;
	gpu.core.pipelineStatisticsQuery = VK_TRUE;
	gpu.core.inheritedQueries = VK_TRUE;
	gpu.core.robustBufferAccess = VK_TRUE;
	gpu.host_reset = true;
	gpu.extensions[0] = "VK_KHR_swapchain";
	gpu.extensions[1] = "VK_EXT_host_query_reset";
	gpu.extensions[2] = "VK_EXT_calibrated_timestamps";
}

static const void *
find(const void *chain, VkStructureType type)
{
	for (const VkBaseInStructure *s = chain; s; s = s->pNext)
		if (s->sType == type)
			return s;
	return NULL;
}

static bool
lists(const VkDeviceCreateInfo *info, const char *name)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
		n += strcmp(info->ppEnabledExtensionNames[i], name) == 0;
	g_assert_cmpuint(n, <=, 1); /* never a second time */
	return n;
}

/* As vkCreateDevice does it: with the extensions that the device lists. */
static struct vk_patched
patch_for(const struct vk_instance *instance, const VkDeviceCreateInfo *info, bool performance)
{
	struct vk_extensions extensions = vk_extensions_read(instance, NULL);
	struct vk_patched out;
	g_assert_true(vk_features_patch(instance, NULL, &extensions, info, performance, &out));
	free(extensions.rows);
	return out;
}

static struct vk_patched
patch(uint32_t api_version, bool has_properties2, const VkDeviceCreateInfo *info)
{
	struct vk_instance instance = make_instance(api_version, has_properties2);
	return patch_for(&instance, info, true);
}

static const VkDeviceCreateInfo bare = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO };

/* ---- where the game's request is (R14) ---- */

static void
test_no_features(void)
{
	set_up_gpu();
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &bare);
	g_assert_nonnull(out.info.pEnabledFeatures);
	g_assert_true(out.info.pEnabledFeatures->pipelineStatisticsQuery);
	g_assert_true(out.info.pEnabledFeatures->inheritedQueries);
	g_assert_false(out.info.pEnabledFeatures->robustBufferAccess);
	const VkPhysicalDeviceHostQueryResetFeatures *reset = find(
		out.info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES);
	g_assert_nonnull(reset);
	g_assert_true(reset->hostQueryReset);
	g_assert_false(lists(&out.info, "VK_EXT_host_query_reset")); /* core since 1.2 */
	g_assert_true(lists(&out.info, "VK_EXT_calibrated_timestamps"));
	g_assert_true(out.enabled.pipeline_statistics && out.enabled.inherited_queries &&
		      out.enabled.host_reset && out.enabled.calibrated);
	g_assert_false(out.enabled.game_statistics || out.enabled.counts_inside);
	g_assert_true(out.adds);
	free(out.memory);
}

static void
test_enabled_features(void)
{
	/* In memory that may not be written to. */
	static const VkPhysicalDeviceFeatures game = { .geometryShader = VK_TRUE };
	VkDeviceCreateInfo info = bare;
	info.pEnabledFeatures = &game;
	set_up_gpu();
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &info);
	g_assert_true(out.info.pEnabledFeatures != &game);
	g_assert_true(out.info.pEnabledFeatures->geometryShader);
	g_assert_true(out.info.pEnabledFeatures->pipelineStatisticsQuery);
	g_assert_false(game.pipelineStatisticsQuery);
	free(out.memory);
}

static void
test_features2(void)
{
	static const VkPhysicalDeviceVulkan11Features behind = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
		.multiview = VK_TRUE,
	};
	static const VkPhysicalDeviceFeatures2 game = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
		.pNext = (void *)&behind,
		.features = { .geometryShader = VK_TRUE },
	};
	static const VkPhysicalDeviceSynchronization2Features before = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
		.pNext = (void *)&game,
		.synchronization2 = VK_TRUE,
	};
	VkDeviceCreateInfo info = bare;
	info.pNext = &before;
	set_up_gpu();
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &info);
	g_assert_null(out.info.pEnabledFeatures); /* never together with Features2 */
	const VkPhysicalDeviceFeatures2 *features =
		find(out.info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
	g_assert_true(features && features != &game);
	g_assert_true(features->features.geometryShader &&
		      features->features.pipelineStatisticsQuery);
	const VkPhysicalDeviceSynchronization2Features *sync = find(
		out.info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES);
	g_assert_true(sync && sync != &before && sync->synchronization2);
	/* What follows the last change is the game's own. */
	g_assert_true(features->pNext == &behind);
	g_assert_true(before.pNext == &game);
	free(out.memory);
}

static void
test_vulkan12(void)
{
	static const VkPhysicalDeviceVulkan12Features game = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
		.timelineSemaphore = VK_TRUE,
	};
	static const VkPhysicalDeviceFeatures2 all = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
		.pNext = (void *)&game,
	};
	VkDeviceCreateInfo info = bare;
	info.pNext = &all;
	set_up_gpu();
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &info);
	const VkPhysicalDeviceVulkan12Features *v12 =
		find(out.info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
	g_assert_true(v12 && v12 != &game && v12->hostQueryReset && v12->timelineSemaphore);
	/* The two must not be in one chain. */
	g_assert_null(find(out.info.pNext,
			   VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES));
	const VkPhysicalDeviceFeatures2 *features =
		find(out.info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
	g_assert_true(features->features.inheritedQueries);
	g_assert_false(game.hostQueryReset);
	free(out.memory);
}

static void
test_single_reset_in_chain(void)
{
	static const VkPhysicalDeviceVulkan11Features behind = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
	};
	static const VkPhysicalDeviceHostQueryResetFeatures game = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
		.pNext = (void *)&behind,
	};
	VkDeviceCreateInfo info = bare;
	info.pNext = &game;
	set_up_gpu();
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &info);
	const VkPhysicalDeviceHostQueryResetFeatures *reset = out.info.pNext;
	g_assert_true(reset != &game && reset->hostQueryReset && reset->pNext == &behind);
	g_assert_nonnull(out.info.pEnabledFeatures);
	free(out.memory);
}

/* ---- structures that nobody knows ---- */

struct unknown {
	VkStructureType sType;
	const void *pNext;
	uint64_t words[8];
};

/* A structure newer than we are, before two that have to change, at the very end of what is mapped
 * and across two pages: it is passed on whole. */
static void
test_unknown_structure(void)
{
	static const size_t ends[] = { 0, 4096 - 40 };
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		char *pages = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		g_assert_true(pages != MAP_FAILED &&
			      mprotect(pages, 2 * 4096, PROT_READ | PROT_WRITE) == 0);
		VkPhysicalDeviceVulkan12Features v12 = {
			.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
		};
		VkPhysicalDeviceFeatures2 game = {
			.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
			.pNext = &v12,
		};
		struct unknown *unknown =
			(void *)(pages + 2 * 4096 - ends[i] - sizeof(*unknown));
		*unknown = (struct unknown){ (VkStructureType)1999999000,
					     &game,
					     { 1, 2, 3, 4, 5, 6, 7, 8 } };
		g_assert_cmpint(mprotect(pages, 2 * 4096, PROT_READ), ==, 0);
		VkDeviceCreateInfo info = bare;
		info.pNext = unknown;
		set_up_gpu();
		struct vk_patched out = patch(VK_API_VERSION_1_3, false, &info);
		g_assert_true(out.adds);
		const struct unknown *passed = out.info.pNext;
		g_assert_true(passed != unknown && passed->sType == unknown->sType);
		g_assert_cmpmem(passed->words, sizeof(passed->words), unknown->words,
				sizeof(unknown->words));
		const VkPhysicalDeviceFeatures2 *features = passed->pNext;
		g_assert_true(features != &game && features->features.pipelineStatisticsQuery);
		const VkPhysicalDeviceVulkan12Features *reset = features->pNext;
		g_assert_true(reset != &v12 && reset->hostQueryReset && !v12.hostQueryReset);
		g_assert_true(unknown->pNext == &game && !game.features.pipelineStatisticsQuery);
		free(out.memory);
		munmap(pages, 3 * 4096);
	}
}

/* Where asking the kernel could end the program, the chain goes on as it is. */
static void
test_unknown_in_sandbox(void)
{
	if (!sandbox_is_entered())
		return;
	VkPhysicalDeviceFeatures2 game = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 };
	struct unknown unknown = { .sType = (VkStructureType)1999999000, .pNext = &game };
	VkDeviceCreateInfo info = bare;
	info.pNext = &unknown;
	set_up_gpu();
	sandbox_enter();
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &info);
	const VkBaseInStructure *reset = out.info.pNext; /* linked before the game's */
	g_assert_true(reset->pNext == (const void *)&unknown && unknown.pNext == &game);
	free(out.memory);
}

static void
test_nothing_supported(void)
{
	static const VkPhysicalDeviceFeatures game = { .geometryShader = VK_TRUE };
	VkDeviceCreateInfo info = bare;
	info.pEnabledFeatures = &game;
	set_up_gpu();
	memset(&gpu.core, 0, sizeof(gpu.core));
	gpu.host_reset = false;
	gpu.extensions[1] = NULL;
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &info);
	g_assert_null(out.memory);
	g_assert_cmpmem(&out.info, sizeof(out.info), &info, sizeof(info));
	g_assert_false(out.adds);
	g_assert_false(out.enabled.pipeline_statistics || out.enabled.inherited_queries ||
		       out.enabled.host_reset || out.enabled.calibrated);
}

/* As lavapipe: one of the two bits. */
static void
test_only_what_is_supported(void)
{
	set_up_gpu();
	gpu.core.inheritedQueries = VK_FALSE;
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &bare);
	g_assert_true(out.info.pEnabledFeatures->pipelineStatisticsQuery);
	g_assert_false(out.info.pEnabledFeatures->inheritedQueries);
	g_assert_false(out.enabled.inherited_queries);
	free(out.memory);
}

/* ---- performance queries ---- */

static struct vk_patched
patch_performance(const VkDeviceCreateInfo *info, bool wanted)
{
	struct vk_instance instance = make_instance(VK_API_VERSION_1_3, false);
	set_up_gpu();
	gpu.extensions[3] = "VK_KHR_performance_query";
	gpu.performance = gpu.performance_pools = true;
	return patch_for(&instance, info, wanted);
}

/* In the layer's structure, or in the game's where it says no; never where the game says
 * yes. */
static void
test_performance(void)
{
	static const VkStructureType type =
		VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR;
	static const VkPhysicalDevicePerformanceQueryFeaturesKHR no = { .sType = type };
	static const VkPhysicalDevicePerformanceQueryFeaturesKHR yes = {
		.sType = type, .performanceCounterQueryPools = VK_TRUE
	};
	VkDeviceCreateInfo game = bare;
	struct vk_patched out = patch_performance(&bare, true);
	const VkPhysicalDevicePerformanceQueryFeaturesKHR *found = find(out.info.pNext, type);
	g_assert_nonnull(found);
	g_assert_true(found->performanceCounterQueryPools &&
		      found->performanceCounterMultipleQueryPools);
	g_assert_true(lists(&out.info, "VK_KHR_performance_query"));
	g_assert_true(out.enabled.performance && out.enabled.performance_pools &&
		      out.enabled.performance_offered && out.enabled.added_performance);
	free(out.memory);

	game.pNext = &no;
	out = patch_performance(&game, true);
	found = find(out.info.pNext, type);
	g_assert_true(found != &no && found->performanceCounterQueryPools);
	g_assert_false(no.performanceCounterQueryPools);
	free(out.memory);

	game.pNext = &yes;
	out = patch_performance(&game, true);
	g_assert_true(find(out.info.pNext, type) == &yes);
	g_assert_true(out.enabled.game_performance && out.enabled.performance_offered);
	g_assert_false(out.enabled.performance || out.enabled.added_performance);
	g_assert_false(lists(&out.info, "VK_KHR_performance_query"));
	free(out.memory);
}

static void
test_no_performance(void)
{
	struct vk_patched out = patch_performance(&bare, false);
	g_assert_false(lists(&out.info, "VK_KHR_performance_query") || out.enabled.performance);
	g_assert_true(out.enabled.performance_offered && out.enabled.pipeline_statistics);
	free(out.memory);

	struct vk_instance instance = make_instance(VK_API_VERSION_1_3, false);
	gpu.host_reset = false; /* it could not be reset where it begins */
	out = patch_for(&instance, &bare, true);
	g_assert_false(out.enabled.performance);
	free(out.memory);
}

/* ---- versions and extensions ---- */

static void
test_old_versions(void)
{
	static const struct {
		const char *what;
		uint32_t instance, device;
		bool has_properties2;
		bool reset, reset_extension, calibrated;
	} cases[] = {
		{ "1.0 and no extension: nothing may be asked", VK_API_VERSION_1_0,
		  VK_API_VERSION_1_3, false, false, false, false },
		{ "1.0 with the extension", VK_API_VERSION_1_0, VK_API_VERSION_1_3, true,
		  true, true, true },
		{ "1.1: reset is an extension", VK_API_VERSION_1_1, VK_API_VERSION_1_3,
		  false, true, true, true },
		{ "1.2", VK_API_VERSION_1_2, VK_API_VERSION_1_2, false, true, false,
		  true },
		{ "an old device below a new instance", VK_API_VERSION_1_3,
		  VK_API_VERSION_1_0, false, false, false, false },
		{ "the same with the extension", VK_API_VERSION_1_3, VK_API_VERSION_1_0,
		  true, true, true, true },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("%s", cases[i].what);
		set_up_gpu();
		gpu.api_version = cases[i].device;
		struct vk_patched out = patch(cases[i].instance, cases[i].has_properties2,
					      &bare);
		g_assert_cmpint(out.enabled.host_reset, ==, cases[i].reset);
		g_assert_cmpint(out.enabled.calibrated, ==, cases[i].calibrated);
		g_assert_cmpint(lists(&out.info, "VK_EXT_host_query_reset"), ==,
				cases[i].reset_extension);
		g_assert_cmpuint(gpu.asked_features2, ==, cases[i].reset ? 1 : 0);
		g_assert_true(out.enabled.pipeline_statistics);
		free(out.memory);
	}
}

/* --pipeline-statistics: what the device offers; -1: the game does not name the feature. */
static void
test_executables(void)
{
	static const struct {
		bool offered;
		int game;
		bool on, added;
	} cases[] = {
		{ false, -1, false, false }, { true, -1, true, true },
		{ true, 1, true, false },    { true, 0, false, false },
		{ false, 1, false, false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR own = {
			.sType = EXECUTABLES,
			.pipelineExecutableInfo = cases[i].game == 1,
		};
		VkDeviceCreateInfo info = bare;
		if (cases[i].game >= 0)
			info.pNext = &own;
		set_up_gpu();
		gpu.extensions[3] = "VK_KHR_pipeline_executable_properties";
		gpu.executables = cases[i].offered;
		struct vk_patched out = patch(VK_API_VERSION_1_1, false, &info);
		const VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR *found =
			find(out.info.pNext, EXECUTABLES);
		g_assert_cmpint(out.enabled.executables, ==, cases[i].on);
		g_assert_cmpint(out.enabled.added_executables, ==, cases[i].added);
		g_assert_cmpint(lists(&out.info, gpu.extensions[3]), ==, cases[i].added);
		g_assert_cmpint(found && found->pipelineExecutableInfo, ==,
				cases[i].added || cases[i].game == 1);
		free(out.memory);
	}
}

static void
test_listed_extensions(void)
{
	static const char *const names[] = { "VK_KHR_swapchain", "VK_EXT_calibrated_timestamps",
					     "VK_EXT_host_query_reset" };
	VkDeviceCreateInfo info = bare;
	info.enabledExtensionCount = G_N_ELEMENTS(names);
	info.ppEnabledExtensionNames = names;
	set_up_gpu();
	struct vk_patched out = patch(VK_API_VERSION_1_1, false, &info);
	g_assert_true(out.info.ppEnabledExtensionNames == names);
	g_assert_cmpuint(out.info.enabledExtensionCount, ==, 3);
	g_assert_true(out.enabled.calibrated && out.enabled.host_reset);
	g_assert_false(out.enabled.added_calibrated || out.enabled.added_host_reset);
	free(out.memory);

	info.enabledExtensionCount = 1;
	out = patch(VK_API_VERSION_1_1, false, &info);
	g_assert_cmpuint(out.info.enabledExtensionCount, ==, 3);
	g_assert_true(lists(&out.info, "VK_KHR_swapchain"));
	g_assert_true(lists(&out.info, "VK_EXT_calibrated_timestamps"));
	g_assert_true(lists(&out.info, "VK_EXT_host_query_reset"));
	g_assert_true(out.enabled.added_calibrated && out.enabled.added_host_reset);
	free(out.memory);
}

/* A count beyond the given room is ignored. */
static void
test_says_more(void)
{
	set_up_gpu();
	gpu.says_more = true;
	struct vk_instance instance = make_instance(VK_API_VERSION_1_3, false);
	struct vk_extensions all = vk_extensions_read(&instance, NULL);
	g_assert_true(vk_extensions_have(&all, "VK_EXT_host_query_reset"));
	g_assert_false(vk_extensions_have(&all, "VK_EXT_made_up"));
	free(all.rows);
}

static void
test_calibration(void)
{
	set_up_gpu();
	gpu.only_gpu_clock = true;
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &bare);
	g_assert_false(out.enabled.calibrated);
	g_assert_false(lists(&out.info, "VK_EXT_calibrated_timestamps"));
	free(out.memory);

	set_up_gpu();
	gpu.extensions[2] = "VK_KHR_calibrated_timestamps";
	out = patch(VK_API_VERSION_1_3, false, &bare);
	g_assert_true(out.enabled.calibrated);
	g_assert_true(lists(&out.info, "VK_KHR_calibrated_timestamps"));
	g_assert_cmpuint(gpu.asked_domains_khr, ==, 1);
	free(out.memory);
}

/* ---- what the game itself requests ---- */

static void
test_games_own(void)
{
	static const VkPhysicalDevicePerformanceQueryFeaturesKHR performance = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR,
		.performanceCounterQueryPools = VK_TRUE,
	};
	static const VkPhysicalDeviceMeshShaderFeaturesEXT mesh = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT,
		.pNext = (void *)&performance,
		.meshShader = VK_TRUE,
	};
	static const VkPhysicalDeviceFeatures game = { .pipelineStatisticsQuery = VK_TRUE };
	VkDeviceCreateInfo info = bare;
	info.pEnabledFeatures = &game;
	info.pNext = &mesh;
	set_up_gpu();
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &info);
	g_assert_true(out.enabled.game_statistics && out.enabled.game_performance &&
		      out.enabled.mesh_shader);
	g_assert_true(out.info.pEnabledFeatures->inheritedQueries);
	free(out.memory);

	struct vk_enabled own;
	vk_features_of_game(&info, &own);
	g_assert_true(own.pipeline_statistics && own.game_statistics && own.counts_inside);
	g_assert_false(own.inherited_queries || own.host_reset || own.calibrated);
}

/* Older drivers, which had only the extension, write feedback of stages that ours has not. */
static void
test_feedback(void)
{
	struct vk_instance instance = { .api_version = VK_API_VERSION_1_3 };
	VkPhysicalDeviceProperties device = { .apiVersion = VK_API_VERSION_1_3 };
	g_assert_true(vk_features_feedback(&instance, &device));
	device.apiVersion = VK_API_VERSION_1_2;
	g_assert_false(vk_features_feedback(&instance, &device));
}

static void
test_group(void)
{
	static const VkPhysicalDevice devices[2];
	static const VkDeviceGroupDeviceCreateInfo group = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO,
		.physicalDeviceCount = 2,
		.pPhysicalDevices = devices,
	};
	VkDeviceCreateInfo info = bare;
	info.pNext = &group;
	set_up_gpu();
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &info);
	g_assert_true(out.enabled.multi_device);
	g_assert_false(out.enabled.pipeline_statistics);
	g_assert_null(out.info.pEnabledFeatures);
	g_assert_true(out.enabled.host_reset);
	free(out.memory);
}

/* ---- the loader's nodes ---- */

static void
test_link_in_clone(void)
{
	VkPhysicalDeviceFeatures2 game = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
	};
	VkLayerDeviceLink next = { 0 };
	VkLayerDeviceCreateInfo link = {
		.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
		.pNext = &game,
		.function = VK_LAYER_LINK_INFO,
		.u.pLayerInfo = &next,
	};
	VkLayerDeviceCreateInfo data = {
		.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
		.pNext = &link,
		.function = VK_LOADER_DATA_CALLBACK,
	};
	VkDeviceCreateInfo info = bare;
	info.pNext = &data;
	set_up_gpu();
	struct vk_patched out = patch(VK_API_VERSION_1_3, false, &info);
	g_assert_true(out.link && out.link != &link);
	g_assert_true(out.link->u.pLayerInfo == &next);
	g_assert_true(out.link == vk_device_node(&out.info, VK_LAYER_LINK_INFO));
	g_assert_nonnull(vk_device_node(&out.info, VK_LOADER_DATA_CALLBACK));
	free(out.memory);

	/* Nothing to clone: the node is the loader's. */
	link.pNext = NULL;
	out = patch(VK_API_VERSION_1_3, false, &info);
	g_assert_true(out.link == &link);
	free(out.memory);
}

int
main(int argc, char **argv)
{
	g_setenv("PASSTALLY_OPTIONS", "counters=all,pipelines,pipeline-statistics",
		 TRUE); /* vk-khr counts on request only */
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_features/none", test_no_features);
	g_test_add_func("/vk_features/pEnabledFeatures", test_enabled_features);
	g_test_add_func("/vk_features/features2", test_features2);
	g_test_add_func("/vk_features/vulkan12", test_vulkan12);
	g_test_add_func("/vk_features/single-reset", test_single_reset_in_chain);
	g_test_add_func("/vk_features/unknown-structure", test_unknown_structure);
	g_test_add_func("/vk_features/unknown-in-sandbox", test_unknown_in_sandbox);
	g_test_add_func("/vk_features/nothing-supported", test_nothing_supported);
	g_test_add_func("/vk_features/only-what-is-supported", test_only_what_is_supported);
	g_test_add_func("/vk_features/old-versions", test_old_versions);
	g_test_add_func("/vk_features/performance", test_performance);
	g_test_add_func("/vk_features/no-performance", test_no_performance);
	g_test_add_func("/vk_features/listed-extensions", test_listed_extensions);
	g_test_add_func("/vk_features/says-more", test_says_more);
	g_test_add_func("/vk_features/calibration", test_calibration);
	g_test_add_func("/vk_features/games-own", test_games_own);
	g_test_add_func("/vk_features/group", test_group);
	g_test_add_func("/vk_features/feedback", test_feedback);
	g_test_add_func("/vk_features/executables", test_executables);
	g_test_add_func("/vk_features/link-in-clone", test_link_in_clone);
	return g_test_run();
}
