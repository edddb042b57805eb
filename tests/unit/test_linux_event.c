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
	{ "a second at 5 GHz", UINT64_C(5000000000), 1000000000, 333333333, UINT64_C(15000000015) },
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

/* The software group, a hardware group, and the same counter by a second kind of cores. */
static const struct tally_linux_plan plan = {
	.n_events = 4,
	.n_groups = 3,
	.events = {
		{ .which = TALLY_LINUX_TASK_CLOCK, .group = 0 },
		{ .which = TALLY_LINUX_CYCLES, .group = 1 },
		{ .which = TALLY_LINUX_INSTRUCTIONS, .group = 1 },
		{ .which = TALLY_LINUX_CYCLES, .group = 2 },
	},
	.first = { 0, 1, 3, 4 },
};

static void
add(const struct tally_linux_reading *before, const struct tally_linux_reading *after,
    struct tally_linux_totals *totals)
{
	*totals = (struct tally_linux_totals){ 0 };
	tally_linux_plan_add(&plan, before, after, totals);
}

static void
test_growth(void)
{
	const struct tally_linux_reading zero = { 0 };
	struct tally_linux_totals t;

	/* Ran on both kinds of cores, and all the time on one or the other: nothing to scale. */
	add(&zero,
	    &(struct tally_linux_reading){ { 100, 70, 35, 40 },
					   { { 10, 10 }, { 10, 7 }, { 10, 3 } } },
	    &t);
	g_assert_cmpuint(t.total[TALLY_LINUX_TASK_CLOCK], ==, 100);
	g_assert_cmpuint(t.total[TALLY_LINUX_CYCLES], ==, 110);
	g_assert_cmpuint(t.total[TALLY_LINUX_INSTRUCTIONS], ==, 50);
	g_assert_cmpuint(t.unknown, ==, 0);

	/* Took turns: half the time in all. */
	add(&zero,
	    &(struct tally_linux_reading){ { 100, 70, 30, 10 },
					   { { 10, 10 }, { 10, 4 }, { 10, 1 } } },
	    &t);
	g_assert_cmpuint(t.total[TALLY_LINUX_CYCLES], ==, 160);
	g_assert_cmpuint(t.total[TALLY_LINUX_INSTRUCTIONS], ==, 75);

	/* Had no turn at all while the thread ran: not known, not 0. */
	add(&(struct tally_linux_reading){ { 50, 7, 7, 7 }, { { 5, 5 }, { 5, 5 }, { 5, 5 } } },
	    &(struct tally_linux_reading){ { 90, 7, 7, 7 }, { { 9, 9 }, { 9, 5 }, { 9, 5 } } }, &t);
	g_assert_cmpuint(t.total[TALLY_LINUX_TASK_CLOCK], ==, 40);
	g_assert_cmpuint(t.unknown, ==,
			 TALLY_LINUX_BIT(TALLY_LINUX_CYCLES) |
				 TALLY_LINUX_BIT(TALLY_LINUX_INSTRUCTIONS));

	/* The thread slept: nothing, and that is known. */
	add(&(struct tally_linux_reading){ { 50, 7, 7, 7 }, { { 5, 5 }, { 5, 2 }, { 5, 1 } } },
	    &(struct tally_linux_reading){ { 50, 7, 7, 7 }, { { 5, 5 }, { 5, 2 }, { 5, 1 } } }, &t);
	g_assert_cmpuint(t.unknown, ==, 0);
	g_assert_cmpuint(t.total[TALLY_LINUX_CYCLES], ==, 0);
}

/* Scaled growths never make a total fall, and are exact where nothing took turns. */
static void
test_random_growth(void)
{
	struct tally_linux_reading before = { 0 };
	struct tally_linux_totals t = { 0 };
	uint64_t software = 0;
	for (unsigned round = 0; round < 20000; round++) {
		struct tally_linux_reading after = before;
		uint64_t last = t.total[TALLY_LINUX_CYCLES];
		uint64_t enabled = (uint64_t)g_test_rand_int_range(0, 5000000);
		for (unsigned g = 0; g < 3; g++) {
			uint64_t running = g == 0 ? enabled
						  : (uint64_t)g_test_rand_int_range(
							    0, (int)enabled + 1) /
							    2;
			after.times[g].enabled += enabled;
			after.times[g].running += running;
			for (unsigned i = plan.first[g]; i < plan.first[g + 1]; i++)
				after.values[i] += running * (i + 1);
		}
		software += enabled;
		t.unknown = 0;
		tally_linux_plan_add(&plan, &before, &after, &t);
		g_assert_cmpuint(t.total[TALLY_LINUX_CYCLES], >=, last);
		/* Between two and four cycles a ns, whichever cores it ran on. */
		if (!(t.unknown & TALLY_LINUX_BIT(TALLY_LINUX_CYCLES))) {
			g_assert_cmpuint(t.total[TALLY_LINUX_CYCLES] - last + 1, >=, 2 * enabled);
			g_assert_cmpuint(t.total[TALLY_LINUX_CYCLES] - last, <=, 4 * enabled);
		}
		before = after;
	}
	g_assert_cmpuint(t.total[TALLY_LINUX_TASK_CLOCK], ==, software);
}

static const struct {
	int error;
	int32_t paranoid;
	enum tally_status want;
	const char *word;
} reasons[] = {
	{ EACCES, 3, TALLY_DENIED, "sudo sysctl kernel.perf_event_paranoid=2" },
	{ EPERM, 4, TALLY_DENIED, "kernel.perf_event_paranoid is 4" },
	{ EACCES, 2, TALLY_DENIED, "seccomp" },
	{ EPERM, -1, TALLY_DENIED, "EPERM" },
	{ EACCES, INT32_MAX, TALLY_DENIED, "sandbox" },
	{ ENOSYS, 2, TALLY_UNSUPPORTED, "CONFIG_PERF_EVENTS" },
	{ EMFILE, 2, TALLY_UNSUPPORTED, "ulimit -n" },
	{ ENFILE, 2, TALLY_UNSUPPORTED, "descriptors" },
	{ ENOSPC, 2, TALLY_UNSUPPORTED, "fewer counters" },
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
			reasons[i].error, reasons[i].paranoid, text, sizeof(text));
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
	g_test_add_func("/linux-event/random-growth", test_random_growth);
	g_test_add_func("/linux-event/reasons", test_reasons);
	return g_test_run();
}
