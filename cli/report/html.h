/* cli/report/html.h - `passtally report --html`: logs as one page that needs nothing else.
 *
 * Writes a file that holds the page, its scripts and the logs' numbers, and no address that
 * a browser would fetch. Nothing that a log says becomes markup: it is data from end to end.
 * Built without the charts' library (no_html.c) it only says that it was.
 */
#ifndef PASSTALLY_CLI_REPORT_HTML_H
#define PASSTALLY_CLI_REPORT_HTML_H

#include <stdint.h>

/* One log, or two to compare. An exit status; complaints on standard error. A file that is
 * there is replaced, whole or not at all, but never a log; `path` "-" is standard output. */
int tally_report_html(const char *path, const char *const *logs, unsigned n_logs, uint64_t warmup);

#endif
