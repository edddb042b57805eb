/* SPDX-License-Identifier: MIT */
/* cli/shared/pager.h - long output for people, page by page on a terminal.
 *
 * As in git: $PAGER, or else `less`, which gets LESS=FRX unless $LESS is set. There is no
 * pager when standard output is no terminal, the output fits on the screen, $PAGER is empty or
 * "cat", $TERM is "dumb", or the caller does not want one. One thread.
 */
#ifndef PASSTALLY_CLI_SHARED_PAGER_H
#define PASSTALLY_CLI_SHARED_PAGER_H

#include <stdbool.h>
#include <stdio.h>

struct tally_pager {
	FILE *out; /* write to it; standard output if there certainly is no pager */
	char *text; /* private: the text written so far */
	size_t size;
};

void tally_pager_begin(struct tally_pager *pager, bool wanted);
/* Shows what was written; returns when the user has left the pager. A pager that cannot be
 * started leaves the text to standard output. */
void tally_pager_end(struct tally_pager *pager);

#endif
