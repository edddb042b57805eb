/* SPDX-License-Identifier: MIT */
/* Counters of a MicroBlaze core through its debug module. */
#include "query/microblaze/microblaze.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "layer/capture/trigger.h"
#include "layer/log.h"
#include "query/microblaze/choice.h"
#include "query/microblaze/contact.h"
#include "query/microblaze/counters.h"
#include "query/microblaze/events.h"
#include "query/microblaze/growth.h"
#include "query/source/noop.h"

#define BUSY_NS UINT64_C(100000) /* a debugger's access takes less */
/* This many samples that contradict themselves are attributed to chance; then counting
 * restarts. After this many restarts without one good sample in between, it is not chance. */
#define MAX_BAD 8
#define MAX_RESTARTS 3
/* Counters that overlapped (Full) are cleared no more often than this: what is counted during a
 * clear is lost. */
#define CLEAR_NS UINT64_C(1000000000)
#define MOST_PERIOD_NS UINT64_C(1000000000)
/* With --start-on hw and --stop-on hw: how often the counters are sampled, and how long there
 * may be no cycles until counting is considered stopped. */
#define HARDWARE_PERIOD_NS UINT64_C(1000000)
#define STILL_NS UINT64_C(100000)

struct microblaze {
	struct tally_snapshot_source base;
	struct tally_mb_options options;
	struct tally_mb_device device;
	struct tally_mb_choice choice;
	struct tally_mb_history history;
	uint64_t totals[TALLY_MB_MAX_VALUES];
	uint64_t interval; /* in cycles; 0: by time */
	uint64_t preset;
	uint64_t cleared_ns;
	uint32_t n_bad, n_restarts;
	bool lost;
	/* An external trigger starts, or stops, the counters: then we do so only at the
	 * beginning. */
	bool hardware, hardware_starts;
	bool counting;
	uint32_t cycles_k; /* with `hardware`: the event counter of cycles */
	uint64_t cycle_ns; /* time of the last sample that had new cycles */
};

static struct microblaze *
microblaze_of(struct tally_snapshot_source *src)
{
	return (struct microblaze *)src;
}

static enum tally_status
open_device(struct microblaze *mb)
{
	struct tally_snapshot_source *src = &mb->base;
	const char *text = src->config ? src->config->microblaze : NULL;
	if (!tally_mb_options_parse(&mb->options, text, src->reason, sizeof(src->reason)))
		return TALLY_UNSUPPORTED;
	return tally_mb_device_open(&mb->device, &mb->options, src->reason);
}

static enum tally_status
microblaze_probe(struct tally_snapshot_source *src)
{
	struct microblaze *mb = microblaze_of(src);
	enum tally_status status = open_device(mb);
	if (status == TALLY_OK)
		tally_mb_device_close(&mb->device);
	return status;
}

/* ---- opening ---- */

/* The option that needs cycles, as the user wrote it; NULL: none does. */
static const char *
needs_cycles(const struct microblaze *mb)
{
	if (mb->interval)
		return "interval=";
	if (mb->hardware)
		return mb->hardware_starts ? "--start-on hw" : "--stop-on hw";
	return NULL;
}

static enum tally_status
choose(struct microblaze *mb)
{
	struct tally_snapshot_source *src = &mb->base;
	if (mb->interval && !mb->device.mapping.uio)
		return tally_unsupported(src->reason, "interval= waits for an interrupt, "
						      "which /dev/mem has not: bind the "
						      "debug module to uio_pdrv_genirq");
	if (mb->interval && mb->hardware)
		return tally_unsupported(
			src->reason, "interval= starts the counters after each interrupt, which "
				     "--start-on hw "
				     "and --stop-on hw leave to the hardware: use one of them");
	return tally_mb_choose_events(&mb->choice, &mb->options, &mb->device.shape, src->wanted,
				      needs_cycles(mb), src->reason);
}

static void
find_cycles(struct microblaze *mb)
{
	for (uint32_t i = 0; i < mb->choice.n_events; i++)
		if (mb->choice.events[i] == TALLY_MB_CYCLES)
			mb->cycles_k = i;
}

static enum tally_status
microblaze_open(struct tally_snapshot_source *src)
{
	struct microblaze *mb = microblaze_of(src);
	if (!src->config)
		return TALLY_UNSUPPORTED;
	enum tally_status status = open_device(mb);
	if (status != TALLY_OK)
		return status;
	const struct tally_mb_shape *shape = &mb->device.shape;
	mb->interval = mb->options.interval;
	mb->hardware_starts = src->config->start_on.kind == TALLY_TRIGGER_HW;
	mb->hardware = mb->hardware_starts || src->config->stop_on.kind == TALLY_TRIGGER_HW;
	status = choose(mb);
	if (status == TALLY_OK && !tally_mb_choose_counters(&mb->choice, shape, src))
		status = TALLY_NO_MEMORY;
	if (status != TALLY_OK) {
		tally_mb_device_close(&mb->device);
		return status;
	}
	find_cycles(mb);
	/* N of a latency counter has 32 bits at every width. */
	if (shape->width == 32 || shape->nl)
		src->most_period_ns = MOST_PERIOD_NS;
	if (mb->hardware)
		src->most_period_ns = HARDWARE_PERIOD_NS;
	snprintf(src->reason, sizeof(src->reason), "%s", mb->device.note);
	mb->lost = false;
	return TALLY_OK;
}

/* ---- counting ---- */

/* Sets all counters to 0, or the cycle counter to one interval before it overflows. Without
 * `start`, they keep running or stay stopped. */
static void
begin_counting(struct microblaze *mb, bool start)
{
	const struct tally_mdm *mdm = &mb->device.mdm;
	const struct tally_mb_shape *shape = &mb->device.shape;
	/* The clock is read first, so that the counts never cover more time than has passed. */
	mb->cleared_ns = tally_clock_now_ns();
	if (mb->history.preset) {
		tally_mb_command(mdm, TALLY_MDM_CLEAR);
		tally_mb_preset(mdm, shape, mb->history.preset_k, mb->preset);
		tally_mb_command(mdm, TALLY_MDM_START);
	} else {
		tally_mb_command(mdm, TALLY_MDM_CLEAR | (start ? TALLY_MDM_START : 0));
	}
	tally_mb_history_clear(&mb->history, mb->cleared_ns, mb->preset);
}

/* Enables the next interrupt. False: the device has none. */
static bool
arm_interrupt(const struct microblaze *mb)
{
	const uint32_t on = 1;
	return write(mb->device.mapping.fd, &on, sizeof(on)) == (ssize_t)sizeof(on);
}

/* This polls first: a read would wait for the next interrupt, and samples are also taken for
 * other reasons. */
static void
take_interrupt(const struct microblaze *mb)
{
	struct pollfd due = { .fd = mb->device.mapping.fd, .events = POLLIN };
	uint32_t count;
	if (poll(&due, 1, 0) > 0 && due.revents & POLLIN) {
		ssize_t n = read(mb->device.mapping.fd, &count, sizeof(count));
		(void)n;
	}
}

static void
begin_interval(struct microblaze *mb)
{
	mb->history.preset = mb->interval > 0;
	mb->history.preset_k = mb->cycles_k;
	mb->preset = (UINT64_C(0) - mb->interval) & tally_mb_mask(&mb->device.shape);
}

static enum tally_status
microblaze_start(struct tally_snapshot_source *src)
{
	struct microblaze *mb = microblaze_of(src);
	struct tally_mb_device *device = &mb->device;
	if (device->check && tally_mb_try(&device->mdm, &device->shape, src->reason) != TALLY_OK)
		return TALLY_UNSUPPORTED;
	memset(mb->totals, 0, sizeof(mb->totals));
	memset(&mb->history, 0, sizeof(mb->history));
	mb->history.shape = device->shape;
	memcpy(mb->history.events, mb->choice.events, sizeof(mb->history.events));
	mb->n_bad = mb->n_restarts = 0;
	tally_mb_configure(&device->mdm, &device->shape, mb->choice.events);
	begin_interval(mb);
	if (mb->interval && arm_interrupt(mb)) {
		src->due_fd = &device->mapping.fd;
		tally_reason_add(src->reason,
				 "what is counted while it is read is lost (interval=)");
	} else if (mb->interval) {
		tally_reason_add(src->reason, "the device has no interrupt: it is read by time");
		mb->history.preset = false;
		mb->preset = 0;
	}
	mb->counting = !mb->hardware_starts;
	begin_counting(mb, mb->counting);
	mb->cycle_ns = mb->cleared_ns;
	return TALLY_OK;
}

/* ---- samples ---- */

static enum tally_status
lose(struct microblaze *mb, const char *why)
{
	snprintf(mb->base.reason, sizeof(mb->base.reason), "%s", why);
	mb->lost = true;
	return TALLY_LOST;
}

static void
take_value(struct microblaze *mb, struct tally_totals *out, uint32_t i, uint64_t growth,
	   bool unknown)
{
	if (unknown)
		tally_bit_set(out->unknown, i);
	else
		mb->totals[i] += growth;
}

static void
take_growth(struct microblaze *mb, const struct tally_mb_delta *g, struct tally_totals *out)
{
	const struct tally_mb_choice *c = &mb->choice;
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n_events; i++, n++)
		take_value(mb, out, n, g->counts.events[i], tally_bit(&g->unknown_events, i));
	for (uint32_t i = 0; i < c->n_latencies; i++, n += 3) {
		const struct tally_latency *l = &g->counts.latencies[i];
		bool unknown = tally_bit(&g->unknown_latencies, i);
		take_value(mb, out, n, l->n, unknown);
		take_value(mb, out, n + 1, l->sum, unknown);
		take_value(mb, out, n + 2, l->sum_sq, unknown || tally_bit(&g->unknown_squares, i));
	}
	if (g->overflowed)
		out->flags |= TALLY_FLAG(OVERFLOW);
	if (g->full)
		out->flags |= TALLY_FLAG(FULL);
}

static void
take_levels(struct microblaze *mb)
{
	for (uint32_t i = 0; i < mb->choice.n_latencies; i++) {
		struct tally_snapshot_level *least = &mb->choice.levels[(size_t)2 * i];
		struct tally_snapshot_level *greatest = least + 1;
		least->value = mb->history.extremes[i].min;
		least->known = mb->history.extremes[i].known;
		greatest->value = mb->history.extremes[i].max;
		greatest->known = least->known && !mb->history.extremes[i].broken;
	}
}

/* The sample was read out of step, or another program read the module at the same time: without
 * it, the next one still has the full totals. */
static enum tally_status
refuse_sample(struct microblaze *mb, const char *why, struct tally_totals *out)
{
	tally_log_say(TALLY_LEVEL_WARNING, TALLY_MB_SOURCE,
		      "a sample was left out, as it contradicts itself: %s. Does a debugger use "
		      "the module, too?",
		      why);
	if (++mb->n_bad < MAX_BAD)
		return TALLY_NOT_READY;
	mb->n_bad = 0;
	if (++mb->n_restarts == MAX_RESTARTS) {
		char text[200];
		snprintf(text, sizeof(text),
			 "its samples contradict themselves: %s; are ne=, nl= and width= "
			 "those of the core?",
			 why);
		return lose(mb, text);
	}
	tally_mb_configure(&mb->device.mdm, &mb->device.shape, mb->choice.events);
	begin_counting(mb, !mb->hardware);
	memset(out->unknown, 0xff, sizeof(*out->unknown) * ((mb->choice.n + 63) / 64));
	out->flags |= TALLY_FLAG(DISTURBED);
	return TALLY_OK;
}

/* The hardware's flags stay set until they are cleared. */
static void
restart_if_needed(struct microblaze *mb, const struct tally_mb_sample *sample,
		  const struct tally_mb_delta *g, struct tally_totals *out)
{
	const struct tally_mb_history *h = &mb->history;
	if (h->preset && sample->status[h->preset_k] & TALLY_MDM_OVERFLOW) {
		begin_counting(mb, true);
		arm_interrupt(mb);
	} else if (g->full && out->end_ns - mb->cleared_ns >= CLEAR_NS) {
		begin_counting(mb, !mb->hardware);
		out->flags |= TALLY_FLAG(DISTURBED);
	}
}

/* No register shows whether the counters are running; their cycles do. */
static void
watch_hardware(struct microblaze *mb, const struct tally_mb_delta *g, uint64_t now_ns)
{
	bool grown = g->counts.events[mb->cycles_k] > 0;
	if (grown)
		mb->cycle_ns = now_ns;
	if (grown == mb->counting || (!grown && now_ns - mb->cycle_ns < STILL_NS))
		return;
	mb->counting = grown;
	tally_trigger_saw_hardware(grown);
}

static enum tally_status
read_sample(struct microblaze *mb, struct tally_mb_sample *sample, struct tally_totals *out)
{
	const struct tally_mdm *mdm = &mb->device.mdm;
	if (!tally_mdm_wait_free(mdm, BUSY_NS)) {
		if (tally_mdm_status(mdm) >> 1)
			return lose(mb, "the debug module answers no more: was it taken out of "
					"the design, or its clock stopped?");
		tally_log_say(TALLY_LEVEL_WARNING, TALLY_MB_SOURCE,
			      "a debugger holds the debug module's lock: samples are "
			      "left out as long as it does");
		return TALLY_NOT_READY;
	}
	tally_mdm_select_core(mdm);
	out->begin_ns = tally_clock_now_ns();
	tally_mb_command(mdm, TALLY_MDM_SAMPLE);
	out->end_ns = tally_clock_now_ns();
	tally_mb_read(mdm, &mb->device.shape, sample);
	return TALLY_OK;
}

static enum tally_status
sample_now(struct microblaze *mb, struct tally_totals *out)
{
	struct tally_mb_sample sample;
	struct tally_mb_delta growth;
	const char *why;
	enum tally_status status = read_sample(mb, &sample, out);
	if (status != TALLY_OK)
		return status;
	if (!tally_mb_history_add(&mb->history, &sample, out->begin_ns, out->end_ns, &growth,
				  &why)) {
		status = refuse_sample(mb, why, out);
	} else {
		mb->n_bad = mb->n_restarts = 0;
		take_growth(mb, &growth, out);
		take_levels(mb);
		if (mb->hardware)
			watch_hardware(mb, &growth, out->begin_ns);
		restart_if_needed(mb, &sample, &growth, out);
	}
	if (status == TALLY_OK)
		memcpy(out->totals, mb->totals, mb->choice.n * sizeof(*out->totals));
	return status;
}

static enum tally_status
microblaze_sample(struct tally_snapshot_source *src, struct tally_totals *out)
{
	struct microblaze *mb = microblaze_of(src);
	if (mb->lost)
		return TALLY_LOST;
	if (src->due_fd)
		take_interrupt(mb);
	return sample_now(mb, out);
}

/* ---- ending ---- */

static void
microblaze_stop(struct tally_snapshot_source *src)
{
	struct microblaze *mb = microblaze_of(src);
	src->due_fd = NULL;
	if (!mb->device.mapping.registers || !tally_mdm_wait_free(&mb->device.mdm, BUSY_NS))
		return;
	tally_mdm_select_core(&mb->device.mdm);
	tally_mb_command(&mb->device.mdm, TALLY_MDM_STOP);
}

static void
microblaze_close(struct tally_snapshot_source *src)
{
	tally_mb_device_close(&microblaze_of(src)->device);
	src->due_fd = NULL;
}

static void
microblaze_abandon(struct tally_snapshot_source *src)
{
	tally_mb_mapping_close(&microblaze_of(src)->device.mapping);
}

static const struct tally_snapshot_ops microblaze_ops = {
	.name = TALLY_MB_SOURCE,
	.probe = microblaze_probe,
	.open = microblaze_open,
	.start = microblaze_start,
	.sample = microblaze_sample,
	.stop = microblaze_stop,
	.close = microblaze_close,
	.abandon = microblaze_abandon,
	.destroy = tally_snapshot_free,
};

struct tally_snapshot_source *
tally_microblaze_create(void)
{
	struct microblaze *mb = calloc(1, sizeof(*mb));
	if (!mb)
		return NULL;
	mb->base.ops = &microblaze_ops;
	mb->device.mapping.fd = -1;
	return &mb->base;
}
