/* SPDX-License-Identifier: MIT */
/* cli/top/view.h - the live view as lines of text: the layout, for any terminal size. Lines are
 * no wider than requested; cli/top/screen.h puts them on a terminal. One thread.
 */
#ifndef PASSTALLY_CLI_TOP_VIEW_H
#define PASSTALLY_CLI_TOP_VIEW_H

#include "cli/top/row.h"
#include "cli/top/window.h"

/* An array of rows; the caller frees it. */
GPtrArray *tally_top_compose(struct tally_top_window *w, struct tally_top_look *look);
/* Moves the sort by a column to the right (1) or to the left (-1). */
void
tally_top_move_sort(const struct tally_top_window *w, struct tally_top_look *look, int direction);
/* Selects the next device; after the last one, the device of the newest frame (-1). */
void tally_top_next_device(const struct tally_top_window *w, struct tally_top_look *look);

#endif
