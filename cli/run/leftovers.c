/* SPDX-License-Identifier: MIT */
#include "cli/run/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "passtally-"
#define NAME_LENGTH (sizeof(PREFIX "XXXXXX") - 1)
#define YOUNG_SECONDS 60

void
tally_run_leftovers_lock(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB); /* stays open */
}

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
		known += strcmp(entry->d_name, TALLY_RUN_STATUS) == 0;
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

void
tally_run_leftovers_remove(void)
{
	int at = open(g_get_tmp_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = at < 0 ? NULL : fdopendir(at);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		const char *name = entry->d_name;
		if (strlen(name) != NAME_LENGTH || !g_str_has_prefix(name, PREFIX))
			continue;
		int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder >= 0 && is_left_over(folder) &&
		    unlinkat(folder, TALLY_RUN_STATUS, 0) == 0)
			unlinkat(at, name, AT_REMOVEDIR);
		if (folder >= 0)
			close(folder);
	}
	if (dir)
		closedir(dir);
}
