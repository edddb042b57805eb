/* SPDX-License-Identifier: MIT */
/* cli/install/vk_manifest.h - where the Vulkan layer is, and how to make Vulkan's loader
 * load it.
 *
 * The layer is found relative to the running command, as the OpenGL library is
 * (cli/install/injected.h). If its manifest is among those that the loader reads by default,
 * one variable enables the layer; from a build tree or another prefix the loader also needs
 * the path. One thread.
 */
#ifndef PASSTALLY_CLI_VK_MANIFEST_H
#define PASSTALLY_CLI_VK_MANIFEST_H

#include <glib.h>
#include <stdbool.h>

#define TALLY_VK_LAYER "VK_LAYER_PASSTALLY_capture"
#define TALLY_VK_MANIFEST "VkLayer_passtally.json"

struct tally_vk_manifest {
	char *library; /* absolute; NULL = the layer was not found */
	char *folder; /* folder of the manifest; absolute */
	bool implicit; /* the loader finds the manifest by default */
	GPtrArray *tried; /* elements: char *, paths of manifests that do not exist */
};

void tally_vk_manifest_find(struct tally_vk_manifest *manifest);
void tally_vk_manifest_finish(struct tally_vk_manifest *manifest);

/* The path as spelled in a manifest, in quotes; the caller frees it. Control characters in it
 * have no spelling that the loader reads. */
char *tally_vk_manifest_quote(const char *path);

/* Sets this process's environment so that the programs it starts get the layer; the user's
 * settings for other layers stay. `folder` is a path to manifest->folder that contains no
 * colon. */
void tally_vk_manifest_enable(const struct tally_vk_manifest *manifest, const char *folder);

#endif
