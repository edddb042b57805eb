/* SPDX-License-Identifier: MIT */
#include "query/gauge/gpu.h"
#include "query/gauge/usage.h"
#include "query/source/snapshot.h"

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer/base/small_file.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- values and files ---- */

/* The base name of what a link leads to; "" when there is none. */
static void
read_link_name(const char *path, char *out, size_t size)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	const char *slash = strrchr(target, '/');
	snprintf(out, size, "%.*s", (int)size - 1, slash ? slash + 1 : target);
}

void
gauge_put(struct gauge_values *v, enum gauge_kind kind, uint64_t value)
{
	static const uint64_t most[GAUGE_N_KINDS] = {
		[GAUGE_CLOCK] = 100000000, /* 100 GHz */
		[GAUGE_BUSY] = 1000,
		[GAUGE_PROCESS_BUSY] = 1000 * 256, /* engines */
		[GAUGE_TEMPERATURE] = 1000000,
		[GAUGE_POWER] = 100000000, /* 100 kW */
		[GAUGE_MEMORY] = UINT64_C(1) << 40, /* 1 PiB */
		[GAUGE_PROCESS_MEMORY] = UINT64_C(1) << 40,
		[GAUGE_THROTTLE] = UINT32_MAX,
	};
	if (value > most[kind] || (kind == GAUGE_CLOCK && value == 0))
		return; /* a clock of 0 is that of a sleeping GPU, not one at which it worked */
	v->value[kind] = value;
	v->known |= 1u << kind;
}

bool
gauge_is_suspended(const char *device)
{
	char path[PATH_MAX + 32], text[32];
	snprintf(path, sizeof(path), "%s/power/runtime_status", device);
	return tally_small_file_read(path, text, sizeof(text)) &&
	       strncmp(text, "suspend", 7) == 0;
}

/* ---- the files of each driver ---- */

#define REASON(driver_, path_, limit_) \
	{ \
		driver_, GAUGE_THROTTLE, path_, 1, 1, GAUGE_THROTTLED_##limit_, false \
	}
/* ratl: running average thermal limit */
#define REASONS(driver_, path_) \
	REASON(driver_, path_ "pl1", POWER), REASON(driver_, path_ "pl2", POWER), \
		REASON(driver_, path_ "pl4", POWER), \
		REASON(driver_, path_ "thermal", THERMAL), \
		REASON(driver_, path_ "vr_thermalert", THERMAL), \
		REASON(driver_, path_ "prochot", THERMAL), \
		REASON(driver_, path_ "ratl", THERMAL), \
		REASON(driver_, path_ "vr_tdc", CURRENT)

/* `driver` NULL: any. `path` is below the device's folder, or below /sys where it begins with a
 * slash. Of the rows of a kind, the first one that can be read is used; of GAUGE_THROTTLE all
 * are. */
static const struct row {
	const char *driver;
	enum gauge_kind kind;
	const char *path;
	uint32_t num, den, bits;
	bool is_energy;
} rows[] = {
	/* Documentation/gpu/amdgpu/thermal.rst, driver-misc.rst */
	{ "amdgpu", GAUGE_CLOCK, "hwmon/hwmon*/freq1_input", 1, 1000, 0, false },
	{ "amdgpu", GAUGE_BUSY, "gpu_busy_percent", 10, 1, 0, false },
	{ "amdgpu", GAUGE_MEMORY, "mem_info_vram_used", 1, 1024, 0, false },
	/* drivers/gpu/drm/i915/gt/intel_gt_sysfs_pm.c; the older path is the card's */
	{ "i915", GAUGE_CLOCK, "drm/card*/gt/gt0/rps_act_freq_mhz", 1000, 1, 0, false },
	{ "i915", GAUGE_CLOCK, "drm/card*/gt_act_freq_mhz", 1000, 1, 0, false },
	REASONS("i915", "drm/card*/gt/gt0/throttle_reason_"),
	/* drivers/gpu/drm/xe/xe_gt_freq.c, xe_gt_throttle.c */
	{ "xe", GAUGE_CLOCK, "tile0/gt0/freq0/act_freq", 1000, 1, 0, false },
	REASONS("xe", "tile0/gt0/freq0/throttle/reason_"),
	/* Documentation/ABI/testing/sysfs-driver-intel-xe-hwmon: 2 is the package */
	{ "xe", GAUGE_TEMPERATURE, "hwmon/hwmon*/temp2_input", 1, 1, 0, false },
	/* Documentation/ABI/testing/sysfs-class-devfreq. The node of msm is the display's. */
	{ "msm", GAUGE_CLOCK, "/class/devfreq/*.gpu/cur_freq", 1, 1000, 0, false },
	{ NULL, GAUGE_CLOCK, "devfreq/*/cur_freq", 1, 1000, 0, false },
	/* Documentation/hwmon/sysfs-interface.rst */
	{ NULL, GAUGE_TEMPERATURE, "hwmon/hwmon*/temp1_input", 1, 1, 0, false },
	{ NULL, GAUGE_POWER, "hwmon/hwmon*/power1_average", 1, 1000, 0, false },
	{ NULL, GAUGE_POWER, "hwmon/hwmon*/power1_input", 1, 1000, 0, false },
	{ NULL, GAUGE_POWER, "hwmon/hwmon*/energy1_input", 1, 1, 0, true },
	{ NULL, GAUGE_POWER, "hwmon/hwmon*/energy2_input", 1, 1, 0, true },
};

static bool
has_kind(const struct gauge_gpu *gpu, enum gauge_kind kind)
{
	for (uint32_t i = 0; i < gpu->n_files; i++)
		if (gpu->files[i].kind == kind)
			return true;
	return false;
}

static void
add_file(struct gauge_gpu *gpu, const struct row *row)
{
	char pattern[PATH_MAX + 64];
	glob_t found = { 0 };
	if (row->path[0] == '/')
		snprintf(pattern, sizeof(pattern), "%s/sys%s", gpu->root, row->path);
	else
		snprintf(pattern, sizeof(pattern), "%s/%s", gpu->device, row->path);
	/* GLOB_NOESCAPE: no character of a device's name is special but those of the rows. */
	int failed = glob(pattern, GLOB_NOESCAPE, NULL, &found);
	for (size_t i = 0; !failed && i < found.gl_pathc; i++) {
		if (access(found.gl_pathv[i], R_OK) != 0)
			continue;
		char *path = strdup(found.gl_pathv[i]);
		if (path)
			gpu->files[gpu->n_files++] = (struct gauge_file){
				.kind = row->kind,
				.is_energy = row->is_energy,
				.bits = row->bits,
				.num = row->num,
				.den = row->den,
				.path = path,
			};
		break;
	}
	globfree(&found);
}

/* ---- which GPU ---- */

/* The folder of a DRM node's device. */
static void
device_path(const char *root, const char *node, char *out, size_t size)
{
	snprintf(out, size, "%s/sys/class/drm/%s/device", root, node);
}

/* The name of the DRM node that a descriptor is open on; false when it is none. */
static bool
node_of(const char *root, int fd, char node[32])
{
	char path[256], target[64];
	snprintf(path, sizeof(path), "%s/proc/self/fd/%d", root, fd);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	static const char prefix[] = "/dev/dri/";
	if (strncmp(target, prefix, strlen(prefix)) != 0 ||
	    strchr(target + strlen(prefix), '/'))
		return false;
	snprintf(node, 32, "%.31s", target + strlen(prefix));
	return true;
}

/* The index of that device in the list, n if it is not in it. */
static uint32_t
find_device(const struct gauge_candidate *list, uint32_t n, const struct stat *device)
{
	uint32_t i = 0;
	while (i < n && (list[i].device.st_ino != device->st_ino ||
			 list[i].device.st_dev != device->st_dev))
		i++;
	return i;
}

static void
take_fd(const char *root, int fd, struct gauge_candidate *list, uint32_t *n)
{
	char node[32], path[PATH_MAX];
	struct stat device;
	if (!node_of(root, fd, node))
		return;
	device_path(root, node, path, sizeof(path));
	if (stat(path, &device) != 0)
		return;
	uint32_t i = find_device(list, *n, &device);
	if (i == GAUGE_MAX_GPUS)
		return;
	if (i == *n) {
		list[(*n)++] = (struct gauge_candidate){ .device = device };
		snprintf(list[i].node, sizeof(list[i].node), "%s", node);
		char name[32];
		read_link_name(path, name, sizeof(name));
		list[i].pci = tally_pci_number(name);
	}
	if (list[i].n_fds < GAUGE_MAX_FDS)
		list[i].fds[list[i].n_fds++] = fd;
	else
		list[i].more = true;
}

/* The DRM descriptors of this process, by GPU. */
static uint32_t
list_gpus(const char *root, struct gauge_candidate list[GAUGE_MAX_GPUS])
{
	char path[256];
	uint32_t n = 0;
	snprintf(path, sizeof(path), "%s/proc/self/fd", root);
	DIR *dir = tally_small_file_list(path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
			take_fd(root, atoi(entry->d_name), list, &n);
	if (dir)
		closedir(dir);
	return n;
}

/* The work that this process has had done on the GPU: time where the kernel counts it, else
 * cycles. A suspended GPU, which is not woken for this, has none. False: it is not known. */
static bool
read_work(const char *root, const struct gauge_candidate *c, uint64_t *work, uint64_t *clients)
{
	char device[PATH_MAX];
	struct gauge_usage usage;
	device_path(root, c->node, device, sizeof(device));
	if (gauge_is_suspended(device) ||
	    !gauge_usage_read(root, c->fds, c->n_fds, &usage))
		return false;
	*work = usage.has_engines ? usage.engine_ns : usage.cycles;
	*clients = usage.client;
	return usage.has_engines || usage.has_cycles;
}

/* Returns the entry of this GPU, a new one if it has none: NULL when there is no room. */
static struct gauge_candidate *
seen_as(struct gauge_gpu *gpu, const struct gauge_candidate *c, bool first)
{
	uint32_t i = find_device(gpu->seen, gpu->n_seen, &c->device);
	if (i == GAUGE_MAX_GPUS)
		return NULL;
	if (i == gpu->n_seen)
		gpu->seen[gpu->n_seen++] = (struct gauge_candidate){
			.device = c->device, .has_base = !first
		};
	return &gpu->seen[i];
}

/* Examines the GPUs that are open now, and finds on which of them work increased since the
 * previous call. */
static void
look(struct gauge_gpu *gpu, bool first)
{
	struct gauge_candidate list[GAUGE_MAX_GPUS];
	uint32_t n = list_gpus(gpu->root, list);
	for (uint32_t i = 0; i < gpu->n_seen; i++)
		gpu->seen[i].n_fds = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct gauge_candidate *c = seen_as(gpu, &list[i], first);
		if (!c)
			continue;
		memcpy(c->node, list[i].node, sizeof(c->node));
		c->pci = list[i].pci;
		memcpy(c->fds, list[i].fds, sizeof(c->fds));
		c->n_fds = list[i].n_fds;
		c->more = list[i].more;
		uint64_t work, clients;
		if (!read_work(gpu->root, c, &work, &clients))
			continue;
		c->worked |= c->has_base && work > c->work;
		/* It may decrease for a while, and increase again without any work. */
		if (clients != c->clients || work > c->work)
			c->work = work;
		c->clients = clients;
		c->counts = c->has_base = true;
	}
	/* A GPU that was closed begins again. */
	for (uint32_t i = 0; i < gpu->n_seen; i++) {
		struct gauge_candidate *c = &gpu->seen[i];
		if (c->n_fds > 0)
			continue;
		c->worked = false;
		c->work = 0;
		c->has_base = true;
	}
}

bool
gauge_gpu_find(struct gauge_gpu *gpu, const char *root, char *why)
{
	*gpu = (struct gauge_gpu){ 0 };
	snprintf(gpu->root, sizeof(gpu->root), "%s", root);
	look(gpu, true);
	if (gpu->n_seen == 0)
		tally_unsupported(why, "this process has no GPU open");
	return gpu->n_seen > 0;
}

static void
find_files(struct gauge_gpu *gpu)
{
	for (size_t i = 0; i < COUNT(rows) && gpu->n_files < GAUGE_MAX_FILES; i++) {
		const struct row *row = &rows[i];
		/* The display half of msm has several drivers, all of that name. */
		if (row->driver &&
		    strncmp(row->driver, gpu->driver, strlen(row->driver)) != 0)
			continue;
		if (row->kind == GAUGE_THROTTLE || !has_kind(gpu, row->kind))
			add_file(gpu, row);
	}
}

void
gauge_gpu_take(struct gauge_gpu *gpu, uint32_t i)
{
	const struct gauge_candidate *c = &gpu->seen[i];
	char path[PATH_MAX + 16], device[PATH_MAX];
	device_path(gpu->root, c->node, device, sizeof(device));
	if (c->n_fds != gpu->n_fds ||
	    memcmp(c->fds, gpu->fds, c->n_fds * sizeof(c->fds[0])) != 0)
		gpu->had_engines = gpu->had_cycles = false;
	memcpy(gpu->fds, c->fds, sizeof(gpu->fds));
	gpu->n_fds = c->n_fds;
	gpu->more = c->more;
	if (strcmp(device, gpu->device) == 0)
		return;
	gauge_gpu_finish(gpu);
	memcpy(gpu->device, device, sizeof(gpu->device));
	snprintf(path, sizeof(path), "%s/driver", gpu->device);
	read_link_name(path, gpu->driver, sizeof(gpu->driver));
	gpu->had_engines = gpu->had_cycles = gpu->had_energy = false;
	find_files(gpu);
}

uint32_t
gauge_gpu_choose(struct gauge_gpu *gpu)
{
	uint32_t n = 0, which = 0;
	look(gpu, false);
	for (uint32_t i = 0; i < gpu->n_seen; i++) {
		which = gpu->seen[i].worked ? i : which;
		n += gpu->seen[i].worked;
	}
	if (n == 1)
		gauge_gpu_take(gpu, which);
	return n;
}

bool
gauge_gpu_choose_pci(struct gauge_gpu *gpu, uint64_t pci)
{
	look(gpu, false);
	for (uint32_t i = 0; i < gpu->n_seen; i++) {
		if (gpu->seen[i].pci != pci || gpu->seen[i].n_fds == 0)
			continue;
		gauge_gpu_take(gpu, i);
		return true;
	}
	return false;
}

bool
gauge_gpu_counts_work(const struct gauge_gpu *gpu)
{
	bool counts = false;
	for (uint32_t i = 0; i < gpu->n_seen; i++)
		counts |= gpu->seen[i].n_fds > 0 && gpu->seen[i].counts;
	return counts;
}

void
gauge_gpu_finish(struct gauge_gpu *gpu)
{
	for (uint32_t i = 0; i < gpu->n_files; i++)
		free(gpu->files[i].path);
	gpu->n_files = 0;
}

/* ---- reading ---- */

static uint64_t
rate(uint64_t now, uint64_t before, uint64_t scale, uint64_t per)
{
	double value = (double)(now - before) * (double)scale / (double)per;
	return value < 1e18 ? (uint64_t)value : UINT64_MAX;
}

static void
read_energy(struct gauge_gpu *gpu, uint64_t energy_uj, uint64_t passed_ns,
	    struct gauge_values *out)
{
	/* Microjoules a nanosecond are gigawatts: mW = uJ * 10^6 / ns. */
	if (gpu->had_energy && passed_ns && energy_uj >= gpu->energy_uj)
		gauge_put(out, GAUGE_POWER, rate(energy_uj, gpu->energy_uj, 1000000, passed_ns));
	gpu->energy_uj = energy_uj;
	gpu->had_energy = true;
}

static void
read_files(struct gauge_gpu *gpu, uint64_t passed_ns, struct gauge_values *out)
{
	bool all_reasons = true;
	for (uint32_t i = 0; i < gpu->n_files; i++) {
		const struct gauge_file *file = &gpu->files[i];
		long long number;
		bool known = tally_small_file_number(file->path, &number) && number >= 0;
		uint64_t n = (uint64_t)number;
		if (!known) {
			all_reasons &= file->kind != GAUGE_THROTTLE;
			continue;
		}
		if (file->kind == GAUGE_THROTTLE)
			gauge_put(out, GAUGE_THROTTLE,
				  out->value[GAUGE_THROTTLE] | (n ? file->bits : 0));
		else if (file->is_energy)
			read_energy(gpu, n, passed_ns, out);
		else if (n <= UINT64_MAX / file->num)
			gauge_put(out, file->kind, n * file->num / file->den);
	}
	if (!all_reasons)
		out->known &= ~(1u << GAUGE_THROTTLE);
}

/* Whether `now` continues *before. Values may decrease for a while, and then the larger
 * previous one is used; a sum over other clients is a different sum. */
static bool
goes_on(uint64_t *now, uint64_t before, bool same_clients)
{
	if (same_clients && *now < before)
		*now = before;
	return *now >= before;
}

/* Busy time from the delta; the clock, if no file has it, from the kernel's value or from the
 * cycles in the busy time. */
static void
read_usage(struct gauge_gpu *gpu, uint64_t passed_ns, struct gauge_values *out)
{
	struct gauge_usage now;
	if (!gauge_usage_read(gpu->root, gpu->fds, gpu->n_fds, &now)) {
		gpu->had_engines = gpu->had_cycles = false;
		return;
	}
	bool same = now.client == gpu->clients;
	bool engines = gpu->had_engines && now.has_engines &&
		       goes_on(&now.engine_ns, gpu->engine_ns, same);
	bool cycles = gpu->had_cycles && now.has_cycles &&
		      goes_on(&now.cycles, gpu->cycles, same);
	if (now.has_memory)
		gauge_put(out, GAUGE_PROCESS_MEMORY, now.memory_kib);
	if (engines && passed_ns)
		gauge_put(out, GAUGE_PROCESS_BUSY,
			  rate(now.engine_ns, gpu->engine_ns, 1000, passed_ns));
	else if (cycles && now.has_total_cycles && now.total_cycles > gpu->total_cycles)
		gauge_put(out, GAUGE_PROCESS_BUSY,
			  rate(now.cycles, gpu->cycles, 1000,
			       now.total_cycles - gpu->total_cycles));
	if (now.has_frequency && !(out->known & 1u << GAUGE_CLOCK))
		gauge_put(out, GAUGE_CLOCK, now.frequency_hz / 1000);
	if (cycles && engines && now.cycles > gpu->cycles &&
	    now.engine_ns > gpu->engine_ns && !(out->known & 1u << GAUGE_CLOCK))
		gauge_put(out, GAUGE_CLOCK,
			  rate(now.cycles, gpu->cycles, 1000000,
			       now.engine_ns - gpu->engine_ns));
	if (gpu->more) /* other clients may have had the GPU too */
		out->known &= ~(1u << GAUGE_PROCESS_BUSY | 1u << GAUGE_PROCESS_MEMORY);
	gpu->clients = now.client;
	gpu->engine_ns = now.engine_ns;
	gpu->cycles = now.cycles;
	gpu->total_cycles = now.total_cycles;
	gpu->had_engines = now.has_engines;
	gpu->had_cycles = now.has_cycles;
}

void
gauge_gpu_read(struct gauge_gpu *gpu, uint64_t now_ns, struct gauge_values *out)
{
	uint64_t passed_ns = gpu->time_ns ? now_ns - gpu->time_ns : 0;
	*out = (struct gauge_values){ 0 };
	gpu->time_ns = now_ns;
	if (gauge_is_suspended(gpu->device)) {
		gpu->had_engines = gpu->had_cycles = gpu->had_energy = false;
		return;
	}
	read_files(gpu, passed_ns, out);
	read_usage(gpu, passed_ns, out);
}
