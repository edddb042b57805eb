/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/labels.h"

#include "layer/frame/stream.h"
#include "layer/session/session.h"
#include "tests/unit/layer/recorder_stub.h"

static struct tally_device *device;

static struct tally_stream *
start_stream(void)
{
	static const struct tally_device_record info = {
		.api = TALLY_API_VULKAN, .name = "World", .beneath = -1
	};
	static const struct tally_stream_info stream_info = { .context = -1 };
	g_assert_true(tally_session_start(&stub_recorder));
	device = tally_device_create(&info);
	struct tally_stream *stream = tally_stream_create(device, &stream_info);
	g_assert_nonnull(stream);
	return stream;
}

static void
finish(struct vk_labels *l, struct tally_stream *stream)
{
	vk_labels_destroy(l);
	tally_stream_destroy(stream);
	tally_device_destroy(device);
	tally_session_stop("exit");
}

static void
test_path(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_stream *s = start_stream();
	struct vk_labels *l = vk_labels_create();
	g_assert_null(vk_labels_path(l, s));
	g_assert_false(vk_labels_any(l));
	vk_labels_push(l, "frame");
	const char *frame = vk_labels_path(l, s);
	g_assert_cmpstr(frame, ==, "frame");
	vk_labels_push(l, "shadows");
	g_assert_cmpstr(vk_labels_path(l, s), ==, "frame/shadows");
	vk_labels_push(l, NULL); /* a nameless region only adds its level */
	g_assert_cmpstr(vk_labels_path(l, s), ==, "frame/shadows/");
	vk_labels_pop(l);
	vk_labels_pop(l);
	g_assert_true(vk_labels_path(l, s) == frame);
	vk_labels_push(l, "light");
	g_assert_cmpstr(vk_labels_path(l, s), ==, "frame/light");
	finish(l, s);
}

static void
test_unbalanced(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_stream *s = start_stream();
	struct vk_labels *l = vk_labels_create();
	vk_labels_pop(l);
	vk_labels_pop(l);
	vk_labels_push(l, "a");
	g_assert_cmpstr(vk_labels_path(l, s), ==, "a");
	vk_labels_pop(l);
	g_assert_null(vk_labels_path(l, s));
	vk_labels_push(NULL, "a"); /* no memory for a stack */
	vk_labels_pop(NULL);
	g_assert_null(vk_labels_path(NULL, s));
	vk_labels_destroy(NULL);
	finish(l, s);
}

/* Beyond 64 levels only the count continues, so that the pops still match. */
static void
test_deep(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_stream *s = start_stream();
	struct vk_labels *l = vk_labels_create();
	for (int i = 0; i < 100; i++)
		vk_labels_push(l, "x");
	const char *path = vk_labels_path(l, s);
	g_assert_cmpuint(strlen(path), ==, 64 * 2 - 1);
	for (int i = 0; i < 36; i++)
		vk_labels_pop(l);
	g_assert_true(vk_labels_path(l, s) == path);
	vk_labels_pop(l);
	g_assert_cmpuint(strlen(vk_labels_path(l, s)), ==, 63 * 2 - 1);
	for (int i = 0; i < 63; i++)
		vk_labels_pop(l);
	g_assert_null(vk_labels_path(l, s));
	finish(l, s);
}

static void
test_long(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_stream *s = start_stream();
	struct vk_labels *l = vk_labels_create();
	char *name = g_strnfill(400, 'n');
	for (int i = 0; i < 5; i++) {
		vk_labels_push(l, name);
		g_assert_cmpuint(strlen(vk_labels_path(l, s)), <=, 512);
	}
	for (int i = 0; i < 4; i++)
		vk_labels_pop(l);
	g_assert_cmpstr(vk_labels_path(l, s), ==, name);
	g_free(name);
	finish(l, s);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_labels/path", test_path);
	g_test_add_func("/vk_labels/unbalanced", test_unbalanced);
	g_test_add_func("/vk_labels/deep", test_deep);
	g_test_add_func("/vk_labels/long", test_long);
	return g_test_run();
}
