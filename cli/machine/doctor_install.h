/* cli/machine/doctor_install.h - is what is installed whole, and of one version?
 *
 * The libraries that go into programs may be installed for several architectures, each in a
 * package of its own. Rows go out through cli/machine/doctor_sets.h's tally_doctor_row().
 * One thread.
 */
#ifndef PASSTALLY_CLI_DOCTOR_INSTALL_H
#define PASSTALLY_CLI_DOCTOR_INSTALL_H

#include "cli/install/injected.h"

/* False: the libraries for this machine's own programs cannot serve them. */
bool tally_doctor_install(const struct tally_injected *injected);

/* The version of a core, read from its file; NULL when it has none. The caller frees it. */
char *tally_core_version(const char *path);

#endif
