/* SPDX-License-Identifier: MIT */
/* tests/unit/query/gauge_tree.h - trees of files like the kernel's for a GPU, for query/gauge/.
 *
 * One thread; the test removes its tree.
 */
#ifndef PASSTALLY_TESTS_UNIT_GAUGE_TREE_H
#define PASSTALLY_TESTS_UNIT_GAUGE_TREE_H

#include "query/gauge/gauge.h"
#include "query/gauge/nvml.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define MS G_GUINT64_CONSTANT(1000000)

/* ---- trees ---- */

struct file {
	const char *path, *text; /* text "-> X": a link */
};

struct tree {
	char *root;
};

static inline void
put(const char *root, const char *path, const char *text)
{
	g_autofree char *full = g_build_filename(root, path, NULL);
	g_autofree char *folder = g_path_get_dirname(full);
	g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
	g_unlink(full);
	if (g_str_has_prefix(text, "-> "))
		g_assert_cmpint(symlink(text + 3, full), ==, 0);
	else
		g_assert_true(g_file_set_contents(full, text, -1, NULL));
}

static inline void
take_away(const char *root, const char *path)
{
	g_autofree char *full = g_build_filename(root, path, NULL);
	g_assert_cmpint(g_unlink(full), ==, 0);
}

static inline void
remove_all(const char *path)
{
	GDir *dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *inner = g_build_filename(path, name, NULL);
		remove_all(inner);
	}
	if (dir)
		g_dir_close(dir);
	g_remove(path);
}

/* A tree with one GPU of that driver, which this process has open as descriptor 7. */
static inline char *
make_tree(const char *driver, const struct file *files)
{
	char *root = g_dir_make_tmp("passtally-gauge-XXXXXX", NULL);
	g_autofree char *link = g_strdup_printf("-> /sys/bus/pci/drivers/%s", driver);
	g_assert_nonnull(root);
	put(root, "proc/self/fd/7", "-> /dev/dri/renderD128");
	put(root, "proc/self/fd/3", "-> /tmp/unrelated");
	put(root, "sys/class/drm/renderD128/device/driver", link);
	for (; files && files->path; files++)
		put(root, files->path, files->text);
	return root;
}

#define DEVICE "sys/class/drm/renderD128/device/"
#define FDINFO "proc/self/fdinfo/7"
#define KNOWN(kind_) (1u << GAUGE_##kind_)
#define ENGINE(client, ns) "drm-client-id: " client "\ndrm-engine-a: " ns " ns\n"

static inline void
check_values(const struct gauge_values *got, const uint64_t *want, uint32_t known)
{
	g_assert_cmphex(got->known, ==, known);
	for (unsigned i = 0; i < GAUGE_N_KINDS; i++)
		g_assert_cmpuint(got->value[i], ==, want[i]);
}

#endif
