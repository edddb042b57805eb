/* SPDX-License-Identifier: MIT */
/* cli/shared/embedded.h - texts that the build puts into the command: the page of `report --html`
 * (data/html, scripts/build_page.py), with a mark where the numbers go; the JSON Schema of the log;
 * and the program behind `passtally fleet`.
 *
 * Each is made into C by scripts/embed_text.py and ends in a NUL. Constant: any thread.
 */
#ifndef PASSTALLY_CLI_SHARED_EMBEDDED_H
#define PASSTALLY_CLI_SHARED_EMBEDDED_H

#define TALLY_HTML_MARK "<!-- the logs -->"
extern const char tally_html_page[], tally_schema_text[], tally_fleet_text[];

#endif
