/* SPDX-License-Identifier: MIT */
#include "layer/frame/assembly.h"

#include "layer/base/clock.h"
#include "layer/base/futex.h"
#include "layer/capture/capture.h"
#include "layer/config/config.h"
#include "layer/frame/queue.h"
#include "layer/log.h"
#include "tests/unit/layer/recorder_stub.h"

#include <stdlib.h>
#include <string.h>

/* One device, two streams made by hand, and the collector's thread is this one. Words of a script,
 * one after the other; S is a stream (a, b), F a frame of one digit:
 *   SF    S hands over its part of frame F          SF!  ... and has ended the frame
 *   SF-   S ended a frame that is not captured     S@F  from now on S may still add to frame F
 *   SF?   the same as SF!, and how long its thread worked could not be read
 *   S*    S may add to no frame                     Sx   S is gone
 *   S~F   S ended frame F without a part that records it: its next part does
 *   .     a round of the collector                  ;    one 3 s later
 *   x     the device is gone (a round follows by .)
 * The result: a word a line of the log, its frame with i incomplete, p partial, t where the
 * thread that ended it also ended the frame before, then the number of passes; "|" ends what came
 * before the capture's end, "/N" counts dropped frames. */
static const struct {
	const char *what, *script, *result;
} cases[] = {
	{ "a frame that is complete", "a0! .", "0=1 |" },
	{ "what is not ended waits", "a0 . ;", "| 0p=1" },
	{ "an empty round", ". .", "|" },
	{ "two streams, each has said all", "a0! b0 .", "0=2 |" },
	{ "the other stream comes first", "b0 a0! .", "0=2 |" },
	{ "one that may still add holds the frame", "b@0 a0! .", "| 0i=1" },
	{ "... until it hands over", "b@0 a0! . b0 b* .", "0=2 |" },
	{ "... until it went on to the next", "b@0 a0! . b0 b@1 .", "0=2 |" },
	{ "... for two seconds at most", "b@0 a0! . ;", "0i=1 |" },
	{ "what comes after that is late", "b@0 a0! ; b0 b* a1! .", "0i=1 1t=2 |" },
	{ "one that was given up holds no later frame", "b@0 a0! ; a1! .", "0i=1 1t=1 |" },
	{ "one that adds to a later frame holds nothing", "b@1 a0! .", "0=1 |" },
	{ "one that is ahead holds what it is ahead of", "b@1 a0! a1! .", "0=1 | 1it=1" },
	{ "frames in order, though they come the other way", "b1! a0! .", "0=1 1=1 |" },
	{ "a frame of which no end is known joins the next", "a0 b1! .", "1i=2 |" },
	{ "not captured: no line", "a0- a1! .", "1t=1 |" },
	{ "not captured in the midst", "a0! a1- a2! .", "0=1 2t=1 |" },
	{ "an end that no part could say", "a0! . a~1 a2! .", "0=1 2=1 | /1" },
	{ "an end of long ago leaves a gap", "a0! . a~1 a3! .", "0=1 3i=1 | /1" },
	{ "frames that two threads end in turn", "a0! . b1! . b2! .", "0=1 1=1 2t=1 |" },
	{ "no time of a thread is no time of 0", "a0? . a1? . a2! . a3! .",
	  "0=1 1=1 2=1 3t=1 |" },
	{ "a stream that is gone holds nothing", "b@0 bx a0! .", "0=1 |" },
	{ "a device that is gone waits for its streams", "x b@0 a0! .", "| 0i=1" },
	{ "a device that is gone with its streams", "a0! x ax bx .", "0=1 |" },
	{ "... writes what was never ended", "a0 x ax bx .", "0p=1 |" },
	{ "... but not after a frame", "a0! a1 x ax bx .", "0=1 |" },
};

#define N_STREAMS 2

static const struct tally_target window = { .width = 8, .height = 8, .layers = 1, .samples = 1 };

struct world {
	struct tally_assembly *assembly;
	struct tally_device *device;
	struct tally_stream *streams[N_STREAMS];
	uint64_t start_ns, end_ns; /* time of the collector's clock; end of the last frame */
};

static void
post(struct world *w, struct tally_message message)
{
	struct tally_message *copy = malloc(sizeof(*copy));
	*copy = message;
	g_assert_true(tally_assembly_take_messages(w->assembly, copy));
}

static void
world_init(struct world *w)
{
	static struct tally_recorder recorder;
	static const struct tally_device_record info = { .name = "Fake", .beneath = -1 };
	w->assembly = tally_assembly_create(&stub_recorder, &recorder);
	w->device = calloc(1, sizeof(*w->device));
	atomic_init(&w->device->refs, 1 + N_STREAMS);
	post(w, (struct tally_message){ .kind = TALLY_MESSAGE_DEVICE,
				       .device = w->device,
				       .info = tally_device_copy_info(&info, 0) });
	for (uint32_t i = 0; i < N_STREAMS; i++) {
		struct tally_stream *s = w->streams[i] = calloc(1, sizeof(*s));
		atomic_init(&s->refs, 1);
		atomic_init(&s->oldest_open, UINT64_MAX);
		s->device = w->device;
		s->number = i;
		s->info.context = i;
		s->out = tally_ring_create(TALLY_MAX_PARTS);
		s->back = tally_ring_create(TALLY_MAX_PARTS);
		post(w, (struct tally_message){ .kind = TALLY_MESSAGE_STREAM, .stream = s });
	}
}

/* The stream's part of the frame, with one pass. */
static void
hand_over(struct world *w, struct tally_stream *s, uint64_t frame, char how)
{
	struct tally_frame_part *part = calloc(1, sizeof(*part));
	part->stream = s;
	part->frame = frame;
	part->captured = how != '-';
	part->ends = how && strchr("!-?", how);
	part->lost_frame = s->lost_frame;
	part->lost_now_ns = s->lost_now_ns;
	s->lost_frame = 0;
	if (part->ends) {
		atomic_fetch_add(&w->device->n_ended, part->captured);
		part->end.now_ns = w->end_ns += 1000;
		/* Each stream has its own thread, which works half the time, all of that in the
		 * kernel, and waits in calls for a quarter. */
		if (how != '?')
			part->end.thread = (struct tally_thread_time){
				.thread = s->number + 1,
				.ns = w->end_ns / 2,
				.kernel_ns = w->end_ns / 2,
				.wait_ns = w->end_ns / 4,
			};
	}
	if (part->captured) {
		size_t line = _Alignof(struct tally_chunk);
		struct tally_chunk *chunk = aligned_alloc(line, sizeof(*chunk));
		*chunk = (struct tally_chunk){ .memory = chunk };
		part->first = part->last = chunk;
		part->first->passes[part->n_passes++] = (struct tally_pass){
			.target = &window,
			.surface = -1,
			.key = frame << 8 | s->number,
			.call_counts = { .calls = 1, .draws = 1 },
		};
	}
	g_assert_true(tally_ring_push(s->out, part));
}

static void
run_round(struct world *w, uint64_t late_ns)
{
	uint64_t now_ns = late_ns ? tally_clock_now_ns() + late_ns : 0;
	tally_assembly_begin_round(w->assembly);
	/* Twice: what is taken from the queue in one round is judged in the next. */
	tally_assembly_end_round(w->assembly, now_ns);
	tally_assembly_end_round(w->assembly, now_ns);
}

static void
run_word(struct world *w, const char *word)
{
	if (*word == '.' || *word == ';') {
		run_round(w, *word == ';' ? UINT64_C(3000000000) : 0);
		return;
	}
	if (*word == 'x') {
		atomic_store(&w->device->gone, true);
		return;
	}
	struct tally_stream *s = w->streams[*word - 'a'];
	switch (word[1]) {
	case '@':
		atomic_store(&s->oldest_open, (uint64_t)(word[2] - '0'));
		atomic_store(&s->newest_open, (uint64_t)(word[2] - '0') + 1);
		break;
	case '*':
		atomic_store(&s->oldest_open, UINT64_MAX);
		break;
	case 'x':
		atomic_store(&s->oldest_open, UINT64_MAX);
		atomic_store(&s->gone, true);
		break;
	case '~':
		atomic_fetch_add(&w->device->n_ended, 1);
		s->lost_frame = (uint64_t)(word[2] - '0') + 1;
		s->lost_now_ns = w->end_ns += 1000;
		break;
	default:
		hand_over(w, s, (uint64_t)(word[1] - '0'), word[2]);
	}
}

static void
say_frames(GString *said, unsigned *next)
{
	for (; *next < stub.frames->len; ++*next) {
		const struct tally_frame_record *f = stub_frame(*next);
		g_string_append_printf(said, "%u%s%s%s=%u ", (unsigned)f->frame,
				       f->flags & TALLY_FLAG(INCOMPLETE) ? "i" : "",
				       f->flags & TALLY_FLAG(PARTIAL) ? "p" : "",
				       f->has_thread ? "t" : "", f->n_passes);
		g_assert_cmpuint(f->thread_ns, ==, f->has_thread ? f->cpu_ns / 2 : 0);
		g_assert_cmpuint(f->kernel_ns, ==, f->thread_ns);
		g_assert_cmpint(f->has_wait, ==, f->has_thread);
		g_assert_cmpuint(f->wait_ns, ==, f->has_thread ? f->cpu_ns / 4 : 0);
	}
}

static void
test_case(const void *data)
{
	size_t i = GPOINTER_TO_SIZE(data);
	if (!stub_in_child(NULL))
		return;
	struct world w = { .start_ns = 0 };
	world_init(&w);
	char **words = g_strsplit(cases[i].script, " ", -1);
	for (char **word = words; *word; word++)
		run_word(&w, *word);
	GString *said = g_string_new(NULL);
	unsigned next = 0;
	say_frames(said, &next);
	g_string_append(said, "| ");
	/* The assembly owns its streams: what they hold is released with them. */
	tally_assembly_finish(w.assembly, "exit", tally_clock_now_ns());
	say_frames(said, &next);
	if (stub.end.frames_dropped)
		g_string_append_printf(said, "/%u ", (unsigned)stub.end.frames_dropped);
	g_assert_cmpstr(g_strchomp(said->str), ==, cases[i].result);
	g_assert_cmpuint(stub.end.frames, ==, stub.frames->len);
	g_assert_cmpuint(stub.n_ends, ==, 1);
	g_assert_cmpuint(stub.n_closed, ==, 1);
	tally_assembly_destroy(w.assembly);
	g_string_free(said, TRUE);
	g_strfreev(words);
}

/* A stream may be announced, and end the capture's last frame, after this round took its
 * messages: its part is still missing. */
static void
test_announced(void)
{
	static const struct tally_config config = { .frames = 1, .every = 1 };
	static struct tally_stream late;
	if (!stub_in_child(NULL))
		return;
	struct world w = { .start_ns = 0 };
	world_init(&w);
	tally_trigger_reset(&config);
	tally_capture_use(&config);
	tally_queue_open();
	tally_capture_begin();
	atomic_store(&w.device->state, 1);
	g_assert_cmpint(tally_assembly_over(w.assembly), ==, TALLY_OVER_NOT);

	struct tally_message *message = calloc(1, sizeof(*message));
	message->kind = TALLY_MESSAGE_STREAM;
	message->stream = &late;
	g_assert_true(tally_queue_post(message));
	atomic_store(&w.device->state, 1 << 1);
	g_assert_cmpint(tally_assembly_over(w.assembly), ==, TALLY_OVER_UNREAD);
	g_assert_true(tally_queue_take(false) == message);
	g_assert_cmpint(tally_assembly_over(w.assembly), ==, TALLY_OVER_ALL);
	free(message);
	tally_assembly_finish(w.assembly, "frames", tally_clock_now_ns());
	tally_assembly_destroy(w.assembly);
}

/* Without frames a process line is due after 2, 4, 8 and 16 s, then none until there is a frame. */
static void
test_quiet(void)
{
	static const struct tally_config config = { .every = 1 };
	const uint64_t s = 1000000000;
	uint64_t now_ns = 100 * s;
	if (!stub_in_child(NULL))
		return;
	struct world w = { .start_ns = 0 };
	world_init(&w);
	tally_trigger_reset(&config);
	tally_capture_use(&config);
	tally_capture_begin();
	w.device->generation = tally_capture_generation();
	g_assert_cmpuint(tally_assembly_quiet_ns(w.assembly, now_ns), ==, TALLY_FOREVER);
	for (unsigned round = 0; round < 2; round++) {
		tally_assembly_write_load(w.assembly, now_ns += s, true);
		for (uint64_t wait_ns = 2 * s; wait_ns <= 16 * s; wait_ns *= 2) {
			g_assert_cmpuint(tally_assembly_quiet_ns(w.assembly, now_ns + s), ==,
					 wait_ns - s);
			now_ns += wait_ns;
			g_assert_cmpuint(tally_assembly_quiet_ns(w.assembly, now_ns), ==, 0);
			tally_assembly_write_load(w.assembly, now_ns, false);
		}
		g_assert_cmpuint(tally_assembly_quiet_ns(w.assembly, now_ns + 99 * s), ==,
				 TALLY_FOREVER);
	}
	/* Nothing is captured: no frame is missed. */
	tally_assembly_write_load(w.assembly, now_ns += s, true);
	w.device->generation++;
	g_assert_cmpuint(tally_assembly_quiet_ns(w.assembly, now_ns), ==, TALLY_FOREVER);
	tally_assembly_finish(w.assembly, "exit", tally_clock_now_ns());
	tally_assembly_destroy(w.assembly);
}

/* --renderdoc-over: one device's frames, each so much later, and for which of them it asks. */
static void
test_renderdoc(void)
{
	static const struct tally_config config = { .every = 1, .renderdoc_over_ns = 5000 };
	static const struct {
		uint64_t frame, later_ns;
		char how;
		bool asks;
	} frames[] = {
		{ 0, 90000, '!', false }, /* the first has the program's start in it */
		{ 1, 90000, '!', false }, /* it still loads: none was short */
		{ 2, 90000, '!', false },
		{ 3, 0, '!', false },
		{ 4, 90000, '!', false }, /* nor does one short one end that */
		{ 5, 0, '!', false },  { 6, 0, '!', false },  { 7, 0, '!', false },
		{ 8, 0, '!', false },  { 9, 0, '!', false },  { 10, 0, '!', false },
		{ 11, 0, '!', false }, { 12, 0, '!', false }, { 13, 0, '!', false },
		{ 14, 0, '!', false },
		{ 19, 90000, '-', false }, /* frames before it that nobody looked at */
		{ 20, 0, '!', false },
		{ 21, (uint64_t)-3000, '!', false }, /* ended by two threads at once */
		{ 22, 0, '!', false },
		{ 23, 90000, '!', true },
	};
	if (!stub_in_child(NULL))
		return;
	struct world w = { .end_ns = 10000 };
	struct tally_note_record note;
	world_init(&w);
	tally_capture_use(&config);
	for (size_t i = 0; i < G_N_ELEMENTS(frames); i++) {
		w.end_ns += frames[i].later_ns;
		hand_over(&w, w.streams[0], frames[i].frame, frames[i].how);
		run_round(&w, 0);
		g_assert_cmpint(tally_log_take(&note), ==, frames[i].asks);
	}
	g_assert_cmpstr(note.source, ==, "renderdoc");
	g_assert_nonnull(strstr(note.message, "frame 23 was longer"));
	tally_assembly_finish(w.assembly, "exit", tally_clock_now_ns());
	tally_assembly_destroy(w.assembly);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/assembly/announced", test_announced);
	g_test_add_func("/assembly/quiet", test_quiet);
	g_test_add_func("/assembly/renderdoc", test_renderdoc);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *name = g_strdup_printf("/assembly/%02zu-%s", i, cases[i].what);
		g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_case);
		g_free(name);
	}
	return g_test_run();
}
