/* SPDX-License-Identifier: MIT */
/* Where a debug module is, by device trees that the test makes. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "query/microblaze/device_tree.h"
#include "query/microblaze/mapping.h"

static char *root;

static void
put(const char *node, const char *property, const void *bytes, size_t n)
{
	char *folder = g_build_filename(root, node, NULL);
	char *path = g_build_filename(folder, property, NULL);
	g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
	g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
	g_free(path);
	g_free(folder);
}

static void
put_text(const char *node, const char *property, const char *text)
{
	put(node, property, text, strlen(text) + 1);
}

/* Numbers of 32 bits, big-endian, as many as are not -1. */
static void
put_numbers(const char *node, const char *property, const int64_t *numbers)
{
	uint8_t bytes[64];
	size_t n = 0;
	for (; numbers[n] >= 0; n++) {
		uint32_t number = GUINT32_TO_BE((uint32_t)numbers[n]);
		memcpy(bytes + 4 * n, &number, 4);
	}
	put(node, property, bytes, 4 * n);
}
#define NUMBERS(node_, property_, ...) \
	put_numbers(node_, property_, (const int64_t[]){ __VA_ARGS__, -1 })

static void
remove_all(const char *path)
{
	GDir *folder = g_dir_open(path, 0, NULL);
	const char *name;
	while (folder && (name = g_dir_read_name(folder))) {
		char *below = g_build_filename(path, name, NULL);
		remove_all(below);
		g_free(below);
	}
	if (folder)
		g_dir_close(folder);
	g_remove(path);
}

static void
begin(void)
{
	root = g_dir_make_tmp("passtally-tree-XXXXXX", NULL);
	g_assert_nonnull(root);
}

static struct tally_mb_device_tree
end(void)
{
	struct tally_mb_device_tree tree;
	memset(&tree, 0xff, sizeof(tree));
	tally_mb_device_tree_find_in(root, &tree);
	remove_all(root);
	g_clear_pointer(&root, g_free);
	return tree;
}

static void
test_usual(void)
{
	begin();
	NUMBERS("", "#address-cells", 2);
	NUMBERS("", "#size-cells", 2);
	NUMBERS("amba_pl", "#address-cells", 2);
	NUMBERS("amba_pl", "#size-cells", 1);
	put("amba_pl", "ranges", "", 0);
	put_text("amba_pl/uart@a0000000", "compatible", "xlnx,axi-uartlite-2.0");
	NUMBERS("amba_pl/uart@a0000000", "reg", 0, 0xa0000000, 0x1000);
	put("amba_pl/mdm@44a00000", "compatible", "vendor,other\0xlnx,mdm-3.2", 25);
	NUMBERS("amba_pl/mdm@44a00000", "reg", 0x4, 0x44a00000, 0x8000);
	NUMBERS("amba_pl/mdm@44a00000", "xlnx,mb-dbg-ports", 2);
	NUMBERS("amba_pl/mdm@44a00000", "xlnx,dbg-reg-access", 0);
	put_text("cpus/cpu@0", "compatible", "xlnx,microblaze-11.0");
	NUMBERS("cpus/cpu@0", "xlnx,debug-event-counters", 12);
	NUMBERS("cpus/cpu@0", "xlnx,debug-latency-counters", 0);
	NUMBERS("cpus/cpu@0", "xlnx,debug-counter-width", 48);
	NUMBERS("cpus/cpu@0", "xlnx,debug-interface", 1);
	struct tally_mb_device_tree tree = end();
	g_assert_true(tree.has_mdm);
	g_assert_cmpuint(tree.base, ==, UINT64_C(0x444a00000));
	g_assert_cmpuint(tree.bytes, ==, 0x8000);
	g_assert_cmpstr(tree.node, ==, "mdm@44a00000");
	g_assert_cmpuint(tree.ports, ==, 2);
	g_assert_true(tree.has_access && !tree.access);
	g_assert_true(tree.has_ne && tree.has_nl && tree.has_interface);
	g_assert_cmpuint(tree.ne, ==, 12);
	g_assert_cmpuint(tree.nl, ==, 0);
	g_assert_cmpuint(tree.width, ==, 48);
	g_assert_cmpuint(tree.interface, ==, 1);
}

/* What is wrong with an address, or that there is none. */
static void
test_not_there(void)
{
	begin();
	/* On a bus that translates addresses. */
	NUMBERS("soc", "ranges", 0, 0x80000000, 0x10000);
	put_text("soc/mdm@0", "compatible", "xlnx,mdm-3.2");
	NUMBERS("soc/mdm@0", "reg", 0, 0, 0x1000);
	/* Of MicroBlaze V. */
	put_text("mdm@1000", "compatible", "xlnx,mdm-riscv-1.0");
	NUMBERS("mdm@1000", "reg", 0, 0x1000, 0x1000);
	put_text("cpus/cpu@0", "compatible", "xlnx,microblaze-v");
	NUMBERS("cpus/cpu@0", "xlnx,debug-event-counters", 3);
	/* Cut short. */
	put_text("mdm@2000", "compatible", "xlnx,mdm-3.2");
	NUMBERS("mdm@2000", "reg", 0x2000);
	struct tally_mb_device_tree tree = end(), nothing;
	memset(&nothing, 0, sizeof(nothing));
	g_assert_false(tree.has_mdm || tree.has_ne || tree.has_access || tree.width);
	tally_mb_device_tree_find_in("/nowhere", &tree);
	g_assert_cmpmem(&tree, sizeof(tree), &nothing, sizeof(nothing));
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/microblaze-tree/usual", test_usual);
	g_test_add_func("/microblaze-tree/not-there", test_not_there);
	return g_test_run();
}
