/* SPDX-License-Identifier: MIT */
#include "cli/install/run_folder.h"

#include "cli/shared/cli.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "passtally-"
#define STATUS "status" /* the file in the folder that PASSTALLY_STATUS names */

bool
tally_run_folder_create(struct tally_run_folder *f, const char *command)
{
	/* TMPDIR may be gone, or contain what ld.so takes for the end of a path. */
	*f = (struct tally_run_folder){ g_dir_make_tmp(PREFIX "XXXXXX", NULL), NULL };
	if (f->path && strpbrk(f->path, " :")) {
		g_rmdir(f->path);
		g_clear_pointer(&f->path, g_free);
	}
	char elsewhere[] = "/tmp/" PREFIX "XXXXXX";
	if (!f->path && !(f->path = g_strdup(g_mkdtemp(elsewhere))))
		return TALLY_FAIL(false, command, "no folder could be created in /tmp: %s",
				  g_strerror(errno));
	f->status = g_build_filename(f->path, STATUS, NULL);
	bool ok = g_file_set_contents_full(f->status, "", 0, G_FILE_SET_CONTENTS_NONE, 0600, NULL);
	if (!ok)
		tally_cli_complain(command, "%s cannot be written: %s", f->status,
				   g_strerror(errno));
	return ok;
}

void
tally_run_folder_remove(struct tally_run_folder *f)
{
	static const char *const names[] = { STATUS, TALLY_RUN_LIBRARY, TALLY_RUN_LAYER,
					     TALLY_RUN_LOG };
	for (size_t i = 0; f->path && i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(f->path, names[i], NULL);
		g_unlink(path);
	}
	if (f->path)
		g_rmdir(f->path);
	g_free(f->status);
	g_free(f->path);
	*f = (struct tally_run_folder){ 0 };
}

char *
tally_run_folder_link(const struct tally_run_folder *f, const char *name, const char *to)
{
	char *link = g_build_filename(f->path, name, NULL);
	if (symlink(to, link) == 0)
		return link;
	tally_cli_complain("run", "%s cannot be made: %s", link, g_strerror(errno));
	g_free(link);
	return NULL;
}
