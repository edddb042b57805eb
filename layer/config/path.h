/* SPDX-License-Identifier: MIT */
/* layer/config/path.h - the path of the log: its pattern, and the folder of the default one.
 *
 * Any thread.
 */
#ifndef PASSTALLY_LAYER_CONFIG_PATH_H
#define PASSTALLY_LAYER_CONFIG_PATH_H

#include "layer/config/config.h"
#include "layer/config/base.h"

/* Expands %e (program's base name), %t (start, YYYYMMDD-HHMMSS), %p (pid) and %%; NULL
 * pattern: the default place $XDG_STATE_HOME/passtally/%e-%t-%p.jsonl. Caller frees; NULL on
 * OOM or when no home is known. */
char *tally_config_log_path(const char *pattern, const char *program, uint64_t started_unix_ns,
			    long pid);

/* `$variable/passtally`, or `$HOME/fallback/passtally` when that is not an absolute path, with
 * "/name" appended. Caller frees; NULL on OOM, without a home and under secure execution. */
char *tally_config_home_path(const char *variable, const char *fallback, const char *name);

/* The last component of a path, also of a path like "C:\\x\\game.exe"; "program" when there is
 * none. */
const char *tally_config_base_name(const char *path);

#endif
