/* SPDX-License-Identifier: MIT */
/* cli/log/warmup.h - which frames at the start of a log are loading, and are left out.
 *
 * A program that starts compiles shaders and loads data: its first frames take a hundred times
 * as long as all others, and would dominate every mean, maximum and chart. One rule, in
 * tally_warmup_count(), decides which frames these are; docs/verdicts.md explains it.
 *
 * The default of each command is TALLY_WARMUP_AUTO: an aggregate (cli/log/aggregate.h)
 * that is read with it skips those frames of each device before anything counts them, and
 * stores their number in tally_device_summary (warmed_up, warmed_up_ns). A number skips that
 * many frames instead; 0 skips none.
 *
 * Equal input gives equal output: a plain log, a compressed one and a pipe give the same. Only
 * the start of the log is examined (TALLY_WARMUP_FRAMES), so memory is bounded. One thread.
 */
#ifndef PASSTALLY_CLI_LOG_WARMUP_H
#define PASSTALLY_CLI_LOG_WARMUP_H

#include "cli/shared/cli.h"
#include "json/record_json.h"

#include <glib.h>

/* In place of a number of frames: apply the rule. */
#define TALLY_WARMUP_AUTO UINT64_MAX

/* The first frames of a device that are examined. */
#define TALLY_WARMUP_FRAMES 1000

/* Reads the value of --warmup, "auto" or a number, into a uint64_t. */
tally_arg_take tally_warmup_take;

/* The rule. `frame_ns` holds the frame times (present to present) of the first `n` complete
 * frames of a device, in order. Returns how many at the start, at most `last`, are loading: at
 * most n / 4. */
size_t tally_warmup_count(const uint64_t *frame_ns, size_t n, size_t last);

/* The start of a log, examined line by line. */
struct tally_warmup;
struct tally_warmup *tally_warmup_create(void);
/* Takes the next line of the log. False: nothing more is needed. */
bool tally_warmup_add(struct tally_warmup *w, const struct tally_log_line *line);
/* How many first frames of the device of `f`, its next frame, are to be left out. Of a device that
 * was not examined the first, if it took long and made shaders, memory or uploads. */
size_t tally_warmup_frames(struct tally_warmup *w, const struct tally_frame_record *f);
void tally_warmup_destroy(struct tally_warmup *w);

#endif
