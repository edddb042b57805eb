/* SPDX-License-Identifier: MIT */
#include "cli/machine/wanted.h"

#include "cli/machine/ask.h"
#include "cli/machine/counters_sets.h"
#include "cli/shared/each.h"
#include "cli/shared/near.h"
#include "cli/shared/sort.h"

#include <glib.h>
#include <string.h>

#include "layer/config/list.h"
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

struct offers {
	const char *set; /* what is asked for; NULL: counters */
	bool any, known; /* a device answered; it has what is asked for */
	GPtrArray *keys, *sets; /* the names of all devices, each once; NULL = not wanted */
};

static void
add_name(GPtrArray *names, const char *name)
{
	if (name && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
		g_ptr_array_add(names, g_strdup(name));
}

static void
note_device(void *data, const struct tally_device_record *device,
	    const struct tally_ask_place *place)
{
	struct offers *o = data;
	(void)place;
	o->any = true;
	o->known |= o->set ? tally_sets_rotation(device, o->set) > 0 : device->n_counters > 0;
	for (uint32_t i = 0; o->keys && i < device->n_counters; i++)
		add_name(o->keys, device->counters[i]->key);
	for (uint32_t i = 0; o->sets && i < device->n_sets; i++)
		add_name(o->sets, device->sets[i].name);
}

static void
ask_drivers(struct offers *o, const char *counters)
{
	const struct tally_ask_wish wish = { .counters = counters, .set = o->set };
	char why[512];
	for (int api = 0; api < TALLY_N_APIS && (!o->known || o->keys || o->sets); api++)
		tally_ask((enum tally_api)api, &wish, note_device, o, why, sizeof(why));
}

/* Only the driver knows the names of the GPU's own counters and of their sets. Where no driver
 * answers, the name may be right, and the run will find out. */
static bool
is_offered(const char *counters, const char *set)
{
	struct offers o = { .set = set };
	ask_drivers(&o, counters);
	return o.known || !o.any;
}

/* ---- names ---- */

/* [0..N] in a metric's name represents a number: any number will do here. */
static bool
is_metric(const char *item, const char *key, const char *name)
{
	const char *index = strstr(key, "[0..N]");
	return tally_list_matches(item, key, name) ||
	       (index && strncmp(item, key, (size_t)(index - key)) == 0);
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
	return is_any_metric(item) || is_snapshot_counter(item) || is_offered(item, NULL);
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

/* The keys of drivers, metrics and Mali GPUs, sorted. */
static GPtrArray *
list_keys(void)
{
	GPtrArray *keys = g_ptr_array_new_with_free_func(g_free);
	ask_drivers(&(struct offers){ .keys = keys }, "all");
	for (size_t i = 0; i < G_N_ELEMENTS(sets); i++)
		add_name(keys, sets[i]);
	for (size_t i = 0; i < TALLY_N_STATISTICS; i++)
		add_name(keys, tally_statistics[i].key);
	for (uint32_t i = 0; i < tally_n_metrics; i++)
		add_name(keys, tally_metric_at(i).key);
	for (uint32_t i = 0; i < tally_mali_n_layouts; i++) {
		const struct tally_mali_layout *layout = tally_mali_layout(i);
		for (uint32_t k = 0; k < layout->n_counters; k++)
			add_name(keys, layout->counters[k].counter.key);
	}
	g_ptr_array_sort(keys, tally_order_text);
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
		g_string_append(out, "the numbers of calls and their vertices are "
				     "counted always, and need no option");
		return;
	}
	g_autoptr(GPtrArray) keys = list_keys();
	for (int n = 0; n < MOST; n++) {
		struct tally_near near;
		tally_near_begin(&near, name, strlen(name));
		TALLY_EACH (const char, key, keys)
			tally_near_offer(&near, key);
		for (guint i = 0; i < keys->len && !near.best; i++)
			if (strstr(keys->pdata[i], name))
				near.best = keys->pdata[i];
		if (!near.best)
			break;
		g_string_append_printf(out, "%s%s", n ? ", " : "did you mean ", near.best);
		g_ptr_array_remove(keys, (gpointer)near.best);
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
		g_string_append_printf(text, "option %s: nothing is called \"%s\"; ",
				       option, name);
		help(text, name);
		complain(data, text->str);
		ok = false;
	}
	return ok;
}

static bool
check_set(const struct tally_config *config, tally_config_complain *complain, void *data)
{
	if (!config->set || is_offered("all", config->set))
		return true;
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	ask_drivers(&(struct offers){ .sets = names }, "all");
	g_ptr_array_add(names, NULL);
	g_autofree char *list = g_strjoinv(", ", (char **)names->pdata);
	g_autofree char *text = g_strdup_printf(
		"option set: no set of counters here is called \"%s\"; there are %s",
		config->set, *list ? list : "none");
	complain(data, text);
	return false;
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
