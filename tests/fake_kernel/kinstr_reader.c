/* SPDX-License-Identifier: MIT */
/* kinstr_prfcnt: one reader, its samples and their layout in the shared memory. */
#include "tests/fake_kernel/kinstr.h"

#include <errno.h>
#include <stdlib.h>

#define N_SLOTS 32
#define META_BYTES ((uint32_t)sizeof(struct pc_meta) + fake_config.meta_extra)

struct kinstr {
	struct fake_file file;
	struct kinstr_wish wish;
	struct fake_base base;
	int memory_fd;
	uint8_t *memory;
	uint32_t slot_bytes, map_bytes;
	struct {
		uint64_t seq;
		uint32_t slot;
	} waiting[N_SLOTS]; /* oldest first */
	uint32_t n_waiting, next_slot;
	bool taken, active, overflow;
	struct pc_access given;
	uint64_t seq, user_data, last_raw_ns, due_ns;
	uint32_t n_samples;
};

/* ---- one sample ---- */

struct place {
	uint8_t *meta, *values; /* positions of the next items */
};

static struct pc_meta *
add_meta(struct place *at, uint16_t type)
{
	struct pc_meta *meta = (struct pc_meta *)(void *)at->meta;
	memset(at->meta, 0, META_BYTES);
	memset(at->meta + sizeof(*meta), 0x5a, META_BYTES - sizeof(*meta));
	meta->head.type = type;
	at->meta += META_BYTES;
	return meta;
}

/* Whether the block's values are as usual; otherwise they are all 0. */
static bool
block_state(const struct kinstr *k, unsigned block, uint32_t instance, uint32_t *state)
{
	int b = (int)block, i = (int)instance;
	bool off = fake_rule("off", b, i, k->n_samples);
	bool protected = fake_rule("protected", b, i, k->n_samples);
	bool away = fake_rule("unavailable", b, i, k->n_samples);
	bool told = fake_config.csf ? fake_config.major > 1 || fake_config.minor >= 23
				    : fake_config.major > 11 || fake_config.minor >= 41;
	*state = off ? PC_OFF : PC_ON;
	if (fake_rule("partly", b, i, k->n_samples))
		*state = PC_ON | PC_OFF;
	if (fake_config.csf)
		*state |= protected ? PC_PROTECTED : PC_NORMAL;
	else
		*state |= away ? PC_UNAVAILABLE : PC_AVAILABLE;
	if (!told)
		*state = 0;
	return !off && !protected && !away;
}

static void
add_block(struct kinstr *k, struct place *at, unsigned block, uint32_t n)
{
	uint32_t instance = fake_instance(block, n);
	struct pc_meta *meta = add_meta(at, PC_META_BLOCK);
	uint64_t *values = (uint64_t *)(void *)at->values;
	const uint64_t *mask = k->wish.mask[block];
	uint32_t state = 0, n_values = fake_config.gpu.n_values;
	bool usual = block_state(k, block, instance, &state);

	meta->u.block.type = (uint8_t)block;
	meta->u.block.index = (uint8_t)(fake_config.phys ? instance : n);
	meta->u.block.set = (uint8_t)fake_config.set;
	meta->u.block.state = state;
	meta->u.block.offset = (uint32_t)(at->values - k->memory);
	if (fake_rule("outside", (int)block, (int)instance, k->n_samples))
		meta->u.block.offset = k->map_bytes - 8;
	memset(values, 0, n_values * 8);
	values[0] = (uint32_t)k->last_raw_ns;
	values[1] = k->last_raw_ns >> 32;
	values[2] = UINT32_MAX;
	for (uint32_t c = 4; c < n_values; c++) {
		uint64_t grown = fake_base_growth(&k->base, block, instance, c);
		if (usual && k->wish.enabled[block] && mask[c / 64] >> c % 64 & 1)
			values[c] = grown;
	}
	at->values += n_values * 8;
}

static void
add_sample(struct kinstr *k, struct place *at, uint64_t begin, uint64_t end, uint64_t user_data)
{
	struct pc_meta *meta = add_meta(at, PC_META_SAMPLE);
	meta->u.sample.begin = begin;
	meta->u.sample.end = end;
	meta->u.sample.seq = k->seq;
	meta->u.sample.user_data = user_data;
	if (k->overflow || fake_rule("overflow", -1, -1, k->n_samples))
		meta->u.sample.flags |= PC_OVERFLOW;
	if (fake_rule("error", -1, -1, k->n_samples))
		meta->u.sample.flags |= PC_ERROR;
}

static void
add_clock(struct place *at, uint64_t cycles)
{
	struct pc_meta *meta = add_meta(at, PC_META_CLOCK);
	meta->u.clock.n_domains = fake_config.domains;
	for (uint32_t i = 0; i < fake_config.domains && i < 4; i++)
		meta->u.clock.cycles[i] = cycles * (i + 1);
}

static void
fill_slot(struct kinstr *k, uint32_t slot, uint64_t user_data)
{
	uint32_t n_blocks = 0;
	uint64_t begin = k->last_raw_ns, end = fake_base_sample(&k->base);
	uint64_t cycles = fake_base_cycles(&k->base);
	for (unsigned block = 0; block < FAKE_BLOCKS; block++)
		n_blocks += fake_n_instances(block);
	uint8_t *start = k->memory + (size_t)slot * k->slot_bytes;
	uint8_t *values = start + (((size_t)n_blocks + 6) * META_BYTES + 63) / 64 * 64;
	struct place at = { start, values };

	k->last_raw_ns = end;
	if (!fake_rule("nosample", -1, -1, k->n_samples))
		add_sample(k, &at, begin, end, user_data);
	if (fake_rule("twosamples", -1, -1, k->n_samples))
		add_sample(k, &at, begin, end, user_data);
	if (fake_config.unknown)
		add_meta(&at, 0x2009);
	if (!fake_rule("noclock", -1, -1, k->n_samples))
		add_clock(&at, cycles);
	for (unsigned block = 0; block < FAKE_BLOCKS; block++) {
		for (uint32_t n = 0; n < fake_n_instances(block); n++) {
			uint32_t instance = fake_instance(block, n);
			if (!k->wish.enabled[block] && !fake_config.all_blocks)
				continue;
			struct place before = at;
			add_block(k, &at, block, n);
			if (fake_rule("missing", (int)block, (int)instance, k->n_samples))
				at = before;
			if (fake_rule("doubled", (int)block, (int)instance, k->n_samples))
				add_block(k, &at, block, n);
		}
	}
	if (fake_rule("noend", -1, -1, k->n_samples))
		memset(at.meta, 0x22, (size_t)(values - at.meta));
	else
		memset(at.meta, 0, META_BYTES);
}

/* One more sample; false: it was lost on the way to the reader. */
static void
make_sample(struct kinstr *k, uint64_t user_data)
{
	uint32_t slot = k->next_slot;
	k->n_samples++;
	uint64_t since = k->last_raw_ns;
	fill_slot(k, slot, user_data);
	fake_count_sample(since, k->last_raw_ns);
	k->overflow = false;
	k->next_slot = (slot + 1) % N_SLOTS;
	if (fake_rule("lose", -1, -1, k->n_samples)) {
		/* A sample in between that no reader gets: its number and its deltas are
		 * lost. */
		k->seq++;
		fill_slot(k, slot, user_data);
	}
	k->waiting[k->n_waiting].seq = k->seq++;
	k->waiting[k->n_waiting++].slot = slot;
}

/* Periodic readers: makes the samples that have become due since the last call. */
static void
catch_up(struct kinstr *k)
{
	uint64_t now = fake_raw_ns();
	while (k->active && k->wish.period_ns && now >= k->due_ns) {
		if (k->n_waiting < N_SLOTS - 1)
			make_sample(k, k->user_data);
		else
			k->overflow = true;
		k->due_ns += k->wish.period_ns;
		if (k->n_waiting == N_SLOTS - 1 && now > k->due_ns)
			k->due_ns = now;
	}
}

/* ---- commands ---- */

static int
start(struct kinstr *k, uint64_t user_data)
{
	int error = fake_fault("start");
	if (error)
		return -error;
	if (k->active)
		return 0;
	if (k->n_waiting == N_SLOTS)
		return -EBUSY;
	k->active = true;
	k->user_data = user_data;
	fake_base_reset(&k->base);
	k->last_raw_ns = fake_raw_ns();
	k->due_ns = k->last_raw_ns + k->wish.period_ns;
	return 0;
}

static int
sample(struct kinstr *k, uint64_t user_data)
{
	int error = fake_fault("sample");
	if (error)
		return -error;
	if (!k->active || k->wish.period_ns)
		return fake_misuse(EINVAL, "a sample from a reader that is not started by hand");
	if (k->n_waiting >= N_SLOTS - 1)
		return -EBUSY;
	make_sample(k, user_data);
	return 0;
}

static int
stop(struct kinstr *k, uint64_t user_data)
{
	int error = fake_fault("stop");
	if (error)
		return -error;
	if (!k->active)
		return fake_misuse(EINVAL, "stop without start");
	k->active = false;
	/* The last slot is reserved for this sample. */
	if (k->n_waiting < N_SLOTS)
		make_sample(k, user_data);
	return 0;
}

static int
command(struct kinstr *k, const struct pc_command *c)
{
	if (c->pad[0] | c->pad[1] | c->pad[2])
		return fake_misuse(EINVAL, "padding of a command is not 0");
	switch (c->command) {
	case PC_START:
		return start(k, c->user_data);
	case PC_STOP:
		return stop(k, c->user_data);
	case PC_SAMPLE:
		return sample(k, c->user_data);
	case PC_DISCARD:
		k->n_waiting = k->taken ? 1 : 0;
		return -fake_fault("discard");
	default:
		return fake_misuse(EINVAL, "command %u", c->command);
	}
}

static int
get(struct kinstr *k, struct pc_access *out)
{
	int error = fake_fault("get");
	if (error)
		return -error;
	if (k->taken)
		return fake_misuse(EBUSY, "a sample taken before the last was put back");
	if (k->n_waiting == 0 || fake_rule("late", -1, -1, k->n_samples))
		return -EINVAL;
	k->given.sequence = k->waiting[0].seq;
	k->given.offset = (uint64_t)k->waiting[0].slot * k->slot_bytes;
	k->taken = true;
	*out = k->given;
	if (fake_rule("faraway", -1, -1, k->n_samples))
		out->offset = k->given.offset = UINT64_C(0xfffffffffffff000);
	return 0;
}

static int
put_back(struct kinstr *k, const struct pc_access *access)
{
	int error = fake_fault("put");
	if (error)
		return -error;
	if (!k->taken || access->sequence != k->given.sequence ||
	    access->offset != k->given.offset)
		return fake_misuse(EINVAL, "put back what was not taken");
	/* A program that still reads it afterwards reads nonsense. */
	memset(k->memory + (size_t)k->waiting[0].slot * k->slot_bytes, 0xa5, k->slot_bytes);
	memmove(&k->waiting[0], &k->waiting[1], --k->n_waiting * sizeof(k->waiting[0]));
	k->taken = false;
	return 0;
}

static int
kinstr_ioctl(struct fake_file *file, unsigned number, void *argument)
{
	struct kinstr *k = (struct kinstr *)file;
	if (fake_gone(k->n_samples + 1))
		return -ENODEV;
	catch_up(k);
	switch (number) {
	case PC_CMD:
		return command(k, argument);
	case PC_GET:
		return get(k, argument);
	case PC_PUT:
		return put_back(k, argument);
	default:
		return fake_misuse(ENOTTY, "%#x to a kinstr reader", number);
	}
}

/* ---- the file ---- */

static int
kinstr_ready(struct fake_file *file)
{
	struct kinstr *k = (struct kinstr *)file;
	if (fake_gone(k->n_samples + 1))
		return -ENODEV;
	catch_up(k);
	return k->n_waiting > 0 && !k->taken;
}

static int
kinstr_map(struct fake_file *file, size_t *bytes)
{
	struct kinstr *k = (struct kinstr *)file;
	*bytes = k->map_bytes;
	return k->memory_fd;
}

static void
kinstr_release(struct fake_file *file)
{
	struct kinstr *k = (struct kinstr *)file;
	fake_memory_free(k->memory_fd, k->memory, k->map_bytes);
	free(k);
}

static const struct fake_file_ops ops = {
	.ioctl = kinstr_ioctl,
	.ready = kinstr_ready,
	.map = kinstr_map,
	.release = kinstr_release,
};

int
fake_kinstr_open(const struct kinstr_wish *wish, union kb_prfcnt_setup *setup)
{
	uint32_t n_blocks = 0;
	struct kinstr *k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	for (unsigned block = 0; block < FAKE_BLOCKS; block++)
		n_blocks += fake_n_instances(block);
	k->file.ops = &ops;
	k->file.what = "kinstr reader";
	k->wish = *wish;
	k->slot_bytes = ((n_blocks + 6) * META_BYTES + 63) / 64 * 64 +
			(n_blocks + 2) * fake_config.gpu.n_values * 8;
	k->map_bytes = N_SLOTS * k->slot_bytes;
	k->memory_fd = fake_memory(k->map_bytes, (void **)&k->memory);
	int fd = k->memory_fd < 0 ? -ENOMEM : fake_file_add(&k->file);
	if (fd < 0) {
		if (k->memory_fd >= 0)
			fake_memory_free(k->memory_fd, k->memory, k->map_bytes);
		free(k);
		return fd;
	}
	setup->out.meta_size = strcmp(fake_config.lists, "smallmeta") == 0 ? 24 : META_BYTES;
	setup->out.map_bytes = k->map_bytes;
	return fd;
}
