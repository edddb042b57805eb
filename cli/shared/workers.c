/* SPDX-License-Identifier: MIT */
#include "cli/shared/workers.h"

#include <pthread.h>
#include <stdbool.h>

struct job {
	void (*work)(void *user, unsigned worker, unsigned piece);
	void *user;
	unsigned n, taken; /* pieces; `taken` by atomic operations */
};

static void
work(struct job *job, unsigned worker)
{
	unsigned piece;
	while ((piece = __atomic_fetch_add(&job->taken, 1, __ATOMIC_RELAXED)) < job->n)
		job->work(job->user, worker, piece);
}

static void *
second(void *data)
{
	work(data, 1);
	return NULL;
}

void
tally_workers_run(unsigned n, void (*piece)(void *user, unsigned worker, unsigned piece),
		  void *user)
{
	struct job job = { .work = piece, .user = user, .n = n };
	pthread_t thread;
	bool threaded = n > 1 && pthread_create(&thread, NULL, second, &job) == 0;
	work(&job, 0);
	if (threaded)
		pthread_join(thread, NULL);
}
