/* SPDX-License-Identifier: MIT */
#include "layer/session/header.h"

#include "layer/config/options.h"
#include "layer/frame/identity.h"
#include "layer/log.h"
#include "layer/session/process.h"
#include "passtally_version.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Copies the values in force, one after the other, to a single block. NULL on OOM. */
static struct tally_key_text *
list_options(const struct tally_config *config, uint32_t *n)
{
	size_t bytes = tally_n_options * sizeof(struct tally_key_text);
	for (size_t i = 0; i < tally_n_options; i++)
		bytes += tally_option_get(&tally_options[i], config, NULL, 0) + 1;
	struct tally_key_text *records = malloc(bytes);
	*n = 0;
	if (!records)
		return NULL;
	char *text = (char *)(records + tally_n_options);
	for (size_t i = 0; i < tally_n_options; i++) {
		size_t len = tally_option_get(&tally_options[i], config, text,
					      bytes - (size_t)(text - (char *)records));
		if (len == 0)
			continue;
		if (config->no_argv)
			tally_identity_hide_homes(text);
		records[(*n)++] = (struct tally_key_text){ tally_options[i].key, text };
		text += len + 1;
	}
	return records;
}

bool
tally_header_write(const struct tally_naming *naming, const char *program,
		   const struct tally_recorder_ops *ops, struct tally_recorder *recorder)
{
	const struct tally_config *config = naming->config;
	struct tally_process process = { 0 };
	if (!config->no_argv)
		tally_process_read(&process);
	uint32_t n_options;
	struct tally_key_text *options = list_options(config, &n_options);
	static char shown[PATH_MAX];
	snprintf(shown, sizeof(shown), "%s", program);
	if (config->no_argv)
		tally_identity_hide_homes(shown);
	struct tally_header_record header = {
		.version = PASSTALLY_VERSION,
		.program = shown,
		.argv = process.argv,
		.n_argv = process.n_argv,
		.has_argv = process.argv != NULL,
		.pid = naming->pid,
		.started_unix_ns = naming->started_unix_ns,
		.options = options,
		.n_options = n_options,
		.digest = config->digest,
		.process_start_ns = tally_process_start_ns(),
	};
	static struct tally_identity identity; /* 9 KiB: too much for a game's stack */
	tally_identity_read(&identity, config, &header);
	enum tally_record_status status = ops->header(recorder, &header);
	if (status == TALLY_RECORD_OK)
		status = ops->flush(recorder);
	free(options);
	tally_process_finish(&process);
	if (status == TALLY_RECORD_OK)
		return true;
	tally_log_say(TALLY_LEVEL_ERROR, "session", "nothing is captured, the game goes on: %s",
		      ops->why(recorder));
	return false;
}
