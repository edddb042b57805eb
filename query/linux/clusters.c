#include "query/linux/clusters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "query/linux/event.h"
#include "query/linux/files.h"

#define READ_NS UINT64_C(4000000)
#define NS_PER_S UINT64_C(1000000000)

/* ---- which there are ---- */

/* What CPUs of one cluster have in common. */
struct identity {
	uint64_t model, capacity, package, clock;
};

/* The first number of the file, decimal or after 0x; UINT64_MAX where there is none. */
static uint64_t
read_number(const char *root, unsigned cpu, const char *name)
{
	char path[256], text[64];
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%u/%s", root, cpu, name);
	if (!tally_linux_read_path(path, text, sizeof(text)))
		return UINT64_MAX;
	uint64_t value = 0;
	unsigned base = 10;
	const char *p = text;
	if (text[0] == '0' && text[1] == 'x') {
		base = 16;
		p += 2;
	}
	const char *begin = p;
	for (;; p++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = *p ? strchr(digits, *p) : NULL;
		if (!digit || (unsigned)(digit - digits) >= base)
			break;
		value = value * base + (unsigned)(digit - digits);
	}
	return p > begin ? value : UINT64_MAX;
}

static struct identity
identify(const char *root, unsigned cpu)
{
	struct identity id = {
		.model = read_number(root, cpu, "regs/identification/midr_el1"),
		.capacity = read_number(root, cpu, "cpu_capacity"),
		.package = read_number(root, cpu, "topology/physical_package_id"),
		.clock = UINT64_MAX,
	};
	/* The variant and revision of a core are no other kind. */
	if (id.model != UINT64_MAX)
		id.model &= ~UINT64_C(0xf0000f);
	if (id.model != UINT64_MAX || id.capacity != UINT64_MAX)
		return id;
	/* Its first CPU stands for a clock that several share; on PCs each has its own. */
	char path[256], text[256];
	uint64_t first, second;
	const char *p = text;
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%u/cpufreq/related_cpus", root,
		 cpu);
	if (tally_linux_read_path(path, text, sizeof(text)) &&
	    tally_linux_next_number(&p, &first) && tally_linux_next_number(&p, &second))
		id.clock = first;
	return id;
}

/* The next CPU of a list like "0-3,6"; *cpu and *last are 0 at first. */
static bool
next_cpu(const char **list, uint64_t *cpu, uint64_t *last)
{
	if (*cpu < *last) {
		(*cpu)++;
		return true;
	}
	if (!tally_linux_next_number(list, cpu))
		return false;
	*last = *cpu;
	if (**list == '-' && !tally_linux_next_number(list, last))
		return false;
	return true;
}

void
tally_linux_clusters_init(struct tally_linux_clusters *c)
{
	memset(c, 0, sizeof(*c));
	c->stat = -1;
	for (unsigned i = 0; i < TALLY_MAX_CPUS; i++) {
		c->cluster_of[i] = TALLY_MAX_CLUSTERS;
		c->cycles[i] = -1;
	}
}

void
tally_linux_clusters_find(struct tally_linux_clusters *c, const char *root)
{
	struct identity known[TALLY_MAX_CLUSTERS];
	char path[256], text[1024];

	tally_linux_clusters_init(c);
	snprintf(c->root, sizeof(c->root), "%s", root);
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/possible", root);
	if (!tally_linux_read_path(path, text, sizeof(text)))
		return;
	const char *list = text;
	uint64_t cpu = 0, last = 0;
	while (next_cpu(&list, &cpu, &last) && cpu < TALLY_MAX_CPUS) {
		struct identity id = identify(root, (unsigned)cpu);
		if (id.model == UINT64_MAX && id.capacity == UINT64_MAX && id.package == UINT64_MAX)
			continue; /* not there, or off since the start */
		unsigned at = 0;
		while (at < c->n && memcmp(&known[at], &id, sizeof(id)) != 0)
			at++;
		if (at == TALLY_MAX_CLUSTERS)
			continue;
		if (at == c->n)
			known[c->n++] = id;
		c->cluster_of[cpu] = (uint8_t)at;
		c->n_cpus = (uint32_t)cpu + 1;
	}
	snprintf(path, sizeof(path), "%s/proc/stat", root);
	if (access(path, R_OK) != 0)
		return;
	for (unsigned i = 0; i < c->n; i++)
		c->offered |= TALLY_LINUX_BIT(TALLY_LINUX_CLUSTER_USER + i) |
			      TALLY_LINUX_BIT(TALLY_LINUX_CLUSTER_TIME + i);
}

int
tally_linux_clusters_try_cycles(struct tally_linux_clusters *c)
{
	int error = ENODEV;
	for (unsigned cpu = 0; cpu < c->n_cpus; cpu++) {
		if (c->cluster_of[cpu] == TALLY_MAX_CLUSTERS)
			continue;
		uint64_t bit = TALLY_LINUX_BIT(TALLY_LINUX_CLUSTER_CYCLES + c->cluster_of[cpu]);
		if (c->offered & bit)
			continue;
		int fd = tally_linux_event_open_cpu_cycles(cpu);
		if (fd < 0) {
			error = errno;
			continue;
		}
		close(fd);
		c->offered |= bit;
	}
	return c->offered >> TALLY_LINUX_CLUSTER_CYCLES ? 0 : error;
}

/* ---- counting ---- */

void
tally_linux_clusters_open(struct tally_linux_clusters *c, uint64_t wanted)
{
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t times = TALLY_LINUX_BIT(TALLY_LINUX_CLUSTER_CYCLES) - 1;
	c->wanted = wanted & c->offered;
	c->tick_ns = NS_PER_S / (uint64_t)(hz > 0 ? hz : 100);
	if (c->wanted & times) {
		char path[256];
		snprintf(path, sizeof(path), "%s/proc/stat", c->root);
		c->stat = tally_linux_open(path);
	}
	for (unsigned cpu = 0; cpu < c->n_cpus; cpu++) {
		unsigned cluster = c->cluster_of[cpu];
		if (cluster < TALLY_MAX_CLUSTERS &&
		    c->wanted & TALLY_LINUX_BIT(TALLY_LINUX_CLUSTER_CYCLES + cluster))
			c->cycles[cpu] = tally_linux_event_open_cpu_cycles(cpu);
	}
}

void
tally_linux_clusters_close(struct tally_linux_clusters *c)
{
	if (c->stat >= 0)
		close(c->stat);
	c->stat = -1;
	for (unsigned cpu = 0; cpu < TALLY_MAX_CPUS; cpu++) {
		if (c->cycles[cpu] >= 0)
			close(c->cycles[cpu]);
		c->cycles[cpu] = -1;
	}
}

/* One line "cpu3 user nice system ...": what its user time (nice is user time too) grew by. */
static void
take_line(struct tally_linux_clusters *c, const char *line, uint64_t passed_ns,
	  struct tally_linux_totals *totals)
{
	uint64_t cpu, user, nice;
	if (!tally_linux_next_number(&line, &cpu) || !tally_linux_next_number(&line, &user) ||
	    !tally_linux_next_number(&line, &nice) || cpu >= c->n_cpus ||
	    c->cluster_of[cpu] == TALLY_MAX_CLUSTERS)
		return;
	unsigned cluster = c->cluster_of[cpu];
	uint64_t ticks = user + nice;
	/* While a CPU is off its line is not there; the kernel may begin it anew afterwards. */
	if (passed_ns) {
		if (ticks > c->user[cpu])
			totals->total[TALLY_LINUX_CLUSTER_USER + cluster] += (ticks -
									      c->user[cpu]) *
									     c->tick_ns;
		totals->total[TALLY_LINUX_CLUSTER_TIME + cluster] += passed_ns;
	}
	c->user[cpu] = ticks;
}

/* The lines of CPUs stand at the file's beginning. */
static void
read_stat(struct tally_linux_clusters *c, uint64_t now_ns, struct tally_linux_totals *totals)
{
	if (c->stat < 0 || (c->read_ns && now_ns - c->read_ns < READ_NS))
		return;
	if (!tally_linux_reread(c->stat, c->text, sizeof(c->text))) {
		totals->unknown |= c->wanted & (TALLY_LINUX_BIT(TALLY_LINUX_CLUSTER_CYCLES) - 1);
		return;
	}
	uint64_t passed_ns = c->read_ns ? now_ns - c->read_ns : 0;
	for (const char *line = c->text; strncmp(line, "cpu", 3) == 0;) {
		const char *end = strchr(line, '\n');
		if (!end)
			break;
		if (line[3] != ' ')
			take_line(c, line, passed_ns, totals);
		line = end + 1;
	}
	c->read_ns = now_ns;
}

static void
read_cycles(struct tally_linux_clusters *c, bool starts, struct tally_linux_totals *totals)
{
	for (unsigned cpu = 0; cpu < c->n_cpus; cpu++) {
		uint64_t value;
		struct tally_linux_group_times times;
		unsigned which = TALLY_LINUX_CLUSTER_CYCLES + c->cluster_of[cpu];
		if (c->cycles[cpu] < 0)
			continue;
		if (!tally_linux_event_read_scaled(c->cycles[cpu], &value, &times)) {
			totals->unknown |= TALLY_LINUX_BIT(which);
			continue;
		}
		uint64_t enabled = times.enabled - c->cycles_enabled[cpu];
		uint64_t running = times.running - c->cycles_running[cpu];
		if (!starts && enabled > 0 && running == 0)
			totals->unknown |= TALLY_LINUX_BIT(which);
		else if (!starts)
			totals->total[which] += tally_linux_scale(value - c->cycles_value[cpu],
								  enabled, running);
		c->cycles_value[cpu] = value;
		c->cycles_enabled[cpu] = times.enabled;
		c->cycles_running[cpu] = times.running;
	}
}

void
tally_linux_clusters_start(struct tally_linux_clusters *c, uint64_t now_ns,
			   struct tally_linux_totals *totals)
{
	c->read_ns = 0;
	read_stat(c, now_ns, totals);
	read_cycles(c, true, totals);
	for (unsigned i = TALLY_LINUX_N_OF_PROCESS; i < TALLY_LINUX_N; i++)
		totals->total[i] = 0;
}

void
tally_linux_clusters_sample(struct tally_linux_clusters *c, uint64_t now_ns,
			    struct tally_linux_totals *totals)
{
	read_stat(c, now_ns, totals);
	read_cycles(c, false, totals);
}
