/* SPDX-License-Identifier: MIT */
#include "vk_layer/picture/attachments.h"
#include "vk_layer/picture/depth.h"
#include "vk_layer/picture/memory.h"

#include "layer/base/array.h"
#include "layer/capture/trigger.h"
#include "layer/log.h"
#include "layer/picture/pictures.h"
#include "vk_formats.h" /* generated */
#include "vk_layer/record/command.h"
#include "vk_layer/submit/submission_list.h"

#include <stdlib.h>
#include <string.h>

#define MAX_COPIES 512 /* of one recording */
#define ANY_ACCESS (VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT)

/* What each kind is converted to: the first with its encoding. */
enum { NORMALIZED, SRGB, FLOATS, INTEGERS, NATURALS };
static const struct form {
	VkFormat format;
	enum tally_pixels pixels;
} forms[VK_PICTURE_FORMS] = {
	[NORMALIZED] = { VK_FORMAT_R8G8B8A8_UNORM, TALLY_PIXELS_RGBA8 },
	[SRGB] = { VK_FORMAT_R8G8B8A8_SRGB, TALLY_PIXELS_RGBA8 },
	[FLOATS] = { VK_FORMAT_R32G32B32A32_SFLOAT, TALLY_PIXELS_RGBA32F },
	[INTEGERS] = { VK_FORMAT_R32G32B32A32_SINT, TALLY_PIXELS_RGBA32I },
	[NATURALS] = { VK_FORMAT_R32G32B32A32_UINT, TALLY_PIXELS_RGBA32UI },
};

static unsigned
form_of(VkFormat format)
{
	const char *name = vk_format_name(format);
	if (!name)
		return NORMALIZED;
	return strstr(name, "SRGB")    ? SRGB
	       : strstr(name, "FLOAT") ? FLOATS
	       : strstr(name, "_SINT") ? INTEGERS
	       : strstr(name, "_UINT") ? NATURALS
				       : NORMALIZED;
}

static enum tally_pixels
pixels_of_depth(VkFormat format)
{
	switch (format) {
	case VK_FORMAT_D16_UNORM:
	case VK_FORMAT_D16_UNORM_S8_UINT:
		return TALLY_PIXELS_D16;
	case VK_FORMAT_X8_D24_UNORM_PACK32:
	case VK_FORMAT_D24_UNORM_S8_UINT:
		return TALLY_PIXELS_D24;
	default:
		return TALLY_PIXELS_D32F;
	}
}

/* ---- which recordings ---- */

static bool
is_wanted(struct vk_device *d)
{
	return d->config->granularity >= TALLY_GRANULARITY_PASS &&
	       tally_trigger_wants_picture(d->tally ? tally_device_frame(d->tally) : 0);
}

struct vk_pictures *
vk_pictures_create(const struct vk_recording *r)
{
	struct vk_device *d = r->device;
	if (r->idle || d->enabled.multi_device)
		return NULL;
	pthread_mutex_lock(&d->lock);
	bool wanted = is_wanted(d);
	pthread_mutex_unlock(&d->lock);
	struct vk_pictures *p = wanted ? calloc(1, sizeof(*p)) : NULL;
	if (p)
		p->refs = 1;
	return p;
}

void
vk_pictures_missed(struct vk_device *d)
{
	if (is_wanted(d))
		tally_log_say(
			TALLY_LEVEL_INFO, "pictures",
			"command buffers of the frame were recorded before it, or with "
			"--granularity frame or submit: there are no pictures of their "
			"passes; with --pictures frame:0 there are of those recorded "
			"first");
}

static void
free_copy(struct vk_device *d, const struct vk_picture_copy *c)
{
	vk_depth_free(d, &c->depth);
	vk_picture_free_buffer(d, c);
	vk_picture_free_image(d, &c->resolved);
}

static void
destroy(struct vk_device *d, struct vk_pictures *p)
{
	for (uint32_t i = 0; i < p->n_copies; i++)
		free_copy(d, &p->copies[i]);
	for (unsigned i = 0; i < VK_PICTURE_FORMS; i++)
		vk_picture_free_image(d, &p->small[i]);
	free(p->copies);
	free(p->passes);
	free(p);
}

/* ---- a copy ---- */

/* One level and layer of an image on its way into and out of a copy. */
struct place {
	VkImage image;
	VkImageAspectFlags all, copied;
	uint32_t level, layer, slice, width, height;
};

struct state {
	VkPipelineStageFlags stage;
	VkAccessFlags access;
	VkImageLayout layout;
};
static const struct state writes = { VK_PIPELINE_STAGE_TRANSFER_BIT,
				     VK_ACCESS_TRANSFER_WRITE_BIT,
				     VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL };
static const struct state reads = { VK_PIPELINE_STAGE_TRANSFER_BIT,
				    VK_ACCESS_TRANSFER_READ_BIT,
				    VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL };
/* Depth that a render pass resolves, the resolve itself being a write of a color. */
static const struct state draws = { VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT |
					    VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT |
					    VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
				    ANY_ACCESS,
				    VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL };
/* After earlier copies out of it; what it had is not needed. */
static const struct state old = { VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
				  VK_IMAGE_LAYOUT_UNDEFINED };

static void
go(struct vk_command *c, const struct place *p, const struct state *from,
   const struct state *to)
{
	VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = from->access,
		.dstAccessMask = to->access,
		.oldLayout = from->layout,
		.newLayout = to->layout,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = p->image,
		.subresourceRange = { p->all, p->level, 1, p->layer, 1 },
	};
	c->device->next.use.CmdPipelineBarrier(c->handle, from->stage, to->stage, 0, 0,
					       NULL, 0, NULL, 1, &barrier);
}

static VkImageSubresourceLayers
layers_of(const struct place *p)
{
	return (VkImageSubresourceLayers){ p->copied, p->level, p->layer, 1 };
}

static struct place
place_of(const struct vk_device *d, const struct vk_pictured *at)
{
	struct place p = {
		.image = at->image,
		.all = VK_IMAGE_ASPECT_COLOR_BIT,
		.level = at->level,
		.layer = at->layer,
		.slice = at->slice,
		.width = at->width,
		.height = at->height,
	};
	if (vk_format_has_depth(at->format))
		p.all = VK_IMAGE_ASPECT_DEPTH_BIT;
	p.copied = p.all;
	/* Where stencil may have a layout of its own it is left in it, else both change together
	 * (VUID-VkImageMemoryBarrier-image-03320). */
	if (p.all == VK_IMAGE_ASPECT_DEPTH_BIT && !d->enabled.layouts_apart &&
	    vk_format_has_stencil(at->format))
		p.all |= VK_IMAGE_ASPECT_STENCIL_BIT;
	return p;
}

static void
read_back(struct vk_command *c, const struct place *p, VkImageLayout layout,
	  const struct vk_picture_copy *copy)
{
	const struct vk_device *d = c->device;
	VkBufferImageCopy region = {
		.imageSubresource = layers_of(p),
		.imageExtent = { copy->width, copy->height, 1 },
	};
	VkBufferMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_HOST_READ_BIT,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.buffer = copy->mapped.buffer,
		.size = VK_WHOLE_SIZE,
	};
	d->next.use.CmdCopyImageToBuffer(c->handle, p->image, layout, copy->mapped.buffer, 1,
					 &region);
	d->next.use.CmdPipelineBarrier(c->handle, VK_PIPELINE_STAGE_TRANSFER_BIT,
				       VK_PIPELINE_STAGE_HOST_BIT, 0, 0, NULL, 1,
				       &barrier, 0, NULL);
}

static void
resolve(struct vk_command *c, const struct place *from, VkImageLayout layout,
	const struct place *to)
{
	VkImageResolve region = {
		.srcSubresource = layers_of(from),
		.dstSubresource = layers_of(to),
		.extent = { from->width, from->height, 1 },
	};
	go(c, to, &old, &writes);
	c->device->next.use.CmdResolveImage(c->handle, from->image, layout, to->image,
					    writes.layout, 1, &region);
	go(c, to, &writes, &reads);
}

static void
blit(struct vk_command *c, const struct place *from, VkImageLayout layout,
     const struct place *to, VkFilter filter)
{
	VkImageBlit region = {
		.srcSubresource = layers_of(from),
		.srcOffsets = { { 0, 0, (int32_t)from->slice },
				{ (int32_t)from->width, (int32_t)from->height,
				  (int32_t)from->slice + 1 } },
		.dstSubresource = layers_of(to),
		.dstOffsets = { { 0 }, { (int32_t)to->width, (int32_t)to->height, 1 } },
	};
	go(c, to, &old, &writes);
	c->device->next.use.CmdBlitImage(c->handle, from->image, layout, to->image,
					 writes.layout, 1, &region, filter);
	go(c, to, &writes, &reads);
}

static VkFormatFeatureFlags
features_of(const struct vk_device *d, const struct vk_pictured *at)
{
	VkFormatProperties can;
	d->instance->next.GetPhysicalDeviceFormatProperties(d->physical, at->format,
							    &can);
	return at->tiling == VK_IMAGE_TILING_LINEAR ? can.linearTilingFeatures
						    : can.optimalTilingFeatures;
}

/* By a render pass. */
static bool
resolves_depth(const struct vk_pictured *at)
{
	return at->samples > 1 && vk_format_has_depth(at->format);
}

/* In which a target is copied. */
static struct state
state_of_copy(const struct vk_pictured *at)
{
	struct state copied = resolves_depth(at) ? draws : reads;
	if (at->layout == VK_IMAGE_LAYOUT_GENERAL ||
	    at->layout == VK_IMAGE_LAYOUT_SHARED_PRESENT_KHR)
		copied.layout = at->layout;
	return copied;
}

/* In the target's format: what has one sample a pixel, or depth with fewer pixels. */
static const char *
make_resolved(struct vk_device *d, const struct vk_pictured *at, struct vk_picture_copy *copy)
{
	bool depth = vk_format_has_depth(at->format), passes = resolves_depth(at);
	uint32_t width = depth ? copy->width : at->width;
	uint32_t height = depth ? copy->height : at->height;
	if (at->samples <= 1 && width == at->width && height == at->height)
		return NULL;
	const char *why = vk_picture_make_image(
		d, at->format, width, height,
		passes ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : 0, &copy->resolved);
	if (!why && passes)
		why = vk_depth_make(d, at, state_of_copy(at).layout, copy->resolved.handle,
				    &copy->depth);
	return why;
}

/* Makes what the copy needs; NULL, or why there is no picture. */
static const char *
prepare(struct vk_device *d, struct vk_pictures *p, const struct vk_pictured *at,
	unsigned form, struct vk_picture_copy *copy)
{
	const char *why = make_resolved(d, at, copy);
	bool depth = vk_format_has_depth(at->format);
	if (!why && !depth && !p->small[form].handle)
		why = vk_picture_make_image(d, forms[form].format, TALLY_PICTURE_SIDE,
					    TALLY_PICTURE_SIDE, 0, &p->small[form]);
	/* Without memory the image is of no use to later copies, either. */
	if (!why && !depth && !p->small[form].bytes)
		why = "the driver has no memory for it";
	return why ? why : vk_picture_make_buffer(d, copy);
}

static void
record_depth(struct vk_command *c, const struct vk_pictured *at, const struct place *from,
	     VkImageLayout layout, const struct vk_picture_copy *copy)
{
	struct place source = *from;
	if (copy->resolved.handle) {
		source.image = copy->resolved.handle;
		source.level = source.layer = 0;
		if (vk_format_has_stencil(at->format)) /* a render pass has it, too */
			source.all |= VK_IMAGE_ASPECT_STENCIL_BIT;
		source.width = copy->width;
		source.height = copy->height;
		if (resolves_depth(at)) {
			go(c, &source, &old, &draws);
			vk_depth_record(c, &copy->depth, copy->width, copy->height);
			go(c, &source, &draws, &reads);
		} else {
			blit(c, from, layout, &source, VK_FILTER_NEAREST);
		}
		layout = reads.layout;
	}
	read_back(c, &source, layout, copy);
}

static void
record_color(struct vk_command *c, const struct vk_pictured *at, const struct place *from,
	     VkImageLayout layout, const struct vk_picture_copy *copy, VkImage to, VkFilter filter)
{
	struct place source = *from;
	struct place small = {
		.image = to,
		.all = VK_IMAGE_ASPECT_COLOR_BIT,
		.copied = VK_IMAGE_ASPECT_COLOR_BIT,
		.width = copy->width,
		.height = copy->height,
	};
	if (copy->resolved.handle) {
		source = small;
		source.image = copy->resolved.handle;
		source.width = at->width;
		source.height = at->height;
		resolve(c, from, layout, &source);
		layout = reads.layout;
	}
	blit(c, &source, layout, &small, filter);
	read_back(c, &small, reads.layout, copy);
}

static void
record(struct vk_command *c, struct vk_pictures *p, const struct vk_pictured *at,
       unsigned form, const struct vk_picture_copy *copy, VkFilter filter)
{
	struct place from = place_of(c->device, at), stencil = from;
	struct state game = { VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, ANY_ACCESS,
			      at->layout };
	struct state mine = state_of_copy(at), games_stencil = game;
	/* A render pass has both. */
	bool apart = resolves_depth(at) && vk_format_has_stencil(at->format) &&
		     from.all == VK_IMAGE_ASPECT_DEPTH_BIT;
	stencil.all = VK_IMAGE_ASPECT_STENCIL_BIT;
	games_stencil.layout = at->stencil_layout;
	go(c, &from, &game, &mine);
	if (apart)
		go(c, &stencil, &games_stencil, &mine);
	if (from.copied == VK_IMAGE_ASPECT_DEPTH_BIT)
		record_depth(c, at, &from, mine.layout, copy);
	else
		record_color(c, at, &from, mine.layout, copy, p->small[form].handle, filter);
	go(c, &from, &mine, &game);
	if (apart)
		go(c, &stencil, &mine, &games_stencil);
}

/* NULL, or why it cannot be copied. */
static const char *
cannot(const struct vk_command *c, const struct vk_pictured *at, VkFormatFeatureFlags can)
{
	if (vk_format_has_depth(at->format))
		return resolves_depth(at) ? vk_depth_cannot(c, at) : NULL;
	return can & VK_FORMAT_FEATURE_BLIT_SRC_BIT
		       ? NULL
		       : "the driver cannot convert its format";
}

static bool
has_room(struct vk_pictures *p)
{
	return p->n_copies < MAX_COPIES &&
	       (p->n_copies < p->room_copies ||
		tally_array_fit(&p->copies, p->n_copies, &p->room_copies,
				sizeof(*p->copies)));
}

/* Where the driver can: depth is converted only into its own format. */
static void
shrink(struct vk_picture_copy *copy, const struct vk_pictured *at, VkFormatFeatureFlags can)
{
	VkFormatFeatureFlags needs = VK_FORMAT_FEATURE_BLIT_SRC_BIT;
	if (vk_format_has_depth(at->format))
		needs |= VK_FORMAT_FEATURE_BLIT_DST_BIT;
	if ((can & needs) == needs && !resolves_depth(at))
		tally_picture_shrink(&copy->width, &copy->height);
}

static const char *
picture(struct vk_command *c, struct vk_pictures *p, const struct vk_pictured *at,
	uint32_t number)
{
	struct vk_device *d = c->device;
	if (at->why)
		return at->why;
	VkFormatFeatureFlags can = features_of(d, at);
	unsigned form = form_of(at->format);
	struct vk_picture_copy copy = {
		.pass = number,
		.pixels = vk_format_has_depth(at->format) ? pixels_of_depth(at->format)
							  : forms[form].pixels,
		.width = at->width,
		.height = at->height,
	};
	memcpy(copy.name, at->name, sizeof(copy.name));
	shrink(&copy, at, can);
	const char *why = cannot(c, at, can);
	if (!why && !has_room(p))
		why = "there are too many in the frame";
	if (!why)
		why = prepare(d, p, at, form, &copy);
	if (why) {
		free_copy(d, &copy);
		return why;
	}
	bool scales = copy.width != at->width || copy.height != at->height;
	bool linear = scales && (can & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT);
	record(c, p, at, form, &copy, linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST);
	p->copies[p->n_copies++] = copy;
	return NULL;
}

void
vk_pictures_begin(struct vk_command *c, const VkRenderPassBeginInfo *pass,
		  const VkRenderingInfo *rendering)
{
	struct vk_pictures *p = c->recording->pictures;
	p->n_at = vk_pictured_find(c->device, pass, rendering, p->at);
}

/* Why nothing of the pass can be copied, or NULL. */
static const char *
refusal(const struct vk_command *c)
{
	const struct vk_recording *r = c->recording;
	if (r->is_protected)
		return "its command buffer is protected";
	if (c->game.no_queries || c->game.performance || c->game.statistics)
		return "nothing may be recorded after the pass";
	return NULL;
}

void
vk_pictures_end(struct vk_command *c, uint32_t index)
{
	struct vk_pictures *p = c->recording->pictures;
	const char *none = refusal(c);
	if (p->n_passes == p->room_passes &&
	    !tally_array_fit(&p->passes, p->n_passes, &p->room_passes,
			     sizeof(*p->passes)))
		return;
	uint32_t number = tally_pictures_number();
	p->passes[p->n_passes++] = (struct vk_picture_pass){ index, number };
	for (uint32_t i = 0; i < p->n_at; i++) {
		const char *why = none ? none : picture(c, p, &p->at[i], number);
		if (why)
			tally_pictures_refuse(number, p->at[i].name, why);
	}
}

/* ---- submissions ---- */

static void
give(struct vk_device *d, struct vk_pictures *p, const char *why)
{
	p->waits = NULL;
	p->why = why;
	p->unread = true;
	p->next = d->pictures_done;
	d->pictures_done = p;
}

void
vk_pictures_completed(struct vk_submission *s)
{
	while (s->pictures) {
		struct vk_pictures *p = s->pictures;
		s->pictures = p->next;
		give(s->queue->device, p,
		     s->completed ? NULL : "the GPU did not finish the copy");
	}
}

void
vk_pictures_runs(const struct vk_recording *r)
{
	static const char again[] = "its command buffer ran again before it was read";
	struct vk_pictures *p = r->pictures;
	struct vk_submission *s = p->waits;
	p->why = again; /* if another thread is reading it */
	if (!s)
		return;
	struct vk_pictures **link = &s->pictures;
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	/* It may run again only after it has completed: this thread reads it first. */
	give(r->device, p, s->completed || !r->simultaneous ? NULL : again);
}

void
vk_pictures_submitted(const struct vk_recording *r, uint32_t index,
		      struct vk_submission *s, struct tally_pass *pass)
{
	struct vk_pictures *p = r->pictures;
	uint32_t number = 0;
	if (!p->logged) {
		p->logged = true;
		p->waits = s;
		p->next = s->pictures;
		p->refs++;
		s->pictures = p;
	}
	for (uint32_t i = 0; i < p->n_passes && p->waits == s; i++)
		if (p->passes[i].index == index)
			number = p->passes[i].number;
	tally_stream_picture_pass(pass, number);
}

static void
read_copy(struct vk_device *d, const struct vk_pictures *p,
	  const struct vk_picture_copy *c)
{
	const char *why = "out of memory";
	struct tally_picture *to = tally_picture_make(c->pixels, c->width, c->height);
	if (to) {
		to->pass = c->pass;
		memcpy(to->name, c->name, sizeof(to->name));
		memcpy(to->data, c->mapped.map,
		       tally_pixels_size(c->pixels) * c->width * c->height);
		pthread_mutex_lock(&d->lock);
		why = p->why;
		pthread_mutex_unlock(&d->lock);
	}
	if (!why) {
		tally_pictures_hand_over(to);
		return;
	}
	free(to);
	tally_pictures_refuse(c->pass, c->name, why);
}

void
vk_pictures_finish(struct vk_device *d, struct vk_pictures *list, bool calls)
{
	while (list) {
		struct vk_pictures *p = list;
		bool gone = !p->unread;
		list = p->next;
		if (p->unread) {
			for (uint32_t i = 0; i < p->n_copies; i++)
				read_copy(d, p, &p->copies[i]);
			pthread_mutex_lock(&d->lock);
			p->unread = false;
			gone = --p->refs == 0;
			pthread_mutex_unlock(&d->lock);
		}
		if (gone && calls)
			destroy(d, p);
	}
}
