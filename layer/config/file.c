/* SPDX-License-Identifier: MIT */
#include "layer/config/config.h"

#include "layer/base/error_text.h"
#include "layer/config/internal.h"

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
	tally_config_complain *complain; /* puts the line's place in front */
	void *data;
	const char *path;
	uint32_t number; /* of the line */
	const char *line; /* as it is in the file */
	bool in_section; /* the lines being read are ours */
	bool any_section;
	struct tally_config_metric *metric; /* the section's metric; NULL: [passtally] */
};

/* Reads the whole file and puts a NUL after it; NULL if that fails. *missing: there is no
 * file, which is no error. */
static char *
read_whole(const char *path, size_t *len, bool *missing, tally_config_complain *complain,
	   void *data)
{
	*missing = false;
	/* O_NONBLOCK: a FIFO with the file's name must not stop the game. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		*missing = errno == ENOENT || errno == ENOTDIR;
		if (!*missing)
			tally_config_report(complain, data, "%s: cannot be read: %s", path,
					    tally_error_text(errno));
		return NULL;
	}
	char *text = NULL;
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		tally_config_report(complain, data, "%s: not a regular file: it was not read",
				    path);
		goto close_file;
	}
	if (st.st_size > (off_t)MAX_FILE) {
		tally_config_report(complain, data, "%s: larger than %u bytes: it was not read",
				    path, MAX_FILE);
		goto close_file;
	}
	size_t size = (size_t)st.st_size;
	text = malloc(size + 1);
	if (!text) {
		tally_config_report(complain, data, "%s: out of memory: it was not read", path);
		goto close_file;
	}
	*len = 0;
	while (*len < size) {
		ssize_t n = read(fd, text + *len, size - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			tally_config_report(complain, data, "%s: cannot be read: %s", path,
					    tally_error_text(errno));
			free(text);
			text = NULL;
		}
		if (n <= 0)
			break;
		*len += (size_t)n;
	}
	if (text)
		text[*len] = '\0';
close_file:
	close(fd);
	return text;
}

static char *
trim(char *text)
{
	text += strspn(text, " \t\r");
	size_t len = strlen(text);
	while (len > 0 && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* Ends the section that is being read. */
static bool
end_section(struct ini *ini)
{
	const struct tally_config_place *place = ini->data;
	struct tally_config_metric *metric = ini->metric;
	ini->metric = NULL;
	/* This complaint has its own place: the heading's line, not this one. */
	return !metric ||
	       tally_config_metric_end(ini->config, metric, place->complain, place->data);
}

static bool
take_metric(struct ini *ini, const char *key)
{
	ini->metric = tally_config_metric_begin(ini->config, key, ini->path, ini->number,
						ini->complain, ini->data);
	ini->in_section = ini->metric != NULL;
	return ini->in_section;
}

static bool
take_heading(struct ini *ini, char *line)
{
	/* A metric's name may contain brackets: "cpu[0]". */
	char *end = strrchr(line, ']');
	if (!end || *trim(end + 1) != '\0') {
		tally_config_report(ini->complain, ini->data,
				    "a section is written [passtally], alone on its line");
		return false;
	}
	*end = '\0';
	char *name = trim(line + 1);
	size_t word = strcspn(name, " \t");
	if (word == strlen("metric") && memcmp(name, "metric", word) == 0)
		return take_metric(ini, trim(name + word));
	if (strcmp(name, "passtally") != 0) {
		tally_config_report(ini->complain, ini->data,
				    "there is no section [%.64s]: there are [passtally] and "
				    "[metric NAME]; its lines were not read",
				    name);
		return false;
	}
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
	line = trim(line);
	if (*line == '\0' || *line == '#' || *line == ';')
		return true;
	if (*line == '[')
		return take_section(ini, line);
	if (!ini->in_section) {
		/* Lines in a wrong section were reported together with its heading. */
		if (ini->any_section)
			return true;
		tally_config_report(ini->complain, ini->data,
				    "an option before any section: write [passtally] above it");
		return false;
	}
	char *value = strchr(line, '=');
	if (value) {
		*value++ = '\0';
		value = trim(value);
	}
	if (ini->metric)
		return tally_config_metric_set(ini->metric, trim(line), value, ini->number,
					       value ? column_of(ini, value) : 1, ini->complain,
					       ini->data);
	return tally_config_set(ini->config, trim(line), value, ini->origin, ini->complain,
				ini->data);
}

/* A line of vk_layer_settings.txt. Vulkan spells what we write with '-' with '_'. */
static bool
take_setting(struct ini *ini, char *line)
{
	static const char ours[] = "passtally_capture.";
	line[strcspn(line, "#")] = '\0';
	char *key = trim(line), *value = strchr(key, '=');
	if (!value || strncmp(key, ours, strlen(ours)) != 0)
		return true;
	*value++ = '\0';
	key = trim(key + strlen(ours));
	for (char *p = strchr(key, '_'); p; p = strchr(p, '_'))
		*p = '-';
	value = trim(value);
	return !*value || tally_config_set(ini->config, key, value, ini->origin, ini->complain,
					   ini->data);
}

static bool
read_lines(struct tally_config *config, const char *path, enum tally_config_origin origin,
	   bool (*take)(struct ini *, char *), tally_config_complain *complain, void *data)
{
	size_t len;
	bool missing;
	char *text = read_whole(path, &len, &missing, complain, data);
	if (!text)
		return missing;

	bool ok = true;
	char where[4096];
	struct tally_config_place place = { complain, data, where };
	struct ini ini = {
		.config = config,
		.origin = origin,
		.complain = tally_config_report_at,
		.data = &place,
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
			tally_config_report_at(&place, "a NUL byte: this is not a text file");
			ok = false;
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
