/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_life.c - no teardown, forks, and frames that nothing ends. */
#include "scenes/vk/scenes.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- without even exit handlers ---- */

static void
exit_now_finish(struct vk_stage *s)
{
	_exit(8);
}

/* ---- the instance is destroyed, its device is not: not allowed, but programs do it ---- */

static void
leak_finish(struct vk_stage *s)
{
	vkDestroyInstance(s->instance, NULL);
	exit(0);
}

/* ---- fork: children that end in both ways, in the middle of the run ---- */

static void
fork_child(bool handlers)
{
	pid_t child = fork();
	if (child == 0) {
		if (handlers)
			exit(0);
		_exit(0);
	}
	int status = 1;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		vk_check(VK_ERROR_UNKNOWN, "fork");
}

static void
fork_frame(struct vk_stage *s, unsigned number)
{
	vk_plain_frame(s, number);
	if (number == 1)
		fork_child(false);
	if (number == 2)
		fork_child(true);
}

/* ---- pending: no boundary ever comes, and the device is destroyed while everything is unread
 * ---- */

static void
pending_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s,
					    VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	vk_end(commands);
	vk_submit(s, 1, &commands, s->fence);
	vk_poll(s);
	vk_free(s, commands);
}

static const struct expect_pass pending_passes[] = { { SCREEN_PASS(3, 1) } };

const struct vk_scene vk_more_life_scenes[] = {
	SCENE_PLAIN(exit_now, NULL, .finish = exit_now_finish, .ends_abruptly = true),
	SCENE_PLAIN(leak, NULL, .finish = leak_finish),
	SCENE_AS(fork, fork_frame, vk_plain_passes, NULL),
	SCENE(pending, NULL, .boundary = "present", .ends_partial = true),
	{ 0 },
};
