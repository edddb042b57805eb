/* query/linux/pmu.h - which kinds of CPU cores a machine has, by the kernel's numbers for them.
 *
 * A phone has big and little cores, some PCs too; each kind counts by a unit of its own. For open()
 * time: it reads folders and may allocate. Any thread.
 */
#ifndef PASSTALLY_QUERY_LINUX_PMU_H
#define PASSTALLY_QUERY_LINUX_PMU_H

#include <stdint.h>

#define TALLY_LINUX_PMUS 4

/* The numbers (`type`) of the units that serve some of the CPUs only; 0 where the machine does not
 * tell kinds apart. `root`: where the file system begins, "" outside of tests. */
uint32_t tally_linux_pmus(const char *root, uint32_t types[TALLY_LINUX_PMUS]);

#endif
