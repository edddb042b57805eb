/* SPDX-License-Identifier: MIT */
#include "cli/export/timeline.h"

#include "cli/shared/out.h"
#include "cli/log/stats.h"

/* The Trace Event Format: JSON that chrome://tracing, Perfetto and others read. Its processes
 * represent devices and its threads represent tracks. Times are microseconds; with three
 * decimals they are exact. */

struct chrome {
	struct tally_timeline_sink sink;
	struct tally_timeline *timeline;
	struct tally_out out;
	bool begun;
	uint32_t n_args; /* number of arguments of the event being written */
};

static void
put_member(struct chrome *e, const char *name, const char *text)
{
	tally_out_put(&e->out, ",\"");
	tally_out_put(&e->out, name);
	tally_out_put(&e->out, "\":");
	tally_out_string(&e->out, "", text);
}

static void
put_number(struct chrome *e, const char *name, uint64_t v)
{
	tally_out_put(&e->out, ",\"");
	tally_out_put(&e->out, name);
	tally_out_put(&e->out, "\":");
	tally_json_put_u64(&e->out.w, v);
}

static void
put_time(struct chrome *e, const char *name, uint64_t ns)
{
	put_number(e, name, ns / 1000);
	if (ns % 1000 == 0)
		return;
	unsigned rest = (unsigned)(ns % 1000);
	tally_out_char(&e->out, '.');
	for (unsigned place = 100; place; place /= 10)
		tally_out_char(&e->out, (char)('0' + rest / place % 10));
}

static void
begin_event(struct chrome *e, const char *phase, int64_t device)
{
	tally_out_put(&e->out, e->begun ? ",\n{\"ph\":\"" : "{\"traceEvents\":[\n{\"ph\":\"");
	tally_out_put(&e->out, phase);
	tally_out_char(&e->out, '"');
	/* Processes of the format: 0 is the run; the devices follow. */
	put_number(e, "pid", (uint64_t)(device + 1));
	e->begun = true;
}

/* The time at which an event is shown: an uncalibrated GPU clock is shifted to the start of
 * its first frame on the CPU. */
static uint64_t
shown_ns(const struct tally_timeline_track *track, uint64_t ns)
{
	const struct tally_timeline_clock *own = track->clock;
	if (!own)
		return ns;
	if (ns >= own->gpu_ns)
		return own->cpu_ns + (ns - own->gpu_ns);
	uint64_t before = own->gpu_ns - ns;
	return before < own->cpu_ns ? own->cpu_ns - before : 0;
}

static void
put_name_event(struct chrome *e, const char *what, const struct tally_timeline_track *track,
	       const char *prefix)
{
	begin_event(e, "M", track->device);
	if (track->kind == TALLY_TRACK_SLICES)
		put_number(e, "tid", track->number);
	put_member(e, "name", what);
	tally_out_put(&e->out, ",\"args\":{\"name\":");
	tally_out_string(&e->out, prefix, track->name);
	tally_out_put(&e->out, "}}");
}

static void
see_track(void *user, const struct tally_timeline_track *track)
{
	struct chrome *e = user;
	switch (track->kind) {
	case TALLY_TRACK_PROCESS:
		put_name_event(e, "process_name", track, "");
		break;
	case TALLY_TRACK_GROUP: {
		char *prefix = g_strdup_printf("%s, ", tally_timeline_run(e->timeline)->program);
		put_name_event(e, "process_name", track, prefix);
		g_free(prefix);
		break;
	}
	case TALLY_TRACK_SLICES:
		put_name_event(e, "thread_name", track, "");
		begin_event(e, "M", track->device);
		put_number(e, "tid", track->number);
		put_member(e, "name", "thread_sort_index");
		tally_out_put(&e->out, ",\"args\":{\"sort_index\":");
		tally_json_put_value(&e->out.w, (struct tally_value){ .storage = TALLY_STORAGE_I64,
								      .i64 = track->rank });
		tally_out_put(&e->out, "}}");
		break;
	default:
		break; /* counter tracks need no declaration in this format */
	}
}

static void
see_clock(void *user, const struct tally_timeline_clock *clock)
{
	struct chrome *e = user;
	begin_event(e, "M", clock->device);
	put_member(e, "name", "passtally_gpu_clock");
	tally_out_put(&e->out, ",\"args\":{\"gpu_ns\":");
	tally_json_put_u64(&e->out.w, clock->gpu_ns);
	put_number(e, "shown_at_ns", clock->cpu_ns);
	tally_out_put(&e->out, "}}");
}

static void
see_arg(void *user, const char *prefix, const char *key, const char *text, struct tally_value value)
{
	struct chrome *e = user;
	tally_out_put(&e->out, e->n_args++ ? "," : ",\"args\":{");
	tally_out_string(&e->out, prefix, key);
	tally_out_char(&e->out, ':');
	if (text)
		tally_out_string(&e->out, "", text);
	else
		tally_json_put_value(&e->out.w, value);
}

/* Begin and end are separate events, not a start with a length: viewers compute in doubles,
 * in which a start plus a length need not equal the next start, so adjacent slices would
 * overlap. */
static void
write_slice(struct chrome *e, const struct tally_timeline_event *event)
{
	static const char *const phases[] = { [TALLY_TIMELINE_BEGIN] = "B",
					      [TALLY_TIMELINE_END] = "E",
					      [TALLY_TIMELINE_INSTANT] = "i" };
	begin_event(e, phases[event->type], event->track->device);
	put_number(e, "tid", event->track->number);
	put_time(e, "ts", shown_ns(event->track, event->ns));
	/* some viewers match the end of a slice by its name */
	put_member(e, "name", event->name);
	if (event->type == TALLY_TIMELINE_END) {
		tally_out_char(&e->out, '}');
		return;
	}
	/* a mark is drawn as a line across all tracks */
	if (event->type == TALLY_TIMELINE_INSTANT)
		put_member(e, "s", tally_timeline_is_mark(event) ? "g" : "t");
	put_member(e, "cat", event->category);
	e->n_args = 0;
	tally_timeline_see_args(event, see_arg, e);
	tally_out_put(&e->out, e->n_args ? "}}" : "}");
}

static void
write_number(struct chrome *e, const struct tally_timeline_track *track, uint64_t ns,
	     struct tally_value v)
{
	begin_event(e, "C", track->device);
	put_time(e, "ts", shown_ns(track, ns));
	put_member(e, "name", track->name);
	tally_out_put(&e->out, ",\"args\":{");
	tally_out_string(&e->out, "", track->unit ? track->unit : "value");
	tally_out_char(&e->out, ':');
	tally_json_put_value(&e->out.w, v);
	tally_out_put(&e->out, "}}");
}

static void
see_event(void *user, const struct tally_timeline_event *event)
{
	struct chrome *e = user;
	if (event->type != TALLY_TIMELINE_NUMBERS) {
		write_slice(e, event);
		return;
	}
	for (uint32_t i = 0; i < event->n; i++) {
		write_number(e, event->tracks[i], event->ns, event->values[i].value);
		write_number(e, event->tracks[i], event->end_ns, tally_u64(0));
	}
}

static struct tally_export *
begin(FILE *out, const struct tally_export_options *options)
{
	struct chrome *e = g_new0(struct chrome, 1);
	tally_out_init(&e->out, out);
	e->sink = (struct tally_timeline_sink){
		.user = e, .track = see_track, .clock = see_clock, .event = see_event
	};
	e->timeline = tally_timeline_create(&e->sink, options);
	return (struct tally_export *)e;
}

static void
line(struct tally_export *export, const struct tally_log_line *line)
{
	tally_timeline_line(((struct chrome *)export)->timeline, line);
}

static void
end(struct tally_export *export, struct tally_export_left *left)
{
	struct chrome *e = (struct chrome *)export;
	tally_timeline_finish(e->timeline);
	tally_out_put(&e->out, e->begun ? "\n" : "{\"traceEvents\":[");
	tally_out_put(&e->out, "],\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":");
	tally_out_string(&e->out, "", tally_timeline_run(e->timeline)->program);
	e->out.comma = true;
	tally_log_identity_put(&e->out, &tally_timeline_run(e->timeline)->identity);
	tally_out_put(&e->out, ",\"clock\":\"CLOCK_MONOTONIC\"}}\n");
	tally_out_flush(&e->out);
	*left = tally_timeline_run(e->timeline)->left;
	tally_timeline_destroy(e->timeline);
	g_free(e);
}

const struct tally_export_format tally_export_chrome = {
	.name = "chrome", .begin = begin, .line = line, .end = end
};
