/* SPDX-License-Identifier: MIT */
#include "cli/log/device_summary.h"

#include "cli/shared/each.h"
#include "query/quirks.h"
#include "query/statistics/run_statistics.h"

#include <string.h>

/* ---- series ---- */

struct tally_key *
tally_series_key(const struct tally_aggregate *a, uint32_t series)
{
	return &g_array_index(a->keys, struct tally_key, series);
}

void
tally_keys_init(struct tally_aggregate *a)
{
	struct tally_key fixed = { .key = "gpu_ns", .unit = "ns" };
	a->keys = g_array_new(FALSE, FALSE, sizeof(fixed));
	g_array_append_val(a->keys, fixed);
	for (unsigned k = 0; k < TALLY_N_CALL_COUNTS; k++) {
		fixed = (struct tally_key){ .key = tally_call_count_names[k].key, .unit = "1" };
		g_array_append_val(a->keys, fixed);
	}
	a->state->keys = g_hash_table_new(NULL, NULL);
}

uint32_t
tally_aggregate_key(struct tally_aggregate *a, const char *key, bool metric)
{
	gpointer found = g_hash_table_lookup(a->state->keys, key);
	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	/* The pointer is new; the text may still be known if a metric has the same name. */
	uint32_t i = TALLY_N_FIXED_SERIES;
	while (i < a->keys->len &&
	       strcmp(tally_series_key(a, i)->key, key) != 0)
		i++;
	if (i == a->keys->len) {
		struct tally_key k = { .key = g_intern_string(key), .metric = metric };
		k.join = metric ? TALLY_JOIN_NONE : tally_join_of_key(key);
		g_array_append_val(a->keys, k);
	}
	g_hash_table_insert(a->state->keys, (gpointer)key, GUINT_TO_POINTER(i + 1));
	return i;
}

/* ---- devices ---- */

/* A window that is dragged larger has many sizes: more than these are not distinguished. */
#define MOST_SURFACES 64

void
tally_device_summary_forget(struct tally_device_summary *d)
{
	const size_t from = offsetof(struct tally_device_summary, frames);
	tally_stats_finish(&d->cpu);
	tally_stats_finish(&d->gpu);
	tally_stats_finish(&d->overhead);
	tally_stats_finish(&d->clock);
	tally_queues_finish(&d->queues_at_once);
	g_array_set_size(d->surfaces, 0);
	memset((char *)d + from, 0, sizeof(*d) - from);
	tally_stats_init(&d->cpu, TALLY_STATS_KEEP_FRAME);
	tally_stats_init(&d->gpu, TALLY_STATS_KEEP_FRAME);
	tally_stats_init(&d->overhead, TALLY_STATS_KEEP_PASS);
	tally_stats_init(&d->clock, TALLY_STATS_KEEP_PASS);
}

void
tally_device_summary_destroy(gpointer p)
{
	struct tally_device_summary *d = p;
	tally_device_summary_forget(d);
	g_array_unref(d->surfaces);
	g_ptr_array_unref(d->off);
	g_free(d);
}

struct tally_device_summary *
tally_aggregate_device(const struct tally_aggregate *a, uint32_t device)
{
	return g_hash_table_lookup(a->state->devices, GUINT_TO_POINTER(device));
}

struct tally_device_summary *
tally_aggregate_need_device(struct tally_aggregate *a, uint32_t number)
{
	struct tally_device_summary *d = tally_aggregate_device(a, number);
	if (d)
		return d;
	d = g_new0(struct tally_device_summary, 1);
	d->device = number;
	d->beneath = -1;
	d->off = g_ptr_array_new_with_free_func(g_free);
	d->surfaces = g_array_new(FALSE, FALSE, sizeof(struct tally_surface));
	tally_device_summary_forget(d);
	g_hash_table_insert(a->state->devices, GUINT_TO_POINTER(number), d);
	guint at = a->devices->len;
	struct tally_device_summary **all = (struct tally_device_summary **)a->devices->pdata;
	while (at > 0 && number < all[at - 1]->device)
		at--;
	g_ptr_array_insert(a->devices, (gint)at, d);
	return d;
}

bool
tally_device_times_draws(const struct tally_device_summary *d)
{
	if (d->api == TALLY_API_VULKAN)
		return !tally_vk_quirk(TALLY_QUIRK_TIMES_OF_TILES, d->driver_id, d->vendor_id);
	g_autofree char *driver = g_strdup_printf("%s %s", d->driver, d->name);
	return !tally_gl_quirk(TALLY_QUIRK_TIMES_OF_TILES, driver);
}

/* The device that it names may be one that a program created only as a probe (a first
 * context, then destroyed): then another device of the same API is on top. */
bool
tally_aggregate_is_beneath(const struct tally_aggregate *a, uint32_t device)
{
	const struct tally_device_summary *d = tally_aggregate_device(a, device);
	if (!d || d->beneath < 0 || d->beneath > UINT32_MAX || d->beneath == device)
		return false;
	const struct tally_device_summary *upper = tally_aggregate_device(a, (uint32_t)d->beneath);
	if (!upper || upper->seen)
		return upper != NULL;
	TALLY_EACH (const struct tally_device_summary, other, a->devices)
		if (other->seen && other->described && other->api == upper->api)
			return other->api != d->api;
	return false;
}

/* The description of a key in a device line. A key is one column for all devices: if they
 * disagree about the unit, no unit is right for all. */
static struct tally_key *
read_key(struct tally_aggregate *a, const char *name_of_key, bool metric,
	 const struct tally_key *says)
{
	struct tally_key *key = tally_series_key(a, tally_aggregate_key(a, name_of_key, metric));
	bool agree = !key->described || g_strcmp0(key->unit, says->unit) == 0;
	key->unit = agree ? g_intern_string(says->unit) : NULL;
	key->name = g_intern_string(says->name);
	key->text = g_intern_string(says->text);
	key->source = g_intern_string(says->source);
	key->kind = says->kind;
	key->scope = says->scope;
	key->described = true;
	return key;
}

void
tally_device_summary_read(struct tally_aggregate *a, const struct tally_device_record *r)
{
	struct tally_device_summary *d = tally_aggregate_need_device(a, r->device);
	d->described = true;
	d->api = r->api;
	d->beneath = r->beneath;
	d->name = g_intern_string(r->name);
	d->driver = g_intern_string(r->driver);
	d->driver_version = g_intern_string(r->driver_version);
	d->serialized_by = g_intern_string(r->serialized_by);
	d->vendor_id = r->vendor_id;
	d->has_device_id = r->has_device_id;
	d->device_id = r->device_id;
	d->driver_id = r->driver_id;
	if (r->present_mode) {
		bool none = strcmp(r->present_mode, "immediate") == 0 ||
			    strcmp(r->present_mode, "mailbox") == 0 ||
			    strcmp(r->present_mode, "interval 0") == 0;
		d->present_mode = g_intern_string(r->present_mode);
		d->waits_for_none |= none;
		d->waits_for_screen |= !none;
	}
	for (uint32_t i = 0; i < r->n_facts; i++)
		d->software |= g_str_has_suffix(r->facts[i], ", the CPU");
	d->pci = g_intern_string(r->pci);
	d->uuid = g_intern_string(r->uuid);
	g_ptr_array_set_size(d->off, 0);
	for (uint32_t i = 0; i < r->n_sources; i++) {
		const struct tally_source_info *s = &r->sources[i];
		if (!s->on)
			g_ptr_array_add(d->off,
					g_strdup_printf("%s: %s", s->name,
							s->reason ? s->reason : "no reason given"));
	}
	for (uint32_t i = 0; i < r->n_counters; i++) {
		const struct tally_counter *c = r->counters[i];
		const struct tally_key says = { .unit = c->unit,
						.name = c->name,
						.text = c->description,
						.source = c->source,
						.kind = tally_counter_kind_name(c->kind),
						.scope = tally_scope_name(c->scope) };
		read_key(a, c->key, false, &says)->join = tally_join_of_counter(c);
	}
	for (uint32_t i = 0; i < r->n_metrics; i++) {
		const struct tally_metric_info *m = &r->metrics[i];
		const struct tally_key says = { .unit = m->unit,
						.name = m->name,
						.text = m->expression };
		read_key(a, m->key, true, &says);
	}
}

static void
count_clock(struct tally_device_summary *d, const struct tally_frame_record *f)
{
	for (uint32_t i = 0; i < f->n_metrics; i++)
		if (strcmp(f->metrics[i].key, "gpu_clock") == 0)
			tally_stats_add(&d->clock, f->metrics[i].value);
}

bool
tally_aggregate_clock(struct tally_device_summary *d, struct tally_clock_range *out)
{
	if (!d->clock.moments.n)
		return false;
	out->median_mhz = tally_value_f64(tally_stats_quantile(&d->clock, 0.5));
	out->low_mhz = tally_value_f64(tally_stats_quantile(&d->clock, 0.05));
	out->high_mhz = tally_value_f64(tally_stats_quantile(&d->clock, 0.95));
	out->moved = out->median_mhz > 0 ? (out->high_mhz - out->low_mhz) / out->median_mhz : 0;
	return true;
}

static void
count_surface(struct tally_device_summary *d, const struct tally_frame_record *f)
{
	if ((uint64_t)f->width * f->height <= 1)
		return; /* nobody sees one of a pixel */
	TALLY_EACH_OF (struct tally_surface, s, d->surfaces) {
		if (s->width == f->width && s->height == f->height) {
			s->frames++;
			return;
		}
	}
	struct tally_surface first = { f->width, f->height, 1 };
	if (d->surfaces->len < MOST_SURFACES)
		g_array_append_val(d->surfaces, first);
}

const struct tally_surface *
tally_aggregate_surface(const struct tally_device_summary *d)
{
	const struct tally_surface *most = NULL;
	TALLY_EACH_OF (const struct tally_surface, s, d->surfaces)
		if (!most || s->frames > most->frames)
			most = s;
	return most;
}

void
tally_device_summary_count(struct tally_device_summary *d, const struct tally_frame_record *f)
{
	d->flags |= f->flags;
	d->dropped_passes += f->dropped_passes;
	if (f->has_gpu)
		tally_int192_add_u64(&d->gpu_total, f->gpu_ns);
	if (f->has_unattributed_gpu) {
		d->has_unattributed = true;
		tally_int192_add_u64(&d->unattributed, f->unattributed_gpu_ns);
	}
	if (f->has_coverage && f->has_gpu) {
		d->covered += f->coverage * (double)f->gpu_ns;
		d->coverable += (double)f->gpu_ns;
	}
	if (f->flags & TALLY_FLAG(PICTURED))
		return;
	if (f->flags & TALLY_FLAG(PARTIAL)) {
		d->partial++;
		return;
	}
	d->frames++;
	count_surface(d, f);
	count_clock(d, f);
	tally_queues_add(&d->queues_at_once, f);
	tally_stats_add_u64(&d->cpu, f->cpu_ns);
	tally_stats_add_u64(&d->overhead, f->overhead_ns);
	if (f->has_gpu)
		tally_stats_add_u64(&d->gpu, f->gpu_ns);
}

void
tally_device_summary_add_queue(struct tally_aggregate *a, struct tally_device_summary *d,
			       struct tally_group *g, const struct tally_pass_record *p)
{
	if (p->queue_family < 0)
		return;
	if (!d->has_queue) {
		d->has_queue = true;
		d->queue_family = p->queue_family;
		d->queue_index = p->queue_index;
	}
	a->several_queues |= p->queue_family != d->queue_family || p->queue_index != d->queue_index;
	struct tally_row_queue *q = &g->queue;
	q->several |= q->known && (p->queue_family != q->family || p->queue_index != q->index);
	q->known = true;
	q->family = p->queue_family;
	q->index = p->queue_index;
}
