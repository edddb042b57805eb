/* SPDX-License-Identifier: MIT */
/* kbase from r21 on: the device file. */
#include "tests/fake_kernel/kernel.h"

#include <errno.h>
#include <stdlib.h>

struct kbase {
	struct fake_file file;
	bool version_checked, has_context;
};

/* ---- what the GPU reports about itself ---- */

uint64_t
fake_gpu_id(void)
{
	uint32_t product = fake_config.gpu.product;
	if (fake_config.longid)
		return (uint64_t)(product >> 12) << 56 | (uint64_t)(product & 0xf) << 32 |
		       0xf0000010;
	return (uint64_t)product << 16 | 0x0010;
}

struct props {
	uint8_t bytes[1024];
	uint32_t n;
};

static void
put(struct props *p, uint32_t id, uint32_t size_code, uint64_t value)
{
	uint32_t key = id << 2 | size_code;
	memcpy(p->bytes + p->n, &key, 4);
	memcpy(p->bytes + p->n + 4, &value, (size_t)1 << size_code);
	p->n += 4 + (1u << size_code);
}

static void
fill_props(struct props *p)
{
	uint64_t half = fake_config.groups > 1 ? fake_config.cores & 0xf : fake_config.cores;
	memset(p, 0, sizeof(*p));
	put(p, 1, 2, fake_config.gpu.product);
	put(p, 2, 1, 0);
	put(p, 3, 1, 1);
	put(p, 4, 1, 0);
	put(p, 6, 2, 850000);
	put(p, 12, 3, UINT64_C(4) << 30);
	put(p, 13, 0, 6);
	put(p, 14, 0, 19);
	if (strcmp(fake_config.props, "nol2") != 0)
		put(p, 15, 0, fake_config.l2);
	put(p, 25, 3, strcmp(fake_config.props, "nocores") == 0 ? 0 : fake_config.cores);
	put(p, 26, 3, 1);
	put(p, 27, 3, 1);
	put(p, 29, 2, 7u << 24 | 19u << 16);
	put(p, 30, 2, 2);
	put(p, 200, 3, UINT64_MAX); /* an unknown property */
	if (strcmp(fake_config.props, "noid") != 0)
		put(p, 55, fake_config.longid ? 3 : 2, fake_gpu_id());
	put(p, 59, 2, 0x04000400);
	put(p, 61, 2, fake_config.groups);
	put(p, 62, 2, fake_config.groups);
	uint64_t masks[16] = { half, fake_config.cores & ~half };
	for (uint32_t i = 0; i < 16; i++)
		put(p, 64 + i, 3, masks[i]);
	if (strcmp(fake_config.props, "nocores") == 0) {
		for (uint32_t i = 0; i < 2; i++)
			memset(p->bytes + p->n - (16 - i) * 12 + 4, 0, 8);
	}
	if (strcmp(fake_config.props, "cut") == 0)
		p->n -= 3;
}

static int
get_props(const struct kb_props *request)
{
	struct props p;
	int error = fake_fault("props");
	if (error)
		return -error;
	fill_props(&p);
	if (request->flags != 0)
		return fake_misuse(EINVAL, "properties with flags %u", request->flags);
	if (request->size == 0)
		return (int)p.n;
	if (request->size < p.n)
		return fake_misuse(EINVAL, "properties into %u bytes", request->size);
	if (!request->buffer)
		return fake_misuse(EFAULT, "properties into nothing");
	memcpy((void *)(uintptr_t)request->buffer, p.bytes, p.n);
	return (int)p.n;
}

/* ---- handshake ---- */

static int
check_version(struct kbase *k, struct kb_version *v)
{
	int error = fake_fault("version");
	if (error)
		return -error;
	uint16_t major = (uint16_t)fake_config.major, minor = (uint16_t)fake_config.minor;
	if (v->major == major && v->minor < minor)
		minor = v->minor;
	v->major = major;
	v->minor = minor;
	k->version_checked = true;
	return 0;
}

static int
set_flags(struct kbase *k, const struct kb_flags *flags)
{
	int error = fake_fault("flags");
	if (error)
		return -error;
	if (k->has_context)
		return -EPERM;
	if (flags->flags & ~3u)
		return fake_misuse(EINVAL, "context flags %#x", flags->flags);
	if (!(flags->flags & 2))
		fake_misuse(0, "a context that could submit jobs");
	k->has_context = true;
	return 0;
}

static bool
at_least(uint32_t jm, uint32_t csf)
{
	return fake_config.csf ? fake_config.major > 1 || fake_config.minor >= csf
			       : fake_config.major > 11 ||
					 (fake_config.major == 11 && fake_config.minor >= jm);
}

static bool
has_vinstr(void)
{
	return fake_config.gpu.n_values == 64 && !at_least(40, 21);
}

static int
glb_iface(union kb_glb_iface *iface)
{
	int error = fake_fault("iface");
	if (error)
		return -error;
	memset(iface, 0, sizeof(*iface));
	iface->out.version = 0x01010000;
	iface->out.n_groups = 8;
	iface->out.n_streams = 64;
	return 0;
}

/* Requests that are served once there is a context. */
static int
context_ioctl(struct kbase *k, unsigned command, void *argument)
{
	if (!k->has_context)
		return -EPERM;
	if (command == KB_READER_SETUP && has_vinstr())
		return fake_vinstr_setup(argument);
	if (command == KB_GLB_IFACE && fake_config.csf)
		return glb_iface(argument);
	return -ENOTTY;
}

static int
kbase_ioctl(struct fake_file *file, unsigned command, void *argument)
{
	struct kbase *k = (struct kbase *)file;
	if (fake_gone(0))
		return -ENODEV;
	if (command == (fake_config.csf ? KB_VERSION_CSF : KB_VERSION_JM))
		return check_version(k, argument);
	/* Asks which kind of kernel this is; the question for the other kind is refused. */
	if (command == KB_VERSION_JM || command == KB_VERSION_CSF || command == OK_VERSION)
		return -EPERM;
	if (!k->version_checked)
		return fake_misuse(EPERM, "%#x before the version check", command);
	switch (command) {
	case KB_SET_FLAGS:
		return set_flags(k, argument);
	case KB_GET_PROPS:
		return get_props(argument);
	case KB_PRFCNT_ENUM:
		return at_least(34, 10) ? fake_kinstr_enum(argument) : -ENOTTY;
	case KB_PRFCNT_SETUP:
		return at_least(34, 10) ? fake_kinstr_setup(argument) : -ENOTTY;
	default:
		return context_ioctl(k, command, argument);
	}
}

static void
kbase_release(struct fake_file *file)
{
	free(file);
}

struct fake_file *
fake_kbase_open(void)
{
	static const struct fake_file_ops ops = { .ioctl = kbase_ioctl,
						  .release = kbase_release };
	struct kbase *k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->file.ops = &ops;
	k->file.what = "kbase";
	return &k->file;
}
