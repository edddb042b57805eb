/* SPDX-License-Identifier: MIT */
#include "json/decode.h"

#include <stdlib.h>
#include <time.h>

/* Whether a text begins with `shape`, with a digit for each 0; letters in either case. */
static bool
has_shape(const char *s, const char *shape)
{
	for (; *shape; s++, shape++)
		if (*shape == '0' ? *s < '0' || *s > '9' : (*s | 0x20) != (*shape | 0x20))
			return false;
	return true;
}

/* ".5", or nothing. Digits finer than a nanosecond are dropped. */
static bool
scan_fraction(const char **s, uint64_t *ns)
{
	*ns = 0;
	if (**s != '.')
		return true;
	if (!has_shape(*s, ".0"))
		return false;
	for (unsigned scale = 100000000; has_shape(++*s, "0"); scale /= 10)
		*ns += (unsigned)(**s - '0') * scale;
	return true;
}

/* "Z" or "+hh:mm", to the end. */
static bool
scan_zone(const char *s, int64_t *east_s)
{
	*east_s = 0;
	if (has_shape(s, "Z"))
		return s[1] == '\0';
	if (!has_shape(s, "+00:00") && !has_shape(s, "-00:00"))
		return false;
	int hours = atoi(s + 1), minutes = atoi(s + 4);
	*east_s = (*s == '-' ? -60 : 60) * (int64_t)(hours * 60 + minutes);
	return s[6] == '\0' && hours <= 23 && minutes <= 59;
}

bool
tally_time_parse(const char *s, uint64_t *unix_ns)
{
	uint64_t fraction_ns, ns;
	int64_t east_s;
	const char *rest = s + strlen("0000-00-00T00:00:00");
	if (!has_shape(s, "0000-00-00T00:00:00") || !scan_fraction(&rest, &fraction_ns) ||
	    !scan_zone(rest, &east_s))
		return false;
	const struct tm said = { .tm_year = atoi(s) - 1900,
				 .tm_mon = atoi(s + 5) - 1,
				 .tm_mday = atoi(s + 8),
				 .tm_hour = atoi(s + 11),
				 .tm_min = atoi(s + 14) };
	struct tm real = said; /* of the 30th of February, the 2nd of March */
	int second = atoi(s + 17);
	int64_t seconds = timegm(&real) + second - east_s;
	if (real.tm_mon != said.tm_mon || real.tm_mday != said.tm_mday ||
	    real.tm_hour != said.tm_hour || real.tm_min != said.tm_min || second > 60)
		return false;
	if (seconds < 0 || __builtin_mul_overflow((uint64_t)seconds, UINT64_C(1000000000), &ns))
		return false;
	return !__builtin_add_overflow(ns, fraction_ns, unix_ns);
}
