/* SPDX-License-Identifier: MIT */
/* json/decode.h - decodes the text of each log line to its record; shared by json/record_read.c
 * and the decoders.
 *
 * Only for use inside json/. One thread at a time. Functions that return bool return false
 * after failing `json`, with a message that names the field. Records point into the line, into
 * `words` and into the arrays here: all valid until the next line, words for the reader's life.
 */
#ifndef PASSTALLY_JSON_DECODE_H
#define PASSTALLY_JSON_DECODE_H

#include "json/reader.h"
#include "json/seen.h"
#include "layer/base/numbers.h"

/* A growing array of a line's items; its memory is reused for later lines. */
struct tally_array {
	void *items;
	uint32_t n, max;
};

#define TALLY_N_ARRAYS 25

/* How many devices, and how many passes, are kept: a log may be hostile. */
#define TALLY_MAX_NUMBERS (1u << 20)

struct tally_decoder {
	struct tally_json_reader json;
	struct tally_words words;
	struct tally_numbers ids; /* of pass_info lines */
	struct tally_numbers devices; /* value: number of the last frame, if any */
	uint64_t epoch; /* of the object whose keys are words */
	bool any_id; /* a pass_info line may be missing */
	bool named; /* the message in `json` names its field */
	union { /* valid until the next line */
		struct tally_array arrays[TALLY_N_ARRAYS];
		struct {
			/* of a frame, in the order of its passes */
			struct tally_array passes, counters, metrics, pipelines, workloads;
			struct tally_array workload_counters, events, calls, asleep;
			struct tally_array unattributed, frame_metrics;
			struct tally_array frame_estimated; /* elements: struct tally_word * */
			/* of the other lines */
			struct tally_array texts, options, tags, sources, counter_infos;
			struct tally_array counter_pointers, set_infos, set_keys, metric_infos,
				stages, statistics, growth, threads;
		};
	};
};

void tally_decoder_finish(struct tally_decoder *d);
/* Empties the arrays, before each line. */
void tally_decoder_begin_line(struct tally_decoder *d);

/* Helpers of the decoders. */

/* Makes room for n more items, n > 0. False after failing: out of memory. */
bool
tally_array_grow(struct tally_decoder *d, struct tally_array *array, size_t n, size_t size);

/* A new item, not initialized; NULL after failing. */
static inline void *
tally_array_push(struct tally_decoder *d, struct tally_array *array, size_t size)
{
	if (__builtin_expect(array->n == array->max, 0) && !tally_array_grow(d, array, 1, size))
		return NULL;
	return (char *)array->items + array->n++ * size;
}

/* NULL when empty. */
static inline void *
tally_array_items(const struct tally_array *array)
{
	return array->n ? array->items : NULL;
}

struct tally_field {
	const char *name;
	const char *spelled; /* "name": */
	size_t len; /* of the name */
};
#define TALLY_FIELD(name) \
	{ \
		name, "\"" name "\":", sizeof(name) - 1 \
	}
#define TALLY_BIT(i) (UINT64_C(1) << (i))

/* An object of known fields while it is read. */
struct tally_object {
	const char *what; /* "a frame", for messages */
	const struct tally_field *fields;
	unsigned n_fields;
	int field; /* the field being read, -1 before the first and for unknown ones */
	uint64_t required; /* TALLY_BIT(field) */
	uint64_t mark; /* of the keys that its `estimated` lists: tally_decoder.epoch */
	uint64_t seen;
	const char *where;
};

bool tally_object_open(struct tally_decoder *d, struct tally_object *o);
/* The next field in any order and spelling. */
int tally_object_next_any(struct tally_decoder *d, struct tally_object *o);
/* The next field whose value is to be read; unknown ones are skipped. -1 at the end, and on
 * failure: see json.failed. */
static inline int
tally_object_next(struct tally_decoder *d, struct tally_object *o)
{
	unsigned guess = (unsigned)(o->field + 1);
	if (guess < o->n_fields && !(o->seen & TALLY_BIT(guess)) &&
	    tally_json_take_key(&d->json, o->fields[guess].spelled, o->fields[guess].len + 3)) {
		o->seen |= TALLY_BIT(guess);
		return o->field = (int)guess;
	}
	return tally_object_next_any(d, o);
}
/* Puts the field's name at the beginning of the message of a failure. Returns false. */
bool tally_object_fail(struct tally_decoder *d, const struct tally_object *o);

bool tally_decode_u32(struct tally_decoder *d, uint32_t *v);
/* 0 or more, as the int64_t of records in which -1 means "none". */
bool tally_decode_number(struct tally_decoder *d, int64_t *v);
/* A text without a NUL in it. */
bool tally_decode_json_text(struct tally_decoder *d, struct tally_json_text *text);
/* Text that is valid as long as the line's arrays. */
bool tally_decode_text(struct tally_decoder *d, const char **s);
/* Text that is valid as long as the reader. */
struct tally_word *tally_decode_word(struct tally_decoder *d);
bool tally_decode_kept(struct tally_decoder *d, const char **s);
/* An array of texts, each read by `take`, which are added to `texts`; *n counts them. */
bool tally_decode_texts(struct tally_decoder *d, struct tally_array *texts, uint32_t *n,
			bool (*take)(struct tally_decoder *, const char **));
/* The next key of an object whose keys are words, none of them twice: increment d->epoch before
 * its first one. NULL at its end, and on failure: see json.failed. */
struct tally_word *tally_decode_key(struct tally_decoder *d);
/* One of the words that `name` lists, as its number. */
bool tally_decode_enum(struct tally_decoder *d, const char *(*name)(unsigned), unsigned n,
		       unsigned *v);
/* 16 hex digits. */
bool tally_decode_id(struct tally_decoder *d, uint64_t *id);
/* The type field of a line whose type is known. */
bool tally_decode_type(struct tally_decoder *d);

/* time.c */

/* "2026-01-31T12:00:00.5+01:00" as nanoseconds since 1970, UTC; a leap second is the second after
 * it. `s` ends in NUL. False: it is not a time, or before 1970 or after 2554. */
bool tally_time_parse(const char *s, uint64_t *unix_ns);

#endif
