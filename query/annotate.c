#include "query/annotate.h"

#include "layer/clock.h"
#include "layer/log.h"
#include "query/annotate_internal.h"
#include "query/run_statistics.h"

#include <stdlib.h>
#include <string.h>

/* Devices whose growth the `end` line can tell of: a program that makes more has other troubles. */
#define MAX_DEVICES 256
/* Of what the shares of one frame's passes may take; past it all of the frame is unattributed. */
#define MAX_SHARE_BYTES ((size_t)64 << 20)

struct tally_annotator {
	struct tally_annotate_by by;
	struct tally_metric *own; /* by.own */
	struct tally_sampler *sampler; /* by.sampler */
	bool exact;
	bool trimmed; /* of the histories' first readings some are gone */
	struct tally_annotated *devices, *dropped; /* dropped: kept for end() */
	uint32_t n_devices;
	struct tally_annotated *last; /* whose frame was added to last */
	/* Scratch of a frame, at its largest so far. */
	struct tally_work *work;
	struct tally_share *shares; /* a source after the other, a pass after the other */
	uint64_t *numbers; /* what the shares point to */
	struct tally_keyed_value *values;
	uint32_t *n_own; /* of each pass, counters that are not from snapshots */
	size_t max_work, max_shares, max_numbers, max_values, max_own, n_values;
	struct tally_growth_record *rows; /* of end() */
	struct tally_run_statistics *statistics; /* NULL: out of memory */
	struct tally_statistic_record *statistic_rows; /* of end() */
};

/* ---- life ---- */

static void
complain(void *data, const char *message)
{
	(void)data;
	tally_log_say(TALLY_LEVEL_WARNING, "config", "%s", message);
}

static void
read_own_metrics(struct tally_annotator *a, const struct tally_config *config)
{
	if (config->n_metrics == 0)
		return;
	a->own = calloc(config->n_metrics, sizeof(*a->own));
	if (!a->own) {
		tally_log_say(TALLY_LEVEL_WARNING, "annotate",
			      "out of memory: the metrics of the configuration are left out");
		return;
	}
	a->by.own = a->own;
	a->by.n_own = tally_metric_read_own(config, a->own, complain, NULL);
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
		a->sampler = tally_sampler_create(config);
	a->by.sampler = a->sampler;
	a->statistics = tally_run_statistics_create();
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
	if (a->sampler)
		tally_sampler_stop(a->sampler);
	tally_sampler_destroy(a->sampler);
	free(a->work);
	free(a->shares);
	free(a->numbers);
	free(a->values);
	free(a->n_own);
	free(a->rows);
	free(a->statistic_rows);
	tally_run_statistics_destroy(a->statistics);
	free(a->own);
	free(a);
}

static void
abandon(struct tally_annotator *a)
{
	if (a && a->sampler)
		tally_sampler_abandon(a->sampler);
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

static const struct tally_device_record *
describe_annotated(struct tally_annotator *a, const struct tally_device_record *info)
{
	struct tally_annotated *d = find_device(a, info->device);
	if (!d) {
		if (a->n_devices == MAX_DEVICES) {
			tally_log_say(TALLY_LEVEL_WARNING, "annotate",
				      "more than %d devices: those that come now have neither "
				      "counter snapshots nor metrics",
				      MAX_DEVICES);
			return info;
		}
		d = tally_annotated_create(info->device, a->sampler);
		if (!d) {
			tally_log_say(TALLY_LEVEL_WARNING, "annotate",
				      "out of memory: device %u has neither counter snapshots "
				      "nor metrics",
				      info->device);
			return info;
		}
		d->next = a->devices;
		a->devices = d;
		a->n_devices++;
	}
	d->off = !tally_annotated_describe(d, info, &a->by);
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

/* Readings that no device needs any more. One that has not begun does not hold the others back. */
static void
trim(struct tally_annotator *a)
{
	for (uint32_t s = 0; s < tally_sampler_n_sources(a->sampler); s++) {
		uint64_t least_ns = UINT64_MAX;
		for (const struct tally_annotated *d = a->devices; d; d = d->next) {
			const struct tally_account *account = &d->accounts[s];
			if (account->begun && account->cursor_ns < least_ns)
				least_ns = account->cursor_ns;
		}
		if (least_ns == UINT64_MAX)
			continue;
		tally_history_trim(tally_sampler_history(a->sampler, s), least_ns);
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
	tally_sampler_lock(a->sampler);
	for (uint32_t i = 0; i < d->n_accounts; i++)
		if (tally_account_begin(&d->accounts[i], a->trimmed, end_ns))
			tally_account_pass_over(&d->accounts[i], end_ns);
	trim(a);
	tally_sampler_unlock(a->sampler);
}

static void
drop_device(struct tally_annotator *a, uint32_t device)
{
	struct tally_annotated *d = find_device(a, device);
	a->last = NULL;
	if (!d)
		return;
	if (d->n_accounts) {
		uint64_t now_ns = tally_clock_now_ns();
		tally_sampler_cover(a->sampler, now_ns);
		tally_sampler_lock(a->sampler);
		for (uint32_t i = 0; i < d->n_accounts; i++)
			if (d->accounts[i].begun)
				tally_account_pass_over(&d->accounts[i], UINT64_MAX);
		tally_sampler_unlock(a->sampler);
	}
	struct tally_annotated **at = &a->devices;
	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	d->next = a->dropped;
	a->dropped = d;
}

/* ---- room for a frame ---- */

static bool
fit(void *array, size_t *max, size_t n, size_t size)
{
	if (n <= *max)
		return true;
	void *old;
	memcpy(&old, array, sizeof(old));
	void *fresh = calloc(n + n / 4, size);
	if (!fresh)
		return false;
	free(old);
	memcpy(array, &fresh, sizeof(fresh));
	*max = n + n / 4;
	return true;
}

static uint32_t
words_of(uint32_t n_counters)
{
	return n_counters / 64 + (n_counters % 64 != 0);
}

/* Of how many passes the shares can be told: all, or none where they are too many. False on
 * OOM. */
static bool
reserve(struct tally_annotator *a, const struct tally_annotated *d,
	const struct tally_frame_record *frame, uint32_t *n_passes)
{
	size_t numbers = 0, n = frame->n_passes;
	for (uint32_t s = 0; s < d->n_accounts; s++)
		numbers += d->accounts[s].src->n_counters +
			   words_of(d->accounts[s].src->n_counters);
	if (numbers && n > MAX_SHARE_BYTES / sizeof(uint64_t) / numbers)
		n = 0;
	uint32_t n_metrics = d->line.n_metrics;
	size_t values = (n + 1) * d->n_logged + ((size_t)frame->n_passes + 1) * n_metrics +
			d->n_logged + d->n_hidden + frame->n_unattributed;
	for (uint32_t i = 0; n && d->n_logged && i < frame->n_passes; i++)
		values += frame->passes[i].n_counters;
	*n_passes = (uint32_t)n;
	a->n_values = 0;
	return fit(&a->work, &a->max_work, n, sizeof(*a->work)) &&
	       fit(&a->shares, &a->max_shares, n * d->n_accounts, sizeof(*a->shares)) &&
	       fit(&a->numbers, &a->max_numbers, n * numbers, sizeof(*a->numbers)) &&
	       fit(&a->n_own, &a->max_own, frame->n_passes, sizeof(*a->n_own)) &&
	       fit(&a->values, &a->max_values, values, sizeof(*a->values));
}

static void
lay_out_shares(struct tally_annotator *a, const struct tally_annotated *d, uint32_t n)
{
	uint64_t *numbers = a->numbers;
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		uint32_t n_counters = d->accounts[s].src->n_counters;
		for (uint32_t i = 0; i < n; i++) {
			a->shares[(size_t)s * n + i] = (struct tally_share){
				.growth = numbers,
				.unknown = numbers + n_counters,
			};
			numbers += n_counters + words_of(n_counters);
		}
	}
}

/* ---- the stretch of a frame ---- */

static bool
is_timed(const struct tally_pass_record *pass)
{
	return pass->has_gpu && pass->has_gpu_start && !(pass->flags & TALLY_FLAG(UNCALIBRATED));
}

/* Where the passes lie on the CPU's clock; *end_ns: when the last of them ended, or the frame on
 * the CPU where none has a time. False: there are passes and none has. */
static bool
place_passes(struct tally_annotator *a, const struct tally_frame_record *frame, uint32_t n,
	     uint64_t *end_ns)
{
	bool any = false;
	*end_ns = 0;
	for (uint32_t i = 0; i < frame->n_passes; i++) {
		const struct tally_pass_record *pass = &frame->passes[i];
		struct tally_work work = { .from = pass->snapshot_from, .to = pass->snapshot_to };
		if (is_timed(pass)) {
			any = true;
			work.begin_ns = pass->gpu_start_ns;
			if (__builtin_add_overflow(work.begin_ns, pass->gpu_ns, &work.end_ns))
				work.end_ns = work.begin_ns;
			if (work.end_ns > *end_ns)
				*end_ns = work.end_ns;
		}
		if (i < n)
			a->work[i] = work;
	}
	if (!any)
		*end_ns = frame->start_ns + frame->cpu_ns;
	return any || frame->n_passes == 0;
}

/* With `exact`: the last sample around any of the frame's passes, 0: there is none. */
static uint64_t
last_sample(const struct tally_frame_record *frame)
{
	uint64_t number = TALLY_NO_SNAPSHOT;
	for (uint32_t i = 0; i < frame->n_passes; i++)
		if (frame->passes[i].snapshot_from && frame->passes[i].snapshot_to > number)
			number = frame->passes[i].snapshot_to;
	return number;
}

static void
tell_no_times(struct tally_annotated *d, const struct tally_frame_record *frame)
{
	if (d->told_no_times)
		return;
	d->told_no_times = true;
	bool uncalibrated = false;
	for (uint32_t i = 0; i < frame->n_passes; i++)
		uncalibrated |= frame->passes[i].has_gpu;
	tally_log_say(TALLY_LEVEL_WARNING, "annotate",
		      "device %u: %s, so counters read in snapshots are told for whole frames "
		      "only, as unattributed",
		      d->number,
		      uncalibrated ? "its clock cannot be matched with the CPU's"
				   : "its passes have no GPU times (needs gl-timestamp or "
				     "vk-timestamp)");
}

/* Each source's growth, cut into the frame's passes. */
static void
attribute(struct tally_annotator *a, struct tally_annotated *d, struct tally_frame_record *frame,
	  uint32_t n)
{
	uint64_t end_ns;
	if (!place_passes(a, frame, n, &end_ns) && !a->exact) {
		frame->flags |= TALLY_FLAG(NO_TIMESTAMPS);
		tell_no_times(d, frame);
	}
	lay_out_shares(a, d, n);
	uint64_t sample = a->exact ? last_sample(frame) : TALLY_NO_SNAPSHOT;
	if (sample == TALLY_NO_SNAPSHOT)
		tally_sampler_cover(a->sampler, end_ns);
	tally_sampler_lock(a->sampler);
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		struct tally_account *account = &d->accounts[s];
		account->told = false;
		if (!tally_account_begin(account, a->trimmed || frame->frame > 0, frame->start_ns))
			continue;
		if (d->skipped)
			tally_account_pass_over(account, frame->start_ns);
		struct tally_reading reading;
		bool found = sample && tally_history_find(account->history, sample, &reading);
		tally_account_attribute(account, found ? reading.time_ns : end_ns, a->exact,
					a->work, a->shares + (size_t)s * n, n);
	}
	d->skipped = false;
	trim(a);
	tally_sampler_unlock(a->sampler);
}

/* ---- values ---- */

static void
put(struct tally_annotator *a, const char *key, uint64_t v, bool estimated)
{
	a->values[a->n_values++] = (struct tally_keyed_value){
		.key = key,
		.value = { .storage = TALLY_STORAGE_U64, .u64 = v },
		.estimated = estimated,
	};
}

/* Of one pass, those counters of all sources that are logged, or those that are not. Returns how
 * many there were. */
static uint32_t
put_shares(struct tally_annotator *a, const struct tally_annotated *d, uint32_t pass, uint32_t n,
	   bool logged)
{
	size_t before = a->n_values;
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		const struct tally_account *account = &d->accounts[s];
		const struct tally_share *share = &a->shares[(size_t)s * n + pass];
		if (!account->told || !share->known)
			continue;
		for (uint32_t i = 0; i < account->src->n_counters; i++)
			if (tally_bit(account->src->logged, i) == logged &&
			    !tally_bit(share->unknown, i))
				put(a, account->counters[i]->key, share->growth[i],
				    share->estimated);
	}
	return (uint32_t)(a->n_values - before);
}

/* The pass's own counters and, behind them, those of the snapshots. */
static void
add_shares(struct tally_annotator *a, const struct tally_annotated *d,
	   struct tally_pass_record *pass, uint32_t index, uint32_t n)
{
	for (uint32_t s = 0; s < d->n_accounts; s++)
		if (d->accounts[s].told)
			pass->flags |= a->shares[(size_t)s * n + index].flags;
	if (d->n_logged == 0)
		return;
	struct tally_keyed_value *values = a->values + a->n_values;
	for (uint32_t i = 0; i < pass->n_counters; i++)
		a->values[a->n_values++] = pass->counters[i];
	uint32_t added = put_shares(a, d, index, n, true);
	pass->counters = values;
	pass->n_counters += added;
}

static void
add_unattributed(struct tally_annotator *a, const struct tally_annotated *d,
		 struct tally_frame_record *frame)
{
	struct tally_keyed_value *values = a->values + a->n_values;
	for (uint32_t i = 0; i < frame->n_unattributed; i++)
		a->values[a->n_values++] = frame->unattributed[i];
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		const struct tally_account *account = &d->accounts[s];
		if (!account->told)
			continue;
		frame->flags |= account->stretch.flags;
		for (uint32_t i = 0; i < account->src->n_counters; i++)
			if (tally_bit(account->src->logged, i) &&
			    !tally_bit(account->stretch.unattributed_unknown, i))
				put(a, account->counters[i]->key,
				    account->stretch.unattributed[i], !a->exact);
	}
	frame->unattributed = values;
	frame->n_unattributed = (uint32_t)(a->values + a->n_values - values);
}

/* What the frame as a whole grew by, where all of it is known. */
static uint32_t
put_growth(struct tally_annotator *a, const struct tally_annotated *d)
{
	size_t before = a->n_values;
	for (uint32_t s = 0; s < d->n_accounts; s++) {
		const struct tally_account *account = &d->accounts[s];
		for (uint32_t i = 0; account->told && i < account->src->n_counters; i++)
			if (account->stretch.unlogged[i] == 0 &&
			    !tally_bit(account->stretch.unattributed_unknown, i))
				put(a, account->counters[i]->key, account->stretch.growth[i],
				    !a->exact);
	}
	return (uint32_t)(a->n_values - before);
}

static void
add_metrics(struct tally_annotator *a, struct tally_annotated *d, struct tally_frame_record *frame,
	    struct tally_pass_record *passes, uint32_t n, uint32_t n_unattributed)
{
	for (uint32_t i = 0; i < frame->n_passes; i++) {
		struct tally_keyed_value *out = a->values + a->n_values;
		a->n_values += d->line.n_metrics;
		/* Counters that are not logged lie behind, and are overwritten by what is next. */
		struct tally_keyed_value *more = a->values + a->n_values;
		uint32_t n_more = i < n && d->n_hidden ? put_shares(a, d, i, n, false) : 0;
		a->n_values -= n_more;
		passes[i].n_metrics = tally_metric_pass_evaluate(d->metrics, &passes[i], more,
								 n_more, out);
		passes[i].metrics = out;
		a->n_values -= d->line.n_metrics - passes[i].n_metrics;
	}
	struct tally_keyed_value *out = a->values + a->n_values;
	a->n_values += d->line.n_metrics;
	struct tally_keyed_value *more = a->values + a->n_values;
	uint32_t n_more = put_growth(a, d);
	frame->n_metrics = tally_metric_frame_evaluate(d->sums, d->metrics, frame, a->n_own,
						       n_unattributed, more, n_more, out);
	frame->metrics = out;
}

static void
annotate(struct tally_annotator *a, struct tally_frame_record *frame,
	 struct tally_pass_record *passes)
{
	struct tally_annotated *d = find_device(a, frame->device);
	a->last = NULL;
	if (!d || (d->n_accounts == 0 && !d->metrics))
		return;
	uint32_t n;
	if (d->off || !reserve(a, d, frame, &n)) {
		tally_log_say(TALLY_LEVEL_WARNING, "annotate",
			      "out of memory: frames of device %u lack counter snapshots and "
			      "metrics",
			      d->number);
		return;
	}
	uint32_t n_unattributed = frame->n_unattributed;
	for (uint32_t i = 0; i < frame->n_passes; i++)
		a->n_own[i] = passes[i].n_counters;
	if (d->n_accounts) {
		if (n < frame->n_passes)
			tally_log_say(TALLY_LEVEL_WARNING, "annotate",
				      "frames of so many passes and counters are not cut into "
				      "passes: their snapshots are told as unattributed");
		attribute(a, d, frame, n);
		a->last = d;
		for (uint32_t i = 0; i < n; i++)
			add_shares(a, d, &passes[i], i, n);
		add_unattributed(a, d, frame);
	}
	if (d->metrics)
		add_metrics(a, d, frame, passes, n, n_unattributed);
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

/* ---- the end ---- */

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

/* In order of their numbers, to be read by people. */
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
	.frame = annotate,
	.written = written,
	.unwritten = unwritten,
	.skip = skip,
	.drop_device = drop_device,
	.end = end_run,
	.destroy = destroy,
	.abandon = abandon,
};
