/* SPDX-License-Identifier: MIT */
#include "json/decode_frame.h"

#include <inttypes.h>

bool
tally_decode_values(struct tally_decoder *d, struct tally_array *values, uint32_t *n)
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

/* tally_decode_frame(), and decode_NAME() of the objects in a frame. */
#include "json/log_read_frame.inc"

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
