/* cli/check/schema_check.h - is a line what the JSON Schema says it must be?
 *
 * Interprets the validation keywords of JSON Schema 2020-12 that describe trees of plain values:
 * type, enum, const, the limits on numbers, strings, arrays and objects, pattern, required,
 * properties, patternProperties, additionalProperties, propertyNames, dependentRequired, items,
 * prefixItems, contains, uniqueItems, allOf, anyOf, oneOf, not, if/then/else and $ref within the
 * document. A schema with any other keyword that could forbid something is refused, never half
 * understood. One thread.
 */
#ifndef PASSTALLY_CLI_SCHEMA_CHECK_H
#define PASSTALLY_CLI_SCHEMA_CHECK_H

#include "cli/check/json_tree.h"

struct tally_schema;

/* `text` is copied. NULL: `why` tells what is not understood. */
struct tally_schema *tally_schema_create(const char *text, size_t len, char *why, size_t size);
void tally_schema_destroy(struct tally_schema *schema);

/* One thing that is not as it must be. */
struct tally_violation {
	uint32_t column; /* from 1 */
	const char *pointer; /* JSON pointer to the value; "" is the whole line */
	const char *message; /* what was expected and what is there */
};
typedef void tally_schema_complain(void *data, const struct tally_violation *violation);

/* True: the tree's root is as it must be. The strings of a violation live as long as the call. */
bool tally_schema_check(const struct tally_schema *schema, const struct tally_json_tree *tree,
			tally_schema_complain *complain, void *data);

#endif
