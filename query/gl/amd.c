/* SPDX-License-Identifier: MIT */
/* Hardware counters by GL_AMD_performance_monitor: radeonsi, freedreno, nouveau and others.
 * Only one monitor is active at a time, because the extension does not nest monitors. A set that
 * the driver refuses to begin is divided, and its parts are counted in different frames. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/base/array.h"
#include "layer/config/config.h"
#include "layer/config/list.h"
#include "layer/log.h"
#include "query/gl/amd_catalogue.h"
#include "query/gl/amd_result.h"
#include "query/quirks.h"
#include "query/source/noop.h"

#define SOURCE_NAME "gl-amd"
#define RESULT_AVAILABLE 0x8BC4
#define RESULT_SIZE 0x8BC5
#define RESULT 0x8BC6
#define NONE UINT32_MAX
#define RECORD_WORDS 4u /* at most: group, counter, and a value of 8 bytes */
#define SPARE_WORDS 64u /* some drivers write past the size that they are given */
/* A begin that fails late, in the thread that makes the calls for Mesa's threaded context, has no
 * error; its result is never available. After this many frames, and once the timestamps around it
 * are available, it will not be. */
#define NEVER 8
/* The source stops after this many consecutive begins that the driver refuses. */
#define MAX_REFUSALS 16u

/* One of the driver's monitors. It is begun again only after its last result was available;
 * otherwise the behavior is up to the driver, which may wait. */
struct monitor {
	unsigned name; /* 0 = none: the last one was in an unknown state */
	uint32_t set;  /* the set selected in it, NONE = none */
	uint32_t first, n; /* the part of the set that is selected */
	uint32_t next; /* the next monitor in its list */
};

struct amd_slot {
	uint32_t monitor; /* NONE: nothing is counted in this interval */
	uint32_t set;
	bool over_other; /* begun while results of another set were outstanding */
	uint64_t ended;  /* the frame in which it ended */
	uint64_t flags;
};

/* What is known of a counter's place in its set. */
enum place {
	JOINED = 0, /* in the part of the one before it */
	UNTRIED,    /* the first of a part that was never begun */
	BEGUN,      /* the first of a part that the driver does begin */
	REFUSED,    /* the driver does not begin it, even alone */
};

/* How a set is counted: whole, until the driver refuses that. */
struct counted_set {
	unsigned char *places; /* enum place, for each counter */
	uint32_t first, n;     /* the part whose turn it is */
	uint64_t frame;        /* the one in which its turn began */
	uint32_t pending;      /* begun and not read */
};

struct gl_amd {
	struct tally_source base;
	struct tally_gl_api *api;
	struct tally_amd_catalogue *catalogue;

	struct amd_slot *slots;
	struct monitor *monitors; /* as many as slots, created when they are first needed */
	uint32_t n_slots, n_monitors;
	uint32_t *free; /* per set, the most recently freed monitor with this selection */
	uint32_t holder; /* the slot whose monitor is active, NONE = none */
	struct tally_gl_names names;
	struct counted_set *counted;
	unsigned char *places; /* of all sets */
	bool *sets_off;
	uint32_t *data; /* room for one result */
	uint32_t data_bytes;
	uint32_t refusals; /* consecutive refusals */
	uint32_t pending;  /* of all sets */
	bool intel;
	bool sets_exclude; /* another set can begin only after all results are read */
	bool yielded;
};

static struct gl_amd *
amd_of(struct tally_source *src)
{
	return (struct gl_amd *)src;
}

/* ---- opening ---- */

/* NULL when the driver may be asked; otherwise the reason why not. */
static const char *
obstacle(const struct tally_gl_api *api)
{
	if (!api->has_extension(api, "GL_AMD_performance_monitor"))
		return "the driver does not offer GL_AMD_performance_monitor (Mesa's radeonsi, "
		       "freedreno, nouveau and others do)";
	if (!api->GetPerfMonitorGroupsAMD || !api->GetPerfMonitorCountersAMD ||
	    !api->GetPerfMonitorGroupStringAMD || !api->GetPerfMonitorCounterStringAMD ||
	    !api->GetPerfMonitorCounterInfoAMD || !api->GenPerfMonitorsAMD ||
	    !api->DeletePerfMonitorsAMD || !api->SelectPerfMonitorCountersAMD ||
	    !api->BeginPerfMonitorAMD || !api->EndPerfMonitorAMD ||
	    !api->GetPerfMonitorCounterDataAMD || !api->GetError)
		return "the driver names GL_AMD_performance_monitor but lacks functions of it";
	if (tally_gl_quirk(TALLY_QUIRK_MONITORS_EMPTY, api->driver))
		return "zink counts only its own work, in software: Vulkan sources count the "
		       "GPU's";
	/* iris and crocus show the driver's own queries there, which GL_INTEL_performance_query
	 * also has, and the GPU's in addition. */
	if (tally_gl_quirk(TALLY_QUIRK_MONITORS_ONE_GROUP, api->driver) &&
	    !(api->sources && tally_list_matches(api->sources, SOURCE_NAME, SOURCE_NAME)))
		return "on Intel's drivers gl-intel counts the same and more; name gl-amd in "
		       "--sources to use it";
	return NULL;
}

static enum tally_status
amd_grow(struct tally_source *src, uint32_t slots)
{
	struct gl_amd *amd = amd_of(src);

	if (!tally_array_resize(&amd->slots, slots, sizeof(*amd->slots)) ||
	    !tally_array_resize(&amd->monitors, slots, sizeof(*amd->monitors)))
		return TALLY_NO_MEMORY;
	for (uint32_t i = amd->n_slots; i < slots; i++)
		amd->slots[i] = (struct amd_slot){ .monitor = NONE };
	amd->n_slots = slots;
	return TALLY_OK;
}

/* Forgets the monitors: the driver no longer has any of them. */
static void
forget_monitors(struct gl_amd *amd)
{
	for (uint32_t i = 0; i < amd->n_slots; i++)
		amd->slots[i].monitor = NONE;
	for (uint32_t i = 0; amd->catalogue && i <= amd->catalogue->n_sets; i++)
		amd->free[i] = NONE;
	for (uint32_t i = 0; amd->catalogue && i < amd->catalogue->n_sets; i++)
		amd->counted[i].pending = 0;
	amd->pending = 0;
	amd->n_monitors = 0;
	amd->names = (struct tally_gl_names){ .n = 0 };
	amd->holder = NONE;
}

static void
amd_abandon(struct tally_source *src)
{
	struct gl_amd *amd = amd_of(src);

	tally_amd_catalogue_destroy(amd->catalogue);
	free(amd->slots);
	free(amd->monitors);
	free(amd->free);
	free(amd->counted);
	free(amd->places);
	free(amd->sets_off);
	free(amd->data);
	*amd = (struct gl_amd){ .base = *src, .api = amd->api };
	src->counters = NULL;
	src->sets = NULL;
	src->sets_off = NULL;
	src->n_counters = src->n_sets = 0;
}

static enum tally_status
prepare(struct gl_amd *amd, uint32_t slots)
{
	const struct tally_amd_catalogue *catalogue = amd->catalogue;
	uint32_t words = catalogue->widest * RECORD_WORDS + SPARE_WORDS;

	amd->free = malloc((catalogue->n_sets + 1) * sizeof(*amd->free));
	amd->data = calloc(words, sizeof(*amd->data));
	amd->data_bytes = words * (uint32_t)sizeof(*amd->data);
	amd->counted = calloc(catalogue->n_sets, sizeof(*amd->counted));
	amd->places = calloc(catalogue->n_counters, 1);
	amd->sets_off = calloc(catalogue->n_sets, sizeof(*amd->sets_off));
	if (!amd->free || !amd->data || !amd->counted || !amd->places || !amd->sets_off ||
	    amd_grow(&amd->base, slots) != TALLY_OK)
		return TALLY_NO_MEMORY;
	for (uint32_t i = 0, first = 0; i < catalogue->n_sets; i++) {
		uint32_t n = catalogue->sets[i].n;
		amd->counted[i] = (struct counted_set){ .places = amd->places + first, .n = n };
		amd->places[first] = UNTRIED;
		first += n;
	}
	forget_monitors(amd);
	return TALLY_OK;
}

static enum tally_status
amd_open(struct tally_source *src, uint32_t slots)
{
	struct gl_amd *amd = amd_of(src);
	enum tally_status status = TALLY_UNSUPPORTED;

	src->reason[0] = '\0';
	src->off = false;
	const char *why = obstacle(amd->api);
	if (why)
		return tally_unsupported(src->reason, "%s", why);
	amd->intel = tally_gl_quirk(TALLY_QUIRK_MONITORS_ONE_GROUP, amd->api->driver);
	tally_gl_guard_begin(amd->api);
	amd->catalogue = tally_amd_catalogue_create(amd->api, src, &status);
	tally_gl_guard_end(amd->api);
	if (!amd->catalogue)
		return status;
	status = prepare(amd, slots);
	if (status != TALLY_OK) {
		amd_abandon(src);
		return status;
	}
	src->counters = amd->catalogue->counters;
	src->n_counters = amd->catalogue->n_counters;
	src->sets = amd->catalogue->set_list;
	src->n_sets = amd->catalogue->n_sets;
	src->sets_off = amd->sets_off;
	src->set = 0;
	return TALLY_OK;
}

/* ---- monitors ---- */

/* To be called inside a guard. */
static void
end_active(struct gl_amd *amd)
{
	if (amd->holder == NONE)
		return;
	amd->api->EndPerfMonitorAMD(amd->monitors[amd->slots[amd->holder].monitor].name);
	amd->holder = NONE;
}

/* No monitor is deleted while it counts. */
static void
delete_monitors(struct gl_amd *amd)
{
	end_active(amd);
	for (uint32_t i = 0; i < amd->n_monitors; i++) {
		if (amd->monitors[i].name)
			amd->api->DeletePerfMonitorsAMD(1, &amd->monitors[i].name);
	}
	if (amd->names.n)
		amd->api->DeletePerfMonitorsAMD((int)amd->names.n, amd->names.made);
	forget_monitors(amd);
}

static void
amd_close(struct tally_source *src)
{
	struct gl_amd *amd = amd_of(src);

	tally_gl_guard_begin(amd->api);
	delete_monitors(amd);
	tally_gl_guard_end(amd->api);
	amd_abandon(src);
}

/* Free monitors are listed by the set that is selected in them; those with no selection are in
 * the last list. */
static uint32_t *
free_list(struct gl_amd *amd, uint32_t set)
{
	return &amd->free[set == NONE ? amd->catalogue->n_sets : set];
}

static void
set_free(struct gl_amd *amd, uint32_t which)
{
	struct monitor *m = &amd->monitors[which];
	uint32_t *head = free_list(amd, m->set);

	m->next = *head;
	*head = which;
}

static uint32_t
pop(struct gl_amd *amd, uint32_t *head)
{
	uint32_t which = *head;

	if (which != NONE)
		*head = amd->monitors[which].next;
	return which;
}

/* Makes one more monitor while there are fewer monitors than slots. */
static uint32_t
make_monitor(struct gl_amd *amd)
{
	if (amd->n_monitors == amd->n_slots)
		return NONE;
	amd->monitors[amd->n_monitors] = (struct monitor){ .set = NONE };
	return amd->n_monitors++;
}

/* The slot's result is read, or will not be: returns its monitor. */
static uint32_t
give_back(struct gl_amd *amd, struct amd_slot *s)
{
	uint32_t which = s->monitor;

	s->monitor = NONE;
	amd->counted[s->set].pending--;
	amd->pending--;
	return which;
}

/* A begin failed, or counted nothing, while results of another set were outstanding: in Mesa's
 * Intel drivers these prevent it. From now on they are awaited before the next set begins. */
static void
await_others(struct gl_amd *amd)
{
	amd->sets_exclude = true;
	amd->base.turn_frames = TALLY_INTEL_LONG_TURN;
}

/* A call failed, and it is unknown how much of it was done: the monitor is deleted, and the
 * slot's value is lost. Errors that the deletion causes are dropped. */
static void
renounce(struct gl_amd *amd, struct amd_slot *s, uint32_t which)
{
	struct monitor *m = &amd->monitors[which];

	tally_gl_guard_begin(amd->api);
	if (m->name) {
		amd->api->EndPerfMonitorAMD(m->name);
		amd->api->DeletePerfMonitorsAMD(1, &m->name);
	}
	m->name = 0;
	tally_gl_guard_end(amd->api);
	m->set = NONE;
	set_free(amd, which);
	s->flags |= TALLY_FLAG(LOST);
}

/* Selects the part of the set whose turn it is. */
static void
select_part(struct gl_amd *amd, struct monitor *m, uint32_t set)
{
	const struct tally_amd_set *sets = amd->catalogue->sets;
	const struct counted_set *counted = &amd->counted[set];

	if (m->set == set && m->first == counted->first && m->n == counted->n)
		return;
	if (m->set != NONE)
		tally_amd_select(amd->api, m->name, &sets[m->set], m->first, m->n, false);
	m->set = set;
	m->first = counted->first;
	m->n = counted->n;
	tally_amd_select(amd->api, m->name, &sets[set], m->first, m->n, true);
}

/* A monitor with the set selected: one that already had it, a new one, or one that had another
 * set. To be called inside a guard. NONE: all are in use, or the driver creates no more. */
static uint32_t
take_monitor(struct gl_amd *amd, uint32_t set)
{
	uint32_t which = pop(amd, free_list(amd, set));

	if (which == NONE)
		which = make_monitor(amd);
	for (uint32_t i = amd->catalogue->n_sets + 1; which == NONE && i-- > 0;)
		which = pop(amd, &amd->free[i]);
	if (which == NONE)
		return NONE;
	struct monitor *m = &amd->monitors[which];
	if (!m->name)
		m->name = tally_gl_take_name(&amd->names, amd->api->GenPerfMonitorsAMD);
	if (!m->name) {
		set_free(amd, which);
		return NONE;
	}
	select_part(amd, m, set);
	return which;
}

static bool
is_ready(struct gl_amd *amd, const struct monitor *m)
{
	unsigned ready = 0;
	int written = 0;

	amd->api->GetPerfMonitorCounterDataAMD(m->name, RESULT_AVAILABLE, sizeof(ready), &ready,
					       &written);
	return ready != 0;
}

/* ---- sets in parts ---- */

/* Goes to the next part that the driver may begin, from `at` on; there is none: the set is
 * off. */
static void
take_part(struct gl_amd *amd, uint32_t set, uint32_t at)
{
	struct counted_set *counted = &amd->counted[set];
	uint32_t all = amd->catalogue->sets[set].n, i = 0;

	while (i < all && (counted->places[(at + i) % all] == JOINED ||
			   counted->places[(at + i) % all] == REFUSED))
		i++;
	amd->sets_off[set] = i == all;
	counted->first = (at + i) % all;
	counted->n = 1;
	while (counted->first + counted->n < all &&
	       counted->places[counted->first + counted->n] == JOINED)
		counted->n++;
	counted->frame = amd->base.frame;
}

/* The driver refuses a part that it has never begun: half of it comes next. */
static void
narrow(struct gl_amd *amd, uint32_t set)
{
	struct counted_set *counted = &amd->counted[set];

	if (counted->n == 1) {
		counted->places[counted->first] = REFUSED;
	} else {
		uint32_t middle = tally_amd_middle(&amd->catalogue->sets[set], counted->first,
						   counted->n);
		counted->places[middle] = UNTRIED;
		if (!amd->base.reason[0])
			snprintf(amd->base.reason, sizeof(amd->base.reason),
				 "the driver begins less at once than its groups allow: sets "
				 "are counted in parts, and passes lack the others (dropped)");
	}
	take_part(amd, set, counted->first);
}

/* ---- counting ---- */

/* Counts a refusal: after too many in a row it gives up. */
static void
note_refusal(struct gl_amd *amd, uint32_t set, unsigned error)
{
	struct counted_set *counted = &amd->counted[set];
	bool divisible = counted->n > 1, any = false;

	if (amd->base.off)
		return;
	if (counted->places[counted->first] == UNTRIED) {
		narrow(amd, set);
		if (divisible)
			return;
	}
	for (uint32_t i = 0; i < amd->base.n_sets; i++)
		any |= !amd->sets_off[i];
	if (++amd->refusals < MAX_REFUSALS && any)
		return;
	snprintf(amd->base.reason, sizeof(amd->base.reason),
		 "the driver refuses to begin its monitors, or never has their results (GL error "
		 "0x%04x): another program or the game itself may hold the counters",
		 error);
	amd->base.off = true;
	tally_log_say(TALLY_LEVEL_WARNING, SOURCE_NAME, "%s", amd->base.reason);
	/* Results in flight still arrive. */
}

static void
amd_begin(struct tally_source *src, uint32_t slot)
{
	struct gl_amd *amd = amd_of(src);
	struct amd_slot *s = &amd->slots[slot];

	*s = (struct amd_slot){ .monitor = NONE, .set = src->set };
	if (amd->yielded)
		s->flags = TALLY_FLAG(YIELDED);
	/* An interval inside another one has no counters, because monitors do not nest. */
	if (amd->yielded || src->set >= src->n_sets || amd->holder != NONE)
		return;
	/* The interval is recorded under the set's name until the frame ends. */
	if (src->off || amd->sets_off[src->set]) {
		s->flags |= TALLY_FLAG(LOST);
		return;
	}
	struct counted_set *counted = &amd->counted[src->set];
	bool whole = counted->n == amd->catalogue->sets[src->set].n;
	s->over_other = amd->pending != counted->pending;
	if (s->over_other && amd->sets_exclude) {
		s->flags |= TALLY_FLAG(DROPPED);
		return;
	}
	if (!whole && counted->frame != src->frame)
		take_part(amd, src->set, counted->first + counted->n);
	tally_gl_guard_begin(amd->api);
	uint32_t which = take_monitor(amd, src->set);
	if (which != NONE)
		amd->api->BeginPerfMonitorAMD(amd->monitors[which].name);
	unsigned error = tally_gl_guard_end(amd->api);
	if (which == NONE) {
		s->flags |= TALLY_FLAG(DROPPED);
	} else if (error) {
		renounce(amd, s, which);
		if (s->over_other && amd->intel)
			await_others(amd);
		else
			note_refusal(amd, src->set, error);
	} else {
		counted->places[counted->first] = BEGUN;
		s->flags |= whole ? 0 : TALLY_FLAG(DROPPED);
		s->monitor = which;
		counted->pending++;
		amd->pending++;
		amd->holder = slot;
	}
}

static void
amd_end(struct tally_source *src, uint32_t slot)
{
	struct gl_amd *amd = amd_of(src);
	struct amd_slot *s = &amd->slots[slot];

	if (amd->holder != slot)
		return;
	tally_gl_guard_begin(amd->api);
	end_active(amd);
	unsigned error = tally_gl_guard_end(amd->api);
	s->ended = src->frame;
	if (!error)
		return;
	renounce(amd, s, give_back(amd, s));
}

/* ---- reading ---- */

/* The size of a result in bytes, 0 when it cannot be fetched; NOT_READY leaves *len alone. To
 * be called inside a guard. */
static enum tally_status
fetch(struct gl_amd *amd, const struct monitor *m, size_t *len)
{
	unsigned size = 0;
	int written = 0;

	if (!is_ready(amd, m))
		return TALLY_NOT_READY;
	/* The size is queried because drivers ignore the size that they are given. */
	amd->api->GetPerfMonitorCounterDataAMD(m->name, RESULT_SIZE, sizeof(size), &size,
					       &written);
	written = 0;
	if (size && size <= amd->data_bytes)
		amd->api->GetPerfMonitorCounterDataAMD(m->name, RESULT, (int)amd->data_bytes,
						       amd->data, &written);
	*len = written > 0 && (unsigned)written <= amd->data_bytes ? (size_t)written : 0;
	return TALLY_OK;
}

static enum tally_status
amd_read(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	struct gl_amd *amd = amd_of(src);
	struct amd_slot *s = &amd->slots[slot];
	size_t len = 0;

	if (s->monitor == NONE) {
		out->flags |= s->flags;
		return s->flags & TALLY_FLAG(LOST) ? TALLY_LOST : TALLY_OK;
	}
	if (amd->intel && src->frame - s->ended < TALLY_INTEL_MIN_AGE)
		return TALLY_NOT_READY;
	tally_gl_guard_begin(amd->api);
	enum tally_status status = fetch(amd, &amd->monitors[s->monitor], &len);
	tally_gl_guard_end(amd->api);
	bool never = amd->intel && src->frame - s->ended >= NEVER;
	if (status == TALLY_NOT_READY && !never)
		return status;
	uint32_t which = give_back(amd, s);
	if (status == TALLY_NOT_READY)
		renounce(amd, s, which);
	else
		set_free(amd, which);
	out->flags |= s->flags;
	if (!len && s->over_other && amd->intel)
		await_others(amd);
	else if (!len && amd->intel)
		note_refusal(amd, s->set, 0);
	if (!len)
		return TALLY_LOST;
	amd->refusals = 0;
	tally_amd_decode(&amd->catalogue->sets[s->set], amd->data, len, out);
	return TALLY_OK;
}

static bool
amd_yield(struct tally_source *src, unsigned what)
{
	struct gl_amd *amd = amd_of(src);
	/* On Intel one unit counts for both extensions, and for only one user at a time. */
	if (what != TALLY_GL_USE_MONITORS &&
	    !(amd->intel && what == TALLY_GL_USE_COUNTERS))
		return false;
	if (!src->n_sets || amd->yielded)
		return false;
	amd->yielded = true;
	for (uint32_t i = 0; i < amd->n_slots; i++) {
		if (amd->slots[i].monitor != NONE)
			amd->slots[i].flags |= TALLY_FLAG(YIELDED);
	}
	tally_gl_guard_begin(amd->api);
	delete_monitors(amd);
	tally_gl_guard_end(amd->api);
	src->off = true;
	snprintf(src->reason, sizeof(src->reason),
		 "the program uses performance monitors itself: ours are given back");
	return true;
}

static const char *
amd_serialized_by(const struct tally_source *src)
{
	const struct gl_amd *amd = (const struct gl_amd *)src;
	if (tally_gl_quirk(TALLY_QUIRK_MONITORS_DRAIN, amd->api->driver))
		return "gl-amd: radeonsi keeps clock gating off and drains the GPU at each "
		       "monitor, so clocks and times are not those of an unobserved run";
	return NULL;
}

static const struct tally_source_ops amd_ops = {
	.name = SOURCE_NAME,
	.open = amd_open,
	.grow = amd_grow,
	.close = amd_close,
	.abandon = amd_abandon,
	.begin = amd_begin,
	.end = amd_end,
	.gap = tally_source_noop,
	.resume = tally_source_noop,
	.read = amd_read,
	.yield = amd_yield,
	.serialized_by = amd_serialized_by,
};

struct tally_source *
tally_gl_amd_create(struct tally_gl_api *api)
{
	struct gl_amd *amd = calloc(1, sizeof(*amd));
	if (!amd)
		return NULL;
	amd->base.ops = &amd_ops;
	amd->api = api;
	amd->holder = NONE;
	return &amd->base;
}
