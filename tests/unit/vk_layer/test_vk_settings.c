/* SPDX-License-Identifier: MIT */
#include "vk_layer/settings.h"

#include "vk_layer/chain.h"

#include <glib.h>
#include <string.h>

/* As in the extension, which is newer than Debian's headers. */
struct setting {
	const char *layer, *name;
	int32_t type;
	uint32_t n;
	const void *values;
};
struct settings {
	VkStructureType type;
	const void *next;
	uint32_t n;
	const struct setting *all;
};
#define STYPE ((VkStructureType)1000496000)
enum type { BOOL32, INT32, INT64, UINT32, UINT64, FLOAT32, FLOAT64, STRING };

static const VkBool32 bools[] = { VK_TRUE, VK_FALSE };
static const int32_t int32s[] = { -3 };
static const int64_t int64s[] = { INT64_MIN };
static const uint32_t uint32s[] = { UINT32_MAX };
static const uint64_t uint64s[] = { UINT64_MAX };
static const float floats[] = { 0.5F };
static const double doubles[] = { 2.25, -1.0, 1e300 };
static const char *const strings[] = { "a=1", "b,\\", NULL };

#define OURS VK_LAYER_OF_OURS
static const struct {
	struct setting setting;
	const char *want; /* NULL: no setting for passtally */
} cases[] = {
	{ { OURS, "no_argv", BOOL32, 1, bools }, "no-argv=on" },
	{ { OURS, "force", BOOL32, 1, bools + 1 }, "force=off" },
	{ { OURS, "skip", INT32, 1, int32s }, "skip=-3" },
	{ { OURS, "skip", INT64, 1, int64s }, "skip=-9223372036854775808" },
	{ { OURS, "skip", UINT32, 1, uint32s }, "skip=4294967295" },
	{ { OURS, "max_log", UINT64, 1, uint64s }, "max-log=18446744073709551615" },
	{ { OURS, "seconds", FLOAT32, 1, floats }, "seconds=0.500000000" },
	{ { OURS, "seconds", FLOAT64, 1, doubles }, "seconds=2.250000000" },
	{ { OURS, "seconds", FLOAT64, 1, doubles + 1 }, "seconds=?" },
	{ { OURS, "seconds", FLOAT64, 1, doubles + 2 }, "seconds=?" },
	{ { OURS, "tag", STRING, 2, strings }, "tag=a=1+b\\,\\\\" },
	{ { OURS, "tag", STRING, 1, strings + 2 }, "tag=" },
	{ { OURS, "skip", 77, 1, uint32s }, "skip=?" },
	{ { OURS, "skip", UINT32, 0, uint32s }, NULL },
	{ { OURS, "skip", UINT32, 1, NULL }, NULL },
	{ { OURS, NULL, UINT32, 1, uint32s }, NULL },
	{ { NULL, "skip", UINT32, 1, uint32s }, NULL },
	{ { "VK_LAYER_KHRONOS_validation", "skip", UINT32, 1, uint32s }, NULL },
};

static void
test_each(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char text[VK_SETTINGS_SIZE];
		struct settings info = { STYPE, NULL, 1, &cases[i].setting };
		/* Other structures may come before it. */
		VkBaseInStructure first = { VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
					    (const void *)&info };
		g_assert_cmpstr(vk_settings_read(&first, text, sizeof(text)), ==, cases[i].want);
	}
}

static void
test_several(void)
{
	static const struct setting all[] = {
		{ OURS, "skip", UINT32, 1, uint32s },
		{ "other", "skip", UINT32, 1, uint32s },
		{ OURS, "cpu", BOOL32, 1, bools },
	};
	struct settings second = { STYPE, NULL, 1, all + 2 };
	struct settings info = { STYPE, &second, 2, all };
	char text[VK_SETTINGS_SIZE];
	g_assert_cmpstr(vk_settings_read(&info, text, sizeof(text)), ==, "skip=4294967295,cpu=on");
	g_assert_null(vk_settings_read(NULL, text, sizeof(text)));
	info.all = NULL;
	info.next = NULL;
	g_assert_null(vk_settings_read(&info, text, sizeof(text)));
}

/* What does not fit is left out whole; what fits after it counts. */
static void
test_too_long(void)
{
	char text[24];
	g_autofree char *many = g_strnfill(40, 'x');
	const char *const word[] = { many };
	const struct setting all[] = {
		{ OURS, "force", BOOL32, 1, bools },
		{ OURS, "set", STRING, 1, word },
		{ OURS, "cpu", BOOL32, 1, bools },
	};
	struct settings info = { STYPE, NULL, 3, all };
	g_assert_cmpstr(vk_settings_read(&info, text, sizeof(text)), ==, "force=on,cpu=on");
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_settings/each", test_each);
	g_test_add_func("/vk_settings/several", test_several);
	g_test_add_func("/vk_settings/too-long", test_too_long);
	return g_test_run();
}
