/* SPDX-License-Identifier: MIT */
/* cli/machine/doctor_install.h - the rows of doctor about the installation.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_MACHINE_DOCTOR_INSTALL_H
#define PASSTALLY_CLI_MACHINE_DOCTOR_INSTALL_H

#include "cli/install/injected.h"
#include "cli/machine/doctor_rows.h"

/* The installation is complete and of one version: false if the libraries for this machine's own
 * architecture are unusable. */
bool tally_doctor_install(const struct tally_injected *injected);

#endif
