/* SPDX-License-Identifier: MIT */
#include "cli/machine/wanted.h"

#include "cli/machine/probe.h"
#include "cli/shared/near.h"

#include <glib.h>
#include <string.h>

#include "query/mali/catalogue.h"
#include "query/metric/metric.h"
#include "query/source/statistics_catalogue.h"
#include "query/sources.h"

static const char *const sets[] = { "overview", "all" };

static bool
is_source(const char *item)
{
	const struct tally_source_row *row;
	for (uint32_t i = 0; (row = tally_source_row(i)); i++)
		if (tally_source_wanted(item, row))
			return true;
	return false;
}

static void
seen(void *data, const struct tally_probe_found *found)
{
	bool *any = data;
	*any |= found->device->n_counters > 0;
}

/* [0..N] in a metric's name represents a number: any number will do here. */
static bool
is_metric(const char *item, const char *key, const char *name)
{
	const char *index = strstr(key, "[0..N]");
	if (!index)
		return tally_list_matches(item, key, name);
	return strncmp(item, key, (size_t)(index - key)) == 0 ||
	       tally_list_matches(item, key, name);
}

static bool
is_any_metric(const char *item)
{
	if (tally_list_has(item, "metrics"))
		return true;
	for (unsigned d = 0; d < TALLY_N_DIALECTS; d++)
		if (tally_list_has(item, tally_dialect_name(d)))
			return true;
	for (uint32_t i = 0; i < tally_n_metrics; i++) {
		struct tally_metric m = tally_metric_at(i);
		if (is_metric(item, m.key, m.name))
			return true;
	}
	return false;
}

static bool
is_snapshot_counter(const char *item)
{
	for (uint32_t i = 0; i < tally_n_snapshot_sources; i++)
		if (tally_snapshot_sources[i].may_count(item))
			return true;
	return false;
}

/* Only the driver knows the names of the GPU's own counters, so it is probed. */
static bool
is_driver_counter(const char *item)
{
	const struct tally_probe_wish wish = { item, NULL };
	char why[512];
	bool any = false;
	for (int api = 0; api < TALLY_N_APIS && !any; api++)
		tally_probe((enum tally_api)api, &wish, seen, &any, why, sizeof(why));
	return any;
}

static bool
is_counter(const char *item)
{
	for (size_t i = 0; i < G_N_ELEMENTS(sets); i++)
		if (tally_list_has(item, sets[i]))
			return true;
	for (size_t i = 0; i < TALLY_N_STATISTICS; i++)
		if (tally_list_matches(item, tally_statistics[i].key, tally_statistics[i].name))
			return true;
	return is_any_metric(item) || is_snapshot_counter(item) || is_driver_counter(item);
}

static void
list_sources(GString *out, const char *name)
{
	const struct tally_source_row *row;
	(void)name;
	g_string_append(out, "there are ");
	for (uint32_t i = 0; (row = tally_source_row(i)); i++)
		if (!row->in_tests)
			g_string_append_printf(out, "%s%s", i ? ", " : "", row->name);
}

static void
add_found(void *data, const struct tally_probe_found *found)
{
	for (uint32_t i = 0; i < found->device->n_counters; i++)
		g_hash_table_add(data, g_strdup(found->device->counters[i]->key));
}

/* Adds the keys of drivers, metrics and Mali GPUs; a set of strings. */
static GHashTable *
list_keys(void)
{
	GHashTable *keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const struct tally_probe_wish wish = { "all", NULL };
	char why[512];
	for (int api = 0; api < TALLY_N_APIS; api++)
		tally_probe((enum tally_api)api, &wish, add_found, keys, why, sizeof(why));
	for (size_t i = 0; i < G_N_ELEMENTS(sets); i++)
		g_hash_table_add(keys, g_strdup(sets[i]));
	for (size_t i = 0; i < TALLY_N_STATISTICS; i++)
		g_hash_table_add(keys, g_strdup(tally_statistics[i].key));
	for (uint32_t i = 0; i < tally_n_metrics; i++)
		g_hash_table_add(keys, g_strdup(tally_metric_at(i).key));
	for (uint32_t i = 0; i < tally_mali_n_layouts; i++) {
		const struct tally_mali_layout *layout = tally_mali_layout(i);
		for (uint32_t k = 0; k < layout->n_counters; k++)
			g_hash_table_add(keys, g_strdup(layout->counters[k].counter.key));
	}
	return keys;
}

/* Suggests up to three names: the nearest ones, then those that contain this one. */
static void
suggest_counters(GString *out, const char *name)
{
	enum { MOST = 3 };
	g_autoptr(GHashTable) keys = list_keys();
	g_autoptr(GList) sorted = g_list_sort(g_hash_table_get_keys(keys), (GCompareFunc)strcmp);
	for (int n = 0; n < MOST; n++) {
		struct tally_near near;
		tally_near_begin(&near, name, strlen(name));
		for (const GList *l = sorted; l; l = l->next)
			tally_near_offer(&near, l->data);
		for (const GList *l = sorted; l && !near.best; l = l->next)
			near.best = strstr(l->data, name) ? l->data : NULL;
		if (!near.best)
			break;
		g_string_append_printf(out, "%s%s", n ? ", " : "did you mean ", near.best);
		sorted = g_list_remove(sorted, near.best);
	}
	g_string_append_printf(out, "%s`passtally counters` lists those of this machine, "
			       "`passtally counters --catalogue GPU` those of a GPU",
			       g_str_has_suffix(out->str, "; ") ? "" : "? ");
}

/* Checks the metrics that the user defined: which can be parsed, and what is wrong with the
 * others. */
static bool
check_own(const struct tally_config *config, tally_config_complain *complain, void *data)
{
	g_autofree struct tally_metric *own = g_new(struct tally_metric, config->n_metrics + 1);
	return tally_metric_read_own(config, own, complain, data) == config->n_metrics;
}

static bool
is_own(const struct tally_config *config, const char *item)
{
	for (uint32_t i = 0; config && i < config->n_metrics; i++)
		if (tally_list_matches(item, config->metrics[i].key, config->metrics[i].name))
			return true;
	return false;
}

/* Checks each item of a list. `own`: the user's metrics, whose names are valid too, or NULL. */
static bool
check(const char *option, const char *list, bool (*known)(const char *),
      void (*help)(GString *out, const char *name), const struct tally_config *own,
      tally_config_complain *complain, void *data)
{
	bool ok = true;
	g_auto(GStrv) items = g_strsplit_set(list ? list : "", "+,", -1);
	for (char **item = items; *item; item++) {
		const char *name = g_strstrip(*item);
		if (!*name || is_own(own, name) || known(name))
			continue;
		g_autoptr(GString) text = g_string_new(NULL);
		g_string_append_printf(text, "option %s: nothing is called \"%s\"; ", option,
				       name);
		help(text, name);
		complain(data, text->str);
		ok = false;
	}
	return ok;
}

struct set_search {
	const char *set;
	bool any, found; /* a device exists; one with that set exists */
	GString *names;
	GHashTable *told; /* these names */
};

static void
look_for_set(void *data, const struct tally_probe_found *found)
{
	struct set_search *s = data;
	s->any = true;
	for (uint32_t i = 0; i < found->n_sets; i++) {
		const char *name = found->sets[i]->layout.set;
		s->found |= g_strcmp0(name, s->set) == 0;
		/* Several devices may have it, and each API's. */
		if (!g_hash_table_add(s->told, g_strdup(name)))
			continue;
		g_string_append_printf(s->names, "%s%s", s->names->len ? ", " : "", name);
	}
}

/* Only the drivers know their sets, so all are probed. Where none can be probed (no display,
 * for example), the run will find out. */
static bool
check_set(const struct tally_config *config, tally_config_complain *complain, void *data)
{
	if (!config->set)
		return true;
	g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct set_search s = { .set = config->set, .names = g_string_new(NULL), .told = told };
	/* First the set alone, then all of them, whose names go into the message. */
	const struct tally_probe_wish wishes[] = { { config->counters, config->set },
						   { "all", NULL } };
	char why[512];
	for (size_t i = 0; i < G_N_ELEMENTS(wishes) && !s.found && (i == 0 || s.any); i++)
		for (int api = 0; api < TALLY_N_APIS && !s.found; api++)
			tally_probe((enum tally_api)api, &wishes[i], look_for_set, &s, why,
				    sizeof(why));
	bool ok = s.found || !s.any;
	if (!ok) {
		g_autofree char *text = g_strdup_printf(
			"option set: no set of counters here is called \"%s\"; there are %s",
			config->set, s.names->len ? s.names->str : "none");
		complain(data, text);
	}
	g_string_free(s.names, TRUE);
	return ok;
}

bool
tally_wanted_check_counters(const struct tally_config *config, const char *list,
			    tally_config_complain *complain, void *data)
{
	return check("counters", list, is_counter, suggest_counters, config, complain, data);
}

bool
tally_wanted_check(const struct tally_config *config, tally_config_complain *complain,
		   void *data)
{
	bool ok = check("sources", config->sources, is_source, list_sources, NULL,
			complain, data);
	ok &= check_own(config, complain, data);
	ok &= tally_wanted_check_counters(config, config->counters, complain, data);
	return ok && check_set(config, complain, data);
}
