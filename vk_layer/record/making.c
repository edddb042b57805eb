/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/making.h"

#include <stdlib.h>
#include <string.h>

#include "layer/event/event.h"

struct vk_feedback {
	VkPipelineCreationFeedbackCreateInfo info; /* without sType: not used */
	VkPipelineCreationFeedback made;
};

static const VkPipelineCreationFeedbackCreateInfo *
of_game(const struct vk_making *m, uint32_t i)
{
	const VkBaseInStructure *info = (const void *)(m->infos + i * m->size);
	return vk_find_in_chain(info->pNext,
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
	if (!to)
		return m->infos;
	memcpy(to, m->infos, m->n * m->size);
	m->ours = (struct vk_feedback *)(void *)(to + copies);
	memset(m->ours, 0, m->n * sizeof(*m->ours));
	for (uint32_t i = 0; i < m->n; i++) {
		VkBaseOutStructure *copy = (void *)(to + i * m->size);
		if (of_game(m, i))
			continue;
		m->ours[i].info = (VkPipelineCreationFeedbackCreateInfo){
			.sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
			.pNext = copy->pNext,
			.pPipelineCreationFeedback = &m->ours[i].made,
		};
		copy->pNext = (void *)&m->ours[i].info;
	}
	return to;
}

const void *
vk_making_begin(struct vk_making *m, const struct vk_device *d, const void *infos, uint32_t n,
		size_t size, bool deferred)
{
	m->begin_ns = vk_device_idles(d) ? 0 : tally_clock_now_ns();
	m->n = n;
	m->size = size;
	m->infos = infos;
	m->ours = NULL;
	m->memory = NULL;
	return m->begin_ns && n && !deferred && d->enabled.creation_feedback ? chain_ours(m)
									     : infos;
}

static bool
was_cached(const struct vk_making *m, uint32_t i)
{
	const VkPipelineCreationFeedbackCreateInfo *own = of_game(m, i);
	const VkPipelineCreationFeedback *made = own      ? own->pPipelineCreationFeedback
						 : m->ours ? &m->ours[i].made
							   : NULL;
	return made && (made->flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT) &&
	       (made->flags &
		VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT);
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
		event.cached += was_cached(m, i);
	}
	tally_event_end_at(&event, end_ns);
	free(m->memory);
}
