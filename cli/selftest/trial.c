/* SPDX-License-Identifier: MIT */
#include "cli/selftest/judges.h"
#include "cli/selftest/laws.h"
#include "cli/selftest/parts.h"

#include <string.h>
#include <sys/wait.h>

#define GL .scene
#define VK .vulkan = true, .scene
#define ALL_COUNTERS "--counters all --sources all"
/* Enough for each of a driver's sets to have its turn. */
#define COUNTED 48

const struct tally_trial_row tally_trials[] = {
	{ GL = "forward" },
	{ GL = "strips" },
	{ GL = "indexed" },
	{ GL = "multi" },
	{ GL = "instanced" },
	{ GL = "indirect" },
	{ GL = "clear_only" },
	{ GL = "clear_buffer" },
	{ GL = "interrupted" },
	{ GL = "shadow" },
	{ GL = "deferred" },
	{ GL = "groups" },
	{ GL = "copies" },
	{ GL = "blit_chain" },
	{ GL = "compute" },
	{ GL = "es2" },
	{ GL = "switching", .feature = TALLY_LAW_CONTEXTS },
	{ GL = "threads", .feature = TALLY_LAW_THREADS },
	{ GL = "work", .frames = 6, .judge = tally_judge_work },
	{ GL = "work", .label = "work-frame", .options = "--granularity frame",
	  .judge = tally_judge_sums },
	{ GL = "work", .label = "work-draw", .options = "--granularity draw",
	  .judge = tally_judge_sums },
	{ GL = "twins", .frames = COUNTED, .options = ALL_COUNTERS,
	  .judge = tally_judge_counters },
	{ GL = "beside", .frames = 6, .judge = tally_judge_beside },
	{ GL = "clock", .frames = 16, .judge = tally_judge_clock },

	{ VK = "triangle" },
	{ VK = "pass2" },
	{ VK = "chain" },
	{ VK = "rendering" },
	{ VK = "indexed" },
	{ VK = "indirect" },
	{ VK = "compute" },
	{ VK = "transfers" },
	{ VK = "labels" },
	{ VK = "resubmit", .feature = TALLY_LAW_RESUBMIT },
	{ VK = "resubmit_unread", .feature = TALLY_LAW_RESUBMIT },
	{ VK = "simultaneous", .feature = TALLY_LAW_RESUBMIT },
	{ VK = "secondaries", .feature = TALLY_LAW_SECONDARY },
	{ VK = "secondary_twice", .feature = TALLY_LAW_SECONDARY },
	{ VK = "secondary_rendering", .feature = TALLY_LAW_SECONDARY },
	{ VK = "wait_first", .feature = TALLY_LAW_THREADS },
	{ VK = "exit" },
	{ VK = "work", .frames = 6, .judge = tally_judge_work },
	{ VK = "work", .label = "work-frame", .options = "--granularity frame",
	  .judge = tally_judge_sums },
	{ VK = "work", .label = "work-draw", .options = "--granularity draw",
	  .judge = tally_judge_sums },
	{ VK = "twins", .frames = COUNTED, .options = ALL_COUNTERS,
	  .judge = tally_judge_counters },
	{ VK = "clock", .frames = 16, .judge = tally_judge_clock },
};
const size_t tally_n_trials = G_N_ELEMENTS(tally_trials);

static bool
ended_with(const struct tally_child *child, int status)
{
	return tally_child_exited(child) && WEXITSTATUS(child->status) == status;
}

/* The scene without passtally: 77 means unavailable, 99 a call that failed. */
static bool
judge_plain(struct tally_trial *t)
{
	g_autofree char *words = tally_child_last_words(&t->plain);
	if (ended_with(&t->plain, 77)) {
		if (t->row->feature)
			tally_law_lack(t->device, t->row->feature, words);
		return false;
	}
	bool crashed = !tally_child_exited(&t->plain);
	if (!crashed && WEXITSTATUS(t->plain.status) < 77) {
		tally_law_hold(t->device, TALLY_LAW_STARTS);
		return true;
	}
	g_autofree char *said = tally_child_say(&t->plain);
	tally_law_fail(t->device, TALLY_LAW_STARTS, tally_trial_name(t->row),
		       "without passtally: %s%s%s", said, *words ? ": " : "", words);
	return false;
}

static bool
judge_ours(struct tally_trial *t)
{
	const char *scene = tally_trial_name(t->row);
	g_autofree char *said = tally_child_say(&t->ours);
	g_autofree char *before = tally_child_say(&t->plain);
	g_autofree char *words = tally_child_last_words(&t->ours);
	if (strcmp(said, before) != 0) {
		tally_law_fail(t->device, TALLY_LAW_STATUS, scene,
			       "%s with passtally, %s without it%s%s", said, before,
			       *words ? ": " : "", words);
		return false;
	}
	tally_law_hold(t->device, TALLY_LAW_STATUS);
	if (strcmp(t->ours.out, t->plain.out) != 0 ||
	    strcmp(t->ours.err, t->plain.err) != 0)
		tally_law_fail(
			t->device, TALLY_LAW_UNCHANGED, scene,
			"the program's output and its picture's checksum are not those "
			"without passtally: %s%s",
			t->ours.out, t->ours.err);
	else
		tally_law_hold(t->device, TALLY_LAW_UNCHANGED);
	return true;
}

/* For the laws on whether a scene was captured correctly, not on how it was measured. */
static guint
count_failures(const struct tally_tested_device *device)
{
	guint n = 0;
	for (int i = 0; i < TALLY_LAW_FRAGMENTS; i++)
		n += device->laws[i].n_failures;
	return n;
}

static void
judge_log(struct tally_trial *t)
{
	if (t->log.error || !t->log.found)
		tally_law_fail(t->device, TALLY_LAW_LOG, tally_trial_name(t->row), "%s",
			       t->log.error ? t->log.error : "no device in the log");
	else if (t->row->judge)
		t->row->judge(t);
	else
		tally_judge_frames(t);
}

void
tally_trial_judge(struct tally_trial *t)
{
	guint before = count_failures(t->device);
	if (!judge_plain(t) && count_failures(t->device) == before)
		return;
	if (count_failures(t->device) == before && judge_ours(t))
		judge_log(t);
	if (!t->row->feature)
		return;
	if (count_failures(t->device) == before)
		tally_law_hold(t->device, t->row->feature);
	else
		tally_law_fail(t->device, t->row->feature, tally_trial_name(t->row),
			       "laws fail in this scene, see the others");
}
