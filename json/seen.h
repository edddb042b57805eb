/* SPDX-License-Identifier: MIT */
/* json/seen.h - what a log reader stores from line to line: words that already occurred.
 *
 * Words (counter keys, units, formats) are kept once each, so that equal ones are equal pointers.
 * They have a limit, because a log may be hostile. One thread at a time. Functions that may
 * allocate are marked.
 */
#ifndef PASSTALLY_JSON_SEEN_H
#define PASSTALLY_JSON_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_MAX_WORDS (1u << 16)
#define TALLY_MAX_WORD_BYTES (16u << 20) /* total of all words */

struct tally_word {
	struct tally_word *next; /* the word that followed this one the last time: a guess */
	uint64_t hash;
	uint64_t epoch; /* the caller's: the object that contained it last */
	uint64_t marks; /* the caller's */
	size_t len;
	bool plain; /* four bytes or more, none of which JSON would spell differently */
	char text[];
};

struct tally_words {
	struct tally_word **slots;
	size_t n, size, bytes;
	struct tally_word *last;
};

/* The word with this text, created when it is first seen (allocates). NULL with *full: too many
 * words; NULL without: out of memory. */
struct tally_word *
tally_words_get(struct tally_words *words, const char *s, size_t len, bool *full);
void tally_words_finish(struct tally_words *words);

#endif
