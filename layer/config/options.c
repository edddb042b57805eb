/* SPDX-License-Identifier: MIT */
#include "layer/config/options.h"

#include "layer/base/error_text.h"
#include "layer/base/signal_name.h"
#include "layer/config/base.h"
#include "layer/config/tags.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NS_PER_S UINT64_C(1000000000)
#define MAX_STRING (32u << 10)

/* ---- the message of a setter that refuses a value ---- */

static bool
refuse(char *why, size_t size, const char *key, const char *value, const char *valid)
{
	return TALLY_REFUSE(why, size, "option %s cannot be \"%.64s\": use %s", key, value,
			    valid);
}

/* ---- values ---- */

/* Reads decimal digits only; *end is set to the end of them. False if there
 * are none or on overflow. */
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

/* Reads "2s", "0.5ms". A value without a unit is in units of `unit_ns`; 0 = not allowed.
 * Does not use strtod, because the game's locale may want a comma. Digits finer than a
 * nanosecond are dropped. */
static bool
read_time(const char *text, uint64_t unit_ns, uint64_t *out)
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
	uint64_t unit = *p ? 0 : unit_ns;
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

/* The index of `value` in `words`, which end in NULL; -1 when it is not one of them. */
static int
find_word(const char *const *words, const char *value)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], value) == 0)
			return i;
	}
	return -1;
}

static bool
read_switch(const char *text, bool *out)
{
	static const char *const words[] = { "off", "on",  "false", "true", "no",
					     "yes", "0",   "1",     NULL };
	int i = find_word(words, text);
	if (i < 0)
		return false;
	*out = i & 1;
	return true;
}

/* Replaces a string of the config. Control characters are refused in all of them. */
static bool
set_string(char **into, const char *value, const char *key, const char *valid, char *why,
	   size_t size)
{
	if (!tally_config_is_clean(value, strlen(value), MAX_STRING))
		return refuse(why, size, key, value, valid);
	char *copy = tally_config_copy_string(value);
	if (!copy)
		return TALLY_REFUSE(why, size, "option %s was not taken: out of memory", key);
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
get_size(uint64_t bytes, char *out, size_t size)
{
	for (size_t i = 3; i > 0; i--) {
		unsigned shift = size_suffixes[i].shift;
		if (bytes && (bytes & ((UINT64_C(1) << shift) - 1)) == 0)
			return (size_t)snprintf(out, size, "%llu%s",
						(unsigned long long)(bytes >> shift),
						size_suffixes[i].word);
	}
	return get_uint(bytes, out, size);
}

/* Prints the time in the largest unit that gives a whole number. */
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

static bool
read_seconds(const char *text, double *out)
{
	uint64_t ns;
	/* 2^53 ns are 104 days: a double holds each of them exactly. */
	if (!read_time(text, NS_PER_S, &ns) || ns > UINT64_C(1) << 53)
		return false;
	*out = (double)ns / 1e9;
	return true;
}

static size_t
get_seconds(double seconds, char *out, size_t size)
{
	/* %g is not used: the game's locale may print a comma. */
	uint64_t ns = (uint64_t)(seconds * 1e9 + 0.5);
	char text[40];
	int len = snprintf(text, sizeof(text), "%llu.%09llu",
			   (unsigned long long)(ns / NS_PER_S),
			   (unsigned long long)(ns % NS_PER_S));
	while (text[len - 1] == '0')
		text[--len] = '\0';
	if (text[len - 1] == '.')
		text[--len] = '\0';
	return get_string(text, out, size);
}

/* ---- words with an argument ---- */

/* The text after "word:", or NULL. */
static const char *
argument(const char *value, const char *word)
{
	size_t len = strlen(word);
	return strncmp(value, word, len) == 0 && value[len] == ':' ? value + len + 1 : NULL;
}

static const char frame_valid[] =
	"present, finish, flush, terminator, idle, submit:N or label:NAME";

/* In the order of enum tally_frame_boundary. */
static const char *const frame_words[] = { "present",	 "finish", "flush",
					   "terminator", "idle",   NULL };

static bool
set_frame(struct tally_config *c, const char *value, char *why, size_t size)
{
	int i = find_word(frame_words, value);
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
	if (c->frame == TALLY_FRAME_SUBMIT)
		return (size_t)snprintf(out, size, "submit:%llu",
					(unsigned long long)c->frame_every);
	if (c->frame == TALLY_FRAME_LABEL)
		return (size_t)snprintf(out, size, "label:%s",
					c->frame_label ? c->frame_label : "");
	return get_string(frame_words[c->frame], out, size);
}

/* What comes from outside of the program's frames. */
static bool
set_outer_trigger(struct tally_trigger *t, const char *value)
{
	const char *name = argument(value, "signal");
	if (name && tally_signal_parse(name, &t->number))
		t->kind = TALLY_TRIGGER_SIGNAL;
	else if (strcmp(value, "hw") == 0)
		t->kind = TALLY_TRIGGER_HW;
	else
		return false;
	return true;
}

static bool
set_trigger(struct tally_trigger *t, const char *key, const char *value, char *why, size_t size)
{
	static const char valid[] = "frame:N, label:NAME, signal:NAME (USR1, USR2, RTMIN+N or a "
				    "number) or hw";
	bool pictures = strcmp(key, "pictures") == 0;
	/* Past the start of most programs; a short run reaches it. */
	if (pictures && strcmp(value, "on") == 0)
		value = "frame:100";
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
	if (pictures)
		return refuse(why, size, key, value, "frame:N, label:NAME or on");
	return set_outer_trigger(t, value) || refuse(why, size, key, value, valid);
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

/* ---- the table ---- */

static const char *const granularity_words[] = { "frame", "submit", "pass", "draw", NULL };
static const char *const split_words[] = { "none", "group", "barrier", NULL };
static const char *const snapshot_words[] = { "sampled", "exact", "off", NULL };

#define IS(type_, member) \
	.type = TALLY_OPTION_##type_, .offset = offsetof(struct tally_config, member), \
	.size = sizeof(((struct tally_config *)NULL)->member)
#define LIMITS(least_, most_) .least = least_, .most = most_

const struct tally_option tally_options[] = {
	{ "counters", IS(STRING, counters), .values = "LIST",
	  .valid = "overview, all, or keys, names and globs with + between them" },
	{ "set", IS(STRING, set), .values = "NAME", .valid = "the name of one counter set" },
	{ "sources", IS(STRING, sources), .values = "LIST",
	  .valid = "names of sources with + between them" },
	{ "cpu", IS(SWITCH, cpu) },
	{ "granularity", IS(WORD, granularity), .values = "frame|submit|pass|draw",
	  .words = granularity_words, .valid = "frame, submit, pass or draw" },
	{ "frame", IS(FRAME, frame),
	  .values = "present|finish|flush|terminator|idle|submit:N|label:NAME" },
	{ "split", IS(WORD, split), .values = "none|group|barrier", .words = split_words,
	  .valid = "none, group or barrier" },
	{ "group-work", IS(SWITCH, group_work), .values = "on|off" },
	{ "pipelines", IS(SWITCH, pipelines) },
	{ "pipeline-statistics", IS(SWITCH, pipeline_statistics) },
	{ "describe", IS(SWITCH, describe) },
	{ "snapshot", IS(WORD, snapshot), .values = "sampled|exact|off", .words = snapshot_words,
	  .valid = "sampled, exact or off" },
	{ "period", IS(TIME, period_ns), .values = "TIME", LIMITS(1000, 3600 * NS_PER_S),
	  .valid = "a time with its unit, ns, us, ms or s, from 1us to 3600s" },
	{ "mali-delay", IS(TIME, mali_delay_ns), .values = "TIME", LIMITS(0, NS_PER_S / 10),
	  .valid = "a time with its unit, ns, us, ms or s, up to 100ms; 0s for none" },
	{ "microblaze", IS(STRING, microblaze), .values = "on|WORDS",
	  .valid = "on, off, or words with + between them" },
	{ "skip", IS(COUNT, skip), .values = "N", LIMITS(0, UINT64_MAX),
	  .valid = "a whole number of frames" },
	{ "frames", IS(COUNT, frames), .values = "N", LIMITS(0, UINT64_MAX),
	  .valid = "a whole number of frames, 0 for no end" },
	{ "every", IS(COUNT, every), .values = "N", LIMITS(1, UINT64_MAX),
	  .valid = "a whole number from 1" },
	{ "seconds", IS(SECONDS, seconds), .values = "S",
	  .valid = "a number of seconds such as 10 or 0.5, 0 for no end" },
	{ "start-on", IS(TRIGGER, start_on), .values = "frame:N|label:NAME|signal:NAME|hw" },
	{ "stop-on", IS(TRIGGER, stop_on), .values = "frame:N|label:NAME|signal:NAME|hw" },
	{ "control", IS(STRING, control), .values = "PATH|off",
	  .valid = "off, or a path, in which %e, %t and %p stand for program, time and "
		   "process" },
	{ "pictures", IS(TRIGGER, pictures), .values = "[frame:N|label:NAME]" },
	{ "renderdoc-over", IS(TIME, renderdoc_over_ns), .values = "TIME",
	  LIMITS(0, 3600 * NS_PER_S),
	  .valid = "a time with its unit, ns, us, ms or s, up to 3600s; 0s for never" },
	{ "log", IS(STRING, log), .values = "PATH",
	  .valid = "a path, in which %e, %t and %p stand for program, time and process" },
	{ "digest", IS(SWITCH, digest) },
	{ "black-box", IS(TIME, black_box_ns), .values = "TIME",
	  LIMITS(0, 3600 * NS_PER_S),
	  .valid = "a time with its unit, ns, us, ms or s, up to 3600s; 0s for all" },
	{ "black-box-over", IS(TIME, black_box_over_ns), .values = "TIME",
	  LIMITS(0, 3600 * NS_PER_S),
	  .valid = "a time with its unit, ns, us, ms or s, up to 3600s; 0s for never" },
	{ "max-log", IS(SIZE, max_log), .values = "SIZE",
	  .valid = "a number of bytes, or one with K, M or G; 0 for no limit" },
	{ "log-quota", IS(SIZE, log_quota), .values = "SIZE",
	  .valid = "a number of bytes, or one with K, M or G; 0 for no limit" },
	{ "max-passes", IS(COUNT, max_passes), .values = "N", LIMITS(1, 1000000),
	  .valid = "a whole number from 1 to 1000000" },
	{ "no-argv", IS(SWITCH, no_argv) },
	{ "force", IS(SWITCH, force) },
	{ "tag", IS(TAGS, tags), .values = "KEY=VALUE" },
	{ "host", IS(SWITCH, host) },
	{ "block", IS(STRING, block), .values = "LIST",
	  .valid = "names and globs of programs with + between them" },
	{ "allow", IS(STRING, allow), .values = "LIST",
	  .valid = "names and globs of programs with + between them" },
};
const size_t tally_n_options = COUNT(tally_options);

/* ---- one option ---- */

/* The value of an option that is a whole number of the option's size: counts and words. */
static uint64_t
load_number(const struct tally_option *option, const void *at)
{
	return option->size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static void
store_number(const struct tally_option *option, void *at, uint64_t n)
{
	if (option->size == sizeof(uint32_t))
		*(uint32_t *)at = (uint32_t)n;
	else
		*(uint64_t *)at = n;
}

static bool
read_number(const struct tally_option *option, const char *value, uint64_t *n)
{
	if (option->type == TALLY_OPTION_WORD) {
		int i = find_word(option->words, value);
		*n = (uint64_t)i;
		return i >= 0;
	}
	if (option->type == TALLY_OPTION_SIZE)
		return read_size(value, n);
	if (option->type == TALLY_OPTION_COUNT)
		return read_uint(value, option->least, option->most, n);
	return read_time(value, 0, n) && *n >= option->least && *n <= option->most;
}

bool
tally_option_set(const struct tally_option *option, struct tally_config *config,
		 const char *value, char *why, size_t size)
{
	void *at = (char *)config + option->offset;
	uint64_t n;
	bool good;
	switch (option->type) {
	case TALLY_OPTION_FRAME:
		return set_frame(config, value, why, size);
	case TALLY_OPTION_TRIGGER:
		return set_trigger(at, option->key, value, why, size);
	case TALLY_OPTION_TAGS:
		return tally_config_set_tags(config, value, TALLY_FROM_COMMAND_LINE, why, size);
	case TALLY_OPTION_STRING:
		return set_string(at, value, option->key, option->valid, why, size);
	case TALLY_OPTION_SWITCH:
		return read_switch(value, at) ||
		       refuse(why, size, option->key, value, "on or off");
	case TALLY_OPTION_SECONDS:
		good = read_seconds(value, at);
		break;
	default:
		good = read_number(option, value, &n);
		if (good)
			store_number(option, at, n);
	}
	return good || refuse(why, size, option->key, value, option->valid);
}

size_t
tally_option_get(const struct tally_option *option, const struct tally_config *config, char *out,
		 size_t size)
{
	const void *at = (const char *)config + option->offset;
	switch (option->type) {
	case TALLY_OPTION_FRAME:
		return get_frame(config, out, size);
	case TALLY_OPTION_TRIGGER:
		return get_trigger(at, out, size);
	case TALLY_OPTION_TAGS:
		return tally_config_get_tags(config, out, size);
	case TALLY_OPTION_STRING:
		return get_string(*(char *const *)at, out, size);
	case TALLY_OPTION_SWITCH:
		return get_string(*(const bool *)at ? "on" : "off", out, size);
	case TALLY_OPTION_SECONDS:
		return get_seconds(*(const double *)at, out, size);
	case TALLY_OPTION_WORD:
		return get_string(option->words[load_number(option, at)], out, size);
	case TALLY_OPTION_SIZE:
		return get_size(load_number(option, at), out, size);
	case TALLY_OPTION_TIME:
		return get_time(load_number(option, at), out, size);
	default:
		return get_uint(load_number(option, at), out, size);
	}
}
