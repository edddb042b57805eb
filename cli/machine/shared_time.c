/* SPDX-License-Identifier: MIT */
#include "cli/machine/shared_time.h"

#include "cli/log/input.h"
#include "cli/machine/ask.h"
#include "cli/machine/scene.h"
#include "cli/shared/sort.h"
#include "passtally_version.h"
#include "query/gl/tiles.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_SECONDS 5
#define DAY_S (24 * 60 * 60)
#define MOST_ENVIRONMENTS 64
/* A frame must take this long, so that what the scheduler of a busy machine takes between two
 * calls is small in comparison. */
#define FRAME_NS 5000000
/* One result must occur in this many more frames than the other. */
#define LEAD 5

enum answer { UNKNOWN = 0, APART, TOGETHER, NAMED, N_ANSWERS };
static const char *const answers[N_ANSWERS] = {
	[UNKNOWN] = "unknown", /* also if the driver hangs or crashes */
	[APART] = "apart",
	[TOGETHER] = "together",
	[NAMED] = "named", /* known by its name, without drawing */
};

/* The file: a group for each environment, with "seconds", "answer" and "driver"; the newest is
 * last. */
struct known {
	char *path, *environment;
	GKeyFile *file;
};

/* What the choice of a driver depends on besides the machine. */
static bool
chooses_driver(const char *variable)
{
	static const char *const prefixes[] = {
		"DISPLAY", "WAYLAND_DISPLAY", "DRI_",   "EGL_",  "GALLIUM_", "LD_", "LIBGL_",
		"LP_",	   "MESA_",	      "VK_",    "ZINK_", "__EGL_",   "__GL_",
		"__GLX_",  "__NV_",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (g_str_has_prefix(variable, prefixes[i]))
			return true;
	return false;
}

/* The caller frees it. It also changes where a library of the system was installed. */
static char *
describe_environment(void)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_auto(GStrv) names = g_listenv();
	GStatBuf libraries = { 0 };
	qsort(names, g_strv_length(names), sizeof(*names), tally_order_text);
	for (char **name = names; *name; name++) {
		if (!chooses_driver(*name))
			continue;
		g_autofree char *text = g_strdup_printf("%s=%s\n", *name, g_getenv(*name));
		g_checksum_update(sum, (const guchar *)text, -1);
	}
	g_stat("/etc/ld.so.cache", &libraries);
	g_autofree char *rest = g_strdup_printf("%s %lld.%09ld", PASSTALLY_VERSION,
						(long long)libraries.st_mtim.tv_sec,
						(long)libraries.st_mtim.tv_nsec);
	g_checksum_update(sum, (const guchar *)rest, -1);
	return g_strdup(g_checksum_get_string(sum));
}

static unsigned
find_answer(const char *word)
{
	for (unsigned i = 0; i < N_ANSWERS; i++)
		if (strcmp(word, answers[i]) == 0)
			return i;
	return UNKNOWN;
}

static void
read_known(struct known *k)
{
	k->path = g_build_filename(g_get_user_cache_dir(), "passtally", "drivers", NULL);
	k->environment = describe_environment();
	k->file = g_key_file_new();
	if (g_path_is_absolute(k->path)) /* HOME is not empty */
		g_key_file_load_from_file(k->file, k->path, G_KEY_FILE_NONE, NULL);
}

static void
write_known(const struct known *k, unsigned answer, const char *driver)
{
	g_autofree char *folder = g_path_get_dirname(k->path);
	gsize n, len;
	g_key_file_remove_group(k->file, k->environment, NULL); /* the new one is the last */
	g_auto(GStrv) groups = g_key_file_get_groups(k->file, &n);
	for (gsize i = 0; i + MOST_ENVIRONMENTS <= n; i++)
		g_key_file_remove_group(k->file, groups[i], NULL);
	g_key_file_set_int64(k->file, k->environment, "seconds",
			     g_get_real_time() / G_USEC_PER_SEC);
	g_key_file_set_string(k->file, k->environment, "answer", answers[answer]);
	g_key_file_set_string(k->file, k->environment, "driver", driver);
	g_autofree char *text = g_key_file_to_data(k->file, &len, NULL);
	/* If it cannot be stored, the next run asks again. */
	if (g_path_is_absolute(folder) && g_mkdir_with_parents(folder, 0700) == 0)
		g_file_set_contents_full(k->path, text, (gssize)len,
					 G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
}

static unsigned
known_answer(const struct known *k, const char *environment)
{
	g_autofree char *word = g_key_file_get_string(k->file, environment, "answer", NULL);
	return word ? find_answer(word) : UNKNOWN;
}

/* Whether this environment's answer is of the last day. */
static bool
is_known(const struct known *k)
{
	gint64 now = g_get_real_time() / G_USEC_PER_SEC;
	gint64 when = g_key_file_get_int64(k->file, k->environment, "seconds", NULL);
	return when <= now && when > now - DAY_S;
}

/* The newest answer that is stored for a driver, in any environment. */
static unsigned
find_driver(const struct known *k, const char *driver)
{
	unsigned answer = UNKNOWN;
	g_auto(GStrv) groups = g_key_file_get_groups(k->file, NULL);
	for (char **group = groups; *group; group++) {
		g_autofree char *name = g_key_file_get_string(k->file, *group, "driver", NULL);
		if (g_strcmp0(name, driver) == 0)
			answer = known_answer(k, *group);
	}
	return answer;
}

/* ---- asking ---- */

struct driver {
	enum tally_api api;
	char name[TALLY_GL_DRIVER_SIZE]; /* "" = it has none */
	bool named;
	const struct tally_ask_place *place; /* of its context */
};

static void
name_driver(void *data, const struct tally_device_record *device,
	    const struct tally_ask_place *place)
{
	struct driver *d = data;
	d->place = place;
	tally_gl_driver_name(device->driver, device->name, device->driver_version, d->name);
	d->named = tally_gl_tiles_by_name(device->name);
}

/* Frames in which the light pass had the time of the heavy one, and its own. */
struct votes {
	unsigned together, apart;
};

static bool
count_vote(void *data, const struct tally_log_line *line)
{
	struct votes *votes = data;
	const struct tally_frame_record *frame = &line->frame;
	const struct tally_pass_record *light = NULL, *heavy = NULL;
	for (uint32_t i = 0; line->type == TALLY_LINE_FRAME && i < frame->n_passes; i++) {
		const struct tally_pass_record *pass = &frame->passes[i];
		if (g_strcmp0(pass->label, "light") == 0 && pass->has_gpu)
			light = pass;
		else if (g_strcmp0(pass->label, "heavy") == 0 && pass->has_gpu)
			heavy = pass;
	}
	if (!light || !heavy)
		return true;
	uint64_t both = light->gpu_ns + heavy->gpu_ns;
	/* A clock that does not advance shows more time than the frame took. */
	if (both < FRAME_NS || both > frame->cpu_ns + frame->cpu_ns / 8)
		return true;
	votes->apart += light->gpu_ns <= both / 8;
	votes->together += light->gpu_ns >= both / 2;
	return true;
}

static unsigned
measure(const struct driver *driver)
{
	static const char options[] = "force=on,snapshot=off,sources=gl-timestamp,frame=finish,"
				      "split=group,shared-time=off";
	const char *words[] = { "--shared-time", "--api",
				driver->api == TALLY_API_OPENGL_ES ? "gles" : "compat",
				driver->place->words[0], driver->place->words[1], NULL };
	struct tally_scene scene;
	struct votes votes = { 0 };
	char why[256];
	if (tally_scene_run(&scene, driver->api, words, options, LIMIT_SECONDS, why, sizeof(why)) &&
	    tally_child_exited(&scene.child)) {
		struct tally_read_error error = { 0 };
		enum tally_read_status status;
		const struct tally_log_taker taker = { count_vote, &votes, "reading",
							scene.log, false };
		struct tally_log_reader *reader = tally_log_input_open(scene.log, &status, &error);
		if (reader)
			tally_log_read_lines(reader, &taker, NULL, &error);
	}
	tally_scene_clear(&scene);
	return votes.together >= votes.apart + LEAD   ? TOGETHER
	       : votes.apart >= votes.together + LEAD ? APART
						      : UNKNOWN;
}

/* Asks the driver for its name, and draws unless the answer is known for that; `name` receives
 * it, "" if no context could be made. */
static unsigned
ask(const struct known *known, char **name)
{
	const struct tally_ask_wish wish = { .counters = "overview", .limit_s = LIMIT_SECONDS };
	struct driver driver = { .api = TALLY_API_OPENGL };
	char why[512];
	if (!tally_ask(driver.api, &wish, name_driver, &driver, why, sizeof(why))) {
		driver.api = TALLY_API_OPENGL_ES;
		tally_ask(driver.api, &wish, name_driver, &driver, why, sizeof(why));
	}
	*name = g_strdup(driver.name);
	if (driver.named || !*driver.name)
		return driver.named ? NAMED : UNKNOWN;
	unsigned answer = find_driver(known, driver.name);
	return answer ? answer : measure(&driver);
}

char *
tally_shared_time_driver(void)
{
	struct known known;
	char *found = NULL;
	read_known(&known);
	if (!is_known(&known)) {
		g_autofree char *driver = NULL;
		unsigned answer = ask(&known, &driver);
		write_known(&known, answer, driver);
	}
	if (known_answer(&known, known.environment) == TOGETHER)
		found = g_key_file_get_string(known.file, known.environment, "driver", NULL);
	g_key_file_unref(known.file);
	g_free(known.environment);
	g_free(known.path);
	return found;
}
