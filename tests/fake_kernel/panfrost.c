/* SPDX-License-Identifier: MIT */
/* panfrost: a render node with performance counters, and panthor, which has none. */
#include "tests/fake_kernel/kernel.h"

#include <errno.h>
#include <stdlib.h>

struct panfrost {
	struct fake_file file;
	const char *driver;
	struct fake_base base;
	bool owner;
	/* The GPU was reset and no longer counts: dumps wait in vain, or are empty. */
	bool waits, is_empty;
	uint32_t set, n_samples;
	uint64_t last_raw_ns;
};

static struct panfrost *owner; /* one in the whole system */

static int
copy_text(const char *text, char *out, size_t *bytes)
{
	size_t n = strlen(text) < *bytes ? strlen(text) : *bytes;
	/* No NUL: the text is counted bytes. */
	if (n && out)
		memcpy(out, text, n);
	*bytes = strlen(text);
	return 0;
}

static int
version(const struct panfrost *p, struct pf_version *v)
{
	int error = fake_fault("version");
	if (error)
		return -error;
	v->major = (int32_t)fake_config.major;
	v->minor = (int32_t)fake_config.minor;
	v->patch = 0;
	copy_text(p->driver, v->name, &v->name_bytes);
	copy_text("20180908", v->date, &v->date_bytes);
	return copy_text("a GPU that is not there", v->text, &v->text_bytes);
}

static uint64_t
mem_features(void)
{
	return (uint64_t)(fake_config.l2 - 1) << 8 | 1;
}

static int
param(struct pf_param *p)
{
	int error = fake_fault("param");
	uint32_t product = fake_config.gpu.product;
	if (error)
		return -error;
	if (p->pad != 0)
		return fake_misuse(EINVAL, "parameter %u with padding", p->param);
	switch (p->param) {
	case 0:
		p->value = product == 0x6956 ? 0x0600 : product;
		return 0;
	case 1:
		p->value = 0x1010;
		return 0;
	case 2:
		p->value = fake_config.cores;
		return 0;
	case 3:
		p->value = 1;
		return 0;
	case 4:
		/* Layout 4 has an L2 for each core group; in other layouts the slices are one
		 * L2. */
		p->value = fake_config.gpu.hwver == 4 ? 0x11 >> (fake_config.l2 < 2 ? 4 : 0) : 1;
		return 0;
	case 8:
		p->value = 7u << 24 | 19u << 16;
		return 0;
	case 9:
		p->value = 2;
		return 0;
	case 11:
		p->value = mem_features();
		return 0;
	case 13:
		p->value = 0x04000400;
		return 0;
	default:
		if (p->param > 40)
			return -EINVAL;
		p->value = 0;
		return 0;
	}
}

static int
enable(struct panfrost *p, const struct pf_enable *e)
{
	int error = fake_fault(e->enable ? "enable" : "disable");
	if (error)
		return -error;
	if (!fake_config.unstable)
		return -ENOSYS;
	if (e->enable == 0) {
		if (!p->owner)
			return fake_misuse(EINVAL, "disabled by who had not enabled it");
		p->owner = false;
		owner = NULL;
		return 0;
	}
	if (fake_config.busy || (owner && owner != p))
		return -EBUSY;
	if (e->set > (fake_config.gpu.product >= 0x1000 ? 1 : 0))
		return fake_misuse(EINVAL, "counter set %u", e->set);
	if (p->owner)
		return 0;
	p->owner = true;
	p->waits = p->is_empty = false;
	owner = p;
	p->set = e->set;
	fake_base_reset(&p->base);
	p->last_raw_ns = fake_raw_ns();
	return 0;
}

static int
dump(struct panfrost *p, const struct pf_dump *d)
{
	static const uint32_t all[FAKE_BLOCKS] = { UINT32_MAX, UINT32_MAX, UINT32_MAX,
						   UINT32_MAX };
	int error = fake_fault("sample");
	if (error)
		return -error;
	if (!fake_config.unstable)
		return -ENOSYS;
	if (!p->owner)
		return fake_misuse(EINVAL, "a dump by who has not enabled it");
	p->n_samples++;
	if (!d->buffer)
		return fake_misuse(EFAULT, "a dump into nothing");
	p->waits |= fake_rule("reset", -1, -1, p->n_samples) != NULL;
	p->is_empty |= fake_rule("forgotten", -1, -1, p->n_samples) != NULL;
	if (p->waits)
		return -ETIMEDOUT;
	/* The whole buffer, even if the caller's is smaller. */
	uint64_t now = fake_buffer_fill(&p->base, all, p->n_samples,
					(void *)(uintptr_t)d->buffer);
	fake_count_sample(p->last_raw_ns, now);
	p->last_raw_ns = now;
	if (p->is_empty)
		memset((void *)(uintptr_t)d->buffer, 0, fake_buffer_bytes());
	return 0;
}

static int
panfrost_ioctl(struct fake_file *file, unsigned command, void *argument)
{
	struct panfrost *p = (struct panfrost *)file;
	if (fake_gone(p->n_samples + 1))
		return -ENODEV;
	if (command == PF_VERSION)
		return version(p, argument);
	if (strcmp(p->driver, "panfrost") != 0)
		return fake_misuse(EINVAL, "%#x to the driver %s", command, p->driver);
	switch (command) {
	case PF_PARAM:
		return param(argument);
	case PF_ENABLE:
		return enable(p, argument);
	case PF_DUMP:
		return dump(p, argument);
	default:
		return fake_misuse(EINVAL, "%#x to panfrost", command);
	}
}

static void
panfrost_release(struct fake_file *file)
{
	if (owner == (struct panfrost *)file)
		owner = NULL;
	free(file);
}

struct fake_file *
fake_panfrost_open(const char *driver)
{
	static const struct fake_file_ops ops = {
		.ioctl = panfrost_ioctl,
		.release = panfrost_release,
	};
	struct panfrost *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->file.ops = &ops;
	p->file.what = driver;
	p->driver = driver;
	return &p->file;
}
