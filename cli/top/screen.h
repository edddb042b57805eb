/* SPDX-License-Identifier: MIT */
/* cli/top/screen.h - the live view's terminal: full screen, keys, resizing.
 *
 * It uses ncurses, which knows the capabilities of each terminal, draws only what changed
 * (which matters over a slow line), stops and resumes with job control and restores the
 * terminal. One terminal at a time.
 */
#ifndef PASSTALLY_CLI_TOP_SCREEN_H
#define PASSTALLY_CLI_TOP_SCREEN_H

#include "cli/top/row.h"

/* Keys that stand for no letter, as characters that no terminal's key returns here. */
#define TALLY_TOP_KEY_PAGE_UP "\1"
#define TALLY_TOP_KEY_PAGE_DOWN "\2"
#define TALLY_TOP_KEY_HOME "\3"
#define TALLY_TOP_KEY_END "\4"
#define TALLY_TOP_KEY_OTHER "\5" /* means nothing, but that the screen is drawn */

/* Whether a full screen can be shown here; changes nothing. */
bool tally_top_screen_check(void);
/* Takes over the terminal on standard output, with the keys from standard input. False: no full
 * screen can be shown, nothing was changed. The others are for a screen that is open. */
bool tally_top_screen_open(bool colour);
void tally_top_screen_close(void);
void tally_top_screen_size(unsigned *width, unsigned *height);
void tally_top_screen_show(const GPtrArray *rows);
/* The next key pressed, 0 = none; the arrows are k, j, < and >, a closed terminal is q. */
int tally_top_screen_key(void);

#endif
