/* SPDX-License-Identifier: MIT */
#include "layer/frame/order.h"

#include <stdlib.h>

static int
compare_begun(const void *a, const void *b)
{
	const struct tally_begun *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Fills the place with the pass that belongs there, that one's place likewise, and so on until the
 * pass that was here is put down. Each pass is moved once. */
static void
fill_place(struct tally_pass_record *passes, struct tally_begun *begun, uint32_t place)
{
	struct tally_pass_record here = passes[place];
	uint32_t to = place;
	for (uint32_t from; (from = begun[to].at) != place; to = from) {
		passes[to] = passes[from];
		passes[to].index = begun[to].at = to;
	}
	passes[to] = here;
	passes[to].index = begun[to].at = to;
}

void
tally_order_passes(struct tally_pass_record *passes, struct tally_begun *begun, uint32_t n)
{
	bool sorted = true;
	for (uint32_t i = 1; i < n; i++)
		sorted = sorted && begun[i - 1].ns <= begun[i].ns;
	if (sorted)
		return;
	qsort(begun, n, sizeof(*begun), compare_begun);
	for (uint32_t i = 0; i < n; i++) {
		if (begun[i].at != i)
			fill_place(passes, begun, i);
	}
}
