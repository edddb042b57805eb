/* vk_layer/record/labels.h - the label stack of a queue: regions may straddle command buffers
 * and submits.
 *
 * Pushes and pops recorded in command buffers are replayed at submission, in order, between the
 * queue's own. A pop of an empty stack is ignored; past 64 levels labels are only counted. With the
 * device's lock.
 */
#ifndef PASSTALLY_VK_LAYER_LABELS_H
#define PASSTALLY_VK_LAYER_LABELS_H

#include <stdbool.h>
#include <stddef.h>

struct tally_stream;
struct vk_labels;

struct vk_labels *vk_labels_create(void); /* NULL on OOM */
void vk_labels_destroy(struct vk_labels *labels);
void vk_labels_push(struct vk_labels *labels, const char *name);
void vk_labels_pop(struct vk_labels *labels);
/* Is there a path at all? Then vk_labels_path() gives NULL only when there is no room for it. */
bool vk_labels_any(const struct vk_labels *labels);
/* The path joined by '/', interned; NULL when there is none. Cheap while nothing changed. */
const char *vk_labels_path(struct vk_labels *labels, struct tally_stream *stream);

#endif
