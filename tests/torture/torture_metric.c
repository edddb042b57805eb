/* SPDX-License-Identifier: MIT */
/* Each allocation of binding metrics, and of reading the user's own metrics, fails once: the
 * result is a complete set, one that lacks a metric, or none; never a wrong number.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "layer/config/file.h"
#include "query/metric/bind.h"
#include "query/metric/metric.h"
#include "query/metric/set.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static unsigned fail_at; /* 0 = never */
static unsigned count;

static bool
fails(void)
{
	return fail_at && ++count == fail_at;
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

static const struct tally_counter counters[] = {
	{ .key = "cpu_cycles", .name = "c" },
	{ .key = "cpu_instructions", .name = "i" },
	{ .key = "CPUActivityUser.Cluster[0]", .name = "u" },
	{ .key = "CPUActivityTime.Cluster[0]", .name = "t" },
};
static const struct tally_metric own[] = {
	{ .key = "twice", .name = "t", .unit = "1", .expression = "cpu_ipc * 2", .layouts = "" },
};

/* How many metrics have a value; -1: there is no set. */
static int
evaluate(unsigned failing)
{
	const struct tally_counter *list[] = { &counters[0], &counters[1], &counters[2],
					       &counters[3] };
	struct tally_keyed_value values[4], out[64];
	for (unsigned i = 0; i < 4; i++)
		values[i] = (struct tally_keyed_value){
			.key = counters[i].key,
			.value = { .storage = TALLY_STORAGE_U64, .u64 = 4 },
		};
	struct tally_metric_inputs in = { .counters = list, .n_counters = 4 };
	struct tally_metric_values pass = { .counters = values, .n_counters = 4 };
	fail_at = failing;
	count = 0;
	struct tally_metric_set *set = tally_metric_set_create(&in, own, 1,
							       "cpu_ipc,twice,g715.*");
	fail_at = 0;
	if (!set)
		return -1;
	uint32_t n = tally_metric_set_evaluate(set, &pass, out);
	for (uint32_t i = 0; i < n; i++) {
		double want = strcmp(out[i].key, "cpu_ipc") == 0 ? 1
			      : strcmp(out[i].key, "twice") == 0 ? 2
								 : 100;
		g_assert_cmpfloat(out[i].value.f64, ==, want);
	}
	tally_metric_set_destroy(set);
	return (int)n;
}

static void
test_bind(void)
{
	unsigned none = 0, fewer = 0, failing = 1;
	for (;; failing++) {
		int n = evaluate(failing);
		if (count < failing)
			break;
		none += n < 0;
		fewer += n >= 0 && n < 3;
	}
	g_test_message("%u allocations: %u times no set, %u times fewer metrics",
		       failing - 1, none, fewer);
	g_assert_cmpuint(failing, >, 20);
	g_assert_cmpuint(none, >, 10);
	g_assert_cmpint(evaluate(0), ==, 3);
}

static void
keep_message(void *data, const char *message)
{
	(void)message;
	++*(unsigned *)data;
}

static void
test_own(void)
{
	static const char text[] = "[metric a]\nname = n\nexpression = 1\n"
				   "[metric b]\nunit = u\ndialect = arm\nexpression = a + 1\n";
	char *dir = g_dir_make_tmp("passtally-torture-XXXXXX", NULL);
	char *path = g_build_filename(dir, "a.conf", NULL);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	unsigned failing = 1, told = 0;
	for (;; failing++) {
		struct tally_config config;
		struct tally_metric metrics[2];
		unsigned said = 0;
		tally_config_init(&config);
		fail_at = failing;
		count = 0;
		bool read = tally_config_read_file(&config, path, TALLY_FROM_USER_FILE,
						   keep_message, &said);
		uint32_t n = tally_metric_read_own(&config, metrics, keep_message, &said);
		fail_at = 0;
		bool failed = count >= failing;
		/* If excess memory cannot be given back, nothing is lost. */
		g_assert_true(said > 0 || (read && n == 2));
		told += said > 0;
		for (uint32_t i = 0; i < n; i++)
			g_assert_true(metrics[i].key && metrics[i].expression);
		tally_config_finish(&config);
		if (!failed)
			break;
	}
	g_assert_cmpuint(told, >, 10);
	g_assert_cmpuint(failing, >, 15);
	g_remove(path);
	g_rmdir(dir);
	g_free(path);
	g_free(dir);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/torture/metric/bind", test_bind);
	g_test_add_func("/torture/metric/own", test_own);
	return g_test_run();
}
