/* SPDX-License-Identifier: MIT */
#include "cli/selftest/reading.h"

#include "cli/log/input.h"
#include "cli/shared/each.h"
#include "json/record_read.h"

#include <string.h>

/* ---- the log ---- */

static struct tally_keyed_value *
copy_values(const struct tally_keyed_value *values, uint32_t n)
{
	struct tally_keyed_value *copy = g_new0(struct tally_keyed_value, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		copy[i] = values[i];
		copy[i].key = g_intern_string(values[i].key);
	}
	return copy;
}

static void
add_frame(struct tally_seen_log *log, const struct tally_frame_record *frame)
{
	if (!log->found || frame->device != log->device || frame->flags & TALLY_FLAG(PARTIAL))
		return;
	struct tally_frame_record seen = *frame;
	struct tally_pass_record *passes = g_new0(struct tally_pass_record,
						  frame->n_passes + 1);
	for (uint32_t i = 0; i < frame->n_passes; i++) {
		passes[i] = frame->passes[i];
		passes[i].counters = copy_values(passes[i].counters,
						 passes[i].n_counters);
	}
	seen.set = g_intern_string(frame->set);
	seen.passes = passes;
	seen.unattributed = copy_values(frame->unattributed, frame->n_unattributed);
	g_array_append_val(log->frames, seen);
}

static void
take_device(struct tally_seen_log *log, const struct tally_device_record *device,
	    bool vulkan)
{
	if ((device->api == TALLY_API_VULKAN) != vulkan ||
	    (log->found && log->device != device->device))
		return;
	log->found = true;
	log->device = device->device;
	g_ptr_array_set_size(log->counters, 0);
	for (uint32_t i = 0; i < device->n_counters; i++) {
		struct tally_counter *copy = g_new(struct tally_counter, 1);
		*copy = *device->counters[i];
		copy->key = g_intern_string(copy->key);
		copy->unit = g_intern_string(copy->unit);
		copy->description = g_intern_string(copy->description);
		copy->source = g_intern_string(copy->source);
		g_ptr_array_add(log->counters, copy);
	}
}

void
tally_seen_read(struct tally_seen_log *log, const char *path, bool vulkan)
{
	*log = (struct tally_seen_log){
		.counters = g_ptr_array_new_with_free_func(g_free),
		.frames = g_array_new(FALSE, FALSE, sizeof(struct tally_frame_record)),
	};
	struct tally_read_error error = { 0 };
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_input_open(path, &status, &error);
	struct tally_log_line line;
	bool ended = false;
	while (reader && (status = tally_log_reader_next(reader, &line, &error)) ==
				 TALLY_READ_OK) {
		ended |= line.type == TALLY_LINE_END;
		if (line.type == TALLY_LINE_DEVICE)
			take_device(log, &line.device, vulkan);
		else if (line.type == TALLY_LINE_FRAME)
			add_frame(log, &line.frame);
	}
	tally_log_reader_close(reader);
	if (status != TALLY_READ_END)
		log->error = g_strdup(error.message[0] ? error.message : "it is cut");
	else if (!ended)
		log->error = g_strdup("it has no end line");
}

void
tally_seen_clear(struct tally_seen_log *log)
{
	if (!log->frames)
		return; /* never read */
	TALLY_EACH_OF (struct tally_frame_record, frame, log->frames) {
		for (uint32_t k = 0; k < frame->n_passes; k++)
			g_free((void *)frame->passes[k].counters);
		g_free((void *)frame->passes);
		g_free((void *)frame->unattributed);
	}
	g_array_unref(log->frames);
	g_ptr_array_unref(log->counters);
	g_free(log->error);
	*log = (struct tally_seen_log){ 0 };
}

const struct tally_counter *
tally_seen_counter(const struct tally_seen_log *log, const char *key)
{
	TALLY_EACH (const struct tally_counter, counter, log->counters) {
		if (strcmp(counter->key, key) == 0)
			return counter;
	}
	return NULL;
}

const struct tally_value *
tally_seen_value(const struct tally_pass_record *pass, const char *key)
{
	for (uint32_t i = 0; i < pass->n_counters; i++)
		if (strcmp(pass->counters[i].key, key) == 0)
			return &pass->counters[i].value;
	return NULL;
}

/* ---- the expectation ---- */

/* What follows "KEY": in the text, NULL if the key is absent or null. */
static const char *
find_value(const char *text, const char *key)
{
	g_autofree char *quoted = g_strdup_printf("\"%s\":", key);
	const char *found = strstr(text, quoted);
	found = found ? found + strlen(quoted) : NULL;
	return found && *found != 'n' ? found : NULL;
}

bool
tally_expected_number(const char *pass, const char *group, const char *key,
		      int64_t *out)
{
	const char *from = group ? find_value(pass, group) : pass;
	g_autofree char *inside = from ? g_strndup(from, group ? strcspn(from, "}")
							       : strlen(from))
				       : NULL;
	const char *value = inside ? find_value(inside, key) : NULL;
	if (value)
		*out = g_ascii_strtoll(value, NULL, 10);
	return value != NULL;
}

char *
tally_expected_word(const char *pass, const char *key)
{
	const char *value = find_value(pass, key);
	return value && *value == '"' ? g_strndup(value + 1, strcspn(value + 1, "\""))
				      : NULL;
}

char **
tally_expected_split(const char *json)
{
	/* Of an empty text there would be not even the first part. */
	char **parts = g_strsplit(*json ? json : "-", "{\"kind\"", -1);
	for (char **part = parts; *part && part[1]; part++) {
		g_autofree char *rest = part[1];
		part[1] = g_strconcat("{\"kind\"", rest, NULL);
	}
	return parts;
}
