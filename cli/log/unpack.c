/* SPDX-License-Identifier: MIT */
#include "cli/log/zstd.h"

#include <glib.h>
#include <stdint.h>
#include <zstd.h>

struct tally_unpack *
tally_unpack_create(const char **why)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	if (!stream)
		*why = "out of memory";
	struct tally_unpack *unpack = stream ? g_new0(struct tally_unpack, 1) : NULL;
	if (unpack)
		unpack->stream = stream;
	return unpack;
}

void
tally_unpack_destroy(struct tally_unpack *unpack)
{
	if (!unpack)
		return;
	ZSTD_freeDStream(unpack->stream);
	g_free(unpack->why);
	g_free(unpack);
}

size_t
tally_unpack_step(struct tally_unpack *unpack, const char *in, size_t n_in, size_t *taken,
		  char *to, size_t size, const char **why)
{
	ZSTD_inBuffer from = { .src = in, .size = n_in, .pos = *taken };
	ZSTD_outBuffer out = { .dst = to, .size = size };
	/* Buffered output is drained without new input; after the end of a frame the next
	 * one is started. */
	while (out.pos == 0) {
		size_t before = from.pos;
		if (before == n_in && !unpack->inside)
			break;
		size_t left = ZSTD_decompressStream(unpack->stream, &out, &from);
		if (ZSTD_isError(left)) {
			g_free(unpack->why);
			unpack->why = g_strdup_printf(
				"the compressed file cannot be unpacked from "
				"here on: zstd says \"%s\"",
				ZSTD_getErrorName(left));
			*why = unpack->why;
			return SIZE_MAX;
		}
		unpack->inside = left != 0;
		if (out.pos == 0 && from.pos == before)
			break;
	}
	*taken = from.pos;
	return out.pos;
}
