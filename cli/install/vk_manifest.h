/* SPDX-License-Identifier: MIT */
/* cli/install/vk_manifest.h - where the Vulkan layer is, and how to make Vulkan's loader load it.
 *
 * The layer is found relative to the running command, as the OpenGL library is (injected.c). If
 * its manifest is among those that the loader reads by default, one variable enables the layer;
 * from a build tree or another prefix the loader also needs the path.
 */
#ifndef PASSTALLY_CLI_INSTALL_VK_MANIFEST_H
#define PASSTALLY_CLI_INSTALL_VK_MANIFEST_H

#include <glib.h>
#include <stdbool.h>

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

#endif
