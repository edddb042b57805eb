/* SPDX-License-Identifier: MIT */
#include "cli/install/inject.h"
#include "cli/install/injected.h"
#include "cli/selftest/laws.h"
#include "cli/selftest/parts.h"
#include "cli/selftest/reading.h"
#include "cli/selftest/show.h"
#include "cli/shared/cli.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define MOST_DEVICES 16

struct session {
	bool json;
	uint64_t limit_s; /* of one child; 0 = not given */
	const char *api, *scenes; /* NULL = all */
	char *self, *folder;
	char *programs[2]; /* of OpenGL, of Vulkan; NULL = absent */
	char **environment;
	struct tally_progress progress;
	struct tally_selftest_result result;
};

static const struct tally_arg options[] = {
	TALLY_ARG("json", tally_arg_flag, struct session, json),
	TALLY_ARG("api", tally_arg_text, struct session, api),
	TALLY_ARG("scenes", tally_arg_text, struct session, scenes),
	TALLY_ARG_WHOLE("limit", struct session, limit_s, 1, 600),
};

/* ---- the children's environment ---- */

/* The user's environment, but off the screen, without options of passtally, and with caches,
 * logs and files of options in our folder. Drivers that are installed for one user are still
 * found. */
static char **
make_environment(const char *folder)
{
	static const char *const ours[] = { "HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
					    "TMPDIR" };
	char **environment = tally_inject_clean(folder);
	environment = g_environ_unsetenv(environment, "DISPLAY");
	environment = g_environ_unsetenv(environment, "WAYLAND_DISPLAY");
	environment = g_environ_setenv(environment, "XDG_DATA_HOME",
				       g_get_user_data_dir(), TRUE);
	for (size_t i = 0; i < G_N_ELEMENTS(ours); i++)
		environment = g_environ_setenv(environment, ours[i], folder, TRUE);
	return environment;
}

static void
run_child(struct session *s, struct tally_child *child, const char *name,
	  GPtrArray *argv)
{
	g_ptr_array_add(argv, NULL);
	if (tally_progress_due(&s->progress))
		tally_progress_show(&s->progress, "selftest: %s", name);
	tally_child_run(child, (char *const *)argv->pdata, s->environment, s->folder,
			name, (double)s->limit_s);
}

/* The scene's arguments for a program; nothing is copied except `number`, which the caller
 * frees. */
static void
add_scene(const struct session *s, GPtrArray *argv, const struct tally_trial_row *row,
	  const char *number, const char *frames)
{
	tally_child_words(argv, s->programs[row->vulkan], row->scene, "--device", number,
			  "--frames", frames, row->vulkan ? NULL : "--end", "finish", NULL);
}

/* ---- a trial ---- */

static void
capture(struct session *s, struct tally_trial *t, const char *number,
	const char *frames)
{
	const struct tally_trial_row *row = t->row;
	const char *name = tally_trial_name(row);
	g_autofree char *child = g_strdup_printf("%u-%s", s->result.devices->len, name);
	g_autofree char *log = g_strdup_printf("%s/%s.jsonl", s->folder, child);
	g_autofree char *stated = tally_expected_word(t->expected[0], "boundary");
	const char *boundary = stated ? stated : "finish";
	const char *sources = row->vulkan ? "vk-timestamp+vk-statistics"
					  : "gl-timestamp+gl-statistics";
	g_auto(GStrv) more = g_strsplit(row->options ? row->options : "", " ", -1);
	g_autoptr(GPtrArray) argv = g_ptr_array_new(), check = g_ptr_array_new();
	tally_child_words(argv, s->self, "run", "--quiet", "--log", log, "--frame", boundary,
			  "--sources", sources, NULL);
	for (char **word = more; *word; word++)
		g_ptr_array_add(argv, *word);
	g_ptr_array_add(argv, (gpointer) "--");
	add_scene(s, argv, row, number, frames);
	run_child(s, &t->ours, child, argv);
	tally_seen_read(&t->log, log, row->vulkan);
	if (!g_file_test(log, G_FILE_TEST_EXISTS))
		return;
	tally_child_words(check, s->self, "check", log, NULL);
	g_autofree char *check_name = g_strconcat(child, "-check", NULL);
	struct tally_child judge;
	run_child(s, &judge, check_name, check);
	if (!t->log.error &&
	    !(WIFEXITED(judge.status) && WEXITSTATUS(judge.status) == 0))
		t->log.error = g_strdup(judge.err);
	else if (!t->log.error)
		tally_law_hold(t->device, TALLY_LAW_LOG);
	tally_child_clear(&judge);
}

/* False: the driver hung, and is not used from now on. */
static bool
run_trial(struct session *s, struct tally_tested_device *device,
	  const struct tally_trial_row *row, struct tally_seen_log *work)
{
	struct tally_trial t = { .row = row,
				 .device = device,
				 .work = work->frames ? work : NULL };
	g_autofree char *number = g_strdup_printf("%u", device->number);
	g_autofree char *frames = g_strdup_printf("%u", tally_trial_frames(row));
	g_autofree char *child = g_strdup_printf("%u-%s-plain", s->result.devices->len,
						 tally_trial_name(row));
	g_autoptr(GPtrArray) plain = g_ptr_array_new(), expect = g_ptr_array_new();
	add_scene(s, plain, row, number, frames);
	run_child(s, &t.plain, child, plain);
	add_scene(s, expect, row, number, frames);
	g_ptr_array_add(expect, (gpointer) "--expect");
	struct tally_child said;
	run_child(s, &said, "expect", expect);
	t.expected = tally_expected_split(said.out);
	tally_child_clear(&said);
	bool offered = tally_child_exited(&t.plain) && WEXITSTATUS(t.plain.status) < 77;
	if (offered && !tally_child_signal())
		capture(s, &t, number, frames);
	if (!tally_child_signal())
		tally_trial_judge(&t);
	bool goes_on = !t.plain.hung && !t.ours.hung;
	if (row->judge && !row->options && strcmp(row->scene, "work") == 0)
		*work = t.log;
	else
		tally_seen_clear(&t.log);
	g_strfreev(t.expected);
	tally_child_clear(&t.plain);
	tally_child_clear(&t.ours);
	return goes_on;
}

static bool
is_wanted(const struct session *s, bool vulkan, const struct tally_trial_row *row)
{
	g_auto(GStrv) names = g_strsplit(s->scenes ? s->scenes : row->scene, "+", -1);
	return row->vulkan == vulkan && g_strv_contains((const char *const *)names, row->scene);
}

/* Laws that no scene of this API shows. */
static void
lack_the_rest(struct tally_tested_device *device)
{
	for (int i = 0; i < TALLY_N_LAWS; i++)
		if (device->laws[i].verdict == TALLY_VERDICT_NOT_RUN)
			tally_law_lack(device, (enum tally_law)i,
				       "not in this API, or not seen");
}

static void
run_trials(struct session *s, struct tally_tested_device *device)
{
	struct tally_seen_log work = { 0 };
	bool goes_on = true;
	for (size_t i = 0; i < tally_n_trials && goes_on && !tally_child_signal(); i++)
		if (is_wanted(s, device->vulkan, &tally_trials[i]))
			goes_on = run_trial(s, device, &tally_trials[i], &work);
	tally_seen_clear(&work);
	if (goes_on && !s->scenes && !tally_child_signal())
		lack_the_rest(device);
}

/* ---- devices ---- */

static struct tally_tested_device *
describe_device(struct session *s, bool vulkan, unsigned number,
		struct tally_child *child)
{
	g_autofree char *word = g_strdup_printf("%u", number);
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	tally_child_words(argv, s->programs[vulkan], "--describe", "--device", word, NULL);
	run_child(s, child, vulkan ? "describe-vulkan" : "describe-opengl", argv);
	bool ended = tally_child_exited(child);
	/* 78: past the last one; 127: a library that the program needs is missing. */
	if (ended &&
	    (WEXITSTATUS(child->status) == 77 || WEXITSTATUS(child->status) == 78 ||
	     WEXITSTATUS(child->status) == 127))
		return NULL;
	struct tally_tested_device *device = tally_tested_device_create(vulkan, number);
	g_auto(GStrv) parts = g_strsplit(g_strchomp(child->out), "\t", 3);
	guint n = g_strv_length(parts);
	device->name = g_strdup(n > 0 && *parts[0] ? parts[0] : "unknown");
	device->version = g_strdup(n > 1 ? parts[1] : "");
	device->driver = g_strdup(n > 2 ? parts[2] : "");
	if (!ended || WEXITSTATUS(child->status) != 0) {
		g_autofree char *said = tally_child_say(child);
		tally_law_fail(device, TALLY_LAW_STARTS, "--describe", "%s%s%s", said,
			       *child->err ? ": " : "", g_strchomp(child->err));
	}
	return device;
}

/* The reasons for devices without a column. The first reason is kept. */
static void
say_missing(const char **missing, unsigned number, bool unusable, const char *why)
{
	if (*missing || (number && !unusable))
		return;
	g_autofree char *text = unusable ? g_strdup_printf(
						   "device %u cannot be used: %s",
						   number, why)
					 : g_strdup_printf("no device: %s", why);
	*missing = g_intern_string(text);
}

static void
test_api(struct session *s, bool vulkan)
{
	const char **missing = &s->result.missing[vulkan];
	if (!s->programs[vulkan]) {
		*missing = "this build of passtally has no scenes for it";
		return;
	}
	/* Vulkan's loader starts all drivers to list the devices, EGL starts none. */
	int may_die = vulkan ? 1 : 2;
	for (unsigned i = 0; i < MOST_DEVICES && may_die; i++) {
		struct tally_child child;
		if (tally_child_signal())
			return;
		struct tally_tested_device *device = describe_device(s, vulkan, i,
								     &child);
		g_autofree char *words = tally_child_last_words(&child);
		bool hung = child.hung,
		     unusable = !device && WEXITSTATUS(child.status) == 77;
		if (!device)
			say_missing(missing, i, unusable, words);
		tally_child_clear(&child);
		if (!device && (vulkan || !unusable))
			return;
		if (!device)
			continue;
		g_ptr_array_add(s->result.devices, device);
		if (hung)
			return;
		if (device->laws[TALLY_LAW_STARTS].n_failures)
			may_die--;
		else
			run_trials(s, device);
	}
}

/* ---- the whole test ---- */

static void
remove_tree(const char *path)
{
	bool link = g_file_test(path, G_FILE_TEST_IS_SYMLINK);
	g_autoptr(GDir) dir = link ? NULL : g_dir_open(path, 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *inside = g_build_filename(path, name, NULL);
		remove_tree(inside);
	}
	g_remove(path);
}

/* The files to send with a report. */
static void
keep(struct session *s)
{
	s->result.kept = s->folder;
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	tally_child_words(argv, s->self, "doctor", NULL);
	struct tally_child doctor;
	run_child(s, &doctor, "doctor", argv);
	tally_child_clear(&doctor);
	g_autofree char *path = g_build_filename(s->folder, "selftest.json", NULL);
	FILE *file = fopen(path, "we");
	if (!file)
		return;
	tally_selftest_print_json(&s->result, file);
	fclose(file);
}

static int
test_all(struct session *s)
{
	int64_t began_us = g_get_monotonic_time();
	tally_progress_begin(&s->progress, 0);
	for (int vulkan = 0; vulkan < 2; vulkan++)
		if (!s->api || strcmp(s->api, vulkan ? "vulkan" : "opengl") == 0)
			test_api(s, vulkan);
	tally_progress_end(&s->progress);
	s->result.seconds = (double)(g_get_monotonic_time() - began_us) / 1e6;
	int sig = tally_child_signal();
	bool failed = tally_selftest_count(&s->result, TALLY_VERDICT_FAIL) ||
		      !s->result.devices->len;
	if (failed && !sig && s->result.devices->len)
		keep(s);
	else
		remove_tree(s->folder);
	if (sig) {
		signal(sig, SIG_DFL);
		raise(sig);
		return 128 + sig;
	}
	if (s->json)
		tally_selftest_print_json(&s->result, stdout);
	else
		tally_selftest_print(&s->result);
	return failed ? TALLY_EXIT_LAW_FAILS : TALLY_EXIT_OK;
}

/* The names that --scenes takes, of both APIs; the caller frees it. */
static char *
scene_names(void)
{
	GString *names = g_string_new(NULL);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	for (size_t i = 0; i < tally_n_trials; i++)
		if (g_hash_table_add(seen, (gpointer)tally_trials[i].scene))
			g_string_append_printf(names, "%s%s", i ? ", " : "",
					       tally_trials[i].scene);
	return g_string_free(names, FALSE);
}

/* False after an error: a word of the list is not a scene. */
static bool
knows_scenes(const char *list)
{
	g_auto(GStrv) names = g_strsplit(list ? list : "", "+", -1);
	for (char **name = names; *name; name++) {
		size_t i = 0;
		while (i < tally_n_trials && strcmp(tally_trials[i].scene, *name) != 0)
			i++;
		if (i < tally_n_trials)
			continue;
		g_autofree char *all = scene_names();
		return TALLY_FAIL(false, "selftest", "--scenes: there is no scene %s; there are %s",
				  *name, all);
	}
	return true;
}

static int
run(int argc, char **argv)
{
	struct session s = { 0 };
	int status = tally_args_read(&tally_command_selftest, argc, argv, &s);
	if (status != TALLY_EXIT_OK)
		return status;
	if (s.api && strcmp(s.api, "opengl") != 0 && strcmp(s.api, "vulkan") != 0)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "selftest", "--api %s: opengl or vulkan",
				  s.api);
	if (!knows_scenes(s.scenes))
		return TALLY_EXIT_USAGE;
	if (!s.limit_s)
		s.limit_s = 10;
	s.self = tally_own_path();
	s.folder = g_dir_make_tmp("passtally-selftest-XXXXXX", NULL);
	if (!s.self || !s.folder)
		return TALLY_FAIL(TALLY_EXIT_FAILED, "selftest",
				  "no temporary folder could be created in %s", g_get_tmp_dir());
	s.programs[0] = tally_scenes_program("passtally-scenes-gl");
	s.programs[1] = tally_scenes_program("passtally-scenes-vk");
	s.environment = make_environment(s.folder);
	s.result.devices = g_ptr_array_new_with_free_func(tally_tested_device_destroy);
	tally_child_take_signals();
	status = test_all(&s);
	g_ptr_array_unref(s.result.devices);
	g_strfreev(s.environment);
	g_free(s.self);
	g_free(s.folder);
	g_free(s.programs[0]);
	g_free(s.programs[1]);
	return status;
}

const struct tally_command tally_command_selftest =
	TALLY_COMMAND(selftest, run, options, NULL);
