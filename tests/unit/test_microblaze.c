/* SPDX-License-Identifier: MIT */
/* The source `microblaze` on the model of a debug module, in place of mmio.c and mapping.c. */
#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
static enum tally_status place_status;
static char registers[4]; /* their address is all that is asked for */
static int due_fd = -1; /* stands for /dev/uioN */
static unsigned late_us; /* the thread is interrupted so long before the next sample */
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

/* There is none here; one of a large board takes a tenth of a second. */
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
		      const struct tally_microblaze_options *options,
		      const struct tally_mb_device_tree *tree, uint32_t bytes, char *reason,
		      size_t size)
{
	(void)tree, (void)options;
	g_assert_cmpuint(bytes, >=, 0x1c);
	*mapping = (struct tally_mb_mapping){ .fd = due_fd, .uio = true, .registers = registers };
	if (place_status != TALLY_OK) {
		g_snprintf(reason, size, "no place");
		mapping->registers = NULL;
	}
	return place_status;
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

static void
complain(void *data, const char *message)
{
	(void)data;
	g_error("%s", message);
}

static enum tally_status
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

static enum tally_status
reader_sample(struct reader *r)
{
	memset(r->unknown, 0, sizeof(r->unknown));
	r->out = (struct tally_totals){ .totals = r->totals, .unknown = r->unknown };
	return r->src->ops->sample(r->src, &r->out);
}

static void
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

static uint32_t
find(const struct reader *r, const char *key)
{
	for (uint32_t i = 0; i < r->src->n_counters; i++)
		if (strcmp(r->src->counters[i]->key, key) == 0)
			return i;
	g_error("no counter %s", key);
}

static uint64_t
total(const struct reader *r, const char *key)
{
	return r->totals[find(r, key)];
}

static bool
is_unknown(const struct reader *r, const char *key)
{
	uint32_t i = find(r, key);
	return r->unknown[i / 64] >> (i % 64) & 1;
}

/* ---- counting ---- */

static const struct {
	const char *what, *options;
	uint32_t ne, nl, width, ports;
	bool parallel;
} shapes[] = {
	{ "the usual", "on", 5, 1, 32, 1, true },
	{ "48 bits", "width=48", 5, 1, 48, 1, true },
	{ "64 bits", "width=64", 5, 1, 64, 1, true },
	{ "serial", "access=serial", 5, 1, 32, 1, false },
	{ "serial, 48 bits", "access=serial+width=48", 5, 1, 48, 1, false },
	{ "second of two cores", "access=serial+ports=2+core=1", 5, 1, 32, 2, false },
	{ "third of some cores: the module says of how many", "access=serial+core=2", 5,
	  1, 32, 4, false },
	{ "one event on both kinds of counters", "events=0:57+latency=57", 5, 1, 32, 1,
	  true },
	{ "last of twelve cores", "access=serial+core=11+ports=12", 5, 1, 32, 12, false },
	{ "all that there can be", "ne=48+nl=7+width=64", 48, 7, 64, 1, true },
	{ "one event counter", "ne=1+nl=0", 1, 0, 32, 1, true },
	{ "a latency counter alone", "ne=0+nl=1", 0, 1, 32, 1, true },
};

/* Of all counters the totals are what the model counted. */
static void
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

static void
test_shapes(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++) {
		struct fake_mdm_config config = usual;
		struct reader r;
		g_test_message("%s", shapes[i].what);
		config.ne = shapes[i].ne;
		config.nl = shapes[i].nl;
		config.width = shapes[i].width;
		config.ports = shapes[i].ports;
		config.parallel = shapes[i].parallel;
		enum tally_status status = reader_open(&r, &config, shapes[i].options, "all");
		g_assert_cmpstr(status == TALLY_OK ? "" : r.src->reason, ==, "");
		for (unsigned k = 0; k < 20; k++) {
			g_usleep(200);
			g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
			g_assert_cmpuint(r.unknown[0] | r.out.flags, ==, 0);
			g_assert_cmpuint(r.out.begin_ns, <=, r.out.end_ns);
			check_totals(&r);
		}
		if (mdm.config.ne)
			g_assert_cmpuint(mdm.sampled[0].n, >, 1000);
		g_assert_cmpuint(mdm.n_clears, ==, config.ne || config.width == 32 ? 4 : 3);
		g_assert_cmpstr(mdm.wrong, ==, "");
		g_assert_cmpuint(mdm.which, ==,
				 config.ports > 1 ? UINT32_C(1) << r.config.microblaze.core : 1);
		reader_close(&r, true);
	}
}

static void
test_levels(void)
{
	struct reader r;
	g_assert_cmpint(reader_open(&r, &usual, "on", NULL), ==, TALLY_OK);
	g_assert_cmpuint(r.src->n_levels, ==, 2);
	g_assert_cmpstr(r.src->levels[0].counter->key, ==, "icache_read_latency.min");
	g_assert_cmpstr(r.src->levels[1].counter->key, ==, "icache_read_latency.max");
	g_assert_false(r.src->levels[0].known);
	g_usleep(3000);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_true(r.src->levels[0].known && r.src->levels[1].known);
	g_assert_cmpuint(r.src->levels[0].value, ==, 3);
	g_assert_cmpuint(r.src->levels[1].value, ==, 9);
	reader_close(&r, true);
}

/* A counter wraps: the sample that first tells of it leaves its growth out, the next is right. */
static void
test_wrap(void)
{
	struct fake_mdm_config config = usual;
	struct reader r;
	g_assert_cmpint(reader_open(&r, &usual, "check=off", "all"), ==, TALLY_OK);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	/* Let all event counters stand before their end. */
	uint64_t before = total(&r, "cycles");
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(total(&r, "cycles"), >=, before);
	reader_close(&r, true);

	config.start = 0;
	g_assert_cmpint(reader_open(&r, &config, "check=off+events=30:0", "all"), ==, TALLY_OK);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	/* The second counter is moved on by nearly 2^32 at once: no core counts so fast. */
	mdm.counters[1].n = (mdm.counters[1].n - 5000000) & UINT32_MAX;
	g_assert_cmpint(reader_sample(&r), ==, TALLY_NOT_READY);
	mdm.counters[1].n = (mdm.counters[1].n + 5000000) & UINT32_MAX;
	g_usleep(100);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	check_totals(&r);
	/* Overflow is told once. */
	mdm.counters[0].status = 2;
	before = total(&r, "cycles");
	g_usleep(100);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(r.out.flags, ==, TALLY_FLAG(OVERFLOW));
	g_assert_true(is_unknown(&r, "cycles"));
	g_assert_false(is_unknown(&r, "instructions"));
	g_assert_cmpuint(total(&r, "cycles"), ==, before);
	g_usleep(100);
	uint64_t at = mdm.sampled[0].n;
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(r.out.flags, ==, 0);
	g_assert_cmpuint(total(&r, "cycles") - before, ==, mdm.sampled[0].n - at);
	reader_close(&r, true);
}

static void
test_full(void)
{
	struct fake_mdm_config config = usual;
	struct reader r;
	config.full = true;
	g_assert_cmpint(reader_open(&r, &config, "on", "all"), ==, TALLY_OK);
	g_usleep(2000);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(r.out.flags, ==, TALLY_FLAG(FULL));
	g_assert_true(is_unknown(&r, "icache_read_latency.n"));
	g_assert_true(is_unknown(&r, "icache_read_latency.sum_sq"));
	g_assert_false(is_unknown(&r, "cycles"));
	g_assert_cmpuint(total(&r, "icache_read_latency.n"), ==, 0);
	/* A second later it is cleared, so that the bit can tell again. */
	unsigned clears = mdm.n_clears;
	mdm.config.full = false;
	g_usleep(1100000);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(mdm.n_clears, ==, clears + 1);
	g_assert_true((r.out.flags & TALLY_FLAG(DISTURBED)) != 0);
	g_usleep(2000);
	uint64_t cycles = total(&r, "cycles");
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(r.out.flags, ==, 0);
	g_assert_cmpuint(total(&r, "icache_read_latency.n"), ==, mdm.sampled[5].n);
	g_assert_cmpuint(total(&r, "cycles"), ==, cycles + mdm.sampled[1].n);
	reader_close(&r, true);
}

/* Sums of squares past 32 bits, and latencies past 16: what is not sure is unknown. */
static void
test_long_latencies(void)
{
	struct fake_mdm_config config = usual;
	struct reader r;
	config.latency = 60000;
	g_assert_cmpint(reader_open(&r, &config, "on", "all"), ==, TALLY_OK);
	g_usleep(20000);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(r.out.flags, ==, TALLY_FLAG(OVERFLOW));
	g_assert_true(is_unknown(&r, "icache_read_latency.n"));
	g_assert_true(is_unknown(&r, "icache_read_latency.sum_sq"));
	uint64_t n = mdm.sampled[5].n;
	g_usleep(5000);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(r.out.flags, ==, 0);
	g_assert_cmpuint(total(&r, "icache_read_latency.n"), ==, mdm.sampled[5].n - n);
	g_assert_true(is_unknown(&r, "icache_read_latency.sum_sq"));
	g_assert_cmpuint(total(&r, "icache_read_latency.sum_sq"), ==, 0);
	reader_close(&r, true);

	config.latency = 3;
	config.saturated = true;
	g_assert_cmpint(reader_open(&r, &config, "on", "all"), ==, TALLY_OK);
	g_usleep(20000);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	uint64_t sum = mdm.sampled[5].sum;
	g_usleep(5000);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_true(is_unknown(&r, "icache_read_latency.sum_sq"));
	g_assert_cmpuint(total(&r, "icache_read_latency.sum"), ==, mdm.sampled[5].sum - sum);
	g_assert_true(r.src->levels[0].known);
	g_assert_false(r.src->levels[1].known && r.src->levels[1].value != 0xffff);
	reader_close(&r, true);
}

/* ---- what is wrong ---- */

static const struct {
	const char *what, *options;
	uint32_t ne, nl, width;
	const char *says;
} mistakes[] = {
	{ "too many event counters", "ne=6", 5, 1, 32, "ne=" },
	{ "far too many event counters", "ne=9+width=64", 5, 1, 64, "ne=" },
	{ "event counters where a latency counter is", "ne=6+nl=0", 5, 1, 32, "ne=" },
	{ "too many latency counters", "nl=2", 5, 1, 32, "nl=" },
	{ "too many latency counters, wide", "nl=2+width=48", 5, 1, 48, "nl=" },
	{ "latency counters where there are none", "nl=1", 5, 0, 32, "nl=" },
	{ "too few event counters", "ne=4", 5, 1, 32, "has more than 4 event" },
	{ "too few event counters, wide", "ne=4+width=64", 5, 1, 64, "has more than 4 event" },
	{ "far too few event counters", "ne=1+width=48", 12, 3, 48, "ne=" },
	{ "too few latency counters", "nl=1", 5, 2, 32, "1 latency" },
	{ "a latency counter where event counters are", "ne=1", 5, 0, 32, "nl=" },
	{ "latency counters where event counters are", "ne=0+nl=2", 8, 0, 32,
	  "event counters stand" },
	{ "32 bits that are 48", "width=32", 5, 1, 48, "width=48" },
	{ "32 bits that are 64", "width=32", 5, 1, 64, "width=" },
	{ "one counter of 32 bits that is 64", "width=32+ne=1+nl=0", 1, 0, 64, "width=" },
	{ "48 bits that are 32", "width=48", 5, 1, 32, "width=" },
	{ "64 bits that are 32", "width=64", 5, 1, 32, "width=" },
	{ "48 bits that are 64", "width=48", 5, 1, 64, "width=64" },
	{ "64 bits that are 48", "width=64", 5, 1, 48, "width=48" },
};

static void
test_mistakes(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(mistakes); i++) {
		for (int end = FAKE_MDM_END_ZERO; end < FAKE_MDM_N_ENDS; end++) {
			for (int serial = 0; serial < 2; serial++) {
				struct fake_mdm_config config = usual;
				struct reader r;
				char options[96];
				config.ne = mistakes[i].ne;
				config.nl = mistakes[i].nl;
				config.width = mistakes[i].width;
				config.end = (enum fake_mdm_end)end;
				g_snprintf(options, sizeof(options), "%s%s", mistakes[i].options,
					   serial ? "+access=serial" : "");
				g_test_message("%s, end %d: %s", mistakes[i].what, end, options);
				g_assert_cmpint(reader_open(&r, &config, options, "all"), ==,
						TALLY_UNSUPPORTED);
				g_test_message("%s", r.src->reason);
				g_assert_nonnull(strstr(r.src->reason, mistakes[i].says));
				g_assert_false(mdm.unlocked);
				reader_close(&r, false);
			}
		}
	}
}

/* Fewer counters than there are: what is read is right, or nothing comes. */
static void
test_too_few(void)
{
	static const uint32_t widths[] = { 32, 48, 64 };
	for (size_t w = 0; w < G_N_ELEMENTS(widths); w++) {
		struct fake_mdm_config config = usual;
		struct reader r;
		char options[64];
		config.width = widths[w];
		g_snprintf(options, sizeof(options), "ne=4+width=%u", widths[w]);
		enum tally_status open_status = reader_open(&r, &config, options, "all");
		bool any = false, lost = open_status != TALLY_OK;
		g_assert_true(!lost || open_status == TALLY_UNSUPPORTED);
		for (unsigned k = 0; k < 100 && !lost; k++) {
			g_usleep(1000);
			enum tally_status status = reader_sample(&r);
			lost = status == TALLY_LOST;
			any |= status == TALLY_OK && !is_unknown(&r, "icache_read_latency.n") &&
			       total(&r, "icache_read_latency.n") > 0;
		}
		g_assert_true(lost);
		g_assert_false(any);
		g_assert_nonnull(strstr(r.src->reason, "ne="));
		g_test_message("%s", r.src->reason);
		reader_close(&r, open_status == TALLY_OK);
		/* Latency counters that are left alone hurt nobody. */
		g_assert_cmpint(reader_open(&r, &config,
					    widths[w] == 32   ? "nl=0"
					    : widths[w] == 48 ? "nl=0+width=48"
							      : "nl=0+width=64",
					    "all"),
				==, TALLY_OK);
		g_usleep(1000);
		g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
		check_totals(&r);
		reader_close(&r, true);
	}
}

/* ---- every shape read as every other ---- */

/* What was counted of a key since the last Clear. */
static uint64_t
truth(const char *key)
{
	const char *dot = strchr(key, '.');
	int event = tally_mb_find_event(key, dot ? (size_t)(dot - key) : strlen(key));
	g_assert_cmpint(event, >=, 0);
	uint64_t n = fake_mdm_count((uint32_t)event, mdm.sampled_cycles), sum = 0;
	if (!dot || strcmp(dot, ".n") == 0)
		return n;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t latency = fake_mdm_latency(&mdm, i);
		sum += strcmp(dot, ".sum") == 0 ? latency : latency * latency;
	}
	return sum;
}

/* How many values were told, or -1: it was refused. */
static int
read_as(const struct fake_mdm_config *config, const char *options)
{
	struct reader r;
	int n = 0;
	enum tally_status status = reader_open(&r, config, options, "all");
	bool opened = status == TALLY_OK;
	for (unsigned k = 0; k < 4 && status == TALLY_OK; k++) {
		g_usleep(k ? 200 : 20);
		status = reader_sample(&r);
		g_assert_cmpint(status, !=, TALLY_NO_MEMORY);
		for (uint32_t i = 0; i < r.src->n_counters && status == TALLY_OK; i++) {
			const char *key = r.src->counters[i]->key;
			if (r.unknown[0] || r.totals[i] == truth(key)) {
				n++;
				continue;
			}
			g_error("%u+%u of %u bits, end %d, left %u, read with %s: %s",
				config->ne, config->nl, config->width, (int)config->end,
				config->left_over, options, key);
		}
		if (status == TALLY_NOT_READY)
			status = TALLY_OK;
	}
	reader_close(&r, opened);
	return opened ? n : -1;
}

static void
check_shape(const struct fake_mdm_config *config)
{
	static const uint32_t widths[] = { 32, 48, 64 };
	for (uint32_t i = 0; i < 10 * 3 * 3; i++) {
		uint32_t ne = i % 10, nl = i / 10 % 3, width = widths[i / 30];
		char options[64];
		if (ne + nl == 0)
			continue;
		g_snprintf(options, sizeof(options), "ne=%u+nl=%u+width=%u", ne, nl, width);
		int n = read_as(config, options);
		if (ne == config->ne && nl == config->nl && width == config->width)
			g_assert_cmpint(n, >, 0);
	}
}

/* A wrong shape is refused, or what it tells is right all the same. */
static void
test_any_shape(void)
{
	static const uint32_t widths[] = { 32, 48, 64 };
	static const uint8_t left_over[] = { 0, 30, 60 };
	for (uint32_t i = 0; i < 10 * 3 * 3; i++) {
		struct fake_mdm_config config = usual;
		config.ne = i % 10;
		config.nl = i / 10 % 3;
		config.width = widths[i / 30];
		config.end = (enum fake_mdm_end)(i % FAKE_MDM_N_ENDS);
		config.left_over = left_over[i / 3 % 3];
		if (config.ne + config.nl)
			check_shape(&config);
	}
}

static void
refused(const struct fake_mdm_config *config, const char *options, const char *says)
{
	struct reader r;
	g_assert_cmpint(reader_open(&r, config, options, "all"), ==, TALLY_UNSUPPORTED);
	g_test_message("%s: %s", options, r.src->reason);
	g_assert_nonnull(strstr(r.src->reason, says));
	g_assert_false(mdm.running);
	reader_close(&r, false);
}

static void
test_refusals(void)
{
	struct fake_mdm_config config = usual;
	config.dead = true;
	refused(&config, "on", "0xffffffff");
	refused(&config, "access=serial", "0xffffffff");
	config = usual;
	config.held = true;
	refused(&config, "on", "debugger");
	refused(&config, "access=serial", "debugger");
	config = usual;
	config.parallel = false;
	refused(&config, "on", "access=serial");
	refused(&usual, "access=serial+unlock=0x1234", "unlock");
	refused(&usual, "access=serial+ports=3", "serves 1 cores");
	refused(&usual, "ports=2", "access=serial");
	refused(&usual, "events=nothing", "counters --catalogue microblaze");
	refused(&usual, "events=0:1:2:3:4:5", "ne=5");
	refused(&usual, "events=30:cycles", "twice");
	refused(&usual, "latency=30", "57 to 63");
	refused(&usual, "interval=100000+events=0:10", "cycles");
	refused(&usual, "off", "--microblaze");
	place_status = TALLY_UNSUPPORTED;
	refused(&usual, "on", "no place");
	place_status = TALLY_OK;
}

/* A debugger comes, moves the selection, and goes. */
static void
test_debugger(void)
{
	struct reader r;
	g_assert_cmpint(reader_open(&r, &usual, "access=serial", "all"), ==, TALLY_OK);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	mdm.config.held = true;
	g_assert_cmpint(reader_sample(&r), ==, TALLY_NOT_READY);
	mdm.config.held = false;
	g_usleep(200);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	check_totals(&r);
	/* It clears the counters: what went before it is not known, and no number is made up. */
	uint64_t before = total(&r, "cycles");
	g_usleep(1000);
	fake_mdm_read(&mdm, 0x10, tally_clock_now_ns());
	mdm.counters[1].n = 0;
	enum tally_status status = TALLY_NOT_READY;
	unsigned n = 0;
	for (; status == TALLY_NOT_READY && n < 100; n++)
		status = reader_sample(&r);
	g_assert_cmpint(status, ==, TALLY_OK);
	g_assert_cmpuint(n, >, 1);
	g_assert_true(is_unknown(&r, "cycles") && is_unknown(&r, "instructions"));
	g_assert_cmpuint(total(&r, "cycles"), ==, before);
	g_usleep(1000);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(total(&r, "cycles"), ==, before + mdm.sampled[1].n);
	/* The module goes away. */
	mdm.config.dead = true;
	g_assert_cmpint(reader_sample(&r), ==, TALLY_LOST);
	g_assert_nonnull(strstr(r.src->reason, "answers no more"));
	g_assert_cmpint(reader_sample(&r), ==, TALLY_LOST);
	mdm.config.dead = false;
	reader_close(&r, true);
}

/* ---- choosing ---- */

static const struct {
	const char *options, *counters, *keys, *logged;
} choices[] = {
	{ "on", NULL,
	  "instructions cycles icache_requests icache_hits fp_ops "
	  "icache_read_latency.n icache_read_latency.sum icache_read_latency.sum_sq",
	  "11111111" },
	{ "on", "loads+stores",
	  "loads stores instructions cycles icache_requests "
	  "icache_read_latency.n icache_read_latency.sum "
	  "icache_read_latency.sum_sq",
	  "11000000" },
	{ "ne=1", "periph_read_latency.sum",
	  "instructions periph_read_latency.n periph_read_latency.sum "
	  "periph_read_latency.sum_sq",
	  "0010" },
	{ "ne=2+events=57:Cycles", "overview",
	  "interrupt_latency.n cycles icache_read_latency.n icache_read_latency.sum "
	  "icache_read_latency.sum_sq",
	  "11111" },
	{ "nl=0+events=13", "cpi", "dcache_read_hits", "0" },
};

static void
test_choices(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(choices); i++) {
		struct fake_mdm_config config = usual;
		struct reader r;
		if (strstr(choices[i].options, "ne=1"))
			config.ne = 1;
		if (strstr(choices[i].options, "ne=2"))
			config.ne = 2;
		if (strstr(choices[i].options, "nl=0"))
			config.nl = 0;
		g_assert_cmpint(
			reader_open(&r, &config, choices[i].options, choices[i].counters),
			==, TALLY_OK);
		GString *keys = g_string_new(NULL), *logged = g_string_new(NULL);
		for (uint32_t k = 0; k < r.src->n_counters; k++) {
			g_string_append_printf(keys, "%s%s", k ? " " : "",
					       r.src->counters[k]->key);
			g_string_append_c(logged,
					  r.src->logged[k / 64] >> (k % 64) & 1 ? '1' : '0');
			g_assert_cmpstr(r.src->counters[k]->source, ==, "microblaze");
		}
		g_assert_cmpstr(keys->str, ==, choices[i].keys);
		g_assert_cmpstr(logged->str, ==, choices[i].logged);
		g_string_free(keys, TRUE);
		g_string_free(logged, TRUE);
		reader_close(&r, true);
	}
}

static void
test_events(void)
{
	GHashTable *keys = g_hash_table_new(g_str_hash, g_str_equal);
	for (int i = 0; i < TALLY_MB_N_EVENTS; i++) {
		const struct tally_mb_event *e = &tally_mb_events[i];
		char number[8];
		g_assert_true(e->key && e->name && e->unit && e->description);
		g_assert_true(g_hash_table_add(keys, (gpointer)e->key));
		g_assert_cmpint(tally_mb_find_event(e->key, strlen(e->key)), ==, i);
		g_assert_cmpint(tally_mb_find_event(e->name, strlen(e->name)), ==, i);
		g_snprintf(number, sizeof(number), "%d", i);
		g_assert_cmpint(tally_mb_find_event(number, strlen(number)), ==, i);
	}
	g_hash_table_destroy(keys);
	g_assert_cmpint(tally_mb_find_event("64", 2), ==, -1);
	g_assert_cmpint(tally_mb_find_event("", 0), ==, -1);
	g_assert_cmpint(tally_mb_find_event("99999999999", 11), ==, -1);
}

/* ---- by interrupt ---- */

static void
test_interval(void)
{
	struct reader r;
	/* Of what is written to the one nothing comes back, and who reads from it waits, as with a
	 * UIO device. */
	int ends[2];
	g_assert_cmpint(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), ==, 0);
	due_fd = ends[0];
	alarm(30);
	g_assert_cmpint(reader_open(&r, &usual, "interval=10000000", "all"), ==, TALLY_OK);
	g_assert_nonnull(r.src->due_fd);
	g_assert_cmpint(*r.src->due_fd, ==, due_fd);
	g_assert_cmpuint(mdm.counters[0].event, ==, 30);
	g_usleep(300);
	/* Before the interrupt: read by others, nothing is preset anew. */
	unsigned clears = mdm.n_clears;
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(mdm.n_clears, ==, clears);
	g_assert_cmpuint(total(&r, "cycles"), ==,
			 mdm.sampled[0].n - (UINT32_MAX - 10000000 + 1));
	g_usleep(110000);
	const uint32_t count = 1;
	g_assert_cmpint(write(ends[1], &count, sizeof(count)), ==, sizeof(count));
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	struct pollfd due = { .fd = due_fd, .events = POLLIN };
	g_assert_cmpint(poll(&due, 1, 0), ==, 0); /* the interrupt is taken */
	g_assert_cmpuint(r.out.flags, ==, 0);
	g_assert_cmpuint(total(&r, "cycles"), ==, mdm.sampled[0].n + 10000000);
	g_assert_false(is_unknown(&r, "cycles"));
	g_assert_cmpuint(mdm.n_clears, ==, clears + 1);
	g_assert_false(mdm.interrupt);
	uint64_t before = total(&r, "cycles"), instructions = total(&r, "instructions");
	g_usleep(110000);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(total(&r, "cycles") - before, ==, mdm.sampled[0].n + 10000000);
	g_assert_cmpuint(total(&r, "instructions") - instructions, ==, mdm.sampled[1].n);
	g_assert_cmpstr(mdm.wrong, ==, "");
	alarm(0);
	reader_close(&r, true);
	close(ends[0]);
	close(ends[1]);
	due_fd = -1;
}

/* Other threads may have the processor between a look at the clock and the sample: what the core
 * counts meanwhile is no contradiction. */
static void
test_interrupted(void)
{
	struct reader r;
	g_assert_cmpint(reader_open(&r, &usual, "", "all"), ==, TALLY_OK);
	for (unsigned i = 0; i < 3; i++) {
		g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
		late_us = 20000;
		g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
		g_assert_cmpuint(late_us, ==, 0);
		g_assert_cmpuint(total(&r, "cycles"), ==, mdm.sampled[1].n);
	}
	reader_close(&r, true);
}

/* What is odd is told and logged all the same. */
static void
test_oddity(void)
{
	struct tally_mb_history h = { .shape = { 3, 0, 64 }, .events = { 14, 46, 12 } };
	struct tally_mb_sample sample = { .events = { 400, 1000, 600 } };
	struct tally_mb_delta growth;
	const char *why;
	tally_mb_history_clear(&h, 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		g_assert_true(tally_mb_history_add(&h, &sample, 1000000, 1000001, &growth,
						   &why));
		g_assert_cmpstr(tally_mb_history_oddity(&h), ==, NULL);
		sample.events[1] += 50; /* on their way */
	}
	sample.events[1] += 50;
	g_assert_true(tally_mb_history_add(&h, &sample, 1000000, 1000001, &growth, &why));
	g_assert_nonnull(strstr(tally_mb_history_oddity(&h), "data cache requests"));
	g_assert_cmpuint(growth.counts.events[1], ==, 100);
	h.seen_events = ~UINT64_C(4);
	g_assert_cmpstr(tally_mb_history_oddity(&h), ==, NULL);
	h.events[2] = 13;
	h.seen_events = UINT64_MAX;
	g_assert_cmpstr(tally_mb_history_oddity(&h), ==, NULL);
}

/* ---- by the hardware's trigger ---- */

static void
hardware_does(struct reader *r, bool count, enum tally_capture want)
{
	fake_mdm_trigger(&mdm, count, tally_clock_now_ns());
	for (int i = 0; i < 2; i++) {
		g_usleep(1000);
		g_assert_cmpint(reader_sample(r), ==, TALLY_OK);
	}
	g_assert_cmpint(tally_trigger_capture(), ==, want);
}

static void
test_hardware(void)
{
	struct reader r;
	start_on = stop_on = "hw";
	g_assert_cmpint(reader_open(&r, &usual, "on", "all"), ==, TALLY_OK);
	g_assert_cmpuint(r.src->most_period_ns, ==, 1000000);
	/* It is the hardware that starts them. */
	g_assert_false(mdm.running);
	hardware_does(&r, false, TALLY_CAPTURE_WAITS);
	g_assert_cmpuint(total(&r, "cycles"), ==, 0);
	hardware_does(&r, true, TALLY_CAPTURE_RUNS);
	g_assert_cmpuint(total(&r, "cycles"), ==, mdm.sampled[find(&r, "cycles")].n);
	hardware_does(&r, false, TALLY_CAPTURE_PAUSED);
	uint64_t cycles = total(&r, "cycles");
	hardware_does(&r, false, TALLY_CAPTURE_PAUSED);
	g_assert_cmpuint(total(&r, "cycles"), ==, cycles);
	hardware_does(&r, true, TALLY_CAPTURE_RUNS);
	/* Latencies overlap: what is cleared because of it is not started by us. */
	mdm.config.full = true;
	g_usleep(1000);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	mdm.config.full = false;
	g_usleep(1000000);
	fake_mdm_trigger(&mdm, false, tally_clock_now_ns());
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_true((r.out.flags & TALLY_FLAG(DISTURBED)) != 0);
	hardware_does(&r, false, TALLY_CAPTURE_PAUSED);
	g_assert_cmpstr(mdm.wrong, ==, "");
	reader_close(&r, true);

	refused(&usual, "interval=100000", "--start-on hw");
	refused(&usual, "events=0:10", "--start-on hw counts cycles");
	start_on = NULL;
	refused(&usual, "events=0:10", "--stop-on hw counts cycles");
	g_assert_cmpint(reader_open(&r, &usual, "on", "all"), ==, TALLY_OK);
	g_assert_true(mdm.running);
	hardware_does(&r, true, TALLY_CAPTURE_RUNS);
	hardware_does(&r, false, TALLY_CAPTURE_PAUSED);
	reader_close(&r, true);
	stop_on = NULL;
}

/* A game whose user did not ask for it does not pay for it. */
static void
test_not_asked_for(void)
{
	struct tally_config config;
	tally_config_init(&config);
	struct tally_snapshot_source *src = tally_microblaze_create();
	src->config = &config;
	n_tree_walks = 0;
	g_assert_cmpint(src->ops->probe(src), ==, TALLY_UNSUPPORTED);
	g_assert_nonnull(strstr(src->reason, "not asked for"));
	g_assert_cmpuint(n_tree_walks, ==, 0);
	config.microblaze.on = true;
	config.microblaze.ne = 1000;
	g_assert_cmpint(src->ops->probe(src), ==, TALLY_UNSUPPORTED);
	g_assert_cmpuint(n_tree_walks, ==, 1);
	src->ops->destroy(src);
	tally_config_finish(&config);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/microblaze/shapes", test_shapes);
	g_test_add_func("/microblaze/levels", test_levels);
	g_test_add_func("/microblaze/wrap", test_wrap);
	g_test_add_func("/microblaze/full", test_full);
	g_test_add_func("/microblaze/long-latencies", test_long_latencies);
	g_test_add_func("/microblaze/mistakes", test_mistakes);
	g_test_add_func("/microblaze/too-few", test_too_few);
	g_test_add_func("/microblaze/any-shape", test_any_shape);
	g_test_add_func("/microblaze/refusals", test_refusals);
	g_test_add_func("/microblaze/debugger", test_debugger);
	g_test_add_func("/microblaze/choices", test_choices);
	g_test_add_func("/microblaze/events", test_events);
	g_test_add_func("/microblaze/interval", test_interval);
	g_test_add_func("/microblaze/interrupted", test_interrupted);
	g_test_add_func("/microblaze/not_asked_for", test_not_asked_for);
	g_test_add_func("/microblaze/oddity", test_oddity);
	g_test_add_func("/microblaze/hardware", test_hardware);
	return g_test_run();
}
