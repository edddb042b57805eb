/* SPDX-License-Identifier: MIT */
/* Drivers by the names that they give themselves. */
#include <glib.h>

#include "query/quirks.h"

static const struct {
	const char *driver;
	bool tiles, at_once, shared;
} cases[] = {
	{ "Mesa/X.org llvmpipe (LLVM 15.0.6, 256 bits)", true, true, true },
	{ "Mesa softpipe", true, true, true },
	{ "Mesa zink Vulkan 1.3(llvmpipe (LLVM 19.1.7, 256 bits) (MESA_LLVMPIPE))",
	  false, false, true },
	{ "ARM Mali-G78", true, false, false },
	{ "Mesa Mali-G610 (Panfrost)", true, false, true },
	{ "Qualcomm Adreno (TM) 740", true, false, false },
	{ "freedreno FD690", true, false, false },
	{ "Mesa zink Vulkan 1.3(Turnip Adreno (TM) 740 (MESA_TURNIP))", false, false, true },
	{ "Imagination Technologies PowerVR Rogue GE8320", true, false, false },
	{ "Broadcom V3D 4.2.14.0", true, false, false },
	{ "Mesa Apple M1 Pro (G13S C0)", true, false, true },
	{ "AMD AMD Radeon RX 6800 (radeonsi, navi21, LLVM 15.0.6, DRM 3.54)", false, false, false },
	{ "Intel Mesa Intel(R) UHD Graphics 620 (KBL GT2)", false, false, true },
	{ "Intel Intel(R) UHD Graphics 620", false, false, false },
	{ "NVIDIA Corporation NVIDIA GeForce RTX 3060/PCIe/SSE2", false, false, false },
	{ "", false, false, false },
	{ NULL, false, false, false },
};

static void
test_tiles(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpint(
			tally_gl_quirk(TALLY_QUIRK_TIMES_OF_TILES, cases[i].driver), ==,
			cases[i].tiles);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpint(tally_gl_quirk(TALLY_QUIRK_WORK_AT_ONCE, cases[i].driver), ==,
				cases[i].at_once);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpint(tally_gl_quirk(TALLY_QUIRK_QUERIES_SHARED, cases[i].driver), ==,
				cases[i].shared);
}

/* VkDriverId and vendor's id; a device of Vulkan 1.0 has the second alone. */
static const struct {
	uint32_t driver, vendor;
	bool tiles;
} vk_cases[] = {
	{ 13, 0x10005, true }, /* lavapipe */
	{ 0, 0x10005, true },  { 18, 0x5143, true }, /* turnip */
	{ 9, 0x13b5, true }, /* Arm's */
	{ 0, 0x13b5, true },   { 25, 0x1010, true }, /* PowerVR, Mesa's */
	{ 3, 0x1002, false }, /* RADV */
	{ 6, 0x8086, false }, /* anv */
	{ 4, 0x10de, false },  { 22, 0x5143, false }, /* Venus, over an unknown driver */
	{ 0, 0, false },
};

static void
test_tiles_vk(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(vk_cases); i++)
		g_assert_cmpint(tally_vk_quirk(TALLY_QUIRK_TIMES_OF_TILES,
					       vk_cases[i].driver, vk_cases[i].vendor),
				==, vk_cases[i].tiles);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/quirks/tiles", test_tiles);
	g_test_add_func("/quirks/tiles-vk", test_tiles_vk);
	return g_test_run();
}
