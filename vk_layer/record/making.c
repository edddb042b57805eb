/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/making.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/event/event.h"
#include "layer/frame/frame_part.h"
#include "layer/frame/intern.h"

struct vk_feedback {
	VkPipelineCreationFeedbackCreateInfo info; /* without sType: not used */
	VkPipelineCreationFeedback made;
};

/* How the create infos of all pipelines begin. */
struct create_info {
	VkStructureType sType;
	const void *pNext;
	VkPipelineCreateFlags flags;
};

static const struct create_info *
info_of(const struct vk_making *m, uint32_t i)
{
	return (const void *)(m->infos + i * m->size);
}

/* Whether number `i` is made with statistics. A library is not, nor what is linked of
 * some, whose parts lack them; nor what has its flags elsewhere. */
static bool
is_captured(const struct vk_making *m, uint32_t i)
{
	enum { FLAGS_2 = 1000470005 }; /* newer than our oldest headers */
	const struct create_info *info = info_of(m, i);
	return m->captures && !(info->flags & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) &&
	       !vk_find_in_chain(info->pNext, (VkStructureType)FLAGS_2) &&
	       !vk_find_in_chain(info->pNext,
				 VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
}

static const VkPipelineCreationFeedbackCreateInfo *
of_game(const struct vk_making *m, uint32_t i)
{
	return vk_find_in_chain(info_of(m, i)->pNext,
				VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO);
}

/* The copy, or the game's own where there is no memory. */
static const void *
chain_ours(struct vk_making *m)
{
	size_t copies = (m->n * m->size + 15) & ~(size_t)15;
	size_t bytes = copies + m->n * sizeof(*m->ours);
	char *to = m->room;
	if (bytes > sizeof(m->room))
		to = m->memory = malloc(bytes);
	if (!to) {
		m->captures = false;
		return m->infos;
	}
	memcpy(to, m->infos, m->n * m->size);
	m->ours = (struct vk_feedback *)(void *)(to + copies);
	memset(m->ours, 0, m->n * sizeof(*m->ours));
	for (uint32_t i = 0; i < m->n; i++) {
		struct create_info *copy = (void *)(to + i * m->size);
		if (is_captured(m, i))
			copy->flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
		if (of_game(m, i) || !m->device->enabled.creation_feedback)
			continue;
		m->ours[i].info = (VkPipelineCreationFeedbackCreateInfo){
			.sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
			.pNext = copy->pNext,
			.pPipelineCreationFeedback = &m->ours[i].made,
		};
		copy->pNext = &m->ours[i].info;
	}
	return to;
}

const void *
vk_making_begin(struct vk_making *m, const struct vk_device *d, const void *infos, uint32_t n,
		size_t size, bool deferred)
{
	m->device = d;
	m->begin_ns = vk_device_idles(d) ? 0 : tally_clock_now_ns();
	m->n = n;
	m->size = size;
	m->infos = infos;
	m->ours = NULL;
	m->memory = NULL;
	bool copies = m->begin_ns && n && !deferred;
	m->captures = copies && d->enabled.executables &&
		      size != sizeof(VkRayTracingPipelineCreateInfoKHR);
	copies &= m->captures || d->enabled.creation_feedback;
	return copies ? chain_ours(m) : infos;
}

/* Adds whether the program's cache had number `i`, where the driver says. */
static void
count_cached(const struct vk_making *m, uint32_t i, struct tally_event *event)
{
	const VkPipelineCreationFeedbackCreateInfo *own = of_game(m, i);
	const VkPipelineCreationFeedback *made = own      ? own->pPipelineCreationFeedback
						 : m->ours ? &m->ours[i].made
							   : NULL;
	if (!made || !(made->flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT))
		return;
	bool hit = made->flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
	event->cached += hit;
	event->uncached += !hit;
}

void
vk_making_end(struct vk_making *m, const char *call, VkResult result, const VkPipeline *handles)
{
	if (!m->begin_ns)
		return;
	uint64_t end_ns = tally_clock_now_ns();
	struct tally_event event = {
		.kind = TALLY_EVENT_PIPELINE,
		.call = call,
		.begin_ns = m->begin_ns,
	};
	/* After an error, or while it is deferred, nobody says which handles mean anything. */
	bool made = result == VK_SUCCESS || result == VK_PIPELINE_COMPILE_REQUIRED ||
		    result == VK_OPERATION_NOT_DEFERRED_KHR;
	for (uint32_t i = 0; made && i < m->n; i++) {
		if (!handles[i])
			continue;
		event.n++;
		count_cached(m, i, &event);
	}
	tally_event_end_at(&event, end_ns);
	free(m->memory);
}

/* ---- what the driver says of a pipeline ---- */

#define MAX_EXECUTABLES 16u
#define MAX_STATISTICS 32u /* of one executable */

/* Too much for a game's stack. */
struct answers {
	VkPipelineExecutablePropertiesKHR executables[MAX_EXECUTABLES];
	VkPipelineExecutableStatisticKHR statistics[MAX_STATISTICS];
	struct tally_pipeline_statistics *out;
};

static struct tally_value
value_of(const VkPipelineExecutableStatisticKHR *s)
{
	struct tally_value v = { .u64 = s->value.u64 };
	if (s->format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR)
		v.u64 = s->value.b32;
	else if (s->format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR)
		v = (struct tally_value){ .storage = TALLY_STORAGE_I64, .i64 = s->value.i64 };
	else if (s->format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR)
		v = (struct tally_value){ .storage = TALLY_STORAGE_F64, .f64 = s->value.f64 };
	return v;
}

static void
read_executable(const struct vk_device *d, VkPipeline handle, uint32_t number,
		struct answers *a)
{
	VkPipelineExecutableStatisticKHR *all = a->statistics;
	const VkPipelineExecutableInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
		.pipeline = handle,
		.executableIndex = number,
	};
	uint32_t n = MAX_STATISTICS;
	for (uint32_t i = 0; i < n; i++)
		all[i] = (VkPipelineExecutableStatisticKHR){
			.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR,
		};
	if (d->next.use.GetPipelineExecutableStatisticsKHR(d->handle, &info, &n, all) < 0)
		return;
	for (uint32_t i = 0; i < n && i < MAX_STATISTICS; i++) {
		char key[2 * VK_MAX_DESCRIPTION_SIZE + 4];
		int len = snprintf(key, sizeof(key), "%s: %s", a->executables[number].name,
				   all[i].name);
		a->out->rows[a->out->n++] = (struct tally_keyed_value){
			.key = tally_intern_label(NULL, key, (size_t)len),
			.value = value_of(&all[i]),
		};
	}
}

static void
read_all(const struct vk_device *d, VkPipeline handle, struct answers *a)
{
	const VkPipelineInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR,
		.pipeline = handle,
	};
	uint32_t n = MAX_EXECUTABLES;
	for (uint32_t k = 0; k < n; k++)
		a->executables[k] = (VkPipelineExecutablePropertiesKHR){
			.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR,
		};
	if (d->next.use.GetPipelineExecutablePropertiesKHR(d->handle, &info, &n,
							   a->executables) < 0)
		return;
	n = n < MAX_EXECUTABLES ? n : MAX_EXECUTABLES;
	a->out = calloc(1, sizeof(*a->out) + n * MAX_STATISTICS * sizeof(a->out->rows[0]));
	for (uint32_t k = 0; a->out && k < n; k++)
		read_executable(d, handle, k, a);
}

void
vk_making_read(const struct vk_making *m, uint32_t i, VkPipeline handle,
	       struct tally_pipeline *pipeline)
{
	const struct vk_device *d = m->device;
	if (!pipeline || !is_captured(m, i) || atomic_load(&pipeline->statistics) ||
	    !d->next.use.GetPipelineExecutablePropertiesKHR ||
	    !d->next.use.GetPipelineExecutableStatisticsKHR)
		return;
	struct answers *answers = malloc(sizeof(*answers));
	if (!answers)
		return;
	answers->out = NULL;
	read_all(d, handle, answers);
	tally_pipeline_set_statistics(pipeline, answers->out);
	free(answers);
}
