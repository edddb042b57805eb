/* SPDX-License-Identifier: MIT */
#include "cli/install/run_folder.h"

#include "cli/shared/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "passtally-"
#define NAME_LENGTH (sizeof(PREFIX "XXXXXX") - 1)
#define YOUNG_SECONDS 60
#define STATUS "status" /* the file in the folder that PASSTALLY_STATUS names */

static bool
holds_status_alone(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	unsigned n = 0, known = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		n++;
		known += strcmp(entry->d_name, STATUS) == 0;
	}
	if (dir)
		closedir(dir);
	return n == 1 && known == 1;
}

static bool
is_left_over(int folder)
{
	struct stat st;
	return fstat(folder, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0 &&
	       time(NULL) - st.st_mtime > YOUNG_SECONDS && flock(folder, LOCK_EX | LOCK_NB) == 0 &&
	       holds_status_alone(folder);
}

/* Removes such folders of this user that are not locked, older than a minute (newer ones may be
 * about to be locked) and contain only the status file: a program that outlived its run may
 * still need the links in it. */
static void
remove_leftovers(void)
{
	int at = open(g_get_tmp_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = at < 0 ? NULL : fdopendir(at);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		const char *name = entry->d_name;
		if (strlen(name) != NAME_LENGTH || !g_str_has_prefix(name, PREFIX))
			continue;
		int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder >= 0 && is_left_over(folder) &&
		    unlinkat(folder, STATUS, 0) == 0)
			unlinkat(at, name, AT_REMOVEDIR);
		if (folder >= 0)
			close(folder);
	}
	if (dir)
		closedir(dir);
}

bool
tally_run_folder_create(struct tally_run_folder *f, const char *command)
{
	*f = (struct tally_run_folder){ g_dir_make_tmp(PREFIX "XXXXXX", NULL), NULL };
	if (f->path && strpbrk(f->path, " :")) {
		/* ld.so may have to read a path to the folder. */
		g_rmdir(f->path);
		g_free(f->path);
		f->path = g_mkdtemp(g_strdup("/tmp/" PREFIX "XXXXXX"));
	}
	if (!f->path)
		return TALLY_FAIL(false, command, "no temporary folder could be created in %s: %s",
				  g_get_tmp_dir(), g_strerror(errno));
	int fd = open(f->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB); /* stays open */
	remove_leftovers();
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
