/* SPDX-License-Identifier: MIT */
#include "vk_layer/exact/resolve.h"

#include <pthread.h>
#include <stdlib.h>

#include "vk_layer/record/handles.h"

/* The operations that one queue's line can have: beyond them nothing is known
 * until it is idle. */
#define MAX_STANDING 4096

struct semaphore {
	enum vk_semaphore_kind kind;
	uint64_t submitted; /* binary: signals so far, also by operations that are in a line */
	uint64_t promised; /* the value that it will reach without the game */
};

struct point {
	uint64_t handle, value;
	struct semaphore *semaphore; /* set once bound; NULL: unknown, or ended */
	bool ended;
};

struct vk_op {
	struct vk_op *next;
	uint64_t serial;
	uint32_t n_waits, n_points;
	struct point points[]; /* waits, then signals */
};

struct vk_line {
	struct vk_line *next;
	struct vk_op *first, *last;
	uint32_t n;
	bool unknown; /* an operation is missing from the line ... */
	uint64_t unknown_serial; /* ... whose serial is at most this */
};

struct vk_resolve {
	pthread_mutex_t lock; /* guards all members that follow, and all lines */
	struct vk_handles semaphores;
	struct vk_line *lines;
	bool broken; /* memory ran out: an operation that is not recorded may signal anything */
};

struct vk_resolve *
vk_resolve_create(void)
{
	struct vk_resolve *r = calloc(1, sizeof(*r));
	if (r && pthread_mutex_init(&r->lock, NULL) == 0)
		return r;
	free(r);
	return NULL;
}

static void
free_value(void *value, void *data)
{
	(void)data;
	free(value);
}

void
vk_resolve_destroy(struct vk_resolve *r)
{
	if (!r)
		return;
	while (r->lines) {
		struct vk_line *line = r->lines;
		r->lines = line->next;
		while (line->first) {
			struct vk_op *op = line->first;
			line->first = op->next;
			free(op);
		}
		free(line);
	}
	vk_handles_each(&r->semaphores, free_value, NULL);
	vk_handles_finish(&r->semaphores);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

struct vk_line *
vk_line_create(struct vk_resolve *r)
{
	struct vk_line *line = r ? calloc(1, sizeof(*line)) : NULL;
	if (!line)
		return NULL;
	pthread_mutex_lock(&r->lock);
	line->next = r->lines;
	r->lines = line;
	pthread_mutex_unlock(&r->lock);
	return line;
}

/* ---- operations ---- */

struct vk_op *
vk_op_create(uint32_t n_waits, uint32_t n_signals)
{
	size_t n = (size_t)n_waits + n_signals;
	struct vk_op *op = calloc(1, sizeof(*op) + n * sizeof(op->points[0]));
	if (!op)
		return NULL;
	op->n_waits = n_waits;
	op->n_points = (uint32_t)n;
	return op;
}

void
vk_op_set(struct vk_op *op, uint32_t i, uint64_t semaphore, uint64_t value)
{
	if (op)
		op->points[i] = (struct point){ .handle = semaphore, .value = value };
}

void
vk_op_destroy(struct vk_op *op)
{
	free(op);
}

/* Binds the points from `first` to `end` - 1 to the current semaphores: the game may not destroy
 * one that is in use. */
static void
bind(struct vk_resolve *r, struct vk_op *op, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		struct point *p = &op->points[i];
		p->semaphore = vk_handles_find(&r->semaphores, p->handle);
		if (!p->semaphore || p->semaphore->kind != VK_SEMAPHORE_BINARY)
			continue;
		p->semaphore->submitted += i >= op->n_waits;
		p->value = p->semaphore->submitted;
	}
}

static enum vk_verdict
judge(const struct vk_op *op)
{
	for (uint32_t i = 0; i < op->n_waits; i++) {
		const struct point *p = &op->points[i];
		if (p->ended)
			continue;
		if (!p->semaphore || p->semaphore->kind == VK_SEMAPHORE_EXTERNAL)
			return VK_WAITS_EXTERNAL;
		if (p->semaphore->promised < p->value)
			return VK_WAITS_HOST;
	}
	return VK_RESOLVED;
}

static void
promise(struct vk_op *op)
{
	for (uint32_t i = op->n_waits; i < op->n_points; i++) {
		struct semaphore *s = op->points[i].semaphore;
		if (s && s->promised < op->points[i].value)
			s->promised = op->points[i].value;
	}
}

static void
pop(struct vk_line *line)
{
	struct vk_op *op = line->first;
	promise(op);
	line->first = op->next;
	if (!line->first)
		line->last = NULL;
	line->n--;
	vk_op_destroy(op);
}

/* Removes the operations that can end by now from their lines, which may
 * allow others to end. */
static void
remove_resolved(struct vk_resolve *r)
{
	for (bool moved = true; moved;) {
		moved = false;
		for (struct vk_line *line = r->lines; line; line = line->next) {
			while (!line->unknown && line->first &&
			       judge(line->first) == VK_RESOLVED) {
				pop(line);
				moved = true;
			}
		}
	}
}

/* ---- semaphores ---- */

void
vk_resolve_learn(struct vk_resolve *r, uint64_t semaphore, enum vk_semaphore_kind kind,
		 uint64_t value)
{
	struct semaphore *s = r ? malloc(sizeof(*s)) : NULL;
	if (!s)
		return;
	*s = (struct semaphore){ .kind = kind, .promised = value };
	if (kind == VK_SEMAPHORE_BINARY)
		s->promised = 0;
	pthread_mutex_lock(&r->lock);
	bool stored = vk_handles_put(&r->semaphores, semaphore, s);
	pthread_mutex_unlock(&r->lock);
	if (!stored)
		free(s);
}

void
vk_resolve_share(struct vk_resolve *r, uint64_t semaphore)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	struct semaphore *s = vk_handles_find(&r->semaphores, semaphore);
	if (s)
		s->kind = VK_SEMAPHORE_EXTERNAL;
	pthread_mutex_unlock(&r->lock);
}

static void
unbind(struct vk_op *op, const struct semaphore *s)
{
	for (uint32_t i = 0; i < op->n_points; i++) {
		if (op->points[i].semaphore != s)
			continue;
		op->points[i].semaphore = NULL;
		op->points[i].ended = true;
	}
}

void
vk_resolve_forget(struct vk_resolve *r, uint64_t semaphore)
{
	if (!r || !semaphore)
		return;
	pthread_mutex_lock(&r->lock);
	struct semaphore *s = vk_handles_remove(&r->semaphores, semaphore);
	for (struct vk_line *line = s ? r->lines : NULL; line; line = line->next)
		for (struct vk_op *op = line->first; op; op = op->next)
			unbind(op, s);
	remove_resolved(r);
	pthread_mutex_unlock(&r->lock);
	free(s);
}

void
vk_resolve_signal(struct vk_resolve *r, uint64_t semaphore, uint64_t value)
{
	if (!r || !semaphore)
		return;
	pthread_mutex_lock(&r->lock);
	struct semaphore *s = vk_handles_find(&r->semaphores, semaphore);
	if (s && s->kind == VK_SEMAPHORE_BINARY)
		s->promised = ++s->submitted;
	else if (s && s->promised < value)
		s->promised = value;
	remove_resolved(r);
	pthread_mutex_unlock(&r->lock);
}

/* ---- queues ---- */

enum vk_verdict
vk_resolve_ask(struct vk_resolve *r, struct vk_line *line, struct vk_op *op)
{
	if (!r || !line || !op)
		return VK_WAITS_UNKNOWN;
	pthread_mutex_lock(&r->lock);
	bind(r, op, 0, op->n_waits);
	enum vk_verdict verdict = judge(op);
	if (line->unknown || r->broken)
		verdict = VK_WAITS_UNKNOWN;
	else if (line->first && verdict == VK_RESOLVED)
		verdict = VK_WAITS_BEHIND;
	pthread_mutex_unlock(&r->lock);
	return verdict;
}

static void
lose_track(struct vk_line *line, uint64_t serial)
{
	line->unknown = true;
	if (line->unknown_serial < serial)
		line->unknown_serial = serial;
}

void
vk_resolve_submitted(struct vk_resolve *r, struct vk_line *line, struct vk_op *op,
		     uint64_t serial)
{
	if (!r || !line) {
		vk_op_destroy(op);
		return;
	}
	pthread_mutex_lock(&r->lock);
	if (!op) {
		r->broken = true;
	} else if (line->n >= MAX_STANDING) {
		lose_track(line, serial);
		/* Its signals are not promised by any operation, but counted. */
		bind(r, op, op->n_waits, op->n_points);
		vk_op_destroy(op);
	} else {
		bind(r, op, 0, op->n_points);
		op->serial = serial;
		if (line->last)
			line->last->next = op;
		else
			line->first = op;
		line->last = op;
		line->n++;
		remove_resolved(r);
	}
	pthread_mutex_unlock(&r->lock);
}

void
vk_resolve_completed(struct vk_resolve *r, struct vk_line *line, uint64_t serial)
{
	if (!r || !line)
		return;
	pthread_mutex_lock(&r->lock);
	while (line->first && line->first->serial <= serial)
		pop(line);
	if (line->unknown_serial <= serial)
		line->unknown = false;
	remove_resolved(r);
	pthread_mutex_unlock(&r->lock);
}
