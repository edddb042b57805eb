/* SPDX-License-Identifier: MIT */
/* `passtally install` and `passtally uninstall`: makes an unpacked archive, or any other
 * prefix, usable by name, and its layer known to Vulkan's loader. */
#include "cli/install/elf_file.h"
#include "cli/install/injected.h"
#include "cli/install/vk_manifest.h"
#include "cli/shared/cli.h"
#include "cli/shared/text.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct request {
	bool user;
};

static const struct tally_arg options[] = {
	TALLY_ARG("user", tally_arg_flag, struct request, user),
};

static int
parse(const struct tally_command *command, int argc, char **argv)
{
	struct request r = { false };
	int status = tally_args_read(command, argc, argv, &r);
	if (status != TALLY_EXIT_OK)
		return status;
	/* GLib gives relative paths for an empty HOME. */
	if (r.user && g_path_is_absolute(g_get_home_dir()) &&
	    g_path_is_absolute(g_get_user_data_dir()))
		return TALLY_EXIT_OK;
	if (r.user)
		return TALLY_FAIL(TALLY_EXIT_NOTHING, argv[0], "HOME is not an absolute path");
	return TALLY_FAIL(TALLY_EXIT_USAGE, argv[0],
			  "say passtally %s --user; for the whole system there "
			  "are packages (docs/install.md)",
			  argv[0]);
}

/* ---- places ---- */

static char *
link_path(void)
{
	return g_build_filename(g_get_home_dir(), ".local", "bin", "passtally", NULL);
}

/* The manifest for 32-bit or 64-bit libraries. */
static char *
manifest_path(unsigned bits)
{
	return g_build_filename(g_get_user_data_dir(), "vulkan", "implicit_layer.d",
				bits == 64 ? TALLY_VK_MANIFEST : TALLY_VK_MANIFEST_32, NULL);
}

/* Whether an existing file may be replaced or removed: it names passtally's layer. */
static bool
is_ours(const char *path)
{
	g_autofree char *text = NULL;
	return g_file_get_contents(path, &text, NULL, NULL) && strstr(text, TALLY_VK_LAYER);
}

/* Whether the link leads to a passtally, even to one that no longer exists. */
static bool
is_our_link(const char *path)
{
	g_autofree char *to = g_file_read_link(path, NULL);
	return to && g_str_has_suffix(to, "/bin/passtally");
}

static bool
in_way(const char *path)
{
	return TALLY_FAIL(false, "install",
			  "%s is there and is not passtally's: it stays, and "
			  "must go first",
			  path);
}

static bool
failed(const char *command, const char *path)
{
	return TALLY_FAIL(false, command, "%s: %s", path, g_strerror(errno));
}

/* ---- install ---- */

static bool
make_folder(const char *path)
{
	g_autofree char *folder = g_path_get_dirname(path);
	return g_mkdir_with_parents(folder, 0755) == 0 || failed("install", folder);
}

static bool
make_link(const char *own)
{
	g_autofree char *path = link_path();
	g_autofree char *to = g_file_read_link(path, NULL);
	if (g_strcmp0(path, own) == 0 || g_strcmp0(to, own) == 0)
		return true;
	if (is_our_link(path))
		g_unlink(path);
	else if (g_file_test(path, G_FILE_TEST_EXISTS))
		return in_way(path);
	if (!make_folder(path))
		return false;
	if (symlink(own, path) < 0)
		return failed("install", path);
	tally_text_print_line(stdout, "%s -> %s", path, own);
	return true;
}

/* The manifest that belongs to this copy, with the library's path made absolute. Loaders
 * before library_arch (Debian 11's) take one of several layers of a name, whichever its
 * class, and go on without one that they cannot load: the 32-bit one has its own name. */
static char *
manifest_text(const char *template, const char *library, unsigned bits)
{
	g_autofree char *text = NULL;
	if (!g_file_get_contents(template, &text, NULL, NULL))
		return NULL;
	g_autofree char *quoted = tally_vk_manifest_quote(library);
	g_autofree char *path = g_strdup_printf(
		"\"library_path\": %s,\n\t\t\"library_arch\": \"%u\"", quoted, bits);
	g_autoptr(GRegex) member =
		g_regex_new("\"library_path\": *\"[^\"]*\"(,\\s*\"library_arch\": *\"[^\"]*\")?",
			    G_REGEX_RAW, 0, NULL);
	g_autofree char *ours = g_regex_replace_literal(member, text, -1, 0, path, 0, NULL);
	if (!ours || bits == 64)
		return g_steal_pointer(&ours);
	g_auto(GStrv) around = g_strsplit(ours, "\"" TALLY_VK_LAYER "\"", 2);
	return g_strjoinv("\"" TALLY_VK_LAYER_32 "\"", around);
}

static bool
make_manifest(const char *template, const char *library)
{
	struct tally_elf_file file = tally_elf_file_read(library);
	g_autofree char *path = manifest_path(file.bits);
	g_autofree char *text = manifest_text(template, library, file.bits);
	if (!text)
		return failed("install", template);
	if (g_file_test(path, G_FILE_TEST_EXISTS) && !is_ours(path))
		return in_way(path);
	if (!make_folder(path))
		return false;
	g_autoptr(GError) error = NULL;
	if (!g_file_set_contents(path, text, -1, &error))
		return TALLY_FAIL(false, "install", "%s", error->message);
	tally_text_print_line(stdout, "%s", path);
	return true;
}

/* The layers of this copy: each is next to a library to preload. */
static bool
make_manifests(void)
{
	struct tally_injected gl;
	struct tally_vk_manifest vk;
	tally_injected_find(&gl);
	tally_vk_manifest_find(&vk);
	bool ok = true;
	const char *template = vk.path;
	if (template)
		ok = make_manifest(template, vk.library);
	else
		tally_cli_complain("install", "the Vulkan layer is not beside this "
					      "command: only OpenGL will be captured");
	for (guint i = 0; template && i < gl.others->len; i++) {
		g_autofree char *folder = g_path_get_dirname(gl.others->pdata[i]);
		g_autofree char *layer = g_build_filename(folder, "libVkLayer_passtally.so", NULL);
		if (access(layer, R_OK) == 0 && tally_elf_file_read(layer).bits == 32)
			ok &= make_manifest(template, layer);
	}
	tally_vk_manifest_finish(&vk);
	tally_injected_finish(&gl);
	return ok;
}

static void
print_path_hint(void)
{
	g_autofree char *link = link_path();
	g_autofree char *folder = g_path_get_dirname(link);
	g_auto(GStrv) dirs = g_strsplit(g_getenv("PATH") ? g_getenv("PATH") : "", ":", -1);
	if (!g_strv_contains((const char *const *)dirs, folder))
		tally_text_print(stdout, "%s is not in PATH. For bash, in ~/.profile:\n"
					 "  export PATH=\"$HOME/.local/bin:$PATH\"\n",
				 folder);
}

static int
install(int argc, char **argv)
{
	int status = parse(&tally_command_install, argc, argv);
	if (status != TALLY_EXIT_OK)
		return status;
	g_autofree char *own = tally_own_path();
	if (!own || !g_str_has_suffix(own, "/bin/passtally"))
		return TALLY_FAIL(TALLY_EXIT_NOTHING, "install",
				  "%s is not an installed or unpacked copy: "
				  "its path must end in /bin/passtally. From "
				  "a build: meson configure BUILD "
				  "--prefix=FOLDER, meson install -C BUILD, "
				  "FOLDER/bin/passtally install --user",
				  own ? own : "this command");
	/* Without the command nothing enables the layer: then no manifest. */
	bool ok = make_link(own) && make_manifests();
	if (ok)
		print_path_hint();
	return ok ? TALLY_EXIT_OK : TALLY_EXIT_NOTHING;
}

/* ---- uninstall ---- */

static bool
take_away(const char *path, bool ours)
{
	if (!ours)
		return true;
	if (g_unlink(path) < 0)
		return failed("uninstall", path);
	tally_text_print_line(stdout, "removed %s", path);
	return true;
}

static int
uninstall(int argc, char **argv)
{
	int status = parse(&tally_command_uninstall, argc, argv);
	if (status != TALLY_EXIT_OK)
		return status;
	g_autofree char *link = link_path();
	bool ok = take_away(link, is_our_link(link));
	for (unsigned bits = 32; bits <= 64; bits *= 2) {
		g_autofree char *path = manifest_path(bits);
		ok &= take_away(path, is_ours(path));
	}
	return ok ? TALLY_EXIT_OK : TALLY_EXIT_NOTHING;
}

const struct tally_command tally_command_install =
	TALLY_COMMAND(install, install, options, NULL);

const struct tally_command tally_command_uninstall =
	TALLY_COMMAND(uninstall, uninstall, options, NULL);
