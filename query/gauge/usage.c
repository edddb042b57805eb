/* SPDX-License-Identifier: MIT */
#include "query/gauge/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/base/small_file.h"

/* No sum over this many lines of this many clients overflows. */
#define MOST (UINT64_C(1) << 56)

/* The number after the key's colon, and the unit after it. */
static bool
read_value(const char *p, uint64_t *out, char unit[8])
{
	char *end;
	p += strspn(p, " \t");
	*out = strtoull(p, &end, 10);
	if (*p < '0' || *p > '9' || *out > MOST)
		return false;
	p = end + strspn(end, " \t");
	size_t len = strcspn(p, " \t\n");
	snprintf(unit, 8, "%.*s", (int)(len < 7 ? len : 7), p);
	return true;
}

/* The document allows no unit, which means bytes, KiB and MiB. False: another one. */
static bool
to_kib(uint64_t *value, const char *unit)
{
	if (strcmp(unit, "MiB") == 0)
		*value = *value < MOST / 1024 ? *value * 1024 : MOST;
	else if (!unit[0])
		*value /= 1024;
	else
		return strcmp(unit, "KiB") == 0;
	return true;
}

/* No unit means Hz. False: another one. */
static bool
to_hz(uint64_t *value, const char *unit)
{
	uint64_t scale = strcmp(unit, "MHz") == 0   ? 1000000
			 : strcmp(unit, "KHz") == 0 ? 1000
						     : 1;
	*value = *value < MOST / scale ? *value * scale : MOST;
	return scale > 1 || !unit[0] || strcmp(unit, "Hz") == 0;
}

static bool
begins(const char *line, const char *prefix)
{
	return strncmp(line, prefix, strlen(prefix)) == 0;
}

/* Older kernels had drm-memory-REGION in place of drm-total-REGION; some write both. */
struct memory {
	uint64_t total, older;
	bool has_total, has_older;
};

static void
take_line(const char *line, const char *value, struct gauge_usage *u,
	  struct memory *memory)
{
	uint64_t n;
	char unit[8];
	if (!read_value(value, &n, unit))
		return;
	if (begins(line, "drm-client-id:")) {
		u->has_client = true;
		u->client = n;
	} else if (begins(line, "drm-engine-capacity-")) {
		return;
	} else if (begins(line, "drm-engine-") && strcmp(unit, "ns") == 0) {
		u->has_engines = true;
		u->engine_ns += n;
	} else if (begins(line, "drm-total-cycles-")) {
		u->has_total_cycles = true;
		u->total_cycles = n > u->total_cycles ? n : u->total_cycles;
	} else if (begins(line, "drm-cycles-")) {
		u->has_cycles = true;
		u->cycles += n;
	} else if (begins(line, "drm-total-")) {
		memory->has_total = true;
		u->memory_unclear |= !to_kib(&n, unit);
		memory->total += n;
	} else if (begins(line, "drm-memory-")) {
		memory->has_older = true;
		u->memory_unclear |= !to_kib(&n, unit);
		memory->older += n;
	} else if (begins(line, "drm-curfreq-") && n > 0 && to_hz(&n, unit)) {
		u->has_frequency = true;
		u->frequency_hz = n > u->frequency_hz ? n : u->frequency_hz;
	}
}

bool
gauge_usage_parse(const char *text, struct gauge_usage *u)
{
	struct memory memory = { 0 };
	*u = (struct gauge_usage){ 0 };
	for (const char *line = text; line && *line;) {
		const char *end = strchr(line, '\n');
		const char *colon = begins(line, "drm-") ? strchr(line, ':') : NULL;
		/* The kernel terminates each line: an unterminated one was cut, and its number
		 * may be too. */
		if (colon && end && colon < end)
			take_line(line, colon + 1, u, &memory);
		line = end ? end + 1 : NULL;
	}
	u->has_memory = memory.has_total || memory.has_older;
	u->memory_kib = memory.has_total ? memory.total : memory.older;
	return u->has_client;
}

static void
add(struct gauge_usage *to, const struct gauge_usage *u)
{
	to->has_engines |= u->has_engines;
	to->has_cycles |= u->has_cycles;
	to->has_total_cycles |= u->has_total_cycles;
	to->has_memory |= u->has_memory;
	to->memory_unclear |= u->memory_unclear;
	to->has_frequency |= u->has_frequency;
	to->engine_ns += u->engine_ns;
	to->cycles += u->cycles;
	to->memory_kib += u->memory_kib;
	if (u->total_cycles > to->total_cycles)
		to->total_cycles = u->total_cycles;
	if (u->frequency_hz > to->frequency_hz)
		to->frequency_hz = u->frequency_hz;
}

bool
gauge_usage_read(const char *root, const int *fds, uint32_t n_fds,
		 struct gauge_usage *out)
{
	uint64_t clients[GAUGE_MAX_FDS];
	uint32_t n = 0;
	*out = (struct gauge_usage){ 0 };
	for (uint32_t i = 0; i < n_fds; i++) {
		char path[256], text[4096];
		struct gauge_usage u;
		snprintf(path, sizeof(path), "%s/proc/self/fdinfo/%d", root, fds[i]);
		if (!tally_small_file_read(path, text, sizeof(text)) ||
		    !gauge_usage_parse(text, &u))
			continue;
		bool seen = false;
		for (uint32_t k = 0; k < n; k++)
			seen |= clients[k] == u.client;
		if (seen)
			continue;
		clients[n++] = u.client;
		add(out, &u);
		out->client += (u.client + 1) * UINT64_C(0x9e3779b97f4a7c15);
	}
	out->has_client = n > 0;
	out->has_memory &= !out->memory_unclear;
	return n > 0;
}
