/* SPDX-License-Identifier: MIT */
#include "cli/export/tracks.h"

#include "cli/log/pass_name.h"
#include "cli/log/stats.h"
#include "cli/shared/text.h"
#include "json/number.h"

#include <string.h>

/* Trace formats support only a few clocks defined by a file. */
#define MOST_CLOCKS 60
#define MOST_EARLY 1000

/* A pass of the frame. */
struct placed {
	const struct tally_pass_record *pass;
	struct tally_lane *lane; /* NULL: not looked up yet */
	const char *name; /* NULL: not looked up yet */
	const char *label; /* NULL = none */
	bool can_draw; /* it has a place on a GPU track */
	bool drawn; /* it is on one */
	uint64_t start_ns, end_ns;
	uint32_t layer; /* index within its frame */
};

static void
free_early(gpointer v)
{
	struct tally_note_record *note = v;
	g_free((gpointer)note->message);
	g_free((gpointer)note->source);
	g_free(note);
}

struct tally_timeline *
tally_timeline_create(const struct tally_timeline_sink *sink,
		      const struct tally_export_options *options)
{
	struct tally_timeline *t = g_new0(struct tally_timeline, 1);
	t->sink = sink;
	t->no_counters = options->no_counters;
	t->same_layer = g_ptr_array_new();
	tally_export_names_init(&t->names);
	t->tracks = g_ptr_array_new_with_free_func(tally_tracks_free);
	t->devices = g_hash_table_new_full(NULL, NULL, NULL, tally_tracks_free_device);
	t->placed = g_array_new(FALSE, FALSE, sizeof(struct placed));
	t->order = g_ptr_array_new();
	t->loads = g_ptr_array_new();
	t->number_tracks = g_ptr_array_new();
	t->early = g_ptr_array_new_with_free_func(free_early);
	t->run.program = g_strdup("?");
	tally_log_identity_init(&t->run.identity);
	return t;
}

void
tally_timeline_destroy(struct tally_timeline *t)
{
	g_hash_table_destroy(t->devices);
	g_ptr_array_unref(t->tracks);
	g_array_unref(t->placed);
	g_ptr_array_unref(t->order);
	g_ptr_array_unref(t->same_layer);
	g_ptr_array_unref(t->loads);
	g_ptr_array_unref(t->number_tracks);
	g_ptr_array_unref(t->early);
	tally_export_names_finish(&t->names);
	g_free(t->run.program);
	tally_log_identity_finish(&t->run.identity);
	g_free(t);
}

const struct tally_timeline_run *
tally_timeline_run(const struct tally_timeline *t)
{
	return &t->run;
}

static void
emit(struct tally_timeline *t, const struct tally_timeline_event *e)
{
	t->sink->event(t->sink->user, e);
}

/* Ends the slice that `e` describes at its end_ns. */
static void
emit_end(struct tally_timeline *t, const struct tally_timeline_event *e)
{
	struct tally_timeline_event end = {
		.type = TALLY_TIMELINE_END, .track = e->track, .ns = e->end_ns, .name = e->name
	};
	emit(t, &end);
}

/* The interval in which something ran, and the layer it is drawn on. */
struct stretch {
	struct tally_layer *layer;
	struct tally_number_place where; /* for the names of its number tracks */
	uint64_t start_ns, end_ns;
};

/* Emits values that are constant over the interval. */
static void
emit_numbers(struct tally_timeline *t, const struct stretch *s, bool metric,
	     const struct tally_keyed_value *values, uint32_t n)
{
	if (!n || s->end_ns == s->start_ns)
		return;
	g_ptr_array_set_size(t->number_tracks, (gint)n);
	for (uint32_t i = 0; i < n; i++)
		t->number_tracks->pdata[i] = (gpointer)tally_tracks_number(
			t, s->layer, values[i].key, &s->where, metric);
	const struct tally_timeline_event e = {
		.type = TALLY_TIMELINE_NUMBERS,
		.ns = s->start_ns,
		.end_ns = s->end_ns,
		.tracks = (const struct tally_timeline_track *const *)t->number_tracks->pdata,
		.values = values,
		.n = n,
	};
	emit(t, &e);
}

/* Whether the interval can be drawn. */
static bool
has_place(bool has_start, bool has_length, uint64_t start_ns, uint64_t length_ns)
{
	/* Trace formats use signed 64-bit times. */
	return has_start && has_length && start_ns <= INT64_MAX &&
	       length_ns <= INT64_MAX - start_ns;
}

/* Emits the CPU side: the frame, and the time of the first call of each pass. */
static void
emit_cpu_frame(struct tally_timeline *t, struct tally_timeline_device *d,
	       const struct tally_frame_record *f)
{
	static const struct tally_layer_place place = { .lane = "frames",
							.what = " (CPU)",
							.rank = TALLY_RANK_FRAMES };
	if (!has_place(true, true, f->start_ns, f->cpu_ns))
		return;
	struct stretch s = { .where = { .what = "frame" },
			     .start_ns = f->start_ns,
			     .end_ns = f->start_ns + f->cpu_ns };
	s.layer = tally_tracks_take_layer(t, &d->frames, d, &place, s.start_ns, s.end_ns);
	if (!s.layer)
		return;
	const struct tally_timeline_event e = { .type = TALLY_TIMELINE_BEGIN,
						.track = s.layer->track,
						.ns = s.start_ns,
						.end_ns = s.end_ns,
						.name = t->frame_name,
						.category = "frame",
						.frame = f };
	emit(t, &e);
	emit_end(t, &e);
	/* The keys are static because tracks are looked up by address. */
	static const char cpu[] = "cpu_ns", gpu[] = "gpu_ns", overhead[] = "overhead_ns";
	const struct tally_keyed_value of_frame[] = {
		{ .key = cpu, .value = tally_u64(f->cpu_ns) },
		{ .key = overhead, .value = tally_u64(f->overhead_ns) },
		{ .key = gpu, .value = tally_u64(f->gpu_ns) },
	};
	emit_numbers(t, &s, true, of_frame, f->has_gpu ? 3 : 2);
	if (!t->no_counters)
		emit_numbers(t, &s, true, f->metrics, f->n_metrics);
	t->last_ns = MAX(t->last_ns, s.end_ns);
}

static uint64_t
add_to_flow(uint64_t hash, uint64_t v)
{
	for (unsigned i = 0; i < sizeof(v); i++)
		hash = (hash ^ ((const uint8_t *)&v)[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t
flow_of(const struct tally_timeline *t, const struct tally_pass_record *p)
{
	uint64_t hash = add_to_flow(t->frame_flow, p->index);
	return hash ? hash : 1;
}

static const char *
name_of(struct tally_timeline *t, const struct tally_timeline_device *d, struct placed *p)
{
	if (!p->name)
		p->name = tally_export_names_find(&t->names, d->number, p->pass);
	return p->name;
}

/* The properties of the pass that its GPU event shows, if it has one, are left out. */
static void
emit_submission(struct tally_timeline *t, struct tally_timeline_device *d,
		const struct tally_frame_record *f, struct placed *placed)
{
	const struct tally_pass_record *p = placed->pass;
	struct tally_lane *lane = placed->lane ? placed->lane : tally_tracks_lane(d, p);
	uint64_t ns = p->has_cpu_start ? p->cpu_start_ns : f->start_ns;
	if (ns > INT64_MAX || (placed->drawn && !p->has_cpu_start))
		return;
	if (!lane->submission) {
		lane->submission = tally_tracks_add(t, TALLY_TRACK_SLICES, d->group,
						    g_strdup_printf("%s: CPU submits", lane->name),
						    d->number, lane->rank);
		tally_tracks_tell(t, lane->submission);
	}
	bool joined = placed->drawn && !(p->flags & TALLY_FLAG(UNCALIBRATED));
	const struct tally_timeline_event e = {
		.type = TALLY_TIMELINE_INSTANT,
		.track = lane->submission,
		.ns = ns,
		.name = name_of(t, d, placed),
		.name_repeats = true,
		.category = "submit",
		.flow = joined ? flow_of(t, p) : 0,
		.brief = placed->drawn,
		.frame = f,
		.pass = p,
	};
	emit(t, &e);
}

/* The clock for times with the flag `uncalibrated`. NULL: too many such devices, or this
 * frame cannot define one. */
static const struct tally_timeline_clock *
own_clock(struct tally_timeline *t, struct tally_timeline_device *d,
	  const struct tally_frame_record *f, uint64_t gpu_ns)
{
	/* A start time centuries after boot cannot be matched with anything. */
	if (!d->clock && t->n_clocks < MOST_CLOCKS && f->start_ns <= INT64_MAX / 2) {
		d->clock = g_new0(struct tally_timeline_clock, 1);
		d->clock->number = t->n_clocks++;
		d->clock->device = d->number;
		d->clock->gpu_ns = gpu_ns;
		d->clock->cpu_ns = f->start_ns;
		t->sink->clock(t->sink->user, d->clock);
	}
	return d->clock;
}

static int
compare_placed(gconstpointer a, gconstpointer b)
{
	const struct placed *x = *(struct placed *const *)a, *y = *(struct placed *const *)b;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->pass->index != y->pass->index)
		return x->pass->index < y->pass->index ? -1 : 1;
	return 0;
}

static int
compare_workloads(gconstpointer a, gconstpointer b)
{
	const struct tally_workload_record *x = *(struct tally_workload_record *const *)a;
	const struct tally_workload_record *y = *(struct tally_workload_record *const *)b;
	if (x->gpu_start_ns != y->gpu_start_ns)
		return x->gpu_start_ns < y->gpu_start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool
is_own(const struct placed *p)
{
	return p->pass->flags & TALLY_FLAG(UNCALIBRATED);
}

/* The commands of a pass that have a time on the pass's clock, sorted by start. */
static const GPtrArray *
sort_workloads(struct tally_timeline *t, const struct tally_pass_record *p)
{
	g_ptr_array_set_size(t->loads, 0);
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		const struct tally_workload_record *w = &p->workloads[i];
		bool same_clock = !((w->flags ^ p->flags) & TALLY_FLAG(UNCALIBRATED));
		if (same_clock &&
		    has_place(w->has_gpu_start, w->has_gpu, w->gpu_start_ns, w->gpu_ns))
			g_ptr_array_add(t->loads, (gpointer)w);
		else
			t->run.left.workloads++;
	}
	g_ptr_array_sort(t->loads, compare_workloads);
	return t->loads;
}

/* Draws each command inside its pass; commands that extend past it or overlap go to a track
 * below. */
static void
emit_workloads(struct tally_timeline *t, struct tally_timeline_device *d, const struct placed *p,
	       const struct tally_timeline_event *of_pass)
{
	const struct tally_layer_place below = { .lane = p->lane->name,
						 .what = ": GPU, overlapping commands",
						 .rank = p->lane->rank + 3,
						 .clock = is_own(p) ? d->clock : NULL };
	struct tally_layers *layers = is_own(p) ? &p->lane->work_own : &p->lane->work;
	const GPtrArray *order = sort_workloads(t, p->pass);
	uint64_t free_ns = p->start_ns;
	for (guint i = 0; i < order->len; i++) {
		const struct tally_workload_record *w = g_ptr_array_index(order, i);
		struct tally_timeline_event e = { .type = TALLY_TIMELINE_BEGIN,
						  .track = of_pass->track,
						  .ns = w->gpu_start_ns,
						  .end_ns = w->gpu_start_ns + w->gpu_ns,
						  .name = w->command,
						  .name_repeats = true,
						  .category = "workload",
						  .frame = of_pass->frame,
						  .pass = p->pass,
						  .workload = w };
		if (e.ns >= free_ns && e.end_ns <= p->end_ns) {
			free_ns = e.end_ns;
		} else {
			const struct tally_layer *layer = tally_tracks_take_layer(
				t, layers, d, &below, e.ns, e.end_ns);
			if (!layer) {
				t->run.left.workloads++;
				continue;
			}
			e.track = layer->track;
		}
		emit(t, &e);
		emit_end(t, &e);
	}
}

/* `number`: the index of the layer. */
static void
emit_pass(struct tally_timeline *t, struct tally_timeline_device *d,
	  const struct tally_frame_record *f, struct placed *p, struct tally_layer *layer,
	  uint32_t number)
{
	struct tally_timeline_event e = {
		.type = TALLY_TIMELINE_BEGIN,
		.track = layer->track,
		.ns = p->start_ns,
		.end_ns = p->end_ns,
		.name = name_of(t, d, p),
		.name_repeats = true,
		.category = tally_pass_kind_name(p->pass->kind),
		.flow = p->pass->has_cpu_start && !is_own(p) ? flow_of(t, p->pass) : 0,
		.frame = f,
		.pass = p->pass,
	};
	p->drawn = true;
	emit(t, &e);
	if (p->pass->n_workloads)
		emit_workloads(t, d, p, &e);
	emit_end(t, &e);
	if (t->no_counters)
		return;
	const struct stretch s = { .layer = layer,
				   .where = { p->lane->name, is_own(p), number },
				   .start_ns = p->start_ns,
				   .end_ns = p->end_ns };
	emit_numbers(t, &s, false, p->pass->counters, p->pass->n_counters);
	emit_numbers(t, &s, true, p->pass->metrics, p->pass->n_metrics);
}

/* The common properties of the slices of a frame. */
struct gpu_frame {
	struct tally_timeline_device *device;
	const struct tally_frame_record *frame;
	struct tally_layer *layer;
	uint32_t number; /* index of the layer */
};

/* The length of the part of the label at `at` that has something below it; 0 = none. */
static size_t
group_length(const char *label, size_t at)
{
	size_t len = label ? tally_label_part(label + at) : 0;
	return len && label[at + len] ? len : 0;
}

/* The passes from index `from` up to, but not including, `to`, which share the first `at` bytes
 * of their label. Neighbors that share its next part are in a slice of that name. */
static void
emit_labelled(struct tally_timeline *t, const struct gpu_frame *g, guint from, guint to, size_t at,
	      unsigned depth)
{
	enum { MOST_LEVELS = 32 };
	const GPtrArray *passes = t->same_layer;
	while (from < to) {
		struct placed *first = g_ptr_array_index(passes, from);
		size_t len = depth < MOST_LEVELS ? group_length(first->label, at) : 0;
		guint next = from + 1;
		const struct placed *last = first;
		for (; len && next < to; next++) {
			const struct placed *p = g_ptr_array_index(passes, next);
			if (group_length(p->label, at) != len ||
			    strncmp(p->label + at, first->label + at, len) != 0)
				break;
			last = p;
		}
		if (!len) {
			emit_pass(t, g->device, g->frame, first, g->layer, g->number);
			from = next;
			continue;
		}
		g_autofree char *part = g_strndup(first->label + at, len);
		const struct tally_timeline_event e = { .type = TALLY_TIMELINE_BEGIN,
							.track = g->layer->track,
							.ns = first->start_ns,
							.end_ns = last->end_ns,
							.name = g_intern_string(part),
							.name_repeats = true,
							.category = "label" };
		emit(t, &e);
		emit_labelled(t, g, from, next, at + len + 1, depth + 1);
		emit_end(t, &e);
		from = next;
	}
}

/* The passes of a frame on one layer; none of them overlap. */
static void
emit_gpu_frame(struct tally_timeline *t, struct tally_timeline_device *d,
	       const struct tally_frame_record *f, const GPtrArray *order, uint32_t number)
{
	GPtrArray *passes = t->same_layer;
	g_ptr_array_set_size(passes, 0);
	for (guint i = 0; i < order->len; i++) {
		struct placed *p = g_ptr_array_index(order, i);
		if (p->layer == number)
			g_ptr_array_add(passes, p);
	}
	const struct placed *first = g_ptr_array_index(passes, 0);
	const struct placed *last = g_ptr_array_index(passes, passes->len - 1);
	struct tally_lane *lane = first->lane;
	struct tally_layers *layers = is_own(first) ? &lane->gpu_own : &lane->gpu;
	const struct tally_layer_place place = { .lane = lane->name,
						 .what = ": GPU",
						 .rank = lane->rank + 1,
						 .clock = is_own(first) ? d->clock : NULL };
	struct tally_layer *layer = tally_tracks_take_layer(t, layers, d, &place, first->start_ns,
							    last->end_ns);
	if (!layer)
		return;
	const struct tally_timeline_event e = { .type = TALLY_TIMELINE_BEGIN,
						.track = layer->track,
						.ns = first->start_ns,
						.end_ns = last->end_ns,
						.name = t->frame_name,
						.category = "frame" };
	emit(t, &e);
	const struct gpu_frame g = { d, f, layer, (uint32_t)(layer - layers->layer) };
	emit_labelled(t, &g, 0, passes->len, 0, 0);
	emit_end(t, &e);
}

/* The passes of one lane and one clock, distributed over as many layers as their overlap
 * needs. */
static void
emit_lane(struct tally_timeline *t, struct tally_timeline_device *d,
	  const struct tally_frame_record *f, const struct tally_lane *lane, bool own)
{
	GPtrArray *order = t->order;
	g_ptr_array_set_size(order, 0);
	for (guint i = 0; i < t->placed->len; i++) {
		struct placed *p = &g_array_index(t->placed, struct placed, i);
		if (p->can_draw && p->lane == lane && is_own(p) == own)
			g_ptr_array_add(order, p);
	}
	if (!order->len)
		return;
	g_ptr_array_sort(order, compare_placed);
	uint64_t ends[TALLY_MOST_LAYERS] = { 0 };
	uint32_t n_layers = 0;
	for (guint i = 0; i < order->len; i++) {
		struct placed *p = g_ptr_array_index(order, i);
		uint32_t layer = 0;
		while (layer < n_layers && ends[layer] > p->start_ns)
			layer++;
		p->layer = layer;
		if (layer == TALLY_MOST_LAYERS)
			continue;
		n_layers = MAX(n_layers, layer + 1);
		ends[layer] = p->end_ns;
	}
	for (uint32_t i = 0; i < n_layers; i++)
		emit_gpu_frame(t, d, f, order, i);
}

bool
tally_timeline_is_mark(const struct tally_timeline_event *e)
{
	return e->note && g_strcmp0(e->note->source, "mark") == 0;
}

/* `frame`: the frame that contains the mark, or NULL. */
static void
emit_note(struct tally_timeline *t, const struct tally_note_record *note,
	  const struct tally_recent_frame *frame)
{
	const struct tally_timeline_event of_note = { .note = note };
	bool mark = tally_timeline_is_mark(&of_note);
	struct tally_timeline_track **track = mark ? &t->marks : &t->notes;
	/* A note without a time is placed at its position in the log: after the preceding
	 * frame. */
	uint64_t ns = note->has_time ? note->time_ns : t->last_ns;
	if (ns > INT64_MAX)
		return;
	if (!*track) {
		*track = tally_tracks_add(t, TALLY_TRACK_SLICES, tally_tracks_process(t),
					  g_strdup(mark ? "marks" : "notes"), -1, mark ? -2 : -1);
		tally_tracks_tell(t, *track);
	}
	const struct tally_timeline_event e = { .type = TALLY_TIMELINE_INSTANT,
						.track = *track,
						.ns = ns,
						.name = note->message,
						.category = "note",
						.note = note,
						.number = frame ? frame->number : 0,
						.has_number = frame != NULL };
	emit(t, &e);
}

static void
read_note(struct tally_timeline *t, const struct tally_note_record *note)
{
	const struct tally_timeline_event of_note = { .note = note };
	bool mark = note->has_time && tally_timeline_is_mark(&of_note);
	const struct tally_recent_frame *frame = mark ? tally_recent_find(&t->recent, note->time_ns)
						      : NULL;
	bool waits = note->has_time ? mark && !frame : !t->has_frame;
	if (!waits) {
		emit_note(t, note, frame);
	} else if (t->early->len == MOST_EARLY) {
		t->n_early_lost++;
	} else {
		struct tally_note_record *early = g_memdup2(note, sizeof(*note));
		early->message = g_strdup(note->message);
		early->source = g_strdup(note->source);
		g_ptr_array_add(t->early, early);
	}
}

/* Emits the notes that waited for this frame, or, at the end (NULL), all. */
static void
emit_early(struct tally_timeline *t, const struct tally_recent_frame *f)
{
	for (guint i = 0; i < t->early->len;) {
		const struct tally_note_record *early = g_ptr_array_index(t->early, i);
		bool inside = f && early->has_time && tally_recent_is_inside(f, early->time_ns);
		if (f && early->has_time && !inside) {
			i++;
			continue;
		}
		emit_note(t, early, inside ? f : NULL);
		g_ptr_array_remove_index(t->early, i);
	}
	if (t->n_early_lost && !f) {
		char message[80];
		g_snprintf(message, sizeof(message),
			   "%" G_GUINT64_FORMAT " more note%s or mark%s: see the log",
			   t->n_early_lost, TALLY_S(t->n_early_lost), TALLY_S(t->n_early_lost));
		const struct tally_note_record note = { .message = message, .source = "export" };
		emit_note(t, &note, NULL);
		t->n_early_lost = 0;
	}
}

void
tally_timeline_finish(struct tally_timeline *t)
{
	emit_early(t, NULL);
}

static void
place_pass(struct tally_timeline *t, struct tally_timeline_device *d,
	   const struct tally_frame_record *f, const struct tally_pass_record *pass,
	   struct placed *p)
{
	*p = (struct placed){ .pass = pass };
	p->can_draw = has_place(pass->has_gpu_start, pass->has_gpu, pass->gpu_start_ns,
				pass->gpu_ns) &&
		      (!is_own(p) || own_clock(t, d, f, pass->gpu_start_ns));
	if (!p->can_draw)
		return;
	p->lane = tally_tracks_lane(d, pass);
	p->label = tally_pass_names_find(&t->names.passes, pass)->label;
	p->start_ns = pass->gpu_start_ns;
	p->end_ns = pass->gpu_start_ns + pass->gpu_ns;
}

static void
read_frame(struct tally_timeline *t, const struct tally_frame_record *f)
{
	struct tally_timeline_device *d = tally_tracks_device(t, f->device, NULL);
	if (!t->has_frame) {
		t->has_frame = true;
		t->last_ns = f->start_ns;
	}
	const struct tally_recent_frame *now = tally_recent_add(&t->recent, f);
	if (t->early->len)
		emit_early(t, now);
	memcpy(t->frame_name, "frame ", 6);
	t->frame_name[6 + tally_number_format_u64(t->frame_name + 6, f->frame)] = '\0';
	t->frame_flow = add_to_flow(add_to_flow(UINT64_C(0xcbf29ce484222325), f->device), f->frame);
	emit_cpu_frame(t, d, f);
	g_array_set_size(t->placed, f->n_passes);
	bool any = false, any_own = false;
	for (uint32_t i = 0; i < f->n_passes; i++) {
		struct placed *p = &g_array_index(t->placed, struct placed, i);
		place_pass(t, d, f, &f->passes[i], p);
		any |= p->can_draw;
		any_own |= p->can_draw && is_own(p);
	}
	for (guint i = 0; i < d->lanes->len && any; i++) {
		emit_lane(t, d, f, g_ptr_array_index(d->lanes, i), false);
		if (any_own)
			emit_lane(t, d, f, g_ptr_array_index(d->lanes, i), true);
	}
	for (uint32_t i = 0; i < f->n_passes; i++) {
		struct placed *p = &g_array_index(t->placed, struct placed, i);
		emit_submission(t, d, f, p);
		t->run.left.passes += !p->drawn;
	}
}

void
tally_timeline_line(struct tally_timeline *t, const struct tally_log_line *line)
{
	tally_export_names_read(&t->names, line);
	switch (line->type) {
	case TALLY_LINE_HEADER:
		g_free(t->run.program);
		t->run.program = g_path_get_basename(line->header.program ? line->header.program
									  : "?");
		t->run.pid = line->header.pid;
		tally_log_identity_read(&t->run.identity, &line->header);
		break;
	case TALLY_LINE_DEVICE:
		tally_tracks_device(t, line->device.device, &line->device);
		break;
	case TALLY_LINE_FRAME:
		read_frame(t, &line->frame);
		break;
	case TALLY_LINE_NOTE:
		read_note(t, &line->note);
		break;
	default:
		break;
	}
}
