/* SPDX-License-Identifier: MIT */
/* cli/bench/fit.h - whether this machine keeps its clocks while it is measured.
 *
 * Reads small files of sysfs: the CPU's governor, and of each GPU the limits between which its
 * clock may move. A suspended GPU is not examined, as that could wake it; a GPU whose limits
 * are not known is not mentioned (NVIDIA's driver has no such files). One thread.
 */
#ifndef PASSTALLY_CLI_FIT_H
#define PASSTALLY_CLI_FIT_H

#include <glib.h>

/* Returns sentences, char *, owned; none where nothing varies. `root`: the root of the file
 * system, "" outside of tests. */
GPtrArray *tally_fit_look(const char *root);

#endif
