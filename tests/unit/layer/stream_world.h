/* SPDX-License-Identifier: MIT */
/* tests/unit/layer/stream_world.h - a device, streams and passes for the tests of
 * layer/frame/stream.h, over the recorder of tests/unit/layer/recorder_stub.h.
 *
 * A stream belongs to one thread, as in the product.
 */
#ifndef PASSTALLY_TESTS_UNIT_STREAM_WORLD_H
#define PASSTALLY_TESTS_UNIT_STREAM_WORLD_H

#include "layer/frame/stream.h"
#include "layer/session/session.h"

#include "layer/base/clock.h"
#include "layer/frame/frame_part.h"
#include "tests/unit/layer/recorder_stub.h"

#include <glib.h>
#include <sched.h>
#include <unistd.h>

#define FRAME_NS UINT64_C(16000000)

static const struct tally_counter counter = {
	.key = "n", .name = "N", .unit = "1", .source = "fake", .storage = TALLY_STORAGE_U64
};
static const struct tally_counter *const counters[] = { &counter };
static const struct tally_target window = {
	.width = 64,
	.height = 64,
	.layers = 1,
	.samples = 1,
	.n_color = 1,
	.color = { { "RGBA8", 1, 1 } },
	.presented = true,
};

static inline struct tally_device *
start_device(void)
{
	static const struct tally_source_info source = { "fake", true, NULL };
	static const struct tally_device_record info = {
		.name = "Fake",
		.driver = "fake",
		.driver_version = "1",
		.beneath = -1,
		.sources = &source,
		.n_sources = 1,
		.counters = counters,
		.n_counters = 1,
	};
	g_assert_true(tally_session_start(&stub_recorder));
	struct tally_device *device = tally_device_create(&info);
	g_assert_nonnull(device);
	return device;
}

static inline struct tally_stream *
new_stream(struct tally_device *device, int64_t context)
{
	struct tally_stream_info info = {
		.context = context,
		.queue_family = -1,
		.queue_index = -1,
		.counters = counters,
		.n_counters = 1,
	};
	struct tally_stream *stream = tally_stream_create(device, &info);
	g_assert_nonnull(stream);
	return stream;
}

static inline struct tally_pass *
open_pass(struct tally_stream *s, uint64_t serial)
{
	struct tally_pass *pass = tally_stream_open_pass(s, 1);
	if (!pass)
		return NULL;
	g_assert_cmpuint(pass->slot, ==, UINT32_MAX);
	g_assert_cmpint(pass->surface, ==, -1);
	g_assert_cmpuint(pass->valid[0], ==, 0);
	pass->target = tally_stream_intern_target(s, &window);
	pass->key = serial;
	pass->call_counts.draws = serial;
	pass->values[0] = (struct tally_value){ TALLY_STORAGE_U64, { .u64 = serial } };
	pass->valid[0] = 1;
	return pass;
}

static inline void
finish_all(struct tally_stream *s)
{
	struct tally_pass *pass;
	uint64_t age;
	while ((pass = tally_stream_pending(s, &age)))
		pass->done = true;
}

static inline void
end_frame(struct tally_stream *s, uint64_t now_ns)
{
	struct tally_frame_end end = { .now_ns = now_ns, .presented = { { 64, 64 }, 0 } };
	tally_stream_end_frame(s, &end);
}

static inline void
wait_for_frames(unsigned n)
{
	for (int i = 0; i < 5000 && atomic_load(&stub.n_frames) < n; i++)
		g_usleep(1000);
	g_assert_cmpuint(atomic_load(&stub.n_frames), >=, n);
}

static inline int64_t
new_device(enum tally_api api, struct tally_device **out)
{
	static const struct tally_source_info source = { "fake", true, NULL };
	struct tally_device_record info = {
		.api = api,
		.name = "Fake",
		.driver = "fake",
		.driver_version = "1",
		.beneath = -1,
		.sources = &source,
		.n_sources = 1,
	};
	*out = tally_device_create(&info);
	g_assert_nonnull(*out);
	return tally_device_newest(1u << api);
}

#endif
