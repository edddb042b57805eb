/* SPDX-License-Identifier: MIT */
#include "layer/config/internal.h"

#include <stdio.h>
#include <stdlib.h>

char *
tally_config_file_path(const char *program)
{
	char name[512] = "passtally.conf";
	int len = program ? snprintf(name, sizeof(name), "programs/%s.conf",
				     tally_config_base_name(program))
			  : 1;
	if (len <= 0 || (size_t)len >= sizeof(name))
		return NULL;
	return tally_config_home_path("XDG_CONFIG_HOME", ".config", name);
}

static bool
read_home_file(struct tally_config *config, const char *program, enum tally_config_origin origin,
	       tally_config_complain *complain, void *data)
{
	char *path = tally_config_file_path(program);
	if (!path)
		return true; /* no home, no file */
	bool ok = tally_config_read_file(config, path, origin, complain, data);
	free(path);
	return ok;
}

bool
tally_config_load(struct tally_config *config, const char *program,
		  tally_config_complain *complain, void *data)
{
	if (tally_config_secure())
		return true;
	bool ok = read_home_file(config, NULL, TALLY_FROM_USER_FILE, complain, data);
	if (program)
		ok &= read_home_file(config, program, TALLY_FROM_PROGRAM_FILE, complain, data);

	struct tally_config_place place = { complain, data, "PASSTALLY_OPTIONS" };
	const char *options = getenv("PASSTALLY_OPTIONS");
	if (options)
		ok &= tally_config_parse_options(config, options, TALLY_FROM_ENVIRONMENT,
						 tally_config_report_at, &place);
	const char *log = getenv("PASSTALLY_LOG");
	place.where = "PASSTALLY_LOG";
	if (log && *log)
		ok &= tally_config_set(config, "log", log, TALLY_FROM_ENVIRONMENT,
				       tally_config_report_at, &place);
	/* Of each draw its pipeline. */
	config->pipelines |= config->granularity == TALLY_GRANULARITY_DRAW;
	return ok;
}
