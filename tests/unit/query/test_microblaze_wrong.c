/* SPDX-License-Identifier: MIT */
/* The source `microblaze` where something is wrong: options that contradict the module,
 * samples read in another configuration, refusals, a debugger in parallel. */
#include "tests/unit/query/microblaze_source.h"

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
	{ "too few event counters", "ne=4", 5, 1, 32, "4 event" },
	{ "too few event counters, wide", "ne=4+width=64", 5, 1, 64, "4 event" },
	{ "far too few event counters", "ne=1+width=48", 12, 3, 48, "ne=" },
	{ "too few latency counters", "nl=1", 5, 2, 32, "1 latency" },
	{ "a latency counter where event counters are", "ne=1", 5, 0, 32, "nl=" },
	{ "latency counters where event counters are", "ne=0+nl=2", 8, 0, 32, "nl=" },
	{ "32 bits that are 48", "width=32", 5, 1, 48, "width=" },
	{ "32 bits that are 64", "width=32", 5, 1, 64, "width=" },
	{ "one counter of 32 bits that is 64", "width=32+ne=1+nl=0", 1, 0, 64, "width=" },
	{ "48 bits that are 32", "width=48", 5, 1, 32, "width=" },
	{ "64 bits that are 32", "width=64", 5, 1, 32, "width=" },
	{ "48 bits that are 64", "width=48", 5, 1, 64, "width=" },
	{ "64 bits that are 48", "width=64", 5, 1, 48, "width=" },
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

/* Fewer counters than exist: what is read is right, or there is no value. */
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
		/* Latency counters that are not used do no harm. */
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

/* ---- every configuration read as every other ---- */

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

/* How many values were returned, or -1: the sample was refused. */
static int
read_as(const struct fake_mdm_config *config, const char *options)
{
	struct reader r;
	int n = 0;
	enum tally_status status = reader_open(&r, config, options, "all");
	bool opened = status == TALLY_OK, all_known = true;
	/* After an unknown delta, as that of a test that stood still for seconds, the totals are
	 * no longer the truth since the last Clear. */
	for (unsigned k = 0; k < 4 && status == TALLY_OK && all_known; k++) {
		g_usleep(k ? 200 : 20);
		status = reader_sample(&r);
		g_assert_cmpint(status, !=, TALLY_NO_MEMORY);
		for (uint32_t i = 0; i < r.src->n_counters && status == TALLY_OK; i++) {
			const char *key = r.src->counters[i]->key;
			all_known &= r.unknown[0] == 0;
			if (!all_known || r.totals[i] == truth(key)) {
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

/* A wrong configuration is refused, or what it returns is still right. */
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
	/* Its how-often is one number, and a log has one value of a key. */
	refused(&usual, "events=30:57+latency=57", "leave it out of events=");
	refused(&usual, "interval=100000+events=0:10", "cycles");
	refused(&usual, "off", "--microblaze");
	mapping_status = TALLY_UNSUPPORTED;
	refused(&usual, "on", "no place");
	mapping_status = TALLY_OK;
}

/* A debugger connects, changes the selection, and disconnects. */
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
	/* It clears the counters: the counts before that are not known, and no number is
	 * invented. */
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
	/* The module disappears. */
	mdm.config.dead = true;
	g_assert_cmpint(reader_sample(&r), ==, TALLY_LOST);
	g_assert_nonnull(strstr(r.src->reason, "answers no more"));
	g_assert_cmpint(reader_sample(&r), ==, TALLY_LOST);
	mdm.config.dead = false;
	reader_close(&r, true);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/microblaze/mistakes", test_mistakes);
	g_test_add_func("/microblaze/too-few", test_too_few);
	g_test_add_func("/microblaze/any-shape", test_any_shape);
	g_test_add_func("/microblaze/refusals", test_refusals);
	g_test_add_func("/microblaze/debugger", test_debugger);
	return g_test_run();
}
