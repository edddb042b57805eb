/* SPDX-License-Identifier: MIT */
#include "layer/config/list.h"
#include "layer/config/options.h"
#include "layer/config/path.h"
#include "tests/unit/layer/config_values.h"

static void
test_defaults(void)
{
	static const struct {
		const char *key, *value;
	} defaults[] = {
		{ "counters", "overview" },
		{ "set", "" },
		{ "sources", "" },
		{ "cpu", "off" },
		{ "granularity", "pass" },
		{ "frame", "present" },
		{ "split", "none" },
		{ "group-work", "on" },
		{ "pipelines", "off" },
		{ "describe", "off" },
		{ "snapshot", "sampled" },
		{ "period", "1ms" },
		{ "mali-delay", "0s" },
		{ "microblaze", "off" },
		{ "skip", "0" },
		{ "frames", "0" },
		{ "every", "1" },
		{ "seconds", "0" },
		{ "start-on", "" },
		{ "stop-on", "" },
		{ "control", "" },
		{ "pictures", "" },
		{ "renderdoc-over", "0s" },
		{ "log", "" },
		{ "pipeline-statistics", "off" },
		{ "digest", "off" },
		{ "black-box", "0s" },
		{ "black-box-over", "0s" },
		{ "max-log", "2G" },
		{ "log-quota", "4G" },
		{ "max-passes", "16384" },
		{ "no-argv", "off" },
		{ "force", "off" },
		{ "tag", "" },
		{ "host", "off" },
		{ "block", "" },
		{ "allow", "" },
	};
	struct tally_config config;
	tally_config_init(&config);
	g_assert_cmpuint(G_N_ELEMENTS(defaults), ==, tally_n_options);
	for (size_t i = 0; i < G_N_ELEMENTS(defaults); i++) {
		assert_value(&config, defaults[i].key, defaults[i].value);
		g_assert_cmpint(config.origin[i], ==, TALLY_FROM_DEFAULT);
	}
	tally_config_finish(&config);
	tally_config_finish(&config);
	tally_config_finish(NULL);
}

/* want NULL: refused, and the message contains `says`. */
static const struct {
	const char *key, *value, *want, *says;
} settings[] = {
	{ "counters", "all", "all", NULL },
	{ "counters", "", NULL, "overview" },
	{ "counters", NULL, NULL, "needs a value" },
	{ "counters", "a\nb", NULL, "overview" },
	{ "set", "RenderBasic", "RenderBasic", NULL },
	{ "sources", "gl-timestamp+fake", "gl-timestamp+fake", NULL },
	{ "granularity", "draw", "draw", NULL },
	{ "granularity", "frame", "frame", NULL },
	{ "granularity", "Draw", NULL, "frame, submit, pass or draw" },
	{ "frame", "finish", "finish", NULL },
	{ "frame", "idle", "idle", NULL },
	{ "frame", "submit:12", "submit:12", NULL },
	{ "frame", "submit:0", NULL, "submit:N" },
	{ "frame", "submit", NULL, "submit:N" },
	{ "frame", "label:End of frame", "label:End of frame", NULL },
	{ "frame", "label:", NULL, "label:NAME" },
	{ "frame", "swap", NULL, "present, finish, flush, terminator, idle" },
	{ "split", "barrier", "barrier", NULL },
	{ "split", "all", NULL, "none, group or barrier" },
	{ "group-work", "off", "off", NULL },
	{ "pipelines", "on", "on", NULL },
	{ "group-work", "maybe", NULL, "on or off" },
	{ "group-work", NULL, NULL, "needs a value" },
	{ "snapshot", "exact", "exact", NULL },
	{ "snapshot", "none", NULL, "sampled, exact or off" },
	{ "period", "500us", "500us", NULL },
	{ "period", "0.5ms", "500us", NULL },
	{ "period", "2s", "2s", NULL },
	{ "period", "1500000ns", "1500us", NULL },
	{ "period", "5", NULL, "unit" },
	{ "period", "10ns", NULL, "1us" },
	{ "period", "1h", NULL, "unit" },
	{ "period", "99999999999999999999s", NULL, "unit" },
	{ "mali-delay", "3ms", "3ms", NULL },
	{ "mali-delay", "0s", "0s", NULL },
	{ "mali-delay", "3", NULL, "unit" },
	{ "mali-delay", "101ms", NULL, "100ms" },
	{ "microblaze", "on", "on", NULL },
	{ "microblaze", "off", "off", NULL },
	{ "microblaze", "path=uio0+width=48", "path=uio0+width=48", NULL },
	{ "skip", "10", "10", NULL },
	{ "skip", "18446744073709551615", "18446744073709551615", NULL },
	{ "skip", "18446744073709551616", NULL, "whole number" },
	{ "skip", "-1", NULL, "whole number" },
	{ "skip", "+1", NULL, "whole number" },
	{ "skip", " 1", NULL, "whole number" },
	{ "skip", "1x", NULL, "whole number" },
	{ "skip", "0x10", NULL, "whole number" },
	{ "frames", "100", "100", NULL },
	{ "frames", "", NULL, "whole number" },
	{ "every", "3", "3", NULL },
	{ "every", "0", NULL, "from 1" },
	{ "seconds", "10", "10", NULL },
	{ "seconds", "0.25", "0.25", NULL },
	{ "seconds", "250ms", "0.25", NULL },
	{ "seconds", "1,5", NULL, "seconds" },
	{ "seconds", ".5", NULL, "seconds" },
	{ "seconds", "5.", NULL, "seconds" },
	{ "seconds", "1e3", NULL, "seconds" },
	{ "seconds", "nan", NULL, "seconds" },
	{ "start-on", "frame:100", "frame:100", NULL },
	{ "start-on", "label:Level 1", "label:Level 1", NULL },
	{ "start-on", "signal:USR2", "signal:USR2", NULL },
	{ "start-on", "signal:SIGUSR1", "signal:USR1", NULL },
	{ "start-on", "signal:RTMIN", "signal:RTMIN+0", NULL },
	{ "stop-on", "signal:RTMIN+3", "signal:RTMIN+3", NULL },
	{ "stop-on", "signal:28", "signal:28", NULL },
	{ "start-on", "signal:12", "signal:USR2", NULL },
	{ "start-on", "signal:9", NULL, "signal:NAME" },
	{ "start-on", "signal:0", NULL, "signal:NAME" },
	{ "start-on", "signal:32", NULL, "signal:NAME" },
	{ "start-on", "signal:99", NULL, "signal:NAME" },
	{ "start-on", "signal:128", NULL, "signal:NAME" },
	{ "start-on", "signal:RTMIN+", NULL, "signal:NAME" },
	{ "start-on", "signal:RTMIN+40", NULL, "signal:NAME" },
	{ "start-on", "signal:SEGV", NULL, "signal:NAME" },
	{ "start-on", "signal", NULL, "signal:NAME" },
	{ "start-on", "hw", "hw", NULL },
	{ "stop-on", "hw", "hw", NULL },
	{ "start-on", "frame:x", NULL, "frame:N, label:NAME, signal:NAME" },
	{ "stop-on", "frame:0", "frame:0", NULL },
	{ "control", "/run/x/%e-%p.sock", "/run/x/%e-%p.sock", NULL },
	{ "control", "off", "off", NULL },
	{ "control", "a\nb", NULL, "off, or a path" },
	{ "log", "/tmp/%e.jsonl", "/tmp/%e.jsonl", NULL },
	{ "log", "", NULL, "a path" },
	{ "max-log", "100", "100", NULL },
	{ "max-log", "64K", "64K", NULL },
	{ "max-log", "1024K", "1M", NULL },
	{ "max-log", "3GiB", "3G", NULL },
	{ "max-log", "0", "0", NULL },
	{ "max-log", "17179869184G", NULL, "bytes" },
	{ "max-log", "1T", NULL, "K, M or G" },
	{ "max-passes", "512", "512", NULL },
	{ "max-passes", "0", NULL, "from 1" },
	{ "max-passes", "4294967296", NULL, "1000000" },
	{ "cpu", NULL, "on", NULL },
	{ "no-argv", NULL, "on", NULL },
	{ "no-argv", "off", "off", NULL },
	{ "force", "yes", "on", NULL },
	{ "force", "perhaps", NULL, "on or off" },
	{ "colour", "x", NULL,
	  "the options are counters, set, sources, cpu, granularity, frame, split" },
	{ "tag", "build=1234", "build=1234", NULL },
	{ "tag", "build=1+scene=docks", "build=1+scene=docks", NULL },
	{ "tag", "build=1+build=2", "build=2", NULL },
	{ "tag", "lang=c++", "lang=c++", NULL },
	{ "tag", "sum=1+2", "sum=1+2", NULL },
	{ "tag", "a=b=c", "a=b=c", NULL },
	{ "tag", "build", NULL, "KEY=VALUE" },
	{ "tag", "=1", NULL, "KEY=VALUE" },
	{ "tag", "build=", NULL, "KEY=VALUE" },
	{ "tag", "a b=1", NULL, "KEY=VALUE" },
	{ "tag", "build=a\nb", NULL, "KEY=VALUE" },
	{ "pictures", NULL, "frame:100", NULL },
	{ "pictures", "label:UI", "label:UI", NULL },
	{ "pictures", "hw", NULL, "frame:N, label:NAME or on" },
	{ "tag", NULL, NULL, "needs a value" },
	{ "host", NULL, "on", NULL },
	{ "", "x", NULL, "max-passes, no-argv, force" },
};

static void
test_set(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
		struct tally_config config;
		GString *said = g_string_new(NULL);
		g_test_message("%s=%s", settings[i].key, settings[i].value);
		tally_config_init(&config);
		bool ok = tally_config_set(&config, settings[i].key, settings[i].value,
					   TALLY_FROM_COMMAND_LINE, keep_message, said);
		g_assert_true(ok == (settings[i].want != NULL));
		if (ok) {
			g_assert_cmpstr(said->str, ==, "");
			assert_value(&config, settings[i].key, settings[i].want);
			g_assert_cmpint(config.origin[row_of(settings[i].key)], ==,
					TALLY_FROM_COMMAND_LINE);
		} else {
			g_assert_nonnull(strstr(said->str, settings[i].says));
		}
		g_string_free(said, TRUE);
		tally_config_finish(&config);
	}
}

/* The text that an option prints about itself sets it again. */
static void
test_round_trip(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
		if (!settings[i].want)
			continue;
		struct tally_config a, b;
		tally_config_init(&a);
		tally_config_init(&b);
		g_assert_true(tally_config_set(&a, settings[i].key, settings[i].value,
					       TALLY_FROM_ENVIRONMENT, NULL, NULL));
		char *value = value_of(&a, settings[i].key);
		g_assert_true(tally_config_set(&b, settings[i].key, value,
					       TALLY_FROM_ENVIRONMENT, NULL, NULL));
		assert_value(&b, settings[i].key, value);
		g_free(value);
		tally_config_finish(&a);
		tally_config_finish(&b);
	}
}

static void
test_precedence(void)
{
	struct tally_config config;
	GString *said = g_string_new(NULL);
	tally_config_init(&config);
	g_assert_true(tally_config_set(&config, "skip", "3", TALLY_FROM_ENVIRONMENT,
				       keep_message, said));
	g_assert_true(tally_config_set(&config, "skip", "4", TALLY_FROM_USER_FILE,
				       keep_message, said));
	assert_value(&config, "skip", "3");
	g_assert_true(tally_config_set(&config, "skip", "5", TALLY_FROM_ENVIRONMENT,
				       keep_message, said));
	assert_value(&config, "skip", "5");
	g_assert_true(tally_config_set(&config, "skip", "6", TALLY_FROM_COMMAND_LINE,
				       keep_message, said));
	assert_value(&config, "skip", "6");
	g_assert_cmpstr(said->str, ==, "");
	/* Overridden, but still wrong. */
	g_assert_false(tally_config_set(&config, "skip", "x", TALLY_FROM_PROGRAM_FILE,
					keep_message, said));
	g_assert_nonnull(strstr(said->str, "skip"));
	assert_value(&config, "skip", "6");
	/* A bad value leaves the good one in force. */
	g_assert_false(tally_config_set(&config, "skip", "x", TALLY_FROM_COMMAND_LINE,
					keep_message, said));
	assert_value(&config, "skip", "6");
	g_string_free(said, TRUE);
	tally_config_finish(&config);
}

/* Set one after the other; which one is in force in the end. */
static const struct {
	struct {
		enum tally_config_origin origin;
		const char *value;
	} set[3];
	const char *want;
	enum tally_config_origin from;
} tag_orders[] = {
	{ { { TALLY_FROM_COMMAND_LINE, "a=1" }, { TALLY_FROM_COMMAND_LINE, "b=2" } },
	  "a=1+b=2", TALLY_FROM_COMMAND_LINE },
	{ { { TALLY_FROM_COMMAND_LINE, "a=1" }, { TALLY_FROM_USER_FILE, "a=2+b=2" } },
	  "a=1+b=2", TALLY_FROM_COMMAND_LINE },
	{ { { TALLY_FROM_COMMAND_LINE, "a=1" }, { TALLY_FROM_USER_FILE, "b=2" },
	    { TALLY_FROM_ENVIRONMENT, "b=3" } },
	  "a=1+b=3", TALLY_FROM_COMMAND_LINE },
	{ { { TALLY_FROM_USER_FILE, "b=2" }, { TALLY_FROM_USER_FILE, "b=4" } },
	  "b=4", TALLY_FROM_USER_FILE },
};

static void
test_tags(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(tag_orders); i++) {
		struct tally_config config;
		tally_config_init(&config);
		for (size_t k = 0; k < 3 && tag_orders[i].set[k].value; k++)
			g_assert_true(tally_config_set(&config, "tag",
						       tag_orders[i].set[k].value,
						       tag_orders[i].set[k].origin, NULL,
						       NULL));
		assert_value(&config, "tag", tag_orders[i].want);
		g_assert_cmpint(config.origin[row_of("tag")], ==, tag_orders[i].from);
		/* What is printed sets the same. */
		char *printed = value_of(&config, "tag");
		struct tally_config again;
		tally_config_init(&again);
		g_assert_true(tally_config_set(&again, "tag", printed, TALLY_FROM_ENVIRONMENT,
					       NULL, NULL));
		assert_value(&again, "tag", printed);
		g_free(printed);
		tally_config_finish(&again);
		tally_config_finish(&config);
	}
	struct tally_config config;
	tally_config_init(&config);
	for (unsigned n = 0; n <= TALLY_MAX_TAGS; n++) {
		char text[16];
		g_snprintf(text, sizeof(text), "t%u=x", n);
		g_assert_true(tally_config_set(&config, "tag", text, TALLY_FROM_ENVIRONMENT,
					       NULL, NULL) == (n < TALLY_MAX_TAGS));
	}
	tally_config_finish(&config);
}

static const struct {
	const char *text;
	bool ok;
	const char *key, *want;
} texts[] = {
	{ "", true, "skip", "0" },
	{ ",,", true, "skip", "0" },
	{ "skip=1", true, "skip", "1" },
	{ " skip = 1", false, "skip", "0" },
	{ " skip=1", true, "skip", "1" },
	{ "skip=1,frames=2,force", true, "force", "on" },
	{ "skip=1,frames=2,force", true, "frames", "2" },
	{ "frame=submit:1", true, "frame", "submit:1" },
	{ "counters=a+b*", true, "counters", "a+b*" },
	{ "counters=a\\,b", true, "counters", "a,b" },
	{ "frame=label:a\\\\b=c", true, "frame", "label:a\\b=c" },
	{ "skip=1,nonsense,frames=2", false, "frames", "2" },
	{ "skip", false, "skip", "0" },
	{ "=1", false, "skip", "0" },
	{ "skip=1,frames=2\\", false, "skip", "1" },
};

static void
test_parse_options(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		struct tally_config config;
		GString *said = g_string_new(NULL);
		g_test_message("%s", texts[i].text);
		tally_config_init(&config);
		g_assert_true(tally_config_parse_options(&config, texts[i].text,
							 TALLY_FROM_ENVIRONMENT, keep_message,
							 said) == texts[i].ok);
		assert_value(&config, texts[i].key, texts[i].want);
		g_assert_true((said->len == 0) == texts[i].ok);
		g_string_free(said, TRUE);
		tally_config_finish(&config);
	}
	/* Too long. */
	char *text = g_strnfill((64 << 10) + 1, ',');
	struct tally_config config;
	GString *said = g_string_new(NULL);
	tally_config_init(&config);
	g_assert_false(tally_config_parse_options(&config, text, TALLY_FROM_ENVIRONMENT,
						  keep_message, said));
	g_assert_nonnull(strstr(said->str, "65536"));
	text[64 << 10] = '\0';
	g_assert_true(
		tally_config_parse_options(&config, text, TALLY_FROM_ENVIRONMENT, NULL, NULL));
	g_string_free(said, TRUE);
	tally_config_finish(&config);
	g_free(text);
}

static const struct {
	const char *pattern, *program, *want;
	uint64_t unix_s;
} paths[] = {
	{ "/a/%e-%t-%p.jsonl", "/usr/bin/game", "/a/game-19700101-000000-42.jsonl", 0 },
	{ "%t", "x", "20240229-235959", 1709251199 },
	{ "%t", "x", "20240301-000000", 1709251200 },
	{ "%t", "x", "20000229-120000", 951825600 },
	{ "%t", "x", "21000301-000000", UINT64_C(4107542400) },
	{ "%%%p%%", "x", "%42%", 0 },
	{ "100%", "x", "100%", 0 },
	{ "%q%e", NULL, "%qprogram", 0 },
	{ "%e", "/", "program", 0 },
	{ "%e%e", "a%tb", "a%tba%tb", 0 },
	{ "", "x", "", 0 },
	{ NULL, "game", "/state%p/passtally/game-19700101-000000-42.jsonl", 0 },
};

static void
test_log_path(void)
{
	g_setenv("XDG_STATE_HOME", "/state%p", TRUE);
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		char *path = tally_config_log_path(paths[i].pattern, paths[i].program,
						   paths[i].unix_s * UINT64_C(1000000000), 42);
		g_assert_cmpstr(path, ==, paths[i].want);
		free(path);
	}
	g_setenv("XDG_STATE_HOME", "relative", TRUE);
	g_setenv("HOME", "/home/u", TRUE);
	char *path = tally_config_log_path(NULL, "g", 0, 1);
	g_assert_cmpstr(path, ==, "/home/u/.local/state/passtally/g-19700101-000000-1.jsonl");
	free(path);
	g_unsetenv("HOME");
	g_assert_null(tally_config_log_path(NULL, "g", 0, 1));
}

static const struct {
	const char *list, *key, *name;
	bool want;
} matches[] = {
	{ "gpu-time", "gpu-time", "GPU time", true },
	{ "GPU TIME", "gpu-time", "GPU time", true },
	{ "a+b,c", "c", NULL, true },
	{ "a + b", "b", NULL, true },
	{ "a*", "abc", NULL, true },
	{ "*", "x", NULL, true },
	{ "?", "xy", NULL, false },
	{ "a*b*c", "aXbYbZc", NULL, true },
	{ "a*b*c", "aXbYbZ", NULL, false },
	{ "**a", "bca", NULL, true },
	{ "vs*", NULL, "VS invocations", true },
	{ "all", "all", "all", false },
	{ "overview+x", "overview", NULL, false },
	{ "", "", "", false },
	{ "+,+", "", "", false },
	{ "ab", "a", "abc", false },
	{ NULL, "a", "b", false },
};

static void
test_lists(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(matches); i++) {
		g_test_message("%s in %s", matches[i].key, matches[i].list);
		g_assert_true(tally_list_matches(matches[i].list, matches[i].key,
						 matches[i].name) == matches[i].want);
	}
	g_assert_true(tally_list_has("a+All", "all"));
	g_assert_true(tally_list_has("overview", "overview"));
	g_assert_false(tally_list_has("overviews", "overview"));
	g_assert_false(tally_list_has("over", "overview"));
	g_assert_false(tally_list_has(NULL, "all"));
	/* Many stars over a long text: must answer soon. */
	char *text = g_strnfill(4000, 'a');
	g_assert_false(tally_list_matches("*a*a*a*a*a*a*a*a*a*a*b", text, NULL));
	g_free(text);
}

static void
test_table(void)
{
	for (size_t i = 0; i < tally_n_options; i++) {
		const struct tally_option *o = &tally_options[i];
		bool is_plain = o->type < TALLY_OPTION_FRAME && o->type != TALLY_OPTION_SWITCH;
		g_assert_cmpint(o->valid != NULL, ==, is_plain);
		g_assert_cmpint(o->words != NULL, ==, o->type == TALLY_OPTION_WORD);
		g_assert_cmpuint(o->offset + o->size, <=, sizeof(struct tally_config));
		g_assert_cmpint(o->most != 0, ==,
				o->type == TALLY_OPTION_COUNT || o->type == TALLY_OPTION_TIME);
		g_assert_true(tally_option_find(tally_options[i].key,
						strlen(tally_options[i].key)) ==
			      &tally_options[i]);
	}
	g_assert_null(tally_options[row_of("force")].values);
	g_assert_null(tally_option_find("sk", 2));
}

static void
test_disabled(void)
{
	if (!g_test_subprocess()) {
		g_unsetenv("PASSTALLY_DISABLE");
		g_assert_false(tally_config_disabled());
		g_setenv("PASSTALLY_DISABLE", "", TRUE);
		g_assert_false(tally_config_disabled()); /* read once */
		g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
		g_test_trap_assert_passed();
		g_unsetenv("PASSTALLY_DISABLE");
		return;
	}
	g_assert_true(tally_config_disabled());
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/config/tags", test_tags);
	g_test_add_func("/config/defaults", test_defaults);
	g_test_add_func("/config/set", test_set);
	g_test_add_func("/config/round-trip", test_round_trip);
	g_test_add_func("/config/precedence", test_precedence);
	g_test_add_func("/config/parse-options", test_parse_options);
	g_test_add_func("/config/log-path", test_log_path);
	g_test_add_func("/config/lists", test_lists);
	g_test_add_func("/config/table", test_table);
	g_test_add_func("/config/disabled", test_disabled);
	return g_test_run();
}
