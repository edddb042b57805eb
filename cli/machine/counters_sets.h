/* cli/machine/counters_sets.h - which sets the counters of a device come in, for people and for
 * programs.
 *
 * What cannot be counted at once takes turns, a set a captured frame. One thread.
 */
#ifndef PASSTALLY_CLI_COUNTERS_SETS_H
#define PASSTALLY_CLI_COUNTERS_SETS_H

#include "cli/machine/probe.h"
#include "cli/shared/out.h"

/* Captured frames until every counter was counted; `pinned`: the --set of a run, or NULL. 0:
 * no set counts, for there is none, or none of that name. */
uint32_t tally_sets_rotation(const struct tally_probe_found *found, const char *pinned);
uint32_t tally_sets_of_source(const struct tally_probe_found *found, const char *source);
/* "38 counters, 216 bytes"; g_free(). */
char *tally_set_size(const struct tally_counter_set *set);
/* Numbers, from 1 and as printed, of the sets that hold the counter: "1-3,5"; "" for none;
 * g_free(). */
char *tally_sets_with(const struct tally_probe_found *found, const struct tally_counter *counter);
/* The frames that a rotation takes, as a sentence; g_free(). */
char *tally_sets_tell_rotation(const struct tally_probe_found *found, const char *pinned);
/* Members of the device's JSON object: `sets`, `rotation_frames`. Nothing where there is no
 * set. */
void tally_sets_put(struct tally_out *o, const struct tally_probe_found *found, const char *pinned);

#endif
