/* cli/wanted.h - do the names in --counters and --sources exist?
 *
 * layer/config.c can not tell: it knows no source. The command refuses to start on a name that no
 * source of this version has; the injected library goes on with what it does know. One thread.
 */
#ifndef PASSTALLY_CLI_WANTED_H
#define PASSTALLY_CLI_WANTED_H

#include "layer/config.h"

/* False after a complaint about each name that is nobody's, with the valid ones listed. */
bool tally_wanted_check(const struct tally_config *config, tally_config_complain *complain,
			void *data);

#endif
