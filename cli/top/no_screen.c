/* SPDX-License-Identifier: MIT */
/* Replaces screen.c where passtally is built without ncurses. */
#include "cli/top/screen.h"

bool
tally_top_screen_check(char *why, size_t size)
{
	g_snprintf(why, (gulong)size,
		   "this passtally was built without ncurses (libncurses-dev; meson "
		   "configure -Dtop=enabled)");
	return false;
}

bool
tally_top_screen_open(bool colour, char *why, size_t size)
{
	(void)colour;
	return tally_top_screen_check(why, size);
}

void
tally_top_screen_close(void)
{
}

bool
tally_top_screen_has_blocks(void)
{
	return false;
}

void
tally_top_screen_size(unsigned *width, unsigned *height)
{
	*width = *height = 0;
}

void
tally_top_screen_show(const GPtrArray *rows)
{
	(void)rows;
}

int
tally_top_screen_fd(void)
{
	return -1;
}

int
tally_top_screen_key(void)
{
	return TALLY_TOP_KEY_NONE;
}
