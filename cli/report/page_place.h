/* SPDX-License-Identifier: MIT */
/* cli/report/page_place.h - where a page goes for which no name was given, and how it is opened.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_PAGE_PLACE_H
#define PASSTALLY_CLI_REPORT_PAGE_PLACE_H

#include "cli/report/html.h"

/* What --pictures wrote beside a log under a number: the paths of the files that are there, colors
 * first. The caller frees the array, whose elements are char *. */
GPtrArray *tally_picture_files(const char *log, uint32_t number);

/* Whether this argument of --html is the name or the file of a log. */
bool tally_page_is_log(const char *path);
/* The page of a log: its path with .html instead of .jsonl or .jsonl.zst. NULL after printing
 * an error: standard input has no such place. */
char *tally_page_path(const char *log);
/* Starts the desktop's browser if standard output is a terminal and there is a display;
 * otherwise, and if there is no xdg-open, prints the path. Does not wait. */
void tally_page_open(const char *path);

#endif
