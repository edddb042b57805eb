/* SPDX-License-Identifier: MIT */
/* layer/config/base.h - what the files of layer/config share: messages, and the environment.
 *
 * options.c has the table and reads each value, config.c sets one option or a list of them, file.c
 * reads INI files, metric.c reads their metric sections, tags.c reads tags, path.c makes the log's
 * name, load.c reads all places in order of precedence, list.c matches counter lists. Only while
 * options are read, on one thread; errors are handled as in layer/config/config.h.
 */
#ifndef PASSTALLY_LAYER_CONFIG_BASE_H
#define PASSTALLY_LAYER_CONFIG_BASE_H

#include "layer/config/config.h"
#include "layer/record.h"

/* Where complaints go, and the place that is put in front of them. */
struct tally_config_place {
	tally_config_complain *complain; /* or NULL */
	void *data;
	const char *where; /* "PASSTALLY_OPTIONS", "/home/u/x.conf:3"; NULL: none */
};

/* Whether it is text of 1 to `most` bytes, none of them a control character. */
bool tally_config_is_clean(const char *text, size_t len, size_t most);
/* Reports one formatted sentence, cut at 1023 bytes. Returns false. */
bool tally_config_report(const struct tally_config_place *to, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A tally_config_complain, for a place as its data. */
void tally_config_report_at(void *place, const char *message);

/* Whether this process has privileges that its user lacks (setuid). Then no
 * setting of the user counts. */
bool tally_config_secure(void);

/* $HOME where that is an absolute path; NULL otherwise, and under secure execution. */
const char *tally_config_home(void);
/* The display that the environment names; unknown under secure execution. */
enum tally_session tally_config_session(void);

/* strndup, and strdup, but with malloc, so that the torture test can make it fail. NULL on OOM. */
char *tally_config_copy_text(const char *text, size_t len);
char *tally_config_copy_string(const char *text);
/* Removes blanks and carriage returns at both ends; returns the new start of the text. */
char *tally_config_trim(char *text);
/* Prints at out + *len what fits in `size` bytes; *len grows by the whole length. */
void tally_config_append(char *out, size_t size, size_t *len, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
