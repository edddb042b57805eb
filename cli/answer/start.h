/* SPDX-License-Identifier: MIT */
/* cli/answer/start.h - what the program's threads did until its first frame: the log's first
 * process line, which begins with the process. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_START_H
#define PASSTALLY_CLI_ANSWER_START_H

#include "layer/record.h"

struct tally_start {
	struct {
		const char *name; /* interned */
		uint64_t ns; /* it worked */
	} threads[2]; /* the busiest; NULL: there is none */
	uint64_t period_ns; /* 0: not known */
	uint64_t ready_ns; /* one of them, or the one that ends frames, had no CPU */
	uint64_t disk_bytes;
};

/* Whether the line is the one that begins with the process. */
bool tally_start_take(struct tally_start *s, const struct tally_process_record *p,
		      uint64_t process_start_ns);
/* "; game worked 1.90 s, 35 MB read from a disk"; "" if it is not known. `until_ns`: from the start
 * to the first frame's end. */
const char *tally_start_text(const struct tally_start *s, uint64_t until_ns);

#endif
