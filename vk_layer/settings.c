/* SPDX-License-Identifier: MIT */
#include "vk_layer/settings.h"

#include "layer/log.h"
#include "vk_layer/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STYPE_LAYER_SETTINGS 1000496000

/* As VkLayerSettingTypeEXT. */
enum type { BOOL32, INT32, INT64, UINT32, UINT64, FLOAT32, FLOAT64, STRING };

/* As VkLayerSettingEXT and VkLayerSettingsCreateInfoEXT. */
struct setting {
	const char *layer, *name;
	int32_t type;
	uint32_t n;
	const void *values;
};
struct settings {
	VkStructureType type;
	const void *next;
	uint32_t n;
	const struct setting *all;
};

struct text {
	char *at;
	size_t len, size;
	bool full;
};

static void
put(struct text *t, const char *word)
{
	size_t len = strlen(word);
	t->full |= t->len + len >= t->size;
	if (t->full)
		return;
	memcpy(t->at + t->len, word, len + 1);
	t->len += len;
}

static void
put_name(struct text *t, const char *name)
{
	for (; *name; name++)
		put(t, (char[]){ *name == '_' ? '-' : *name, '\0' });
}

/* A comma would end the option. */
static void
put_string(struct text *t, const char *value)
{
	for (; value && *value; value++) {
		if (*value == ',' || *value == '\\')
			put(t, "\\");
		put(t, (char[]){ *value, '\0' });
	}
}

static void
put_number(struct text *t, double value)
{
	char digits[32] = "?"; /* is refused because it is not a value of an option */
	if (value >= 0 && value < 1e9)
		/* Not %f: the game's locale may write a comma. */
		snprintf(digits, sizeof(digits), "%u.%09u", (unsigned)value,
			 (unsigned)((value - (unsigned)value) * 1e9));
	put(t, digits);
}

static void
put_value(struct text *t, const struct setting *s, uint32_t i)
{
	char digits[32] = "?";
	switch (s->type) {
	case BOOL32:
		put(t, ((const VkBool32 *)s->values)[i] ? "on" : "off");
		return;
	case FLOAT32:
		put_number(t, (double)((const float *)s->values)[i]);
		return;
	case FLOAT64:
		put_number(t, ((const double *)s->values)[i]);
		return;
	case STRING:
		put_string(t, ((const char *const *)s->values)[i]);
		return;
	case INT32:
		snprintf(digits, sizeof(digits), "%" PRId32, ((const int32_t *)s->values)[i]);
		break;
	case INT64:
		snprintf(digits, sizeof(digits), "%" PRId64, ((const int64_t *)s->values)[i]);
		break;
	case UINT32:
		snprintf(digits, sizeof(digits), "%" PRIu32, ((const uint32_t *)s->values)[i]);
		break;
	case UINT64:
		snprintf(digits, sizeof(digits), "%" PRIu64, ((const uint64_t *)s->values)[i]);
		break;
	default:
		break;
	}
	put(t, digits);
}

static void
put_setting(struct text *t, const struct setting *s)
{
	if (!s->layer || strcmp(s->layer, VK_LAYER_OF_OURS) != 0 || !s->name || !s->n || !s->values)
		return;
	size_t before = t->len;
	put(t, before ? "," : "");
	put_name(t, s->name);
	for (uint32_t i = 0; i < s->n && !t->full; i++) {
		put(t, i ? "+" : "=");
		put_value(t, s, i);
	}
	if (!t->full)
		return;
	t->len = before;
	t->at[before] = '\0';
	t->full = false;
	tally_log_say(TALLY_LEVEL_WARNING, "vulkan",
		      "the program's setting %.64s is too long: it does not count", s->name);
}

const char *
vk_settings_read(const void *chain, char *text, size_t size)
{
	struct text t = { .at = text, .size = size };
	const VkBaseInStructure *s = chain;
	for (; s; s = s->pNext) {
		const struct settings *some = (const struct settings *)s;
		if ((int)s->sType != STYPE_LAYER_SETTINGS)
			continue;
		for (uint32_t i = 0; some->all && i < some->n; i++)
			put_setting(&t, &some->all[i]);
	}
	return t.len ? text : NULL;
}
