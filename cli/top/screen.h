/* SPDX-License-Identifier: MIT */
/* cli/top/screen.h - the live view's terminal: full screen, keys, resizing.
 *
 * It uses ncurses, which knows the capabilities of each terminal, draws only what changed
 * (which matters over a slow line), stops and resumes with job control and restores the
 * terminal. If passtally is built without ncurses, opening fails with that reason. One terminal
 * at a time.
 */
#ifndef PASSTALLY_CLI_TOP_SCREEN_H
#define PASSTALLY_CLI_TOP_SCREEN_H

#include "cli/top/row.h"

/* Keys that are not characters. */
enum {
	TALLY_TOP_KEY_NONE = -1,
	TALLY_TOP_KEY_UP = 0x200000,
	TALLY_TOP_KEY_DOWN,
	TALLY_TOP_KEY_LEFT,
	TALLY_TOP_KEY_RIGHT,
	TALLY_TOP_KEY_PAGE_UP,
	TALLY_TOP_KEY_PAGE_DOWN,
	TALLY_TOP_KEY_HOME,
	TALLY_TOP_KEY_END,
	TALLY_TOP_KEY_RESIZE,
	TALLY_TOP_KEY_GONE, /* the terminal is closed */
	TALLY_TOP_KEY_OTHER,
};

/* Whether a full screen can be shown here. False with a reason; changes nothing. */
bool tally_top_screen_check(char *why, size_t size);
/* A full screen that is shown. */
struct tally_top_screen {
	void (*close)(void);
	bool (*has_blocks)(void); /* whether it can show the characters of charts */
	void (*size)(unsigned *width, unsigned *height);
	void (*show)(const GPtrArray *rows);
	int (*fd)(void); /* file descriptor of the key input, for poll(2) */
	int (*key)(void);
};
/* Takes over the terminal on standard output. NULL with a reason; then nothing was changed. */
const struct tally_top_screen *tally_top_screen_open(bool colour, char *why, size_t size);

#endif
