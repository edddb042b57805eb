#include "json/decode.h"

#include <math.h>
#include <string.h>

/* The lines about the run itself: header, notes, end. */

static bool
decode_schema(struct tally_decoder *d, struct tally_header_record *header)
{
	(void)header;
	struct tally_json_text text;
	if (!tally_json_read_text(&d->json, &text))
		return false;
	if (text.len == strlen(TALLY_SCHEMA) && !memcmp(text.s, TALLY_SCHEMA, text.len))
		return true;
	char shown[48];
	tally_json_fail(&d->json, text.s - 1, "this is schema %s; this passtally reads %s",
			tally_json_quote(shown, text.s, text.len), TALLY_SCHEMA);
	d->named = true;
	return false;
}

static bool
decode_argv(struct tally_decoder *d, struct tally_header_record *header)
{
	(void)header; /* which gets the arrays in the end */
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		const char **text = tally_array_push(d, &d->texts, sizeof(*text));
		if (!text || !tally_decode_text(d, text))
			return false;
	}
	return !d->json.failed;
}

static bool
decode_options(struct tally_decoder *d, struct tally_header_record *header)
{
	(void)header;
	d->stamp++;
	if (!tally_json_open_object(&d->json))
		return false;
	for (struct tally_word *key; (key = tally_decode_key(d));) {
		struct tally_option_record *option = tally_array_push(d, &d->options,
								      sizeof(*option));
		if (!option || !tally_decode_text(d, &option->value))
			return false;
		option->key = key->text;
	}
	return !d->json.failed;
}

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
	static const unsigned char lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return month == 2 && leap ? 29 : lengths[month - 1];
}

/* Days from 1970-01-01, in years that begin in March. */
static int64_t
count_days(unsigned year, unsigned month, unsigned day)
{
	uint64_t y = year - (month <= 2);
	uint64_t from_march = month > 2 ? month - 3 : month + 9;
	uint64_t days = y * 365 + y / 4 - y / 100 + y / 400 + (153 * from_march + 2) / 5 + day - 1;
	return (int64_t)days - 719468;
}

/* The seconds east of UTC: "Z" or "+hh:mm". */
static bool
scan_zone(const char **s, int64_t *east)
{
	*east = 0;
	if (**s == 'Z' || **s == 'z') {
		++*s;
		return true;
	}
	bool west = **s == '-';
	if (!west && **s != '+')
		return false;
	++*s;
	unsigned hours, minutes;
	if (!scan_digits(s, 2, ':', &hours) || !scan_digits(s, 2, '\0', &minutes) || hours > 23 ||
	    minutes > 59)
		return false;
	*east = (int64_t)(hours * 3600 + minutes * 60);
	if (west)
		*east = -*east;
	return true;
}

/* RFC 3339; a leap second counts as the second after it. */
static bool
scan_time(const char *s, uint64_t *unix_ns)
{
	unsigned year, month, day, hour, minute, second;
	if (!scan_digits(&s, 4, '-', &year) || !scan_digits(&s, 2, '-', &month) ||
	    !scan_digits(&s, 2, 'T', &day) || !scan_digits(&s, 2, ':', &hour) ||
	    !scan_digits(&s, 2, ':', &minute) || !scan_digits(&s, 2, '\0', &second))
		return false;
	if (year < 1 || month < 1 || month > 12 || day < 1 || day > month_length(year, month) ||
	    hour > 23 || minute > 59 || second > 60)
		return false;
	uint64_t fraction = 0;
	if (*s == '.') {
		s++;
		uint64_t scale = 100000000;
		if (*s < '0' || *s > '9')
			return false;
		for (; *s >= '0' && *s <= '9'; s++, scale /= 10)
			fraction += (uint64_t)(*s - '0') * scale;
	}
	int64_t east;
	if (!scan_zone(&s, &east) || *s)
		return false;
	int64_t seconds = count_days(year, month, day) * 86400 +
			  (int64_t)(hour * 3600 + minute * 60 + second) - east;
	const uint64_t last = UINT64_MAX / 1000000000;
	if (seconds < 0 || (uint64_t)seconds > last ||
	    ((uint64_t)seconds == last && fraction > UINT64_MAX % 1000000000))
		return false;
	*unix_ns = (uint64_t)seconds * 1000000000 + fraction;
	return true;
}

static bool
decode_started(struct tally_decoder *d, struct tally_header_record *header)
{
	const char *s;
	if (!tally_decode_text(d, &s))
		return false;
	if (scan_time(s, &header->started_unix_ns))
		return true;
	tally_json_fail(&d->json, s - 1,
			"a time is written as RFC 3339 says, for example "
			"2026-01-31T12:00:00Z, from 1970 to 2554");
	return false;
}

/* A whole number as JSON writes it: no sign but '-', no zero in front. */
static bool
scan_integer(const char *s, bool is_signed, struct tally_wide *whole)
{
	bool negative = *s == '-';
	if ((negative && !is_signed) || (s[negative] == '0' && s[negative + 1]))
		return false;
	return tally_wide_parse(s, strlen(s), whole);
}

/* Is it a number with a point or an exponent, by JSON's grammar? */
static bool
scan_double(const char *s, double *f64)
{
	size_t len = strlen(s);
	struct tally_json_reader number = { 0 };
	char copy[64 + TALLY_JSON_PADDING] = { 0 };
	if (len > 63)
		return false;
	memcpy(copy, s, len);
	tally_json_begin(&number, copy, len);
	struct tally_value v;
	if (!len || strpbrk(s, " \t\r\n") ||
	    !tally_json_read_value(&number, &v) || !tally_json_end(&number) ||
	    v.storage != TALLY_STORAGE_F64)
		return false;
	*f64 = v.f64;
	return true;
}

/* A sum in quotes: *integral stays true only for a whole number; *f64 is set for every one. */
static bool
decode_any_sum(struct tally_decoder *d, bool is_signed, bool *integral, struct tally_wide *whole,
	       double *f64)
{
	const char *s;
	if (!tally_decode_text(d, &s))
		return false;
	if (scan_integer(s, is_signed, whole)) {
		*f64 = tally_wide_f64(whole);
		return true;
	}
	*integral = false;
	if ((is_signed || *s != '-') && scan_double(s, f64))
		return true;
	tally_json_fail(&d->json, s - 1, "a sum is a decimal number in quotes, 128 bits wide");
	return false;
}

static bool
decode_sum(struct tally_decoder *d, struct tally_statistic_record *s)
{
	return decode_any_sum(d, true, &s->integral, &s->sum, &s->sum_f64);
}

static bool
decode_sum_sq(struct tally_decoder *d, struct tally_statistic_record *s)
{
	return decode_any_sum(d, false, &s->integral, &s->sum_sq, &s->sum_sq_f64);
}

static void finish_statistic(const struct tally_object *o, struct tally_statistic_record *s);

/* read_header(), read_note(), read_end(), and decode_NAME() of the objects in them. */
#include "json/log_read_run.inc"

/* Sums are exact together or not at all. */
static void
finish_statistic(const struct tally_object *o, struct tally_statistic_record *s)
{
	const uint64_t both = TALLY_BIT(STATISTIC_SUM) | TALLY_BIT(STATISTIC_SUM_SQ);
	s->integral = s->integral && (o->seen & both) == both;
	if (s->integral)
		s->sum_f64 = s->sum_sq_f64 = 0;
}

bool
tally_decode_header(struct tally_decoder *d, struct tally_header_record *header)
{
	struct tally_object o;
	d->texts.n = 0;
	d->options.n = 0;
	if (!read_header(d, &o, header))
		return false;
	header->argv = tally_array_items(&d->texts);
	header->n_argv = (uint32_t)d->texts.n;
	header->options = tally_array_items(&d->options);
	header->n_options = (uint32_t)d->options.n;
	return true;
}

bool
tally_decode_note(struct tally_decoder *d, struct tally_note_record *note)
{
	struct tally_object o;
	return read_note(d, &o, note);
}

bool
tally_decode_end(struct tally_decoder *d, struct tally_end_record *end)
{
	struct tally_object o;
	d->statistics.n = 0;
	d->growth.n = 0;
	if (!read_end(d, &o, end))
		return false;
	end->growth = tally_array_items(&d->growth);
	end->statistics = tally_array_items(&d->statistics);
	return true;
}
