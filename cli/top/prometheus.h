/* SPDX-License-Identifier: MIT */
/* cli/top/prometheus.h - what the window comes to, in Prometheus's text format, for the textfile
 * collector of its node exporter: means and largest times of frames and passes, of all devices.
 * One thread.
 */
#ifndef PASSTALLY_CLI_TOP_PROMETHEUS_H
#define PASSTALLY_CLI_TOP_PROMETHEUS_H

#include "cli/top/window.h"

/* Writes standard output where `path` is "-"; else replaces the file at once, so that no reader
 * sees half of it. False after printing an error. */
bool tally_top_write_prometheus(struct tally_top_window *w, const char *path);

#endif
