/* SPDX-License-Identifier: MIT */
#include "query/microblaze/events.h"

#include <string.h>
#include <strings.h>

static int
find_number(const char *text, size_t len)
{
	int number = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || number >= TALLY_MB_N_EVENTS)
			return -1;
		number = number * 10 + (text[i] - '0');
	}
	return len > 0 && number < TALLY_MB_N_EVENTS ? number : -1;
}

static bool
is_word(const char *word, const char *text, size_t len)
{
	return strlen(word) == len && strncasecmp(word, text, len) == 0;
}

int
tally_mb_find_event(const char *text, size_t len)
{
	for (int i = 0; i < TALLY_MB_N_EVENTS; i++)
		if (is_word(tally_mb_events[i].key, text, len) ||
		    is_word(tally_mb_events[i].name, text, len))
			return i;
	return find_number(text, len);
}
