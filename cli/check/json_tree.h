/* cli/check/json_tree.h - one JSON text as a tree of nodes, for the schema and for what is checked
 * against it.
 *
 * Nodes lie in one array that is used again for the next text; texts point into the line they were
 * read from. Duplicate keys, bad UTF-8 and the like are errors (json/reader.h). One thread.
 */
#ifndef PASSTALLY_CLI_JSON_TREE_H
#define PASSTALLY_CLI_JSON_TREE_H

#include "json/reader.h"

enum tally_json_type {
	TALLY_JSON_NULL = 0,
	TALLY_JSON_BOOLEAN,
	TALLY_JSON_NUMBER,
	TALLY_JSON_STRING,
	TALLY_JSON_ARRAY,
	TALLY_JSON_OBJECT,
	TALLY_JSON_INTEGER, /* only as a word of schemas: a NUMBER without a fraction */
	TALLY_N_JSON_TYPES,
};

struct tally_json_node {
	enum tally_json_type type;
	uint32_t next; /* index of the next sibling, 0 = last */
	uint32_t n; /* children; the first, if any, follows the node */
	uint32_t column; /* from 1 */
	const char *key; /* NULL outside objects */
	uint32_t key_len;
	union {
		bool boolean;
		struct tally_value number;
		struct {
			const char *s;
			uint32_t len;
		} text;
	};
};

#define TALLY_JSON_MAX_NODES (16u << 20)

struct tally_json_tree {
	struct tally_json_node *nodes; /* the first is the root */
	uint32_t n, room;
	struct tally_json_reader reader;
};

/* Zero a tree before first use. `line` is written to; see tally_json_begin() for the room behind
 * it. False: reader.message and reader.where tell. */
bool tally_json_tree_parse(struct tally_json_tree *tree, char *line, size_t len);
void tally_json_tree_finish(struct tally_json_tree *tree);

/* The member of an object, or NULL. */
const struct tally_json_node *
tally_json_member(const struct tally_json_tree *tree, const struct tally_json_node *object,
		  const char *key, size_t len);
/* The first child, and the one after: NULL at the end. */
const struct tally_json_node *
tally_json_first(const struct tally_json_tree *tree, const struct tally_json_node *parent);
const struct tally_json_node *
tally_json_next(const struct tally_json_tree *tree, const struct tally_json_node *node);
/* As JSON Schema has it: 1 and 1.0 are equal, members may come in any order. */
bool tally_json_equal(const struct tally_json_tree *a_tree, const struct tally_json_node *a,
		      const struct tally_json_tree *b_tree, const struct tally_json_node *b);
int tally_json_compare_numbers(struct tally_value a, struct tally_value b);

#endif
