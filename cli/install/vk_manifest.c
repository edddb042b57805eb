/* SPDX-License-Identifier: MIT */
#include "cli/install/vk_manifest.h"

#include "cli/install/injected.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libVkLayer_passtally.so"

#ifndef PASSTALLY_DATADIR
#define PASSTALLY_DATADIR "share"
#endif

/* Whether both paths lead to the same file, regardless of links. */
static bool
same_folder(const char *a, const char *b)
{
	char *real_a = realpath(a, NULL), *real_b = realpath(b, NULL);
	bool same = real_a && real_b && strcmp(real_a, real_b) == 0;
	free(real_a);
	free(real_b);
	return same;
}

/* Whether `data` is among the folders whose vulkan/implicit_layer.d the loader reads: those
 * of the XDG base directories, with the usual defaults. */
static bool
loader_reads(const char *data)
{
	if (same_folder(g_get_user_data_dir(), data))
		return true;
	for (const char *const *dir = g_get_system_data_dirs(); *dir; dir++)
		if (same_folder(*dir, data))
			return true;
	return false;
}

/* Takes ownership of `folder`. The manifest names the library by a path relative to itself
 * or by a name that ld.so searches for, so the file `library`, at its usual place, is
 * checked instead. */
static bool
try_folder(struct tally_vk_manifest *m, char *folder, const char *library)
{
	char *path = g_build_filename(folder, TALLY_VK_MANIFEST_32, NULL);
	if (sizeof(void *) == 8 || access(path, R_OK) < 0) {
		g_free(path);
		path = g_build_filename(folder, TALLY_VK_MANIFEST, NULL);
	}
	bool there = access(path, R_OK) == 0 && access(library, R_OK) == 0;
	if (there && !m->library) {
		m->library = g_canonicalize_filename(library, NULL);
		m->path = g_canonicalize_filename(path, NULL);
		m->folder = g_path_get_dirname(m->path);
	}
	if (there)
		g_free(path);
	else
		g_ptr_array_add(m->tried, path);
	g_free(folder);
	return there;
}

static bool
find_built(struct tally_vk_manifest *m, const char *own_folder)
{
	static const char *const places[] = { "../vk_layer", "vk_layer" };
	for (size_t i = 0; i < G_N_ELEMENTS(places) && !m->library; i++) {
		char *folder = g_build_filename(own_folder, places[i], NULL);
		g_autofree char *library = g_build_filename(folder, LIBRARY, NULL);
		try_folder(m, folder, library);
	}
	return m->library != NULL;
}

char *
tally_vk_manifest_names(const char *path)
{
	g_autofree char *text = NULL;
	g_autoptr(GMatchInfo) match = NULL;
	g_autoptr(GRegex) member =
		g_regex_new("\"library_path\": *\"([^\"]*)\"", G_REGEX_RAW, 0, NULL);
	if (!g_file_get_contents(path, &text, NULL, NULL) ||
	    !g_regex_match(member, text, 0, &match))
		return NULL;
	g_autofree char *named = g_match_info_fetch(match, 1);
	g_autofree char *folder = g_path_get_dirname(path);
	return strchr(named, '/') ? g_canonicalize_filename(named, folder)
				  : g_steal_pointer(&named);
}

char *
tally_vk_manifest_quote(const char *path)
{
	/* JSON has no octal escapes: characters that are not ASCII stay as they are. */
	char high[0x81];
	for (int i = 0; i < 0x80; i++)
		high[i] = (char)(0x80 + i);
	high[0x80] = '\0';
	g_autofree char *escaped = g_strescape(path, high);
	return g_strconcat("\"", escaped, "\"", NULL);
}

/* `passtally install --user` made a manifest that names this library: the loader finds it by
 * itself, even in a container that shares the home folder. */
static bool
is_installed_for_user(const char *library)
{
	g_autofree char *path = g_build_filename(g_get_user_data_dir(), "vulkan",
						 "implicit_layer.d", TALLY_VK_MANIFEST, NULL);
	g_autofree char *text = NULL;
	g_autofree char *quoted = tally_vk_manifest_quote(library);
	return g_file_get_contents(path, &text, NULL, NULL) && strstr(text, quoted);
}

static void
find_installed(struct tally_vk_manifest *m, const char *prefix)
{
	g_autofree char *library = tally_installed_library(prefix, LIBRARY);
	g_autofree char *data = g_path_is_absolute(PASSTALLY_DATADIR)
					? g_strdup(PASSTALLY_DATADIR)
					: g_build_filename(prefix, PASSTALLY_DATADIR, NULL);
	const char *or_none = library ? library : "";
	bool implicit = try_folder(m, g_build_filename(data, "vulkan", "implicit_layer.d", NULL),
				   or_none);
	if (!implicit)
		try_folder(m, g_build_filename(data, "vulkan", "explicit_layer.d", NULL),
			   or_none);
	m->implicit = (implicit && loader_reads(data)) ||
		      (m->library && is_installed_for_user(m->library));
}

void
tally_vk_manifest_find(struct tally_vk_manifest *m)
{
	*m = (struct tally_vk_manifest){ .tried = g_ptr_array_new_with_free_func(g_free) };
	g_autofree char *prefix = NULL, *folder = tally_own_folder(&prefix);
	if (!find_built(m, folder))
		find_installed(m, prefix);
}

void
tally_vk_manifest_finish(struct tally_vk_manifest *m)
{
	g_free(m->library);
	g_free(m->path);
	g_free(m->folder);
	if (m->tried)
		g_ptr_array_unref(m->tried);
	*m = (struct tally_vk_manifest){ 0 };
}
