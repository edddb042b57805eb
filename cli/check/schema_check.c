#include "cli/check/schema_internal.h"

#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

/* A reference that leads to itself must not take the stack with it. */
#define MAX_DEPTH 512

/* One step of the way from the root, on the stack of who took it: the pointer's text is only made
 * when there is something to say. */
struct step {
	const struct step *up;
	const struct tally_json_node *member; /* NULL: an item */
	size_t index;
};

struct check {
	const struct tally_schema *schema;
	const struct tally_json_tree *tree;
	const struct step *way; /* NULL at the root */
	tally_schema_complain *complain; /* NULL: only the answer matters */
	void *data;
	unsigned depth;
};

static const char *const type_words[TALLY_N_JSON_TYPES] = {
	[TALLY_JSON_NULL] = "null",          [TALLY_JSON_BOOLEAN] = "true or false",
	[TALLY_JSON_NUMBER] = "a number",    [TALLY_JSON_STRING] = "a string",
	[TALLY_JSON_ARRAY] = "an array",     [TALLY_JSON_OBJECT] = "an object",
	[TALLY_JSON_INTEGER] = "an integer",
};

static bool check_rule(struct check *c, const struct tally_schema_rule *rule,
		       const struct tally_json_node *node);

static void
append_step(GString *pointer, const struct step *step)
{
	if (!step)
		return;
	append_step(pointer, step->up);
	g_string_append_c(pointer, '/');
	if (!step->member) {
		g_string_append_printf(pointer, "%zu", step->index);
		return;
	}
	char *raw = g_strndup(step->member->key, step->member->key_len);
	char *printable = tally_text_escape(raw);
	for (const char *p = printable; *p; p++) {
		if (*p == '~' || *p == '/')
			g_string_append(pointer, *p == '~' ? "~0" : "~1");
		else
			g_string_append_c(pointer, *p);
	}
	g_free(printable);
	g_free(raw);
}

static bool violate(struct check *c, const struct tally_json_node *node, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/* Always false, for `return`. */
static bool
violate(struct check *c, const struct tally_json_node *node, const char *format, ...)
{
	if (!c->complain)
		return false;
	va_list args;
	va_start(args, format);
	char *message = g_strdup_vprintf(format, args);
	va_end(args);
	GString *pointer = g_string_new(NULL);
	append_step(pointer, c->way);
	struct tally_violation v = {
		.column = node->column,
		.pointer = pointer->str,
		.message = message,
	};
	c->complain(c->data, &v);
	g_string_free(pointer, TRUE);
	g_free(message);
	return false;
}

/* A value in a message: short and printable. */
static char *
show(const struct tally_json_tree *tree, const struct tally_json_node *node)
{
	char *raw;
	switch (node->type) {
	case TALLY_JSON_NULL:
		return g_strdup("null");
	case TALLY_JSON_BOOLEAN:
		return g_strdup(node->boolean ? "true" : "false");
	case TALLY_JSON_NUMBER:
		if (node->number.storage == TALLY_STORAGE_U64)
			return g_strdup_printf("%" G_GUINT64_FORMAT, node->number.u64);
		return g_strdup_printf("%.17g", tally_value_f64(node->number));
	case TALLY_JSON_STRING:
		raw = g_strndup(node->text.s, node->text.len);
		break;
	default:
		(void)tree;
		return g_strdup(type_words[node->type]);
	}
	char *printable = tally_text_escape(raw);
	char *fit = tally_text_fit(printable, 48);
	char *quoted = g_strdup_printf("\"%s\"", fit);
	g_free(fit);
	g_free(printable);
	g_free(raw);
	return quoted;
}

static bool
is_integer(struct tally_value v)
{
	return v.storage != TALLY_STORAGE_F64 || v.f64 == floor(v.f64);
}

static bool
check_type(struct check *c, const struct tally_schema_rule *rule,
	   const struct tally_json_node *node)
{
	if (!rule->types || rule->types >> node->type & 1)
		return true;
	bool integers = rule->types >> TALLY_JSON_INTEGER & 1;
	if (integers && node->type == TALLY_JSON_NUMBER && is_integer(node->number))
		return true;
	if (!c->complain)
		return false;
	GString *wanted = g_string_new(NULL);
	for (unsigned i = 0; i < TALLY_N_JSON_TYPES; i++)
		if (rule->types >> i & 1)
			g_string_append_printf(wanted, "%s%s", wanted->len ? " or " : "",
					       type_words[i]);
	char *there = show(c->tree, node);
	violate(c, node, "expected %s, found %s", wanted->str, there);
	g_free(there);
	g_string_free(wanted, TRUE);
	return false;
}

static bool
check_choices(struct check *c, const struct tally_schema_rule *rule,
	      const struct tally_json_node *node)
{
	const struct tally_json_tree *st = &c->schema->tree;
	char *there = NULL;
	if (rule->constant && !tally_json_equal(c->tree, node, st, rule->constant)) {
		if (!c->complain)
			return false;
		char *wanted = show(st, rule->constant);
		there = show(c->tree, node);
		violate(c, node, "expected %s, found %s", wanted, there);
		g_free(wanted);
		g_free(there);
		return false;
	}
	if (!rule->choices)
		return true;
	GString *valid = g_string_new(NULL);
	const struct tally_json_node *choice = tally_json_first(st, rule->choices);
	for (; choice; choice = tally_json_next(st, choice)) {
		if (tally_json_equal(c->tree, node, st, choice)) {
			g_string_free(valid, TRUE);
			return true;
		}
		if (!c->complain)
			continue;
		char *word = show(st, choice);
		g_string_append_printf(valid, "%s%s", valid->len ? ", " : "", word);
		g_free(word);
	}
	there = show(c->tree, node);
	violate(c, node, "expected one of %s, found %s", valid->str, there);
	g_free(there);
	g_string_free(valid, TRUE);
	return false;
}

static bool
check_limit(struct check *c, const struct tally_json_node *node,
	    const struct tally_schema_limit *limit, struct tally_value value, int wrong,
	    const char *what, const char *words)
{
	if (!limit->has)
		return true;
	int order = tally_json_compare_numbers(value, limit->value);
	if (order != wrong && !(order == 0 && words[0] == '!'))
		return true;
	return violate(c, node, "expected %s%s %.17g, found %.17g", what, words + (words[0] == '!'),
		       tally_value_f64(limit->value), tally_value_f64(value));
}

static bool
check_number(struct check *c, const struct tally_schema_rule *rule,
	     const struct tally_json_node *node)
{
	struct tally_value v = node->number;
	bool ok = check_limit(c, node, &rule->minimum, v, -1, "a number", " of at least");
	ok &= check_limit(c, node, &rule->maximum, v, 1, "a number", " of at most");
	ok &= check_limit(c, node, &rule->above, v, -1, "a number", "! above");
	ok &= check_limit(c, node, &rule->below, v, 1, "a number", "! below");
	if (rule->multiple_of.has) {
		double step = tally_value_f64(rule->multiple_of.value);
		double parts = tally_value_f64(v) / step;
		if (parts != floor(parts))
			ok = violate(c, node, "expected a multiple of %.17g, found %.17g", step,
				     tally_value_f64(v));
	}
	return ok;
}

static bool
check_count(struct check *c, const struct tally_json_node *node,
	    const struct tally_schema_limit *least, const struct tally_schema_limit *most,
	    uint64_t count, const char *what)
{
	struct tally_value v = { .storage = TALLY_STORAGE_U64, .u64 = count };
	bool ok = check_limit(c, node, least, v, -1, what, ": at least");
	return check_limit(c, node, most, v, 1, what, ": at most") && ok;
}

static bool
matches(const GRegex *regex, const char *text, uint32_t len)
{
	return g_regex_match_full(regex, text, (gssize)len, 0, 0, NULL, NULL);
}

static bool
check_string(struct check *c, const struct tally_schema_rule *rule,
	     const struct tally_json_node *node)
{
	bool ok = true;
	if (rule->min_length.has || rule->max_length.has)
		ok = check_count(c, node, &rule->min_length, &rule->max_length,
				 (uint64_t)g_utf8_strlen(node->text.s, (gssize)node->text.len),
				 "characters");
	if (rule->pattern && !matches(rule->pattern, node->text.s, node->text.len)) {
		char *there = show(c->tree, node);
		ok = violate(c, node, "expected a match of %s, found %s",
			     g_regex_get_pattern(rule->pattern), there);
		g_free(there);
	}
	return ok;
}

static bool
check_items(struct check *c, const struct tally_schema_rule *rule,
	    const struct tally_json_node *node)
{
	bool ok = check_count(c, node, &rule->min_items, &rule->max_items, node->n, "items");
	size_t index = 0;
	bool contained = !rule->contains;
	const struct tally_json_node *item = tally_json_first(c->tree, node);
	for (; item; item = tally_json_next(c->tree, item), index++) {
		const struct tally_schema_rule *own =
			rule->prefix_items && index < rule->prefix_items->len
				? g_ptr_array_index(rule->prefix_items, index)
				: rule->items;
		struct step step = { .up = c->way, .index = index };
		c->way = &step;
		if (own)
			ok &= check_rule(c, own, item);
		if (!contained) {
			struct check silent = *c;
			silent.complain = NULL;
			contained = check_rule(&silent, rule->contains, item);
		}
		const struct tally_json_node *earlier = tally_json_first(c->tree, node);
		for (; rule->unique && earlier != item; earlier = tally_json_next(c->tree, earlier))
			if (tally_json_equal(c->tree, earlier, c->tree, item))
				ok = violate(c, item, "expected no two equal items");
		c->way = step.up;
	}
	if (!contained)
		ok = violate(c, node, "no item is as one of them must be");
	return ok;
}

static bool
check_required(struct check *c, const GArray *required, const struct tally_json_node *node)
{
	bool ok = true;
	for (guint i = 0; i < required->len; i++) {
		const struct tally_schema_property *p = &g_array_index(
			required, struct tally_schema_property, i);
		if (!tally_json_member(c->tree, node, p->key, p->key_len))
			ok = violate(c, node, "expected a member \"%.*s\"", (int)p->key_len,
				     p->key);
	}
	return ok;
}

static const struct tally_schema_property *
find_property(const GArray *properties, const struct tally_json_node *member)
{
	for (guint i = 0; properties && i < properties->len; i++) {
		const struct tally_schema_property *p = &g_array_index(
			properties, struct tally_schema_property, i);
		if (p->key_len == member->key_len && memcmp(p->key, member->key, p->key_len) == 0)
			return p;
	}
	return NULL;
}

static bool
check_member(struct check *c, const struct tally_schema_rule *rule,
	     const struct tally_json_node *member)
{
	bool ok = true, known = false;
	const struct tally_schema_property *p = find_property(rule->properties, member);
	if (p) {
		known = true;
		ok = check_rule(c, p->rule, member);
	}
	for (guint i = 0; rule->pattern_properties && i < rule->pattern_properties->len; i++) {
		p = &g_array_index(rule->pattern_properties, struct tally_schema_property, i);
		if (!matches(p->pattern, member->key, member->key_len))
			continue;
		known = true;
		ok &= check_rule(c, p->rule, member);
	}
	if (!known && rule->additional) {
		if (rule->additional->nothing)
			ok = violate(c, member, "there must be no such member");
		else
			ok &= check_rule(c, rule->additional, member);
	}
	if (rule->names) {
		struct tally_json_node name = {
			.type = TALLY_JSON_STRING,
			.column = member->column,
		};
		name.text.s = member->key;
		name.text.len = member->key_len;
		ok &= check_rule(c, rule->names, &name);
	}
	return ok;
}

static bool
check_members(struct check *c, const struct tally_schema_rule *rule,
	      const struct tally_json_node *node)
{
	bool ok = check_count(c, node, &rule->min_members, &rule->max_members, node->n, "members");
	if (rule->required)
		ok &= check_required(c, rule->required, node);
	for (guint i = 0; rule->dependent && i < rule->dependent->len; i++) {
		const struct tally_schema_property *p = &g_array_index(
			rule->dependent, struct tally_schema_property, i);
		if (tally_json_member(c->tree, node, p->key, p->key_len))
			ok &= check_required(c, p->rule->required, node);
	}
	if (!rule->properties && !rule->pattern_properties && !rule->additional && !rule->names)
		return ok;
	const struct tally_json_node *m = tally_json_first(c->tree, node);
	for (; m; m = tally_json_next(c->tree, m)) {
		struct step step = { .up = c->way, .member = m };
		c->way = &step;
		ok &= check_member(c, rule, m);
		c->way = step.up;
	}
	return ok;
}

static bool
holds(struct check *c, const struct tally_schema_rule *rule, const struct tally_json_node *node)
{
	struct check silent = *c;
	silent.complain = NULL;
	return check_rule(&silent, rule, node);
}

/* Through references, to where the keywords are. */
static const struct tally_schema_rule *
follow(const struct tally_schema_rule *rule)
{
	for (unsigned i = 0; rule->reference && i < MAX_DEPTH; i++)
		rule = rule->reference;
	return rule;
}

/* Alternatives are told apart by a member that is constant in each ("type"): when the line has
 * chosen one that way, say what is wrong with that one. */
static const struct tally_schema_rule *
chosen_branch(struct check *c, const GPtrArray *branches, const struct tally_json_node *node)
{
	for (guint i = 0; i < branches->len; i++) {
		const struct tally_schema_rule *rule = follow(g_ptr_array_index(branches, i));
		for (guint k = 0; rule->properties && k < rule->properties->len; k++) {
			const struct tally_schema_property *p = &g_array_index(
				rule->properties, struct tally_schema_property, k);
			const struct tally_schema_rule *value = follow(p->rule);
			if (!value->constant)
				continue;
			const struct tally_json_node *m = tally_json_member(c->tree, node, p->key,
									    p->key_len);
			if (m && tally_json_equal(c->tree, m, &c->schema->tree, value->constant))
				return rule;
		}
	}
	return NULL;
}

static bool
check_branches(struct check *c, const GPtrArray *branches, bool only_one,
	       const struct tally_json_node *node)
{
	guint n = 0;
	for (guint i = 0; i < branches->len && (only_one || n == 0); i++)
		n += holds(c, g_ptr_array_index(branches, i), node);
	if (n == 1 || (n > 1 && !only_one))
		return true;
	if (n > 1)
		return violate(c, node, "expected one of %u forms, but it has %u of them",
			       branches->len, n);
	const struct tally_schema_rule *chosen = chosen_branch(c, branches, node);
	if (chosen)
		return check_rule(c, chosen, node);
	return violate(c, node, "has none of the %u forms it may have", branches->len);
}

static bool
check_combined(struct check *c, const struct tally_schema_rule *rule,
	       const struct tally_json_node *node)
{
	bool ok = true;
	if (rule->reference)
		ok = check_rule(c, rule->reference, node);
	for (guint i = 0; rule->all_of && i < rule->all_of->len; i++)
		ok &= check_rule(c, g_ptr_array_index(rule->all_of, i), node);
	if (rule->any_of)
		ok &= check_branches(c, rule->any_of, false, node);
	if (rule->one_of)
		ok &= check_branches(c, rule->one_of, true, node);
	if (rule->negated && holds(c, rule->negated, node))
		ok = violate(c, node, "is what it must not be");
	if (rule->if_rule) {
		const struct tally_schema_rule *then = holds(c, rule->if_rule, node)
							       ? rule->then_rule
							       : rule->else_rule;
		if (then)
			ok &= check_rule(c, then, node);
	}
	return ok;
}

static bool
check_rule(struct check *c, const struct tally_schema_rule *rule,
	   const struct tally_json_node *node)
{
	if (rule->nothing)
		return violate(c, node, "nothing may stand here");
	if (c->depth >= MAX_DEPTH)
		return violate(c, node, "the schema refers to itself without end");
	/* What has the wrong type is not looked at further: one mistake, one message. */
	if (!check_type(c, rule, node))
		return false;
	c->depth++;
	bool ok = check_choices(c, rule, node);
	if (node->type == TALLY_JSON_NUMBER)
		ok &= check_number(c, rule, node);
	else if (node->type == TALLY_JSON_STRING)
		ok &= check_string(c, rule, node);
	else if (node->type == TALLY_JSON_ARRAY)
		ok &= check_items(c, rule, node);
	else if (node->type == TALLY_JSON_OBJECT)
		ok &= check_members(c, rule, node);
	ok &= check_combined(c, rule, node);
	c->depth--;
	return ok;
}

bool
tally_schema_check(const struct tally_schema *schema, const struct tally_json_tree *tree,
		   tally_schema_complain *complain, void *data)
{
	struct check c = {
		.schema = schema,
		.tree = tree,
		.complain = complain,
		.data = data,
	};
	return check_rule(&c, schema->root, tree->nodes);
}
