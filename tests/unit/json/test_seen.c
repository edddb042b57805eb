/* SPDX-License-Identifier: MIT */
/* What the reader remembers: equal words are one pointer, numbers keep their values, and both
 * stop at their limits. */
#include <glib.h>
#include <string.h>

#include "json/seen.h"

static void
test_words(void)
{
	struct tally_words words = { 0 };
	struct tally_word *seen[2000];
	bool full;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 2000; i++) {
			char text[32];
			int which = round == 2 ? 1999 - i : i; /* not as it came before */
			g_snprintf(text, sizeof(text), "counter.%d", which);
			struct tally_word *word = tally_words_get(&words, text, strlen(text),
								  &full);
			g_assert_nonnull(word);
			g_assert_false(full);
			g_assert_cmpstr(word->text, ==, text);
			g_assert_cmpuint(word->len, ==, strlen(text));
			if (round == 0)
				seen[which] = word;
			g_assert_true(word == seen[which]);
		}
	}
	g_assert_cmpuint(words.n, ==, 2000);
	tally_words_finish(&words);
	g_assert_cmpuint(words.n, ==, 0);
}

static const struct {
	const char *text;
	size_t len;
	bool plain;
} word_cases[] = {
	{ "", 0, false },        { "abc", 3, false },         { "abcd", 4, true },
	{ "gpu.busy", 8, true }, { "a\"bcd", 5, false },      { "a\\bcd", 5, false },
	{ "a\nbcd", 5, false },  { "caf\xc3\xa9", 5, false }, { "12345678", 3, false },
};

static void
test_plain(void)
{
	struct tally_words words = { 0 };
	bool full;
	for (size_t i = 0; i < G_N_ELEMENTS(word_cases); i++) {
		struct tally_word *word = tally_words_get(&words, word_cases[i].text,
							  word_cases[i].len, &full);
		g_assert_cmpint(word->plain, ==, word_cases[i].plain);
		g_assert_cmpuint(strlen(word->text), ==, word_cases[i].len);
	}
	tally_words_finish(&words);
}

static void
test_words_full(void)
{
	struct tally_words words = { 0 };
	bool full;
	for (unsigned i = 0; i < TALLY_MAX_WORDS; i++)
		g_assert_nonnull(tally_words_get(&words, (const char *)&i, sizeof(i), &full));
	unsigned more = TALLY_MAX_WORDS;
	g_assert_null(tally_words_get(&words, (const char *)&more, sizeof(more), &full));
	g_assert_true(full);
	unsigned known = 7;
	g_assert_nonnull(tally_words_get(&words, (const char *)&known, sizeof(known), &full));
	tally_words_finish(&words);

	/* And by their bytes. */
	char *text = g_malloc0(TALLY_MAX_WORD_BYTES + 1);
	g_assert_null(tally_words_get(&words, text, TALLY_MAX_WORD_BYTES + 1, &full));
	g_assert_true(full);
	g_assert_nonnull(tally_words_get(&words, text, TALLY_MAX_WORD_BYTES, &full));
	g_assert_null(tally_words_get(&words, "a", 1, &full));
	g_assert_true(full);
	g_free(text);
	tally_words_finish(&words);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/seen/words", test_words);
	g_test_add_func("/seen/plain", test_plain);
	g_test_add_func("/seen/words_full", test_words_full);
	return g_test_run();
}
