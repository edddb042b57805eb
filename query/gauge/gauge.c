/* SPDX-License-Identifier: MIT */
#include "query/gauge/gauge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/base/clock.h"
#include "layer/log.h"
#include "query/gauge/nvml.h"
#include "query/source/noop.h"

/* At most ten readings a second; also the time for which a value is held. */
#define PERIOD_NS UINT64_C(100000000)
/* A thread that wakes late may read this much later. */
#define LATE_NS (PERIOD_NS / 2)
/* NVIDIA's library does not show whose work it is. Where work on another GPU would be seen,
 * this many consecutive readings must see none before its values count. */
#define LOOKS_ELSEWHERE 10

enum { CYCLES, KNOWN_TIME, N_TOTALS };

struct gauge {
	struct tally_snapshot_source base; /* first: a source is what it begins with */
	char root[128];
	struct gauge_gpu gpu;
	struct gauge_nvml nvml;
	uint32_t n_looks; /* consecutive readings without work on any GPU */
	uint64_t read_ns, until_ns; /* the last reading; the end of the totals */
	uint64_t cycles, known_ns; /* the totals */
	struct gauge_values now;
	uint64_t throttled; /* reasons that were reported */
	bool told_more;
	struct tally_snapshot_level levels[GAUGE_N_KINDS];
};

#define COUNTER(key_, unit_) \
	{ \
		.key = key_, .name = key_, .unit = unit_, .source = "gauge", \
		.kind = TALLY_KIND_RAW, .storage = TALLY_STORAGE_U64, .scope = TALLY_SCOPE_DEVICE, \
		.width_bits = 64, \
	}
static const struct tally_counter totals[N_TOTALS] = {
	[CYCLES] = COUNTER("gauge.clock_cycles", "cycles"),
	[KNOWN_TIME] = COUNTER("gauge.clock_time", "ns"),
};
static const struct tally_counter *const total_pointers[] = { &totals[0], &totals[1] };
static const uint64_t none_logged;

/* The input for the clock is 1 where it is known: with that in its expression a metric applies
 * only to frames. */
static const struct tally_counter levels[GAUGE_N_KINDS] = {
	[GAUGE_CLOCK] = COUNTER("gauge.clock", "1"),
	[GAUGE_BUSY] = COUNTER("gauge.busy", "1"),
	[GAUGE_PROCESS_BUSY] = COUNTER("gauge.process_busy", "1"),
	[GAUGE_TEMPERATURE] = COUNTER("gauge.temperature", "1"),
	[GAUGE_POWER] = COUNTER("gauge.power", "mW"),
	[GAUGE_MEMORY] = COUNTER("gauge.memory", "KiB"),
	[GAUGE_PROCESS_MEMORY] = COUNTER("gauge.process_memory", "KiB"),
	[GAUGE_THROTTLE] = COUNTER("gauge.throttle", "1"),
};

static enum tally_status
gauge_probe(struct tally_snapshot_source *src)
{
	struct gauge *g = (struct gauge *)src;
	char pci[32];
	src->reason[0] = '\0';
	if (src->config && src->config->snapshot == TALLY_SNAPSHOT_EXACT) {
		/* Where no other source counts, each pass would wait for the GPU because of
		 * this one. */
		return tally_unsupported(
			src->reason,
			"not with --snapshot exact: a clock is read ten times a second");
	}
	bool ok = gauge_gpu_find(&g->gpu, g->root, src->reason) ||
		  gauge_nvml_find(g->root, pci, src->reason);
	if (ok)
		src->reason[0] = '\0';
	return ok ? TALLY_OK : TALLY_UNSUPPORTED;
}

static enum tally_status
gauge_open(struct tally_snapshot_source *src)
{
	struct gauge *g = (struct gauge *)src;
	src->reason[0] = '\0';
	bool ok = gauge_nvml_open(&g->nvml, g->root, src->reason) || g->gpu.n_seen > 0;
	if (!ok)
		return TALLY_UNSUPPORTED;
	src->reason[0] = '\0';
	for (unsigned i = 0; i < GAUGE_N_KINDS; i++)
		g->levels[i] = (struct tally_snapshot_level){ .counter = &levels[i] };
	src->counters = total_pointers;
	src->n_counters = N_TOTALS;
	src->logged = &none_logged;
	src->of_state = true;
	src->levels = g->levels;
	src->n_levels = GAUGE_N_KINDS;
	src->least_period_ns = PERIOD_NS;
	return TALLY_OK;
}

static enum tally_status
gauge_start(struct tally_snapshot_source *src)
{
	struct gauge *g = (struct gauge *)src;
	g->read_ns = g->until_ns = g->cycles = g->known_ns = 0;
	g->n_looks = 0;
	g->now = (struct gauge_values){ 0 };
	return TALLY_OK;
}

/* Reports each reason once. */
static void
report_throttling(struct gauge *g)
{
	static const struct {
		uint32_t bit;
		const char *words;
	} reasons[] = {
		{ GAUGE_THROTTLED_POWER, "its power limit" },
		{ GAUGE_THROTTLED_THERMAL, "its temperature" },
		{ GAUGE_THROTTLED_CURRENT, "its current limit" },
		{ GAUGE_THROTTLED_OTHER, "another limit" },
	};
	uint64_t fresh = g->now.known & 1u << GAUGE_THROTTLE
				 ? g->now.value[GAUGE_THROTTLE] & ~g->throttled
				 : 0;
	g->throttled |= fresh;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (fresh & reasons[i].bit)
			tally_log_say(TALLY_LEVEL_INFO, "gauge",
				      "the GPU's clock was held down by %s", reasons[i].words);
}

static void
read_now(struct gauge *g, uint64_t now_ns)
{
	uint64_t pci = g->base.gpu ? atomic_load(g->base.gpu) : 0;
	const char *nvml_pci = strrchr(g->nvml.folder, '/');
	bool is_nvml = pci && nvml_pci && tally_pci_number(nvml_pci + 1) == pci;
	/* If the devices report the address of the GPU, it is known that it renders these
	 * frames. */
	uint32_t n_worked = !pci ? gauge_gpu_choose(&g->gpu)
				 : gauge_gpu_choose_pci(&g->gpu, pci) && !is_nvml;
	bool gap = now_ns - g->read_ns > PERIOD_NS + LATE_NS;
	g->n_looks = n_worked || gap ? 0 : g->n_looks + 1;
	g->now = (struct gauge_values){ 0 };
	if (n_worked == 1)
		gauge_gpu_read(&g->gpu, now_ns, &g->now);
	else if (n_worked == 0 && g->nvml.device &&
		 (pci ? is_nvml : !gauge_gpu_counts_work(&g->gpu) || g->n_looks > LOOKS_ELSEWHERE))
		gauge_nvml_read(&g->nvml, &g->now);
	for (unsigned i = 0; i < GAUGE_N_KINDS; i++) {
		g->levels[i].known = g->now.known >> i & 1;
		g->levels[i].value = g->now.value[i];
	}
	g->levels[GAUGE_CLOCK].value = 1;
	report_throttling(g);
	if (g->gpu.more && !g->told_more)
		tally_log_say(TALLY_LEVEL_WARNING, "gauge",
			      "the program has the GPU open more than %u times: its load and "
			      "its memory are left out",
			      (unsigned)GAUGE_MAX_FDS);
	g->told_more |= g->gpu.more;
	g->read_ns = now_ns;
}

/* Advances the totals to that time, with the clock of `v`. Where it was not known they stay: a
 * frame in which neither changed has no clock. */
static void
hold(struct gauge *g, const struct gauge_values *v, uint64_t until_ns)
{
	uint64_t ns = until_ns > g->until_ns ? until_ns - g->until_ns : 0;
	if (v->known >> GAUGE_CLOCK & 1) {
		g->known_ns += ns;
		/* kHz times ns are millionths of a cycle. */
		g->cycles += (uint64_t)((double)v->value[GAUGE_CLOCK] * (double)ns / 1e6);
	}
	g->until_ns += ns;
}

static enum tally_status
gauge_sample(struct tally_snapshot_source *src, struct tally_totals *out)
{
	static const struct gauge_values nothing;
	struct gauge *g = (struct gauge *)src;
	uint64_t now_ns = tally_clock_now_ns();
	struct gauge_values before = g->now;
	bool first = g->until_ns == 0;
	if (first)
		g->until_ns = now_ns;
	if (first || now_ns - g->read_ns >= PERIOD_NS - PERIOD_NS / 8)
		read_now(g, now_ns);
	/* For how long nothing was read, if longer than a value is held. */
	bool gap = now_ns > g->until_ns && now_ns - g->until_ns > LATE_NS;
	hold(g, gap ? &nothing : &before, now_ns);
	if (!first)
		hold(g, &g->now, now_ns + PERIOD_NS);
	out->totals[CYCLES] = g->cycles;
	out->totals[KNOWN_TIME] = g->known_ns;
	out->begin_ns = out->end_ns = g->until_ns;
	return TALLY_OK;
}

static void
gauge_close(struct tally_snapshot_source *src)
{
	struct gauge *g = (struct gauge *)src;
	gauge_gpu_finish(&g->gpu);
	gauge_nvml_close(&g->nvml);
}

static const struct tally_snapshot_ops ops = {
	.name = "gauge",
	.probe = gauge_probe,
	.open = gauge_open,
	.start = gauge_start,
	.sample = gauge_sample,
	.stop = tally_snapshot_noop,
	.close = gauge_close,
	.abandon = tally_snapshot_noop, /* a forked child leaves the library its descriptors */
	.destroy = tally_snapshot_free,
};

struct tally_snapshot_source *
tally_gauge_create_at(const char *root)
{
	struct gauge *g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	snprintf(g->root, sizeof(g->root), "%s", root);
	g->base.ops = &ops;
	return &g->base;
}

struct tally_snapshot_source *
tally_gauge_create(void)
{
	return tally_gauge_create_at("");
}
