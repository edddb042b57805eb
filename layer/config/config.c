/* SPDX-License-Identifier: MIT */
#include "layer/config/config.h"

#include "layer/config/base.h"
#include "layer/config/metric.h"
#include "layer/config/options.h"
#include "layer/config/tags.h"

#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS_TEXT (64u << 10)

/* Sets the defaults, without the table of origins. */
static void
set_defaults(struct tally_config *config)
{
	*config = (struct tally_config){
		.counters = tally_config_copy_string("overview"),
		.microblaze = tally_config_copy_string("off"),
		.granularity = TALLY_GRANULARITY_PASS,
		.frame = TALLY_FRAME_PRESENT,
		.frame_every = 1,
		.split = TALLY_SPLIT_NONE,
		.group_work = true,
		.snapshot = TALLY_SNAPSHOT_SAMPLED,
		.period_ns = 1000000,
		.every = 1,
		.max_log = UINT64_C(2) << 30,
		.log_quota = UINT64_C(4) << 30,
		.max_passes = 16384,
	};
}

void
tally_config_init(struct tally_config *config)
{
	set_defaults(config);
	config->origin = calloc(tally_n_options, sizeof(*config->origin));
}

void
tally_config_finish(struct tally_config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < tally_n_options; i++) {
		if (tally_options[i].type == TALLY_OPTION_STRING)
			free(*(char **)((char *)config + tally_options[i].offset));
	}
	free(config->frame_label);
	free(config->pictures.label);
	free(config->start_on.label);
	free(config->stop_on.label);
	free(config->origin);
	tally_config_finish_tags(config);
	tally_config_metrics_finish(config);
	memset(config, 0, sizeof(*config));
}

const struct tally_option *
tally_option_find(const char *key, size_t len)
{
	for (size_t i = 0; i < tally_n_options; i++) {
		if (strlen(tally_options[i].key) == len &&
		    memcmp(tally_options[i].key, key, len) == 0)
			return &tally_options[i];
	}
	return NULL;
}

static bool
report_unknown(const char *key, const struct tally_config_place *to)
{
	char keys[512];
	size_t len = 0;
	for (size_t i = 0; i < tally_n_options; i++)
		tally_config_append(keys, sizeof(keys), &len, "%s%s", i ? ", " : "",
				    tally_options[i].key);
	return tally_config_report(to, "there is no option \"%.64s\"; the options are %s", key,
				   keys);
}

/* Tags add up over all places; which of two with the same key counts is decided for each
 * tag. */
static bool
set_tags(struct tally_config *config, size_t row, const char *value,
	 enum tally_config_origin origin, const struct tally_config_place *to)
{
	char why[512] = "";
	if (!tally_config_set_tags(config, value, origin, why, sizeof(why)))
		return tally_config_report(to, "%s", why);
	if (config->origin && config->origin[row] < origin)
		config->origin[row] = origin;
	return true;
}

bool
tally_config_set(struct tally_config *config, const char *key, const char *value,
		 enum tally_config_origin origin, tally_config_complain *complain, void *data)
{
	const struct tally_config_place to = { complain, data, NULL };
	const struct tally_option *option = tally_option_find(key, strlen(key));
	if (!option)
		return report_unknown(key, &to);
	char why[512] = "";
	if (!value && option->values && *option->values != '[')
		return tally_config_report(&to, "option %s needs a value: %s", option->key,
					   option->values);
	size_t row = (size_t)(option - tally_options);
	if (option->type == TALLY_OPTION_TAGS)
		return set_tags(config, row, value, origin, &to);
	/* A value that a higher precedence overrides is still checked: an error is still an
	 * error. */
	struct tally_config scratch;
	struct tally_config *into = config;
	if (config->origin && origin < config->origin[row]) {
		set_defaults(&scratch);
		scratch.origin = NULL;
		into = &scratch;
	}
	bool ok = tally_option_set(option, into, value ? value : "on", why, sizeof(why));
	if (into == &scratch)
		tally_config_finish(&scratch);
	else if (ok && config->origin)
		config->origin[row] = origin;
	return ok || tally_config_report(&to, "%s", why);
}

/* Copies the next comma-separated item to `out` with its backslash escapes
 * resolved. *value: the text after the first '=', or NULL. Returns where the next
 * item begins, NULL after the last. */
static const char *
next_item(const char *text, char *out, char **value, bool *torn)
{
	*value = NULL;
	*torn = false;
	for (; *text && *text != ','; text++) {
		if (*text == '=' && !*value) {
			*out++ = '\0';
			*value = out;
			continue;
		}
		if (*text == '\\') {
			text++;
			if (!*text) {
				*torn = true;
				break;
			}
		}
		*out++ = *text;
	}
	*out = '\0';
	return *text == ',' ? text + 1 : NULL;
}

bool
tally_config_parse_options(struct tally_config *config, const char *text,
			   enum tally_config_origin origin, tally_config_complain *complain,
			   void *data)
{
	const struct tally_config_place to = { complain, data, NULL };
	size_t len = strnlen(text, MAX_OPTIONS_TEXT + 1);
	if (len > MAX_OPTIONS_TEXT)
		return tally_config_report(
			&to, "the options are longer than %u bytes: none of them was taken",
			MAX_OPTIONS_TEXT);
	char *item = malloc(len + 1);
	if (!item)
		return tally_config_report(&to, "out of memory: the options were not taken");
	bool ok = true;
	while (text) {
		char *value;
		bool torn;
		text = next_item(text, item, &value, &torn);
		char *key = tally_config_trim(item);
		if (torn)
			ok = tally_config_report(
				&to, "a backslash ends the options: write \\\\ for one");
		else if (*key || value)
			ok &= tally_config_set(config, key, value, origin, complain, data);
	}
	free(item);
	return ok;
}
