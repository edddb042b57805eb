/* SPDX-License-Identifier: MIT */
#include "cli/answer/words.h"

#include "cli/shared/text.h"

#include <string.h>

const char *
tally_duration_text(double ns)
{
	if (ns >= 1e9)
		return tally_phrase("%.*f s", ns >= 9.995e9 ? 1 : 2, ns / 1e9);
	if (ns >= 1e5)
		return tally_phrase("%.*f ms", ns >= 9.995e7 ? 0 : ns >= 9.995e6 ? 1 : 2, ns / 1e6);
	return tally_phrase("%.*f us", ns >= 1e4 ? 0 : 1, ns / 1e3);
}

const char *
tally_from_to_text(double from_ns, double to_ns)
{
	const char *from = tally_duration_text(from_ns), *to = tally_duration_text(to_ns);
	const char *unit = strchr(from, ' ');
	if (from_ns <= 0 || to_ns <= 0)
		return from_ns <= 0 ? to : from;
	size_t len = g_str_has_suffix(to, unit) ? (size_t)(unit - from) : strlen(from);
	return tally_phrase("%.*s -> %s", (int)len, from, to);
}

const char *
tally_short_name(const char *name)
{
	g_autofree char *clean = tally_text_escape(name ? name : "");
	g_autofree char *fit = tally_text_fit(clean, 36);
	return tally_phrase("%s", fit);
}
