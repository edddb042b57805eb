/* SPDX-License-Identifier: MIT */
/* Replaces html.c where passtally is built without the charts' library. */
#include "cli/report/html.h"

#include "cli/shared/cli.h"

int
tally_report_html(const char *path, const char *const *logs, unsigned n_logs, uint64_t warmup)
{
	(void)path;
	(void)logs;
	(void)n_logs;
	(void)warmup;
	return TALLY_FAIL(TALLY_EXIT_FAILED, "report",
			  "--html: this passtally was built without it: libjs-dygraphs "
			  "was not there (meson configure -Dhtml=enabled)");
}
