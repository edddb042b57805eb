/* SPDX-License-Identifier: MIT */
/* The name of a driver is the same in all of its contexts, and different in each version. */
#include <glib.h>
#include <string.h>

#include "query/gl/tiles.h"

static const struct {
	const char *vendor, *renderer, *version;
	const char *name; /* "" = none */
} cases[] = {
	{ "Mesa", "llvmpipe", "4.5 (Core Profile) Mesa 22.3.6", "Mesa llvmpipe Mesa 22.3.6" },
	{ "Mesa", "llvmpipe", "4.5 (Compatibility Profile) Mesa 22.3.6",
	  "Mesa llvmpipe Mesa 22.3.6" },
	{ "Mesa", "llvmpipe", "3.1 Mesa 22.3.6", "Mesa llvmpipe Mesa 22.3.6" },
	{ "Mesa", "llvmpipe", "OpenGL ES 3.2 Mesa 22.3.6", "Mesa llvmpipe Mesa 22.3.6" },
	{ "Mesa", "llvmpipe", "OpenGL ES-CM 1.1 Mesa 22.3.6", "Mesa llvmpipe Mesa 22.3.6" },
	{ "Mesa", "llvmpipe", "4.5 Mesa 23.0.0-devel (git-12ab)",
	  "Mesa llvmpipe Mesa 23.0.0-devel (git-12ab)" },
	{ "ARM", "Mali-G76", "OpenGL ES 3.2 v1.r32p1-01eac0.2a1d8",
	  "ARM Mali-G76 v1.r32p1-01eac0.2a1d8" },
	{ "V", "a\nb\t", "4.6.0 NVIDIA 535.54", "V a b  NVIDIA 535.54" },
	{ "V", "R", "4.6", "V R " },
	{ "V", "R", "4.6 (Core", "V R (Core" },
	{ "V", "R", "none", "V R " },
	{ "", "", "", "  " },
	{ NULL, "R", "4.6 X", "" },
	{ "V", NULL, "4.6 X", "" },
	{ "V", "R", NULL, "" },
};

static void
test_names(void)
{
	char name[TALLY_GL_DRIVER_SIZE];
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		bool named = tally_gl_driver_name(cases[i].vendor, cases[i].renderer,
						  cases[i].version, name);
		g_assert_cmpstr(name, ==, cases[i].name);
		g_assert_cmpint(named, ==, cases[i].name[0] != '\0');
	}
}

/* A cut name could be that of another driver. */
static void
test_too_long(void)
{
	char name[TALLY_GL_DRIVER_SIZE], text[TALLY_GL_DRIVER_SIZE];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	g_assert_false(tally_gl_driver_name("V", text, "4.6 X", name));
	g_assert_cmpstr(name, ==, "");
	text[sizeof(text) - 6] = '\0';
	g_assert_true(tally_gl_driver_name("V", text, "4.6 X", name));
	g_assert_cmpuint(strlen(name), ==, sizeof(name) - 2);
}

static void
test_by_name(void)
{
	g_assert_true(tally_gl_tiles_by_name("llvmpipe (LLVM 15.0.6, 256 bits)"));
	g_assert_true(tally_gl_tiles_by_name("softpipe"));
	g_assert_false(tally_gl_tiles_by_name("zink (llvmpipe (LLVM 15.0.6, 256 bits))"));
	g_assert_false(tally_gl_tiles_by_name(NULL));
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gl_tiles/names", test_names);
	g_test_add_func("/gl_tiles/too-long", test_too_long);
	g_test_add_func("/gl_tiles/by-name", test_by_name);
	return g_test_run();
}
