/* cli/export/protobuf.h - messages of Protocol Buffers, written by hand.
 *
 * Enough of the wire format to write any message: numbers, texts, messages in messages, each under
 * its field number. Fields may be written in any order; lengths are as short as they can be. The
 * caller's thread; nothing fails (out of memory ends the program, as everywhere in cli/).
 */
#ifndef PASSTALLY_CLI_PROTOBUF_H
#define PASSTALLY_CLI_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#define TALLY_PROTOBUF_DEPTH 8 /* messages in messages */

struct tally_protobuf {
	uint8_t *bytes;
	size_t len, max;
	size_t open[TALLY_PROTOBUF_DEPTH]; /* where each open message begins, after its length */
	unsigned depth;
};

/* A zeroed struct is an empty message. */
void tally_protobuf_finish(struct tally_protobuf *p);
/* Empty it, keep its memory. */
void tally_protobuf_clear(struct tally_protobuf *p);

/* Types uint32, uint64, int32, int64 (cast to 64 bits first), bool, enum. */
void tally_protobuf_put_number(struct tally_protobuf *p, uint32_t field, uint64_t v);
void tally_protobuf_put_double(struct tally_protobuf *p, uint32_t field, double v);
void tally_protobuf_put_fixed64(struct tally_protobuf *p, uint32_t field, uint64_t v);
void tally_protobuf_put_text(struct tally_protobuf *p, uint32_t field, const char *text);
/* A message written elsewhere, whole. */
void tally_protobuf_put_message(struct tally_protobuf *p, uint32_t field,
				const struct tally_protobuf *message);
/* A message in the message: what is put between begin and end belongs to it. */
void tally_protobuf_begin(struct tally_protobuf *p, uint32_t field);
void tally_protobuf_end(struct tally_protobuf *p);

#endif
