/* SPDX-License-Identifier: MIT */
#include "query/microblaze/decode.h"

#include <string.h>

#include "query/microblaze/registers.h"

uint32_t
tally_mb_event_items(const struct tally_mb_shape *shape)
{
	return shape->width == 32 ? 1 : 2;
}

uint32_t
tally_mb_latency_items(const struct tally_mb_shape *shape)
{
	return shape->width == 32 ? 4 : 7;
}

uint32_t
tally_mb_items(const struct tally_mb_shape *shape)
{
	return shape->ne * tally_mb_event_items(shape) +
	       shape->nl * tally_mb_latency_items(shape);
}

uint64_t
tally_mb_mask(const struct tally_mb_shape *shape)
{
	return shape->width == 64 ? UINT64_MAX : (UINT64_C(1) << shape->width) - 1;
}

/* Decodes one number of the counter's width; advances *items. */
static uint64_t
take_number(const struct tally_mb_shape *shape, const uint32_t **items, bool *bad)
{
	uint64_t value = *(*items)++;
	if (shape->width == 32)
		return value;
	if (shape->width == 48 && value >> 16)
		*bad = true;
	return value << 32 | *(*items)++;
}

void
tally_mb_decode(const struct tally_mb_shape *shape, const uint32_t *status,
		const uint32_t *items, struct tally_mb_sample *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < shape->ne + shape->nl; i++) {
		out->status[i] = status[i] & (TALLY_MDM_OVERFLOW | TALLY_MDM_FULL);
		if (status[i] != out->status[i])
			out->bad_status = true;
		/* Latencies overlap, events do not. */
		if (i < shape->ne && status[i] & TALLY_MDM_FULL)
			out->bad_status = true;
	}
	for (uint32_t i = 0; i < shape->ne; i++)
		out->events[i] = take_number(shape, &items, &out->bad_item);
	for (uint32_t i = 0; i < shape->nl; i++) {
		struct tally_latency *l = &out->latencies[i].l;
		l->n = *items++;
		l->sum = take_number(shape, &items, &out->bad_item);
		l->sum_sq = take_number(shape, &items, &out->bad_item);
		if (shape->width == 32) {
			out->latencies[i].min = *items >> 16;
			out->latencies[i].max = *items++ & 0xffff;
		} else {
			out->latencies[i].min = *items++;
			out->latencies[i].max = *items++;
		}
	}
}

uint32_t
tally_mb_encode_event(const struct tally_mb_shape *shape, uint64_t value, uint32_t items[2])
{
	value &= tally_mb_mask(shape);
	if (shape->width == 32) {
		items[0] = (uint32_t)value;
		return 1;
	}
	items[0] = (uint32_t)(value >> 32);
	items[1] = (uint32_t)value;
	return 2;
}
