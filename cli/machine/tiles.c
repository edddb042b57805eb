/* SPDX-License-Identifier: MIT */
#include "cli/machine/probe.h"

#include "cli/install/install.h"
#include "cli/shared/child.h"
#include "cli/shared/sort.h"
#include "passtally_version.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_SECONDS 5
#define DAY_S (24 * 60 * 60)
#define MOST_ENVIRONMENTS 64

/* As enum tally_tiles, and one that needs no probe. */
enum { NAMED = TALLY_TILES_TOGETHER + 1, N_ANSWERS };
static const char *const answers[N_ANSWERS] = {
	[TALLY_TILES_UNKNOWN] = "unknown",
	[TALLY_TILES_APART] = "apart",
	[TALLY_TILES_TOGETHER] = "together",
	[NAMED] = "named",
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
	return TALLY_TILES_UNKNOWN;
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
	return word ? find_answer(word) : TALLY_TILES_UNKNOWN;
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
	unsigned answer = TALLY_TILES_UNKNOWN;
	g_auto(GStrv) groups = g_key_file_get_groups(k->file, NULL);
	for (char **group = groups; *group; group++) {
		g_autofree char *name = g_key_file_get_string(k->file, *group, "driver", NULL);
		if (g_strcmp0(name, driver) == 0)
			answer = known_answer(k, *group);
	}
	return answer;
}

/* ---- the child ---- */

struct child {
	struct known known;
	int out;
	unsigned answer;
};

static bool
meet(void *data, const char *driver, bool named)
{
	struct child *c = data;
	/* If it cannot be written, the answer stays unknown. */
	dprintf(c->out, "%s\n", driver);
	c->answer = named ? NAMED : find_driver(&c->known, driver);
	return c->answer == TALLY_TILES_UNKNOWN;
}

void
tally_tiles_child(void)
{
	struct child c = { .out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) };
	read_known(&c.known);
	tally_probe_silence();
	enum tally_tiles measured = tally_probe_gl_tiles(meet, &c);
	dprintf(c.out, "%s", answers[c.answer ? c.answer : measured]);
	_exit(0); /* drivers may crash at exit */
}

/* Asks the driver; `driver` receives its name, "" if no context could be made. */
static unsigned
ask(char **driver)
{
	g_autofree char *own = tally_own_path();
	char *argv[] = { own, (char *)"doctor", (char *)TALLY_TILES_CHILD, NULL };
	g_auto(GStrv) env = g_environ_setenv(g_get_environ(), "PASSTALLY_DISABLE", "1", TRUE);
	struct tally_child child;
	tally_child_run(&child, argv, env, NULL, "tiles", LIMIT_SECONDS);
	/* The name comes first; without it there is no answer. */
	g_auto(GStrv) lines = g_strsplit(child.out, "\n", 2);
	bool named = g_strv_length(lines) == 2;
	*driver = g_strdup(named ? lines[0] : "");
	tally_child_clear(&child);
	return named ? find_answer(lines[1]) : TALLY_TILES_UNKNOWN;
}

char *
tally_tiles_driver(void)
{
	struct known known;
	char *found = NULL;
	read_known(&known);
	if (!is_known(&known)) {
		g_autofree char *driver = NULL;
		unsigned answer = ask(&driver);
		write_known(&known, answer, driver);
	}
	if (known_answer(&known, known.environment) == TALLY_TILES_TOGETHER)
		found = g_key_file_get_string(known.file, known.environment, "driver", NULL);
	g_key_file_unref(known.file);
	g_free(known.environment);
	g_free(known.path);
	return found;
}
