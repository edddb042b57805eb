/* cli/machine/wanted.h - do the names in --counters and --sources exist, and can the user's own
 * metrics be read?
 *
 * layer/config/config.c can not tell: it knows no source and no expression. The command refuses
 * to start on a name that no source of this version has, and on a metric that is wrong; the
 * injected library goes on with what it does know. One thread.
 */
#ifndef PASSTALLY_CLI_WANTED_H
#define PASSTALLY_CLI_WANTED_H

#include "layer/config/config.h"

/* Returns false after printing an error about each unknown name, with the valid ones listed,
 * and about each metric: file, line, column and a caret. */
bool tally_wanted_check(const struct tally_config *config, tally_config_complain *complain,
			void *data);

#endif
