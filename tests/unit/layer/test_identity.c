/* SPDX-License-Identifier: MIT */
#include "layer/frame/identity.h"

#include <glib.h>
#include <string.h>

/* HOME is /data/people/ann. */
static const struct {
	const char *text, *want;
} homes[] = {
	{ "", "" },
	{ "/usr/bin/game", "/usr/bin/game" },
	{ "/home/bob/logs/a.jsonl", "~/logs/a.jsonl" },
	{ "/home/bob", "~" },
	{ "/home", "/home" },
	{ "/home/", "/home/" },
	{ "/homes/bob/x", "/homes/bob/x" },
	{ "/mnt/home/bob/x", "/mnt/home/bob/x" },
	{ "/var/home/bob/x", "~/x" },
	{ "/Users/bob/x", "~/x" },
	{ "/root/x", "~/x" },
	{ "/root", "~" },
	{ "/rooted/x", "/rooted/x" },
	{ "/data/people/ann/games/g", "~/games/g" },
	{ "/data/people/anna/g", "/data/people/anna/g" },
	{ "-o/data/people/ann/g", "-o~/g" },
	{ "Z:\\home\\bob\\g.exe", "Z:~\\g.exe" },
	{ "C:\\users\\bob\\g.exe", "C:~\\g.exe" },
	{ "cannot read /home/bob/c.conf:3: and /home/eve, too",
	  "cannot read ~/c.conf:3: and ~, too" },
	{ "path=/home/bob+x=/home/eve/y", "path=~+x=~/y" },
	{ "~/x and file:///home/bob/x", "~/x and file://~/x" },
};

static void
test_homes(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(homes); i++) {
		char text[256];
		g_strlcpy(text, homes[i].text, sizeof(text));
		tally_identity_hide_homes(text);
		g_assert_cmpstr(text, ==, homes[i].want);
	}
}

static void
test_uuid(void)
{
	unsigned char uuid[16] = { 0 };
	char text[37] = "x";
	tally_uuid_print(uuid, text);
	g_assert_cmpstr(text, ==, "");
	for (unsigned i = 0; i < 16; i++)
		uuid[i] = (unsigned char)(i * 17);
	tally_uuid_print(uuid, text);
	g_assert_cmpstr(text, ==, "00112233-4455-6677-8899-aabbccddeeff");
}

static void
set(struct tally_config *config, const char *key, const char *value)
{
	g_assert_true(tally_config_set(config, key, value, TALLY_FROM_COMMAND_LINE, NULL, NULL));
}

static void
test_header(void)
{
	struct tally_config config;
	struct tally_identity *first = g_new0(struct tally_identity, 1);
	struct tally_identity *second = g_new0(struct tally_identity, 1);
	struct tally_header_record a = { 0 }, b = { 0 };
	tally_config_init(&config);
	set(&config, "tag", "build=1234");
	set(&config, "tag", "dir=/home/bob/x");
	tally_identity_read(first, &config, &a);
	g_assert_cmpuint(strlen(a.run), ==, 36);
	g_assert_cmpint(a.run[14], ==, '4');
	g_assert_true(g_str_has_prefix(a.kernel, "Linux "));
	g_assert_cmpuint(a.cpus, >, 0);
	g_assert_cmpuint(a.memory_bytes, >, 1 << 20);
	g_assert_cmpint(a.session, !=, TALLY_SESSION_UNKNOWN);
	g_assert_null(a.host); /* not asked for */
	g_assert_cmpuint(a.n_tags, ==, 2);
	g_assert_cmpstr(a.tags[0].key, ==, "build");
	g_assert_cmpstr(a.tags[0].value, ==, "1234");
	g_assert_cmpstr(a.tags[1].value, ==, "/home/bob/x");
	set(&config, "host", "on");
	set(&config, "no-argv", "on");
	tally_identity_read(second, &config, &b);
	g_assert_cmpstr(a.run, !=, b.run);
	g_assert_cmpstr(a.kernel, ==, b.kernel);
	g_assert_nonnull(b.host);
	g_assert_cmpstr(b.tags[1].value, ==, "~/x");
	g_free(first);
	g_free(second);
	tally_config_finish(&config);
}

static const struct {
	const char *wayland, *x11;
	enum tally_session want;
} sessions[] = {
	{ NULL, NULL, TALLY_SESSION_HEADLESS },
	{ "", "", TALLY_SESSION_HEADLESS },
	{ NULL, ":0", TALLY_SESSION_X11 },
	{ "wayland-0", NULL, TALLY_SESSION_WAYLAND },
	{ "wayland-0", ":0", TALLY_SESSION_WAYLAND },
};

static void
put_variable(const char *name, const char *value)
{
	if (value)
		g_setenv(name, value, TRUE);
	else
		g_unsetenv(name);
}

static void
test_session(void)
{
	struct tally_config config;
	struct tally_identity *id = g_new0(struct tally_identity, 1);
	tally_config_init(&config);
	g_unsetenv("WAYLAND_SOCKET");
	for (size_t i = 0; i < G_N_ELEMENTS(sessions); i++) {
		struct tally_header_record header = { 0 };
		put_variable("WAYLAND_DISPLAY", sessions[i].wayland);
		put_variable("DISPLAY", sessions[i].x11);
		tally_identity_read(id, &config, &header);
		g_assert_cmpint(header.session, ==, sessions[i].want);
	}
	g_free(id);
	tally_config_finish(&config);
}

int
main(int argc, char **argv)
{
	g_setenv("HOME", "/data/people/ann/", TRUE);
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/identity/homes", test_homes);
	g_test_add_func("/identity/uuid", test_uuid);
	g_test_add_func("/identity/header", test_header);
	g_test_add_func("/identity/session", test_session);
	return g_test_run();
}
