/* SPDX-License-Identifier: MIT */
#include "layer/base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "layer/base/small_file.h"

#define STATUS "/proc/thread-self/status"

static atomic_bool seen_shut_in;

/* A program that has no descriptor left is not shut in for good. */
static void
note_refusal(void)
{
	if (errno != EMFILE && errno != ENFILE)
		atomic_store_explicit(&seen_shut_in, true, memory_order_relaxed);
}

bool
tally_status_is_filtered(char *status, size_t size)
{
	static const char key[] = "\nSeccomp:\t";
	size_t len = tally_small_file_read(STATUS, status, size);
	if (!len)
		note_refusal();
	const char *mode = strstr(status, key);
	/* A kernel without filters has no such line; of a longer file only the beginning was
	 * read. */
	return mode ? mode[strlen(key)] != '0' : len == 0 || len == size - 1;
}

bool
tally_is_filtered(void)
{
	char text[TALLY_STATUS_SIZE];
	return tally_status_is_filtered(text, sizeof(text));
}

bool
tally_is_shut_in(void)
{
	/* ENOTDIR only the kernel answers, having walked there: no open file has to be made. */
	int fd = open("/proc/version/.", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	bool shut_in = fd < 0 && errno != ENOTDIR;
	if (fd >= 0)
		close(fd);
	if (shut_in)
		note_refusal();
	return shut_in;
}

bool
tally_was_shut_in(void)
{
	return atomic_load_explicit(&seen_shut_in, memory_order_relaxed);
}
