/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/slots_read.h"
#include "vk_layer/record/slots_sources.h"
#include "vk_layer/submit/batch_intervals.h"

#include "tests/unit/vk_layer/fake_copies.h"

#define MAX_BUFFERS 1024

/* What the loader puts at the beginning of a dispatchable object, and the layer into its
 * own. */
struct object {
	void *dispatch;
	int recording; /* 0: new; 1: begun; 2: ended */
};

struct fixture {
	struct vk_device d;
	struct vk_instance instance;
	struct tally_config config;
	struct object device;
};

static struct {
	struct object buffers[MAX_BUFFERS];
	uint32_t n_buffers, n_pools, n_pools_live;
	uint32_t family; /* of the newest command pool */
	unsigned n_introduced, n_locked;
	uint32_t fail_call; /* the n-th call fails, from 1 */
	uint32_t n_calls;
	struct fixture *f;
} fb;

/* The layer makes no driver call under the lock. */
static VkResult
called(void)
{
	if (pthread_mutex_trylock(&fb.f->d.lock) != 0)
		fb.n_locked++;
	else
		pthread_mutex_unlock(&fb.f->d.lock);
	return ++fb.n_calls == fb.fail_call ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_command_pool(VkDevice device, const VkCommandPoolCreateInfo *info,
		    const VkAllocationCallbacks *a, VkCommandPool *out)
{
	VkResult result = called();
	g_assert_nonnull(device);
	g_assert_null(a);
	if (result != VK_SUCCESS)
		return result;
	fb.family = info->queueFamilyIndex;
	fb.n_pools_live++;
	*out = (VkCommandPool)(uintptr_t)++fb.n_pools;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
destroy_command_pool(VkDevice device, VkCommandPool pool, const VkAllocationCallbacks *a)
{
	(void)device;
	(void)a;
	g_assert_cmpuint((uintptr_t)pool, >, 0);
	fb.n_pools_live--;
}

static VKAPI_ATTR VkResult VKAPI_CALL
allocate(VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out)
{
	VkResult result = called();
	(void)device;
	g_assert_cmpint(info->level, ==, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
	for (uint32_t i = 0; i < info->commandBufferCount; i++) {
		out[i] = VK_NULL_HANDLE;
		if (result == VK_SUCCESS)
			out[i] = (VkCommandBuffer)&fb.buffers[fb.n_buffers++];
	}
	return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
introduce(VkDevice device, void *object)
{
	VkResult result = called();
	if (result == VK_SUCCESS)
		*(void **)object = *(void **)device;
	fb.n_introduced++;
	return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
begin(VkCommandBuffer cb, const VkCommandBufferBeginInfo *info)
{
	struct object *o = (struct object *)cb;
	g_assert_true(o->dispatch == fb.f->device.dispatch);
	g_assert_cmpint(o->recording, ==, 0);
	/* Runs again later. */
	g_assert_cmphex(info->flags, ==, 0);
	o->recording = 1;
	return called();
}

static VKAPI_ATTR VkResult VKAPI_CALL
end(VkCommandBuffer cb)
{
	struct object *o = (struct object *)cb;
	g_assert_cmpint(o->recording, ==, 1);
	o->recording = 2;
	return called();
}

static void
start_on(struct fixture *f, bool host_reset, VkDriverId driver)
{
	struct tally_vk_api api;

	fq_init();
	fq_fill_api(&api);
	memset(&fb, 0, sizeof(fb));
	fb.f = f;
	*f = (struct fixture){ .d = { .tracked = true }, .device = { .dispatch = &fb } };
	tally_config_init(&f->config);
	f->d.config = &f->config;
	f->d.handle = (VkDevice)&f->device;
	f->d.set_loader_data = introduce;
	f->d.properties.limits.timestampPeriod = 1.0f;
	f->d.enabled.host_reset = host_reset;
	f->d.driver_id = driver;
	f->d.n_families = 2;
	f->d.families[0] = (struct tally_vk_family){ .flags = VK_QUEUE_GRAPHICS_BIT };
	f->d.families[1] = (struct tally_vk_family){ .flags = VK_QUEUE_COMPUTE_BIT,
						    .timestamp_bits = 64 };
	f->d.next.use.CreateQueryPool = api.CreateQueryPool;
	f->d.next.use.DestroyQueryPool = api.DestroyQueryPool;
	f->d.next.use.CmdResetQueryPool = api.CmdResetQueryPool;
	f->d.next.use.ResetQueryPool = api.ResetQueryPool;
	f->d.next.use.CmdWriteTimestamp = api.CmdWriteTimestamp;
	f->d.next.use.GetQueryPoolResults = api.GetQueryPoolResults;
	f->d.instance = &f->instance;
	copies_fill(&f->d);
	f->d.next.use.CreateCommandPool = create_command_pool;
	f->d.next.use.DestroyCommandPool = destroy_command_pool;
	f->d.next.use.AllocateCommandBuffers = allocate;
	f->d.next.use.BeginCommandBuffer = begin;
	f->d.next.use.EndCommandBuffer = end;
	pthread_mutex_init(&f->d.lock, NULL);
	g_assert_true(vk_slots_create(&f->d));
	g_assert_true(vk_batch_intervals_create(&f->d));
}

static void
start(struct fixture *f, bool host_reset)
{
	start_on(f, host_reset, 0);
}

static void
finish(struct fixture *f)
{
	vk_batch_intervals_destroy(&f->d);
	g_assert_null(f->d.batch_intervals);
	vk_batch_intervals_destroy(&f->d);
	vk_slots_destroy(&f->d);
	g_assert_cmpuint(fb.n_pools_live, ==, 0);
	g_assert_cmpuint(fb.n_locked, ==, 0);
	g_assert_cmpuint(fq.n_live, ==, 0);
	g_assert_cmpuint(fq.misuse, ==, 0);
	pthread_mutex_destroy(&f->d.lock);
	tally_config_finish(&f->config);
}

static void
release(struct fixture *f, struct vk_batch_interval *pair)
{
	pthread_mutex_lock(&f->d.lock);
	vk_batch_intervals_release(&f->d, 1, pair);
	pthread_mutex_unlock(&f->d.lock);
}

static void
test_pair(void)
{
	struct fixture f;

	start(&f, true);
	struct vk_batch_interval *pair = vk_batch_intervals_take(&f.d, 1);
	g_assert_nonnull(pair);
	g_assert_nonnull(pair->first);
	g_assert_nonnull(pair->last);
	g_assert_true(pair->first != pair->last);
	g_assert_cmpuint(fb.family, ==, 1);
	g_assert_cmpuint(fb.n_introduced, ==, 2);
	g_assert_cmpint(((struct object *)pair->first)->recording, ==, 2);
	g_assert_cmpint(((struct object *)pair->last)->recording, ==, 2);
	g_assert_cmpstr(fq.log, ==, "h0+8 t0 t1 ");
	g_assert_cmphex(pair->slot.sources, ==, 0x1);
	g_assert_cmpuint(pair->slot.halves, ==, TALLY_VK_BOTH);

	uint32_t left = pair->slot.sources;
	struct tally_sample out = { .n = 0 };
	pthread_mutex_lock(&f.d.lock);
	vk_slot_request(&f.d, &pair->slot, left);
	vk_slots_fetch(&f.d);
	g_assert_cmpint(vk_slot_read(&f.d, &pair->slot, &left, &out), ==, TALLY_OK);
	pthread_mutex_unlock(&f.d.lock);
	g_assert_cmpuint(out.end_ns - out.begin_ns, ==, 100);

	/* Another pair while the first is in use; then the first again, reset and as
	 * recorded. */
	struct vk_batch_interval *other = vk_batch_intervals_take(&f.d, 1);
	g_assert_nonnull(other);
	g_assert_true(other != pair);
	g_assert_cmpuint(fb.n_pools, ==, 2);
	release(&f, pair);
	fq.log[0] = '\0';
	g_assert_true(vk_batch_intervals_take(&f.d, 1) == pair);
	g_assert_cmpstr(fq.log, ==, "h0+2 ");
	g_assert_cmpuint(fb.n_pools, ==, 2);
	g_assert_cmpuint(fb.n_introduced, ==, 4);
	g_assert_null(pair->next);
	finish(&f);
}

static void
test_no_host_reset(void)
{
	struct fixture f;

	start(&f, false);
	struct vk_batch_interval *pair = vk_batch_intervals_take(&f.d, 1);
	g_assert_nonnull(pair);
	g_assert_cmpstr(fq.log, ==, "r0+8 t0 t1 ");
	release(&f, pair);
	g_assert_true(vk_batch_intervals_take(&f.d, 1) == pair);
	g_assert_cmpstr(fq.log, ==, "r0+8 t0 t1 ");
	finish(&f);
}

/* Where results are copied the last command buffer copies the pair's, and is recorded again. */
static void
test_copied(void)
{
	struct fixture f;

	start_on(&f, true, VK_DRIVER_ID_MESA_LLVMPIPE);
	struct vk_batch_interval *pair = vk_batch_intervals_take(&f.d, 1);
	g_assert_nonnull(pair);
	uint32_t left = pair->slot.sources;
	struct tally_sample out = { .n = 0 };
	pthread_mutex_lock(&f.d.lock);
	vk_slot_request(&f.d, &pair->slot, left);
	vk_slots_fetch(&f.d);
	g_assert_cmpint(vk_slot_read(&f.d, &pair->slot, &left, &out), ==, TALLY_OK);
	pthread_mutex_unlock(&f.d.lock);
	g_assert_cmpuint(out.end_ns - out.begin_ns, ==, 100);
	g_assert_cmpuint(fq.n_results, ==, 0);
	release(&f, pair);
	g_assert_true(vk_batch_intervals_take(&f.d, 1) == pair);
	((struct object *)pair->last)->recording = 0;
	fq.log[0] = '\0';
	g_assert_true(vk_batch_interval_begin_last(&f.d, pair));
	g_assert_true(vk_batch_interval_end_last(&f.d, pair));
	g_assert_cmpstr(fq.log, ==, "t1 ");
	finish(&f);
	g_assert_cmpuint(copies.n_live, ==, 0);
}

/* Older loaders give no callback: the pointer is copied. */
static void
test_no_callback(void)
{
	struct fixture f;

	start(&f, true);
	f.d.set_loader_data = NULL;
	struct vk_batch_interval *pair = vk_batch_intervals_take(&f.d, 1);
	g_assert_nonnull(pair);
	g_assert_true(((struct object *)pair->last)->dispatch == &fb);
	finish(&f);
}

static void
test_nothing_to_have(void)
{
	struct fixture f;

	start(&f, true);
	g_assert_null(vk_batch_intervals_take(&f.d, 0)); /* no timestamps there */
	g_assert_null(vk_batch_intervals_take(&f.d, 5)); /* no such family */
	atomic_store(&f.d.stopped, true);
	g_assert_null(vk_batch_intervals_take(&f.d, 1));
	g_assert_cmpuint(fb.n_calls, ==, 0);
	finish(&f);
}

/* Each call fails once: there is no pair, nothing is left over, the driver is not used
 * again. */
static void
test_failures(void)
{
	uint32_t n = 0;

	for (;;) {
		struct fixture f;
		start(&f, true);
		fb.fail_call = ++n;
		struct vk_batch_interval *pair = vk_batch_intervals_take(&f.d, 1);
		if (pair) {
			g_assert_cmpuint(fb.n_calls, ==, n - 1);
			finish(&f);
			break;
		}
		g_assert_cmpuint(fb.n_calls, ==, n);
		g_assert_cmpuint(fb.n_pools_live, ==, 0);
		g_assert_null(vk_batch_intervals_take(&f.d, 1));
		g_assert_cmpuint(fb.n_calls, ==, n);
		/* The slot was returned. */
		struct vk_slot_runs runs = { .n = 0 };
		struct vk_slot slot = vk_slots_take(&f.d, &runs, 1, VK_MEASURE_TIME, 1, true);
		g_assert_nonnull(slot.page);
		g_assert_cmpuint(slot.index, ==, 0);
		pthread_mutex_lock(&f.d.lock);
		vk_slots_release(&f.d, &runs);
		pthread_mutex_unlock(&f.d.lock);
		finish(&f);
	}
	g_assert_cmpuint(n, ==, 9); /* a pool, buffers, two introductions, two recordings */
}

static void
test_ceiling(void)
{
	struct fixture f;
	struct vk_batch_interval *pair = NULL;
	uint32_t n = 0;

	start(&f, true);
	fq.count_only = true;
	for (struct vk_batch_interval *p; n < 400 && (p = vk_batch_intervals_take(&f.d, 1)); n++)
		pair = p;
	g_assert_cmpuint(n, ==, 256);
	g_assert_cmpuint(fb.n_pools_live, ==, 256);
	release(&f, pair);
	g_assert_true(vk_batch_intervals_take(&f.d, 1) == pair);
	g_assert_null(vk_batch_intervals_take(&f.d, 1));
	finish(&f);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_batch_intervals/pair", test_pair);
	g_test_add_func("/vk_batch_intervals/no_host_reset", test_no_host_reset);
	g_test_add_func("/vk_batch_intervals/copied", test_copied);
	g_test_add_func("/vk_batch_intervals/no_callback", test_no_callback);
	g_test_add_func("/vk_batch_intervals/nothing_to_have", test_nothing_to_have);
	g_test_add_func("/vk_batch_intervals/failures", test_failures);
	g_test_add_func("/vk_batch_intervals/ceiling", test_ceiling);
	return g_test_run();
}
