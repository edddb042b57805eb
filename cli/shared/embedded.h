/* SPDX-License-Identifier: MIT */
/* cli/shared/embedded.h - texts that the build puts into the command: the page of `report --html`
 * (data/html, scripts/build_page.py), with a mark where the numbers go; the JSON Schema of the log;
 * the program behind `passtally fleet`; and what --help says of each command (data/help).
 *
 * Each is made into C by scripts/embed_text.py and ends in a NUL. Constant: any thread.
 */
#ifndef PASSTALLY_CLI_SHARED_EMBEDDED_H
#define PASSTALLY_CLI_SHARED_EMBEDDED_H

#define TALLY_HTML_MARK "<!-- the logs -->"
extern const char tally_html_page[], tally_schema_text[], tally_fleet_text[];
extern const char tally_help_run[], tally_help_top[], tally_help_report[], tally_help_compare[],
	tally_help_bench[], tally_help_bisect[], tally_help_fleet[], tally_help_logs[],
	tally_help_trigger[], tally_help_export[], tally_help_name[], tally_help_check[],
	tally_help_digest[], tally_help_schema[], tally_help_doctor[], tally_help_counters[],
	tally_help_config[], tally_help_selftest[], tally_help_install[], tally_help_uninstall[];

#endif
