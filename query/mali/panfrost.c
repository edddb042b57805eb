/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "layer/base/small_file.h"
#include "layer/log.h"
#include "query/mali/abi.h"
#include "query/mali/choice.h"
#include "query/mali/kbase_device.h"
#include "query/mali/mali.h"
#include "query/source/noop.h"

#define SOURCE_NAME "mali-panfrost"
#define FIRST_NODE 128u
#define LAST_NODE 143u /* a board has a few; a program asks for each as it starts */
/* Each dump costs the kernel a GPU interrupt. */
#define LEAST_PERIOD_NS UINT64_C(100000)
/* See query/mali/kbase.c. */
#define MOST_PERIOD_NS UINT64_C(1000000000)
#define MAX_FAILURES 3u
/* The request has no field for the size of our memory: the kernel writes what its GPU has, even
 * if its answers about the cores were different. No GPU has more than 64 slices and 64 cores in
 * addition to two blocks. */
#define MOST_BYTES ((2 + 64 + 64) * (size_t)TALLY_MALI_BLOCK_BYTES)
#define SETTING "/sys/module/panfrost/parameters/unstable_ioctls"

struct mali_panfrost {
	struct tally_snapshot_source base;
	int fd;
	char node[24]; /* "/dev/dri/renderD128" */
	struct tally_mali_props props;
	const struct tally_mali_product *product;
	struct tally_mali_dump dump;
	uint32_t *words;
	size_t bytes;
	struct tally_mali_choice choice;
	struct tally_mali_sums sums;
	bool enabled, lost;
	/* The delta since the previous reading is unknown: a dump failed. */
	bool invalid;
	uint32_t n_failures; /* consecutive failures */
};

static struct mali_panfrost *
panfrost_of(struct tally_snapshot_source *src)
{
	return (struct mali_panfrost *)src;
}

/* ---- the device ---- */

static void
close_node(struct mali_panfrost *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/* A PCI graphics card is not a Mali GPU, and opening it may wake it from sleep. */
static bool
is_card(unsigned node)
{
	char path[64], bus[128];

	snprintf(path, sizeof(path), "/sys/class/drm/renderD%u/device/subsystem", node);
	ssize_t len = readlink(path, bus, sizeof(bus) - 1);
	if (len < 4)
		return false;
	bus[len] = '\0';
	return strcmp(bus + len - 4, "/pci") == 0;
}

/* The driver's name; "" when the kernel does not report it. */
static void
read_driver(int fd, char *name, size_t size)
{
	struct drm_version_query query = { .name_len = size - 1, .name = name };

	memset(name, 0, size);
	if (tally_mali_ioctl(fd, DRM_VERSION, &query) < 0)
		name[0] = '\0';
	name[size - 1] = '\0';
}

static enum tally_status
find_node(struct mali_panfrost *p)
{
	bool has_panthor = false;
	int denied = 0;
	char name[32];

	for (unsigned i = FIRST_NODE; i <= LAST_NODE; i++) {
		if (is_card(i))
			continue;
		snprintf(p->node, sizeof(p->node), "/dev/dri/renderD%u", i);
		p->fd = tally_small_file_lift(open(p->node, O_RDWR | O_CLOEXEC));
		if (p->fd < 0) {
			denied = errno == EACCES || errno == EPERM ? errno : denied;
			continue;
		}
		read_driver(p->fd, name, sizeof(name));
		if (strcmp(name, "panfrost") == 0)
			return TALLY_OK;
		has_panthor |= strcmp(name, "panthor") == 0;
		close_node(p);
	}
	if (denied)
		return tally_mali_refuse(p->base.reason, "opening /dev/dri/renderD*",
					 denied);
	return tally_unsupported(
		p->base.reason, "%s",
		has_panthor ? "the kernel's driver is panthor, which offers no counters"
			    : "no render node is of the kernel's driver panfrost");
}

static uint64_t
read_param(const struct mali_panfrost *p, uint32_t param, int *error)
{
	struct panfrost_get_param get = { .param = param };
	if (tally_mali_ioctl(p->fd, PANFROST_GET_PARAM, &get) < 0) {
		*error = errno;
		return 0;
	}
	return get.value;
}

static enum tally_status
read_props(struct mali_panfrost *p)
{
	int error = 0;

	p->props = (struct tally_mali_props){
		.gpu_id = read_param(p, PANFROST_PARAM_PROD_ID, &error) << 16,
		.core_mask = read_param(p, PANFROST_PARAM_SHADER_PRESENT, &error),
		.l2_mask = read_param(p, PANFROST_PARAM_L2_PRESENT, &error),
		.core_features = (uint32_t)read_param(p, PANFROST_PARAM_CORE_FEATURES,
						      &error),
		.thread_features = (uint32_t)read_param(p, PANFROST_PARAM_THREAD_FEATURES,
							&error),
	};
	uint64_t l2_features = read_param(p, PANFROST_PARAM_L2_FEATURES, &error);
	uint64_t mem_features = read_param(p, PANFROST_PARAM_MEM_FEATURES, &error);
	if (error)
		return tally_mali_refuse(p->base.reason,
					 "reading what GPU panfrost serves", error);
	uint32_t log2_bus = (uint32_t)l2_features >> 24;
	p->props.bus_bits = log2_bus > 0 && log2_bus < 32 ? UINT32_C(1) << log2_bus : 0;
	p->props.l2_slices = ((uint32_t)(mem_features >> 8) & 15) + 1;
	return TALLY_OK;
}

static enum tally_status
find_product(struct mali_panfrost *p)
{
	enum tally_status status = tally_mali_find_described(&p->props, NULL, &p->product,
							     p->base.reason);
	if (status == TALLY_OK && !p->props.core_mask)
		return tally_unsupported(p->base.reason,
					 "panfrost names no shader cores of the %s",
					 p->product->name);
	p->dump = (struct tally_mali_dump){
		.l2_slices = p->props.l2_slices,
		.core_mask = p->props.core_mask,
	};
	p->bytes = tally_mali_dump_bytes(&p->dump);
	return status;
}

static enum tally_status
open_device(struct mali_panfrost *p)
{
	enum tally_status status = find_node(p);
	if (status == TALLY_OK)
		status = read_props(p);
	if (status == TALLY_OK)
		status = find_product(p);
	if (status != TALLY_OK)
		close_node(p);
	return status;
}

/* ---- the counters ---- */

static enum tally_status
refuse(struct mali_panfrost *p, const char *what, int error)
{
	if (error != ENOSYS)
		return tally_mali_refuse(p->base.reason, what, error);
	snprintf(p->base.reason, sizeof(p->base.reason),
		 "panfrost keeps its counters locked: as root, write 1 to " SETTING
		 " (or boot with panfrost.unstable_ioctls=1), and start anew");
	return TALLY_DENIED;
}

/* Enables or disables the primary set of counters, the only one that the catalogue
 * describes. */
static int
enable(struct mali_panfrost *p, bool on)
{
	struct panfrost_perfcnt_enable request = { .enable = on, .counterset = 0 };
	int error = tally_mali_ioctl(p->fd, PANFROST_PERFCNT_ENABLE, &request) < 0 ? errno : 0;
	p->enabled = on && !error;
	return error;
}

/* A signal may arrive after the GPU has written its counters and before they are copied: those
 * values are then lost. */
static int
dump(struct mali_panfrost *p)
{
	struct panfrost_perfcnt_dump request = { (uint64_t)(uintptr_t)p->words };

	for (int i = 0; i < 100; i++) {
		if (ioctl(p->fd, PANFROST_PERFCNT_DUMP, &request) >= 0)
			return 0;
		if (errno != EINTR)
			return errno;
		p->invalid = true;
	}
	return EINTR;
}

static enum tally_status
panfrost_probe(struct tally_snapshot_source *src)
{
	struct mali_panfrost *p = panfrost_of(src);

	src->reason[0] = '\0';
	enum tally_status status = open_device(p);
	if (status != TALLY_OK)
		return status;
	/* Only an attempt to enable the counters shows whether this is permitted and whether
	 * they are free. */
	int error = enable(p, true);
	if (error)
		status = refuse(p, "enabling panfrost's counters", error);
	else
		(void)enable(p, false);
	if (!error)
		snprintf(src->reason, sizeof(src->reason), "panfrost's counters by %s", p->node);
	close_node(p);
	return status;
}

static enum tally_status
panfrost_open(struct tally_snapshot_source *src)
{
	struct mali_panfrost *p = panfrost_of(src);

	src->reason[0] = '\0';
	enum tally_status status = open_device(p);
	if (status != TALLY_OK)
		return status;
	status = tally_mali_choose(&p->choice, src, SOURCE_NAME, 32, TALLY_MALI_DUMP_VALUES,
				   p->product, &p->props);
	if (status != TALLY_OK)
		goto close_device;
	p->words = calloc(1, p->bytes > MOST_BYTES ? p->bytes : MOST_BYTES);
	if (!p->words || !tally_mali_sums_init(&p->sums, &p->choice)) {
		status = refuse(p, SOURCE_NAME, ENOMEM);
		goto finish_choice;
	}
	src->least_period_ns = LEAST_PERIOD_NS;
	src->most_period_ns = MOST_PERIOD_NS;
	snprintf(src->reason, sizeof(src->reason), "panfrost's counters by %s", p->node);
	p->lost = false;
	return TALLY_OK;

finish_choice:
	free(p->words);
	p->words = NULL;
	tally_mali_choice_finish(&p->choice, src);
close_device:
	close_node(p);
	return status;
}

/* Enables the counters again; counting begins at the first dump. */
static int
begin_counting(struct mali_panfrost *p)
{
	int error = enable(p, true);
	if (error)
		return error;
	error = dump(p);
	if (error)
		(void)enable(p, false);
	return error;
}

static enum tally_status
panfrost_start(struct tally_snapshot_source *src)
{
	struct mali_panfrost *p = panfrost_of(src);

	int error = begin_counting(p);
	if (error)
		return refuse(p, "starting panfrost's counters", error);
	tally_mali_sums_reset(&p->sums);
	p->invalid = false;
	p->n_failures = 0;
	return TALLY_OK;
}

/* After a GPU reset the kernel has lost the counters' state: dumps time out, or are empty,
 * headers included. */
static bool
is_empty(const struct mali_panfrost *p)
{
	uint32_t any = 0;
	for (size_t i = 0; i < p->bytes / sizeof(*p->words); i++)
		any |= p->words[i];
	return any == 0;
}

static enum tally_status
lose(struct mali_panfrost *p, const char *what, int error)
{
	p->lost = true;
	(void)refuse(p, what, error);
	return TALLY_LOST;
}

static enum tally_status
begin_again(struct mali_panfrost *p, int why)
{
	p->invalid = true;
	if (++p->n_failures > MAX_FAILURES)
		return lose(p, "reading panfrost's counters", why);
	tally_log_say(TALLY_LEVEL_WARNING, SOURCE_NAME,
		      "the GPU was reset: what it counted around then is left out");
	(void)enable(p, false);
	int error = begin_counting(p);
	if (error && error != ETIMEDOUT)
		return lose(p, "enabling panfrost's counters again", error);
	return TALLY_NOT_READY;
}

/* A dump timed out, was refused or is empty: the GPU was reset, or our counting was
 * disabled. */
static bool
was_disabled(const struct mali_panfrost *p, int error)
{
	return error == ETIMEDOUT || error == EINVAL || (!error && is_empty(p));
}

static enum tally_status
panfrost_sample(struct tally_snapshot_source *src, struct tally_totals *out)
{
	struct mali_panfrost *p = panfrost_of(src);

	if (p->lost)
		return TALLY_LOST;
	out->begin_ns = tally_clock_now_ns();
	int error = dump(p);
	out->end_ns = tally_clock_now_ns();
	if (error == EAGAIN || error == EINTR)
		return TALLY_NOT_READY;
	if (was_disabled(p, error))
		return begin_again(p, error ? error : EIO);
	if (error)
		return lose(p, "reading panfrost's counters", error);
	p->n_failures = 0;
	tally_mali_sums_begin(&p->sums);
	tally_mali_dump_add(&p->dump, p->words, &p->sums);
	if (p->invalid)
		tally_mali_sums_invalidate_all(&p->sums);
	p->invalid = false;
	tally_mali_sums_end(&p->sums);
	tally_mali_sums_deliver(&p->sums, out);
	return TALLY_OK;
}

static void
panfrost_stop(struct tally_snapshot_source *src)
{
	struct mali_panfrost *p = panfrost_of(src);
	if (p->enabled)
		(void)enable(p, false);
}

static void
panfrost_close(struct tally_snapshot_source *src)
{
	struct mali_panfrost *p = panfrost_of(src);

	close_node(p);
	p->enabled = false;
	free(p->words);
	p->words = NULL;
	tally_mali_sums_finish(&p->sums);
	tally_mali_choice_finish(&p->choice, src);
}

static void
panfrost_abandon(struct tally_snapshot_source *src)
{
	close_node(panfrost_of(src));
}

static const struct tally_snapshot_ops panfrost_ops = {
	.name = SOURCE_NAME,
	.probe = panfrost_probe,
	.open = panfrost_open,
	.start = panfrost_start,
	.sample = panfrost_sample,
	.stop = panfrost_stop,
	.close = panfrost_close,
	.abandon = panfrost_abandon,
	.destroy = tally_snapshot_free,
};

struct tally_snapshot_source *
tally_mali_panfrost_create(void)
{
	struct mali_panfrost *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->base.ops = &panfrost_ops;
	p->fd = -1;
	return &p->base;
}
