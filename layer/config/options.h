/* SPDX-License-Identifier: MIT */
/* layer/config/options.h - the table of options.
 *
 * Any thread; the table is constant.
 */
#ifndef PASSTALLY_LAYER_CONFIG_OPTIONS_H
#define PASSTALLY_LAYER_CONFIG_OPTIONS_H

#include "layer/config/config.h"

extern const struct tally_option tally_options[];
extern const size_t tally_n_options;

/* Parses `value` into the config. False: `why` has a sentence that lists the valid values. */
bool tally_option_set(const struct tally_option *option, struct tally_config *config,
		      const char *value, char *why, size_t size);
/* Prints the value in force as the words that would set it; returns the
 * length, as snprintf() does. */
size_t tally_option_get(const struct tally_option *option, const struct tally_config *config,
			char *out, size_t size);

#endif
