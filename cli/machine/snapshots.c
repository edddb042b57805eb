/* SPDX-License-Identifier: MIT */
#include "cli/machine/snapshots.h"

#include "cli/shared/cli.h"
#include "layer/config/config.h"
#include "query/source/snapshot.h"
#include "query/sources.h"

#include <string.h>

#define TRIAL_US 10000

static bool
counts(const struct tally_snapshots *s, const char *name)
{
	for (uint32_t i = 0; name && i < s->n; i++)
		if (s->found[i].info.on && strcmp(s->found[i].info.name, name) == 0)
			return true;
	return false;
}

/* Counts for a short interval. The source stays open, or is closed and marked off. */
static void
try_out(struct tally_snapshot_found *found, struct tally_snapshot_source *src)
{
	struct tally_totals now = {
		.totals = g_new0(uint64_t, src->n_counters + 1),
		.unknown = g_new0(uint64_t, src->n_counters / 64 + 1),
	};
	found->status = src->ops->start(src);
	if (found->status != TALLY_OK) {
		src->ops->close(src);
	} else {
		g_usleep(TRIAL_US);
		enum tally_status status = src->ops->sample(src, &now);
		src->ops->stop(src);
		size_t len = strlen(src->reason);
		g_snprintf(src->reason + len, sizeof(src->reason) - len, "%s%s", len ? "; " : "",
			   status == TALLY_OK ? "its first values pass all checks"
					      : "its first values contradict each other");
		if (status != TALLY_OK) {
			found->status = TALLY_UNSUPPORTED;
			src->ops->close(src);
		}
	}
	g_free(now.totals);
	g_free(now.unknown);
}

static void
look(struct tally_snapshot_found *found, struct tally_snapshot_source *src,
     const struct tally_config *config, const char *counters, bool trial)
{
	src->config = config;
	found->status = src->ops->probe(src);
	if (found->status == TALLY_OK) {
		src->wanted = counters;
		found->status = src->ops->open(src);
	}
	if (found->status == TALLY_OK && trial)
		try_out(found, src);
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
	struct tally_config config;
	memset(s, 0, sizeof(*s));
	tally_config_init(&config);
	/* Errors in the configuration are reported elsewhere. */
	tally_config_load(&config, "program", tally_cli_ignore, NULL);
	for (uint32_t i = 0; i < tally_n_snapshot_sources; i++) {
		const struct tally_snapshot_source_row *row = &tally_snapshot_sources[i];
		struct tally_snapshot_found *found = &s->found[s->n];
		struct tally_snapshot_source *src = row->row.in_tests ? NULL : row->create();
		if (!src)
			continue;
		found->row = row;
		found->info.name = row->row.name;
		if (counts(s, row->unless)) {
			found->status = TALLY_UNSUPPORTED;
			g_snprintf(found->reason, sizeof(found->reason),
				   "%s counts the same, and more", row->unless);
		} else {
			look(found, src, &config, counters, row->trial);
			if (row->look_closer)
				row->look_closer(&config, found->reason, sizeof(found->reason));
		}
		src->ops->destroy(src);
		found->info.reason = found->reason[0] ? found->reason : NULL;
		s->n++;
	}
	tally_config_finish(&config);
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
