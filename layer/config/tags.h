/* SPDX-License-Identifier: MIT */
/* layer/config/tags.h - the tags of a run.
 *
 * Only while options are read, on one thread.
 */
#ifndef PASSTALLY_LAYER_CONFIG_TAGS_H
#define PASSTALLY_LAYER_CONFIG_TAGS_H

#include "layer/config/base.h"

/* Adds KEY=VALUE, or several with + between them. False: `why` has a sentence. */
bool tally_config_set_tags(struct tally_config *config, const char *text,
			   enum tally_config_origin origin, char *why, size_t size);
/* The text that would set them; returns its length, as snprintf() does. */
size_t tally_config_get_tags(const struct tally_config *config, char *out, size_t size);
void tally_config_finish_tags(struct tally_config *config);

#endif
