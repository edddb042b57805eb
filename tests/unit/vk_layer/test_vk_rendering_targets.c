/* SPDX-License-Identifier: MIT */
/* Targets of dynamic rendering and of swapchains. */
#include "vk_layer/picture/attachments.h"
#include "vk_layer/picture/picture.h"
#include "vk_layer/record/targets_internal.h"

#include "tests/unit/vk_layer/vk_targets_world.h"

static void
test_rendering(void)
{
	setup();
	VkRenderingAttachmentInfo color[3] = {
		{ .imageView = view_of(image(RGBA8, 640, 480, 4, 1, 1), RGBA8, 0, 0, 1),
		  .loadOp = CLEAR,
		  .storeOp = DONT_STORE },
		{ .imageView = VK_NULL_HANDLE },
		{ .imageView = view_of(image(VK_FORMAT_R16_SFLOAT, 1000, 500, 4, 8, 1),
				       VK_FORMAT_R16_SFLOAT, 1, 2, VK_REMAINING_ARRAY_LAYERS),
		  .loadOp = DONT_LOAD,
		  .storeOp = DONT_STORE },
	};
	VkRenderingAttachmentInfo depth = {
		.imageView = view_of(image(D24S8, 640, 480, 1, 1, 1), D24S8, 0, 0, 1),
		.loadOp = DONT_LOAD,
		.storeOp = DONT_STORE,
	};
	VkRenderingAttachmentInfo stencil = depth;
	stencil.storeOp = STORE;
	struct vk_target_use use = render(3, color, &depth, &stencil, 0, 1);
	/* The smallest of 640x480 and level 1 of 1000x500, in both orders. */
	g_assert_cmpuint(use.target->width, ==, 500);
	g_assert_cmpuint(use.target->height, ==, 250);
	g_assert_cmpuint(use.target->n_color, ==, 3);
	g_assert_null(use.target->color[1].format);
	g_assert_cmpstr(use.target->color[2].format, ==, "R16_SFLOAT");
	g_assert_cmpstr(use.target->depth.format, ==, "D24_UNORM_S8_UINT");
	g_assert_null(use.target->stencil.format);
	g_assert_cmpint(use.load, ==, TALLY_LOAD_CLEAR);
	g_assert_cmpint(use.store, ==, TALLY_STORE_STORE);
	g_assert_cmpuint(use.subpasses, ==, 1);

	/* Different operations on the same views give a different answer. */
	color[0].loadOp = LOAD;
	use = render(3, color, NULL, &stencil, 0x5, 1);
	g_assert_cmpint(use.load, ==, TALLY_LOAD_LOAD);
	g_assert_cmpuint(use.views, ==, 2);
	g_assert_cmpuint(use.target->layers, ==, 2);
	g_assert_null(use.target->depth.format);
	g_assert_cmpstr(use.target->stencil.format, ==, "D24_UNORM_S8_UINT");

	/* Nothing attached: the area. */
	use = render(0, NULL, NULL, NULL, 0, 1);
	g_assert_cmpuint(use.target->width, ==, 24);
	g_assert_cmpuint(use.target->height, ==, 12);
	g_assert_cmpuint(use.target->n_color, ==, 0);
	g_assert_cmpint(use.load, ==, TALLY_LOAD_UNKNOWN);

	/* An unknown view. */
	VkRenderingAttachmentInfo strange = { .imageView = HANDLE(VkImageView, 99) };
	use = render(1, &strange, NULL, NULL, 0, 3);
	g_assert_cmpstr(use.target->color[0].format, ==, "?");
	g_assert_cmpuint(use.target->width, ==, 24);
	g_assert_cmpuint(use.target->layers, ==, 3);

	/* A view's handle that is used again. */
	struct vk_target_use before = render(1, color, NULL, NULL, 0, 1);
	DESTROY(VK_VIEWS, color[0].imageView);
	next_handle = (uint64_t)(uintptr_t)color[0].imageView;
	VkImageView again = HANDLE(VkImageView, next_handle);
	next_handle = 0x9000;
	VkImage small = image(RGBA8, 64, 64, 7, 1, 1);
	next_handle = (uint64_t)(uintptr_t)again;
	again = view_of(small, RGBA8, 6, 0, 1);
	g_assert_true(again == color[0].imageView);
	color[0].imageView = again;
	use = render(1, color, NULL, NULL, 0, 1);
	g_assert_cmpuint(before.target->width, ==, 640);
	g_assert_cmpuint(use.target->width, ==, 1);
	teardown();
}

static void
test_resolve(void)
{
	setup();
	VkSwapchainKHR chain = swapchain(5, 800, 600);
	VkImage images[3];
	uint32_t n = 3;
	vk_get_swapchain_images(&device, get_images, NULL, chain, &n, images);
	VkFormat format = VK_FORMAT_B8G8R8A8_UNORM;
	VkRenderingAttachmentInfo color = {
		.imageView = view_of(image(format, 800, 600, 1, 1, 4), format, 0, 0, 1),
		.loadOp = CLEAR,
		.storeOp = DONT_STORE,
		.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT,
		.resolveImageView = view_of(images[1], format, 0, 0, 1),
	};
	struct vk_target_use use = render(1, &color, NULL, NULL, 0, 1);
	g_assert_cmpint(use.store, ==, TALLY_STORE_RESOLVE);
	g_assert_cmpuint(use.target->samples, ==, 4);
	g_assert_cmpint(use.surface, ==, 0); /* by the image that it is resolved into */
	g_assert_true(use.target->presented);
	g_assert_cmpint(use.target->color_store, ==, TALLY_STORE_RESOLVE);
	color.storeOp = STORE; /* all its samples as well */
	use = render(1, &color, NULL, NULL, 0, 1);
	g_assert_cmpint(use.target->color_store, ==, TALLY_STORE_UNKNOWN);
	color.storeOp = DONT_STORE;
	color.resolveMode = VK_RESOLVE_MODE_NONE;
	use = render(1, &color, NULL, NULL, 0, 1);
	g_assert_cmpint(use.store, ==, TALLY_STORE_DISCARD);
	g_assert_cmpint(use.surface, ==, -1);
	teardown();
}

/* What begins differently has another answer, though the keys are made of the same few numbers. */
static void
test_alike(void)
{
	setup();
	VkRenderingAttachmentInfo none[8] = { { .imageView = VK_NULL_HANDLE } };
	VkRenderingAttachmentInfo depth = {
		.imageView = view_of(image(D24S8, 64, 64, 1, 8, 1), D24S8, 0, 0, 8),
		.loadOp = CLEAR,
		.storeOp = STORE,
	};
	/* As many layers as colors that are absent. */
	for (uint32_t n = 1; n <= 8; n++)
		g_assert_cmpuint(render(n, none, &depth, NULL, 0, n).target->layers, ==, n);

	/* A handle whose upper half is the resolve mode: there are none on 32-bit machines. */
	if (UINTPTR_MAX == UINT32_MAX) {
		teardown();
		return;
	}
	VkImage many = image(RGBA8, 64, 64, 1, 1, 4), one = image(RGBA8, 64, 64, 1, 1, 1);
	VkRenderingAttachmentInfo color = {
		.imageView = view_of(many, RGBA8, 0, 0, 1),
		.loadOp = CLEAR,
		.storeOp = DONT_STORE,
	};
	next_handle = (uint64_t)VK_RESOLVE_MODE_AVERAGE_BIT << 32;
	VkImageView resolved = view_of(one, RGBA8, 0, 0, 1);
	g_assert_cmpint(render(1, &color, NULL, NULL, 0, 1).store, ==, TALLY_STORE_DISCARD);
	color.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
	color.resolveImageView = resolved;
	g_assert_cmpint(render(1, &color, NULL, NULL, 0, 1).store, ==, TALLY_STORE_RESOLVE);
	teardown();
}

/* ---- swapchains ---- */

static int64_t
number_of(VkSwapchainKHR handle)
{
	const struct vk_swapchain_known *chain = vk_handles_find(
		&device.targets->objects[VK_SWAPCHAINS], VK_HANDLE_KEY(handle));
	return chain->surface;
}

static void
test_swapchain(void)
{
	setup();
	struct vk_presents how;
	VkSwapchainKHR chain = swapchain(0x51, 800, 600);
	struct tally_extent size = vk_target_of_swapchain(&device, chain, &how).size;
	g_assert_cmpuint(size.width, ==, 800);
	g_assert_cmpint(how.mode, ==, VK_PRESENT_MODE_MAILBOX_KHR);
	g_assert_cmpuint(how.images, ==, 2);
	g_assert_cmpint(number_of(chain), ==, 0);
	VkSwapchainKHR other = swapchain(0x52, 100, 100);
	g_assert_cmpint(number_of(other), ==, 1);
	size = vk_target_of_swapchain(&device, HANDLE(VkSwapchainKHR, 1), &how).size;
	g_assert_cmpuint(size.width | how.images, ==, 0);

	VkImage images[3];
	uint32_t n = 0;
	vk_get_swapchain_images(&device, get_images, NULL, chain, &n, NULL);
	n = 2; /* two of three, then all */
	g_assert_cmpint(
		vk_get_swapchain_images(&device, get_images, NULL, chain, &n, images), ==,
		VK_INCOMPLETE);
	vk_target_of_swapchain(&device, chain, &how);
	g_assert_cmpuint(how.images, ==, 2);
	n = 3;
	vk_get_swapchain_images(&device, get_images, NULL, chain, &n, images);
	vk_target_of_swapchain(&device, chain, &how);
	g_assert_cmpuint(how.images, ==, 3);
	g_assert_cmpuint(device.presents.images, ==, 3);
	const struct tally_target *target = vk_target_of_image(&device, images[2]);
	g_assert_nonnull(target);
	g_assert_true(target->presented);
	g_assert_cmpuint(target->width, ==, 800);
	g_assert_cmpstr(target->color[0].format, ==, "B8G8R8A8_UNORM");
	g_assert_true(target == vk_target_of_image(&device, images[0]));

	VkImageView view = view_of(images[0], VK_FORMAT_B8G8R8A8_UNORM, 0, 0, 1);
	VkRenderPass pass = simple_pass(CLEAR, STORE, 0);
	struct vk_target_use use = begin(pass, framebuffer(pass, 1, &view, 800, 600, 1), NULL);
	g_assert_cmpint(use.surface, ==, 0);
	g_assert_true(use.target->presented);

	/* One of the game's own images that uses a swapchain's memory. */
	VkImageSwapchainCreateInfoKHR of = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR, .swapchain = other
	};
	VkImageCreateInfo info = {
		.pNext = &of,
		.format = RGBA8,
		.extent = { 100, 100, 1 },
		.arrayLayers = 1,
		.mipLevels = 1,
		.samples = 1,
	};
	VkImage own = make_image(&info);
	g_assert_true(vk_target_of_image(&device, own)->presented);

	/* Resized: another swapchain, the same window. */
	DESTROY(VK_SWAPCHAINS, chain);
	g_assert_null(vk_target_of_image(&device, images[2]));
	chain = swapchain(0x51, 1024, 768);
	g_assert_cmpint(number_of(chain), ==, 0);
	VkSwapchainCreateInfoKHR infos[2] = {
		{ .surface = HANDLE(VkSurfaceKHR, 0x53), .imageExtent = { 1, 1 } },
		{ .surface = HANDLE(VkSurfaceKHR, 0x52), .imageExtent = { 2, 2 } },
	};
	VkSwapchainKHR both[2];
	for (int i = 0; i < 2; i++)
		both[i] = HANDLE(VkSwapchainKHR, next_handle++);
	vk_swapchains_created(&device, 2, infos, both);
	g_assert_cmpint(number_of(both[0]), ==, 2);
	size = vk_target_of_swapchain(&device, both[1], &how).size;
	g_assert_cmpint(number_of(both[1]), ==, 1);
	g_assert_cmpuint(size.width, ==, 2);
	teardown();
}

static void
test_imageless(void)
{
	setup();
	VkSwapchainKHR chain = swapchain(5, 800, 600);
	VkImage images[3];
	uint32_t n = 3;
	vk_get_swapchain_images(&device, get_images, NULL, chain, &n, images);
	VkImageView shown = view_of(images[0], RGBA8, 0, 0, 1);
	VkImageView hidden = view_of(image(RGBA8, 800, 600, 1, 1, 1), RGBA8, 0, 0, 1);
	VkRenderPass pass = simple_pass(CLEAR, STORE, 0);
	VkFramebuffer fb = framebuffer(pass, 1, NULL, 800, 600, 1);
	VkRenderPassAttachmentBeginInfo views = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO,
		.attachmentCount = 1,
		.pAttachments = &shown,
	};
	for (int round = 0; round < 2; round++) {
		views.pAttachments = &shown;
		struct vk_target_use use = begin(pass, fb, &views);
		g_assert_cmpint(use.surface, ==, 0);
		g_assert_true(use.target->presented);
		views.pAttachments = &hidden;
		use = begin(pass, fb, &views);
		g_assert_cmpint(use.surface, ==, -1);
		g_assert_false(use.target->presented);
		g_assert_cmpuint(use.target->width, ==, 800);
		use = begin(pass, fb, NULL); /* broken, but no reason to crash */
		g_assert_cmpint(use.surface, ==, -1);
	}
	teardown();
}

static void
test_images(void)
{
	setup();
	const struct tally_target *t = vk_target_of_image(&device, image(D24S8, 8, 4, 1, 6, 1));
	g_assert_cmpstr(t->depth.format, ==, "D24_UNORM_S8_UINT");
	g_assert_cmpuint(t->layers, ==, 6);
	g_assert_cmpuint(t->n_color, ==, 0);
	t = vk_target_of_image(&device, image(VK_FORMAT_S8_UINT, 8, 4, 1, 1, 1));
	g_assert_cmpstr(t->stencil.format, ==, "S8_UINT");
	t = vk_target_of_image(&device, image(VK_FORMAT_UNDEFINED, 8, 4, 1, 1, 1));
	g_assert_cmpstr(t->color[0].format, ==, "?");
	t = vk_target_of_image(&device, image((VkFormat)1999999999, 8, 4, 1, 1, 1));
	g_assert_cmpstr(t->color[0].format, ==, "?");
	g_assert_null(vk_target_of_image(&device, VK_NULL_HANDLE));
	teardown();
}

/* ---- what --pictures copies of a target ---- */

#define READ_ONLY VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL
#define WRITTEN VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL
#define COPIED VK_IMAGE_USAGE_TRANSFER_SRC_BIT

static const struct {
	const char *name;
	VkImageLayout initial, final; /* dynamic rendering has one */
	VkAttachmentStoreOp store;
	VkImageCreateInfo image;
	const char *why; /* how it begins; NULL: it is copied */
} pictured[] = {
	{ "as it is", WRITTEN, WRITTEN, STORE, { .usage = COPIED }, NULL },
	{ "general", VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL, STORE,
	  { .usage = COPIED }, NULL },
	{ "not stored", WRITTEN, WRITTEN, DONT_STORE, { .usage = COPIED }, "the pass does not" },
	{ "not to be copied", WRITTEN, WRITTEN, STORE, { .usage = 0 }, "it may not be copied" },
	/* By a render pass, which needs no usage that it lacks. */
	{ "several samples", WRITTEN, WRITTEN, STORE, { .samples = 4 }, NULL },
	{ "sample locations", WRITTEN, WRITTEN, STORE,
	  { .samples = 4, .flags = VK_IMAGE_CREATE_SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_BIT_EXT },
	  "it may have sample locations" },
	{ "transient", WRITTEN, WRITTEN, STORE,
	  { .usage = COPIED | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT }, "it is transient" },
	{ "protected", WRITTEN, WRITTEN, STORE,
	  { .usage = COPIED, .flags = VK_IMAGE_CREATE_PROTECTED_BIT }, "it is protected" },
	{ "sparse", WRITTEN, WRITTEN, STORE,
	  { .usage = COPIED, .flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT }, "it is sparse" },
	{ "modifier", WRITTEN, WRITTEN, STORE,
	  { .usage = COPIED, .tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT },
	  "its memory is laid out" },
	/* Another queue may read it at the same time: its layout must not change. */
	{ "only read", READ_ONLY, READ_ONLY, STORE, { .usage = COPIED }, "the pass only reads" },
	{ "its stencil is only read", VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
	  VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL, STORE, { .usage = COPIED },
	  "the pass only reads" },
	/* Nobody else can as long as the pass changes it. */
	{ "read only afterwards", WRITTEN, READ_ONLY, STORE, { .usage = COPIED }, NULL },
};

static void
assert_pictured(const struct vk_pictured *at, VkImage of, const char *why)
{
	if (why)
		g_assert_true(at->why && g_str_has_prefix(at->why, why));
	else
		g_assert_cmpstr(at->why, ==, NULL);
	g_assert_cmpstr(at->name, ==, "depth");
	g_assert_true(at->image == of);
	g_assert_cmpuint(at->level, ==, 2);
	g_assert_cmpuint(at->layer, ==, 3);
	g_assert_cmpuint(at->width, ==, 25);
	g_assert_cmpuint(at->height, ==, 1);
}

/* One level and one layer of an image of depth, in both kinds of passes. */
static void
test_pictured(void)
{
	setup();
	for (unsigned i = 0; i < G_N_ELEMENTS(pictured); i++) {
		struct vk_pictured at[VK_PICTURED_MAX];
		VkImageCreateInfo info = pictured[i].image;
		g_test_message("%s", pictured[i].name);
		info.imageType = VK_IMAGE_TYPE_2D;
		info.format = D24S8;
		info.extent = (VkExtent3D){ 100, 5, 1 };
		info.mipLevels = info.arrayLayers = 4;
		info.samples = info.samples ? info.samples : VK_SAMPLE_COUNT_1_BIT;
		VkImage of = make_image(&info);
		VkImageView view = view_of(of, D24S8, 2, 3, 1);
		VkAttachmentDescription attachment = {
			.format = D24S8,
			.samples = 1,
			.storeOp = pictured[i].store,
			.initialLayout = pictured[i].initial,
			.finalLayout = pictured[i].final,
		};
		VkAttachmentReference depth = { 0, pictured[i].initial };
		VkSubpassDescription subpass = { .pDepthStencilAttachment = &depth };
		VkRenderPassCreateInfo pass = {
			.attachmentCount = 1,
			.pAttachments = &attachment,
			.subpassCount = 1,
			.pSubpasses = &subpass,
		};
		VkRenderPassBeginInfo begins = { .renderPass = make_render_pass(&pass) };
		begins.framebuffer = framebuffer(begins.renderPass, 1, &view, 25, 1, 1);
		g_assert_cmpuint(vk_pictured_find(&device, &begins, NULL, at), ==, 1);
		assert_pictured(at, of, pictured[i].why);
		if (pictured[i].initial != pictured[i].final)
			continue;
		VkRenderingAttachmentInfo dynamic = {
			.imageView = view,
			.imageLayout = pictured[i].final,
			.storeOp = pictured[i].store,
		};
		VkRenderingInfo rendering = { .pDepthAttachment = &dynamic };
		g_assert_cmpuint(vk_pictured_find(&device, NULL, &rendering, at), ==, 1);
		assert_pictured(at, of, pictured[i].why);
	}
	teardown();
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_targets/rendering", test_rendering);
	g_test_add_func("/vk_targets/resolve", test_resolve);
	g_test_add_func("/vk_targets/alike", test_alike);
	g_test_add_func("/vk_targets/swapchain", test_swapchain);
	g_test_add_func("/vk_targets/imageless", test_imageless);
	g_test_add_func("/vk_targets/images", test_images);
	g_test_add_func("/vk_targets/pictured", test_pictured);
	return g_test_run();
}
