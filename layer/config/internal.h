/* SPDX-License-Identifier: MIT */
/* layer/config/internal.h - shared by the files of this folder.
 *
 * base.c has the common functions, options.c has the table and reads each value, config.c sets
 * one option or a list of them, file.c reads INI files, metric.c reads their metric sections,
 * tags.c reads tags, path.c makes the log's name, load.c reads all places in order of precedence,
 * list.c matches counter lists. Threads and errors are handled as in layer/config/config.h.
 */
#ifndef PASSTALLY_LAYER_CONFIG_INTERNAL_H
#define PASSTALLY_LAYER_CONFIG_INTERNAL_H

#include "layer/config/config.h"
#include "layer/record.h"

/* Where complaints go, and the place that is put in front of them. */
struct tally_config_place {
	tally_config_complain *complain; /* or NULL */
	void *data;
	const char *where; /* "PASSTALLY_OPTIONS", "/home/u/x.conf:3"; NULL: none */
};
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

/* `$variable/passtally`, or `$HOME/fallback/passtally` when that is not an absolute path, with
 * "/name" appended. Caller frees; NULL on OOM, without a home and under secure execution. */
char *tally_config_home_path(const char *variable, const char *fallback, const char *name);

/* strndup, and strdup, but with malloc, so that the torture test can make it fail. NULL on OOM. */
char *tally_config_copy_text(const char *text, size_t len);
char *tally_config_copy_string(const char *text);
/* Removes blanks and carriage returns at both ends; returns the new start of the text. */
char *tally_config_trim(char *text);
/* Prints at out + *len what fits in `size` bytes; *len grows by the whole length. */
void tally_config_append(char *out, size_t size, size_t *len, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The last component of a path, also of a path like "C:\\x\\game.exe"; "program" when there is
 * none. */
const char *tally_config_base_name(const char *path);

/* ---- tags ---- */

/* Adds KEY=VALUE, or several with + between them. False: `why` has a sentence. */
bool tally_config_set_tags(struct tally_config *config, const char *text,
			   enum tally_config_origin origin, char *why, size_t size);
/* The text that would set them; returns its length, as snprintf() does. */
size_t tally_config_get_tags(const struct tally_config *config, char *out, size_t size);
void tally_config_finish_tags(struct tally_config *config);

/* ---- [metric NAME] ---- */

/* Begins a metric of that name, which replaces one from another file. Complains and
 * returns NULL for a bad name, for one that this file already has, and when out of memory.
 * Valid until the next call. */
struct tally_config_metric *
tally_config_metric_begin(struct tally_config *config, const char *key, const char *file,
			  uint32_t line, const struct tally_config_place *to);
/* Sets one line of the metric. False after a complaint. `column` is that of the
 * value, in characters from 1. */
bool tally_config_metric_set(struct tally_config_metric *m, const char *field, const char *value,
			     uint32_t line, uint32_t column, const struct tally_config_place *to);
/* Ends the metric's section: drops the last one begun, with a complaint at its heading,
 * if it has no expression. */
bool tally_config_metric_end(struct tally_config *config, struct tally_config_metric *m,
			     const struct tally_config_place *to);
void tally_config_metrics_finish(struct tally_config *config);

#endif
