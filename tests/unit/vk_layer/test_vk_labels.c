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
	struct vk_labels *l = vk_labels_create(false);
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
	struct vk_labels *l = vk_labels_create(false);
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
	struct vk_labels *l = vk_labels_create(false);
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
	struct vk_labels *l = vk_labels_create(false);
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

/* What DXVK 3.1 calls its regions, and what else may come in a program that it serves. */
static const struct {
	const char *name, *want;
} dxvk_cases[] = {
	{ "Color pass 12 (0: Back buffer 1 (37))", "Color pass (0: Back buffer)" },
	{ "Render pass 1 (0: albedo (4), 1: normals (15), DS:depth (6), 4x MSAA)",
	  "Render pass (0: albedo, 1: normals, DS:depth, 4x MSAA)" },
	{ "Depth pass 240 (DS:unknown)", "Depth pass (DS:unknown)" },
	{ "Render pass 3 (No attachments)", "Render pass (No attachments)" },
	{ "Copy image (Image (12), Texture 21 - 64x32x1 (9))",
	  "Copy image (Image, Texture 21 - 64x32x1)" },
	{ "Clear render target (Surface 21 - 8x8x1 (0))",
	  "Clear render target (Surface 21 - 8x8x1)" },
	{ "Graphics commands", "Graphics commands" },
	{ "Blur (3)", "Blur (3)" },
	{ "Bloom pass 2", "Bloom pass 2" },
	{ "Mip 3 of 4", "Mip 3 of 4" },
	{ "Light (point) 7", "Light (point) 7" },
	{ ") 1 ((2", ") 1 ((2" },
	{ "Color pass 12", "Color pass 12" },
};

static void
test_dxvk(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_stream *s = start_stream();
	struct vk_labels *dxvk = vk_labels_create(true);
	struct vk_labels *others = vk_labels_create(false);
	for (size_t i = 0; i < G_N_ELEMENTS(dxvk_cases); i++) {
		vk_labels_push(dxvk, dxvk_cases[i].name);
		vk_labels_push(others, dxvk_cases[i].name);
		g_assert_cmpstr(vk_labels_path(dxvk, s), ==, dxvk_cases[i].want);
		g_assert_cmpstr(vk_labels_path(others, s), ==, dxvk_cases[i].name);
		vk_labels_pop(dxvk);
		vk_labels_pop(others);
	}
	vk_labels_destroy(others);
	finish(dxvk, s);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_labels/path", test_path);
	g_test_add_func("/vk_labels/unbalanced", test_unbalanced);
	g_test_add_func("/vk_labels/deep", test_deep);
	g_test_add_func("/vk_labels/long", test_long);
	g_test_add_func("/vk_labels/dxvk", test_dxvk);
	return g_test_run();
}
