/* SPDX-License-Identifier: MIT */
#include "cli/export/trace.h"

#include "json/writer.h"

#include <string.h>

/* Field numbers by message; names and numbers as in Perfetto's protos/perfetto/trace. */
enum { TRACE_PACKET = 1 };
enum { /* TracePacket */
       PACKET_CLOCK_SNAPSHOT = 6,
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE_ID = 10,
       PACKET_TRACK_EVENT = 11,
       PACKET_INTERNED_DATA = 12,
       PACKET_SEQUENCE_FLAGS = 13,
       PACKET_GPU_COUNTER_EVENT = 52,
       PACKET_GPU_RENDER_STAGE_EVENT = 53,
       PACKET_TIMESTAMP_CLOCK_ID = 58,
       PACKET_TRACK_DESCRIPTOR = 60,
       PACKET_GPU_INFO = 128,
};
enum { SEQUENCE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { CLOCK_IS_MONOTONIC = 3 };
enum { /* TrackDescriptor */
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PROCESS = 3,
       TRACK_PARENT = 5,
       TRACK_CHILD_ORDERING = 11,
       TRACK_RANK = 12,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_LABELS = 8, ORDER_BY_RANK = 3 };
enum { /* TrackEvent */
       EVENT_ARGUMENT = 4,
       EVENT_TYPE = 9,
       EVENT_TRACK = 11,
       EVENT_CATEGORIES = 22,
       EVENT_NAME = 23,
       EVENT_GPU_CORRELATION = 3000,
};
enum { CORRELATION_SUBMITTED = 1 };
enum { /* DebugAnnotation */
       ARGUMENT_UINT = 3,
       ARGUMENT_INT = 4,
       ARGUMENT_DOUBLE = 5,
       ARGUMENT_STRING = 6,
       ARGUMENT_NAME = 10,
};
enum { INTERNED_CONTEXTS = 23, INTERNED_SPECIFICATIONS = 24 };
enum {
	CONTEXT_IID = 1,
	CONTEXT_PID = 2,
	CONTEXT_API = 3,
	API_OPENGL = 1,
	API_VULKAN = 2
};
enum {
	SPECIFICATION_IID = 1,
	SPECIFICATION_NAME,
	SPECIFICATION_DESCRIPTION,
	SPECIFICATION_CATEGORY
};
enum { /* GpuRenderStageEvent */
       STAGE_EVENT_ID = 1,
       STAGE_DURATION = 2,
       STAGE_CONTEXT = 5,
       STAGE_EXTRA_DATA = 6,
       STAGE_SUBMISSION = 10,
       STAGE_GPU = 11,
       STAGE_QUEUE = 13,
       STAGE_STAGE = 14,
};
enum { EXTRA_NAME = 1, EXTRA_VALUE = 2 };
enum { COUNTERS_DESCRIPTOR = 1, COUNTERS_VALUES = 2, COUNTERS_GPU = 3 };
enum { SPECS = 1, SPEC_ID = 1, SPEC_NAME = 2, SPEC_DESCRIPTION = 3, SPEC_UNITS = 7 };
enum { VALUE_ID = 1, VALUE_INT = 2, VALUE_DOUBLE = 3 };
enum { GPU_INFO_GPUS = 1, GPU_NAME = 1, GPU_UUID = 5, GPU_EXTRA = 6, GPU_PCI = 7 };

/* Packets are written together once they have this size. */
enum { WRITTEN_AT_ONCE = 1 << 16 };

static void
begin_head(struct tally_trace *t)
{
	tally_protobuf_begin(&t->p, TRACE_PACKET);
	tally_protobuf_put_number(&t->p, PACKET_SEQUENCE_ID, 1);
	tally_protobuf_put_number(&t->p, PACKET_SEQUENCE_FLAGS,
				  t->begun ? SEQUENCE_NEEDS_STATE
					   : SEQUENCE_CLEARED | SEQUENCE_NEEDS_STATE);
	t->begun = true;
}

static void
begin_packet(struct tally_trace *t, uint32_t field)
{
	begin_head(t);
	tally_protobuf_begin(&t->p, field);
}

void
tally_trace_end_event(struct tally_trace *t)
{
	tally_protobuf_end(&t->p);
	tally_protobuf_end(&t->p);
	if (t->p.len < WRITTEN_AT_ONCE)
		return;
	fwrite(t->p.bytes, 1, t->p.len, t->out);
	t->p.len = 0;
}

void
tally_trace_finish(struct tally_trace *t)
{
	if (t->p.len) /* else there may be no memory */
		fwrite(t->p.bytes, 1, t->p.len, t->out);
	tally_protobuf_finish(&t->p);
}

/* Says which clock the trace's times are of, before the first of them. */
static void
put_clock(struct tally_trace *t, uint64_t ns)
{
	begin_packet(t, PACKET_CLOCK_SNAPSHOT);
	tally_protobuf_begin(&t->p, SNAPSHOT_CLOCKS);
	tally_protobuf_put_number(&t->p, CLOCK_ID, CLOCK_IS_MONOTONIC);
	tally_protobuf_put_number(&t->p, CLOCK_TIMESTAMP, ns);
	tally_protobuf_end(&t->p);
	tally_protobuf_put_number(&t->p, SNAPSHOT_PRIMARY, CLOCK_IS_MONOTONIC);
	tally_trace_end_event(t);
	t->has_clock = true;
}

static void
begin_timed_packet(struct tally_trace *t, uint32_t field, uint64_t ns)
{
	if (!t->has_clock)
		put_clock(t, ns);
	begin_head(t);
	tally_protobuf_put_number(&t->p, PACKET_TIMESTAMP, ns);
	tally_protobuf_put_number(&t->p, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_IS_MONOTONIC);
	tally_protobuf_begin(&t->p, field);
}

/* Unlike those of another trace that is opened at the same time. */
static uint64_t
take_number(struct tally_trace *t)
{
	return t->pid << 24 | ++t->n_numbers;
}

uint64_t
tally_trace_add_track(struct tally_trace *t, uint64_t parent, const char *name, int rank)
{
	uint64_t number = take_number(t);
	begin_packet(t, PACKET_TRACK_DESCRIPTOR);
	tally_protobuf_put_number(&t->p, TRACK_UUID, number);
	tally_protobuf_put_text(&t->p, TRACK_NAME, name);
	tally_protobuf_put_number(&t->p, TRACK_PARENT, parent);
	tally_protobuf_put_number(&t->p, TRACK_RANK, (uint64_t)(int64_t)rank);
	tally_protobuf_put_number(&t->p, TRACK_CHILD_ORDERING, ORDER_BY_RANK);
	tally_trace_end_event(t);
	return number;
}

uint64_t
tally_trace_add_process(struct tally_trace *t, const char *name, const GPtrArray *labels)
{
	uint64_t number = take_number(t);
	begin_packet(t, PACKET_TRACK_DESCRIPTOR);
	tally_protobuf_put_number(&t->p, TRACK_UUID, number);
	tally_protobuf_put_number(&t->p, TRACK_CHILD_ORDERING, ORDER_BY_RANK);
	tally_protobuf_begin(&t->p, TRACK_PROCESS);
	tally_protobuf_put_number(&t->p, PROCESS_PID, t->pid);
	tally_protobuf_put_text(&t->p, PROCESS_NAME, name);
	for (guint i = 0; i < labels->len; i++)
		tally_protobuf_put_text(&t->p, PROCESS_LABELS, labels->pdata[i]);
	tally_protobuf_end(&t->p);
	tally_trace_end_event(t);
	return number;
}

uint64_t
tally_trace_add_specification(struct tally_trace *t, const char *name,
			      const char *description, enum tally_trace_category category)
{
	uint64_t number = ++t->n_numbers;
	begin_packet(t, PACKET_INTERNED_DATA);
	tally_protobuf_begin(&t->p, INTERNED_SPECIFICATIONS);
	tally_protobuf_put_number(&t->p, SPECIFICATION_IID, number);
	tally_protobuf_put_text(&t->p, SPECIFICATION_NAME, name);
	tally_protobuf_put_text(&t->p, SPECIFICATION_DESCRIPTION, description);
	tally_protobuf_put_number(&t->p, SPECIFICATION_CATEGORY, category);
	tally_protobuf_end(&t->p);
	tally_trace_end_event(t);
	return number;
}

void
tally_trace_add_context(struct tally_trace *t, uint64_t number, enum tally_api api)
{
	begin_packet(t, PACKET_INTERNED_DATA);
	tally_protobuf_begin(&t->p, INTERNED_CONTEXTS);
	tally_protobuf_put_number(&t->p, CONTEXT_IID, number);
	tally_protobuf_put_number(&t->p, CONTEXT_PID, t->pid);
	tally_protobuf_put_number(&t->p, CONTEXT_API,
				  api == TALLY_API_VULKAN ? API_VULKAN : API_OPENGL);
	tally_protobuf_end(&t->p);
	tally_trace_end_event(t);
}

/* ---- events ---- */

void
tally_trace_begin_event(struct tally_trace *t, enum tally_trace_event type,
			uint64_t track, uint64_t ns, const char *category,
			const char *name)
{
	t->is_stage = false;
	begin_timed_packet(t, PACKET_TRACK_EVENT, ns);
	tally_protobuf_put_number(&t->p, EVENT_TYPE, type);
	tally_protobuf_put_number(&t->p, EVENT_TRACK, track);
	tally_protobuf_put_text(&t->p, EVENT_CATEGORIES, category);
	tally_protobuf_put_text(&t->p, EVENT_NAME, name);
}

uint64_t
tally_trace_begin_stage(struct tally_trace *t, uint32_t gpu, uint64_t queue,
			uint64_t stage, uint64_t start_ns, uint64_t end_ns,
			const uint64_t *submission)
{
	struct tally_protobuf *p = &t->p;
	uint64_t number = ++t->n_stages;
	t->is_stage = true;
	begin_timed_packet(t, PACKET_GPU_RENDER_STAGE_EVENT, start_ns);
	tally_protobuf_put_number(p, STAGE_EVENT_ID, number);
	tally_protobuf_put_number(p, STAGE_DURATION, end_ns - start_ns);
	tally_protobuf_put_number(p, STAGE_CONTEXT, UINT64_C(1) + gpu);
	tally_protobuf_put_number(p, STAGE_GPU, gpu);
	tally_protobuf_put_number(p, STAGE_QUEUE, queue);
	tally_protobuf_put_number(p, STAGE_STAGE, stage);
	if (submission && *submission <= UINT32_MAX)
		tally_protobuf_put_number(p, STAGE_SUBMISSION, *submission);
	return number;
}

void
tally_trace_put_submitted(struct tally_trace *t, uint64_t stage_event)
{
	tally_protobuf_begin(&t->p, EVENT_GPU_CORRELATION);
	tally_protobuf_put_number(&t->p, CORRELATION_SUBMITTED, stage_event);
	tally_protobuf_end(&t->p);
}

/* Arguments of stages are texts. */
static void
put_extra(struct tally_protobuf *p, const char *name, const char *text,
	  struct tally_value value)
{
	char number[2 * TALLY_F64_CHARS];
	struct tally_json_writer w = { .at = number, .end = number + sizeof(number) - 1 };
	tally_json_put_value(&w, value);
	*w.at = '\0';
	tally_protobuf_begin(p, STAGE_EXTRA_DATA);
	tally_protobuf_put_text(p, EXTRA_NAME, name);
	tally_protobuf_put_text(p, EXTRA_VALUE, text ? text : number);
	tally_protobuf_end(p);
}

void
tally_trace_put_argument(struct tally_trace *t, const char *prefix, const char *key,
			 const char *text, struct tally_value value)
{
	struct tally_protobuf *p = &t->p;
	g_autofree char *joined = *prefix ? g_strconcat(prefix, key, NULL) : NULL;
	const char *name = joined ? joined : key;
	if (t->is_stage) {
		put_extra(p, name, text, value);
		return;
	}
	tally_protobuf_begin(p, EVENT_ARGUMENT);
	tally_protobuf_put_text(p, ARGUMENT_NAME, name);
	if (text)
		tally_protobuf_put_text(p, ARGUMENT_STRING, text);
	else if (value.storage == TALLY_STORAGE_U64)
		tally_protobuf_put_number(p, ARGUMENT_UINT, value.u64);
	else if (value.storage == TALLY_STORAGE_I64)
		tally_protobuf_put_number(p, ARGUMENT_INT, value.u64);
	else
		tally_protobuf_put_double(p, ARGUMENT_DOUBLE, value.f64);
	tally_protobuf_end(p);
}

/* ---- counters ---- */

/* GpuCounterDescriptor.MeasureUnit */
static unsigned
find_unit(const char *unit)
{
	static const struct {
		const char *name;
		unsigned number;
	} units[] = { { "bytes", 7 }, { "Hz", 13 }, { "ns", 19 }, { "percent", 37 } };
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (g_strcmp0(unit, units[i].name) == 0)
			return units[i].number;
	return 0;
}

uint64_t
tally_trace_add_counter(struct tally_trace *t, uint32_t gpu, uint64_t ns,
			const char *name, const char *unit, const char *description)
{
	struct tally_protobuf *p = &t->p;
	uint64_t number = ++t->n_numbers;
	begin_timed_packet(t, PACKET_GPU_COUNTER_EVENT, ns);
	tally_protobuf_begin(p, COUNTERS_DESCRIPTOR);
	tally_protobuf_begin(p, SPECS);
	tally_protobuf_put_number(p, SPEC_ID, number);
	tally_protobuf_put_text(p, SPEC_NAME, name);
	tally_protobuf_put_text(p, SPEC_DESCRIPTION, description);
	tally_protobuf_put_number(p, SPEC_UNITS, find_unit(unit));
	tally_protobuf_end(p);
	tally_protobuf_end(p);
	tally_protobuf_put_number(p, COUNTERS_GPU, gpu);
	tally_trace_end_event(t);
	return number;
}

void
tally_trace_put_counters(struct tally_trace *t, uint32_t gpu, uint64_t ns,
			 const uint64_t *counters, const struct tally_keyed_value *values,
			 uint32_t n)
{
	struct tally_protobuf *p = &t->p;
	begin_timed_packet(t, PACKET_GPU_COUNTER_EVENT, ns);
	for (uint32_t i = 0; i < n; i++) {
		struct tally_value v = { .storage = TALLY_STORAGE_U64 };
		if (values)
			v = values[i].value;
		tally_protobuf_begin(p, COUNTERS_VALUES);
		tally_protobuf_put_number(p, VALUE_ID, counters[i]);
		if (v.storage == TALLY_STORAGE_I64 ||
		    (v.storage == TALLY_STORAGE_U64 && v.u64 <= INT64_MAX))
			tally_protobuf_put_number(p, VALUE_INT, v.u64);
		else
			tally_protobuf_put_double(p, VALUE_DOUBLE, tally_value_f64(v));
		tally_protobuf_end(p);
	}
	tally_protobuf_put_number(p, COUNTERS_GPU, gpu);
	tally_trace_end_event(t);
}

void
tally_trace_begin_gpus(struct tally_trace *t)
{
	begin_packet(t, PACKET_GPU_INFO);
}

void
tally_trace_put_gpu(struct tally_trace *t, const char *name, const char *driver,
		    const char *pci, const char *uuid)
{
	tally_protobuf_begin(&t->p, GPU_INFO_GPUS);
	tally_protobuf_put_text(&t->p, GPU_NAME, name);
	tally_protobuf_put_text(&t->p, GPU_UUID, uuid);
	tally_protobuf_put_text(&t->p, GPU_PCI, pci);
	if (driver) {
		tally_protobuf_begin(&t->p, GPU_EXTRA);
		tally_protobuf_put_text(&t->p, EXTRA_NAME, "driver");
		tally_protobuf_put_text(&t->p, EXTRA_VALUE, driver);
		tally_protobuf_end(&t->p);
	}
	tally_protobuf_end(&t->p);
}
