#include "cli/check/schema_internal.h"

#include <math.h>
#include <string.h>

struct compile {
	struct tally_schema *schema;
	char *why;
	size_t size;
	bool failed;
};

static void
fail(struct compile *c, const struct tally_json_node *node, const char *message)
{
	if (!c->failed)
		g_snprintf(c->why, (gulong)c->size, "the schema's \"%.*s\" (byte %u) %s",
			   node->key ? (int)node->key_len : 1, node->key ? node->key : "?",
			   node->column, message);
	c->failed = true;
}

static bool
text_is(const struct tally_json_node *node, const char *word)
{
	return node->type == TALLY_JSON_STRING && strlen(word) == node->text.len &&
	       memcmp(node->text.s, word, node->text.len) == 0;
}

static struct tally_schema_rule *
compile_rule(struct compile *c, const struct tally_json_node *node);

/* Keywords, one function for each shape of value */

static void
take_types(struct compile *c, struct tally_schema_rule *rule, const struct tally_json_node *value)
{
	static const char *const words[TALLY_N_JSON_TYPES] = {
		[TALLY_JSON_NULL] = "null",       [TALLY_JSON_BOOLEAN] = "boolean",
		[TALLY_JSON_NUMBER] = "number",   [TALLY_JSON_STRING] = "string",
		[TALLY_JSON_ARRAY] = "array",     [TALLY_JSON_OBJECT] = "object",
		[TALLY_JSON_INTEGER] = "integer",
	};
	const struct tally_json_tree *t = &c->schema->tree;
	const struct tally_json_node *word = value->type == TALLY_JSON_ARRAY
						     ? tally_json_first(t, value)
						     : value;
	for (; word; word = value == word ? NULL : tally_json_next(t, word)) {
		unsigned found = 0;
		for (unsigned i = 0; i < TALLY_N_JSON_TYPES; i++)
			found |= text_is(word, words[i]) ? 1u << i : 0;
		if (!found)
			fail(c, value, "names no type");
		rule->types |= found;
	}
}

static void
take_limit(struct compile *c, struct tally_schema_limit *limit, const struct tally_json_node *value)
{
	if (value->type != TALLY_JSON_NUMBER)
		fail(c, value, "is not a number");
	limit->has = true;
	limit->value = value->number;
}

/* Schemas spell a character \uXXXX, PCRE \x{XXXX}; all else that is used means the same. */
static char *
to_pcre(const char *text, uint32_t len)
{
	GString *out = g_string_new(NULL);
	for (uint32_t i = 0; i < len; i++) {
		if (text[i] == '\\' && len - i >= 6 && text[i + 1] == 'u') {
			g_string_append_printf(out, "\\x{%.4s}", text + i + 2);
			i += 5;
		} else {
			g_string_append_c(out, text[i]);
			if (text[i] == '\\' && i + 1 < len)
				g_string_append_c(out, text[++i]);
		}
	}
	return g_string_free(out, FALSE);
}

static GRegex *
take_pattern(struct compile *c, const struct tally_json_node *at, const char *text, uint32_t len)
{
	char *pattern = to_pcre(text, len);
	GRegex *regex = g_regex_new(pattern, G_REGEX_OPTIMIZE | G_REGEX_DOLLAR_ENDONLY, 0, NULL);
	g_free(pattern);
	if (!regex)
		fail(c, at, "is no pattern that can be read");
	return regex;
}

static GPtrArray *
take_rules(struct compile *c, const struct tally_json_node *value)
{
	GPtrArray *rules = g_ptr_array_new();
	if (value->type != TALLY_JSON_ARRAY || value->n == 0)
		fail(c, value, "is not a list of schemas");
	else
		for (const struct tally_json_node *n = tally_json_first(&c->schema->tree, value); n;
		     n = tally_json_next(&c->schema->tree, n))
			g_ptr_array_add(rules, compile_rule(c, n));
	return rules;
}

static GArray *
take_properties(struct compile *c, const struct tally_json_node *value, bool patterns)
{
	GArray *properties = g_array_new(FALSE, TRUE, sizeof(struct tally_schema_property));
	if (value->type != TALLY_JSON_OBJECT) {
		fail(c, value, "is not an object");
		return properties;
	}
	for (const struct tally_json_node *n = tally_json_first(&c->schema->tree, value); n;
	     n = tally_json_next(&c->schema->tree, n)) {
		struct tally_schema_property p = { .key = n->key, .key_len = n->key_len };
		if (patterns)
			p.pattern = take_pattern(c, n, n->key, n->key_len);
		p.rule = compile_rule(c, n);
		g_array_append_val(properties, p);
	}
	return properties;
}

static GArray *
take_names(struct compile *c, const struct tally_json_node *value)
{
	GArray *names = g_array_new(FALSE, TRUE, sizeof(struct tally_schema_property));
	if (value->type != TALLY_JSON_ARRAY) {
		fail(c, value, "is not a list of names");
		return names;
	}
	for (const struct tally_json_node *n = tally_json_first(&c->schema->tree, value); n;
	     n = tally_json_next(&c->schema->tree, n)) {
		if (n->type != TALLY_JSON_STRING) {
			fail(c, value, "is not a list of names");
			break;
		}
		struct tally_schema_property p = { .key = n->text.s, .key_len = n->text.len };
		g_array_append_val(names, p);
	}
	return names;
}

/* {"a": ["b"]}: where a is, b must be. */
static GArray *
take_dependent(struct compile *c, const struct tally_json_node *value)
{
	GArray *all = g_array_new(FALSE, TRUE, sizeof(struct tally_schema_property));
	if (value->type != TALLY_JSON_OBJECT) {
		fail(c, value, "is not an object");
		return all;
	}
	for (const struct tally_json_node *n = tally_json_first(&c->schema->tree, value); n;
	     n = tally_json_next(&c->schema->tree, n)) {
		struct tally_schema_rule *rule = g_new0(struct tally_schema_rule, 1);
		g_ptr_array_add(c->schema->rules, rule);
		rule->compiled = true;
		rule->required = take_names(c, n);
		struct tally_schema_property p = { n->key, n->key_len, NULL, rule };
		g_array_append_val(all, p);
	}
	return all;
}

/* "#", "#/$defs/name": a JSON pointer into this document. */
static struct tally_schema_rule *
take_reference(struct compile *c, const struct tally_json_node *value)
{
	if (value->type != TALLY_JSON_STRING || value->text.len == 0 || value->text.s[0] != '#') {
		fail(c, value, "does not point into this document");
		return NULL;
	}
	const struct tally_json_node *node = c->schema->tree.nodes;
	char *path = g_strndup(value->text.s + 1, value->text.len - 1);
	char **parts = g_strsplit(path, "/", -1);
	for (char **p = parts[0] ? parts + 1 : parts; *p && node; p++)
		node = tally_json_member(&c->schema->tree, node, *p, strlen(*p));
	g_strfreev(parts);
	g_free(path);
	if (!node) {
		fail(c, value, "points to nothing");
		return NULL;
	}
	return compile_rule(c, node);
}

/* Keywords that only describe. */
static bool
is_annotation(const struct tally_json_node *value)
{
	static const char *const words[] = {
		"$schema",          "$id",      "$comment",   "$defs",
		"definitions",      "$anchor",  "title",      "description",
		"default",          "examples", "deprecated", "readOnly",
		"writeOnly",        "format",   "unit",       "contentEncoding",
		"contentMediaType",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (strlen(words[i]) == value->key_len &&
		    memcmp(words[i], value->key, value->key_len) == 0)
			return true;
	return value->key_len > 2 && memcmp(value->key, "x-", 2) == 0;
}

/* Keywords whose value is a schema. */
static const struct tally_schema_rule **
rule_place(struct tally_schema_rule *rule, const char *key)
{
	const struct {
		const char *key;
		const struct tally_schema_rule **place;
	} places[] = {
		{ "additionalProperties", &rule->additional },
		{ "propertyNames", &rule->names },
		{ "items", &rule->items },
		{ "contains", &rule->contains },
		{ "not", &rule->negated },
		{ "if", &rule->if_rule },
		{ "then", &rule->then_rule },
		{ "else", &rule->else_rule },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
		if (strcmp(places[i].key, key) == 0)
			return places[i].place;
	return NULL;
}

static struct tally_schema_limit *
limit_place(struct tally_schema_rule *rule, const char *key)
{
	const struct {
		const char *key;
		struct tally_schema_limit *place;
	} places[] = {
		{ "minimum", &rule->minimum },           { "maximum", &rule->maximum },
		{ "exclusiveMinimum", &rule->above },    { "exclusiveMaximum", &rule->below },
		{ "multipleOf", &rule->multiple_of },    { "minLength", &rule->min_length },
		{ "maxLength", &rule->max_length },      { "minItems", &rule->min_items },
		{ "maxItems", &rule->max_items },        { "minProperties", &rule->min_members },
		{ "maxProperties", &rule->max_members },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
		if (strcmp(places[i].key, key) == 0)
			return places[i].place;
	return NULL;
}

static void
take_keyword(struct compile *c, struct tally_schema_rule *rule, const struct tally_json_node *value)
{
	char *key = g_strndup(value->key, value->key_len);
	struct tally_schema_limit *limit = limit_place(rule, key);
	const struct tally_schema_rule **nested = rule_place(rule, key);
	if (limit)
		take_limit(c, limit, value);
	else if (nested)
		*nested = compile_rule(c, value);
	else if (strcmp(key, "type") == 0)
		take_types(c, rule, value);
	else if (strcmp(key, "const") == 0)
		rule->constant = value;
	else if (strcmp(key, "enum") == 0 && value->type == TALLY_JSON_ARRAY)
		rule->choices = value;
	else if (strcmp(key, "pattern") == 0 && value->type == TALLY_JSON_STRING)
		rule->pattern = take_pattern(c, value, value->text.s, value->text.len);
	else if (strcmp(key, "uniqueItems") == 0 && value->type == TALLY_JSON_BOOLEAN)
		rule->unique = value->boolean;
	else if (strcmp(key, "properties") == 0)
		rule->properties = take_properties(c, value, false);
	else if (strcmp(key, "patternProperties") == 0)
		rule->pattern_properties = take_properties(c, value, true);
	else if (strcmp(key, "required") == 0)
		rule->required = take_names(c, value);
	else if (strcmp(key, "dependentRequired") == 0)
		rule->dependent = take_dependent(c, value);
	else if (strcmp(key, "prefixItems") == 0)
		rule->prefix_items = take_rules(c, value);
	else if (strcmp(key, "allOf") == 0)
		rule->all_of = take_rules(c, value);
	else if (strcmp(key, "anyOf") == 0)
		rule->any_of = take_rules(c, value);
	else if (strcmp(key, "oneOf") == 0)
		rule->one_of = take_rules(c, value);
	else if (strcmp(key, "$ref") == 0)
		rule->reference = take_reference(c, value);
	else if (!is_annotation(value))
		fail(c, value, "is a keyword that is not understood here");
	g_free(key);
}

static struct tally_schema_rule *
compile_rule(struct compile *c, const struct tally_json_node *node)
{
	/* A schema may refer to itself: the rule is known before its parts are. */
	struct tally_schema_rule *rule = g_hash_table_lookup(c->schema->by_node, node);
	if (rule)
		return rule;
	rule = g_new0(struct tally_schema_rule, 1);
	rule->at = node;
	g_ptr_array_add(c->schema->rules, rule);
	g_hash_table_insert(c->schema->by_node, (gpointer)node, rule);
	if (node->type == TALLY_JSON_BOOLEAN) {
		rule->nothing = !node->boolean;
	} else if (node->type == TALLY_JSON_OBJECT) {
		const struct tally_json_node *m = tally_json_first(&c->schema->tree, node);
		for (; m && !c->failed; m = tally_json_next(&c->schema->tree, m))
			take_keyword(c, rule, m);
	} else {
		fail(c, node, "is neither a schema nor true or false");
	}
	rule->compiled = true;
	return rule;
}

static void
free_properties(GArray *properties)
{
	if (!properties)
		return;
	for (guint i = 0; i < properties->len; i++) {
		GRegex *regex = g_array_index(properties, struct tally_schema_property, i).pattern;
		if (regex)
			g_regex_unref(regex);
	}
	g_array_unref(properties);
}

static void
free_rule(gpointer p)
{
	struct tally_schema_rule *rule = p;
	free_properties(rule->properties);
	free_properties(rule->pattern_properties);
	free_properties(rule->required);
	free_properties(rule->dependent);
	GPtrArray *lists[] = { rule->prefix_items, rule->all_of, rule->any_of, rule->one_of };
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		if (lists[i])
			g_ptr_array_unref(lists[i]);
	if (rule->pattern)
		g_regex_unref(rule->pattern);
	g_free(rule);
}

struct tally_schema *
tally_schema_create(const char *text, size_t len, char *why, size_t size)
{
	struct tally_schema *s = g_new0(struct tally_schema, 1);
	s->rules = g_ptr_array_new_with_free_func(free_rule);
	s->by_node = g_hash_table_new(NULL, NULL);
	s->text = g_malloc0(len + TALLY_JSON_PADDING + 1);
	/* The reader takes one line; no string holds a raw newline, so all of them are blanks. */
	for (size_t i = 0; i < len; i++)
		s->text[i] = text[i] == '\n' || text[i] == '\r' || text[i] == '\t' ? ' ' : text[i];
	struct compile c = { .schema = s, .why = why, .size = size };
	if (!tally_json_tree_parse(&s->tree, s->text, len)) {
		g_snprintf(why, (gulong)size, "the schema is not JSON: byte %zu: %s",
			   (size_t)(s->tree.reader.where - s->tree.reader.begin) + 1,
			   s->tree.reader.message);
		c.failed = true;
	} else {
		s->root = compile_rule(&c, s->tree.nodes);
	}
	if (!c.failed)
		return s;
	tally_schema_destroy(s);
	return NULL;
}

void
tally_schema_destroy(struct tally_schema *s)
{
	if (!s)
		return;
	g_ptr_array_unref(s->rules);
	g_hash_table_destroy(s->by_node);
	tally_json_tree_finish(&s->tree);
	g_free(s->text);
	g_free(s);
}
