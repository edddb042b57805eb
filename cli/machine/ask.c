/* SPDX-License-Identifier: MIT */
#include "cli/machine/ask.h"

#include "cli/install/inject.h"
#include "cli/install/injected.h"
#include "cli/install/run_folder.h"
#include "cli/install/vk_manifest.h"
#include "cli/log/input.h"
#include "cli/shared/child.h"
#include "cli/shared/cli.h"
#include "layer/config/config.h"
#include "layer/config/load.h"

#include <glib.h>
#include <string.h>
#include <sys/wait.h>

#define LIMIT_SECONDS 30
#define DISPLAY_SECONDS 10 /* one that does not answer is passed over */
#define LACKING 77 /* from this status on the program says what this machine lacks */

struct asking {
	enum tally_api api;
	tally_ask_report *report;
	void *data;
	const struct tally_ask_place *place;
	GHashTable *last; /* number of a device -> that of its last line */
	bool any;
	char *why;
	size_t size;
};

/* Where a context may be made, in order of preference: a game's place comes first. */
static const struct tally_ask_place places[] = {
	{ { "--platform", TALLY_ASK_DISPLAY }, "seen on the display" },
	{ { "--device", "0" }, "seen on the first EGL device, without a display" },
	{ { "--platform", "surfaceless" }, "seen on no display at all" },
};

/* ---- a program of scenes/ under the libraries, as `passtally run` runs a game, so that what the
 * command says of a driver is what a capture says of it. The user's options do not count. ---- */

struct scene {
	struct tally_run_folder folder;
	char *log; /* in the folder; may not exist */
	struct tally_child child;
};

/* Only the libraries for this API: OpenGL over Vulkan has one device here. */
static bool
inject(char ***env, enum tally_api api, const struct tally_run_folder *folder, char *why,
       size_t size)
{
	struct tally_injected in;
	struct tally_vk_manifest manifest;
	bool ok = true;
	tally_injected_find(&in);
	tally_vk_manifest_find(&manifest);
	if (api == TALLY_API_VULKAN ? !manifest.library : !in.path) {
		g_snprintf(why, (gulong)size, "the library for %s programs was not found",
			   api == TALLY_API_VULKAN ? "Vulkan" : "OpenGL");
		ok = false;
	} else if (api == TALLY_API_VULKAN) {
		ok = tally_inject_vulkan(env, &manifest, folder);
	} else {
		ok = tally_inject_gl(env, &in, folder);
	}
	tally_vk_manifest_finish(&manifest);
	tally_injected_finish(&in);
	return ok;
}

static char **
make_environment(const struct scene *s, const char *options)
{
	char **env = tally_inject_clean(s->folder.path);
	env = g_environ_setenv(env, "PASSTALLY_STATUS", s->folder.status, TRUE);
	env = g_environ_setenv(env, "PASSTALLY_OPTIONS", options, TRUE);
	g_auto(GStrv) parts = g_strsplit(s->log, "%", -1);
	g_autofree char *pattern = g_strjoinv("%%", parts);
	return g_environ_setenv(env, "PASSTALLY_LOG", pattern, TRUE);
}

/* False, with `why`: nothing was started. */
static bool
run_scene(struct scene *s, enum tally_api api, const char *const *words, const char *options,
	  double limit_s, char *why, size_t size)
{
	bool vulkan = api == TALLY_API_VULKAN;
	*s = (struct scene){ 0 };
	g_autofree char *program = tally_scenes_program(vulkan ? "passtally-scenes-vk"
							       : "passtally-scenes-gl");
	if (!program) {
		g_snprintf(why, (gulong)size,
			   "this passtally was built without the program that asks a "
			   "driver (meson configure -Dselftest=enabled)");
		return false;
	}
	if (!tally_run_folder_create(&s->folder, "doctor")) {
		g_snprintf(why, (gulong)size,
			   "no temporary folder could be created in %s", g_get_tmp_dir());
		return false;
	}
	s->log = g_build_filename(s->folder.path, TALLY_RUN_LOG, NULL);
	char **env = make_environment(s, options);
	bool ok = inject(&env, api, &s->folder, why, size);
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_ptr_array_add(argv, program);
	for (; *words; words++)
		g_ptr_array_add(argv, (gpointer)*words);
	g_ptr_array_add(argv, NULL);
	g_autofree char *shown = g_strdup_printf("the %s driver", tally_api_name(api));
	if (ok)
		tally_child_run(&s->child, (char *const *)argv->pdata, env, NULL, shown, limit_s);
	g_strfreev(env);
	return ok;
}

static void
clear_scene(struct scene *s)
{
	tally_child_clear(&s->child);
	tally_run_folder_remove(&s->folder);
	g_free(s->log);
	*s = (struct scene){ 0 };
}

/* ---- reading ---- */

static bool
note_line(void *user, const struct tally_log_line *line)
{
	struct asking *a = user;
	if (line->type == TALLY_LINE_DEVICE)
		g_hash_table_insert(a->last, GUINT_TO_POINTER(line->device.device),
				    GSIZE_TO_POINTER(line->number));
	else if (line->type == TALLY_LINE_NOTE && line->note.level == TALLY_LEVEL_ERROR)
		g_snprintf(a->why, (gulong)a->size, "%s", line->note.message);
	return true;
}

static bool
report_line(void *user, const struct tally_log_line *line)
{
	struct asking *a = user;
	if (line->type != TALLY_LINE_DEVICE || line->device.api != a->api ||
	    g_hash_table_lookup(a->last, GUINT_TO_POINTER(line->device.device)) !=
		    GSIZE_TO_POINTER(line->number))
		return true;
	a->any = true;
	a->report(a->data, &line->device, a->place);
	return true;
}

static void
read_log(struct asking *a, const char *path, bool (*take)(void *, const struct tally_log_line *))
{
	struct tally_read_error error = { 0 };
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_input_open(path, &status, &error);
	const struct tally_log_taker taker = { take, a, "reading", path, false };
	if (reader)
		tally_log_read_lines(reader, &taker, NULL, &error);
}

/* ---- asking ---- */

/* Why the program left no device in its log. */
static void
say_why(const struct asking *a, const struct tally_child *child, double limit_s)
{
	g_autofree char *said = tally_child_say(child);
	g_autofree char *words = tally_child_last_words(child);
	gulong size = (gulong)a->size;
	if (child->hung)
		g_snprintf(a->why, size, "the driver did not answer within %.0f s", limit_s);
	else if (!tally_child_exited(child) && !child->error)
		g_snprintf(a->why, size, "the driver ended the program that asked it by signal: %s",
			   g_strsignal(WTERMSIG(child->status)));
	else if (child->error || WEXITSTATUS(child->status))
		g_snprintf(a->why, size, "%s", *words ? words : said);
	else if (!*a->why)
		g_snprintf(a->why, size, "a program started with it does not load it%s",
			   a->api == TALLY_API_VULKAN
				   ? "; old loaders need `passtally install --user`"
				   : "");
}

/* The options of the snapshot sources. Where a MicroBlaze is, the user's options say. */
static void
add_snapshots(GString *options, const struct tally_ask_wish *wish)
{
	struct tally_config config;
	tally_config_init(&config);
	/* Errors in the configuration are reported elsewhere. */
	tally_config_load(&config, "program", tally_cli_ignore, NULL);
	if (!wish->snapshots)
		g_string_append(options, ",snapshot=off,sources=all");
	else
		g_string_append(options, ",sources=all+linux-perf+linux-proc");
	if (wish->snapshots && config.microblaze)
		tally_inject_option(options, "microblaze", config.microblaze);
	tally_config_finish(&config);
}

/* False: a driver failed, so no other place is to be tried. */
static bool
ask_by(struct asking *a, const char *const *words, const struct tally_ask_wish *wish)
{
	g_autoptr(GString) options = g_string_new("force=on,describe=on");
	bool display = a->place == &places[0];
	double limit_s = display ? DISPLAY_SECONDS : LIMIT_SECONDS;
	struct scene scene;
	add_snapshots(options, wish);
	tally_inject_option(options, "counters", wish->counters);
	if (wish->set)
		tally_inject_option(options, "set", wish->set);
	bool started = run_scene(&scene, a->api, words, options->str, limit_s,
				       a->why, a->size);
	bool lacking = started && ((display && scene.child.hung) ||
				   (tally_child_exited(&scene.child) &&
				    WEXITSTATUS(scene.child.status) >= LACKING));
	if (started) {
		a->last = g_hash_table_new(NULL, NULL);
		*a->why = '\0';
		read_log(a, scene.log, note_line);
		read_log(a, scene.log, report_line);
		g_hash_table_unref(a->last);
		if (!a->any)
			say_why(a, &scene.child, limit_s);
	}
	clear_scene(&scene);
	return lacking;
}

static void
ask_gl(struct asking *a, const struct tally_ask_wish *wish)
{
	bool display = g_getenv("WAYLAND_DISPLAY") || g_getenv("DISPLAY");
	unsigned n = 0;
	bool lacking = true;
	for (size_t i = display ? 0 : 1; i < G_N_ELEMENTS(places) && !a->any && lacking; i++) {
		const char *words[] = { "--describe",
					"--api",
					a->api == TALLY_API_OPENGL_ES ? "gles" : "compat",
					places[i].words[0],
					places[i].words[1],
					NULL };
		a->place = &places[i];
		lacking = ask_by(a, words, wish);
		n++;
	}
	if (a->any || !lacking)
		return;
	g_autofree char *last = g_strdup(a->why);
	g_snprintf(a->why, (gulong)a->size, "no %s context could be made (tried %u places%s): %s",
		   a->api == TALLY_API_OPENGL_ES ? "OpenGL ES" : "OpenGL", n,
		   display ? "" : "; there is no display", last);
}

bool
tally_ask(enum tally_api api, const struct tally_ask_wish *wish, tally_ask_report *report,
	  void *data, char *why, size_t size)
{
	static const char *const each[] = { "--each", NULL };
	struct asking a = { .api = api, .report = report, .data = data, .why = why, .size = size };
	*why = '\0';
	if (api == TALLY_API_VULKAN)
		ask_by(&a, each, wish);
	else
		ask_gl(&a, wish);
	return a.any;
}

const struct tally_snapshot_source_row *
tally_ask_snapshot(const char *source)
{
	for (uint32_t i = 0; i < tally_n_snapshot_sources; i++)
		if (strcmp(tally_snapshot_sources[i].row.name, source) == 0)
			return &tally_snapshot_sources[i];
	return NULL;
}
