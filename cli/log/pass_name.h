/* SPDX-License-Identifier: MIT */
/* cli/log/pass_name.h - the names of passes, as the lines of a log are read.
 *
 * A name is the one that a person gave, the pass's label, or a generated one; reports and exports
 * use the same names. One thread. A generated name is built from the targets that the pass writes:
 * "Depth 2048x2048", "Color (3 targets + depth) 960x540", "Backbuffer", "Compute", "Copy", "Clear"
 * (where it first did nothing else); the program's own name for the target takes the first word's
 * place: "ShadowMap 2048x2048". Of several passes that share a name or a label, the second and
 * later ones are numbered: "Depth 2048x2048 #2". Such names are for people: the identity of a pass
 * does not depend on them.
 */
#ifndef PASSTALLY_CLI_PASS_NAME_H
#define PASSTALLY_CLI_PASS_NAME_H

#include "cli/log/target_size.h"

#include <glib.h>
#include <stddef.h>

/* `target` may be NULL. The caller frees the name with g_free(). */
char *tally_pass_name(enum tally_pass_kind kind, const struct tally_target *target,
		      bool presented);
/* The name of the `n`-th pass of a device, from 1, whose name or label is `base`. The caller
 * frees it with g_free(). */
char *tally_pass_number_name(const char *base, unsigned n);
/* The length of the first part of a label, which is a path of parts separated by '/'. A '/'
 * next to a blank, to another '/' or at an end of `label` is taken for a character of the
 * program's own text. */
size_t tally_label_part(const char *label);

/* The information in the log about all passes of an id. */
struct tally_named_pass {
	char *label; /* NULL = none */
	char *base; /* generated name without the number */
	char *groups; /* debug groups inside it; NULL = none */
	struct tally_target_size size;
	gboolean seen; /* a pass of it was looked for */
};

struct tally_pass_names {
	GHashTable *passes; /* maps uint64_t * id to struct tally_named_pass * */
	GHashTable *given; /* a person's, by id (cli/log/given_names.h); NULL = none */
	GHashTable *counts; /* maps "device|base" to the count so far */
};

/* For hash tables of data that belongs to a pass of a device. */
struct tally_pass_key {
	uint64_t id;
	uint32_t device;
};
guint tally_pass_key_hash(gconstpointer key);
gboolean tally_pass_key_equal(gconstpointer a, gconstpointer b);

void tally_pass_names_init(struct tally_pass_names *names);
void tally_pass_names_finish(struct tally_pass_names *names);
/* The header's: a person's names for the passes of this program come before all others. */
void tally_pass_names_program(struct tally_pass_names *names, const char *program);
/* A pass_info line: for all passes with that id that come after it. */
void tally_pass_names_add(struct tally_pass_names *names,
			  const struct tally_pass_info_record *info);
/* The information about a pass, at least what its own record contains; valid until the next
 * add(). */
const struct tally_named_pass *
tally_pass_names_find(struct tally_pass_names *names, const struct tally_pass_record *pass);
/* The name that a person gave it; NULL: none. */
const char *
tally_pass_names_given(const struct tally_pass_names *names, const struct tally_pass_record *pass);
/* Its label, or the generated name without a number; valid as above. */
const char *
tally_pass_names_base(struct tally_pass_names *names, const struct tally_pass_record *pass);
/* The name of the next pass with that base: called once for each pass of a device. The caller
 * frees it with g_free(). */
char *tally_pass_names_number(struct tally_pass_names *names, uint32_t device, const char *base);
/* The same for a pass, with the name that a person gave it. Its own is counted all the same, so
 * that giving it one leaves the names of all others. */
char *tally_pass_names_next(struct tally_pass_names *names, uint32_t device,
			    const struct tally_pass_record *pass);

#endif
