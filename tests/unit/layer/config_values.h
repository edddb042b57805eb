/* SPDX-License-Identifier: MIT */
/* tests/unit/layer/config_values.h - options by their keys, for the tests of layer/config/.
 *
 * One thread.
 */
#ifndef PASSTALLY_TESTS_UNIT_CONFIG_VALUES_H
#define PASSTALLY_TESTS_UNIT_CONFIG_VALUES_H

#include "layer/config/config.h"
#include "layer/config/options.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

static inline void
keep_message(void *data, const char *message)
{
	GString *s = data;
	g_string_append_printf(s, "%s\n", message);
}

static inline size_t
row_of(const char *key)
{
	const struct tally_option *option = tally_option_find(key, strlen(key));
	g_assert_nonnull(option);
	return (size_t)(option - tally_options);
}

static inline char *
value_of(const struct tally_config *config, const char *key)
{
	char text[512];
	size_t len = tally_option_get(&tally_options[row_of(key)], config, text, sizeof(text));
	g_assert_cmpuint(len, ==, strlen(text));
	return g_strdup(text);
}

static inline void
assert_value(const struct tally_config *config, const char *key, const char *want)
{
	char *value = value_of(config, key);
	g_assert_cmpstr(value, ==, want);
	g_free(value);
}

#endif
