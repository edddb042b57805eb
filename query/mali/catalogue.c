/* SPDX-License-Identifier: MIT */
#include "query/mali/catalogue.h"

#include "layer/config/config.h"
#include "layer/config/list.h"
#include "query/mali/catalogue_tables.h"
#include "query/mali/mali.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

const struct tally_counter tally_mali_clock = {
	.key = "mali_clock_cycles",
	.name = "Mali GPU clock cycles",
	.unit = "cycles",
	.source = "mali",
	.description = "Cycles of the GPU's clock, whether the GPU worked or not.",
	.kind = TALLY_KIND_DURATION,
	.storage = TALLY_STORAGE_U64,
	.scope = TALLY_SCOPE_DEVICE,
	.width_bits = 64,
};

static const char *
text_at(uint32_t offset)
{
	return tally_mali_packed.text + offset;
}

static void
fill_counter(struct tally_mali_counter *out, const struct tally_mali_packed_place *place)
{
	const struct tally_mali_packed_counter *c = &tally_mali_packed.counters[place->counter];
	out->counter = (struct tally_counter){
		.key = text_at(c->key),
		.name = text_at(c->name),
		.unit = text_at(c->unit),
		.source = "mali",
		.description = text_at(c->description),
		.kind = (enum tally_counter_kind)c->kind,
		.storage = TALLY_STORAGE_U64,
		.scope = TALLY_SCOPE_DEVICE,
	};
	out->block = (enum tally_mali_block)c->block;
	out->visibility = (enum tally_mali_visibility)c->visibility;
	out->index = place->index;
	out->shift = c->shift;
	out->overview = c->overview;
	out->hw_name = text_at(c->hw_name);
	out->erratum = c->erratum ? text_at(c->erratum) : NULL;
}

static void
fill_layout(uint32_t number)
{
	const struct tally_mali_packed_layout *l = &tally_mali_packed.layouts[number];
	struct tally_mali_counter *counters = &tally_mali_rooms.counters[l->first_place];
	const char **alias = &tally_mali_rooms.aliases[l->first_alias];
	for (uint32_t i = 0; i < l->n_places; i++) {
		const struct tally_mali_packed_place *place =
			&tally_mali_packed.places[l->first_place + i];
		fill_counter(&counters[i], place);
		counters[i].aliases = alias;
		uint32_t from = tally_mali_packed.counters[place->counter].aliases;
		for (; tally_mali_packed.aliases[from]; from++)
			*alias++ = text_at(tally_mali_packed.aliases[from]);
		*alias++ = NULL;
	}
	struct tally_constant *constants = &tally_mali_rooms.constants[l->first_constant];
	for (uint32_t i = 0; i < l->n_constants; i++) {
		const struct tally_mali_packed_constant *c =
			&tally_mali_packed.constants[l->first_constant + i];
		constants[i] = (struct tally_constant){ text_at(c->name), c->value };
	}
	tally_mali_rooms.layouts[number] = (struct tally_mali_layout){
		.name = text_at(l->name),
		.architecture = text_at(l->architecture),
		.csf = l->csf,
		.values_per_block = l->values_per_block,
		.warp_width = l->warp_width,
		.counters = counters,
		.n_counters = l->n_places,
		.constants = constants,
		.n_constants = l->n_constants,
	};
}

static void
fill_products(uint32_t unused)
{
	(void)unused;
	for (uint32_t i = 0; i < tally_mali_n_products; i++) {
		const struct tally_mali_packed_product *p = &tally_mali_packed.products[i];
		struct tally_mali_product *out = &tally_mali_rooms.products[i];
		out->name = text_at(p->name);
		memcpy(out->ids, p->ids, sizeof(out->ids));
		memcpy(out->engines, p->engines, sizeof(out->engines));
		out->engines_least = p->engines_least;
		out->layout = p->layout ? &tally_mali_rooms.layouts[p->layout - 1] : NULL;
	}
}

/* Guards only the filling of the tables; no other lock is taken under it. */
static pthread_mutex_t fill_lock = PTHREAD_MUTEX_INITIALIZER;

static void
fill_once(uint32_t i, void (*fill)(uint32_t))
{
	atomic_bool *filled = &tally_mali_rooms.filled[i];
	if (atomic_load_explicit(filled, memory_order_acquire))
		return;
	pthread_mutex_lock(&fill_lock);
	if (!atomic_load_explicit(filled, memory_order_relaxed)) {
		fill(i);
		atomic_store_explicit(filled, true, memory_order_release);
	}
	pthread_mutex_unlock(&fill_lock);
}

const struct tally_mali_layout *
tally_mali_layout(uint32_t i)
{
	if (i >= tally_mali_n_layouts)
		return NULL;
	fill_once(i, fill_layout);
	return &tally_mali_rooms.layouts[i];
}

const struct tally_mali_product *
tally_mali_product(uint32_t i)
{
	if (i >= tally_mali_n_products)
		return NULL;
	fill_once(tally_mali_n_layouts, fill_products);
	if (tally_mali_packed.products[i].layout)
		tally_mali_layout(tally_mali_packed.products[i].layout - 1u);
	return &tally_mali_rooms.products[i];
}

const struct tally_mali_product *
tally_mali_find_product(uint64_t gpu_id)
{
	uint32_t id = (uint32_t)(gpu_id >> 16) & 0xffff;
	uint32_t arch = id >> 12, product = id & 0xf;
	/* The architecture field is all ones when the id has 64 bits. */
	if (arch == 0xf) {
		arch = (uint32_t)(gpu_id >> 56);
		product = (uint32_t)(gpu_id >> 32) & 0xff;
	}
	bool midgard = id == 0x6956 || id < 0x1000;
	for (uint32_t i = 0; i < tally_mali_n_products; i++) {
		const struct tally_mali_packed_product *p = &tally_mali_packed.products[i];
		for (int k = 0; k < 2; k++) {
			if (!p->ids[k] || midgard != !p->layout)
				continue;
			if (midgard ? p->ids[k] == id
				    : p->ids[k] >> 12 == (int)arch &&
					      (p->ids[k] & 0xf) == product)
				return tally_mali_product(i);
		}
	}
	return NULL;
}

/* The next letter or digit in lower case; all other characters are skipped. 0 at the end. */
static char
next_letter(const char **at)
{
	for (; **at; (*at)++) {
		char c = tally_lower(**at);
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
			(*at)++;
			return c;
		}
	}
	return 0;
}

/* Whether `name` is the full name `full`, or `full` without its `first` word. */
static bool
same_name(const char *full, const char *first, const char *name)
{
	const char *rest = full;
	for (const char *at = first; *at; at++)
		if (next_letter(&rest) != *at)
			return false;
	char a, b;
	bool any = false;
	do {
		a = next_letter(&rest);
		b = next_letter(&name);
		any |= b != 0;
	} while (a == b && a);
	return any && a == b;
}

/* The layout's name, or "" for a product without a layout, which matches no name that has
 * letters. */
static const char *
layout_name(uint32_t product)
{
	uint32_t layout = tally_mali_packed.products[product].layout;
	return layout ? text_at(tally_mali_packed.layouts[layout - 1].name) : "";
}

const struct tally_mali_product *
tally_mali_find_name(const char *name)
{
	static const char *const firsts[] = { "", "mali", "immortalis" };
	for (int k = 0; k < 3; k++)
		for (uint32_t i = 0; i < tally_mali_n_products; i++)
			if (same_name(text_at(tally_mali_packed.products[i].name),
				      firsts[k], name))
				return tally_mali_product(i);
	/* "Mali G1" is not the name of a product: it means the first product with that
	 * layout. */
	for (int k = 0; k < 2; k++)
		for (uint32_t i = 0; i < tally_mali_n_products; i++)
			if (same_name(layout_name(i), firsts[k], name))
				return tally_mali_product(i);
	return NULL;
}

static const struct tally_mali_packed_counter *
packed_counter(const struct tally_mali_layout *layout, uint32_t i)
{
	const struct tally_mali_packed_place *place =
		&tally_mali_packed.places[layout->counters - tally_mali_rooms.counters + i];
	return &tally_mali_packed.counters[place->counter];
}

static bool
has_alias(const struct tally_mali_counter *c, const char *name)
{
	for (const char *const *alias = c->aliases; *alias; alias++)
		if (strcmp(*alias, name) == 0)
			return true;
	return false;
}

const struct tally_mali_counter *
tally_mali_find_counter(const struct tally_mali_layout *layout, const char *name, bool year_2022)
{
	if (!layout || !*name)
		return NULL;
	for (uint32_t i = 0; year_2022 && i < layout->n_counters; i++)
		if (strcmp(text_at(packed_counter(layout, i)->name_2022), name) == 0)
			return &layout->counters[i];
	for (uint32_t i = 0; i < layout->n_counters; i++)
		if (strcmp(layout->counters[i].counter.key, name) == 0)
			return &layout->counters[i];
	for (uint32_t i = 0; i < layout->n_counters; i++)
		if (has_alias(&layout->counters[i], name) ||
		    strcmp(layout->counters[i].hw_name, name) == 0)
			return &layout->counters[i];
	return NULL;
}

uint32_t
tally_mali_engines(const struct tally_mali_product *product, uint32_t cores,
		   uint32_t core_features, uint32_t thread_features)
{
	if (product->engines_least && cores == 1 && (thread_features & 0xffff) == 0x2000)
		return product->engines_least;
	return product->engines[core_features & 15];
}

/* Searches all layouts: it is not known beforehand which GPU the program will run on. */
bool
tally_mali_may_count(const char *counters)
{
	static const char mean[] = ".mean";
	char plain[256];
	size_t len = strlen(counters), tail = sizeof(mean) - 1;
	if (len >= sizeof(plain))
		return false;
	memcpy(plain, counters, len + 1);
	if (len >= tail && strcmp(plain + len - tail, mean) == 0)
		plain[len - tail] = '\0';
	if (tally_list_matches(plain, tally_mali_clock.key, tally_mali_clock.name))
		return true;
	const struct tally_mali_layout *layout;
	for (uint32_t l = 0; (layout = tally_mali_layout(l)); l++) {
		if (tally_mali_find_counter(layout, plain, true))
			return true;
		for (uint32_t i = 0; i < layout->n_counters; i++)
			if (tally_list_matches(plain, layout->counters[i].counter.key,
					       layout->counters[i].counter.name))
				return true;
	}
	return false;
}
