/* SPDX-License-Identifier: MIT */
#include "cli/install/injected.h"

#include "cli/install/elf_file.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libpasstally_gl.so"
#define CORE "libpasstally.so.0"

/* Set by the build: where the command and the libraries are installed, relative to the
 * prefix. */
#ifndef PASSTALLY_BINDIR
#define PASSTALLY_BINDIR "bin"
#endif
#ifndef PASSTALLY_LIBDIR
#define PASSTALLY_LIBDIR "lib"
#endif
#ifndef PASSTALLY_LIBEXECDIR
#define PASSTALLY_LIBEXECDIR "libexec"
#endif

/* Names of library folders, used to search for other architectures. */
static const char *const library_folders[] = {
	"lib/x86_64-linux-gnu",
	"lib/i386-linux-gnu",
	"lib/aarch64-linux-gnu",
	"lib/arm-linux-gnueabihf",
	"lib64",
	"lib32",
	"lib",
};

char *
tally_own_path(void)
{
	return g_file_read_link("/proc/self/exe", NULL);
}

char *
tally_own_folder(char **prefix_of_it)
{
	g_autofree char *own = tally_own_path();
	char *folder = own ? g_path_get_dirname(own) : g_strdup("/");
	char *prefix = g_strdup(folder);
	for (const char *p = PASSTALLY_BINDIR; *p;) {
		char *up = g_path_get_dirname(prefix);
		g_free(prefix);
		prefix = up;
		p += strcspn(p, "/");
		p += strspn(p, "/");
	}
	*prefix_of_it = prefix;
	return folder;
}

static char *
in_libdir(const char *prefix, const char *name)
{
	return g_path_is_absolute(PASSTALLY_LIBDIR)
		       ? g_build_filename(PASSTALLY_LIBDIR, name, NULL)
		       : g_build_filename(prefix, PASSTALLY_LIBDIR, name, NULL);
}

char *
tally_installed_library(const char *prefix, const char *name)
{
	char *path = in_libdir(prefix, name);
	for (size_t i = 0; access(path, R_OK) != 0; i++) {
		g_free(path);
		if (i == G_N_ELEMENTS(library_folders))
			return NULL;
		path = g_build_filename(prefix, library_folders[i], name, NULL);
	}
	return path;
}

static bool
try_path(struct tally_injected *in, char *path)
{
	if (in->path || access(path, R_OK) != 0) {
		g_ptr_array_add(in->tried, path);
		return in->path != NULL;
	}
	in->path = g_canonicalize_filename(path, NULL);
	g_free(path);
	return true;
}

/* Library folders may be links to each other. */
static bool
is_known(const struct tally_injected *in, const char *path)
{
	struct stat st, other;
	if (stat(path, &st) < 0)
		return true;
	for (guint i = 0; i < in->others->len; i++)
		if (stat(in->others->pdata[i], &other) == 0 && st.st_dev == other.st_dev &&
		    st.st_ino == other.st_ino)
			return true;
	return false;
}

char *
tally_scenes_program(const char *name)
{
	g_autofree char *prefix = NULL, *folder = tally_own_folder(&prefix);
	/* In the build tree, then where it is installed. */
	char *path = g_build_filename(folder, "..", "scenes", name, NULL);
	if (g_file_test(path, G_FILE_TEST_IS_EXECUTABLE))
		return path;
	g_free(path);
	path = g_build_filename(prefix, PASSTALLY_LIBEXECDIR, "passtally", name, NULL);
	if (g_file_test(path, G_FILE_TEST_IS_EXECUTABLE))
		return path;
	g_free(path);
	return NULL;
}

static void
find_others(struct tally_injected *in, const char *prefix)
{
	struct tally_elf_file own = tally_elf_file_read(in->path);
	for (size_t i = 0; i < G_N_ELEMENTS(library_folders); i++) {
		char *path = g_build_filename(prefix, library_folders[i], LIBRARY, NULL);
		struct tally_elf_file file = tally_elf_file_read(path);
		if (file.elf && !is_known(in, path) &&
		    (file.bits != own.bits || file.machine != own.machine))
			g_ptr_array_add(in->others, path);
		else
			g_free(path);
	}
}

/* ld.so replaces $LIB by the library folder of each process's own architecture. Its value
 * for this process comes from ld.so itself: the core library is loaded already, so a path
 * with $LIB must find it. */
static char *
preload_with_lib(const char *prefix)
{
	g_autofree char *core = g_build_filename(prefix, "$LIB", CORE, NULL);
	void *handle = dlopen(core, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	dlclose(handle);
	return g_build_filename(prefix, "$LIB", LIBRARY, NULL);
}

void
tally_injected_find(struct tally_injected *in)
{
	*in = (struct tally_injected){
		.tried = g_ptr_array_new_with_free_func(g_free),
		.others = g_ptr_array_new_with_free_func(g_free),
	};
	g_autofree char *prefix = NULL, *folder = tally_own_folder(&prefix);
	bool built = try_path(in, g_build_filename(folder, "..", "gl_shim", LIBRARY, NULL)) ||
		     try_path(in, g_build_filename(folder, "gl_shim", LIBRARY, NULL));
	if (!built) {
		try_path(in, in_libdir(prefix, LIBRARY));
		for (size_t i = 0; i < G_N_ELEMENTS(library_folders) && !in->path; i++)
			try_path(in, g_build_filename(prefix, library_folders[i], LIBRARY,
						      NULL));
		if (!in->path)
			try_path(in, g_build_filename(folder, LIBRARY, NULL));
	}
	if (in->path && !built)
		find_others(in, prefix);
	if (in->path && in->others->len)
		in->preload = preload_with_lib(prefix);
	/* Spaces and colons end a name in LD_PRELOAD, and ld.so has no escape for them. */
	if (in->path && !in->preload && !strpbrk(in->path, " :$"))
		in->preload = g_strdup(in->path);
	if (in->preload && strpbrk(in->preload, " :"))
		g_clear_pointer(&in->preload, g_free);
}

void
tally_injected_finish(struct tally_injected *in)
{
	g_free(in->path);
	g_free(in->preload);
	g_ptr_array_unref(in->tried);
	g_ptr_array_unref(in->others);
	*in = (struct tally_injected){ 0 };
}
