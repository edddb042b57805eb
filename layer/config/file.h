/* SPDX-License-Identifier: MIT */
/* layer/config/file.h - files of options, "key = value" lines with sections for programs.
 *
 * Only while options are read, on one thread.
 */
#ifndef PASSTALLY_LAYER_CONFIG_FILE_H
#define PASSTALLY_LAYER_CONFIG_FILE_H

#include "layer/config/config.h"

/* An INI file: [passtally] for options, [metric NAME] for the user's own metrics (name, unit,
 * expression, dialect), comments with # or ;, at most 1 MiB. A missing file is not an error; a
 * bad line is, with its number. */
bool tally_config_read_file(struct tally_config *config, const char *path,
			    enum tally_config_origin origin, tally_config_complain *complain,
			    void *data);
/* The settings of Vulkan's layers: one file in which lines such as "passtally_capture.max_log =
 * 1M" are passtally's and all others belong to other layers, and "#" begins a comment. An empty
 * value counts as absent. Otherwise as above. */
bool tally_config_read_layer_file(struct tally_config *config, const char *path,
				  tally_config_complain *complain, void *data);

#endif
