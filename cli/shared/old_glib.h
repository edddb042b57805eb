/* SPDX-License-Identifier: MIT */
/* cli/shared/old_glib.h - the functions of GLib 2.70 that 2.66 (Debian 11) lacks. The build
 * includes it into every file that uses GLib where that is the version, and into none
 * elsewhere: each function does what GLib's of that name does, and is removed when 2.66 is no
 * longer supported.
 */
#ifndef PASSTALLY_CLI_OLD_GLIB_H
#define PASSTALLY_CLI_OLD_GLIB_H

#include <glib.h>
#include <string.h>

#if !GLIB_CHECK_VERSION(2, 68, 0)
static inline gpointer
g_memdup2(gconstpointer from, gsize size)
{
	return from && size ? memcpy(g_malloc(size), from, size) : NULL;
}

/* Of all places (limit 0); what GLib returns, their number, is not used. */
static inline void
g_string_replace(GString *text, const char *find, const char *replace, guint limit)
{
	g_assert(limit == 0 && *find);
	char **parts = g_strsplit(text->str, find, 0);
	char *joined = g_strjoinv(replace, parts);
	g_string_assign(text, joined);
	g_free(joined);
	g_strfreev(parts);
}
#endif

#endif
