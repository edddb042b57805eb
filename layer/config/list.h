/* SPDX-License-Identifier: MIT */
/* layer/config/list.h - lists in the values of options: words separated by commas.
 *
 * Any thread.
 */
#ifndef PASSTALLY_LAYER_CONFIG_LIST_H
#define PASSTALLY_LAYER_CONFIG_LIST_H

#include "layer/config/config.h"

/* Whether an item of the list (keys, names without regard to case, globs with * and ?) matches.
 * The words `all` and `overview` match nothing here: callers ask tally_list_has() first. */
bool tally_list_matches(const char *list, const char *key, const char *name);
bool tally_list_has(const char *list, const char *word);
/* The next item of *list, without the blanks around it; false after the last. Empty items are
 * skipped. */
bool tally_list_next(const char **list, const char **item, size_t *len);

#endif
