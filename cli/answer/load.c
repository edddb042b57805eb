/* SPDX-License-Identifier: MIT */
#include "cli/answer/load.h"

#include <stdlib.h>
#include <string.h>

#include "cli/shared/each.h"
#include "cli/shared/sort.h"

#define MOST_LINES 100000 /* some hours */
#define MOST_THREADS 5
/* The thresholds of docs/verdicts.md. */
#define EXPLAINS 0.5
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

/* A line that reaches into a frame by so little says nothing of it. */
static uint64_t
slack_of(const struct load_line *line)
{
	return (line->to_ns - line->from_ns) / 10;
}

/* The lines whose periods overlap the frame. */
static const struct load_line *
find_lines(const struct tally_loads *l, const struct tally_answer_hitch *h, guint *n)
{
	const struct load_line *lines = (const struct load_line *)(void *)l->lines->data;
	guint from = 0, to;
	while (from < l->lines->len && lines[from].to_ns <= h->start_ns + slack_of(&lines[from]))
		from++;
	for (to = from; to < l->lines->len && lines[to].from_ns + slack_of(&lines[to]) <
						      h->start_ns + h->frame_ns;)
		to++;
	*n = to - from;
	return &lines[from];
}

/* A thread that draws for a driver on the CPU: named as the driver, or without a name. */
static bool
may_draw(const char *thread, const struct tally_aggregate *log,
	 const struct tally_device_summary *device)
{
	enum { MOST_NAME = 15 };
	g_autofree char *process = g_path_get_basename(log->program ? log->program : "");
	return is_of_driver(thread, device->name) ||
	       (device->software && strncmp(thread, process, MOST_NAME) == 0);
}

uint64_t
tally_loads_drew(const struct tally_process_record *p, const struct tally_aggregate *log,
		 const struct tally_device_summary *device)
{
	uint64_t ns = 0;
	for (uint32_t i = 0; i < p->n_threads; i++)
		if (!p->threads[i].ends_frames && may_draw(p->threads[i].name, log, device))
			ns += p->threads[i].cpu_ns;
	return ns;
}

/* Whether the device draws on the CPU: it says so, or a thread of its driver worked. */
static bool
is_software(const struct tally_loads *l, const struct tally_device_summary *device)
{
	GHashTableIter all;
	gpointer name;
	bool found = device->software;
	g_hash_table_iter_init(&all, l->totals);
	while (!found && g_hash_table_iter_next(&all, &name, NULL))
		found = is_of_driver(name, device->name);
	return found;
}

static double
drew_in(const struct load_line *line, const struct tally_aggregate *log,
	const struct tally_device_summary *device)
{
	double ns = 0;
	for (unsigned k = 0; k < MOST_THREADS && line->threads[k].name; k++)
		if (may_draw(line->threads[k].name, log, device))
			ns += (double)line->threads[k].ns;
	return ns;
}

/* How much more the driver's threads worked in the `n` lines from `from` on than in those around:
 * in most of these, as some may be of other hitches. `lost_ns` is not usual time. */
static double
drew_more(const struct tally_loads *l, guint from, guint n, const struct tally_aggregate *log,
	  const struct tally_device_summary *device, double lost_ns)
{
	enum { AROUND = 8 };
	double rates[2 * AROUND], more_ns = 0, lines_ns = 0;
	size_t n_rates = 0;
	guint first = from - MIN(from, AROUND), to = from + n + AROUND;
	for (guint i = first; i < MIN(to, l->lines->len); i++) {
		const struct load_line *line = &g_array_index(l->lines, struct load_line, i);
		double drew_ns = drew_in(line, log, device);
		double ns = (double)(line->to_ns - line->from_ns);
		bool inside = i >= from && i < from + n;
		more_ns += inside ? drew_ns : 0;
		lines_ns += inside ? ns : 0;
		if (!inside && ns > 0)
			rates[n_rates++] = drew_ns / ns;
	}
	qsort(rates, n_rates, sizeof(rates[0]), tally_order_double);
	return more_ns - (n_rates ? rates[n_rates / 2] : 0) * (lines_ns - lost_ns);
}

void
tally_loads_explain(const struct tally_loads *l, const struct tally_aggregate *log,
		    const struct tally_device_summary *device, struct tally_answer_hitch *h)
{
	guint n;
	const struct load_line *lines = find_lines(l, h, &n);
	double most = EXPLAINS * (double)h->excess_ns;
	uint64_t ready_ns = 0;
	bool software = is_software(l, device);
	GHashTableIter all;
	gpointer name, total;
	if (software && l->lines->len && n == 0)
		tally_cause_driver(h, 0, false);
	if (n == 0)
		return;
	double lines_ns = (double)(lines[n - 1].to_ns - lines[0].from_ns);
	bool near = lines_ns <= (double)(h->frame_ns + MOST_APART_NS);
	bool sure = (double)h->frame_ns >= EXPLAINS * lines_ns;
	/* The part of the run that these lines are: what is there on average is no cause. */
	double part = lines_ns / (double)l->all_ns;
	g_hash_table_iter_init(&all, l->totals);
	while (near && g_hash_table_iter_next(&all, &name, &total)) {
		uint64_t ns = work_of(lines, n, name);
		double growth = (double)ns - part * (double)*(const uint64_t *)total;
		if (growth >= most && !may_draw(name, log, device)) {
			most = growth;
			h->thread = name;
			h->thread_ns = MIN(ns, h->frame_ns);
		}
	}
	for (guint i = 0; i < n; i++)
		ready_ns += lines[i].ready_ns;
	if (near)
		tally_cause_ready(h, ready_ns, part * (double)l->ready_ns, sure);
	guint at = (guint)(lines - (const struct load_line *)(void *)l->lines->data);
	if (software)
		tally_cause_driver(h, drew_more(l, at, n, log, device, (double)h->excess_ns),
				   sure);
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
