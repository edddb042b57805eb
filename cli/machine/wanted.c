/* SPDX-License-Identifier: MIT */
#include "cli/machine/wanted.h"

#include "cli/machine/ask.h"
#include "cli/machine/counters.h"
#include "cli/shared/near.h"

#include <glib.h>
#include <string.h>

#include "query/mali/catalogue.h"
#include "query/metric/metric.h"
#include "query/microblaze/options.h"
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

/* ---- what the drivers offer ---- */

/* One counter of a set; the same counter may be in several. */
struct offer {
	char *key, *name, *set, *category; /* set and category may be NULL */
};

/* Asked once, at the first name that only a driver may know. */
static struct {
	bool asked, any; /* a device answered */
	unsigned grouped; /* bits of the APIs whose drivers have groups that no set names */
	GPtrArray *offers;
	GPtrArray *sets; /* struct tally_set_info * with a name alone, each once */
} drivers;

static void
add_offer(const struct tally_device_record *device, const char *key,
	  const struct tally_set_info *set)
{
	struct offer *offer = g_new0(struct offer, 1);
	offer->key = g_strdup(key);
	for (uint32_t i = 0; i < device->n_counters; i++)
		if (strcmp(device->counters[i]->key, key) == 0)
			offer->name = g_strdup(device->counters[i]->name);
	offer->set = g_strdup(set ? set->name : NULL);
	offer->category = g_strdup(set ? set->category : NULL);
	g_ptr_array_add(drivers.offers, offer);
}

static void
add_set(const struct tally_device_record *device, const struct tally_set_info *set)
{
	for (uint32_t k = 0; k < set->n_keys; k++)
		add_offer(device, set->keys[k], set);
	/* Several devices may have it, and each API's. */
	for (guint i = 0; i < drivers.sets->len; i++)
		if (g_strcmp0(((struct tally_set_info *)drivers.sets->pdata[i])->name,
			      set->name) == 0)
			return;
	struct tally_set_info *known = g_new0(struct tally_set_info, 1);
	known->name = g_strdup(set->name);
	g_ptr_array_add(drivers.sets, known);
}

static void
add_device(void *data, const struct tally_device_record *device,
	   const struct tally_ask_place *place)
{
	(void)data, (void)place;
	drivers.any = true;
	for (uint32_t i = 0; i < device->n_counters; i++)
		add_offer(device, device->counters[i]->key, NULL);
	for (uint32_t i = 0; i < device->n_sets; i++) {
		add_set(device, &device->sets[i]);
		if (!device->sets[i].category)
			drivers.grouped |= 1u << device->api;
	}
}

static void
ask_drivers(void)
{
	const struct tally_ask_wish all = { .counters = "all" };
	char why[512];
	if (drivers.asked)
		return;
	drivers.asked = true;
	drivers.offers = g_ptr_array_new(); /* for as long as the command runs */
	drivers.sets = g_ptr_array_new();
	for (int api = 0; api < TALLY_N_APIS; api++)
		tally_ask((enum tally_api)api, &all, add_device, NULL, why, sizeof(why));
}

static void
note_counters(void *data, const struct tally_device_record *device,
	      const struct tally_ask_place *place)
{
	bool *any = data;
	(void)place;
	*any |= device->n_counters > 0;
}

/* Whether it is the driver's name of a group, whose counters are spread over several sets. */
static bool
is_group(const char *item)
{
	const struct tally_ask_wish wish = { .counters = item };
	char why[512];
	bool any = false;
	for (int api = 0; api < TALLY_N_APIS && !any; api++)
		if (drivers.grouped >> api & 1)
			tally_ask((enum tally_api)api, &wish, note_counters, &any, why,
				  sizeof(why));
	return any;
}

/* Only the driver knows the names of the GPU's own counters. Where no driver answers, the name
 * may be right, and the run will find out. */
static bool
is_driver_counter(const char *item)
{
	ask_drivers();
	for (guint i = 0; i < drivers.offers->len; i++) {
		const struct offer *o = drivers.offers->pdata[i];
		if (tally_list_matches(item, o->key, o->name) ||
		    (o->set && tally_list_matches(item, o->set, NULL)) ||
		    (o->category && tally_list_matches(item, o->category, NULL)))
			return true;
	}
	return !drivers.any || is_group(item);
}

/* ---- names ---- */

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

/* Adds the keys of drivers, metrics and Mali GPUs; a set of strings. */
static GHashTable *
list_keys(void)
{
	GHashTable *keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < drivers.offers->len; i++) {
		const struct offer *o = drivers.offers->pdata[i];
		g_hash_table_add(keys, g_strdup(o->key));
	}
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
	static const char *const of_calls[] = { "draws",     "dispatches", "copies", "clears",
						"vertices", "instances",  "calls",  NULL };
	if (g_strv_contains(of_calls, name)) {
		g_string_append(out, "the numbers of calls and their vertices are counted always, "
				     "and need no option");
		return;
	}
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

/* Where no driver answers, the run will find out. */
static bool
check_set(const struct tally_config *config, tally_config_complain *complain, void *data)
{
	if (!config->set)
		return true;
	ask_drivers();
	g_autoptr(GString) names = g_string_new(NULL);
	for (guint i = 0; i < drivers.sets->len; i++) {
		const struct tally_set_info *set = drivers.sets->pdata[i];
		if (tally_set_is(set, config->set))
			return true;
		g_string_append_printf(names, "%s%s", i ? ", " : "", set->name);
	}
	g_autofree char *text = g_strdup_printf(
		"option set: no set of counters here is called \"%s\"; there are %s", config->set,
		names->len ? names->str : "none");
	if (drivers.any)
		complain(data, text);
	return !drivers.any;
}

static bool
check_microblaze(const struct tally_config *config, tally_config_complain *complain, void *data)
{
	struct tally_mb_options options;
	char why[600];
	if (tally_mb_options_parse(&options, config->microblaze, why, sizeof(why)))
		return true;
	complain(data, why);
	return false;
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
	ok &= check_microblaze(config, complain, data);
	ok &= tally_wanted_check_counters(config, config->counters, complain, data);
	return ok && check_set(config, complain, data);
}
