/* SPDX-License-Identifier: MIT */
/* Which frames streams capture, what outlives them, and devices that come and go. */
#include "layer/frame/frame_part.h"
#include "tests/unit/layer/stream_world.h"

/* ---- which frames ---- */

static void
run_frames(struct tally_stream *s, unsigned n, uint64_t t0)
{
	for (unsigned i = 0; i < n; i++) {
		struct tally_pass *pass = open_pass(s, i);
		g_assert_true((pass != NULL) == tally_stream_captures(s));
		end_frame(s, t0 + (i + 1) * FRAME_NS);
		finish_all(s);
		tally_stream_publish(s);
		g_usleep(200);
	}
}

static void
test_skip_every_frames(void)
{
	if (!stub_in_child("skip=5,every=3,frames=4"))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	uint64_t t0 = tally_clock_now_ns();
	run_frames(s, 40, t0);
	/* The capture ends by itself. */
	for (int i = 0; i < 5000 && tally_session_running(); i++)
		g_usleep(1000);
	g_assert_false(tally_session_running());
	g_assert_false(tally_stream_captures(s));
	g_assert_null(tally_stream_open_pass(s, 1));
	end_frame(s, 1);
	tally_stream_publish(s);
	g_assert_false(tally_session_start(&stub_recorder));
	tally_session_stop("exit"); /* waits until the thread has finished */
	tally_stream_destroy(s);
	tally_device_destroy(device);

	static const uint64_t want[] = { 5, 8, 11, 14 };
	g_assert_cmpuint(stub.frames->len, ==, G_N_ELEMENTS(want));
	for (unsigned i = 0; i < G_N_ELEMENTS(want); i++) {
		g_assert_cmpuint(stub_frame(i)->frame, ==, want[i]);
		g_assert_cmpuint(stub_frame(i)->start_ns, ==, t0 + want[i] * FRAME_NS);
		g_assert_cmpuint(stub_frame(i)->cpu_ns, ==, FRAME_NS);
		g_assert_cmphex(stub_frame(i)->flags, ==, 0);
	}
	g_assert_cmpstr(stub.end.reason, ==, "frames");
	g_assert_cmpuint(stub.n_ends, ==, 1);
	g_assert_cmpuint(stub.end.frames_dropped, ==, 0);
}

/* Two devices, as of OpenGL and Vulkan in one process, count their frames by themselves. */
static void
test_limits_per_device(void)
{
	if (!stub_in_child("start-on=label:L,skip=1,frames=2"))
		return;
	struct tally_device *one = start_device(), *two;
	new_device(TALLY_API_VULKAN, &two);
	struct tally_stream *a = new_stream(one, 0), *b = new_stream(two, -1);
	uint64_t t0 = tally_clock_now_ns();
	run_frames(a, 30, t0);
	run_frames(b, 3, t0);
	tally_session_saw_label("L", 1);
	g_usleep(60000); /* the collector checks whether the capture is over */
	run_frames(a, 2, t0);
	g_assert_true(tally_stream_captures(a));
	run_frames(b, 2, t0);
	g_assert_true(tally_stream_captures(b));
	run_frames(a, 5, t0);
	g_assert_false(tally_stream_captures(a));
	g_assert_true(tally_stream_captures(b)); /* the other's limit is not its own */
	run_frames(b, 5, t0);
	for (int i = 0; i < 5000 && tally_session_running(); i++)
		g_usleep(1000);
	g_assert_false(tally_session_running());
	tally_session_stop("exit");
	g_assert_cmpstr(stub.end.reason, ==, "frames");
	g_assert_cmpuint(stub.end.frames, ==, 4);
	static const char *const want[] = { "frame 0 32", "frame 0 33", "frame 1 5",
					    "frame 1 6" };
	for (unsigned i = 0; i < G_N_ELEMENTS(want); i++)
		g_assert_cmpuint(stub_count(want[i]), ==, 1);
	tally_stream_destroy(a);
	tally_stream_destroy(b);
	tally_device_destroy(one);
	tally_device_destroy(two);
}

static void
test_seconds(void)
{
	if (!stub_in_child("seconds=0.05"))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	for (unsigned i = 0; i < 5000 && tally_session_running(); i++) {
		run_frames(s, 1, tally_clock_now_ns());
		g_usleep(1000);
	}
	tally_session_stop("exit");
	g_assert_cmpstr(stub.end.reason, ==, "seconds");
	g_assert_cmpuint(stub.frames->len, >, 0);
	tally_stream_destroy(s);
	tally_device_destroy(device);
}

/* ---- interning and devices ---- */

static void
test_intern(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *a = new_stream(device, 0);
	struct tally_stream *b = new_stream(device, 1);
	char format[] = "RGBA8"; /* same text elsewhere */
	struct tally_target t = window;
	const struct tally_target *first = tally_stream_intern_target(a, &window);
	g_assert_true(first != &window);
	t.color[0].format = g_intern_string(format);
	t.color[5].format = "not an attachment: n_color is 1";
	g_assert_true(tally_stream_intern_target(b, &t) == first);
	t.width = 65;
	g_assert_true(tally_stream_intern_target(b, &t) != first);
	t.n_color = TALLY_MAX_COLOR + 1;
	g_assert_null(tally_stream_intern_target(b, &t));
	t = window;
	for (unsigned n = 0; n < 5000; n++) {
		t.height = 1000 + n;
		g_assert_true((tally_stream_intern_target(a, &t) != NULL) == (n < 4094));
	}
	g_assert_true(tally_stream_intern_target(a, &window) == first);

	const char *label = tally_stream_intern_label(a, "Shadows, and more", 7);
	g_assert_cmpstr(label, ==, "Shadows");
	g_assert_true(tally_stream_intern_label(b, "Shadows", 7) == label);
	g_assert_true(tally_stream_intern_label(a, "Shadows", 7) == label);
	g_assert_true(tally_stream_intern_label(a, "Shadow", 6) != label);
	g_assert_cmpstr(tally_stream_intern_label(a, "", 0), ==, "");
	g_assert_cmpstr(tally_stream_intern_label(a, "cut\0here", 8), ==, "cut");
	char *long_label = g_strnfill(600, 'x');
	g_assert_cmpuint(strlen(tally_stream_intern_label(a, long_label, 600)), ==, 512);
	g_assert_cmpuint(strlen(tally_stream_intern_label(a, long_label, 512)), ==, 512);
	memcpy(long_label + 510, "\xe2\x82\xac", 3); /* a euro sign across the cut */
	g_assert_cmpuint(strlen(tally_stream_intern_label(a, long_label, 600)), ==, 510);
	g_free(long_label);
	for (unsigned n = 0; n < 20000; n++) {
		char text[32];
		size_t len = (size_t)g_snprintf(text, sizeof(text), "label %u", n);
		const char *got = tally_stream_intern_label(a, text, len);
		if (n < 16000)
			g_assert_cmpstr(got, ==, text);
		if (n > 16500)
			g_assert_null(got);
	}
	tally_stream_destroy(a);
	tally_stream_destroy(b);
	tally_device_destroy(device);
	tally_session_stop("exit");
}

static void
test_devices(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *first = start_device();
	struct tally_device *second = start_device();
	char name[] = "Renamed";
	struct tally_device_record info = { .name = name, .beneath = -1 };
	tally_device_describe(second, &info);
	name[0] = 'X'; /* it was copied */
	struct tally_stream *a = new_stream(first, 0);
	struct tally_stream *b = new_stream(second, 1);
	open_pass(b, 1);
	end_frame(b, tally_clock_now_ns());
	g_assert_cmpuint(tally_device_frame(first), ==, 0);
	g_assert_cmpuint(tally_device_frame(second), ==, 1);
	finish_all(b);
	tally_stream_publish(b);
	tally_stream_destroy(a);
	tally_stream_destroy(b);
	tally_device_destroy(first);
	tally_device_destroy(second);
	tally_session_stop("exit");
	g_assert_cmpstr(stub_line(1), ==, "device 0 Fake sources=1 counters=1");
	g_assert_cmpstr(stub_line(2), ==, "device 1 Fake sources=1 counters=1");
	g_assert_cmpuint(stub_count("device 1 Renamed sources=0 counters=0"), ==, 1);
	g_assert_cmpuint(stub.frames->len, ==, 1);
	g_assert_cmpuint(stub_frame(0)->device, ==, 1);
	/* The capture is over. */
	g_assert_null(tally_device_create(&info));
}

/* Streams that outlive the capture do nothing, and are freed by their owner. */
static void
test_after_the_end(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	open_pass(s, 1);
	tally_session_stop("exit");
	g_assert_false(tally_stream_captures(s));
	g_assert_null(tally_stream_open_pass(s, 1));
	finish_all(s);
	end_frame(s, 5);
	tally_stream_publish(s);
	g_assert_cmpuint(tally_device_frame(device), ==, 0);
	struct tally_stream_info info = { .context = 1 };
	g_assert_null(tally_stream_create(device, &info));
	tally_stream_destroy(s);
	tally_device_destroy(device);
}

/* A stream that looked at the count of presents before another did ends no second frame. */
static void
test_presented_elsewhere(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	g_assert_false(tally_stream_was_presented(s));
	tally_presented_by_vulkan();
	g_assert_true(tally_stream_was_presented(s));
	g_assert_false(tally_stream_was_presented(s));
	atomic_store(&device->presented, tally_n_presented_by_vulkan + 1);
	g_assert_false(tally_stream_was_presented(s));
	g_assert_cmpuint(device->presented, ==, tally_n_presented_by_vulkan + 1);
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/stream/skip-every-frames", test_skip_every_frames);
	g_test_add_func("/stream/limits-per-device", test_limits_per_device);
	g_test_add_func("/stream/seconds", test_seconds);
	g_test_add_func("/stream/intern", test_intern);
	g_test_add_func("/stream/devices", test_devices);
	g_test_add_func("/stream/presented-elsewhere", test_presented_elsewhere);
	g_test_add_func("/stream/after-the-end", test_after_the_end);
	return g_test_run();
}
