/* SPDX-License-Identifier: MIT */
/* cli/fleet/fleet.h - the program behind `passtally fleet`; private to it.
 *
 * Defined in a file that scripts/embed_text.py makes from fleet.py. Constant: any thread.
 */
#ifndef PASSTALLY_CLI_FLEET_H
#define PASSTALLY_CLI_FLEET_H

#include <stddef.h>

extern const char tally_fleet_text[]; /* ends in a NUL */
extern const size_t tally_fleet_text_len;

#endif
