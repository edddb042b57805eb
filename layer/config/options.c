#include "layer/config/config.h"

#include "layer/config/internal.h"
#include "layer/signal_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NS_PER_S UINT64_C(1000000000)
#define MAX_MALI_DELAY_NS UINT64_C(100000000)
#define MAX_STRING (32u << 10)

/* ---- what every setter says when it says no ---- */

static bool
refuse(char *why, size_t size, const char *key, const char *value, const char *valid)
{
	snprintf(why, size, "option %s can not be \"%.64s\": use %s", key, value, valid);
	return false;
}

/* ---- values ---- */

/* Decimal digits only; the end of them in *end. False when there are none or on overflow. */
static bool
read_digits(const char *text, const char **end, uint64_t *out)
{
	uint64_t n = 0;
	const char *p = text;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return false;
	}
	*end = p;
	*out = n;
	return p != text;
}

static bool
read_uint(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *end;
	uint64_t n;
	if (!read_digits(text, &end, &n) || *end || n < min || n > max)
		return false;
	*out = n;
	return true;
}

static const struct size_suffix {
	const char *word;
	unsigned shift;
} size_suffixes[] = {
	{ "", 0 },   { "K", 10 }, { "M", 20 },   { "G", 30 },   { "k", 10 },
	{ "m", 20 }, { "g", 30 }, { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 },
};

static bool
read_size(const char *text, uint64_t *out)
{
	const char *end;
	uint64_t n;
	if (!read_digits(text, &end, &n))
		return false;
	for (size_t i = 0; i < COUNT(size_suffixes); i++) {
		if (strcmp(end, size_suffixes[i].word) == 0)
			return !__builtin_mul_overflow(n, UINT64_C(1) << size_suffixes[i].shift,
						       out);
	}
	return false;
}

static const struct time_suffix {
	const char *word;
	uint64_t ns;
} time_suffixes[] = {
	{ "s", NS_PER_S },
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
};

/* "2s", "0.5ms"; without a unit `bare_ns` is meant, 0 = not allowed. Not strtod: the game's locale
 * may want a comma. Digits finer than a nanosecond are dropped. */
static bool
read_time(const char *text, uint64_t bare_ns, uint64_t *out)
{
	const char *p;
	uint64_t whole;
	if (!read_digits(text, &p, &whole))
		return false;
	const char *fraction = NULL;
	if (*p == '.') {
		fraction = ++p;
		while (*p >= '0' && *p <= '9')
			p++;
		if (p == fraction)
			return false;
	}
	uint64_t unit = *p ? 0 : bare_ns;
	for (size_t i = 0; i < COUNT(time_suffixes); i++) {
		if (strcmp(p, time_suffixes[i].word) == 0)
			unit = time_suffixes[i].ns;
	}
	if (unit == 0 || __builtin_mul_overflow(whole, unit, &whole))
		return false;
	uint64_t part = 0;
	uint64_t digit = unit / 10;
	for (; fraction && fraction < p && *fraction >= '0' && *fraction <= '9'; fraction++) {
		part += (uint64_t)(*fraction - '0') * digit;
		digit /= 10;
	}
	return !__builtin_add_overflow(whole, part, out);
}

/* The index of `value` in `words`, -1 when it is none of them. */
static int
find_word(const char *const *words, size_t n, const char *value)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(words[i], value) == 0)
			return (int)i;
	}
	return -1;
}

static bool
read_switch(const char *text, bool *out)
{
	static const char *const words[] = { "off", "on", "false", "true", "no", "yes", "0", "1" };
	int i = find_word(words, COUNT(words), text);
	if (i < 0)
		return false;
	*out = i & 1;
	return true;
}

/* Replace a string of the config. Control characters have no place in any of them. */
static bool
set_string(char **into, const char *value, const char *key, const char *valid, char *why,
	   size_t size)
{
	size_t len = strlen(value);
	bool clean = len > 0 && len <= MAX_STRING;
	for (size_t i = 0; clean && i < len; i++)
		clean = (unsigned char)value[i] >= 0x20 && value[i] != 0x7f;
	if (!clean)
		return refuse(why, size, key, value, valid);
	char *copy = tally_config_copy_string(value);
	if (!copy) {
		snprintf(why, size, "option %s was not taken: out of memory", key);
		return false;
	}
	free(*into);
	*into = copy;
	return true;
}

static size_t
get_string(const char *value, char *out, size_t size)
{
	return (size_t)snprintf(out, size, "%s", value ? value : "");
}

static size_t
get_uint(uint64_t value, char *out, size_t size)
{
	return (size_t)snprintf(out, size, "%llu", (unsigned long long)value);
}

static size_t
get_switch(bool value, char *out, size_t size)
{
	return get_string(value ? "on" : "off", out, size);
}

/* ---- rows: strings ---- */

#define STRING_ROW(name, member, valid) \
	static bool set_##member(struct tally_config *c, const char *value, char *why, \
				 size_t size) \
	{ \
		return set_string(&c->member, value, name, valid, why, size); \
	} \
	static size_t get_##member(const struct tally_config *c, char *out, size_t size) \
	{ \
		return get_string(c->member, out, size); \
	}

STRING_ROW("counters", counters, "overview, all, or keys, names and globs with + between them")
STRING_ROW("set", set, "the name of one counter set")
STRING_ROW("sources", sources, "names of sources with + between them")
STRING_ROW("control", control,
	   "off, or a path, in which %e, %t and %p stand for program, time and process")
STRING_ROW("log", log, "a path, in which %e, %t and %p stand for program, time and process")
STRING_ROW("block", block, "names and globs of programs with + between them")
STRING_ROW("allow", allow, "names and globs of programs with + between them")

/* ---- rows: one word of several ---- */

#define WORD_ROW(name, member, type, list, ...) \
	static const char *const member##_words[] = { __VA_ARGS__ }; \
	static bool set_##member(struct tally_config *c, const char *value, char *why, \
				 size_t size) \
	{ \
		int i = find_word(member##_words, COUNT(member##_words), value); \
		if (i < 0) \
			return refuse(why, size, name, value, list); \
		c->member = (type)i; \
		return true; \
	} \
	static size_t get_##member(const struct tally_config *c, char *out, size_t size) \
	{ \
		return get_string(member##_words[c->member], out, size); \
	}

WORD_ROW("granularity", granularity, enum tally_granularity, "frame, submit, pass or draw", "frame",
	 "submit", "pass", "draw")
WORD_ROW("split", split, enum tally_split, "none, group or barrier", "none", "group", "barrier")
WORD_ROW("snapshot", snapshot, enum tally_snapshot, "sampled, exact or off", "sampled", "exact",
	 "off")

/* ---- rows: switches ---- */

#define SWITCH_ROW(name, member) \
	static bool set_##member(struct tally_config *c, const char *value, char *why, \
				 size_t size) \
	{ \
		return read_switch(value, &c->member) || \
		       refuse(why, size, name, value, "on or off"); \
	} \
	static size_t get_##member(const struct tally_config *c, char *out, size_t size) \
	{ \
		return get_switch(c->member, out, size); \
	}

SWITCH_ROW("cpu", cpu)
SWITCH_ROW("group-work", group_work)
SWITCH_ROW("no-argv", no_argv)
SWITCH_ROW("force", force)

/* ---- rows: numbers ---- */

#define UINT_ROW(name, member, min, valid) \
	static bool set_##member(struct tally_config *c, const char *value, char *why, \
				 size_t size) \
	{ \
		return read_uint(value, min, UINT64_MAX, &c->member) || \
		       refuse(why, size, name, value, valid); \
	} \
	static size_t get_##member(const struct tally_config *c, char *out, size_t size) \
	{ \
		return get_uint(c->member, out, size); \
	}

UINT_ROW("skip", skip, 0, "a whole number of frames")
UINT_ROW("frames", frames, 0, "a whole number of frames, 0 for no end")
UINT_ROW("every", every, 1, "a whole number from 1")

static bool
set_max_passes(struct tally_config *c, const char *value, char *why, size_t size)
{
	uint64_t n;
	if (!read_uint(value, 1, 1000000, &n))
		return refuse(why, size, "max-passes", value, "a whole number from 1 to 1000000");
	c->max_passes = (uint32_t)n;
	return true;
}

static size_t
get_max_passes(const struct tally_config *c, char *out, size_t size)
{
	return get_uint(c->max_passes, out, size);
}

static bool
set_max_log(struct tally_config *c, const char *value, char *why, size_t size)
{
	return read_size(value, &c->max_log) ||
	       refuse(why, size, "max-log", value,
		      "a number of bytes, or one with K, M or G; 0 for no limit");
}

static size_t
get_max_log(const struct tally_config *c, char *out, size_t size)
{
	for (size_t i = 3; i > 0; i--) {
		unsigned shift = size_suffixes[i].shift;
		if (c->max_log && (c->max_log & ((UINT64_C(1) << shift) - 1)) == 0)
			return (size_t)snprintf(out, size, "%llu%s",
						(unsigned long long)(c->max_log >> shift),
						size_suffixes[i].word);
	}
	return get_uint(c->max_log, out, size);
}

static bool
set_period(struct tally_config *c, const char *value, char *why, size_t size)
{
	uint64_t ns;
	if (!read_time(value, 0, &ns) || ns < 1000 || ns > 3600 * NS_PER_S)
		return refuse(why, size, "period", value,
			      "a time with its unit, ns, us, ms or s, from 1us to 3600s");
	c->period_ns = ns;
	return true;
}

/* In the largest unit that says it in whole numbers. */
static size_t
get_time(uint64_t ns, char *out, size_t size)
{
	size_t i = 0;
	while (i + 1 < COUNT(time_suffixes) && ns % time_suffixes[i].ns != 0)
		i++;
	return (size_t)snprintf(out, size, "%llu%s",
				(unsigned long long)(ns / time_suffixes[i].ns),
				time_suffixes[i].word);
}

static size_t
get_period(const struct tally_config *c, char *out, size_t size)
{
	return get_time(c->period_ns, out, size);
}

static bool
set_mali_delay(struct tally_config *c, const char *value, char *why, size_t size)
{
	uint64_t ns;
	if (!read_time(value, 0, &ns) || ns > MAX_MALI_DELAY_NS)
		return refuse(why, size, "mali-delay", value,
			      "a time with its unit, ns, us, ms or s, up to 100ms; 0s for none");
	c->mali_delay_ns = ns;
	return true;
}

static size_t
get_mali_delay(const struct tally_config *c, char *out, size_t size)
{
	return get_time(c->mali_delay_ns, out, size);
}

static bool
set_microblaze(struct tally_config *c, const char *value, char *why, size_t size)
{
	return tally_microblaze_options_parse(&c->microblaze, value, why, size);
}

static size_t
get_microblaze(const struct tally_config *c, char *out, size_t size)
{
	return tally_microblaze_options_print(&c->microblaze, out, size);
}

static bool
set_seconds(struct tally_config *c, const char *value, char *why, size_t size)
{
	uint64_t ns;
	/* 2^53 ns are 104 days: a double holds each of them exactly. */
	if (!read_time(value, NS_PER_S, &ns) || ns > UINT64_C(1) << 53)
		return refuse(why, size, "seconds", value,
			      "a number of seconds such as 10 or 0.5, 0 for no end");
	c->seconds = (double)ns / 1e9;
	return true;
}

static size_t
get_seconds(const struct tally_config *c, char *out, size_t size)
{
	/* Not %g: the game's locale may print a comma. */
	uint64_t ns = (uint64_t)(c->seconds * 1e9 + 0.5);
	char text[40];
	int len = snprintf(text, sizeof(text), "%llu.%09llu", (unsigned long long)(ns / NS_PER_S),
			   (unsigned long long)(ns % NS_PER_S));
	while (text[len - 1] == '0')
		text[--len] = '\0';
	if (text[len - 1] == '.')
		text[--len] = '\0';
	return get_string(text, out, size);
}

/* ---- rows: words with an argument ---- */

/* The text after "word:", or NULL. */
static const char *
argument(const char *value, const char *word)
{
	size_t len = strlen(word);
	return strncmp(value, word, len) == 0 && value[len] == ':' ? value + len + 1 : NULL;
}

static const char frame_valid[] =
	"present, finish, flush, terminator, idle, submit:N or label:NAME";

static bool
set_frame(struct tally_config *c, const char *value, char *why, size_t size)
{
	static const char *const words[] = { "present", "finish", "flush", "terminator", "idle" };
	int i = find_word(words, COUNT(words), value);
	if (i >= 0) {
		c->frame = (enum tally_frame_boundary)i;
		return true;
	}
	const char *submits = argument(value, "submit");
	if (submits && read_uint(submits, 1, UINT64_MAX, &c->frame_every)) {
		c->frame = TALLY_FRAME_SUBMIT;
		return true;
	}
	const char *label = argument(value, "label");
	if (!label || !*label)
		return refuse(why, size, "frame", value, frame_valid);
	if (!set_string(&c->frame_label, label, "frame", frame_valid, why, size))
		return false;
	c->frame = TALLY_FRAME_LABEL;
	return true;
}

static size_t
get_frame(const struct tally_config *c, char *out, size_t size)
{
	static const char *const words[] = { "present", "finish", "flush", "terminator", "idle" };
	if (c->frame == TALLY_FRAME_SUBMIT)
		return (size_t)snprintf(out, size, "submit:%llu",
					(unsigned long long)c->frame_every);
	if (c->frame == TALLY_FRAME_LABEL)
		return (size_t)snprintf(out, size, "label:%s",
					c->frame_label ? c->frame_label : "");
	return get_string(words[c->frame], out, size);
}

static bool
set_trigger(struct tally_trigger *t, const char *key, const char *value, char *why, size_t size)
{
	static const char valid[] = "frame:N, label:NAME, signal:NAME (USR1, USR2, RTMIN+N or a "
				    "number) or hw";
	const char *frame = argument(value, "frame");
	if (frame && read_uint(frame, 0, UINT64_MAX, &t->frame)) {
		t->kind = TALLY_TRIGGER_FRAME;
		return true;
	}
	const char *label = argument(value, "label");
	if (label && *label) {
		if (!set_string(&t->label, label, key, valid, why, size))
			return false;
		t->kind = TALLY_TRIGGER_LABEL;
		return true;
	}
	const char *name = argument(value, "signal");
	if (name && tally_signal_parse(name, &t->number)) {
		t->kind = TALLY_TRIGGER_SIGNAL;
		return true;
	}
	if (strcmp(value, "hw") == 0) {
		t->kind = TALLY_TRIGGER_HW;
		return true;
	}
	return refuse(why, size, key, value, valid);
}

static size_t
get_trigger(const struct tally_trigger *t, char *out, size_t size)
{
	if (t->kind == TALLY_TRIGGER_FRAME)
		return (size_t)snprintf(out, size, "frame:%llu", (unsigned long long)t->frame);
	if (t->kind == TALLY_TRIGGER_LABEL)
		return (size_t)snprintf(out, size, "label:%s", t->label ? t->label : "");
	if (t->kind == TALLY_TRIGGER_SIGNAL) {
		char word[24];
		tally_signal_word(t->number, word, sizeof(word));
		return (size_t)snprintf(out, size, "signal:%s", word);
	}
	return get_string(t->kind == TALLY_TRIGGER_HW ? "hw" : NULL, out, size);
}

static bool
set_start_on(struct tally_config *c, const char *value, char *why, size_t size)
{
	return set_trigger(&c->start_on, "start-on", value, why, size);
}

static size_t
get_start_on(const struct tally_config *c, char *out, size_t size)
{
	return get_trigger(&c->start_on, out, size);
}

static bool
set_stop_on(struct tally_config *c, const char *value, char *why, size_t size)
{
	return set_trigger(&c->stop_on, "stop-on", value, why, size);
}

static size_t
get_stop_on(const struct tally_config *c, char *out, size_t size)
{
	return get_trigger(&c->stop_on, out, size);
}

#define ROW(key_, letter_, member_, values_, help_) \
	{ \
		.key = key_, .letter = letter_, .values = values_, .help = help_, \
		.set = set_##member_, .get = get_##member_ \
	}

const struct tally_option tally_options[] = {
	ROW("counters", 0, counters, "LIST",
	    "Counters to capture: overview, all, or keys, names and globs."),
	ROW("set", 0, set, "NAME", "Stay with this one counter set instead of rotating."),
	ROW("sources", 0, sources, "LIST",
	    "Sources of counters to use; all of the GPU's that work by default."),
	ROW("cpu", 0, cpu, NULL,
	    "Count the process's work on the CPU as well (linux-perf, else linux-proc)."),
	ROW("granularity", 0, granularity, "frame|submit|pass|draw",
	    "What one measurement covers."),
	ROW("frame", 0, frame, "present|finish|flush|terminator|idle|submit:N|label:NAME",
	    "What ends a frame."),
	ROW("split", 0, split, "none|group|barrier", "What else ends a pass."),
	ROW("group-work", 0, group_work, "on|off",
	    "Count consecutive compute or copies as one pass."),
	ROW("snapshot", 0, snapshot, "sampled|exact|off",
	    "How counters that can only be read as totals are given to passes."),
	ROW("period", 0, period, "TIME", "How often a sampled total is read."),
	ROW("mali-delay", 0, mali_delay, "TIME",
	    "Wait before each exact reading of Mali counters: 3ms for CSF drivers before r54p0, "
	    "for which each pass is so much slower."),
	ROW("microblaze", 0, microblaze, "on|WORDS",
	    "Read the counters of a MicroBlaze core: path=, base=, access=, ne=, nl=, width=, "
	    "events=, latency= and others, with + between them."),
	ROW("skip", 0, skip, "N", "Leave out the first N frames."),
	ROW("frames", 0, frames, "N", "Stop after N captured frames."),
	ROW("every", 0, every, "N", "Capture one frame in N."),
	ROW("seconds", 0, seconds, "S", "Stop after S seconds of capture."),
	ROW("start-on", 0, start_on, "frame:N|label:NAME|signal:NAME|hw",
	    "Begin at this frame, debug label or signal (USR1, USR2, RTMIN+N), or when the "
	    "hardware says so."),
	ROW("stop-on", 0, stop_on, "frame:N|label:NAME|signal:NAME|hw",
	    "End at this frame or debug label; pause at this signal, or when the hardware says."),
	ROW("control", 0, control, "PATH|off",
	    "A socket for passtally trigger; %e, %t and %p are expanded."),
	ROW("log", 'o', log, "PATH", "Where the log goes; %e, %t and %p are expanded."),
	ROW("max-log", 0, max_log, "SIZE", "Stop when the log has this size."),
	ROW("max-passes", 0, max_passes, "N",
	    "Keep at most N passes a frame, drop and count others."),
	ROW("no-argv", 0, no_argv, NULL, "Leave the program's arguments out of the log."),
	ROW("force", 0, force, NULL, "Replace a log that exists."),
	ROW("block", 0, block, "LIST",
	    "Programs to leave alone besides the launchers, shells and helpers that always are."),
	ROW("allow", 0, allow, "LIST", "Programs not to leave alone, whatever says so."),
};
const size_t tally_n_options = COUNT(tally_options);
