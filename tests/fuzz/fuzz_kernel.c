/* SPDX-License-Identifier: MIT */
/* Any answers of the kernel to the readers of counters. The first byte chooses: the simulated
 * kernel of tests/fake_kernel with its replies and its memory changed on the way, the files that
 * describe a GPU and a process's work on it, or the readings of perf_event_open. Totals never
 * decrease, a reader that refuses gives a reason, and no descriptor is left open. */
#include "tests/fuzz/fuzz.h"

#include "query/gauge/gpu.h"
#include "query/linux/linux.h"
#include "query/mali/abi.h"
#include "query/mali/mali.h"
#include "tests/fake_kernel/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct fuzz_target fuzz_target = { "kernel", "0129 \n:KiMBns-drmactive", 30 };

#define SAMPLES 6
#define MAX_COUNTERS 4096

static struct fuzz_input in;
static bool changing; /* replies are changed now */

/* ---- between the sources and the kernel: the linker puts these in place (--wrap) ---- */

static struct {
	uint8_t *at;
	size_t size;
} memory;

int __real_ioctl(int fd, unsigned long command, void *argument);
int __wrap_ioctl(int fd, unsigned long command, ...);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);
int __real_fake_memory(size_t bytes, void **out);
int __wrap_fake_memory(size_t bytes, void **out);
void __real_fake_memory_free(int fd, void *at, size_t bytes);
void __wrap_fake_memory_free(int fd, void *at, size_t bytes);
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, ...);

static void
flip(void *bytes, size_t size, unsigned n)
{
	for (unsigned i = 0; size && i < n; i++) {
		size_t at = (size_t)fuzz_number(&in) % size;
		((uint8_t *)bytes)[at] ^= fuzz_byte(&in);
	}
}

/* Changes what the command's argument points to. */
static void
flip_further(unsigned long command, void *argument, unsigned n)
{
	const struct kbase_kinstr_enum_info *info = argument;
	const struct kbase_get_gpuprops *props = argument;
	const struct panfrost_perfcnt_dump *dump = argument;
	if (command == KBASE_KINSTR_ENUM_INFO && info->list)
		flip((void *)(uintptr_t)info->list, (size_t)info->item_size * info->item_count, n);
	else if (command == KBASE_GET_GPUPROPS && props->size)
		flip((void *)(uintptr_t)props->buffer, props->size, n);
	else if (command == PANFROST_PERFCNT_DUMP)
		flip((void *)(uintptr_t)dump->buffer, fake_buffer_bytes(), n);
	else if (command == KBASE_OLD_READER_SETUP)
		return; /* a descriptor: another number would be another file */
	else if (command != KBASE_KINSTR_ENUM_INFO && command >> 31 & 1)
		flip(argument, command >> 16 & 0x3fff, n);
}

int
__wrap_ioctl(int fd, unsigned long command, ...)
{
	static const int errors[] = { EINTR, EAGAIN, ENODEV, EIO, ENOMEM, EPERM, EINVAL, EBUSY };
	va_list args;
	va_start(args, command);
	void *argument = va_arg(args, void *);
	va_end(args);
	uint8_t how = changing ? fuzz_byte(&in) : 0;
	if (how >= 0xf0) {
		errno = errors[how % 8];
		return -1;
	}
	int result = __real_ioctl(fd, command, argument);
	if (result < 0 || how < 0x80)
		return result;
	if (how < 0xb0)
		flip_further(command, argument, how % 8 + 1);
	else if (how < 0xd0)
		flip(memory.at, memory.size, how % 16 + 1);
	else if (how < 0xe0 && command == KBASE_GET_GPUPROPS)
		return (int)fuzz_number(&in);
	return result;
}

int
__wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	fuzz_require(timeout >= 0 && timeout < 10000, "a wait in the kernel is bounded");
	return __real_poll(fds, n, 0);
}

int
__wrap_fake_memory(size_t bytes, void **out)
{
	int fd = __real_fake_memory(bytes, out);
	if (changing && fd >= 0) { /* otherwise it is the state, which drive.h shows */
		memory.at = *out;
		memory.size = bytes;
	}
	return fd;
}

void
__wrap_fake_memory_free(int fd, void *at, size_t bytes)
{
	if (at == memory.at)
		memory.size = 0;
	__real_fake_memory_free(fd, at, bytes);
}

/* An event is a file with any reading, or any part of one. */
static long
open_event(void)
{
	static const int errors[] = { EACCES, ENOENT, EMFILE, ESRCH, EINVAL, ENOSYS, EPERM, EINTR };
	uint64_t reading[3];
	uint8_t how = fuzz_byte(&in);
	if (how >= 0xe0) {
		errno = errors[how % 8];
		return -1;
	}
	for (unsigned i = 0; i < 3; i++)
		reading[i] = fuzz_number(&in);
	int fd = memfd_create("event", MFD_CLOEXEC);
	size_t size = how >= 0xd0 ? how % 16 : sizeof(reading);
	if (fd < 0 || write(fd, reading, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	return fd;
}

/* Takes six arguments, whatever their number, as libc does. */
__attribute__((no_sanitize("address"))) long
__wrap_syscall(long number, ...)
{
	long a[6];
	va_list args;
	if (changing && number == SYS_perf_event_open)
		return open_event();
	va_start(args, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- a snapshot source from probe to close ---- */

static unsigned
count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned n = 0;
	while (folder && readdir(folder))
		n++;
	if (folder)
		closedir(folder);
	return n;
}

static void
check_totals(const struct tally_totals *out, const uint64_t *before, uint32_t n)
{
	fuzz_require(out->begin_ns <= out->end_ns, "a reading ends after it began");
	for (uint32_t i = 0; i < n; i++)
		fuzz_require(out->totals[i] >= before[i], "a total never goes back");
}

static void
take_samples(struct tally_snapshot_source *src)
{
	static uint64_t totals[MAX_COUNTERS], before[MAX_COUNTERS], unknown[MAX_COUNTERS / 64];
	struct tally_totals out = { .totals = totals, .unknown = unknown };
	enum tally_status status = TALLY_OK;
	memset(totals, 0, sizeof(totals));
	for (unsigned i = 0; i < SAMPLES && status != TALLY_LOST; i++) {
		fake_kernel_advance(1000000);
		memset(unknown, 0, sizeof(unknown));
		memcpy(before, totals, sizeof(totals));
		status = src->ops->sample(src, &out);
		if (status == TALLY_OK)
			check_totals(&out, before, src->n_counters);
		fuzz_require(status != TALLY_LOST || src->reason[0], "whoever gives up says why");
	}
}

static void
use_source(struct tally_snapshot_source *src)
{
	fake_kernel_find(); /* keeps one */
	unsigned n_open = count_descriptors();
	if (!src)
		return;
	src->wanted = "all";
	src->metrics_wanted = true;
	changing = true;
	enum tally_status status = src->ops->probe(src);
	if (status == TALLY_OK) {
		status = src->ops->open(src);
		if (status == TALLY_OK) {
			fuzz_require(src->n_counters <= MAX_COUNTERS, "counters are bounded");
			if (src->ops->start(src) == TALLY_OK) {
				take_samples(src);
				src->ops->stop(src);
			}
			src->ops->close(src);
		}
	}
	fuzz_require(status == TALLY_OK || src->reason[0], "whoever is off says why");
	changing = false;
	src->ops->destroy(src);
	fuzz_require(count_descriptors() == n_open, "no descriptor is left");
}

static void
try_mali(void)
{
	static const char *const kernels[] = {
		"kbase-csf,gpu=g715,cores=0x15",
		"kbase-csf,gpu=g710,phys,cores=0x35,iface=1.14",
		"kbase-jm,gpu=g52,iface=11.40",
		"kbase-jm,gpu=g52,iface=11.20",
		"kbase-jm,gpu=g71,iface=11.20,hwver=5,groups=2",
		"kbase-old,gpu=g51",
		"kbase-old,gpu=t60x",
		"panfrost,cores=0x3",
		"panfrost,gpu=t760,groups=2",
		"panthor",
		"kbase-csf,gpu=g1-ultra,longid,enum_extra=8,meta_extra=16,unknown",
		"kbase-jm,gpu=g78,all_blocks,junk,cores=0xa5",
		"kbase-csf,gpu=g720,lists=doubled",
	};
	const char *kernel = kernels[fuzz_byte(&in) % (sizeof(kernels) / sizeof(kernels[0]))];
	if (!fake_configure(kernel))
		abort();
	use_source(strncmp(kernel, "pan", 3) == 0 ? tally_mali_panfrost_create()
						  : tally_mali_kbase_create());
	memset(&fake_config, 0, sizeof(fake_config));
	memory.size = 0;
}

/* ---- files ---- */

static const char *const files[] = {
	"proc/self/fdinfo/7",
	"sys/class/drm/renderD128/device/gpu_busy_percent",
	"sys/class/drm/renderD128/device/hwmon/hwmon3/freq1_input",
	"sys/class/drm/renderD128/device/hwmon/hwmon3/temp1_input",
	"sys/class/drm/renderD128/device/hwmon/hwmon3/power1_average",
	"sys/class/drm/renderD128/device/hwmon/hwmon3/energy1_input",
	"sys/class/drm/renderD128/device/mem_info_vram_used",
	"sys/class/drm/renderD128/device/drm/card0/gt/gt0/rps_act_freq_mhz",
	"sys/class/drm/renderD128/device/drm/card0/gt/gt0/throttle_reason_pl1",
	"sys/class/drm/renderD128/device/tile0/gt0/freq0/act_freq",
	"sys/class/drm/renderD128/device/power/runtime_status",
};
#define N_FILES (sizeof(files) / sizeof(files[0]))

static const char *
tree(void)
{
	static char *root;
	if (root)
		return root;
	root = g_dir_make_tmp("passtally-fuzz-XXXXXX", NULL);
	for (size_t i = 0; root && i < N_FILES; i++) {
		g_autofree char *path = g_build_filename(root, files[i], NULL);
		g_autofree char *folder = g_path_get_dirname(path);
		if (g_mkdir_with_parents(folder, 0700) != 0)
			abort();
	}
	g_autofree char *fd = g_build_filename(root, "proc/self/fd", NULL);
	g_autofree char *seven = g_build_filename(fd, "7", NULL);
	if (g_mkdir_with_parents(fd, 0700) != 0 || symlink("/dev/dri/renderD128", seven) != 0)
		abort();
	return root;
}

static void
remove_all(const char *path)
{
	GDir *dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *inner = g_build_filename(path, name, NULL);
		remove_all(inner);
	}
	if (dir)
		g_dir_close(dir);
	g_remove(path);
}

static void __attribute__((destructor)) remove_tree(void)
{
	remove_all(tree());
}

/* Each file's text ends with a NUL of the input; without one, the file keeps its text. */
static void
write_files(void)
{
	for (size_t i = 0; i < N_FILES && in.left; i++) {
		g_autofree char *path = g_build_filename(tree(), files[i], NULL);
		size_t n = strnlen((const char *)in.at, in.left);
		fuzz_write(path, in.at, n);
		in.left -= n < in.left ? n + 1 : n;
		in.at += n + (in.left > 0);
	}
}

static void
try_files(void)
{
	static const char *const drivers[] = {
		"amdgpu", "i915", "xe", "msm_dpu", "panfrost", "v3d"
	};
	g_autofree char *link = g_build_filename(tree(), "sys/class/drm/renderD128/device/driver",
						 NULL);
	g_autofree char *to = g_strdup_printf("/sys/bus/pci/drivers/%s",
					      drivers[fuzz_byte(&in) % 6]);
	char why[256] = "";
	g_unlink(link);
	if (symlink(to, link) != 0)
		abort();
	write_files();
	struct gauge_gpu gpu = { 0 };
	struct gauge_values values = { 0 };
	if (gauge_gpu_find(&gpu, tree(), why)) {
		gauge_gpu_take(&gpu, 0);
		for (uint64_t now_ns = 1; now_ns < 500000000; now_ns += 200000000) {
			gauge_gpu_read(&gpu, now_ns, &values);
			fuzz_require(values.known >> GAUGE_N_KINDS == 0, "a value is of a kind");
			write_files();
		}
		gauge_gpu_choose(&gpu);
	} else {
		fuzz_require(why[0] != '\0', "that there is no GPU has a reason");
	}
	gauge_gpu_finish(&gpu);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	in = (struct fuzz_input){ data, size };
	switch (fuzz_byte(&in) % 4) {
	case 0:
	case 1:
		try_mali();
		break;
	case 2:
		try_files();
		break;
	default:
		use_source(tally_linux_perf_create());
		break;
	}
	return 0;
}
