/* SPDX-License-Identifier: MIT */
/* tests/unit/vk_layer/vk_recording_world.h - a driver, slots and targets for tests of recording.
 *
 * A script of words represents the game's calls; each word calls the functions that the call's
 * wrapper would call. What reaches the driver, including passtally's queries, is written into
 * one text, and what was recorded into another. Slots are numbered in the order in which they
 * are taken.
 */
#ifndef PASSTALLY_TESTS_VK_RECORDING_WORLD_H
#define PASSTALLY_TESTS_VK_RECORDING_WORLD_H

#include <glib.h>

#include "vk_layer/record/command.h"
#include "vk_layer/record/passes.h"

#define N_BUFFERS 8
#define WORLD_STATISTICS 2u /* bit of the source that counts; 1 is that of the timestamps */

struct world {
	struct vk_device device;
	struct tally_config config;
	VkCommandBuffer buffers[N_BUFFERS]; /* 0 to 3 primaries, 4 to 7 secondaries */
	VkCommandPool pool;
	GString *stream; /* what the driver sees */
	uint32_t taken, released; /* slots */
	uint32_t resets;
	bool no_slots;
	bool late; /* the driver wants statistics to begin at a draw */
	VkResult answer; /* of begin and end */
	VkQueryPipelineStatisticFlags inherited; /* as the driver saw it at the last begin */
	bool broke_begin; /* begin got another pNext or flags than the game's */
};
extern struct world world;
extern const struct tally_target world_targets[3]; /* of render passes; of images 1 and 2 */

/* Words of `setting`: pipelines inherit game mesh performance late draw frame nohost nogroup
 * barrier max1 protected. */
void world_begin(const char *setting);
void world_end(void);
/* Run a script. */
void world_play(const char *script);
/* The game frees a buffer; it may continue to use it without the layer's knowledge. */
void world_free(unsigned buffer);
/* Returns the contents of a buffer's recording; g_free(). */
char *world_dump(unsigned buffer);
struct vk_command *world_command(unsigned buffer);

#endif
