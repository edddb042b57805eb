/* layer/config_internal.h - what the config_*.c files share.
 *
 * config.c applies options in order of precedence, config_options.c is the table and how each
 * value is read, config_file.c reads INI files, config_path.c makes the log's name, config_list.c
 * matches counter lists. Rules of threads and errors as in layer/config.h.
 */
#ifndef PASSTALLY_LAYER_CONFIG_INTERNAL_H
#define PASSTALLY_LAYER_CONFIG_INTERNAL_H

#include "layer/config.h"

/* Say one formatted sentence, cut at 1023 bytes; `complain` may be NULL. */
void tally_config_report(tally_config_complain *complain, void *data, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A complaint with its place in front: use tally_config_report_at as the callback. */
struct tally_config_place {
	tally_config_complain *complain;
	void *data;
	const char *where; /* "PASSTALLY_OPTIONS", "/home/u/x.conf:3" */
};
void tally_config_report_at(void *place, const char *message);

/* Does this process have privileges its user lacks (setuid)? Then nothing the user says counts. */
bool tally_config_secure(void);

/* `$variable/passtally`, or `$HOME/fallback/passtally` when that is not an absolute path, with
 * "/name" appended. Caller frees; NULL on OOM, without a home and under secure execution. */
char *tally_config_home_path(const char *variable, const char *fallback, const char *name);

/* strdup, but over malloc, so that the torture test can make it fail. NULL on OOM. */
char *tally_config_copy_string(const char *text);

/* The last component of a path; "program" when there is none. */
const char *tally_config_base_name(const char *path);

#endif
