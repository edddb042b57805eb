/* SPDX-License-Identifier: MIT */
#include "layer/config/list.h"

#include <string.h>

bool
tally_list_next(const char **list, const char **item, size_t *len)
{
	for (const char *p = *list; *p;) {
		size_t n = strcspn(p, "+,");
		*list = p + n + (p[n] != '\0');
		const char *begin = p;
		const char *end = p + n;
		while (begin < end && (*begin == ' ' || *begin == '\t'))
			begin++;
		while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		if (begin < end) {
			*item = begin;
			*len = (size_t)(end - begin);
			return true;
		}
		p = *list;
	}
	return false;
}

static bool
same_word(const char *item, size_t len, const char *word)
{
	for (size_t i = 0; i < len; i++) {
		if (!word[i] || tally_lower(item[i]) != tally_lower(word[i]))
			return false;
	}
	return word[len] == '\0';
}

/* A glob without regard to case. On a mismatch the last '*' takes one more byte,
 * so there is no recursion. */
static bool
matches(const char *glob, size_t len, const char *text)
{
	size_t g = 0, star = len;
	const char *resume = NULL;
	while (*text) {
		if (g < len && glob[g] == '*') {
			star = g++;
			resume = text;
		} else if (g < len &&
			   (glob[g] == '?' || tally_lower(glob[g]) == tally_lower(*text))) {
			g++;
			text++;
		} else if (resume) {
			g = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (g < len && glob[g] == '*')
		g++;
	return g == len;
}

bool
tally_list_matches(const char *list, const char *key, const char *name)
{
	const char *item;
	size_t len;
	while (list && tally_list_next(&list, &item, &len)) {
		if (same_word(item, len, "all") || same_word(item, len, "overview"))
			continue;
		if ((key && matches(item, len, key)) || (name && matches(item, len, name)))
			return true;
	}
	return false;
}

bool
tally_list_has(const char *list, const char *word)
{
	const char *item;
	size_t len;
	while (list && tally_list_next(&list, &item, &len)) {
		if (same_word(item, len, word))
			return true;
	}
	return false;
}
