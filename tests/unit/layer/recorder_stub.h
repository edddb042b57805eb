/* SPDX-License-Identifier: MIT */
/* tests/unit/layer/recorder_stub.h - a recorder that keeps what it receives, for tests of the core.
 *
 * Written by the collector thread, read by the test after tally_session_stop(). `stub_fail` makes
 * the recorder refuse after so many lines.
 */
#ifndef PASSTALLY_TESTS_UNIT_RECORDER_STUB_H
#define PASSTALLY_TESTS_UNIT_RECORDER_STUB_H

#include "layer/recorder.h"

#include <glib.h>
#include <stdatomic.h>
#include <string.h>

struct stub_frame {
	struct tally_frame_record record; /* passes, their workloads and counters are copies */
};

struct tally_recorder {
	int unused;
};

static struct {
	GArray *frames; /* struct stub_frame */
	GArray *infos; /* struct tally_pass_info_record */
	GPtrArray *
		lines; /* "header ...", "device 0 NAME", "frame 0 17", "end REASON", ... */
	GHashTable *taken; /* paths that exist already */
	GPtrArray *paths; /* opened */
	struct tally_end_record end;
	unsigned n_ends, n_process, n_closed, n_abandoned;
	enum tally_record_status failed;
	atomic_uint n_frames, n_flushes; /* may be read at any time */
} stub;

/* Lines until `stub_failure`; -1: never. */
static int stub_fail = -1;
static enum tally_record_status stub_failure = TALLY_RECORD_FULL;
static enum tally_record_status stub_open_status = TALLY_RECORD_OK;

static void
stub_init(void)
{
	stub.frames = g_array_new(FALSE, TRUE, sizeof(struct stub_frame));
	stub.infos = g_array_new(FALSE, TRUE, sizeof(struct tally_pass_info_record));
	stub.lines = g_ptr_array_new_with_free_func(g_free);
	stub.paths = g_ptr_array_new_with_free_func(g_free);
	stub.taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static inline const struct tally_frame_record *
stub_frame(unsigned i)
{
	g_assert_cmpuint(i, <, stub.frames->len);
	return &g_array_index(stub.frames, struct stub_frame, i).record;
}

static inline const char *
stub_line(unsigned i)
{
	return i < stub.lines->len ? g_ptr_array_index(stub.lines, i) : NULL;
}

/* How many lines begin so. */
static inline unsigned
stub_count(const char *prefix)
{
	unsigned n = 0;
	for (unsigned i = 0; i < stub.lines->len; i++)
		n += g_str_has_prefix(stub_line(i), prefix);
	return n;
}

static enum tally_record_status
stub_say(char *line)
{
	if (stub.failed != TALLY_RECORD_OK) {
		g_free(line);
		return stub.failed;
	}
	if (stub_fail >= 0 && (int)stub.lines->len >= stub_fail) {
		g_free(line);
		stub.failed = stub_failure;
		return stub.failed;
	}
	g_ptr_array_add(stub.lines, line);
	return TALLY_RECORD_OK;
}

static struct tally_recorder *
stub_open(const struct tally_recorder_options *options, enum tally_record_status *status,
	  char *why, size_t size)
{
	static struct tally_recorder recorder;
	*status = stub_open_status;
	if (g_hash_table_contains(stub.taken, options->path) && !options->force)
		*status = TALLY_RECORD_EXISTS;
	if (*status != TALLY_RECORD_OK) {
		g_snprintf(why, (gulong)size, "%s: refused by the stub", options->path);
		return NULL;
	}
	g_hash_table_add(stub.taken, g_strdup(options->path));
	g_ptr_array_add(stub.paths, g_strdup(options->path));
	stub.failed = TALLY_RECORD_OK;
	return &recorder;
}

static enum tally_record_status
stub_header(struct tally_recorder *r, const struct tally_header_record *header)
{
	(void)r;
	GString *line = g_string_new("header");
	for (uint32_t i = 0; i < header->n_options; i++)
		g_string_append_printf(line, " %s=%s", header->options[i].key,
				       header->options[i].value);
	g_string_append_printf(line, " argv=%u", header->n_argv);
	g_assert_cmpint(header->pid, >, 0);
	g_assert_true(header->program[0] == '/');
	return stub_say(g_string_free(line, FALSE));
}

static enum tally_record_status
stub_device(struct tally_recorder *r, const struct tally_device_record *device)
{
	(void)r;
	return stub_say(g_strdup_printf("device %u %s sources=%u counters=%u", device->device,
					device->name, device->n_sources, device->n_counters));
}

static enum tally_record_status
stub_pass_info(struct tally_recorder *r, const struct tally_pass_info_record *info)
{
	(void)r;
	enum tally_record_status status = stub_say(
		g_strdup_printf("pass_info %016" G_GINT64_MODIFIER "x", info->id));
	if (status == TALLY_RECORD_OK)
		g_array_append_val(stub.infos, *info);
	return status;
}

static struct tally_workload_record *
stub_copy_workloads(const struct tally_workload_record *from, uint32_t n)
{
	struct tally_workload_record *to = n ? g_memdup2(from, n * sizeof(*to)) : NULL;
	for (uint32_t i = 0; i < n; i++)
		to[i].counters = g_memdup2(from[i].counters,
					   from[i].n_counters * sizeof(*from[i].counters));
	return to;
}

static enum tally_record_status
stub_frame_line(struct tally_recorder *r, const struct tally_frame_record *frame)
{
	(void)r;
	enum tally_record_status status = stub_say(
		g_strdup_printf("frame %u %" G_GUINT64_FORMAT, frame->device, frame->frame));
	if (status != TALLY_RECORD_OK)
		return status;
	struct stub_frame copy = { *frame };
	struct tally_pass_record *passes = NULL;
	if (frame->n_passes)
		passes = g_memdup2(frame->passes, frame->n_passes * sizeof(*passes));
	for (uint32_t i = 0; i < frame->n_passes; i++) {
		passes[i].counters = g_memdup2(passes[i].counters,
					       passes[i].n_counters *
						       sizeof(*passes[i].counters));
		passes[i].workloads = stub_copy_workloads(passes[i].workloads,
							  passes[i].n_workloads);
	}
	copy.record.passes = passes;
	copy.record.unattributed = g_memdup2(frame->unattributed,
					     frame->n_unattributed *
						     sizeof(*frame->unattributed));
	g_array_append_val(stub.frames, copy);
	atomic_fetch_add(&stub.n_frames, 1);
	return status;
}

/* One comes each tenth of a second: no test's lines are to depend on that. */
static enum tally_record_status
stub_process(struct tally_recorder *r, const struct tally_process_record *process)
{
	(void)r;
	(void)process;
	stub.n_process++;
	return TALLY_RECORD_OK;
}

static enum tally_record_status
stub_pipeline(struct tally_recorder *r, const struct tally_pipeline_record *pipeline)
{
	(void)r, (void)pipeline;
	return TALLY_RECORD_OK;
}

static enum tally_record_status
stub_note(struct tally_recorder *r, const struct tally_note_record *note)
{
	(void)r;
	return stub_say(g_strdup_printf("note %s", note->message));
}

static enum tally_record_status
stub_end(struct tally_recorder *r, const struct tally_end_record *end)
{
	(void)r;
	stub.end = *end;
	stub.n_ends++;
	return stub_say(g_strdup_printf("end %s", end->reason));
}

static enum tally_record_status
stub_flush(struct tally_recorder *r)
{
	(void)r;
	atomic_fetch_add(&stub.n_flushes, 1);
	return stub.failed;
}

static const char *
stub_why(const struct tally_recorder *r)
{
	(void)r;
	return stub.failed != TALLY_RECORD_OK ? "the stub is full" : "";
}

static void
stub_close(struct tally_recorder *r)
{
	if (r)
		stub.n_closed++;
}

static void
stub_abandon(struct tally_recorder *r)
{
	(void)r;
	stub.n_abandoned++;
}

static const struct tally_recorder_ops stub_recorder = {
	.open = stub_open,
	.header = stub_header,
	.device = stub_device,
	.pass_info = stub_pass_info,
	.pipeline = stub_pipeline,
	.frame = stub_frame_line,
	.process = stub_process,
	.note = stub_note,
	.end = stub_end,
	.flush = stub_flush,
	.why = stub_why,
	.close = stub_close,
	.abandon = stub_abandon,
};

/* Runs the calling test in a separate process: a process has one session. False: this is the
 * parent, and the child passed. `options` become PASSTALLY_OPTIONS. */
static inline bool
stub_in_child(const char *options)
{
	if (g_test_subprocess()) {
		stub_init();
		return true;
	}
	g_setenv("PASSTALLY_OPTIONS", options ? options : "", TRUE);
	g_setenv("XDG_CONFIG_HOME", "/nonexistent", TRUE);
	g_setenv("XDG_STATE_HOME", "/nonexistent", TRUE);
	g_unsetenv("PASSTALLY_LOG");
	g_unsetenv("PASSTALLY_DISABLE");
	g_unsetenv("PASSTALLY_STATUS");
	g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
	g_test_trap_assert_passed();
	return false;
}

#endif
