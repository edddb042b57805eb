/* SPDX-License-Identifier: MIT */
#include "cli/machine/doctor_install.h"

#include "cli/install/elf_file.h"
#include "cli/install/injected.h"
#include "layer/base/version.h"
#include "passtally_version.h"

#include <string.h>

#define CORE "libpasstally.so.0"
#define LAYER "libVkLayer_passtally.so"

/* The version of a core library, read from its file; NULL if it has none. The caller frees
 * it. */
static char *
core_version(const char *path)
{
	enum { LONGEST = 64 };
	g_autofree char *bytes = NULL;
	gsize len = 0;
	if (!g_file_get_contents(path, &bytes, &len, NULL))
		return NULL;
	static const char mark[] = TALLY_VERSION_MARK;
	const char *at = memmem(bytes, len, mark, strlen(mark));
	if (!at)
		return NULL;
	at += strlen(mark);
	return g_strndup(at, MIN((size_t)(bytes + len - at), LONGEST));
}

/* A file that belongs to the library: in the same folder or, in a build tree, in the parent
 * folder or that of the layer. NULL if it is in none of them. */
static char *
beside(const char *library, const char *name)
{
	static const char *const folders[] = { ".", "..", "../vk_layer" };
	g_autofree char *folder = g_path_get_dirname(library);
	bool built = g_str_has_suffix(folder, "/gl_shim");
	for (size_t i = 0; i < (built ? G_N_ELEMENTS(folders) : 1); i++) {
		char *path = i ? g_build_filename(folder, folders[i], name, NULL)
			       : g_build_filename(folder, name, NULL);
		if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
			return path;
		g_free(path);
	}
	return NULL;
}

/* Checks the core and the layer that belong to one library. */
static bool
check_one(const char *library, bool ours)
{
	struct tally_elf_file file = tally_elf_file_read(library);
	const char *machine = tally_elf_machine_name(&file);
	enum tally_doctor_mark bad = ours ? TALLY_DOCTOR_BAD : TALLY_DOCTOR_OFF;
	g_autofree char *core = beside(library, CORE);
	g_autofree char *layer = beside(library, LAYER);
	if (!core) {
		tally_doctor_row(
			bad, "installation",
			"%s is not beside %s: %s programs cannot load it; install all of passtally",
			CORE, library, machine);
		return false;
	}
	g_autofree char *version = core_version(core);
	if (!version || strcmp(version, PASSTALLY_VERSION) != 0) {
		tally_doctor_row(bad, "installation",
				 "%s is of version %s, the command of %s: install all of "
				 "one version",
				 core, version ? version : "(unknown)", PASSTALLY_VERSION);
		return false;
	}
	if (!layer && !ours)
		tally_doctor_row(TALLY_DOCTOR_OFF, "installation",
				 "no %s beside %s: of %s programs only OpenGL can be captured",
				 LAYER, library, machine);
	return true;
}

bool
tally_doctor_install(const struct tally_injected *in)
{
	bool ok = check_one(in->path, true);
	guint good = ok;
	for (guint i = 0; i < in->others->len; i++)
		good += check_one(g_ptr_array_index(in->others, i), false);
	if (good == in->others->len + 1)
		tally_doctor_row(TALLY_DOCTOR_GOOD, "installation",
				 "command and libraries are of version %s", PASSTALLY_VERSION);
	return ok;
}
