/* SPDX-License-Identifier: MIT */
#include "query/microblaze/choice.h"

#include <stdio.h>
#include <string.h>

#include "layer/config/config.h"
#include "layer/config/list.h"
#include "query/microblaze/events.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* In order of usefulness: the first five are the group for cycles per instruction, instruction
 * cache and floating point, which the first of the latencies belongs to. */
static const uint8_t preferred_events[] = { 0,  30, 10, 11, 29, 46, 47, 12,
					    13, 14, 15, 41, 42, 45, 51 };
static const uint8_t preferred_latencies[] = { 60, 58, 59, 57, 61, 62, 63 };

struct list {
	uint8_t *events;
	uint32_t n, room;
};

static bool
has(const struct list *l, uint32_t event)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->events[i] == event)
			return true;
	return false;
}

static void
add(struct list *l, uint32_t event)
{
	if (l->n < l->room && !has(l, event))
		l->events[l->n++] = (uint8_t)event;
}

/* ---- events that the options name ---- */

/* `other`: what the counters of the other kind count, of which a latency's .n is the same number
 * as its event. */
static enum tally_status
read_one(struct list *l, const struct list *other, const char *word, const char *text,
	 size_t len, bool latency, char *reason)
{
	int event = tally_mb_find_event(text, len);
	if (event < 0)
		return tally_unsupported(
			reason,
			"%s=%.*s is no event: `passtally counters --catalogue "
			"microblaze` lists them",
			word, (int)(len < 40 ? len : 40), text);
	if (latency && !tally_mb_is_latency((uint32_t)event))
		return tally_unsupported(reason,
					 "latency=%.*s has no latency: events 57 to 63 "
					 "have one; count it with events=",
					 (int)(len < 40 ? len : 40), text);
	if (has(l, (uint32_t)event))
		return tally_unsupported(reason, "%s= names %s twice", word,
					 tally_mb_events[event].key);
	if (has(other, (uint32_t)event))
		return tally_unsupported(reason,
					 "events= and latency= both name %s, whose latency "
					 "counts how often too: leave it out of events=",
					 tally_mb_events[event].key);
	if (l->n == l->room)
		return tally_unsupported(
			reason,
			"%s= names more than the %u counters that the core has (%s=%u)",
			word, l->room, latency ? "nl" : "ne", l->room);
	l->events[l->n++] = (uint8_t)event;
	return TALLY_OK;
}

static enum tally_status
read_list(struct list *l, const struct list *other, const char *word, const char *text,
	  bool latency, char *reason)
{
	enum tally_status status = TALLY_OK;
	for (const char *p = text; *p && status == TALLY_OK;) {
		size_t len = strcspn(p, ":");
		if (len)
			status = read_one(l, other, word, p, len, latency, reason);
		p += len;
		p += strspn(p, ":");
	}
	return status;
}

/* ---- events that --counters or metrics need ---- */

static bool
is_wanted(const char *wanted, uint32_t event)
{
	const struct tally_mb_event *e = &tally_mb_events[event];
	char n[64], sum[64], sum_sq[64];
	if (tally_list_matches(wanted, e->key, e->name))
		return true;
	if (!tally_mb_is_latency(event))
		return false;
	snprintf(n, sizeof(n), "%s.n", e->key);
	snprintf(sum, sizeof(sum), "%s.sum", e->key);
	snprintf(sum_sq, sizeof(sum_sq), "%s.sum_sq", e->key);
	return tally_list_matches(wanted, n, n) || tally_list_matches(wanted, sum, sum) ||
	       tally_list_matches(wanted, sum_sq, sum_sq);
}

static void
add_wanted(struct list *l, const struct list *other, const char *wanted, bool latency)
{
	uint32_t first = latency ? TALLY_MB_FIRST_LATENCY : 0;
	uint32_t end = latency ? TALLY_MB_N_EVENTS : TALLY_MB_FIRST_LATENCY;
	for (uint32_t e = first; wanted && e < end; e++)
		if (is_wanted(wanted, e) && !has(other, e))
			add(l, e);
}

/* The events that --counters names come first, then the preferred ones, as there is room. */
static void
choose(struct list *l, const struct list *other, const char *wanted, bool latency)
{
	const uint8_t *preferred = latency ? preferred_latencies : preferred_events;
	uint32_t n = latency ? COUNT(preferred_latencies) : COUNT(preferred_events);
	add_wanted(l, other, wanted, latency);
	for (uint32_t i = 0; i < n; i++)
		if (!has(other, preferred[i]))
			add(l, preferred[i]);
}

enum tally_status
tally_mb_choose_events(struct tally_mb_choice *choice,
		       const struct tally_mb_options *options,
		       const struct tally_mb_shape *shape, const char *wanted,
		       const char *cycles_for, char *reason)
{
	struct list events = { choice->events, 0, shape->ne };
	struct list latencies = { choice->events + shape->ne, 0, shape->nl };
	memset(choice, 0, sizeof(*choice));
	enum tally_status status = read_list(&events, &latencies, "events", options->events,
					     false, reason);
	if (status == TALLY_OK)
		status = read_list(&latencies, &events, "latency", options->latency, true,
				   reason);
	if (status != TALLY_OK)
		return status;
	if (cycles_for && !options->events[0])
		add(&events, TALLY_MB_CYCLES);
	if (!options->latency[0])
		choose(&latencies, &events, wanted, true);
	if (!options->events[0])
		choose(&events, &latencies, wanted, false);
	if (cycles_for && !has(&events, TALLY_MB_CYCLES))
		return tally_unsupported(reason,
					 "%s counts cycles: it needs an event counter, "
					 "and cycles among events=",
					 cycles_for);
	choice->n_events = events.n;
	choice->n_latencies = latencies.n;
	/* Every counter is configured, including those that are not read. */
	memset(choice->events + events.n, TALLY_MB_CYCLES, shape->ne - events.n);
	memset(choice->events + shape->ne + latencies.n, TALLY_MB_FILLER_LATENCY,
	       shape->nl - latencies.n);
	return TALLY_OK;
}

/* ---- counters ---- */

/* How a value is derived from its event and described. */
struct aspect {
	const char *suffix, *name, *unit, *text;
	enum tally_counter_kind kind;
	uint32_t width;
};

static const struct tally_counter *
make_counter(const struct tally_snapshot_source *src, const struct tally_mb_event *event,
	     const struct aspect *as)
{
	char key[80], name[96], text[512];
	snprintf(key, sizeof(key), "%s%s", event->key, as->suffix);
	snprintf(name, sizeof(name), "%s%s", event->name, as->name);
	snprintf(text, sizeof(text), "%s%s", event->description, as->text);
	struct tally_counter counter = {
		.key = key,
		.name = name,
		.unit = as->unit,
		.source = TALLY_MB_SOURCE,
		.description = text,
		.kind = as->kind,
		.storage = TALLY_STORAGE_U64,
		.scope = TALLY_SCOPE_DEVICE,
		.width_bits = as->width,
	};
	return tally_key_table_add(src->keys, &counter);
}

/* False on OOM. */
static bool
add_value(struct tally_mb_choice *c, const struct tally_snapshot_source *src, uint32_t number,
	  const struct aspect *as, bool level)
{
	const struct tally_mb_event *event = &tally_mb_events[number];
	const struct tally_counter *made = make_counter(src, event, as);
	if (made && level) {
		c->levels[c->n_levels++] = (struct tally_snapshot_level){ .counter = made };
	} else if (made) {
		const struct tally_counter plain = { .key = event->key,
						     .name = event->name };
		if (tally_counter_wanted(src->wanted, made, TALLY_MB_SOURCE, TALLY_MB_SOURCE,
					 true) ||
		    tally_counter_wanted(src->wanted, &plain, NULL, NULL, true))
			tally_bit_set(c->logged, c->n);
		c->counters[c->n++] = made;
	}
	return made != NULL;
}

static bool
add_all(struct tally_mb_choice *c, const struct tally_mb_shape *shape,
	const struct tally_snapshot_source *src)
{
	const uint32_t width = shape->width, extreme = width == 32 ? 16 : 32;
	/* Of a latency; the last two are levels. */
	const struct aspect aspects[] = {
		{ ".n", ", how often", "1", " How often.", TALLY_KIND_EVENT, 32 },
		{ ".sum", ", sum", "cycles", " Cycles, summed.", TALLY_KIND_DURATION,
		  width },
		{ ".sum_sq", ", sum of squares", "cycles^2",
		  " Squares of cycles, summed.", TALLY_KIND_RAW, width },
		{ ".min", ", least", "cycles", " Least since counting began.",
		  TALLY_KIND_DURATION, extreme },
		{ ".max", ", greatest", "cycles", " Greatest since counting began.",
		  TALLY_KIND_DURATION, extreme },
	};
	struct aspect often = aspects[0];
	often.width = width;
	for (uint32_t i = 0; i < c->n_events; i++) {
		const struct tally_mb_event *event = &tally_mb_events[c->events[i]];
		const struct aspect plain = {
			"", "", event->unit, "", event->kind, width
		};
		if (!add_value(c, src, c->events[i],
			       tally_mb_is_latency(c->events[i]) ? &often : &plain,
			       false))
			return false;
	}
	for (uint32_t i = 0; i < c->n_latencies; i++)
		for (uint32_t k = 0; k < COUNT(aspects); k++)
			if (!add_value(c, src, c->events[shape->ne + i], &aspects[k], k >= 3))
				return false;
	return true;
}

bool
tally_mb_choose_counters(struct tally_mb_choice *choice, const struct tally_mb_shape *shape,
			 struct tally_snapshot_source *src)
{
	if (!add_all(choice, shape, src))
		return false;
	src->counters = choice->counters;
	src->n_counters = choice->n;
	src->logged = choice->logged;
	src->levels = choice->levels;
	src->n_levels = choice->n_levels;
	return true;
}
