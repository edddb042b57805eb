/* SPDX-License-Identifier: MIT */
#include "layer/capture/trigger.h"

#include "layer/base/clock.h"
#include "layer/base/signal_name.h"
#include "layer/config/options.h"
#include "layer/log.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Number of frames between two checks that our handlers are still installed. */
#define LOOK_EVERY 256

static const struct tally_config *config; /* constant once the first frame has been requested */

static struct {
	_Atomic uint32_t capture; /* enum tally_capture */
	_Atomic uint32_t cause; /* cause of its last change */
	_Atomic uint32_t seen; /* `capture` as frames and the log know it */
	atomic_flag applying; /* a thread is updating `seen` */
	atomic_bool frame_reached; /* of --start-on frame:N, by some device */
	atomic_bool stop_label_seen;
	/* When the first captured frame began (0: none yet), moved later by each pause; and
	 * when the current pause began. */
	_Atomic uint64_t first_ns, paused_ns;
	_Atomic uint32_t n_asked;
	_Atomic uint64_t pictured; /* the frame */
	atomic_bool picture_asked, picture_label_seen;
} now;

/* The signals that we catch; 0: none. */
static atomic_int caught[2];

void
tally_trigger_reset(const struct tally_config *of)
{
	config = of;
	uint32_t first = of->start_on.kind == TALLY_TRIGGER_NONE ? TALLY_CAPTURE_RUNS
								 : TALLY_CAPTURE_WAITS;
	atomic_store(&now.capture, first);
	atomic_store(&now.seen, first);
	atomic_flag_clear(&now.applying);
	atomic_store(&now.frame_reached, false);
	atomic_store(&now.stop_label_seen, false);
	atomic_store(&now.first_ns, 0);
	atomic_store(&now.paused_ns, 0);
	atomic_store(&now.pictured, of->pictures.kind == TALLY_TRIGGER_FRAME ? of->pictures.frame
									      : TALLY_NO_FRAME);
	atomic_store(&now.picture_asked, false);
	atomic_store(&now.picture_label_seen, false);
}

/* ---- start and stop ---- */

static void
change(enum tally_capture to, enum tally_trigger_cause cause)
{
	atomic_store(&now.cause, cause);
	atomic_store(&now.capture, to);
}

enum tally_capture
tally_trigger_capture(void)
{
	enum tally_capture capture = atomic_load(&now.capture);
	bool waits = capture == TALLY_CAPTURE_WAITS && !atomic_load(&now.frame_reached);
	return capture == TALLY_CAPTURE_PAUSED || waits ? capture : TALLY_CAPTURE_RUNS;
}

void
tally_trigger_start(enum tally_trigger_cause cause)
{
	if (tally_trigger_capture() != TALLY_CAPTURE_RUNS)
		change(TALLY_CAPTURE_RUNS, cause);
}

void
tally_trigger_stop(enum tally_trigger_cause cause)
{
	if (tally_trigger_capture() == TALLY_CAPTURE_RUNS)
		change(TALLY_CAPTURE_PAUSED, cause);
}

void
tally_trigger_saw_hardware(bool counting)
{
	if (!config)
		return;
	if (counting && config->start_on.kind == TALLY_TRIGGER_HW)
		tally_trigger_start(TALLY_CAUSE_OPTION);
	if (!counting && config->stop_on.kind == TALLY_TRIGGER_HW)
		tally_trigger_stop(TALLY_CAUSE_OPTION);
}

static bool
is_label(const struct tally_trigger *t, const char *name, size_t len)
{
	return t->kind == TALLY_TRIGGER_LABEL && t->label && strlen(t->label) == len &&
	       memcmp(t->label, name, len) == 0;
}

void
tally_trigger_saw_label(const char *name, size_t len)
{
	bool waits = tally_trigger_capture() == TALLY_CAPTURE_WAITS;
	/* The stop label is checked first: if it is also the start label, its first use starts
	 * and its next one stops. */
	if (!waits && is_label(&config->stop_on, name, len))
		atomic_store(&now.stop_label_seen, true);
	if (is_label(&config->pictures, name, len) &&
	    !atomic_exchange(&now.picture_label_seen, true))
		tally_trigger_ask_picture();
	/* Only the first start is the label's: a capture that was stopped by
	 * hand is started by hand. */
	if (waits && is_label(&config->start_on, name, len))
		tally_trigger_start(TALLY_CAUSE_OPTION);
}

/* ---- pictures ---- */

bool
tally_trigger_ask_picture(void)
{
	bool has = config && config->pictures.kind != TALLY_TRIGGER_NONE;
	if (has)
		atomic_store(&now.picture_asked, true);
	return has;
}

bool
tally_trigger_wants_picture(uint64_t frame)
{
	if (atomic_load(&now.picture_asked) && atomic_exchange(&now.picture_asked, false))
		atomic_store(&now.pictured, frame + 1);
	return frame == atomic_load(&now.pictured);
}

/* ---- signals ---- */

/* Runs in any thread of the game, at any point. */
static void
on_signal(int number)
{
	bool starts = config->start_on.kind == TALLY_TRIGGER_SIGNAL &&
		      config->start_on.number == number;
	bool stops = config->stop_on.kind == TALLY_TRIGGER_SIGNAL &&
		     config->stop_on.number == number;
	bool runs = tally_trigger_capture() == TALLY_CAPTURE_RUNS;
	if (starts && !runs)
		tally_trigger_start(TALLY_CAUSE_OPTION);
	else if (stops && runs)
		tally_trigger_stop(TALLY_CAUSE_OPTION);
}

static bool
is_ours(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == on_signal;
}

/* Sets *slot to the signal's number if we catch it. */
static void
catch_signal(const struct tally_trigger *t, const char *option, atomic_int *slot)
{
	if (t->kind != TALLY_TRIGGER_SIGNAL)
		return;
	char word[24];
	tally_signal_word(t->number, word, sizeof(word));
	struct sigaction there;
	if (sigaction(t->number, NULL, &there) != 0)
		return;
	bool is_free = !(there.sa_flags & SA_SIGINFO) && there.sa_handler == SIG_DFL;
	if (!is_free && !is_ours(&there)) {
		tally_log_say(
			TALLY_LEVEL_WARNING, "trigger",
			"the game handles or ignores the signal %s itself, so %s=signal:%s "
			"does nothing: name another signal, or use passtally trigger",
			word, option, word);
		return;
	}
	struct sigaction ours = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK };
	sigfillset(&ours.sa_mask);
	if (sigaction(t->number, &ours, NULL) == 0)
		atomic_store(slot, t->number);
}

/* Reports at once options that cannot work: otherwise a user would wait for them forever. */
static void
tell_impossible(void)
{
	const struct tally_trigger *start = &config->start_on, *stop = &config->stop_on;
	bool hardware = start->kind == TALLY_TRIGGER_HW || stop->kind == TALLY_TRIGGER_HW;
	if (start->kind == TALLY_TRIGGER_FRAME && stop->kind == TALLY_TRIGGER_FRAME &&
	    stop->frame <= start->frame)
		tally_log_say(TALLY_LEVEL_WARNING, "trigger",
			      "no frame is captured: stop-on=frame:%llu is not after "
			      "start-on=frame:%llu",
			      (unsigned long long)stop->frame, (unsigned long long)start->frame);
	if (hardware && (!config->microblaze || strcmp(config->microblaze, "off") == 0))
		tally_log_say(TALLY_LEVEL_WARNING, "trigger",
			      "%s=hw does nothing: hardware starts and stops MicroBlaze's "
			      "counters alone, and --microblaze does not say where they are",
			      start->kind == TALLY_TRIGGER_HW ? "start-on" : "stop-on");
}

void
tally_trigger_catch_signals(void)
{
	tell_impossible();
	catch_signal(&config->start_on, "start-on", &caught[0]);
	catch_signal(&config->stop_on, "stop-on", &caught[1]);
}

void
tally_trigger_release_signals(void)
{
	for (size_t i = 0; i < 2; i++) {
		int number = atomic_exchange(&caught[i], 0);
		struct sigaction there, plain = { .sa_handler = SIG_DFL };
		if (number && sigaction(number, NULL, &there) == 0 && is_ours(&there))
			sigaction(number, &plain, NULL);
	}
}

/* Checks whether the game has replaced one of the handlers meanwhile. */
static void
look_after_signals(void)
{
	for (size_t i = 0; i < 2; i++) {
		int number = atomic_load(&caught[i]);
		struct sigaction there;
		if (!number || sigaction(number, NULL, &there) != 0 || is_ours(&there) ||
		    !atomic_compare_exchange_strong(&caught[i], &number, 0))
			continue;
		char word[24];
		tally_signal_word(number, word, sizeof(word));
		tally_log_say(
			TALLY_LEVEL_WARNING, "trigger",
			"the game handles the signal %s itself by now, so %s=signal:%s does "
			"nothing any more: name another signal, or use passtally trigger",
			word, i ? "stop-on" : "start-on", word);
	}
}

/* ---- frames ---- */

static void
tell_change(enum tally_capture capture, uint64_t now_ns)
{
	bool runs = capture == TALLY_CAPTURE_RUNS;
	const struct tally_option *row =
		tally_option_find(runs ? "start-on" : "stop-on", runs ? 8 : 7);
	uint32_t cause = atomic_load(&now.cause);
	char value[160] = "passtally trigger", text[256];
	if (cause == TALLY_CAUSE_OPTION)
		tally_option_get(row, config, value, sizeof(value));
	else if (cause == TALLY_CAUSE_PROGRAM)
		snprintf(value, sizeof(value),
			 runs ? "passtally_start()" : "passtally_stop()");
	snprintf(text, sizeof(text), "capture %s: %s", runs ? "starts" : "pauses", value);
	tally_log_mark("trigger", now_ns, text);
}

/* Applies the start or stop that was requested since the last frame began, and returns the
 * current state. One thread does this while others use the previous state. The times are
 * updated before `seen` is, so that a thread that asks in between how long the capture lasted
 * does not count a pause. */
static enum tally_capture
apply_request(void)
{
	if (atomic_load(&now.capture) == atomic_load(&now.seen) ||
	    atomic_flag_test_and_set(&now.applying))
		return atomic_load(&now.seen);
	uint32_t capture = atomic_load(&now.capture);
	uint32_t seen = atomic_load(&now.seen);
	if (capture != seen) {
		uint64_t now_ns = tally_clock_now_ns();
		uint64_t first_ns = atomic_load(&now.first_ns);
		if (capture == TALLY_CAPTURE_PAUSED)
			atomic_store(&now.paused_ns, now_ns);
		else if (seen == TALLY_CAPTURE_PAUSED && first_ns)
			atomic_store(&now.first_ns,
				     first_ns + now_ns - atomic_load(&now.paused_ns));
		atomic_store(&now.seen, capture);
		tell_change(capture, now_ns);
	}
	atomic_flag_clear(&now.applying);
	return capture;
}

/* A device's count. While its frames are captured: the frame at which the capture would have
 * begun without pauses. While they are not: PAUSED and the number of frames counted. */
#define PAUSED (UINT64_C(1) << 63)

static uint64_t
counted(uint64_t frame, uint64_t count)
{
	if (count == TALLY_NO_FRAME)
		return 0;
	if (count & PAUSED)
		return count & ~PAUSED;
	return frame > count ? frame - count : 0;
}

/* Several threads may end frames of one device: all of them set the same value. A thread
 * that was delayed here since an earlier frame, while a window begins or ends, shifts the
 * count by the frames since then. */
static uint64_t
follow(uint64_t frame, bool runs, _Atomic uint64_t *count)
{
	uint64_t is = atomic_load(count);
	while (runs ? (is & PAUSED) != 0 : !(is & PAUSED)) {
		uint64_t n = counted(frame, is);
		uint64_t next = !runs ? PAUSED | n : frame > n ? frame - n : 0;
		if (atomic_compare_exchange_strong(count, &is, next))
			return next;
	}
	return is;
}

/* Seconds since the first captured frame began, without pauses. */
static double
captured_seconds(void)
{
	uint64_t first_ns, to_ns;
	bool paused;
	/* Repeats if a pause began or ended meanwhile: this thread may
	 * have slept through it. */
	do {
		paused = atomic_load(&now.seen) == TALLY_CAPTURE_PAUSED;
		first_ns = atomic_load(&now.first_ns);
		to_ns = paused ? atomic_load(&now.paused_ns) : tally_clock_now_ns();
	} while (paused != (atomic_load(&now.seen) == TALLY_CAPTURE_PAUSED) ||
		 first_ns != atomic_load(&now.first_ns));
	return first_ns && to_ns > first_ns ? (double)(to_ns - first_ns) / 1e9 : 0;
}

__attribute__((hot)) const char *
tally_trigger_over(uint64_t frame, uint64_t count)
{
	if (config->stop_on.kind == TALLY_TRIGGER_FRAME && frame >= config->stop_on.frame)
		return "stop-on";
	if (config->stop_on.kind == TALLY_TRIGGER_LABEL && atomic_load(&now.stop_label_seen))
		return "stop-on";
	if (config->seconds > 0 && captured_seconds() >= config->seconds)
		return "seconds";
	uint64_t n = counted(frame, count);
	if (!config->frames || n < config->skip)
		return NULL;
	n -= config->skip;
	return n / config->every + (n % config->every != 0) >= config->frames ? "frames" : NULL;
}

__attribute__((hot)) bool
tally_trigger_wants_frame(uint64_t frame, _Atomic uint64_t *count)
{
	enum tally_capture capture = apply_request();
	if ((atomic_load(&caught[0]) || atomic_load(&caught[1])) &&
	    atomic_fetch_add(&now.n_asked, 1) % LOOK_EVERY == LOOK_EVERY - 1)
		look_after_signals();
	bool reached = capture == TALLY_CAPTURE_WAITS &&
		       config->start_on.kind == TALLY_TRIGGER_FRAME &&
		       frame >= config->start_on.frame;
	if (reached && !atomic_load(&now.frame_reached))
		atomic_store(&now.frame_reached, true);
	bool runs = capture == TALLY_CAPTURE_RUNS || reached;
	uint64_t is = follow(frame, runs, count);
	if (tally_trigger_over(frame, is) || !runs)
		return false;
	uint64_t n = counted(frame, is);
	if (n < config->skip || (n - config->skip) % config->every != 0)
		return false;
	uint64_t none = 0;
	if (config->seconds > 0 && atomic_load(&now.first_ns) == 0)
		atomic_compare_exchange_strong(&now.first_ns, &none, tally_clock_now_ns());
	return true;
}

bool
tally_trigger_idles(uint64_t frame, uint64_t count)
{
	uint32_t capture = atomic_load(&now.seen);
	bool reached = config->start_on.kind == TALLY_TRIGGER_FRAME &&
		       frame >= config->start_on.frame;
	return capture == TALLY_CAPTURE_PAUSED || (capture == TALLY_CAPTURE_WAITS && !reached) ||
	       tally_trigger_over(frame, count);
}

uint64_t
tally_trigger_first_frame(void)
{
	uint64_t first = config->skip;
	if (config->start_on.kind == TALLY_TRIGGER_FRAME &&
	    __builtin_add_overflow(first, config->start_on.frame, &first))
		return UINT64_MAX;
	return first;
}

/* The start of the count and pauses do not matter for the rotation of counter sets, so no
 * device's count is needed. */
__attribute__((hot)) uint64_t
tally_trigger_rotation(uint64_t frame)
{
	uint64_t first = tally_trigger_first_frame();
	return frame < first ? 0 : (frame - first) / config->every;
}

void
tally_trigger_report_end(bool with_program)
{
	look_after_signals();
	bool waits = atomic_load(&now.capture) == TALLY_CAPTURE_WAITS &&
		     !(config->start_on.kind == TALLY_TRIGGER_FRAME &&
		       atomic_load(&now.frame_reached));
	bool never_stopped = config->stop_on.kind == TALLY_TRIGGER_LABEL && with_program &&
			     !atomic_load(&now.stop_label_seen);
	if (!waits && !never_stopped)
		return;
	char value[160];
	const struct tally_option *row = tally_option_find(waits ? "start-on" : "stop-on",
							   waits ? 8 : 7);
	tally_option_get(row, config, value, sizeof(value));
	tally_log_say(TALLY_LEVEL_WARNING, "trigger",
		      waits ? "no frame was captured: the run waited for start-on=%s, which "
			      "never came"
			    : "stop-on=%s never came: the capture ended with the program",
		      value);
}
