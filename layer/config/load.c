/* SPDX-License-Identifier: MIT */
#include "layer/config/load.h"

#include "layer/config/base.h"
#include "layer/config/file.h"
#include "layer/config/options.h"
#include "layer/config/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

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

/* Writes the path of the settings of Vulkan's layers: vkconfig's, else the one that the
 * environment names, else the one in the folder where the program was started. */
static void
find_layer_file(char *path, size_t size)
{
	static const char name[] = "vk_layer_settings.txt";
	const char *share = getenv("XDG_DATA_HOME"), *home = tally_config_home();
	struct stat st;
	if ((share && *share) || home) {
		bool own = share && *share;
		snprintf(path, size, "%s%s/vulkan/settings.d/%s", own ? share : home,
			 own ? "" : "/.local/share", name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			return;
	}
	const char *named = getenv("VK_LAYER_SETTINGS_PATH");
	bool there = named && stat(named, &st) == 0;
	snprintf(path, size, "%s%s%s", there ? named : "", there && S_ISDIR(st.st_mode) ? "/" : "",
		 there && !S_ISDIR(st.st_mode) ? "" : name);
}

/* Writes VK_PASSTALLY_CAPTURE_MAX_LOG for "max-log". */
static void
name_variable(const char *key, char *name, size_t size)
{
	size_t n = (size_t)snprintf(name, size, "VK_PASSTALLY_CAPTURE_");
	for (; *key && n + 1 < size; key++)
		name[n++] = *key == '-' ? '_' : (char)(*key >= 'a' ? *key - 'a' + 'A' : *key);
	name[n] = '\0';
}

static bool
read_layer_settings(struct tally_config *config, tally_config_complain *complain, void *data)
{
	char text[4096];
	find_layer_file(text, sizeof(text));
	bool ok = tally_config_read_layer_file(config, text, complain, data);
	for (size_t i = 0; i < tally_n_options; i++) {
		struct tally_config_place place = { complain, data, text };
		name_variable(tally_options[i].key, text, sizeof(text));
		const char *value = getenv(text);
		if (value && *value)
			ok &= tally_config_set(config, tally_options[i].key, value,
					       TALLY_FROM_LAYER_SETTINGS, tally_config_report_at,
					       &place);
	}
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
	ok &= read_layer_settings(config, complain, data);

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
	config->pipelines |= config->granularity == TALLY_GRANULARITY_DRAW ||
			     config->pipeline_statistics;
	return ok;
}
