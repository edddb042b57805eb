/* SPDX-License-Identifier: MIT */
/* gl_shim/pass/workloads.c - measures each command, and builds a pass as
 * the sum of its workloads. */
#include "gl_shim/pass/workloads.h"


/* The flags of a workload's measurement that apply to its pass too. */
#define OF_THE_PASS \
	(TALLY_FLAG(YIELDED) | TALLY_FLAG(DISJOINT) | TALLY_FLAG(LOST) | TALLY_FLAG(INCOMPLETE) | \
	 TALLY_FLAG(DROPPED) | TALLY_FLAG(UNCALIBRATED) | TALLY_FLAG(OVERFLOW) | \
	 TALLY_FLAG(SATURATED) | TALLY_FLAG(BAD_TIME) | TALLY_FLAG(DISTURBED))

void
gl_workload_begin(struct gl_context *c, const char *command, uint64_t flags)
{
	struct gl_context_state *s = c->state;
	bool zone = gl_no_query_zone(s);
	if (zone && s->now.load) {
		if (!s->now.load->command)
			s->now.load->command = command;
		return;
	}
	struct tally_workload *load = tally_stream_add_workload(s->stream, s->now.pass);
	if (!load)
		return;
	load->command = command;
	load->label = gl_label_path(c, s->labels.depth);
	if (command) /* a list that is compiled may use several */
		load->pipeline = gl_program_in_use(c);
	load->flags = flags;
	s->now.load = load;
	if (!zone) {
		gl_worker = s;
		load->slot = tally_harvest_begin(s->harvest);
	}
	if (load->slot == TALLY_NO_SLOT)
		load->flags |= TALLY_FLAG(DROPPED);
	else if (!s->counting.timed)
		load->flags |= TALLY_FLAG(NO_TIMESTAMPS);
}

void
gl_workload_close(struct gl_context *c, bool with_queries)
{
	struct gl_context_state *s = c->state;
	struct tally_workload *load = s->now.load;
	s->now.load = NULL;
	load->flags |= c->pending.flags; /* noted since the one before */
	s->now.flags |= c->pending.flags;
	c->pending.flags = 0;
	if (load->slot == TALLY_NO_SLOT)
		return;
	if (with_queries) {
		gl_worker = s;
		tally_harvest_end(s->harvest, load->slot);
		return;
	}
	/* Its slot is never needed again. */
	load->slot = TALLY_NO_SLOT;
	load->flags |= s->zone.lost ? TALLY_FLAG(LOST) : TALLY_FLAG(INCOMPLETE);
}

void
gl_workload_end(struct gl_context *c)
{
	if (c->state->now.load && !gl_no_query_zone(c->state))
		gl_workload_close(c, true);
}

/* ---- results ---- */

/* False: the workload's results are not all available and must be queried again. */
static bool
read_one(struct gl_context_state *s, const struct tally_pass *pass, struct tally_workload *load,
	 bool give_up)
{
	struct tally_sample sample = {
		.values = load->values,
		.valid = load->valid,
		.has_time = load->has_time,
		.begin_ns = load->gpu_begin_ns,
		.end_ns = load->gpu_end_ns,
	};
	sample.n = pass->layout->n_counters;
	bool done = tally_harvest_read(s->harvest, load->slot, &sample) != TALLY_NOT_READY;
	if (!done && give_up)
		tally_harvest_give_up(s->harvest, load->slot, &sample);
	load->has_time = sample.has_time;
	load->gpu_begin_ns = sample.begin_ns;
	load->gpu_end_ns = sample.end_ns;
	load->flags |= sample.flags;
	return done || give_up;
}

static bool
sum_counter(struct tally_pass *pass, uint32_t counter)
{
	uint64_t bit = UINT64_C(1) << (counter % 64);
	struct tally_value *sum = &pass->values[counter];
	bool any = false;
	for (const struct tally_workload *l = pass->workloads; l; l = l->next) {
		if (!l->command)
			continue;
		if (!(l->valid[counter / 64] & bit))
			return false;
		if (!any)
			*sum = l->values[counter];
		else if (!tally_value_add(sum, l->values[counter]))
			return false;
		any = true;
	}
	return any;
}

/* From the first begin to the last end, if both are known and on the same clock. */
static void
take_time(struct tally_pass *pass)
{
	const struct tally_workload *first = NULL, *last = NULL;
	for (const struct tally_workload *l = pass->workloads; l; l = l->next) {
		if (!l->command)
			continue;
		first = first ? first : l;
		last = l;
	}
	if (!first || !first->has_time || !last->has_time ||
	    (first->flags ^ last->flags) & TALLY_FLAG(UNCALIBRATED))
		return;
	pass->has_time = true;
	pass->gpu_begin_ns = first->gpu_begin_ns;
	pass->gpu_end_ns = last->gpu_end_ns;
}

static void
put_together(struct gl_context_state *s, struct tally_pass *pass)
{
	const struct tally_layout *layout = pass->layout;
	/* If there was no room for a workload, it is missing from every sum. */
	bool whole = pass->n_workloads && !(pass->flags & TALLY_FLAG(DROPPED));
	for (uint32_t i = 0; i < layout->n_counters && whole; i++) {
		if (tally_counter_adds_up(layout->counters[i]) && sum_counter(pass, i))
			pass->valid[i / 64] |= UINT64_C(1) << (i % 64);
	}
	if (whole)
		take_time(pass);
	bool untimed = s->api.timestamps_in_tiles && s->counting.timed &&
		       (pass->n_workloads > 1 || pass->flags & TALLY_FLAG(SHARED_TIME));
	for (struct tally_workload *l = pass->workloads; l; l = l->next) {
		pass->flags |= l->flags & OF_THE_PASS;
		/* Each tile is drawn from the first to the last command, and a timestamp
		 * between two commands keeps the last tile's value: it is valid for
		 * neither (query/gl/api.h). */
		if (untimed && l->has_time) {
			l->has_time = false;
			l->flags |= TALLY_FLAG(NO_TIMESTAMPS);
		}
	}
}

bool
gl_workloads_read(struct gl_context_state *s, struct tally_pass *pass, bool give_up, uint64_t lost)
{
	for (struct tally_workload *l = pass->workloads; l; l = l->next) {
		if (l->slot == TALLY_NO_SLOT)
			continue;
		if (!lost && !read_one(s, pass, l, give_up))
			return false;
		l->flags |= lost;
		l->slot = TALLY_NO_SLOT;
	}
	put_together(s, pass);
	return true;
}
