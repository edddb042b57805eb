/* SPDX-License-Identifier: MIT */
#include "cli/log/input.h"

#include "cli/shared/cli.h"

#include <glib.h>
#include <pthread.h>

/* A batch takes much longer to read than a thread to wake up. Three: one is being filled, one
 * handled, and one waits. */
enum { N_BATCHES = 3, BATCH_LINES = 1024, BATCH_BYTES = 512 << 10, LARGE_BYTES = 1 << 20 };

struct batch {
	struct tally_log_memory *memory;
	struct tally_log_line lines[BATCH_LINES];
	unsigned n;
	size_t bytes; /* of these lines */
	uint64_t done, total; /* the reader's progress */
	struct tally_skipped_lines skipped;
	enum tally_read_status status; /* TALLY_READ_OK: another batch follows */
	struct tally_read_error error;
};

struct ahead {
	struct tally_log_reader *reader;
	struct batch batches[N_BATCHES]; /* used in turns */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by the lock: */
	unsigned filled, handled; /* batches, since the start */
	bool stop; /* no more are wanted */
	/* The last of the two threads frees everything: the one that reads may be waiting for a
	 * pipe when the other needs no more lines. */
	unsigned users;
};

static struct ahead *
create(struct tally_log_reader *reader)
{
	struct ahead *a = g_new0(struct ahead, 1);
	a->reader = reader;
	a->users = 1;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	for (unsigned i = 0; i < N_BATCHES; i++) {
		a->batches[i].memory = tally_log_memory_create();
		if (!a->batches[i].memory)
			g_error("out of memory"); /* ends the program, as g_new0() does */
	}
	return a;
}

static void
unuse(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	bool last = --a->users == 0;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	if (!last)
		return;
	tally_log_reader_close(a->reader);
	for (unsigned i = 0; i < N_BATCHES; i++)
		tally_log_memory_destroy(a->batches[i].memory);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	g_free(a);
}

static void
fill(struct tally_log_reader *reader, struct batch *b)
{
	tally_log_reader_keep(reader, b->memory);
	b->status = TALLY_READ_OK;
	b->n = 0;
	b->bytes = 0;
	while (b->n < BATCH_LINES && b->bytes < BATCH_BYTES) {
		struct tally_log_line *line = &b->lines[b->n];
		b->status = tally_log_reader_next(reader, line, &b->error);
		if (b->status != TALLY_READ_OK)
			break;
		b->bytes += line->bytes;
		b->n++;
	}
	tally_log_reader_progress(reader, &b->done, &b->total);
	b->skipped = *tally_log_reader_skipped(reader);
}

static void *
read_ahead(void *data)
{
	struct ahead *a = data;
	const struct batch *last = NULL;
	pthread_mutex_lock(&a->lock);
	while (!a->stop && (!last || last->status == TALLY_READ_OK)) {
		/* After a large line no other batch has lines. */
		unsigned most = last && last->bytes > LARGE_BYTES ? 0 : N_BATCHES - 1;
		if (a->filled - a->handled > most) {
			pthread_cond_wait(&a->changed, &a->lock);
			continue;
		}
		struct batch *b = &a->batches[a->filled % N_BATCHES];
		pthread_mutex_unlock(&a->lock);
		fill(a->reader, b);
		pthread_mutex_lock(&a->lock);
		last = b;
		a->filled++;
		pthread_cond_signal(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	unuse(a);
	return NULL;
}

/* The batch after the `handled` first ones. */
static const struct batch *
wait_for_batch(struct ahead *a, unsigned handled)
{
	pthread_mutex_lock(&a->lock);
	a->handled = handled;
	pthread_cond_signal(&a->changed);
	while (a->filled == handled && a->users > 1)
		pthread_cond_wait(&a->changed, &a->lock);
	bool filled = a->filled != handled;
	pthread_mutex_unlock(&a->lock);
	struct batch *b = &a->batches[handled % N_BATCHES];
	if (!filled) { /* there is no thread */
		fill(a->reader, b);
		a->filled++;
	}
	return b;
}

enum tally_read_status
tally_log_read_lines(struct tally_log_reader *reader, const struct tally_log_taker *taker,
		     struct tally_skipped_lines *skipped, struct tally_read_error *error)
{
	struct ahead *a = create(reader);
	const struct batch *b;
	struct tally_progress progress;
	pthread_t thread;
	bool wanted = true;
	unsigned handled = 0;
	a->users = 2;
	bool threaded = pthread_create(&thread, NULL, read_ahead, a) == 0;
	if (!threaded)
		a->users = 1;
	tally_progress_begin(&progress, 1000);
	do {
		b = wait_for_batch(a, handled++);
		for (unsigned i = 0; i < b->n && wanted; i++) {
			wanted = taker->take(taker->user, &b->lines[i]);
			tally_progress_read(&progress, taker->verb, taker->path, b->done, b->total);
		}
	} while (wanted && b->status == TALLY_READ_OK);
	tally_progress_end(&progress);
	enum tally_read_status status = wanted ? b->status : TALLY_READ_OK;
	*error = b->error;
	if (skipped)
		*skipped = b->skipped;
	if (threaded && wanted) /* it has ended, or is about to */
		pthread_join(thread, NULL);
	else if (threaded)
		pthread_detach(thread);
	unuse(a);
	return status;
}
