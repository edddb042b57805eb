/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/describe.c - the device line: what the driver reports about itself, and what
 * the layer measures. */
#include <stdio.h>
#include <string.h>

#include "layer/session/session.h"
#include "query/source/harvest.h"
#include "vk_layer/submit/frames.h"
#include "vk_layer/record/slots.h"
#include "vk_layer/submit/submission.h"

#define MAX_ROWS (TALLY_MAX_SOURCES + 1)

static const char *
vendor_name(uint32_t id)
{
	static const struct {
		uint32_t id;
		const char *name;
	} vendors[] = {
		{ 0x1002, "AMD" },	{ 0x1010, "Imagination" }, { 0x10de, "NVIDIA" },
		{ 0x13b5, "Arm" },	{ 0x5143, "Qualcomm" },	   { 0x8086, "Intel" },
		{ VK_VENDOR_ID_MESA, "Mesa" },
	};
	for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (vendors[i].id == id)
			return vendors[i].name;
	return "unknown";
}

/* NVIDIA packs its version numbers in its own way. */
static void
format_version(const VkPhysicalDeviceProperties *p, char *out, size_t size)
{
	uint32_t v = p->driverVersion;
	if (p->vendorID == 0x10de)
		snprintf(out, size, "%u.%u.%u.%u", v >> 22, v >> 14 & 0xff, v >> 6 & 0xff,
			 v & 0x3f);
	else
		snprintf(out, size, "%u.%u.%u", VK_API_VERSION_MAJOR(v), VK_API_VERSION_MINOR(v),
			 VK_API_VERSION_PATCH(v));
}

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

bool
vk_describe(struct vk_device *d)
{
	struct tally_source_info rows[MAX_ROWS];
	char version[VK_MAX_DRIVER_INFO_SIZE + 32];
	find_beneath(d);
	format_version(&d->properties, version, sizeof(version));
	struct tally_device_record info = {
		.api = TALLY_API_VULKAN,
		.name = d->properties.deviceName,
		.driver = d->driver_name[0] ? d->driver_name :
					      vendor_name(d->properties.vendorID),
		.driver_version = d->driver_info[0] ? d->driver_info : version,
		.vendor_id = d->properties.vendorID,
		.has_device_id = d->properties.vendorID != 0,
		.device_id = d->properties.deviceID,
		.driver_id = (uint32_t)d->driver_id,
		.pci = d->pci[0] ? d->pci : NULL,
		.uuid = d->uuid[0] ? d->uuid : NULL,
		.beneath = d->beneath,
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
