/* SPDX-License-Identifier: MIT */
#include "query/statistics/run_statistics.h"

#include "layer/base/array.h"
#include "layer/log.h"
#include "query/statistics/join.h"
#include "query/statistics/moments.h"

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
	uint64_t last, n_last; /* a whole number that came n_last times and is not in moments yet */
	struct tally_moments moments;
};

/* The key of an identity: no padding. */
struct identity_key {
	uint64_t device, id;
};

struct identity {
	struct identity_key key;
	UT_hash_handle hh; /* in order of appearance */
	uint32_t n_parts; /* passes in the frame that is being added; 0: untouched */
	const struct tally_pass_record *first; /* of them */
	struct identity *next_touched;
	/* Those of n_same frames, one pass in each, that are in no series yet. */
	struct tally_call_counts counts;
	uint32_t unknown;
	uint64_t n_same;
	struct series *series;
	uint32_t n_series, room;
};

struct device {
	uint32_t number;
	const struct tally_counter **counters;
	uint32_t n_counters;
};

struct tally_run_statistics {
	struct device *devices;
	uint32_t n_devices;
	struct identity *identities; /* by device and id */
	struct identity *touched;
	uint32_t n_values;
	bool left_out;
};

/* Each of the call_counts is a series of every identity, before its counters and metrics. */
#define N_TALLIES TALLY_N_CALL_COUNTS
#define GPU_NS N_TALLIES /* index of that series */
#define N_FIXED (N_TALLIES + 1)

struct tally_run_statistics *
tally_run_statistics_create(void)
{
	return calloc(1, sizeof(struct tally_run_statistics));
}

static void
forget_identity(struct identity *i)
{
	for (uint32_t k = 0; k < i->n_series; k++)
		if (i->series[k].owned)
			free((char *)i->series[k].key);
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
	if (d->counters && bytes) {
		memcpy(d->counters, device->counters, bytes);
		d->n_counters = device->n_counters;
	} else if (bytes) {
		leave_out(s, "out of memory");
	}
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
			if (strcmp(d->counters[c]->key, key) == 0)
				return tally_join_of_counter(d->counters[c]);
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
	struct series *series = calloc(N_FIXED + 8, sizeof(*series));
	if (new && series) {
		*new = (struct identity){ .key = *key,
					  .series = series,
					  .room = N_FIXED + 8,
					  .n_series = N_FIXED };
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

/* ---- values ---- */

static struct series *
add_series(struct tally_run_statistics *s, struct identity *i, const char *key, bool metric)
{
	if (s->n_values == TALLY_MAX_STATISTICS) {
		leave_out(s, "too many different values");
		return NULL;
	}
	if (!tally_array_fit(&i->series, i->n_series, &i->room, sizeof(*i->series))) {
		leave_out(s, "out of memory");
		return NULL;
	}
	const char *kept = metric ? strdup(key) : key;
	if (!kept) {
		leave_out(s, "out of memory");
		return NULL;
	}
	s->n_values++;
	struct series *new = &i->series[i->n_series++];
	*new = (struct series){
		.key = kept,
		.seen = key,
		.owned = metric,
		.join = join_of(s, i->key.device, key, metric),
	};
	return new;
}

/* Keys come in the same order in most frames: `*guess` is the index at which the last
 * one was found. */
static struct series *
find_series(struct tally_run_statistics *s, struct identity *i, const char *key, bool metric,
	    uint32_t *guess)
{
	if (*guess + 1 < i->n_series && i->series[*guess + 1].seen == key)
		return &i->series[++*guess];
	for (uint32_t k = 0; k < i->n_series; k++) {
		if (i->series[k].seen == key || strcmp(i->series[k].key, key) == 0) {
			i->series[k].seen = key;
			*guess = k;
			return &i->series[k];
		}
	}
	struct series *new = s->left_out ? NULL : add_series(s, i, key, metric);
	if (new)
		*guess = i->n_series - 1;
	return new;
}

static void
add_part(struct series *series, struct tally_value value)
{
	series->part = series->n_parts++ ? tally_join_values(series->part, value, series->join)
					 : value;
}

static void
add_keyed(struct tally_run_statistics *s, struct identity *i,
	  const struct tally_keyed_value *values, uint32_t n, bool metrics, uint32_t *guess)
{
	for (uint32_t k = 0; k < n; k++) {
		struct series *series = find_series(s, i, values[k].key, metrics, guess);
		if (series)
			add_part(series, values[k].value);
	}
}

static struct tally_value
call_count(const struct tally_call_counts *counts, uint32_t k)
{
	return (struct tally_value){ .storage = TALLY_STORAGE_U64,
				     .u64 = tally_call_count(counts, k) };
}

static void
add_counts(struct identity *i, const struct tally_pass_record *pass)
{
	for (uint32_t k = 0; k < N_TALLIES; k++) {
		if (!(pass->unknown & tally_call_count_names[k].unknown))
			add_part(&i->series[k], call_count(&pass->call_counts, k));
	}
}

static void
add_pass(struct tally_run_statistics *s, struct identity *i,
	 const struct tally_pass_record *pass)
{
	if (i->n_parts++ == 0) {
		i->next_touched = s->touched;
		s->touched = i;
		i->first = pass;
	} else {
		if (i->n_parts == 2)
			add_counts(i, i->first);
		add_counts(i, pass);
	}
	if (pass->has_gpu)
		add_part(&i->series[GPU_NS], (struct tally_value){ .u64 = pass->gpu_ns });
	uint32_t guess = GPU_NS;
	add_keyed(s, i, pass->counters, pass->n_counters, false, &guess);
	add_keyed(s, i, pass->metrics, pass->n_metrics, true, &guess);
}

static void
settle(struct series *series)
{
	struct tally_value last = { .storage = TALLY_STORAGE_U64, .u64 = series->last };
	tally_moments_add_times(&series->moments, last, series->n_last);
	series->n_last = 0;
}

/* Adds this value n times to the series. Most values are those of the previous frame. */
static void
add_value(struct series *series, struct tally_value v, uint64_t n)
{
	if (v.storage == TALLY_STORAGE_U64 && v.u64 == series->last && series->n_last) {
		series->n_last += n;
		return;
	}
	settle(series);
	if (v.storage == TALLY_STORAGE_U64) {
		series->last = v.u64;
		series->n_last = n;
	} else {
		tally_moments_add_times(&series->moments, v, n);
	}
}

static void
settle_counts(struct identity *i)
{
	for (uint32_t k = 0; k < N_TALLIES && i->n_same; k++) {
		if (!(i->unknown & tally_call_count_names[k].unknown))
			add_value(&i->series[k], call_count(&i->counts, k), i->n_same);
	}
	i->n_same = 0;
}

static void
add_frame_counts(struct identity *i, const struct tally_pass_record *pass)
{
	if (i->unknown != pass->unknown ||
	    memcmp(&i->counts, &pass->call_counts, sizeof(i->counts)) != 0) {
		settle_counts(i);
		i->unknown = pass->unknown;
		i->counts = pass->call_counts;
	}
	i->n_same++;
}

/* The frame is complete: the joined values of its segments count as one value each. */
static void
close_identity(struct identity *i)
{
	bool one = i->n_parts == 1;
	if (one)
		add_frame_counts(i, i->first);
	else
		settle_counts(i);
	for (uint32_t k = one ? GPU_NS : 0; k < i->n_series; k++) {
		struct series *series = &i->series[k];
		bool several = series->n_parts > 1 && series->join == TALLY_JOIN_NONE;
		if (series->n_parts && series->n_parts == i->n_parts && !several)
			add_value(series, series->part, 1);
		series->n_parts = 0;
	}
	i->n_parts = 0;
}

void
tally_run_statistics_add(struct tally_run_statistics *s, const struct tally_frame_record *frame)
{
	for (uint32_t p = 0; p < frame->n_passes; p++) {
		const struct tally_pass_record *pass = &frame->passes[p];
		const struct identity_key key = { frame->device, pass->id };
		struct identity *i;
		HASH_FIND(hh, s->identities, &key, sizeof(key), i);
		if (!i && !s->left_out) {
			i = add_identity(s, &key);
			if (!i)
				leave_out(s, "out of memory");
		}
		if (i)
			add_pass(s, i, pass);
	}
	while (s->touched) {
		struct identity *i = s->touched;
		s->touched = i->next_touched;
		close_identity(i);
	}
}

/* ---- the end of the run ---- */

/* False for a value that was complete in no frame, and for call_counts that were always 0,
 * except draws. */
static bool
is_told(struct identity *i, uint32_t k)
{
	const struct tally_moments *m = &i->series[k].moments;
	settle(&i->series[k]);
	return m->n && (k == 0 || k >= N_TALLIES || m->max.u64 != 0);
}

struct tally_statistic_record *
tally_run_statistics_list(struct tally_run_statistics *s, uint32_t *n)
{
	*n = 0;
	uint64_t devices = 0;
	struct identity *i;
	for (i = s->identities; i; i = i->hh.next)
		if (i->key.device >= devices)
			devices = i->key.device + 1;
	if (s->n_values == 0)
		return NULL;
	struct tally_statistic_record *list = calloc(s->n_values, sizeof(*list));
	for (uint32_t d = 0; list && d < devices; d++) {
		for (i = s->identities; i; i = i->hh.next) {
			settle_counts(i);
			for (uint32_t k = 0; i->key.device == d && k < i->n_series; k++) {
				if (!is_told(i, k))
					continue;
				struct tally_statistic_record *r = &list[(*n)++];
				r->device = d;
				r->id = i->key.id;
				r->key = i->series[k].key;
				tally_moments_record(&i->series[k].moments, r);
			}
		}
	}
	return list;
}
