/* SPDX-License-Identifier: MIT */
#include "cli/answer/load.h"

#include <string.h>

#include "cli/shared/each.h"

#define MOST_LINES 100000 /* some hours */
#define MOST_THREADS 5
/* The thresholds of docs/verdicts.md. */
#define EXPLAINS 0.5
#define STARVED 0.1
#define MOST_APART_NS UINT64_C(250000000) /* a line says nothing of a frame that is much shorter */

struct load_line {
	uint64_t from_ns, to_ns, ready_ns;
	struct {
		const char *name; /* interned */
		uint64_t ns;
	} threads[MOST_THREADS]; /* without the one that ends frames */
};

void
tally_loads_init(struct tally_loads *l)
{
	*l = (struct tally_loads){
		.lines = g_array_new(FALSE, FALSE, sizeof(struct load_line)),
		.totals = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free),
	};
}

void
tally_loads_finish(struct tally_loads *l)
{
	g_array_unref(l->lines);
	g_hash_table_destroy(l->totals);
}

void
tally_loads_add(struct tally_loads *l, const struct tally_process_record *p)
{
	struct load_line line = {
		.from_ns = p->time_ns - MIN(p->period_ns, p->time_ns),
		.to_ns = p->time_ns,
		.ready_ns = p->ready_ns,
	};
	unsigned n = 0;
	for (uint32_t i = 0; i < p->n_threads && n < MOST_THREADS; i++) {
		if (p->threads[i].ends_frames)
			continue;
		const char *name = g_intern_string(p->threads[i].name);
		uint64_t *total = g_hash_table_lookup(l->totals, name);
		if (!total) {
			total = g_new0(uint64_t, 1);
			g_hash_table_insert(l->totals, (gpointer)name, total);
		}
		*total += p->threads[i].cpu_ns;
		line.threads[n].name = name;
		line.threads[n++].ns = p->threads[i].cpu_ns;
	}
	l->all_ns += p->period_ns;
	l->ready_ns += p->ready_ns;
	if (l->lines->len < MOST_LINES)
		g_array_append_val(l->lines, line);
}

/* "llvmpipe-0" of "llvmpipe (LLVM 15.0.6, 256 bits)". */
static bool
is_of_driver(const char *thread, const char *driver)
{
	size_t len = driver ? strcspn(driver, " (") : 0;
	return len > 3 && strncmp(thread, driver, len) == 0;
}

static uint64_t
work_of(const struct load_line *lines, guint n, const char *name)
{
	uint64_t ns = 0;
	for (guint i = 0; i < n; i++)
		for (unsigned k = 0; k < MOST_THREADS; k++)
			ns += lines[i].threads[k].name == name ? lines[i].threads[k].ns : 0;
	return ns;
}

/* The lines whose periods overlap the frame; *n 0: none, or they say too little of it. */
static const struct load_line *
find_lines(const struct tally_loads *l, const struct tally_answer_hitch *h, guint *n)
{
	const struct load_line *lines = (const struct load_line *)(void *)l->lines->data;
	guint from = 0, to;
	while (from < l->lines->len && lines[from].to_ns <= h->start_ns)
		from++;
	for (to = from; to < l->lines->len && lines[to].from_ns < h->start_ns + h->frame_ns;)
		to++;
	bool near = from < to &&
		    lines[to - 1].to_ns - lines[from].from_ns <= h->frame_ns + MOST_APART_NS;
	*n = near ? to - from : 0;
	return &lines[from];
}

void
tally_loads_explain(const struct tally_loads *l, const char *driver, struct tally_answer_hitch *h)
{
	guint n;
	const struct load_line *lines = find_lines(l, h, &n);
	const double least = EXPLAINS * (double)h->excess_ns;
	double most = least;
	uint64_t ready_ns = 0;
	double more_ns = 0;
	bool by_software = false;
	if (n == 0)
		return;
	/* The part of the run that these lines are: what is there on average is no cause. */
	double part = (double)(lines[n - 1].to_ns - lines[0].from_ns) / (double)l->all_ns;
	for (guint i = 0; i < n; i++) {
		ready_ns += lines[i].ready_ns;
		for (unsigned k = 0; k < MOST_THREADS && lines[i].threads[k].name; k++) {
			const char *name = lines[i].threads[k].name;
			const uint64_t *total = g_hash_table_lookup(l->totals, name);
			uint64_t ns = work_of(lines, n, name);
			double growth = (double)ns - part * (double)*total;
			bool of_driver = is_of_driver(name, driver);
			more_ns += (double)lines[i].threads[k].ns;
			if (growth < most || of_driver)
				continue;
			most = growth;
			h->thread = name;
			h->thread_ns = MIN(ns, h->frame_ns);
		}
	}
	double lines_ns = (double)(lines[n - 1].to_ns - lines[0].from_ns);
	bool sure = (double)h->frame_ns >= EXPLAINS * lines_ns;
	tally_cause_ready(h, ready_ns, part * (double)l->ready_ns, sure);
	GHashTableIter all;
	gpointer name, total;
	g_hash_table_iter_init(&all, l->totals);
	while (g_hash_table_iter_next(&all, &name, &total)) {
		by_software |= is_of_driver(name, driver);
		more_ns -= part * (double)*(const uint64_t *)total;
	}
	if (by_software)
		tally_cause_driver(h, more_ns,
				   sure || (double)ready_ns < STARVED * lines_ns);
}

const char *
tally_loads_busiest(const struct tally_loads *l, const char *driver, double *share)
{
	const char *busiest = NULL;
	GHashTableIter all;
	gpointer name, total;
	*share = 0;
	if (!l->all_ns)
		return NULL;
	g_hash_table_iter_init(&all, l->totals);
	while (g_hash_table_iter_next(&all, &name, &total)) {
		double of = (double)*(const uint64_t *)total / (double)l->all_ns;
		if (is_of_driver(name, driver) || of < *share ||
		    (of == *share && busiest && strcmp(name, busiest) > 0))
			continue;
		busiest = name;
		*share = of;
	}
	return busiest;
}
