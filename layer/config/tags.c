/* SPDX-License-Identifier: MIT */
#include "layer/config/tags.h"

#include "layer/base/error_text.h"
#include "layer/config/base.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KEY 64u
#define MAX_VALUE 256u

static const char valid[] =
	"KEY=VALUE, at most 32, with + between them: letters, digits, _ . and "
	"- in KEY, up to 256 bytes of text in VALUE";

static bool
is_key_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

/* The length of the key at the start of `text`, 0 when there is no KEY= there. */
static size_t
key_length(const char *text)
{
	size_t len = 0;
	while (is_key_character(text[len]))
		len++;
	return text[len] == '=' && len <= MAX_KEY ? len : 0;
}

/* A '+' ends the value only where another KEY= follows it, so that c++ is a value. */
static size_t
value_length(const char *text)
{
	size_t len = 0;
	while (text[len] && !(text[len] == '+' && key_length(text + len + 1)))
		len++;
	return len;
}

static struct tally_config_tag *
find_tag(struct tally_config *config, const char *key, size_t len)
{
	for (uint32_t i = 0; i < config->n_tags; i++) {
		struct tally_config_tag *tag = &config->tags[i];
		if (strlen(tag->key) == len && memcmp(tag->key, key, len) == 0)
			return tag;
	}
	return NULL;
}

/* Adds a tag, or replaces one of no higher precedence. False: out of memory, or too many. */
static bool
put_tag(struct tally_config *config, const char *key, size_t key_len, size_t value_len,
	enum tally_config_origin origin)
{
	const char *value = key + key_len + 1;
	struct tally_config_tag *tag = find_tag(config, key, key_len);
	if (tag && tag->origin > origin)
		return true;
	if (!tag && config->n_tags == TALLY_MAX_TAGS)
		return false;
	char *own_value = tally_config_copy_text(value, value_len);
	char *own_key = tag ? NULL : tally_config_copy_text(key, key_len);
	if (!own_value || (!tag && !own_key)) {
		free(own_value);
		free(own_key);
		return false;
	}
	if (!tag) {
		tag = &config->tags[config->n_tags++];
		tag->key = own_key;
	} else {
		free(tag->value);
	}
	tag->value = own_value;
	tag->origin = origin;
	return true;
}

bool
tally_config_set_tags(struct tally_config *config, const char *text,
		      enum tally_config_origin origin, char *why, size_t size)
{
	const char *at = text;
	do {
		size_t key_len = key_length(at);
		size_t value_len = key_len ? value_length(at + key_len + 1) : 0;
		if (!tally_config_is_clean(at + key_len + 1, value_len, MAX_VALUE) ||
		    !put_tag(config, at, key_len, value_len, origin))
			return TALLY_REFUSE(why, size,
					    "option tag cannot be \"%.64s\": use %s", text,
					    valid);
		at += key_len + 1 + value_len;
	} while (*at++ == '+');
	return true;
}

size_t
tally_config_get_tags(const struct tally_config *config, char *out, size_t size)
{
	size_t len = 0;
	if (size)
		out[0] = '\0';
	for (uint32_t i = 0; i < config->n_tags; i++) {
		const struct tally_config_tag *tag = &config->tags[i];
		tally_config_append(out, size, &len, "%s%s=%s", i ? "+" : "", tag->key, tag->value);
	}
	return len;
}

void
tally_config_finish_tags(struct tally_config *config)
{
	for (uint32_t i = 0; i < config->n_tags; i++) {
		free(config->tags[i].key);
		free(config->tags[i].value);
	}
	config->n_tags = 0;
}
