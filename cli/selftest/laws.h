/* SPDX-License-Identifier: MIT */
/* cli/selftest/laws.h - the laws that a capture must obey, and the results for each device.
 *
 * A law holds on a device when it held in every scene that tests it, and fails when it failed in
 * one. Messages belong to the device and are freed with it.
 */
#ifndef PASSTALLY_CLI_SELFTEST_LAWS_H
#define PASSTALLY_CLI_SELFTEST_LAWS_H

#include <glib.h>
#include <stdbool.h>

enum tally_law {
	TALLY_LAW_STARTS,
	TALLY_LAW_UNCHANGED,
	TALLY_LAW_STATUS,
	TALLY_LAW_LOG,
	TALLY_LAW_CALLS,
	TALLY_LAW_RESULTS,
	TALLY_LAW_PRIMITIVES,
	TALLY_LAW_SHADED,
	TALLY_LAW_FRAGMENTS,
	TALLY_LAW_SUMS,
	TALLY_LAW_EQUAL,
	TALLY_LAW_TIMES,
	TALLY_LAW_CLOCK,
	TALLY_LAW_MORE,
	TALLY_LAW_NEIGHBOR,
	TALLY_LAW_COUNTERS,
	TALLY_LAW_RESUBMIT,
	TALLY_LAW_SECONDARY,
	TALLY_LAW_CONTEXTS,
	TALLY_LAW_THREADS,
	TALLY_N_LAWS,
};

struct tally_law_row {
	const char *key; /* for programs */
	const char *title; /* for people, at most 42 columns */
	const char *source; /* what the numbers come from */
};
extern const struct tally_law_row tally_laws[TALLY_N_LAWS];

enum tally_verdict {
	TALLY_VERDICT_NOT_RUN = 0,
	TALLY_VERDICT_NOT_OFFERED,
	TALLY_VERDICT_PASS,
	TALLY_VERDICT_FAIL,
	TALLY_N_VERDICTS,
};
/* "not run", "not offered", "pass", "FAIL". */
const char *tally_verdict_word(enum tally_verdict verdict);

struct tally_finding {
	enum tally_verdict verdict;
	char *why; /* why it is not offered; NULL = not known */
	guint n_failures;
	GPtrArray *
		failures; /* of the first of them: char *, "scene: what was expected" */
};

struct tally_tested_device {
	bool vulkan;
	unsigned number; /* as the scenes' programs number them */
	char *name, *version, *driver;
	struct tally_finding laws[TALLY_N_LAWS];
};

struct tally_tested_device *tally_tested_device_create(bool vulkan, unsigned number);
void tally_tested_device_destroy(void *device);

void tally_law_hold(struct tally_tested_device *device, enum tally_law law);
void
tally_law_lack(struct tally_tested_device *device, enum tally_law law, const char *why);
void tally_law_fail(struct tally_tested_device *device, enum tally_law law,
		    const char *scene, const char *format, ...) G_GNUC_PRINTF(4, 5);

#endif
