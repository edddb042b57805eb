/* cli/machine/catalogue.h - what `passtally counters --catalogue GPU` says, without that GPU.
 *
 * Results go to standard output. One thread.
 */
#ifndef PASSTALLY_CLI_CATALOGUE_H
#define PASSTALLY_CLI_CATALOGUE_H

#include <stdbool.h>

/* Counters and metrics of the GPU, or, NULL, the names of those that are known. Exit status. */
int tally_catalogue_print(const char *gpu, bool json);

#endif
