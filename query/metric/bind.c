/* SPDX-License-Identifier: MIT */
#include "query/metric/bind.h"

#include "layer/config/list.h"
#include "query/metric/internal.h"

#include "layer/base/array.h"
#include "layer/log.h"
#include "query/metric/set.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CORE_COUNT "MaliConstantsShaderCoreCount"
#define MAX_DEPTH 32 /* nested calls for metrics of metrics; deeper ones are bound first */
#define MAX_INDEX 16 /* the maximum number of indices that [0..N] represents */
#define ANY_INDEX "[0..N]"

static const struct {
	const char *name;
	enum tally_metric_special special;
} specials[] = {
	{ "draws", TALLY_SPECIAL_DRAWS },
	{ "vertices", TALLY_SPECIAL_VERTICES },
	{ "instances", TALLY_SPECIAL_INSTANCES },
	{ "dispatches", TALLY_SPECIAL_DISPATCHES },
	{ "gpu_ns", TALLY_SPECIAL_GPU_NS },
	{ "pixels", TALLY_SPECIAL_PIXELS },
	{ "duration_s", TALLY_SPECIAL_DURATION },
	{ "ZOOM", TALLY_SPECIAL_DURATION },
	{ "MALI_CONFIG_TIME_SPAN", TALLY_SPECIAL_DURATION },
};

/* Constants under other names, with a conversion factor. */
static const struct {
	const char *name, *constant;
	double factor;
} constant_names[] = {
	{ "MALI_CONFIG_SHADER_CORE_COUNT", CORE_COUNT, 1 },
	{ "MALI_CONFIG_L2_CACHE_COUNT", "MaliConstantsL2SliceCount", 1 },
	{ "MALI_CONFIG_EXT_BUS_BYTE_SIZE", "MaliConstantsBusWidthBits", 0.125 },
	{ "L2.AXI_WIDTH_BYTES", "MaliConstantsBusWidthBits", 0.125 },
};

/* Names that the Bifrost document misspells in its formulas. */
static const struct {
	const char *printed, *meant;
} misspelt[] = {
	{ "SC.FRAG_QUADS_EZS_KILL", "SC.FRAG_QUADS_EZS_KILLED" },
	{ "TI_INPUT_PRIMITIVES", "TI.INPUT_PRIMITIVES" },
	{ "TL.CULLED_FACING", "TI.CULLED_FACING" },
	{ "SC.GPU_ACTIVE", "JM.GPU_ACTIVE" },
	{ "L2.EXTERNAL_READ", "L2.EXTERNAL_READ_REQUEST" },
	{ "L2.EXTERNAL_WRITE", "L2.EXTERNAL_WRITE_REQUEST" },
	{ "LS.INTERNAL_UTILIZATION", "L2.INTERNAL_UTILIZATION" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum candidate_state { UNTRIED = 0, BEING_BOUND, BOUND, NOT_HERE };

struct candidate {
	struct tally_metric metric;
	enum candidate_state state;
	uint32_t slot, bound;
};

struct binder {
	struct tally_metric_set *set;
	const struct tally_metric_inputs *inputs;
	struct candidate *candidates;
	uint32_t n_candidates, room_candidates;
	uint32_t first_mean; /* the candidates from here on are always wanted */
	struct tally_name_table candidate_names, counter_names;
	uint32_t *counter_slots; /* TALLY_UNUSED_SLOT: no metric has named it yet */
	double cores; /* 0: not known */
	const char *wanted;
	uint32_t first_own; /* the user's metrics are those from here up to first_mean */
	uint32_t depth;
	uint32_t deep; /* a candidate nested too deeply to be bound; TALLY_NO_SLOT: none */
	bool out_of_memory;
};

/* ---- growing the arrays ---- */

/* Makes room for one more element of `size` bytes in an array; false on OOM. */
static bool
make_room(struct binder *b, void *array, uint32_t n, uint32_t *room, size_t size)
{
	b->out_of_memory |= !tally_array_fit(array, n, room, size);
	return !b->out_of_memory;
}

static uint32_t
add_slot(struct binder *b)
{
	struct tally_metric_set *set = b->set;
	if (!make_room(b, &set->values, set->n_slots, &set->room_slots,
		       sizeof(*set->values)) ||
	    !make_room(b, &set->initial, set->n_slots, &set->room_initial, 1))
		return TALLY_NO_SLOT;
	set->values[set->n_slots] = 0;
	set->initial[set->n_slots] = 0;
	return set->n_slots++;
}

/* Takes ownership of a string, which then lives as long as the set. NULL on OOM. */
static const char *
own(struct binder *b, char *string)
{
	struct tally_metric_set *set = b->set;
	b->out_of_memory |= !string;
	if (!make_room(b, &set->strings, set->n_strings, &set->room_strings,
		       sizeof(*set->strings))) {
		free(string);
		return NULL;
	}
	return set->strings[set->n_strings++] = string;
}

static const char *__attribute__((format(printf, 2, 3)))
make(struct binder *b, const char *format, ...)
{
	char *made;
	va_list args;
	va_start(args, format);
	bool ok = vasprintf(&made, format, args) >= 0;
	va_end(args);
	return own(b, ok ? made : NULL);
}

/* A copy of `before` in which each ANY_INDEX is replaced by `by`; where there is none, `by` is
 * appended. */
static const char *
with_index(struct binder *b, const char *before, const char *by)
{
	static const char cut[] = ANY_INDEX;
	size_t cuts = 0;
	for (const char *p = before; (p = strstr(p, cut)); p += strlen(cut))
		cuts++;
	if (!cuts)
		return make(b, "%s%s", before, by);
	char *made = malloc(strlen(before) + cuts * strlen(by) + 1);
	char *end = made;
	for (const char *p = before; made && *p;) {
		const char *next = strstr(p, cut);
		size_t n = next ? (size_t)(next - p) : strlen(p);
		memcpy(end, p, n);
		end += n;
		p += n;
		if (next) {
			memcpy(end, by, strlen(by));
			end += strlen(by);
			p += strlen(cut);
		}
	}
	if (made)
		*end = '\0';
	return own(b, made);
}

/* ---- the meaning of a name ---- */

static const char *
layout_name(const struct binder *b)
{
	return b->inputs->layout ? b->inputs->layout->name : NULL;
}

static bool
find_in(const struct tally_constant *constants, uint32_t n, const char *name, double *out)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(constants[i].name, name) == 0) {
			*out = constants[i].value;
			return true;
		}
	}
	return false;
}

static bool
find_constant(const struct binder *b, const char *name, double *out)
{
	const struct tally_metric_inputs *in = b->inputs;
	const struct tally_mali_layout *layout = in->layout;
	if (find_in(in->constants, in->n_constants, name, out) ||
	    (layout && find_in(layout->constants, layout->n_constants, name, out)))
		return true;
	for (size_t i = 0; i < COUNT(constant_names); i++) {
		if (strcmp(constant_names[i].name, name) == 0 &&
		    find_constant(b, constant_names[i].constant, out)) {
			*out *= constant_names[i].factor;
			return true;
		}
	}
	return false;
}

static bool
add_constant(struct binder *b, double value, struct tally_metric_ref *ref)
{
	ref->slot = add_slot(b);
	ref->divisor = 1;
	if (ref->slot == TALLY_NO_SLOT)
		return false;
	b->set->values[ref->slot] = value;
	b->set->initial[ref->slot] = TALLY_SLOT_KNOWN;
	return true;
}

/* The counter of the device's layout that has this name in the dialect; NULL: none. */
static const struct tally_mali_counter *
find_in_layout(const struct binder *b, enum tally_dialect dialect, const char *name)
{
	if (!b->inputs->layout)
		return NULL;
	return tally_mali_find_counter(b->inputs->layout, name,
				       dialect == TALLY_DIALECT_ARM_2022);
}

/* Refers to a counter of the device by key. `mean`: divided by the number of shader cores; the
 * caller ensures that the counter is one of theirs. */
static bool
use_counter(struct binder *b, const char *key, bool mean, struct tally_metric_ref *ref)
{
	uint32_t i = tally_name_table_find(&b->counter_names, key);
	if (i == TALLY_NO_SLOT || (mean && b->cores <= 0))
		return false;
	if (b->counter_slots[i] == TALLY_UNUSED_SLOT) {
		uint32_t slot = add_slot(b);
		if (slot == TALLY_NO_SLOT)
			return false;
		b->counter_slots[i] = slot;
	}
	ref->slot = b->counter_slots[i];
	ref->divisor = mean ? b->cores : 1;
	return true;
}

static bool
is_core_key(const struct binder *b, const char *key)
{
	const struct tally_mali_counter *c = find_in_layout(b, TALLY_DIALECT_ARM, key);
	return c && c->block == TALLY_MALI_CORE && strcmp(c->counter.key, key) == 0;
}

static bool
takes_means(enum tally_dialect dialect)
{
	return dialect == TALLY_DIALECT_ARM_2022 || dialect == TALLY_DIALECT_BIFROST;
}

/* The key of the counter that a name means; NULL: none. `sure`: the dialect itself defines the
 * name, and that meaning holds even where the device does not count it. */
static const char *
counter_key(const struct binder *b, enum tally_dialect dialect, const char *name, bool *sure)
{
	*sure = false;
	if (takes_means(dialect)) {
		const struct tally_mali_counter *c = find_in_layout(b, dialect, name);
		*sure = c != NULL;
		if (c)
			return c->counter.key;
	}
	return tally_name_table_find(&b->counter_names, name) != TALLY_NO_SLOT ? name : NULL;
}

static uint32_t bind_candidate(struct binder *b, uint32_t i);

static bool
use_metric(struct binder *b, const char *name, struct tally_metric_ref *ref)
{
	uint32_t i = tally_name_table_find(&b->candidate_names, name);
	if (i == TALLY_NO_SLOT)
		return false;
	ref->slot = bind_candidate(b, i);
	ref->divisor = 1;
	return ref->slot != TALLY_NO_SLOT;
}

/* Resolves "X.mean", for a counter of the shader cores, in any dialect. */
static bool
use_mean(struct binder *b, enum tally_dialect dialect, const char *name,
	 struct tally_metric_ref *ref)
{
	static const char suffix[] = ".mean";
	char base[256];
	size_t len = strlen(name);
	size_t cut = sizeof(suffix) - 1;
	if (len <= cut || len - cut >= sizeof(base) || strcmp(name + len - cut, suffix) != 0)
		return false;
	memcpy(base, name, len - cut);
	base[len - cut] = '\0';
	const struct tally_mali_counter *c = find_in_layout(b, dialect, base);
	return c && c->block == TALLY_MALI_CORE && use_counter(b, c->counter.key, true, ref);
}

static bool
resolve(struct binder *b, enum tally_dialect dialect, const char *name,
	struct tally_metric_ref *ref)
{
	for (size_t i = 0; i < COUNT(specials); i++) {
		if (strcmp(specials[i].name, name) == 0) {
			*ref = (struct tally_metric_ref){ specials[i].special, 1 };
			return true;
		}
	}
	for (size_t i = 0; dialect == TALLY_DIALECT_BIFROST && i < COUNT(misspelt); i++) {
		if (strcmp(misspelt[i].printed, name) == 0)
			name = misspelt[i].meant;
	}
	double constant;
	if (find_constant(b, name, &constant))
		return add_constant(b, constant, ref);
	bool sure;
	const char *key = counter_key(b, dialect, name, &sure);
	if (key && use_counter(b, key, takes_means(dialect) && is_core_key(b, key), ref))
		return true;
	if (sure || b->out_of_memory)
		return false;
	const struct tally_mali_counter *c = find_in_layout(b, dialect, name);
	if (c && use_counter(b, c->counter.key, false, ref))
		return true;
	return use_metric(b, name, ref) || use_mean(b, dialect, name, ref);
}

/* ---- binding ---- */

/* Resolves all names of the expression, or fails, with a note if the user wants this metric. */
static bool
resolve_all(struct binder *b, struct tally_bound_metric *m, bool asked)
{
	m->n_refs = tally_expr_n_names(m->expr);
	m->refs = calloc(m->n_refs + 1, sizeof(*m->refs));
	if (!m->refs) {
		b->out_of_memory = true;
		return false;
	}
	for (uint32_t i = 0; i < m->n_refs; i++) {
		const char *name = tally_expr_name(m->expr, i);
		if (resolve(b, m->metric.dialect, name, &m->refs[i]))
			continue;
		if (asked && !b->out_of_memory && b->deep == TALLY_NO_SLOT)
			tally_log_say(TALLY_LEVEL_WARNING, "config",
				      "metric %.64s is left out: nothing that is counted here is "
				      "called \"%.100s\"; a counter must be in --counters, too",
				      m->metric.key, name);
		return false;
	}
	return true;
}

static bool
bind_new(struct binder *b, struct candidate *c, struct tally_bound_metric *m)
{
	struct tally_expr_error error;
	*m = (struct tally_bound_metric){ .metric = c->metric };
	m->expr = tally_expr_parse(c->metric.expression, strlen(c->metric.expression), &error);
	uint32_t i = (uint32_t)(c - b->candidates);
	bool asked = (i >= b->first_own && i < b->first_mean) ||
		     tally_list_has(b->wanted, m->metric.key);
	if (!m->expr || !resolve_all(b, m, asked))
		return false;
	m->slot = add_slot(b);
	if (m->slot == TALLY_NO_SLOT)
		return false;
	struct tally_metric_set *set = b->set;
	if (!make_room(b, &set->bound, set->n_bound, &set->room_bound, sizeof(*m)))
		return false;
	set->bound[set->n_bound] = *m;
	return true;
}

/* The slot of the candidate's value; TALLY_NO_SLOT: an input is missing, or the metric depends
 * on itself. */
static uint32_t
bind_candidate(struct binder *b, uint32_t i)
{
	struct candidate *c = &b->candidates[i];
	if (c->state != UNTRIED)
		return c->state == BOUND ? c->slot : TALLY_NO_SLOT;
	if (b->depth == MAX_DEPTH) {
		b->deep = i;
		return TALLY_NO_SLOT;
	}
	c->state = BEING_BOUND;
	b->depth++;
	struct tally_bound_metric m;
	bool bound = bind_new(b, c, &m);
	b->depth--;
	if (!bound) {
		tally_expr_destroy(m.expr);
		free(m.refs);
		c->state = b->deep == TALLY_NO_SLOT ? NOT_HERE : UNTRIED;
		return TALLY_NO_SLOT;
	}
	c->state = BOUND;
	c->slot = m.slot;
	c->bound = b->set->n_bound++;
	return c->slot;
}

/* Like bind_candidate(), for any depth. The number of levels is bounded, since more levels than
 * candidates would be a circle. */
static uint32_t
bind_deep(struct binder *b, uint32_t first)
{
	for (uint32_t tries = 0; tries <= b->n_candidates; tries++) {
		uint32_t i = first;
		for (uint32_t levels = 0; levels <= b->n_candidates / MAX_DEPTH; levels++) {
			b->deep = TALLY_NO_SLOT;
			uint32_t slot = bind_candidate(b, i);
			if (b->deep == TALLY_NO_SLOT && (i == first || slot == TALLY_NO_SLOT))
				return slot;
			if (b->deep == TALLY_NO_SLOT)
				break; /* one level is bound: start again from the first */
			i = b->deep;
		}
		if (b->deep != TALLY_NO_SLOT)
			return TALLY_NO_SLOT;
	}
	return TALLY_NO_SLOT;
}

/* ---- candidates ---- */

static void
add_candidate(struct binder *b, const struct tally_metric *metric)
{
	if (make_room(b, &b->candidates, b->n_candidates, &b->room_candidates,
		      sizeof(*b->candidates)))
		b->candidates[b->n_candidates++] = (struct candidate){ .metric = *metric };
}

/* Adds one candidate for each index that [0..N] represents, or just the metric itself. */
static void
add_metric(struct binder *b, const struct tally_metric *metric)
{
	if (!tally_metric_fits(metric, layout_name(b)))
		return;
	if (!strstr(metric->expression, ANY_INDEX)) {
		add_candidate(b, metric);
		return;
	}
	for (unsigned i = 0; i < MAX_INDEX && !b->out_of_memory; i++) {
		char index[16];
		snprintf(index, sizeof(index), "[%u]", i);
		struct tally_metric one = *metric;
		one.expression = with_index(b, metric->expression, index);
		one.key = with_index(b, metric->key, index);
		one.name = with_index(b, metric->name, index);
		if (one.expression && one.key && one.name)
			add_candidate(b, &one);
	}
}

/* Adds the metric "key.mean" of a counter that an item of the list requests in that form. */
static void
add_mean(struct binder *b, const struct tally_counter *counter)
{
	const char *key = make(b, "%s.mean", counter->key);
	const char *name = make(b, "%s, mean of the shader cores", counter->name);
	const char *expression = make(b, "$%s.mean", counter->key);
	if (!key || !name || !expression)
		return;
	add_candidate(b, &(struct tally_metric){
				 .key = key,
				 .name = name,
				 .unit = counter->unit,
				 .expression = expression,
				 .dialect = TALLY_DIALECT_ARM,
				 .layouts = "*",
			 });
}

/* Whether an item that ends in ".mean" requests this counter's mean, by key, glob or alias. */
static bool
wants_mean(const struct tally_mali_counter *c, const char *item, size_t len)
{
	char one[256], key[256];
	if (len < 6 || len >= sizeof(one) || memcmp(item + len - 5, ".mean", 5) != 0)
		return false;
	memcpy(one, item, len);
	one[len] = '\0';
	snprintf(key, sizeof(key), "%.240s.mean", c->counter.key);
	if (tally_list_matches(one, key, NULL))
		return true;
	for (const char *const *alias = c->aliases; alias && *alias; alias++) {
		snprintf(key, sizeof(key), "%.240s.mean", *alias);
		if (tally_list_matches(one, key, NULL))
			return true;
	}
	return false;
}

static void
add_means(struct binder *b, const char *wanted)
{
	const struct tally_mali_layout *layout = b->inputs->layout;
	if (!wanted || !layout || !strstr(wanted, ".mean"))
		return;
	for (uint32_t i = 0; i < layout->n_counters; i++) {
		const struct tally_mali_counter *c = &layout->counters[i];
		if (c->block != TALLY_MALI_CORE)
			continue;
		const char *rest = wanted, *item;
		size_t len;
		while (tally_list_next(&rest, &item, &len)) {
			if (wants_mean(c, item, len)) {
				add_mean(b, &c->counter);
				break;
			}
		}
	}
}

/* ---- the set ---- */

static bool
index_counters(struct binder *b)
{
	const struct tally_metric_inputs *in = b->inputs;
	b->counter_slots = malloc((in->n_counters + 1) * sizeof(*b->counter_slots));
	if (!b->counter_slots ||
	    !tally_name_table_init(&b->counter_names, in->n_counters, false))
		return false;
	for (uint32_t i = 0; i < in->n_counters; i++) {
		b->counter_slots[i] = TALLY_UNUSED_SLOT;
		tally_name_table_put(&b->counter_names, in->counters[i]->key, i);
	}
	return true;
}

/* Among metrics with the same key, the user's own takes precedence over a built-in one. */
static bool
index_candidates(struct binder *b, uint32_t first_own)
{
	if (!tally_name_table_init(&b->candidate_names, b->n_candidates, false))
		return false;
	for (uint32_t k = 0; k < b->n_candidates; k++) {
		uint32_t i = (first_own + k) % b->n_candidates;
		struct candidate *c = &b->candidates[i];
		if (!tally_name_table_put(&b->candidate_names, c->metric.key, i))
			c->state = NOT_HERE;
	}
	return true;
}

static void
bind_wanted(struct binder *b, const char *wanted)
{
	for (uint32_t i = 0; i < b->n_candidates && !b->out_of_memory; i++) {
		const struct tally_metric *m = &b->candidates[i].metric;
		struct tally_counter counter = { .key = m->key, .name = m->name };
		if (i < b->first_mean &&
		    !tally_counter_wanted(wanted, &counter, "metrics",
					  tally_dialect_name(m->dialect), m->overview))
			continue;
		if (bind_deep(b, i) != TALLY_NO_SLOT)
			b->set->bound[b->candidates[i].bound].logged = true;
	}
}

/* Builds the tables for evaluation: by the addresses of the device's keys, and by text for
 * others. */
static bool
index_inputs(struct binder *b)
{
	struct tally_metric_set *set = b->set;
	const struct tally_metric_inputs *in = b->inputs;
	set->logged = malloc((set->n_bound + 1) * sizeof(*set->logged));
	set->state = malloc(set->n_slots);
	if (!set->logged || !set->state ||
	    !tally_name_table_init(&set->by_address, in->n_counters, true) ||
	    !tally_name_table_init(&set->by_text, in->n_counters, false))
		return false;
	for (uint32_t i = 0; i < set->n_bound; i++) {
		if (set->bound[i].logged)
			set->logged[set->n_logged++] = i;
	}
	for (uint32_t i = 0; i < in->n_counters; i++) {
		const char *key = in->counters[i]->key;
		uint32_t first = tally_name_table_find(&b->counter_names, key);
		uint32_t slot = b->counter_slots[first];
		tally_name_table_put(&set->by_address, key, slot);
		if (slot != TALLY_UNUSED_SLOT)
			tally_name_table_put(&set->by_text, key, slot);
	}
	return true;
}

static bool
bind_all(struct binder *b, const struct tally_metric *mine, uint32_t n_mine, const char *wanted)
{
	for (uint32_t i = 0; i < TALLY_N_SPECIALS; i++)
		add_slot(b);
	for (uint32_t i = 0; i < tally_n_metrics; i++) {
		struct tally_metric metric = tally_metric_at(i);
		add_metric(b, &metric);
	}
	b->first_own = b->n_candidates;
	for (uint32_t i = 0; i < n_mine; i++)
		add_metric(b, &mine[i]);
	b->first_mean = b->n_candidates;
	add_means(b, wanted);
	if (b->out_of_memory || !index_counters(b) || !index_candidates(b, b->first_own))
		return false;
	if (!find_constant(b, CORE_COUNT, &b->cores) || !(b->cores > 0))
		b->cores = 0;
	bind_wanted(b, wanted);
	return !b->out_of_memory && index_inputs(b);
}

struct tally_metric_set *
tally_metric_set_create(const struct tally_metric_inputs *inputs,
			const struct tally_metric *mine, uint32_t n_mine,
			const char *wanted)
{
	struct binder b = { .inputs = inputs, .deep = TALLY_NO_SLOT, .wanted = wanted };
	b.set = calloc(1, sizeof(*b.set));
	if (!b.set)
		return NULL;
	bool good = bind_all(&b, mine, n_mine, wanted);
	tally_name_table_finish(&b.candidate_names);
	tally_name_table_finish(&b.counter_names);
	free(b.candidates);
	free(b.counter_slots);
	if (good)
		return b.set;
	tally_metric_set_destroy(b.set);
	return NULL;
}
