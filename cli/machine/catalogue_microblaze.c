/* SPDX-License-Identifier: MIT */
#include "cli/machine/catalogue_microblaze.h"

#include "cli/shared/out.h"
#include "cli/shared/text.h"
#include "query/metric/metric.h"
#include "query/microblaze/events.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#define NAME "MicroBlaze"

bool
tally_catalogue_is_microblaze(const char *name)
{
	return g_ascii_strcasecmp(name, NAME) == 0;
}

static void
print_and_free(char *text)
{
	tally_text_print_indented("", text);
	g_free(text);
}

/* Whether the metric needs an event of the core: if so, the event's key is in the
 * expression. */
static bool
is_ours(const struct tally_metric *m)
{
	if (*m->layouts || m->dialect != TALLY_DIALECT_PASSTALLY)
		return false;
	for (const char *p = strchr(m->expression, '$'); p; p = strchr(p + 1, '$')) {
		size_t len = strspn(p + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");
		for (int i = 0; i < TALLY_MB_N_EVENTS; i++)
			if (strlen(tally_mb_events[i].key) == len &&
			    memcmp(tally_mb_events[i].key, p + 1, len) == 0)
				return true;
	}
	return false;
}

static void
print_events(void)
{
	for (uint32_t i = 0; i < TALLY_MB_N_EVENTS; i++) {
		const struct tally_mb_event *e = &tally_mb_events[i];
		if (i == 0)
			tally_text_print(stdout, "\nevents: %d that event counters count\n",
					 TALLY_MB_FIRST_LATENCY);
		if (i == TALLY_MB_FIRST_LATENCY)
			tally_text_print(
				stdout,
				"\nlatencies: %d; latency counters count them with KEY.n, "
				"KEY.sum and KEY.sum_sq,\nevent counters with KEY.n alone\n",
				TALLY_MB_N_EVENTS - TALLY_MB_FIRST_LATENCY);
		tally_text_print(stdout, "  %2u %s (%s)\n", i, e->key, e->unit);
		print_and_free(g_strconcat(e->name, ". ", e->description, NULL));
	}
}

static void
print_metrics(void)
{
	puts("\nmetrics: where the core counts what they need");
	for (uint32_t i = 0; i < tally_n_metrics; i++) {
		struct tally_metric m = tally_metric_at(i);
		if (!is_ours(&m))
			continue;
		tally_text_print(stdout, "  %s (%s)\n", m.key, m.unit);
		print_and_free(g_strconcat(m.name, ".", m.description ? " " : NULL,
					   m.description, NULL));
		tally_text_print_indented("= ", m.expression);
	}
}

static void
put_event(struct tally_out *o, uint32_t i)
{
	const struct tally_mb_event *e = &tally_mb_events[i];
	tally_out_object(o, NULL);
	tally_out_text(o, "key", e->key);
	tally_out_u64(o, "event", i);
	tally_out_text(o, "name", e->name);
	tally_out_text(o, "unit", e->unit);
	tally_out_text(o, "kind", tally_counter_kind_name(e->kind));
	tally_out_text(o, "counted_by", tally_mb_is_latency(i) ? "latency" : "event");
	tally_out_text(o, "description", e->description);
	tally_out_end_object(o);
}

static void
put_metrics(struct tally_out *o)
{
	for (uint32_t i = 0; i < tally_n_metrics; i++) {
		struct tally_metric m = tally_metric_at(i);
		if (!is_ours(&m))
			continue;
		tally_out_object(o, NULL);
		tally_out_text(o, "key", m.key);
		tally_out_text(o, "name", m.name);
		tally_out_text(o, "unit", m.unit);
		tally_out_text(o, "dialect", tally_dialect_name(m.dialect));
		tally_out_text(o, "expression", m.expression);
		tally_out_text(o, "description", m.description);
		tally_out_end_object(o);
	}
}

static void
print_json(void)
{
	struct tally_out o;
	tally_out_init(&o, stdout);
	tally_out_object(&o, NULL);
	tally_out_text(&o, "gpu", NAME);
	tally_out_array(&o, "counters");
	for (uint32_t i = 0; i < TALLY_MB_N_EVENTS; i++)
		put_event(&o, i);
	tally_out_end_array(&o);
	tally_out_array(&o, "metrics");
	put_metrics(&o);
	tally_out_end_array(&o);
	tally_out_end_object(&o);
	tally_out_char(&o, '\n');
	tally_out_flush(&o);
}

void
tally_catalogue_print_microblaze(bool json)
{
	if (json) {
		print_json();
		return;
	}
	puts("" NAME ": a soft core, not a GPU, read through its debug module\n"
	     "(--microblaze). It was built with a number of event and of latency counters,\n"
	     "5 and 1 by default, and counts as many of these at a time.");
	print_events();
	print_metrics();
}

void
tally_catalogue_list_microblaze(bool json)
{
	if (json)
		puts("{\"gpu\":\"" NAME "\"}");
	else
		tally_text_print(stdout, "%-16s a soft core, %d events\n", NAME,
				 TALLY_MB_N_EVENTS);
}
