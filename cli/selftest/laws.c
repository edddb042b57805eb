/* SPDX-License-Identifier: MIT */
#include "cli/selftest/laws.h"

#include "cli/shared/text.h"

/* How much is kept of one law: one driver's fault may appear in every frame of every scene. */
#define MOST_FAILURES 4

const struct tally_law_row tally_laws[TALLY_N_LAWS] = {
	[TALLY_LAW_STARTS] = { "starts", "the driver draws every scene", "" },
	[TALLY_LAW_UNCHANGED] = { "unchanged", "pixels and output unchanged", "" },
	[TALLY_LAW_STATUS] = { "status", "exit status unchanged, no crash, no hang",
			       "" },
	[TALLY_LAW_LOG] = { "log", "the log is whole and its sums add up", "" },
	[TALLY_LAW_CALLS] = { "calls", "passes, draws, vertices, clears exact", "api" },
	[TALLY_LAW_RESULTS] = { "results", "every query has a result", "all" },
	[TALLY_LAW_PRIMITIVES] = { "primitives", "primitives exact", "statistics" },
	[TALLY_LAW_SHADED] = { "vertex-shader", "vertex shader: 1 to 2 runs a vertex",
			       "statistics" },
	[TALLY_LAW_FRAGMENTS] = { "fragment-shader",
				  "fragment shader: the pixels, at most twice",
				  "statistics" },
	[TALLY_LAW_SUMS] = { "sums", "passes add up to the frame", "statistics" },
	[TALLY_LAW_EQUAL] = { "equal", "equal passes count equally", "statistics" },
	[TALLY_LAW_TIMES] = { "times", "times in order and inside the run",
			      "timestamp" },
	[TALLY_LAW_CLOCK] = { "clock", "GPU time as long as the CPU's clock says",
			      "timestamp" },
	[TALLY_LAW_MORE] = { "more", "more work takes more time", "timestamp" },
	[TALLY_LAW_NEIGHBOR] = { "neighbor", "no pass has its neighbor's time",
				 "timestamp" },
	[TALLY_LAW_COUNTERS] = { "counters", "every set's counters there, sane, equal",
				 "hardware" },
	[TALLY_LAW_RESUBMIT] = { "resubmit", "command buffers submitted again", "all" },
	[TALLY_LAW_SECONDARY] = { "secondary", "secondary command buffers", "all" },
	[TALLY_LAW_CONTEXTS] = { "contexts", "several contexts", "all" },
	[TALLY_LAW_THREADS] = { "threads", "several threads", "all" },
};

const char *
tally_verdict_word(enum tally_verdict verdict)
{
	static const char *const words[TALLY_N_VERDICTS] = { "not run", "not offered",
							     "pass", "FAIL" };
	return words[verdict];
}

struct tally_tested_device *
tally_tested_device_create(bool vulkan, unsigned number)
{
	struct tally_tested_device *device = g_new0(struct tally_tested_device, 1);
	device->vulkan = vulkan;
	device->number = number;
	for (int i = 0; i < TALLY_N_LAWS; i++)
		device->laws[i].failures = g_ptr_array_new_with_free_func(g_free);
	return device;
}

void
tally_tested_device_destroy(void *p)
{
	struct tally_tested_device *device = p;
	for (int i = 0; i < TALLY_N_LAWS; i++) {
		g_ptr_array_unref(device->laws[i].failures);
		g_free(device->laws[i].why);
	}
	g_free(device->name);
	g_free(device->version);
	g_free(device->driver);
	g_free(device);
}

static void
raise_to(struct tally_finding *finding, enum tally_verdict verdict)
{
	if (finding->verdict < verdict)
		finding->verdict = verdict;
}

void
tally_law_hold(struct tally_tested_device *device, enum tally_law law)
{
	raise_to(&device->laws[law], TALLY_VERDICT_PASS);
}

void
tally_law_lack(struct tally_tested_device *device, enum tally_law law, const char *why)
{
	raise_to(&device->laws[law], TALLY_VERDICT_NOT_OFFERED);
	if (!device->laws[law].why)
		device->laws[law].why = g_strdup(why);
}

void
tally_law_fail(struct tally_tested_device *device, enum tally_law law,
	       const char *scene, const char *format, ...)
{
	struct tally_finding *finding = &device->laws[law];
	raise_to(finding, TALLY_VERDICT_FAIL);
	finding->n_failures++;
	if (finding->failures->len == MOST_FAILURES)
		return;
	TALLY_FORMATTED(what, format);
	g_ptr_array_add(finding->failures, g_strdup_printf("%s: %s", scene, what));
}
