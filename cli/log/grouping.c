/* SPDX-License-Identifier: MIT */
#include "cli/log/grouping.h"

#include <string.h>

const struct tally_grouping *const tally_groupings[] = {
	&tally_by_pass,     &tally_by_frame,    &tally_by_label,
	&tally_by_workload, &tally_by_pipeline, NULL,
};

const struct tally_grouping *
tally_grouping_find(const char *word)
{
	for (size_t i = 0; tally_groupings[i]; i++)
		if (strcmp(tally_groupings[i]->word, word) == 0)
			return tally_groupings[i];
	return NULL;
}
