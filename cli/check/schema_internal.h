/* cli/check/schema_internal.h - a schema taken apart, between schema_compile.c and schema_check.c.
 *
 * Every pointer to a rule may be NULL: no such keyword. Rules are made once and never change.
 */
#ifndef PASSTALLY_CLI_SCHEMA_INTERNAL_H
#define PASSTALLY_CLI_SCHEMA_INTERNAL_H

#include "cli/check/schema_check.h"

#include <glib.h>

struct tally_schema_rule;

/* A property's or a pattern's rule. */
struct tally_schema_property {
	const char *key;
	uint32_t key_len;
	GRegex *pattern; /* patternProperties */
	const struct tally_schema_rule *rule;
};

/* A limit on a number; `has` false: none. */
struct tally_schema_limit {
	bool has;
	struct tally_value value;
};

struct tally_schema_rule {
	const struct tally_json_node *at; /* where in the schema */
	bool compiled;
	bool nothing; /* the schema `false` */
	unsigned types; /* bit per tally_json_type, 0 = any */
	const struct tally_json_node *constant, *choices;
	struct tally_schema_limit minimum, maximum, above, below, multiple_of;
	struct tally_schema_limit min_length, max_length, min_items, max_items, min_members,
		max_members;
	GRegex *pattern;
	bool unique;
	GArray *properties; /* of struct tally_schema_property */
	GArray *pattern_properties; /* the same */
	GArray *required; /* of struct tally_schema_property, rule NULL */
	GArray *dependent; /* the same; `rule` holds what it requires */
	GPtrArray *prefix_items, *all_of, *any_of, *one_of;
	const struct tally_schema_rule *additional, *names, *items, *contains, *negated, *if_rule,
		*then_rule, *else_rule, *reference;
};

struct tally_schema {
	char *text; /* the copy that the tree points into */
	struct tally_json_tree tree;
	GPtrArray *rules; /* owned */
	GHashTable *by_node; /* const struct tally_json_node * -> struct tally_schema_rule * */
	const struct tally_schema_rule *root;
};

#endif
