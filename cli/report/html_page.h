/* SPDX-License-Identifier: MIT */
/* cli/report/html_page.h - made by the build from data/html/ (scripts/build_page.py): the whole
 * page, with one marker, TALLY_HTML_MARK, where the numbers are inserted.
 */
#ifndef PASSTALLY_CLI_REPORT_HTML_PAGE_H
#define PASSTALLY_CLI_REPORT_HTML_PAGE_H

#include <stddef.h>

#define TALLY_HTML_MARK "<!-- the logs -->"

extern const char tally_html_page[];
extern const size_t tally_html_page_len;

#endif
