/* SPDX-License-Identifier: MIT */
/* cli/report/html.h - `passtally report --html`: logs as one self-contained page.
 *
 * Writes a file with the page, its scripts and the logs' numbers, and without any address
 * that a browser would fetch. Nothing in a log becomes markup: it is data throughout. If the
 * command is built without the charts' library (no_html.c), this only reports that fact. One
 * thread.
 */
#ifndef PASSTALLY_CLI_REPORT_HTML_H
#define PASSTALLY_CLI_REPORT_HTML_H

#include "cli/shared/out.h"

#include <glib.h>
#include <stdint.h>

/* Writes one log, or two to compare. Returns an exit status; errors go to standard error. An
 * existing file is replaced atomically, but a log is never replaced; `path` "-" is standard
 * output. */
int tally_report_html(const char *path, const char *const *logs, unsigned n_logs,
		      uint64_t warmup);

#endif
