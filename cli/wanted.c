#include "cli/wanted.h"

#include "cli/probe.h"

#include <glib.h>

#include "query/known_sources.h"
#include "query/statistics_catalogue.h"

static const char *const sets[] = { "overview", "all" };
static const char *const fake_counters[] = { "fake_a", "fake_b" };

static bool
is_source(const char *item)
{
	for (size_t i = 0; i < TALLY_N_KNOWN_SOURCES; i++)
		if (tally_source_wanted(item, tally_known_sources[i].name))
			return true;
	return false;
}

static void
seen(void *data, const struct tally_probe_found *found)
{
	bool *any = data;
	*any |= found->device->n_counters > 0;
}

/* Counters of the GPU's own are the driver's to name: ask it. */
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
	for (size_t i = 0; i < G_N_ELEMENTS(fake_counters); i++)
		if (tally_list_matches(item, fake_counters[i], fake_counters[i]))
			return true;
	return is_driver_counter(item);
}

static void
list_sources(GString *out)
{
	for (size_t i = 0; i < TALLY_N_KNOWN_SOURCES; i++)
		g_string_append_printf(out, "%s%s", i ? ", " : "", tally_known_sources[i].name);
}

static void
list_counters(GString *out)
{
	g_string_append(out, "the sets overview and all, those that `passtally counters` "
			     "lists, and ");
	for (size_t i = 0; i < TALLY_N_STATISTICS; i++)
		g_string_append_printf(out, "%s%s", i ? ", " : "", tally_statistics[i].key);
}

/* Each item of a list by itself. */
static bool
check(const char *option, const char *list, bool (*known)(const char *),
      void (*list_valid)(GString *), tally_config_complain *complain, void *data)
{
	bool ok = true;
	char **items = g_strsplit_set(list ? list : "", "+,", -1);
	for (char **item = items; *item; item++) {
		const char *name = g_strstrip(*item);
		if (!*name || known(name))
			continue;
		GString *text = g_string_new(NULL);
		g_string_append_printf(text, "option %s: nothing is called \"%s\"; there are ",
				       option, name);
		list_valid(text);
		complain(data, text->str);
		g_string_free(text, TRUE);
		ok = false;
	}
	g_strfreev(items);
	return ok;
}

bool
tally_wanted_check(const struct tally_config *config, tally_config_complain *complain, void *data)
{
	bool ok = check("sources", config->sources, is_source, list_sources, complain, data);
	return check("counters", config->counters, is_counter, list_counters, complain, data) && ok;
}
