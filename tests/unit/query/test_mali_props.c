/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "query/mali/abi.h"
#include "query/mali/kbase_device.h"

struct pairs {
	uint8_t data[512];
	size_t size;
};

/* Packed as by the kernel: the value's size in the key's lower bits. */
static void
add(struct pairs *pairs, uint32_t id, unsigned log2_bytes, uint64_t value)
{
	uint32_t key = id << 2 | log2_bytes;
	memcpy(pairs->data + pairs->size, &key, sizeof(key));
	pairs->size += sizeof(key);
	for (unsigned i = 0; i < 1u << log2_bytes; i++)
		pairs->data[pairs->size++] = (uint8_t)(value >> (8 * i));
}

static void
test_g715(void)
{
	struct pairs pairs = { .size = 0 };
	struct tally_mali_props props;

	add(&pairs, 55, 2, 0xb0020000);
	add(&pairs, 14, 0, 19);
	add(&pairs, 15, 0, 4);
	add(&pairs, 29, 2, 0x07130206);
	add(&pairs, 30, 2, 3);
	add(&pairs, 59, 2, 0x2000);
	add(&pairs, 25, 3, 0x1ff);
	add(&pairs, 27, 3, 0x111);
	add(&pairs, 62, 0, 2);
	add(&pairs, 64, 3, 0x55);
	add(&pairs, 65, 3, 0x500000000);
	add(&pairs, 66, 3, 0xf0000); /* a third group that does not exist */
	add(&pairs, 4000, 3, 12345); /* of a newer kernel */
	g_assert_true(tally_kbase_parse_props(pairs.data, pairs.size, &props));
	g_assert_cmphex(props.gpu_id, ==, 0xb0020000);
	g_assert_cmpuint(props.l2_slices, ==, 4);
	g_assert_cmpuint(props.l2_slice_bytes, ==, 524288);
	g_assert_cmpuint(props.bus_bits, ==, 128);
	g_assert_cmpuint(props.core_features, ==, 3);
	g_assert_cmphex(props.thread_features, ==, 0x2000);
	g_assert_cmphex(props.core_mask, ==, 0x500000055);
	g_assert_cmpuint(tally_mali_count_cores(&props), ==, 6);
}

static void
test_sparse(void)
{
	struct pairs pairs = { .size = 0 };
	struct tally_mali_props props;

	/* Properties that have to be read from elsewhere; nonsense counts as unknown. */
	add(&pairs, 55, 3, 0xfb00000200000000);
	add(&pairs, 25, 1, 0x8001);
	add(&pairs, 27, 1, 0x1111);
	add(&pairs, 15, 3, 0x100000001);
	add(&pairs, 14, 0, 200);
	add(&pairs, 29, 2, 0xff000000);
	g_assert_true(tally_kbase_parse_props(pairs.data, pairs.size, &props));
	g_assert_cmphex(props.gpu_id, ==, 0xfb00000200000000);
	g_assert_cmphex(props.core_mask, ==, 0x8001);
	g_assert_cmpuint(props.l2_slices, ==, 4);
	g_assert_cmpuint(props.l2_slice_bytes, ==, 0);
	g_assert_cmpuint(props.bus_bits, ==, 0);

	g_assert_true(tally_kbase_parse_props(pairs.data, 0, &props));
	g_assert_cmphex(props.core_mask, ==, 0);
	g_assert_cmpuint(props.l2_slices, ==, 0);
}

/* Every length except those at which a pair ends is an error, and nothing beyond the end is
 * read. */
static void
test_cut(void)
{
	struct pairs pairs = { .size = 0 };
	size_t ends[5] = { 0 };

	for (unsigned i = 0; i < 4; i++) {
		add(&pairs, 64 + i, i, 1);
		ends[i + 1] = pairs.size;
	}
	for (size_t size = 0; size <= pairs.size; size++) {
		struct tally_mali_props props;
		g_autofree uint8_t *copy = g_memdup2(pairs.data, size ? size : 1);
		bool whole = false;
		for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++)
			whole |= size == ends[i];
		g_assert_cmpint(tally_kbase_parse_props(copy, size, &props), ==, whole);
	}
}

static void
test_old(void)
{
	struct kbase_old_props old = {
		.gpu_id = 0x60010000,
		.l2_log2_cache_size = 18,
		.l2_slices = 2,
		.l2_features = 0x07120206,
		.thread_features = 0x4008,
		.shader_present = 0xff,
		.l2_present = 0x11,
		.n_core_groups = 1,
		.groups = { { .core_mask = 0x0f }, { .core_mask = 0xf0 } },
	};
	struct tally_mali_props props;

	tally_kbase_read_old_props(&old, &props);
	g_assert_cmphex(props.gpu_id, ==, 0x60010000);
	g_assert_cmphex(props.core_mask, ==, 0x0f);
	g_assert_cmpuint(props.l2_slices, ==, 2);
	g_assert_cmpuint(props.l2_slice_bytes, ==, 262144);
	g_assert_cmpuint(props.bus_bits, ==, 128);
	g_assert_cmpuint(props.core_features, ==, 0);
	g_assert_cmphex(props.thread_features, ==, 0x4008);
	/* More groups than the kernel has room for. */
	old.n_core_groups = 1000;
	tally_kbase_read_old_props(&old, &props);
	g_assert_cmphex(props.core_mask, ==, 0xff);
}

static void
test_versions(void)
{
	static const struct {
		bool csf;
		uint16_t major, minor;
		bool at_least; /* JM 11.34, CSF 1.10 */
	} cases[] = {
		{ false, 11, 33, false }, { false, 11, 34, true }, { false, 12, 0, true },
		{ false, 1, 40, false },  { true, 1, 9, false },   { true, 1, 10, true },
		{ true, 2, 0, true },     { true, 0, 99, false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct tally_kbase dev = {
			.csf = cases[i].csf,
			.major = cases[i].major,
			.minor = cases[i].minor,
		};
		g_assert_cmpint(tally_kbase_at_least(&dev, 11, 34, 1, 10), ==,
				cases[i].at_least);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/mali-props/g715", test_g715);
	g_test_add_func("/mali-props/sparse", test_sparse);
	g_test_add_func("/mali-props/cut", test_cut);
	g_test_add_func("/mali-props/old", test_old);
	g_test_add_func("/mali-props/versions", test_versions);
	return g_test_run();
}
