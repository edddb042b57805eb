/* SPDX-License-Identifier: MIT */
/* cli/answer/asleep.h - what a system call in which a thread slept says about its wait.
 *
 * The log has the call's name and, of a file, what that is (layer/event/late.c). One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_ASLEEP_H
#define PASSTALLY_CLI_ANSWER_ASLEEP_H

#include "layer/record.h"

enum tally_asleep_kind {
	TALLY_ASLEEP_OTHER = 0, /* nowhere, too */
	TALLY_ASLEEP_SLEEP,
	TALLY_ASLEEP_EVENTS, /* a program waits for the next event so, or a limiter */
	TALLY_ASLEEP_LOCK, /* or another thread, or the driver's */
	TALLY_ASLEEP_DEVICE,
	TALLY_ASLEEP_READ,
	TALLY_ASLEEP_PROCESS,
	TALLY_ASLEEP_PAGE,
	TALLY_N_ASLEEP_KINDS,
};

enum tally_asleep_kind tally_asleep_kind(const struct tally_asleep_record *a);
bool tally_asleep_in_file(const struct tally_asleep_record *a);
/* Nobody is known to hold it: the driver may wait so, or passtally for it. */
bool tally_asleep_may_be_driver(const struct tally_asleep_record *a);
/* Its texts stay from here on, when the line of the log is gone. */
void tally_asleep_intern(struct tally_asleep_record *a);
/* "sleep: clock_nanosleep", "for loader: futex", "for loader, in file: fsync"; valid as that of
 * tally_phrase(). */
const char *tally_asleep_text(const struct tally_asleep_record *a);

#endif
