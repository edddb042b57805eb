#include "cli/check/json_tree.h"

#include <glib.h>
#include <string.h>

static uint32_t
new_node(struct tally_json_tree *t)
{
	if (t->n == TALLY_JSON_MAX_NODES) {
		tally_json_fail(&t->reader, t->reader.at, "more than %u values in one line",
				TALLY_JSON_MAX_NODES);
		return UINT32_MAX;
	}
	if (t->n == t->room) {
		t->room = t->room ? t->room * 2 : 256;
		t->nodes = g_renew(struct tally_json_node, t->nodes, t->room);
	}
	t->nodes[t->n] = (struct tally_json_node){ 0 };
	return t->n++;
}

static bool read_node(struct tally_json_tree *t, const struct tally_json_text *key);

/* Children of node `parent` come right behind it; each learns where the next begins. */
static void
link_child(struct tally_json_tree *t, uint32_t parent, uint32_t *last, uint32_t child)
{
	if (*last)
		t->nodes[*last].next = child;
	*last = child;
	t->nodes[parent].n++;
}

static bool
read_object(struct tally_json_tree *t, uint32_t self)
{
	struct tally_json_reader *r = &t->reader;
	struct tally_json_text key;
	uint32_t last = 0;
	size_t base = r->n_keys;
	if (!tally_json_open_object(r))
		return false;
	while (tally_json_next_key(r, &key)) {
		if (!tally_json_push_key(r, &key))
			return false;
		uint32_t child = t->n;
		if (!read_node(t, &key))
			return false;
		link_child(t, self, &last, child);
	}
	return !r->failed && tally_json_check_keys(r, base);
}

static bool
read_array(struct tally_json_tree *t, uint32_t self)
{
	struct tally_json_reader *r = &t->reader;
	uint32_t last = 0;
	if (!tally_json_open_array(r))
		return false;
	while (tally_json_next_item(r)) {
		uint32_t child = t->n;
		if (!read_node(t, NULL))
			return false;
		link_child(t, self, &last, child);
	}
	return !r->failed;
}

static bool
read_node(struct tally_json_tree *t, const struct tally_json_text *key)
{
	struct tally_json_reader *r = &t->reader;
	char first = tally_json_peek(r);
	uint32_t self = new_node(t);
	if (self == UINT32_MAX)
		return false;
	struct tally_json_node *node = &t->nodes[self];
	node->column = (uint32_t)(r->at - r->begin) + 1;
	if (key) {
		node->key = key->s;
		node->key_len = (uint32_t)key->len;
	}
	struct tally_json_text text;
	switch (first) {
	case '{':
		node->type = TALLY_JSON_OBJECT;
		return read_object(t, self);
	case '[':
		node->type = TALLY_JSON_ARRAY;
		return read_array(t, self);
	case '"':
		node->type = TALLY_JSON_STRING;
		if (!tally_json_read_text(r, &text))
			return false;
		node->text.s = text.s;
		node->text.len = (uint32_t)text.len;
		return true;
	case 't':
	case 'f':
		node->type = TALLY_JSON_BOOLEAN;
		return tally_json_read_bool(r, &node->boolean);
	case 'n':
		node->type = TALLY_JSON_NULL;
		return tally_json_read_null(r);
	default:
		node->type = TALLY_JSON_NUMBER;
		return tally_json_read_value(r, &node->number);
	}
}

bool
tally_json_tree_parse(struct tally_json_tree *t, char *line, size_t len)
{
	t->n = 0;
	tally_json_begin(&t->reader, line, len);
	return read_node(t, NULL) && tally_json_end(&t->reader);
}

void
tally_json_tree_finish(struct tally_json_tree *t)
{
	g_free(t->nodes);
	tally_json_finish(&t->reader);
	memset(t, 0, sizeof(*t));
}

const struct tally_json_node *
tally_json_first(const struct tally_json_tree *t, const struct tally_json_node *parent)
{
	(void)t;
	return parent->n ? parent + 1 : NULL;
}

const struct tally_json_node *
tally_json_next(const struct tally_json_tree *t, const struct tally_json_node *node)
{
	return node->next ? &t->nodes[node->next] : NULL;
}

const struct tally_json_node *
tally_json_member(const struct tally_json_tree *t, const struct tally_json_node *object,
		  const char *key, size_t len)
{
	if (object->type != TALLY_JSON_OBJECT)
		return NULL;
	const struct tally_json_node *m = tally_json_first(t, object);
	for (; m; m = tally_json_next(t, m))
		if (m->key_len == len && memcmp(m->key, key, len) == 0)
			return m;
	return NULL;
}

static bool
is_negative(struct tally_value v)
{
	return v.storage == TALLY_STORAGE_I64 && v.i64 < 0;
}

int
tally_json_compare_numbers(struct tally_value a, struct tally_value b)
{
	if (a.storage == TALLY_STORAGE_F64 || b.storage == TALLY_STORAGE_F64) {
		double x = tally_value_f64(a), y = tally_value_f64(b);
		return (x > y) - (x < y);
	}
	if (is_negative(a) != is_negative(b))
		return is_negative(a) ? -1 : 1;
	return (a.u64 > b.u64) - (a.u64 < b.u64);
}

static bool
equal_arrays(const struct tally_json_tree *at, const struct tally_json_node *a,
	     const struct tally_json_tree *bt, const struct tally_json_node *b)
{
	const struct tally_json_node *x = tally_json_first(at, a), *y = tally_json_first(bt, b);
	for (; x && y; x = tally_json_next(at, x), y = tally_json_next(bt, y))
		if (!tally_json_equal(at, x, bt, y))
			return false;
	return !x && !y;
}

static bool
equal_objects(const struct tally_json_tree *at, const struct tally_json_node *a,
	      const struct tally_json_tree *bt, const struct tally_json_node *b)
{
	const struct tally_json_node *x = tally_json_first(at, a);
	for (; x; x = tally_json_next(at, x)) {
		const struct tally_json_node *y = tally_json_member(bt, b, x->key, x->key_len);
		if (!y || !tally_json_equal(at, x, bt, y))
			return false;
	}
	return a->n == b->n;
}

bool
tally_json_equal(const struct tally_json_tree *at, const struct tally_json_node *a,
		 const struct tally_json_tree *bt, const struct tally_json_node *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case TALLY_JSON_BOOLEAN:
		return a->boolean == b->boolean;
	case TALLY_JSON_NUMBER:
		return tally_json_compare_numbers(a->number, b->number) == 0;
	case TALLY_JSON_STRING:
		return a->text.len == b->text.len && memcmp(a->text.s, b->text.s, a->text.len) == 0;
	case TALLY_JSON_ARRAY:
		return equal_arrays(at, a, bt, b);
	case TALLY_JSON_OBJECT:
		return equal_objects(at, a, bt, b);
	default:
		return true;
	}
}
