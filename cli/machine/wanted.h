/* SPDX-License-Identifier: MIT */
/* cli/machine/wanted.h - checks that the names in --counters and --sources exist, and that
 * the user's own metrics can be read.
 *
 * layer/config/config.c cannot check this: it knows no source and no expression. The command
 * refuses to start with a name that no source of this version has, or with an invalid
 * metric; the injected library continues with the names that it knows. One thread.
 */
#ifndef PASSTALLY_CLI_WANTED_H
#define PASSTALLY_CLI_WANTED_H

#include "layer/config/config.h"

/* Returns false after reporting each unknown name, with the nearest counters or all sources,
 * and each invalid metric: file, line and column. */
bool tally_wanted_check(const struct tally_config *config, tally_config_complain *complain,
			void *data);
/* Does the same for one list of counters, with the user's metrics in `config`. */
bool tally_wanted_check_counters(const struct tally_config *config, const char *list,
				 tally_config_complain *complain, void *data);

#endif
