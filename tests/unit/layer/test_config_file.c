/* SPDX-License-Identifier: MIT */
/* Options from files: those of passtally and of Vulkan's layer settings. */
#include "layer/config/file.h"
#include "layer/config/load.h"
#include "tests/unit/layer/config_values.h"

static const struct {
	const char *text;
	gssize len;
	bool ok;
	const char *key, *want, *says;
} files[] = {
	{ "[passtally]\nskip = 7\n", -1, true, "skip", "7", NULL },
	{ "\xef\xbb\xbf[passtally]\r\n  skip=7  \r\n", -1, true, "skip", "7", NULL },
	{ "# c\n; c\n\n[passtally]\nforce\nlog = /a b/c#d", -1, true, "log", "/a b/c#d", NULL },
	{ "[passtally]\nforce", -1, true, "force", "on", NULL },
	{ "[ passtally ]\nskip=7", -1, true, "skip", "7", NULL },
	{ "", 0, true, "skip", "0", NULL },
	{ "skip=7\n", -1, false, "skip", "0", ":1: an option before any section" },
	{ "[passtally]\nskip=7\nskip=x\n", -1, false, "skip", "7", ":3: option skip" },
	{ "[passtally]\n\nfoo=x\nskip=2", -1, false, "skip", "2",
	  ":3: there is no option \"foo\"" },
	{ "[other]\nfoo=x\n[passtally]\nskip=2", -1, false, "skip", "2",
	  ":1: there is no section [other]" },
	{ "[passtally\nskip=2", -1, false, "skip", "0", ":1: a section is written" },
	{ "[passtally] x\nskip=2", -1, false, "skip", "0", ":1: a section is written" },
	{ "[passtally]\nskip=2\nfo\0o=3\nevery=4", 33, false, "skip", "2", ":3: a NUL byte" },
};

static void
test_read_file(void)
{
	char *dir = g_dir_make_tmp("passtally-config-XXXXXX", NULL);
	char *path = g_build_filename(dir, "test.conf", NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		struct tally_config config;
		GString *said = g_string_new(NULL);
		g_test_message("%s", files[i].text);
		g_assert_true(g_file_set_contents(path, files[i].text, files[i].len, NULL));
		tally_config_init(&config);
		g_assert_true(tally_config_read_file(&config, path, TALLY_FROM_USER_FILE,
						     keep_message, said) == files[i].ok);
		assert_value(&config, files[i].key, files[i].want);
		if (files[i].says) {
			g_assert_true(g_str_has_prefix(said->str, path));
			g_assert_nonnull(strstr(said->str, files[i].says));
		} else {
			g_assert_cmpstr(said->str, ==, "");
		}
		g_string_free(said, TRUE);
		tally_config_finish(&config);
	}
	g_remove(path);
	g_rmdir(dir);
	g_free(path);
	g_free(dir);
}

static void
test_bad_files(void)
{
	char *dir = g_dir_make_tmp("passtally-config-XXXXXX", NULL);
	char *path = g_build_filename(dir, "test.conf", NULL);
	struct tally_config config;
	GString *said = g_string_new(NULL);
	tally_config_init(&config);
	/* A missing file is fine; a folder, or too large a file, is not. */
	g_assert_true(
		tally_config_read_file(&config, path, TALLY_FROM_USER_FILE, keep_message, said));
	g_assert_cmpstr(said->str, ==, "");
	g_assert_false(
		tally_config_read_file(&config, dir, TALLY_FROM_USER_FILE, keep_message, said));
	g_assert_nonnull(strstr(said->str, "not a regular file"));
	char *big = g_strnfill((1 << 20) + 1, '\n');
	g_assert_true(g_file_set_contents(path, big, -1, NULL));
	g_assert_false(
		tally_config_read_file(&config, path, TALLY_FROM_USER_FILE, keep_message, said));
	g_assert_nonnull(strstr(said->str, "larger than"));
	g_free(big);
	g_string_free(said, TRUE);
	tally_config_finish(&config);
	g_remove(path);
	g_rmdir(dir);
	g_free(path);
	g_free(dir);
}

/* Vulkan's settings of layers: the file, where it is searched for, and the environment. */
static void
test_layer_settings(void)
{
	static const struct {
		const char *file, *variable, *value, *option, *want, *says;
	} cases[] = {
		{ "passtally_capture.skip = 7", NULL, NULL, "skip", "7", NULL },
		{ "# no\n khronos_validation.skip=x\n  passtally_capture.max_passes=9 #\r\n",
		  NULL, NULL, "max-passes", "9", NULL },
		{ "passtally_capture.cpu = true\npasstally_capture.set=\n", NULL, NULL, "cpu",
		  "on", NULL },
		{ "passtally_capture.counters = a,b", NULL, NULL, "counters", "a,b", NULL },
		{ "passtally_capture.skip", NULL, NULL, "skip", "0", NULL },
		{ "skip = 7", NULL, NULL, "skip", "0", NULL },
		{ "\npasstally_capture.skip = -7", NULL, NULL, "skip", "0",
		  "txt:2: option skip cannot be \"-7\"" },
		{ "passtally_capture.skipp = 7", NULL, NULL, "skip", "0",
		  "txt:1: there is no option \"skipp\"" },
		{ "", "VK_PASSTALLY_CAPTURE_MAX_LOG", "1K", "max-log", "1K", NULL },
		{ "passtally_capture.skip=7", "VK_PASSTALLY_CAPTURE_SKIP", "8", "skip", "8", NULL },
		{ "passtally_capture.skip=7", "VK_PASSTALLY_CAPTURE_SKIP", "", "skip", "7", NULL },
		{ "passtally_capture.skip=7", "PASSTALLY_OPTIONS", "skip=9", "skip", "9", NULL },
		{ "", "VK_PASSTALLY_CAPTURE_SKIP", "x", "skip", "0",
		  "VK_PASSTALLY_CAPTURE_SKIP: option skip cannot be \"x\"" },
	};
	char *dir = g_dir_make_tmp("passtally-config-XXXXXX", NULL);
	char *path = g_build_filename(dir, "vk_layer_settings.txt", NULL);
	g_setenv("HOME", "/nowhere", TRUE);
	g_setenv("XDG_CONFIG_HOME", "/nowhere", TRUE);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		/* The folder, or the file itself. */
		g_setenv("VK_LAYER_SETTINGS_PATH", i % 2 ? dir : path, TRUE);
		g_assert_true(g_file_set_contents(path, cases[i].file, -1, NULL));
		if (cases[i].variable)
			g_setenv(cases[i].variable, cases[i].value, TRUE);
		struct tally_config config;
		GString *said = g_string_new(NULL);
		tally_config_init(&config);
		g_assert_cmpint(tally_config_load(&config, NULL, keep_message, said), ==,
				!cases[i].says);
		assert_value(&config, cases[i].option, cases[i].want);
		if (cases[i].says)
			g_assert_nonnull(strstr(said->str, cases[i].says));
		else
			g_assert_cmpstr(said->str, ==, "");
		tally_config_finish(&config);
		g_string_free(said, TRUE);
		if (cases[i].variable)
			g_unsetenv(cases[i].variable);
	}
	/* vkconfig's own path comes first. */
	char *folder = g_build_filename(dir, "vulkan", "settings.d", NULL);
	char *first = g_build_filename(folder, "vk_layer_settings.txt", NULL);
	g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
	g_assert_true(g_file_set_contents(path, "passtally_capture.skip = 1", -1, NULL));
	g_assert_true(g_file_set_contents(first, "passtally_capture.skip = 2", -1, NULL));
	g_setenv("XDG_DATA_HOME", dir, TRUE);
	struct tally_config config;
	tally_config_init(&config);
	g_assert_true(tally_config_load(&config, NULL, NULL, NULL));
	assert_value(&config, "skip", "2");
	g_assert_cmpint(config.origin[row_of("skip")], ==, TALLY_FROM_LAYER_SETTINGS);
	tally_config_finish(&config);
	g_unsetenv("XDG_DATA_HOME");
	g_unsetenv("XDG_CONFIG_HOME");
	g_unsetenv("VK_LAYER_SETTINGS_PATH");
	g_remove(first);
	g_rmdir(folder);
	g_remove(path);
	char *vulkan = g_path_get_dirname(folder);
	g_rmdir(vulkan);
	g_rmdir(dir);
	g_free(vulkan);
	g_free(first);
	g_free(folder);
	g_free(path);
	g_free(dir);
}

static void
test_load(void)
{
	char *dir = g_dir_make_tmp("passtally-config-XXXXXX", NULL);
	char *programs = g_build_filename(dir, "passtally", "programs", NULL);
	char *user = g_build_filename(dir, "passtally", "passtally.conf", NULL);
	char *game = g_build_filename(programs, "game.conf", NULL);
	g_assert_cmpint(g_mkdir_with_parents(programs, 0700), ==, 0);
	g_assert_true(g_file_set_contents(
		user, "[passtally]\nskip=1\nframes=1\nevery=2\nlog=/u\n", -1, NULL));
	g_assert_true(g_file_set_contents(game, "[passtally]\nskip=2\nframes=2\n", -1, NULL));
	g_setenv("XDG_CONFIG_HOME", dir, TRUE);
	g_setenv("PASSTALLY_OPTIONS", "skip=3,log=/o,bad", TRUE);
	g_setenv("PASSTALLY_LOG", "/l", TRUE);

	struct tally_config config;
	GString *said = g_string_new(NULL);
	tally_config_init(&config);
	g_assert_false(tally_config_load(&config, "/usr/games/game", keep_message, said));
	g_assert_true(g_str_has_prefix(said->str,
				       "PASSTALLY_OPTIONS: there is no option \"bad\""));
	assert_value(&config, "skip", "3");
	assert_value(&config, "frames", "2");
	assert_value(&config, "every", "2");
	assert_value(&config, "log", "/l");
	g_assert_cmpint(config.origin[row_of("every")], ==, TALLY_FROM_USER_FILE);
	g_assert_cmpint(config.origin[row_of("frames")], ==, TALLY_FROM_PROGRAM_FILE);
	tally_config_finish(&config);

	g_setenv("PASSTALLY_OPTIONS", "pipeline-statistics=on", TRUE);
	tally_config_init(&config);
	g_assert_true(tally_config_load(&config, "/usr/games/game", keep_message, said));
	assert_value(&config, "pipelines", "on"); /* whose statistics else */
	tally_config_finish(&config);

	/* A different program has a different home. */
	g_unsetenv("XDG_CONFIG_HOME");
	g_unsetenv("PASSTALLY_OPTIONS");
	g_unsetenv("PASSTALLY_LOG");
	char *dot = g_build_filename(dir, ".config", NULL);
	g_setenv("HOME", dir, TRUE);
	g_assert_cmpint(g_mkdir_with_parents(dot, 0700), ==, 0);
	char *from = g_build_filename(dir, "passtally", NULL);
	char *to = g_build_filename(dot, "passtally", NULL);
	g_assert_cmpint(g_rename(from, to), ==, 0);
	tally_config_init(&config);
	g_assert_true(tally_config_load(&config, "/usr/games/other", keep_message, said));
	assert_value(&config, "skip", "1");
	assert_value(&config, "log", "/u");
	tally_config_finish(&config);
	g_string_free(said, TRUE);
	static const char *const made[] = { "passtally/programs/game.conf", "passtally/programs",
					    "passtally/passtally.conf", "passtally" };
	for (size_t i = 0; i < G_N_ELEMENTS(made); i++) {
		g_autofree char *path = g_build_filename(dot, made[i], NULL);
		g_assert_cmpint(g_remove(path), ==, 0);
	}
	g_rmdir(dot);
	g_assert_cmpint(g_rmdir(dir), ==, 0);
	g_free(dot);
	g_free(from);
	g_free(to);
	g_free(programs);
	g_free(user);
	g_free(game);
	g_free(dir);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/config/read-file", test_read_file);
	g_test_add_func("/config/bad-files", test_bad_files);
	g_test_add_func("/config/load", test_load);
	g_test_add_func("/config/layer-settings", test_layer_settings);
	return g_test_run();
}
