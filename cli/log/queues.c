/* SPDX-License-Identifier: MIT */
#include "cli/log/queues.h"

/* A pass begins or ends. */
struct edge {
	uint64_t at_ns;
	uint32_t queue, pass;
	bool ends;
};

static uint32_t
row_of(struct tally_queues *q, const struct tally_pass_record *p)
{
	uint32_t i = 0;
	while (i < q->n &&
	       (q->rows[i].family != p->queue_family || q->rows[i].index != p->queue_index))
		i++;
	if (i == TALLY_MAX_QUEUES)
		return TALLY_MAX_QUEUES - 1;
	if (i == q->n)
		q->rows[q->n++] = (struct tally_queue_time){ p->queue_family, p->queue_index, 0 };
	return i;
}

/* A pass ends before another begins at the same time. */
static gint
compare(gconstpointer x, gconstpointer y)
{
	const struct edge *a = x, *b = y;
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return (int)b->ends - (int)a->ends;
}

static void
add_beside(struct tally_queues *q, const struct tally_pass_record *p, uint64_t beside_ns)
{
	if (!q->beside)
		q->beside = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	struct tally_beside *b = g_hash_table_lookup(q->beside, &p->id);
	if (!b) {
		b = g_new0(struct tally_beside, 1);
		b->id = p->id;
		g_hash_table_insert(q->beside, &b->id, b);
	}
	b->gpu_ns += p->gpu_ns;
	b->beside_ns += beside_ns;
}

/* In order of time. `others[i]`: how long queues other than the i-th have worked so far. */
static void
sweep(struct tally_queues *q, const struct tally_frame_record *f, GArray *edges)
{
	uint32_t active[TALLY_MAX_QUEUES] = { 0 }, n_active = 0;
	uint64_t others[TALLY_MAX_QUEUES] = { 0 }, before = 0;
	g_autofree uint64_t *others_at_begin = g_new0(uint64_t, f->n_passes);
	for (guint i = 0; i < edges->len; i++) {
		const struct edge *e = &g_array_index(edges, struct edge, i);
		uint64_t ns = e->at_ns - before;
		for (uint32_t k = 0; k < q->n && n_active; k++) {
			q->rows[k].busy_ns += active[k] ? ns : 0;
			others[k] += n_active > (active[k] != 0) ? ns : 0;
		}
		q->any_ns += n_active ? ns : 0;
		q->several_ns += n_active > 1 ? ns : 0;
		before = e->at_ns;
		if (e->ends) {
			n_active -= --active[e->queue] == 0;
			add_beside(q, &f->passes[e->pass],
				   others[e->queue] - others_at_begin[e->pass]);
		} else {
			n_active += active[e->queue]++ == 0;
			others_at_begin[e->pass] = others[e->queue];
		}
	}
}

static bool
is_timed(const struct tally_pass_record *p)
{
	return p->queue_family >= 0 && p->has_gpu_start && p->has_gpu && p->gpu_ns &&
	       p->gpu_ns <= UINT64_MAX - p->gpu_start_ns;
}

void
tally_queues_add(struct tally_queues *q, const struct tally_frame_record *f)
{
	uint32_t used = 0;
	for (uint32_t i = 0; i < f->n_passes; i++)
		if (is_timed(&f->passes[i]))
			used |= 1u << row_of(q, &f->passes[i]);
	if (!(used & (used - 1)))
		return; /* all on one queue, as in most programs */
	g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *p = &f->passes[i];
		if (!is_timed(p))
			continue;
		struct edge e[2] = { { p->gpu_start_ns, row_of(q, p), i, false } };
		e[1] = (struct edge){ p->gpu_start_ns + p->gpu_ns, e[0].queue, i, true };
		g_array_append_vals(edges, e, 2);
	}
	q->frames++;
	g_array_sort(edges, compare);
	sweep(q, f, edges);
}

void
tally_queues_finish(struct tally_queues *q)
{
	if (q->beside)
		g_hash_table_unref(q->beside);
	q->beside = NULL;
}
