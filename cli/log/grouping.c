/* SPDX-License-Identifier: MIT */
#include "cli/log/grouping.h"

#include <string.h>

static const struct tally_grouping *const groupings[] = {
	&tally_by_pass,     &tally_by_frame,    &tally_by_label,
	&tally_by_workload, &tally_by_pipeline, NULL,
};

const struct tally_grouping *
tally_grouping_find(const char *word)
{
	for (size_t i = 0; groupings[i]; i++)
		if (strcmp(groupings[i]->word, word) == 0)
			return groupings[i];
	return NULL;
}
