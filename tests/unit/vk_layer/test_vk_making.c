/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "layer/event/event.h"
#include "vk_layer/record/making.h"
#include "vk_layer/record/targets_internal.h"

#define MOST 9

/* What a driver makes of each pipeline, by letter: `-` it fails; `?` it does not say; `c` a cache
 * had it; `n` none had. In capitals: the game has feedback of its own. */
static const struct {
	const char *what, *pipelines;
	VkResult result;
	bool deferred, offered, idle;
	uint64_t n, cached, uncached;
} rows[] = {
	{ "one, from a cache", "c", VK_SUCCESS, false, true, false, 1, 1, 0 },
	{ "one, compiled", "n", VK_SUCCESS, false, true, false, 1, 0, 1 },
	{ "the game's own feedback", "CNc", VK_SUCCESS, false, true, false, 3, 2, 1 },
	{ "the driver does not say", "??c", VK_SUCCESS, false, true, false, 3, 1, 0 },
	{ "some need a compiler",
	  "c-C-n",
	  VK_PIPELINE_COMPILE_REQUIRED,
	  false,
	  true,
	  false,
	  3,
	  2,
	  1 },
	{ "an error", "cC", VK_ERROR_OUT_OF_HOST_MEMORY, false, true, false, 0, 0, 0 },
	{ "more than fit", "ccccnnnnC", VK_SUCCESS, false, true, false, 9, 5, 4 },
	{ "no feedback offered", "c", VK_SUCCESS, false, false, false, 1, 0, 0 },
	{ "deferred", "cC", VK_OPERATION_DEFERRED_KHR, true, true, false, 0, 0, 0 },
	{ "could be deferred", "cC", VK_OPERATION_NOT_DEFERRED_KHR, true, true, false, 2, 1, 0 },
	{ "nothing is captured", "C", VK_SUCCESS, false, true, true, 0, 0, 0 },
};

static void
answer(const VkGraphicsPipelineCreateInfo *info, char how, VkPipeline *handle)
{
	const VkPipelineCreationFeedbackCreateInfo *chained = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO);
	VkPipelineCreationFeedbackFlags flags = VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT;
	if (g_ascii_tolower(how) == 'c')
		flags |= VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
	*handle = (VkPipeline)(uintptr_t)(how == '-' ? 0 : 7);
	if (chained && how != '?' && how != '-')
		chained->pPipelineCreationFeedback->flags = flags;
	const VkBaseInStructure *other = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);
	g_assert_nonnull(other); /* the rest of the chain is still there */
}

static void
test_rows(void)
{
	for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
		struct vk_device d = { .tracked = true };
		VkPipelineCreationFeedback made[MOST] = { 0 };
		VkPipelineRenderingCreateInfo more = {
			.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
		};
		VkPipelineCreationFeedbackCreateInfo own[MOST];
		VkGraphicsPipelineCreateInfo infos[MOST] = { { .stageCount = 0 } }, before[MOST];
		uint32_t n = (uint32_t)strlen(rows[r].pipelines);
		g_test_message("%s", rows[r].what);
		d.enabled.creation_feedback = rows[r].offered;
		atomic_store(&d.idle, rows[r].idle);
		for (uint32_t i = 0; i < n; i++) {
			/* A failed one leaves whatever was in the game's memory. */
			made[i].flags = rows[r].pipelines[i] == '-' ? UINT32_MAX : 0;
			own[i] = (VkPipelineCreationFeedbackCreateInfo){
				.sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
				.pNext = &more,
				.pPipelineCreationFeedback = &made[i],
			};
			infos[i].pNext = &more;
			if (g_ascii_isupper(rows[r].pipelines[i]))
				infos[i].pNext = &own[i];
		}
		memcpy(before, infos, sizeof(infos));
		struct tally_events events;
		tally_events_take(&events);
		VkPipeline handles[MOST];
		struct vk_making m;
		const VkGraphicsPipelineCreateInfo *given = vk_making_begin(
			&m, &d, infos, n, sizeof(*infos), rows[r].deferred);
		g_assert_true(!rows[r].deferred || given == infos);
		for (uint32_t i = 0; i < n; i++)
			answer(&given[i], rows[r].pipelines[i], &handles[i]);
		vk_making_end(&m, "vkCreateGraphicsPipelines", rows[r].result, handles);
		tally_events_take(&events);
		g_assert_cmpint(events.any, ==, !rows[r].idle);
		if (events.any) {
			g_assert_cmpuint(events.sums[TALLY_EVENT_PIPELINE].n, ==, rows[r].n);
			g_assert_cmpuint(events.sums[TALLY_EVENT_PIPELINE].cached, ==,
					 rows[r].cached);
			g_assert_cmpuint(events.sums[TALLY_EVENT_PIPELINE].uncached, ==,
					 rows[r].uncached);
		}
		g_assert_cmpmem(infos, sizeof(infos), before, sizeof(before));
	}
}

/* What each pipeline is: `p` an ordinary one, `l` a library, `o` linked of libraries, `2` one with
 * its flags in the chain. Only the first is made with statistics, which are then read. */
static VKAPI_ATTR VkResult VKAPI_CALL
get_executables(VkDevice device, const VkPipelineInfoKHR *info, uint32_t *n,
		VkPipelineExecutablePropertiesKHR *out)
{
	(void)device;
	g_assert_true(info->pipeline == (VkPipeline)(uintptr_t)7);
	g_strlcpy(out[0].name, "vertex", sizeof(out[0].name));
	g_strlcpy(out[1].name, "fragment", sizeof(out[1].name));
	*n = 2;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
get_statistics(VkDevice device, const VkPipelineExecutableInfoKHR *info, uint32_t *n,
	       VkPipelineExecutableStatisticKHR *out)
{
	(void)device;
	g_strlcpy(out[0].name, "Spill Count", sizeof(out[0].name));
	out[0].format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR;
	out[0].value.u64 = 5 + info->executableIndex;
	g_strlcpy(out[1].name, "Occupancy", sizeof(out[1].name));
	out[1].format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR;
	out[1].value.f64 = 0.5;
	*n = 2;
	return info->executableIndex ? VK_INCOMPLETE : VK_SUCCESS;
}

static void
test_statistics(void)
{
	static const char kinds[] = "plo2";
	static VkBaseInStructure flags2 = { .sType = (VkStructureType)1000470005 };
	static const VkPipelineLibraryCreateInfoKHR linked = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
	};
	for (int on = 0; on < 2; on++) {
		struct vk_device d = { .tracked = true };
		struct vk_making m;
		VkGraphicsPipelineCreateInfo infos[4] = { { .stageCount = 0 } };
		d.enabled.executables = on;
		d.next.use.GetPipelineExecutablePropertiesKHR = get_executables;
		d.next.use.GetPipelineExecutableStatisticsKHR = get_statistics;
		infos[1].flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
		infos[2].pNext = &linked;
		infos[3].pNext = &flags2;
		const VkGraphicsPipelineCreateInfo *given =
			vk_making_begin(&m, &d, infos, 4, sizeof(infos[0]), false);
		for (uint32_t i = 0; i < 4; i++) {
			struct tally_pipeline pipeline = { .id = i };
			bool captured = on && kinds[i] == 'p';
			g_assert_cmpint(!!(given[i].flags &
					   VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR),
					==, captured);
			g_assert_true(given[i].pNext == infos[i].pNext);
			vk_making_read(&m, i, (VkPipeline)(uintptr_t)7, &pipeline);
			vk_making_read(&m, i, (VkPipeline)(uintptr_t)7, NULL);
			struct tally_pipeline_statistics *s = pipeline.statistics;
			g_assert_cmpint(s != NULL, ==, captured);
			if (!s)
				continue;
			g_assert_cmpuint(s->n, ==, 4);
			g_assert_cmpstr(s->rows[2].key, ==, "fragment: Spill Count");
			g_assert_cmpuint(s->rows[2].value.u64, ==, 6);
			g_assert_cmpstr(s->rows[1].key, ==, "vertex: Occupancy");
			g_assert_cmpfloat(s->rows[1].value.f64, ==, 0.5);
			free(s);
		}
		VkPipeline handles[4] = { VK_NULL_HANDLE };
		vk_making_end(&m, "vkCreateGraphicsPipelines", VK_SUCCESS, handles);
	}
}

/* Stages of a pipeline without shader state: the driver does not read them, wherever they point. */
static const struct {
	const char *what;
	VkPipelineCreateFlags flags;
	uint32_t n_libraries;
	bool has_part;
	VkGraphicsPipelineLibraryFlagsEXT part;
	bool known;
	bool apart; /* the flags that hold are in a structure of their own */
} parts[] = {
	{ "a whole pipeline", 0, 0, false, 0, true, false },
	{ "whole, and says so", 0, 0, true, 15, true, false },
	{ "shaders alone", VK_PIPELINE_CREATE_LIBRARY_BIT_KHR, 0, true,
	  VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT, true, false },
	{ "vertex input alone", VK_PIPELINE_CREATE_LIBRARY_BIT_KHR, 0, true,
	  VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT, false, false },
	{ "outputs alone", VK_PIPELINE_CREATE_LIBRARY_BIT_KHR, 0, true,
	  VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT, false, false },
	{ "a library of no part", VK_PIPELINE_CREATE_LIBRARY_BIT_KHR, 0, false, 0, false, false },
	{ "linked", 0, 1, false, 0, false, false },
	{ "linked of none", 0, 0, false, 0, true, false },
	{ "a library by the larger flags", VK_PIPELINE_CREATE_LIBRARY_BIT_KHR, 0, false, 0, false,
	  true },
	{ "none by the larger flags", 0, 0, false, 0, true, true },
};

static VKAPI_ATTR VkResult VKAPI_CALL
make_pipeline(VkDevice dev, VkPipelineCache cache, uint32_t n,
	      const VkGraphicsPipelineCreateInfo *infos, const VkAllocationCallbacks *allocator,
	      VkPipeline *out)
{
	(void)dev, (void)cache, (void)n, (void)infos, (void)allocator;
	*out = (VkPipeline)(uintptr_t)7;
	return VK_SUCCESS;
}

static void
test_parts(void)
{
	static const struct tally_config config = { .pipelines = true };
	static const uint32_t words[] = { 0x07230203 };
	static VkPipeline libraries[] = { (VkPipeline)(uintptr_t)5 }; /* not known */
	VkShaderModuleCreateInfo code = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = sizeof(words),
		.pCode = words,
	};
	const VkPipelineShaderStageCreateInfo stage = { .pNext = &code, .pName = "main" };
	for (size_t r = 0; r < G_N_ELEMENTS(parts); r++) {
		struct vk_device d = { .tracked = true, .config = &config };
		atomic_store(&d.idle, true);
		g_assert_true(vk_targets_create(&d));
		VkPipelineLibraryCreateInfoKHR linked = {
			.sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
			.libraryCount = parts[r].n_libraries,
			.pLibraries = libraries,
		};
		VkGraphicsPipelineLibraryCreateInfoEXT part = {
			.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
			.pNext = &linked,
			.flags = parts[r].part,
		};
		const struct {
			VkStructureType type;
			const void *next;
			uint64_t flags;
		} apart = { (VkStructureType)1000470005, NULL, parts[r].flags };
		if (parts[r].apart)
			linked.pNext = &apart;
		VkPipelineCreateFlags library = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
		VkGraphicsPipelineCreateInfo info = {
			.pNext = parts[r].has_part ? (const void *)&part : &linked,
			.flags = parts[r].apart ? parts[r].flags ^ library : parts[r].flags,
			.stageCount = 1,
			.pStages = parts[r].known ? &stage : (void *)(uintptr_t)16,
		};
		VkPipeline handle;
		g_test_message("%s", parts[r].what);
		g_assert_cmpint(vk_create_graphics_pipelines(&d, make_pipeline, NULL,
							     VK_NULL_HANDLE, 1, &info, NULL,
							     &handle),
				==, VK_SUCCESS);
		struct vk_pipeline_known *known =
			vk_handles_find(&d.targets->objects[VK_PIPELINES], 7);
		g_assert_cmpint(known && known->pipeline, ==, parts[r].known);
		vk_targets_destroy(&d);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk-making/rows", test_rows);
	g_test_add_func("/vk-making/statistics", test_statistics);
	g_test_add_func("/vk-making/parts", test_parts);
	return g_test_run();
}
