#include "query/known_sources.h"

#include <string.h>

#include "layer/config/config.h"

const struct tally_known_source tally_known_sources[TALLY_N_KNOWN_SOURCES] = {
	{ "api", true },           { "gl-timestamp", true },   { "gl-statistics", true },
	{ "gl-intel", true },      { "gl-amd", true },         { "vk-timestamp", true },
	{ "vk-statistics", true }, { "vk-khr", true },         { "mali-kbase", true },
	{ "mali-panfrost", true }, { "microblaze", true },     { "linux-perf", false },
	{ "linux-proc", false },    { "fake", false },          { "fake-snapshot", false },
	{ "null", false },
};

bool
tally_source_wanted(const char *list, const char *name)
{
	bool by_default = false;
	for (unsigned i = 0; i < TALLY_N_KNOWN_SOURCES; i++)
		if (strcmp(tally_known_sources[i].name, name) == 0)
			by_default = tally_known_sources[i].by_default;
	if (!list)
		return by_default;
	return tally_list_matches(list, name, name) || (by_default && tally_list_has(list, "all"));
}
