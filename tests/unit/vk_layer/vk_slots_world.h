/* SPDX-License-Identifier: MIT */
/* tests/unit/vk_layer/vk_slots_world.h - a Vulkan device with slots, over the driver of
 * tests/unit/query/fake_queries.h.
 *
 * One thread at a time holds the device's lock, as in the layer.
 */
#ifndef PASSTALLY_TESTS_UNIT_VK_SLOTS_WORLD_H
#define PASSTALLY_TESTS_UNIT_VK_SLOTS_WORLD_H

#include "vk_layer/record/slots.h"

#include "query/source/harvest.h"
#include "tests/unit/query/fake_queries.h"
#include "tests/unit/vk_layer/fake_copies.h"
#include "vk_layer/record/slots_read.h"
#include "vk_layer/record/slots_sources.h"

#define MAX_TAKEN 70000u

struct fixture {
	struct vk_device d;
	struct vk_instance instance;
	struct tally_config config;
};

enum { GENERAL = 0, COMPUTE, COPY, N_FAMILIES };

static inline void
start(struct fixture *f)
{
	struct tally_vk_api api;

	fq_init();
	fq_fill_api(&api);
	*f = (struct fixture){ .d = { .tracked = true } };
	tally_config_init(&f->config);
	f->d.config = &f->config;
	f->d.instance = &f->instance;
	f->d.handle = api.device;
	f->d.properties.limits.timestampPeriod = 1.0f;
	f->d.enabled = (struct vk_enabled){ .pipeline_statistics = true,
					    .inherited_queries = true,
					    .host_reset = true };
	f->d.n_families = N_FAMILIES;
	f->d.families[GENERAL].flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
	f->d.families[COMPUTE].flags = VK_QUEUE_COMPUTE_BIT;
	f->d.families[COPY].flags = VK_QUEUE_TRANSFER_BIT;
	for (uint32_t i = 0; i < N_FAMILIES; i++)
		f->d.families[i].timestamp_bits = 64;
	f->d.next.use.CreateQueryPool = api.CreateQueryPool;
	f->d.next.use.DestroyQueryPool = api.DestroyQueryPool;
	f->d.next.use.CmdResetQueryPool = api.CmdResetQueryPool;
	f->d.next.use.ResetQueryPool = api.ResetQueryPool;
	f->d.next.use.CmdWriteTimestamp = api.CmdWriteTimestamp;
	f->d.next.use.CmdBeginQuery = api.CmdBeginQuery;
	f->d.next.use.CmdEndQuery = api.CmdEndQuery;
	f->d.next.use.GetQueryPoolResults = api.GetQueryPoolResults;
	f->d.next.use.GetCalibratedTimestampsEXT = fq_calibrated;
	copies_fill(&f->d);
	pthread_mutex_init(&f->d.lock, NULL);
}

static inline void
set_up(struct fixture *f)
{
	g_assert_true(vk_slots_create(&f->d));
}

static inline void
finish(struct fixture *f)
{
	vk_slots_destroy(&f->d);
	g_assert_null(f->d.slots);
	vk_slots_destroy(&f->d);
	g_assert_cmpuint(fq.n_live, ==, 0);
	g_assert_cmpuint(fq.misuse, ==, 0);
	pthread_mutex_destroy(&f->d.lock);
	tally_config_finish(&f->config);
}

static inline void
release(struct fixture *f, struct vk_slot_runs *runs)
{
	pthread_mutex_lock(&f->d.lock);
	vk_slots_release(&f->d, runs);
	pthread_mutex_unlock(&f->d.lock);
	g_assert_null(runs->runs);
	g_assert_cmpuint(runs->n, ==, 0);
}

static inline enum tally_status
read_slot(struct fixture *f, const struct vk_slot *slot, uint32_t *left,
	  struct tally_value *values, uint64_t *valid, struct tally_sample *out)
{
	out->values = values;
	out->valid = valid;
	pthread_mutex_lock(&f->d.lock);
	vk_slot_request(&f->d, slot, *left);
	vk_slots_fetch(&f->d);
	enum tally_status status = vk_slot_read(&f->d, slot, left, out);
	pthread_mutex_unlock(&f->d.lock);
	return status;
}

#endif
