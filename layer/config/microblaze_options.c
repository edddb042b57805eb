/* SPDX-License-Identifier: MIT */
#include "layer/config/microblaze_options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct tally_microblaze_options defaults = {
	.on = true,
	.ne = 5, /* a core's number with extended debugging, by default */
	.nl = 1,
	.width = 32,
	.ports = 1,
	.unlock = 0xebab, /* from memory, not from a manual: docs/microblaze.md */
	.take = 1,
	.check = true,
};

struct word {
	const char *name;
	const char *valid; /* after "name=", for people */
	/* Numbers have a member, a bit of `said`, and a lowest and highest
	 * value; others have `set`. */
	size_t number;
	uint32_t said;
	uint32_t least, most;
	bool (*set)(struct tally_microblaze_options *o, const char *value);
};

/* ---- values ---- */

/* Decimal, or hexadecimal after 0x. */
static bool
read_number(const char *text, uint64_t *out)
{
	uint64_t base = 10, n = 0;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	if (!*text)
		return false;
	for (; *text; text++) {
		uint64_t digit = base;
		if (*text >= '0' && *text <= '9')
			digit = (uint64_t)(*text - '0');
		else if ((*text | 0x20) >= 'a' && (*text | 0x20) <= 'f')
			digit = (uint64_t)((*text | 0x20) - 'a') + 10;
		if (digit >= base || __builtin_mul_overflow(n, base, &n) ||
		    __builtin_add_overflow(n, digit, &n))
			return false;
	}
	*out = n;
	return true;
}

static bool
set_path(struct tally_microblaze_options *o, const char *value)
{
	if (strcmp(value, "mem") == 0)
		value = "/dev/mem";
	const char *prefix = value[0] == '/' ? "" : "/dev/";
	size_t len = strlen(prefix) + strlen(value);
	bool known = strcmp(value, "/dev/mem") == 0 ||
		     strncmp(value + (prefix[0] ? 0 : 5), "uio", 3) == 0;
	if (len >= sizeof(o->path) || !known || strstr(value, ".."))
		return false;
	if (value[0] == '/' && strncmp(value, "/dev/", 5) != 0)
		return false;
	snprintf(o->path, sizeof(o->path), "%s%s", prefix, value);
	return true;
}

static bool
set_base(struct tally_microblaze_options *o, const char *value)
{
	if (!read_number(value, &o->base) || o->base % 4 != 0)
		return false;
	o->said |= TALLY_MICROBLAZE_SAID_BASE;
	return true;
}

static bool
set_access(struct tally_microblaze_options *o, const char *value)
{
	static const char *const words[] = { "auto", "parallel", "serial" };
	for (size_t i = 0; i < COUNT(words); i++) {
		if (strcmp(words[i], value) == 0) {
			o->access = (enum tally_microblaze_access)i;
			return true;
		}
	}
	return false;
}

static bool
set_width(struct tally_microblaze_options *o, const char *value)
{
	uint64_t n;
	if (!read_number(value, &n) || (n != 32 && n != 48 && n != 64))
		return false;
	o->width = (uint32_t)n;
	o->said |= TALLY_MICROBLAZE_SAID_WIDTH;
	return true;
}

static bool
set_check(struct tally_microblaze_options *o, const char *value)
{
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
		return false;
	o->check = value[1] == 'n';
	return true;
}

static bool
set_interval(struct tally_microblaze_options *o, const char *value)
{
	/* At 100 MHz 1000 cycles are 10 us: with less, interrupts would take all the time. */
	uint64_t n;
	if (!read_number(value, &n) || (n != 0 && (n < 1000 || n >= UINT64_C(1) << 32)))
		return false;
	o->interval = n;
	return true;
}

static bool
is_event_list(const char *value)
{
	for (const char *p = value; *p; p++) {
		bool good = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_' ||
			    *p == ':' || (*p >= 'A' && *p <= 'Z');
		if (!good)
			return false;
	}
	return *value != '\0';
}

static bool
set_events(struct tally_microblaze_options *o, const char *value)
{
	if (!is_event_list(value) || strlen(value) >= sizeof(o->events))
		return false;
	snprintf(o->events, sizeof(o->events), "%s", value);
	return true;
}

static bool
set_latency(struct tally_microblaze_options *o, const char *value)
{
	if (!is_event_list(value) || strlen(value) >= sizeof(o->latency))
		return false;
	snprintf(o->latency, sizeof(o->latency), "%s", value);
	return true;
}

/* ---- the words ---- */

#define NUMBER(name_, member_, said_, least_, most_, valid_) \
	{ \
		.name = name_, .valid = valid_, \
		.number = offsetof(struct tally_microblaze_options, member_), .said = said_, \
		.least = least_, .most = most_, \
	}
#define OTHER(name_, set_, valid_) \
	{ \
		.name = name_, .valid = valid_, .set = set_ \
	}

static const struct word words[] = {
	OTHER("path", set_path, "uio0, /dev/uio0 or mem"),
	OTHER("base", set_base, "an address, a multiple of 4"),
	OTHER("access", set_access, "auto, parallel or serial"),
	NUMBER("ne", ne, TALLY_MICROBLAZE_SAID_NE, 0, TALLY_MICROBLAZE_MAX_EVENT_COUNTERS,
	       "0 to 48"),
	NUMBER("nl", nl, TALLY_MICROBLAZE_SAID_NL, 0, TALLY_MICROBLAZE_MAX_LATENCY_COUNTERS,
	       "0 to 7"),
	OTHER("width", set_width, "32, 48 or 64"),
	OTHER("events", set_events, "names or numbers of events with : between them"),
	OTHER("latency", set_latency, "names or numbers of events 57 to 63 with : between them"),
	NUMBER("ports", ports, TALLY_MICROBLAZE_SAID_PORTS, 1, 32, "1 to 32"),
	NUMBER("core", core, 0, 0, 31, "0 to 31"),
	OTHER("interval", set_interval, "cycles, 1000 to 4294967295, or 0"),
	NUMBER("unlock", unlock, TALLY_MICROBLAZE_SAID_UNLOCK, 0, 0xffff, "0 to 0xffff"),
	NUMBER("take", take, 0, 0, 3, "0 to 3"),
	OTHER("check", set_check, "on or off"),
};

static void
list_words(char *out, size_t size)
{
	size_t at = 0;
	for (size_t i = 0; i < COUNT(words) && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%s=", i ? ", " : "",
				       words[i].name);
}

static bool
set_word(struct tally_microblaze_options *o, const struct word *word, const char *value)
{
	if (word->set)
		return word->set(o, value);
	uint64_t n;
	if (!read_number(value, &n) || n < word->least || n > word->most)
		return false;
	uint32_t number = (uint32_t)n;
	memcpy((char *)o + word->number, &number, sizeof(number));
	o->said |= word->said;
	return true;
}

/* One "name=value". */
static bool
take(struct tally_microblaze_options *o, const char *item, char *why, size_t size)
{
	const char *equals = strchr(item, '=');
	size_t len = equals ? (size_t)(equals - item) : strlen(item);
	for (size_t i = 0; i < COUNT(words); i++) {
		if (strlen(words[i].name) != len || memcmp(words[i].name, item, len) != 0)
			continue;
		if (equals && set_word(o, &words[i], equals + 1))
			return true;
		snprintf(why, size, "option microblaze can not have \"%.64s\": use %s=%s", item,
			 words[i].name, words[i].valid);
		return false;
	}
	char all[200];
	list_words(all, sizeof(all));
	snprintf(why, size,
		 "option microblaze has no \"%.64s\": use on, off, or with + between "
		 "them %s",
		 item, all);
	return false;
}

static bool
fits_together(const struct tally_microblaze_options *o, char *why, size_t size)
{
	if (o->ne + o->nl == 0)
		snprintf(why, size,
			 "option microblaze: ne and nl can not both be 0: then there "
			 "is nothing to count with");
	else if (o->said & TALLY_MICROBLAZE_SAID_PORTS && o->core >= o->ports)
		snprintf(why, size,
			 "option microblaze: core=%u is not there with ports=%u: cores count "
			 "from 0",
			 o->core, o->ports);
	else
		return true;
	return false;
}

bool
tally_microblaze_options_parse(struct tally_microblaze_options *out, const char *text, char *why,
			       size_t size)
{
	struct tally_microblaze_options o = defaults;
	char item[640];
	if (strcmp(text, "off") == 0) {
		o.on = false;
		*out = o;
		return true;
	}
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "+, ");
		if (len >= sizeof(item)) {
			snprintf(why, size, "option microblaze: \"%.40s...\" is too long", p);
			return false;
		}
		memcpy(item, p, len);
		item[len] = '\0';
		if (len > 0 && strcmp(item, "on") != 0 && !take(&o, item, why, size))
			return false;
		p += len;
		p += strspn(p, "+, ");
	}
	if (!fits_together(&o, why, size))
		return false;
	*out = o;
	return true;
}

/* ---- printing ---- */

struct printer {
	char *out;
	size_t size, at;
};

static void __attribute__((format(printf, 2, 3))) put(struct printer *p, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *to = p->at < p->size ? p->out + p->at : NULL;
	int len = vsnprintf(to, to ? p->size - p->at : 0, format, args);
	va_end(args);
	p->at += len > 0 ? (size_t)len : 0;
}

size_t
tally_microblaze_options_print(const struct tally_microblaze_options *o, char *out, size_t size)
{
	static const char *const access[] = { "auto", "parallel", "serial" };
	struct printer p = { out, size, 0 };
	put(&p, o->on ? "on" : "off");
	if (!o->on)
		return p.at;
	if (o->path[0])
		put(&p, "+path=%s", o->path);
	if (o->said & TALLY_MICROBLAZE_SAID_BASE)
		put(&p, "+base=0x%llx", (unsigned long long)o->base);
	if (o->access != TALLY_MICROBLAZE_AUTO)
		put(&p, "+access=%s", access[o->access]);
	if (o->said & TALLY_MICROBLAZE_SAID_NE)
		put(&p, "+ne=%u", o->ne);
	if (o->said & TALLY_MICROBLAZE_SAID_NL)
		put(&p, "+nl=%u", o->nl);
	if (o->said & TALLY_MICROBLAZE_SAID_WIDTH)
		put(&p, "+width=%u", o->width);
	if (o->events[0])
		put(&p, "+events=%s", o->events);
	if (o->latency[0])
		put(&p, "+latency=%s", o->latency);
	if (o->said & TALLY_MICROBLAZE_SAID_PORTS)
		put(&p, "+ports=%u", o->ports);
	if (o->core != defaults.core)
		put(&p, "+core=%u", o->core);
	if (o->interval)
		put(&p, "+interval=%llu", (unsigned long long)o->interval);
	if (o->said & TALLY_MICROBLAZE_SAID_UNLOCK)
		put(&p, "+unlock=0x%x", o->unlock);
	if (o->take != defaults.take)
		put(&p, "+take=%u", o->take);
	if (!o->check)
		put(&p, "+check=off");
	return p.at;
}
