/* SPDX-License-Identifier: MIT */
#include "query/mali/reader.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

void
tally_mali_reader_close(struct tally_mali_reader *r)
{
	if (r->map)
		munmap((void *)(uintptr_t)r->map, r->map_size);
	r->map = NULL;
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

bool
tally_mali_reader_is_gone(const struct tally_mali_reader *r)
{
	/* This polls without waiting. */
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

enum tally_status
tally_mali_reader_lose(struct tally_mali_reader *r, const char *what, int error)
{
	(void)tally_mali_refuse(r->reason, r->reason_size, what, error);
	return TALLY_LOST;
}
