/* SPDX-License-Identifier: MIT */
#include "cli/report/html.h"

#include "cli/log/folder.h"
#include "cli/shared/cli.h"
#include "cli/shared/text.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool
tally_page_is_log(const char *path)
{
	if (g_str_has_suffix(path, ".jsonl") || g_str_has_suffix(path, ".zst"))
		return true;
	struct tally_folder_log log;
	if (!tally_folder_log_read(&log, path))
		return false;
	tally_folder_log_finish(&log);
	return true;
}

char *
tally_page_path(const char *log)
{
	if (strcmp(log, "-") == 0)
		return TALLY_FAIL(NULL, "report",
				  "--html needs a name for the page of standard input: "
				  "--html OUT");
	size_t len = strlen(log);
	static const char *const ends[] = { ".zst", ".jsonl" };
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		size_t n = strlen(ends[i]);
		if (len > n && strncmp(log + len - n, ends[i], n) == 0 && log[len - n - 1] != '/')
			len -= n;
	}
	return g_strdup_printf("%.*s.html", (int)len, log);
}

static bool
has_display(void)
{
	const char *x11 = g_getenv("DISPLAY"), *wayland = g_getenv("WAYLAND_DISPLAY");
	return (x11 && *x11) || (wayland && *wayland);
}

void
tally_page_open(const char *path)
{
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);
	char *argv[] = { (char *)"xdg-open", absolute, NULL };
	bool opened = isatty(STDOUT_FILENO) && has_display() &&
		      g_spawn_async(NULL, argv, NULL,
				    G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL |
					    G_SPAWN_STDERR_TO_DEV_NULL,
				    NULL, NULL, NULL, NULL);
	tally_text_print_line(stdout, "page %s%s", absolute, opened ? " (opened)" : "");
}
