/* SPDX-License-Identifier: MIT */
#include "query/microblaze/counters.h"

#include "layer/base/clock.h"
#include "query/microblaze/events.h"

/* How long cycles are counted to see how they are stored, and the highest core clock. */
#define TRY_NS UINT64_C(20000)
#define MOST_MHZ 2000u

void
tally_mb_command(const struct tally_mdm *mdm, uint32_t command)
{
	tally_mdm_write(mdm, TALLY_MDM_COMMAND, command);
}

void
tally_mb_configure(const struct tally_mdm *mdm, const struct tally_mb_shape *shape,
		   const uint8_t *events)
{
	tally_mb_command(mdm, TALLY_MDM_RESET);
	for (uint32_t i = 0; i < shape->ne + shape->nl; i++)
		tally_mdm_write(mdm, TALLY_MDM_EVENT, events[i]);
}

void
tally_mb_preset(const struct tally_mdm *mdm, const struct tally_mb_shape *shape, uint32_t k,
		uint64_t value)
{
	tally_mb_command(mdm, TALLY_MDM_RESET);
	for (uint32_t i = 0; i <= k; i++) {
		uint32_t items[2];
		uint32_t n = tally_mb_encode_event(shape, i == k ? value : 0, items);
		for (uint32_t j = 0; j < n; j++)
			tally_mdm_write(mdm, TALLY_MDM_WRITE, items[j]);
	}
}

static void
read_items(const struct tally_mdm *mdm, uint32_t n, uint32_t *items)
{
	tally_mb_command(mdm, TALLY_MDM_RESET);
	for (uint32_t i = 0; i < n; i++)
		items[i] = tally_mdm_read(mdm, TALLY_MDM_READ);
}

void
tally_mb_read(const struct tally_mdm *mdm, const struct tally_mb_shape *shape,
	      struct tally_mb_sample *out)
{
	uint32_t status[TALLY_MB_MAX_COUNTERS], items[TALLY_MB_MAX_ITEMS];
	tally_mb_command(mdm, TALLY_MDM_RESET);
	for (uint32_t i = 0; i < shape->ne + shape->nl; i++)
		status[i] = tally_mdm_read(mdm, TALLY_MDM_STATUS);
	read_items(mdm, tally_mb_items(shape), items);
	tally_mb_decode(shape, status, items, out);
}

/* ---- check of the shape ---- */

/* The value to write to item i, which differs from its neighbors'. Upper parts hold 16 bits at
 * width 48; minima and maxima get a value that a Clear might leave there. */
static uint32_t
pattern(const struct tally_mb_shape *shape, uint32_t i, bool *exact)
{
	uint32_t of_events = shape->ne * tally_mb_event_items(shape);
	uint32_t in_latency = i < of_events
				      ? 0
				      : (i - of_events) % tally_mb_latency_items(shape);
	uint32_t value = 0x1001u + 0x111u * i;
	*exact = true;
	if (shape->width == 32) {
		if (i < of_events || in_latency != 3)
			return value | 0x5a000000u;
		*exact = false;
		return 0xffff0000u; /* minimum: all ones, maximum: 0 */
	}
	if (i >= of_events && in_latency >= 5) {
		*exact = false;
		return in_latency == 5 ? UINT32_MAX : 0;
	}
	bool upper = i < of_events ? i % 2 == 0 : in_latency == 1 || in_latency == 3;
	/* Bit 30 distinguishes 64 bits from 48. */
	return upper ? value | 0x40000000u : value | 0x5a000000u;
}

/* At width 48 an upper part keeps 16 of its bits, at width 64 all of them. A 32-bit counter would
 * keep all bits, too, but its items are laid out differently. */
static bool
keeps_items(const struct tally_mdm *mdm, const struct tally_mb_shape *shape)
{
	uint32_t n = tally_mb_items(shape), items[TALLY_MB_MAX_ITEMS];
	bool exact;
	/* The minimum and maximum of the last latency counter need no check. */
	uint32_t last = n;
	if (shape->nl)
		last -= shape->width == 32 ? 1 : 2;
	tally_mb_command(mdm, TALLY_MDM_RESET);
	for (uint32_t i = 0; i < last; i++)
		tally_mdm_write(mdm, TALLY_MDM_WRITE, pattern(shape, i, &exact));
	tally_mb_command(mdm, TALLY_MDM_SAMPLE);
	read_items(mdm, last, items);
	for (uint32_t i = 0; i < last; i++) {
		uint32_t want = pattern(shape, i, &exact);
		bool upper = shape->width == 48 && want >> 16 == 0x4000;
		if (exact && items[i] != (upper ? want & 0xffff : want))
			return false;
	}
	return true;
}

static uint64_t
count_for_a_while(const struct tally_mdm *mdm)
{
	uint64_t begin_ns = tally_clock_now_ns(), now_ns;
	tally_mb_command(mdm, TALLY_MDM_CLEAR | TALLY_MDM_START);
	do
		now_ns = tally_clock_now_ns();
	while (now_ns - begin_ns < TRY_NS);
	tally_mb_command(mdm, TALLY_MDM_SAMPLE | TALLY_MDM_STOP);
	return tally_clock_now_ns() - begin_ns;
}

/* At 32 bits four event counters have as many items as one latency counter. Cycles that are
 * equal in all four items come from event counters: the last item of a latency counter consists
 * of two 16-bit numbers. */
static bool
are_events(const struct tally_mdm *mdm, const struct tally_mb_shape *shape)
{
	uint32_t of_events = shape->ne * tally_mb_event_items(shape);
	uint32_t n = tally_mb_items(shape), items[TALLY_MB_MAX_ITEMS];
	if (shape->width != 32 || shape->nl == 0)
		return false;
	read_items(mdm, n, items);
	for (const uint32_t *l = items + of_events; l < items + n; l += 4)
		if (l[0] && l[0] == l[1] && l[0] == l[2] && l[0] == l[3])
			return true;
	return false;
}

/* Whether all event counters count cycles, and start and stop together. `*still`: they do, but
 * none went by. */
static bool
counts_cycles(const struct tally_mdm *mdm, const struct tally_mb_shape *shape,
	      bool *still)
{
	struct tally_mb_sample sample;
	/* This is more counters than there may be, for the benefit of are_events(). */
	tally_mb_command(mdm, TALLY_MDM_RESET);
	for (uint32_t i = 0; i < tally_mb_items(shape); i++)
		tally_mdm_write(mdm, TALLY_MDM_EVENT, TALLY_MB_CYCLES);
	uint64_t ns = count_for_a_while(mdm);
	tally_mb_read(mdm, shape, &sample);
	for (uint32_t i = 0; i < shape->ne; i++)
		if (sample.events[i] != sample.events[0])
			return false;
	*still = shape->ne && sample.events[0] == 0;
	return !are_events(mdm, shape) && !sample.bad_item &&
	       sample.events[0] <= ns * MOST_MHZ / 1000 + 1000;
}

/* Configuring fewer counters than the core has does no harm, unless the latency counters are
 * then elsewhere. What follows the last item is not documented, so only one test is relied on:
 * an item that keeps the value that only it was given belongs to a counter. */
static bool
has_more(const struct tally_mdm *mdm, const struct tally_mb_shape *shape)
{
	const uint32_t more = 0x2bcd;
	uint32_t n = tally_mb_items(shape), items[TALLY_MB_MAX_ITEMS + 1];
	bool exact;
	tally_mb_command(mdm, TALLY_MDM_RESET);
	for (uint32_t i = 0; i < n; i++)
		tally_mdm_write(mdm, TALLY_MDM_WRITE, pattern(shape, i, &exact));
	tally_mdm_write(mdm, TALLY_MDM_WRITE, more);
	/* It must not be the last value that is written: a register that only keeps the last
	 * write could return it. */
	tally_mb_command(mdm, TALLY_MDM_RESET);
	tally_mdm_write(mdm, TALLY_MDM_WRITE, pattern(shape, 0, &exact));
	tally_mb_command(mdm, TALLY_MDM_SAMPLE);
	read_items(mdm, n + 1, items);
	return items[n] == more && items[n - 1] != more;
}

enum tally_status
tally_mb_try(const struct tally_mdm *mdm, const struct tally_mb_shape *shape,
	     char *reason)
{
	bool still = false;
	tally_mb_command(mdm, TALLY_MDM_STOP);
	tally_mb_command(mdm, TALLY_MDM_CLEAR);
	bool good = keeps_items(mdm, shape);
	if (good && (shape->ne || shape->width == 32))
		good = counts_cycles(mdm, shape, &still);
	if (good && !still && shape->nl)
		good = !has_more(mdm, shape);
	tally_mb_command(mdm, TALLY_MDM_STOP);
	tally_mb_command(mdm, TALLY_MDM_CLEAR);
	if (good && !still)
		return TALLY_OK;
	return tally_unsupported(
		reason,
		"the core does not have %u event and %u latency counters of %u bits%s: "
		"give its "
		"own numbers with ne=, nl= and width=; check=off takes them as they are",
		shape->ne, shape->nl, shape->width, still ? ", or stands still" : "");
}
