/* SPDX-License-Identifier: MIT */
#include "layer/frame/lines.h"

#include "layer/base/futex.h"
#include "layer/capture/capture.h"
#include "layer/event/late.h"
#include "layer/frame/black_box.h"
#include "layer/frame/identity.h"
#include "layer/log.h"

#include <stdio.h>

#define QUIET_NS UINT64_C(2000000000)
#define MAX_QUIET_NS (8 * QUIET_NS)

static void
note_status(struct tally_assembly *a, enum tally_record_status status)
{
	a->dirty = true;
	if (status == TALLY_RECORD_OK || a->status != TALLY_RECORD_OK)
		return;
	a->status = status;
	const char *why = a->ops->why(a->recorder);
	if (!why || !*why)
		why = a->ops->why(tally_black_box_recorder(a->recorder));
	tally_log_say(TALLY_LEVEL_ERROR, "session",
		      "capture stopped, the game goes on: %s",
		      why && *why ? why : "the log could not be written");
}

const char *
tally_assembly_failure(const struct tally_assembly *a)
{
	static const char *const reasons[TALLY_RECORD_NO_MEMORY + 1] = {
		[TALLY_RECORD_LIMIT] = "max-log",
		[TALLY_RECORD_FULL] = "disk-full",
		[TALLY_RECORD_NO_MEMORY] = "no-memory",
	};
	if (a->status == TALLY_RECORD_OK)
		return NULL;
	return reasons[a->status] ? reasons[a->status] : "write-error";
}

void
tally_assembly_flush(struct tally_assembly *a, uint64_t now_ns)
{
	struct tally_recorder *box = tally_black_box_recorder(a->recorder);
	note_status(a, a->ops->flush(a->recorder));
	if (box != a->recorder)
		note_status(a, a->ops->flush(box));
	a->dirty = false;
	a->flushed_ns = now_ns;
}

bool
tally_assembly_write_notes(struct tally_assembly *a)
{
	bool any = false;
	struct tally_note_record note;
	const struct tally_config *config = tally_capture_config();
	char message[512];
	while (tally_log_take(&note)) {
		if (config && config->no_argv) {
			snprintf(message, sizeof(message), "%s", note.message);
			tally_identity_hide_homes(message);
			note.message = message;
		}
		/* Of marks there may be ever more. */
		struct tally_recorder *r = a->recorder;
		if (note.has_time)
			r = tally_black_box_recorder(r);
		note_status(a, a->ops->note(r, &note));
		any = true;
	}
	return any;
}

uint64_t
tally_assembly_quiet_ns(const struct tally_assembly *a, uint64_t now_ns)
{
	bool idle = !a->quiet_ns;
	for (const struct tally_device *d = a->devices; d && !idle; d = d->next)
		idle = tally_device_idles(d);
	uint64_t since = now_ns - a->load_ns;
	return idle || !a->devices   ? TALLY_FOREVER
	       : since < a->quiet_ns ? a->quiet_ns - since
				     : 0;
}

static uint64_t
next_quiet_ns(uint64_t quiet_ns)
{
	return quiet_ns < MAX_QUIET_NS ? 2 * quiet_ns : 0;
}

static void
write_process(struct tally_assembly *a, uint64_t now_ns, bool frames)
{
	struct tally_process_record process;
	if (!tally_process_load_read(a->load, now_ns, a->frames_thread, &process) ||
	    a->status != TALLY_RECORD_OK)
		return;
	if (!frames)
		process.n_asleep = tally_late_find_unended(a->frames_thread, now_ns,
							   &process.asleep);
	note_status(a, a->ops->process(tally_black_box_recorder(a->recorder), &process));
}

void
tally_assembly_write_load(struct tally_assembly *a, uint64_t now_ns, bool frames)
{
	if (a->config && a->config->digest)
		return; /* a digest has no lines that grow with the run */
	if (!a->load)
		a->load = tally_process_load_create(a->process_start_ns);
	if (!a->load || (now_ns - a->load_ns < TALLY_LOAD_PERIOD_NS && !a->long_frame))
		return;
	a->load_ns = now_ns;
	a->long_frame = false;
	a->quiet_ns = frames ? QUIET_NS : next_quiet_ns(a->quiet_ns);
	write_process(a, now_ns, frames);
}

static void
write_device_line(struct tally_assembly *a, const struct tally_device_record *info)
{
	struct tally_recorder *box = tally_black_box_recorder(a->recorder);
	if (a->status == TALLY_RECORD_OK)
		note_status(a, a->ops->device(a->recorder, info));
	if (a->status == TALLY_RECORD_OK && box != a->recorder)
		note_status(a, a->ops->device(box, info)); /* for the keys of frames */
}

void
tally_lines_write_device(struct tally_assembly *a, const struct tally_device_record *info)
{
	struct tally_annotator *annotator = atomic_load(&a->annotator);
	if (annotator)
		info = a->annotate->device(annotator, info);
	write_device_line(a, info);
}

void
tally_lines_write_pipeline(void *data, const struct tally_pipeline_record *pipeline)
{
	struct tally_assembly *a = data;
	if (a->status == TALLY_RECORD_OK)
		note_status(a, a->ops->pipeline(a->recorder, pipeline));
}

void
tally_lines_write_pass(void *data, const struct tally_pass_info_record *info)
{
	struct tally_assembly *a = data;
	if (a->status == TALLY_RECORD_OK)
		note_status(a, a->ops->pass_info(a->recorder, info));
}

void
tally_lines_write_changed_devices(struct tally_assembly *a,
				  struct tally_annotator *annotator, bool last)
{
	const struct tally_device_record *info;
	while ((info = a->annotate->changed(annotator, last)) &&
	       a->status == TALLY_RECORD_OK)
		write_device_line(a, info);
}

void
tally_lines_write_frame(struct tally_assembly *a, const struct tally_frame_record *record)
{
	if (a->config && a->config->digest) {
		note_status(a, TALLY_RECORD_OK);
	} else if (!tally_black_box_is_on()) {
		note_status(a, a->ops->frame(a->recorder, record));
	} else {
		/* First the passes that are new with the frame. */
		a->ops->flush(a->recorder);
		note_status(a, tally_black_box_frame(record));
	}
}
