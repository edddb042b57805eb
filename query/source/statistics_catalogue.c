/* SPDX-License-Identifier: MIT */
#include "query/source/statistics_catalogue.h"

#include <stdio.h>
#include <string.h>

#include "query/source/source.h"

#define NAMED_AT_MOST 2u /* statistics with the same reason */

bool
tally_statistics_wanted(const char *list, enum tally_statistic which)
{
	const struct tally_statistic_info *info = &tally_statistics[which];

	const struct tally_counter counter = { .key = info->key, .name = info->name };
	return tally_counter_wanted(list, &counter, NULL, NULL, info->overview);
}

const struct tally_counter *
tally_statistics_counter(enum tally_statistic which, const char *source, uint32_t width_bits)
{
	const struct tally_statistic_info *info = &tally_statistics[which];
	return tally_counter_keep(&(struct tally_counter){
		.key = info->key,
		.name = info->name,
		.unit = "1",
		.source = source,
		.description = info->description,
		.kind = TALLY_KIND_EVENT,
		.storage = TALLY_STORAGE_U64,
		.scope = TALLY_SCOPE_PASS,
		.width_bits = width_bits,
	});
}

void
tally_statistics_report_left_out(char *reason, const char *why[TALLY_N_STATISTICS])
{
	for (unsigned i = 0; i < TALLY_N_STATISTICS; i++) {
		const char *of = why[i];
		char names[160] = "";
		size_t len = 0;
		unsigned n = 0;
		for (unsigned k = i; of && k < TALLY_N_STATISTICS; k++) {
			if (why[k] != of)
				continue;
			why[k] = NULL;
			if (n++ < NAMED_AT_MOST)
				len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
							len ? ", " : "", tally_statistics[k].key);
		}
		if (n > NAMED_AT_MOST)
			snprintf(names + len, sizeof(names) - len, " and %u more",
				 n - NAMED_AT_MOST);
		if (n)
			tally_reason_add(reason, "%s%s (%s)",
					 reason[0] ? "" : "not counted here: ", names, of);
	}
	if (strlen(reason) == TALLY_REASON_BYTES - 1)
		strcpy(reason + TALLY_REASON_BYTES - 4, "...");
}

/* The first rows: every draw raises them. */
static bool
is_of_every_draw(const struct tally_counter *counter)
{
	for (unsigned i = 0; i <= TALLY_STATISTIC_VERTEX_SHADER_INVOCATIONS; i++)
		if (strcmp(tally_statistics[i].key, counter->key) == 0)
			return true;
	return false;
}

__attribute__((hot)) bool
tally_statistics_refute_zeros(const char *source, const struct tally_counter *const *counters,
			      uint32_t n, const struct tally_value *values, uint64_t *valid)
{
	bool refuted = false;
	for (uint32_t i = 0; i < n; i++) {
		if (!(valid[i / 64] >> (i % 64) & 1) ||
		    strcmp(counters[i]->source, source) != 0)
			continue;
		if (values[i].u64)
			return false;
		refuted |= is_of_every_draw(counters[i]);
	}
	for (uint32_t i = 0; i < n && refuted; i++) {
		if (strcmp(counters[i]->source, source) == 0)
			valid[i / 64] &= ~(UINT64_C(1) << (i % 64));
	}
	return refuted;
}
