/* SPDX-License-Identifier: MIT */
#include "layer/config/file.h"

#include "layer/base/error_text.h"
#include "layer/config/base.h"
#include "layer/config/metric.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE (1u << 20)

struct ini {
	struct tally_config *config;
	enum tally_config_origin origin;
	struct tally_config_place place; /* the line */
	const char *path;
	uint32_t number; /* of the line */
	const char *line; /* the line as it is in the file */
	bool in_section; /* the lines being read are passtally's */
	bool any_section;
	struct tally_config_metric *metric; /* the section's metric; NULL: [passtally] */
};

/* Reads up to `size` bytes, none without `text`; -1 with errno. */
static ssize_t
read_all(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n = text ? 1 : 0;
	while (n > 0 || (n < 0 && errno == EINTR)) {
		n = read(fd, text + len, size - len);
		len += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? -1 : (ssize_t)len;
}

/* Reads the whole file and puts a NUL after it; NULL if that fails. *missing: there is no file,
 * which is not an error. */
static char *
read_whole(const struct tally_config_place *file, size_t *len, bool *missing)
{
	char *text = NULL;
	struct stat st = { 0 };
	/* O_NONBLOCK: a FIFO with the file's name must not stop the game. */
	int fd = open(file->where, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	*missing = false;
	if (fd < 0) {
		*missing = errno == ENOENT || errno == ENOTDIR;
		if (!*missing)
			tally_config_report(file, "cannot be read: %s", tally_error_text(errno));
		return NULL;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		tally_config_report(file, "not a regular file: it was not read");
	else if (st.st_size > (off_t)MAX_FILE)
		tally_config_report(file, "larger than %u bytes: it was not read", MAX_FILE);
	else if (!(text = malloc((size_t)st.st_size + 1)))
		tally_config_report(file, "out of memory: it was not read");
	ssize_t n = read_all(fd, text, (size_t)st.st_size);
	if (n < 0) {
		tally_config_report(file, "cannot be read: %s", tally_error_text(errno));
		free(text);
		text = NULL;
	} else if (text) {
		*len = (size_t)n;
		text[*len] = '\0';
	}
	close(fd);
	return text;
}

/* Ends the section that is being read. */
static bool
end_section(struct ini *ini)
{
	struct tally_config_metric *metric = ini->metric;
	ini->metric = NULL;
	return !metric || tally_config_metric_end(ini->config, metric, &ini->place);
}

static bool
take_metric(struct ini *ini, const char *key)
{
	ini->metric = tally_config_metric_begin(ini->config, key, ini->path, ini->number,
						&ini->place);
	ini->in_section = ini->metric != NULL;
	return ini->in_section;
}

static bool
take_heading(struct ini *ini, char *line)
{
	/* A metric's name may contain brackets: "cpu[0]". */
	char *end = strrchr(line, ']');
	if (!end || *tally_config_trim(end + 1) != '\0')
		return tally_config_report(&ini->place, "a section is written [passtally], alone "
							"on its line");
	*end = '\0';
	char *name = tally_config_trim(line + 1);
	size_t word = strcspn(name, " \t");
	if (word == strlen("metric") && memcmp(name, "metric", word) == 0)
		return take_metric(ini, tally_config_trim(name + word));
	if (strcmp(name, "passtally") != 0)
		return tally_config_report(
			&ini->place,
			"there is no section [%.64s]: there are [passtally] and [metric NAME]; "
			"its lines were not read",
			name);
	ini->in_section = true;
	return true;
}

static bool
take_section(struct ini *ini, char *line)
{
	bool ok = end_section(ini);
	ini->any_section = true;
	ini->in_section = false;
	return take_heading(ini, line) && ok;
}

/* The column of that place in the line, in characters from 1. */
static uint32_t
column_of(const struct ini *ini, const char *at)
{
	uint32_t column = 1;
	for (const char *p = ini->line; p < at; p++)
		column += ((unsigned char)*p & 0xc0) != 0x80;
	return column;
}

static bool
take_line(struct ini *ini, char *line)
{
	ini->line = line;
	line = tally_config_trim(line);
	if (*line == '\0' || *line == '#' || *line == ';')
		return true;
	if (*line == '[')
		return take_section(ini, line);
	/* Lines in a wrong section were reported together with its heading. */
	if (!ini->in_section)
		return ini->any_section ||
		       tally_config_report(
			       &ini->place,
			       "an option before any section: write [passtally] above it");
	char *value = strchr(line, '=');
	if (value) {
		*value++ = '\0';
		value = tally_config_trim(value);
	}
	line = tally_config_trim(line);
	if (ini->metric)
		return tally_config_metric_set(ini->metric, line, value, ini->number,
					       value ? column_of(ini, value) : 1, &ini->place);
	return tally_config_set(ini->config, line, value, ini->origin, tally_config_report_at,
				&ini->place);
}

/* A line of vk_layer_settings.txt. Vulkan uses '_' where passtally uses '-'. */
static bool
take_setting(struct ini *ini, char *line)
{
	static const char ours[] = "passtally_capture.";
	line[strcspn(line, "#")] = '\0';
	char *key = tally_config_trim(line), *value = strchr(key, '=');
	if (!value || strncmp(key, ours, strlen(ours)) != 0)
		return true;
	*value++ = '\0';
	key = tally_config_trim(key + strlen(ours));
	for (char *p = strchr(key, '_'); p; p = strchr(p, '_'))
		*p = '-';
	value = tally_config_trim(value);
	return !*value || tally_config_set(ini->config, key, value, ini->origin,
					   tally_config_report_at, &ini->place);
}

static bool
read_lines(struct tally_config *config, const char *path, enum tally_config_origin origin,
	   bool (*take)(struct ini *, char *), tally_config_complain *complain, void *data)
{
	size_t len;
	bool missing;
	char *text = read_whole(&(struct tally_config_place){ complain, data, path }, &len,
				&missing);
	if (!text)
		return missing;

	bool ok = true;
	char where[4096];
	struct ini ini = {
		.config = config,
		.origin = origin,
		.place = { complain, data, where },
		.path = path,
	};
	char *line = text;
	if (len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
		line += 3;
	for (unsigned number = 1; line < text + len; number++) {
		char *end = memchr(line, '\n', (size_t)(text + len - line));
		if (!end)
			end = text + len;
		*end = '\0';
		snprintf(where, sizeof(where), "%.4000s:%u", path, number);
		if (strlen(line) != (size_t)(end - line)) {
			ok = tally_config_report(&ini.place,
						 "a NUL byte: this is not a text file");
			break;
		}
		ini.number = number;
		ok &= take(&ini, line);
		line = end + 1;
	}
	ok &= end_section(&ini);
	free(text);
	return ok;
}

bool
tally_config_read_file(struct tally_config *config, const char *path,
		       enum tally_config_origin origin, tally_config_complain *complain,
		       void *data)
{
	return read_lines(config, path, origin, take_line, complain, data);
}

bool
tally_config_read_layer_file(struct tally_config *config, const char *path,
			     tally_config_complain *complain, void *data)
{
	return read_lines(config, path, TALLY_FROM_LAYER_SETTINGS, take_setting, complain, data);
}
