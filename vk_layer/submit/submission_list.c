/* vk_layer/submit/submission_list.c - the contents of a submission; passes that
 * have all their results. */
#include "vk_layer/submit/collect.h"

#include <stdlib.h>
#include <string.h>

#define MAX_UNREAD 4096 /* submissions of one queue; beyond that the oldest is given up */

/* Makes room for one more in an array of `n`; *room grows by doubling. */
static bool
fit(void *array, uint32_t n, uint32_t *room, size_t size)
{
	if (n < *room)
		return true;
	uint32_t more = *room ? 2 * *room : 16;
	void *old;
	memcpy(&old, array, sizeof(old));
	void *grown = more > *room ? realloc(old, more * size) : NULL;
	if (!grown)
		return false;
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return true;
}

struct vk_submission *
vk_submission_take(struct vk_queue *q)
{
	struct vk_submission *s = q->spare;
	if (s)
		q->spare = s->next;
	else
		s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct vk_submission){
		.queue = q,
		.frame = q->device->tally ? tally_device_frame(q->device->tally) : 0,
		.fills = s->fills,
		.room_fills = s->room_fills,
		.reads = s->reads,
		.room_reads = s->room_reads,
		.runs = s->runs,
		.room_runs = s->room_runs,
	};
	return s;
}

void
vk_submission_recycle(struct vk_submission *s)
{
	s->next = s->queue->spare;
	s->queue->spare = s;
}

/* ---- fills ---- */

uint32_t
vk_submission_add_fill(struct vk_submission *s, struct tally_pass *pass)
{
	if (!fit(&s->fills, s->n_fills, &s->room_fills, sizeof(*s->fills)))
		return VK_NONE;
	s->fills[s->n_fills] = (struct vk_fill){ .pass = pass, .n_left = 1 };
	return s->n_fills++;
}

struct vk_fill *
vk_frame_fill_create(struct tally_pass *pass)
{
	struct vk_fill *fill = malloc(sizeof(*fill));
	if (fill)
		*fill = (struct vk_fill){ .pass = pass, .n_left = 1, .sums = true };
	return fill;
}

static void
finish_sums(const struct vk_queue *q, struct vk_fill *fill)
{
	struct tally_pass *pass = fill->pass;
	pass->has_time = fill->has_begin && fill->has_end;
	pass->gpu_begin_ns = fill->begin_ns;
	pass->gpu_end_ns = fill->end_ns;
	uint32_t n = vk_fill_n_values(q->device, fill);
	n = n < VK_MAX_COUNTERS ? n : VK_MAX_COUNTERS;
	for (uint32_t i = 0; i < (n + 63) / 64; i++)
		pass->valid[i] &= ~fill->missing[i];
}

/* Removes one claim; with the last one the pass is done. */
static void
release(const struct vk_queue *q, struct vk_fill *fill)
{
	if (--fill->n_left || !fill->pass)
		return;
	if (fill->sums)
		finish_sums(q, fill);
	tally_stream_pass_done(q->stream, fill->pass);
	fill->pass = NULL;
}

void
vk_frame_fill_release(struct vk_queue *q, struct vk_fill *fill)
{
	release(q, fill);
	if (!fill->n_left)
		free(fill);
}

/* ---- reads ---- */

/* The run of a recording in this submission; it has a reference. */
static uint32_t
run_of(struct vk_submission *s, struct vk_recording *r)
{
	if (r->pending == s)
		return r->pending_run;
	if (!fit(&s->runs, s->n_runs, &s->room_runs, sizeof(*s->runs)))
		return VK_NONE;
	s->runs[s->n_runs] = (struct vk_run){ vk_recording_ref(r), VK_NONE, 0 };
	r->pending = s;
	r->pending_run = s->n_runs;
	return s->n_runs++;
}

struct vk_fill *
vk_fill_of(struct vk_submission *s, const struct vk_read *read)
{
	return read->frame ? read->frame : &s->fills[read->fill];
}

bool
vk_submission_add_read(struct vk_submission *s, const struct vk_read *read,
		       struct vk_recording *owner)
{
	if (!fit(&s->reads, s->n_reads, &s->room_reads, sizeof(*s->reads)))
		return false;
	uint32_t run = owner ? run_of(s, owner) : VK_NONE;
	if (owner && run == VK_NONE)
		return false;
	struct vk_read *r = &s->reads[s->n_reads];
	*r = *read;
	r->left = r->slot.sources;
	r->next = VK_NONE;
	r->run = run;
	r->done = false;
	if (run != VK_NONE) {
		r->next = s->runs[run].first;
		s->runs[run].first = s->n_reads;
		s->runs[run].n_left++;
	}
	s->n_reads++;
	s->n_unread++;
	vk_fill_of(s, r)->n_left++;
	return true;
}

void
vk_read_done(struct vk_submission *s, struct vk_read *read)
{
	struct vk_fill *fill = vk_fill_of(s, read);
	read->done = true;
	s->n_unread--;
	if (read->frame)
		vk_frame_fill_release(s->queue, fill);
	else
		release(s->queue, fill);
	if (read->run == VK_NONE)
		return;
	struct vk_run *run = &s->runs[read->run];
	if (--run->n_left)
		return;
	struct vk_recording *r = run->recording;
	run->recording = NULL;
	if (r->pending == s)
		r->pending = NULL;
	vk_recording_unref(r, true);
}

void
vk_read_give_up(struct vk_submission *s, struct vk_read *read, uint64_t flag)
{
	struct vk_fill *fill = vk_fill_of(s, read);
	if (read->role == VK_ROLE_WORKLOAD)
		read->workload->flags |= flag;
	if (fill->pass) {
		fill->pass->flags |= flag;
		vk_fill_miss(fill);
	}
	vk_read_done(s, read);
}

void
vk_fill_miss(struct vk_fill *fill)
{
	memset(fill->missing, 0xff, sizeof(fill->missing));
}

void
vk_fill_miss_set(const struct vk_device *d, struct vk_fill *fill)
{
	uint32_t n = vk_slots_layout(d, fill->set)->n_always;
	for (; n < VK_MAX_COUNTERS; n++)
		fill->missing[n / 64] |= UINT64_C(1) << (n % 64);
}

uint32_t
vk_fill_n_values(const struct vk_device *d, const struct vk_fill *fill)
{
	return vk_slots_layout(d, fill->set)->set->layout.n_counters;
}

/* ---- the queue's list ---- */

/* Everything unread in it is done. */
void
vk_submission_give_up(struct vk_submission *s, uint64_t flag)
{
	for (uint32_t i = 0; i < s->n_reads && s->n_unread; i++)
		if (!s->reads[i].done)
			vk_read_give_up(s, &s->reads[i], flag);
}

static void
release_fills(struct vk_submission *s)
{
	for (uint32_t i = 0; i < s->n_fills; i++)
		release(s->queue, &s->fills[i]);
}

void
vk_submission_append(struct vk_submission *s)
{
	struct vk_queue *q = s->queue;
	s->serial = ++q->serial;
	release_fills(s);
	if (!s->n_unread && !s->pairs && !s->waits) {
		vk_submission_recycle(s);
		return;
	}
	if (q->newest)
		q->newest->next = s;
	else
		q->oldest = s;
	q->newest = s;
	if (++q->n_unread <= MAX_UNREAD)
		return;
	struct vk_submission *oldest = q->oldest;
	while (oldest && !oldest->n_unread)
		oldest = oldest->next;
	if (oldest)
		vk_submission_give_up(oldest, TALLY_FLAG(LOST));
}

void
vk_submission_fail(struct vk_submission *s, uint64_t flag)
{
	for (uint32_t i = 0; i < s->n_fills; i++)
		s->fills[i].pass->flags |= flag;
	vk_submission_give_up(s, flag);
	release_fills(s);
	if (s->waits)
		atomic_fetch_sub(&s->queue->device->pending_timelines, 1);
	while (s->pairs) {
		struct vk_bracket_pair *pair = s->pairs;
		s->pairs = pair->next;
		vk_brackets_release(s->queue->device, s->queue->family, pair);
	}
	vk_submission_recycle(s);
}
