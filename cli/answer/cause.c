/* SPDX-License-Identifier: MIT */
#include "cli/answer/cause.h"

#include "cli/answer/parts.h"
#include "cli/answer/words.h"
#include "cli/shared/each.h"

/* The thresholds of docs/verdicts.md: of what the frame lost. */
#define EXPLAINS 0.5
#define SAME 0.2

const char *const tally_cause_names[TALLY_N_CAUSES] = {
	[TALLY_CAUSE_UNKNOWN] = "unknown", [TALLY_CAUSE_PASS] = "pass",
	[TALLY_CAUSE_GPU] = "gpu",         [TALLY_CAUSE_CPU] = "cpu",
	[TALLY_CAUSE_WAIT] = "wait",       [TALLY_CAUSE_NOT_GPU] = "not-gpu",
	[TALLY_CAUSE_OWN] = "passtally",
};

static bool
explains(const struct tally_hitch *h, enum tally_hitch_time what)
{
	return h->known[what] &&
	       (double)h->growth_ns[what] >= EXPLAINS * (double)h->excess_ns;
}

static bool
is_same(const struct tally_hitch *h, enum tally_hitch_time what)
{
	return h->known[what] &&
	       (double)h->growth_ns[what] <= SAME * (double)h->excess_ns;
}

static bool
has_more_draws(const struct tally_answer_hitch *out)
{
	return out->draws > out->around_draws + out->around_draws / 4;
}

/* Adds up the parts, and returns the one that grew most, or NULL. */
static const struct tally_hitch_part *
add_parts(const struct tally_hitch *h, struct tally_answer_hitch *out)
{
	const struct tally_hitch_part *grew = NULL;
	uint64_t most = 0;
	guint n_first = 0;
	const char *first = NULL;
	TALLY_EACH_OF (const struct tally_hitch_part, p, h->parts) {
		uint64_t growth = p->ns - MIN(p->ns, p->around_ns);
		out->ns += p->ns;
		out->around_ns += p->around_ns;
		out->draws += p->draws;
		out->around_draws += p->around_draws;
		out->growth_ns += growth;
		grew = growth > most ? p : grew;
		most = MAX(most, growth);
		n_first += p->first;
		if (p->first && !first)
			first = ((const struct tally_part *)p->what)->name;
	}
	if (n_first < h->parts->len)
		out->first = first;
	return grew;
}

static void
take_pass(struct tally_answer_hitch *out, const struct tally_hitch_part *p)
{
	out->pass = ((const struct tally_part *)p->what)->name;
	out->ns = p->ns;
	out->around_ns = p->around_ns;
	out->draws = p->draws;
	out->around_draws = p->around_draws;
	out->growth_ns = p->ns - p->around_ns;
}

static enum tally_cause
of_thread(const struct tally_hitch *h, struct tally_answer_hitch *out)
{
	if (explains(h, TALLY_HITCH_WORK)) {
		out->growth_ns = (uint64_t)h->growth_ns[TALLY_HITCH_WORK];
		return TALLY_CAUSE_CPU;
	}
	if (!h->timed)
		return TALLY_CAUSE_UNKNOWN;
	if (!h->known[TALLY_HITCH_WORK])
		return TALLY_CAUSE_NOT_GPU;
	if (!is_same(h, TALLY_HITCH_WORK))
		return TALLY_CAUSE_UNKNOWN;
	out->driver = explains(h, TALLY_HITCH_WAIT);
	return TALLY_CAUSE_WAIT;
}

/* Whether the other passes grew at least half as much in proportion: then it is none of them. */
static bool
grew_alike(const struct tally_hitch_part *p, const struct tally_answer_hitch *all)
{
	double others = (double)all->ns - (double)p->ns;
	double around = (double)all->around_ns - (double)p->around_ns,
	       own = (double)p->around_ns;
	return own > 0 && around > SAME * own &&
	       others / around - 1 >= ((double)p->ns / own - 1) / 2;
}

static enum tally_cause
decide(const struct tally_hitch *h, bool opengl, struct tally_answer_hitch *out)
{
	const double least = EXPLAINS * (double)h->excess_ns;
	const struct tally_hitch_part *grew = add_parts(h, out);
	bool works = explains(h, TALLY_HITCH_WORK);
	bool by_gpu = (double)out->growth_ns >= least;
	if (explains(h, TALLY_HITCH_OWN))
		return TALLY_CAUSE_OWN;
	if (!grew || !by_gpu)
		return of_thread(h, out);
	bool alone = (double)(grew->ns - grew->around_ns) >= least &&
		     !grew_alike(grew, out);
	bool unsure = opengl && grew->may_wait;
	if (alone)
		take_pass(out, grew);
	if (works && unsure)
		return of_thread(h, out);
	if (works && !has_more_draws(out))
		return TALLY_CAUSE_UNKNOWN; /* both did: which one waited for the other? */
	out->or_wait = alone && unsure;
	return alone ? TALLY_CAUSE_PASS : TALLY_CAUSE_GPU;
}

struct tally_answer_hitch
tally_cause_find(const struct tally_hitch *h, bool opengl)
{
	struct tally_answer_hitch out = {
		.frame = h->frame,
		.start_ns = h->start_ns,
		.frame_ns = h->frame_ns,
		.excess_ns = h->excess_ns,
		.timed = h->timed,
		.known_work = h->known[TALLY_HITCH_WORK],
	};
	out.cause = decide(h, opengl, &out);
	return out;
}

/* "8.00 -> 148 ms, same draws" */
static char *
growth_text(const struct tally_answer_hitch *h)
{
	g_autofree char *times = tally_from_to_text((double)h->around_ns, (double)h->ns);
	if (h->pass && h->first == h->pass)
		return g_strdup_printf("%s, its first use", times);
	if (h->around_ns == 0)
		return g_strdup_printf("%s, seldom there", times);
	if (has_more_draws(h))
		return g_strdup_printf("%s, %" G_GUINT64_FORMAT " -> %" G_GUINT64_FORMAT
				       " draws",
				       times, h->around_draws, h->draws);
	return g_strdup_printf("%s%s", times,
			       h->draws == 0                 ? ""
			       : h->draws >= h->around_draws ? ", same draws"
							     : ", fewer draws");
}

static char *
unknown_text(const struct tally_answer_hitch *h)
{
	if (h->pass) {
		g_autofree char *name = tally_short_name(h->pass, 22);
		return g_strdup_printf("cannot tell: %s and the CPU both took longer",
				       name);
	}
	if (!h->timed)
		return g_strdup(
			h->known_work ? "cannot tell: GPU times are missing; not the CPU"
				      : "cannot tell: GPU times are missing");
	return g_strdup("cannot tell: part CPU, no pass");
}

char *
tally_cause_text(const struct tally_answer_hitch *h)
{
	static const char *const words[TALLY_N_CAUSES] = {
		[TALLY_CAUSE_GPU] = "all passes",
		[TALLY_CAUSE_CPU] = "the CPU",
		[TALLY_CAUSE_WAIT] = "a wait, not the CPU or GPU",
		[TALLY_CAUSE_NOT_GPU] = "not on the GPU",
		[TALLY_CAUSE_OWN] = "passtally itself",
	};
	g_autofree char *name = h->pass ? tally_short_name(h->pass, 30) : NULL;
	g_autofree char *first = h->first ? tally_short_name(h->first, 22) : NULL;
	g_autofree char *what = NULL;
	if (h->cause == TALLY_CAUSE_UNKNOWN) {
		what = unknown_text(h);
	} else if (h->cause == TALLY_CAUSE_PASS && h->or_wait) {
		g_autofree char *times = tally_from_to_text((double)h->around_ns, (double)h->ns);
		return g_strdup_printf("%s %s%s, or a wait of the CPU", name, times,
				       h->first == h->pass ? ", its first use" : "");
	} else if (h->cause == TALLY_CAUSE_PASS || h->cause == TALLY_CAUSE_GPU) {
		g_autofree char *growth = growth_text(h);
		return g_strdup_printf("%s %s", name ? name : words[h->cause], growth);
	} else if (h->cause == TALLY_CAUSE_CPU && name) {
		what = g_strdup_printf("the CPU, in %s", name);
	} else if (h->cause == TALLY_CAUSE_WAIT && h->driver) {
		what = g_strdup("a wait in driver calls, not the CPU or GPU");
	} else {
		what = g_strdup(words[h->cause]);
	}
	return first ? g_strdup_printf("%s (first of %s)", what, first)
		     : g_steal_pointer(&what);
}

char *
tally_cause_short_text(const struct tally_answer_hitch *h)
{
	static const char *const words[TALLY_N_CAUSES] = {
		[TALLY_CAUSE_UNKNOWN] = "unclear",
		[TALLY_CAUSE_GPU] = "all passes",
		[TALLY_CAUSE_CPU] = "the CPU",
		[TALLY_CAUSE_WAIT] = "a wait",
		[TALLY_CAUSE_NOT_GPU] = "not the GPU",
		[TALLY_CAUSE_OWN] = "passtally",
	};
	return h->cause == TALLY_CAUSE_PASS ? tally_short_name(h->pass, 22)
					    : g_strdup(words[h->cause]);
}
