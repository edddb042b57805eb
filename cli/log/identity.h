/* SPDX-License-Identifier: MIT */
/* cli/log/identity.h - where a log was taken, how, and the tags of its run.
 *
 * Copied from the header line, texts interned (GLib); what the log does not contain is NULL or 0.
 * Arguments have "***" for what looks like a secret: the value of -AUTH_PASSWORD=X, the word after
 * --token, what follows user: in a URL, a JSON Web Token. One thread; the caller frees returned
 * strings with g_free().
 */
#ifndef PASSTALLY_CLI_IDENTITY_H
#define PASSTALLY_CLI_IDENTITY_H

#include "cli/shared/out.h"
#include "layer/record.h"

#include <glib.h>

struct tally_log_identity {
	const char *run; /* a UUID: two logs of one run are one log, loaded twice */
	const char *os, *kernel, *cpu, *host;
	uint32_t cpus;
	uint64_t memory_bytes;
	enum tally_session session;
	GPtrArray *
		tags; /* elements: char *, "KEY=VALUE", in order of their keys; never NULL */
	GPtrArray *options; /* likewise, in the log's order */
	GPtrArray *argv; /* elements: char *, masked; NULL: the log does not have them */
};

void tally_log_identity_init(struct tally_log_identity *identity);
void tally_log_identity_read(struct tally_log_identity *identity,
			     const struct tally_header_record *header);
void tally_log_identity_finish(struct tally_log_identity *identity);

/* The value of an option; NULL: it is `off`, or not in the log. */
const char *tally_log_option(const struct tally_log_identity *identity, const char *key,
			     const char *off);
/* "build=1234, scene=docks"; NULL without tags. */
char *
tally_log_identity_tags(const struct tally_log_identity *identity, const char *between);
/* One line about the machine: "AMD Ryzen 7, 16 CPUs, 32.0 GiB; Debian 12; Linux 6.1; x11". NULL
 * when the log has nothing about it. */
char *tally_log_identity_machine(const struct tally_log_identity *identity);
/* Members of an object of JSON: run, tags, os and so on, those that are known. */
void
tally_log_identity_put(struct tally_out *o, const struct tally_log_identity *identity);

/* The arguments (char *) as they are kept. */
GPtrArray *tally_arguments_mask(const char *const *argv, uint32_t n);

#endif
