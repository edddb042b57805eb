/* SPDX-License-Identifier: MIT */
/* cli/machine/doctor_proton.h - `passtally doctor --proton`: what must hold for games that Steam
 * runs in its container. What the container does is known from its documents (steam-runtime,
 * pressure-vessel), not from here.
 */
#ifndef PASSTALLY_CLI_MACHINE_DOCTOR_PROTON_H
#define PASSTALLY_CLI_MACHINE_DOCTOR_PROTON_H

#include "cli/machine/doctor_rows.h"
#include "layer/config/config.h"

/* What games that Steam runs in its container need: false if they cannot be captured. */
bool tally_doctor_proton(void);

/* The folder of the logs of a program by this configuration, and the nearest one that exists, that
 * or one above it. The caller frees both; NULL: no home is known. */
char *tally_doctor_log_folder(const struct tally_config *config, char **there);

#endif
