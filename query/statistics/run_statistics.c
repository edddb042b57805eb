/* SPDX-License-Identifier: MIT */
#include "query/statistics/run_statistics.h"

#include "layer/base/array.h"
#include "layer/log.h"
#include "query/statistics/join.h"
#include "query/statistics/moments.h"
#include "query/statistics/sketch.h"

#include <stdlib.h>
#include <string.h>

/* A few instructions for each pass of each frame. */
#define HASH_FUNCTION(key_, bytes_, hash_) \
	((hash_) = (unsigned)(((key_)->id ^ (key_)->device) * UINT64_C(0x9e3779b97f4a7c15) >> 32))
#include <uthash.h>

/* One value of one identity. */
struct series {
	const char *key; /* allocated by us where `owned` */
	const void *seen; /* the key's address in the frames since the description */
	bool owned;
	enum tally_join join;
	uint32_t n_parts; /* in the frame that is being added */
	struct tally_value part; /* the value joined so far */
	struct tally_moments moments;
	struct tally_sketch sketch; /* of a digest */
	bool no_sketch; /* it ran out of memory */
	char *printed; /* the sketch, as the list has it */
};

/* What is counted of each pass, without padding. */
struct counts {
	struct tally_call_counts of;
	uint64_t unknown;
};

/* The key of an identity: no padding. */
struct identity_key {
	uint64_t device, id;
};

struct identity {
	struct identity_key key;
	uint32_t n_parts; /* passes in the frame that is being added */
	/* Those of the first of them, and of n_same frames that are not in the series yet: in most
	 * programs a pass draws the same frame by frame. */
	struct counts now, same;
	uint64_t n_same;
	uint32_t n_series;
	struct series *series;
	struct identity *next; /* in that frame */
	UT_hash_handle hh; /* in order of appearance */
};

/* How the values of a counter are joined. */
struct counter {
	const char *key;
	enum tally_join join;
};

struct device {
	uint32_t number;
	struct counter *counters;
	uint32_t n_counters;
};

struct tally_run_statistics {
	struct device *devices;
	uint32_t n_devices;
	struct identity *identities; /* by device and id */
	struct identity *in_frame; /* those in the frame that is being added */
	uint32_t n_values;
	bool left_out;
	bool digest;
};

/* Each of the call_counts is a series of every identity, before its counters and metrics. */
#define N_TALLIES TALLY_N_CALL_COUNTS
#define GPU_NS N_TALLIES /* index of that series */
#define N_FIXED (N_TALLIES + 1)
#define NONE UINT32_MAX

struct tally_run_statistics *
tally_run_statistics_create(bool digest)
{
	struct tally_run_statistics *s = calloc(1, sizeof(*s));
	if (s)
		s->digest = digest;
	return s;
}

static void
forget_identity(struct identity *i)
{
	for (uint32_t k = 0; k < i->n_series; k++) {
		if (i->series[k].owned)
			free((char *)i->series[k].key);
		tally_sketch_finish(&i->series[k].sketch);
		free(i->series[k].printed);
	}
	free(i->series);
	free(i);
}

void
tally_run_statistics_destroy(struct tally_run_statistics *s)
{
	if (!s)
		return;
	struct identity *i, *next;
	HASH_ITER (hh, s->identities, i, next) {
		HASH_DEL(s->identities, i);
		forget_identity(i);
	}
	for (uint32_t d = 0; d < s->n_devices; d++)
		free(s->devices[d].counters);
	free(s->devices);
	free(s);
}

static void
leave_out(struct tally_run_statistics *s, const char *why)
{
	if (s->left_out)
		return;
	s->left_out = true;
	tally_log_say(TALLY_LEVEL_WARNING, "statistics",
		      "%s: the end line has no statistics of passes and values that come "
		      "from here on; `passtally report` computes all from the frames",
		      why);
}

/* ---- the meaning of keys ---- */

void
tally_run_statistics_describe(struct tally_run_statistics *s,
			      const struct tally_device_record *device)
{
	struct device *d = NULL;
	for (uint32_t i = 0; i < s->n_devices; i++)
		if (s->devices[i].number == device->device)
			d = &s->devices[i];
	if (!d) {
		if (!tally_array_resize(&s->devices, s->n_devices + 1,
					sizeof(*s->devices))) {
			leave_out(s, "out of memory");
			return;
		}
		d = &s->devices[s->n_devices++];
		*d = (struct device){ .number = device->device };
	}
	size_t bytes = device->n_counters * sizeof(*d->counters);
	free(d->counters);
	d->n_counters = 0;
	d->counters = malloc(bytes ? bytes : 1);
	if (!d->counters)
		leave_out(s, "out of memory");
	for (uint32_t c = 0; d->counters && c < device->n_counters; c++)
		d->counters[d->n_counters++] = (struct counter){
			.key = device->counters[c]->key,
			.join = tally_join_of_counter(device->counters[c]),
		};
	/* Metrics are bound again: their old keys are freed, and others may have the
	 * same addresses. */
	for (struct identity *i = s->identities; i; i = i->hh.next)
		for (uint32_t k = 0; i->key.device == d->number && k < i->n_series; k++)
			i->series[k].seen = NULL;
}

static enum tally_join
join_of(const struct tally_run_statistics *s, uint64_t device, const char *key,
	bool metric)
{
	if (metric)
		return TALLY_JOIN_NONE;
	for (uint32_t i = 0; i < s->n_devices; i++) {
		const struct device *d = &s->devices[i];
		for (uint32_t c = 0; d->number == device && c < d->n_counters; c++)
			if (strcmp(d->counters[c].key, key) == 0)
				return d->counters[c].join;
	}
	return tally_join_of_key(key);
}

/* ---- identities ---- */

static struct identity *
add_identity(struct tally_run_statistics *s, const struct identity_key *key)
{
	if (s->n_values + N_FIXED > TALLY_MAX_STATISTICS) {
		leave_out(s, "too many different passes");
		return NULL;
	}
	struct identity *new = calloc(1, sizeof(*new));
	struct series *series = calloc(N_FIXED, sizeof(*series));
	if (new && series) {
		*new = (struct identity){
			.key = *key,
			.series = series,
			.n_series = N_FIXED,
		};
		HASH_ADD(hh, s->identities, key, sizeof(new->key), new);
	}
	if (!new || !series || !new->hh.tbl) { /* uthash ran out of memory */
		free(new);
		free(series);
		return NULL;
	}
	for (uint32_t i = 0; i < N_TALLIES; i++)
		series[i].key = tally_call_count_names[i].key;
	series[GPU_NS].key = "gpu_ns";
	s->n_values += N_FIXED;
	return new;
}

/* The pass's identity; NULL: it is left out. */
static struct identity *
identity_of(struct tally_run_statistics *s, uint32_t device, uint64_t id)
{
	const struct identity_key key = { device, id };
	struct identity *i;
	HASH_FIND(hh, s->identities, &key, sizeof(key), i);
	if (!i && !s->left_out) {
		i = add_identity(s, &key);
		if (!i)
			leave_out(s, "out of memory");
	}
	return i;
}

/* ---- values ---- */

static bool
add_series(struct tally_run_statistics *s, struct identity *i, const char *key, bool metric)
{
	if (s->n_values == TALLY_MAX_STATISTICS) {
		leave_out(s, "too many different values");
		return false;
	}
	/* The end line of a log that was cut is written when its reader is gone. */
	const bool owned = metric || s->digest;
	const char *kept = owned ? strdup(key) : key;
	if (!kept || !tally_array_resize(&i->series, i->n_series + 1, sizeof(*i->series))) {
		leave_out(s, "out of memory");
		if (owned)
			free((char *)kept);
		return false;
	}
	s->n_values++;
	i->series[i->n_series++] = (struct series){
		.key = kept,
		.seen = key,
		.owned = owned,
		.join = join_of(s, i->key.device, key, metric),
	};
	return true;
}

/* The index of the key's series, or NONE; the search begins at `from`, since keys come in the same
 * order in most frames. */
static uint32_t
find_series(struct tally_run_statistics *s, struct identity *i, const char *key, bool metric,
	    uint32_t from)
{
	uint32_t n = i->n_series;
	for (uint32_t k = from; k < n; k++)
		if (i->series[k].seen == key)
			return k;
	for (uint32_t k = 0; k < n; k++) {
		if (strcmp(i->series[k].key, key) == 0) {
			i->series[k].seen = key;
			return k;
		}
	}
	return s->left_out || !add_series(s, i, key, metric) ? NONE : n;
}

static void
add_part(struct series *series, struct tally_value v)
{
	series->part = series->n_parts++ ? tally_join_values(series->part, v, series->join) : v;
}

/* `from`: where the keys are probably found. Returns where the next ones are. */
static uint32_t
add_keyed(struct tally_run_statistics *s, struct identity *i,
	  const struct tally_keyed_value *values, uint32_t n, bool metrics, uint32_t from)
{
	for (uint32_t v = 0; v < n; v++) {
		uint32_t k = find_series(s, i, values[v].key, metrics, from);
		if (k == NONE)
			continue;
		add_part(&i->series[k], values[v].value);
		from = k + 1;
	}
	return from;
}

static void
add_counts(struct identity *i, const struct counts *counts)
{
	struct tally_value v = { .storage = TALLY_STORAGE_U64 };
	for (uint32_t k = 0; k < N_TALLIES; k++) {
		v.u64 = tally_call_count(&counts->of, k);
		if (!(counts->unknown & tally_call_count_names[k].unknown))
			add_part(&i->series[k], v);
	}
}

static void
add_pass(struct tally_run_statistics *s, struct identity *i,
	 const struct tally_pass_record *pass)
{
	const struct counts counts = { pass->call_counts, pass->unknown };
	if (!i->n_parts++) {
		i->next = s->in_frame;
		s->in_frame = i;
		i->now = counts;
	} else {
		if (i->n_parts == 2)
			add_counts(i, &i->now);
		add_counts(i, &counts);
	}
	struct tally_value v = { .storage = TALLY_STORAGE_U64, .u64 = pass->gpu_ns };
	if (pass->has_gpu)
		add_part(&i->series[GPU_NS], v);
	uint32_t at = add_keyed(s, i, pass->counters, pass->n_counters, false, N_FIXED);
	add_keyed(s, i, pass->metrics, pass->n_metrics, true, at);
}

static void
spread_value(struct series *series, struct tally_value v, uint64_t times)
{
	if (!series->no_sketch)
		series->no_sketch = !tally_sketch_add(&series->sketch, tally_value_f64(v), times);
}

/* Puts the frames with the same counts into the series. */
static void
add_same(struct identity *i, bool digest)
{
	struct tally_value v = { .storage = TALLY_STORAGE_U64 };
	for (uint32_t k = 0; k < N_TALLIES && i->n_same; k++) {
		if (i->same.unknown & tally_call_count_names[k].unknown)
			continue;
		v.u64 = tally_call_count(&i->same.of, k);
		tally_moments_add_same(&i->series[k].moments, v, i->n_same);
		if (digest)
			spread_value(&i->series[k], v, i->n_same);
	}
	i->n_same = 0;
}

/* The frame is complete: the joined values of its segments count as one value each. */
static void
close_frame(struct identity *i, bool digest)
{
	bool alone = i->n_parts == 1;
	if (!alone || memcmp(&i->now, &i->same, sizeof(i->now)) != 0)
		add_same(i, digest);
	if (alone) {
		i->same = i->now;
		i->n_same++;
	}
	for (uint32_t k = alone ? GPU_NS : 0; k < i->n_series; k++) {
		struct series *series = &i->series[k];
		if (series->n_parts == i->n_parts && (alone || series->join != TALLY_JOIN_NONE)) {
			tally_moments_add(&series->moments, series->part);
			if (digest)
				spread_value(series, series->part, 1);
		}
		series->n_parts = 0;
	}
	i->n_parts = 0;
}

/* The frame's own numbers, as if it were a pass. One that the run's end cut short has no length. */
static void
add_frame(struct tally_run_statistics *s, const struct tally_frame_record *frame)
{
	const bool whole = !(frame->flags & TALLY_FLAG(PARTIAL));
	struct tally_keyed_value numbers[4] = { { .key = "overhead_ns" } };
	uint32_t n = 0;
	numbers[n++].value.u64 = frame->overhead_ns;
	if (whole && frame->cpu_ns)
		numbers[n++] = (struct tally_keyed_value){ "cpu_ns", { .u64 = frame->cpu_ns },
							   false };
	if (frame->width && frame->height) {
		numbers[n++] = (struct tally_keyed_value){ "width", { .u64 = frame->width },
							   false };
		numbers[n++] = (struct tally_keyed_value){ "height", { .u64 = frame->height },
							   false };
	}
	const struct tally_pass_record pass = {
		.has_gpu = whole && frame->has_gpu,
		.gpu_ns = frame->gpu_ns,
		.counters = numbers,
		.n_counters = n,
		.metrics = frame->metrics,
		.n_metrics = frame->n_metrics,
		.unknown = TALLY_UNKNOWN_DRAWS,
	};
	struct identity *i = identity_of(s, frame->device, TALLY_STATISTICS_OF_FRAME);
	if (i)
		add_pass(s, i, &pass);
}

void
tally_run_statistics_add(struct tally_run_statistics *s, const struct tally_frame_record *frame)
{
	for (uint32_t p = 0; p < frame->n_passes; p++) {
		struct identity *i = identity_of(s, frame->device, frame->passes[p].id);
		if (i)
			add_pass(s, i, &frame->passes[p]);
	}
	if (s->digest)
		add_frame(s, frame);
	for (; s->in_frame; s->in_frame = s->in_frame->next)
		close_frame(s->in_frame, s->digest);
}

/* ---- the end of the run ---- */

/* False for a value that was complete in no frame, and for call_counts that were always 0,
 * except draws. */
static bool
is_listed(const struct identity *i, uint32_t k)
{
	const struct tally_moments *m = &i->series[k].moments;
	return m->n && (k == 0 || k >= N_TALLIES || m->max.u64 != 0);
}

static void
list_spread(struct series *series, struct tally_statistic_record *r)
{
	if (!series->sketch.n || series->no_sketch)
		return;
	size_t size = tally_sketch_print(&series->sketch, NULL, 0) + 1;
	free(series->printed);
	series->printed = malloc(size);
	if (!series->printed)
		return;
	tally_sketch_print(&series->sketch, series->printed, size);
	r->spread = series->printed;
	r->spread_error = tally_sketch_error(&series->sketch);
}

struct tally_statistic_record *
tally_run_statistics_list(struct tally_run_statistics *s, uint32_t *n)
{
	*n = 0;
	uint64_t devices = 0;
	struct identity *i;
	for (i = s->identities; i; i = i->hh.next) {
		add_same(i, s->digest);
		if (i->key.device >= devices)
			devices = i->key.device + 1;
	}
	if (s->n_values == 0)
		return NULL;
	struct tally_statistic_record *list = calloc(s->n_values, sizeof(*list));
	for (uint32_t d = 0; list && d < devices; d++) {
		for (i = s->identities; i; i = i->hh.next) {
			for (uint32_t k = 0; i->key.device == d && k < i->n_series; k++) {
				if (!is_listed(i, k))
					continue;
				struct tally_statistic_record *r = &list[(*n)++];
				r->device = d;
				r->id = i->key.id;
				r->key = i->series[k].key;
				tally_moments_record(&i->series[k].moments, r);
				list_spread(&i->series[k], r);
			}
		}
	}
	return list;
}
