/* SPDX-License-Identifier: MIT */
/* vk_layer/record/recording.c - memory of recordings: growing lists, references, reuse.
 *
 * Games record the same command buffers every frame, so a command buffer's recording is emptied and
 * keeps its lists, if no submission refers to it.
 */
#include "vk_layer/record/recording.h"

#include <stdlib.h>
#include <string.h>

#include "vk_layer/picture/picture.h"
#include "vk_layer/record/passes.h"

/* Limits of one recording, in addition to config->max_passes: labels with executed secondaries,
 * and workloads, as multiples of it; text of labels; one label. */
#define ITEMS_PER_PASS 8u
#define WORKLOADS_PER_PASS 8u
#define MAX_TEXT (4u << 20)
#define MAX_LABEL 1023u

/* Makes room for `more` entries after `n`, with a limit of `most` in all. `list`: where the
 * pointer to the first is. */
static bool
make_room(void *list, uint32_t *room, uint32_t n, size_t more, size_t size, size_t most)
{
	if (n + more <= *room)
		return true;
	if (n + more > most)
		return false;
	size_t want = *room ? (size_t)*room * 2 : 8;
	while (want < n + more)
		want *= 2;
	if (want > most)
		want = most;
	void *bigger;
	memcpy(&bigger, list, sizeof(bigger));
	bigger = realloc(bigger, want * size);
	if (!bigger)
		return false;
	memcpy(list, &bigger, sizeof(bigger));
	*room = (uint32_t)want;
	return true;
}

static size_t
max_passes(const struct vk_recording *r)
{
	return r->device->config->max_passes;
}

static bool
room_for_item(struct vk_recording *r)
{
	return make_room(&r->items, &r->room_items, r->n_items, 1, sizeof(*r->items),
			 ITEMS_PER_PASS * (max_passes(r) + 64));
}

/* There is room for it. */
static struct vk_item *
add_item(struct vk_recording *r, enum vk_item_kind kind)
{
	struct vk_item *item = &r->items[r->n_items++];
	item->kind = kind;
	item->n_passes = r->n_passes;
	return item;
}

static bool
room_for_text(struct vk_recording *r, size_t len)
{
	return make_room(&r->text, &r->room_text, r->n_text, len, 1, MAX_TEXT);
}

bool
vk_recording_room_for_pass(struct vk_recording *r)
{
	if (r->n_passes < r->room_passes ||
	    make_room(&r->passes, &r->room_passes, r->n_passes, 1, sizeof(*r->passes),
		      max_passes(r)))
		return true;
	r->dropped++;
	r->broken |= r->n_passes < max_passes(r);
	return false;
}

void
vk_recording_add_label(struct vk_recording *r, bool begins, const char *name)
{
	size_t len = begins && name ? strnlen(name, MAX_LABEL) : 0;
	if (!begins && r->lost_labels > 0) {
		r->lost_labels--; /* the end of a label that was not stored */
		return;
	}
	if (begins && !room_for_text(r, len + 1)) {
		r->broken = true;
		name = NULL; /* its end will follow: better a label without a name */
		len = 0;
	}
	if ((begins && !room_for_text(r, len + 1)) || !room_for_item(r)) {
		r->broken = true;
		r->lost_labels += begins ? 1 : -1;
		return;
	}
	struct vk_item *item =
		add_item(r, begins ? VK_ITEM_LABEL_BEGIN : VK_ITEM_LABEL_END);
	item->text = r->n_text;
	if (!begins)
		return;
	if (len)
		memcpy(r->text + r->n_text, name, len);
	r->text[r->n_text + len] = '\0';
	r->n_text += (uint32_t)len + 1;
}

bool
vk_recording_add_execute(struct vk_recording *r, struct vk_recording *secondary)
{
	if (!room_for_item(r)) {
		r->broken = true;
		return false;
	}
	add_item(r, VK_ITEM_EXECUTE)->secondary = vk_recording_ref(secondary);
	r->executes = true;
	return true;
}

struct vk_workload *
vk_recording_add_workload(struct vk_recording *r, const char *command)
{
	if (!make_room(&r->workloads, &r->room_workloads, r->n_workloads, 1,
		       sizeof(*r->workloads), WORKLOADS_PER_PASS * max_passes(r)))
		return NULL;
	struct vk_workload *w = &r->workloads[r->n_workloads++];
	*w = (struct vk_workload){ .command = command, .n_items = r->n_items };
	return w;
}

bool
vk_recording_add_inner(struct vk_recording *r, struct vk_recording *owner)
{
	if (!make_room(&r->inner, &r->room_inner, r->n_inner, 1, sizeof(*r->inner),
		       ITEMS_PER_PASS * max_passes(r)))
		return false;
	r->inner[r->n_inner++] = owner;
	return true;
}

bool
vk_recording_add_use(struct vk_recording *r, struct tally_pipeline *pipeline,
		     const struct tally_call_counts *call_counts)
{
	if (!make_room(&r->uses, &r->room_uses, r->n_uses, 1, sizeof(*r->uses),
		       WORKLOADS_PER_PASS * max_passes(r)))
		return false;
	r->uses[r->n_uses++] = (struct vk_pipeline_use){ pipeline, *call_counts };
	return true;
}

/* ---- references ---- */

static void
free_recording(struct vk_recording *r)
{
	free(r->items);
	free(r->passes);
	free(r->workloads);
	free(r->inner);
	free(r->uses);
	free(r->text);
	free(r);
}

/* The caller holds the device's lock if it has anything that needs the lock. */
static void
empty(struct vk_recording *r)
{
	if (r->runs.runs)
		vk_slots_release(r->device, &r->runs);
	vk_pictures_release(r->device, r->pictures);
	for (uint32_t i = 0; r->executes && i < r->n_items; i++) {
		if (r->items[i].kind == VK_ITEM_EXECUTE)
			vk_recording_unref(r->items[i].secondary, true);
	}
	*r = (struct vk_recording){
		.device = r->device,
		.items = r->items,
		.room_items = r->room_items,
		.passes = r->passes,
		.room_passes = r->room_passes,
		.workloads = r->workloads,
		.room_workloads = r->room_workloads,
		.inner = r->inner,
		.room_inner = r->room_inner,
		.uses = r->uses,
		.room_uses = r->room_uses,
		.text = r->text,
		.room_text = r->room_text,
	};
}

struct vk_recording *
vk_recording_create(struct vk_device *d, uint32_t family)
{
	struct vk_recording *r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->device = d;
	r->family = family;
	atomic_init(&r->refs, 1);
	return r;
}

struct vk_recording *
vk_recording_ref(struct vk_recording *r)
{
	atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
	return r;
}

void
vk_recording_unref(struct vk_recording *r, bool locked)
{
	if (!r || atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1)
		return;
	struct vk_device *d = r->device;
	if (!locked)
		pthread_mutex_lock(&d->lock);
	empty(r);
	if (!locked)
		pthread_mutex_unlock(&d->lock);
	free_recording(r);
}

struct vk_recording *
vk_recording_empty(struct vk_recording *old)
{
	/* Other threads can only release their references: the game may not submit what
	 * it resets. */
	if (!old || atomic_load_explicit(&old->refs, memory_order_acquire) != 1) {
		vk_recording_unref(old, false);
		return NULL;
	}
	struct vk_device *d = old->device;
	uint32_t family = old->family;
	bool lock = old->runs.runs || old->executes || old->pictures;
	if (lock)
		pthread_mutex_lock(&d->lock);
	empty(old);
	if (lock)
		pthread_mutex_unlock(&d->lock);
	old->family = family;
	atomic_init(&old->refs, 1);
	return old;
}

struct vk_recording *
vk_recording_renew(struct vk_recording *old, struct vk_device *d, uint32_t family)
{
	struct vk_recording *r = vk_recording_empty(old);
	if (!r)
		return vk_recording_create(d, family);
	r->family = family;
	return r;
}
