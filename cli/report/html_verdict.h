/* SPDX-License-Identifier: MIT */
/* cli/report/html_verdict.h - what `passtally compare` says about two logs, for their page.
 *
 * The judgement is that of cli/compare/ with its defaults, so the page and the command never
 * differ. The logs are read a second time; memory grows with passes, not with the logs. One
 * thread.
 */
#ifndef PASSTALLY_CLI_REPORT_HTML_VERDICT_H
#define PASSTALLY_CLI_REPORT_HTML_VERDICT_H

#include "cli/shared/out.h"

/* Writes the member "verdict": an object with either `refused` (why the logs are not compared) or
 * `conclusion`, `same_pct` and `rows` ([device, id or "frame" or "outside", key, verdict,
 * difference, low and high in percent of the base, null = not known]). Writes nothing where the
 * logs cannot be read again. */
void tally_html_verdict_put(struct tally_out *o, const char *const logs[2], uint64_t warmup);

#endif
