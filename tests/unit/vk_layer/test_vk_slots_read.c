/* SPDX-License-Identifier: MIT */
/* Reading slots: one by one, in rounds, and rounds that fail. */
#include "tests/unit/vk_layer/vk_slots_world.h"
#include "vk_layer/record/slots_copy.h"
#include "vk_layer/record/slots_read.h"
#include "vk_layer/record/slots_sources.h"

static void
test_reading(void)
{
	struct fixture f;
	struct vk_slot_runs runs = { .n = 0 };
	struct tally_value values[FQ_STATISTICS];
	uint64_t valid = 0;
	struct tally_sample out = { .n = 0 };

	start(&f);
	set_up(&f);
	vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, false);
	struct vk_slot slot = vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, false);
	vk_slot_begin(&f.d, FQ_CB, &slot, false);
	vk_slot_end(&f.d, FQ_CB, &slot);
	uint32_t left = slot.sources;
	fq.hold = true;
	g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
			TALLY_NOT_READY);
	g_assert_cmphex(left, ==, 0x3);
	fq.hold = false;
	g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
			TALLY_OK);
	g_assert_cmphex(left, ==, 0);
	g_assert_true(out.has_time);
	g_assert_cmpuint(out.end_ns - out.begin_ns, ==, 100);
	g_assert_cmphex(valid, ==, 0xf);
	g_assert_cmpuint(values[0].u64, ==, 11);
	g_assert_cmpuint(values[3].u64, ==, 20);
	/* A second read finds nothing more. */
	g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
			TALLY_OK);

	/* It runs again: reset, then unavailable, then other numbers. */
	fq.log[0] = '\0';
	pthread_mutex_lock(&f.d.lock);
	vk_slots_reset(&f.d, &runs);
	pthread_mutex_unlock(&f.d.lock);
	g_assert_cmpstr(fq.log, ==, "h0+4 h0+2 ");
	left = slot.sources;
	g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
			TALLY_NOT_READY);
	fq.fail_results = VK_ERROR_DEVICE_LOST;
	g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
			TALLY_LOST);
	g_assert_cmphex(out.flags & TALLY_FLAG(LOST), ==, TALLY_FLAG(LOST));
	release(&f, &runs);
	finish(&f);
}

/* One source answers, the other does not: the first is not asked again, its result stays. */
static void
test_one_by_one(void)
{
	struct fixture f;
	struct vk_slot_runs runs = { .n = 0 };
	struct tally_value values[FQ_STATISTICS];
	uint64_t valid = 0;
	struct tally_sample out = { .n = 0 };

	start(&f);
	set_up(&f);
	struct vk_slot slot = vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, false);
	struct vk_slot stamps = slot;
	stamps.sources = 0x1;
	vk_slot_begin(&f.d, FQ_CB, &stamps, false);
	vk_slot_end(&f.d, FQ_CB, &stamps);
	slot.halves = TALLY_VK_BOTH;
	uint32_t left = 0x3;
	g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
			TALLY_NOT_READY);
	g_assert_cmphex(left, ==, 0x2);
	g_assert_true(out.has_time);
	uint64_t begin = out.begin_ns;
	fq_query((VkQueryPool)(uintptr_t)2, 0)->state = FQ_DONE;
	g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
			TALLY_OK);
	g_assert_true(out.has_time);
	g_assert_cmpuint(out.begin_ns, ==, begin);
	g_assert_cmphex(valid, ==, 0xf);
	g_assert_cmpuint(values[0].u64, ==, 0);
	release(&f, &runs);
	finish(&f);
}

/* A round: how many calls, and what each slot returns. */
struct round {
	struct fixture f;
	struct vk_slot_runs runs;
	struct vk_slot slots[320];
	uint32_t n;
	bool any; /* what the slot that was read last has to return */
};

/* Slots [0, n), of which those that `used` does not name (NULL: all) were not begun; those after
 * `ended` have no end. */
static void
record_round(struct round *r, uint32_t n, bool host_reset, uint32_t every, uint32_t ended)
{
	*r = (struct round){ .n = n };
	start(&r->f);
	r->f.d.enabled.host_reset = host_reset;
	set_up(&r->f);
	fq.count_only = true;
	for (uint32_t i = 0; i < n; i++) {
		fq.counted[0] = fq.counted[1] = 1000 + i;
		r->slots[i] = vk_slots_take(&r->f.d, &r->runs, GENERAL, VK_MEASURE_ALL, 1, true);
		g_assert_nonnull(r->slots[i].page);
		/* A reset is recorded with the first begin of a run, whichever slot begins. */
		struct vk_slot nothing = r->slots[i];
		nothing.sources = 0;
		bool used = i % every == 0;
		vk_slot_begin(&r->f.d, FQ_CB, used ? &r->slots[i] : &nothing, true);
		if (used && i < ended)
			vk_slot_end(&r->f.d, FQ_CB, &r->slots[i]);
		else if (used)
			fq.active_statistics = 0;
		r->slots[i].halves = TALLY_VK_BOTH;
	}
}

static void
finish_round(struct round *r)
{
	release(&r->f, &r->runs);
	finish(&r->f);
}

/* The values of slot `i` after a fetch; a value of a query that did not end shows as misuse. */
static enum tally_status
read_of_round(struct round *r, uint32_t i)
{
	struct tally_value values[FQ_STATISTICS] = { { .u64 = 0 } };
	uint64_t valid = 0;
	struct tally_sample out = { .values = values, .valid = &valid };
	uint32_t left = r->slots[i].sources;
	enum tally_status status = vk_slot_read(&r->f.d, &r->slots[i], &left, &out);

	if (status == TALLY_OK) {
		g_assert_true(out.has_time);
		g_assert_cmpuint(out.end_ns - out.begin_ns, ==, 100);
		g_assert_cmphex(valid, ==, 0xf);
		g_assert_cmpuint(values[0].u64, ==, 1000 + i);
	} else {
		g_assert_false(out.has_time && (valid & 1));
		g_assert_true(!valid || values[0].u64 == 1000 + i);
	}
	r->any = out.has_time || valid;
	return status;
}

static const struct {
	const char *what;
	bool host_reset;
	uint32_t n, every, ended; /* slots; those begun; those ended */
	unsigned available; /* fake_queries.h */
	bool stops;
	unsigned calls; /* of the round */
	uint32_t ready; /* those begun below this one have their values */
} round_cases[] = {
	{ "one slot", true, 1, 1, 999, 0, false, 2, 999 },
	{ "a page full", true, 256, 1, 999, 0, false, 2, 999 },
	{ "more than a page", true, 300, 1, 999, 0, false, 4, 999 },
	{ "reset by the command buffer", false, 300, 1, 999, 0, false, 4, 999 },
	{ "every third was begun", true, 100, 3, 999, 0, false, 2, 999 },
	{ "every third was begun, reset by the command buffer", false, 100, 3, 999, 0, false, 2,
	  999 },
	{ "the later ones never ended", true, 100, 1, 40, 0, false, 2, 40 },
	/* There are two timestamps per slot: 30 slots have both. */
	{ "partly available", true, 100, 1, 999, 60, false, 2, 30 },
	{ "partly available, the rest left as it was", true, 100, 1, 999, 60, true, 2, 30 },
	{ "nothing but the first stamp", true, 100, 1, 999, 1, true, 2, 0 },
};

/* Many at once give what each of them gives. */
static void
check_many(struct round *r)
{
	for (uint32_t first = 0; first < r->n; first += 7) {
		struct tally_value values[64][FQ_STATISTICS];
		struct tally_sample out[64];
		uint64_t valid[64] = { 0 };
		uint32_t n = MIN(r->n - first, 64);
		while (r->slots[first + n - 1].page != r->slots[first].page)
			n--;
		for (uint32_t i = 0; i < n; i++)
			out[i] = (struct tally_sample){ .values = values[i], .valid = &valid[i] };
		uint64_t complete = vk_slots_read(&r->f.d, &r->slots[first], n, out);
		for (uint32_t i = 0; i < n; i++) {
			bool ready = complete >> i & 1;
			g_assert_cmpint(ready, ==, read_of_round(r, first + i) == TALLY_OK);
			g_assert_true(!ready || (out[i].has_time && valid[i] == 0xf &&
						 out[i].end_ns - out[i].begin_ns == 100 &&
						 values[i][0].u64 == 1000 + first + i));
		}
	}
}

static void
test_rounds(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(round_cases); i++) {
		struct round r;
		g_test_message("%s", round_cases[i].what);
		record_round(&r, round_cases[i].n, round_cases[i].host_reset,
			     round_cases[i].every, round_cases[i].ended);
		fq.available = round_cases[i].available;
		fq.stops = round_cases[i].stops;
		for (uint32_t k = 0; k < r.n; k++) {
			/* Before the fetch no result is available. */
			g_assert_cmpint(read_of_round(&r, k), ==, TALLY_NOT_READY);
			vk_slot_request(&r.f.d, &r.slots[k], r.slots[k].sources);
		}
		vk_slots_fetch(&r.f.d);
		g_assert_cmpuint(fq.n_results, ==, round_cases[i].calls);
		for (uint32_t k = 0; k < r.n; k++) {
			bool ready = k % round_cases[i].every == 0 && k < round_cases[i].ready;
			g_assert_cmpint(read_of_round(&r, k), ==,
					ready ? TALLY_OK : TALLY_NOT_READY);
		}
		check_many(&r);
		/* Reset, or given to others: what was fetched is no longer used. */
		vk_slots_reset(&r.f.d, &r.runs);
		if (round_cases[i].host_reset)
			g_assert_cmpint(read_of_round(&r, 0), ==, TALLY_NOT_READY);
		vk_slots_fetch(&r.f.d);
		g_assert_cmpint(read_of_round(&r, 0), ==, TALLY_NOT_READY);
		g_assert_cmpuint(fq.n_results, ==, round_cases[i].calls);
		/* The same again, for which the driver returns nothing now. */
		fq.hold = fq.untouched = true;
		for (uint32_t k = 0; k < r.n; k++)
			vk_slot_request(&r.f.d, &r.slots[k], r.slots[k].sources);
		vk_slots_fetch(&r.f.d);
		for (uint32_t k = 0; k < r.n; k++) {
			g_assert_cmpint(read_of_round(&r, k), ==, TALLY_NOT_READY);
			g_assert_false(r.any);
		}
		finish_round(&r);
	}
}

/* The driver fails in the middle of a round: what it had written so far is not used. */
static void
test_round_fails(void)
{
	for (unsigned from = 1; from <= 4; from++) {
		struct round r;
		record_round(&r, 300, true, 1, 999);
		fq.fail_results = VK_ERROR_DEVICE_LOST;
		fq.fail_from = from;
		for (uint32_t k = 0; k < r.n; k++)
			vk_slot_request(&r.f.d, &r.slots[k], r.slots[k].sources);
		vk_slots_fetch(&r.f.d);
		g_assert_cmpuint(fq.n_results, ==, 4);
		unsigned fine = 0;
		for (uint32_t k = 0; k < r.n; k++) {
			enum tally_status status = read_of_round(&r, k);
			g_assert_true(status == TALLY_OK || status == TALLY_LOST);
			fine += status == TALLY_OK;
		}
		/* The page that was requested last comes first; one of its two calls may
		 * fail. */
		g_assert_cmpuint(fine, ==, from > 2 ? 44 : 0);
		finish_round(&r);
	}
}

/* Many small recordings, whose runs are adjacent: still one call per source. */
static void
test_round_of_many(void)
{
	struct fixture f;
	struct vk_slot_runs runs[32] = { { .n = 0 } };
	struct vk_slot slots[32];

	start(&f);
	set_up(&f);
	for (uint32_t i = 0; i < 32; i++) {
		slots[i] = vk_slots_take(&f.d, &runs[i], GENERAL, VK_MEASURE_ALL, 1, false);
		vk_slot_begin(&f.d, FQ_CB, &slots[i], false);
		vk_slot_end(&f.d, FQ_CB, &slots[i]);
		vk_slot_request(&f.d, &slots[i], slots[i].sources);
	}
	vk_slots_fetch(&f.d);
	g_assert_cmpuint(fq.n_results, ==, 2);
	/* One of them is used again before it was read. */
	release(&f, &runs[7]);
	for (uint32_t i = 0; i < 32; i++) {
		struct tally_value values[FQ_STATISTICS];
		uint64_t valid = 0;
		struct tally_sample out = { .values = values, .valid = &valid };
		uint32_t left = slots[i].sources;
		g_assert_cmpint(vk_slot_read(&f.d, &slots[i], &left, &out), ==,
				i == 7 ? TALLY_NOT_READY : TALLY_OK);
		release(&f, &runs[i]);
	}
	finish(&f);
}

/* Where asking would wait the driver is not asked: results are those that were copied, until the
 * slot is reset. */
static void
test_copied(void)
{
	for (unsigned host_reset = 0; host_reset < 2; host_reset++) {
		struct fixture f;
		struct vk_slot_runs runs = { .n = 0 };
		struct tally_value values[FQ_STATISTICS];
		uint64_t valid = 0;
		struct tally_sample out = { .n = 0 };
		start(&f);
		f.d.driver_id = VK_DRIVER_ID_MESA_LLVMPIPE;
		f.d.enabled.host_reset = host_reset;
		set_up(&f);
		for (unsigned i = 0; i < 5; i++) { /* the second run's first */
			struct vk_slot slot =
				vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, true);
			vk_slot_begin(&f.d, FQ_CB, &slot, true);
			vk_slot_end(&f.d, FQ_CB, &slot);
			uint32_t left = slot.sources;
			g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
					TALLY_NOT_READY);
			vk_slots_copy(&f.d, FQ_CB, &runs, &slot);
			g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
					TALLY_OK);
			g_assert_cmpuint(out.end_ns - out.begin_ns, ==, 100);
			g_assert_cmpuint(values[0].u64, ==, 11);
			pthread_mutex_lock(&f.d.lock);
			vk_slots_reset(&f.d, &runs);
			pthread_mutex_unlock(&f.d.lock);
			left = slot.sources;
			g_assert_cmpint(read_slot(&f, &slot, &left, values, &valid, &out), ==,
					TALLY_NOT_READY);
		}
		/* A queue that can do nothing but copy memory cannot copy results. */
		g_assert_false(vk_slots_cover(&f.d, COPY, VK_MEASURE_ALL));
		g_assert_cmpuint(fq.n_results, ==, 0);
		release(&f, &runs);
		finish(&f);
		g_assert_cmpuint(copies.n_live, ==, 0);
	}
}

/* ... and where there is no memory for them nothing is measured. */
static void
test_copied_memory(void)
{
	for (copies.fail = 1; copies.fail <= 4; copies.fail++) {
		struct fixture f;
		struct vk_slot_runs runs = { .n = 0 };
		unsigned fail = copies.fail;
		start(&f);
		f.d.driver_id = VK_DRIVER_ID_MESA_LLVMPIPE;
		set_up(&f);
		g_assert_null(
			vk_slots_take(&f.d, &runs, GENERAL, VK_MEASURE_ALL, 1, true).page);
		g_assert_cmpuint(copies.fail, ==, 0);
		copies.fail = fail;
		release(&f, &runs);
		finish(&f);
		g_assert_cmpuint(copies.n_live, ==, 0);
	}
	copies.fail = 0;
}

static void
test_tick(void)
{
	struct fixture f;

	start(&f);
	f.d.enabled.calibrated = true;
	set_up(&f);
	unsigned calibrations = fq.n_calibrations;
	g_assert_cmpuint(calibrations, >=, 1);
	pthread_mutex_lock(&f.d.lock);
	vk_slots_tick(&f.d, tally_clock_now_ns() + UINT64_C(5000000000));
	pthread_mutex_unlock(&f.d.lock);
	g_assert_cmpuint(fq.n_calibrations, >, calibrations);
	finish(&f);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_slots/reading", test_reading);
	g_test_add_func("/vk_slots/one_by_one", test_one_by_one);
	g_test_add_func("/vk_slots/rounds", test_rounds);
	g_test_add_func("/vk_slots/round_fails", test_round_fails);
	g_test_add_func("/vk_slots/round_of_many", test_round_of_many);
	g_test_add_func("/vk_slots/copied", test_copied);
	g_test_add_func("/vk_slots/copied_memory", test_copied_memory);
	g_test_add_func("/vk_slots/tick", test_tick);
	return g_test_run();
}
