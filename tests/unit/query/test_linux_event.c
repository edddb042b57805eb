/* SPDX-License-Identifier: MIT */
#include "query/linux/event.h"

#include <errno.h>
#include <glib.h>
#include <string.h>

static const struct {
	const char *what;
	uint64_t value, enabled, running, want;
} scale_cases[] = {
	{ "ran all the time", 1000, 50, 50, 1000 },
	{ "ran half the time", 1000, 100, 50, 2000 },
	{ "rounds down", 10, 100, 33, 30 },
	{ "did not run, and was not to", 0, 0, 0, 0 },
	{ "one cycle of many", 1, 3, 2, 1 },
	{ "large values", UINT64_C(1) << 60, 4, 2, UINT64_C(1) << 61 },
	{ "a second at 5 GHz", UINT64_C(5000000000), 1000000000, 333333333,
	  UINT64_C(15000000015) },
	{ "longer than 4 s", 600, UINT64_C(16) << 32, UINT64_C(8) << 32, 1200 },
};

static void
test_scale(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(scale_cases); i++) {
		g_test_message("%s", scale_cases[i].what);
		g_assert_cmpuint(tally_linux_scale(scale_cases[i].value, scale_cases[i].enabled,
						   scale_cases[i].running),
				 ==, scale_cases[i].want);
	}
}

/* The task clock, two hardware events, and one of them for a second kind of cores. */
static const struct tally_linux_plan plan = {
	.n = 4,
	.events = {
		{ .which = TALLY_LINUX_TASK_CLOCK },
		{ .which = TALLY_LINUX_CYCLES },
		{ .which = TALLY_LINUX_INSTRUCTIONS },
		{ .which = TALLY_LINUX_CYCLES },
	},
};

static const struct {
	const char *what;
	struct tally_linux_reading before[4], after[4];
	uint64_t clock, cycles, instructions;
	bool unknown; /* of hardware */
} growth_rows[] = {
	{ "on both kinds of cores, all the time on one or the other: nothing to scale",
	  { { 0 } },
	  { { 100, 10, 10 }, { 70, 10, 7 }, { 50, 10, 10 }, { 40, 10, 3 } },
	  100,
	  110,
	  50,
	  false },
	{ "took turns: half the time in all",
	  { { 0 } },
	  { { 100, 10, 10 }, { 70, 10, 4 }, { 30, 10, 4 }, { 10, 10, 1 } },
	  100,
	  160,
	  75,
	  false },
	{ "had no turn at all while the thread ran: not known, not 0",
	  { { 50, 5, 5 }, { 7, 5, 5 }, { 7, 5, 5 }, { 7, 5, 5 } },
	  { { 90, 9, 9 }, { 7, 9, 5 }, { 7, 9, 5 }, { 7, 9, 5 } },
	  40,
	  0,
	  0,
	  true },
	{ "the thread slept: nothing, and that is known",
	  { { 50, 5, 5 }, { 7, 5, 2 }, { 7, 5, 2 }, { 7, 5, 1 } },
	  { { 50, 5, 5 }, { 7, 5, 2 }, { 7, 5, 2 }, { 7, 5, 1 } },
	  0,
	  0,
	  0,
	  false },
};

static void
test_growth(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(growth_rows); i++) {
		struct tally_linux_totals t = { 0 };
		g_test_message("%s", growth_rows[i].what);
		tally_linux_plan_add(&plan, growth_rows[i].before, growth_rows[i].after, &t);
		g_assert_cmpuint(t.total[TALLY_LINUX_TASK_CLOCK], ==, growth_rows[i].clock);
		g_assert_cmpuint(t.total[TALLY_LINUX_CYCLES], ==, growth_rows[i].cycles);
		g_assert_cmpuint(t.total[TALLY_LINUX_INSTRUCTIONS], ==,
				 growth_rows[i].instructions);
		g_assert_cmpuint(t.unknown, ==,
				 growth_rows[i].unknown
					 ? TALLY_LINUX_BIT(TALLY_LINUX_CYCLES) |
						   TALLY_LINUX_BIT(TALLY_LINUX_INSTRUCTIONS)
					 : 0);
	}
}

static const struct {
	int error;
	int32_t paranoid;
	enum tally_status want;
	const char *word;
} reasons[] = {
	{ EACCES, 3, TALLY_DENIED, "sudo sysctl kernel.perf_event_paranoid=2" },
	{ EPERM, 4, TALLY_DENIED, "kernel.perf_event_paranoid is 4" },
	{ EACCES, 2, TALLY_DENIED, "CAP_PERFMON" },
	{ EPERM, -1, TALLY_DENIED, "EPERM" },
	{ EACCES, INT32_MAX, TALLY_DENIED, "container" },
	{ ENOSYS, 2, TALLY_UNSUPPORTED, "CONFIG_PERF_EVENTS" },
	{ ECANCELED, 2, TALLY_UNSUPPORTED, "filter of system calls" },
	{ EMFILE, 2, TALLY_UNSUPPORTED, "ulimit -n" },
	{ ENFILE, 2, TALLY_UNSUPPORTED, "descriptors" },
	{ ENOSPC, 2, TALLY_UNSUPPORTED, "fewer counters" },
	{ EINVAL, 2, TALLY_UNSUPPORTED, "Linux 5.13" },
	{ ENOENT, 2, TALLY_UNSUPPORTED, "does not have" },
	{ EBUSY, 2, TALLY_UNSUPPORTED, "another program" },
	{ ENOMEM, 2, TALLY_NO_MEMORY, "memory" },
	{ ERANGE, 2, TALLY_UNSUPPORTED, "errno 34" },
};

static void
test_reasons(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++) {
		char text[256];
		enum tally_status got = tally_linux_event_explain(
			reasons[i].error, reasons[i].paranoid, text);
		g_test_message("%s", text);
		g_assert_cmpint(got, ==, reasons[i].want);
		g_assert_nonnull(strstr(text, reasons[i].word));
		g_assert_cmpuint(strlen(text), <, sizeof(text) - 1);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/linux-event/scale", test_scale);
	g_test_add_func("/linux-event/growth", test_growth);
	g_test_add_func("/linux-event/reasons", test_reasons);
	return g_test_run();
}
