/* SPDX-License-Identifier: MIT */
#include "layer/session/collector.h"

#include "layer/capture/capture.h"
#include "layer/capture/trigger.h"
#include "layer/frame/assembly.h"
#include "layer/frame/queue.h"
#include "layer/session/session.h"
#include "tests/unit/layer/recorder_stub.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_THREADS 4
#define N_LETTERS 200

/* A description of device `number`, with the number in its line. */
static struct tally_message *
message_of(uint32_t number)
{
	char name[32];
	g_snprintf(name, sizeof(name), "by-%u", number);
	struct tally_device_record info = { .name = name, .beneath = -1 };
	struct tally_message *message = calloc(1, sizeof(*message));
	message->kind = TALLY_MESSAGE_DESCRIBE;
	message->info = tally_device_copy_info(&info, number);
	return message;
}

static void
free_message(struct tally_message *message)
{
	free(message->info);
	free(message);
}

static bool
post(uint32_t number)
{
	struct tally_message *message = message_of(number);
	if (tally_queue_post(message))
		return true;
	free_message(message); /* refused: the caller keeps it */
	return false;
}

static void
start(void)
{
	static struct tally_recorder recorder;
	tally_trigger_reset(tally_session_config()); /* as the session does */
	g_assert_true(tally_collector_start(&stub_recorder, &recorder, NULL, NULL));
	g_assert_cmpuint(tally_capture_generation(), !=, 0);
}

/* Longer than any test may last: no time is measured. */
static void
stop(void)
{
	tally_collector_stop("exit", TALLY_MAX_WAIT_NS * 100);
}

static void
test_order(void)
{
	if (!stub_in_child(NULL))
		return;
	start();
	for (uint32_t i = 0; i < N_LETTERS; i++)
		g_assert_true(post(i));
	stop();
	g_assert_cmpuint(stub.lines->len, ==, N_LETTERS + 1);
	for (uint32_t i = 0; i < N_LETTERS; i++) {
		char *want = g_strdup_printf("device %u by-%u ", i, i);
		g_assert_true(g_str_has_prefix(stub_line(i), want));
		g_free(want);
	}
	g_assert_cmpstr(stub_line(N_LETTERS), ==, "end exit");
}

static void
test_no_capture(void)
{
	if (!stub_in_child(NULL))
		return;
	g_assert_cmpuint(tally_capture_generation(), ==, 0);
	g_assert_false(post(0));
	tally_queue_notify(false);
	tally_queue_notify(true);
	stop(); /* of a collector that does not run: returns at once */
	start();
	g_assert_true(post(0));
	stop();
	g_assert_cmpuint(tally_capture_generation(), ==, 0);
	g_assert_false(post(1));
	stop();
	g_assert_cmpuint(stub.n_ends, ==, 1);
	g_assert_cmpuint(stub_count("device "), ==, 1);
}

/* The first lines are on their way to the file before many milliseconds are gathered. */
static void
test_early(void)
{
	enum { N = 10 };
	if (!stub_in_child(NULL))
		return;
	start();
	for (uint32_t i = 0; i < N; i++) {
		g_assert_true(post(i));
		g_usleep(15000);
	}
	g_assert_cmpuint(atomic_load(&stub.n_flushes), >, N / 2);
	stop();
}

/* Each capture has its own number, and its devices count from 0. */
static void
test_generations(void)
{
	if (!stub_in_child(NULL))
		return;
	uint64_t last = 0;
	for (unsigned i = 0; i < 5; i++) {
		start();
		g_assert_cmpuint(tally_capture_generation(), !=, last);
		last = tally_capture_generation();
		g_assert_cmpuint(tally_capture_number_device(), ==, 0);
		g_assert_cmpuint(tally_capture_number_device(), ==, 1);
		stop();
	}
	g_assert_cmpuint(stub.n_ends, ==, 5);
	g_assert_cmpuint(stub.n_closed, ==, 5);
}

static atomic_uint n_taken;

static gpointer
post_many(gpointer data)
{
	for (uint32_t i = 0; i < N_LETTERS; i++)
		atomic_fetch_add(&n_taken, post(GPOINTER_TO_UINT(data) * N_LETTERS + i));
	return NULL;
}

/* Everything that was accepted is written; the end, at any moment, refuses the rest. */
static void
test_threads(const void *data)
{
	if (!stub_in_child(NULL))
		return;
	bool ends_early = data != NULL;
	GThread *threads[N_THREADS];
	start();
	for (guint i = 0; i < N_THREADS; i++)
		threads[i] = g_thread_new("poster", post_many, GUINT_TO_POINTER(i));
	if (ends_early)
		stop();
	for (guint i = 0; i < N_THREADS; i++)
		g_thread_join(threads[i]);
	stop();
	g_assert_cmpuint(stub_count("device "), ==, atomic_load(&n_taken));
	if (!ends_early)
		g_assert_cmpuint(atomic_load(&n_taken), ==, N_THREADS * N_LETTERS);
	g_assert_cmpuint(stub.n_ends, ==, 1);
}

/* The child has no thread, no file and no capture; the parent notices nothing. */
static void
test_forget(void)
{
	if (!stub_in_child(NULL))
		return;
	start();
	g_assert_true(post(0));
	pid_t child = fork();
	if (child == 0) {
		tally_collector_forget();
		bool good = tally_capture_generation() == 0 && !post(1) && stub.n_abandoned == 1;
		stop();
		tally_collector_forget();
		_exit(good && stub.n_abandoned == 1 ? 0 : 1);
	}
	int status = -1;
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	g_assert_cmpint(status, ==, 0);
	g_assert_true(post(2));
	stop();
	g_assert_cmpuint(stub_count("device "), ==, 2);
	g_assert_cmpuint(stub.n_abandoned, ==, 0);
	g_assert_cmpuint(stub.n_closed, ==, 1);
}

/* A log that is full ends the capture. */
static void
test_failure(void)
{
	if (!stub_in_child(NULL))
		return;
	stub_fail = 3;
	start();
	for (uint32_t i = 0; i < 5; i++)
		post(i);
	while (tally_capture_generation() != 0)
		g_usleep(1000);
	stop();
	g_assert_cmpuint(stub_count("device "), ==, 3);
	g_assert_cmpstr(stub.end.reason, ==, "disk-full");
	g_assert_cmpuint(stub.n_closed, ==, 1);
}

/* ---- the annotator ---- */

struct tally_annotator {
	pthread_t maker;
	uint32_t n_made, n_destroyed;
};

static struct tally_annotator annotator;

static struct tally_annotator *
make(const struct tally_config *config)
{
	g_assert_nonnull(config);
	annotator.maker = pthread_self();
	annotator.n_made++;
	return &annotator;
}

static const struct tally_device_record *
not_changed(struct tally_annotator *a, bool last)
{
	g_assert_true(a == &annotator && last);
	return NULL;
}

static void
add_nothing(struct tally_annotator *a, struct tally_end_record *end)
{
	g_assert_true(a == &annotator);
	g_assert_nonnull(end);
}

static void
destroy(struct tally_annotator *a)
{
	a->n_destroyed++;
}

/* Opening its sources takes as long as a frame: the game's thread does that only where its
 * first boundary needs a reading. */
static void
test_annotator(const void *data)
{
	static const struct tally_annotator_ops ops = {
		.changed = not_changed,
		.create = make,
		.end = add_nothing,
		.destroy = destroy,
	};
	static struct tally_recorder recorder;
	if (!stub_in_child(NULL))
		return;
	bool exact = data != NULL;
	struct tally_config config = *tally_session_config();
	config.snapshot = exact ? TALLY_SNAPSHOT_EXACT : TALLY_SNAPSHOT_SAMPLED;
	tally_trigger_reset(&config);
	g_assert_true(tally_collector_start(&stub_recorder, &recorder, &ops, &config));
	if (exact)
		g_assert_cmpuint(annotator.n_made, ==, 1);
	stop();
	g_assert_cmpuint(annotator.n_made, ==, 1);
	g_assert_cmpuint(annotator.n_destroyed, ==, 1);
	g_assert_cmpint(pthread_equal(annotator.maker, pthread_self()) != 0, ==, exact);
	g_assert_cmpstr(stub_line(0), ==, "end exit");
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/collector/order", test_order);
	g_test_add_func("/collector/no-capture", test_no_capture);
	g_test_add_func("/collector/early", test_early);
	g_test_add_func("/collector/generations", test_generations);
	g_test_add_data_func("/collector/threads", NULL, test_threads);
	g_test_add_data_func("/collector/threads-and-end", "early", test_threads);
	g_test_add_func("/collector/forget", test_forget);
	g_test_add_func("/collector/failure", test_failure);
	g_test_add_data_func("/collector/annotator", NULL, test_annotator);
	g_test_add_data_func("/collector/annotator-exact", "exact", test_annotator);
	return g_test_run();
}
