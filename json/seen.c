/* SPDX-License-Identifier: MIT */
#include "json/seen.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
mix(uint64_t v)
{
	v *= UINT64_C(0x9e3779b97f4a7c15);
	return v ^ v >> 32;
}

/* Seeded with an address, so that a log that was made to collide does not. */
static uint64_t
hash_text(const struct tally_words *words, const char *s, size_t len)
{
	uint64_t hash = mix((uint64_t)(uintptr_t)words ^ len);
	uint64_t part;
	for (; len >= 8; s += 8, len -= 8) {
		memcpy(&part, s, 8);
		hash = mix(hash ^ part);
	}
	part = 0;
	memcpy(&part, s, len);
	return mix(hash ^ part);
}

/* The slot of the word with this text, or the empty one where it belongs. There is always an empty
 * one. */
static struct tally_word **
find_slot(struct tally_word **slots, size_t size, const char *s, size_t len, uint64_t hash)
{
	for (size_t at = (size_t)hash;; at++) {
		struct tally_word *word = slots[at & (size - 1)];
		if (!word ||
		    (word->hash == hash && word->len == len && !memcmp(word->text, s, len)))
			return &slots[at & (size - 1)];
	}
}

/* Doubles the number of slots. It is a power of two; at most half of them are used. */
static bool
grow_words(struct tally_words *words)
{
	size_t size = words->size ? words->size * 2 : 256;
	struct tally_word **slots = calloc(size, sizeof(struct tally_word *));
	if (!slots)
		return false;
	for (size_t i = 0; i < words->size; i++) {
		struct tally_word *word = words->slots[i];
		if (word)
			*find_slot(slots, size, word->text, word->len, word->hash) = word;
	}
	free(words->slots);
	words->slots = slots;
	words->size = size;
	return true;
}

static struct tally_word *
add_word(struct tally_words *words, const char *s, size_t len, uint64_t hash, bool *full)
{
	*full = words->n == TALLY_MAX_WORDS || len > TALLY_MAX_WORD_BYTES - words->bytes;
	if (*full)
		return NULL;
	if (words->n * 2 >= words->size && !grow_words(words))
		return NULL;
	struct tally_word *word = malloc(sizeof(*word) + len + 1);
	if (!word)
		return NULL;
	*word = (struct tally_word){ .hash = hash, .len = len };
	memcpy(word->text, s, len);
	word->text[len] = '\0';
	word->plain = len >= 4;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		word->plain &= c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
	}
	*find_slot(words->slots, words->size, s, len, hash) = word;
	words->n++;
	words->bytes += len;
	return word;
}

struct tally_word *
tally_words_get(struct tally_words *words, const char *s, size_t len, bool *full)
{
	*full = false;
	struct tally_word *last = words->last;
	struct tally_word *guess = last ? last->next : NULL;
	if (guess && guess->len == len && !memcmp(guess->text, s, len)) {
		words->last = guess;
		return guess;
	}
	uint64_t hash = hash_text(words, s, len);
	struct tally_word *word = NULL;
	if (words->size)
		word = *find_slot(words->slots, words->size, s, len, hash);
	if (!word)
		word = add_word(words, s, len, hash, full);
	if (!word)
		return NULL;
	if (last)
		last->next = word;
	words->last = word;
	return word;
}

void
tally_words_finish(struct tally_words *words)
{
	for (size_t i = 0; i < words->size; i++)
		free(words->slots[i]);
	free(words->slots);
	*words = (struct tally_words){ 0 };
}
