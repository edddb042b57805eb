/* SPDX-License-Identifier: MIT */
#include "layer/event/event.h"
#include "tests/unit/vk_layer/vk_targets_world.h"

/* ---- render passes and framebuffers ---- */

static void
test_plain(void)
{
	setup();
	VkImageView views[2] = {
		view_of(image(RGBA8, 640, 480, 1, 1, 1), RGBA8, 0, 0, 1),
		view_of(image(D24S8, 640, 480, 1, 1, 1), D24S8, 0, 0, 1),
	};
	VkRenderPass pass = simple_pass(CLEAR, STORE, D24S8);
	VkFramebuffer fb = framebuffer(pass, 2, views, 640, 480, 1);
	struct vk_target_use use = begin(pass, fb, NULL);
	g_assert_nonnull(use.target);
	g_assert_cmpuint(use.target->width, ==, 640);
	g_assert_cmpuint(use.target->height, ==, 480);
	g_assert_cmpuint(use.target->layers, ==, 1);
	g_assert_cmpuint(use.target->samples, ==, 1);
	g_assert_cmpuint(use.target->n_color, ==, 1);
	g_assert_cmpstr(use.target->color[0].format, ==, "R8G8B8A8_UNORM");
	g_assert_cmpstr(use.target->depth.format, ==, "D24_UNORM_S8_UINT");
	g_assert_null(use.target->stencil.format);
	g_assert_false(use.target->presented);
	g_assert_cmpint(use.surface, ==, -1);
	g_assert_cmpint(use.load, ==, TALLY_LOAD_CLEAR);
	g_assert_cmpint(use.store, ==, TALLY_STORE_STORE);
	g_assert_cmpuint(use.views, ==, 1);
	g_assert_cmpuint(use.subpasses, ==, 1);
	/* Kept, and the same answer again. */
	struct vk_target_use again = begin(pass, fb, NULL);
	g_assert_true(again.target == use.target && again.load == use.load);
	teardown();
}

static void
test_operations(void)
{
	static const struct {
		VkAttachmentLoadOp load;
		VkAttachmentStoreOp store;
		VkFormat depth; /* cleared, not stored; its stencil neither */
		enum tally_load_op want_load;
		enum tally_store_op want_store;
		enum tally_load_op want_depth_load;
		enum tally_store_op want_depth_store;
	} rows[] = {
		{ LOAD, STORE, 0, TALLY_LOAD_LOAD, TALLY_STORE_STORE, 0, 0 },
		{ CLEAR, STORE, 0, TALLY_LOAD_CLEAR, TALLY_STORE_STORE, 0, 0 },
		{ DONT_LOAD, DONT_STORE, 0, TALLY_LOAD_DONT_CARE, TALLY_STORE_DISCARD, 0, 0 },
		{ LOAD, STORE, D24S8, TALLY_LOAD_LOAD, TALLY_STORE_STORE, TALLY_LOAD_CLEAR,
		  TALLY_STORE_DISCARD },
		{ DONT_LOAD, DONT_STORE, D24S8, TALLY_LOAD_CLEAR, TALLY_STORE_DISCARD,
		  TALLY_LOAD_CLEAR, TALLY_STORE_DISCARD },
		/* A stencil image has no depth to clear. */
		{ DONT_LOAD, STORE, VK_FORMAT_S8_UINT, TALLY_LOAD_DONT_CARE, TALLY_STORE_STORE,
		  TALLY_LOAD_DONT_CARE, TALLY_STORE_DISCARD },
		{ VK_ATTACHMENT_LOAD_OP_NONE_EXT, VK_ATTACHMENT_STORE_OP_NONE, 0,
		  TALLY_LOAD_DONT_CARE, TALLY_STORE_DISCARD, 0, 0 },
	};
	setup();
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("row %zu", i);
		VkRenderPass pass = simple_pass(rows[i].load, rows[i].store, rows[i].depth);
		VkImageView views[2] = { 0 };
		VkFramebuffer fb = framebuffer(pass, rows[i].depth ? 2 : 1, views, 64, 64, 1);
		struct vk_target_use use = begin(pass, fb, NULL);
		g_assert_cmpint(use.load, ==, rows[i].want_load);
		g_assert_cmpint(use.store, ==, rows[i].want_store);
		g_assert_cmpint(use.target->depth_load, ==, rows[i].want_depth_load);
		g_assert_cmpint(use.target->depth_store, ==, rows[i].want_depth_store);
		g_assert_cmpint(use.target->color_load, ==,
				rows[i].load == CLEAR  ? TALLY_LOAD_CLEAR
				: rows[i].load == LOAD ? TALLY_LOAD_LOAD
						       : TALLY_LOAD_DONT_CARE);
		g_assert_cmpint(use.target->color_store, ==,
				rows[i].store == STORE ? TALLY_STORE_STORE : TALLY_STORE_DISCARD);
		if (rows[i].depth == VK_FORMAT_S8_UINT) {
			g_assert_null(use.target->depth.format);
			g_assert_cmpstr(use.target->stencil.format, ==, "S8_UINT");
		}
	}
	teardown();
}

/* Three subpasses: a G-buffer, a pass over other attachments, none at all. */
static void
test_subpasses(void)
{
	setup();
	VkAttachmentDescription attachments[12];
	for (int i = 0; i < 12; i++)
		attachments[i] = (VkAttachmentDescription){
			.format = i == 11 ? D24S8 : (VkFormat)(VK_FORMAT_R8_UNORM + i),
			.samples = 4,
			.loadOp = DONT_LOAD,
			.storeOp = DONT_STORE,
			.stencilStoreOp = i == 11 ? STORE : DONT_STORE,
		};
	VkAttachmentReference first[4] = {
		{ 3, 0 }, { VK_ATTACHMENT_UNUSED, 0 }, { 1, 0 }, { 2, 0 }
	};
	VkAttachmentReference second[7] = { { 1, 0 }, { 0, 0 }, { 4, 0 }, { 5, 0 },
					    { 6, 0 }, { 7, 0 }, { 8, 0 } };
	VkAttachmentReference none = { VK_ATTACHMENT_UNUSED, 0 }, ds = { 11, 0 };
	VkSubpassDescription subpasses[3] = {
		{ .colorAttachmentCount = 4,
		  .pColorAttachments = first,
		  .pDepthStencilAttachment = &none },
		{ .colorAttachmentCount = 7,
		  .pColorAttachments = second,
		  .pDepthStencilAttachment = &ds },
		{ .colorAttachmentCount = 0 },
	};
	VkRenderPassCreateInfo info = {
		.attachmentCount = 12,
		.pAttachments = attachments,
		.subpassCount = 3,
		.pSubpasses = subpasses,
	};
	VkRenderPass pass = make_render_pass(&info);
	VkImageView views[12] = { 0 };
	struct vk_target_use use = begin(pass, framebuffer(pass, 12, views, 32, 32, 6), NULL);
	/* By first use, at most eight: 3 1 2 0 4 5 6 7. */
	static const int order[8] = { 3, 1, 2, 0, 4, 5, 6, 7 };
	g_assert_cmpuint(use.target->n_color, ==, 8);
	for (int i = 0; i < 8; i++) {
		struct vk_target_use alone;
		VkAttachmentReference ref = { (uint32_t)order[i], 0 };
		VkSubpassDescription one = { .colorAttachmentCount = 1,
					     .pColorAttachments = &ref };
		VkRenderPassCreateInfo single = info;
		single.subpassCount = 1;
		single.pSubpasses = &one;
		VkRenderPass p = make_render_pass(&single);
		alone = begin(p, framebuffer(p, 12, views, 32, 32, 6), NULL);
		g_assert_cmpstr(use.target->color[i].format, ==, alone.target->color[0].format);
		g_assert_cmpuint(use.target->color[i].layers, ==, 6);
	}
	g_assert_cmpstr(use.target->depth.format, ==, "D24_UNORM_S8_UINT");
	g_assert_cmpuint(use.target->samples, ==, 4);
	g_assert_cmpuint(use.target->layers, ==, 6);
	g_assert_cmpuint(use.subpasses, ==, 3);
	g_assert_cmpint(use.store, ==, TALLY_STORE_STORE); /* the stencil */
	teardown();
}

static void
test_multiview(void)
{
	setup();
	VkAttachmentDescription attachment = { .format = RGBA8, .samples = 1 };
	VkAttachmentReference color = { 0, 0 };
	VkSubpassDescription subpasses[2] = {
		{ .colorAttachmentCount = 1, .pColorAttachments = &color },
		{ .colorAttachmentCount = 1, .pColorAttachments = &color },
	};
	uint32_t masks[2] = { 0x3, 0x3 };
	VkRenderPassMultiviewCreateInfo views = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO,
		.subpassCount = 2,
		.pViewMasks = masks,
	};
	VkRenderPassCreateInfo info = {
		.pNext = &views,
		.attachmentCount = 1,
		.pAttachments = &attachment,
		.subpassCount = 2,
		.pSubpasses = subpasses,
	};
	VkRenderPass pass;
	VkImageView none = VK_NULL_HANDLE;
	pass = make_render_pass(&info);
	struct vk_target_use use = begin(pass, framebuffer(pass, 1, &none, 32, 32, 1), NULL);
	g_assert_cmpuint(use.views, ==, 2);
	g_assert_cmpuint(use.target->layers, ==, 2);
	g_assert_cmpuint(use.target->color[0].layers, ==, 2);
	masks[1] = 0x14;
	pass = make_render_pass(&info);
	use = begin(pass, framebuffer(pass, 1, &none, 32, 32, 1), NULL);
	g_assert_cmpuint(use.views, ==, 4);
	views.subpassCount = 0; /* legal: no multiview */
	pass = make_render_pass(&info);
	use = begin(pass, framebuffer(pass, 1, &none, 32, 32, 1), NULL);
	g_assert_cmpuint(use.views, ==, 1);
	teardown();
}

static void
test_render_pass2(void)
{
	setup();
	VkAttachmentDescription2 attachments[4] = {
		{ .format = RGBA8, .samples = 4, .loadOp = CLEAR, .storeOp = DONT_STORE },
		{ .format = RGBA8, .samples = 1, .loadOp = DONT_LOAD, .storeOp = STORE },
		{ .format = D24S8,
		  .samples = 4,
		  .loadOp = CLEAR,
		  .stencilLoadOp = CLEAR,
		  .storeOp = DONT_STORE,
		  .stencilStoreOp = DONT_STORE },
		{ .format = D24S8, .samples = 1, .loadOp = DONT_LOAD, .storeOp = STORE },
	};
	VkAttachmentReference2 color = { .attachment = 0 }, ds = { .attachment = 2 },
			       unused = { .attachment = VK_ATTACHMENT_UNUSED },
			       resolved = { .attachment = 3 };
	VkSubpassDescriptionDepthStencilResolve resolve = {
		.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE,
		.pDepthStencilResolveAttachment = &resolved,
	};
	VkSubpassDescription2 subpass = {
		.pNext = &resolve,
		.viewMask = 0x7,
		.colorAttachmentCount = 1,
		.pColorAttachments = &color,
		.pResolveAttachments = &unused,
		.pDepthStencilAttachment = &ds,
	};
	VkRenderPassCreateInfo2 info = {
		.attachmentCount = 4,
		.pAttachments = attachments,
		.subpassCount = 1,
		.pSubpasses = &subpass,
	};
	VkRenderPass pass;
	VkImageView none[4] = { 0 };
	pass = make_render_pass2(&info);
	struct vk_target_use use = begin(pass, framebuffer(pass, 4, none, 32, 32, 1), NULL);
	g_assert_cmpint(use.store, ==, TALLY_STORE_RESOLVE);
	g_assert_cmpint(use.target->color_store, ==, TALLY_STORE_DISCARD);
	g_assert_cmpint(use.target->depth_store, ==, TALLY_STORE_RESOLVE); /* it alone is */
	g_assert_cmpint(use.load, ==, TALLY_LOAD_CLEAR);
	g_assert_cmpuint(use.views, ==, 3);
	g_assert_cmpuint(use.target->n_color, ==, 1);
	g_assert_cmpuint(use.target->samples, ==, 4);
	resolved.attachment = VK_ATTACHMENT_UNUSED;
	pass = make_render_pass2(&info);
	use = begin(pass, framebuffer(pass, 4, none, 32, 32, 1), NULL);
	g_assert_cmpint(use.store, ==, TALLY_STORE_DISCARD);
	teardown();
}

static void
test_unknown(void)
{
	setup();
	VkRenderPass pass = simple_pass(CLEAR, STORE, 0);
	/* An unknown framebuffer: where it draws. */
	struct vk_target_use use = begin(pass, HANDLE(VkFramebuffer, 77), NULL);
	g_assert_cmpuint(use.target->width, ==, 48);
	g_assert_cmpuint(use.target->height, ==, 24);
	g_assert_cmpstr(use.target->color[0].format, ==, "R8G8B8A8_UNORM");
	/* An unknown render pass. */
	VkFramebuffer fb = framebuffer(pass, 0, NULL, 100, 50, 2);
	use = begin(HANDLE(VkRenderPass, 78), fb, NULL);
	g_assert_cmpuint(use.target->width, ==, 100);
	g_assert_cmpstr(use.target->color[0].format, ==, "?");
	g_assert_cmpint(use.load, ==, TALLY_LOAD_UNKNOWN);
	g_assert_cmpint(use.store, ==, TALLY_STORE_UNKNOWN);
	g_assert_cmpuint(use.views, ==, 1);
	g_assert_null(vk_target_of_image(&device, HANDLE(VkImage, 79)));
	teardown();
}

static void
test_reused_handles(void)
{
	setup();
	VkImageView none = VK_NULL_HANDLE;
	VkRenderPass pass = simple_pass(CLEAR, STORE, 0);
	VkFramebuffer fb = framebuffer(pass, 1, &none, 64, 64, 1);
	g_assert_cmpint(begin(pass, fb, NULL).load, ==, TALLY_LOAD_CLEAR);
	/* The next render pass gets the handle of the old one. */
	DESTROY(VK_RENDER_PASSES, pass);
	uint64_t after = next_handle;
	next_handle = (uint64_t)(uintptr_t)pass;
	VkRenderPass same = simple_pass(LOAD, STORE, 0);
	g_assert_true(same == pass);
	g_assert_cmpint(begin(same, fb, NULL).load, ==, TALLY_LOAD_LOAD);
	/* The same with the framebuffer. */
	DESTROY(VK_FRAMEBUFFERS, fb);
	next_handle = (uint64_t)(uintptr_t)fb;
	VkFramebuffer smaller = framebuffer(same, 1, &none, 32, 32, 1);
	g_assert_true(smaller == fb);
	g_assert_cmpuint(begin(same, smaller, NULL).target->width, ==, 32);
	/* A driver that recognizes equal render passes: one handle, two destroys. */
	next_handle = after;
	VkRenderPass one = simple_pass(CLEAR, DONT_STORE, 0);
	next_handle = after;
	VkRenderPass two = simple_pass(CLEAR, DONT_STORE, 0);
	g_assert_true(one == two);
	DESTROY(VK_RENDER_PASSES, one);
	g_assert_cmpint(begin(two, smaller, NULL).store, ==, TALLY_STORE_DISCARD);
	DESTROY(VK_RENDER_PASSES, two);
	g_assert_cmpint(begin(two, smaller, NULL).store, ==, TALLY_STORE_UNKNOWN);
	/* Nothing is known of null handles. */
	DESTROY(VK_RENDER_PASSES, VK_NULL_HANDLE);
	DESTROY(VK_FRAMEBUFFERS, VK_NULL_HANDLE);
	DESTROY(VK_VIEWS, VK_NULL_HANDLE);
	DESTROY(VK_IMAGES, VK_NULL_HANDLE);
	DESTROY(VK_SWAPCHAINS, VK_NULL_HANDLE);
	teardown();
}

/* More render passes than answers are kept for begin with one framebuffer. */
static void
test_many_passes(void)
{
	setup();
	VkImageView none = VK_NULL_HANDLE;
	VkRenderPass passes[40];
	for (int i = 0; i < 40; i++)
		passes[i] = simple_pass(i % 2 ? CLEAR : LOAD, i % 3 ? STORE : DONT_STORE, 0);
	VkFramebuffer fb = framebuffer(passes[0], 1, &none, 64, 64, 1);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 40; i++) {
			struct vk_target_use use = begin(passes[i], fb, NULL);
			g_assert_cmpint(use.load, ==,
					i % 2 ? TALLY_LOAD_CLEAR : TALLY_LOAD_LOAD);
			g_assert_cmpint(use.store, ==,
					i % 3 ? TALLY_STORE_STORE : TALLY_STORE_DISCARD);
		}
	teardown();
}
/* ---- threads ---- */

static VkRenderPass shared_pass;
static VkFramebuffer shared_fb;

/* Begins with what all threads share; makes, uses and destroys the thread's own objects. */
static gpointer
churn(gpointer data)
{
	uint32_t id = (uint32_t)GPOINTER_TO_SIZE(data);
	const struct tally_target *first = NULL;
	for (int i = 0; i < 500; i++) {
		next_handle = (uint64_t)id << 20 | 0x10; /* the same ones each time */
		struct vk_target_use use = begin(shared_pass, shared_fb, NULL);
		g_assert_true(use.target && (!first || first == use.target));
		first = use.target;
		VkImage own = image(RGBA8, 16 + id, 16, 1, 1, 1);
		VkImageView view = view_of(own, RGBA8, 0, 0, 1);
		VkRenderPass pass = simple_pass(i % 2 ? LOAD : CLEAR, STORE, 0);
		VkFramebuffer fb = framebuffer(pass, 1, &view, 16 + id, 16, 1);
		VkRenderingAttachmentInfo color = { .imageView = view };
		use = begin(pass, fb, NULL);
		g_assert_cmpint(use.load, ==, i % 2 ? TALLY_LOAD_LOAD : TALLY_LOAD_CLEAR);
		g_assert_cmpuint(use.target->width, ==, 16 + id);
		use = render(1, &color, NULL, NULL, 0, 1);
		g_assert_cmpuint(use.target->width, ==, 16 + id);
		DESTROY(VK_FRAMEBUFFERS, fb);
		DESTROY(VK_RENDER_PASSES, pass);
		DESTROY(VK_VIEWS, view);
		DESTROY(VK_IMAGES, own);
	}
	return (gpointer)first;
}

static void
test_threads(void)
{
	setup();
	VkImageView none = VK_NULL_HANDLE;
	shared_pass = simple_pass(CLEAR, STORE, 0);
	shared_fb = framebuffer(shared_pass, 1, &none, 64, 64, 1);
	GThread *threads[4];
	for (size_t i = 0; i < 4; i++)
		threads[i] = g_thread_new("begins", churn, GSIZE_TO_POINTER(i + 1));
	gpointer first = g_thread_join(threads[0]);
	for (size_t i = 1; i < 4; i++)
		g_assert_true(g_thread_join(threads[i]) == first);
	teardown();
}

/* What a pass is called by its objects' names, from the first that has one. */
static void
test_names(void)
{
	static const struct {
		const char *what, *image, *view, *framebuffer, *pass, *want, *want_rendering;
		bool sampled; /* the image is no attachment by its usage */
	} rows[] = {
		{ "nothing", NULL, NULL, NULL, NULL, NULL, NULL, false },
		{ "the image", "i", NULL, NULL, NULL, "i", "i", false },
		{ "the view before its image", "i", "v", NULL, NULL, "v", "v", false },
		{ "the framebuffer before them", "i", "v", "f", "p", "f", "v", false },
		{ "the render pass at last", NULL, NULL, NULL, "p", "p", NULL, false },
		{ "an empty name is none", "i", "", NULL, NULL, "i", "i", false },
		{ "a texture's is not kept", "t", NULL, NULL, "p", "p", NULL, true },
	};
	setup();
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("%s", rows[i].what);
		VkImageCreateInfo info = {
			.format = RGBA8,
			.extent = { 64, 64, 1 },
			.mipLevels = 1,
			.arrayLayers = 1,
			.samples = 1,
			.usage = rows[i].sampled ? VK_IMAGE_USAGE_SAMPLED_BIT
						 : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
		};
		VkImage of = make_image(&info);
		VkImageView view = view_of(of, RGBA8, 0, 0, 1);
		VkRenderPass pass = simple_pass(CLEAR, STORE, 0);
		vk_object_named(&device, VK_OBJECT_TYPE_IMAGE, VK_HANDLE_KEY(of), rows[i].image);
		vk_object_named(&device, VK_OBJECT_TYPE_IMAGE_VIEW, VK_HANDLE_KEY(view),
				rows[i].view);
		vk_object_named(&device, VK_OBJECT_TYPE_RENDER_PASS, VK_HANDLE_KEY(pass),
				rows[i].pass);
		VkFramebuffer fb = framebuffer(pass, 1, &view, 64, 64, 1);
		vk_object_named(&device, VK_OBJECT_TYPE_FRAMEBUFFER, VK_HANDLE_KEY(fb),
				rows[i].framebuffer);
		g_assert_cmpstr(begin(pass, fb, NULL).target->name, ==, rows[i].want);
		VkRenderingAttachmentInfo color = { .imageView = view, .loadOp = CLEAR };
		g_assert_cmpstr(render(1, &color, NULL, NULL, 0, 1).target->name, ==,
				rows[i].want_rendering);
	}
	/* What cannot be named: no object, one that is not known, one of another kind. */
	vk_object_named(&device, VK_OBJECT_TYPE_IMAGE, 0, "n");
	vk_object_named(&device, VK_OBJECT_TYPE_IMAGE, 77, "n");
	vk_object_named(&device, VK_OBJECT_TYPE_BUFFER, 0x1000, "n");
	teardown();
}

/* An image that gets the handle of a destroyed one has no name; a long name is cut. */
static void
test_names_end(void)
{
	char text[65536];
	memset(text, 'n', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	setup();
	for (int i = 0; i < 2; i++) {
		next_handle = 0x2000;
		VkImageView view = view_of(HANDLE(VkImage, 7), RGBA8, 0, 0, 1);
		VkRenderingAttachmentInfo color = { .imageView = view, .loadOp = CLEAR };
		if (i == 0)
			vk_object_named(&device, VK_OBJECT_TYPE_IMAGE_VIEW, VK_HANDLE_KEY(view),
					text);
		const char *name = render(1, &color, NULL, NULL, 0, 1).target->name;
		g_assert_cmpuint(name ? strlen(name) : 0, ==, i == 0 ? 512 : 0);
		DESTROY(VK_VIEWS, view);
	}
	teardown();
}

/* What is freed, or goes with the device, is allocated no longer. */
static void
test_memory(void)
{
	struct tally_events events;
	setup();
	vk_memory_allocated(&device, HANDLE(VkDeviceMemory, 8), 4096);
	vk_memory_allocated(&device, HANDLE(VkDeviceMemory, 16), 1000);
	tally_events_take(&events);
	g_assert_cmpuint(events.sums[TALLY_EVENT_MEMORY].live, ==, 5096);
	tally_events_take(&events);
	g_assert_false(events.any);
	vk_memory_freed(&device, HANDLE(VkDeviceMemory, 8));
	vk_memory_freed(&device, HANDLE(VkDeviceMemory, 8));
	vk_memory_freed(&device, VK_NULL_HANDLE);
	tally_events_take(&events);
	g_assert_cmpuint(events.sums[TALLY_EVENT_MEMORY].live, ==, 1000);
	teardown();
	tally_events_take(&events);
	g_assert_true(events.any);
	g_assert_cmpuint(events.sums[TALLY_EVENT_MEMORY].live, ==, 0);
}

static VKAPI_ATTR void VKAPI_CALL
two_heaps(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2 *all)
{
	VkPhysicalDeviceMemoryBudgetPropertiesEXT *of = all->pNext;
	(void)physical;
	all->memoryProperties.memoryHeapCount = 2;
	of->heapUsage[0] = 3000;
	of->heapBudget[0] = 4000;
	of->heapUsage[1] = 900;
	of->heapBudget[1] = 800;
}

/* Read where much was allocated, of the heap that is fullest. */
static void
test_budget(void)
{
	static const struct {
		VkDeviceSize bytes;
		uint64_t used, budget;
	} cases[] = {
		{ 15 << 20, 0, 0 },
		{ 1 << 20, 900, 800 },
		{ 4096, 0, 0 },
		{ 64 << 20, 900, 800 },
	};
	struct tally_events events;
	setup();
	device.read_memory = two_heaps;
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		vk_memory_allocated(&device, HANDLE(VkDeviceMemory, 8 * (i + 1)), cases[i].bytes);
		tally_events_take(&events);
		g_assert_cmpuint(events.sums[TALLY_EVENT_MEMORY].used, ==, cases[i].used);
		g_assert_cmpuint(events.sums[TALLY_EVENT_MEMORY].budget, ==, cases[i].budget);
	}
	teardown();
	tally_events_take(&events);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_targets/plain", test_plain);
	g_test_add_func("/vk_targets/operations", test_operations);
	g_test_add_func("/vk_targets/subpasses", test_subpasses);
	g_test_add_func("/vk_targets/multiview", test_multiview);
	g_test_add_func("/vk_targets/render_pass2", test_render_pass2);
	g_test_add_func("/vk_targets/unknown", test_unknown);
	g_test_add_func("/vk_targets/reused_handles", test_reused_handles);
	g_test_add_func("/vk_targets/many_passes", test_many_passes);
	g_test_add_func("/vk_targets/names", test_names);
	g_test_add_func("/vk_targets/names_end", test_names_end);
	g_test_add_func("/vk_targets/memory", test_memory);
	g_test_add_func("/vk_targets/budget", test_budget);
	g_test_add_func("/vk_targets/threads", test_threads);
	return g_test_run();
}
