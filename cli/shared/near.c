/* SPDX-License-Identifier: MIT */
#include "cli/shared/near.h"

#include <glib.h>
#include <string.h>

/* Longer words are not worth the table. */
#define MAX_LEN 48

static size_t
distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t row[3][MAX_LEN + 1];
	for (size_t j = 0; j <= n_b; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t *now = row[i % 3];
		const size_t *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
		now[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
			now[j] = MIN(MIN(last[j], now[j - 1]) + 1, replaced);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = MIN(now[j], before[j - 2] + 1);
		}
	}
	return row[n_a % 3][n_b];
}

void
tally_near_begin(struct tally_near *near, const char *word, size_t len)
{
	*near = (struct tally_near){
		.word = word,
		.len = len,
		.distance = len < 2 ? 0 : len < 6 ? 1 : len / 3,
	};
}

void
tally_near_offer(struct tally_near *near, const char *candidate)
{
	size_t len = strlen(candidate);
	if (near->len > MAX_LEN || len > MAX_LEN)
		return;
	size_t d = distance(near->word, near->len, candidate, len);
	if (near->best ? d < near->distance : d <= near->distance) {
		near->best = candidate;
		near->distance = d;
	}
}
