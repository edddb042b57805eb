/* SPDX-License-Identifier: MIT */
#include "query/attribute/annotate.h"

#include "layer/base/clock.h"
#include "layer/frame/frame_part.h"
#include "layer/log.h"
#include "query/attribute/annotate_account.h"
#include "query/attribute/annotate_device.h"
#include "query/attribute/annotate_internal.h"
#include "query/attribute/annotate_values.h"
#include "query/statistics/run_statistics.h"

#include <stdlib.h>
#include <string.h>

/* The maximum number of devices whose deltas the `end` line can report: a program that creates
 * more has other problems. */
#define MAX_DEVICES 256
/* Reasons why a pass may have no time on a GPU that supports timestamps. */
#define EXCUSES \
	(TALLY_FLAG(LOST) | TALLY_FLAG(INCOMPLETE) | TALLY_FLAG(DROPPED) | TALLY_FLAG(DISJOINT) | \
	 TALLY_FLAG(BAD_TIME) | TALLY_FLAG(SIMULTANEOUS))

/* The maximum error of GPU times on the CPU's clock where the clocks are poorly matched. */
#define TIME_SLACK_NS UINT64_C(1000000000)
/* How long readings are kept for the first frame of a known device. */
#define WAIT_FOR_FIRST_NS UINT64_C(1000000000)
/* This many consecutive frames without times are no accident. */
#define SURELY_UNTIMED 8
/* Frames of several devices arrive in any order: a device that worked within this time may
 * still be working. */
#define STILL_WORKS_NS UINT64_C(1000000000)

struct tally_annotator {
	struct tally_annotate_by by;
	bool exact;
	bool trimmed; /* the first readings of some histories are gone */
	struct tally_annotated *devices, *dropped; /* dropped: kept for end() */
	uint32_t n_devices;
	struct tally_annotated *last; /* whose frame was the last that values were added to */
	struct tally_scratch scratch;
	struct tally_growth_record *rows; /* used by end() */
	struct tally_run_statistics *statistics; /* NULL: out of memory */
	struct tally_statistic_record *statistic_rows; /* used by end() */
};

/* ---- creating and destroying ---- */

static void
read_own_metrics(struct tally_annotator *a, const struct tally_config *config)
{
	if (config->n_metrics == 0)
		return;
	a->by.own = calloc(config->n_metrics, sizeof(*a->by.own));
	if (!a->by.own) {
		tally_log_say(TALLY_LEVEL_WARNING, "annotate",
			      "out of memory: the metrics of the configuration are left out");
		return;
	}
	a->by.n_own = tally_metric_read_own(config, a->by.own, tally_log_complain, NULL);
}

static struct tally_annotator *
create(const struct tally_config *config)
{
	struct tally_annotator *a = calloc(1, sizeof(*a));
	if (!a) {
		tally_log_say(TALLY_LEVEL_WARNING, "annotate",
			      "out of memory: no counter snapshots are taken and no metrics "
			      "evaluated in this run");
		return NULL;
	}
	a->by.config = config;
	read_own_metrics(a, config);
	a->exact = config->snapshot == TALLY_SNAPSHOT_EXACT;
	if (config->snapshot != TALLY_SNAPSHOT_OFF)
		a->by.sampler = tally_sampler_create(config);
	a->statistics = tally_run_statistics_create(config->digest);
	if (!a->statistics)
		tally_log_say(TALLY_LEVEL_WARNING, "annotate",
			      "out of memory: the end line has no statistics");
	return a;
}

static void
destroy_list(struct tally_annotated *d)
{
	while (d) {
		struct tally_annotated *next = d->next;
		tally_annotated_destroy(d);
		d = next;
	}
}

static void
destroy(struct tally_annotator *a)
{
	if (!a)
		return;
	destroy_list(a->devices);
	destroy_list(a->dropped);
	tally_sampler_destroy(a->by.sampler);
	tally_scratch_finish(&a->scratch);
	free(a->rows);
	free(a->statistic_rows);
	tally_run_statistics_destroy(a->statistics);
	free(a->by.own);
	free(a);
}

static void
abandon(struct tally_annotator *a)
{
	if (a && a->by.sampler)
		tally_sampler_abandon(a->by.sampler);
}

/* ---- devices ---- */

static struct tally_annotated *
find_device(const struct tally_annotator *a, uint32_t number)
{
	struct tally_annotated *d = a->devices;
	while (d && d->number != number)
		d = d->next;
	return d;
}

/* Changes when the sources are open, and when one is lost. */
static uint32_t
count_rows(const struct tally_annotator *a)
{
	struct tally_sampler *sampler = a->by.sampler;
	uint32_t n = sampler && tally_sampler_is_ready(sampler) ? tally_sampler_n_rows(sampler) : 0;
	uint32_t on = 0;
	for (uint32_t i = 0; i < n; i++)
		on += tally_sampler_row(sampler, i).on;
	return n + on;
}

/* GL over Vulkan: the work is that of the device below. */
static bool
lies_on_another(const struct tally_annotator *a, const struct tally_annotated *d)
{
	for (const struct tally_annotated *other = a->devices; other; other = other->next)
		if (other->line.beneath == (int64_t)d->number)
			return true;
	return false;
}

/* The sources get the address of the GPU, if all devices report the same one. */
static void
find_gpu(struct tally_annotator *a)
{
	uint64_t gpu = 0;
	bool alike = true, first = true;
	for (const struct tally_annotated *d = a->devices; d; d = d->next) {
		if (lies_on_another(a, d))
			continue;
		uint64_t own = tally_pci_number(d->info ? d->info->pci : NULL);
		alike &= first || own == gpu;
		gpu = own;
		first = false;
	}
	if (a->by.sampler)
		tally_sampler_use_gpu(a->by.sampler, alike ? gpu : 0);
}

static const struct tally_device_record *
describe_annotated(struct tally_annotator *a, const struct tally_device_record *info)
{
	struct tally_annotated *d = find_device(a, info->device);
	uint32_t rows = count_rows(a);
	if (!d) {
		if (a->n_devices == MAX_DEVICES) {
			tally_log_say(TALLY_LEVEL_WARNING, "annotate",
				      "more than %d devices: those that come now have neither "
				      "counter snapshots nor metrics",
				      MAX_DEVICES);
			return info;
		}
		d = tally_annotated_create(info->device);
		if (!d) {
			tally_log_say(TALLY_LEVEL_WARNING, "annotate",
				      "out of memory: device %u has neither counter snapshots "
				      "nor metrics",
				      info->device);
			return info;
		}
		d->seen_ns = tally_clock_now_ns();
		d->next = a->devices;
		a->devices = d;
		a->n_devices++;
	}
	if (info != d->info) {
		free(d->info);
		d->info = tally_device_copy_info(info, info->device);
	}
	d->rows = rows;
	d->off = !tally_annotated_describe(d, info, &a->by);
	find_gpu(a);
	if (!d->off)
		return &d->line;
	tally_log_say(TALLY_LEVEL_WARNING, "annotate",
		      "out of memory: device %u has neither counter snapshots nor metrics from "
		      "here on",
		      info->device);
	return info;
}

static const struct tally_device_record *
describe(struct tally_annotator *a, const struct tally_device_record *info)
{
	const struct tally_device_record *line = describe_annotated(a, info);
	if (a->statistics)
		tally_run_statistics_describe(a->statistics, line);
	return line;
}

static const struct tally_device_record *
changed(struct tally_annotator *a, bool last)
{
	if (last && a->by.sampler)
		tally_sampler_ready(a->by.sampler);
	uint32_t rows = count_rows(a);
	for (struct tally_annotated *d = a->devices; d; d = d->next)
		if (d->rows != rows && d->info)
			return describe(a, d->info);
	return NULL;
}

/* Drops the readings that no device needs anymore. For a device that has not begun, only the
 * latest are kept: its first frame may be complete after later ones of other devices, but it
 * may also never draw. */
static void
trim(struct tally_annotator *a)
{
	for (uint32_t s = 0; s < tally_sampler_n_sources(a->by.sampler); s++) {
		struct tally_history *history = tally_sampler_history(a->by.sampler, s);
		uint64_t least_ns = UINT64_MAX;
		bool waiting = false;
		for (const struct tally_annotated *d = a->devices; d; d = d->next) {
			const struct tally_account *account = &d->accounts[s];
			waiting |= !account->begun;
			if (account->begun && account->cursor_ns < least_ns)
				least_ns = account->cursor_ns;
		}
		if (least_ns == UINT64_MAX)
			continue;
		struct tally_reading last;
		if (waiting && tally_history_last(history, &last)) {
			uint64_t wanted_ns = last.time_ns > WAIT_FOR_FIRST_NS
						     ? last.time_ns - WAIT_FOR_FIRST_NS
						     : 0;
			if (wanted_ns < least_ns)
				least_ns = wanted_ns;
		}
		tally_history_trim(history, least_ns);
		a->trimmed = true;
	}
}

static void
skip(struct tally_annotator *a, uint32_t device, uint64_t end_ns)
{
	struct tally_annotated *d = find_device(a, device);
	a->last = NULL;
	if (!d || d->n_accounts == 0)
		return;
	d->skipped = true;
	tally_sampler_lock(a->by.sampler);
	for (uint32_t i = 0; i < d->n_accounts; i++)
		if (tally_account_begin(&d->accounts[i], a->trimmed, end_ns))
			tally_account_pass_over(&d->accounts[i], end_ns);
	trim(a);
	tally_sampler_unlock(a->by.sampler);
}

static void
report_no_times(struct tally_annotated *d)
{
	if (d->reported_no_times)
		return;
	d->reported_no_times = true;
	tally_log_say(TALLY_LEVEL_WARNING, "annotate",
		      "device %u: %s, so counters read in snapshots are reported for whole "
		      "frames only, as unattributed",
		      d->number,
		      d->uncalibrated ? "its clock cannot be matched with the CPU's"
				      : "its passes have no GPU times of their own (needs "
					"gl-timestamp or vk-timestamp; those flagged "
					"shared_time have none)");
}

static void
drop_device(struct tally_annotator *a, uint32_t device)
{
	struct tally_annotated *d = find_device(a, device);
	a->last = NULL;
	if (!d)
		return;
	if (d->n_frames > 0 && d->n_untimed == d->n_frames)
		report_no_times(d);
	if (d->n_accounts) {
		uint64_t now_ns = tally_clock_now_ns();
		tally_sampler_cover(a->by.sampler, now_ns);
		tally_sampler_lock(a->by.sampler);
		for (uint32_t i = 0; i < d->n_accounts; i++)
			if (d->accounts[i].begun)
				tally_account_pass_over(&d->accounts[i], UINT64_MAX);
		tally_sampler_unlock(a->by.sampler);
	}
	struct tally_annotated **at = &a->devices;
	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	d->next = a->dropped;
	a->dropped = d;
	find_gpu(a);
}

/* ---- the time window of a frame ---- */

/* False for work that seems to end in the future: then the GPU's clock jumped, as it may while
 * the machine sleeps. */
static bool
is_timed(const struct tally_pass_record *pass, uint64_t now_ns)
{
	uint64_t latest_ns = now_ns + TIME_SLACK_NS;
	return pass->has_gpu && pass->has_gpu_start &&
	       !(pass->flags & TALLY_FLAG(UNCALIBRATED)) &&
	       pass->gpu_start_ns <= latest_ns &&
	       pass->gpu_ns <= latest_ns - pass->gpu_start_ns;
}

/* Finds where the passes lie on the CPU's clock; *end_ns: when the last of them ended, or when
 * the frame ended on the CPU if none has a time. False: the passes cannot have times. */
static bool
place_passes(struct tally_scratch *scratch, const struct tally_frame_record *frame,
	     uint64_t *end_ns)
{
	bool any = false, missed = false;
	uint64_t now_ns = tally_clock_now_ns();
	*end_ns = 0;
	for (uint32_t i = 0; i < frame->n_passes; i++) {
		const struct tally_pass_record *pass = &frame->passes[i];
		struct tally_work work = { .from = pass->snapshot_from,
					   .to = pass->snapshot_to };
		bool timed = is_timed(pass, now_ns);
		if (timed) {
			any = true;
			work.begin_ns = pass->gpu_start_ns;
			work.end_ns = work.begin_ns + pass->gpu_ns;
			if (work.end_ns > *end_ns)
				*end_ns = work.end_ns;
		}
		missed |= !timed && !(pass->flags & EXCUSES);
		if (i < scratch->n_shared)
			scratch->work[i] = work;
	}
	if (!any)
		*end_ns = frame->start_ns + frame->cpu_ns;
	if (*end_ns > now_ns)
		*end_ns = now_ns; /* later events belong to the next frame */
	return any || !missed;
}

/* With `exact`: the last sample around any of the frame's passes; 0: there is none. */
static uint64_t
last_sample(const struct tally_frame_record *frame)
{
	uint64_t number = TALLY_NO_SNAPSHOT;
	for (uint32_t i = 0; i < frame->n_passes; i++)
		if (frame->passes[i].snapshot_from && frame->passes[i].snapshot_to > number)
			number = frame->passes[i].snapshot_to;
	return number;
}

/* Counts a frame whose passes have no times: only its flag reports that, until there are
 * SURELY_UNTIMED of them in a row. */
static void
note_no_times(struct tally_annotated *d, const struct tally_frame_record *frame)
{
	for (uint32_t i = 0; i < frame->n_passes; i++)
		d->uncalibrated |= frame->passes[i].has_gpu;
	if (++d->n_untimed == SURELY_UNTIMED)
		report_no_times(d);
}

/* Divides each source's deltas among the frame's passes. */
static void
attribute(struct tally_annotator *a, struct tally_annotated *d, struct tally_frame_record *frame)
{
	struct tally_scratch *scratch = &a->scratch;
	uint32_t n = scratch->n_shared;
	uint64_t end_ns;
	bool timed = place_passes(scratch, frame, &end_ns) || a->exact;
	d->n_frames += frame->n_passes > 0;
	if (!timed && d->n_logged) {
		frame->flags |= TALLY_FLAG(NO_TIMESTAMPS);
		note_no_times(d, frame);
	} else if (frame->n_passes) {
		d->n_untimed = 0;
	}
	uint64_t sample = a->exact ? last_sample(frame) : TALLY_NO_SNAPSHOT;
	if (sample == TALLY_NO_SNAPSHOT)
		tally_sampler_cover(a->by.sampler, end_ns);
	tally_sampler_lock(a->by.sampler);
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		struct tally_account *account = &d->accounts[s];
		account->reported = false;
		if (!tally_account_begin(account, a->trimmed || frame->frame > 0,
					 frame->start_ns))
			continue;
		if (d->skipped)
			tally_account_pass_over(account, frame->start_ns);
		struct tally_reading reading;
		bool found = sample && tally_history_find(account->history, sample, &reading);
		tally_account_attribute(account, found ? reading.time_ns : end_ns, a->exact,
					scratch->work, scratch->shares + (size_t)s * n, n);
	}
	d->skipped = false;
	trim(a);
	tally_sampler_unlock(a->by.sampler);
}

static bool
works_beside(const struct tally_annotated *list, const struct tally_annotated *d,
	     const struct tally_frame_record *frame)
{
	for (; list; list = list->next) {
		/* With GL over Vulkan both devices have the same work. */
		bool layered = list->line.beneath == (int64_t)d->number ||
			       d->line.beneath == (int64_t)list->number;
		if (list != d && !layered && list->seen_ns + STILL_WORKS_NS >= frame->start_ns)
			return true;
	}
	return false;
}

/* Each device is given the whole delta of the totals, which are those of the GPU. */
static void
flag_shared_totals(struct tally_annotator *a, struct tally_annotated *d,
		   struct tally_frame_record *frame)
{
	bool any = false;
	for (uint32_t s = 0; s < d->n_accounts; s++)
		/* Metrics may use totals that are not in the log. */
		any |= d->accounts[s].reported &&
		       (d->accounts[s].shown || (d->metrics && !d->accounts[s].src->of_state));
	if (any && (works_beside(a->devices, d, frame) || works_beside(a->dropped, d, frame)))
		frame->flags |= TALLY_FLAG(SHARED_TOTALS);
	if (frame->n_passes)
		d->seen_ns = frame->start_ns + frame->cpu_ns;
}

static void
annotate(struct tally_annotator *a, struct tally_frame_record *frame,
	 struct tally_pass_record *passes)
{
	struct tally_annotated *d = find_device(a, frame->device);
	a->last = NULL;
	if (!d || (d->n_accounts == 0 && !d->metrics))
		return;
	if (d->off || !tally_scratch_reserve(&a->scratch, d, frame)) {
		tally_log_say(TALLY_LEVEL_WARNING, "annotate",
			      "out of memory: frames of device %u lack counter snapshots and "
			      "metrics",
			      d->number);
		return;
	}
	if (d->n_accounts) {
		if (a->scratch.n_shared < frame->n_passes)
			tally_log_say(TALLY_LEVEL_WARNING, "annotate",
				      "frames of so many passes and counters are not cut into "
				      "passes: their snapshots are reported as unattributed");
		attribute(a, d, frame);
		flag_shared_totals(a, d, frame);
		a->last = d;
	}
	tally_scratch_add_values(&a->scratch, d, frame, passes, a->exact);
}

static void
written(struct tally_annotator *a, const struct tally_frame_record *frame)
{
	if (a->statistics)
		tally_run_statistics_add(a->statistics, frame);
}

static void
unwritten(struct tally_annotator *a)
{
	for (uint32_t i = 0; a->last && i < a->last->n_accounts; i++)
		tally_account_take_back(&a->last->accounts[i]);
	a->last = NULL;
}

/* ---- the end of the capture ---- */

static uint32_t
list_growth(const struct tally_annotated *d, struct tally_growth_record *rows)
{
	uint32_t n = 0;
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		const struct tally_account *account = &d->accounts[s];
		for (uint32_t i = 0; account->begun && i < account->src->n_counters; i++) {
			if (!tally_bit(account->src->logged, i))
				continue;
			rows[n++] = (struct tally_growth_record){
				.device = d->number,
				.source = account->src->ops->name,
				.key = account->counters[i]->key,
				.growth = account->growth[i],
				.unlogged = account->unlogged[i],
				.outside = account->outside[i],
			};
		}
	}
	return n;
}

/* Sorts by number, for people who read the log. */
static void
sort_devices(struct tally_annotated **list)
{
	struct tally_annotated *sorted = NULL;
	while (*list) {
		struct tally_annotated *d = *list, **at = &sorted;
		*list = d->next;
		while (*at && (*at)->number < d->number)
			at = &(*at)->next;
		d->next = *at;
		*at = d;
	}
	*list = sorted;
}

static void
end_growth(struct tally_annotator *a, struct tally_end_record *end)
{
	size_t n = 0;
	sort_devices(&a->dropped);
	for (const struct tally_annotated *d = a->dropped; d; d = d->next)
		n += d->n_logged;
	a->rows = n ? calloc(n, sizeof(*a->rows)) : NULL;
	if (!a->rows)
		return;
	for (const struct tally_annotated *d = a->dropped; d; d = d->next)
		end->n_growth += list_growth(d, a->rows + end->n_growth);
	end->growth = a->rows;
}

static void
end_run(struct tally_annotator *a, struct tally_end_record *end)
{
	end_growth(a, end);
	if (!a->statistics)
		return;
	a->statistic_rows = tally_run_statistics_list(a->statistics, &end->n_statistics);
	end->statistics = a->statistic_rows;
}

const struct tally_annotator_ops tally_annotator = {
	.create = create,
	.device = describe,
	.changed = changed,
	.frame = annotate,
	.written = written,
	.unwritten = unwritten,
	.skip = skip,
	.drop_device = drop_device,
	.frame_begins = tally_sampler_frame_begins,
	.end = end_run,
	.destroy = destroy,
	.abandon = abandon,
};
