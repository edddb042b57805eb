/* SPDX-License-Identifier: MIT */
/* Replaces unpack.c and compress.c where passtally is built without libzstd. */
#include "cli/log/zstd.h"

#include <glib.h>
#include <stdint.h>

struct tally_unpack *
tally_unpack_create(const char **why)
{
	*why = "the file is compressed with zstd, which this passtally was built without: zstd -dc "
	       "FILE "
	       "| passtally COMMAND -";
	return NULL;
}

void
tally_unpack_destroy(struct tally_unpack *unpack)
{
	(void)unpack;
}

size_t
tally_unpack_step(struct tally_unpack *unpack, const char *in, size_t n_in, size_t *taken,
		  char *to, size_t size, const char **why)
{
	(void)unpack;
	(void)in;
	(void)n_in;
	(void)taken;
	(void)to;
	(void)size;
	(void)why;
	return SIZE_MAX;
}

bool
tally_can_compress(void)
{
	return false;
}

bool
tally_compress_log(const char *path, bool replace, char *why, size_t size)
{
	(void)path;
	(void)replace;
	g_snprintf(why, (gulong)size, "this passtally was built without zstd");
	return false;
}
