/* SPDX-License-Identifier: MIT */
/* When the copies of a recording are read, and by whom. */
#include "layer/picture/pictures.h"
#include "layer/picture/png.h"
#include "vk_layer/picture/depth.h"
#include "vk_layer/picture/picture.h"

#include "tests/unit/vk_layer/vk_submit_world.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static char *folder;
static size_t page_size;

/* ---- the memory that copies are read from ---- */

/* One page that cannot be read until the first read was looked at. */
static unsigned char *watched;
static unsigned n_locked, n_reads;

static void
on_read(int number)
{
	(void)number;
	n_reads++;
	if (pthread_mutex_trylock(&w.d.lock) != 0)
		n_locked++;
	else
		pthread_mutex_unlock(&w.d.lock);
	mprotect(watched, page_size, PROT_READ | PROT_WRITE);
}

static void
watch(void)
{
	struct sigaction action = { .sa_handler = on_read };
	sigaction(SIGSEGV, &action, NULL);
	mprotect(watched, page_size, PROT_NONE);
}

/* What the GPU copies while the driver is called. */
static unsigned char drawn;

static void
draw(void)
{
	memset(watched, drawn, 4);
}

static VKAPI_ATTR void VKAPI_CALL
w_destroy_buffer(VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *a)
{
	(void)device, (void)buffer, (void)a;
}

static VKAPI_ATTR void VKAPI_CALL
w_destroy_image(VkDevice device, VkImage image, const VkAllocationCallbacks *a)
{
	(void)device, (void)image, (void)a;
}

/* ---- a pictured recording ---- */

static VkQueue
start(void)
{
	VkQueue q = w_start();
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	watched = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	g_assert_true(watched != MAP_FAILED);
	folder = g_dir_make_tmp("vk_pictures-XXXXXX", NULL);
	g_autofree char *log = g_build_filename(folder, "log.jsonl", NULL);
	tally_pictures_begin(w.d.config, log);
	w.d.next.use.DestroyBuffer = w_destroy_buffer;
	w.d.next.use.DestroyImage = w_destroy_image;
	w.signalled = 0;
	w.waits_end = true;
	w.during_call = draw;
	return q;
}

/* Command buffer `n` with one pass, of one pixel. */
static VkCommandBuffer
pictured(unsigned n, bool simultaneous)
{
	struct vk_recording *r = w_recording();
	w_pass(r, simultaneous ? -1 : (int)n, 100, 150, 1);
	r->simultaneous = simultaneous;
	struct vk_pictures *p = calloc(1, sizeof(*p));
	p->refs = 1;
	p->passes = calloc(1, sizeof(*p->passes));
	p->passes[p->n_passes++] = (struct vk_picture_pass){ .index = 0, .number = n + 1 };
	p->copies = calloc(1, sizeof(*p->copies));
	p->copies[p->n_copies++] = (struct vk_picture_copy){
		.pass = n + 1, .mapped.map = watched, .name = "color0", .width = 1, .height = 1
	};
	r->pictures = p;
	return w_buffer(n, r);
}

/* Afterwards: whether there is a picture of the pass, of that gray; 0: there is none. */
static void
assert_picture(unsigned number, unsigned char gray)
{
	g_autofree char *name = g_strdup_printf("log-%u-color0.png", number);
	g_autofree char *path = g_build_filename(folder, name, NULL);
	g_autofree char *got = NULL;
	gsize size = 0, want_size;
	unsigned char rgb[3] = { gray, gray, gray };
	g_assert_cmpint(g_file_get_contents(path, &got, &size, NULL), ==, gray != 0);
	g_unlink(path);
	g_rmdir(folder); /* empty after the last one */
	unsigned char *want = gray ? tally_png_make(rgb, 1, 1, &want_size) : NULL;
	if (want)
		g_assert_cmpmem(got, size, want, want_size);
	free(want);
}

static void
finish(void)
{
	w_finish();
	for (unsigned i = 0; i < W_BUFFERS; i++) {
		struct vk_recording *r = w.commands[i].recording;
		if (r && r->pictures) {
			vk_pictures_release(&w.d, r->pictures);
			w_free(r);
		}
	}
	vk_pictures_unlock(&w.d, true);
	munmap(watched, page_size);
}

/* ---- the tests ---- */

/* Whoever finds that the submission has completed. */
static void
found_by_drain(VkQueue q)
{
	(void)q;
	vk_drain(&w.d);
}

static void
found_by_present(VkQueue q)
{
	w_present(q);
}

static void
found_by_submit(VkQueue q)
{
	w_present(q);
	w_submit_one(q, w_buffer(9, w_recording()));
}

static VkResult VKAPI_PTR
idle(VkQueue queue)
{
	(void)queue;
	return VK_SUCCESS;
}

static void
found_by_idle(VkQueue q)
{
	vk_queue_wait_idle(&w.d, idle, q);
}

static void
found_at_exit(VkQueue q)
{
	(void)q;
	vk_submissions_exit();
}

static void
found_at_end(VkQueue q)
{
	(void)q;
	vk_device_finish(&w.d);
}

static void
test_no_lock(gconstpointer data)
{
	void (*const *find)(VkQueue) = data;
	if (!stub_in_child(NULL))
		return;
	VkQueue q = start();
	drawn = 7;
	w_submit_one(q, pictured(0, false));
	w_present(q);
	g_assert_cmpuint(n_reads, ==, 0);
	w.signalled = 1;
	w.during_call = NULL;
	watch();
	(*find)(q);
	g_assert_cmpuint(n_reads, ==, 1);
	g_assert_cmpuint(n_locked, ==, 0);
	finish();
	assert_picture(1, 7);
}

/* It runs again before it was read: the program knows that the first execution has completed, and
 * its pixels are read before those of the second replace them. */
static void
test_runs_again(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = start();
	drawn = 7;
	VkCommandBuffer buffer = pictured(0, false);
	w_submit_one(q, buffer);
	drawn = 9;
	w_submit_one(q, buffer);
	finish();
	assert_picture(1, 7);
}

/* A simultaneous one may run while the first execution does: there is none, but where that has
 * completed, even if nobody has asked yet. */
static void
test_simultaneous(void)
{
	if (!stub_in_child("pictures=frame:0"))
		return;
	VkQueue q = start();
	VkCommandBuffer first = pictured(0, true), second = pictured(1, true);
	drawn = 7;
	w_submit_one(q, first);
	drawn = 9;
	w_submit_one(q, first);
	w_present(q);
	drawn = 11;
	w_submit_one(q, second);
	w_present(q);
	w.signalled = w.n_fence_submits;
	vk_drain(&w.d);
	drawn = 13;
	w_submit_one(q, second);
	w_present(q);
	VkCommandBuffer third = pictured(2, true);
	drawn = 15;
	w_submit_one(q, third);
	w_present(q);
	w.signalled = w.n_fence_submits;
	drawn = 17;
	w_submit_one(q, third);
	w_present(q);
	finish();
	assert_picture(1, 0);
	assert_picture(2, 11);
	assert_picture(3, 15);
}

/* Executed twice by one submission: nobody knows which of both is seen. */
static void
test_twice_at_once(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = start();
	VkCommandBuffer buffer = pictured(0, true);
	VkCommandBuffer both[] = { buffer, buffer };
	drawn = 7;
	w_submit_n(q, 2, both);
	w_present(q);
	finish();
	assert_picture(1, 0);
}

/* Submissions of two queues with the same number there. */
static void
test_queues(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = start(), other = w_queue(1);
	VkCommandBuffer buffer = pictured(0, false);
	drawn = 7;
	w_submit_one(q, buffer);
	w_present(q);
	w.signalled = w.n_fence_submits;
	vk_drain(&w.d);
	w_submit_one(other, buffer);
	w_present(other);
	finish();
	assert_picture(1, 7);
	g_assert_cmpuint(w_logged(0, 0)->picture, ==, 1);
	g_assert_cmpuint(w_logged(1, 0)->picture, ==, 0);
}

/* No frame is measured until it was read. */
static void
test_read_later(void)
{
	if (!stub_in_child("pictures=frame:0"))
		return;
	VkQueue q = start();
	drawn = 7;
	w_submit_one(q, pictured(0, false));
	w_present(q);
	for (unsigned i = 1; i < 4; i++) {
		struct vk_recording *r = w_recording();
		w_pass(r, (int)i, 200, 250, 1);
		w_submit_one(q, w_buffer(i, r));
		w.signalled = i < 2 ? 0 : UINT64_MAX;
		vk_drain(&w.d);
		w_present(q);
	}
	finish();
	assert_picture(1, 7);
	for (unsigned i = 0; i < 4; i++)
		g_assert_cmphex(stub_frame(i)->flags, ==,
				i < 3 ? TALLY_FLAG(PICTURED) : 0);
}

/* What a render pass of ours may resolve. */
static void
test_resolves(void)
{
	static const struct {
		uint32_t version, width, height;
		bool secondary, extension, can;
	} cases[] = {
		{ VK_API_VERSION_1_2, 4096, 2048, false, false, true },
		{ VK_API_VERSION_1_2, 4097, 1, false, false, false },
		{ VK_API_VERSION_1_2, 1, 2049, false, false, false },
		{ VK_API_VERSION_1_2, 64, 64, true, false, false },
		{ VK_API_VERSION_1_1, 64, 64, false, false, false },
		{ VK_API_VERSION_1_1, 64, 64, false, true, true },
	};
	static struct vk_instance instance;
	static struct vk_device device = { .instance = &instance };
	device.properties.limits.maxFramebufferWidth = 4096;
	device.properties.limits.maxFramebufferHeight = 2048;
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct vk_command c = { .device = &device, .secondary = cases[i].secondary };
		struct vk_pictured at = {
			.format = VK_FORMAT_D32_SFLOAT,
			.samples = 4,
			.width = cases[i].width,
			.height = cases[i].height,
		};
		instance.api_version = device.properties.apiVersion = cases[i].version;
		device.enabled.depth_resolve = cases[i].extension;
		g_assert_true(!vk_depth_cannot(&c, &at) == cases[i].can);
	}
}

/* What the GPU did not finish is no picture. */
static void
test_lost(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = start();
	drawn = 7;
	w_submit_one(q, pictured(0, false));
	w_present(q);
	w.fence_status = VK_ERROR_DEVICE_LOST;
	vk_drain(&w.d);
	finish();
	assert_picture(1, 0);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*find)(VkQueue);
	} finders[] = {
		{ "/vk_pictures/no-lock/drain", found_by_drain },
		{ "/vk_pictures/no-lock/present", found_by_present },
		{ "/vk_pictures/no-lock/submit", found_by_submit },
		{ "/vk_pictures/no-lock/idle", found_by_idle },
		{ "/vk_pictures/no-lock/exit", found_at_exit },
		{ "/vk_pictures/no-lock/end", found_at_end },
	};
	g_test_init(&argc, &argv, NULL);
	for (unsigned i = 0; i < G_N_ELEMENTS(finders); i++)
		g_test_add_data_func(finders[i].name, &finders[i].find, test_no_lock);
	g_test_add_func("/vk_pictures/runs-again", test_runs_again);
	g_test_add_func("/vk_pictures/simultaneous", test_simultaneous);
	g_test_add_func("/vk_pictures/twice-at-once", test_twice_at_once);
	g_test_add_func("/vk_pictures/queues", test_queues);
	g_test_add_func("/vk_pictures/read-later", test_read_later);
	g_test_add_func("/vk_pictures/resolves", test_resolves);
	g_test_add_func("/vk_pictures/lost", test_lost);
	return g_test_run();
}
