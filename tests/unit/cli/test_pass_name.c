/* SPDX-License-Identifier: MIT */
/* Names of passes, the parts of a label, and the frame that contains a mark. */
#include <glib.h>
#include <string.h>

#include "cli/log/pass_name.h"

#define MOST_PARTS 6

static const struct {
	const char *label;
	const char *parts[MOST_PARTS]; /* NULL ends them */
} label_cases[] = {
	{ "Bloom", { "Bloom" } },
	{ "Bloom/Down 0", { "Bloom", "Down 0" } },
	{ "a/b/c", { "a", "b", "c" } },
	{ "Draw 1 / 2", { "Draw 1 / 2" } },
	{ "Draw 1/ 2/x", { "Draw 1/ 2", "x" } },
	{ "http://x/y", { "http://x", "y" } },
	{ "/lead", { "/lead" } },
	{ "trail/", { "trail/" } },
	{ "/", { "/" } },
	{ "//", { "//" } },
	{ "a//b", { "a//b" } },
	{ "a/b//", { "a", "b//" } },
	{ "\xe6\x97\xa5/\xe6\x9c\xac", { "\xe6\x97\xa5", "\xe6\x9c\xac" } },
	{ "", { NULL } },
};

static const struct {
	const char *format;
	unsigned bits;
} format_cases[] = {
	{ "RGBA8", 32 },
	{ "RGBA16F", 64 },
	{ "RGB10_A2", 32 },
	{ "R11F_G11F_B10F", 32 },
	{ "RGB9_E5", 32 },
	{ "RGB565", 16 },
	{ "SRGB8_ALPHA8", 32 },
	{ "DEPTH24_STENCIL8", 32 },
	{ "DEPTH_COMPONENT16", 16 },
	{ "DEPTH32F_STENCIL8", 40 },
	{ "STENCIL_INDEX8", 8 },
	{ "R8", 8 },
	{ "B8G8R8A8_UNORM", 32 },
	{ "A2B10G10R10_UNORM_PACK32", 32 },
	{ "B10G11R11_UFLOAT_PACK32", 32 },
	{ "R5G6B5_UNORM_PACK16", 16 },
	{ "E5B9G9R9_UFLOAT_PACK32", 32 },
	{ "X8_D24_UNORM_PACK32", 32 },
	{ "D24_UNORM_S8_UINT", 32 },
	{ "D32_SFLOAT_S8_UINT", 40 },
	{ "?", 0 },
	{ "", 0 },
	{ "RGBA99999999999999999999", 0 },
};

static void
test_format_bits(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(format_cases); i++) {
		g_test_message("%s", format_cases[i].format);
		g_assert_cmpuint(tally_format_bits(format_cases[i].format), ==,
				 format_cases[i].bits);
	}
}

static void
test_label_parts(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(label_cases); i++) {
		const char *at = label_cases[i].label;
		g_test_message("%s", at);
		for (size_t k = 0; label_cases[i].parts[k]; k++) {
			if (k)
				g_assert_cmpint(*at++, ==, '/');
			size_t len = tally_label_part(at);
			g_assert_cmpmem(at, len, label_cases[i].parts[k],
					strlen(label_cases[i].parts[k]));
			at += len;
		}
		g_assert_cmpstr(at, ==, "");
	}
}

static const struct {
	enum tally_pass_kind kind;
	struct tally_target target;
	bool presented;
	unsigned n;
	const char *want;
} name_cases[] = {
	{ TALLY_PASS_COMPUTE, { 0 }, false, 1, "Compute" },
	{ TALLY_PASS_COMPUTE, { 0 }, false, 2, "Compute #2" },
	{ TALLY_PASS_TRANSFER, { .width = 4, .height = 2 }, false, 1, "Copy 4x2" },
	{ TALLY_PASS_RENDER, { 0 }, false, 1, "No attachment" },
	{ TALLY_PASS_RENDER, { .width = 640, .height = 480 }, true, 3, "Backbuffer #3" },
	{ TALLY_PASS_RENDER,
	  { .width = 9, .height = 8, .depth.format = "D24" },
	  false,
	  1,
	  "Depth 9x8" },
	{ TALLY_PASS_RENDER,
	  { .width = 9, .height = 8, .layers = 4, .stencil.format = "S8" },
	  false,
	  1,
	  "Depth 9x8 x4 layers" },
	{ TALLY_PASS_RENDER,
	  { .width = 9, .height = 8, .n_color = 1, .color[0].format = "RGBA8" },
	  false,
	  2,
	  "Color 9x8 RGBA8 #2" },
	{ TALLY_PASS_RENDER,
	  { .width = 9, .height = 8, .samples = 4, .n_color = 2, .depth.format = "D24" },
	  false,
	  1,
	  "Color (2 targets + depth) 9x8 4x MSAA" },
	{ TALLY_PASS_RENDER,
	  { .name = "Bloom", .width = 9, .n_color = 1, .height = 8, .color[0].format = "RGBA8" },
	  false,
	  2,
	  "Bloom 9x8 RGBA8 #2" },
	{ TALLY_PASS_RENDER,
	  { .name = "Shadows", .width = 9, .height = 8, .depth.format = "D24" },
	  false,
	  1,
	  "Shadows 9x8" },
	{ TALLY_PASS_RENDER,
	  { .name = "GBuffer", .width = 9, .height = 8, .n_color = 2, .depth.format = "D24" },
	  false,
	  1,
	  "GBuffer (2 targets + depth) 9x8" },
	{ TALLY_PASS_RENDER, { .name = "Screen", .width = 9 }, true, 1, "Backbuffer" },
};

static void
test_names(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(name_cases); i++) {
		char *base = tally_pass_name(name_cases[i].kind, &name_cases[i].target,
					     name_cases[i].presented);
		char *name = tally_pass_number_name(base, name_cases[i].n);
		g_assert_cmpstr(name, ==, name_cases[i].want);
		g_free(name);
		g_free(base);
	}
}

/* What a pass of kind transfer did when it was first seen names it. */
static void
test_clears(void)
{
	const struct tally_pass_info_record info = { .id = 5,
						     .kind = TALLY_PASS_TRANSFER,
						     .target = { .width = 4, .height = 2 } };
	const struct tally_pass_record clears = {
		.id = 5, .kind = TALLY_PASS_TRANSFER, .surface = -1, .call_counts = { .clears = 1 }
	};
	struct tally_pass_record other = clears;
	struct tally_pass_names names;
	tally_pass_names_init(&names);
	tally_pass_names_add(&names, &info);
	g_assert_cmpstr(tally_pass_names_base(&names, &clears), ==, "Clear 4x2");
	other.call_counts.copies = 1;
	g_assert_cmpstr(tally_pass_names_base(&names, &other), ==, "Clear 4x2");
	other.id = 6;
	g_assert_cmpstr(tally_pass_names_base(&names, &other), ==, "Copy");
	other.call_counts.copies = 0;
	g_assert_cmpstr(tally_pass_names_base(&names, &other), ==, "Copy");
	tally_pass_names_finish(&names);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pass_name/label_parts", test_label_parts);
	g_test_add_func("/target_size/format_bits", test_format_bits);
	g_test_add_func("/pass_name/names", test_names);
	g_test_add_func("/pass_name/clears", test_clears);
	return g_test_run();
}
