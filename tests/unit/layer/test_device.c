/* SPDX-License-Identifier: MIT */
#include "layer/frame/frame_part.h"

#include "layer/session/session.h"
#include "tests/unit/layer/recorder_stub.h"

#include <stdlib.h>
#include <string.h>

static const struct tally_counter counter = {
	.key = "n", .name = "N", .unit = "1", .source = "fake", .storage = TALLY_STORAGE_U64
};
static const struct tally_counter *const counters[] = { &counter, &counter };

/* Text that is overwritten after the copy has been made. */
struct texts {
	char words[12][16];
};

static void
fill(struct texts *t, const char *prefix)
{
	for (size_t i = 0; i < G_N_ELEMENTS(t->words); i++)
		g_snprintf(t->words[i], sizeof(t->words[i]), "%s %zu", prefix, i);
}

static void
test_copy(void)
{
	struct texts t;
	fill(&t, "text");
	struct tally_source_info sources[] = { { t.words[4], true, NULL },
					       { t.words[5], false, t.words[6] } };
	struct tally_metric_info metric = {
		.key = t.words[7], .name = t.words[8], .unit = NULL, .expression = t.words[9]
	};
	struct tally_device_record info = {
		.device = 99,
		.name = t.words[0],
		.driver = t.words[1],
		.driver_version = t.words[2],
		.serialized_by = t.words[3],
		.pci = t.words[10],
		.uuid = t.words[11],
		.beneath = 3,
		.sources = sources,
		.n_sources = 2,
		.metrics = &metric,
		.n_metrics = 1,
		.counters = counters,
		.n_counters = 2,
	};
	struct tally_device_record *copy = tally_device_copy_info(&info, 7);
	fill(&t, "gone");
	memset(sources, 0, sizeof(sources));
	memset(&metric, 0, sizeof(metric));
	memset(&info, 0, sizeof(info));
	g_assert_cmpuint(copy->device, ==, 7);
	g_assert_cmpint(copy->beneath, ==, 3);
	g_assert_cmpstr(copy->name, ==, "text 0");
	g_assert_cmpstr(copy->driver, ==, "text 1");
	g_assert_cmpstr(copy->driver_version, ==, "text 2");
	g_assert_cmpstr(copy->serialized_by, ==, "text 3");
	g_assert_cmpstr(copy->pci, ==, "text 10");
	g_assert_cmpstr(copy->uuid, ==, "text 11");
	g_assert_cmpstr(copy->sources[0].name, ==, "text 4");
	g_assert_null(copy->sources[0].reason);
	g_assert_cmpstr(copy->sources[1].reason, ==, "text 6");
	g_assert_cmpstr(copy->metrics[0].key, ==, "text 7");
	g_assert_null(copy->metrics[0].unit);
	g_assert_cmpstr(copy->metrics[0].expression, ==, "text 9");
	g_assert_true(copy->counters[1] == &counter);
	free(copy); /* one block: a sanitizer sees what is left */
}

static void
test_copy_of_nothing(void)
{
	static const struct tally_device_record empty;
	struct tally_device_record *copy = tally_device_copy_info(&empty, 1);
	g_assert_cmpuint(copy->device, ==, 1);
	g_assert_null(copy->name);
	g_assert_cmpuint(copy->n_sources + copy->n_metrics + copy->n_counters, ==, 0);
	free(copy);
}

/* Before, during and after a capture. */
static void
test_life(void)
{
	if (!stub_in_child(NULL))
		return;
	static const struct tally_device_record info = { .name = "Fake", .beneath = -1 };
	static const struct tally_device_record other = { .name = "Other", .beneath = -1 };
	g_assert_null(tally_device_create(&info));
	g_assert_cmpint(tally_device_newest(~0u), ==, -1);
	tally_device_describe(NULL, &info);
	tally_device_destroy(NULL);

	g_assert_true(tally_session_start(&stub_recorder));
	struct tally_device *first = tally_device_create(&info);
	struct tally_device *second = tally_device_create(&info);
	g_assert_cmpint(tally_device_newest(~0u), ==, 1);
	tally_device_describe(first, &other);
	tally_device_destroy(second);
	/* Also for a device that no longer exists. */
	g_assert_cmpint(tally_device_newest(1u << info.api), ==, 1);
	g_assert_cmpint(tally_device_newest(0), ==, -1);
	tally_session_stop("exit");

	g_assert_cmpuint(stub_count("device 0 Fake"), ==, 1);
	g_assert_cmpuint(stub_count("device 1 Fake"), ==, 1);
	g_assert_cmpuint(stub_count("device 0 Other"), ==, 1);
	g_assert_null(tally_device_create(&info));
	g_assert_cmpint(tally_device_newest(~0u), ==, -1);
	tally_device_describe(first, &info);
	tally_device_destroy(first);
	g_assert_cmpuint(stub_count("device "), ==, 3);
}

struct maker {
	GThread *thread;
	uint32_t numbers[100];
};

static gpointer
make_devices(gpointer data)
{
	struct maker *m = data;
	static const struct tally_device_record info = { .name = "Fake", .beneath = -1 };
	for (size_t i = 0; i < G_N_ELEMENTS(m->numbers); i++) {
		struct tally_device *d = tally_device_create(&info);
		g_assert_nonnull(d);
		m->numbers[i] = d->number;
		tally_device_destroy(d);
	}
	return NULL;
}

/* Each device gets its own number, and its line. */
static void
test_threads(void)
{
	if (!stub_in_child(NULL))
		return;
	static struct maker makers[4];
	static bool seen[4 * G_N_ELEMENTS(makers[0].numbers)];
	g_assert_true(tally_session_start(&stub_recorder));
	for (size_t i = 0; i < G_N_ELEMENTS(makers); i++)
		makers[i].thread = g_thread_new("maker", make_devices, &makers[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(makers); i++)
		g_thread_join(makers[i].thread);
	g_assert_cmpint(tally_device_newest(~0u), ==, G_N_ELEMENTS(seen) - 1);
	tally_session_stop("exit");
	for (size_t i = 0; i < G_N_ELEMENTS(seen); i++) {
		uint32_t number = makers[i / 100].numbers[i % 100];
		g_assert_cmpuint(number, <, G_N_ELEMENTS(seen));
		g_assert_false(seen[number]);
		seen[number] = true;
	}
	g_assert_cmpuint(stub_count("device "), ==, G_N_ELEMENTS(seen));
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/device/copy", test_copy);
	g_test_add_func("/device/copy-of-nothing", test_copy_of_nothing);
	g_test_add_func("/device/life", test_life);
	g_test_add_func("/device/threads", test_threads);
	return g_test_run();
}
