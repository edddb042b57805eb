#include "json/decode.h"

#include <inttypes.h>

/* Field tables stand in the writer's order: tally_object_next() guesses by it. */

enum {
	WORKLOAD_COMMAND,
	WORKLOAD_GPU_START,
	WORKLOAD_GPU,
	WORKLOAD_COUNTERS,
	WORKLOAD_ESTIMATED,
	WORKLOAD_FLAGS,
	N_WORKLOAD_FIELDS,
};

static const struct tally_field workload_fields[N_WORKLOAD_FIELDS] = {
	[WORKLOAD_COMMAND] = TALLY_FIELD("command"),
	[WORKLOAD_GPU_START] = TALLY_FIELD("gpu_start_ns"),
	[WORKLOAD_GPU] = TALLY_FIELD("gpu_ns"),
	[WORKLOAD_COUNTERS] = TALLY_FIELD("counters"),
	[WORKLOAD_ESTIMATED] = TALLY_FIELD("estimated"),
	[WORKLOAD_FLAGS] = TALLY_FIELD("flags"),
};

enum {
	PASS_INDEX,
	PASS_ID,
	PASS_SEGMENT,
	PASS_KIND,
	PASS_LABEL,
	PASS_DRAWS,
	PASS_DISPATCHES,
	PASS_COPIES,
	PASS_CLEARS,
	PASS_VERTICES,
	PASS_INSTANCES,
	PASS_CALLS,
	PASS_CONTEXT,
	PASS_QUEUE,
	PASS_SUBMISSION,
	PASS_SURFACE,
	PASS_CPU_START,
	PASS_GPU_START,
	PASS_GPU,
	PASS_COUNTERS,
	PASS_METRICS,
	PASS_ESTIMATED,
	PASS_FLAGS,
	PASS_WORKLOADS,
	N_PASS_FIELDS,
};

static const struct tally_field pass_fields[N_PASS_FIELDS] = {
	[PASS_INDEX] = TALLY_FIELD("index"),
	[PASS_ID] = TALLY_FIELD("id"),
	[PASS_SEGMENT] = TALLY_FIELD("segment"),
	[PASS_KIND] = TALLY_FIELD("kind"),
	[PASS_LABEL] = TALLY_FIELD("label"),
	[PASS_DRAWS] = TALLY_FIELD("draws"),
	[PASS_DISPATCHES] = TALLY_FIELD("dispatches"),
	[PASS_COPIES] = TALLY_FIELD("copies"),
	[PASS_CLEARS] = TALLY_FIELD("clears"),
	[PASS_VERTICES] = TALLY_FIELD("vertices"),
	[PASS_INSTANCES] = TALLY_FIELD("instances"),
	[PASS_CALLS] = TALLY_FIELD("calls"),
	[PASS_CONTEXT] = TALLY_FIELD("context"),
	[PASS_QUEUE] = TALLY_FIELD("queue"),
	[PASS_SUBMISSION] = TALLY_FIELD("submission"),
	[PASS_SURFACE] = TALLY_FIELD("surface"),
	[PASS_CPU_START] = TALLY_FIELD("cpu_start_ns"),
	[PASS_GPU_START] = TALLY_FIELD("gpu_start_ns"),
	[PASS_GPU] = TALLY_FIELD("gpu_ns"),
	[PASS_COUNTERS] = TALLY_FIELD("counters"),
	[PASS_METRICS] = TALLY_FIELD("metrics"),
	[PASS_ESTIMATED] = TALLY_FIELD("estimated"),
	[PASS_FLAGS] = TALLY_FIELD("flags"),
	[PASS_WORKLOADS] = TALLY_FIELD("workloads"),
};

enum { UNATTRIBUTED_GPU, UNATTRIBUTED_COUNTERS, UNATTRIBUTED_ESTIMATED, N_UNATTRIBUTED_FIELDS };

static const struct tally_field unattributed_fields[N_UNATTRIBUTED_FIELDS] = {
	[UNATTRIBUTED_GPU] = TALLY_FIELD("gpu_ns"),
	[UNATTRIBUTED_COUNTERS] = TALLY_FIELD("counters"),
	[UNATTRIBUTED_ESTIMATED] = TALLY_FIELD("estimated"),
};

enum {
	FRAME_TYPE,
	FRAME_FRAME,
	FRAME_DEVICE,
	FRAME_START,
	FRAME_CPU,
	FRAME_GPU,
	FRAME_ENVELOPE,
	FRAME_COVERAGE,
	FRAME_SET,
	FRAME_PASSES,
	FRAME_UNATTRIBUTED,
	FRAME_METRICS,
	FRAME_ESTIMATED,
	FRAME_OVERHEAD,
	FRAME_DROPPED,
	FRAME_FLAGS,
	N_FRAME_FIELDS,
};

static const struct tally_field frame_fields[N_FRAME_FIELDS] = {
	[FRAME_TYPE] = TALLY_FIELD("type"),
	[FRAME_FRAME] = TALLY_FIELD("frame"),
	[FRAME_DEVICE] = TALLY_FIELD("device"),
	[FRAME_START] = TALLY_FIELD("start_ns"),
	[FRAME_CPU] = TALLY_FIELD("cpu_ns"),
	[FRAME_GPU] = TALLY_FIELD("gpu_ns"),
	[FRAME_ENVELOPE] = TALLY_FIELD("envelope_ns"),
	[FRAME_COVERAGE] = TALLY_FIELD("coverage"),
	[FRAME_SET] = TALLY_FIELD("set"),
	[FRAME_PASSES] = TALLY_FIELD("passes"),
	[FRAME_UNATTRIBUTED] = TALLY_FIELD("unattributed"),
	[FRAME_METRICS] = TALLY_FIELD("metrics"),
	[FRAME_ESTIMATED] = TALLY_FIELD("estimated"),
	[FRAME_OVERHEAD] = TALLY_FIELD("overhead_ns"),
	[FRAME_DROPPED] = TALLY_FIELD("dropped_passes"),
	[FRAME_FLAGS] = TALLY_FIELD("flags"),
};

/* {key: number} into `values`; *n counts those of this object. */
static bool
decode_values(struct tally_decoder *d, struct tally_array *values, uint32_t *n)
{
	d->stamp++;
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

/* `estimated` may stand before the values it speaks of: its keys are marked, apply_estimated()
 * looks for the mark. Marks are numbered, so that none needs clearing. */
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

/* Words a later version added are skipped. */
static bool
decode_flags(struct tally_decoder *d, uint64_t *flags)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		struct tally_json_text word;
		if (!tally_json_read_text(&d->json, &word))
			return false;
		int flag = tally_name_find(tally_flag_name, TALLY_N_FLAGS, word.s, word.len);
		if (flag >= 0)
			*flags |= UINT64_C(1) << flag;
	}
	return !d->json.failed;
}

static bool
decode_workload(struct tally_decoder *d, struct tally_workload_record *load)
{
	struct tally_object o = {
		.what = "a workload",
		.fields = workload_fields,
		.n_fields = N_WORKLOAD_FIELDS,
		.required = TALLY_BIT(WORKLOAD_COMMAND),
	};
	*load = (struct tally_workload_record){ 0 };
	uint64_t mark = ++d->stamp;
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		bool ok = true;
		switch (field) {
		case WORKLOAD_COMMAND:
			ok = tally_decode_kept(d, &load->command);
			break;
		case WORKLOAD_GPU_START:
			load->has_gpu_start = true;
			ok = tally_json_read_u64(&d->json, &load->gpu_start_ns);
			break;
		case WORKLOAD_GPU:
			load->has_gpu = true;
			ok = tally_json_read_u64(&d->json, &load->gpu_ns);
			break;
		case WORKLOAD_COUNTERS:
			ok = decode_values(d, &d->workload_counters, &load->n_counters);
			break;
		case WORKLOAD_ESTIMATED:
			ok = decode_estimated(d, mark);
			break;
		case WORKLOAD_FLAGS:
			ok = decode_flags(d, &load->flags);
			break;
		}
		if (!ok)
			return tally_object_fail(d, &o);
	}
	if (o.seen & TALLY_BIT(WORKLOAD_ESTIMATED))
		apply_estimated(&d->workload_counters, load->n_counters, mark);
	return !d->json.failed;
}

static bool
decode_workloads(struct tally_decoder *d, struct tally_pass_record *pass)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		struct tally_workload_record load;
		if (!decode_workload(d, &load))
			return false;
		struct tally_workload_record *kept = tally_array_push(d, &d->workloads,
								      sizeof(*kept));
		if (!kept)
			return false;
		*kept = load;
		pass->n_workloads++;
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
	if (!good || s != text.s + text.len) {
		tally_json_fail(&d->json, text.s - 1, "a queue is \"family.index\", two integers");
		return false;
	}
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
	/* Past the ceiling of what is remembered the order is not checked. */
	if (tally_numbers_find(&d->ids, *id) || d->ids.n == TALLY_MAX_NUMBERS)
		return true;
	tally_json_fail(&d->json, where, "pass %016" PRIx64 " has no pass_info line before it",
			*id);
	return false;
}

/* Counts, context and times: nearly all fields of most passes. */
static bool
decode_pass_number(struct tally_decoder *d, int field, struct tally_pass_record *pass)
{
	struct tally_json_reader *json = &d->json;
	switch (field) {
	case PASS_INDEX:
		return tally_decode_u32(d, &pass->index);
	case PASS_SEGMENT:
		return tally_decode_u32(d, &pass->segment);
	case PASS_DRAWS:
		return tally_json_read_u64(json, &pass->tallies.draws);
	case PASS_DISPATCHES:
		return tally_json_read_u64(json, &pass->tallies.dispatches);
	case PASS_COPIES:
		return tally_json_read_u64(json, &pass->tallies.copies);
	case PASS_CLEARS:
		return tally_json_read_u64(json, &pass->tallies.clears);
	case PASS_VERTICES:
		return tally_json_read_u64(json, &pass->tallies.vertices);
	case PASS_INSTANCES:
		return tally_json_read_u64(json, &pass->tallies.instances);
	case PASS_CALLS:
		return tally_json_read_u64(json, &pass->tallies.calls);
	case PASS_CONTEXT:
		return tally_decode_number(d, &pass->context);
	case PASS_SURFACE:
		return tally_decode_number(d, &pass->surface);
	case PASS_SUBMISSION:
		return tally_json_read_u64(json, &pass->submission);
	case PASS_CPU_START:
		return tally_json_read_u64(json, &pass->cpu_start_ns);
	case PASS_GPU_START:
		return tally_json_read_u64(json, &pass->gpu_start_ns);
	default:
		return tally_json_read_u64(json, &pass->gpu_ns);
	}
}

static bool
decode_pass_field(struct tally_decoder *d, int field, struct tally_pass_record *pass, uint64_t mark)
{
	switch (field) {
	case PASS_ID:
		return decode_pass_id(d, &pass->id);
	case PASS_KIND: {
		unsigned kind = 0;
		bool ok = tally_decode_enum(d, tally_pass_kind_name, TALLY_N_PASS_KINDS, &kind);
		pass->kind = kind;
		return ok;
	}
	case PASS_LABEL:
		return tally_decode_text(d, &pass->label);
	case PASS_QUEUE:
		return decode_queue(d, pass);
	case PASS_COUNTERS:
		return decode_values(d, &d->counters, &pass->n_counters);
	case PASS_METRICS:
		return decode_values(d, &d->metrics, &pass->n_metrics);
	case PASS_ESTIMATED:
		return decode_estimated(d, mark);
	case PASS_FLAGS:
		return decode_flags(d, &pass->flags);
	case PASS_WORKLOADS:
		return decode_workloads(d, pass);
	default:
		return decode_pass_number(d, field, pass);
	}
}

/* Which absent counts are unknown and which are 0: the flags tell. */
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
	/* A list may hold clears and copies: 0 outside of it is not 0. */
	if (!(seen & TALLY_BIT(PASS_DISPATCHES)))
		unknown |= TALLY_UNKNOWN_DISPATCHES;
	if (!(seen & TALLY_BIT(PASS_COPIES)))
		unknown |= TALLY_UNKNOWN_COPIES;
	if (!(seen & TALLY_BIT(PASS_CLEARS)))
		unknown |= TALLY_UNKNOWN_CLEARS;
	return unknown;
}

static bool
decode_pass(struct tally_decoder *d, struct tally_pass_record *pass)
{
	struct tally_object o = {
		.what = "a pass",
		.fields = pass_fields,
		.n_fields = N_PASS_FIELDS,
		.required = TALLY_BIT(PASS_INDEX) | TALLY_BIT(PASS_ID) | TALLY_BIT(PASS_KIND),
	};
	o.follow = d->pass_follow;
	*pass = (struct tally_pass_record){
		.context = -1,
		.queue_family = -1,
		.queue_index = -1,
		.surface = -1,
	};
	uint64_t mark = ++d->stamp;
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		if (!decode_pass_field(d, field, pass, mark))
			return tally_object_fail(d, &o);
	}
	pass->has_submission = o.seen & TALLY_BIT(PASS_SUBMISSION);
	pass->has_cpu_start = o.seen & TALLY_BIT(PASS_CPU_START);
	pass->has_gpu_start = o.seen & TALLY_BIT(PASS_GPU_START);
	pass->has_gpu = o.seen & TALLY_BIT(PASS_GPU);
	pass->unknown = find_unknown(o.seen, pass);
	if (o.seen & TALLY_BIT(PASS_ESTIMATED)) {
		apply_estimated(&d->counters, pass->n_counters, mark);
		apply_estimated(&d->metrics, pass->n_metrics, mark);
	}
	return !d->json.failed;
}

static bool
decode_passes(struct tally_decoder *d)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		struct tally_pass_record *pass = tally_array_push(d, &d->passes, sizeof(*pass));
		if (!pass || !decode_pass(d, pass))
			return false;
	}
	return !d->json.failed;
}

/* The arrays stay where they are now: point the passes into them. */
static void
attach_arrays(struct tally_decoder *d)
{
	const struct tally_keyed_value *counters = d->counters.items;
	const struct tally_keyed_value *metrics = d->metrics.items;
	const struct tally_keyed_value *workload_counters = d->workload_counters.items;
	struct tally_workload_record *workloads = d->workloads.items;
	struct tally_pass_record *passes = d->passes.items;
	for (size_t i = 0; i < d->passes.n; i++) {
		struct tally_pass_record *pass = &passes[i];
		pass->counters = pass->n_counters ? counters : NULL;
		pass->metrics = pass->n_metrics ? metrics : NULL;
		pass->workloads = pass->n_workloads ? workloads : NULL;
		if (pass->n_counters)
			counters += pass->n_counters;
		if (pass->n_metrics)
			metrics += pass->n_metrics;
		for (uint32_t j = 0; j < pass->n_workloads; j++, workloads++) {
			workloads->counters = workloads->n_counters ? workload_counters : NULL;
			if (workloads->n_counters)
				workload_counters += workloads->n_counters;
		}
	}
}

static bool
decode_unattributed(struct tally_decoder *d, struct tally_frame_record *frame)
{
	struct tally_object o = {
		.what = "unattributed",
		.fields = unattributed_fields,
		.n_fields = N_UNATTRIBUTED_FIELDS,
	};
	uint64_t mark = ++d->stamp;
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		bool ok = true;
		switch (field) {
		case UNATTRIBUTED_GPU:
			frame->has_unattributed_gpu = true;
			ok = tally_json_read_u64(&d->json, &frame->unattributed_gpu_ns);
			break;
		case UNATTRIBUTED_COUNTERS:
			ok = decode_values(d, &d->unattributed, &frame->n_unattributed);
			break;
		case UNATTRIBUTED_ESTIMATED:
			ok = decode_estimated(d, mark);
			break;
		}
		if (!ok)
			return tally_object_fail(d, &o);
	}
	if (o.seen & TALLY_BIT(UNATTRIBUTED_ESTIMATED))
		apply_estimated(&d->unattributed, frame->n_unattributed, mark);
	return !d->json.failed;
}

static bool
decode_coverage(struct tally_decoder *d, struct tally_frame_record *frame)
{
	tally_json_peek(&d->json);
	const char *where = d->json.at;
	if (!tally_json_read_f64(&d->json, &frame->coverage))
		return false;
	if (frame->coverage >= 0 && frame->coverage <= 1)
		return true;
	tally_json_fail(&d->json, where, "a share is between 0 and 1");
	return false;
}

/* The frame's passes, which may stand behind it, mark the same words: so the words are kept. */
static bool
decode_frame_estimated(struct tally_decoder *d)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		struct tally_word **word = tally_array_push(d, &d->frame_estimated, sizeof(*word));
		if (!word || !(*word = tally_decode_word(d)))
			return false;
	}
	return !d->json.failed;
}

static void
apply_frame_estimated(struct tally_decoder *d, const struct tally_frame_record *frame)
{
	struct tally_word **words = d->frame_estimated.items;
	uint64_t mark = ++d->stamp;
	if (d->frame_estimated.n == 0)
		return;
	for (size_t i = 0; i < d->frame_estimated.n; i++)
		words[i]->marks = mark;
	apply_estimated(&d->frame_metrics, frame->n_metrics, mark);
}

static bool
decode_frame_field(struct tally_decoder *d, int field, struct tally_frame_record *frame)
{
	struct tally_json_reader *json = &d->json;
	switch (field) {
	case FRAME_TYPE:
		return tally_decode_type(d);
	case FRAME_FRAME:
		return tally_json_read_u64(json, &frame->frame);
	case FRAME_DEVICE:
		return tally_decode_u32(d, &frame->device);
	case FRAME_START:
		return tally_json_read_u64(json, &frame->start_ns);
	case FRAME_CPU:
		return tally_json_read_u64(json, &frame->cpu_ns);
	case FRAME_GPU:
		return tally_json_read_u64(json, &frame->gpu_ns);
	case FRAME_ENVELOPE:
		return tally_json_read_u64(json, &frame->envelope_ns);
	case FRAME_COVERAGE:
		return decode_coverage(d, frame);
	case FRAME_SET:
		return tally_decode_kept(d, &frame->set);
	case FRAME_PASSES:
		return decode_passes(d);
	case FRAME_UNATTRIBUTED:
		return decode_unattributed(d, frame);
	case FRAME_METRICS:
		return decode_values(d, &d->frame_metrics, &frame->n_metrics);
	case FRAME_ESTIMATED:
		return decode_frame_estimated(d);
	case FRAME_OVERHEAD:
		return tally_json_read_u64(json, &frame->overhead_ns);
	case FRAME_DROPPED:
		return tally_json_read_u64(json, &frame->dropped_passes);
	default:
		return decode_flags(d, &frame->flags);
	}
}

/* Frames of a device stand in order, behind the device's own line. */
static bool
check_order(struct tally_decoder *d, const struct tally_frame_record *frame, const char *where)
{
	struct tally_number *device = tally_numbers_find(&d->devices, frame->device);
	d->named = true;
	if (!device) {
		tally_json_fail(&d->json, where,
				"frame %" PRIu64 " is of device %" PRIu32
				", which has no device line before it",
				frame->frame, frame->device);
		return false;
	}
	if (device->has_value && frame->frame <= device->value) {
		tally_json_fail(&d->json, where,
				"frame %" PRIu64 " of device %" PRIu32 " stands "
				"behind its frame %" PRIu64,
				frame->frame, frame->device, device->value);
		return false;
	}
	device->value = frame->frame;
	device->has_value = true;
	return true;
}

static void
clear_arrays(struct tally_decoder *d)
{
	d->passes.n = 0;
	d->counters.n = 0;
	d->metrics.n = 0;
	d->workloads.n = 0;
	d->workload_counters.n = 0;
	d->unattributed.n = 0;
	d->frame_metrics.n = 0;
	d->frame_estimated.n = 0;
}

bool
tally_decode_frame(struct tally_decoder *d, struct tally_frame_record *frame)
{
	struct tally_object o = {
		.what = "a frame",
		.fields = frame_fields,
		.n_fields = N_FRAME_FIELDS,
		.required = TALLY_BIT(FRAME_FRAME) | TALLY_BIT(FRAME_DEVICE) |
			    TALLY_BIT(FRAME_START) | TALLY_BIT(FRAME_CPU) |
			    TALLY_BIT(FRAME_PASSES) | TALLY_BIT(FRAME_OVERHEAD) |
			    TALLY_BIT(FRAME_DROPPED),
	};
	*frame = (struct tally_frame_record){ 0 };
	clear_arrays(d);
	const char *where = d->json.at;
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		if (!decode_frame_field(d, field, frame))
			return tally_object_fail(d, &o);
	}
	if (d->json.failed || !tally_json_end(&d->json))
		return false;
	uint64_t gpu = o.seen & (TALLY_BIT(FRAME_GPU) | TALLY_BIT(FRAME_ENVELOPE));
	if (gpu && (gpu & (gpu - 1)) == 0) {
		tally_json_fail(&d->json, where,
				"gpu_ns and envelope_ns stand together or not at "
				"all");
		return false;
	}
	frame->has_gpu = gpu;
	frame->has_coverage = o.seen & TALLY_BIT(FRAME_COVERAGE);
	attach_arrays(d);
	frame->passes = tally_array_items(&d->passes);
	frame->n_passes = (uint32_t)d->passes.n;
	frame->unattributed = tally_array_items(&d->unattributed);
	apply_frame_estimated(d, frame);
	frame->metrics = tally_array_items(&d->frame_metrics);
	return check_order(d, frame, where);
}
