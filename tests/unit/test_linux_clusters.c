#include "query/linux/clusters.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "query/linux/pmu.h"

#define MS UINT64_C(1000000)

static char *root;

static void
put(const char *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *name = g_strdup_vprintf(format, args);
	va_end(args);
	char *path = g_strconcat(root, name, NULL);
	char *folder = g_path_get_dirname(path);
	g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
	/* In place, as the kernel's files are. */
	FILE *file = fopen(path, "w");
	g_assert_nonnull(file);
	fputs(text, file);
	g_assert_cmpint(fclose(file), ==, 0);
	g_free(folder);
	g_free(path);
	g_free(name);
}

static void
set_up(void)
{
	root = g_dir_make_tmp("passtally-clusters-XXXXXX", NULL);
	g_assert_nonnull(root);
}

static void
tear_down(void)
{
	const char *argv[] = { "rm", "-r", root, NULL };
	g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
		     NULL);
	g_free(root);
}

#define CPU "/sys/devices/system/cpu/"
#define N_CPUS 8

/* A machine: of each CPU what the kernel tells, NULL = no such file; and its cluster. */
static const struct {
	const char *what, *possible;
	const char *model[N_CPUS], *capacity[N_CPUS], *package[N_CPUS], *clock[N_CPUS];
	uint32_t n;
	uint8_t cluster[N_CPUS];
} machines[] = {
	{ .what = "a phone with three kinds of cores, one of which has two clocks",
	  .possible = "0-7\n",
	  .model = { "0x00000000412fd461", "0x00000000411fd461", "0x00000000411fd461",
		     "0x00000000411fd461", "0x00000000410fd4d0", "0x00000000410fd4d0",
		     "0x00000000410fd4d0", "0x00000000410fd4e0" },
	  .package = { "0", "0", "0", "0", "0", "0", "0", "0" },
	  .n = 3,
	  .cluster = { 0, 0, 0, 0, 1, 1, 1, 2 } },
	{ .what = "big and little told by capacity alone",
	  .possible = "0-5",
	  .capacity = { "446", "446", "446", "446", "1024", "1024" },
	  .n = 2,
	  .cluster = { 0, 0, 0, 0, 1, 1, TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS } },
	{ .what = "an old phone, told by clocks",
	  .possible = "0-3",
	  .package = { "0", "0", "0", "0" },
	  .clock = { "0 1", "0 1", "2 3", "2 3" },
	  .n = 2,
	  .cluster = { 0, 0, 1, 1, TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS,
		       TALLY_MAX_CLUSTERS } },
	{ .what = "a PC, each CPU with its own clock",
	  .possible = "0-3",
	  .package = { "0", "0", "0", "0" },
	  .clock = { "0", "1", "2", "3" },
	  .n = 1,
	  .cluster = { 0, 0, 0, 0, TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS,
		       TALLY_MAX_CLUSTERS } },
	{ .what = "two sockets, of CPUs that are numbered with a gap",
	  .possible = "0-1,4-5",
	  .package = { "0", "1", NULL, NULL, "0", "1" },
	  .n = 2,
	  .cluster = { 0, 1, TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS, 0, 1, TALLY_MAX_CLUSTERS,
		       TALLY_MAX_CLUSTERS } },
	{ .what = "no folder of CPUs",
	  .cluster = { TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS,
		       TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS,
		       TALLY_MAX_CLUSTERS, TALLY_MAX_CLUSTERS } },
};

static void
make_machine(size_t m)
{
	if (machines[m].possible)
		put(machines[m].possible, CPU "possible");
	for (unsigned i = 0; i < N_CPUS; i++) {
		if (machines[m].model[i])
			put(machines[m].model[i], CPU "cpu%u/regs/identification/midr_el1", i);
		if (machines[m].capacity[i])
			put(machines[m].capacity[i], CPU "cpu%u/cpu_capacity", i);
		if (machines[m].package[i])
			put(machines[m].package[i], CPU "cpu%u/topology/physical_package_id", i);
		if (machines[m].clock[i])
			put(machines[m].clock[i], CPU "cpu%u/cpufreq/related_cpus", i);
	}
}

static void
test_find(void)
{
	struct tally_linux_clusters *c = g_new(struct tally_linux_clusters, 1);
	for (size_t m = 0; m < G_N_ELEMENTS(machines); m++) {
		g_test_message("%s", machines[m].what);
		set_up();
		make_machine(m);
		tally_linux_clusters_find(c, root);
		g_assert_cmpuint(c->n, ==, machines[m].n);
		for (unsigned i = 0; i < N_CPUS; i++)
			g_assert_cmpuint(c->cluster_of[i], ==, machines[m].cluster[i]);
		g_assert_cmpuint(c->offered, ==, 0); /* no /proc/stat */
		tear_down();
	}
	g_free(c);
}

static void
test_busy(void)
{
	const uint64_t all = TALLY_LINUX_ANY_CLUSTER;
	struct tally_linux_clusters *c = g_new(struct tally_linux_clusters, 1);
	struct tally_linux_totals t = { 0 };
	set_up();
	make_machine(1);
	put("cpu  900 9 9 9\ncpu0 100 1 50 900\ncpu1 200 0 0 0\ncpu4 300 0 0 0\ncpu5 9 0 0 0\nintr "
	    "7\n",
	    "/proc/stat");
	tally_linux_clusters_find(c, root);
	tally_linux_clusters_open(c, all);
	g_assert_cmpuint(c->wanted, ==,
			 TALLY_LINUX_BIT(TALLY_LINUX_CLUSTER_USER) |
				 TALLY_LINUX_BIT(TALLY_LINUX_CLUSTER_USER + 1) |
				 TALLY_LINUX_BIT(TALLY_LINUX_CLUSTER_TIME) |
				 TALLY_LINUX_BIT(TALLY_LINUX_CLUSTER_TIME + 1));
	tally_linux_clusters_start(c, 1000 * MS, &t);
	g_assert_cmpuint(t.total[TALLY_LINUX_CLUSTER_USER], ==, 0);

	/* 0: 2 ticks user and 1 nice; 1: 4; 4: none; 5 went off and is not there. */
	put("cpu  990 9 9 9\ncpu0 102 2 99 900\ncpu1 204 0 8 0\ncpu4 300 0 70 0\nintr 7\n",
	    "/proc/stat");
	tally_linux_clusters_sample(c, 1003 * MS, &t); /* too soon to look again */
	g_assert_cmpuint(t.total[TALLY_LINUX_CLUSTER_TIME], ==, 0);
	tally_linux_clusters_sample(c, 1050 * MS, &t);
	g_assert_cmpuint(t.total[TALLY_LINUX_CLUSTER_USER], ==, 7 * c->tick_ns);
	g_assert_cmpuint(t.total[TALLY_LINUX_CLUSTER_USER + 1], ==, 0);
	g_assert_cmpuint(t.total[TALLY_LINUX_CLUSTER_TIME], ==, 100 * MS);
	g_assert_cmpuint(t.total[TALLY_LINUX_CLUSTER_TIME + 1], ==, 50 * MS);
	g_assert_cmpuint(t.unknown, ==, 0);

	/* On again, and counted from 0: nothing falls. */
	put("cpu  990 9 9 9\ncpu0 102 2 99 900\ncpu1 204 0 8 0\ncpu4 305 0 70 0\ncpu5 1 0 0 0\n",
	    "/proc/stat");
	tally_linux_clusters_sample(c, 1100 * MS, &t);
	g_assert_cmpuint(t.total[TALLY_LINUX_CLUSTER_USER + 1], ==, 5 * c->tick_ns);
	g_assert_cmpuint(t.total[TALLY_LINUX_CLUSTER_TIME + 1], ==, 150 * MS);
	tally_linux_clusters_close(c);
	tear_down();
	g_free(c);
}

/* This machine: the busy time of a cluster is at most the time that there was. */
static void
test_here(void)
{
	struct tally_linux_clusters *c = g_new(struct tally_linux_clusters, 1);
	struct tally_linux_totals t = { 0 };
	tally_linux_clusters_find(c, "");
	if (!c->offered) {
		g_test_skip("no clusters here");
		g_free(c);
		return;
	}
	int error = tally_linux_clusters_try_cycles(c);
	g_assert_cmpint(error == 0, ==, c->offered >> TALLY_LINUX_CLUSTER_CYCLES != 0);
	tally_linux_clusters_open(c, TALLY_LINUX_ANY_CLUSTER);
	gint64 begin = g_get_monotonic_time();
	tally_linux_clusters_start(c, (uint64_t)begin * 1000, &t);
	while (g_get_monotonic_time() - begin < 120000)
		;
	tally_linux_clusters_sample(c, (uint64_t)g_get_monotonic_time() * 1000, &t);
	uint64_t user = 0;
	for (unsigned i = 0; i < c->n; i++) {
		g_assert_cmpuint(t.total[TALLY_LINUX_CLUSTER_TIME + i], >=, 120 * MS);
		/* The tick that was under way counts whole, a CPU each. */
		g_assert_cmpuint(t.total[TALLY_LINUX_CLUSTER_USER + i], <=,
				 t.total[TALLY_LINUX_CLUSTER_TIME + i] +
					 2 * c->n_cpus * c->tick_ns);
		user += t.total[TALLY_LINUX_CLUSTER_USER + i];
	}
	g_assert_cmpuint(user, >=, 60 * MS); /* we were busy ourselves */
	tally_linux_clusters_close(c);
	g_free(c);
}

#define UNITS "/sys/bus/event_source/devices/"

static void
test_kinds_of_cores(void)
{
	uint32_t types[TALLY_LINUX_PMUS];
	set_up();
	g_assert_cmpuint(tally_linux_pmus(root, types), ==, 0);
	put("4\n", UNITS "cpu/type");
	put("0\n", UNITS "uncore/cpumask");
	put("12\n", UNITS "uncore/type");
	g_assert_cmpuint(tally_linux_pmus(root, types), ==, 0);
	put("4-7\n", UNITS "armv8_cortex_a715/cpus");
	put("9\n", UNITS "armv8_cortex_a715/type");
	put("0-3\n", UNITS "armv8_cortex_a510/cpus");
	put("8\n", UNITS "armv8_cortex_a510/type");
	g_assert_cmpuint(tally_linux_pmus(root, types), ==, 2);
	g_assert_cmpuint(types[0], ==, 8);
	g_assert_cmpuint(types[1], ==, 9);
	tear_down();
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/linux-clusters/find", test_find);
	g_test_add_func("/linux-clusters/busy", test_busy);
	g_test_add_func("/linux-clusters/here", test_here);
	g_test_add_func("/linux-clusters/kinds-of-cores", test_kinds_of_cores);
	return g_test_run();
}
