/* SPDX-License-Identifier: MIT */
#include "query/mali/kbase_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layer/base/small_file.h"
#include "query/mali/abi.h"
#include "query/mali/choice.h"

#define N_NODES 8u /* a program asks for each as it starts */
#define N_TRIES 100
#define MAX_PROPS_BYTES 65536

int
tally_mali_ioctl(int fd, unsigned long number, void *argument)
{
	int result = -1;
	for (int i = 0; i < N_TRIES; i++) {
		result = ioctl(fd, number, argument);
		if (result >= 0 || errno != EINTR)
			break;
	}
	return result;
}

/* ---- properties ---- */

enum {
	PROP_L2_LOG2_SIZE = 14,
	PROP_L2_SLICES = 15,
	PROP_SHADER_PRESENT = 25,
	PROP_L2_PRESENT = 27,
	PROP_L2_FEATURES = 29,
	PROP_CORE_FEATURES = 30,
	PROP_GPU_ID = 55,
	PROP_THREAD_FEATURES = 59,
	PROP_N_CORE_GROUPS = 62,
	PROP_CORE_GROUP = 64,
	N_CORE_GROUPS = 16,
	N_PROPS = PROP_CORE_GROUP + N_CORE_GROUPS,
};

/* Some properties can be interpreted only once all are known; 0: not reported. */
static void
derive(struct tally_mali_props *props, const uint64_t values[N_PROPS])
{
	uint64_t slices = values[PROP_L2_SLICES], log2_size = values[PROP_L2_LOG2_SIZE];
	uint32_t log2_bus = (uint32_t)values[PROP_L2_FEATURES] >> 24;

	*props = (struct tally_mali_props){
		.gpu_id = values[PROP_GPU_ID],
		.l2_mask = values[PROP_L2_PRESENT],
		.core_features = (uint32_t)values[PROP_CORE_FEATURES],
		.thread_features = (uint32_t)values[PROP_THREAD_FEATURES],
		.l2_slice_bytes = log2_size > 0 && log2_size < 32
					  ? UINT32_C(1) << log2_size
					  : 0,
		.bus_bits = log2_bus > 0 && log2_bus < 32 ? UINT32_C(1) << log2_bus : 0,
	};
	props->l2_slices = slices && slices <= 64
				   ? (uint32_t)slices
				   : (uint32_t)__builtin_popcountll(props->l2_mask);
	for (unsigned i = 0; i < values[PROP_N_CORE_GROUPS] && i < N_CORE_GROUPS; i++)
		props->core_mask |= values[PROP_CORE_GROUP + i];
	if (!props->core_mask)
		props->core_mask = values[PROP_SHADER_PRESENT];
}

/* Reads an unaligned integer of 1, 2, 4 or 8 bytes. */
static uint64_t
read_value(const uint8_t *data, size_t bytes)
{
	uint64_t value = 0;
	size_t at = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(value) - bytes : 0;
	memcpy((uint8_t *)&value + at, data, bytes);
	return value;
}

bool
tally_kbase_parse_props(const uint8_t *data, size_t size, struct tally_mali_props *props)
{
	uint64_t values[N_PROPS] = { 0 };
	size_t at = 0;

	*props = (struct tally_mali_props){ 0 };
	while (at < size) {
		uint32_t key;
		if (size - at < sizeof(key))
			return false;
		memcpy(&key, data + at, sizeof(key));
		at += sizeof(key);
		size_t bytes = (size_t)1 << (key & 3);
		if (size - at < bytes)
			return false;
		if (key >> 2 < N_PROPS)
			values[key >> 2] = read_value(data + at, bytes);
		at += bytes;
	}
	derive(props, values);
	return true;
}

void
tally_kbase_read_old_props(const struct kbase_old_props *old, struct tally_mali_props *props)
{
	uint64_t values[N_PROPS] = {
		[PROP_L2_LOG2_SIZE] = old->l2_log2_cache_size,
		[PROP_L2_SLICES] = old->l2_slices,
		[PROP_SHADER_PRESENT] = old->shader_present,
		[PROP_L2_PRESENT] = old->l2_present,
		[PROP_L2_FEATURES] = old->l2_features,
		[PROP_GPU_ID] = old->gpu_id,
		[PROP_THREAD_FEATURES] = old->thread_features,
		[PROP_N_CORE_GROUPS] = old->n_core_groups,
	};
	for (unsigned i = 0; i < N_CORE_GROUPS; i++)
		values[PROP_CORE_GROUP + i] = old->groups[i].core_mask;
	derive(props, values);
}

/* ---- handshake ---- */

/* Each step leaves the fields at 0 when no driver answers; the return value of ioctl() depends
 * on the version. */
static bool
greet(struct tally_kbase *dev)
{
	struct kbase_old_version_check old = { .header.id = KBASE_OLD_ID_VERSION };
	(void)tally_mali_ioctl(dev->fd, KBASE_OLD_VERSION_CHECK, &old);
	if (old.header.id == 0 && (old.major > 10 || (old.major == 10 && old.minor >= 2))) {
		dev->old = true;
		dev->major = old.major;
		dev->minor = old.minor;
		return true;
	}
	struct kbase_version_check check = { 0 };
	(void)tally_mali_ioctl(dev->fd, KBASE_VERSION_CHECK_JM, &check);
	if (!check.major && !check.minor) {
		dev->csf = true;
		(void)tally_mali_ioctl(dev->fd, KBASE_VERSION_CHECK_CSF, &check);
	}
	dev->major = check.major;
	dev->minor = check.minor;
	return check.major || check.minor;
}

/* EPERM: the context exists already. EINVAL: an older kernel does not know the flag; it either
 * sets up the context anyway, or refuses the next step. */
static int
set_flags(const struct tally_kbase *dev)
{
	if (!dev->old) {
		struct kbase_set_flags flags = { KBASE_SYSTEM_MONITOR };
		if (tally_mali_ioctl(dev->fd, KBASE_SET_FLAGS, &flags) >= 0)
			return 0;
		return errno == EPERM || errno == EINVAL ? 0 : errno;
	}
	struct kbase_old_set_flags flags = {
		.header.id = KBASE_OLD_ID_FLAGS,
		.create_flags = KBASE_SYSTEM_MONITOR,
	};
	if (tally_mali_ioctl(dev->fd, KBASE_OLD_SET_FLAGS, &flags) >= 0)
		return 0;
	return errno == EPERM || errno == EINVAL || errno == EFAULT ? 0 : errno;
}

static int
read_props(struct tally_kbase *dev)
{
	if (dev->old) {
		struct kbase_old_props old = { .header.id = KBASE_OLD_ID_PROPS };
		if (tally_mali_ioctl(dev->fd, KBASE_OLD_GET_PROPS, &old) < 0)
			return errno;
		if (old.header.id != 0)
			return EINVAL;
		tally_kbase_read_old_props(&old, &dev->props);
		return 0;
	}
	struct kbase_get_gpuprops get = { 0 };
	int need = tally_mali_ioctl(dev->fd, KBASE_GET_GPUPROPS, &get);
	if (need < 0)
		return errno;
	if (need == 0 || need > MAX_PROPS_BYTES)
		return EPROTO;
	uint8_t *data = calloc(1, (size_t)need);
	if (!data)
		return ENOMEM;
	get.buffer = (uint64_t)(uintptr_t)data;
	get.size = (uint32_t)need;
	int got = tally_mali_ioctl(dev->fd, KBASE_GET_GPUPROPS, &get);
	int error = got < 0 ? errno : 0;
	if (!error && (got > need || !tally_kbase_parse_props(data, (size_t)got, &dev->props)))
		error = EPROTO;
	free(data);
	return error;
}

static enum tally_status
set_up(struct tally_kbase *dev, char *reason)
{
	char what[64];
	struct stat about;

	if (fstat(dev->fd, &about) != 0 || !S_ISCHR(about.st_mode))
		return tally_unsupported(reason, "%s is no device", dev->node);
	if (!greet(dev))
		return tally_unsupported(
			reason,
			"%s answers to no version of Arm's kbase interface that is "
			"known here (10.2 is the oldest)",
			dev->node);
	int error = set_flags(dev);
	if (error) {
		snprintf(what, sizeof(what), "setting up a context of %s", dev->node);
		return tally_mali_refuse(reason, what, error);
	}
	error = read_props(dev);
	if (error) {
		snprintf(what, sizeof(what), "reading the properties of %s", dev->node);
		return tally_mali_refuse(reason, what, error);
	}
	enum tally_status status = tally_mali_find_described(&dev->props, dev->node,
							     &dev->product, reason);
	if (status != TALLY_OK || (dev->props.core_mask && dev->props.l2_slices))
		return status;
	return tally_unsupported(
		reason, "%s does not say how many shader cores and L2 slices it has",
		dev->node);
}

enum tally_status
tally_kbase_open(struct tally_kbase *dev, char *reason)
{
	bool reported = false;
	char why[TALLY_REASON_BYTES];
	enum tally_status status = tally_unsupported(
		reason,
		"no /dev/mali0: there is no Mali GPU with Arm's own kernel driver");

	for (unsigned i = 0; i < N_NODES; i++) {
		*dev = (struct tally_kbase){ 0 };
		snprintf(dev->node, sizeof(dev->node), "/dev/mali%u", i);
		dev->fd = tally_small_file_open(dev->node);
		if (dev->fd < 0 && (errno == ENOENT || errno == ENXIO || errno == ENOTDIR))
			continue;
		enum tally_status this_one;
		if (dev->fd < 0)
			this_one = tally_mali_refuse(why, dev->node, errno);
		else
			this_one = set_up(dev, why);
		if (this_one == TALLY_OK) {
			reason[0] = '\0';
			return TALLY_OK;
		}
		tally_kbase_close(dev);
		/* The first device is the most likely one, so its reason is reported. */
		if (!reported) {
			snprintf(reason, TALLY_REASON_BYTES, "%s", why);
			status = this_one;
		}
		reported = true;
	}
	dev->fd = -1;
	return status;
}

void
tally_kbase_close(struct tally_kbase *dev)
{
	if (dev->fd >= 0)
		close(dev->fd);
	dev->fd = -1;
}

bool
tally_kbase_at_least(const struct tally_kbase *dev, unsigned jm_major, unsigned jm_minor,
		     unsigned csf_major, unsigned csf_minor)
{
	unsigned major = dev->csf ? csf_major : jm_major;
	unsigned minor = dev->csf ? csf_minor : jm_minor;

	return dev->major > major || (dev->major == major && dev->minor >= minor);
}
