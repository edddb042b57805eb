/* SPDX-License-Identifier: MIT */
#include "vk_layer/submit/describe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/record_json.h"
#include "layer/session/session.h"
#include "query/attribute/annotate.h"
#include "query/source/harvest.h"
#include "vk_layer/record/slots.h"
#include "vk_layer/record/slots_sources.h"

#define MAX_ROWS (TALLY_MAX_SOURCES + 1)

/* The newest OpenGL device: programs create contexts for queries before the one that they draw
 * with. True when it has changed. */
static bool
find_beneath(struct vk_device *d)
{
	int64_t before = d->beneath;
	if (d->is_zink)
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

/* ---- facts ---- */

#define FACT_SIZE 112
#define N_FACTS (VK_MAX_FAMILIES + 6)

struct facts {
	char texts[N_FACTS][FACT_SIZE];
	const char *rows[N_FACTS];
	uint32_t n;
};

static void __attribute__((format(printf, 2, 3)))
add(struct facts *facts, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(facts->texts[facts->n], FACT_SIZE, format, args);
	va_end(args);
	facts->rows[facts->n] = facts->texts[facts->n];
	facts->n++;
}

static void
add_family(struct facts *facts, uint32_t number, const struct tally_vk_family *family)
{
	VkQueueFlags flags = family->flags;
	char stamps[64] = "no time stamps: what runs there has no GPU time";
	if (family->timestamp_bits)
		snprintf(stamps, sizeof(stamps), "time stamps of %u bits",
			 family->timestamp_bits);
	add(facts, "queue family %u:%s%s%s%s%s; %s", number,
	    flags & VK_QUEUE_GRAPHICS_BIT ? " graphics" : "",
	    flags & VK_QUEUE_COMPUTE_BIT ? " compute" : "",
	    flags & VK_QUEUE_TRANSFER_BIT ? " transfer" : "",
	    flags & VK_QUEUE_SPARSE_BINDING_BIT ? " sparse" : "",
	    flags & VK_QUEUE_PROTECTED_BIT ? " protected" : "", stamps);
}

static void
list_facts(const struct vk_device *d, struct facts *facts)
{
	static const char *const types[] = { "a device of another kind", "an integrated GPU",
					     "a discrete GPU", "a virtual GPU", "the CPU" };
	uint32_t v = d->properties.apiVersion;
	unsigned type = (unsigned)d->properties.deviceType;
	facts->n = 0;
	add(facts, "Vulkan %u.%u.%u, %s", VK_API_VERSION_MAJOR(v), VK_API_VERSION_MINOR(v),
	    VK_API_VERSION_PATCH(v), types[type < 5 ? type : 0]);
	for (uint32_t i = 0; i < d->n_families; i++)
		add_family(facts, i, &d->families[i]);
	add(facts, "time stamps: %g ns a tick", (double)d->properties.limits.timestampPeriod);
	add(facts, "calibrated time stamps: %s",
	    d->enabled.calibrated ? "yes"
				  : "no, GPU times are not on the CPU's time line");
	add(facts, "host query reset: %s",
	    d->enabled.host_reset ? "yes"
				  : "no, queries are reset in the command buffers");
	add(facts, "inherited queries: %s",
	    d->enabled.inherited_queries
		    ? "yes"
		    : "no, secondary command buffers are counted one by one");
	if (vk_slots_read_waits(d))
		add(facts, "results of queries: copied by the command buffers, as lavapipe "
			   "waits until it is idle where it is asked for them");
}

bool
vk_describe(struct vk_device *d)
{
	struct facts facts;
	uint32_t n_sets;
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
	const struct tally_counter_set *const *sets = vk_slots_sets(d, &n_sets);
	struct tally_set_info *listed =
		tally_counter_sets_list(sets, n_sets, &info.n_sets);
	info.sets = listed;
	list_facts(d, &facts);
	info.facts = facts.rows;
	info.n_facts = facts.n;
	info.serialized_by = vk_slots_serialized_by(d);
	if (d->tally)
		tally_device_describe(d->tally, &info);
	else
		d->tally = tally_device_create(&info);
	free(listed);
	return d->tally != NULL;
}

void
vk_describe_early(struct vk_device *d)
{
	tally_session_use_annotator(&tally_annotator);
	if (tally_session_start(&tally_json_recorder))
		vk_describe(d);
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
