/* SPDX-License-Identifier: MIT */
#include "cli/export/timeline.h"

#include "cli/export/protobuf.h"
#include "cli/log/stats.h"

#include <string.h>

/* Field numbers of Perfetto's trace format, grouped by message; the names follow Perfetto's. */
enum { TRACE_PACKET = 1 };
enum { /* TracePacket */
       PACKET_CLOCK_SNAPSHOT = 6,
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE_ID = 10,
       PACKET_TRACK_EVENT = 11,
       PACKET_INTERNED_DATA = 12,
       PACKET_SEQUENCE_FLAGS = 13,
       PACKET_GPU_COUNTER_EVENT = 52,
       PACKET_TIMESTAMP_CLOCK_ID = 58,
       PACKET_TRACK_DESCRIPTOR = 60,
};
enum { SEQUENCE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { MONOTONIC = 3, FIRST_OWN_CLOCK = 64 };
enum { /* TrackDescriptor */
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PROCESS = 3,
       TRACK_PARENT = 5,
       TRACK_COUNTER = 8,
       TRACK_CHILD_ORDERING = 11,
       TRACK_RANK = 12,
       TRACK_DESCRIPTION = 14,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_LABELS = 8, ORDER_BY_RANK = 3 };
enum { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6, UNIT_NS = 1, UNIT_COUNT = 2, UNIT_BYTES = 3 };
enum { /* TrackEvent */
       EVENT_CATEGORY_IID = 3,
       EVENT_ANNOTATION = 4,
       EVENT_TYPE = 9,
       EVENT_NAME_IID = 10,
       EVENT_TRACK = 11,
       EVENT_NAME = 23,
       EVENT_COUNTER = 30,
       EVENT_COUNTER_DOUBLE = 44,
       EVENT_FLOW = 47,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { /* DebugAnnotation */
       ANNOTATION_NAME_IID = 1,
       ANNOTATION_UINT = 3,
       ANNOTATION_INT = 4,
       ANNOTATION_DOUBLE = 5,
       ANNOTATION_STRING = 6,
};
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ANNOTATION = 3, N_TABLES = 4 };
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum { GPU_DESCRIPTOR = 1, GPU_COUNTERS = 2, GPU_ID = 3 };
enum { GPU_SPECS = 1, SPEC_ID = 1, SPEC_NAME = 2, SPEC_DESCRIPTION = 3, SPEC_UNITS = 7 };
enum { VALUE_ID = 1, VALUE_INT = 2, VALUE_DOUBLE = 3 };
enum {
	MEASURE_NONE = 0,
	MEASURE_BYTE = 7,
	MEASURE_HERTZ = 13,
	MEASURE_NS = 19,
	MEASURE_PERCENT = 37
};

#define SEQUENCE 1

/* The number of a text that is looked up by address: it is static, or owned by the reader or by
 * `names`. */
struct known {
	const char *prefix, *text;
	unsigned table;
	uint64_t number;
};

/* Packets are written together once they have this size. */
enum { WRITTEN_AT_ONCE = 1 << 16 };

struct perfetto {
	FILE *out;
	struct tally_timeline_sink sink;
	struct tally_timeline *timeline;
	struct tally_protobuf packet; /* the one being written, after those that wait */
	struct tally_protobuf interned;
	GHashTable *tables[N_TABLES]; /* by INTERNED_*: maps a text to its number */
	GHashTable *known; /* a set of struct known * */
	GPtrArray *specs; /* counter tracks not yet described */
	bool begun, has_clock;
	uint64_t snapshot_ns; /* time of the last snapshot */
};

/* Track numbers must not collide with those of another trace that is opened at the same
 * time. */
static uint64_t
uuid_of(const struct perfetto *e, const struct tally_timeline_track *track)
{
	return (uint64_t)tally_timeline_run(e->timeline)->pid << 24 | track->number;
}

static void
begin_packet(struct perfetto *e)
{
	tally_protobuf_begin(&e->packet, TRACE_PACKET);
	tally_protobuf_put_number(&e->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	tally_protobuf_put_number(&e->packet, PACKET_SEQUENCE_FLAGS,
				  e->begun ? SEQUENCE_NEEDS_STATE
					   : SEQUENCE_CLEARED | SEQUENCE_NEEDS_STATE);
	e->begun = true;
}

/* A failed write sets ferror(), which the command checks. */
static void
write_packets(struct perfetto *e)
{
	fwrite(e->packet.bytes, 1, e->packet.len, e->out);
	tally_protobuf_clear(&e->packet);
}

static void
end_packet(struct perfetto *e)
{
	tally_protobuf_end(&e->packet);
	if (e->packet.len >= WRITTEN_AT_ONCE)
		write_packets(e);
}

static void
put_clock(struct tally_protobuf *p, uint32_t id, uint64_t ns)
{
	tally_protobuf_begin(p, SNAPSHOT_CLOCKS);
	tally_protobuf_put_number(p, CLOCK_ID, id);
	tally_protobuf_put_number(p, CLOCK_TIMESTAMP, ns);
	tally_protobuf_end(p);
}

/* Declares that the trace's own clock is CLOCK_MONOTONIC; without a snapshot it would be
 * another clock. */
static void
write_snapshot(struct perfetto *e, uint64_t cpu_ns, const struct tally_timeline_clock *own)
{
	/* A trace's clocks must advance from one snapshot to the next, so both are moved
	 * forward. */
	uint64_t later = cpu_ns <= e->snapshot_ns ? e->snapshot_ns + 1 - cpu_ns : 0;
	e->snapshot_ns = cpu_ns + later;
	begin_packet(e);
	tally_protobuf_begin(&e->packet, PACKET_CLOCK_SNAPSHOT);
	put_clock(&e->packet, MONOTONIC, cpu_ns + later);
	if (own)
		put_clock(&e->packet, FIRST_OWN_CLOCK + own->number, own->gpu_ns + later);
	tally_protobuf_put_number(&e->packet, SNAPSHOT_PRIMARY, MONOTONIC);
	tally_protobuf_end(&e->packet);
	end_packet(e);
	e->has_clock = true;
}

static void
see_clock(void *user, const struct tally_timeline_clock *clock)
{
	write_snapshot(user, clock->cpu_ns, clock);
}

static void
begin_timed_packet(struct perfetto *e, uint64_t ns, const struct tally_timeline_clock *own)
{
	if (!e->has_clock)
		write_snapshot(e, ns, NULL);
	begin_packet(e);
	tally_protobuf_put_number(&e->packet, PACKET_TIMESTAMP, ns);
	tally_protobuf_put_number(&e->packet, PACKET_TIMESTAMP_CLOCK_ID,
				  own ? FIRST_OWN_CLOCK + own->number : MONOTONIC);
}

/* Returns the number of a text; a new text must be defined in the packet being written. */
static uint64_t
intern(struct perfetto *e, unsigned table, const char *text)
{
	gpointer found = g_hash_table_lookup(e->tables[table], text);
	if (found)
		return GPOINTER_TO_SIZE(found);
	size_t number = g_hash_table_size(e->tables[table]) + 1;
	g_hash_table_insert(e->tables[table], g_strdup(text), GSIZE_TO_POINTER(number));
	tally_protobuf_begin(&e->interned, table);
	tally_protobuf_put_number(&e->interned, INTERNED_IID, number);
	tally_protobuf_put_text(&e->interned, INTERNED_TEXT, text);
	tally_protobuf_end(&e->interned);
	return number;
}

static guint
hash_known(gconstpointer p)
{
	const struct known *k = p;
	return g_direct_hash(k->text) + g_direct_hash(k->prefix) * 3 + k->table;
}

static gboolean
equal_known(gconstpointer a, gconstpointer b)
{
	const struct known *x = a, *y = b;
	return x->text == y->text && x->prefix == y->prefix && x->table == y->table;
}

/* The same for a prefix and a text that are constant and never freed. */
static uint64_t
intern_known(struct perfetto *e, unsigned table, const char *prefix, const char *text)
{
	struct known new = { prefix, text, table, 0 };
	const struct known *k = g_hash_table_lookup(e->known, &new);
	if (k)
		return k->number;
	g_autofree char *joined = g_strconcat(prefix, text, NULL);
	new.number = intern(e, table, joined);
	g_hash_table_add(e->known, g_memdup2(&new, sizeof(new)));
	return new.number;
}

/* Writes the texts that intern() queued; call between begin_packet() and end_packet(),
 * outside of other messages. */
static void
put_interned(struct perfetto *e)
{
	if (e->interned.len == 0)
		return;
	tally_protobuf_put_message(&e->packet, PACKET_INTERNED_DATA, &e->interned);
	tally_protobuf_clear(&e->interned);
}

/* How the format names a unit of a metric's track and of a GPU counter. */
struct unit {
	const char *unit;
	unsigned counter; /* 0: by its text */
	unsigned measure;
};

static const struct unit *
find_unit(const char *unit)
{
	static const struct unit units[] = {
		{ "ns", UNIT_NS, MEASURE_NS },     { "bytes", UNIT_BYTES, MEASURE_BYTE },
		{ "1", UNIT_COUNT, MEASURE_NONE }, { "percent", 0, MEASURE_PERCENT },
		{ "Hz", 0, MEASURE_HERTZ },        { NULL, 0, MEASURE_NONE }
	};
	const struct unit *found = units;
	while (found->unit && g_strcmp0(unit, found->unit) != 0)
		found++;
	return found;
}

static void
put_counter(struct tally_protobuf *p, const char *unit)
{
	unsigned number = find_unit(unit)->counter;
	tally_protobuf_begin(p, TRACK_COUNTER);
	if (number)
		tally_protobuf_put_number(p, COUNTER_UNIT, number);
	else if (unit)
		tally_protobuf_put_text(p, COUNTER_UNIT_NAME, unit);
	tally_protobuf_end(p);
}

static void
see_track(void *user, const struct tally_timeline_track *track)
{
	struct perfetto *e = user;
	if (track->kind == TALLY_TRACK_COUNTER) {
		/* It gets no separate track descriptor: the packet of its first value describes
		 * it. */
		g_ptr_array_add(e->specs, (gpointer)track);
		return;
	}
	struct tally_protobuf *p = &e->packet;
	begin_packet(e);
	tally_protobuf_begin(p, PACKET_TRACK_DESCRIPTOR);
	tally_protobuf_put_number(p, TRACK_UUID, uuid_of(e, track));
	if (track->kind == TALLY_TRACK_PROCESS) {
		tally_protobuf_begin(p, TRACK_PROCESS);
		tally_protobuf_put_number(p, PROCESS_PID,
					  (uint64_t)tally_timeline_run(e->timeline)->pid);
		tally_protobuf_put_text(p, PROCESS_NAME, track->name);
		const GPtrArray *tags = tally_timeline_run(e->timeline)->identity.tags;
		for (guint i = 0; i < tags->len; i++)
			tally_protobuf_put_text(p, PROCESS_LABELS, g_ptr_array_index(tags, i));
		tally_protobuf_end(p);
	} else {
		tally_protobuf_put_text(p, TRACK_NAME, track->name);
		tally_protobuf_put_number(p, TRACK_PARENT, uuid_of(e, track->parent));
		tally_protobuf_put_number(p, TRACK_RANK, (uint64_t)(int64_t)track->rank);
	}
	if (track->kind == TALLY_TRACK_METRIC)
		put_counter(p, track->unit);
	else
		tally_protobuf_put_number(p, TRACK_CHILD_ORDERING, ORDER_BY_RANK);
	if (track->description)
		tally_protobuf_put_text(p, TRACK_DESCRIPTION, track->description);
	tally_protobuf_end(p);
	end_packet(e);
}

static void
see_arg(void *user, const char *prefix, const char *key, const char *text, struct tally_value value)
{
	struct perfetto *e = user;
	struct tally_protobuf *p = &e->packet;
	uint64_t name = intern_known(e, INTERNED_ANNOTATION, prefix, key);
	tally_protobuf_begin(p, EVENT_ANNOTATION);
	tally_protobuf_put_number(p, ANNOTATION_NAME_IID, name);
	if (text)
		tally_protobuf_put_text(p, ANNOTATION_STRING, text);
	else if (value.storage == TALLY_STORAGE_U64)
		tally_protobuf_put_number(p, ANNOTATION_UINT, value.u64);
	else if (value.storage == TALLY_STORAGE_I64)
		tally_protobuf_put_number(p, ANNOTATION_INT, value.u64);
	else
		tally_protobuf_put_double(p, ANNOTATION_DOUBLE, value.f64);
	tally_protobuf_end(p);
}

static void
write_slice(struct perfetto *e, const struct tally_timeline_event *event)
{
	static const unsigned types[] = { [TALLY_TIMELINE_BEGIN] = TYPE_BEGIN,
					  [TALLY_TIMELINE_END] = TYPE_END,
					  [TALLY_TIMELINE_INSTANT] = TYPE_INSTANT };
	struct tally_protobuf *p = &e->packet;
	begin_timed_packet(e, event->ns, event->track->clock);
	tally_protobuf_begin(p, PACKET_TRACK_EVENT);
	tally_protobuf_put_number(p, EVENT_TYPE, types[event->type]);
	tally_protobuf_put_number(p, EVENT_TRACK, uuid_of(e, event->track));
	if (event->type != TALLY_TIMELINE_END) {
		tally_protobuf_put_number(p, EVENT_CATEGORY_IID,
					  intern_known(e, INTERNED_CATEGORY, "", event->category));
		if (event->name_repeats)
			tally_protobuf_put_number(
				p, EVENT_NAME_IID,
				event->workload ? intern(e, INTERNED_NAME, event->name)
						: intern_known(e, INTERNED_NAME, "", event->name));
		else
			tally_protobuf_put_text(p, EVENT_NAME, event->name);
		if (event->flow)
			tally_protobuf_put_fixed64(p, EVENT_FLOW, event->flow);
		tally_timeline_see_args(event, see_arg, e);
	}
	tally_protobuf_end(p);
	put_interned(e);
	end_packet(e);
}

/* Whether a field for signed integers can show the value. */
static bool
is_integer(struct tally_value v)
{
	return v.storage == TALLY_STORAGE_I64 ||
	       (v.storage == TALLY_STORAGE_U64 && v.u64 <= INT64_MAX);
}

static void
write_metric(struct perfetto *e, const struct tally_timeline_track *track, uint64_t ns,
	     struct tally_value v)
{
	begin_timed_packet(e, ns, track->clock);
	tally_protobuf_begin(&e->packet, PACKET_TRACK_EVENT);
	tally_protobuf_put_number(&e->packet, EVENT_TYPE, TYPE_COUNTER);
	tally_protobuf_put_number(&e->packet, EVENT_TRACK, uuid_of(e, track));
	if (is_integer(v))
		tally_protobuf_put_number(&e->packet, EVENT_COUNTER, v.u64);
	else
		tally_protobuf_put_double(&e->packet, EVENT_COUNTER_DOUBLE, tally_value_f64(v));
	tally_protobuf_end(&e->packet);
	end_packet(e);
}

static void
put_specs(struct perfetto *e)
{
	struct tally_protobuf *p = &e->packet;
	if (e->specs->len == 0)
		return;
	tally_protobuf_begin(p, GPU_DESCRIPTOR);
	for (guint i = 0; i < e->specs->len; i++) {
		const struct tally_timeline_track *track = g_ptr_array_index(e->specs, i);
		tally_protobuf_begin(p, GPU_SPECS);
		tally_protobuf_put_number(p, SPEC_ID, track->number);
		tally_protobuf_put_text(p, SPEC_NAME, track->name);
		if (track->description)
			tally_protobuf_put_text(p, SPEC_DESCRIPTION, track->description);
		tally_protobuf_put_number(p, SPEC_UNITS, find_unit(track->unit)->measure);
		tally_protobuf_end(p);
	}
	tally_protobuf_end(p);
	g_ptr_array_set_size(e->specs, 0);
}

/* The value of a GPU counter covers the time since the previous value, so a first value ends
 * the interval before the pass, and then the value of the pass follows. */
static void
write_gpu_counters(struct perfetto *e, const struct tally_timeline_event *event, bool at_end)
{
	static const struct tally_value zero = { .storage = TALLY_STORAGE_U64 };
	struct tally_protobuf *p = &e->packet;
	begin_timed_packet(e, at_end ? event->end_ns : event->ns, event->tracks[0]->clock);
	tally_protobuf_begin(p, PACKET_GPU_COUNTER_EVENT);
	put_specs(e);
	for (uint32_t i = 0; i < event->n; i++) {
		uint32_t number = event->tracks[i]->number;
		struct tally_value v = at_end ? event->values[i].value : zero;
		tally_protobuf_begin(p, GPU_COUNTERS);
		tally_protobuf_put_number(p, VALUE_ID, number);
		if (is_integer(v))
			tally_protobuf_put_number(p, VALUE_INT, v.u64);
		else
			tally_protobuf_put_double(p, VALUE_DOUBLE, tally_value_f64(v));
		tally_protobuf_end(p);
	}
	tally_protobuf_put_number(p, GPU_ID, (uint64_t)event->tracks[0]->device);
	tally_protobuf_end(p);
	end_packet(e);
}

static void
see_event(void *user, const struct tally_timeline_event *event)
{
	struct perfetto *e = user;
	if (event->type != TALLY_TIMELINE_NUMBERS) {
		write_slice(e, event);
		return;
	}
	if (event->tracks[0]->kind == TALLY_TRACK_COUNTER) {
		write_gpu_counters(e, event, false);
		write_gpu_counters(e, event, true);
		return;
	}
	for (uint32_t i = 0; i < event->n; i++) {
		write_metric(e, event->tracks[i], event->ns, event->values[i].value);
		write_metric(e, event->tracks[i], event->end_ns, tally_u64(0));
	}
}

static struct tally_export *
begin(FILE *out, const struct tally_export_options *options)
{
	struct perfetto *e = g_new0(struct perfetto, 1);
	e->out = out;
	e->sink = (struct tally_timeline_sink){
		.user = e, .track = see_track, .clock = see_clock, .event = see_event
	};
	e->timeline = tally_timeline_create(&e->sink, options);
	for (unsigned i = 0; i < N_TABLES; i++)
		e->tables[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	e->known = g_hash_table_new_full(hash_known, equal_known, g_free, NULL);
	e->specs = g_ptr_array_new();
	return (struct tally_export *)e;
}

static void
line(struct tally_export *export, const struct tally_log_line *line)
{
	tally_timeline_line(((struct perfetto *)export)->timeline, line);
}

static void
end(struct tally_export *export, struct tally_export_left *left)
{
	struct perfetto *e = (struct perfetto *)export;
	tally_timeline_finish(e->timeline);
	write_packets(e);
	*left = tally_timeline_run(e->timeline)->left;
	tally_timeline_destroy(e->timeline);
	for (unsigned i = 0; i < N_TABLES; i++)
		g_hash_table_destroy(e->tables[i]);
	g_ptr_array_unref(e->specs);
	g_hash_table_destroy(e->known);
	tally_protobuf_finish(&e->packet);
	tally_protobuf_finish(&e->interned);
	g_free(e);
}

const struct tally_export_format tally_export_perfetto = {
	.name = "perfetto", .binary = true, .begin = begin, .line = line, .end = end
};
