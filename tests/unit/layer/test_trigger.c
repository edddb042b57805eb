/* SPDX-License-Identifier: MIT */
#include "layer/capture/trigger.h"

#include "layer/base/clock.h"
#include "layer/log.h"
#include "layer/session/session.h"

#include <glib.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tally_config config;

static void
complain(void *data, const char *message)
{
	(void)data;
	g_error("%s", message);
}

static void
begin(const char *options)
{
	tally_config_finish(&config);
	tally_config_init(&config);
	g_assert_true(tally_config_parse_options(&config, options, TALLY_FROM_COMMAND_LINE,
						 complain, NULL));
	tally_log_reset();
	tally_trigger_reset(&config);
}

static void
expect_note(const char *source, const char *message)
{
	struct tally_note_record note;
	g_assert_true(tally_log_take(&note));
	g_assert_cmpstr(note.source, ==, source);
	g_assert_nonnull(strstr(note.message, message));
	g_assert_true(note.has_time == (note.level == TALLY_LEVEL_INFO));
}

static void
expect_no_note(void)
{
	struct tally_note_record note;
	g_assert_false(tally_log_take(&note));
}

/* What happens and what frames are captured, from frame 0: '1' and '0' a frame that is and is not,
 * 's' start and 'p' stop by hand, 'L' the label L, 'H' and 'h' the hardware counts, or has
 * stopped, 'U' SIGUSR1, 'V' SIGUSR2. 'o' asks whether the capture is over, 'n' whether it is
 * not; 'i' and 'w' whether from the last frame on nothing is captured, or something may be. */
static const struct {
	const char *options, *story;
} stories[] = {
	{ "", "11p00s11p0s1" },
	{ "", "11ps11" }, /* between two frames: not observed */
	{ "", "11s11pp00ss11" },
	{ "frames=4", "11p000s1n1o" },
	{ "frames=4", "11p000s110o" },
	{ "frames=3,skip=1", "01p00s110o" },
	{ "skip=3", "0p00s001" },
	{ "every=2", "10p00s1010" }, /* the count continues from where it was */
	{ "every=2", "1p00s0101" },
	{ "every=2,frames=2", "10p00s10o" },
	{ "start-on=frame:2", "00111" },
	{ "start-on=frame:2", "00p11p00s1" }, /* nothing to stop yet */
	{ "start-on=frame:9", "0s1p0s11" },
	{ "start-on=frame:2,frames=2", "0011o" },
	{ "start-on=frame:4,frames=2", "0s1p00s10o" },
	{ "stop-on=frame:3", "1p0s1o0" },
	{ "start-on=label:L", "00L11p00L00s11" }, /* what was stopped by hand starts by hand */
	{ "start-on=label:L", "00s11" },
	{ "start-on=label:L,stop-on=label:L", "0L11Lo00" },
	{ "start-on=hw,stop-on=label:L", "0L0n" },
	{ "start-on=frame:2,stop-on=label:L", "L0Ln0L1n1Lo0" },
	{ "start-on=frame:2,stop-on=label:L", "0Ls1nLo0" },
	{ "start-on=hw", "00H11h11p0H1" },
	{ "start-on=hw,stop-on=hw", "0h0H11h00H1" },
	{ "stop-on=hw", "1h0H0s1" },
	{ "", "HhL11" },
	{ "start-on=signal:USR1", "0U11U11p00U11" },
	{ "start-on=signal:USR1,stop-on=signal:USR2", "0V0U11V00V0U1" },
	{ "start-on=signal:USR1,stop-on=signal:USR1", "0U11U00U1" },
	{ "stop-on=signal:USR2", "1V0V0s1" },
	{ "start-on=signal:USR1,frames=2,skip=1", "0U011o" },
	{ "", "w1wp0is1w" },
	{ "start-on=frame:2", "i0i0i1w1wp0is1w" },
	{ "start-on=frame:0", "w1w" },
	{ "start-on=label:L,stop-on=label:L", "i0iLi1w1L0i" },
	{ "start-on=signal:USR1,stop-on=signal:USR1", "i0iU1wU0iU1w" },
	{ "frames=2,skip=1,every=2", "w0w1w0w1w0i" },
	{ "stop-on=frame:2,every=2", "w1w0w0i0i" },
};

static void
happen(char what, uint64_t frame, _Atomic uint64_t *count)
{
	switch (what) {
	case 's':
		tally_trigger_start(TALLY_CAUSE_CONTROL);
		break;
	case 'p':
		tally_trigger_stop(TALLY_CAUSE_CONTROL);
		break;
	case 'L':
		tally_trigger_saw_label("LL", 1);
		tally_trigger_saw_label("M", 1);
		break;
	case 'H':
	case 'h':
		tally_trigger_saw_hardware(what == 'H');
		break;
	case 'U':
	case 'V':
		raise(what == 'U' ? SIGUSR1 : SIGUSR2);
		break;
	case 'o':
	case 'n':
		g_assert_true((tally_trigger_over(frame, *count) != NULL) == (what == 'o'));
		break;
	case 'i':
	case 'w':
		g_assert_true(tally_trigger_idles(frame ? frame - 1 : 0, *count) ==
			      (what == 'i'));
		break;
	default:
		g_assert_not_reached();
	}
}

static void
test_story(gconstpointer data)
{
	unsigned i = GPOINTER_TO_UINT(data);
	signal(SIGUSR1, SIG_DFL);
	signal(SIGUSR2, SIG_DFL);
	begin(stories[i].options);
	tally_trigger_catch_signals();
	/* Two devices, the second of which is asked twice: they agree. */
	_Atomic uint64_t one = TALLY_NO_FRAME, two = TALLY_NO_FRAME;
	uint64_t frame = 0;
	for (const char *p = stories[i].story; *p; p++) {
		if (*p != '0' && *p != '1') {
			happen(*p, frame, &one);
			continue;
		}
		g_test_message("%s: frame %u", stories[i].story, (unsigned)frame);
		g_assert_true(tally_trigger_wants_frame(frame, &one) == (*p == '1'));
		g_assert_true(tally_trigger_wants_frame(frame, &two) == (*p == '1'));
		g_assert_true(tally_trigger_wants_frame(frame, &two) == (*p == '1'));
		g_assert_cmpuint(one, ==, two);
		frame++;
	}
	tally_trigger_release_signals();
}

static void
test_notes(void)
{
	_Atomic uint64_t count = TALLY_NO_FRAME;
	begin("start-on=label:My level");
	tally_trigger_wants_frame(0, &count);
	tally_trigger_saw_label("My level", 8);
	expect_no_note(); /* a frame has to begin */
	for (uint64_t frame = 1; frame < 4; frame++)
		tally_trigger_wants_frame(frame, &count);
	expect_note("trigger", "capture starts: label:My level");
	expect_no_note();
	tally_trigger_stop(TALLY_CAUSE_CONTROL);
	tally_trigger_wants_frame(4, &count);
	expect_note("trigger", "capture pauses: passtally trigger");
	tally_trigger_start(TALLY_CAUSE_CONTROL);
	tally_trigger_wants_frame(5, &count);
	expect_note("trigger", "capture starts: passtally trigger");
	tally_trigger_report_end(true);
	expect_no_note();
}

static void
test_never(void)
{
	static const char *const waits[] = { "label:L", "signal:USR2", "hw" };
	for (unsigned i = 0; i < G_N_ELEMENTS(waits); i++) {
		g_autofree char *options = g_strconcat("start-on=", waits[i], NULL);
		begin(options);
		_Atomic uint64_t count = TALLY_NO_FRAME;
		g_assert_false(tally_trigger_wants_frame(0, &count));
		g_assert_cmpint(tally_trigger_capture(), ==, TALLY_CAPTURE_WAITS);
		tally_trigger_report_end(true);
		expect_note("trigger", waits[i]);
		expect_no_note();
	}
	begin("start-on=frame:1");
	_Atomic uint64_t count = TALLY_NO_FRAME;
	tally_trigger_wants_frame(0, &count);
	tally_trigger_report_end(true);
	expect_note("trigger", "frame:1, which never came");
	g_assert_true(tally_trigger_wants_frame(1, &count));
	tally_trigger_report_end(true);
	expect_no_note();
	begin("stop-on=label:L");
	g_assert_true(tally_trigger_wants_frame(0, &count));
	tally_trigger_report_end(false); /* by a limit: it might have come */
	expect_no_note();
	tally_trigger_report_end(true);
	expect_note("trigger", "stop-on=label:L never came");
	tally_trigger_saw_label("L", 1);
	tally_trigger_report_end(true);
	expect_no_note();
	begin("start-on=label:K,stop-on=label:L");
	tally_trigger_report_end(true);
	expect_note("trigger", "start-on=label:K, which never came");
	expect_no_note();
}

/* An impossible condition is reported when the capture begins, not after its last hour. */
static void
test_impossible(void)
{
	static const struct {
		const char *options, *note;
	} rows[] = {
		{ "start-on=frame:5,stop-on=frame:5",
		  "stop-on=frame:5 is not after start-on=frame:5" },
		{ "start-on=frame:6,stop-on=frame:5", "no frame is captured" },
		{ "start-on=frame:5,stop-on=frame:6", NULL },
		{ "start-on=hw", "start-on=hw does nothing" },
		{ "stop-on=hw", "stop-on=hw does nothing" },
		{ "start-on=hw,microblaze=on", NULL },
		{ "stop-on=frame:0,start-on=label:L", NULL },
	};
	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("%s", rows[i].options);
		begin(rows[i].options);
		tally_trigger_catch_signals();
		if (rows[i].note)
			expect_note("trigger", rows[i].note);
		expect_no_note();
		tally_trigger_release_signals();
	}
}

/* A pause does not count towards --seconds. */
static void
test_seconds(void)
{
	begin("seconds=0.2");
	_Atomic uint64_t count = TALLY_NO_FRAME;
	g_assert_true(tally_trigger_wants_frame(0, &count));
	tally_trigger_stop(TALLY_CAUSE_CONTROL);
	g_assert_false(tally_trigger_wants_frame(1, &count));
	g_usleep(300000);
	g_assert_null(tally_trigger_over(2, count));
	tally_trigger_start(TALLY_CAUSE_CONTROL);
	g_assert_true(tally_trigger_wants_frame(2, &count));
	g_usleep(300000);
	g_assert_cmpstr(tally_trigger_over(3, count), ==, "seconds");
	g_assert_false(tally_trigger_wants_frame(3, &count));
}

struct watch {
	atomic_bool stop;
	atomic_uint n_over;
};

static void *
watch_over(void *data)
{
	struct watch *w = data;
	while (!atomic_load(&w->stop))
		if (tally_trigger_over(1, 0))
			atomic_fetch_add(&w->n_over, 1);
	return NULL;
}

/* Not even at the moment at which a pause ends, for a thread that asks just then. */
static void
test_pauses_end(void)
{
	begin("seconds=0.04");
	_Atomic uint64_t count = TALLY_NO_FRAME;
	struct watch w = { false };
	uint64_t captured_ns = 0;
	unsigned over = 0;
	g_assert_true(tally_trigger_wants_frame(0, &count));
	uint64_t since_ns = tally_clock_now_ns();
	GThread *thread = g_thread_new("watch", watch_over, &w);
	for (uint64_t frame = 1; frame < 50 && !over; frame += 2) {
		tally_trigger_stop(TALLY_CAUSE_CONTROL);
		tally_trigger_wants_frame(frame, &count);
		over = atomic_load(&w.n_over);
		captured_ns += tally_clock_now_ns() - since_ns;
		/* The machine is busy: the capture may be over for that reason. */
		if (captured_ns >= UINT64_C(20000000))
			break;
		g_usleep(45000);
		over += atomic_load(&w.n_over);
		since_ns = tally_clock_now_ns();
		tally_trigger_start(TALLY_CAUSE_CONTROL);
		tally_trigger_wants_frame(frame + 1, &count);
	}
	atomic_store(&w.stop, true);
	g_thread_join(thread);
	g_test_message("%u times over after %" G_GUINT64_FORMAT " ns", over, captured_ns);
	g_assert_true(!over || captured_ns >= UINT64_C(20000000));
}

static void
game_handler(int number)
{
	(void)number;
}

/* The game's handler stays, whenever it is installed; it is called once. */
static void
test_taken(void)
{
	begin("start-on=signal:RTMIN+2,stop-on=signal:RTMIN+3");
	_Atomic uint64_t count = TALLY_NO_FRAME;
	signal(SIGRTMIN + 2, game_handler);
	tally_trigger_catch_signals();
	expect_note("trigger", "start-on=signal:RTMIN+2 does nothing");
	expect_no_note();
	g_assert_true(signal(SIGRTMIN + 2, SIG_DFL) == game_handler);

	signal(SIGRTMIN + 3, game_handler);
	for (uint64_t frame = 0; frame < 1000; frame++)
		tally_trigger_wants_frame(frame, &count);
	expect_note("trigger", "stop-on=signal:RTMIN+3 does nothing any more");
	expect_no_note();
	tally_trigger_release_signals();
	g_assert_true(signal(SIGRTMIN + 3, SIG_DFL) == game_handler);
}

/* A signal that the game ignores stays ignored; one that passtally caught has its old meaning
 * in a child. */
static void
test_signals(void)
{
	begin("start-on=signal:USR1,stop-on=signal:USR2");
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_DFL);
	tally_trigger_catch_signals();
	expect_note("trigger", "start-on=signal:USR1 does nothing");
	raise(SIGUSR2); /* would end us */
	pid_t pid = fork();
	if (pid == 0) {
		tally_trigger_release_signals();
		raise(SIGUSR2);
		_exit(0);
	}
	int status;
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
	g_assert_true(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
	tally_trigger_release_signals();
	g_assert_true(signal(SIGUSR2, SIG_DFL) == SIG_DFL);
}

/* Several threads end frames of one device while another thread uses the trigger. */
static struct {
	_Atomic uint64_t frame, count;
	atomic_bool done;
} shared;

static void *
end_frames(void *data)
{
	uint64_t *captured = data;
	while (!atomic_load(&shared.done)) {
		uint64_t frame = atomic_load(&shared.frame);
		bool wanted = tally_trigger_wants_frame(frame + 1, &shared.count);
		if (atomic_compare_exchange_strong(&shared.frame, &frame, frame + 1))
			*captured += wanted;
	}
	return NULL;
}

static void
test_threads(void)
{
	begin("frames=100000000");
	atomic_store(&shared.count, TALLY_NO_FRAME);
	tally_trigger_wants_frame(0, &shared.count);
	uint64_t captured[3] = { 0 };
	GThread *threads[3];
	for (unsigned i = 0; i < 3; i++)
		threads[i] = g_thread_new("frames", end_frames, &captured[i]);
	for (unsigned i = 0; i < 200; i++) {
		tally_trigger_stop(TALLY_CAUSE_CONTROL);
		g_usleep(200);
		tally_trigger_start(TALLY_CAUSE_CONTROL);
		g_usleep(200);
	}
	tally_trigger_stop(TALLY_CAUSE_CONTROL);
	g_usleep(1000);
	atomic_store(&shared.done, true);
	for (unsigned i = 0; i < 3; i++)
		g_thread_join(threads[i]);
	uint64_t frames = atomic_load(&shared.frame),
		 sum = captured[0] + captured[1] + captured[2];
	tally_trigger_wants_frame(frames + 1, &shared.count);
	uint64_t counted = atomic_load(&shared.count) & ~(UINT64_C(1) << 63);
	g_test_message("%u frames, %u captured, %u counted", (unsigned)frames, (unsigned)sum,
		       (unsigned)counted);
	g_assert_cmpuint(sum, >, 0);
	g_assert_cmpuint(sum, <, frames);
	g_assert_cmpuint(counted, >, 0);
	g_assert_cmpuint(counted, <=, frames + 1);
	g_assert_true(atomic_load(&shared.count) >> 63); /* it includes the last pause */
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (unsigned i = 0; i < G_N_ELEMENTS(stories); i++) {
		g_autofree char *path = g_strdup_printf("/trigger/story/%u", i);
		g_test_add_data_func(path, GUINT_TO_POINTER(i), test_story);
	}
	g_test_add_func("/trigger/notes", test_notes);
	g_test_add_func("/trigger/never", test_never);
	g_test_add_func("/trigger/impossible", test_impossible);
	g_test_add_func("/trigger/seconds", test_seconds);
	g_test_add_func("/trigger/pauses_end", test_pauses_end);
	g_test_add_func("/trigger/taken", test_taken);
	g_test_add_func("/trigger/signals", test_signals);
	g_test_add_func("/trigger/threads", test_threads);
	int status = g_test_run();
	tally_config_finish(&config);
	return status;
}
