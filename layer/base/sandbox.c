/* SPDX-License-Identifier: MIT */
#include "layer/base/sandbox.h"

#include <stdatomic.h>
#include <string.h>

#include "layer/base/small_file.h"

static atomic_bool seen;

bool
tally_was_filtered(void)
{
	return atomic_load_explicit(&seen, memory_order_relaxed);
}

bool
tally_is_filtered(void)
{
	static const char key[] = "\nSeccomp:\t";
	char text[4096];
	size_t len = tally_small_file_read("/proc/thread-self/status", text, sizeof(text));
	const char *mode = strstr(text, key);
	/* A kernel without filters has no such line; of a longer file only the beginning was
	 * read. */
	bool filtered = mode ? mode[strlen(key)] != '0' : len == 0 || len == sizeof(text) - 1;
	if (filtered)
		atomic_store_explicit(&seen, true, memory_order_relaxed);
	return filtered;
}
