/* SPDX-License-Identifier: MIT */
#include "cli/answer/answer.h"
#include "cli/answer/bound.h"
#include "cli/answer/text.h"
#include "cli/shared/each.h"

#define MOST_LISTED 1000 /* hitches */

static void
put_times(struct tally_out *o, const struct tally_answer_device *d)
{
	tally_out_f64(o, "seconds", d->seconds);
	tally_out_f64(o, "fps", d->fps);
	if (d->idle_ns > 0)
		tally_out_f64(o, "idle_ns", d->idle_ns);
	tally_out_f64(o, "low_1_fps", d->low_1_fps);
	tally_out_f64(o, "low_01_fps", d->low_01_fps);
	tally_out_object(o, "frame_time");
	tally_out_f64(o, "p50_ns", d->median_ns);
	tally_out_f64(o, "p99_ns", d->p99_ns);
	tally_out_end_object(o);
}

static void
put_bound(struct tally_out *o, const struct tally_answer_device *d)
{
	const struct tally_bound_verdict *v = &d->bound;
	tally_out_object(o, "bound");
	tally_out_text(o, "by", tally_bound_names[v->by]);
	tally_out_text(o, "text", tally_answer_bound_text(d));
	tally_out_text(o, "hint", tally_bound_hint(v));
	tally_out_object(o, "shares");
	for (int i = 0; i < TALLY_N_BOUNDS; i++)
		tally_out_f64(o, tally_bound_names[i], v->share[i]);
	tally_out_end_object(o);
	if (v->has_busy)
		tally_out_f64(o, "gpu_busy", v->busy);
	if (v->has_thread)
		tally_out_f64(o, "cpu_busy", v->thread);
	if (v->has_thread)
		tally_out_f64(o, "waits", v->waits);
	if (v->rate > 0)
		tally_out_f64(o, "rate", v->rate);
	tally_out_end_object(o);
}

static void
put_passes(struct tally_out *o, const struct tally_answer_device *d)
{
	tally_out_object(o, "typical");
	tally_out_f64(o, "gpu_ns", d->typical_ns);
	if (d->typical_ns > 0)
		tally_out_text(o, "text", tally_answer_typical_text(d));
	tally_out_array(o, "passes");
	for (guint i = 0; i < d->n_passes; i++) {
		const struct tally_answer_pass *p = &d->passes[i];
		tally_out_object(o, NULL);
		tally_out_text(o, "name", p->name);
		tally_out_f64(o, "p50_ns", p->ns);
		tally_out_f64(o, "share", p->share);
		tally_out_u64(o, "frames", p->frames);
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
	tally_out_end_object(o);
}

static void
put_event(struct tally_out *o, const struct tally_answer_event *e)
{
	tally_out_object(o, "event");
	tally_out_u64(o, "n", e->n);
	tally_out_u64(o, "ns", e->ns);
	if (e->bytes)
		tally_out_u64(o, "bytes", e->bytes);
	tally_out_text(o, "call", e->call);
	if (e->object)
		tally_out_u64(o, "object", e->object);
	tally_out_text(o, "thread", e->thread);
	tally_out_end_object(o);
}

static void
put_asleep(struct tally_out *o, const struct tally_asleep_record *a)
{
	tally_out_array(o, "asleep");
	for (unsigned i = 0; i < TALLY_HITCH_PLACES && a[i].in; i++) {
		tally_out_object(o, NULL);
		tally_out_text(o, "in", a[i].in);
		tally_out_text(o, "of", a[i].of);
		tally_out_text(o, "thread", a[i].thread);
		tally_out_text(o, "other_in", a[i].other_in);
		tally_out_text(o, "other_of", a[i].other_of);
		tally_out_u64(o, "ns", a[i].ns);
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
}

static void
put_hitches(struct tally_out *o, const struct tally_answer_device *d)
{
	tally_out_object(o, "hitches");
	tally_out_u64(o, "n", d->n_hitches);
	tally_out_u64(o, "excess_ns", d->hitch_ns);
	tally_out_text(o, "text", tally_answer_hitches_text(d));
	if (d->period)
		tally_out_u64(o, "period_frames", d->period);
	tally_out_array(o, "causes");
	TALLY_EACH_OF (const struct tally_answer_sum, s, d->sums) {
		tally_out_object(o, NULL);
		tally_out_text(o, "what", s->what);
		tally_out_u64(o, "n", s->n);
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
	tally_out_array(o, "worst");
	for (unsigned i = 0; i < MIN(d->n_listed, MOST_LISTED); i++) {
		const struct tally_answer_hitch *h = &d->hitches[i];
		tally_out_object(o, NULL);
		tally_out_u64(o, "frame", h->was.frame);
		tally_out_u64(o, "start_ns", h->was.start_ns);
		tally_out_u64(o, "frame_ns", h->was.frame_ns);
		tally_out_u64(o, "excess_ns", h->was.excess_ns);
		tally_out_text(o, "cause", tally_cause_name(h));
		tally_out_text(o, "pass", h->pass);
		if (h->growth_ns)
			tally_out_u64(o, "growth_ns", h->growth_ns);
		if (h->cause == TALLY_CAUSE_PASS || h->cause == TALLY_CAUSE_GPU) {
			tally_out_u64(o, "around_ns", h->of.around_ns);
			tally_out_u64(o, "around_draws", h->of.around_draws);
			tally_out_u64(o, "draws", h->of.draws);
		}
		if (h->cause == TALLY_CAUSE_EVENT)
			put_event(o, &h->calls);
		if (h->or_wait)
			tally_out_bool(o, "or_wait", true);
		tally_out_text(o, "first", h->first);
		if (h->thread) {
			tally_out_text(o, "thread", h->thread);
			tally_out_u64(o, "thread_ns", h->thread_ns);
		}
		if (h->ready_ns)
			tally_out_u64(o, "ready_ns", h->ready_ns);
		put_asleep(o, h->was.asleep);
		tally_out_text(o, "text", tally_answer_hitch_text(h));
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
	tally_out_end_object(o);
}

static void
put_changes(struct tally_out *o, const struct tally_answer_device *d)
{
	tally_out_array(o, "changes");
	for (unsigned i = 0; i < d->n_changes; i++) {
		const struct tally_answer_change *c = &d->changes[i];
		tally_out_object(o, NULL);
		tally_out_u64(o, "frame", c->frame);
		tally_out_f64(o, "before_ns", c->before_ns);
		tally_out_f64(o, "after_ns", c->after_ns);
		if (c->until > c->frame)
			tally_out_u64(o, "until", c->until);
		if (c->what && !c->starved) {
			tally_out_text(o, "what", c->what);
			tally_out_f64(o, "what_before_ns", c->what_before_ns);
			tally_out_f64(o, "what_after_ns", c->what_after_ns);
		}
		tally_out_text(o, "text", tally_answer_change_text(c));
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
}

/* Those of most frames, or (`loaded`) of the start. */
static void
put_calls(struct tally_out *o, const struct tally_answer_device *d, bool loaded)
{
	tally_out_array(o, loaded ? "loaded" : "calls");
	for (int i = 0; i < TALLY_N_EVENT_GROUPS; i++) {
		const struct tally_answer_event *e = loaded ? &d->loaded[i] : &d->calls[i];
		if (e->ns == 0)
			continue;
		tally_out_object(o, NULL);
		tally_out_text(o, "group", tally_event_group_names[i]);
		if (!loaded)
			tally_out_f64(o, "frames_share", d->calls_in[i]);
		put_event(o, e);
		tally_out_text(o, "text", loaded ? tally_event_text(e)
						 : tally_answer_calls_text(d, i));
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
}

static void
put_cost(struct tally_out *o, const struct tally_answer_device *d)
{
	tally_out_object(o, "cost");
	tally_out_f64(o, "p50_ns", d->cost_ns);
	tally_out_f64(o, "mean_ns", d->mean_cost_ns);
	tally_out_f64(o, "share", d->cost_share);
	tally_out_f64(o, "once_ns", d->once_ns);
	tally_out_bool(o, "warning", d->cost_share > TALLY_ANSWER_COST_LIMIT);
	tally_out_end_object(o);
}

void
tally_answer_put_json(struct tally_out *o, const char *key,
		      const struct tally_answer *answer)
{
	tally_out_array(o, key);
	TALLY_EACH (const struct tally_answer_device, d, answer->devices) {
		if (d->frames == 0)
			continue;
		tally_out_break(o, "\n");
		tally_out_object(o, NULL);
		tally_out_u64(o, "device", d->device);
		if (d->window) {
			tally_out_u64(o, "window", d->window);
			tally_out_u64(o, "width", d->width);
			tally_out_u64(o, "height", d->height);
		}
		tally_out_u64(o, "frames", d->frames);
		tally_out_u64(o, "warmup_frames", d->skipped);
		tally_out_u64(o, "warmup_ns", d->skipped_ns);
		if (d->first_ns) {
			tally_out_u64(o, "first_frame_ns", d->first_ns);
			tally_out_u64(o, "first_frame_own_ns", d->first_own_ns);
		}
		tally_out_text(o, "start", tally_answer_start_text(d));
		tally_out_text(o, "left_out", tally_answer_left_out_text(answer, d));
		tally_out_text(o, "hang", tally_answer_quiet_text(answer, d));
		put_calls(o, d, true);
		put_times(o, d);
		put_changes(o, d);
		tally_out_text(o, "memory", tally_answer_memory_text(d));
		tally_out_text(o, "presence", tally_answer_presence_text(d));
		tally_out_text(o, "calls_began", tally_answer_calls_began_text(d));
		tally_out_text(o, "alternates", tally_answer_alternating_text(d));
		put_bound(o, d);
		if (d->busiest) {
			tally_out_text(o, "busiest_thread", d->busiest);
			tally_out_f64(o, "busiest_thread_share", d->busiest_share);
		}
		put_passes(o, d);
		put_calls(o, d, false);
		put_hitches(o, d);
		put_cost(o, d);
		g_autoptr(GPtrArray) lines =
			tally_answer_lines(answer, d, TALLY_ANSWER_USUAL);
		tally_out_texts(o, "lines", lines);
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
}
