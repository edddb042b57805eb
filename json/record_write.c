#include "json/record_write.h"

#include <math.h>

#include "json/record_json.h"

#define PUT(literal) TALLY_JSON_PUT(w, literal)

/* `key` is a literal that begins with its comma. */
#define PUT_TEXT(key, text) \
	do { \
		if (text) { \
			PUT(key); \
			tally_json_put_text(w, text); \
		} \
	} while (0)

#define PUT_U64(key, v) \
	do { \
		PUT(key); \
		tally_json_put_u64(w, v); \
	} while (0)

#define PUT_U64_IF(condition, key, v) \
	do { \
		if (condition) \
			PUT_U64(key, v); \
	} while (0)

#define PUT_F64(key, v) \
	do { \
		if (isfinite(v)) { \
			PUT(key); \
			tally_json_put_f64(w, v); \
		} \
	} while (0)

/* A word of one of our own tables; "unknown" cannot be read back, so a bad enum shows itself. */
static void
put_word(struct tally_json_writer *w, const char *word)
{
	PUT("\"");
	if (!word)
		word = "unknown";
	tally_json_put(w, word, strlen(word));
	PUT("\"");
}

void
tally_json_put_header(struct tally_json_writer *w, const struct tally_header_record *header)
{
	PUT("{\"type\":\"header\",\"schema\":\"" TALLY_SCHEMA "\"");
	PUT_TEXT(",\"version\":", header->version);
	PUT_TEXT(",\"program\":", header->program);
	if (header->has_argv) {
		PUT(",\"argv\":[");
		for (uint32_t i = 0; i < header->n_argv; i++) {
			if (i)
				PUT(",");
			tally_json_put_text(w, header->argv[i]);
		}
		PUT("]");
	}
	PUT(",\"pid\":");
	tally_json_put_i64(w, header->pid);
	PUT(",\"started\":");
	tally_json_put_time(w, header->started_unix_ns);
	PUT(",\"options\":{");
	for (uint32_t i = 0; i < header->n_options; i++) {
		if (i)
			PUT(",");
		tally_json_put_text(w, header->options[i].key);
		PUT(":");
		tally_json_put_text(w, header->options[i].value);
	}
	PUT("}}");
}

static void
put_source(struct tally_json_writer *w, const struct tally_source_info *source)
{
	PUT("{\"name\":");
	tally_json_put_text(w, source->name);
	if (source->on)
		PUT(",\"state\":\"on\"");
	else
		PUT(",\"state\":\"off\"");
	PUT_TEXT(",\"reason\":", source->reason);
	PUT("}");
}

static void
put_counter(struct tally_json_writer *w, const struct tally_counter *counter)
{
	PUT("{\"key\":");
	tally_json_put_text(w, counter->key);
	PUT_TEXT(",\"name\":", counter->name);
	PUT_TEXT(",\"unit\":", counter->unit);
	PUT(",\"kind\":");
	put_word(w, tally_counter_kind_name(counter->kind));
	PUT_TEXT(",\"source\":", counter->source);
	PUT(",\"scope\":");
	put_word(w, tally_scope_name(counter->scope));
	PUT_TEXT(",\"description\":", counter->description);
	PUT("}");
}

static void
put_metric(struct tally_json_writer *w, const struct tally_metric_info *metric)
{
	PUT("{\"key\":");
	tally_json_put_text(w, metric->key);
	PUT_TEXT(",\"name\":", metric->name);
	PUT_TEXT(",\"unit\":", metric->unit);
	PUT_TEXT(",\"expression\":", metric->expression);
	PUT_TEXT(",\"dialect\":", metric->dialect);
	PUT("}");
}

void
tally_json_put_device(struct tally_json_writer *w, const struct tally_device_record *device)
{
	PUT("{\"type\":\"device\"");
	PUT_U64(",\"device\":", device->device);
	PUT(",\"api\":");
	put_word(w, tally_api_name(device->api));
	PUT_TEXT(",\"name\":", device->name);
	PUT_TEXT(",\"driver\":", device->driver);
	PUT_TEXT(",\"driver_version\":", device->driver_version);
	PUT_U64_IF(device->beneath >= 0, ",\"beneath\":", (uint64_t)device->beneath);
	PUT_TEXT(",\"serialized_by\":", device->serialized_by);
	PUT(",\"sources\":[");
	for (uint32_t i = 0; i < device->n_sources; i++) {
		if (i)
			PUT(",");
		put_source(w, &device->sources[i]);
	}
	PUT("],\"counters\":[");
	for (uint32_t i = 0; i < device->n_counters; i++) {
		if (i)
			PUT(",");
		put_counter(w, device->counters[i]);
	}
	PUT("]");
	for (uint32_t i = 0; i < device->n_metrics; i++) {
		if (i)
			PUT(",");
		else
			PUT(",\"metrics\":[");
		put_metric(w, &device->metrics[i]);
	}
	if (device->n_metrics)
		PUT("]");
	PUT("}");
}

/* A field of `target`: the first has no comma before it. */
static void
put_target_key(struct tally_json_writer *w, bool *any, const char *key)
{
	if (*any)
		PUT(",");
	*any = true;
	tally_json_put(w, key, strlen(key));
}

static void
put_target_number(struct tally_json_writer *w, bool *any, const char *key, uint32_t v)
{
	if (!v)
		return;
	put_target_key(w, any, key);
	tally_json_put_u64(w, v);
}

static void
put_target_text(struct tally_json_writer *w, bool *any, const char *key, const char *text)
{
	if (!text)
		return;
	put_target_key(w, any, key);
	tally_json_put_text(w, text);
}

static void
put_target(struct tally_json_writer *w, const struct tally_pass_info_record *info)
{
	const struct tally_target *target = &info->target;
	bool any = false;
	PUT("{");
	put_target_number(w, &any, "\"width\":", target->width);
	put_target_number(w, &any, "\"height\":", target->height);
	put_target_number(w, &any, "\"layers\":", target->layers);
	put_target_number(w, &any, "\"samples\":", target->samples);
	uint32_t n = target->n_color < TALLY_MAX_COLOR ? target->n_color : TALLY_MAX_COLOR;
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			PUT(",");
		else
			put_target_key(w, &any, "\"color\":[");
		if (target->color[i].format)
			tally_json_put_text(w, target->color[i].format);
		else
			PUT("null");
	}
	if (n)
		PUT("]");
	put_target_text(w, &any, "\"depth\":", target->depth.format);
	put_target_text(w, &any, "\"stencil\":", target->stencil.format);
	if (info->load != TALLY_LOAD_UNKNOWN)
		put_target_text(w, &any, "\"load\":", tally_load_op_name(info->load));
	if (info->store != TALLY_STORE_UNKNOWN)
		put_target_text(w, &any, "\"store\":", tally_store_op_name(info->store));
	if (target->presented)
		put_target_key(w, &any, "\"presented\":true");
	PUT("}");
}

void
tally_json_put_pass_info(struct tally_json_writer *w, const struct tally_pass_info_record *info)
{
	PUT("{\"type\":\"pass_info\",\"id\":");
	tally_json_put_id(w, info->id);
	PUT(",\"kind\":");
	put_word(w, tally_pass_kind_name(info->kind));
	PUT_TEXT(",\"label\":", info->label);
	PUT(",\"target\":");
	put_target(w, info);
	PUT("}");
}

/* {key: number}, behind `name`; nothing when no value can be written. Returns how many of those
 * written are estimated. */
static uint32_t
put_values(struct tally_json_writer *w, const char *name, const struct tally_keyed_value *values,
	   uint32_t n)
{
	uint32_t estimated = 0;
	bool any = false;
	for (uint32_t i = 0; i < n; i++) {
		if (!tally_json_is_writable(values[i].value))
			continue;
		if (any)
			PUT(",");
		else
			tally_json_put(w, name, strlen(name));
		any = true;
		tally_json_put_text(w, values[i].key);
		PUT(":");
		tally_json_put_value(w, values[i].value);
		estimated += values[i].estimated;
	}
	if (any)
		PUT("}");
	return estimated;
}

static void
put_estimated_keys(struct tally_json_writer *w, const struct tally_keyed_value *values, uint32_t n,
		   bool *any)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!values[i].estimated || !tally_json_is_writable(values[i].value))
			continue;
		if (*any)
			PUT(",");
		*any = true;
		tally_json_put_text(w, values[i].key);
	}
}

static void
put_estimated(struct tally_json_writer *w, const struct tally_keyed_value *counters,
	      uint32_t n_counters, const struct tally_keyed_value *metrics, uint32_t n_metrics)
{
	bool any = false;
	PUT(",\"estimated\":[");
	put_estimated_keys(w, counters, n_counters, &any);
	put_estimated_keys(w, metrics, n_metrics, &any);
	PUT("]");
}

static void
put_flags(struct tally_json_writer *w, uint64_t flags)
{
	flags &= (UINT64_C(1) << TALLY_N_FLAGS) - 1;
	if (!flags)
		return;
	PUT(",\"flags\":[");
	for (bool any = false; flags; any = true, flags &= flags - 1) {
		if (any)
			PUT(",");
		put_word(w, tally_flag_name((unsigned)__builtin_ctzll(flags)));
	}
	PUT("]");
}

static void
put_workload(struct tally_json_writer *w, const struct tally_workload_record *load)
{
	PUT("{\"command\":");
	tally_json_put_text(w, load->command);
	PUT_U64_IF(load->has_gpu_start, ",\"gpu_start_ns\":", load->gpu_start_ns);
	PUT_U64_IF(load->has_gpu, ",\"gpu_ns\":", load->gpu_ns);
	if (load->n_counters && put_values(w, ",\"counters\":{", load->counters, load->n_counters))
		put_estimated(w, load->counters, load->n_counters, NULL, 0);
	put_flags(w, load->flags);
	PUT("}");
}

/* A count that is 0 is left out, but for draws; so is one that is unknown, and the flags tell which
 * of the two: json/decode_frame.c undoes this. */
static void
put_tallies(struct tally_json_writer *w, const struct tally_pass_record *pass)
{
	const struct tally_tallies *t = &pass->tallies;
	uint32_t known = ~pass->unknown;
	PUT_U64_IF(known & TALLY_UNKNOWN_DRAWS, ",\"draws\":", t->draws);
	PUT_U64_IF(t->dispatches && (known & TALLY_UNKNOWN_DISPATCHES),
		   ",\"dispatches\":", t->dispatches);
	PUT_U64_IF(t->copies && (known & TALLY_UNKNOWN_COPIES), ",\"copies\":", t->copies);
	PUT_U64_IF(t->clears && (known & TALLY_UNKNOWN_CLEARS), ",\"clears\":", t->clears);
	PUT_U64_IF(t->vertices && (known & TALLY_UNKNOWN_VERTICES), ",\"vertices\":", t->vertices);
	PUT_U64_IF(t->instances && (known & TALLY_UNKNOWN_INSTANCES),
		   ",\"instances\":", t->instances);
	PUT_U64_IF(t->calls, ",\"calls\":", t->calls);
}

static void
put_pass(struct tally_json_writer *w, const struct tally_pass_record *pass)
{
	PUT_U64("{\"index\":", pass->index);
	PUT(",\"id\":");
	tally_json_put_id(w, pass->id);
	PUT_U64_IF(pass->segment, ",\"segment\":", pass->segment);
	PUT(",\"kind\":");
	put_word(w, tally_pass_kind_name(pass->kind));
	PUT_TEXT(",\"label\":", pass->label);
	put_tallies(w, pass);
	PUT_U64_IF(pass->context >= 0, ",\"context\":", (uint64_t)pass->context);
	if (pass->queue_family >= 0 && pass->queue_index >= 0) {
		PUT_U64(",\"queue\":\"", (uint64_t)pass->queue_family);
		PUT_U64(".", (uint64_t)pass->queue_index);
		PUT("\"");
	}
	PUT_U64_IF(pass->has_submission, ",\"submission\":", pass->submission);
	PUT_U64_IF(pass->surface >= 0, ",\"surface\":", (uint64_t)pass->surface);
	PUT_U64_IF(pass->has_cpu_start, ",\"cpu_start_ns\":", pass->cpu_start_ns);
	PUT_U64_IF(pass->has_gpu_start, ",\"gpu_start_ns\":", pass->gpu_start_ns);
	PUT_U64_IF(pass->has_gpu, ",\"gpu_ns\":", pass->gpu_ns);
	uint32_t estimated = put_values(w, ",\"counters\":{", pass->counters, pass->n_counters);
	estimated += put_values(w, ",\"metrics\":{", pass->metrics, pass->n_metrics);
	if (estimated)
		put_estimated(w, pass->counters, pass->n_counters, pass->metrics, pass->n_metrics);
	put_flags(w, pass->flags);
	for (uint32_t i = 0; i < pass->n_workloads; i++) {
		if (i)
			PUT(",");
		else
			PUT(",\"workloads\":[");
		put_workload(w, &pass->workloads[i]);
	}
	if (pass->n_workloads)
		PUT("]");
	PUT("}");
}

static void
put_unattributed(struct tally_json_writer *w, const struct tally_frame_record *frame)
{
	uint32_t writable = 0;
	for (uint32_t i = 0; i < frame->n_unattributed; i++)
		writable += tally_json_is_writable(frame->unattributed[i].value);
	if (!frame->has_unattributed_gpu && !writable)
		return;
	PUT(",\"unattributed\":{");
	PUT_U64_IF(frame->has_unattributed_gpu, "\"gpu_ns\":", frame->unattributed_gpu_ns);
	const char *name = frame->has_unattributed_gpu ? ",\"counters\":{" : "\"counters\":{";
	if (put_values(w, name, frame->unattributed, frame->n_unattributed))
		put_estimated(w, frame->unattributed, frame->n_unattributed, NULL, 0);
	PUT("}");
}

void
tally_json_put_frame(struct tally_json_writer *w, const struct tally_frame_record *frame)
{
	PUT_U64("{\"type\":\"frame\",\"frame\":", frame->frame);
	PUT_U64(",\"device\":", frame->device);
	PUT_U64(",\"start_ns\":", frame->start_ns);
	PUT_U64(",\"cpu_ns\":", frame->cpu_ns);
	if (frame->has_gpu) {
		PUT_U64(",\"gpu_ns\":", frame->gpu_ns);
		PUT_U64(",\"envelope_ns\":", frame->envelope_ns);
	}
	if (frame->has_coverage)
		PUT_F64(",\"coverage\":", frame->coverage);
	PUT_TEXT(",\"set\":", frame->set);
	PUT(",\"passes\":[");
	for (uint32_t i = 0; i < frame->n_passes; i++) {
		if (i)
			PUT(",");
		put_pass(w, &frame->passes[i]);
	}
	PUT("]");
	put_unattributed(w, frame);
	if (frame->n_metrics && put_values(w, ",\"metrics\":{", frame->metrics, frame->n_metrics))
		put_estimated(w, NULL, 0, frame->metrics, frame->n_metrics);
	PUT_U64(",\"overhead_ns\":", frame->overhead_ns);
	PUT_U64(",\"dropped_passes\":", frame->dropped_passes);
	put_flags(w, frame->flags);
	PUT("}");
}

void
tally_json_put_note(struct tally_json_writer *w, const struct tally_note_record *note)
{
	PUT("{\"type\":\"note\",\"level\":");
	put_word(w, tally_level_name(note->level));
	PUT(",\"message\":");
	tally_json_put_text(w, note->message);
	PUT_TEXT(",\"source\":", note->source);
	if (note->has_time)
		PUT_U64(",\"time_ns\":", note->time_ns);
	PUT("}");
}

static void
put_statistic(struct tally_json_writer *w, const struct tally_statistic_record *s)
{
	PUT_U64("{\"device\":", s->device);
	PUT(",\"id\":");
	tally_json_put_id(w, s->id);
	PUT(",\"key\":");
	tally_json_put_text(w, s->key);
	PUT_U64(",\"n\":", s->n);
	if (s->integral) {
		PUT(",\"sum\":");
		tally_json_put_wide(w, &s->sum);
		PUT(",\"sum_sq\":");
		tally_json_put_wide(w, &s->sum_sq);
	} else if (isfinite(s->sum_f64) && isfinite(s->sum_sq_f64)) {
		PUT_F64(",\"sum\":\"", s->sum_f64);
		PUT_F64("\",\"sum_sq\":\"", s->sum_sq_f64);
		PUT("\"");
	}
	if (tally_json_is_writable(s->min)) {
		PUT(",\"min\":");
		tally_json_put_value(w, s->min);
	}
	if (tally_json_is_writable(s->max)) {
		PUT(",\"max\":");
		tally_json_put_value(w, s->max);
	}
	PUT_F64(",\"mean\":", s->mean);
	PUT_F64(",\"sd_population\":", s->sd_population);
	if (s->has_sd_sample)
		PUT_F64(",\"sd_sample\":", s->sd_sample);
	PUT("}");
}

static void
put_growth(struct tally_json_writer *w, const struct tally_growth_record *g)
{
	PUT_U64("{\"device\":", g->device);
	PUT_TEXT(",\"source\":", g->source);
	PUT(",\"key\":");
	tally_json_put_text(w, g->key);
	PUT_U64(",\"growth\":", g->growth);
	PUT_U64_IF(g->unlogged, ",\"unlogged\":", g->unlogged);
	PUT_U64_IF(g->outside, ",\"outside\":", g->outside);
	PUT("}");
}

void
tally_json_put_end(struct tally_json_writer *w, const struct tally_end_record *end,
		   bool with_lists)
{
	PUT_U64("{\"type\":\"end\",\"frames\":", end->frames);
	PUT_U64(",\"frames_dropped\":", end->frames_dropped);
	PUT_U64(",\"passes\":", end->passes);
	PUT(",\"reason\":");
	tally_json_put_text(w, end->reason ? end->reason : "unknown");
	uint32_t n = with_lists ? end->n_growth : 0;
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			PUT(",");
		else
			PUT(",\"growth\":[");
		put_growth(w, &end->growth[i]);
	}
	if (n)
		PUT("]");
	n = with_lists ? end->n_statistics : 0;
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			PUT(",");
		else
			PUT(",\"statistics\":[");
		put_statistic(w, &end->statistics[i]);
	}
	if (n)
		PUT("]");
	PUT("}");
}

/* A writer over a window of its own that is emptied into the caller's memory as far as it fits. */
struct measured {
	struct tally_json_writer writer; /* first: see empty_window() */
	char window[256];
	char *out;
	size_t size, len;
};

static bool
empty_window(struct tally_json_writer *w, size_t need)
{
	struct measured *m = (struct measured *)w;
	size_t n = (size_t)(w->at - m->window);
	if (m->len < m->size) {
		size_t fits = m->size - m->len;
		memcpy(m->out + m->len, m->window, n < fits ? n : fits);
	}
	m->len += n;
	w->at = m->window;
	return need <= sizeof(m->window);
}

size_t
tally_json_write_device(char *out, size_t size, const struct tally_device_record *device)
{
	struct measured m = { .out = out, .size = size };
	m.writer.at = m.window;
	m.writer.end = m.window + sizeof(m.window);
	m.writer.room = empty_window;
	tally_json_put_device(&m.writer, device);
	empty_window(&m.writer, 0);
	if (size)
		out[m.len < size ? m.len : size - 1] = '\0';
	return m.len;
}
