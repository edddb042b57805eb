/* SPDX-License-Identifier: MIT */
#include "tests/example_source/interrupts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer/base/clock.h"
#include "layer/config/list.h"
#include "query/source/noop.h"

struct interrupts {
	struct tally_snapshot_source base; /* first: a source is what it begins with */
	int fd;
	uint64_t at_start, logged;
};

static const struct tally_counter counter = {
	.key = "machine_interrupts",
	.name = "Interrupts",
	.unit = "1",
	.source = "interrupts",
	.description = "Interrupts that the machine served, of all its processors.",
	.kind = TALLY_KIND_EVENT,
	.storage = TALLY_STORAGE_U64,
	.scope = TALLY_SCOPE_DEVICE,
	.width_bits = 64,
};
static const struct tally_counter *const counters[] = { &counter };

/* The second word of the line that begins with "intr"; false: there is none. */
static bool
read_total(int fd, uint64_t *out)
{
	char text[65536];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	const char *line = strstr(text, "\nintr ");
	return line && sscanf(line, "\nintr %" SCNu64, out) == 1;
}

static enum tally_status
interrupts_probe(struct tally_snapshot_source *src)
{
	if (access("/proc/stat", R_OK) == 0)
		return TALLY_OK;
	snprintf(src->reason, sizeof(src->reason), "/proc/stat can not be read");
	return TALLY_UNSUPPORTED;
}

static enum tally_status
interrupts_open(struct tally_snapshot_source *src)
{
	struct interrupts *in = (struct interrupts *)src;
	if (src->keys && !tally_key_table_reserve(src->keys, &counter))
		return TALLY_NO_MEMORY;
	in->fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	if (in->fd < 0) {
		snprintf(src->reason, sizeof(src->reason), "/proc/stat can not be opened");
		return TALLY_DENIED;
	}
	in->logged = tally_counter_wanted(src->wanted, &counter, NULL, NULL, true);
	src->counters = counters;
	src->n_counters = 1;
	src->logged = &in->logged;
	return TALLY_OK;
}

static enum tally_status
interrupts_start(struct tally_snapshot_source *src)
{
	struct interrupts *in = (struct interrupts *)src;
	return read_total(in->fd, &in->at_start) ? TALLY_OK : TALLY_UNSUPPORTED;
}

static enum tally_status
interrupts_sample(struct tally_snapshot_source *src, struct tally_totals *out)
{
	struct interrupts *in = (struct interrupts *)src;
	uint64_t total;
	out->begin_ns = tally_clock_now_ns();
	if (!read_total(in->fd, &total)) {
		snprintf(src->reason, sizeof(src->reason), "/proc/stat has no interrupts now");
		return TALLY_LOST;
	}
	out->end_ns = tally_clock_now_ns();
	out->totals[0] = total - in->at_start;
	return TALLY_OK;
}

static void
interrupts_close(struct tally_snapshot_source *src)
{
	struct interrupts *in = (struct interrupts *)src;
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
}

static const struct tally_snapshot_ops interrupts_ops = {
	.name = "interrupts",
	.probe = interrupts_probe,
	.open = interrupts_open,
	.start = interrupts_start,
	.sample = interrupts_sample,
	.stop = tally_snapshot_noop, /* the machine counts in any case */
	.close = interrupts_close,
	.abandon = interrupts_close,
	.destroy = tally_snapshot_free,
};

struct tally_snapshot_source *
tally_interrupts_create(void)
{
	struct interrupts *in = calloc(1, sizeof(*in));
	if (!in)
		return NULL;
	in->base.ops = &interrupts_ops;
	in->fd = -1;
	return &in->base;
}

bool
tally_interrupts_may_count(const char *list)
{
	return tally_list_matches(list, counter.key, counter.name);
}
