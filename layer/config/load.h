/* SPDX-License-Identifier: MIT */
/* layer/config/load.h - the options in their order: files, then the environment.
 *
 * Only while options are read, on one thread.
 */
#ifndef PASSTALLY_LAYER_CONFIG_LOAD_H
#define PASSTALLY_LAYER_CONFIG_LOAD_H

#include "layer/config/config.h"

/* Reads all places except the command line and the program, lowest precedence first:
 * $XDG_CONFIG_HOME/passtally/passtally.conf, .../programs/<executable's base name>.conf
 * (`program` may be NULL), vk_layer_settings.txt where Vulkan's layers look for it
 * (docs/config.md), VK_PASSTALLY_CAPTURE_<OPTION>, PASSTALLY_OPTIONS, PASSTALLY_LOG. Under secure
 * execution (AT_SECURE) the environment and the home folder are not read. */
bool tally_config_load(struct tally_config *config, const char *program,
		       tally_config_complain *complain, void *data);

/* The user's file, or with `program` that program's own file, whether it exists
 * or not. Caller frees; NULL on OOM, without a home, under secure execution and
 * for a name that is too long. */
char *tally_config_file_path(const char *program);

#endif
