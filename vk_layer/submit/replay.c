/* SPDX-License-Identifier: MIT */
#include "vk_layer/submit/replay.h"

#include "layer/frame/black_box.h"
#include "vk_layer/picture/picture.h"
#include "vk_layer/record/slots_sources.h"
#include "vk_layer/submit/collect.h"
#include "vk_layer/submit/frames.h"
#include "vk_layer/record/labels.h"

#define CHAIN_DROPPED (VK_NONE - 1) /* the open chain's pass could not be stored */
#define AT_ONCE 16u

bool
vk_recording_has_work(const struct vk_recording *rec)
{
	return rec->n_passes || rec->executes;
}

static bool
captures(const struct vk_replay *r)
{
	return r->s && r->q->stream && tally_stream_captures(r->q->stream);
}

static void
use_set(struct vk_replay *r, uint32_t set)
{
	r->set = set;
	r->layout = &vk_slots_layout(r->d, set)->set->layout;
}

/* ---- passes of the log ---- */

/* Places for up to *n passes that follow one another, as tally_stream_open_passes(). */
static inline struct tally_pass *
open_places(struct vk_replay *r, bool listed, uint32_t *n)
{
	struct tally_pass *first = tally_stream_open_passes(r->q->stream, r->now_ns, listed, n);
	if (!first)
		return NULL;
	r->d->passes_in_frame += *n;
	if (r->layout->set)
		tally_stream_use_set(r->q->stream, r->layout->set);
	return first;
}

static inline void
describe_place(struct vk_replay *r, enum tally_pass_kind kind, struct tally_pass *p)
{
	p->kind = kind;
	p->restarts = true; /* a begin is never a resumption: chains are joined here */
	p->key = r->number << 24 | r->n_passes++;
	p->has_submission = true;
	p->submission = r->number;
	p->layout = r->layout;
}

static struct tally_pass *
open_place(struct vk_replay *r, enum tally_pass_kind kind, bool listed)
{
	struct tally_pass *p = open_places(r, listed, &(uint32_t){ 1 });
	if (p)
		describe_place(r, kind, p);
	return p;
}

/* VK_NONE: no room. */
static inline uint32_t
open_pending(struct vk_replay *r, enum tally_pass_kind kind, bool listed)
{
	struct tally_pass *p = open_place(r, kind, listed);
	if (!p)
		return VK_NONE;
	struct vk_pending_pass *pending = vk_submission_add_pass(r->s);
	if (!pending) {
		p->flags |= TALLY_FLAG(DROPPED);
		p->done = true;
		return VK_NONE;
	}
	*pending = (struct vk_pending_pass){
		.pass = p, .n_left = 1, .set = r->set, .buffer = r->buffer
	};
	return r->s->n_passes - 1;
}

static void
set_label(struct vk_replay *r, struct tally_pass *p)
{
	if (!vk_labels_any(r->q->labels))
		return;
	p->label = vk_labels_path(r->q->labels, r->q->stream);
	if (!p->label)
		p->flags |= TALLY_FLAG(LABEL_DROPPED);
}

/* The pending pass that everything goes into with granularity submit or frame; NULL: no room. */
static struct vk_pending_pass *
coarse_pending(struct vk_replay *r)
{
	if (r->d->config->granularity == TALLY_GRANULARITY_SUBMIT) {
		if (r->coarse == VK_NONE) {
			r->coarse = open_pending(r, TALLY_PASS_OTHER, true);
			if (r->coarse == VK_NONE)
				return NULL;
			r->s->passes[r->coarse].sums = true;
			set_label(r, r->s->passes[r->coarse].pass);
		}
		return &r->s->passes[r->coarse];
	}
	if (r->q->frame_pass)
		return r->q->frame_pass;
	struct tally_pass *p = open_place(r, TALLY_PASS_OTHER, true);
	if (!p)
		return NULL;
	p->has_submission = false;
	r->q->frame_pass = vk_frame_pass_create(p);
	if (r->q->frame_pass) {
		r->q->frame_pass->set = r->set;
	} else {
		p->flags |= TALLY_FLAG(DROPPED);
		p->done = true;
	}
	return r->q->frame_pass;
}

/* Reads `slot` into the pending pass; in a coarse capture `pending` is ignored. */
static void
add_slot(struct vk_replay *r, uint32_t pending, enum vk_role role,
	 const struct vk_slot *slot, struct vk_recording *owner,
	 struct tally_workload *workload)
{
	bool coarse = r->is_coarse;
	struct vk_pending_pass *into = coarse ? coarse_pending(r) : &r->s->passes[pending];
	if (!into)
		return;
	struct vk_pending_slot *unread = vk_submission_add_slot(r->s, owner);
	if (!unread) {
		into->pass->flags |= TALLY_FLAG(DROPPED);
		vk_pending_pass_miss(into);
		return;
	}
	unread->slot = *slot;
	unread->role = (uint8_t)role;
	unread->pending = coarse ? r->coarse : pending;
	if (unread->pending == VK_NONE)
		unread->frame = r->q->frame_pass;
	else
		unread->workload = workload;
	into->n_left++;
	/* It was recorded while another set was current: values of a set do not
	 * fit into this pass. */
	if ((owner ? owner->runs.set : 0) != into->set) {
		unread->slot.sources &= ~vk_slots_sources(r->d, r->q->family,
							  VK_MEASURE_PERFORMANCE);
		if (role != VK_ROLE_WHOLE || coarse)
			vk_pending_pass_miss_set(r->d, into);
	}
	unread->left = unread->slot.sources;
}

/* ---- recorded passes ---- */

static bool
has_timestamps(const struct vk_replay *r)
{
	return r->q->family >= r->d->n_families ||
	       r->d->families[r->q->family].timestamp_bits;
}

/* The reason why a pass has no times, or no results at all. */
static uint64_t
reason(const struct vk_replay *r, const struct vk_recording *rec, bool has_slot)
{
	if (!has_timestamps(r))
		return TALLY_FLAG(NO_TIMESTAMPS);
	if (has_slot)
		return 0;
	if (rec->idle)
		return TALLY_FLAG(RECORDED_IDLE);
	if (rec->simultaneous)
		return TALLY_FLAG(SIMULTANEOUS);
	return vk_slots_cover(r->d, r->q->family, VK_MEASURE_ALL)
		       ? TALLY_FLAG(DROPPED)
		       : TALLY_FLAG(NO_TIMESTAMPS);
}

/* A recording is about to execute: reads the results of its last use and makes
 * its slots usable again. */
static void
prepare(struct vk_replay *r, struct vk_recording *rec)
{
	if (r->s && rec->pending == r->s)
		return;
	vk_collect_harvest(r->d, rec);
	rec->ran = true;
}

static void
read_inner(struct vk_replay *r, uint32_t pending, const struct vk_recording *rec,
	   const struct vk_pass *p)
{
	for (uint32_t i = 0; i < p->n_inner; i++) {
		struct vk_recording *owner = rec->inner[p->first_inner + i];
		prepare(r, owner);
		if (owner->own.page)
			add_slot(r, pending, VK_ROLE_INNER, &owner->own, owner, NULL);
		else
			vk_pending_pass_miss(&r->s->passes[pending]);
	}
}

static void
add_workload(struct vk_replay *r, struct vk_recording *owner, const struct vk_workload *from)
{
	uint32_t pending = r->load_pending;
	struct tally_workload *w = tally_stream_add_workload(r->q->stream,
							     r->s->passes[pending].pass);
	if (w) {
		w->command = from->command;
		w->label = vk_labels_path(r->q->labels, r->q->stream);
		w->pipeline = from->pipeline;
		w->flags = from->flags;
	}
	if (from->slot.page) {
		add_slot(r, pending, w ? VK_ROLE_WORKLOAD : VK_ROLE_INNER, &from->slot,
			 owner, w);
	} else {
		vk_pending_pass_miss(&r->s->passes[pending]);
		if (w)
			w->flags |= r->reasons[false];
	}
}

/* Adds those that stand before the n-th item of `rec`, where it is at `end` at the latest; without
 * `rec` all. */
static void
add_workloads(struct vk_replay *r, const struct vk_recording *rec, uint32_t n_items, uint32_t end)
{
	for (; r->load < r->end_load; r->load++) {
		const struct vk_workload *w = &r->loads_of->workloads[r->load];
		struct vk_recording *owner = w->owner ? w->owner : r->loads_of;
		if (rec && (owner != rec || w->n_items > n_items || r->load >= end))
			return;
		if (owner != rec && owner != r->loads_of)
			prepare(r, owner); /* it is not replayed by itself */
		add_workload(r, owner, w);
	}
}

static struct tally_call_counts
counts_of(const struct vk_pass *p)
{
	struct tally_call_counts t = p->call_counts;
	t.calls = vk_n_calls(&t);
	return t;
}

static void
add_uses(struct vk_replay *r, const struct vk_recording *rec, const struct vk_pass *p,
	 struct tally_pass *to)
{
	const struct vk_pipeline_use *use = rec->uses + p->first_use;
	for (uint32_t i = 0; i < p->n_uses; i++, use++)
		tally_stream_use_pipeline(r->q->stream, to, use->pipeline, &use->call_counts);
}

/* A pass that is measured by the interval around its command buffer. */
static void
coarse_pass(struct vk_replay *r, const struct vk_recording *rec, const struct vk_pass *p)
{
	struct vk_pending_pass *pending = coarse_pending(r);
	if (!pending)
		return;
	struct tally_call_counts t = counts_of(p);
	tally_call_counts_add(&pending->pass->call_counts, &t);
	pending->pass->unknown |= p->unknown;
	pending->pass->flags |= p->flags | r->flags;
	if (p->n_uses)
		add_uses(r, rec, p, pending->pass);
}

/* Whether the pass's values are the sum of several results, or lack some. */
static inline bool
is_sum(const struct vk_pass *p)
{
	return (p->n_inner | p->n_workloads) || p->suspended || p->uncounted ||
	       (p->slot.page && p->slot.halves != TALLY_VK_BOTH);
}

/* A source did not count it; of a sum finish_sums() knows it, except for a set that the recording
 * does not have. */
static __attribute__((noinline)) uint64_t
uncounted(const struct vk_replay *r, const struct vk_pass *p)
{
	uint64_t known = p->flags | r->flags | r->reasons[p->slot.page != NULL];
	uint32_t sets = vk_slots_sources(r->d, r->q->family, VK_MEASURE_PERFORMANCE);
	bool has_set = r->set || !(r->expected & sets);
	if ((known & VK_FLAGS_UNCOUNTED) || (is_sum(p) && has_set) ||
	    (r->draws_alone && !p->call_counts.draws))
		return 0;
	return TALLY_FLAG(UNCOUNTED);
}

/* A pass as it begins. */
static inline void
describe_begin(struct vk_replay *r, const struct vk_pass *p, struct tally_pass *out)
{
	out->load = p->load;
	out->target = p->target;
	out->surface = p->surface;
	out->flags = r->reasons[p->slot.page != NULL];
	if (r->labelled)
		set_label(r, out);
	if (r->d->config->black_box_ns)
		tally_black_box_pass(tally_stream_pass_frame(out), out->label, out->target, false);
}

/* There was no room for the pass, but the black box names the last that began. */
static __attribute__((noinline)) void
note_dropped(struct vk_replay *r, const struct vk_pass *p)
{
	struct tally_pass none = { .label = NULL };
	if (!r->d->config->black_box_ns || !tally_stream_captures(r->q->stream))
		return;
	if (r->labelled)
		set_label(r, &none);
	tally_black_box_pass(tally_device_frame(r->d->tally), none.label, p->target, false);
}

/* ... and as it ends, but for its counts. */
static inline void
describe_end(const struct vk_replay *r, const struct vk_pass *p, struct tally_pass *out)
{
	out->store = p->store;
	out->unknown |= p->unknown;
	out->flags |= p->flags | r->flags;
	if (r->expected & ~p->slot.sources)
		out->flags |= uncounted(r, p);
}

/* The pending pass of a pass that begins here; VK_NONE: no room. */
static uint32_t
begin_pass(struct vk_replay *r, const struct vk_pass *p)
{
	uint32_t pending = open_pending(r, p->kind, true);
	if (pending == VK_NONE) {
		note_dropped(r, p);
		return VK_NONE;
	}
	describe_begin(r, p, r->s->passes[pending].pass);
	r->s->passes[pending].sums = is_sum(p);
	r->last_pending = pending;
	r->n_batch_passes++;
	return pending;
}

static void
replay_pass(struct vk_replay *r, struct vk_recording *rec, const struct vk_pass *p)
{
	bool goes_on = p->resuming && r->chain != VK_NONE;
	uint32_t pending = goes_on ? r->chain : VK_NONE;
	if (!r->captured && !(goes_on && pending != CHAIN_DROPPED)) {
		r->chain = p->suspended ? CHAIN_DROPPED : VK_NONE;
		return;
	}
	if (r->is_coarse) {
		coarse_pass(r, rec, p);
		return;
	}
	if (!goes_on)
		pending = begin_pass(r, p);
	if (pending == VK_NONE)
		pending = CHAIN_DROPPED;
	r->chain = p->suspended ? pending : VK_NONE;
	if (pending == CHAIN_DROPPED)
		return;
	struct vk_pending_pass *into = &r->s->passes[pending];
	struct tally_pass *out = into->pass;
	struct tally_call_counts t = counts_of(p);
	if (goes_on)
		tally_call_counts_add(&out->call_counts, &t);
	else
		out->call_counts = t;
	describe_end(r, p, out);
	if (p->n_uses)
		add_uses(r, rec, p, out);
	if (rec->pictures)
		vk_pictures_submitted(rec, (uint32_t)(p - rec->passes), r->s, out);
	into->has_inner |= p->n_inner || p->n_workloads;
	if (p->uncounted)
		vk_pending_pass_miss(into);
	if (p->slot.page)
		add_slot(r, pending, VK_ROLE_PASS, &p->slot, rec, NULL);
	read_inner(r, pending, rec, p);
	r->loads_of = rec;
	r->load = p->first_workload;
	r->end_load = p->first_workload + p->n_workloads;
	r->load_pending = pending;
}

/* ---- rows of passes ---- */

struct row {
	struct vk_slot slot; /* the first; `views`: how many passes there are */
	struct tally_pass *first;
};

/* Whether all its results are in one slot, or it has none. */
static inline bool
is_alone(const struct vk_pass *p)
{
	return !is_sum(p) && !p->resuming && (!p->slot.page || p->slot.views == 1);
}

static void
add_row(struct vk_replay *r, struct vk_recording *owner, const struct row *row)
{
	uint32_t n = row->slot.views;
	struct vk_pending_slot *unread = NULL;
	if (n)
		unread = vk_submission_add_slot(r->s, row->slot.page ? owner : NULL);
	if (unread) {
		unread->slot = row->slot;
		unread->left = row->slot.sources;
		unread->row = row->first;
		unread->role = VK_ROLE_ROW;
		unread->unread = UINT64_MAX >> (TALLY_VK_MAX_ROWS - n);
		return;
	}
	for (uint32_t k = 0; k < n; k++) {
		row->first[k].flags |= TALLY_FLAG(DROPPED);
		row->first[k].done = true;
	}
}

/* Whether the pass and its slot follow those of the row. */
static inline bool
is_next(const struct row *row, const struct vk_slot *slot, const struct tally_pass *pass)
{
	uint32_t n = row->slot.views;
	return pass == row->first + n && slot->page == row->slot.page &&
	       (!slot->page || slot->index == row->slot.index + n) &&
	       slot->sources == row->slot.sources && n < TALLY_VK_MAX_ROWS;
}

static inline void
replay_alone(struct vk_replay *r, const struct vk_recording *rec, const struct vk_pass *p,
	     struct tally_pass *out)
{
	describe_place(r, p->kind, out);
	describe_begin(r, p, out);
	describe_end(r, p, out);
	out->call_counts = counts_of(p);
	if (p->n_uses)
		add_uses(r, rec, p, out);
}

/* How many passes from the n-th to before the `end`-th are alone: at most as many as are opened at
 * once, so few that they are still in the cache when they are described. */
static uint32_t
count_alone(const struct vk_recording *rec, uint32_t n, uint32_t end)
{
	uint32_t i = n;
	end = end - n < AT_ONCE ? end : n + AT_ONCE;
	while (i < end && is_alone(&rec->passes[i]))
		i++;
	return i - n;
}

/* The passes from the n-th to before the `end`-th, as long as each is alone. The number of the
 * first that is not. */
static uint32_t
replay_rows(struct vk_replay *r, struct vk_recording *rec, uint32_t n, uint32_t end)
{
	struct row row = { .first = NULL };
	for (uint32_t more; (more = count_alone(rec, n, end)); n += more) {
		struct tally_pass *out = open_places(r, true, &more);
		r->chain = VK_NONE;
		if (!out)
			note_dropped(r, &rec->passes[n + more - 1]);
		for (uint32_t i = 0; out && i < more; i++, out++) {
			const struct vk_pass *p = &rec->passes[n + i];
			replay_alone(r, rec, p, out);
			if (!is_next(&row, &p->slot, out)) {
				add_row(r, rec, &row);
				row = (struct row){ .slot = p->slot, .first = out };
				row.slot.views = 0;
			}
			row.slot.views++;
		}
	}
	add_row(r, rec, &row);
	return n;
}

static bool
is_in_chain(const struct vk_recording *rec)
{
	return rec->starts_resuming || rec->ends_suspended;
}

/* There are neither labels nor secondaries nor queries: without a capture nothing
 * has to be done. */
static bool
is_plain(const struct vk_recording *rec)
{
	return !rec->n_items && !rec->runs.n && !rec->lost_labels &&
	       !rec->pictures && !is_in_chain(rec);
}

/* Values that apply to the passes that follow in the recording. */
static void
look_around(struct vk_replay *r, const struct vk_recording *rec)
{
	r->captured = captures(r);
	r->labelled = vk_labels_any(r->q->labels);
	r->reasons[false] = reason(r, rec, false);
	r->reasons[true] = reason(r, rec, true);
	r->flags = rec->simultaneous ? TALLY_FLAG(SIMULTANEOUS) : 0;
	r->expected = vk_slots_expected(r->d, r->q->family, &rec->runs);
	r->draws_alone = vk_slots_read_waits(r->d);
}

static void
begin_items(struct vk_replay *r, struct vk_recording *rec)
{
	use_set(r, rec->runs.set);
	prepare(r, rec);
	if (rec->pictures)
		vk_pictures_runs(rec);
	look_around(r, rec);
	if (rec->dropped && r->captured && !r->is_coarse)
		tally_stream_add_dropped(r->q->stream, rec->dropped);
}

static void
replay_items(struct vk_replay *r, struct vk_recording *rec, unsigned depth)
{
	if (!captures(r) && r->chain == VK_NONE && is_plain(rec))
		return;
	uint32_t outer = r->set;
	/* A secondary's workloads in the pass that it continues. */
	uint32_t end_load = rec->continues_pass ? r->load + rec->n_workloads : UINT32_MAX;
	begin_items(r, rec);
	for (uint32_t i = 0, n = 0; i <= rec->n_items; i++) {
		for (uint32_t end = vk_passes_before(rec, i); n < end;) {
			add_workloads(r, NULL, 0, 0);
			if (r->captured && r->rows && !rec->pictures)
				n = replay_rows(r, rec, n, end);
			if (n < end)
				replay_pass(r, rec, &rec->passes[n++]);
		}
		add_workloads(r, rec, i, end_load);
		if (i == rec->n_items)
			break;
		const struct vk_item *item = &rec->items[i];
		switch (item->kind) {
		case VK_ITEM_LABEL_BEGIN:
			vk_frame_label(r->d, r->q, rec->text + item->text);
			vk_labels_push(r->q->labels, rec->text + item->text);
			break;
		case VK_ITEM_LABEL_END:
			vk_labels_pop(r->q->labels);
			break;
		case VK_ITEM_EXECUTE:
			if (depth < VK_MAX_DEPTH)
				replay_items(r, item->secondary, depth + 1);
			break;
		}
		look_around(r, rec);
	}
	if (!rec->continues_pass)
		add_workloads(r, NULL, 0, 0);
	/* The queue's stack must not gain or lose levels because of labels
	 * that were not stored. */
	for (int32_t n = rec->lost_labels; n > 0; n--)
		vk_labels_push(r->q->labels, "");
	for (int32_t n = rec->lost_labels; n < 0; n++)
		vk_labels_pop(r->q->labels);
	use_set(r, outer);
}

/* ---- intervals around passes ---- */

/* Time that belongs to no pass: summed up, not listed. */
static uint32_t
open_whole(struct vk_replay *r)
{
	return open_pending(r, TALLY_PASS_OTHER, false);
}

static void
add_whole(struct vk_replay *r, const struct vk_slot *slot, struct vk_recording *owner)
{
	uint32_t pending = r->is_coarse ? VK_NONE : open_whole(r);
	if (r->is_coarse || pending != VK_NONE)
		add_slot(r, pending, VK_ROLE_WHOLE, slot, owner, NULL);
}

/* The timestamps around a command buffer; a suspended render pass joins those of several. */
static void
replay_whole(struct vk_replay *r, struct vk_recording *rec)
{
	if (r->is_coarse || !is_in_chain(rec)) {
		if (rec->whole.page)
			add_whole(r, &rec->whole, rec);
		return;
	}
	if (!rec->starts_resuming) {
		r->whole_chain = rec->whole.page ? open_whole(r) : VK_NONE;
		if (r->whole_chain != VK_NONE)
			r->s->passes[r->whole_chain].sums = true;
	}
	if (r->whole_chain != VK_NONE && rec->whole.page)
		add_slot(r, r->whole_chain, VK_ROLE_WHOLE, &rec->whole, rec, NULL);
	if (!rec->ends_suspended)
		r->whole_chain = VK_NONE;
}

static void
replay_primary(struct vk_replay *r, struct vk_recording *rec)
{
	uint64_t frame = r->d->tally ? tally_device_frame(r->d->tally) : 0;
	struct vk_pending_pass *coarse = NULL;
	use_set(r, rec->runs.set);
	look_around(r, rec);
	if (r->captured && r->is_coarse && vk_recording_has_work(rec))
		coarse = coarse_pending(r);
	if (coarse) {
		coarse->pass->flags |= r->reasons[rec->whole.page != NULL];
		if (rec->uncounted || !rec->whole.page)
			vk_pending_pass_miss(coarse);
		if (rec->no_performance || rec->runs.set != coarse->set)
			vk_pending_pass_miss_set(r->d, coarse);
	}
	if (r->captured && r->d->config->pictures.kind != TALLY_TRIGGER_NONE && !rec->pictures)
		vk_pictures_missed(r->d);
	replay_items(r, rec, 0);
	r->n_batch_buffers++;
	/* If a frame ended inside (--frame label), the interval belongs to two frames. */
	if (captures(r) && (r->is_coarse || tally_device_frame(r->d->tally) == frame))
		replay_whole(r, rec);
	if (captures(r) && rec->buffer.page)
		add_whole(r, &rec->buffer, rec);
}

/* False: the pair is not needed. */
static bool
replay_pair(struct vk_replay *r, struct vk_batch_interval *pair)
{
	if (!captures(r))
		return false;
	use_set(r, 0);
	pair->next = r->s->pairs;
	r->s->pairs = pair;
	if (pair->copies_only)
		return true;
	bool one = !r->is_coarse && r->n_batch_buffers == 1 && r->n_batch_passes == 1;
	if (!one) {
		add_whole(r, &pair->slot, NULL);
		return true;
	}
	struct vk_pending_pass *pending = &r->s->passes[r->last_pending];
	pending->pass->flags |= TALLY_FLAG(APPROXIMATE);
	pending->sums = false;
	add_slot(r, r->last_pending, VK_ROLE_PASS, &pair->slot, NULL, NULL);
	return true;
}

void
vk_replay(struct vk_replay *r, const struct vk_batches *batches,
	  struct vk_batch_interval **pairs)
{
	r->n_passes = r->buffer = 0;
	r->is_coarse = r->d->config->granularity <= TALLY_GRANULARITY_SUBMIT;
	r->coarse = VK_NONE;
	for (uint32_t i = 0; i < batches->n; i++) {
		uint32_t n = vk_batch_n_buffers(batches, i);
		/* Chains end with their batch. */
		r->chain = r->whole_chain = r->last_pending = VK_NONE;
		r->n_batch_buffers = r->n_batch_passes = 0;
		r->rows = !r->is_coarse && !r->d->exact && !(pairs && pairs[i]);
		for (uint32_t k = 0; k < n; k++) {
			struct vk_recording *rec =
				vk_recording_submitted(vk_batch_buffer(batches, i, k));
			if (rec)
				replay_primary(r, rec);
			r->buffer++;
		}
		if (pairs && pairs[i] && !replay_pair(r, pairs[i])) {
			vk_batch_intervals_release(r->d, r->q->family, pairs[i]);
			pairs[i] = NULL;
		}
	}
}
