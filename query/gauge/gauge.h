/* SPDX-License-Identifier: MIT */
/* query/gauge/gauge.h - the state of the GPU: clock, load, temperature, power, memory,
 * throttling.
 *
 * A snapshot source (query/source/snapshot.h) over files of the kernel, for the GPU that this
 * process uses: sysfs and hwmon of its device, and the DRM file information of its own
 * descriptors, which shows whether it is used: before the work there increased on exactly one
 * of the open GPUs, nothing is known. Where NVIDIA's driver is loaded and no other GPU works,
 * its management library is used. It runs on the sampler's thread, reads at most ten times a
 * second, and never wakes a suspended GPU.
 *
 * Values are those of a moment. The clock becomes two totals, cycles and the time in which the
 * clock was known, with the last value held until the next reading, so that the metric gpu_clock
 * is the mean over a frame; a total therefore reaches a tenth of a second ahead of its reading.
 * The others are levels, of which frames have the last one. Nothing of this is a counter in the
 * log: data/metrics/gauge.txt has what is.
 */
#ifndef PASSTALLY_QUERY_GAUGE_H
#define PASSTALLY_QUERY_GAUGE_H

#include "query/source/snapshot.h"

/* NULL on OOM. */
struct tally_snapshot_source *tally_gauge_create(void);
/* The same with another root: /sys is ROOT/sys. `root` is copied. For tests. */
struct tally_snapshot_source *tally_gauge_create_at(const char *root);

#endif
