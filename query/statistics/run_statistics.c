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

/* One value of one identity: what nearly every frame changes, in one cache line. */
struct series {
	const void *seen; /* the key's address in the frames since the description */
	uint64_t last; /* its bits; came n_last times and is not in sums or moments yet */
	uint32_t n_last;
	uint8_t storage; /* of last */
	bool exact; /* a value had another storage: all go to moments */
	struct tally_sums sums;
};

/* The rest of it. */
struct series_rest {
	const char *key; /* allocated by us where `owned` */
	bool owned;
	enum tally_join join;
	uint32_t n_parts; /* in the frame that is being added */
	struct tally_value part; /* the value joined so far */
	struct tally_moments moments;
};

/* The key of an identity: no padding. */
struct identity_key {
	uint64_t device, id;
};

struct identity {
	/* Two cache lines that nearly every frame changes. */
	struct identity_key key;
	struct identity *then; /* the one after it in the frame where it was last */
	uint64_t frame; /* in which it was last, as n_frames */
	uint32_t n_parts; /* passes in that frame */
	uint32_t unknown, n_same; /* those of n_same frames, with counts, are in no series yet */
	uint32_t n_series;
	struct series *series;
	const struct tally_pass_record *first; /* of that frame's passes */
	struct tally_call_counts counts;
	/* The rest. */
	uint32_t room, room_rest;
	struct series_rest *rest;
	struct identity *next_split;
	UT_hash_handle hh; /* in order of appearance */
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
	struct identity *split; /* those with several passes in the frame that is being added */
	uint64_t n_frames;
	uint32_t n_values;
	bool left_out;
};

/* Each of the call_counts is a series of every identity, before its counters and metrics. */
#define N_TALLIES TALLY_N_CALL_COUNTS
#define GPU_NS N_TALLIES /* index of that series */
#define N_FIXED (N_TALLIES + 1)
#define FIRST_ROOM (N_FIXED + 8)
#define NONE UINT32_MAX

struct tally_run_statistics *
tally_run_statistics_create(void)
{
	return calloc(1, sizeof(struct tally_run_statistics));
}

static void
forget_identity(struct identity *i)
{
	for (uint32_t k = 0; k < i->n_series; k++)
		if (i->rest[k].owned)
			free((char *)i->rest[k].key);
	free(i->series);
	free(i->rest);
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
	struct series *series = calloc(FIRST_ROOM, sizeof(*series));
	struct series_rest *rest = calloc(FIRST_ROOM, sizeof(*rest));
	if (new && series && rest) {
		*new = (struct identity){
			.key = *key,
			.series = series,
			.rest = rest,
			.room = FIRST_ROOM,
			.room_rest = FIRST_ROOM,
			.n_series = N_FIXED,
		};
		HASH_ADD(hh, s->identities, key, sizeof(new->key), new);
	}
	if (!new || !series || !rest || !new->hh.tbl) { /* uthash ran out of memory */
		free(new);
		free(series);
		free(rest);
		return NULL;
	}
	for (uint32_t i = 0; i < N_TALLIES; i++)
		rest[i].key = tally_call_count_names[i].key;
	rest[GPU_NS].key = "gpu_ns";
	s->n_values += N_FIXED;
	return new;
}

/* The pass's identity; *at is where it probably is: frames have the same passes in the same
 * order. NULL: it is left out. */
static struct identity *
identity_of(struct tally_run_statistics *s, uint32_t device, uint64_t id, struct identity **at)
{
	struct identity *i = *at;
	if (i && i->key.id == id && i->key.device == device)
		return i;
	const struct identity_key key = { device, id };
	HASH_FIND(hh, s->identities, &key, sizeof(key), i);
	if (!i && !s->left_out) {
		i = add_identity(s, &key);
		if (!i)
			leave_out(s, "out of memory");
	}
	*at = i;
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
	const char *kept = metric ? strdup(key) : key;
	if (!kept ||
	    !tally_array_fit(&i->series, i->n_series, &i->room, sizeof(*i->series)) ||
	    !tally_array_fit(&i->rest, i->n_series, &i->room_rest, sizeof(*i->rest))) {
		leave_out(s, "out of memory");
		if (metric)
			free((char *)kept);
		return false;
	}
	s->n_values++;
	i->series[i->n_series] = (struct series){ .seen = key };
	i->rest[i->n_series++] = (struct series_rest){
		.key = kept,
		.owned = metric,
		.join = join_of(s, i->key.device, key, metric),
	};
	return true;
}

/* The index of the key's series, or NONE. Keys come in the same order in most frames: `guess` is
 * the index at which the last one was found. */
static __attribute__((noinline)) uint32_t
find_series(struct tally_run_statistics *s, struct identity *i, const char *key, bool metric,
	    uint32_t guess)
{
	uint32_t n = i->n_series;
	for (uint32_t k = guess + 1; k < n; k++)
		if (i->series[k].seen == key)
			return k;
	for (uint32_t k = N_FIXED; k <= guess; k++)
		if (i->series[k].seen == key)
			return k;
	for (uint32_t k = 0; k < n; k++) {
		if (strcmp(i->rest[k].key, key) == 0) {
			i->series[k].seen = key;
			return k;
		}
	}
	return s->left_out || !add_series(s, i, key, metric) ? NONE : n;
}

static void
settle_exactly(struct identity *i, uint32_t k, uint32_t n)
{
	struct series *series = &i->series[k];
	const struct tally_value last = { .storage = series->storage, .u64 = series->last };
	tally_moments_add_sums(&i->rest[k].moments, &series->sums);
	tally_moments_add_times(&i->rest[k].moments, last, n);
}

static inline void
settle(struct identity *i, uint32_t k)
{
	struct series *series = &i->series[k];
	uint32_t n = series->n_last;
	series->n_last = 0;
	if (n && (series->exact || !tally_sums_add(&series->sums, series->last, n)))
		settle_exactly(i, k, n);
}

/* Adds this value n times to the series. Most values are those of the previous frame. */
static inline void
add_value(struct identity *i, uint32_t k, struct tally_value v, uint32_t n)
{
	struct series *series = &i->series[k];
	if (v.u64 == series->last && v.storage == series->storage &&
	    n <= UINT32_MAX - series->n_last) {
		series->n_last += n;
		return;
	}
	settle(i, k);
	series->last = v.u64;
	series->storage = (uint8_t)v.storage;
	series->n_last = n;
	series->exact |= v.storage != TALLY_STORAGE_U64;
}

/* Adds the value of one of several passes; `again`: it was taken for the only one. */
static void
add_part(struct identity *i, uint32_t k, struct tally_value v, bool again)
{
	struct series_rest *rest = &i->rest[k];
	if (again && i->series[k].n_last)
		i->series[k].n_last--;
	rest->part = rest->n_parts++ ? tally_join_values(rest->part, v, rest->join) : v;
}

enum how { ONLY, AGAIN, ANOTHER }; /* the pass in its frame */

/* Of the frame's only pass with this identity. */
static inline void
add_only(struct tally_run_statistics *s, struct identity *i,
	 const struct tally_keyed_value *values, uint32_t n, bool metrics, uint32_t *guess)
{
	uint32_t at = *guess;
	for (uint32_t v = 0; v < n; v++) {
		uint32_t k = at + 1;
		if (k >= i->n_series || i->series[k].seen != values[v].key) {
			k = find_series(s, i, values[v].key, metrics, at);
			if (k == NONE)
				continue;
		}
		at = k;
		add_value(i, k, values[v].value, 1);
	}
	*guess = at;
}

static void
add_keyed(struct tally_run_statistics *s, struct identity *i,
	  const struct tally_keyed_value *values, uint32_t n, bool metrics, uint32_t *guess,
	  enum how how)
{
	if (how == ONLY) {
		add_only(s, i, values, n, metrics, guess);
		return;
	}
	for (uint32_t v = 0; v < n; v++) {
		uint32_t k = find_series(s, i, values[v].key, metrics, *guess);
		if (k == NONE)
			continue;
		*guess = k;
		add_part(i, k, values[v].value, how == AGAIN);
	}
}

static struct tally_value
call_count(const struct tally_call_counts *counts, uint32_t k)
{
	return (struct tally_value){ .storage = TALLY_STORAGE_U64,
				     .u64 = tally_call_count(counts, k) };
}

static void
settle_counts(struct identity *i)
{
	for (uint32_t k = 0; k < N_TALLIES && i->n_same; k++) {
		if (!(i->unknown & tally_call_count_names[k].unknown))
			add_value(i, k, call_count(&i->counts, k), i->n_same);
	}
	i->n_same = 0;
}

static void
add_counts(struct identity *i, const struct tally_pass_record *pass)
{
	if (i->unknown != pass->unknown || i->n_same == UINT32_MAX ||
	    memcmp(&i->counts, &pass->call_counts, sizeof(i->counts)) != 0) {
		settle_counts(i);
		i->unknown = pass->unknown;
		i->counts = pass->call_counts;
	}
	i->n_same++;
}

static void
add_counts_part(struct identity *i, const struct tally_pass_record *pass)
{
	for (uint32_t k = 0; k < N_TALLIES; k++) {
		if (!(pass->unknown & tally_call_count_names[k].unknown))
			add_part(i, k, call_count(&pass->call_counts, k), false);
	}
}

static void
add_values(struct tally_run_statistics *s, struct identity *i,
	   const struct tally_pass_record *pass, enum how how)
{
	const struct tally_value gpu_ns = { .u64 = pass->gpu_ns };
	if (pass->has_gpu && how == ONLY)
		add_value(i, GPU_NS, gpu_ns, 1);
	else if (pass->has_gpu)
		add_part(i, GPU_NS, gpu_ns, how == AGAIN);
	uint32_t guess = GPU_NS;
	if (pass->n_counters)
		add_keyed(s, i, pass->counters, pass->n_counters, false, &guess, how);
	if (pass->n_metrics)
		add_keyed(s, i, pass->metrics, pass->n_metrics, true, &guess, how);
}

static void
add_pass(struct tally_run_statistics *s, struct identity *i,
	 const struct tally_pass_record *pass)
{
	if (i->frame != s->n_frames) {
		i->frame = s->n_frames;
		i->first = pass;
		i->n_parts = 1;
		add_counts(i, pass);
		add_values(s, i, pass, ONLY);
		return;
	}
	if (i->n_parts++ == 1) {
		i->next_split = s->split;
		s->split = i;
		i->n_same--;
		add_counts_part(i, i->first);
		add_values(s, i, i->first, AGAIN);
	}
	add_counts_part(i, pass);
	add_values(s, i, pass, ANOTHER);
}

/* The frame is complete: the joined values of its segments count as one value each. */
static void
close_split(struct identity *i)
{
	settle_counts(i);
	for (uint32_t k = 0; k < i->n_series; k++) {
		struct series_rest *rest = &i->rest[k];
		if (rest->n_parts == i->n_parts && rest->join != TALLY_JOIN_NONE)
			add_value(i, k, rest->part, 1);
		rest->n_parts = 0;
	}
}

/* The identities that probably follow are far apart in memory: what will be changed there is
 * fetched while these are added. */
static inline void
prefetch_ahead(const struct identity *i)
{
	enum { DISTANCE = 3, MOST = 6 }; /* a miss takes as long as two or three passes */
	for (unsigned n = 0; n < DISTANCE && i; n++)
		i = i->then;
	if (!i)
		return;
	for (uint32_t k = GPU_NS; k < GPU_NS + MOST && k < i->n_series; k++)
		__builtin_prefetch(&i->series[k], 1);
	if (i->then) {
		__builtin_prefetch(&i->then->key, 1);
		__builtin_prefetch(&i->then->counts, 1);
	}
}

void
tally_run_statistics_add(struct tally_run_statistics *s, const struct tally_frame_record *frame)
{
	struct identity *i = NULL, *before = NULL;
	s->n_frames++;
	for (uint32_t p = 0; p < frame->n_passes; p++) {
		const struct tally_pass_record *pass = &frame->passes[p];
		if (!identity_of(s, frame->device, pass->id, &i))
			continue;
		if (before)
			before->then = i;
		before = i;
		prefetch_ahead(i);
		add_pass(s, i, pass);
		i = i->then;
	}
	for (; s->split; s->split = s->split->next_split)
		close_split(s->split);
}

/* ---- the end of the run ---- */

/* False for a value that was complete in no frame, and for call_counts that were always 0,
 * except draws. */
static bool
is_told(struct identity *i, uint32_t k)
{
	struct tally_moments *m = &i->rest[k].moments;
	settle(i, k);
	tally_moments_add_sums(m, &i->series[k].sums);
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
				r->key = i->rest[k].key;
				tally_moments_record(&i->rest[k].moments, r);
			}
		}
	}
	return list;
}
