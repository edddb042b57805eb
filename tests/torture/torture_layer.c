/* SPDX-License-Identifier: MIT */
/* Each allocation of the capture core fails, one by one, in a separate process: first that one
 * alone, then that one and all later ones. Nothing may crash, hang or leak, the game's calls
 * get an answer, and what is not captured is counted.
 *
 * Link with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc.
 */
#include "layer/config/config.h"
#include "layer/config/options.h"
#include "layer/frame/stream.h"
#include "layer/log.h"
#include "layer/session/session.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ALLOCATIONS 2000
#define FRAMES 6
#define PASSES 70

/* ---- failing allocation ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static atomic_uint n_allocations;
static unsigned fail_at; /* 0: never; counted from 1 */
static bool fail_on; /* and all after it */

static bool
fails(void)
{
	unsigned n = atomic_fetch_add(&n_allocations, 1) + 1;
	if (!fail_at || (n != fail_at && !(fail_on && n > fail_at)))
		return false;
	errno = ENOMEM;
	return true;
}

void *
__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *
__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

/* ---- a recorder that counts and never allocates ---- */

struct tally_recorder {
	uint64_t frames, passes, dropped, infos, devices, notes, ends, closed;
};
static struct tally_recorder log_seen;

static struct tally_recorder *
count_open(const struct tally_recorder_options *options, enum tally_record_status *status,
	   char *why, size_t size)
{
	(void)options;
	(void)why;
	(void)size;
	*status = TALLY_RECORD_OK;
	return &log_seen;
}

static enum tally_record_status
count_header(struct tally_recorder *r, const struct tally_header_record *header)
{
	(void)r;
	return header->program ? TALLY_RECORD_OK : TALLY_RECORD_IO;
}

static enum tally_record_status
count_device(struct tally_recorder *r, const struct tally_device_record *device)
{
	r->devices += device->n_sources;
	return TALLY_RECORD_OK;
}

static enum tally_record_status
count_info(struct tally_recorder *r, const struct tally_pass_info_record *info)
{
	r->infos += info->id != 0;
	return TALLY_RECORD_OK;
}

static enum tally_record_status
count_pipeline(struct tally_recorder *r, const struct tally_pipeline_record *pipeline)
{
	r->infos += pipeline->id != 0;
	return TALLY_RECORD_OK;
}

static enum tally_record_status
count_frame(struct tally_recorder *r, const struct tally_frame_record *frame)
{
	r->frames++;
	r->passes += frame->n_passes;
	r->dropped += frame->dropped_passes;
	return TALLY_RECORD_OK;
}

static enum tally_record_status
count_process(struct tally_recorder *r, const struct tally_process_record *process)
{
	(void)r;
	(void)process;
	return TALLY_RECORD_OK;
}

static enum tally_record_status
count_note(struct tally_recorder *r, const struct tally_note_record *note)
{
	r->notes += note->message[0] != '\0';
	/* Passes after the last frame, dropped ones included. */
	if (strstr(note->message, "to no frame"))
		r->dropped += strtoull(note->message, NULL, 10);
	return TALLY_RECORD_OK;
}

static enum tally_record_status
count_end(struct tally_recorder *r, const struct tally_end_record *end)
{
	r->ends++;
	return end->frames == r->frames && end->passes == r->passes ? TALLY_RECORD_OK
								    : TALLY_RECORD_IO;
}

static enum tally_record_status
count_flush(struct tally_recorder *r)
{
	(void)r;
	return TALLY_RECORD_OK;
}

static const char *
count_why(const struct tally_recorder *r)
{
	(void)r;
	return "";
}

static void
count_close(struct tally_recorder *r)
{
	r->closed++;
}

static const struct tally_recorder_ops counting = {
	.open = count_open,
	.header = count_header,
	.device = count_device,
	.pass_info = count_info,
	.pipeline = count_pipeline,
	.frame = count_frame,
	.process = count_process,
	.note = count_note,
	.end = count_end,
	.flush = count_flush,
	.why = count_why,
	.close = count_close,
	.abandon = count_close,
};

/* ---- what a game makes the core do ---- */

static void
check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "allocation %u%s: %s\n", fail_at, fail_on ? " and later" : "", what);
	_exit(1);
}

static void
use_config(void)
{
	struct tally_config config;
	tally_config_init(&config);
	tally_config_set(&config, "sources", "fake", TALLY_FROM_COMMAND_LINE, NULL, NULL);
	tally_config_set(&config, "log", "x", TALLY_FROM_COMMAND_LINE, NULL, NULL);
	tally_config_set(&config, "log", "y", TALLY_FROM_USER_FILE, NULL, NULL);
	for (size_t i = 0; i < tally_n_options; i++) {
		char text[128];
		tally_option_get(&tally_options[i], &config, text, sizeof(text));
	}
	tally_config_finish(&config);
}

static const struct tally_counter counter = {
	.key = "n", .name = "N", .unit = "1", .source = "fake", .storage = TALLY_STORAGE_U64
};
static const struct tally_counter *const counters[] = { &counter };

/* Passes that were asked for: each is listed or counted as dropped. */
static uint64_t
use_stream(struct tally_stream *s, uint64_t now_ns)
{
	uint64_t asked = 0;
	for (unsigned frame = 0; frame < FRAMES; frame++) {
		for (unsigned i = 0; i < PASSES; i++, asked++) {
			struct tally_pass *pass = tally_stream_open_pass(s, now_ns);
			if (!pass)
				continue;
			struct tally_target target = { .width = 1 + i % 3, .height = 8 };
			pass->key = i;
			pass->target = tally_stream_intern_target(s, &target);
			pass->label = tally_stream_intern_label(s, i % 2 ? "odd" : "even",
								i % 2 ? 3 : 4);
			pass->unattributed = false;
			pass->values[0] = (struct tally_value){ TALLY_STORAGE_U64,
								{ .u64 = i } };
			pass->valid[0] = 1;
			pass->done = true;
		}
		struct tally_pass *between = tally_stream_open_pass(s, now_ns);
		if (between) {
			between->unattributed = true;
			between->valid[0] = 1;
			between->done = true;
		}
		struct tally_frame_end end = { .now_ns = now_ns + frame };
		tally_stream_end_frame(s, &end);
		tally_stream_publish(s);
	}
	return asked;
}

static void
run_game(void)
{
	static const struct tally_source_info source = { "fake", true, "why" };
	static const struct tally_metric_info metric = { "m", "M", "1", "$n", "arm" };
	static const struct tally_device_record info = {
		.name = "Fake",
		.driver = "fake",
		.driver_version = "1",
		.beneath = -1,
		.sources = &source,
		.n_sources = 1,
		.counters = counters,
		.n_counters = 1,
		.metrics = &metric,
		.n_metrics = 1,
	};
	static const struct tally_stream_info stream_info = {
		.context = 1,
		.queue_family = -1,
		.queue_index = -1,
		.counters = counters,
		.n_counters = 1,
	};
	use_config();
	tally_log_say(TALLY_LEVEL_INFO, "torture", "one message");
	bool started = tally_session_start(&counting);
	check(tally_session_running() == started, "running");
	struct tally_device *device = tally_device_create(&info);
	check(started || !device, "a device without a session");
	if (device)
		tally_device_describe(device, &info);
	struct tally_stream *s = device ? tally_stream_create(device, &stream_info) : NULL;
	uint64_t asked = s ? use_stream(s, 1) : 0;
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
	check(!tally_session_running(), "still running");
	if (started) {
		check(log_seen.ends == 1 && log_seen.closed == 1, "no end");
		/* A pass outside passes may be among the dropped ones, once per frame. */
		uint64_t told = log_seen.passes + log_seen.dropped;
		check(told >= asked && told <= asked + FRAMES, "passes lost without a word");
		check(!s || log_seen.frames > 0 || log_seen.dropped > 0, "no frames");
	}
	if (fail_at == 0) {
		check(started && log_seen.frames == FRAMES, "frames without failure");
		check(log_seen.passes == FRAMES * PASSES && log_seen.dropped == 0, "passes");
		check(log_seen.devices == 2 && log_seen.infos > 0 && log_seen.notes == 1,
		      "lines");
	}
}

/* ---- one process for each ---- */

static void
end_by_signal(int status, unsigned at)
{
	fprintf(stderr, "allocation %u%s: ended with status 0x%x\n", at,
		fail_on ? " and later" : "", (unsigned)status);
}

/* Returns the number of allocations made, or 0 when something went wrong. */
static unsigned
run_once(unsigned at, bool all_later)
{
	int ends[2];
	if (pipe(ends) != 0)
		return 0;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		fail_on = all_later;
		atomic_store(&n_allocations, 0);
		fail_at = at;
		alarm(60);
		run_game();
		unsigned n = atomic_load(&n_allocations);
		fail_at = 0;
		if (write(ends[1], &n, sizeof(n)) != (ssize_t)sizeof(n))
			_exit(1);
		exit(0);
	}
	close(ends[1]);
	unsigned n = 0;
	bool told = read(ends[0], &n, sizeof(n)) == (ssize_t)sizeof(n);
	close(ends[0]);
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 0;
	if (!told || status != 0) {
		fail_on = all_later;
		end_by_signal(status, at);
		return 0;
	}
	return n;
}

int
main(void)
{
	setenv("PASSTALLY_OPTIONS", "counters=all,skip=0,start-on=frame:0,log=/torture/%p", 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	setenv("XDG_STATE_HOME", "/nonexistent", 1);
	unsetenv("PASSTALLY_DISABLE");
	unsetenv("PASSTALLY_LOG");
	unsetenv("PASSTALLY_STATUS");
	unsetenv("PASSTALLY_VERBOSE");

	printf("1..3\n");
	unsigned total = run_once(0, false);
	bool linked = total >= 30 && total <= MAX_ALLOCATIONS;
	printf("%s 1 - nothing fails: %u allocations\n", linked ? "ok" : "not ok", total);
	bool good = linked;
	for (int all_later = 0; all_later < 2; all_later++) {
		unsigned bad = 0;
		for (unsigned at = 1; at <= total; at++)
			bad += run_once(at, all_later) == 0;
		good &= bad == 0 && linked;
		printf("%s %d - each fails %s: %u runs went wrong\n",
		       bad || !linked ? "not ok" : "ok", 2 + all_later,
		       all_later ? "with all later ones" : "alone", bad);
	}
	return good ? 0 : 1;
}
