/* SPDX-License-Identifier: MIT */
/* cli/install/inject.h - the environment with which a program is captured.
 *
 * The names of libraries that ld.so or Vulkan's loader could not read are replaced by links in the
 * run's folder. Errors are printed. One thread.
 */
#ifndef PASSTALLY_CLI_INJECT_H
#define PASSTALLY_CLI_INJECT_H

#include "cli/install/injected.h"
#include "cli/install/run_folder.h"
#include "cli/install/vk_manifest.h"

/* The user's environment without what was set for passtally: options, the switch, and the file of
 * options, which is looked for in `config_home`. */
char **tally_inject_clean(const char *config_home);

/* Change an environment as execve(2) takes it, of which each owns and replaces the strings; false
 * after an error. */

/* Preloads the library before others of the user; `in->path` is not NULL. */
bool tally_inject_gl(char ***environment, const struct tally_injected *in,
		     const struct tally_run_folder *folder);
/* The user's settings for other layers stay. Nothing is changed if there is no layer. */
bool tally_inject_vulkan(char ***environment, const struct tally_vk_manifest *manifest,
			 const struct tally_run_folder *folder);

/* Direct3D's translators, DXVK and vkd3d-proton, pass the program's markers on as labels. Other
 * settings of vkd3d-proton stay; DXVK takes one word of DXVK_DEBUG. */
void tally_inject_labels(char ***environment);

/* Adds KEY=VALUE to a value of PASSTALLY_OPTIONS. */
void tally_inject_option(GString *options, const char *key, const char *value);

#endif
