/* SPDX-License-Identifier: MIT */
#include "query/gauge/gpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "layer/base/small_file.h"

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
