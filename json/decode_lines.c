/* SPDX-License-Identifier: MIT */
#include "json/decode_lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* {key: number} into `values`; *n counts those of this object. */
static bool
decode_values(struct tally_decoder *d, struct tally_array *values, uint32_t *n)
{
	d->epoch++;
	if (!tally_json_open_object(&d->json))
		return false;
	for (struct tally_word *key; (key = tally_decode_key(d));) {
		struct tally_keyed_value *value = tally_array_push(d, values, sizeof(*value));
		if (!value)
			return false;
		value->key = key->text;
		value->estimated = false;
		if (!tally_json_read_value(&d->json, &value->value))
			return false;
		++*n;
	}
	return !d->json.failed;
}

/* `estimated` may come before the values that it names: its keys are marked, and
 * apply_estimated() checks the mark. Marks are numbered, so that none needs clearing. */
static bool
decode_estimated(struct tally_decoder *d, uint64_t mark)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		struct tally_word *word = tally_decode_word(d);
		if (!word)
			return false;
		word->marks = mark;
	}
	return !d->json.failed;
}

static void
apply_estimated(struct tally_array *array, uint32_t n, uint64_t mark)
{
	struct tally_keyed_value *values = array->items;
	for (size_t i = array->n - n; i < array->n; i++) {
		const void *word = values[i].key - offsetof(struct tally_word, text);
		values[i].estimated = ((const struct tally_word *)word)->marks == mark;
	}
}

/* Words that a later version added are skipped. */
static bool
decode_flags(struct tally_decoder *d, uint64_t *flags)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		struct tally_json_text word;
		if (!tally_decode_json_text(d, &word))
			return false;
		int flag = tally_name_find(tally_flag_name, TALLY_N_FLAGS, word.s, word.len);
		if (flag >= 0)
			*flags |= UINT64_C(1) << flag;
	}
	return !d->json.failed;
}

/* "family.index" */
static bool
decode_queue(struct tally_decoder *d, struct tally_pass_record *pass)
{
	struct tally_json_text text;
	if (!tally_json_read_text(&d->json, &text))
		return false;
	const char *s = text.s;
	int32_t parts[2] = { 0, 0 };
	bool good = true;
	for (int i = 0; i < 2 && good; i++) {
		const char *first = s;
		for (; *s >= '0' && *s <= '9' && s - first < 9; s++)
			parts[i] = parts[i] * 10 + (*s - '0');
		good = s > first && (*first != '0' || s == first + 1) && *s == (i ? '\0' : '.');
		s += i == 0;
	}
	if (!good || s != text.s + text.len)
		return tally_json_fail(&d->json, text.s - 1,
				       "a queue is \"family.index\", two integers");
	pass->queue_family = parts[0];
	pass->queue_index = parts[1];
	return true;
}

static bool
decode_pass_id(struct tally_decoder *d, uint64_t *id)
{
	tally_json_peek(&d->json);
	const char *where = d->json.at;
	if (!tally_decode_id(d, id))
		return false;
	/* Beyond the limit of the stored words the order is not checked. */
	if (tally_numbers_find(&d->ids, *id) || d->ids.n == TALLY_MAX_NUMBERS || d->any_id)
		return true;
	return tally_json_fail(&d->json, where,
			       "pass %016" PRIx64 " has no pass_info line before it", *id);
}

static bool
decode_share(struct tally_decoder *d, double *share)
{
	tally_json_peek(&d->json);
	const char *where = d->json.at;
	if (!tally_json_read_f64(&d->json, share))
		return false;
	if (*share >= 0 && *share <= 1)
		return true;
	return tally_json_fail(&d->json, where, "a share is between 0 and 1");
}

/* The frame's passes may come after this list and mark the same words: therefore the words are
 * stored. */
static bool
decode_frame_estimated(struct tally_decoder *d)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		struct tally_word **word = tally_array_push(d, &d->frame_estimated,
							    sizeof(*word));
		if (!word || !(*word = tally_decode_word(d)))
			return false;
	}
	return !d->json.failed;
}

/* The next n items at `at`, and past them; NULL: none. */
#define TAKE(at, n) ((n) ? ((at) += (n)) - (n) : NULL)

/* The arrays no longer move: makes the passes point into them. */
static void
attach_arrays(struct tally_decoder *d)
{
	const struct tally_keyed_value *counters = d->counters.items;
	const struct tally_keyed_value *metrics = d->metrics.items;
	const struct tally_keyed_value *workload_counters = d->workload_counters.items;
	const struct tally_pipeline_use_record *pipelines = d->pipelines.items;
	struct tally_workload_record *workloads = d->workloads.items;
	struct tally_pass_record *passes = d->passes.items;
	for (size_t i = 0; i < d->passes.n; i++) {
		struct tally_pass_record *pass = &passes[i];
		pass->counters = TAKE(counters, pass->n_counters);
		pass->metrics = TAKE(metrics, pass->n_metrics);
		pass->pipelines = TAKE(pipelines, pass->n_pipelines);
		pass->workloads = pass->n_workloads ? workloads : NULL;
		for (uint32_t j = 0; j < pass->n_workloads; j++, workloads++)
			workloads->counters = TAKE(workload_counters, workloads->n_counters);
	}
}

static void
apply_frame_estimated(struct tally_decoder *d, const struct tally_frame_record *frame)
{
	struct tally_word **words = d->frame_estimated.items;
	uint64_t mark = ++d->epoch;
	if (d->frame_estimated.n == 0)
		return;
	for (size_t i = 0; i < d->frame_estimated.n; i++)
		words[i]->marks = mark;
	apply_estimated(&d->frame_metrics, frame->n_metrics, mark);
}

/* The frames of a device must be in order, after the line of the device. */
static bool
check_frame(struct tally_decoder *d, const struct tally_object *o,
	    struct tally_frame_record *frame)
{
	const char *where = d->json.begin;
	(void)o;
	attach_arrays(d);
	frame->unattributed = tally_array_items(&d->unattributed);
	apply_frame_estimated(d, frame);
	struct tally_number *device = tally_numbers_find(&d->devices, frame->device);
	d->named = true;
	if (!device)
		return tally_json_fail(&d->json, where,
				       "frame %" PRIu64 " is of device %" PRIu32
				       ", which has no device line before it",
				       frame->frame, frame->device);
	if (device->has_value && frame->frame <= device->value)
		return tally_json_fail(&d->json, where,
				       "frame %" PRIu64 " of device %" PRIu32 " comes "
				       "after its frame %" PRIu64,
				       frame->frame, frame->device, device->value);
	device->value = frame->frame;
	device->has_value = true;
	return true;
}

static bool
decode_color(struct tally_decoder *d, struct tally_pass_info_record *info)
{
	struct tally_target *target = &info->target;
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		const char *format = NULL;
		bool absent = tally_json_peek(&d->json) == 'n';
		if (absent ? !tally_json_read_null(&d->json) : !tally_decode_kept(d, &format))
			return false;
		if (target->n_color == TALLY_MAX_COLOR)
			return tally_json_fail(&d->json, d->json.at,
					       "more than %d color attachments", TALLY_MAX_COLOR);
		target->color[target->n_color++].format = format;
	}
	return !d->json.failed;
}

/* Records need pointers to counters, which do not move from now on. */
static bool
attach_counters(struct tally_decoder *d, struct tally_device_record *device)
{
	const struct tally_counter *counters = d->counter_infos.items;
	for (size_t i = 0; i < d->counter_infos.n; i++) {
		const struct tally_counter **pointer = tally_array_push(
			d, &d->counter_pointers, sizeof(const struct tally_counter *));
		if (!pointer)
			return false;
		*pointer = &counters[i];
	}
	device->counters = tally_array_items(&d->counter_pointers);
	return true;
}

/* The keys of all sets, one set's after the other's, do not move either. */
static void
attach_sets(struct tally_decoder *d)
{
	const char *const *keys = d->set_keys.items;
	struct tally_set_info *sets = d->set_infos.items;
	for (size_t i = 0; i < d->set_infos.n; i++) {
		sets[i].keys = keys;
		keys += sets[i].n_keys;
	}
}

static bool
check_device(struct tally_decoder *d, const struct tally_object *o,
	     struct tally_device_record *device)
{
	if (!attach_counters(d, device))
		return false;
	attach_sets(d);
	if (tally_numbers_add(&d->devices, device->device, TALLY_MAX_NUMBERS))
		return true;
	if (d->devices.n < TALLY_MAX_NUMBERS)
		return tally_json_fail_memory(&d->json);
	return tally_json_fail(&d->json, o->where, "more than %u devices in one log",
			       TALLY_MAX_NUMBERS);
}

static bool
check_pass_info(struct tally_decoder *d, const struct tally_object *o,
		const struct tally_pass_info_record *info)
{
	(void)o;
	if (tally_numbers_add(&d->ids, info->id, TALLY_MAX_NUMBERS) ||
	    d->ids.n == TALLY_MAX_NUMBERS)
		return true;
	return tally_json_fail_memory(&d->json);
}

/* Whether a later version of passtally wrote the log: the same name with a higher number. */
static bool
is_newer(const struct tally_json_text *schema)
{
	size_t name = strcspn(TALLY_SCHEMA, "/") + 1;
	if (schema->len <= name || memcmp(schema->s, TALLY_SCHEMA, name) != 0)
		return false;
	const char *number = schema->s + name;
	size_t digits = strspn(number, "0123456789");
	return digits && digits < 10 && number[digits] == '\0' &&
	       strtoul(number, NULL, 10) > strtoul(&TALLY_SCHEMA[name], NULL, 10);
}

static bool
decode_schema(struct tally_decoder *d, struct tally_header_record *header)
{
	(void)header;
	struct tally_json_text text;
	if (!tally_json_read_text(&d->json, &text))
		return false;
	if (text.len == strlen(TALLY_SCHEMA) && !memcmp(text.s, TALLY_SCHEMA, text.len))
		return true;
	char shown[48];
	d->named = true;
	return tally_json_fail(&d->json, text.s - 1, "this is schema %s; this passtally reads %s%s",
			       tally_json_quote(shown, text.s, text.len), TALLY_SCHEMA,
			       is_newer(&text) ? ": update passtally" : "");
}

static bool
decode_key_texts(struct tally_decoder *d, struct tally_array *items, uint32_t *n)
{
	d->epoch++;
	if (!tally_json_open_object(&d->json))
		return false;
	for (struct tally_word *key; (key = tally_decode_key(d));) {
		struct tally_key_text *item = tally_array_push(d, items, sizeof(*item));
		if (!item || !tally_decode_text(d, &item->value))
			return false;
		item->key = key->text;
		++*n;
	}
	return !d->json.failed;
}

static bool
decode_started(struct tally_decoder *d, struct tally_header_record *header)
{
	const char *s;
	if (!tally_decode_text(d, &s))
		return false;
	if (tally_time_parse(s, &header->started_unix_ns))
		return true;
	return tally_json_fail(&d->json, s - 1,
			       "a time is written as RFC 3339 says, for example "
			       "2026-01-31T12:00:00Z, from 1970 to 2554");
}

/* A whole number as JSON spells it: no sign except '-', no leading zero. */
static bool
scan_integer(const char *s, bool is_signed, struct tally_int192 *whole)
{
	bool negative = *s == '-';
	if ((negative && !is_signed) || (s[negative] == '0' && s[negative + 1]))
		return false;
	return tally_int192_parse(s, strlen(s), whole);
}

/* Whether it is a number with a point or an exponent, by JSON's grammar. */
static bool
scan_double(const char *s, double *f64)
{
	size_t len = strlen(s);
	struct tally_json_reader number = { 0 };
	char copy[64 + TALLY_JSON_PADDING] = { 0 };
	if (len > 63)
		return false;
	memcpy(copy, s, len);
	tally_json_begin(&number, copy, len);
	struct tally_value v;
	if (!len || strpbrk(s, " \t\r\n") ||
	    !tally_json_read_value(&number, &v) || !tally_json_end(&number) ||
	    v.storage != TALLY_STORAGE_F64)
		return false;
	*f64 = v.f64;
	return true;
}

/* A sum in quotes: *integral stays true only for a whole number; *f64 is always set. */
static bool
decode_any_sum(struct tally_decoder *d, bool is_signed, bool *integral,
	       struct tally_int192 *whole, double *f64)
{
	const char *s;
	if (!tally_decode_text(d, &s))
		return false;
	if (scan_integer(s, is_signed, whole)) {
		*f64 = tally_int192_f64(whole);
		return true;
	}
	*integral = false;
	if ((is_signed || *s != '-') && scan_double(s, f64))
		return true;
	return tally_json_fail(&d->json, s - 1,
			       "a sum is a decimal number in quotes, 128 bits wide");
}

static bool
decode_sum(struct tally_decoder *d, struct tally_statistic_record *s)
{
	return decode_any_sum(d, true, &s->integral, &s->sum, &s->sum_f64);
}

static bool
decode_sum_sq(struct tally_decoder *d, struct tally_statistic_record *s)
{
	return decode_any_sum(d, false, &s->integral, &s->sum_sq, &s->sum_sq_f64);
}

/* tally_decode_NAME() of each line, and decode_NAME() of the objects in them. */
#include "json/log_read.inc"

/* Decides which absent counts are unknown and which are 0, according to the flags. */
static uint32_t
find_unknown(uint64_t seen, const struct tally_pass_record *pass)
{
	const uint64_t hides_instances = TALLY_FLAG(INDIRECT) | TALLY_FLAG(LIST);
	const uint64_t hides_vertices = hides_instances | TALLY_FLAG(IMMEDIATE);
	uint32_t unknown = 0;
	if (!(seen & TALLY_BIT(PASS_DRAWS)))
		unknown |= TALLY_UNKNOWN_DRAWS;
	if ((pass->flags & hides_vertices) && !(seen & TALLY_BIT(PASS_VERTICES)))
		unknown |= TALLY_UNKNOWN_VERTICES;
	if ((pass->flags & hides_instances) && !(seen & TALLY_BIT(PASS_INSTANCES)))
		unknown |= TALLY_UNKNOWN_INSTANCES;
	if (!(pass->flags & TALLY_FLAG(LIST)))
		return unknown;
	/* A list may contain clears and copies: 0 outside the list does not mean 0. */
	if (!(seen & TALLY_BIT(PASS_DISPATCHES)))
		unknown |= TALLY_UNKNOWN_DISPATCHES;
	if (!(seen & TALLY_BIT(PASS_COPIES)))
		unknown |= TALLY_UNKNOWN_COPIES;
	if (!(seen & TALLY_BIT(PASS_CLEARS)))
		unknown |= TALLY_UNKNOWN_CLEARS;
	return unknown;
}

static void
finish_pass(const struct tally_object *o, struct tally_pass_record *pass)
{
	pass->unknown = find_unknown(o->seen, pass);
}

/* What is left out of a measured frame: no gaps, all in passes, nothing outside them. */
static void
finish_frame(const struct tally_object *o, struct tally_frame_record *frame)
{
	bool has_coverage = o->seen & TALLY_BIT(FRAME_COVERAGE);
	if (!(o->seen & TALLY_BIT(FRAME_ENVELOPE_NS)))
		frame->envelope_ns = frame->gpu_ns;
	if (!has_coverage)
		frame->coverage = 1;
	frame->has_coverage = has_coverage || frame->gpu_ns;
	if (!(o->seen & TALLY_BIT(FRAME_UNATTRIBUTED)))
		frame->has_unattributed_gpu = frame->has_gpu;
}

/* Sums are both exact or both inexact. */
static void
finish_statistic(const struct tally_object *o, struct tally_statistic_record *s)
{
	const uint64_t both = TALLY_BIT(STATISTIC_SUM) | TALLY_BIT(STATISTIC_SUM_SQ);
	s->integral = s->integral && (o->seen & both) == both;
	if (s->integral)
		s->sum_f64 = s->sum_sq_f64 = 0;
}
