/* SPDX-License-Identifier: MIT */
#include "json/decode.h"

/* The values of the digits, each in its range. */
struct moment {
	unsigned year, month, day, hour, minute, second;
	unsigned fraction_ns;
	int64_t east_s; /* of UTC */
};

/* `width` digits and the byte after them, if any. */
static bool
scan_digits(const char **s, unsigned width, char after, unsigned *v)
{
	*v = 0;
	for (unsigned i = 0; i < width; i++, ++*s) {
		if (**s < '0' || **s > '9')
			return false;
		*v = *v * 10 + (unsigned)(**s - '0');
	}
	if (!after)
		return true;
	if (**s != after && !(after == 'T' && **s == 't'))
		return false;
	++*s;
	return true;
}

static unsigned
month_length(unsigned year, unsigned month)
{
	static const unsigned char lengths[] = { 31, 28, 31, 30, 31, 30,
						 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return month == 2 && leap ? 29 : lengths[month - 1];
}

static bool
scan_date(const char **s, struct moment *m)
{
	return scan_digits(s, 4, '-', &m->year) && scan_digits(s, 2, '-', &m->month) &&
	       scan_digits(s, 2, 'T', &m->day) && m->year >= 1 && m->month >= 1 &&
	       m->month <= 12 && m->day >= 1 && m->day <= month_length(m->year, m->month);
}

static bool
scan_clock(const char **s, struct moment *m)
{
	return scan_digits(s, 2, ':', &m->hour) && scan_digits(s, 2, ':', &m->minute) &&
	       scan_digits(s, 2, '\0', &m->second) && m->hour <= 23 && m->minute <= 59 &&
	       m->second <= 60;
}

/* ".5", or nothing. Digits finer than a nanosecond are dropped. */
static bool
scan_fraction(const char **s, struct moment *m)
{
	m->fraction_ns = 0;
	if (**s != '.')
		return true;
	++*s;
	if (**s < '0' || **s > '9')
		return false;
	for (unsigned scale = 100000000; **s >= '0' && **s <= '9'; ++*s, scale /= 10)
		m->fraction_ns += (unsigned)(**s - '0') * scale;
	return true;
}

/* "Z" or "+hh:mm". */
static bool
scan_zone(const char **s, struct moment *m)
{
	m->east_s = 0;
	if (**s == 'Z' || **s == 'z') {
		++*s;
		return true;
	}
	bool west = **s == '-';
	if (!west && **s != '+')
		return false;
	++*s;
	unsigned hours, minutes;
	if (!scan_digits(s, 2, ':', &hours) || !scan_digits(s, 2, '\0', &minutes) ||
	    hours > 23 || minutes > 59)
		return false;
	m->east_s = (int64_t)(hours * 3600 + minutes * 60);
	if (west)
		m->east_s = -m->east_s;
	return true;
}

/* Days from 1970-01-01, in years that begin in March. */
static int64_t
count_days(unsigned year, unsigned month, unsigned day)
{
	uint64_t y = year - (month <= 2);
	uint64_t from_march = month > 2 ? month - 3 : month + 9;
	uint64_t days = y * 365 + y / 4 - y / 100 + y / 400 + (153 * from_march + 2) / 5 +
			day - 1;
	return (int64_t)days - 719468;
}

bool
tally_time_parse(const char *s, uint64_t *unix_ns)
{
	struct moment m;
	if (!scan_date(&s, &m) || !scan_clock(&s, &m) || !scan_fraction(&s, &m) ||
	    !scan_zone(&s, &m) || *s)
		return false;
	int64_t seconds = count_days(m.year, m.month, m.day) * 86400 +
			  (int64_t)(m.hour * 3600 + m.minute * 60 + m.second) - m.east_s;
	uint64_t ns;
	if (seconds < 0 || __builtin_mul_overflow((uint64_t)seconds, UINT64_C(1000000000), &ns))
		return false;
	return !__builtin_add_overflow(ns, m.fraction_ns, unix_ns);
}
