/* SPDX-License-Identifier: MIT */
/* vinstr: readers of 32-bit buffers, on all kbase kernels that have them. */
#include "tests/fake_kernel/kernel.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_BUFFERS 32
#define LEAST_PERIOD_NS 100000

struct vinstr {
	struct fake_file file;
	struct fake_base base;
	uint32_t masks[FAKE_BLOCKS];
	int memory_fd;
	uint8_t *memory;
	uint32_t n_buffers, buffer_bytes;
	struct vi_meta_cycles waiting[MAX_BUFFERS]; /* oldest first */
	uint32_t n_waiting, next;
	bool taken;
	uint32_t period_ns, n_samples;
	uint64_t due_ns, last_raw_ns;
};

static void
make_sample(struct vinstr *v, uint32_t event)
{
	struct vi_meta_cycles *meta = &v->waiting[v->n_waiting++];
	v->n_samples++;
	uint64_t now = fake_buffer_fill(&v->base, v->masks, v->n_samples,
					v->memory + (size_t)v->next * v->buffer_bytes);
	fake_count_sample(v->last_raw_ns, now);
	meta->m.timestamp = now;
	meta->m.event = event;
	meta->m.buffer = v->next;
	meta->top_cycles = fake_base_cycles(&v->base);
	meta->core_cycles = 2 * meta->top_cycles;
	v->last_raw_ns = now;
	v->next = (v->next + 1) % v->n_buffers;
}

static void
catch_up(struct vinstr *v)
{
	uint64_t now = fake_raw_ns();
	while (v->period_ns && now >= v->due_ns) {
		if (v->n_waiting < v->n_buffers)
			make_sample(v, 1);
		else if (now > v->due_ns)
			v->due_ns = now;
		v->due_ns += v->period_ns;
	}
}

static int
dump(struct vinstr *v, uintptr_t value)
{
	int error = fake_fault("sample");
	if (error)
		return -error;
	if (value != 0)
		fake_misuse(0, "a dump with an argument");
	if (v->n_waiting == v->n_buffers)
		return -EBUSY;
	make_sample(v, 0);
	return 0;
}

static int
clear(struct vinstr *v)
{
	int error = fake_fault("clear");
	if (error)
		return -error;
	fake_base_reset(&v->base);
	v->last_raw_ns = fake_raw_ns();
	return 0;
}

static int
get(struct vinstr *v, void *out, size_t bytes)
{
	int error = fake_fault("get");
	if (error)
		return -error;
	if (bytes == sizeof(struct vi_meta_cycles) && fake_config.features == 0)
		return fake_misuse(EINVAL, "cycles asked of a kernel without");
	if (v->taken)
		return fake_misuse(EBUSY, "a buffer taken before the last was put back");
	if (v->n_waiting == 0 || fake_rule("late", -1, -1, v->n_samples))
		return -EAGAIN;
	v->taken = true;
	memcpy(out, &v->waiting[0], bytes);
	if (fake_rule("faraway", -1, -1, v->n_samples))
		((struct vi_meta *)out)->buffer = 1000;
	return 0;
}

static int
put_back(struct vinstr *v, const struct vi_meta *meta)
{
	int error = fake_fault("put");
	if (error)
		return -error;
	if (!v->taken)
		return fake_misuse(EPERM, "a buffer put back, and none was taken");
	if (meta->buffer != v->waiting[0].m.buffer &&
	    !fake_rule("faraway", -1, -1, v->n_samples))
		return fake_misuse(EINVAL, "buffer %u put back for %u", meta->buffer,
				   v->waiting[0].m.buffer);
	memset(v->memory + (size_t)v->waiting[0].m.buffer * v->buffer_bytes, 0xa5,
	       v->buffer_bytes);
	memmove(&v->waiting[0], &v->waiting[1], --v->n_waiting * sizeof(v->waiting[0]));
	v->taken = false;
	return 0;
}

static int
interval(struct vinstr *v, uintptr_t ns)
{
	int error = fake_fault("interval");
	if (error)
		return -error;
	v->period_ns = ns && ns < LEAST_PERIOD_NS ? LEAST_PERIOD_NS : (uint32_t)ns;
	v->due_ns = fake_raw_ns() + v->period_ns;
	return 0;
}

/* What a reader reports about itself. */
static int
tell(const char *call, uint32_t value, uint32_t *out)
{
	int error = fake_fault(call);
	if (!error)
		*out = value;
	return -error;
}

static int
tell_features(struct vi_features *out)
{
	int error = fake_fault("features");
	if (error)
		return -error;
	/* Kernels without cycles know only the short request. */
	if (fake_config.features == 0)
		return -EINVAL;
	out->version = 1;
	out->features = fake_config.features;
	return 0;
}

static int
vinstr_ioctl(struct fake_file *file, unsigned command, void *argument)
{
	struct vinstr *v = (struct vinstr *)file;
	if (fake_gone(v->n_samples + 1))
		return -ENODEV;
	catch_up(v);
	switch (command) {
	case VI_HWVER:
		return tell("hwver", fake_config.gpu.hwver, argument);
	case VI_BUFFER_SIZE:
		return tell("bufsize", v->buffer_bytes, argument);
	case VI_API:
		return tell("api", 1, argument);
	case VI_API_FEATURES:
		return tell_features(argument);
	case VI_DUMP:
		return dump(v, (uintptr_t)argument);
	case VI_CLEAR:
		return clear(v);
	case VI_GET:
		return get(v, argument, sizeof(struct vi_meta));
	case VI_GET_CYCLES:
		return get(v, argument, sizeof(struct vi_meta_cycles));
	case VI_PUT:
	case VI_PUT_CYCLES:
		return put_back(v, argument);
	case VI_INTERVAL:
		return interval(v, (uintptr_t)argument);
	case VI_EVENT_ON:
	case VI_EVENT_OFF:
		return 0;
	default:
		return fake_misuse(ENOTTY, "%#x to a vinstr reader", command);
	}
}

static int
vinstr_ready(struct fake_file *file)
{
	struct vinstr *v = (struct vinstr *)file;
	if (fake_gone(v->n_samples + 1))
		return -ENODEV;
	catch_up(v);
	return v->n_waiting > 0 && !v->taken;
}

static int
vinstr_map(struct fake_file *file, size_t *bytes)
{
	struct vinstr *v = (struct vinstr *)file;
	*bytes = (size_t)v->buffer_bytes * v->n_buffers;
	return v->memory_fd;
}

static void
vinstr_release(struct fake_file *file)
{
	struct vinstr *v = (struct vinstr *)file;
	fake_memory_free(v->memory_fd, v->memory, (size_t)v->buffer_bytes * v->n_buffers);
	free(v);
}

static const struct fake_file_ops ops = {
	.ioctl = vinstr_ioctl,
	.ready = vinstr_ready,
	.map = vinstr_map,
	.release = vinstr_release,
};

int
fake_vinstr_setup(const struct kb_reader_setup *setup)
{
	uint32_t n = setup->buffers;
	int error = fake_fault("setup");
	if (error)
		return -error;
	if (n == 0 || n > MAX_BUFFERS || (n & (n - 1)) != 0)
		return fake_misuse(EINVAL, "%u buffers", n);
	if (fake_config.nomem && n > fake_config.nomem)
		return -ENOMEM;
	struct vinstr *v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->file.ops = &ops;
	v->file.what = "vinstr reader";
	v->masks[FAKE_FRONT] = setup->fe;
	v->masks[FAKE_TILER] = setup->tiler;
	v->masks[FAKE_L2] = setup->l2;
	v->masks[FAKE_CORE] = setup->shader;
	v->n_buffers = n;
	v->buffer_bytes = fake_buffer_bytes();
	fake_base_reset(&v->base);
	v->last_raw_ns = fake_raw_ns();
	v->memory_fd = fake_memory((size_t)v->buffer_bytes * n, (void **)&v->memory);
	int fd = v->memory_fd < 0 ? -ENOMEM : fake_file_add(&v->file);
	if (fd < 0) {
		if (v->memory_fd >= 0)
			fake_memory_free(v->memory_fd, v->memory, (size_t)v->buffer_bytes * n);
		free(v);
	}
	return fd;
}
