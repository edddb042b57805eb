/* cli/install/vk_manifest.h - where the Vulkan layer is, and what makes Vulkan's loader take it.
 *
 * Found relative to the running command, as the OpenGL library is (cli/install/injected.h).
 * Where its manifest lies among those that the loader reads by itself, one variable switches it
 * on; from a build tree or another prefix the loader must be shown the way. One thread.
 */
#ifndef PASSTALLY_CLI_VK_MANIFEST_H
#define PASSTALLY_CLI_VK_MANIFEST_H

#include <glib.h>
#include <stdbool.h>

#define TALLY_VK_LAYER "VK_LAYER_PASSTALLY_capture"

struct tally_vk_manifest {
	char *library; /* absolute; NULL = the layer was not found */
	char *folder; /* holds the manifest; absolute */
	bool implicit; /* the loader finds it by itself */
	GPtrArray *tried; /* of char *: manifests that are not there */
};

void tally_vk_manifest_find(struct tally_vk_manifest *manifest);
void tally_vk_manifest_finish(struct tally_vk_manifest *manifest);

/* Set our environment so that programs we start have the layer; what the user put there for other
 * layers stays. `folder` stands for manifest->folder, by a name without a colon. */
void tally_vk_manifest_enable(const struct tally_vk_manifest *manifest, const char *folder);

#endif
