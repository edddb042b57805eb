/* SPDX-License-Identifier: MIT */
#include "cli/machine/catalogue.h"

#include "cli/machine/counters_sets.h"
#include "cli/shared/cli.h"
#include "cli/shared/each.h"
#include "cli/shared/out.h"
#include "cli/shared/text.h"
#include "query/mali/catalogue.h"
#include "query/metric/metric.h"
#include "query/microblaze/events.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#define CORE "MicroBlaze"

/* How the values of a block's instances are combined stands with it. */
static const char *const block_names[TALLY_N_MALI_BLOCKS] = {
	[TALLY_MALI_FRONTEND] = "front end",
	[TALLY_MALI_TILER] = "tiler",
	[TALLY_MALI_L2] = "L2, the sum of its slices",
	[TALLY_MALI_CORE] = "shader cores, their sum",
};

static const char *const level_names[] = {
	[TALLY_MALI_NOVICE] = "novice",
	[TALLY_MALI_APPLICATION] = "application",
	[TALLY_MALI_SYSTEM] = "system",
};

/* What a GPU counts, as a list of counters: constants and metrics are among them, each with the
 * part that it belongs to as its source. */
struct catalogue {
	GPtrArray *rows; /* elements: struct tally_counter * */
	GStringChunk *texts; /* the descriptions */
};

/* `description` is freed. */
static void
add_row(struct catalogue *c, struct tally_counter row, const char *source, char *description)
{
	row.source = source;
	row.description = g_string_chunk_insert(c->texts, description);
	g_ptr_array_add(c->rows, g_memdup2(&row, sizeof(row)));
	g_free(description);
}

/* A part of a description, or "". */
#define PART(before, text) (text) ? before : "", (text) ? (text) : ""

static void
add_counter(struct catalogue *c, const struct tally_mali_counter *m)
{
	g_autofree char *aliases = g_strjoinv(", ", (char **)m->aliases);
	g_autofree char *times = m->shift ? g_strdup_printf(" times %u", 1u << m->shift) : NULL;
	add_row(c, m->counter, block_names[m->block],
		g_strdup_printf("%s. %s%s%s Hardware: %s, value %u of its block%s%s%s. "
				"Level: %s%s.",
				m->counter.name, m->counter.description,
				PART(" Erratum: ", m->erratum), m->hw_name, m->index,
				times ? times : "", *aliases ? "; also " : "", aliases,
				level_names[m->visibility], m->overview ? ", overview" : ""));
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
add_metrics(struct catalogue *c, const struct tally_mali_layout *l)
{
	for (uint32_t i = 0; i < tally_n_metrics; i++) {
		struct tally_metric m = tally_metric_at(i);
		const struct tally_counter row = { .key = m.key,
						   .unit = m.unit,
						   .kind = TALLY_KIND_RATIO,
						   .scope = TALLY_SCOPE_PASS };
		if (has_metric(l, &m))
			add_row(c, row, "metrics, computed from these",
				g_strdup_printf("= %s : %s (%s%s).%s%s%s%s%s%s", m.expression,
						m.name, tally_dialect_name(m.dialect),
						l && m.overview ? ", overview" : "",
						PART(" ", m.description),
						PART(" Erratum: ", m.erratum),
						PART(" Printed as: ", m.printed)));
	}
}

static void
add_layout(struct catalogue *c, const struct tally_mali_layout *l)
{
	for (uint32_t i = 0; i < l->n_counters; i++)
		add_counter(c, &l->counters[i]);
	for (uint32_t i = 0; i < l->n_constants; i++) {
		const struct tally_counter row = { .key = l->constants[i].name,
						   .unit = "1",
						   .kind = TALLY_KIND_RAW,
						   .scope = TALLY_SCOPE_DEVICE };
		add_row(c, row, "constants",
			g_strdup_printf("%.6g, always", l->constants[i].value));
	}
	add_metrics(c, l);
}

/* The core has a number of event and of latency counters, and counts as many at a time. */
static void
add_core(struct catalogue *c)
{
	for (uint32_t i = 0; i < TALLY_MB_N_EVENTS; i++) {
		const struct tally_mb_event *e = &tally_mb_events[i];
		const struct tally_counter row = {
			.key = e->key, .unit = e->unit, .kind = e->kind, .scope = TALLY_SCOPE_DEVICE
		};
		add_row(c, row,
			tally_mb_is_latency(i) ? "latencies: KEY.n, and of a latency "
						 "counter KEY.sum and KEY.sum_sq"
					       : "events",
			g_strdup_printf("%s. %s Event %u.", e->name, e->description, i));
	}
	add_metrics(c, NULL);
}

/* ---- printing ---- */

static void
print_text(const struct catalogue *c)
{
	const char *source = NULL;
	const struct tally_device_record device = {
		.counters = (const struct tally_counter *const *)(void *)c->rows->pdata,
		.n_counters = c->rows->len,
	};
	TALLY_EACH (const struct tally_counter, row, c->rows) {
		if (row->source == source)
			continue;
		source = row->source;
		printf("\n%s:\n", source);
		tally_counters_print(&device, source);
	}
}

/* "Bifrost, 146 counters"; free with g_free(). */
static char *
about_product(const struct tally_mali_product *p)
{
	const struct tally_mali_layout *l = p->layout;
	if (!l)
		return g_strdup("Midgard: recognized; its counters are not described");
	bool own = strcmp(l->name, p->name) == 0;
	return g_strdup_printf("%s, %s, warps of %u, %u counters%s%s", l->architecture,
			       l->csf ? "command stream" : "job manager", l->warp_width,
			       l->n_counters, own ? "" : " as of ", own ? "" : l->name);
}

/* A line of the list, or all of one. */
static void
print_one(const char *gpu, const char *about, const struct catalogue *c, bool json)
{
	if (!json) {
		tally_text_print_folded(2, "%s: %s", gpu, about);
		print_text(c);
		return;
	}
	struct tally_out o;
	tally_out_init(&o, stdout);
	tally_out_object(&o, NULL);
	tally_out_text(&o, "gpu", gpu);
	tally_out_text(&o, "about", about);
	if (c->rows->len)
		tally_out_array(&o, "counters");
	TALLY_EACH (const struct tally_counter, row, c->rows) {
		tally_out_object(&o, NULL);
		tally_out_text(&o, "key", row->key);
		tally_out_text(&o, "unit", row->unit);
		tally_out_text(&o, "kind", tally_counter_kind_name(row->kind));
		tally_out_text(&o, "source", row->source);
		tally_out_text(&o, "description", row->description);
		tally_out_end_object(&o);
	}
	if (c->rows->len)
		tally_out_end_array(&o);
	tally_out_end_object(&o);
	tally_out_char(&o, '\n');
	tally_out_flush(&o);
}

static int
complain_unknown(const char *gpu)
{
	g_autoptr(GString) names = g_string_new(NULL);
	for (uint32_t i = 0; i < tally_mali_n_products; i++)
		g_string_append_printf(names, "%s, ", tally_mali_product(i)->name);
	return TALLY_FAIL(TALLY_EXIT_USAGE, "counters",
			  "--catalogue %s: no GPU is known by that name; there are %s" CORE, gpu,
			  names->str);
}

int
tally_catalogue_print(const char *gpu, bool json)
{
	g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
	struct catalogue c = { rows, g_string_chunk_new(4096) };
	bool core = gpu && g_ascii_strcasecmp(gpu, CORE) == 0;
	const struct tally_mali_product *wanted = gpu && !core ? tally_mali_find_name(gpu) : NULL;
	if (wanted && wanted->layout)
		add_layout(&c, wanted->layout);
	if (core)
		add_core(&c);
	for (uint32_t i = 0; i < tally_mali_n_products; i++) {
		const struct tally_mali_product *p = tally_mali_product(i);
		g_autofree char *about = about_product(p);
		if (!gpu || p == wanted)
			print_one(p->name, about, &c, json);
	}
	if (!gpu || core)
		print_one(CORE, "a soft core, not a GPU, read through its debug module", &c, json);
	g_string_chunk_free(c.texts);
	return gpu && !core && !wanted ? complain_unknown(gpu) : TALLY_EXIT_OK;
}
