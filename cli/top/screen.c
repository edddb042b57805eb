/* SPDX-License-Identifier: MIT */
#include "cli/top/screen.h"

#include "cli/shared/each.h"

#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static struct {
	SCREEN *screen;
	bool colour;
} it;

bool
tally_top_screen_check(void)
{
	int error;
	const char *name = g_getenv("TERM");
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) || !name || !*name ||
	    setupterm(NULL, STDOUT_FILENO, &error) != OK)
		return false;
	const char *go_to = tigetstr("cup");
	bool can = go_to && go_to != (const char *)-1;
	del_curterm(cur_term);
	return can;
}

static void
choose_colours(void)
{
	it.colour = it.colour && start_color() == OK && has_colors();
	if (!it.colour)
		return;
	use_default_colors();
	init_pair(TALLY_TOP_CHART, COLOR_CYAN, -1);
	init_pair(TALLY_TOP_GOOD, COLOR_GREEN, -1);
	init_pair(TALLY_TOP_WARNING, COLOR_YELLOW, -1);
}

void
tally_top_screen_close(void)
{
	if (!it.screen)
		return;
	curs_set(1);
	endwin();
	delscreen(it.screen);
	it.screen = NULL;
}

void
tally_top_screen_size(unsigned *width, unsigned *height)
{
	int down, across;
	getmaxyx(stdscr, down, across);
	*width = (unsigned)MAX(across, 1);
	*height = (unsigned)MAX(down, 1);
}

static attr_t
attributes(enum tally_top_style style)
{
	static const attr_t plain[TALLY_TOP_N_STYLES] = {
		[TALLY_TOP_STRONG] = A_BOLD,  [TALLY_TOP_FAINT] = A_DIM,
		[TALLY_TOP_HEAD] = A_REVERSE, [TALLY_TOP_WARNING] = A_BOLD,
	};
	bool has_pair = it.colour && (style == TALLY_TOP_CHART || style == TALLY_TOP_GOOD ||
				      style == TALLY_TOP_WARNING);
	return has_pair ? (attr_t)COLOR_PAIR(style) : plain[style];
}

void
tally_top_screen_show(const GPtrArray *rows)
{
	erase();
	int line = 0;
	TALLY_EACH (const GString, row, rows) {
		if (move(line++, 0) == ERR)
			break;
		for (const char *p = row->str; *p;) {
			attrset(attributes((enum tally_top_style) * p++));
			int n = (int)strcspn(p, TALLY_TOP_STYLES);
			addnstr(p, n);
			p += n;
		}
		attrset(A_NORMAL);
	}
	refresh();
}

/* A terminal that hung up returns end of file forever. */
static bool
is_gone(void)
{
	struct termios settings;
	return tcgetattr(STDIN_FILENO, &settings) < 0 && errno != EINTR;
}

int
tally_top_screen_key(void)
{
	static const struct {
		int key;
		const char *as;
	} keys[] = {
		{ KEY_UP, "k" },
		{ KEY_DOWN, "j" },
		{ KEY_LEFT, "<" },
		{ KEY_RIGHT, ">" },
		{ KEY_PPAGE, TALLY_TOP_KEY_PAGE_UP },
		{ KEY_NPAGE, TALLY_TOP_KEY_PAGE_DOWN },
		{ KEY_HOME, TALLY_TOP_KEY_HOME },
		{ KEY_END, TALLY_TOP_KEY_END },
	};
	int c = getch();
	if (c == ERR)
		return is_gone() ? 'q' : 0;
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (keys[i].key == c)
			return *keys[i].as;
	return c >= ' ' && c < 0x80 ? c : *TALLY_TOP_KEY_OTHER;
}

bool
tally_top_screen_open(bool colour)
{
	if (!tally_top_screen_check())
		return false;
	memset(&it, 0, sizeof(it));
	it.colour = colour;
	/* LINES and COLUMNS, if they are set, must not keep ncurses from following the
	 * terminal's size. */
	use_tioctl(TRUE);
	it.screen = newterm(NULL, stdout, stdin);
	if (!it.screen)
		return false;
	set_term(it.screen);
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	curs_set(0);
	choose_colours();
	return true;
}
