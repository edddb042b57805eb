/* SPDX-License-Identifier: MIT */
/* kbase before r21: the device file. */
#include "tests/fake_kernel/kernel.h"

#include <errno.h>
#include <stdlib.h>

struct kbase_old {
	struct fake_file file;
	bool version_checked, has_context;
};

#define REFUSED 3 /* the driver writes this over the function's number */

static void
put32(char *props, size_t offset, uint32_t value)
{
	memcpy(props + offset, &value, 4);
}

static void
put64(char *props, size_t offset, uint64_t value)
{
	memcpy(props + offset, &value, 8);
}

static int
get_props(char *props)
{
	int error = fake_fault("props");
	if (error)
		return -error;
	memset(props, 0, OK_PROPS_BYTES);
	put32(props, 8, fake_config.gpu.product);
	put32(props, 24, 850000);
	put64(props, 48, UINT64_C(2) << 30);
	props[56] = 6;
	props[57] = 19;
	props[58] = (char)fake_config.l2;
	put64(props, 104, fake_config.cores);
	put64(props, 112, 1);
	put64(props, 120, 1);
	put32(props, 136, 7u << 24 | 19u << 16);
	put32(props, 240, (uint32_t)fake_gpu_id());
	put32(props, 256, 0x04000400);
	put32(props, 264, fake_config.groups);
	put32(props, 268, fake_config.groups);
	uint64_t half = fake_config.groups > 1 ? fake_config.cores & 0xf : fake_config.cores;
	put64(props, 280, half);
	put64(props, 296, fake_config.cores & ~half);
	/* Groups that do not exist: whatever the kernel left there. */
	if (fake_config.junk)
		memset(props + 280 + 16 * fake_config.groups, 0xff, 16);
	return 0;
}

static int
set_up_reader(struct ok_reader_setup *setup)
{
	struct kb_reader_setup request = {
		.buffers = setup->buffers, .fe = setup->fe, .shader = setup->shader,
		.tiler = setup->tiler, .l2 = setup->l2,
	};
	if (setup->fd != -1)
		fake_misuse(0, "reader set up with fd %d on the way in", setup->fd);
	int fd = fake_vinstr_setup(&request);
	if (fd < 0)
		return fd;
	setup->fd = fd;
	return 0;
}

static int
check_version(struct kbase_old *k, struct ok_version *v)
{
	int error = fake_fault("version");
	if (error)
		return -error;
	k->version_checked = true;
	v->major = (uint16_t)fake_config.major;
	v->minor = (uint16_t)fake_config.minor;
	return 0;
}

static int
set_flags(struct kbase_old *k, const struct ok_flags *flags)
{
	int error = fake_fault("flags");
	if (error)
		return -error;
	if (flags->pad != 0)
		return fake_misuse(EINVAL, "context flags with padding");
	k->has_context = true;
	return 0;
}

static int
serve(struct kbase_old *k, unsigned command, void *argument)
{
	if (command == OK_VERSION)
		return check_version(k, argument);
	if (!k->version_checked)
		return fake_misuse(EPERM, "%#x before the version check", command);
	if (command == OK_SET_FLAGS)
		return set_flags(k, argument);
	if (command == OK_GET_PROPS)
		return get_props(argument);
	if (!k->has_context)
		return -EINVAL;
	return set_up_reader(argument);
}

static int
old_ioctl(struct fake_file *file, unsigned command, void *argument)
{
	static const struct {
		unsigned command;
		uint32_t id;
	} functions[] = {
		{ OK_VERSION, 0 }, { OK_SET_FLAGS, 530 }, { OK_GET_PROPS, 526 },
		{ OK_READER_SETUP, 548 },
	};
	if (fake_gone(0))
		return -ENODEV;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		struct ok_head *head = argument;
		if (functions[i].command != command)
			continue;
		if (head->id != functions[i].id || head->pad != 0) {
			fake_misuse(0, "function %u under the number of %u", head->id,
				    functions[i].id);
			head->id = REFUSED;
			return 0;
		}
		if (fake_rule("refuse", -1, -1, functions[i].id)) {
			head->id = REFUSED;
			return 0;
		}
		int result = serve((struct kbase_old *)file, command, argument);
		head->id = 0;
		return result;
	}
	return -ENOTTY;
}

static void
old_release(struct fake_file *file)
{
	free(file);
}

struct fake_file *
fake_kbase_old_open(void)
{
	static const struct fake_file_ops ops = { .ioctl = old_ioctl, .release = old_release };
	struct kbase_old *k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->file.ops = &ops;
	k->file.what = "kbase before r21";
	return &k->file;
}
