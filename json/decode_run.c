#include "json/decode.h"

#include <math.h>
#include <string.h>

/* The lines about the run itself: header, notes, end. Tables stand in the writer's order. */

enum {
	HEADER_TYPE,
	HEADER_SCHEMA,
	HEADER_VERSION,
	HEADER_PROGRAM,
	HEADER_ARGV,
	HEADER_PID,
	HEADER_STARTED,
	HEADER_OPTIONS,
	N_HEADER_FIELDS,
};

static const struct tally_field header_fields[N_HEADER_FIELDS] = {
	[HEADER_TYPE] = TALLY_FIELD("type"),       [HEADER_SCHEMA] = TALLY_FIELD("schema"),
	[HEADER_VERSION] = TALLY_FIELD("version"), [HEADER_PROGRAM] = TALLY_FIELD("program"),
	[HEADER_ARGV] = TALLY_FIELD("argv"),       [HEADER_PID] = TALLY_FIELD("pid"),
	[HEADER_STARTED] = TALLY_FIELD("started"), [HEADER_OPTIONS] = TALLY_FIELD("options"),
};

enum { NOTE_TYPE, NOTE_LEVEL, NOTE_MESSAGE, NOTE_SOURCE, NOTE_TIME, N_NOTE_FIELDS };

static const struct tally_field note_fields[N_NOTE_FIELDS] = {
	[NOTE_TYPE] = TALLY_FIELD("type"),
	[NOTE_LEVEL] = TALLY_FIELD("level"),
	[NOTE_MESSAGE] = TALLY_FIELD("message"),
	[NOTE_SOURCE] = TALLY_FIELD("source"),
	[NOTE_TIME] = TALLY_FIELD("time_ns"),
};

enum {
	STATISTIC_DEVICE,
	STATISTIC_ID,
	STATISTIC_KEY,
	STATISTIC_N,
	STATISTIC_SUM,
	STATISTIC_SUM_SQ,
	STATISTIC_MIN,
	STATISTIC_MAX,
	STATISTIC_MEAN,
	STATISTIC_SD_POPULATION,
	STATISTIC_SD_SAMPLE,
	N_STATISTIC_FIELDS,
};

static const struct tally_field statistic_fields[N_STATISTIC_FIELDS] = {
	[STATISTIC_DEVICE] = TALLY_FIELD("device"),
	[STATISTIC_ID] = TALLY_FIELD("id"),
	[STATISTIC_KEY] = TALLY_FIELD("key"),
	[STATISTIC_N] = TALLY_FIELD("n"),
	[STATISTIC_SUM] = TALLY_FIELD("sum"),
	[STATISTIC_SUM_SQ] = TALLY_FIELD("sum_sq"),
	[STATISTIC_MIN] = TALLY_FIELD("min"),
	[STATISTIC_MAX] = TALLY_FIELD("max"),
	[STATISTIC_MEAN] = TALLY_FIELD("mean"),
	[STATISTIC_SD_POPULATION] = TALLY_FIELD("sd_population"),
	[STATISTIC_SD_SAMPLE] = TALLY_FIELD("sd_sample"),
};

enum {
	GROWTH_DEVICE,
	GROWTH_SOURCE,
	GROWTH_KEY,
	GROWTH_GROWTH,
	GROWTH_UNLOGGED,
	GROWTH_OUTSIDE,
	N_GROWTH_FIELDS,
};

static const struct tally_field growth_fields[N_GROWTH_FIELDS] = {
	[GROWTH_DEVICE] = TALLY_FIELD("device"),     [GROWTH_SOURCE] = TALLY_FIELD("source"),
	[GROWTH_KEY] = TALLY_FIELD("key"),           [GROWTH_GROWTH] = TALLY_FIELD("growth"),
	[GROWTH_UNLOGGED] = TALLY_FIELD("unlogged"), [GROWTH_OUTSIDE] = TALLY_FIELD("outside"),
};

enum {
	END_TYPE,
	END_FRAMES,
	END_FRAMES_DROPPED,
	END_PASSES,
	END_REASON,
	END_GROWTH,
	END_STATISTICS,
	N_END_FIELDS,
};

static const struct tally_field end_fields[N_END_FIELDS] = {
	[END_TYPE] = TALLY_FIELD("type"),
	[END_FRAMES] = TALLY_FIELD("frames"),
	[END_FRAMES_DROPPED] = TALLY_FIELD("frames_dropped"),
	[END_PASSES] = TALLY_FIELD("passes"),
	[END_REASON] = TALLY_FIELD("reason"),
	[END_GROWTH] = TALLY_FIELD("growth"),
	[END_STATISTICS] = TALLY_FIELD("statistics"),
};

static bool
decode_schema(struct tally_decoder *d)
{
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
decode_argv(struct tally_decoder *d)
{
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
decode_options(struct tally_decoder *d)
{
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
decode_time(struct tally_decoder *d, uint64_t *unix_ns)
{
	const char *s;
	if (!tally_decode_text(d, &s))
		return false;
	if (scan_time(s, unix_ns))
		return true;
	tally_json_fail(&d->json, s - 1,
			"a time is written as RFC 3339 says, for example "
			"2026-01-31T12:00:00Z, from 1970 to 2554");
	return false;
}

static bool
decode_header_field(struct tally_decoder *d, int field, struct tally_header_record *header)
{
	switch (field) {
	case HEADER_TYPE:
		return tally_decode_type(d);
	case HEADER_SCHEMA:
		return decode_schema(d);
	case HEADER_VERSION:
		return tally_decode_text(d, &header->version);
	case HEADER_PROGRAM:
		return tally_decode_text(d, &header->program);
	case HEADER_ARGV:
		header->has_argv = true;
		return decode_argv(d);
	case HEADER_PID:
		return tally_decode_number(d, &header->pid);
	case HEADER_STARTED:
		return decode_time(d, &header->started_unix_ns);
	default:
		return decode_options(d);
	}
}

bool
tally_decode_header(struct tally_decoder *d, struct tally_header_record *header)
{
	struct tally_object o = {
		.what = "a header",
		.fields = header_fields,
		.n_fields = N_HEADER_FIELDS,
		.required = TALLY_BIT(HEADER_SCHEMA) | TALLY_BIT(HEADER_VERSION) |
			    TALLY_BIT(HEADER_PROGRAM) | TALLY_BIT(HEADER_PID) |
			    TALLY_BIT(HEADER_STARTED) | TALLY_BIT(HEADER_OPTIONS),
	};
	*header = (struct tally_header_record){ 0 };
	d->texts.n = 0;
	d->options.n = 0;
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		if (!decode_header_field(d, field, header))
			return tally_object_fail(d, &o);
	}
	header->argv = tally_array_items(&d->texts);
	header->n_argv = (uint32_t)d->texts.n;
	header->options = tally_array_items(&d->options);
	header->n_options = (uint32_t)d->options.n;
	return !d->json.failed && tally_json_end(&d->json);
}

bool
tally_decode_note(struct tally_decoder *d, struct tally_note_record *note)
{
	struct tally_object o = {
		.what = "a note",
		.fields = note_fields,
		.n_fields = N_NOTE_FIELDS,
		.required = TALLY_BIT(NOTE_LEVEL) | TALLY_BIT(NOTE_MESSAGE),
	};
	*note = (struct tally_note_record){ 0 };
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		bool ok = true;
		unsigned level = 0;
		switch (field) {
		case NOTE_TYPE:
			ok = tally_decode_type(d);
			break;
		case NOTE_LEVEL:
			ok = tally_decode_enum(d, tally_level_name, TALLY_N_LEVELS, &level);
			note->level = level;
			break;
		case NOTE_MESSAGE:
			ok = tally_decode_text(d, &note->message);
			break;
		case NOTE_SOURCE:
			ok = tally_decode_text(d, &note->source);
			break;
		case NOTE_TIME:
			ok = tally_json_read_u64(&d->json, &note->time_ns);
			note->has_time = ok;
			break;
		}
		if (!ok)
			return tally_object_fail(d, &o);
	}
	return !d->json.failed && tally_json_end(&d->json);
}

/* A sum as it was spelled, NULL text while it is absent. */
struct sum {
	struct tally_json_text text;
	bool integral;
	struct tally_wide whole;
	double f64;
};

/* A whole number as JSON writes it: no sign but '-', no zero in front. */
static bool
scan_integer(struct sum *sum, bool is_signed)
{
	const char *s = sum->text.s;
	bool negative = *s == '-';
	if ((negative && !is_signed) || (s[negative] == '0' && s[negative + 1]))
		return false;
	return tally_wide_parse(s, sum->text.len, &sum->whole);
}

/* Is it a number with a point or an exponent, by JSON's grammar? */
static bool
scan_double(struct sum *sum)
{
	struct tally_json_reader number = { 0 };
	char copy[64 + TALLY_JSON_PADDING] = { 0 };
	if (sum->text.len > 63)
		return false;
	memcpy(copy, sum->text.s, sum->text.len);
	tally_json_begin(&number, copy, sum->text.len);
	struct tally_value v;
	if (!sum->text.len || strpbrk(sum->text.s, " \t\r\n") ||
	    !tally_json_read_value(&number, &v) || !tally_json_end(&number) ||
	    v.storage != TALLY_STORAGE_F64)
		return false;
	sum->f64 = v.f64;
	return true;
}

static bool
decode_sum(struct tally_decoder *d, struct sum *sum, bool is_signed)
{
	const char *s;
	if (!tally_decode_text(d, &s))
		return false;
	sum->text.s = s;
	sum->text.len = strlen(s);
	sum->integral = scan_integer(sum, is_signed);
	if (sum->integral || ((is_signed || *s != '-') && scan_double(sum)))
		return true;
	tally_json_fail(&d->json, s - 1, "a sum is a decimal number in quotes, 128 bits wide");
	return false;
}

static bool
decode_statistic_field(struct tally_decoder *d, int field, struct tally_statistic_record *s,
		       struct sum *sum, struct sum *sum_sq)
{
	struct tally_json_reader *json = &d->json;
	switch (field) {
	case STATISTIC_DEVICE:
		return tally_decode_u32(d, &s->device);
	case STATISTIC_ID:
		return tally_decode_id(d, &s->id);
	case STATISTIC_KEY:
		return tally_decode_kept(d, &s->key);
	case STATISTIC_N:
		return tally_json_read_u64(json, &s->n);
	case STATISTIC_SUM:
		return decode_sum(d, sum, true);
	case STATISTIC_SUM_SQ:
		return decode_sum(d, sum_sq, false);
	case STATISTIC_MIN:
		return tally_json_read_value(json, &s->min);
	case STATISTIC_MAX:
		return tally_json_read_value(json, &s->max);
	case STATISTIC_MEAN:
		return tally_json_read_f64(json, &s->mean);
	case STATISTIC_SD_POPULATION:
		return tally_json_read_f64(json, &s->sd_population);
	default:
		s->has_sd_sample = true;
		return tally_json_read_f64(json, &s->sd_sample);
	}
}

/* Sums are exact together or not at all. Absent doubles are NaN: the record has no other place to
 * say so. */
static void
set_sums(struct tally_statistic_record *s, const struct sum *sum, const struct sum *sum_sq)
{
	s->integral = sum->integral && sum_sq->integral;
	if (s->integral) {
		s->sum = sum->whole;
		s->sum_sq = sum_sq->whole;
		return;
	}
	s->sum_f64 = sum->integral ? tally_wide_f64(&sum->whole) : sum->f64;
	s->sum_sq_f64 = sum_sq->integral ? tally_wide_f64(&sum_sq->whole) : sum_sq->f64;
}

static bool
decode_statistic(struct tally_decoder *d)
{
	struct tally_object o = {
		.what = "a statistic",
		.fields = statistic_fields,
		.n_fields = N_STATISTIC_FIELDS,
		.required = TALLY_BIT(STATISTIC_ID) | TALLY_BIT(STATISTIC_KEY) |
			    TALLY_BIT(STATISTIC_N),
	};
	struct tally_statistic_record *s = tally_array_push(d, &d->statistics, sizeof(*s));
	if (!s || !tally_object_open(d, &o))
		return false;
	const struct tally_value absent = { .storage = TALLY_STORAGE_F64, .f64 = NAN };
	*s = (struct tally_statistic_record){
		.min = absent,
		.max = absent,
		.mean = NAN,
		.sd_population = NAN,
		.sd_sample = NAN,
	};
	struct sum sum = { .f64 = NAN }, sum_sq = { .f64 = NAN };
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		if (!decode_statistic_field(d, field, s, &sum, &sum_sq))
			return tally_object_fail(d, &o);
	}
	set_sums(s, &sum, &sum_sq);
	return !d->json.failed;
}

static bool
decode_statistics(struct tally_decoder *d)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		if (!decode_statistic(d))
			return false;
	}
	return !d->json.failed;
}

static bool
decode_growth_field(struct tally_decoder *d, int field, struct tally_growth_record *g)
{
	switch (field) {
	case GROWTH_DEVICE:
		return tally_decode_u32(d, &g->device);
	case GROWTH_SOURCE:
		return tally_decode_kept(d, &g->source);
	case GROWTH_KEY:
		return tally_decode_kept(d, &g->key);
	case GROWTH_GROWTH:
		return tally_json_read_u64(&d->json, &g->growth);
	case GROWTH_UNLOGGED:
		return tally_json_read_u64(&d->json, &g->unlogged);
	default:
		return tally_json_read_u64(&d->json, &g->outside);
	}
}

static bool
decode_growths(struct tally_decoder *d)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		struct tally_object o = {
			.what = "a growth",
			.fields = growth_fields,
			.n_fields = N_GROWTH_FIELDS,
			.required = TALLY_BIT(GROWTH_DEVICE) | TALLY_BIT(GROWTH_KEY) |
				    TALLY_BIT(GROWTH_GROWTH),
		};
		struct tally_growth_record *g = tally_array_push(d, &d->growth, sizeof(*g));
		if (!g || !tally_object_open(d, &o))
			return false;
		*g = (struct tally_growth_record){ 0 };
		for (int field; (field = tally_object_next(d, &o)) >= 0;) {
			if (!decode_growth_field(d, field, g))
				return tally_object_fail(d, &o);
		}
		if (d->json.failed)
			return false;
	}
	return !d->json.failed;
}

bool
tally_decode_end(struct tally_decoder *d, struct tally_end_record *end)
{
	struct tally_object o = {
		.what = "an end line",
		.fields = end_fields,
		.n_fields = N_END_FIELDS,
		.required = TALLY_BIT(END_FRAMES) | TALLY_BIT(END_FRAMES_DROPPED) |
			    TALLY_BIT(END_PASSES) | TALLY_BIT(END_REASON),
	};
	*end = (struct tally_end_record){ 0 };
	d->statistics.n = 0;
	d->growth.n = 0;
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		bool ok = true;
		switch (field) {
		case END_TYPE:
			ok = tally_decode_type(d);
			break;
		case END_FRAMES:
			ok = tally_json_read_u64(&d->json, &end->frames);
			break;
		case END_FRAMES_DROPPED:
			ok = tally_json_read_u64(&d->json, &end->frames_dropped);
			break;
		case END_PASSES:
			ok = tally_json_read_u64(&d->json, &end->passes);
			break;
		case END_REASON:
			ok = tally_decode_text(d, &end->reason);
			break;
		case END_GROWTH:
			ok = decode_growths(d);
			break;
		case END_STATISTICS:
			ok = decode_statistics(d);
			break;
		}
		if (!ok)
			return tally_object_fail(d, &o);
	}
	end->growth = tally_array_items(&d->growth);
	end->n_growth = (uint32_t)d->growth.n;
	end->statistics = tally_array_items(&d->statistics);
	end->n_statistics = (uint32_t)d->statistics.n;
	return !d->json.failed && tally_json_end(&d->json);
}
