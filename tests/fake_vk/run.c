/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#include <stdlib.h>
#include <string.h>

void fake_copy_results(const struct fake_op *op);

/* State that is kept throughout a batch. */
struct machine {
	uint32_t bits; /* valid bits of a timestamp */
	bool suspended;
	struct fake_active active[FAKE_MAX_ACTIVE];
	uint32_t n_active;
	uint64_t statistics[FAKE_N_STATISTICS];
	uint32_t depth;
};

uint64_t
fake_stamp(uint32_t bits)
{
	uint64_t now = fake_current->clock;
	uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	static uint64_t shift;
	/* The valid bits overflow 20 ms after the first timestamp. */
	if (fake_config.wrap && !shift)
		shift = mask - now - 20000000;
	now += shift;
	if (fake_config.noise && bits < 64)
		return now | ~mask;
	return now & mask;
}

static void
count_work(struct machine *m, const struct fake_op *op)
{
	m->statistics[0] += op->vertices;     /* input assembly vertices */
	m->statistics[1] += op->vertices / 3; /* ... primitives */
	m->statistics[2] += op->vertices;     /* vertex shader */
	m->statistics[5] += op->vertices / 3; /* clipping, in and out */
	m->statistics[6] += op->vertices / 3;
	m->statistics[7] += op->draws * 100; /* fragments */
	m->statistics[10] += op->groups * 64;
	m->statistics[12] += op->vertices ? 0 : op->draws;
}

static void
need_reset(const struct fake_object *pool, uint32_t query, const char *id)
{
	if (pool->queries.queries[query].state != FAKE_QUERY_RESET)
		fake_rule(id, "query %u of pool %u was not reset (%u)", query, pool->number,
			  pool->queries.queries[query].state);
}

static void
write_stamp(struct machine *m, const struct fake_op *op)
{
	for (uint32_t i = 0; i < op->n; i++) {
		struct fake_query *q = &op->object->queries.queries[op->first + i];
		need_reset(op->object, op->first + i, "VUID-vkCmdWriteTimestamp-None-00830");
		q->values[0] = i ? 0 : fake_stamp(m->bits);
		q->state = FAKE_QUERY_DONE;
	}
}

static void
begin_query(struct machine *m, const struct fake_op *op)
{
	for (uint32_t i = 0; i < op->n; i++) {
		need_reset(op->object, op->first + i, "VUID-vkCmdBeginQuery-None-00807");
		op->object->queries.queries[op->first + i].state = FAKE_QUERY_ACTIVE;
	}
	if (m->n_active == FAKE_MAX_ACTIVE)
		return;
	struct fake_active *a = &m->active[m->n_active++];
	a->pool = op->object;
	a->query = op->first;
	memcpy(a->at_begin, m->statistics, sizeof(a->at_begin));
}

static void
fill(struct fake_query *q, const struct fake_object *pool, const uint64_t *begin,
     const uint64_t *end)
{
	uint32_t v = 0;
	for (uint32_t bit = 0; bit < FAKE_N_STATISTICS; bit++)
		if (pool->queries.bits & (1u << bit))
			q->values[v++] = end[bit] - begin[bit];
	if (!pool->queries.bits) /* samples that passed */
		q->values[0] = end[7] - begin[7];
	q->state = FAKE_QUERY_DONE;
}

static void
end_query(struct machine *m, const struct fake_op *op)
{
	for (uint32_t i = 0; i < m->n_active; i++) {
		struct fake_active *a = &m->active[i];
		if (a->pool != op->object || a->query != op->first)
			continue;
		for (uint32_t k = 0; k < op->n; k++)
			fill(&op->object->queries.queries[op->first + k], op->object,
			     k ? m->statistics : a->at_begin, m->statistics);
		*a = m->active[--m->n_active];
		return;
	}
}

static void
rendering(struct machine *m, const struct fake_op *op)
{
	bool resumes = op->flags & VK_RENDERING_RESUMING_BIT;
	if (op->kind == FAKE_OP_RENDERING) {
		if (resumes && !m->suspended)
			fake_rule("VUID-VkSubmitInfo-pCommandBuffers-06193",
				  "nothing to resume");
		m->suspended = false;
	} else {
		m->suspended = op->flags & VK_RENDERING_SUSPENDING_BIT;
	}
}

static void run_buffer(struct machine *m, const struct fake_object *cb);

static void
run_op(struct machine *m, const struct fake_op *op)
{
	bool passes_on = op->kind == FAKE_OP_RENDERING || op->kind == FAKE_OP_END_RENDERING;
	if (m->suspended && (op->info->action || op->info->sync) && !passes_on)
		fake_rule("VUID-VkSubmitInfo-pCommandBuffers-06015",
			  "%s between suspended halves", op->info->name);
	if (op->object && op->object->dead) {
		fake_rule("VUID-vkQueueSubmit-pCommandBuffers-00070", "%s: object is gone",
			  op->info->name);
		return;
	}
	switch (op->kind) {
	case FAKE_OP_STAMP:
		write_stamp(m, op);
		return;
	case FAKE_OP_BEGIN:
		begin_query(m, op);
		return;
	case FAKE_OP_END:
		end_query(m, op);
		return;
	case FAKE_OP_RESET:
		for (uint32_t i = 0; i < op->n; i++)
			op->object->queries.queries[op->first + i] =
				(struct fake_query){ .state = FAKE_QUERY_RESET };
		return;
	case FAKE_OP_COPY_RESULTS:
		fake_copy_results(op);
		break;
	case FAKE_OP_EXECUTE:
		run_buffer(m, op->object);
		return;
	case FAKE_OP_RENDERING:
	case FAKE_OP_END_RENDERING:
		rendering(m, op);
		break;
	default:
		count_work(m, op);
	}
	if (op->info->action || op->info->sync)
		fake_current->clock += FAKE_TICK;
}

static void
run_buffer(struct machine *m, const struct fake_object *cb)
{
	if (cb->dead || m->depth > 16)
		return;
	m->depth++;
	for (uint32_t i = 0; i < cb->cb.n_ops; i++)
		run_op(m, &cb->cb.ops[i]);
	m->depth--;
}

void
fake_run(struct fake_object *queue, struct fake_submission *s)
{
	struct machine m = { .bits = fake_config.families[queue->queue.family].timestamp_bits };
	uint64_t now = fake_clock();
	if (fake_config.beside && now < queue->queue.until)
		fake_current->clock = queue->queue.until;
	for (uint32_t i = 0; i < s->n_buffers; i++)
		run_buffer(&m, s->buffers[i]);
	if (fake_config.beside) {
		queue->queue.until = fake_current->clock;
		fake_current->clock = now;
	}
	if (m.suspended)
		fake_rule("VUID-VkSubmitInfo-pCommandBuffers-06014", "ends suspended");
}
