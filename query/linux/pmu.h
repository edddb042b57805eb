/* SPDX-License-Identifier: MIT */
/* query/linux/pmu.h - which kinds of CPU cores a machine has, by the kernel's numbers for them.
 *
 * A phone has big and little cores, as some PCs do; each kind has a counting unit of its own.
 * Call it from open() only: it reads folders and may allocate. Any thread.
 */
#ifndef PASSTALLY_QUERY_LINUX_PMU_H
#define PASSTALLY_QUERY_LINUX_PMU_H

#include <stdint.h>

#define TALLY_LINUX_PMUS 4

/* The numbers (`type`) of the units that serve only some of the CPUs; returns 0 where the
 * machine does not distinguish kinds. `root`: the root of the file system, "" outside of
 * tests. */
uint32_t tally_linux_pmus(const char *root, uint32_t types[TALLY_LINUX_PMUS]);

#endif
