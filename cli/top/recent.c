/* SPDX-License-Identifier: MIT */
#include "cli/top/recent.h"

struct kept_pass {
	uint64_t id, gpu_ns, gpu_start_ns, cpu_start_ns, flags;
	bool has_gpu, has_gpu_start, has_cpu_start;
};

/* What is kept of a pass, and what a pass is made of again. */
#define KEPT(p)                                                                          \
	.id = (p)->id, .gpu_ns = (p)->gpu_ns, .gpu_start_ns = (p)->gpu_start_ns,         \
	.cpu_start_ns = (p)->cpu_start_ns, .flags = (p)->flags, .has_gpu = (p)->has_gpu, \
	.has_gpu_start = (p)->has_gpu_start, .has_cpu_start = (p)->has_cpu_start

struct kept_frame {
	struct tally_frame_record record; /* only its numbers */
	struct kept_pass passes[]; /* record.n_passes of them */
};

void
tally_top_recent_finish(struct tally_top_recent *r)
{
	g_queue_clear_full(&r->frames, g_free);
}

static void
drop_old(struct tally_top_recent *r, uint64_t oldest_ns)
{
	const struct kept_frame *oldest;
	while ((oldest = g_queue_peek_head(&r->frames)) &&
	       (oldest->record.start_ns < oldest_ns || r->frames.length > TALLY_TOP_MOST_FRAMES ||
		r->n_times > TALLY_TOP_MOST_TIMES)) {
		r->n_times -= oldest->record.n_passes;
		g_free(g_queue_pop_head(&r->frames));
	}
}

void
tally_top_recent_add(struct tally_top_recent *r, const struct tally_frame_record *f,
		     uint64_t oldest_ns)
{
	struct kept_frame *kept = g_malloc(sizeof(*kept) +
					   (size_t)f->n_passes * sizeof(kept->passes[0]));
	kept->record = *f;
	kept->record.set = NULL;
	kept->record.passes = NULL;
	kept->record.unattributed = NULL;
	kept->record.n_unattributed = 0;
	kept->record.metrics = NULL;
	kept->record.n_metrics = 0;
	for (uint32_t i = 0; i < f->n_passes; i++)
		kept->passes[i] = (struct kept_pass){ KEPT(&f->passes[i]) };
	g_queue_push_tail(&r->frames, kept);
	r->n_times += f->n_passes;
	r->n_seen++;
	drop_old(r, oldest_ns);
}

/* How many of the frames kept are loading: those of the log's start, if they are still here. */
static size_t
loading(const struct tally_top_recent *r)
{
	if (r->n_seen != r->frames.length)
		return 0;
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (const GList *l = r->frames.head; l && times->len < TALLY_WARMUP_FRAMES; l = l->next) {
		const struct kept_frame *kept = l->data;
		g_array_append_val(times, kept->record.cpu_ns);
	}
	return tally_warmup_count((const uint64_t *)(void *)times->data, times->len);
}

struct tally_answer *
tally_top_recent_answer(const struct tally_top_recent *r, const struct tally_aggregate *log,
			uint64_t oldest_ns)
{
	struct tally_answer *answer = tally_answer_create(log);
	GArray *passes = g_array_new(FALSE, TRUE, sizeof(struct tally_pass_record));
	size_t skip = loading(r);
	for (const GList *l = r->frames.head; l; l = l->next) {
		const struct kept_frame *kept = l->data;
		struct tally_frame_record f = kept->record;
		if (f.start_ns < oldest_ns)
			continue;
		g_array_set_size(passes, f.n_passes);
		for (uint32_t i = 0; i < f.n_passes; i++)
			g_array_index(passes, struct tally_pass_record, i) =
				(struct tally_pass_record){ KEPT(&kept->passes[i]) };
		f.passes = (const struct tally_pass_record *)(void *)passes->data;
		if (skip > 0) {
			tally_answer_skip_frame(answer, &f);
			skip--;
		} else {
			tally_answer_add_frame(answer, &f);
		}
	}
	g_array_unref(passes);
	tally_answer_conclude(answer);
	return answer;
}
