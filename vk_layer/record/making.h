/* SPDX-License-Identifier: MIT */
/* vk_layer/record/making.h - how long pipelines took to make, and whether a cache had them.
 *
 * Whether a cache had a pipeline the driver says in VkPipelineCreationFeedback: the game's,
 * or, where it has none, one that is chained in a copy of its create infos. What was not
 * created has none. With --pipeline-statistics the copy also asks for statistics. Any thread;
 * allocates only for many pipelines at once and for statistics, and takes no lock but the
 * interning's.
 */
#ifndef PASSTALLY_VK_LAYER_MAKING_H
#define PASSTALLY_VK_LAYER_MAKING_H

#include "layer/frame/pipeline.h"
#include "vk_layer/state.h"

struct vk_making {
	const struct vk_device *device;
	uint64_t begin_ns; /* 0: nothing is captured */
	uint32_t n;
	size_t size; /* of a create info */
	const char *infos; /* the game's */
	struct vk_feedback *ours; /* NULL: none is chained */
	bool captures; /* statistics (--pipeline-statistics) */
	void *memory; /* to be freed */
	_Alignas(16) char room[640];
};

/* The create infos for the driver, `n` structures of `size` bytes. `deferred`: they are read after
 * the call, too, so that nothing can be chained. */
const void *vk_making_begin(struct vk_making *m, const struct vk_device *d, const void *infos,
			    uint32_t n, size_t size, bool deferred);
void vk_making_end(struct vk_making *m, const char *call, VkResult result,
		   const VkPipeline *handles);

/* Asks the driver what it made of number `i`, for `pipeline` (NULL: nothing is done). */
void vk_making_read(const struct vk_making *m, uint32_t i, VkPipeline handle,
		    struct tally_pipeline *pipeline);

#endif
