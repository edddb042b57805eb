/* SPDX-License-Identifier: MIT */
#include "query/linux/pmu.h"

#include <dirent.h>
#include <stdio.h>

#include "layer/base/small_file.h"
#include "query/linux/files.h"

/* Units of CPU cores have a file `cpus`; others (for memory controllers or graphics) have
 * `cpumask`. */
static bool
read_file_of(const char *folder, const char *unit, const char *file, char *out, size_t size)
{
	char path[512];
	int n = snprintf(path, sizeof(path), "%s/%s/%s", folder, unit, file);
	return n > 0 && (size_t)n < sizeof(path) && tally_small_file_read(path, out, size);
}

static bool
read_unit(const char *folder, const char *name, uint32_t *type)
{
	char text[64];
	const char *p = text;
	uint64_t value;
	if (!read_file_of(folder, name, "cpus", text, sizeof(text)) ||
	    !read_file_of(folder, name, "type", text, sizeof(text)) ||
	    !tally_linux_next_number(&p, &value) || value > INT32_MAX)
		return false;
	*type = (uint32_t)value;
	return true;
}

uint32_t
tally_linux_pmus(const char *root, uint32_t types[TALLY_LINUX_PMUS])
{
	char folder[256];
	snprintf(folder, sizeof(folder), "%s/sys/bus/event_source/devices", root);
	DIR *dir = opendir(folder);
	if (!dir)
		return 0;
	uint32_t n = 0;
	const struct dirent *entry;
	while (n < TALLY_LINUX_PMUS && (entry = readdir(dir))) {
		uint32_t type;
		if (entry->d_name[0] == '.' || !read_unit(folder, entry->d_name, &type))
			continue;
		/* Sorted, so that the order does not depend on the folder. */
		uint32_t at = n++;
		for (; at > 0 && types[at - 1] > type; at--)
			types[at] = types[at - 1];
		types[at] = type;
	}
	closedir(dir);
	return n;
}
