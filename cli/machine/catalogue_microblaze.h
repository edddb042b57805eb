/* cli/machine/catalogue_microblaze.h - what `passtally counters --catalogue microblaze`
 * says.
 *
 * The events of a MicroBlaze core by number, and the metrics made of them. Results go to
 * standard output. One thread.
 */
#ifndef PASSTALLY_CLI_CATALOGUE_MICROBLAZE_H
#define PASSTALLY_CLI_CATALOGUE_MICROBLAZE_H

#include <stdbool.h>

bool tally_catalogue_is_microblaze(const char *name);
void tally_catalogue_print_microblaze(bool json);
/* Its line among the names of what is known. */
void tally_catalogue_list_microblaze(bool json);

#endif
