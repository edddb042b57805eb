/* cli/log/pass_name.h - a name for a pass without a label.
 *
 * The name is built from the targets that the pass writes: "Depth-only 2048x2048 DEPTH24",
 * "Colour (3 targets + depth) 960x540", "Backbuffer", "Compute", "Copy". The caller adds the
 * ordinal.
 */
#ifndef PASSTALLY_CLI_PASS_NAME_H
#define PASSTALLY_CLI_PASS_NAME_H

#include "layer/record.h"

/* `target` may be NULL. The caller frees the name with g_free(). */
char *tally_pass_name(enum tally_pass_kind kind, const struct tally_target *target,
		      bool presented);

#endif
