/* SPDX-License-Identifier: MIT */
#include "cli/install/inject.h"

#include "cli/install/injected.h"
#include "cli/install/vk_manifest.h"

#include <string.h>

char **
tally_inject_clean(const char *config_home)
{
	char **env = g_get_environ();
	g_auto(GStrv) names = g_listenv();
	for (char **name = names; *name; name++)
		if (g_str_has_prefix(*name, "PASSTALLY"))
			env = g_environ_unsetenv(env, *name);
	return g_environ_setenv(env, "XDG_CONFIG_HOME", config_home, TRUE);
}

static void
set(char ***environment, const char *name, const char *value)
{
	*environment = value ? g_environ_setenv(*environment, name, value, TRUE)
			     : g_environ_unsetenv(*environment, name);
}

/* Puts `item` first in a variable that lists items between colons, unless it is already
 * there. */
static void
prepend(char ***environment, const char *name, const char *item)
{
	const char *before = g_environ_getenv(*environment, name);
	g_auto(GStrv) items = g_strsplit(before ? before : "", ":", -1);
	g_autofree char *value =
		g_strconcat(item, before && *before ? ":" : NULL, before, NULL);
	if (g_strcmp0(items[0], item) != 0)
		set(environment, name, value);
}

/* The library's name for LD_PRELOAD; if ld.so could not read its path, by a link that it can
 * read. The caller frees it; NULL after printing an error. */
static char *
preload_name(const struct tally_injected *in, const struct tally_run_folder *f)
{
	if (in->preload)
		return g_strdup(in->preload);
	g_autofree char *folder = g_path_get_dirname(in->path);
	g_autofree char *base = g_path_get_basename(in->path);
	g_autofree char *link = tally_run_folder_link(f, TALLY_RUN_LIBRARY, folder);
	return link ? g_build_filename(link, base, NULL) : NULL;
}

bool
tally_inject_gl(char ***environment, const struct tally_injected *in,
		const struct tally_run_folder *f)
{
	g_autofree char *name = preload_name(in, f);
	if (!name)
		return false;
	const char *before = g_environ_getenv(*environment, "LD_PRELOAD");
	g_autofree char *preload = g_strconcat(name, before && *before ? ":" : NULL, before, NULL);
	set(environment, "LD_PRELOAD", preload);
	return true;
}

bool
tally_inject_vulkan(char ***environment, const struct tally_vk_manifest *m,
		    const struct tally_run_folder *f)
{
	if (!m->library)
		return true;
	if (m->implicit) {
		set(environment, "PASSTALLY", "1");
		return true;
	}
	/* Vulkan's loader has no escape for a colon in a path. */
	g_autofree char *folder = strchr(m->folder, ':')
					  ? tally_run_folder_link(f, TALLY_RUN_LAYER, m->folder)
					  : g_strdup(m->folder);
	if (!folder)
		return false;
	/* Another version of the layer may be installed; it must not be loaded instead of
	 * this one. */
	set(environment, "PASSTALLY", NULL);
	/* If VK_LAYER_PATH is set, the loader searches nowhere else. */
	const char *only = g_environ_getenv(*environment, "VK_LAYER_PATH");
	prepend(environment, only && *only ? "VK_LAYER_PATH" : "VK_ADD_LAYER_PATH", folder);
	prepend(environment, "VK_INSTANCE_LAYERS", TALLY_VK_LAYER);
	return true;
}

void
tally_inject_labels(char ***environment)
{
	set(environment, "DXVK_DEBUG", "markers"); /* a list is none of its words to DXVK */
	const char *before = g_environ_getenv(*environment, "VKD3D_CONFIG");
	g_autofree char *value =
		g_strconcat("debug_utils", before && *before ? "," : NULL, before, NULL);
	set(environment, "VKD3D_CONFIG", value);
}

void
tally_inject_option(GString *options, const char *key, const char *value)
{
	g_string_append_printf(options, "%s%s=", options->len ? "," : "", key);
	for (const char *p = value; *p; p++) {
		if (*p == ',' || *p == '\\')
			g_string_append_c(options, '\\');
		g_string_append_c(options, *p);
	}
}
