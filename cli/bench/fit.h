/* SPDX-License-Identifier: MIT */
/* cli/bench/fit.h - whether this machine keeps its clocks while it is measured.
 *
 * Reads small files of sysfs: the CPU's governor, and of each GPU the limits between which its
 * clock may move. A suspended GPU is not looked at, as that could wake it; of one whose limits
 * are not known nothing is said (NVIDIA's driver has no such files). One thread.
 */
#ifndef PASSTALLY_CLI_FIT_H
#define PASSTALLY_CLI_FIT_H

#include <glib.h>

/* Returns sentences, char *, owned; none where nothing moves. `root`: the root of the file system,
 * "" outside of tests. */
GPtrArray *tally_fit_look(const char *root);

#endif
