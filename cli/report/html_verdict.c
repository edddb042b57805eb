/* SPDX-License-Identifier: MIT */
#include "cli/compare/join.h"
#include "cli/report/html.h"

#include "cli/compare/compare.h"

#include <string.h>

void
tally_html_verdict_put(struct tally_out *o, const char *const logs[2], uint64_t warmup)
{
	const struct tally_compare_filter all = { .patterns = NULL };
	struct tally_compare c;
	bool good = strcmp(logs[0], "-") != 0 && strcmp(logs[1], "-") != 0;
	if (!good)
		return;
	tally_compare_init(&c);
	c.settings.confidence = TALLY_COMPARE_CONFIDENCE;
	for (unsigned side = 0; good && side < TALLY_N_SIDES; side++) {
		struct tally_compare_log *log;
		good = tally_compare_log_read(&log, logs[side], warmup, -1, &all) ==
		       TALLY_EXIT_OK;
		g_ptr_array_add(c.logs[side], log);
	}
	if (good) {
		tally_compare_join(&c);
		tally_compare_find_unlike(&c);
		g_autofree char *why = tally_compare_refusal(&c);
		tally_out_object(o, "verdict");
		if (why) {
			tally_out_text(o, "refused", why);
		} else {
			tally_compare_judge(&c);
			tally_compare_conclude(&c);
			tally_compare_put_json(o, &c);
		}
		tally_out_end_object(o);
	}
	tally_compare_finish(&c);
}
