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
attach_sets(struct tally_decoder *d)
{
	const char *const *keys = d->set_keys.items;
	struct tally_set_info *sets = d->set_infos.items;
	for (size_t i = 0; i < d->set_infos.n; i++) {
		sets[i].keys = keys;
		keys += sets[i].n_keys;
	}
}

static bool
check_device(struct tally_decoder *d, const struct tally_object *o,
	     struct tally_device_record *device)
{
	if (!attach_counters(d, device))
		return false;
	attach_sets(d);
	if (tally_numbers_add(&d->devices, device->device, TALLY_MAX_NUMBERS))
		return true;
	if (d->devices.n < TALLY_MAX_NUMBERS)
		return tally_json_fail_memory(&d->json);
	return tally_json_fail(&d->json, o->where, "more than %u devices in one log",
			       TALLY_MAX_NUMBERS);
}

static bool
check_pass_info(struct tally_decoder *d, const struct tally_object *o,
		const struct tally_pass_info_record *info)
{
	(void)o;
	if (tally_numbers_add(&d->ids, info->id, TALLY_MAX_NUMBERS) ||
	    d->ids.n == TALLY_MAX_NUMBERS)
		return true;
	return tally_json_fail_memory(&d->json);
}

/* tally_decode_NAME() of the lines, and decode_NAME() of the objects in them. */
#include "json/log_read_device.inc"
