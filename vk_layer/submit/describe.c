/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/describe.c - the device line: what the driver reports about itself, and what
 * the layer measures. */
#include "layer/session/session.h"
#include "query/source/harvest.h"
#include "vk_layer/submit/frames.h"
#include "vk_layer/record/slots.h"
#include "vk_layer/submit/submission.h"

#define MAX_ROWS (TALLY_MAX_SOURCES + 1)

/* The newest OpenGL device: programs create contexts for queries before the one that they draw
 * with. True when it has changed. */
static bool
find_beneath(struct vk_device *d)
{
	int64_t before = d->beneath;
	if (d->instance->is_zink)
		d->beneath = tally_device_newest(1u << TALLY_API_OPENGL |
						 1u << TALLY_API_OPENGL_ES);
	return d->beneath != before;
}

/* As the specification names them, in small letters. */
static const char *
mode_name(VkPresentModeKHR mode)
{
	switch ((int)mode) {
	case VK_PRESENT_MODE_IMMEDIATE_KHR:
		return "immediate";
	case VK_PRESENT_MODE_MAILBOX_KHR:
		return "mailbox";
	case VK_PRESENT_MODE_FIFO_KHR:
		return "fifo";
	case VK_PRESENT_MODE_FIFO_RELAXED_KHR:
		return "fifo_relaxed";
	case 1000361000: /* newer than the oldest headers that we build with */
		return "fifo_latest_ready";
	case VK_PRESENT_MODE_SHARED_DEMAND_REFRESH_KHR:
		return "shared_demand_refresh";
	case VK_PRESENT_MODE_SHARED_CONTINUOUS_REFRESH_KHR:
		return "shared_continuous_refresh";
	default:
		return "unknown";
	}
}

bool
vk_describe(struct vk_device *d)
{
	struct tally_source_info rows[MAX_ROWS];
	char version[TALLY_VK_VERSION_SIZE];
	find_beneath(d);
	struct tally_device_record info = {
		.api = TALLY_API_VULKAN,
		.name = d->properties.deviceName,
		.driver = d->driver_name[0] ? d->driver_name
					    : tally_vk_vendor(d->properties.vendorID),
		.driver_version = d->driver_info[0] ? d->driver_info
						    : tally_vk_version(&d->properties, version),
		.vendor_id = d->properties.vendorID,
		.has_device_id = d->properties.vendorID != 0,
		.device_id = d->properties.deviceID,
		.driver_id = (uint32_t)d->driver_id,
		.pci = d->pci[0] ? d->pci : NULL,
		.uuid = d->uuid[0] ? d->uuid : NULL,
		.beneath = d->beneath,
		.present_mode = d->presents.images ? mode_name(d->presents.mode) : NULL,
		.images = d->presents.images,
		.sources = rows,
		.n_sources = vk_slots_describe(d, rows),
	};
	info.counters = vk_slots_counters(d, &info.n_counters);
	info.serialized_by = vk_slots_serialized_by(d);
	if (d->tally)
		tally_device_describe(d->tally, &info);
	else
		d->tally = tally_device_create(&info);
	return d->tally != NULL;
}

void
vk_describe_beneath(struct vk_device *d)
{
	if (find_beneath(d))
		vk_describe(d);
}

void
vk_describe_presents(struct vk_device *d, struct vk_presents how)
{
	bool same = how.mode == d->presents.mode && how.images == d->presents.images;
	d->presents = how;
	if (!same && d->tally)
		vk_describe(d);
}
