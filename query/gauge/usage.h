/* SPDX-License-Identifier: MIT */
/* query/gauge/usage.h - how long this process used a GPU, as the kernel counts it.
 *
 * The kernel's Documentation/gpu/drm-usage-stats.rst: "key: value" lines that begin with drm-.
 */
#ifndef PASSTALLY_QUERY_GAUGE_USAGE_H
#define PASSTALLY_QUERY_GAUGE_USAGE_H

#include "query/gauge/gpu.h"

/* Reads the text of /proc/PID/fdinfo/FD. False: it is not that of a DRM device. */
bool gauge_usage_parse(const char *text, struct gauge_usage *out);
/* Sums over the clients of these descriptors, each client once. False: there is none. */
bool gauge_usage_read(const char *root, const int *fds, uint32_t n_fds,
		      struct gauge_usage *out);

#endif
