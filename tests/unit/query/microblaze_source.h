/* SPDX-License-Identifier: MIT */
/* tests/unit/query/microblaze_source.h - the source `microblaze` on the model of a debug module
 * (tests/fake_mdm/model.h), with functions that open, sample and close it in one line each.
 *
 * It replaces mmio.c and mapping.c: include it in one file of a program.
 */
#ifndef PASSTALLY_TESTS_UNIT_MICROBLAZE_SOURCE_H
#define PASSTALLY_TESTS_UNIT_MICROBLAZE_SOURCE_H

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "query/microblaze/device_tree.h"
#include "query/microblaze/microblaze.h"
#include "layer/base/clock.h"
#include "layer/config/config.h"
#include "layer/log.h"
#include "layer/capture/trigger.h"
#include "query/microblaze/events.h"
#include "query/microblaze/growth.h"
#include "query/microblaze/mapping.h"
#include "query/microblaze/registers.h"
#include "query/microblaze/mmio.h"
#include "query/source/snapshot.h"
#include "tests/fake_mdm/model.h"

static struct fake_mdm mdm;
static enum tally_status mapping_status;

static char registers[4]; /* only their address is used */
static int due_fd = -1; /* represents /dev/uioN */
static unsigned late_us; /* the thread is interrupted for this long before the next sample */
static const char *start_on, *stop_on; /* options of the next reader */

uint32_t
tally_mmio_read(const void *map, uint32_t offset)
{
	g_assert_true(map == registers);
	return fake_mdm_read(&mdm, offset, tally_clock_now_ns());
}

void
tally_mmio_write(void *map, uint32_t offset, uint32_t value)
{
	g_assert_true(map == registers);
	if (late_us && offset == tally_mdm_offset(TALLY_MDM_COMMAND) &&
	    value & TALLY_MDM_SAMPLE) {
		g_usleep(late_us);
		late_us = 0;
	}
	fake_mdm_write(&mdm, offset, value, tally_clock_now_ns());
}

/* There is no device tree here; that of a large board takes a tenth of a second. */
static unsigned n_tree_walks;

void
tally_mb_device_tree_find(struct tally_mb_device_tree *out)
{
	memset(out, 0, sizeof(*out));
	n_tree_walks++;
}

bool
tally_mb_find_uio(const struct tally_mb_device_tree *tree, char *path, size_t size)
{
	(void)tree, (void)path, (void)size;
	return false;
}

enum tally_status
tally_mb_mapping_open(struct tally_mb_mapping *mapping,
		      const struct tally_mb_options *options,
		      const struct tally_mb_device_tree *tree, uint32_t bytes, char *reason)
{
	(void)tree, (void)options;
	g_assert_cmpuint(bytes, >=, 0x1c);
	*mapping = (struct tally_mb_mapping){ .fd = due_fd, .uio = true, .registers = registers };
	if (mapping_status != TALLY_OK) {
		g_snprintf(reason, TALLY_REASON_BYTES, "no place");
		mapping->registers = NULL;
	}
	return mapping_status;
}

void
tally_mb_mapping_close(struct tally_mb_mapping *mapping)
{
	*mapping = (struct tally_mb_mapping){ .fd = -1 };
}

/* ---- a source ---- */

static const struct fake_mdm_config usual = {
	.ne = 5,
	.nl = 1,
	.width = 32,
	.ports = 1,
	.parallel = true,
	.serial = true,
	.key = 0xebab,
	.cycles_per_us = 100,
};

#define MAX_VALUES 80
struct reader {
	struct tally_snapshot_source *src;
	struct tally_config config;
	struct tally_totals out;
	uint64_t totals[MAX_VALUES], unknown[(MAX_VALUES + 63) / 64];
};

static inline void
complain(void *data, const char *message)
{
	(void)data;
	g_error("%s", message);
}

static inline enum tally_status
reader_open(struct reader *r, const struct fake_mdm_config *config, const char *options,
	    const char *counters)
{
	*r = (struct reader){ 0 };
	fake_mdm_init(&mdm, config, tally_clock_now_ns());
	tally_config_init(&r->config);
	tally_config_set(&r->config, "microblaze", options, TALLY_FROM_COMMAND_LINE, complain,
			 NULL);
	if (start_on)
		tally_config_set(&r->config, "start-on", start_on, TALLY_FROM_COMMAND_LINE,
				 complain, NULL);
	if (stop_on)
		tally_config_set(&r->config, "stop-on", stop_on, TALLY_FROM_COMMAND_LINE,
				 complain, NULL);
	tally_trigger_reset(&r->config);
	r->src = tally_microblaze_create();
	g_assert_nonnull(r->src);
	r->src->config = &r->config;
	r->src->wanted = counters;
	enum tally_status status = r->src->ops->probe(r->src);
	if (status == TALLY_OK)
		status = r->src->ops->open(r->src);
	r->src->config = NULL;
	r->src->wanted = NULL;
	if (status != TALLY_OK)
		return status;
	g_assert_cmpuint(r->src->n_counters, <=, MAX_VALUES);
	status = r->src->ops->start(r->src);
	if (status != TALLY_OK)
		r->src->ops->close(r->src);
	return status;
}

static inline enum tally_status
reader_sample(struct reader *r)
{
	memset(r->unknown, 0, sizeof(r->unknown));
	r->out = (struct tally_totals){ .totals = r->totals, .unknown = r->unknown };
	return r->src->ops->sample(r->src, &r->out);
}

static inline void
reader_close(struct reader *r, bool opened)
{
	if (opened) {
		r->src->ops->stop(r->src);
		g_assert_false(mdm.running);
		r->src->ops->close(r->src);
		g_assert_false(mdm.unlocked);
	}
	r->src->ops->destroy(r->src);
	tally_config_finish(&r->config);
}

static inline uint32_t
find(const struct reader *r, const char *key)
{
	for (uint32_t i = 0; i < r->src->n_counters; i++)
		if (strcmp(r->src->counters[i]->key, key) == 0)
			return i;
	g_error("no counter %s", key);
}

static inline uint64_t
total(const struct reader *r, const char *key)
{
	return r->totals[find(r, key)];
}

static inline bool
is_unknown(const struct reader *r, const char *key)
{
	uint32_t i = find(r, key);
	return r->unknown[i / 64] >> (i % 64) & 1;
}

static inline void
refused(const struct fake_mdm_config *config, const char *options, const char *says)
{
	struct reader r;
	g_assert_cmpint(reader_open(&r, config, options, "all"), ==, TALLY_UNSUPPORTED);
	g_test_message("%s: %s", options, r.src->reason);
	g_assert_nonnull(strstr(r.src->reason, says));
	g_assert_false(mdm.running);
	reader_close(&r, false);
}

/* The totals of all counters are what the model counted. */
static inline void
check_totals(const struct reader *r)
{
	for (uint32_t i = 0; i < mdm.config.ne + mdm.config.nl; i++) {
		const struct fake_mdm_counter *c = &mdm.sampled[i];
		const char *key = tally_mb_events[c->event].key;
		bool is_event = i < mdm.config.ne;
		for (uint32_t k = 0; k < r->src->n_counters; k++) {
			const char *have = r->src->counters[k]->key;
			if (!g_str_has_prefix(have, key))
				continue;
			if (is_event && strlen(have) == strlen(key))
				g_assert_cmpuint(r->totals[k], ==, c->n);
			if (!is_event && g_str_has_suffix(have, ".n"))
				g_assert_cmpuint(r->totals[k], ==, c->n);
			if (!is_event && g_str_has_suffix(have, ".sum"))
				g_assert_cmpuint(r->totals[k], ==, c->sum);
			if (!is_event && g_str_has_suffix(have, ".sum_sq"))
				g_assert_cmpuint(r->totals[k], ==, c->sum_sq);
		}
	}
}

#endif
