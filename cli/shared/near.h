/* SPDX-License-Identifier: MIT */
/* cli/shared/near.h - the word that the user meant by a mistyped one.
 *
 * The distance of two words is the number of characters to insert, remove, replace or swap
 * with their neighbor (Levenshtein's, with Damerau's swaps). One thread; nothing fails.
 */
#ifndef PASSTALLY_CLI_SHARED_NEAR_H
#define PASSTALLY_CLI_SHARED_NEAR_H

#include <stddef.h>

struct tally_near {
	const char *word; /* the mistyped one; not owned, need not end in NUL */
	size_t len;
	const char *best; /* the nearest candidate so far, or NULL */
	size_t distance;
};

/* Begins a search for the word nearest to the first `len` bytes of `word`. Only candidates
 * count that differ in at most a third of its characters (in at most one for a word of two or
 * three). */
void tally_near_begin(struct tally_near *near, const char *word, size_t len);
/* Offers a candidate, which must outlive the search. Of equally near ones the first stays. */
void tally_near_offer(struct tally_near *near, const char *candidate);

#endif
