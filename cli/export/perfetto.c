/* SPDX-License-Identifier: MIT */
#include "cli/export/arguments.h"
#include "cli/export/names.h"
#include "cli/export/trace.h"

#include "cli/export/export.h"
#include "cli/log/device_summary.h"
#include "cli/log/pass_name.h"
#include "cli/shared/each.h"
#include "json/log_numbers.h"

#include <string.h>

/* A log as a trace: each queue (Vulkan) or context (OpenGL) is a queue of a GPU whose stages
 * are passes; two more queues hold its frames with the parts of labels, and its commands. */

/* Overlap that needs more rows than this on one queue is not drawn. */
#define MOST_ROWS 16

/* Events of a row, which is a queue to Perfetto, do not overlap. */
struct row {
	uint64_t end_ns; /* of its last event */
	uint64_t queue;
	const char *name; /* "queue 0.0: commands #2"; interned (GLib) */
};

struct rows {
	const char *what; /* after the lane's name */
	struct row rows[MOST_ROWS];
	uint32_t n;
};

/* A queue or context of a device, or what it did by the GPU's own clock. */
struct lane {
	int64_t context;
	int32_t queue_family, queue_index;
	bool own; /* passes with the flag `uncalibrated` */
	uint32_t number;
	char name[96];
	uint64_t submissions; /* the CPU's track; 0 = none yet */
	struct rows passes, frames, commands;
};

struct device {
	uint32_t number;
	bool has_own_clock;
	uint64_t own_gpu_ns, own_cpu_ns; /* where its own clock's first stamp is shown */
	uint64_t track, frames; /* the CPU's frames; 0: not announced yet */
	GPtrArray *lanes; /* elements: struct lane * */
	const struct tally_device_summary *about;
};

/* A pass of the frame. */
struct placed {
	const struct tally_pass_record *pass;
	struct lane *lane; /* NULL: it has no place on a GPU's timeline */
	struct row *row; /* of the lane; NULL: it is not drawn */
	const char *label; /* NULL = none */
	uint64_t start_ns, end_ns, event;
};

struct perfetto {
	struct tally_trace t;
	const struct tally_export_options *options;
	uint64_t process, notes, marks; /* tracks; 0 = none yet */
	uint64_t last_ns; /* when the last frame ended, or the process began */
	GHashTable *devices; /* maps a number to a struct device * */
	uint32_t n_gpus; /* up to the last one of them */
	GHashTable *numbers; /* of stages and counters, by kind and name */
	GArray *placed; /* elements: struct placed, the passes of the frame */
	GPtrArray *order; /* elements: struct placed *, those of one lane */
	GArray *ids; /* elements: uint64_t, numbers of counters */
	struct tally_export_left left;
	const struct tally_frame_record *frame;
	struct device *device; /* of the frame */
};

/* ---- counters ---- */

static uint64_t
counter_number(struct perfetto *e, const char *key, const char *where, uint64_t ns)
{
	uint32_t gpu = e->device->number;
	g_autofree char *name = g_strdup_printf("%s (%s)", key, where);
	g_autofree char *known = g_strdup_printf("counter %u %s", gpu, name);
	uint64_t number = GPOINTER_TO_SIZE(g_hash_table_lookup(e->numbers, known));
	if (number)
		return number;
	const struct tally_export_key *says = tally_export_key(e->options, gpu, key);
	const char *unit = says ? says->unit : g_str_has_suffix(key, "_ns") ? "ns" : NULL;
	number = tally_trace_add_counter(&e->t, gpu, ns, name, unit,
					 says ? says->description : NULL);
	g_hash_table_insert(e->numbers, g_steal_pointer(&known),
			    GSIZE_TO_POINTER(number));
	return number;
}

/* Values that hold from start_ns to end_ns. */
static void
put_counters(struct perfetto *e, const char *where, uint64_t start_ns, uint64_t end_ns,
	     const struct tally_keyed_value *values, uint32_t n)
{
	if (!n || end_ns == start_ns)
		return;
	g_array_set_size(e->ids, n);
	uint64_t *ids = (uint64_t *)(void *)e->ids->data;
	for (uint32_t i = 0; i < n; i++)
		ids[i] = counter_number(e, values[i].key, where, start_ns);
	uint32_t gpu = e->device->number;
	tally_trace_put_counters(&e->t, gpu, start_ns, ids, NULL, n);
	tally_trace_put_counters(&e->t, gpu, end_ns, ids, values, n);
}

/* Whether the interval can be drawn: traces use signed 64-bit times. */
static bool
has_place(bool has_start, bool has_length, uint64_t start_ns, uint64_t length_ns)
{
	return has_start && has_length && start_ns <= INT64_MAX &&
	       length_ns <= INT64_MAX - start_ns;
}

/* ---- devices and lanes ---- */

static uint64_t
process_track(struct perfetto *e)
{
	const struct tally_aggregate *log = e->options->log;
	g_autofree char *name = g_path_get_basename(log->program ? log->program : "?");
	if (!e->process)
		e->process = tally_trace_add_process(&e->t, name, log->identity.tags);
	return e->process;
}

static void
free_device(gpointer v)
{
	struct device *d = v;
	g_ptr_array_unref(d->lanes);
	g_free(d);
}

/* "device 0: Mali-G78 (vulkan)" */
static char *
device_name(const struct tally_device_summary *d)
{
	bool named = d->name && *d->name, known = d->described;
	return g_strdup_printf("device %u%s%s%s%s%s", d->device, named ? ": " : "",
			       named ? d->name : "", known ? " (" : "",
			       known ? tally_api_name(d->api) : "", known ? ")" : "");
}

static struct device *
find_device(struct perfetto *e, uint32_t number)
{
	enum { MOST_GPUS = 64 };
	struct device *d = g_hash_table_lookup(e->devices, GUINT_TO_POINTER(number));
	if (d)
		return d;
	d = g_new0(struct device, 1);
	d->number = number;
	d->about = tally_aggregate_device(e->options->log, number);
	d->lanes = g_ptr_array_new_with_free_func(g_free);
	g_hash_table_insert(e->devices, GUINT_TO_POINTER(number), d);
	if (number < MOST_GPUS)
		e->n_gpus = MAX(e->n_gpus, number + 1);
	if (d->about->described)
		tally_trace_add_context(&e->t, UINT64_C(1) + number, d->about->api);
	g_autofree char *name = device_name(d->about);
	d->track = tally_trace_add_track(&e->t, process_track(e), name,
					 (int)g_hash_table_size(e->devices));
	return d;
}

static struct lane *
find_lane(struct device *d, const struct tally_pass_record *p, bool own)
{
	TALLY_EACH (struct lane, found, d->lanes)
		if (found->context == p->context &&
		    found->queue_family == p->queue_family &&
		    found->queue_index == p->queue_index && found->own == own)
			return found;
	struct lane *lane = g_new0(struct lane, 1);
	lane->context = p->context;
	lane->queue_family = p->queue_family;
	lane->queue_index = p->queue_index;
	lane->own = own;
	lane->number = d->lanes->len;
	tally_export_lane_name(p, lane->name, sizeof(lane->name));
	if (own)
		g_strlcat(lane->name, ", own clock (not matched with the CPU's)",
			  sizeof(lane->name));
	lane->passes.what = "";
	lane->frames.what = ": frames and labels";
	lane->commands.what = ": commands";
	g_ptr_array_add(d->lanes, lane);
	return lane;
}

/* Where a time of the GPU is shown. The first stamp of a clock that could not be matched with the
 * CPU's is shown where its frame began. */
static uint64_t
shown_at(const struct device *d, bool own, uint64_t gpu_ns)
{
	return own ? gpu_ns - d->own_gpu_ns + d->own_cpu_ns : gpu_ns;
}

/* ---- the GPU's side ---- */

static void
begin_row(struct perfetto *e, const struct lane *lane, const struct rows *rows,
	  struct row *row)
{
	const struct device *d = e->device;
	uint32_t number = (uint32_t)(row - rows->rows) + 1;
	g_autofree char *description = NULL, *name = g_strconcat(lane->name, rows->what, NULL);
	g_autofree char *numbered = g_strdup_printf("%s #%u", name, number);
	row->name = g_intern_string(number == 1 ? name : numbered);
	if (lane->own)
		description = g_strdup_printf("On the GPU's own clock, which could not "
					      "be matched with the CPU's: the "
					      "stamp %" G_GUINT64_FORMAT
					      " is shown at %" G_GUINT64_FORMAT
					      ", where the CPU began that frame. Compare "
					      "these times only with each "
					      "other.",
					      d->own_gpu_ns, d->own_cpu_ns);
	row->queue = tally_trace_add_specification(&e->t, row->name, description,
						   TALLY_CATEGORY_OTHER);
}

/* Occupies the first row that is free from start_ns on until end_ns. NULL: no more may be
 * made. */
static struct row *
take_row(struct perfetto *e, const struct lane *lane, struct rows *rows,
	 uint64_t start_ns, uint64_t end_ns)
{
	struct row *row = rows->rows;
	while (row < rows->rows + rows->n && row->end_ns > start_ns)
		row++;
	if (row == rows->rows + MOST_ROWS)
		return NULL;
	if (row == rows->rows + rows->n) {
		rows->n++;
		begin_row(e, lane, rows, row);
	}
	row->end_ns = end_ns;
	return row;
}

/* What is on a row; `pass` NULL: no single one. */
static uint64_t
begin_stage(struct perfetto *e, uint64_t queue, const char *name, const char *what,
	    enum tally_trace_category category, uint64_t start_ns, uint64_t end_ns,
	    const struct tally_pass_record *pass)
{
	g_autofree char *known = g_strdup_printf("%s %s", what, name);
	uint64_t stage = GPOINTER_TO_SIZE(g_hash_table_lookup(e->numbers, known));
	if (!stage) {
		stage = tally_trace_add_specification(&e->t, name, what, category);
		g_hash_table_insert(e->numbers, g_steal_pointer(&known),
				    GSIZE_TO_POINTER(stage));
	}
	return tally_trace_begin_stage(
		&e->t, e->device->number, queue, stage, start_ns, end_ns,
		pass && pass->has_submission ? &pass->submission : NULL);
}

/* By time; GLib leaves equal ones in their order. */
static int
compare_workloads(gconstpointer a, gconstpointer b)
{
	const struct tally_workload_record *x = *(struct tally_workload_record *const *)a;
	const struct tally_workload_record *y = *(struct tally_workload_record *const *)b;
	return (x->gpu_start_ns > y->gpu_start_ns) - (x->gpu_start_ns < y->gpu_start_ns);
}

static void
put_workload(struct perfetto *e, struct lane *lane, const struct tally_pass_record *p,
	     const struct tally_workload_record *w)
{
	uint64_t start_ns = shown_at(e->device, lane->own, w->gpu_start_ns);
	uint64_t end_ns = start_ns + w->gpu_ns;
	struct row *row = take_row(e, lane, &lane->commands, start_ns, end_ns);
	struct tally_argument_list numbers = { &e->t, "" };
	if (!row) {
		e->left.workloads++;
		return;
	}
	begin_stage(e, row->queue, w->command, "command", TALLY_CATEGORY_OTHER, start_ns,
		    end_ns, p);
	tally_argument_put_number(&e->t, "frame", e->frame->frame);
	tally_argument_put_number(&e->t, "pass", p->index);
	tally_workload_numbers(w, tally_argument_put_listed, &numbers);
	tally_arguments_put_lists(&e->t, "counters.", w->counters, w->n_counters, NULL,
				  0);
	tally_argument_put_flags(&e->t, w->flags);
	tally_trace_end_event(&e->t);
}

/* Those commands of a pass that have a time on the pass's clock. */
static void
put_workloads(struct perfetto *e, struct lane *lane, const struct tally_pass_record *p)
{
	g_autoptr(GPtrArray) loads = g_ptr_array_new();
	for (uint32_t i = 0; i < p->n_workloads; i++) {
		const struct tally_workload_record *w = &p->workloads[i];
		bool same_clock = !((w->flags ^ p->flags) & TALLY_FLAG(UNCALIBRATED));
		if (same_clock &&
		    has_place(w->has_gpu_start, w->has_gpu,
			      shown_at(e->device, lane->own, w->gpu_start_ns), w->gpu_ns))
			g_ptr_array_add(loads, (gpointer)w);
		else
			e->left.workloads++;
	}
	g_ptr_array_sort(loads, compare_workloads);
	TALLY_EACH (const struct tally_workload_record, w, loads)
		put_workload(e, lane, p, w);
}

static void
put_drawn(struct perfetto *e, struct placed *placed)
{
	const struct tally_pass_record *p = placed->pass;
	struct lane *lane = placed->lane;
	placed->row = take_row(e, lane, &lane->passes, placed->start_ns, placed->end_ns);
	if (!placed->row)
		return;
	enum tally_trace_category category = p->kind == TALLY_PASS_COMPUTE
						     ? TALLY_CATEGORY_COMPUTE
					     : p->kind == TALLY_PASS_RENDER
						     ? TALLY_CATEGORY_GRAPHICS
						     : TALLY_CATEGORY_OTHER;
	const char *name = tally_export_name(e->options, e->device->number, p);
	placed->event = begin_stage(e, placed->row->queue, name,
				    tally_pass_kind_name(p->kind), category,
				    placed->start_ns, placed->end_ns, p);
	tally_arguments_put_pass(&e->t, e->frame->frame, p);
	tally_trace_end_event(&e->t);
	if (p->n_workloads)
		put_workloads(e, lane, p);
	if (e->options->no_counters)
		return;
	const char *where = placed->row->name;
	put_counters(e, where, placed->start_ns, placed->end_ns, p->counters,
		     p->n_counters);
	put_counters(e, where, placed->start_ns, placed->end_ns, p->metrics,
		     p->n_metrics);
}

/* The length of the part of the label at `at` that has something below it; 0 = none. */
static size_t
group_length(const char *label, size_t at)
{
	size_t len = label ? tally_label_part(label + at) : 0;
	return len && label[at + len] ? len : 0;
}

/* Neighbors among the passes from index `from` to before `to` whose labels share the first `at`
 * bytes and the next part are in a stage of that part's name. */
static void
put_labels(struct perfetto *e, uint64_t queue, guint from, guint to, size_t at,
	   unsigned depth)
{
	enum { MOST_LEVELS = 32 };
	while (from < to && depth < MOST_LEVELS) {
		const struct placed *first = g_ptr_array_index(e->order, from),
				    *last = first;
		size_t len = group_length(first->label, at);
		guint next = from + 1;
		for (; len && next < to; next++) {
			const struct placed *p = g_ptr_array_index(e->order, next);
			if (group_length(p->label, at) != len ||
			    strncmp(p->label + at, first->label + at, len) != 0)
				break;
			last = p;
		}
		if (len) {
			g_autofree char *part = g_strndup(first->label + at, len);
			begin_stage(e, queue, part, "label", TALLY_CATEGORY_OTHER,
				    first->start_ns, last->end_ns, NULL);
			tally_trace_end_event(&e->t);
			put_labels(e, queue, from, next, at + len + 1, depth + 1);
		}
		from = next;
	}
}

/* The frame and the labels of those passes in `order` that do not overlap. */
static void
put_frame_and_labels(struct perfetto *e)
{
	for (guint i = e->order->len; i-- > 0;) {
		const struct placed *p = g_ptr_array_index(e->order, i);
		if (p->row != p->lane->passes.rows)
			g_ptr_array_remove_index(e->order, i);
	}
	if (!e->order->len)
		return;
	const struct placed *first = g_ptr_array_index(e->order, 0);
	const struct placed *last = g_ptr_array_index(e->order, e->order->len - 1);
	struct lane *lane = first->lane;
	struct row *row =
		take_row(e, lane, &lane->frames, first->start_ns, last->end_ns);
	if (!row)
		return;
	begin_stage(e, row->queue, "frame", "frame", TALLY_CATEGORY_OTHER, first->start_ns,
		    last->end_ns, NULL);
	tally_argument_put_number(&e->t, "frame", e->frame->frame);
	tally_trace_end_event(&e->t);
	put_labels(e, row->queue, 0, e->order->len, 0, 0);
}

static int
compare_placed(gconstpointer a, gconstpointer b)
{
	const struct placed *x = *(struct placed *const *)a,
			    *y = *(struct placed *const *)b;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void
put_lane(struct perfetto *e, const struct lane *lane)
{
	g_ptr_array_set_size(e->order, 0);
	for (guint i = 0; i < e->placed->len; i++) {
		struct placed *p = &g_array_index(e->placed, struct placed, i);
		if (p->lane == lane)
			g_ptr_array_add(e->order, p);
	}
	if (!e->order->len)
		return;
	g_ptr_array_sort(e->order, compare_placed);
	TALLY_EACH (struct placed, p, e->order)
		put_drawn(e, p);
	put_frame_and_labels(e);
}

static void
place_pass(struct perfetto *e, const struct tally_pass_record *pass, struct placed *p)
{
	struct device *d = e->device;
	bool own = pass->flags & TALLY_FLAG(UNCALIBRATED);
	*p = (struct placed){ .pass = pass };
	/* A start time centuries after boot cannot be matched with anything. */
	if (own && pass->has_gpu_start && !d->has_own_clock &&
	    e->frame->start_ns <= INT64_MAX / 2) {
		d->has_own_clock = true;
		d->own_gpu_ns = pass->gpu_start_ns;
		d->own_cpu_ns = e->frame->start_ns;
	}
	uint64_t start_ns = shown_at(d, own, pass->gpu_start_ns);
	if (!has_place(pass->has_gpu_start, pass->has_gpu, start_ns, pass->gpu_ns) ||
	    (own && !d->has_own_clock))
		return;
	p->lane = find_lane(d, pass, own);
	p->label = tally_aggregate_find_pass(e->options->log, d->number, pass->id)->label;
	p->start_ns = start_ns;
	p->end_ns = start_ns + pass->gpu_ns;
}

/* ---- the CPU's side ---- */

static void
put_cpu_frame(struct perfetto *e)
{
	const struct tally_frame_record *f = e->frame;
	struct device *d = e->device;
	if (!has_place(true, true, f->start_ns, f->cpu_ns))
		return;
	uint64_t end_ns = f->start_ns + f->cpu_ns;
	struct tally_argument_list numbers = { &e->t, "" };
	if (!d->frames)
		d->frames = tally_trace_add_track(&e->t, d->track, "frames (CPU)", 0);
	char name[32];
	g_snprintf(name, sizeof(name), "frame %" G_GUINT64_FORMAT, f->frame);
	tally_trace_begin_event(&e->t, TALLY_EVENT_BEGIN, d->frames, f->start_ns, "frame",
				name);
	tally_argument_put_number(&e->t, "frame", f->frame);
	tally_argument_put_number(&e->t, "device", f->device);
	if (f->set)
		tally_argument_put_text(&e->t, "set", f->set);
	tally_frame_numbers(f, tally_argument_put_listed, &numbers);
	numbers.prefix = "unattributed.";
	tally_unattributed_numbers(f, tally_argument_put_listed, &numbers);
	tally_arguments_put_lists(&e->t, "unattributed.", f->unattributed,
				  f->n_unattributed, f->metrics, f->n_metrics);
	tally_argument_put_flags(&e->t, f->flags);
	tally_trace_end_event(&e->t);
	tally_trace_begin_event(&e->t, TALLY_EVENT_END, d->frames, end_ns, NULL, NULL);
	tally_trace_end_event(&e->t);
	const struct tally_keyed_value of_frame[] = {
		{ .key = "cpu_ns", .value = tally_u64(f->cpu_ns) },
		{ .key = "overhead_ns", .value = tally_u64(f->overhead_ns) },
		{ .key = "gpu_ns", .value = tally_u64(f->gpu_ns) },
	};
	put_counters(e, "frame", f->start_ns, end_ns, of_frame, f->has_gpu ? 3 : 2);
	if (!e->options->no_counters)
		put_counters(e, "frame", f->start_ns, end_ns, f->metrics, f->n_metrics);
	e->last_ns = MAX(e->last_ns, end_ns);
}

/* What the pass's stage shows, if there is one, is left out. */
static void
put_submission(struct perfetto *e, const struct placed *placed)
{
	const struct tally_pass_record *p = placed->pass;
	uint64_t ns = p->has_cpu_start ? p->cpu_start_ns : e->frame->start_ns;
	if (ns > INT64_MAX || (placed->row && !p->has_cpu_start))
		return;
	struct lane *lane = find_lane(e->device, p, false);
	if (!lane->submissions) {
		g_autofree char *name = g_strconcat(lane->name, ": CPU submits", NULL);
		lane->submissions = tally_trace_add_track(&e->t, e->device->track, name,
							  (int)lane->number + 1);
	}
	tally_trace_begin_event(&e->t, TALLY_EVENT_INSTANT, lane->submissions, ns,
				"submit",
				tally_export_name(e->options, e->device->number, p));
	if (placed->row) {
		tally_arguments_put_identity(&e->t, e->frame->frame, p);
		if (!placed->lane->own)
			tally_trace_put_submitted(&e->t, placed->event);
	} else {
		if (!p->has_cpu_start)
			tally_argument_put_text(&e->t, "time",
						"not known: shown where the frame began");
		tally_arguments_put_pass(&e->t, e->frame->frame, p);
	}
	tally_trace_end_event(&e->t);
}

/* ---- notes and marks ---- */

static void
put_note(struct perfetto *e, const struct tally_note_record *note)
{
	bool mark = g_strcmp0(note->source, "mark") == 0;
	uint64_t *track = mark ? &e->marks : &e->notes;
	/* A note without a time is placed at its position in the log: after the preceding frame,
	 * or where the process began. */
	uint64_t ns = note->has_time ? note->time_ns : e->last_ns;
	if (ns > INT64_MAX)
		return;
	if (!*track)
		*track = tally_trace_add_track(&e->t, process_track(e),
					       mark ? "marks" : "notes", mark ? -2 : -1);
	tally_trace_begin_event(&e->t, TALLY_EVENT_INSTANT, *track, ns, "note",
				note->message);
	tally_argument_put_text(&e->t, "level", tally_level_name(note->level));
	if (note->source)
		tally_argument_put_text(&e->t, "source", note->source);
	if (!note->has_time)
		tally_argument_put_text(&e->t, "time",
					"not said: shown where the log has it");
	tally_trace_end_event(&e->t);
}

/* ---- the format ---- */

static void
put_frame(struct tally_export *export, const struct tally_frame_record *f)
{
	struct perfetto *e = (struct perfetto *)export;
	e->frame = f;
	e->device = find_device(e, f->device);
	put_cpu_frame(e);
	g_array_set_size(e->placed, f->n_passes);
	for (uint32_t i = 0; i < f->n_passes; i++)
		place_pass(e, &f->passes[i], &g_array_index(e->placed, struct placed, i));
	TALLY_EACH (const struct lane, lane, e->device->lanes)
		put_lane(e, lane);
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct placed *p = &g_array_index(e->placed, struct placed, i);
		put_submission(e, p);
		e->left.passes += !p->row;
	}
}

static struct tally_export *
begin(FILE *out, const struct tally_export_options *options)
{
	struct perfetto *e = g_new0(struct perfetto, 1);
	e->t.out = out;
	e->options = options;
	e->devices = g_hash_table_new_full(NULL, NULL, NULL, free_device);
	e->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	e->placed = g_array_new(FALSE, FALSE, sizeof(struct placed));
	e->order = g_ptr_array_new();
	e->ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return (struct tally_export *)e;
}

static void
line(struct tally_export *export, const struct tally_log_line *line)
{
	struct perfetto *e = (struct perfetto *)export;
	if (line->type == TALLY_LINE_HEADER) {
		e->t.pid = (uint64_t)line->header.pid;
		e->last_ns = line->header.process_start_ns;
	}
	if (line->type == TALLY_LINE_DEVICE)
		find_device(e, line->device.device);
	if (line->type == TALLY_LINE_NOTE)
		put_note(e, &line->note);
}

/* Tells Perfetto about the GPUs, whose numbers are their places in the list. */
static void
put_gpus(struct perfetto *e)
{
	if (!e->n_gpus)
		return;
	tally_trace_begin_gpus(&e->t);
	for (uint32_t i = 0; i < e->n_gpus; i++) {
		const struct device *d =
			g_hash_table_lookup(e->devices, GUINT_TO_POINTER(i));
		const struct tally_device_summary *about = d ? d->about : NULL;
		g_autofree char *name = about ? device_name(about) : NULL;
		g_autofree char *driver = NULL;
		if (about && about->described)
			driver = g_strjoin(" ", about->driver ? about->driver : "",
					   about->driver_version, NULL);
		tally_trace_put_gpu(&e->t, name, driver, about ? about->pci : NULL,
				    about ? about->uuid : NULL);
	}
	tally_trace_end_event(&e->t);
}

static void
end(struct tally_export *export, struct tally_export_left *left)
{
	struct perfetto *e = (struct perfetto *)export;
	put_gpus(e);
	tally_trace_finish(&e->t);
	*left = e->left;
	g_hash_table_destroy(e->devices);
	g_hash_table_destroy(e->numbers);
	g_array_unref(e->placed);
	g_ptr_array_unref(e->order);
	g_array_unref(e->ids);
	g_free(e);
}

const struct tally_export_format tally_export_perfetto = {
	.binary = true, .begin = begin, .line = line,
	.frame = put_frame, .end = end
};
