/* SPDX-License-Identifier: MIT */
#include "query/microblaze/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/base/error_text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct tally_mb_options defaults = {
	.ne = 5, /* a core's number with extended debugging, by default */
	.nl = 1,
	.width = 32,
	.ports = 1,
	.unlock = 0xebab, /* from memory, not from a manual: docs/microblaze.md */
	.take = 1,
	.check = true,
};

enum kind { NUMBER, HEX, CHOICE, PATH, EVENTS };

/* A word sets one member. */
struct word {
	const char *name;
	const char *valid; /* after "name=", for people */
	size_t offset, size; /* the member */
	enum kind kind;
	uint32_t said; /* bit of `said`, or 0 */
	uint64_t least, most;
	bool (*is_good)(uint64_t number); /* or NULL */
	const char *choices[3]; /* by value */
};

/* ---- values ---- */

/* Decimal, or hexadecimal after 0x. */
static bool
read_number(const char *text, uint64_t *out)
{
	bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	char *end;
	errno = 0;
	*out = strtoull(text, &end, hex ? 16 : 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static bool
set_path(struct tally_mb_options *o, const char *value)
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
is_address(uint64_t n)
{
	return n % 4 == 0;
}

static bool
is_width(uint64_t n)
{
	return n == 32 || n == 48 || n == 64;
}

/* At 100 MHz 1000 cycles are 10 us: with less, interrupts would take all the time. */
static bool
is_interval(uint64_t n)
{
	return n == 0 || n >= 1000;
}

static bool
set_events(const struct word *word, const char *value, char *member)
{
	size_t len = strlen(value);
	if (len == 0 || len >= word->size ||
	    strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:") < len)
		return false;
	memcpy(member, value, len + 1);
	return true;
}

static bool
read_value(const struct word *word, const char *value, uint64_t *out)
{
	if (word->kind != CHOICE)
		return read_number(value, out) && *out >= word->least && *out <= word->most &&
		       (!word->is_good || word->is_good(*out));
	for (*out = 0; *out < COUNT(word->choices) && word->choices[*out]; ++*out)
		if (strcmp(word->choices[*out], value) == 0)
			return true;
	return false;
}

static bool
set_number(const struct word *word, const char *value, void *member)
{
	uint64_t n;
	if (!read_value(word, value, &n))
		return false;
	if (word->size == sizeof(n))
		memcpy(member, &n, sizeof(n));
	else if (word->size == sizeof(bool))
		memcpy(member, &(bool){ n != 0 }, sizeof(bool));
	else
		memcpy(member, &(uint32_t){ (uint32_t)n }, sizeof(uint32_t));
	return true;
}

/* ---- the words ---- */

#define OF(name_, member_, kind_, valid_) \
	.name = name_, .valid = valid_, .kind = kind_, \
	.offset = offsetof(struct tally_mb_options, member_), .size = sizeof(defaults.member_)
#define SAID(bit_) .said = TALLY_MB_SAID_##bit_

static const struct word words[] = {
	{ OF("path", path, PATH, "uio0, /dev/uio0 or mem") },
	{ OF("base", base, HEX, "an address, a multiple of 4"), SAID(BASE), .most = UINT64_MAX,
	  .is_good = is_address },
	{ OF("access", access, CHOICE, "auto, parallel or serial"),
	  .choices = { "auto", "parallel", "serial" } },
	{ OF("ne", ne, NUMBER, "0 to 48"), SAID(NE), 0, TALLY_MB_MAX_EVENTS },
	{ OF("nl", nl, NUMBER, "0 to 7"), SAID(NL), 0, TALLY_MB_MAX_LATENCIES },
	{ OF("width", width, NUMBER, "32, 48 or 64"), SAID(WIDTH), 0, 64, is_width },
	{ OF("events", events, EVENTS, "names or numbers of events with : between them") },
	{ OF("latency", latency, EVENTS,
	     "names or numbers of events 57 to 63 with : between them") },
	{ OF("ports", ports, NUMBER, "1 to 32"), SAID(PORTS), 1, 32 },
	{ OF("core", core, NUMBER, "0 to 31"), .most = 31 },
	{ OF("interval", interval, NUMBER, "cycles, 1000 to 4294967295, or 0"), .most = UINT32_MAX,
	  .is_good = is_interval },
	{ OF("unlock", unlock, HEX, "0 to 0xffff"), SAID(UNLOCK), 0, 0xffff },
	{ OF("take", take, NUMBER, "0 to 3"), .most = 3 },
	{ OF("check", check, CHOICE, "on or off"), .choices = { "off", "on" } },
};

static bool
set_word(struct tally_mb_options *o, const struct word *word, const char *value)
{
	char *member = (char *)o + word->offset;
	bool good = word->kind == PATH     ? set_path(o, value)
		    : word->kind == EVENTS ? set_events(word, value, member)
					   : set_number(word, value, member);
	if (good)
		o->said |= word->said;
	return good;
}

/* One "name=value". */
static bool
take(struct tally_mb_options *o, const char *item, char *why, size_t size)
{
	const char *equals = strchr(item, '=');
	size_t len = equals ? (size_t)(equals - item) : strlen(item);
	for (size_t i = 0; i < COUNT(words); i++) {
		if (strlen(words[i].name) != len || memcmp(words[i].name, item, len) != 0)
			continue;
		if (equals && set_word(o, &words[i], equals + 1))
			return true;
		return TALLY_REFUSE(why, size, "option microblaze cannot have \"%.64s\": use %s=%s",
				    item, words[i].name, words[i].valid);
	}
	return TALLY_REFUSE(why, size,
			    "option microblaze has no \"%.64s\": use on, off, or with + between "
			    "them path=, base=, access=, ne=, nl=, width=, events=, latency=, "
			    "ports=, core=, interval=, unlock=, take=, check=",
			    item);
}

static bool
fits_together(const struct tally_mb_options *o, char *why, size_t size)
{
	if (o->ne + o->nl == 0)
		return TALLY_REFUSE(why, size,
				    "option microblaze: ne and nl cannot both be 0: then there "
				    "is nothing to count with");
	return !(o->said & TALLY_MB_SAID_PORTS && o->core >= o->ports) ||
	       TALLY_REFUSE(why, size,
			    "option microblaze: core=%u is not there with ports=%u: cores count "
			    "from 0",
			    o->core, o->ports);
}

bool
tally_mb_options_parse(struct tally_mb_options *out, const char *text, char *why, size_t size)
{
	struct tally_mb_options o = defaults;
	char item[640];
	o.on = text && strcmp(text, "off") != 0;
	if (!o.on) {
		*out = o;
		return true;
	}
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "+, ");
		if (len >= sizeof(item))
			return TALLY_REFUSE(why, size,
					    "option microblaze: \"%.40s...\" is too long", p);
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
