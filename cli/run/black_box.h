/* SPDX-License-Identifier: MIT */
/* cli/run/black_box.h - the files of --black-box (layer/frame/black_box.h) become logs.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_RUN_BLACK_BOX_H
#define PASSTALLY_CLI_RUN_BLACK_BOX_H

#include <glib.h>
#include <stdbool.h>

/* Joins what --black-box left of each log (layer/frame/black_box.h) to
 * one, and adds the logs that were kept, NAME.kept-1.jsonl. Errors are printed, and unless `quiet`
 * which pass began last, if the program was killed. */
void tally_run_join(GPtrArray *logs, bool quiet);

#endif
