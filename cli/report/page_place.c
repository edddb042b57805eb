/* SPDX-License-Identifier: MIT */
#include "cli/report/page_place.h"

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
	g_autofree char *stem = tally_folder_stem(log);
	return g_strconcat(stem, ".html", NULL);
}

GPtrArray *
tally_picture_files(const char *log, uint32_t number)
{
	GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *stem = tally_folder_stem(log);
	enum { DEPTH = 10 };
	for (unsigned i = 0; i <= DEPTH; i++) {
		char target[16] = "depth";
		if (i < DEPTH)
			g_snprintf(target, sizeof(target), "color%u", i);
		char *path = g_strdup_printf("%s-%u-%s.png", stem, number, target);
		if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
			g_ptr_array_add(files, path);
		else
			g_free(path);
	}
	return files;
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
