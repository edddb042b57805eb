/* SPDX-License-Identifier: MIT */
#include "query/mali/reader.h"

#include "query/mali/choice.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_FAILURES 16u
#define MAX_INTERRUPTS 100

enum tally_status
tally_mali_reader_map(struct tally_mali_reader *r, size_t bytes)
{
	char what[64];
	void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, r->fd, 0);
	if (map != MAP_FAILED) {
		r->map = map;
		r->map_size = bytes;
		return TALLY_OK;
	}
	snprintf(what, sizeof(what), "mapping the samples of %s", r->ops->name);
	enum tally_status status = tally_mali_refuse(r->reason, what, errno);
	tally_mali_reader_close(r);
	return status;
}

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

/* Whether the kernel has ended the session. */
static bool
is_gone(const struct tally_mali_reader *r)
{
	/* This polls without waiting. */
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static enum tally_status
lose(struct tally_mali_reader *r, const char *doing, int error)
{
	char what[64];
	snprintf(what, sizeof(what), "%s a %s sample", doing, r->ops->name);
	(void)tally_mali_refuse(r->reason, what, error);
	return TALLY_LOST;
}

void
tally_mali_reader_drain(struct tally_mali_reader *r, bool keep)
{
	for (uint32_t i = 0; i < r->most_waiting && r->ops->take(r, keep) == 0; i++)
		;
}

/* If a signal interrupted the command, it may or may not have made a sample. */
static int
request(struct tally_mali_reader *r)
{
	for (int i = 0; i < MAX_INTERRUPTS; i++) {
		if (r->ops->request(r) >= 0)
			return 0;
		if (errno != EINTR)
			return errno;
		r->irregular = true;
	}
	return EINTR;
}

enum tally_status
tally_mali_reader_read(struct tally_mali_reader *r)
{
	int error = request(r);
	if (error == EBUSY) {
		tally_mali_reader_drain(r, true);
		error = request(r);
	}
	if (error == EAGAIN || error == EINTR || error == EBUSY)
		return TALLY_NOT_READY;
	if (error)
		return lose(r, "taking", error);
	uint32_t limit = r->irregular ? r->most_waiting : 1, n_read = 0;
	while (n_read < limit && (error = r->ops->take(r, true)) == 0)
		n_read++;
	if (error && error != r->ops->no_sample && error != EAGAIN && error != EINTR)
		return lose(r, "reading", error);
	if (r->n_failures > MAX_FAILURES) {
		tally_unsupported(r->reason, "%u %s samples in a row are not understood",
				  r->n_failures, r->ops->name);
		return TALLY_LOST;
	}
	r->irregular = n_read == 0;
	if (n_read)
		return TALLY_OK;
	/* No sample arrived, though the kernel accepted the command: it is lost, which with
	 * kinstr_prfcnt the next sample's number will show, or it is late and is read with the
	 * next one. */
	if (++r->n_failures <= MAX_FAILURES && !is_gone(r))
		return TALLY_NOT_READY;
	return lose(r, "waiting for", ETIMEDOUT);
}
