/* SPDX-License-Identifier: MIT */
#include "json/decode_device.h"

#include "json/decode_frame.h"

static bool
decode_color(struct tally_decoder *d, struct tally_pass_info_record *info)
{
	struct tally_target *target = &info->target;
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		const char *format = NULL;
		bool absent = tally_json_peek(&d->json) == 'n';
		if (absent ? !tally_json_read_null(&d->json) : !tally_decode_kept(d, &format))
			return false;
		if (target->n_color == TALLY_MAX_COLOR)
			return tally_json_fail(&d->json, d->json.at,
					       "more than %d color attachments", TALLY_MAX_COLOR);
		target->color[target->n_color++].format = format;
	}
	return !d->json.failed;
}

static bool
decode_facts(struct tally_decoder *d, struct tally_device_record *device)
{
	bool ok = tally_decode_texts(d);
	device->n_facts = (uint32_t)d->texts.n;
	return ok;
}

static bool
decode_set_counters(struct tally_decoder *d, struct tally_set_info *set)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		const char **key = tally_array_push(d, &d->set_keys, sizeof(*key));
		if (!key || !tally_decode_kept(d, key))
			return false;
		set->n_keys++;
	}
	return !d->json.failed;
}

/* read_device(), read_pass_info(), read_pipeline(), and decode_NAME() of the objects in them. */
#include "json/log_read_device.inc"

/* Records need pointers to counters, which do not move from now on. */
static bool
attach_counters(struct tally_decoder *d, struct tally_device_record *device)
{
	const struct tally_counter *counters = d->counter_infos.items;
	for (size_t i = 0; i < d->counter_infos.n; i++) {
		const struct tally_counter **pointer = tally_array_push(
			d, &d->counter_pointers, sizeof(const struct tally_counter *));
		if (!pointer)
			return false;
		*pointer = &counters[i];
	}
	device->counters = tally_array_items(&d->counter_pointers);
	return true;
}

/* The keys of all sets, one set's after the other's, do not move either. */
static void
attach_sets(struct tally_decoder *d, struct tally_device_record *device)
{
	const char *const *keys = d->set_keys.items;
	struct tally_set_info *sets = d->set_infos.items;
	for (size_t i = 0; i < d->set_infos.n; i++) {
		sets[i].keys = keys;
		keys += sets[i].n_keys;
	}
	device->sets = tally_array_items(&d->set_infos);
}

bool
tally_decode_device(struct tally_decoder *d, struct tally_device_record *device)
{
	struct tally_object o;
	if (!read_device(d, &o, device) || !attach_counters(d, device))
		return false;
	attach_sets(d, device);
	device->facts = tally_array_items(&d->texts);
	device->sources = tally_array_items(&d->sources);
	device->metrics = tally_array_items(&d->metric_infos);
	if (tally_numbers_add(&d->devices, device->device, TALLY_MAX_NUMBERS))
		return true;
	if (d->devices.n < TALLY_MAX_NUMBERS)
		return tally_json_fail_memory(&d->json);
	return tally_json_fail(&d->json, o.where, "more than %u devices in one log",
			       TALLY_MAX_NUMBERS);
}

bool
tally_decode_pass_info(struct tally_decoder *d, struct tally_pass_info_record *info)
{
	struct tally_object o;
	if (!read_pass_info(d, &o, info))
		return false;
	if (tally_numbers_add(&d->ids, info->id, TALLY_MAX_NUMBERS) ||
	    d->ids.n == TALLY_MAX_NUMBERS)
		return true;
	return tally_json_fail_memory(&d->json);
}

bool
tally_decode_pipeline(struct tally_decoder *d, struct tally_pipeline_record *pipeline)
{
	struct tally_object o;
	if (!read_pipeline(d, &o, pipeline))
		return false;
	pipeline->stages = tally_array_items(&d->stages);
	pipeline->statistics = tally_array_items(&d->counters);
	return true;
}
