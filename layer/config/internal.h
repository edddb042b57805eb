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

#endif
