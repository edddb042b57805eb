/* SPDX-License-Identifier: MIT */
#include "layer/frame/assembly.h"

#include "layer/base/clock.h"
#include "layer/capture/capture.h"
#include "layer/capture/renderdoc.h"
#include "layer/event/late.h"
#include "layer/frame/black_box.h"
#include "layer/frame/lines.h"
#include "layer/frame/queue.h"
#include "layer/log.h"

#include <stdlib.h>

struct tally_assembly *
tally_assembly_create(const struct tally_recorder_ops *ops, struct tally_recorder *recorder)
{
	struct tally_assembly *a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->builder = tally_frame_builder_create();
	if (!a->builder) {
		free(a);
		return NULL;
	}
	a->ops = ops;
	a->recorder = recorder;
	a->dirty = true; /* the header */
	a->flushed_ns = tally_clock_now_ns();
	return a;
}

void
tally_assembly_destroy(struct tally_assembly *a)
{
	if (!a)
		return;
	tally_frame_builder_destroy(a->builder);
	tally_process_load_destroy(a->load);
	tally_numbers_finish(&a->seen);
	free(a);
}

/* ---- incoming messages and parts ---- */

static void
add_device(struct tally_assembly *a, struct tally_device *d)
{
	struct tally_device **at = &a->devices;
	while (*at && (*at)->number < d->number)
		at = &(*at)->next;
	d->next = *at;
	*at = d;
	d->boundary_ns = d->created_ns;
}

static void
add_stream(struct tally_stream *s)
{
	struct tally_stream **at = &s->device->streams;
	while (*at && (*at)->number < s->number)
		at = &(*at)->next;
	s->next = *at;
	*at = s;
}

bool
tally_assembly_take_messages(struct tally_assembly *a, struct tally_message *messages)
{
	bool any = messages != NULL;
	while (messages) {
		struct tally_message *message = messages;
		messages = message->next;
		if (message->kind == TALLY_MESSAGE_DEVICE)
			add_device(a, message->device);
		if (message->kind == TALLY_MESSAGE_STREAM)
			add_stream(message->stream);
		else
			tally_lines_write_device(a, message->info);
		free(message->info);
		free(message);
	}
	return any;
}

static void
add_part(struct tally_device *d, struct tally_frame_part *part)
{
	struct tally_frame_part **at = &d->parts;
	while (*at &&
	       ((*at)->frame < part->frame ||
		((*at)->frame == part->frame && (*at)->stream->number <= part->stream->number)))
		at = &(*at)->next;
	part->next = *at;
	*at = part;
}

static bool
pop_parts(struct tally_device *d)
{
	uint64_t now_ns = 0;
	for (struct tally_stream *s = d->streams; s; s = s->next) {
		struct tally_frame_part *part;
		while ((part = tally_ring_pop(s->out))) {
			if (now_ns == 0)
				now_ns = tally_clock_now_ns();
			part->arrived_ns = now_ns;
			s->n_held++;
			add_part(d, part);
		}
	}
	return now_ns != 0;
}

bool
tally_assembly_begin_round(struct tally_assembly *a)
{
	bool any = false;
	for (struct tally_device *d = a->devices; d; d = d->next) {
		/* This is read before the messages are taken: none that comes
		 * later is for this device. */
		d->was_gone = atomic_load(&d->gone);
		any |= pop_parts(d);
	}
	return any;
}

/* Reads which frames the streams may still add to. Afterwards the frames that are already known
 * to have ended can be judged; see frame_part.h. */
static void
read_gates(struct tally_device *d)
{
	for (const struct tally_frame_part *p = d->parts; p; p = p->next) {
		if (p->ends && p->frame + 1 > d->known_end)
			d->known_end = p->frame + 1;
	}
	for (struct tally_stream *s = d->streams; s; s = s->next) {
		s->was_gone = atomic_load(&s->gone);
		s->gate_newest = atomic_load(&s->newest_open);
		s->gate_oldest = atomic_load(&s->oldest_open);
	}
}

/* ---- finished frames ---- */

static void
give_back(struct tally_frame_part *part)
{
	struct tally_stream *s = part->stream;
	s->n_held--;
	/* The ring has room for all parts of a stream. */
	tally_ring_push(s->back, part);
}

/* The part that ended the oldest frame that is known to have ended, late frames aside. */
static struct tally_frame_part *
next_ended(const struct tally_device *d)
{
	for (struct tally_frame_part *p = d->parts; p; p = p->next) {
		if (p->ends && p->frame >= d->next_frame)
			return p;
	}
	return NULL;
}

/* Whether a stream may still add to the frame, or to an unwritten one before it. A stream whose
 * oldest part belongs to a frame that was given up blocks nothing unless it has newer parts. */
static bool
is_blocked(const struct tally_device *d, uint64_t frame)
{
	for (const struct tally_stream *s = d->streams; s; s = s->next) {
		bool is_late = s->gate_oldest < d->next_frame && s->gate_newest <= frame;
		if (s->gate_oldest <= frame && !is_late)
			return true;
	}
	return false;
}

static unsigned
count_ended(const struct tally_device *d)
{
	unsigned n = 0;
	for (const struct tally_frame_part *p = d->parts; p; p = p->next)
		n += p->ends && p->frame >= d->next_frame;
	return n;
}

/* What the thread that ended the frame did, if it also ended the previous one. */
static void
take_thread_time(struct tally_frame_input *in, const struct tally_thread_time *from)
{
	const struct tally_thread_time *to = &in->thread;
	/* A thread that had the same identity before may have ended: counts may have
	 * decreased. */
	if (!from->thread || from->thread != to->thread || from->ns > to->ns ||
	    from->kernel_ns > to->kernel_ns || from->wait_ns > to->wait_ns ||
	    from->minor_faults > to->minor_faults ||
	    from->major_faults > to->major_faults || from->disk_bytes > to->disk_bytes)
		return;
	in->has_thread = true;
	in->thread_ns = to->ns - from->ns;
	in->kernel_ns = to->kernel_ns - from->kernel_ns;
	in->wait_ns = to->wait_ns - from->wait_ns;
	in->minor_faults = to->minor_faults - from->minor_faults;
	in->major_faults = to->major_faults - from->major_faults;
	in->disk_bytes = to->disk_bytes - from->disk_bytes;
}

/* Takes into account what the parts of this frame, and late parts, record about frame ends. */
static void
take_ends(struct tally_device *d, struct tally_frame_input *in)
{
	const struct tally_frame_part *p = in->parts;
	for (uint64_t i = 0; i < in->n_parts; i++, p = p->next) {
		if (p->ends && p->captured && p->frame == in->frame)
			in->events = &p->events;
		if (p->lost_frame > d->boundary_frame && p->lost_frame <= in->frame) {
			d->boundary_frame = p->lost_frame;
			d->boundary_ns = p->lost_now_ns;
			d->boundary_thread.thread = 0;
		}
	}
	in->start_ns = d->boundary_ns;
	if (d->boundary_frame == in->frame)
		take_thread_time(in, &d->boundary_thread);
	/* The end of the previous frame is not known: this frame seems to begin too early. */
	if (d->boundary_frame != in->frame)
		in->flags |= TALLY_FLAG(INCOMPLETE);
}

static void
write_frame(struct tally_assembly *a, struct tally_frame_record *record)
{
	struct tally_annotator *annotator = atomic_load(&a->annotator);
	if (annotator) {
		tally_lines_write_changed_devices(a, annotator, false);
		a->annotate->frame(annotator, record, tally_frame_passes(a->builder));
	}
	if (a->status == TALLY_RECORD_OK)
		tally_lines_write_frame(a, record);
	if (a->status == TALLY_RECORD_OK) {
		a->frames++;
		a->passes += record->n_passes;
		if (annotator)
			a->annotate->written(annotator, record);
	} else if (annotator) {
		a->annotate->unwritten(annotator);
	}
}

/* Builds a frame from the first n parts of the device's list, writes it and
 * returns the parts. */
static void
build_frame(struct tally_assembly *a, struct tally_device *d, struct tally_frame_input *in)
{
	in->device = d->number;
	in->parts = d->parts;
	in->seen = &a->seen;
	in->dropped = d->spare_dropped;
	d->spare_dropped = 0;
	take_ends(d, in);
	if (in->has_thread)
		in->n_asleep = tally_late_find(in->thread.thread, in->start_ns, in->end_ns,
					       &in->asleep);
	const struct tally_frame_new is_new = { tally_lines_write_pass,
						tally_lines_write_pipeline, a };
	if (a->status == TALLY_RECORD_OK)
		write_frame(a, tally_frame_build(a->builder, in, &is_new));
	for (uint64_t i = 0; i < in->n_parts; i++) {
		struct tally_frame_part *part = d->parts;
		d->parts = part->next;
		give_back(part);
	}
}

/* An uncaptured frame gets no line. Late parts before it wait for the next frame that does. */
static void
skip_frame(struct tally_device *d, uint64_t frame)
{
	struct tally_frame_part **at = &d->parts;
	while (*at && (*at)->frame <= frame) {
		struct tally_frame_part *part = *at;
		if (part->frame < frame) {
			at = &part->next;
			continue;
		}
		d->spare_dropped += part->dropped;
		*at = part->next;
		give_back(part);
	}
}

/* When a device has ended so many frames: one beside it that ends none is in the log only once the
 * program ends. */
#define FRAMES_OF_OTHERS 64

static void
report_endless(const struct tally_assembly *a, const struct tally_device *d)
{
	for (const struct tally_device *other = a->devices; other; other = other->next) {
		bool works = false;
		for (const struct tally_stream *s = other->streams; s; s = s->next)
			works |= s->gate_newest > 0;
		if (works && tally_device_frame(other) == 0)
			tally_log_say(TALLY_LEVEL_WARNING, "session",
				      "device %u works, but ends no frame, while device %u ended "
				      "%u: its passes are listed when the program ends; --frame "
				      "flush or finish ends its frames where the program does",
				      other->number, d->number, FRAMES_OF_OTHERS);
	}
}

/* Once: a capture makes its frame long itself. */
static void
ask_renderdoc(struct tally_assembly *a, uint64_t frame, uint64_t ns)
{
	const struct tally_config *config = tally_capture_config();
	if (a->renderdoc_asked || !config || !config->renderdoc_over_ns ||
	    ns <= config->renderdoc_over_ns)
		return;
	a->renderdoc_asked = true;
	const char *why = tally_renderdoc_capture();
	tally_log_say(why ? TALLY_LEVEL_WARNING : TALLY_LEVEL_INFO, "renderdoc",
		      "frame %llu was longer than renderdoc-over: %s", (unsigned long long)frame,
		      why ? why : "RenderDoc captures the next one");
}

/* The time of a frame, for options that have a limit: 0 while the program loads, which ends with
 * so many frames in a row within the limit. */
static uint64_t
loaded_ns(uint8_t *within, uint64_t ns, uint64_t limit_ns)
{
	enum { LOADED = 10 };
	if (*within == LOADED)
		return ns;
	*within = ns <= limit_ns ? *within + 1 : 0;
	return 0;
}

/* Before it may be frames that --every leaves out, or a pause: then its time is not known. */
static void
judge_time(struct tally_assembly *a, struct tally_device *d, const struct tally_frame_input *in)
{
	if (d->boundary_frame != in->frame || in->end_ns <= d->boundary_ns)
		return;
	const struct tally_config *config = tally_capture_config();
	uint64_t ns = in->end_ns - d->boundary_ns;
	if (config) {
		ask_renderdoc(a, in->frame,
			      loaded_ns(&d->within_renderdoc, ns, config->renderdoc_over_ns));
		tally_black_box_judge(
			loaded_ns(&d->within_black_box, ns, config->black_box_over_ns));
	}
}

static void
close_frame(struct tally_assembly *a, struct tally_device *d, const struct tally_frame_part *ended,
	    uint64_t flags)
{
	struct tally_frame_input in = {
		.frame = ended->frame,
		.end_ns = ended->end.now_ns,
		.thread = ended->end.thread,
		.presented = ended->end.presented,
		.flags = ended->end.flags | flags,
	};
	if (ended->captured) {
		for (const struct tally_frame_part *p = d->parts; p && p->frame <= in.frame;
		     p = p->next)
			in.n_parts++;
		build_frame(a, d, &in);
		d->n_written += a->status == TALLY_RECORD_OK;
	} else {
		skip_frame(d, in.frame);
		struct tally_annotator *annotator = atomic_load(&a->annotator);
		if (annotator)
			a->annotate->skip(annotator, d->number, in.end_ns);
	}
	judge_time(a, d, &in);
	a->frames_thread = in.thread.thread;
	d->next_frame = d->boundary_frame = in.frame + 1;
	if (d->next_frame == FRAMES_OF_OTHERS)
		report_endless(a, d);
	d->boundary_ns = in.end_ns;
	d->boundary_thread = in.thread; /* the part was given back */
}

static bool
write_frames(struct tally_assembly *a, struct tally_device *d, uint64_t now_ns, bool all)
{
	bool any = false;
	struct tally_frame_part *ended;
	while ((ended = next_ended(d))) {
		bool judged = ended->frame < d->known_end;
		bool blocked = !judged || is_blocked(d, ended->frame);
		bool patient = now_ns < ended->arrived_ns + TALLY_MAX_WAIT_NS &&
			       count_ended(d) <= TALLY_MAX_WAITING;
		if (!all && blocked && (patient || !judged))
			return any || !judged;
		close_frame(a, d, ended, blocked ? TALLY_FLAG(INCOMPLETE) : 0);
		any = true;
	}
	return any;
}

/* Adds the counts that gone streams could not pass on in a part. */
static void
take_gone_counts(struct tally_device *d)
{
	for (struct tally_stream *s = d->streams; s; s = s->next) {
		if (!s->was_gone)
			continue;
		d->spare_dropped += s->lost_passes;
		s->lost_passes = 0;
	}
}

/* Whether there is more work than clears. A program may issue clears in a context
 * that it only tries out. */
static bool
has_work(const struct tally_device *d)
{
	for (const struct tally_frame_part *p = d->parts; p; p = p->next) {
		struct tally_chunk *chunk = p->first;
		for (uint32_t i = 0; i < p->n_passes; i++) {
			if (i && i % TALLY_CHUNK_PASSES == 0)
				chunk = chunk->next;
			const struct tally_pass *pass = &chunk->passes[i % TALLY_CHUNK_PASSES];
			const struct tally_call_counts *t = &pass->call_counts;
			if (pass->unknown || t->calls != t->clears || t->clears == 0)
				return true;
		}
	}
	return false;
}

/* Work after the last frame belongs to no frame, because it was never shown: a note reports
 * that it is left out. Of clears in a context that was only tried there is nothing to say. */
static void
report_trailing(const struct tally_device *d, uint64_t n)
{
	if (d->next_frame)
		tally_log_say(TALLY_LEVEL_INFO, "session",
			      "%llu pass%s of device %u belong%s to no frame and %s left out: "
			      "issued after its last frame",
			      (unsigned long long)n, n == 1 ? "" : "es", d->number,
			      n == 1 ? "s" : "", n == 1 ? "is" : "are");
}

/* Handles the frame that was open when its device or the capture ended. It gets a line if the
 * device never ended a frame, because then there is no other. */
static void
write_trailing(struct tally_assembly *a, struct tally_device *d, uint64_t now_ns)
{
	struct tally_frame_input in = {
		.frame = d->next_frame,
		.end_ns = now_ns,
		.flags = TALLY_FLAG(PARTIAL),
	};
	take_gone_counts(d);
	uint64_t n_passes = d->spare_dropped, n_unlisted = 0;
	for (const struct tally_frame_part *p = d->parts; p; p = p->next) {
		in.n_parts++;
		n_passes += p->n_passes + p->dropped;
		n_unlisted += p->n_unlisted;
		if (p->frame > in.frame)
			in.frame = p->frame;
	}
	/* If labels begin frames, no other label ends the last one. */
	const struct tally_config *config = tally_capture_config();
	bool begun = config && config->frame == TALLY_FRAME_LABEL;
	bool is_all = begun || (d->next_frame == 0 && (has_work(d) || d->spare_dropped));
	if (n_passes > n_unlisted && !is_all) {
		report_trailing(d, n_passes - n_unlisted);
	} else if (n_passes && is_all) {
		build_frame(a, d, &in);
		d->next_frame = in.frame + 1;
	}
	while (d->parts) {
		struct tally_frame_part *part = d->parts;
		d->parts = part->next;
		give_back(part);
	}
}

/* ---- release ---- */

static void
drop_gone_streams(struct tally_device *d)
{
	take_gone_counts(d);
	for (struct tally_stream **at = &d->streams; *at;) {
		struct tally_stream *s = *at;
		if (!s->was_gone || s->n_held) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		tally_stream_unref(s);
	}
}

static void
drop_device(struct tally_assembly *a, struct tally_device *d)
{
	struct tally_annotator *annotator = atomic_load(&a->annotator);
	if (annotator)
		a->annotate->drop_device(annotator, d->number);
	a->frames_dropped += atomic_load(&d->n_ended) - d->n_written;
	if (a->gone_frames < tally_device_frame(d))
		a->gone_frames = tally_device_frame(d);
	tally_device_unref(d);
}

bool
tally_assembly_end_round(struct tally_assembly *a, uint64_t now_ns)
{
	bool any = false;
	for (struct tally_device **at = &a->devices; *at;) {
		struct tally_device *d = *at;
		bool long_frame = atomic_exchange(&d->long_frame, false);
		a->long_frame |= long_frame;
		any |= long_frame;
		read_gates(d);
		any |= pop_parts(d);
		any |= write_frames(a, d, now_ns, false);
		bool gone = d->was_gone;
		for (const struct tally_stream *s = d->streams; s; s = s->next)
			gone &= s->was_gone;
		if (gone) {
			read_gates(d); /* for the parts popped last */
			write_frames(a, d, now_ns, true);
			write_trailing(a, d, now_ns);
		}
		drop_gone_streams(d);
		if (!gone) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		drop_device(a, d);
	}
	return any;
}

/* ---- the end ---- */

uint64_t
tally_assembly_ended(const struct tally_assembly *a)
{
	uint64_t most = a->gone_frames;
	for (const struct tally_device *d = a->devices; d; d = d->next) {
		uint64_t n = tally_device_frame(d);
		most = n > most ? n : most;
	}
	return most;
}

bool
tally_assembly_waits(const struct tally_assembly *a)
{
	if (a->over_since_ns)
		return true;
	for (const struct tally_device *d = a->devices; d; d = d->next) {
		if (next_ended(d))
			return true;
	}
	return false;
}

enum tally_over
tally_assembly_over(struct tally_assembly *a)
{
	bool some = false, others = false, unread = false;
	for (struct tally_device *d = a->devices; d; d = d->next) {
		uint64_t state = atomic_load(&d->state);
		uint64_t count = atomic_load(&d->count);
		const char *reason = state & 1 ? NULL : tally_capture_over(state >> 1, count);
		if (!reason) {
			others = true;
			continue;
		}
		some = true;
		a->over_reason = reason;
		/* The gates are read now, after the state: the stream adds to no later
		 * frame. */
		unread |= next_ended(d) != NULL;
		for (struct tally_stream *s = d->streams; s; s = s->next)
			unread |= atomic_load(&s->oldest_open) != UINT64_MAX;
	}
	if (!some)
		return TALLY_OVER_NOT;
	/* A stream is announced before it can end a frame: one that is not taken yet may have ended
	 * the last. */
	unread |= tally_queue_has_messages();
	return unread ? TALLY_OVER_UNREAD : others ? TALLY_OVER_SOME : TALLY_OVER_ALL;
}

void
tally_assembly_finish(struct tally_assembly *a, const char *reason, uint64_t now_ns)
{
	struct tally_annotator *annotator = atomic_load(&a->annotator);
	if (annotator)
		tally_lines_write_changed_devices(a, annotator, true);
	while (a->devices) {
		struct tally_device *d = a->devices;
		a->devices = d->next;
		/* This is done twice: the second reading is for the parts
		 * that the first pop brought. */
		read_gates(d);
		pop_parts(d);
		read_gates(d);
		pop_parts(d);
		write_frames(a, d, now_ns, true);
		write_trailing(a, d, now_ns);
		while (d->streams) {
			struct tally_stream *s = d->streams;
			d->streams = s->next;
			tally_stream_unref(s);
		}
		drop_device(a, d);
	}
	struct tally_end_record end = {
		.frames = a->frames,
		.frames_dropped = a->frames_dropped,
		.passes = a->passes,
		.reason = reason,
	};
	if (annotator)
		a->annotate->end(annotator, &end);
	tally_assembly_write_notes(a); /* with those of the annotator */
	if (tally_black_box_is_on())
		tally_black_box_finish(&end);
	else
		a->ops->end(a->recorder, &end);
	/* From here on a forked child has nothing to close. */
	atomic_store(&a->annotator, NULL);
	if (annotator)
		a->annotate->destroy(annotator);
	a->ops->close(a->recorder);
	a->recorder = NULL;
}
