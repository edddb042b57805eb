/* SPDX-License-Identifier: MIT */
/* cli/log/notes.h - the notes of a log, without duplicates, and marks, which get the number of
 * their frame.
 */
#ifndef PASSTALLY_CLI_LOG_NOTES_H
#define PASSTALLY_CLI_LOG_NOTES_H

#include "cli/log/aggregate_parts.h"

void tally_notes_init(struct tally_aggregate *a);
void tally_notes_finish(struct tally_aggregate *a);
/* A note line; a mark gets its point in time. */
void tally_notes_add(struct tally_aggregate *a, const struct tally_note_record *r);
/* A frame was read: the marks in it get its number. */
void tally_notes_add_frame(struct tally_aggregate *a, const struct tally_frame_record *f);

#endif
