/* cli/log/unpack.h - zstd unpacked as it is read.
 *
 * A stream of one frame after the other, skippable ones too. Memory is bounded by the window, at
 * most 128 MiB. One thread. Without libzstd (cli/log/no_zstd.c) tally_unpack_create() says so.
 */
#ifndef PASSTALLY_CLI_UNPACK_H
#define PASSTALLY_CLI_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

struct tally_unpack;

/* NULL with *why: a sentence, valid for ever. */
struct tally_unpack *tally_unpack_create(const char **why);
void tally_unpack_destroy(struct tally_unpack *unpack);
/* Take from `in`, of which *taken bytes are gone, as much as fits in `to`; returns how much it came
 * to. SIZE_MAX: the bytes make no sense, as *why tells. 0 wants more bytes; when there are none, it
 * is the end, or a cut: tally_unpack_is_inside(). */
size_t tally_unpack_step(struct tally_unpack *unpack, const char *in, size_t n_in, size_t *taken,
			 char *to, size_t size, const char **why);
/* In the middle of a frame? */
bool tally_unpack_is_inside(const struct tally_unpack *unpack);

#endif
