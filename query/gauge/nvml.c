/* SPDX-License-Identifier: MIT */
#include "query/gauge/nvml.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer/base/small_file.h"
#include "query/source/source.h"

#define CLOCK_GRAPHICS 0
#define SENSOR_GPU 0
/* nvmlClocksThrottleReason*: with these the hardware or the driver slowed the clock down. */
#define REASON_SW_POWER 0x4ULL
#define REASON_HW_SLOWDOWN 0x8ULL
#define REASON_SW_THERMAL 0x20ULL
#define REASON_HW_THERMAL 0x40ULL
#define REASON_HW_POWER_BRAKE 0x80ULL

/* ---- which GPU ---- */

/* The minor number of /dev/nvidiaN that a descriptor is open on, -1 when it is none. */
static int
minor_of(const char *root, const char *fd)
{
	char path[256], target[64];
	int minor, used = 0;
	snprintf(path, sizeof(path), "%s/proc/self/fd/%.20s", root, fd);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	return sscanf(target, "/dev/nvidia%d%n", &minor, &used) == 1 && !target[used]
		       ? minor
		       : -1;
}

/* The only NVIDIA GPU that this process has open: -1 none, -2 several. */
static int
find_minor(const char *root)
{
	char path[256];
	int found = -1;
	snprintf(path, sizeof(path), "%s/proc/self/fd", root);
	DIR *dir = tally_small_file_list(path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		int minor = minor_of(root, entry->d_name);
		if (minor >= 0)
			found = found == -1 || found == minor ? minor : -2;
	}
	if (dir)
		closedir(dir);
	return found;
}

bool
gauge_nvml_find(const char *root, char pci[32], char *why)
{
	char path[512], text[2048];
	int minor = find_minor(root);
	bool found = false;
	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus", root);
	DIR *dir = minor >= 0 ? tally_small_file_list(path) : NULL;
	const struct dirent *entry;
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path),
			 "%s/proc/driver/nvidia/gpus/%.64s/information", root,
			 entry->d_name);
		if (entry->d_name[0] == '.' || !tally_small_file_read(path, text, sizeof(text)))
			continue;
		const char *line = strstr(text, "Device Minor:");
		found = line && atoi(line + strlen("Device Minor:")) == minor;
		snprintf(pci, 32, "%.31s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (!found)
		tally_unsupported(why, "%s",
				  minor == -1 ? "this process has no GPU open"
				  : minor < 0
					  ? "this process has several NVIDIA GPUs open"
					  : "NVIDIA's driver does not say which GPU this "
					    "process has open");
	return found;
}

/* ---- the library ---- */

static bool
load_functions(struct gauge_nvml *nvml)
{
	const struct {
		const char *name;
		void *to;
	} names[] = {
		{ "nvmlInit_v2", &nvml->api.init },
		{ "nvmlShutdown", &nvml->api.shutdown },
		{ "nvmlDeviceGetHandleByPciBusId_v2", &nvml->api.find },
		{ "nvmlDeviceGetClockInfo", &nvml->api.clock },
		{ "nvmlDeviceGetUtilizationRates", &nvml->api.load },
		{ "nvmlDeviceGetTemperature", &nvml->api.temperature },
		{ "nvmlDeviceGetPowerUsage", &nvml->api.power },
		{ "nvmlDeviceGetMemoryInfo", &nvml->api.memory },
		{ "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml->api.throttle },
	};
	nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; nvml->library && i < sizeof(names) / sizeof(names[0]); i++) {
		void *function = dlsym(nvml->library, names[i].name);
		if (!function)
			return false;
		memcpy(names[i].to, &function, sizeof(function));
	}
	return nvml->library != NULL;
}

bool
gauge_nvml_open(struct gauge_nvml *nvml, const char *root, char *why)
{
	char pci[32];
	*nvml = (struct gauge_nvml){ 0 };
	if (!gauge_nvml_find(root, pci, why))
		return false;
	if (load_functions(nvml) && nvml->api.init() == 0) {
		snprintf(nvml->folder, sizeof(nvml->folder), "%s/sys/bus/pci/devices/%s",
			 root, pci);
		if (nvml->api.find(pci, &nvml->device) == 0)
			return true;
		nvml->api.shutdown();
	}
	tally_unsupported(
		why, "NVIDIA's management library (libnvidia-ml.so.1) cannot be used");
	if (nvml->library)
		dlclose(nvml->library);
	*nvml = (struct gauge_nvml){ 0 };
	return false;
}

void
gauge_nvml_read(const struct gauge_nvml *nvml, struct gauge_values *out)
{
	const struct gauge_nvml_api *api = &nvml->api;
	unsigned n, load[2];
	unsigned long long bytes[3], reasons;
	*out = (struct gauge_values){ 0 };
	if (gauge_is_suspended(nvml->folder))
		return;
	if (api->clock(nvml->device, CLOCK_GRAPHICS, &n) == 0 && n > 0)
		gauge_put(out, GAUGE_CLOCK, (uint64_t)n * 1000);
	if (api->load(nvml->device, load) == 0)
		gauge_put(out, GAUGE_BUSY, (uint64_t)load[0] * 10);
	if (api->temperature(nvml->device, SENSOR_GPU, &n) == 0)
		gauge_put(out, GAUGE_TEMPERATURE, (uint64_t)n * 1000);
	if (api->power(nvml->device, &n) == 0)
		gauge_put(out, GAUGE_POWER, n);
	if (api->memory(nvml->device, bytes) == 0)
		gauge_put(out, GAUGE_MEMORY, bytes[2] / 1024);
	if (api->throttle(nvml->device, &reasons) != 0)
		return;
	uint32_t bits = 0;
	if (reasons & (REASON_SW_POWER | REASON_HW_POWER_BRAKE))
		bits |= GAUGE_THROTTLED_POWER;
	if (reasons & (REASON_SW_THERMAL | REASON_HW_THERMAL))
		bits |= GAUGE_THROTTLED_THERMAL;
	/* It is also set where one of those two is the reason. */
	if ((reasons & REASON_HW_SLOWDOWN) &&
	    !(reasons & (REASON_HW_THERMAL | REASON_HW_POWER_BRAKE)))
		bits |= GAUGE_THROTTLED_OTHER;
	gauge_put(out, GAUGE_THROTTLE, bits);
}

void
gauge_nvml_close(struct gauge_nvml *nvml)
{
	if (!nvml->device)
		return;
	nvml->api.shutdown();
	dlclose(nvml->library);
	*nvml = (struct gauge_nvml){ 0 };
}
