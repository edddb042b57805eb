#include "query/linux/delay.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct waiting {
	struct tally_linux_thread base;
	int fd;
	uint64_t delay; /* so far */
};

bool
tally_linux_has_schedstat(void)
{
	char text[96];
	uint64_t ran, waited, times = 0;
	const char *p = text;
	return tally_linux_read_path("/proc/thread-self/schedstat", text, sizeof(text)) &&
	       tally_linux_next_number(&p, &ran) && tally_linux_next_number(&p, &waited) &&
	       tally_linux_next_number(&p, &times) && times > 0;
}

static void
read_delay(struct tally_linux_delay *d, struct waiting *w)
{
	char text[96];
	uint64_t ran, waited;
	const char *p = text;
	if (!tally_linux_reread(w->fd, text, sizeof(text)) || !tally_linux_next_number(&p, &ran) ||
	    !tally_linux_next_number(&p, &waited))
		return; /* it ended: what it waited so far stays */
	if (waited > w->delay) {
		d->total += waited - w->delay;
		w->delay = waited;
	}
}

static bool
join(void *data, struct tally_linux_thread *entry)
{
	struct waiting *w = (struct waiting *)(void *)entry;
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", (int)entry->tid);
	w->fd = tally_linux_open(path);
	if (w->fd < 0)
		return false;
	/* All that it waited so far was after we began, or start() takes it off. */
	read_delay(data, w);
	return true;
}

static void
leave(void *data, struct tally_linux_thread *entry)
{
	struct waiting *w = (struct waiting *)(void *)entry;
	(void)data;
	close(w->fd);
}

bool
tally_linux_delay_open(struct tally_linux_delay *d, uint32_t descriptors)
{
	memset(d, 0, sizeof(*d));
	d->roster.entry_size = sizeof(struct waiting);
	d->roster.join = join;
	d->roster.leave = leave;
	d->roster.data = d;
	d->on = tally_linux_roster_open(&d->roster, descriptors);
	return d->on;
}

void
tally_linux_delay_close(struct tally_linux_delay *d)
{
	if (d->on)
		tally_linux_roster_close(&d->roster);
	d->on = false;
}

static void
read_all(struct tally_linux_delay *d, uint64_t now_ns)
{
	tally_linux_roster_scan(&d->roster, now_ns);
	for (uint32_t i = 0; i < d->roster.n; i++)
		read_delay(d, (struct waiting *)(void *)tally_linux_roster_at(&d->roster, i));
}

void
tally_linux_delay_start(struct tally_linux_delay *d, uint64_t now_ns,
			struct tally_linux_totals *totals)
{
	if (!d->on)
		return;
	read_all(d, now_ns);
	d->base = d->total;
	totals->total[TALLY_LINUX_RUN_DELAY] = 0;
}

void
tally_linux_delay_sample(struct tally_linux_delay *d, uint64_t now_ns,
			 struct tally_linux_totals *totals)
{
	if (!d->on)
		return;
	read_all(d, now_ns);
	if (d->roster.n_missing) {
		/* What the others grew by is let go with it. */
		totals->unknown |= TALLY_LINUX_BIT(TALLY_LINUX_RUN_DELAY);
		d->base = d->total - totals->total[TALLY_LINUX_RUN_DELAY];
		return;
	}
	totals->total[TALLY_LINUX_RUN_DELAY] = d->total - d->base;
}
