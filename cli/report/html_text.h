/* SPDX-License-Identifier: MIT */
/* cli/report/html_text.h - the page without its numbers, as built from data/html/
 * (scripts/build_page.py).
 *
 * `tally_html_page` is the whole page; it contains one marker, TALLY_HTML_MARK, where the
 * numbers are inserted.
 */
#ifndef PASSTALLY_CLI_HTML_TEXT_H
#define PASSTALLY_CLI_HTML_TEXT_H

#include <stddef.h>

#define TALLY_HTML_MARK "<!-- the logs -->"

extern const char tally_html_page[];
extern const size_t tally_html_page_len;

#endif
