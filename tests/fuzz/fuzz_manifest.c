/* SPDX-License-Identifier: MIT */
/* Any bytes as the manifest of a Vulkan layer in the place of passtally's, as the path of the
 * library that the manifest names, as a library or program, and as the loader's variables. What
 * `install` writes must be JSON, and be found again by the same path. */
#include "cli/install/elf_file.h"
#include "cli/install/vk_manifest.h"
#include "tests/fuzz/fuzz.h"

#include <glib.h>

static const char *fuzz_data_dir(void);
#define g_get_user_data_dir fuzz_data_dir
#include "cli/install/vk_manifest.c"
#include "cli/install/user_install.c"
#undef g_get_user_data_dir
#include "cli/install/inject.h"
#include "json/reader.h"

const struct fuzz_target fuzz_target = {
	"manifest",
	"{}[]:,\"\\library_pathfomvnsVK_LAYER_PASSTALLY_capture/.0123 \n\x7f"
	"ELF",
	100
};

static const char *
fuzz_data_dir(void)
{
	static char *folder;
	if (!folder) {
		folder = g_dir_make_tmp("passtally-fuzz-XXXXXX", NULL);
		g_autofree char *inner = g_build_filename(folder, "vulkan", "implicit_layer.d",
							  NULL);
		if (g_mkdir_with_parents(inner, 0700) != 0)
			abort();
	}
	return folder;
}

static void __attribute__((destructor)) remove_folder(void)
{
	g_autofree char *outer = g_build_filename(fuzz_data_dir(), "vulkan", NULL);
	g_autofree char *inner = g_build_filename(outer, "implicit_layer.d", NULL);
	g_autofree char *path = manifest_path(64);
	g_unlink(path);
	g_rmdir(inner);
	g_rmdir(outer);
	g_rmdir(fuzz_data_dir());
}

/* What is at the path of passtally's manifest. */
static void
check_found(const char *text, size_t n, const char *library)
{
	g_autofree char *path = manifest_path(64);
	fuzz_write(path, text, n);
	fuzz_require(!is_ours(path) || strstr(text, TALLY_VK_LAYER), "ours has our name");
	fuzz_require(!is_installed_for_user(library) || *text, "an empty one names no library");
	g_free(manifest_text(path, library, 64));
}

static bool
is_json(const char *text)
{
	size_t n = strlen(text);
	char *line = calloc(1, n + 1 + TALLY_JSON_PADDING);
	if (!line)
		abort();
	memcpy(line, text, n);
	struct tally_json_reader r = { 0 };
	tally_json_begin(&r, line, n);
	bool fine = tally_json_skip(&r) && tally_json_end(&r);
	free(line);
	return fine;
}

/* What `install` makes for a library of that path. */
static void
check_made(const char *library)
{
	static const char template[] = "{ \"file_format_version\": \"1.1.2\", \"layer\": { "
				       "\"library_path\": \"./x.so\", \"name\": \"n\" } }";
	g_autofree char *path = manifest_path(64);
	fuzz_write(path, template, sizeof(template) - 1);
	g_autofree char *made = manifest_text(path, library, 64);
	fuzz_require(made != NULL, "a manifest is made");
	fuzz_write(path, made, strlen(made));
	fuzz_require(is_installed_for_user(library), "what was written is found");
	for (const char *c = library; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return;
	for (char *c = made; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	fuzz_require(is_json(made) || !g_utf8_validate(library, -1, NULL), "it is JSON");
}

static void
check_file(const char *text, size_t n)
{
	g_autofree char *path = manifest_path(64);
	fuzz_write(path, text, n);
	struct tally_elf_file file = tally_elf_file_read(path);
	fuzz_require(!file.elf || n >= 64 || !file.dynamic, "a cut header has no loader");
	fuzz_require(tally_elf_machine_name(&file)[0], "a machine has a name");
}

static void
check_variables(const char *text)
{
	char folder[] = "/f", library[] = "/f/l";
	const struct tally_vk_manifest m = { .folder = folder, .library = library };
	char **env = g_environ_setenv(g_get_environ(), "VK_LAYER_PATH", text, TRUE);
	env = g_environ_setenv(env, "VK_INSTANCE_LAYERS", text, TRUE);
	tally_inject_vulkan(&env, &m, NULL);
	tally_inject_vulkan(&env, &m, NULL);
	const char *path = g_environ_getenv(env, *text ? "VK_LAYER_PATH" : "VK_ADD_LAYER_PATH");
	const char *layers = g_environ_getenv(env, "VK_INSTANCE_LAYERS");
	fuzz_require(g_str_has_prefix(path, "/f"), "our folder is first");
	fuzz_require(g_str_has_prefix(layers, TALLY_VK_LAYER), "our layer is first");
	fuzz_require(g_str_has_suffix(path, text) && g_str_has_suffix(layers, text),
		     "the user's own stay");
	fuzz_require(strlen(layers) <= strlen(text) + strlen(TALLY_VK_LAYER) + 1,
		     "ours is there once");
	g_strfreev(env);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	char *text = g_strndup((const char *)data + 2, size - 2);
	size_t path_bytes = data[1] < strlen(text) ? data[1] : strlen(text);
	g_autofree char *library = g_strdup_printf("/%.*s", (int)path_bytes, text);
	switch (data[0] % 3) {
	case 0:
		check_made(library);
		check_found(text + path_bytes, strlen(text + path_bytes), library);
		break;
	case 1:
		check_file((const char *)data + 2, size - 2);
		break;
	default:
		check_variables(text);
		break;
	}
	g_free(text);
	return 0;
}
