/* SPDX-License-Identifier: MIT */
/* vk_layer/record/labels.h - the label stack of a queue: label regions may span command buffers
 * and submissions.
 *
 * Pushes and pops recorded in command buffers are replayed at submission, in order, between the
 * queue's own. A pop of an empty stack is ignored; beyond 64 levels labels are only counted.
 * Called with the device's lock held.
 */
#ifndef PASSTALLY_VK_LAYER_LABELS_H
#define PASSTALLY_VK_LAYER_LABELS_H

#include <stdbool.h>
#include <stddef.h>

struct tally_stream;
struct vk_labels;

/* NULL on OOM. `dxvk`: DXVK's numbers of passes and images in the names of its own regions are left
 * out, since they differ from frame to frame and from run to run. */
struct vk_labels *vk_labels_create(bool dxvk);
void vk_labels_destroy(struct vk_labels *labels);
void vk_labels_push(struct vk_labels *labels, const char *name);
void vk_labels_pop(struct vk_labels *labels);
/* Whether there is a path at all. If so, vk_labels_path() returns NULL only for lack of
 * room. */
bool vk_labels_any(const struct vk_labels *labels);
/* The path joined by '/', interned; NULL when there is none. Cheap if nothing has changed. */
const char *vk_labels_path(struct vk_labels *labels, struct tally_stream *stream);

#endif
