/* cli/log/pass_name.h - what to call a pass without a label.
 *
 * Built from what it writes to: "Depth-only 2048x2048 DEPTH24", "Colour (3 targets + depth)
 * 960x540", "Backbuffer", "Compute", "Copy". The ordinal is the caller's.
 */
#ifndef PASSTALLY_CLI_PASS_NAME_H
#define PASSTALLY_CLI_PASS_NAME_H

#include "layer/record.h"

/* `target` may be NULL. The caller's (g_free). */
char *tally_pass_name(enum tally_pass_kind kind, const struct tally_target *target, bool presented);

#endif
