/* SPDX-License-Identifier: MIT */
#include "layer/frame/pipeline.h"

#include "layer/frame/frame_part.h"
#include "layer/frame/intern.h"
#include "layer/pass_id.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define MAX_PIPELINES 65536

struct entry {
	UT_hash_handle hh;
	struct tally_pipeline pipeline;
	struct tally_stage_record stages[];
};

/* Guards the table; never taken while another of our locks is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static unsigned n_entries;

void
tally_pipeline_around_fork(bool begins)
{
	(begins ? pthread_mutex_lock : pthread_mutex_unlock)(&lock);
}

static uint64_t
put(uint64_t hash, const char *text)
{
	return tally_fnv1a(hash, text, strlen(text));
}

uint64_t
tally_pipeline_id(const struct tally_stage_record *stages, uint32_t n)
{
	uint64_t hash = put(TALLY_FNV_OFFSET, "p1");
	for (uint32_t i = 0; i < n; i++) {
		static const char hex[] = "0123456789abcdef";
		char code[16];
		for (unsigned d = 0; d < 16; d++)
			code[d] = hex[stages[i].code >> (60 - 4 * d) & 15];
		hash = put(hash, "|");
		hash = put(hash, tally_stage_name(stages[i].stage));
		hash = put(hash, ":");
		hash = put(hash, stages[i].entry ? stages[i].entry : "");
		hash = put(hash, ":");
		hash = tally_fnv1a(hash, code, sizeof(code));
	}
	return hash;
}

enum tally_pass_kind
tally_pipeline_kind(const struct tally_stage_record *stages, uint32_t n)
{
	if (n && stages[0].stage == TALLY_STAGE_COMPUTE)
		return TALLY_PASS_COMPUTE;
	return n && stages[0].stage >= TALLY_STAGE_RAYGEN ? TALLY_PASS_RAYTRACING
							  : TALLY_PASS_RENDER;
}

static int
compare_stages(const void *a, const void *b)
{
	const struct tally_stage_record *x = a, *y = b;
	if (x->stage != y->stage)
		return x->stage < y->stage ? -1 : 1;
	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	return strcmp(x->entry ? x->entry : "", y->entry ? y->entry : "");
}

/* Called with the lock held. */
static struct tally_pipeline *
add(uint64_t id, const struct tally_stage_record *stages, uint32_t n)
{
	if (n_entries == MAX_PIPELINES)
		return NULL;
	struct entry *e = calloc(1, sizeof(*e) + n * sizeof(*stages));
	if (!e)
		return NULL;
	e->pipeline.id = id;
	e->pipeline.n_stages = n;
	e->pipeline.stages = memcpy(e->stages, stages, n * sizeof(*stages));
	HASH_ADD(hh, entries, pipeline.id, sizeof(id), e);
	if (!e->hh.tbl) {
		free(e);
		return NULL;
	}
	n_entries++;
	return &e->pipeline;
}

struct tally_pipeline *
tally_pipeline_intern(struct tally_stage_record *stages, uint32_t n)
{
	if (!n)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		const char *entry = stages[i].entry;
		stages[i].entry = entry && *entry ? tally_intern_label(NULL, entry, strlen(entry))
						  : NULL;
	}
	qsort(stages, n, sizeof(*stages), compare_stages);
	uint64_t id = tally_pipeline_id(stages, n);
	struct entry *e = NULL;
	pthread_mutex_lock(&lock);
	HASH_FIND(hh, entries, &id, sizeof(id), e);
	struct tally_pipeline *pipeline = e ? &e->pipeline : add(id, stages, n);
	pthread_mutex_unlock(&lock);
	return pipeline;
}

/* Whether `name` is one of those in `names`. */
static bool
is_among(const char *names, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = names; (at = strstr(at, name)); at++)
		if ((at == names || (at - names > 1 && memcmp(at - 2, ", ", 2) == 0)) &&
		    (!at[len] || strncmp(at + len, ", ", 2) == 0))
			return true;
	return false;
}

/* "OLD, NAME"; OLD itself where the name is in it, or too long. NULL: no memory. */
static const char *
joined(const char *old, const char *name)
{
	char both[512];
	if (!old)
		return name;
	int n = snprintf(both, sizeof(both), "%s, %s", old, name);
	if (n >= (int)sizeof(both) || is_among(old, name))
		return old;
	return tally_intern_label(NULL, both, (size_t)n);
}

static const char *
renamed(const char *old, const char *before, const char *name)
{
	return old && strcmp(old, before) == 0 ? name : old;
}

void
tally_pipeline_set_name(struct tally_pipeline *pipeline, const char *before, const char *name,
			size_t len)
{
	const char *text = pipeline && name && len ? tally_intern_label(NULL, name, len) : NULL;
	if (!text || !*text)
		return;
	const char *old = atomic_load(&pipeline->name), *all;
	do
		all = before ? renamed(old, before, text) : joined(old, text);
	while (all && !atomic_compare_exchange_strong(&pipeline->name, &old, all));
}

void
tally_pipeline_set_statistics(struct tally_pipeline *pipeline,
			      struct tally_pipeline_statistics *statistics)
{
	struct tally_pipeline_statistics *none = NULL;
	if (!atomic_compare_exchange_strong(&pipeline->statistics, &none, statistics))
		free(statistics);
}
