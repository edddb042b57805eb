/* SPDX-License-Identifier: MIT */
/* The source `microblaze` on the model of a debug module, in place of mmio.c and mapping.c. */
#include "tests/unit/query/microblaze_source.h"

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
	{ "third of some cores: the module says of how many", "access=serial+core=2", 5, 1, 32, 4,
	  false },
	{ "last of twelve cores", "access=serial+core=11+ports=12", 5, 1, 32, 12, false },
	{ "all that there can be", "ne=48+nl=7+width=64", 48, 7, 64, 1, true },
	{ "one event counter", "ne=1+nl=0", 1, 0, 32, 1, true },
	{ "a latency counter alone", "ne=0+nl=1", 0, 1, 32, 1, true },
};

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
		const char *word = strstr(shapes[i].options, "core=");
		uint64_t core = word ? g_ascii_strtoull(word + strlen("core="), NULL, 10) : 0;
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
		g_assert_cmpuint(mdm.which, ==, config.ports > 1 ? UINT32_C(1) << core : 1);
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

/* A counter wraps: the first sample that reports it leaves out the delta, the next one is
 * right. */
static void
test_wrap(void)
{
	struct fake_mdm_config config = usual;
	struct reader r;
	g_assert_cmpint(reader_open(&r, &usual, "check=off", "all"), ==, TALLY_OK);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	/* Let all event counters be close to their end. */
	uint64_t before = total(&r, "cycles");
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(total(&r, "cycles"), >=, before);
	reader_close(&r, true);

	config.start = 0;
	g_assert_cmpint(reader_open(&r, &config, "check=off+events=30:0", "all"), ==, TALLY_OK);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	/* The second counter is advanced by nearly 2^32 at once: no core counts that fast. */
	mdm.counters[1].n = (mdm.counters[1].n - 5000000) & UINT32_MAX;
	g_assert_cmpint(reader_sample(&r), ==, TALLY_NOT_READY);
	mdm.counters[1].n = (mdm.counters[1].n + 5000000) & UINT32_MAX;
	g_usleep(100);
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	check_totals(&r);
	/* Overflow is reported once. */
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
	/* A second later the counters are cleared, so that the bit can report again. */
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

/* Sums of squares beyond 32 bits, and latencies beyond 16: what is not certain is unknown. */
static void
test_long_latencies(void)
{
	struct fake_mdm_config config = usual;
	struct reader r;
	config.latency = 60000;
	/* A slow clock, because on a busy machine the sum of latencies exceeds 32 bits too: in
	 * 3.5 s. */
	config.cycles_per_us = 2;
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
		g_assert_cmpint(reader_open(&r, &config, choices[i].options, choices[i].counters),
				==, TALLY_OK);
		GString *keys = g_string_new(NULL), *logged = g_string_new(NULL);
		for (uint32_t k = 0; k < r.src->n_counters; k++) {
			g_string_append_printf(keys, "%s%s", k ? " " : "", r.src->counters[k]->key);
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
	/* A socket returns nothing of what is written to it, and a reader of it waits, as with
	 * a UIO device. */
	int ends[2];
	g_assert_cmpint(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), ==, 0);
	due_fd = ends[0];
	alarm(30);
	g_assert_cmpint(reader_open(&r, &usual, "interval=10000000", "all"), ==, TALLY_OK);
	g_assert_nonnull(r.src->due_fd);
	g_assert_cmpint(*r.src->due_fd, ==, due_fd);
	g_assert_cmpuint(mdm.counters[0].event, ==, 30);
	g_usleep(300);
	/* Before the interrupt: a sample for other reasons does not preset anything again. */
	unsigned clears = mdm.n_clears;
	g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
	g_assert_cmpuint(mdm.n_clears, ==, clears);
	g_assert_cmpuint(total(&r, "cycles"), ==, mdm.sampled[0].n - (UINT32_MAX - 10000000 + 1));
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

/* Other threads may have the processor between the reading of the clock and the sample: what
 * the core counts meanwhile is not a contradiction. */
static void
test_interrupted(void)
{
	struct reader r;
	g_assert_cmpint(reader_open(&r, &usual, "on", "all"), ==, TALLY_OK);
	for (unsigned i = 0; i < 3; i++) {
		g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
		late_us = 20000;
		g_assert_cmpint(reader_sample(&r), ==, TALLY_OK);
		g_assert_cmpuint(late_us, ==, 0);
		g_assert_cmpuint(total(&r, "cycles"), ==, mdm.sampled[1].n);
	}
	reader_close(&r, true);
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
	/* The hardware starts the counters. */
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
	/* Latencies overlap: the counters are cleared because of that, but not started by
	 * passtally. */
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

/* ---- options ---- */

/* says NULL: taken. */
static const struct {
	const char *text, *says;
} words[] = {
	{ "path=mem+base=0x44A00000+access=serial", NULL },
	{ "ne=48+nl=7+events=0:cycles+latency=60", NULL },
	{ "ports=4+core=3+unlock=0x1234+take=2+check=off+interval=100000", NULL },
	{ "core=2", NULL },
	{ "width=33", "width=32, 48 or 64" },
	{ "ne=49", "ne=0 to 48" },
	{ "nl=8", "nl=0 to 7" },
	{ "ne=0+nl=0", "both" },
	{ "core=1+ports=1", "ports=1" },
	{ "path=/etc/passwd", "uio0" },
	{ "path=../uio0", "uio0" },
	{ "base=3", "multiple of 4" },
	{ "base=", "address" },
	{ "unlock=0x10000", "0xffff" },
	{ "interval=999", "1000" },
	{ "events=", "names or numbers" },
	{ "speed=5", "latency=" },
};

static void
test_options(void)
{
	struct tally_mb_options o;
	char why[600];
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		bool taken = tally_mb_options_parse(&o, words[i].text, why, sizeof(why));
		g_test_message("%s: %s", words[i].text, taken ? "taken" : why);
		g_assert_cmpint(taken, ==, !words[i].says);
		g_assert_true(taken || strstr(why, words[i].says));
	}
	g_assert_true(tally_mb_options_parse(&o, words[0].text, why, sizeof(why)));
	g_assert_true(o.on && o.access == TALLY_MB_SERIAL && o.base == 0x44a00000);
	g_assert_cmpstr(o.path, ==, "/dev/mem");
	g_assert_true(tally_mb_options_parse(&o, words[2].text, why, sizeof(why)));
	g_assert_true(o.ports == 4 && o.core == 3 && o.unlock == 0x1234 && o.take == 2);
	g_assert_true(!o.check && o.interval == 100000 && o.ne == 5 && o.nl == 1 && o.width == 32);
	g_assert_true(tally_mb_options_parse(&o, "off", why, sizeof(why)) && !o.on);
	g_assert_true(tally_mb_options_parse(&o, NULL, why, sizeof(why)) && !o.on);
}

/* A game whose user did not request it does not pay for it. */
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
	tally_config_set(&config, "microblaze", "ne=1000", TALLY_FROM_COMMAND_LINE, complain, NULL);
	g_assert_cmpint(src->ops->probe(src), ==, TALLY_UNSUPPORTED);
	g_assert_nonnull(strstr(src->reason, "ne=0 to 48"));
	g_assert_cmpuint(n_tree_walks, ==, 0);
	tally_config_set(&config, "microblaze", "on", TALLY_FROM_COMMAND_LINE, complain, NULL);
	g_assert_cmpint(src->ops->probe(src), ==, TALLY_OK);
	g_assert_cmpuint(n_tree_walks, ==, 1);
	src->ops->destroy(src);
	tally_config_finish(&config);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/microblaze/shapes", test_shapes);
	g_test_add_func("/microblaze/options", test_options);
	g_test_add_func("/microblaze/levels", test_levels);
	g_test_add_func("/microblaze/wrap", test_wrap);
	g_test_add_func("/microblaze/full", test_full);
	g_test_add_func("/microblaze/long-latencies", test_long_latencies);
	g_test_add_func("/microblaze/choices", test_choices);
	g_test_add_func("/microblaze/events", test_events);
	g_test_add_func("/microblaze/interval", test_interval);
	g_test_add_func("/microblaze/interrupted", test_interrupted);
	g_test_add_func("/microblaze/not_asked_for", test_not_asked_for);
	g_test_add_func("/microblaze/hardware", test_hardware);
	return g_test_run();
}
