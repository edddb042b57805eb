/* SPDX-License-Identifier: MIT */
/* cli/export/protobuf.h - a small writer of Protocol Buffers messages.
 *
 * It covers enough of the wire format to write any message: numbers, texts and nested
 * messages, each under its field number. Fields may be written in any order; lengths are
 * encoded as short as possible. Runs on the caller's thread; nothing fails (out of memory
 * ends the program, as everywhere in cli/).
 */
#ifndef PASSTALLY_CLI_PROTOBUF_H
#define PASSTALLY_CLI_PROTOBUF_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_PROTOBUF_DEPTH 8 /* maximum depth of nested messages */

struct tally_protobuf {
	uint8_t *bytes;
	size_t len, max;
	/* where each open message begins, after its length */
	size_t open[TALLY_PROTOBUF_DEPTH];
	unsigned depth;
};

/* A zeroed struct is an empty message; this frees its memory. */
void tally_protobuf_finish(struct tally_protobuf *p);

/* For the types uint32, uint64, int32, int64 (cast to 64 bits first), bool and enum. */
void tally_protobuf_put_number(struct tally_protobuf *p, uint32_t field, uint64_t v);
void tally_protobuf_put_double(struct tally_protobuf *p, uint32_t field, double v);
/* NULL: no field. */
void tally_protobuf_put_text(struct tally_protobuf *p, uint32_t field, const char *text);
/* Writes a nested message: everything written between begin and end belongs to it. */
void tally_protobuf_begin(struct tally_protobuf *p, uint32_t field);
void tally_protobuf_end(struct tally_protobuf *p);

#endif
