/* SPDX-License-Identifier: MIT */
#include "cli/report/summary.h"

#include "cli/answer/text.h"
#include "cli/log/device_summary.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <inttypes.h>
#include <string.h>

#define MOST_BESIDE 3
#define LITTLE 0.05 /* a pass that ran less than this beside others is not named */

/* A device that is not in the answer: one below another, or one without a frame. */
static void
print_other_device(FILE *out, const struct tally_aggregate *a, const struct tally_device_summary *d,
		   int64_t device)
{
	bool beneath = device < 0 && tally_aggregate_is_beneath(a, d->device);
	if (d->frames && !beneath)
		return;
	/* Contexts that never ended a frame have no times to report. The end of a log has a
	 * note about their passes; without it only this line says that they may have drawn. */
	if (d->frames == 0 && device < 0 && a->devices->len > 1) {
		if (!a->has_end && !d->warmed_up && !d->partial)
			tally_text_print_line(out,
					      "device %u ended no frame: what it drew is "
					      "not in this log; try --frame %s",
					      d->device,
					      d->api == TALLY_API_VULKAN ? "submit:1" : "flush");
		return;
	}
	const char *below = "";
	if (beneath)
		below = tally_phrase(" (below device %" G_GINT64_FORMAT
				     ": --device %u shows it)",
				     d->beneath, d->device);
	tally_text_print_line(out, "device %u: %s, %" G_GUINT64_FORMAT " frame%s%s",
			      d->device, d->name ? d->name : "unknown", d->frames,
			      TALLY_S(d->frames), below);
}

/* The sizes that were presented, if there are several: a window that was resized, or several
 * windows, of which each frame presents one. */
static void
print_surface(FILE *out, const struct tally_device_summary *d)
{
	if (d->surfaces->len < 2)
		return;
	enum { MOST_SIZES = 3 };
	tally_text_print(out, "surfaces of device %u: ", d->device);
	for (guint i = 0; i < d->surfaces->len && i < MOST_SIZES; i++) {
		const struct tally_surface *s =
			&g_array_index(d->surfaces, struct tally_surface, i);
		tally_text_print(out, "%s%ux%u in %" G_GUINT64_FORMAT, i ? ", " : "", s->width,
				 s->height, s->frames);
	}
	tally_text_print(out, "%s of %" G_GUINT64_FORMAT " frame%s\n",
			 d->surfaces->len > MOST_SIZES ? ", ..." : "", d->frames,
			 TALLY_S(d->frames));
}

/* A clock that varied, which makes times of one pass differ. */
static void
print_clock(FILE *out, struct tally_device_summary *d)
{
	struct tally_clock_range clock;
	if (!tally_aggregate_clock(d, &clock) || clock.moved <= TALLY_CLOCK_MOVED)
		return;
	tally_text_print(out,
			 "GPU clock of device %u: moved by %.0f %%, %.0f to %.0f MHz, "
			 "median %.0f MHz\n",
			 d->device, 100 * clock.moved, clock.low_mhz, clock.high_mhz,
			 clock.median_mhz);
}

/* Frames and passes that are not in the times. */
static void
print_left_out(FILE *out, const struct tally_aggregate *a, int64_t device)
{
	uint64_t partial = 0, dropped = 0;
	TALLY_EACH (const struct tally_device_summary, d, a->devices) {
		if (device >= 0 ? d->device != device : tally_aggregate_is_beneath(a, d->device))
			continue;
		partial += d->partial;
		dropped += d->dropped_passes;
	}
	if (partial)
		tally_text_print(out,
				 "%" G_GUINT64_FORMAT " more frame%s, cut short by the "
				 "run's end: in times of passes, not of frames\n",
				 partial, TALLY_S(partial));
	if (dropped)
		tally_text_print(out,
				 "%" G_GUINT64_FORMAT " pass%s dropped: past "
				 "--max-passes, or more than the log could take\n",
				 dropped, dropped == 1 ? " was" : "es were");
}

/* Prints which boundary never ended a frame, and which setting ends frames in such a program. */
static void
print_boundary(FILE *out, const struct tally_aggregate *a, bool vulkan, bool draws)
{
	const char *boundary = tally_log_option(&a->identity, "frame", "present");
	const char *other = vulkan || boundary ? "submit:1" : "finish";
	const char *what = draws    ? "most was drawn after the last"
			   : boundary ? "no frame ended by"
				      : "no frame ended: no swap was seen";
	const char *rule = draws ? " swap" : "";
	if (boundary)
		rule = tally_phrase(" --frame %s", boundary);
	bool same = g_strcmp0(boundary, other) == 0;
	const char *advice = same || draws || !boundary
				     ? "; try --frame "
				     : ": leave it out if the program swaps, else try --frame ";
	tally_text_print_line(out, "%s%s%s%s", what, rule, same ? "" : advice, same ? "" : other);
	if (!draws && a->groups->len && a->by->passes)
		tally_text_print(out, "  each pass of the run is a row; --by label sums up those "
				      "of one name\n");
}

/* A program swapped a few times, as when it made its window, and then drew without. */
static bool
draws_after(const struct tally_aggregate *a, uint64_t frames)
{
	enum { FEW = 3 };
	for (guint i = 0; i < a->notes->len && frames <= FEW; i++)
		if (strstr(a->notes->pdata[i], "issued after its last frame"))
			return true;
	return false;
}

/* Why there is no frame to judge, if there is none. */
static void
print_no_frame(FILE *out, const struct tally_aggregate *a)
{
	uint64_t frames = 0, left_out = 0, most = 0, flags = 0;
	bool vulkan = false;
	TALLY_EACH (const struct tally_device_summary, d, a->devices) {
		frames += d->frames;
		left_out += d->warmed_up;
		flags |= d->flags;
		most = MAX(most, d->frames + d->warmed_up);
		vulkan |= d->described && d->api == TALLY_API_VULKAN;
	}
	bool draws = draws_after(a, most);
	/* Something was rendered, but nothing ever ended a frame. */
	bool none = a->devices->len > 0 && frames + left_out == 0;
	if (left_out && !frames)
		tally_text_print(out,
				 "--warmup %" G_GUINT64_FORMAT " left out all %" G_GUINT64_FORMAT
				 " frame%s\n",
				 a->warmup, left_out, TALLY_S(left_out));
	else if (none && flags & TALLY_FLAG(PICTURED))
		tally_text_print_line(out, "no frame was measured: each runs what "
					   "--pictures recorded copies in");
	else if (none && a->waits)
		tally_text_print_line(out, "no frame was captured up to the %s end, with %s",
				      a->has_end ? "run's" : "log's", a->waits);
	else if (none && !a->has_end)
		tally_text_print(out, "the log ends before its first complete frame\n");
	else if (none || draws)
		print_boundary(out, a, vulkan, draws);
	else if (a->has_end && a->end_frames == 0 && a->end_reason)
		tally_text_print_line(out, "no frames: %s", a->end_reason);
	else if (a->devices->len == 0)
		tally_text_print(out, "0 frames\n");
}

/* The information in the end of the log that the frames do not have. */
static void
print_end(FILE *out, const struct tally_aggregate *a)
{
	static const char *const early[] = { "max-log", "disk-full", "no-memory",
					     "write-error", NULL };
	uint64_t n = a->end_frames_dropped;
	if (!a->has_end)
		return;
	if (a->end_reason && a->end_frames && g_strv_contains(early, a->end_reason)) {
		const char *lost = tally_phrase("; %" G_GUINT64_FORMAT
						" frame%s of it%s not in the log",
						n, TALLY_S(n), n == 1 ? " is" : " are");
		tally_text_print_line(out, "the capture ended before the program did: %s%s",
				      a->end_reason, n ? lost : "");
	} else if (n) {
		tally_text_print(out,
				 "%" G_GUINT64_FORMAT
				 " frame%s dropped: the log could not keep up\n",
				 n, n == 1 ? " was" : "s were");
	}
}

static gint
by_beside(gconstpointer x, gconstpointer y)
{
	const struct tally_beside *a = x, *b = y;
	return a->beside_ns < b->beside_ns ? 1 : a->beside_ns > b->beside_ns ? -1 : 0;
}

/* How long each queue worked, and which passes ran beside others; nothing where no frame had passes
 * on several queues. */
static void
print_queues(FILE *out, const struct tally_aggregate *a,
	     const struct tally_device_summary *d)
{
	const struct tally_queues *q = &d->queues_at_once;
	if (!q->frames)
		return;
	double frame = 1e6 * (double)q->frames;
	g_autoptr(GString) line = g_string_new("queues, ms a frame:");
	for (uint32_t i = 0; i < q->n; i++)
		g_string_append_printf(line, " %d.%d %.3g,", q->rows[i].family, q->rows[i].index,
				       (double)q->rows[i].busy_ns / frame);
	g_string_append_printf(line, " any of them %.3g, several at once %.3g",
			       (double)q->any_ns / frame, (double)q->several_ns / frame);
	g_autoptr(GList) all = g_list_sort(g_hash_table_get_values(q->beside), by_beside);
	unsigned n = 0;
	for (GList *l = all; l && n < MOST_BESIDE; l = l->next) {
		const struct tally_beside *b = l->data;
		const struct tally_group *g =
			tally_aggregate_find_pass(a, d->device, b->id);
		double share = (double)b->beside_ns / (double)b->gpu_ns;
		if (g && share >= LITTLE)
			g_string_append_printf(line, "%s %s (%.0f %% of its time)",
					       n++ ? "," : "; beside other queues:", g->name,
					       100 * share);
	}
	tally_text_print_line(out, "%s", line->str);
}

void
tally_summary_print(FILE *out, const struct tally_aggregate *a, const struct tally_answer *answer,
		    int64_t device, bool wide)
{
	tally_answer_print(out, answer, device, wide);
	TALLY_EACH (struct tally_device_summary, d, a->devices) {
		if (device >= 0 && d->device != device)
			continue;
		print_other_device(out, a, d, device);
		if (!d->frames || (device < 0 && tally_aggregate_is_beneath(a, d->device)))
			continue;
		print_surface(out, d);
		print_clock(out, d);
		print_queues(out, a, d);
	}
	print_left_out(out, a, device);
	print_no_frame(out, a);
	print_end(out, a);
}

void
tally_summary_print_hitches(FILE *out, const struct tally_answer *answer)
{
	TALLY_EACH (const struct tally_answer_device, of, answer->devices) {
		if (!of->n_listed)
			continue;
		const char *window = of->window ? tally_phrase(", window %u", of->window) : "";
		tally_text_print(out,
				 "\nhitches of device %u%s, the worst first (%u of %" PRIu64
				 "):\n",
				 of->device, window, of->n_listed, of->n_hitches);
		for (unsigned i = 0; i < of->n_listed; i++)
			tally_text_print_line(out, "  %s",
					      tally_answer_hitch_text(&of->hitches[i]));
	}
}

void
tally_summary_print_identity(FILE *out, const struct tally_aggregate *a)
{
	g_autofree char *tags = tally_log_identity_tags(&a->identity, ", ");
	g_autofree char *machine = tally_log_identity_machine(&a->identity);
	if (tags)
		tally_text_print_line(out, "tags: %s", tags);
	if (machine)
		tally_text_print_wrapped(out, tally_phrase("machine: %s", machine), 2, 80);
}

void
tally_summary_print_notes(FILE *out, const struct tally_aggregate *a, GHashTable *printed)
{
	TALLY_EACH (const char, note, a->notes) {
		char *line = g_strconcat("note: ", note, NULL);
		if (!printed)
			tally_text_print_wrapped(out, line, 2, 80);
		else if (g_hash_table_add(printed, g_strdup(line)))
			tally_text_print_line(out, "%s", line);
		g_free(line);
	}
}
