/* SPDX-License-Identifier: MIT */
/* When an interval of work began and ended on the GPU, by vkCmdWriteTimestamp. Both timestamps
 * are written once everything before them is completed, so that the times of consecutive
 * intervals do not overlap. Timestamps never collide with the game's queries. */
#include "query/vk/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/base/clock.h"

#define SECOND_NS UINT64_C(1000000000)
#define CALIBRATION_TRIES 3
#define TIGHT_BRACKET_NS 20000
/* No GPU clock has a shorter or longer tick than these; between them conversion is exact. */
#define SHORTEST_TICK_NS (1.0f / 256)
#define LONGEST_TICK_NS 1e6f
#define FRACTION_BITS 23

struct vk_timestamp {
	struct tally_vk_source base;
	/* Nanoseconds per tick: mantissa / 2^shift, which represents a float's
	 * value exactly. */
	uint32_t mantissa;
	unsigned shift; /* 4 to 31 */

	/* Narrow clocks wrap: a timestamp means the time that is nearest to this reading. */
	bool has_reference;
	uint64_t reference; /* ticks */
	struct tally_clock_map map;
	uint64_t calibrate_at_ns;
	/* Timestamps are not on the clock that the driver shows: no calibration. */
	bool foreign;
	bool trusted; /* a first timestamp proved that they are */

	uint64_t opened_ns;
	uint64_t now_ns; /* CPU time, no later than now */
};

static struct vk_timestamp *
timestamp_of(struct tally_vk_source *src)
{
	return (struct vk_timestamp *)src;
}

/* --- ticks -------------------------------------------------------------------------------- */

/* Modulo 2^64, like all arithmetic on times here. The product has up to 88 bits, hence the
 * halves; the upper half's contribution is whole, so that only one rounding happens, down. */
static uint64_t
ticks_to_ns(const struct vk_timestamp *t, uint64_t ticks)
{
	uint64_t upper = (ticks >> 32) * t->mantissa;
	uint64_t lower = (ticks & UINT32_MAX) * t->mantissa;
	return (upper << (32 - t->shift)) + (lower >> t->shift);
}

/* Undoes the wraps of a narrow clock: of all times that the reading may mean, the one nearest
 * to the reference. `mask` has the clock's valid bits, as everywhere here. */
static inline uint64_t
unwrap(struct vk_timestamp *t, uint64_t ticks, uint64_t mask)
{
	uint64_t wrap = mask + 1; /* 0: none */
	if (!t->has_reference) {
		/* Ahead by a wrap, so that a time that turns out to be earlier does not
		 * become negative. */
		t->reference = ticks + wrap;
		t->has_reference = true;
	}
	uint64_t ahead = (ticks - t->reference) & mask;
	bool is_earlier = wrap && ahead > wrap / 2;
	uint64_t whole = t->reference + ahead - (is_earlier ? wrap : 0);
	/* Without a calibration that updates it, the reference follows the timestamps. */
	if (!t->map.calibrated && wrap && !is_earlier)
		t->reference = whole;
	return whole;
}

/* --- the CPU's time ----------------------------------------------------------------------- */

struct reading {
	uint64_t before_ns, ticks, after_ns;
};

/* Reads the GPU's clock and, around it, ours: as tight as our own readings and the driver's
 * reported deviation allow. False when the driver fails. */
static bool
read_both(struct vk_timestamp *t, struct reading *out)
{
	static const VkCalibratedTimestampInfoEXT clocks[] = {
		{
			.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
			.timeDomain = VK_TIME_DOMAIN_DEVICE_EXT,
		},
		{
			.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
			.timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT,
		},
	};
	const struct tally_vk_api *api = t->base.api;
	uint64_t values[2] = { 0, 0 }, deviation = 0;

	out->before_ns = tally_clock_now_ns();
	VkResult result = api->GetCalibratedTimestamps(api->device, 2, clocks, values,
						       &deviation);
	out->after_ns = tally_clock_now_ns();
	if (result != VK_SUCCESS)
		return false;
	t->now_ns = out->after_ns;
	out->ticks = values[0];
	uint64_t earliest = values[1] > deviation ? values[1] - deviation : 0;
	uint64_t latest = values[1] < UINT64_MAX - deviation ? values[1] + deviation
							     : UINT64_MAX;
	/* If the driver's second value is not a CLOCK_MONOTONIC time, only our own two readings
	 * are used. */
	if (earliest > out->after_ns || latest < out->before_ns)
		return true;
	if (out->before_ns < earliest)
		out->before_ns = earliest;
	if (out->after_ns > latest)
		out->after_ns = latest;
	return true;
}

static bool
can_calibrate(const struct vk_timestamp *t)
{
	return t->base.api->GetCalibratedTimestamps && !t->foreign;
}

static void
calibrate(struct vk_timestamp *t)
{
	struct reading best = { 0, 0, UINT64_MAX };

	t->calibrate_at_ns = tally_clock_now_ns() + SECOND_NS;
	for (int i = 0; i < CALIBRATION_TRIES; i++) {
		struct reading r;
		if (!read_both(t, &r))
			break;
		if (r.after_ns - r.before_ns < best.after_ns - best.before_ns)
			best = r;
		if (best.after_ns - best.before_ns <= TIGHT_BRACKET_NS)
			break;
	}
	if (best.after_ns == UINT64_MAX)
		return; /* the map in force stays, if there is one */
	/* Reference and map belong together: the new one takes effect, tighter or not. */
	t->has_reference = true;
	t->reference = best.ticks;
	t->map = (struct tally_clock_map){ .calibrated = false };
	tally_clock_map_feed(&t->map, best.before_ns, ticks_to_ns(t, best.ticks), best.after_ns);
}

static void
timestamp_tick(struct tally_vk_source *src, uint64_t now_ns)
{
	struct vk_timestamp *t = timestamp_of(src);

	if (now_ns > t->now_ns)
		t->now_ns = now_ns;
	if (can_calibrate(t) && now_ns >= t->calibrate_at_ns)
		calibrate(t);
}

/* --- recording ---------------------------------------------------------------------------- */

static bool
timestamp_covers(const struct tally_vk_source *src, const struct tally_vk_family *family)
{
	const VkQueueFlags can_reset = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;

	/* Queues that only copy may not reset queries. */
	return family->timestamp_bits && (src->api->ResetQueryPool || family->flags & can_reset);
}

static enum tally_status
timestamp_create_pool(struct tally_vk_source *src, const struct tally_vk_family *family,
		      uint32_t slots, VkQueryPool *out)
{
	const VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_TIMESTAMP,
		.queryCount = 2 * slots,
	};

	(void)family;
	return tally_vk_create_pool(src, &info, out);
}

/* --- reading ------------------------------------------------------------------------------ */

struct timestamp {
	uint64_t ticks, available;
};

static uint32_t
timestamp_words(const struct tally_vk_source *src, const struct tally_vk_family *family)
{
	(void)src;
	(void)family;
	return sizeof(struct timestamp) / sizeof(uint64_t);
}

/* Of the views' timestamps, the one farthest from `begin`. */
static uint64_t
last_stamp(const struct timestamp *timestamps, uint32_t views, uint64_t begin,
	   uint64_t mask)
{
	uint64_t last = timestamps[0].ticks;

	for (uint32_t i = 1; i < views; i++) {
		uint64_t far = (timestamps[i].ticks - begin) & mask;
		if (timestamps[i].available && timestamps[i].ticks && far <= mask / 2 &&
		    far > ((last - begin) & mask))
			last = timestamps[i].ticks;
	}
	return last;
}

/* Whether that much time can have passed since the source was opened. Clocks may differ
 * slightly in speed. */
static inline bool
is_possible(struct vk_timestamp *t, uint64_t ns)
{
	for (int fresh = 0; fresh < 2; fresh++) {
		uint64_t passed = t->now_ns - t->opened_ns;
		if (ns <= passed + passed / 8 + SECOND_NS / 100)
			return true;
		t->now_ns = tally_clock_now_ns();
	}
	return false;
}

/* Whether the GPU can have done this work at a calibrated time. */
static bool
is_plausible(struct vk_timestamp *t, uint64_t ns)
{
	if (ns > t->now_ns)
		t->now_ns = tally_clock_now_ns();
	return ns + SECOND_NS >= t->opened_ns && ns <= t->now_ns + SECOND_NS;
}

/* An implausible time: either the clock was set since the calibration (a suspended machine), or
 * this driver's timestamps never were on the clock that it shows (true). */
static __attribute__((noinline)) bool
end_calibration(struct vk_timestamp *t)
{
	t->map = (struct tally_clock_map){ .calibrated = false };
	t->has_reference = false;
	t->calibrate_at_ns = 0;
	if (t->trusted)
		return false;
	t->foreign = true;
	snprintf(t->base.reason, sizeof(t->base.reason),
		 "the driver's stamps are not on the clock that it shows: GPU times are "
		 "not on the CPU's time line");
	return true;
}

/* A timestamp on the GPU's time line without wraps, and on the delivered one. */
struct placed {
	uint64_t ticks, gpu_ns, ns;
};

/* False: it is implausible there. */
static inline __attribute__((always_inline)) bool
place(struct vk_timestamp *t, uint64_t ticks, uint64_t mask, struct placed *out, uint64_t *flags)
{
	if (mask == UINT64_MAX && !ticks)
		return false; /* drivers write 0 where a timestamp failed */
	out->ticks = unwrap(t, ticks, mask);
	out->ns = out->gpu_ns = ticks_to_ns(t, out->ticks);
	if (t->map.calibrated)
		out->ns = tally_clock_map_apply(&t->map, out->gpu_ns);
	if (t->map.calibrated && !is_plausible(t, out->ns)) {
		if (!end_calibration(t))
			return false;
		out->ticks = unwrap(t, ticks, mask);
		out->ns = out->gpu_ns = ticks_to_ns(t, out->ticks);
	}
	t->trusted |= t->map.calibrated;
	if (!t->map.calibrated)
		*flags |= TALLY_FLAG(UNCALIBRATED);
	return true;
}

static inline __attribute__((always_inline)) void
deliver(struct vk_timestamp *t, uint64_t begin, uint64_t end, uint64_t mask,
	struct tally_sample *out)
{
	uint64_t ticks = (end - begin) & mask;
	struct placed at = { 0 };
	uint64_t flags = 0;
	/* A difference of more than half the clock's range means that the end is before
	 * the beginning. */
	bool backwards = ticks > mask / 2;

	if (backwards || (mask == UINT64_MAX && !end) ||
	    !is_possible(t, ticks_to_ns(t, ticks)) ||
	    !place(t, begin, mask, &at, &flags)) {
		out->flags |= TALLY_FLAG(BAD_TIME);
		return;
	}
	/* Rounded like the beginning of what follows, so that intervals touch where
	 * timestamps are shared. */
	uint64_t ns = ticks_to_ns(t, at.ticks + ticks) - at.gpu_ns;
	if (at.ns > UINT64_MAX - ns) { /* no clock reaches that */
		out->flags |= TALLY_FLAG(BAD_TIME);
		return;
	}
	out->has_time = true;
	out->begin_ns = at.ns;
	out->end_ns = at.ns + ns;
	out->flags |= flags;
}

/* Delivers one end alone; the other is in another command buffer. */
static void
deliver_half(struct vk_timestamp *t, uint64_t ticks, uint64_t mask, bool is_begin,
	     struct tally_sample *out)
{
	struct placed at = { 0 };
	uint64_t flags = 0;

	if (!place(t, ticks, mask, &at, &flags)) {
		out->flags |= TALLY_FLAG(BAD_TIME);
		return;
	}
	*(is_begin ? &out->begin_ns : &out->end_ns) = at.ns;
	out->flags |= flags;
}

/* Bits above the valid ones, of which there is one at least, are noise. */
static uint64_t
valid_bits(const struct tally_vk_family *family)
{
	return UINT64_MAX >> (64 - (family->timestamp_bits < 64 ? family->timestamp_bits : 64));
}

static enum tally_status
timestamp_read(struct tally_vk_source *src, const struct tally_vk_family *family,
	       VkQueryPool pool, const void *rows, uint32_t slot, uint32_t views,
	       unsigned which, struct tally_sample *out)
{
	struct vk_timestamp *t = timestamp_of(src);
	const struct timestamp *begins = rows, *ends = begins + views;

	(void)pool;
	(void)slot;
	if (!family->timestamp_bits || !(which & TALLY_VK_BOTH))
		return TALLY_LOST;
	uint64_t mask = valid_bits(family);
	/* The first view's timestamps must be available; views that the driver did not use
	 * never become available. */
	if ((which & TALLY_VK_BEGIN && !begins[0].available) ||
	    (which & TALLY_VK_END && !ends[0].available))
		return TALLY_NOT_READY;
	if (!(which & TALLY_VK_END))
		deliver_half(t, begins[0].ticks & mask, mask, true, out);
	else if (!(which & TALLY_VK_BEGIN))
		deliver_half(t, ends[0].ticks & mask, mask, false, out);
	else
		deliver(t, begins[0].ticks & mask,
			last_stamp(ends, views, begins[0].ticks, mask) & mask, mask, out);
	return TALLY_OK;
}

static uint64_t
timestamp_read_many(struct tally_vk_source *src, const struct tally_vk_family *family,
		    const void *rows, uint32_t n, struct tally_sample *out)
{
	struct vk_timestamp *t = timestamp_of(src);
	const struct timestamp *both = rows;
	uint64_t mask = valid_bits(family), read = 0;

	for (uint32_t i = 0; i < n; i++, both += 2) {
		if (!both[0].available || !both[1].available)
			continue;
		deliver(t, both[0].ticks & mask, both[1].ticks & mask, mask, &out[i]);
		read |= UINT64_C(1) << i;
	}
	return read;
}

/* --- lifetime ----------------------------------------------------------------------------- */

/* False: the driver's period is not a valid time. */
static bool
take_period(struct vk_timestamp *t, float period)
{
	uint32_t bits;

	/* Also false for a NaN. */
	if (!(period >= SHORTEST_TICK_NS && period <= LONGEST_TICK_NS))
		return false;
	/* IEEE 754, and a normal number: 1.fraction x 2^(exponent - 127). */
	memcpy(&bits, &period, sizeof(bits));
	t->mantissa = (bits & ((UINT32_C(1) << FRACTION_BITS) - 1)) |
		      UINT32_C(1) << FRACTION_BITS;
	t->shift = 127 + FRACTION_BITS - (bits >> FRACTION_BITS);
	return true;
}

static enum tally_status
timestamp_open(struct tally_vk_source *src)
{
	struct vk_timestamp *t = timestamp_of(src);
	const struct tally_vk_api *api = src->api;

	src->reason[0] = '\0';
	if (!api->CreateQueryPool || !api->DestroyQueryPool || !api->CmdResetQueryPool ||
	    !api->CmdWriteTimestamp || !api->GetQueryPoolResults)
		return tally_unsupported(src->reason,
					 "the driver lacks functions of Vulkan 1.0 for "
					 "timestamps: report it to the driver's authors");
	if (!take_period(t, api->timestamp_period))
		return tally_unsupported(src->reason,
					 "the driver's timestampPeriod is %g ns a tick: its "
					 "stamps cannot be turned into time",
					 (double)api->timestamp_period);
	t->opened_ns = t->now_ns = tally_clock_now_ns();
	if (can_calibrate(t))
		calibrate(t);
	if (!t->map.calibrated)
		snprintf(src->reason, sizeof(src->reason),
			 "%s: GPU times are not on the CPU's time line",
			 api->GetCalibratedTimestamps
				 ? "the driver failed to read its clock"
				 : "the driver has no VK_EXT_calibrated_timestamps for "
				   "CLOCK_MONOTONIC");
	return TALLY_OK;
}

static void
timestamp_close(struct tally_vk_source *src)
{
	struct vk_timestamp *t = timestamp_of(src);

	*t = (struct vk_timestamp){ .base = t->base };
}

static const struct tally_vk_source_ops timestamp_ops = {
	.name = "vk-timestamp",
	.delivers_time = true,
	.queries = 2,
	.halves = true,
	.open = timestamp_open,
	.close = timestamp_close,
	.covers = timestamp_covers,
	.create_pool = timestamp_create_pool,
	.words = timestamp_words,
	.read = timestamp_read,
	.read_many = timestamp_read_many,
	.tick = timestamp_tick,
};

struct tally_vk_source *
tally_vk_timestamp_create(const struct tally_vk_api *api)
{
	struct vk_timestamp *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->base.ops = &timestamp_ops;
	t->base.api = api;
	return &t->base;
}
