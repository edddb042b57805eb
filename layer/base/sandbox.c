/* SPDX-License-Identifier: MIT */
#include "layer/base/sandbox.h"

#include <stdatomic.h>
#include <string.h>

#include "layer/base/small_file.h"

static atomic_bool seen_shut_in;

static size_t
read_status(char *text, size_t size)
{
	size_t len = tally_small_file_read("/proc/thread-self/status", text, size);
	if (!len)
		atomic_store_explicit(&seen_shut_in, true, memory_order_relaxed);
	return len;
}

bool
tally_is_filtered(void)
{
	static const char key[] = "\nSeccomp:\t";
	char text[4096];
	size_t len = read_status(text, sizeof(text));
	const char *mode = strstr(text, key);
	/* A kernel without filters has no such line; of a longer file only the beginning was
	 * read. */
	return mode ? mode[strlen(key)] != '0' : len == 0 || len == sizeof(text) - 1;
}

bool
tally_is_shut_in(void)
{
	char text[64];
	return read_status(text, sizeof(text)) == 0;
}

bool
tally_was_shut_in(void)
{
	return atomic_load_explicit(&seen_shut_in, memory_order_relaxed);
}
