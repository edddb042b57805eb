/* SPDX-License-Identifier: MIT */
#include "cli/answer/load.h"

#include "cli/answer/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shared/sort.h"

#define MOST_LINES 100000 /* some hours */
#define MOST_FRAMES 500000
#define MOST_THREADS 5
/* The thresholds of docs/verdicts.md. */
#define EXPLAINS 0.5
#define WORKED 0.2 /* of what was lost: what waited for a CPU besides may have been waited for */
#define MOST_APART_NS UINT64_C(250000000) /* a line says nothing of a frame that is much shorter */

/* Its name is the process's, as that of others may be. */
static const char main_thread[] = "the main thread";

struct load_line {
	uint64_t from_ns, to_ns, ready_ns, disk_bytes;
	/* Without the one that ends frames; names are interned. */
	struct tally_thread_record threads[MOST_THREADS];
	uint32_t n;
};

/* What a thread did in some lines. */
struct did {
	uint64_t ns, ready_ns;
};

struct load_frame {
	uint64_t start_ns, ns;
	uint64_t before_ns; /* the times of all frames before it */
};

void
tally_loads_init(struct tally_loads *l)
{
	*l = (struct tally_loads){
		.lines = g_array_new(FALSE, FALSE, sizeof(struct load_line)),
		.frames = g_array_new(FALSE, FALSE, sizeof(struct load_frame)),
		.totals = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free),
	};
}

void
tally_loads_finish(struct tally_loads *l)
{
	g_array_unref(l->lines);
	g_array_unref(l->frames);
	g_hash_table_destroy(l->totals);
}

void
tally_loads_add(struct tally_loads *l, const struct tally_process_record *p)
{
	struct load_line line = {
		.from_ns = p->time_ns - MIN(p->period_ns, p->time_ns),
		.to_ns = p->time_ns,
		.ready_ns = p->ready_ns,
		.disk_bytes = p->disk_bytes,
	};
	for (uint32_t i = 0; i < p->n_threads && line.n < MOST_THREADS; i++) {
		if (p->threads[i].ends_frames)
			continue;
		const char *name =
			p->threads[i].main ? main_thread : g_intern_string(p->threads[i].name);
		struct did *total = g_hash_table_lookup(l->totals, name);
		if (!total) {
			total = g_new0(struct did, 1);
			g_hash_table_insert(l->totals, (gpointer)name, total);
		}
		total->ns += p->threads[i].cpu_ns;
		total->ready_ns += p->threads[i].ready_ns;
		line.threads[line.n] = p->threads[i];
		line.threads[line.n++].name = name;
		l->has_ready |= p->threads[i].has_ready;
	}
	l->all_ns += p->period_ns;
	l->ready_ns += p->ready_ns;
	l->disk_bytes += p->disk_bytes;
	if (l->lines->len < MOST_LINES)
		g_array_append_val(l->lines, line);
}

void
tally_loads_add_frame(struct tally_loads *l, uint64_t start_ns, uint64_t ns)
{
	guint n = l->frames->len;
	struct load_frame f = { .start_ns = start_ns, .ns = ns };
	if (l->lines->len == 0)
		return; /* perhaps there is none */
	if (n > 0) {
		const struct load_frame *last =
			&g_array_index(l->frames, struct load_frame, n - 1);
		if (n == MOST_FRAMES || start_ns + ns / 2 < last->start_ns + last->ns)
			return;
		f.before_ns = last->before_ns + last->ns;
	}
	g_array_append_val(l->frames, f);
}

/* "llvmpipe-0" of "llvmpipe (LLVM 15.0.6, 256 bits)". */
static bool
is_of_driver(const char *thread, const char *driver)
{
	size_t len = driver ? strcspn(driver, " (") : 0;
	return len > 3 && strncmp(thread, driver, len) == 0;
}

static struct did
did_of(const struct load_line *lines, guint n, const char *name)
{
	struct did sum = { 0 };
	for (guint i = 0; i < n; i++)
		for (unsigned k = 0; k < MOST_THREADS; k++) {
			const struct tally_thread_record *t = &lines[i].threads[k];
			sum.ns += t->name == name ? t->cpu_ns : 0;
			sum.ready_ns += t->name == name ? t->ready_ns : 0;
		}
	return sum;
}

/* From the begin of the first to the end of the last one. */
static double
length_of(const struct load_line *lines, guint n)
{
	return (double)(lines[n - 1].to_ns - lines[0].from_ns);
}

/* The lines that overlap that time, but not those of which less than this part of a line does. */
static guint
find_lines(const struct tally_loads *l, uint64_t begin_ns, uint64_t end_ns, double part, guint *n)
{
	const struct load_line *lines = (const struct load_line *)(void *)l->lines->data;
	guint from = 0, to;
	for (; from < l->lines->len; from++) {
		double least = part * length_of(lines + from, 1);
		if ((double)lines[from].to_ns - least > (double)begin_ns)
			break;
	}
	for (to = from; to < l->lines->len; to++) {
		double least = part * length_of(lines + to, 1);
		if ((double)lines[to].from_ns + least >= (double)end_ns)
			break;
	}
	*n = to - from;
	return from;
}

/* The threads that draw for a driver on the CPU: named as the driver, or without a name. */
struct driver {
	const char *name, *process; /* the name of threads without one; NULL: a GPU draws */
};

static struct driver
driver_of(const struct tally_aggregate *log, const struct tally_device_summary *device)
{
	g_autofree char *process = g_path_get_basename(log->program ? log->program : "");
	return (struct driver){ device->name, device->software ? g_intern_string(process) : NULL };
}

static bool
may_draw(const char *thread, struct driver driver)
{
	enum { MOST_NAME = 15 };
	return is_of_driver(thread, driver.name) ||
	       (driver.process && strncmp(thread, driver.process, MOST_NAME) == 0);
}

static void
add_threads(const struct tally_thread_record *threads, uint32_t n, struct driver driver,
	    struct tally_driver_load *sum)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct tally_thread_record *t = &threads[i];
		if (t->ends_frames || t->main || !may_draw(t->name, driver)) {
			sum->others_ns += (double)threads[i].cpu_ns;
			continue;
		}
		sum->ns[TALLY_DREW] += (double)threads[i].cpu_ns;
		sum->ns[TALLY_HAD_NO_CPU] += (double)threads[i].ready_ns;
		sum->has_ready |= threads[i].has_ready;
	}
}

struct tally_driver_load
tally_loads_driver(const struct tally_process_record *p, const struct tally_aggregate *log,
		   const struct tally_device_summary *device)
{
	struct tally_driver_load sum = { 0 };
	if (device)
		add_threads(p->threads, p->n_threads, driver_of(log, device), &sum);
	return sum;
}

/* How many frames there were until then, with the part of the last; time of which no frame is known
 * has frames of `usual_ns`. */
static double
frames_until(const struct tally_loads *l, uint64_t until_ns, uint64_t usual_ns)
{
	const struct load_frame *f = (const struct load_frame *)(void *)l->frames->data;
	guint n = 0, end = l->frames->len;
	if (end == 0)
		return (double)until_ns / (double)usual_ns;
	while (n < end) {
		guint middle = n + (end - n) / 2;
		if (f[middle].start_ns <= until_ns)
			n = middle + 1;
		else
			end = middle;
	}
	/* Of what is before the first frame, and after a frame, nothing is known. */
	double unknown_ns = (double)until_ns - (double)f->start_ns, part = 0;
	if (n > 0) {
		f += n - 1;
		part = (double)MIN(until_ns - f->start_ns, f->ns);
		unknown_ns -= (double)f->before_ns + part;
		part = n - 1 + part / (double)MAX(f->ns, 1);
	}
	return part + unknown_ns / (double)usual_ns;
}

/* False: others were busier, and the driver's threads may not be among the five that are listed. */
static bool
add_line(const struct tally_loads *l, guint at, struct driver driver, uint64_t usual_ns,
	 struct tally_driver_load *sum)
{
	const struct load_line *line = &g_array_index(l->lines, struct load_line, at);
	sum->frames += frames_until(l, line->to_ns, usual_ns) -
		       frames_until(l, line->from_ns, usual_ns);
	double before_ns = sum->ns[TALLY_DREW];
	add_threads(line->threads, line->n, driver, sum);
	return sum->ns[TALLY_DREW] > before_ns || line->n < MOST_THREADS - 1;
}

/* Takes from what the driver did in `n` lines from `at` on what it does in as many frames around:
 * in most lines, as some may be of hitches. A frame is the same work however long it takes. False:
 * it does nothing. */
static bool
take_usual(const struct tally_loads *l, guint at, guint n, struct driver driver,
	   uint64_t usual_ns, struct tally_driver_load *sum)
{
	enum { AROUND = 8 };
	double usual[2][2 * AROUND], middle[2] = { 0, 0 };
	size_t n_usual = 0;
	guint to = MIN(at + n + AROUND, l->lines->len);
	for (guint i = at - MIN(at, AROUND); i < to; i++) {
		struct tally_driver_load one = { 0 };
		if (i >= at && i < at + n)
			continue;
		add_line(l, i, driver, usual_ns, &one);
		if (one.frames < 1)
			continue;
		usual[TALLY_DREW][n_usual] = one.ns[TALLY_DREW] / one.frames;
		usual[TALLY_HAD_NO_CPU][n_usual++] = one.ns[TALLY_HAD_NO_CPU] / one.frames;
	}
	for (int what = 0; what < 2 && n_usual; what++) {
		qsort(usual[what], n_usual, sizeof(usual[what][0]), tally_order_double);
		middle[what] = usual[what][n_usual / 2];
		sum->ns[what] -= middle[what] * sum->frames;
	}
	return middle[TALLY_DREW] > 0;
}

/* What the driver did meanwhile, and in the frames before that may have delayed the frame. */
static void
explain_driver(const struct tally_loads *l, struct driver driver, struct tally_answer_hitch *h)
{
	uint64_t usual_ns = MAX(h->was.usual[TALLY_HITCH_FRAME], 1);
	uint64_t end_ns = h->was.start_ns + h->was.frame_ns;
	uint64_t before_ns = MIN(TALLY_HITCH_BEFORE * usual_ns, h->was.start_ns);
	struct tally_driver_load sum = { 0 };
	guint n, at = find_lines(l, h->was.start_ns - before_ns, end_ns, 0, &n);
	bool known = l->has_ready && n > 0;
	for (guint i = at; i < at + n; i++)
		known &= add_line(l, i, driver, usual_ns, &sum);
	bool drew = sum.ns[TALLY_DREW] > 0, draws = take_usual(l, at, n, driver, usual_ns, &sum);
	if (drew || draws || driver.process)
		tally_cause_driver(h, sum.ns[TALLY_DREW],
				   known && draws && l->frames->len < MOST_FRAMES
					   ? sum.ns[TALLY_HAD_NO_CPU]
					   : (double)NAN);
}

/* Which thread worked meanwhile, and how long the one that ends frames had no CPU. */
static void
explain_wait(const struct tally_loads *l, const struct load_line *lines, guint n,
	     struct driver driver, struct tally_answer_hitch *h)
{
	const double lost = (double)h->was.excess_ns;
	double most = EXPLAINS * lost;
	uint64_t ready_ns = 0, disk_bytes = 0;
	GHashTableIter all;
	gpointer name, total;
	double lines_ns = length_of(lines, n);
	/* The part of the run that these lines are: what is there on average is no cause. */
	double part = lines_ns / (double)l->all_ns;
	if (lines_ns > (double)(h->was.frame_ns + MOST_APART_NS))
		return;
	g_hash_table_iter_init(&all, l->totals);
	while (g_hash_table_iter_next(&all, &name, &total)) {
		const struct did did = did_of(lines, n, name), *usual = total;
		double work = (double)did.ns - part * (double)usual->ns;
		double ready = (double)did.ready_ns - part * (double)usual->ready_ns;
		double growth = work < WORKED * lost ? 0 : work + MAX(ready, 0);
		if (growth >= most && !may_draw(name, driver)) {
			most = growth;
			h->thread = name;
			h->thread_ns = MIN(did.ns, h->was.frame_ns);
			h->thread_ready_ns = work < EXPLAINS * lost ? (uint64_t)ready : 0;
		}
	}
	for (guint i = 0; i < n; i++) {
		ready_ns += lines[i].ready_ns;
		disk_bytes += lines[i].disk_bytes;
	}
	disk_bytes -= MIN(disk_bytes, h->was.ns[TALLY_HITCH_DISK_BYTES]);
	h->others_bytes = (uint64_t)MAX((double)disk_bytes - part * (double)l->disk_bytes, 0);
	tally_cause_ready(h, ready_ns, part * (double)l->ready_ns,
			  (double)h->was.frame_ns >= EXPLAINS * lines_ns);
}

void
tally_loads_explain(const struct tally_loads *l, const struct tally_aggregate *log,
		    const struct tally_device_summary *device, struct tally_answer_hitch *h)
{
	const struct driver driver = driver_of(log, device);
	guint n;
	/* A line that reaches into a frame by so little says nothing of it. */
	guint at = find_lines(l, h->was.start_ns, h->was.start_ns + h->was.frame_ns, 0.1, &n);
	if (n > 0)
		explain_wait(l, &g_array_index(l->lines, struct load_line, at), n, driver, h);
	if (l->lines->len)
		explain_driver(l, driver, h);
}

/* Its part of the time of lines. */
static double
share_in(const struct load_line *lines, guint n, const char *name)
{
	return n ? (double)did_of(lines, n, name).ns / MAX(length_of(lines, n), 1) : 0;
}

void
tally_loads_explain_change(const struct tally_loads *l, const struct tally_aggregate *log,
			   const struct tally_device_summary *device,
			   struct tally_answer_change *c)
{
	const struct driver driver = driver_of(log, device);
	double lost = c->waits_ns, most = EXPLAINS;
	const struct load_line *lines[2];
	guint n[2];
	/* Those that are of one side for the most part. */
	for (int side = 0; side < 2; side++)
		lines[side] = (const struct load_line *)(void *)l->lines->data +
			      find_lines(l, c->begin_ns[side], c->end_ns[side], 0.5, &n[side]);
	GHashTableIter all;
	gpointer name;
	g_hash_table_iter_init(&all, l->totals);
	while (fabs(lost) > 0 && g_hash_table_iter_next(&all, &name, NULL)) {
		double before = share_in(lines[0], n[0], name) * c->before_ns;
		double after = share_in(lines[1], n[1], name) * c->after_ns;
		if (may_draw(name, driver) || (after - before) / lost < most)
			continue;
		most = (after - before) / lost;
		c->thread = name;
		c->thread_ns[0] = before;
		c->thread_ns[1] = after;
	}
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
		double of = (double)((const struct did *)total)->ns / (double)l->all_ns;
		if (is_of_driver(name, driver) || of < *share ||
		    (of == *share && busiest && strcmp(name, busiest) > 0))
			continue;
		busiest = name;
		*share = of;
	}
	return busiest;
}
