/* query/linux/clusters.h - CPU clusters: which there are, how busy, and their cycles.
 *
 * A cluster is the CPUs of one kind in one package: those that share the model number, capacity and
 * package that the kernel tells, or where it tells neither of the first two, the clock. Numbered by
 * their first CPU. Busy time is of the whole machine, from /proc/stat, which is a long file: it is
 * read every 4 ms at most. One thread at a time; nothing allocates.
 */
#ifndef PASSTALLY_QUERY_LINUX_CLUSTERS_H
#define PASSTALLY_QUERY_LINUX_CLUSTERS_H

#include "query/linux/counters.h"

#define TALLY_MAX_CPUS 256

struct tally_linux_clusters {
	char root[128]; /* where the file system begins: "" outside of tests */
	uint32_t n, n_cpus; /* clusters; CPUs are numbered below */
	uint8_t cluster_of[TALLY_MAX_CPUS]; /* TALLY_MAX_CLUSTERS: none */
	uint64_t offered; /* bits of enum tally_linux_count */

	uint64_t wanted;
	int stat; /* /proc/stat, -1: not open */
	uint64_t tick_ns, read_ns;
	uint64_t user[TALLY_MAX_CPUS]; /* ticks at the last reading */
	int cycles[TALLY_MAX_CPUS]; /* descriptors, -1: none */
	uint64_t cycles_value[TALLY_MAX_CPUS], cycles_enabled[TALLY_MAX_CPUS];
	uint64_t cycles_running[TALLY_MAX_CPUS];
	char text[32768]; /* the lines of TALLY_MAX_CPUS */
};

/* There are none. */
void tally_linux_clusters_init(struct tally_linux_clusters *c);
/* Find the clusters; offered is what can be had without perf. Reads four files a CPU. */
void tally_linux_clusters_find(struct tally_linux_clusters *c, const char *root);
/* Offers cycles, too, where perf gives them; else an errno. Leaves nothing open. */
int tally_linux_clusters_try_cycles(struct tally_linux_clusters *c);

void tally_linux_clusters_open(struct tally_linux_clusters *c, uint64_t wanted);
void tally_linux_clusters_close(struct tally_linux_clusters *c);
void tally_linux_clusters_start(struct tally_linux_clusters *c, uint64_t now_ns,
				struct tally_linux_totals *totals);
void tally_linux_clusters_sample(struct tally_linux_clusters *c, uint64_t now_ns,
				 struct tally_linux_totals *totals);

#endif
