/* SPDX-License-Identifier: MIT */
/* kinstr_prfcnt: what can be counted, and setting up a reader. kinstr_reader.c has the rest. */
#include "tests/fake_kernel/kinstr.h"

#include <errno.h>
#include <stdlib.h>

#define REQUEST_BYTES 32
#define MAX_REQUESTS 32
#define LEAST_PERIOD_NS 100000

/* ---- the list of what can be counted ---- */

struct list {
	uint8_t bytes[24 * 128];
	uint32_t n, stride;
};

static struct pc_enum *
add_item(struct list *l, uint16_t type)
{
	struct pc_enum *item = (struct pc_enum *)(void *)(l->bytes + (size_t)l->n++ * l->stride);
	memset(item, 0, l->stride);
	/* Items that a later kernel may add. */
	memset((char *)item + sizeof(*item), 0x5a, l->stride - sizeof(*item));
	item->head.type = type;
	return item;
}

static void
add_request(struct list *l, uint16_t kind)
{
	struct pc_enum *item = add_item(l, PC_ENUM_REQUEST);
	item->u.request.kind = kind;
	item->u.request.versions = 1;
}

static void
add_block(struct list *l, uint8_t type, uint32_t n, uint32_t n_values)
{
	struct pc_enum *item = add_item(l, PC_ENUM_BLOCK);
	item->u.block.type = type;
	item->u.block.set = (uint8_t)fake_config.set;
	item->u.block.n_instances = (uint16_t)n;
	item->u.block.n_values = (uint16_t)n_values;
	item->u.block.mask[0] = UINT64_MAX;
	item->u.block.mask[1] = n_values > 64 ? UINT64_MAX : 0;
}

static bool
wrong(const char *how)
{
	return strcmp(fake_config.lists, how) == 0;
}

static void
add_blocks(struct list *l)
{
	uint32_t n_values = fake_config.gpu.n_values;
	for (uint8_t block = 0; block < FAKE_BLOCKS; block++) {
		uint32_t n = fake_n_instances(block);
		if (wrong("nocore") && block == FAKE_CORE)
			continue;
		if (wrong("manycores") && block == FAKE_CORE)
			n = 300;
		add_block(l, block, n,
			  wrong("mixed") && block == FAKE_L2 ? n_values / 2 : n_values);
		if (wrong("doubled") && block == FAKE_L2)
			add_block(l, block, n, n_values);
	}
	if (fake_config.unknown) {
		add_block(l, 6, 3, n_values);
		add_item(l, 0x0007)->u.request.kind = 99;
	}
}

static void
make_list(struct list *l)
{
	memset(l, 0, sizeof(*l));
	l->stride = (uint32_t)sizeof(struct pc_enum) + fake_config.enum_extra;
	if (!wrong("nomode"))
		add_request(l, 0);
	add_request(l, 1);
	if (fake_config.unknown)
		add_request(l, 77);
	if (!wrong("nosample"))
		add_item(l, PC_ENUM_SAMPLE)->u.sample.n_domains = fake_config.domains;
	add_blocks(l);
	if (!wrong("endless")) {
		struct pc_enum *end = add_item(l, PC_ENUM_BLOCK);
		memset(end, 0, l->stride);
	}
}

int
fake_kinstr_enum(struct kb_enum_info *info)
{
	struct list l;
	int error = fake_fault("enum");
	if (error)
		return -error;
	make_list(&l);
	if (info->list == 0) {
		if (info->item_size != 0 || info->n_items != 0)
			fake_misuse(0, "asks for the list's size and tells one");
		info->item_size = wrong("small") ? 16 : l.stride;
		info->n_items = wrong("huge") ? UINT32_MAX : wrong("empty") ? 0 : l.n;
		return 0;
	}
	if (info->item_size != l.stride || info->n_items != l.n)
		return fake_misuse(EINVAL, "a list of %u items of %u bytes, there are %u of %u",
				   info->n_items, info->item_size, l.n, l.stride);
	memcpy((void *)(uintptr_t)info->list, l.bytes, (size_t)l.n * l.stride);
	if (wrong("short"))
		info->n_items = 3;
	return 0;
}

/* ---- setting up ---- */

static bool
all_zero(const void *at, size_t n)
{
	const uint8_t *bytes = at;
	for (size_t i = 0; i < n; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

struct wishes {
	struct kinstr_wish wish;
	uint32_t n_modes, n_enables;
};

static int
parse_mode(const struct pc_request *r, struct wishes *w)
{
	if (!all_zero(r->u.mode.pad, sizeof(r->u.mode.pad)) ||
	    !all_zero(&r->u.mode.period + 1, sizeof(wire_u64)))
		return fake_misuse(EINVAL, "padding of a mode item is not 0");
	if (r->u.mode.mode > 1 || (r->u.mode.mode == 0) != (r->u.mode.period == 0))
		return fake_misuse(EINVAL, "mode %u with a period of %llu ns", r->u.mode.mode,
				   (unsigned long long)r->u.mode.period);
	if (w->n_modes++ > 0)
		return fake_misuse(EINVAL, "two mode items");
	w->wish.period_ns = r->u.mode.period;
	if (w->wish.period_ns && w->wish.period_ns < LEAST_PERIOD_NS)
		w->wish.period_ns = LEAST_PERIOD_NS;
	return 0;
}

static int
parse_enable(const struct pc_request *r, struct wishes *w)
{
	if (!all_zero(r->u.enable.pad, sizeof(r->u.enable.pad)))
		return fake_misuse(EINVAL, "padding of an enable item is not 0");
	if (r->u.enable.set != fake_config.set)
		return fake_misuse(EINVAL, "counter set %u, the kernel has %u", r->u.enable.set,
				   fake_config.set);
	if (r->u.enable.type >= FAKE_BLOCKS)
		return fake_misuse(EINVAL, "block type %u", r->u.enable.type);
	w->n_enables++;
	w->wish.mask[r->u.enable.type][0] |= r->u.enable.mask[0];
	w->wish.mask[r->u.enable.type][1] |= r->u.enable.mask[1];
	w->wish.enabled[r->u.enable.type] = true;
	return 0;
}

static int
parse_request(const struct pc_request *r, struct wishes *w)
{
	if (r->head.version != 0 || r->head.pad != 0)
		return fake_misuse(EINVAL, "item version %u, padding %#x", r->head.version,
				   r->head.pad);
	switch (r->head.type) {
	case PC_MODE:
		return parse_mode(r, w);
	case PC_ENABLE:
		return parse_enable(r, w);
	case PC_SCOPE:
		if (fake_config.noscope)
			return -EINVAL;
		return all_zero(&r->u, sizeof(r->u))
			       ? 0
			       : fake_misuse(EINVAL, "a scope not global");
	default:
		return fake_misuse(EINVAL, "request item of type %#x", r->head.type);
	}
}

int
fake_kinstr_setup(union kb_prfcnt_setup *setup)
{
	const struct pc_request *items = (const void *)(uintptr_t)setup->in.items;
	struct wishes w;
	uint32_t n = setup->in.n_items;
	struct list l;
	int error = fake_fault("setup");
	if (error)
		return -error;
	make_list(&l);
	memset(&w, 0, sizeof(w));
	if (setup->in.item_size != REQUEST_BYTES || n < 2 || n > MAX_REQUESTS || n > 2 * l.n)
		return fake_misuse(EINVAL, "%u request items of %u bytes", n,
				   setup->in.item_size);
	if (!items)
		return fake_misuse(EFAULT, "no request items");
	if (!all_zero(&items[n - 1], REQUEST_BYTES))
		return fake_misuse(EINVAL, "the last request item is not zero");
	for (uint32_t i = 0; i + 1 < n; i++) {
		int result = parse_request(&items[i], &w);
		if (result < 0)
			return result;
	}
	if (w.n_modes == 0 || w.n_enables == 0)
		return fake_misuse(EINVAL, "%u mode and %u enable items", w.n_modes,
				   w.n_enables);
	return fake_kinstr_open(&w.wish, setup);
}
