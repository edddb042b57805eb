/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/describe.h - the device line: what the driver reports about itself, and what
 * the layer measures.
 */
#ifndef PASSTALLY_VK_LAYER_SUBMIT_DESCRIBE_H
#define PASSTALLY_VK_LAYER_SUBMIT_DESCRIBE_H

#include "vk_layer/submit/frames.h"
#include "vk_layer/submit/submission.h"

/* Describes the device again once another OpenGL device uses it. */
void vk_describe_beneath(struct vk_device *d);
/* ... and once what is presented shows its images in another way. */
void vk_describe_presents(struct vk_device *d, struct vk_presents how);

/* Writes the device line, and writes it again when something has changed. The caller
 * holds the lock. */
bool vk_describe(struct vk_device *d);
/* Starts the capture and writes the line of a device that no other thread knows yet: before any
 * work, for --describe. */
void vk_describe_early(struct vk_device *d);

#endif
