/* SPDX-License-Identifier: MIT */
#include "cli/export/tracks.h"

#include "cli/shared/each.h"

struct tally_timeline_track *
tally_tracks_add(struct tally_timeline *t, enum tally_track_kind kind,
		 const struct tally_timeline_track *parent, char *name, int64_t device, int rank)
{
	struct tally_timeline_track *track = g_new0(struct tally_timeline_track, 1);
	track->number = t->tracks->len + 1;
	track->kind = kind;
	track->parent = parent;
	track->name = name;
	track->device = device;
	track->rank = rank;
	g_ptr_array_add(t->tracks, track);
	return track;
}

void
tally_tracks_tell(struct tally_timeline *t, const struct tally_timeline_track *track)
{
	t->sink->track(t->sink->user, track);
}

void
tally_tracks_free(gpointer v)
{
	struct tally_timeline_track *track = v;
	g_free(track->name);
	g_free(track->description);
	g_free(track->unit);
	g_free(track);
}

static void
finish_layers(struct tally_layers *layers)
{
	for (uint32_t i = 0; i < layers->n; i++) {
		g_hash_table_destroy(layers->layer[i].numbers[false]);
		g_hash_table_destroy(layers->layer[i].numbers[true]);
	}
}

static void
free_lane(gpointer v)
{
	struct tally_lane *lane = v;
	finish_layers(&lane->gpu);
	finish_layers(&lane->gpu_own);
	finish_layers(&lane->work);
	finish_layers(&lane->work_own);
	g_free(lane);
}

void
tally_tracks_free_device(gpointer v)
{
	struct tally_timeline_device *d = v;
	finish_layers(&d->frames);
	g_ptr_array_unref(d->lanes);
	g_free(d->clock);
	g_free(d);
}

struct tally_timeline_track *
tally_tracks_process(struct tally_timeline *t)
{
	if (!t->process) {
		t->process = tally_tracks_add(t, TALLY_TRACK_PROCESS, NULL,
					      g_strdup(t->run.program), -1, 0);
		tally_tracks_tell(t, t->process);
	}
	return t->process;
}

static struct tally_timeline_device *
find_device(struct tally_timeline *t, uint32_t number)
{
	struct tally_timeline_device *d = g_hash_table_lookup(t->devices, GUINT_TO_POINTER(number));
	if (d)
		return d;
	d = g_new0(struct tally_timeline_device, 1);
	d->number = number;
	d->lanes = g_ptr_array_new_with_free_func(free_lane);
	g_hash_table_insert(t->devices, GUINT_TO_POINTER(number), d);
	return d;
}

struct tally_timeline_device *
tally_tracks_device(struct tally_timeline *t, uint32_t number,
		    const struct tally_device_record *record)
{
	struct tally_timeline_device *d = find_device(t, number);
	if (d->group)
		return d;
	GString *name = g_string_new(NULL);
	g_string_printf(name, "device %u", number);
	if (record && record->name && *record->name)
		g_string_append_printf(name, ": %s", record->name);
	if (record)
		g_string_append_printf(name, " (%s)", tally_api_name(record->api));
	d->group = tally_tracks_add(t, TALLY_TRACK_GROUP, tally_tracks_process(t),
				    g_string_free(name, FALSE), number,
				    (int)g_hash_table_size(t->devices));
	tally_tracks_tell(t, d->group);
	return d;
}

struct tally_lane *
tally_tracks_lane(struct tally_timeline_device *d, const struct tally_pass_record *p)
{
	TALLY_EACH (struct tally_lane, found, d->lanes)
		if (found->context == p->context && found->queue_family == p->queue_family &&
		    found->queue_index == p->queue_index)
			return found;
	struct tally_lane *lane = g_new0(struct tally_lane, 1);
	lane->context = p->context;
	lane->queue_family = p->queue_family;
	lane->queue_index = p->queue_index;
	tally_export_lane_name(p, lane->name, sizeof(lane->name));
	lane->rank = TALLY_RANK_LANES + (int)d->lanes->len * TALLY_RANKS_A_LANE;
	g_ptr_array_add(d->lanes, lane);
	return lane;
}

static struct tally_layer *
add_layer(struct tally_timeline *t, struct tally_layers *layers,
	  const struct tally_timeline_device *d, const struct tally_layer_place *place)
{
	struct tally_layer *layer = &layers->layer[layers->n++];
	const struct tally_timeline_clock *clock = place->clock;
	char *name = g_strdup_printf("%s%s%s", place->lane, place->what,
				     clock ? ", own clock (not matched with the CPU's)" : "");
	layer->track = tally_tracks_add(t, TALLY_TRACK_SLICES, d->group, name, d->number,
					place->rank);
	layer->track->clock = clock;
	layer->numbers[false] = g_hash_table_new(NULL, NULL);
	layer->numbers[true] = g_hash_table_new(NULL, NULL);
	if (clock)
		layer->track->description = g_strdup_printf(
			"On the GPU's own clock, which could not be matched with "
			"the CPU's: the stamp %" G_GUINT64_FORMAT " is shown at %" G_GUINT64_FORMAT
			", where the CPU began that frame. Compare these times "
			"only with each other.",
			clock->gpu_ns, clock->cpu_ns);
	tally_tracks_tell(t, layer->track);
	return layer;
}

struct tally_layer *
tally_tracks_take_layer(struct tally_timeline *t, struct tally_layers *layers,
			const struct tally_timeline_device *d,
			const struct tally_layer_place *place, uint64_t start_ns, uint64_t end_ns)
{
	struct tally_layer *layer = NULL;
	for (uint32_t i = 0; i < layers->n && !layer; i++)
		if (layers->layer[i].end_ns <= start_ns)
			layer = &layers->layer[i];
	if (!layer && layers->n == TALLY_MOST_LAYERS)
		return NULL;
	if (!layer)
		layer = add_layer(t, layers, d, place);
	layer->end_ns = end_ns;
	return layer;
}

static struct tally_timeline_track *
add_number(struct tally_timeline *t, struct tally_layer *layer, const char *key,
	   const struct tally_number_place *where, bool metric)
{
	const struct tally_timeline_track *beside = layer->track;
	char layer_name[24] = "";
	if (where->layer)
		g_snprintf(layer_name, sizeof(layer_name), " #%u", where->layer + 1);
	struct tally_timeline_track *track = tally_tracks_add(
		t, metric ? TALLY_TRACK_METRIC : TALLY_TRACK_COUNTER, beside->parent,
		g_strdup_printf("%s (%s%s%s)", key, where->what,
				where->own_clock ? ", own clock" : "", layer_name),
		beside->device, beside->rank + 1);
	track->clock = beside->clock;
	const struct tally_export_key *says = tally_export_names_key(&t->names,
								     (uint32_t)beside->device, key);
	if (says) {
		track->unit = g_strdup(says->unit);
		track->description = g_strdup(says->description);
	} else if (g_str_has_suffix(key, "_ns")) {
		track->unit = g_strdup("ns");
	}
	tally_tracks_tell(t, track);
	g_hash_table_insert(layer->numbers[metric], (gpointer)key, track);
	return track;
}

const struct tally_timeline_track *
tally_tracks_number(struct tally_timeline *t, struct tally_layer *layer, const char *key,
		    const struct tally_number_place *where, bool metric)
{
	const struct tally_timeline_track *track = g_hash_table_lookup(layer->numbers[metric], key);
	return track ? track : add_number(t, layer, key, where, metric);
}
