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

const struct tally_top_screen *
tally_top_screen_open(bool colour, char *why, size_t size)
{
	(void)colour;
	tally_top_screen_check(why, size);
	return NULL;
}
