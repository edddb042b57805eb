/* cli/log/input.h - the bytes of a log, as every command that reads one gets them.
 *
 * Plain text, or zstd: that is seen at the first bytes, never at the name, so standard input and a
 * renamed file work as well. Nothing is read before the first line is asked for. A compressed file
 * that ends too early gives what it held and then TALLY_LINES_CUT; one that is damaged, or
 * compressed by something else, TALLY_LINES_DAMAGED with the command that helps. One thread.
 */
#ifndef PASSTALLY_CLI_LOG_INPUT_H
#define PASSTALLY_CLI_LOG_INPUT_H

#include "json/record_json.h"

/* As tally_log_reader_open(): `path` "-" is standard input. NULL with *status and *error set. */
struct tally_log_reader *tally_log_input_open(const char *path, enum tally_read_status *status,
					      struct tally_read_error *error);
/* The bytes of an open file, from where it stands. Closing the source closes `fd` if it owns it. */
void tally_log_input_source(struct tally_lines_source *source, int fd, bool owns_fd);

#endif
