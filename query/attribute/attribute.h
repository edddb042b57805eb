/* query/attribute/attribute.h - counter snapshots cut into passes.
 *
 * A device's frames follow each other; each has a stretch of time that begins where the one
 * before ended. Inside it the growth of every counter goes to the passes that ran, by time:
 * where one pass runs all of it is that pass's, where several run at once they share evenly
 * (whole numbers, largest remainder, so that nothing is lost), where none runs it is
 * unattributed. Passes + unattributed + unlogged are the growth of the stretch, to the integer.
 * A pass between two samples of its own (`exact`) gets what grew between those; several in one
 * such pair share it by GPU time. Collector thread only; nothing here blocks.
 */
#ifndef PASSTALLY_QUERY_ATTRIBUTE_H
#define PASSTALLY_QUERY_ATTRIBUTE_H

#include "query/sampler/history.h"

/* In. A pass on the source's time line. */
struct tally_work {
	uint64_t begin_ns, end_ns; /* its GPU time, CLOCK_MONOTONIC; begin == end: none is known */
	uint64_t from, to; /* numbers of its own samples, TALLY_NO_SNAPSHOT: none */
};

/* Out, per pass: growth[i] counts where bit i of unknown is clear. */
struct tally_share {
	uint64_t *growth; /* n_counters */
	uint64_t *unknown; /* words */
	bool known; /* something could be said at all */
	bool estimated;
	uint64_t flags;
};

struct tally_stretch {
	uint64_t begin_ns, end_ns;
	uint64_t known_from_ns; /* in: the source's first reading */
	uint64_t *unattributed; /* n_counters */
	uint64_t *unattributed_unknown; /* words */
	uint64_t *unlogged; /* n_counters: growth that belongs to values which are left out */
	uint64_t *growth; /* n_counters: of the whole stretch */
	uint64_t flags;
};

/* Remembers how far it came: a stretch that begins where the one before ended begins with the
 * totals that the other ended with, also when the history answers otherwise by now (it was
 * coarsened, or a reading came since). So stretches add up; skipped time is a stretch without
 * work. */
struct tally_attributor;
struct tally_attributor *tally_attributor_create(uint32_t n_counters); /* NULL on OOM */
void tally_attributor_destroy(struct tally_attributor *a); /* accepts NULL */

/* Cut stretch->begin_ns .. end_ns; work outside it counts for what lies inside. Nothing is known of
 * work without time. With `exact` work that has no samples of its own gets nothing, and
 * TALLY_FLAG(UNSAMPLED), as does work that shares its samples but has no time to share by; where
 * its samples are gone it is flagged LOST. Their growth is unattributed. Work that began before
 * known_from_ns gets nothing. Where something is left out the flags say so: those of the reading,
 * or UNSAMPLED. What grew in stretches to whose end no reading reached is unlogged in the next one.
 * What is set in the arrays before does not matter. False on OOM: nothing is said. */
bool tally_attribute(struct tally_attributor *a, const struct tally_history *h, bool exact,
		     const struct tally_work *work, struct tally_share *shares, uint32_t n,
		     struct tally_stretch *stretch);

#endif
