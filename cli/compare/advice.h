/* SPDX-License-Identifier: MIT */
/* cli/compare/advice.h - what would make an unclear comparison clear: how many runs, the command,
 * and which limit this machine can hold. One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_ADVICE_H
#define PASSTALLY_CLI_COMPARE_ADVICE_H

#include "cli/compare/row_text.h"

/* Prints nothing unless the conclusion is open. */
void tally_print_advice(const struct tally_printer *p);

#endif
