/* SPDX-License-Identifier: MIT */
/* json/time.h - points in time as a log spells them: RFC 3339.
 *
 * Any thread; nothing allocates, blocks or looks at the locale.
 */
#ifndef PASSTALLY_JSON_TIME_H
#define PASSTALLY_JSON_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* "2026-01-31T12:00:00.5+01:00" as nanoseconds since 1970, UTC; a leap second is the second after
 * it. `s` ends in NUL. False: it is something else, or before 1970 or after 2554. */
bool tally_time_parse(const char *s, uint64_t *unix_ns);

#endif
