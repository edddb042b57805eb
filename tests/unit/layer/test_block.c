/* SPDX-License-Identifier: MIT */
#include "layer/session/block.h"

#include "layer/session/process.h"

#include <glib.h>
#include <string.h>

/* Binary search needs an order, and the generator's and ours must be the same. */
static void
test_order(void)
{
	g_assert_cmpuint(tally_blocklist_names, >, 50);
	for (size_t i = 0; i < tally_blocklist_names; i++) {
		const char *pattern = tally_blocklist[i].pattern;
		if (i)
			g_assert_cmpint(strcmp(tally_blocklist[i - 1].pattern, pattern), <, 0);
		g_assert_true(tally_block_find(pattern) == &tally_blocklist[i]);
		g_assert_cmpint(strlen(tally_blocklist[i].reason), >, 0);
	}
}

static const struct {
	const char *name, *pattern; /* NULL: no row */
} names[] = {
	{ "steam", "steam" },
	{ "Steam", "steam" },
	{ "steamwebhelpe", NULL },
	{ "steamwebhelper", "steamwebhelper" },
	{ "steamwebhelper2", NULL },
	{ "EXPLORER.EXE", "explorer.exe" },
	{ "explorer", NULL },
	{ "pressure-vessel-wrap", "pressure-vessel-*" },
	{ "UnityCrashHandler64.exe", "unitycrashhandler*.exe" },
	{ "", NULL },
	{ "a", NULL },
	{ "zzz", NULL },
	{ "\xff", NULL },
	{ "glxgears", NULL },
	{ "python3", NULL },
};

static void
test_find(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		const struct tally_block_entry *entry = tally_block_find(names[i].name);
		g_test_message("%s", names[i].name);
		g_assert_cmpstr(entry ? entry->pattern : NULL, ==, names[i].pattern);
	}
	g_assert_null(tally_block_find_argument("--type=gpu-process"));
	g_assert_null(tally_block_find_argument("--type=rendererx"));
	g_assert_nonnull(tally_block_find_argument("--type=renderer"));
}

static const struct {
	const char *program, *words, *block, *allow; /* words, separated by blanks */
	bool blocked;
	const char *name;
} cases[] = {
	{ "/usr/bin/glxgears", "glxgears", NULL, NULL, false, NULL },
	{ "/usr/bin/glxgears", "glxgears", "glx*", NULL, true, "glxgears" },
	{ "/usr/bin/glxgears", "glxgears", "glx*", "GLXGEARS", false, "glxgears" },
	{ "/usr/bin/steam", NULL, NULL, NULL, true, "steam" },
	{ "/usr/bin/steam", NULL, NULL, "other+steam", false, "steam" },
	{ "C:\\windows\\explorer.exe", NULL, NULL, NULL, true, "explorer.exe" },
	{ "/usr/bin/python3", "python3 -B /usr/games/lutris -d", NULL, NULL, true,
	  "lutris" },
	{ "/usr/bin/python3", "python3 -B /usr/games/lutris", NULL, "lutris", false,
	  "lutris" },
	{ "/usr/bin/python3", "python3 -B /usr/games/lutris", NULL, "python3", false,
	  "python3" },
	{ "/usr/bin/python3", "python3 game.py lutris", NULL, NULL, false, NULL },
	{ "/usr/bin/python3", "python3 -c lutris", NULL, NULL, false, NULL },
	{ "/usr/bin/python3", "python3 -c", NULL, NULL, false, NULL },
	{ "/usr/bin/game", "game lutris", NULL, NULL, false, NULL },
	{ "/opt/nw", "nw --type=renderer --x", NULL, NULL, true, "--type=renderer" },
	{ "/opt/nw", "nw --type=renderer", NULL, "nw", false, "nw" },
	{ "/opt/nw", "nw --type=gpu-process", NULL, NULL, false, NULL },
	{ "--type=renderer", "--type=renderer", NULL, NULL, false, NULL },
	{ "", NULL, "program", NULL, true, "program" },
};

static void
test_decide(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct tally_config config = { .block = (char *)cases[i].block,
					       .allow = (char *)cases[i].allow };
		char **argv = cases[i].words ? g_strsplit(cases[i].words, " ", -1) : NULL;
		struct tally_block_verdict v =
			tally_block_decide(&config, cases[i].program, (const char *const *)argv,
					   argv ? g_strv_length(argv) : 0);
		g_test_message("%zu: %s %s", i, cases[i].program, cases[i].words);
		g_assert_cmpint(v.blocked, ==, cases[i].blocked);
		g_assert_cmpstr(v.name, ==, cases[i].name);
		g_assert_true(v.entry == NULL || v.blocked);
		g_strfreev(argv);
	}
}

static const struct {
	const char *words;
	size_t named_by;
} commands[] = {
	{ "game -x", 0 },
	{ "wine game.exe", 1 },
	{ "/usr/lib/wine/wine64-preloader /usr/lib/wine/wine64 C:\\g\\game.exe -x", 2 },
	{ "C:\\g\\game.exe -x", 0 },
	{ "wine --version", 0 },
	{ "wine", 0 },
	{ "wine wine64", 0 },
	{ "wineserver -k", 0 },
	{ "game wine", 0 },
};

static void
test_named_by(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		char **argv = g_strsplit(commands[i].words, " ", -1);
		g_test_message("%s", commands[i].words);
		g_assert_cmpuint(tally_process_named_by((const char *const *)argv,
							g_strv_length(argv)),
				 ==, commands[i].named_by);
		g_strfreev(argv);
	}
	g_assert_cmpuint(tally_process_named_by(NULL, 0), ==, 0);
}

/* This process: identified by the path with which it was executed. */
static void
test_own(void)
{
	char called[4096], program[4096];
	tally_process_called(called, sizeof(called));
	tally_process_program(program, sizeof(program));
	g_assert_true(g_str_has_suffix(called, "/test_block"));
	g_assert_true(g_str_has_suffix(program, "/test_block"));
	g_assert_false(tally_block_early());
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/block/order", test_order);
	g_test_add_func("/block/find", test_find);
	g_test_add_func("/block/decide", test_decide);
	g_test_add_func("/block/named-by", test_named_by);
	g_test_add_func("/block/own", test_own);
	return g_test_run();
}
