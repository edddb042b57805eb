/* SPDX-License-Identifier: MIT */
#include "query/gauge/gpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "layer/base/small_file.h"

bool
gauge_parse_number(const char **text, uint64_t *out)
{
	const char *p = *text;
	uint64_t value = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return false;
	*out = value;
	bool any = p != *text;
	*text = p;
	return any;
}

bool
gauge_read_number(const char *path, uint64_t *out)
{
	char text[64];
	const char *p = text;
	return tally_small_file_read(path, text, sizeof(text)) &&
	       gauge_parse_number(&p, out) && (*p == '\0' || *p == '\n' || *p == ' ');
}

void
gauge_read_link_name(const char *path, char *out, size_t size)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	const char *slash = strrchr(target, '/');
	snprintf(out, size, "%s", slash ? slash + 1 : target);
}

void
gauge_put(struct gauge_values *v, enum gauge_kind kind, uint64_t value)
{
	static const uint64_t most[GAUGE_N_KINDS] = {
		[GAUGE_CLOCK] = 100000000, /* 100 GHz */
		[GAUGE_BUSY] = 1000,
		[GAUGE_PROCESS_BUSY] = 1000 * 256, /* engines */
		[GAUGE_TEMPERATURE] = 1000000,
		[GAUGE_POWER] = 100000000, /* 100 kW */
		[GAUGE_MEMORY] = UINT64_C(1) << 40, /* 1 PiB */
		[GAUGE_PROCESS_MEMORY] = UINT64_C(1) << 40,
		[GAUGE_THROTTLE] = UINT32_MAX,
	};
	if (value > most[kind] || (kind == GAUGE_CLOCK && value == 0))
		return; /* a clock of 0 is that of a GPU asleep, not one it worked at */
	v->value[kind] = value;
	v->known |= 1u << kind;
}

bool
gauge_is_suspended(const char *device)
{
	char path[PATH_MAX + 32], text[32];
	snprintf(path, sizeof(path), "%s/power/runtime_status", device);
	return tally_small_file_read(path, text, sizeof(text)) &&
	       strncmp(text, "suspend", 7) == 0;
}
