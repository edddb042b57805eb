/* SPDX-License-Identifier: MIT */
/* cli/install/install.h - where passtally's own files are, and what kind of file one is.
 * One thread.
 */
#ifndef PASSTALLY_CLI_INSTALL_H
#define PASSTALLY_CLI_INSTALL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- elf_file.c: identifies the kind of program or library in a file by its first
 * bytes.
 *
 * For hints only: nothing is refused because of the result. Reads at most a few KiB; a
 * malformed header sets `elf` to false. */

struct tally_elf_file {
	bool readable;
	bool elf;
	unsigned bits; /* 32 or 64 */
	uint16_t machine; /* EM_* */
	bool dynamic; /* a program that names a dynamic loader; false for a library */
	/* set-user-ID, set-group-ID or file capabilities: preloading has no effect */
	bool privileged;
};

struct tally_elf_file tally_elf_file_read(const char *path);
/* "x86-64", "i386", ...; for other machines "machine N" in a static buffer. */
const char *tally_elf_machine_name(const struct tally_elf_file *file);

/* ---- injected.c: where the library to inject is, and how to name it in LD_PRELOAD.
 *
 * The library is found relative to the running command: in the same build tree, or, when
 * installed, in the library folder of the same prefix. */

struct tally_injected {
	char *path; /* absolute; NULL = not found */
	/* as LD_PRELOAD needs it: `path`, or a path with $LIB where that covers more
	 * architectures; NULL if ld.so could not read such a path */
	char *preload;
	GPtrArray *tried; /* elements: char *, the paths that were searched */
	GPtrArray *others; /* elements: char *, the same library for other architectures */
};

void tally_injected_find(struct tally_injected *injected);
void tally_injected_finish(struct tally_injected *injected);

/* Path of the running executable; the caller frees it. */
char *tally_own_path(void);
/* The prefix of the command, where `folder` is the folder of the executable; the caller
 * frees it. */
char *tally_own_prefix(const char *folder);
/* Path of one of our libraries installed under `prefix`, NULL if there is none; the caller
 * frees it. */
char *tally_installed_library(const char *prefix, const char *name);

/* ---- vk_manifest.c: where the Vulkan layer is, and how to make Vulkan's loader
 * load it.
 *
 * The layer is found relative to the running command, as the OpenGL library is
 * (injected.c). If its manifest is among those that the loader reads by default,
 * one variable enables the layer; from a build tree or another prefix the loader also needs
 * the path. */

#define TALLY_VK_LAYER "VK_LAYER_PASSTALLY_capture"
#define TALLY_VK_LAYER_32 TALLY_VK_LAYER "_32" /* by install --user */
#define TALLY_VK_MANIFEST "VkLayer_passtally.json"
/* What a build for 32 bits has beside that one, outside /usr. */
#define TALLY_VK_MANIFEST_32 "VkLayer_passtally32.json"

struct tally_vk_manifest {
	char *library; /* absolute; NULL = the layer was not found */
	char *path; /* of the manifest; absolute */
	char *folder; /* its folder */
	bool implicit; /* the loader finds the manifest by default */
	GPtrArray *tried; /* elements: char *, paths of manifests that do not exist */
};

void tally_vk_manifest_find(struct tally_vk_manifest *manifest);
void tally_vk_manifest_finish(struct tally_vk_manifest *manifest);

/* The library that the manifest `path` names: absolute, or a name without a folder as it is there.
 * NULL if it cannot be read; the caller frees it. */
char *tally_vk_manifest_names(const char *path);

/* The path as spelled in a manifest, in quotes; the caller frees it. Control characters in it
 * have no spelling that the loader reads. */
char *tally_vk_manifest_quote(const char *path);

/* Path of a program of scenes/; NULL if this build has none of that name. The caller frees it. */
char *tally_scenes_program(const char *name);

#endif
