/* SPDX-License-Identifier: MIT */
#include "query/attribute/annotate_account.h"

#include <stdlib.h>

/* One allocation holds all arrays of numbers. */
bool
tally_account_init(struct tally_account *account, const struct tally_snapshot_source *src,
		   struct tally_history *history)
{
	size_t n = src->n_counters ? src->n_counters : 1;
	account->src = src;
	account->history = history;
	account->attributor = tally_attributor_create(src->n_counters);
	account->counters = calloc(n, sizeof(*account->counters));
	account->block = calloc(6 * n + (n + 63) / 64, sizeof(*account->block));
	if (!account->attributor || !account->counters || !account->block)
		return false;
	account->growth = account->block;
	account->unlogged = account->growth + n;
	account->outside = account->unlogged + n;
	account->window.delta = account->outside + n;
	account->window.unlogged = account->window.delta + n;
	account->window.unattributed = account->window.unlogged + n;
	account->window.unattributed_unknown = account->window.unattributed + n;
	for (uint32_t i = 0; i < src->n_counters; i++)
		account->counters[i] = src->counters[i];
	return true;
}

void
tally_account_finish(struct tally_account *account)
{
	tally_attributor_destroy(account->attributor);
	free(account->counters);
	free(account->block);
}

bool
tally_account_begin(struct tally_account *account, bool late, uint64_t time_ns)
{
	if (account->begun)
		return true;
	struct tally_reading first, last;
	if (!tally_history_first(account->history, &first) ||
	    !tally_history_last(account->history, &last))
		return false;
	account->cursor_ns = first.time_ns;
	if (late && time_ns > first.time_ns)
		account->cursor_ns = time_ns < last.time_ns ? time_ns : last.time_ns;
	else
		account->window.known_from_ns = first.time_ns;
	account->begun = true;
	return true;
}

static void
set_stretch(struct tally_account *account, uint64_t end_ns)
{
	account->window.begin_ns = account->window.end_ns = account->cursor_ns;
	account->window.flags = 0;
	if (end_ns > account->cursor_ns)
		account->window.end_ns = end_ns;
}

void
tally_account_pass_over(struct tally_account *account, uint64_t time_ns)
{
	struct tally_reading last;
	if (tally_history_last(account->history, &last) && time_ns > last.time_ns)
		time_ns = last.time_ns;
	set_stretch(account, time_ns);
	account->reported = false;
	const struct tally_window *window = &account->window;
	if (window->begin_ns == window->end_ns ||
	    !tally_attribute(account->attributor, account->history, false, NULL, NULL, 0,
			     &account->window))
		return;
	for (uint32_t i = 0; i < account->src->n_counters; i++)
		account->outside[i] += window->delta[i];
	account->cursor_ns = window->end_ns;
}

/* Nothing is known after the last reading, and passes there get nothing: a source that was lost
 * does not count zeros. A later reading's delta belongs to the next window: the attributor
 * stores where the last one ended. */
bool
tally_account_attribute(struct tally_account *account, uint64_t end_ns, bool exact,
			const struct tally_work *work, struct tally_share *shares, uint32_t n)
{
	set_stretch(account, end_ns);
	/* If no time passed, nothing was measured, which is different from 0. */
	account->reported = account->window.begin_ns < account->window.end_ns &&
			    tally_attribute(account->attributor, account->history, exact,
					    work, shares, n, &account->window);
	if (!account->reported)
		return false;
	for (uint32_t i = 0; i < account->src->n_levels; i++)
		account->levels[i] = account->now[i];
	const struct tally_window *window = &account->window;
	for (uint32_t i = 0; i < account->src->n_counters; i++) {
		account->growth[i] += window->delta[i];
		account->unlogged[i] += window->unlogged[i];
	}
	account->cursor_ns = window->end_ns;
	return true;
}

void
tally_account_take_back(struct tally_account *account)
{
	const struct tally_window *window = &account->window;
	for (uint32_t i = 0; account->reported && i < account->src->n_counters; i++) {
		account->growth[i] -= window->delta[i];
		account->unlogged[i] -= window->unlogged[i];
		account->outside[i] += window->delta[i];
	}
	account->reported = false;
}
