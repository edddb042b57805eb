/* SPDX-License-Identifier: MIT */
/* query/gauge/nvml.h - reads the same values from NVIDIA's management library, where NVIDIA's
 * driver is loaded and this process has its GPU open.
 *
 * The library is opened with dlopen, so that nothing depends on it, and only by the sampler's
 * thread. It may open descriptors of its own. Errors leave values unknown.
 */
#ifndef PASSTALLY_QUERY_GAUGE_NVML_H
#define PASSTALLY_QUERY_GAUGE_NVML_H

#include "query/gauge/gpu.h"

/* The functions of the library that are called; nvml.h, version 2 of each where there are
 * several. */
struct gauge_nvml_api {
	int (*init)(void);
	int (*shutdown)(void);
	int (*find)(const char *pci, void **device);
	int (*clock)(void *device, int kind, unsigned *mhz);
	int (*load)(void *device, unsigned shares[2]); /* percent: GPU, memory */
	int (*temperature)(void *device, int sensor, unsigned *celsius);
	int (*power)(void *device, unsigned *mw);
	int (*memory)(void *device, unsigned long long bytes[3]); /* total, free, used */
	int (*throttle)(void *device, unsigned long long *reasons);
};

struct gauge_nvml {
	struct gauge_nvml_api api;
	void *library, *device;
	char folder[256]; /* the device's, in sysfs */
};

/* Finds the NVIDIA GPU that this process has open, and its library. False: `why` has the
 * reason. */
bool gauge_nvml_open(struct gauge_nvml *nvml, const char *root, char *why);
/* The PCI address of that GPU; false: there is none, or several. */
bool gauge_nvml_find(const char *root, char pci[32], char *why);
/* A suspended GPU has no values. */
void gauge_nvml_read(const struct gauge_nvml *nvml, struct gauge_values *out);
void gauge_nvml_close(struct gauge_nvml *nvml);

#endif
