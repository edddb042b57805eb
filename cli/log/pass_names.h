/* SPDX-License-Identifier: MIT */
/* cli/log/pass_names.h - the names that the passes of a log have, as its lines are read.
 *
 * A name is the pass's label, or a generated one (cli/log/pass_name.h), numbered where several
 * passes of a device share it. Reports and exports use the same names. One thread.
 */
#ifndef PASSTALLY_CLI_PASS_NAMES_H
#define PASSTALLY_CLI_PASS_NAMES_H

#include "layer/record.h"

#include <glib.h>

/* What the log says about all passes of an id. */
struct tally_named_pass {
	char *label; /* NULL = none */
	char *base; /* generated name without the number */
	char *groups; /* debug groups inside it; NULL = none */
};

struct tally_pass_names {
	GHashTable *passes; /* maps uint64_t * id to struct tally_named_pass * */
	GHashTable *counts; /* maps "device|base" to the count so far */
};

/* For hash tables of what belongs to a pass of a device. */
struct tally_pass_key {
	uint64_t id;
	uint32_t device;
};
guint tally_pass_key_hash(gconstpointer key);
gboolean tally_pass_key_equal(gconstpointer a, gconstpointer b);

void tally_pass_names_init(struct tally_pass_names *names);
void tally_pass_names_finish(struct tally_pass_names *names);
/* A pass_info line: for all passes with that id that come after it. */
void tally_pass_names_add(struct tally_pass_names *names,
			  const struct tally_pass_info_record *info);
/* What is known about a pass, at least what it says itself; valid until the next add(). */
const struct tally_named_pass *
tally_pass_names_find(struct tally_pass_names *names, const struct tally_pass_record *pass);
/* Its label, or the generated name without a number; valid as above. */
const char *
tally_pass_names_base(struct tally_pass_names *names, const struct tally_pass_record *pass);
/* The name of the next pass with that base: called once for each pass of a device. The caller
 * frees it with g_free(). */
char *tally_pass_names_number(struct tally_pass_names *names, uint32_t device, const char *base);

#endif
