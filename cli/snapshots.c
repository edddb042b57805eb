#include "cli/snapshots.h"

#include "query/snapshot.h"

#include <string.h>

static const struct {
	struct tally_snapshot_source *(*create)(void);
	const char *unless; /* not where this one counts */
} kinds[TALLY_N_SNAPSHOT_KINDS] = {
	{ tally_mali_kbase_create, NULL },
	{ tally_mali_panfrost_create, NULL },
	{ tally_linux_perf_create, NULL },
	{ tally_linux_proc_create, "linux-perf" },
};

static bool
counts(const struct tally_snapshots *s, const char *name)
{
	for (uint32_t i = 0; name && i < s->n; i++)
		if (s->found[i].info.on && strcmp(s->found[i].info.name, name) == 0)
			return true;
	return false;
}

static void
look(struct tally_snapshot_found *found, struct tally_snapshot_source *src, const char *counters)
{
	found->status = src->ops->probe(src);
	if (found->status == TALLY_OK) {
		src->wanted = counters;
		found->status = src->ops->open(src);
	}
	g_strlcpy(found->reason, src->reason, sizeof(found->reason));
	if (found->status != TALLY_OK)
		return;
	found->info.on = true;
	found->counters = g_new(const struct tally_counter *, src->n_counters + 1);
	for (uint32_t i = 0; i < src->n_counters; i++)
		if (src->logged[i / 64] >> (i % 64) & 1)
			found->counters[found->n_counters++] = src->counters[i];
	src->ops->close(src);
}

void
tally_snapshots_find(struct tally_snapshots *s, const char *counters)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < TALLY_N_SNAPSHOT_KINDS; i++) {
		struct tally_snapshot_found *found = &s->found[s->n];
		struct tally_snapshot_source *src = kinds[i].create();
		if (!src)
			continue;
		found->info.name = src->ops->name;
		if (counts(s, kinds[i].unless)) {
			found->status = TALLY_UNSUPPORTED;
			g_snprintf(found->reason, sizeof(found->reason),
				   "%s counts the same, and more", kinds[i].unless);
		} else {
			look(found, src, counters);
		}
		src->ops->destroy(src);
		found->info.reason = found->reason[0] ? found->reason : NULL;
		s->n++;
	}
}

void
tally_snapshots_finish(struct tally_snapshots *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		g_free(s->found[i].counters);
	memset(s, 0, sizeof(*s));
}

struct tally_device_record
tally_snapshots_add(const struct tally_snapshots *s, const struct tally_device_record *device)
{
	struct tally_device_record more = *device;
	uint32_t n = device->n_counters;
	for (uint32_t i = 0; i < s->n; i++)
		n += s->found[i].n_counters;
	struct tally_source_info *sources = g_new(struct tally_source_info,
						  device->n_sources + s->n + 1);
	const struct tally_counter **counters = g_new(const struct tally_counter *, n + 1);
	for (uint32_t i = 0; i < device->n_sources; i++)
		sources[i] = device->sources[i];
	for (uint32_t i = 0; i < device->n_counters; i++)
		counters[i] = device->counters[i];
	for (uint32_t i = 0; i < s->n; i++) {
		sources[more.n_sources++] = s->found[i].info;
		for (uint32_t k = 0; k < s->found[i].n_counters; k++)
			counters[more.n_counters++] = s->found[i].counters[k];
	}
	more.sources = sources;
	more.counters = counters;
	return more;
}

void
tally_snapshots_free_device(struct tally_device_record *device)
{
	g_free((void *)device->sources);
	g_free((void *)device->counters);
}
