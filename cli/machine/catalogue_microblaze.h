/* SPDX-License-Identifier: MIT */
/* cli/machine/catalogue_microblaze.h - the output of `passtally counters --catalogue
 * microblaze`.
 *
 * The events of a MicroBlaze core by number, and the metrics derived from them. Results go
 * to standard output. One thread.
 */
#ifndef PASSTALLY_CLI_CATALOGUE_MICROBLAZE_H
#define PASSTALLY_CLI_CATALOGUE_MICROBLAZE_H

#include <stdbool.h>

bool tally_catalogue_is_microblaze(const char *name);
void tally_catalogue_print_microblaze(bool json);
/* Prints its line in the list of known names. */
void tally_catalogue_list_microblaze(bool json);

#endif
