/* SPDX-License-Identifier: MIT */
/* cli/report/page_place.h - where `report --html` writes a page that was given no name, and
 * how it is opened.
 *
 * One thread. Returned strings are freed by the caller with g_free().
 */
#ifndef PASSTALLY_CLI_REPORT_PAGE_PLACE_H
#define PASSTALLY_CLI_REPORT_PAGE_PLACE_H

#include <stdbool.h>

/* Whether this argument of --html is the name or the file of a log. */
bool tally_page_is_log(const char *path);
/* The page of a log: its path with .html instead of .jsonl or .jsonl.zst. NULL after printing
 * an error: standard input has no such place. */
char *tally_page_path(const char *log);
/* Starts the desktop's browser if standard output is a terminal and there is a display;
 * otherwise, and if there is no xdg-open, prints the path. Does not wait. */
void tally_page_open(const char *path);

#endif
