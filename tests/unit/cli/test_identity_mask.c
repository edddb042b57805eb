/* SPDX-License-Identifier: MIT */
/* cli/log/identity.c: which arguments look like secrets. */
#include "cli/log/identity.h"

#include <string.h>

static const struct {
	const char *argv, *want; /* words separated by blanks */
} lines[] = {
	{ "game", "game" },
	{ "game -windowed -w 640", "game -windowed -w 640" },
	{ "game -AUTH_PASSWORD=hunter2 -AUTH_LOGIN=unused",
	  "game -AUTH_PASSWORD=*** -AUTH_LOGIN=***" },
	{ "game --token X", "game --token ***" },
	{ "game --token", "game --token" },
	{ "game --auth --token X", "game --auth *** ***" },
	{ "game --token=abc=def", "game --token=***" },
	{ "game /password:abc", "game /password:***" },
	{ "game +rcon_password abc", "game +rcon_password ***" },
	{ "game --authors list --author=me", "game --authors list --author=me" },
	{ "game token", "game token" },
	{ "game https://ann:pw@host/x", "game https://ann:***@host/x" },
	{ "game https://host:8080/x", "game https://host:8080/x" },
	{ "game https://host/x?a=1&access_token=abc", "game https://host/x?a=1&access_token=***" },
	{ "game eyJhbGciOi.eyJzdWI.sig", "game ***" },
	{ "game -API_KEY=1 level=2", "game -API_KEY=*** level=2" },
	{ "/opt/secret/game -x", "/opt/secret/game -x" },
};

static void
test_mask(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		char **argv = g_strsplit(lines[i].argv, " ", -1);
		GPtrArray *masked = tally_arguments_mask((const char *const *)argv,
							 g_strv_length(argv));
		g_ptr_array_add(masked, NULL);
		char *got = g_strjoinv(" ", (char **)masked->pdata);
		g_assert_cmpstr(got, ==, lines[i].want);
		g_free(got);
		g_ptr_array_unref(masked);
		g_strfreev(argv);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/identity_mask/lines", test_mask);
	return g_test_run();
}
