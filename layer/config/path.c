/* SPDX-License-Identifier: MIT */
#include "layer/config/path.h"

#include "layer/config/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether this is one of Wine's programs, whose path may have the slashes of Windows. */
static bool
is_exe(const char *path)
{
	size_t len = strlen(path);
	const char *end = path + len - 4;
	return len >= 4 && end[0] == '.' && (end[1] | 0x20) == 'e' && (end[2] | 0x20) == 'x' &&
	       (end[3] | 0x20) == 'e';
}

const char *
tally_config_base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *base = slash ? slash + 1 : path;
	const char *back = base && is_exe(base) ? strrchr(base, '\\') : NULL;
	if (back)
		base = back + 1;
	return base && *base ? base : "program";
}

char *
tally_config_home_path(const char *variable, const char *fallback, const char *name)
{
	if (tally_config_secure())
		return NULL;
	const char *between = "";
	const char *dir = getenv(variable);
	if (!dir || *dir != '/') { /* the XDG specification: ignore relative paths */
		dir = getenv("HOME");
		between = fallback;
		if (!dir || *dir != '/')
			return NULL;
	}
	size_t size = strlen(dir) + strlen(between) + strlen(name) + sizeof("//passtally/");
	char *path = malloc(size);
	if (path)
		snprintf(path, size, "%s%s%s/passtally/%s", dir, *between ? "/" : "", between,
			 name);
	return path;
}

/* YYYYMMDD-HHMMSS in UTC. Not gmtime_r: it takes a lock that may be held in a forked child. The
 * calendar is counted in eras of 400 years that begin on the first of March. */
static void
format_time(uint64_t unix_ns, char *out, size_t size)
{
	uint64_t seconds = unix_ns / UINT64_C(1000000000);
	uint64_t days = seconds / 86400 + 719468;
	unsigned of_day = (unsigned)(seconds % 86400);
	unsigned of_era = (unsigned)(days % 146097);
	unsigned year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	unsigned month = (5 * of_year + 2) / 153;
	unsigned day = of_year - (153 * month + 2) / 5 + 1;
	month = month < 10 ? month + 3 : month - 9;
	unsigned year = year_of_era + (unsigned)(days / 146097) * 400 + (month <= 2);
	snprintf(out, size, "%04u%02u%02u-%02u%02u%02u", year, month, day, of_day / 3600,
		 of_day / 60 % 60, of_day % 60);
}

/* Replaces each %x of `pattern`; an unknown one is left as it is. Returns the length, and
 * writes if `out` is not NULL. */
static size_t
expand(const char *pattern, const char *base, const char *time, const char *pid, char *out)
{
	size_t len = 0;
	while (*pattern) {
		const char *text = pattern;
		size_t n = 1, taken = 1;
		if (*pattern == '%' && pattern[1] && strchr("etp%", pattern[1])) {
			text = pattern[1] == 'e'   ? base
			       : pattern[1] == 't' ? time
			       : pattern[1] == 'p' ? pid
						   : "%";
			n = strlen(text);
			taken = 2;
		}
		if (out)
			memcpy(out + len, text, n);
		len += n;
		pattern += taken;
	}
	return len;
}

char *
tally_config_log_path(const char *pattern, const char *program, uint64_t started_unix_ns,
		      long pid)
{
	char time[32], pid_text[24];
	format_time(started_unix_ns, time, sizeof(time));
	snprintf(pid_text, sizeof(pid_text), "%ld", pid);
	const char *base = tally_config_base_name(program);

	static const char name[] = "%e-%t-%p.jsonl";
	char *place = NULL;
	if (!pattern) {
		/* The home's own path may contain a '%', so only the name is expanded. */
		place = tally_config_home_path("XDG_STATE_HOME", ".local/state", "");
		if (!place)
			return NULL;
		pattern = name;
	}
	size_t prefix = place ? strlen(place) : 0;
	size_t len = expand(pattern, base, time, pid_text, NULL);
	char *path = malloc(prefix + len + 1);
	if (path) {
		memcpy(path, place ? place : "", prefix);
		expand(pattern, base, time, pid_text, path + prefix);
		path[prefix + len] = '\0';
	}
	free(place);
	return path;
}
