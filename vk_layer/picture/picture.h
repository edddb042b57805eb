/* SPDX-License-Identifier: MIT */
/* vk_layer/picture/picture.h - --pictures: what a render pass drew to, copied after it.
 *
 * A command buffer that is recorded while the frame to be pictured is open gets the copies: after
 * each of its render passes, from the layouts in which the pass leaves its targets, and back into
 * them. Each execution writes to the same buffers; those of the first that is logged are read when
 * its submission has completed, or before the next execution. All that the copies need lives until
 * the command buffer is recorded anew and that submission is read. Functions for the recording
 * thread take the device's lock for an instant only, nothing is read or freed with it; nothing
 * waits, and all memory is limited.
 */
#ifndef PASSTALLY_VK_LAYER_PICTURE_H
#define PASSTALLY_VK_LAYER_PICTURE_H

#include "layer/picture/picture.h"
#include "vk_layer/record/mapped.h"

struct vk_command;
struct vk_recording;
struct vk_submission;

/* An attachment as a pass leaves it. */
struct vk_pictured {
	char name[16]; /* "color0", "depth" */
	VkImage image;
	VkFormat format;
	VkImageTiling tiling;
	VkImageLayout layout, stencil_layout; /* UNDEFINED: of stencil, not known */
	uint32_t level, layer, slice, width, height, samples; /* slice: of a 3D image */
	const char *why; /* it cannot be copied, or NULL */
};

/* Depth of several samples becomes one of one sample. Without a pass: nothing. */
struct vk_depth_resolve {
	VkRenderPass pass;
	VkImageView views[2]; /* from, to */
	VkFramebuffer framebuffer;
};

/* Where `bytes` is 0 the rest is not used. */
struct vk_picture_image {
	VkImage handle;
	VkDeviceMemory memory;
	size_t bytes;
};

struct vk_picture_copy {
	struct vk_mapped mapped;
	size_t bytes;
	/* In the target's format: one sample a pixel, or depth made smaller. */
	struct vk_picture_image resolved;
	struct vk_depth_resolve depth;
	uint32_t pass; /* vk_picture_pass.number */
	char name[16];
	enum tally_pixels pixels;
	uint32_t width, height;
};

struct vk_picture_pass {
	uint32_t index; /* of the recording's passes */
	uint32_t number; /* tally_pictures_number() */
};

#define VK_PICTURE_FORMS 5 /* that the GPU converts to */
#define VK_PICTURED_MAX (TALLY_MAX_COLOR + 1)

/* Of one recording. Its references are counted with the lock. */
struct vk_pictures {
	struct vk_pictures *next; /* of a submission's, or the device's */
	uint32_t refs;
	bool logged; /* a submission with it is */
	struct vk_submission *waits; /* for that one to complete */
	bool unread; /* that has completed, or `why` says why there are no pictures */
	const char *why;
	struct vk_pictured at[VK_PICTURED_MAX]; /* of the open pass */
	uint32_t n_at;
	struct vk_picture_pass *passes;
	uint32_t n_passes, room_passes;
	struct vk_picture_copy *copies;
	uint32_t n_copies, room_copies;
	/* What the GPU shrinks to, one for all copies. */
	struct vk_picture_image small[VK_PICTURE_FORMS];
};

/* ---- recording thread ---- */

/* For a recording that begins. NULL: its frame is not pictured, or out of memory. */
struct vk_pictures *vk_pictures_create(const struct vk_recording *r);
/* Where a render pass begins, one of both ways, and after it ended: records the copies. `index`: of
 * the pass in the recording. */
void vk_pictures_begin(struct vk_command *c, const VkRenderPassBeginInfo *pass,
		       const VkRenderingInfo *rendering);
void vk_pictures_end(struct vk_command *c, uint32_t index);

/* ---- with the lock ---- */

/* The recording is about to be executed. */
void vk_pictures_runs(const struct vk_recording *r);
/* Its pass at `index` was submitted, as `pass` of the log: its frame is not measured, and the first
 * such submission is read. */
void vk_pictures_submitted(const struct vk_recording *r, uint32_t index, struct vk_submission *s,
			   struct tally_pass *pass);
/* Work is submitted whose recording has none: a note if this frame is pictured. */
void vk_pictures_missed(struct vk_device *d);
/* The submission has completed, or is given up. */
void vk_pictures_completed(struct vk_submission *s);
/* Accepts NULL. */
static inline void
vk_pictures_release(struct vk_device *d, struct vk_pictures *p)
{
	if (!p || --p->refs)
		return;
	p->next = d->pictures_done;
	d->pictures_done = p;
}

/* Reads the list's pictures, and destroys those that nothing uses, if the driver may be called.
 * Without the lock. */
void vk_pictures_finish(struct vk_device *d, struct vk_pictures *list, bool calls);
/* Releases the lock, where submissions may have completed or begin, and finishes what is left. */
static inline void
vk_pictures_unlock(struct vk_device *d, bool calls)
{
	struct vk_pictures *list = d->pictures_done;
	d->pictures_done = NULL;
	d->pictures_read |= list != NULL;
	pthread_mutex_unlock(&d->lock);
	if (list)
		vk_pictures_finish(d, list, calls);
}

#endif
