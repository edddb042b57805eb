/* SPDX-License-Identifier: MIT */
#include "cli/machine/doctor_proton.h"

#include "cli/install/elf_file.h"
#include "cli/install/injected.h"
#include "cli/install/vk_manifest.h"
#include "cli/shared/child.h"
#include "cli/shared/cli.h"
#include "layer/config/config.h"
#include "layer/config/load.h"
#include "layer/config/path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Whether the library that the manifest names is one of `bits`. One without a folder is searched
 * for by ld.so: packages install it in /usr. */
static bool
leads_to(const char *manifest, unsigned bits)
{
	static const char *const places[] = { "lib/x86_64-linux-gnu", "lib/i386-linux-gnu",
					      "lib/aarch64-linux-gnu", "lib64", "lib32", "lib" };
	g_autofree char *named = tally_vk_manifest_names(manifest);
	bool found = named && strchr(named, '/') && tally_elf_file_read(named).bits == bits;
	for (size_t i = 0; named && !strchr(named, '/') && i < G_N_ELEMENTS(places); i++) {
		g_autofree char *path = g_build_filename("/usr", places[i], named, NULL);
		found |= tally_elf_file_read(path).bits == bits;
	}
	return found;
}

/* The container takes over the layers that the machine's loader finds by itself. The caller frees
 * the path of the manifest; NULL: there is none. */
static char *
find_manifest(unsigned bits)
{
	static const char *const names[] = { TALLY_VK_MANIFEST, TALLY_VK_MANIFEST_32 };
	g_autoptr(GPtrArray) folders = g_ptr_array_new();
	g_ptr_array_add(folders, (char *)g_get_user_data_dir());
	for (const char *const *dir = g_get_system_data_dirs(); *dir; dir++)
		g_ptr_array_add(folders, (char *)*dir);
	for (guint i = 0; i < folders->len * G_N_ELEMENTS(names); i++) {
		g_autofree char *path =
			g_build_filename(g_ptr_array_index(folders, i / 2), "vulkan",
					 "implicit_layer.d", names[i % 2], NULL);
		if (leads_to(path, bits))
			return g_steal_pointer(&path);
	}
	return NULL;
}

static bool
check_layer(unsigned bits, enum tally_doctor_mark without, const char *advice)
{
	g_autofree char *manifest = find_manifest(bits);
	g_autofree char *what = g_strdup_printf("%u bits", bits);
	if (manifest)
		tally_doctor_row(TALLY_DOCTOR_GOOD, what, "%s", manifest);
	else
		tally_doctor_row(without, what,
				 "below XDG_DATA_HOME and XDG_DATA_DIRS no manifest in "
				 "vulkan/implicit_layer.d leads to a layer for %u-bit "
				 "games; the container takes over no others: %s",
				 bits, advice);
	return manifest != NULL;
}

static bool
check_import(void)
{
	static const char variable[] = "PRESSURE_VESSEL_IMPORT_VULKAN_LAYERS";
	bool off = g_strcmp0(g_getenv(variable), "0") == 0;
	if (off)
		tally_doctor_row(TALLY_DOCTOR_BAD, "container",
				 "%s=0 keeps the machine's layers out: unset it", variable);
	else
		tally_doctor_row(TALLY_DOCTOR_GOOD, "container", "%s is not 0", variable);
	return !off;
}

static bool
is_below(const char *path, const char *folder)
{
	char *real = realpath(folder, NULL);
	size_t len = real ? strlen(real) : 0;
	bool below = len && strncmp(path, real, len) == 0 &&
		     (path[len] == '/' || path[len] == '\0' || real[len - 1] == '/');
	free(real);
	return below;
}

char *
tally_doctor_log_folder(const struct tally_config *config, char **there)
{
	char *path = tally_config_log_path(config->log, "program", 0, 0);
	char *folder = path ? g_path_get_dirname(path) : NULL;
	free(path);
	*there = g_strdup(folder ? folder : "/");
	while (!g_file_test(*there, G_FILE_TEST_EXISTS) && strcmp(*there, "/") != 0) {
		g_autofree char *below = *there;
		*there = g_path_get_dirname(below);
	}
	return folder;
}

/* Inside, the home folder and /tmp are those of the machine, and what a variable names. */
static bool
check_log(void)
{
	struct tally_config config;
	tally_config_init(&config);
	tally_config_load(&config, "program", tally_cli_ignore, NULL);
	g_autofree char *there = NULL;
	g_free(tally_doctor_log_folder(&config, &there));
	tally_config_finish(&config);
	char *real = realpath(there, NULL);
	const char *also = g_getenv("PRESSURE_VESSEL_FILESYSTEMS_RW");
	g_auto(GStrv) shared = g_strsplit(also ? also : "", ":", -1);
	const char *place = real ? real : "/";
	bool seen = is_below(place, g_get_home_dir()) || is_below(place, "/tmp");
	for (char **each = shared; *each && !seen; each++)
		seen = **each && is_below(place, *each);
	if (seen)
		tally_doctor_row(TALLY_DOCTOR_GOOD, "log", "goes below %s", place);
	else
		tally_doctor_row(TALLY_DOCTOR_BAD, "log",
				 "%s is not seen inside: set PRESSURE_VESSEL_FILESYSTEMS_RW to it, "
				 "or name a place in the home folder with --log",
				 place);
	free(real);
	return seen;
}

/* Scripts around the game inherit what `run` sets, too. */
static bool
check_helper(const char *script, const char *what, const char *want)
{
	struct tally_injected in;
	tally_injected_find(&in);
	char **env = g_environ_setenv(g_get_environ(), "PASSTALLY", "1", TRUE);
	if (in.preload)
		env = g_environ_setenv(env, "LD_PRELOAD", in.preload, TRUE);
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };
	struct tally_child child;
	tally_child_run(&child, argv, env, NULL, what, 10);
	bool ok = tally_child_exited(&child) && WEXITSTATUS(child.status) == 0 &&
		  g_str_has_prefix(child.out, want) && !*child.err;
	if (ok)
		tally_doctor_row(TALLY_DOCTOR_GOOD, "helpers", "%s work under PASSTALLY=1", what);
	else
		tally_doctor_row(TALLY_DOCTOR_BAD, "helpers", "%s fail under PASSTALLY=1: %s",
				 what, child.error ? child.error : child.err);
	tally_child_clear(&child);
	tally_injected_finish(&in);
	g_strfreev(env);
	return ok;
}

static void
check_flatpak(void)
{
	g_autofree char *data = g_build_filename(g_get_home_dir(), ".var", "app",
						 "com.valvesoftware.Steam", NULL);
	if (g_file_test(data, G_FILE_TEST_IS_DIR))
		tally_doctor_row(TALLY_DOCTOR_FIX, "flatpak",
				 "%s: this Steam sees no layer of the machine; install "
				 "into that folder (docs/install.md)",
				 data);
}

bool
tally_doctor_proton(void)
{
	bool ok = check_layer(64, TALLY_DOCTOR_BAD, "passtally install --user");
	check_layer(32, TALLY_DOCTOR_OFF,
		    "install passtally's 32-bit libraries, then passtally install --user");
	ok &= check_import();
	ok &= check_log();
	ok &= check_helper("echo passtally | sed s/pass//", "sh and sed", "tally\n");
	g_autofree char *wineserver = g_find_program_in_path("wineserver");
	if (wineserver)
		ok &= check_helper("wineserver --version", "wineserver", "Wine ");
	check_flatpak();
	return ok;
}
