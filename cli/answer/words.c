/* SPDX-License-Identifier: MIT */
#include "cli/answer/words.h"

#include "cli/log/pass_name.h"
#include "cli/shared/text.h"

#include <glib.h>
#include <string.h>

char *
tally_duration_text(double ns)
{
	if (ns >= 1e10)
		return g_strdup_printf("%.1f s", ns / 1e9);
	if (ns >= 1e9)
		return g_strdup_printf("%.2f s", ns / 1e9);
	if (ns >= 1e8)
		return g_strdup_printf("%.0f ms", ns / 1e6);
	if (ns >= 1e7)
		return g_strdup_printf("%.1f ms", ns / 1e6);
	if (ns >= 1e5)
		return g_strdup_printf("%.2f ms", ns / 1e6);
	return g_strdup_printf("%.*f us", ns >= 1e4 ? 0 : 1, ns / 1e3);
}

char *
tally_from_to_text(double from_ns, double to_ns)
{
	g_autofree char *from = tally_duration_text(from_ns);
	g_autofree char *to = tally_duration_text(to_ns);
	char *unit = strchr(from, ' ');
	if (from_ns <= 0)
		return g_steal_pointer(&to);
	if (unit && g_str_has_suffix(to, unit))
		*unit = '\0';
	return g_strdup_printf("%s -> %s", from, to);
}

char *
tally_short_name(const char *name)
{
	g_autofree char *clean = tally_text_escape(name);
	return tally_text_fit(clean, 36);
}
