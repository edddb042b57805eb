/* SPDX-License-Identifier: MIT */
/* cli/machine/catalogue.h - the output of `passtally counters --catalogue GPU`, which works
 * without that GPU.
 *
 * Results go to standard output.
 */
#ifndef PASSTALLY_CLI_MACHINE_CATALOGUE_H
#define PASSTALLY_CLI_MACHINE_CATALOGUE_H

#include <stdbool.h>

/* Prints the counters and metrics of the GPU or, for NULL, the names of the known GPUs.
 * Returns the exit status. */
int tally_catalogue_print(const char *gpu, bool json);

#endif
