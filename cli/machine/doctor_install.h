/* SPDX-License-Identifier: MIT */
/* cli/machine/doctor_install.h - checks that the installation is complete and of one
 * version.
 *
 * The libraries that are loaded into programs may be installed for several architectures,
 * each in a package of its own. Rows are printed by tally_doctor_row() of
 * cli/machine/doctor_print.h. One thread.
 */
#ifndef PASSTALLY_CLI_DOCTOR_INSTALL_H
#define PASSTALLY_CLI_DOCTOR_INSTALL_H

#include "cli/install/injected.h"

/* Returns false if the libraries for this machine's own architecture are unusable. */
bool tally_doctor_install(const struct tally_injected *injected);

#endif
