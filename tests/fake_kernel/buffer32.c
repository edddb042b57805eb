/* SPDX-License-Identifier: MIT */
/* Buffers of 32-bit values, as vinstr and panfrost hand them out: blocks of 64 words. */
#include "tests/fake_kernel/kernel.h"

#include <string.h>

#define BLOCK_WORDS 64
#define GROUP_BLOCKS 8
#define GROUP_CORES 4

static uint32_t
n_groups(void)
{
	return fake_highest_core() / GROUP_CORES + 1;
}

uint32_t
fake_buffer_bytes(void)
{
	if (fake_config.gpu.hwver == 4)
		return n_groups() * GROUP_BLOCKS * BLOCK_WORDS * 4;
	return (2 + fake_config.l2 + fake_highest_core() + 1) * BLOCK_WORDS * 4;
}

/* Where the block of an instance is in the buffer. */
static uint32_t
place(unsigned block, uint32_t instance)
{
	if (fake_config.gpu.hwver == 4) {
		static const uint32_t at[] = {
			[FAKE_FRONT] = 7, [FAKE_TILER] = 4, [FAKE_L2] = 5
		};
		if (block != FAKE_CORE)
			return at[block] + instance * GROUP_BLOCKS;
		return instance / GROUP_CORES * GROUP_BLOCKS + instance % GROUP_CORES;
	}
	static const uint32_t at[] = { [FAKE_FRONT] = 0, [FAKE_TILER] = 1, [FAKE_L2] = 2 };
	return block == FAKE_CORE ? 2 + fake_config.l2 + instance : at[block] + instance;
}

static void
fill_block(struct fake_base *base, unsigned block, uint32_t instance, uint32_t mask,
	   uint32_t *out)
{
	uint64_t now = fake_raw_ns();
	out[0] = (uint32_t)now;
	out[1] = (uint32_t)(now >> 32);
	out[2] = mask;
	for (uint32_t c = 4; c < BLOCK_WORDS; c++) {
		uint64_t grown = fake_base_growth(base, block, instance, c);
		if (!(mask >> c / 4 & 1))
			out[c] = 0;
		else
			out[c] = grown > UINT32_MAX ? UINT32_MAX : (uint32_t)grown;
	}
}

uint64_t
fake_buffer_fill(struct fake_base *base, const uint32_t *masks, uint32_t sample, void *out)
{
	uint32_t words[256 * BLOCK_WORDS];
	uint64_t now = fake_base_sample(base);
	/* The values where no core exists mean nothing. */
	memset(words, fake_config.junk ? 0x5a : 0, fake_buffer_bytes());
	for (unsigned block = 0; block < FAKE_BLOCKS; block++) {
		for (uint32_t n = 0; n < fake_n_instances(block); n++) {
			uint32_t instance = fake_instance(block, n);
			uint32_t *at = words + place(block, instance) * BLOCK_WORDS;
			fill_block(base, block, instance, masks[block], at);
			if (fake_rule("off", (int)block, (int)instance, sample))
				memset(at + 4, 0, (BLOCK_WORDS - 4) * 4);
			if (fake_rule("saturate", (int)block, (int)instance, sample))
				memset(at + 4, 0xff, (BLOCK_WORDS - 4) * 4);
		}
	}
	memcpy(out, words, fake_buffer_bytes());
	return now;
}
