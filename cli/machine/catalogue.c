/* SPDX-License-Identifier: MIT */
#include "cli/machine/counters.h"

#include "cli/shared/cli.h"
#include "cli/shared/out.h"
#include "cli/shared/text.h"
#include "query/mali/catalogue.h"
#include "query/metric/metric.h"
#include "query/microblaze/events.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#define CORE "MicroBlaze"

static const char *const block_names[TALLY_N_MALI_BLOCKS] = {
	[TALLY_MALI_FRONTEND] = "frontend",
	[TALLY_MALI_TILER] = "tiler",
	[TALLY_MALI_L2] = "l2",
	[TALLY_MALI_CORE] = "core",
};

/* The kind of a block, and how the values of its instances are combined. */
static const char *const block_texts[TALLY_N_MALI_BLOCKS] = {
	[TALLY_MALI_FRONTEND] = "the front end, which takes in work",
	[TALLY_MALI_TILER] = "the tiler",
	[TALLY_MALI_L2] = "L2 cache, translation and external bus; sums over the L2 slices",
	[TALLY_MALI_CORE] = "shader cores; sums over the cores",
};

static const char *const level_names[] = {
	[TALLY_MALI_NOVICE] = "novice",
	[TALLY_MALI_APPLICATION] = "application",
	[TALLY_MALI_SYSTEM] = "system",
};

static void
print_counter(const struct tally_mali_counter *c)
{
	tally_text_print_folded(4, "  %s (%s, %s%s)", c->counter.key, c->counter.unit,
				level_names[c->visibility], c->overview ? ", overview" : "");
	g_autofree char *text =
		g_strconcat(c->counter.name, ". ", c->counter.description, NULL);
	tally_text_print_indented("", text);
	if (c->erratum)
		tally_text_print_indented("Erratum: ", c->erratum);
	g_autofree char *aliases = g_strjoinv(", ", (char **)c->aliases);
	g_autofree char *times = c->shift ? g_strdup_printf(" times %u", 1u << c->shift) : NULL;
	g_autofree char *names = g_strdup_printf("%s, value %u of its block%s%s%s", c->hw_name,
						 c->index, times ? times : "",
						 *aliases ? "; also " : "", aliases);
	tally_text_print_indented("Hardware: ", names);
}

/* Whether the metric needs an event of the core: if so, the event's key is in the
 * expression. */
static bool
is_of_core(const struct tally_metric *m)
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

/* The metrics of one GPU: of the layout, or of the core where that is NULL. */
static bool
has_metric(const struct tally_mali_layout *l, const struct tally_metric *m)
{
	return l ? *m->layouts && tally_metric_fits(m, l->name) : is_of_core(m);
}

static void
print_metrics(const struct tally_mali_layout *l)
{
	for (uint32_t i = 0; i < tally_n_metrics; i++) {
		struct tally_metric m = tally_metric_at(i);
		if (!has_metric(l, &m))
			continue;
		if (l)
			tally_text_print_folded(4, "  %s (%s, %s%s)", m.key, m.unit,
						tally_dialect_name(m.dialect),
						m.overview ? ", overview" : "");
		else
			tally_text_print(stdout, "  %s (%s)\n", m.key, m.unit);
		g_autofree char *text = g_strconcat(m.name, ".", m.description ? " " : NULL,
						    m.description, NULL);
		tally_text_print_indented("", text);
		tally_text_print_indented("= ", m.expression);
		if (m.printed)
			tally_text_print_indented("Printed as ", m.printed);
		if (m.erratum)
			tally_text_print_indented("Erratum: ", m.erratum);
	}
}

static uint32_t
count_metrics(const struct tally_mali_layout *l)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < tally_n_metrics; i++) {
		struct tally_metric m = tally_metric_at(i);
		n += has_metric(l, &m);
	}
	return n;
}

static void
print_product(const struct tally_mali_product *p)
{
	const struct tally_mali_layout *l = p->layout;
	bool own = strcmp(l->name, p->name) == 0;
	tally_text_print_folded(2, "%s: %s, %s front end, warps of %u threads%s%s", p->name,
				l->architecture, l->csf ? "command stream" : "job manager",
				l->warp_width, own ? "" : "; has the counters of ",
				own ? "" : l->name);
	for (int block = 0; block < TALLY_N_MALI_BLOCKS; block++) {
		unsigned n = 0;
		for (uint32_t i = 0; i < l->n_counters; i++)
			n += (int)l->counters[i].block == block;
		putchar('\n');
		tally_text_print_folded(2, "%s: %u counter%s of %s", block_names[block], n,
					TALLY_S(n), block_texts[block]);
		for (uint32_t i = 0; i < l->n_counters; i++)
			if ((int)l->counters[i].block == block)
				print_counter(&l->counters[i]);
	}
	tally_text_print(stdout, "\nmetrics: %u values derived from these\n", count_metrics(l));
	print_metrics(l);
	puts("\nconstants:");
	for (uint32_t i = 0; i < l->n_constants; i++)
		tally_text_print(stdout, "  %s %.6g\n", l->constants[i].name,
				 l->constants[i].value);
}

static void
put_counter(struct tally_out *o, const struct tally_mali_counter *c)
{
	tally_out_object(o, NULL);
	tally_out_text(o, "key", c->counter.key);
	tally_out_text(o, "name", c->counter.name);
	tally_out_text(o, "unit", c->counter.unit);
	tally_out_text(o, "kind", tally_counter_kind_name(c->counter.kind));
	tally_out_text(o, "block", block_names[c->block]);
	tally_out_u64(o, "index", c->index);
	tally_out_u64(o, "shift", c->shift);
	tally_out_text(o, "hardware_name", c->hw_name);
	tally_out_text(o, "level", level_names[c->visibility]);
	tally_out_bool(o, "overview", c->overview);
	tally_out_array(o, "aliases");
	for (const char *const *alias = c->aliases; *alias; alias++)
		tally_out_text(o, NULL, *alias);
	tally_out_end_array(o);
	tally_out_text(o, "description", c->counter.description);
	tally_out_text(o, "erratum", c->erratum);
	tally_out_end_object(o);
}

static void
put_metrics(struct tally_out *o, const struct tally_mali_layout *l)
{
	tally_out_array(o, "metrics");
	for (uint32_t i = 0; i < tally_n_metrics; i++) {
		struct tally_metric m = tally_metric_at(i);
		if (!has_metric(l, &m))
			continue;
		tally_out_object(o, NULL);
		tally_out_text(o, "key", m.key);
		tally_out_text(o, "name", m.name);
		tally_out_text(o, "unit", m.unit);
		tally_out_text(o, "dialect", tally_dialect_name(m.dialect));
		tally_out_text(o, "expression", m.expression);
		tally_out_text(o, "printed", m.printed);
		if (l)
			tally_out_bool(o, "overview", m.overview);
		tally_out_text(o, "description", m.description);
		tally_out_text(o, "erratum", m.erratum);
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
}

static void
put_layout(struct tally_out *o, const struct tally_mali_layout *l)
{
	tally_out_u64(o, "values_per_block", l->values_per_block);
	tally_out_u64(o, "warp_width", l->warp_width);
	tally_out_object(o, "constants");
	for (uint32_t i = 0; i < l->n_constants; i++)
		tally_out_f64(o, l->constants[i].name, l->constants[i].value);
	tally_out_end_object(o);
	tally_out_array(o, "counters");
	for (uint32_t i = 0; i < l->n_counters; i++)
		put_counter(o, &l->counters[i]);
	tally_out_end_array(o);
	put_metrics(o, l);
}

/* Prints one line; `whole`: with its counters and metrics. */
static void
print_product_json(const struct tally_mali_product *p, bool whole)
{
	struct tally_out out, *o = &out;
	tally_out_init(o, stdout);
	tally_out_object(o, NULL);
	tally_out_text(o, "gpu", p->name);
	tally_out_array(o, "ids");
	for (size_t i = 0; i < G_N_ELEMENTS(p->ids); i++) {
		char id[16];
		g_snprintf(id, sizeof(id), "0x%04x", p->ids[i]);
		tally_out_text(o, NULL, i == 0 || p->ids[i] ? id : NULL);
	}
	tally_out_end_array(o);
	if (p->layout) {
		tally_out_text(o, "layout", p->layout->name);
		tally_out_text(o, "architecture", p->layout->architecture);
		tally_out_text(o, "front_end",
			       p->layout->csf ? "command-stream" : "job-manager");
		if (whole)
			put_layout(o, p->layout);
	}
	tally_out_end_object(o);
	tally_out_char(o, '\n');
	tally_out_flush(o);
}

/* ---- MicroBlaze ---- */

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
		g_autofree char *text = g_strconcat(e->name, ". ", e->description, NULL);
		tally_text_print_indented("", text);
	}
}

static void
print_core(void)
{
	puts("" CORE ": a soft core, not a GPU, read through its debug module\n"
	     "(--microblaze). It was built with a number of event and of latency counters,\n"
	     "5 and 1 by default, and counts as many of these at a time.");
	print_events();
	puts("\nmetrics: where the core counts what they need");
	print_metrics(NULL);
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
print_core_json(void)
{
	struct tally_out o;
	tally_out_init(&o, stdout);
	tally_out_object(&o, NULL);
	tally_out_text(&o, "gpu", CORE);
	tally_out_array(&o, "counters");
	for (uint32_t i = 0; i < TALLY_MB_N_EVENTS; i++)
		put_event(&o, i);
	tally_out_end_array(&o);
	put_metrics(&o, NULL);
	tally_out_end_object(&o);
	tally_out_char(&o, '\n');
	tally_out_flush(&o);
}

/* ---- the command's option ---- */

static void
print_list(bool json)
{
	for (uint32_t i = 0; i < tally_mali_n_products; i++) {
		const struct tally_mali_product *p = tally_mali_product(i);
		if (json) {
			print_product_json(p, false);
		} else if (!p->layout) {
			tally_text_print(
				stdout,
				"%-16s Midgard: recognized; its counters are not described\n",
				p->name);
		} else {
			tally_text_print(
				stdout, "%-16s %s, %u counters%s%s\n", p->name,
				p->layout->architecture, p->layout->n_counters,
				strcmp(p->name, p->layout->name) == 0 ? "" : " as of ",
				strcmp(p->name, p->layout->name) == 0 ? ""
								      : p->layout->name);
		}
	}
	if (json)
		puts("{\"gpu\":\"" CORE "\"}");
	else
		tally_text_print(stdout, "%-16s a soft core, %d events\n", CORE,
				 TALLY_MB_N_EVENTS);
}

static int
complain_unknown(const char *gpu)
{
	g_autoptr(GString) names = g_string_new(NULL);
	for (uint32_t i = 0; i < tally_mali_n_products; i++)
		g_string_append_printf(names, "%s%s", i ? ", " : "",
				       tally_mali_product(i)->name);
	g_string_append(names, ", " CORE);
	return TALLY_FAIL(TALLY_EXIT_USAGE, "counters",
			  "--catalogue %s: no GPU is known by that name; there are %s", gpu,
			  names->str);
}

int
tally_catalogue_print(const char *gpu, bool json)
{
	if (!gpu) {
		print_list(json);
		return TALLY_EXIT_OK;
	}
	if (g_ascii_strcasecmp(gpu, CORE) == 0) {
		(json ? print_core_json : print_core)();
		return TALLY_EXIT_OK;
	}
	const struct tally_mali_product *p = tally_mali_find_name(gpu);
	if (!p)
		return complain_unknown(gpu);
	if (json)
		print_product_json(p, true);
	else if (p->layout)
		print_product(p);
	else
		tally_text_print(
			stdout,
			"%s: Midgard; passtally recognizes it, but does not describe its "
			"counters\n",
			p->name);
	return TALLY_EXIT_OK;
}
