/* SPDX-License-Identifier: MIT */
#include "layer/frame/stream.h"

#include "layer/base/clock.h"
#include "layer/capture/capture.h"
#include "layer/frame/frame_part.h"
#include "layer/frame/queue.h"

#include <stdlib.h>
#include <string.h>

/* The parts of one block. The first run of a function, with `block` NULL, adds up the size;
 * the second takes the parts from the block. Both run the same code, so they cannot
 * disagree about the size. */
struct arena {
	char *block;
	size_t used;
};

static void *
take(struct arena *a, size_t size)
{
	size_t at = (a->used + 15) & ~(size_t)15;
	a->used = at + size;
	return a->block ? a->block + at : NULL;
}

static const char *
take_string(struct arena *a, const char *s)
{
	if (!s)
		return NULL;
	size_t size = strlen(s) + 1;
	char *copy = take(a, size);
	return copy ? memcpy(copy, s, size) : NULL;
}

static void
copy_sources(struct arena *a, const struct tally_device_record *info,
	     struct tally_device_record *out)
{
	struct tally_source_info *sources = take(a, info->n_sources * sizeof(*sources));
	for (uint32_t i = 0; i < info->n_sources; i++) {
		struct tally_source_info copy = info->sources[i];
		copy.name = take_string(a, copy.name);
		copy.reason = take_string(a, copy.reason);
		if (sources)
			sources[i] = copy;
	}
	out->sources = sources;
}

static void
copy_metrics(struct arena *a, const struct tally_device_record *info,
	     struct tally_device_record *out)
{
	struct tally_metric_info *metrics = take(a, info->n_metrics * sizeof(*metrics));
	for (uint32_t i = 0; i < info->n_metrics; i++) {
		struct tally_metric_info copy = {
			.key = take_string(a, info->metrics[i].key),
			.name = take_string(a, info->metrics[i].name),
			.unit = take_string(a, info->metrics[i].unit),
			.expression = take_string(a, info->metrics[i].expression),
			.dialect = take_string(a, info->metrics[i].dialect),
		};
		if (metrics)
			metrics[i] = copy;
	}
	out->metrics = metrics;
}

static void
copy_facts(struct arena *a, const struct tally_device_record *info,
	   struct tally_device_record *out)
{
	const char **facts = take(a, info->n_facts * sizeof(*facts));
	for (uint32_t i = 0; i < info->n_facts; i++) {
		const char *fact = take_string(a, info->facts[i]);
		if (facts)
			facts[i] = fact;
	}
	out->facts = info->n_facts ? facts : NULL;
}

/* Their texts are those of counters and sets, which live as long as the process. */
static void
copy_sets(struct arena *a, const struct tally_device_record *info,
	  struct tally_device_record *out)
{
	struct tally_set_info *sets = take(a, info->n_sets * sizeof(*sets));
	for (uint32_t i = 0; i < info->n_sets; i++) {
		struct tally_set_info copy = info->sets[i];
		size_t bytes = copy.n_keys * sizeof(*copy.keys);
		void *keys = take(a, bytes);
		if (keys && bytes)
			memcpy(keys, copy.keys, bytes);
		copy.keys = keys;
		if (sets)
			sets[i] = copy;
	}
	out->sets = sets;
}

static struct tally_device_record *
copy_into(struct arena *a, const struct tally_device_record *info, uint32_t number)
{
	struct tally_device_record *record = take(a, sizeof(*record));
	struct tally_device_record copy = *info;
	copy.device = number;
	copy.name = take_string(a, info->name);
	copy.driver = take_string(a, info->driver);
	copy.driver_version = take_string(a, info->driver_version);
	copy.pci = take_string(a, info->pci);
	copy.uuid = take_string(a, info->uuid);
	copy.serialized_by = take_string(a, info->serialized_by);
	copy.present_mode = take_string(a, info->present_mode);
	copy_sources(a, info, &copy);
	copy_facts(a, info, &copy);
	copy_sets(a, info, &copy);
	copy_metrics(a, info, &copy);
	size_t bytes = info->n_counters * sizeof(*info->counters);
	void *counters = take(a, bytes);
	if (counters && bytes)
		memcpy(counters, info->counters, bytes);
	copy.counters = counters;
	if (record)
		*record = copy;
	return record;
}

struct tally_device_record *
tally_device_copy_info(const struct tally_device_record *info, uint32_t number)
{
	struct arena count = { NULL, 0 };
	copy_into(&count, info, number);
	struct arena arena = { calloc(1, count.used), 0 };
	return arena.block ? copy_into(&arena, info, number) : NULL;
}

/* The newest device of each API: the capture's generation << 32 | its number. Generations count
 * from 1, so a value left by an earlier capture can be recognized. */
static _Atomic uint64_t newest[TALLY_N_APIS];

static void
remember(enum tally_api api, const struct tally_device *device)
{
	uint64_t mine = device->generation << 32 | device->number;
	uint64_t known = atomic_load(&newest[api]);
	while (known < mine && !atomic_compare_exchange_weak(&newest[api], &known, mine))
		;
}

int64_t
tally_device_newest(unsigned apis)
{
	uint64_t generation = tally_capture_generation();
	int64_t number = -1;
	for (unsigned api = 0; api < TALLY_N_APIS && generation; api++) {
		uint64_t known = atomic_load(&newest[api]);
		if (!(apis >> api & 1) || known >> 32 != (generation & UINT32_MAX))
			continue;
		int64_t its = (int64_t)(known & UINT32_MAX);
		number = its > number ? its : number;
	}
	return number;
}

struct tally_device *
tally_device_create(const struct tally_device_record *info)
{
	uint64_t generation = tally_capture_generation();
	if (generation == 0)
		return NULL;
	struct tally_device *device = calloc(1, sizeof(*device));
	struct tally_message *message = calloc(1, sizeof(*message));
	if (!device || !message)
		goto fail;
	device->number = tally_capture_number_device();
	device->generation = generation;
	device->created_ns = tally_clock_now_ns();
	message->kind = TALLY_MESSAGE_DEVICE;
	message->device = device;
	message->info = tally_device_copy_info(info, device->number);
	if (!message->info)
		goto fail;
	atomic_init(&device->refs, 2);
	atomic_init(&device->presented, atomic_load(&tally_n_presented_by_vulkan));
	atomic_init(&device->count, TALLY_NO_FRAME);
	bool wanted = tally_capture_wants_frame(0, &device->count);
	atomic_init(&device->state, wanted ? 1 : 0);
	if (!tally_queue_post(message))
		goto fail;
	if ((unsigned)info->api < TALLY_N_APIS)
		remember(info->api, device);
	return device;

fail:
	if (message)
		free(message->info);
	free(message);
	free(device);
	return NULL;
}

void
tally_device_describe(struct tally_device *device, const struct tally_device_record *info)
{
	if (!device || device->generation != tally_capture_generation())
		return;
	struct tally_message *message = calloc(1, sizeof(*message));
	if (!message)
		return;
	message->kind = TALLY_MESSAGE_DESCRIBE;
	message->info = tally_device_copy_info(info, device->number);
	if (!message->info || !tally_queue_post(message)) {
		free(message->info);
		free(message);
	}
}

void
tally_device_unref(struct tally_device *device)
{
	if (atomic_fetch_sub(&device->refs, 1) == 1)
		free(device);
}

void
tally_device_destroy(struct tally_device *device)
{
	if (!device)
		return;
	bool alive = device->generation == tally_capture_generation();
	atomic_store(&device->gone, true);
	if (alive)
		tally_queue_notify(false);
	tally_device_unref(device);
}

bool
tally_device_idles(const struct tally_device *device)
{
	return device->generation != tally_capture_generation() ||
	       tally_capture_idles(tally_device_frame(device), atomic_load(&device->count));
}

const _Atomic uint64_t *
tally_device_state(const struct tally_device *device)
{
	return &device->state;
}

__attribute__((hot)) uint64_t
tally_device_frame(const struct tally_device *device)
{
	return atomic_load_explicit(&((struct tally_device *)device)->state,
				    memory_order_acquire) >>
	       1;
}
