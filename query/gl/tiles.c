/* SPDX-License-Identifier: MIT */
#include "query/gl/tiles.h"

#include <stdio.h>
#include <string.h>

#include "query/quirks.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The part that the driver adds to the version of the API: "Mesa 22.3.6" of "OpenGL ES 3.2 Mesa
 * 22.3.6" and of "4.5 (Core Profile) Mesa 22.3.6". */
static const char *
driver_version(const char *version)
{
	const char *p = version;
	while (*p && !is_digit(*p))
		p++;
	p += strcspn(p, " ");
	p += strspn(p, " ");
	const char *profile = strstr(p, "Profile) ");
	return *p == '(' && profile ? profile + sizeof("Profile) ") - 1 : p;
}

bool
tally_gl_driver_name(const char *vendor, const char *renderer, const char *version,
		     char name[TALLY_GL_DRIVER_SIZE])
{
	name[0] = '\0';
	if (!vendor || !renderer || !version)
		return false;
	int len = snprintf(name, TALLY_GL_DRIVER_SIZE, "%s %s %s", vendor, renderer,
			   driver_version(version));
	if (len < 0 || len >= TALLY_GL_DRIVER_SIZE) {
		name[0] = '\0';
		return false;
	}
	/* The name becomes a line of a file. */
	for (char *p = name; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	return true;
}

bool
tally_gl_tiles_by_name(const char *renderer)
{
	return tally_gl_quirk(TALLY_QUIRK_TIMES_OF_TILES, renderer);
}
