/* query/known_sources.h - every source that this version has, by name.
 *
 * One table for who uses sources and for who only names them: --sources, its check in the command,
 * and the front ends. Any thread; nothing here allocates.
 */
#ifndef PASSTALLY_QUERY_KNOWN_SOURCES_H
#define PASSTALLY_QUERY_KNOWN_SOURCES_H

#include <stdbool.h>

struct tally_known_source {
	const char *name;
	bool by_default; /* false: for tests, or of the CPU: only when it is asked for */
};

#define TALLY_N_KNOWN_SOURCES 16
extern const struct tally_known_source tally_known_sources[TALLY_N_KNOWN_SOURCES];

/* Does a --sources list ask for the source of that name? NULL stands for the default, and the word
 * `all` for all that are on by default. A name that is not in the table is not by default. */
bool tally_source_wanted(const char *list, const char *name);

#endif
