#include "cli/check/schema_check.h"
#include "cli/check/schema_text.h"

#include <glib.h>
#include <string.h>

struct seen {
	unsigned n;
	char first[512];
	unsigned column;
};

static void
note(void *data, const struct tally_violation *v)
{
	struct seen *seen = data;
	if (seen->n++ == 0) {
		g_snprintf(seen->first, sizeof(seen->first), "%s: %s", v->pointer, v->message);
		seen->column = v->column;
	}
}

/* The line is copied to where the reader may write behind and into it. */
static bool
check(const struct tally_schema *schema, const char *line, struct seen *seen)
{
	size_t len = strlen(line);
	char *copy = g_malloc0(len + TALLY_JSON_PADDING + 1);
	memcpy(copy, line, len);
	struct tally_json_tree tree = { 0 };
	*seen = (struct seen){ 0 };
	bool parsed = tally_json_tree_parse(&tree, copy, len);
	g_assert_true(parsed);
	bool ok = tally_schema_check(schema, &tree, note, seen);
	g_assert_cmpint(ok, ==, seen->n == 0);
	tally_json_tree_finish(&tree);
	g_free(copy);
	return ok;
}

/* NULL in `want`: the line is as the schema wants it; else what the first violation says. */
static const struct {
	const char *schema, *line, *want;
} cases[] = {
	{ "true", "{}", NULL },
	{ "false", "{}", "nothing may stand here" },
	{ "{\"type\":\"object\"}", "{}", NULL },
	{ "{\"type\":\"object\"}", "[1]", ": expected an object, found an array" },
	{ "{\"type\":\"integer\"}", "3", NULL },
	{ "{\"type\":\"integer\"}", "3.0", NULL },
	{ "{\"type\":\"integer\"}", "3.5", "expected an integer, found 3.5" },
	{ "{\"type\":[\"string\",\"null\"]}", "null", NULL },
	{ "{\"type\":[\"string\",\"null\"]}", "7", "expected null or a string, found 7" },
	{ "{\"const\":\"a\"}", "\"a\"", NULL },
	{ "{\"const\":\"a\"}", "\"b\"", "expected \"a\", found \"b\"" },
	{ "{\"enum\":[1,\"x\",null]}", "1.0", NULL },
	{ "{\"enum\":[1,\"x\",null]}", "2", "expected one of 1, \"x\", null, found 2" },
	{ "{\"minimum\":0}", "-1", "at least 0, found -1" },
	{ "{\"minimum\":0}", "0", NULL },
	{ "{\"exclusiveMinimum\":0}", "0", "above 0, found 0" },
	{ "{\"exclusiveMinimum\":0}", "0.5", NULL },
	{ "{\"maximum\":18446744073709551615}", "18446744073709551615", NULL },
	{ "{\"maximum\":1}", "1.5", "at most 1, found 1.5" },
	{ "{\"multipleOf\":5}", "12", "a multiple of 5, found 12" },
	{ "{\"minLength\":2}", "\"\xc3\xa9\"", "characters: at least 2, found 1" },
	{ "{\"maxLength\":1}", "\"\xc3\xa9\"", NULL },
	{ "{\"pattern\":\"^[0-9a-f]{16}$\"}", "\"00000000000000aa\"", NULL },
	{ "{\"pattern\":\"^[0-9a-f]{2}$\"}", "\"aa\\n\"", "expected a match of" },
	{ "{\"pattern\":\"^a\"}", "5", NULL },
	{ "{\"pattern\":\"^[^\\\\u0000]*$\"}", "\"ab\"", NULL },
	{ "{\"pattern\":\"^[^\\\\u0000]*$\"}", "\"a\\u0000b\"", "expected a match" },
	{ "{\"pattern\":\"^\\\\\\\\u\\\\.$\"}", "\"\\\\u.\"", NULL },
	{ "{\"required\":[\"a\"]}", "{\"b\":1}", "expected a member \"a\"" },
	{ "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}",
	  "/a: expected a string, found 1" },
	{ "{\"properties\":{\"a\":{\"items\":{\"type\":\"null\"}}}}", "{\"a\":[null,2]}", "/a/1:" },
	{ "{\"properties\":{\"a/b~\":false}}", "{\"a/b~\":1}", "/a~1b~0:" },
	{ "{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{\"a\":1,\"b\":2}",
	  "/b: there must be no such member" },
	{ "{\"additionalProperties\":{\"type\":\"number\"}}", "{\"a\":1,\"b\":2}", NULL },
	{ "{\"patternProperties\":{\"_ns$\":{\"minimum\":1}}}", "{\"gpu_ns\":0}", "/gpu_ns:" },
	{ "{\"patternProperties\":{\"^x\":true},\"additionalProperties\":false}", "{\"xy\":0}",
	  NULL },
	{ "{\"propertyNames\":{\"pattern\":\"^[a-z]+$\"}}", "{\"A\":0}", "/A:" },
	{ "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":0}", "expected a member \"b\"" },
	{ "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"c\":0}", NULL },
	{ "{\"minItems\":2}", "[1]", "items: at least 2, found 1" },
	{ "{\"maxProperties\":1}", "{\"a\":1,\"b\":1}", "members: at most 1, found 2" },
	{ "{\"prefixItems\":[{\"type\":\"null\"}],\"items\":{\"type\":\"number\"}}", "[null,1,2]",
	  NULL },
	{ "{\"prefixItems\":[{\"type\":\"null\"}],\"items\":false}", "[null,1]",
	  "/1: nothing may" },
	{ "{\"contains\":{\"const\":3}}", "[1,2,3]", NULL },
	{ "{\"contains\":{\"const\":3}}", "[1,2]", "no item is as one" },
	{ "{\"uniqueItems\":true}", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1.0}]", "no two equal" },
	{ "{\"uniqueItems\":true}", "[1,2,\"1\"]", NULL },
	{ "{\"not\":{\"type\":\"null\"}}", "null", "is what it must not be" },
	{ "{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":5}]}", "7", NULL },
	{ "{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":5}]}", "4", "none of the 2 forms" },
	{ "{\"oneOf\":[{\"minimum\":1},{\"minimum\":5}]}", "7", "but it has 2 of them" },
	{ "{\"oneOf\":[{\"properties\":{\"type\":{\"const\":\"a\"},\"n\":{\"type\":\"null\"}}},"
	  "{\"properties\":{\"type\":{\"const\":\"b\"},\"n\":{\"type\":\"number\"}}}]}",
	  "{\"type\":\"b\",\"n\":\"x\"}", "/n: expected a number, found \"x\"" },
	{ "{\"allOf\":[{\"minimum\":1},{\"maximum\":3}]}", "4", "at most 3" },
	{ "{\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":1},\"else\":{\"minimum\":1}}",
	  "\"\"", "characters: at least 1" },
	{ "{\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":1},\"else\":{\"minimum\":1}}", "0",
	  "at least 1, found 0" },
	{ "{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"type\":\"null\"}}}", "null", NULL },
	{ "{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"type\":\"null\"}}}", "1", "expected null" },
	{ "{\"properties\":{\"next\":{\"$ref\":\"#\"}},\"required\":[\"v\"]}",
	  "{\"v\":1,\"next\":{\"v\":2,\"next\":{}}}", "/next/next: expected a member \"v\"" },
	{ "{\"$ref\":\"#\"}", "1", "refers to itself without end" },
};

static void
test_keywords(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char why[256] = "";
		g_test_message("%s against %s", cases[i].line, cases[i].schema);
		struct tally_schema *schema = tally_schema_create(
			cases[i].schema, strlen(cases[i].schema), why, sizeof(why));
		g_assert_cmpstr(why, ==, "");
		g_assert_nonnull(schema);
		struct seen seen;
		bool ok = check(schema, cases[i].line, &seen);
		g_assert_cmpint(ok, ==, cases[i].want == NULL);
		if (cases[i].want && !strstr(seen.first, cases[i].want))
			g_error("said \"%s\", wanted \"%s\"", seen.first, cases[i].want);
		tally_schema_destroy(schema);
	}
}

static const struct {
	const char *schema, *want;
} refused[] = {
	{ "{", "not JSON" },
	{ "3", "neither a schema" },
	{ "{\"type\":\"strnig\"}", "names no type" },
	{ "{\"minimum\":\"1\"}", "is not a number" },
	{ "{\"pattern\":\"(\"}", "no pattern" },
	{ "{\"unevaluatedProperties\":false}", "not understood" },
	{ "{\"properties\":{\"a\":{\"requird\":[]}}}", "not understood" },
	{ "{\"$ref\":\"#/$defs/missing\"}", "points to nothing" },
	{ "{\"$ref\":\"other.json\"}", "does not point into" },
	{ "{\"allOf\":[]}", "not a list of schemas" },
	{ "{\"required\":[1]}", "not a list of names" },
};

static void
test_refused(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
		char why[256] = "";
		struct tally_schema *schema = tally_schema_create(
			refused[i].schema, strlen(refused[i].schema), why, sizeof(why));
		g_assert_null(schema);
		if (!strstr(why, refused[i].want))
			g_error("%s: said \"%s\"", refused[i].schema, why);
	}
}

static void
test_place(void)
{
	char why[256];
	static const char text[] = "{\"properties\":{\"a\":{\"items\":{\"type\":\"null\"}}}}";
	struct tally_schema *schema = tally_schema_create(text, strlen(text), why, sizeof(why));
	struct seen seen;
	g_assert_false(check(schema, "{\"a\":[null, 5,true]}", &seen));
	g_assert_cmpuint(seen.n, ==, 2);
	g_assert_cmpuint(seen.column, ==, 13);
	tally_schema_destroy(schema);
}

/* The schema that ships is understood whole, and says no to what is no log line. */
static void
test_shipped(void)
{
	char why[256] = "";
	struct tally_schema *schema = tally_schema_create(tally_schema_text, tally_schema_text_len,
							  why, sizeof(why));
	g_assert_cmpstr(why, ==, "");
	struct seen seen;
	static const char *const bad[] = {
		"[]",
		"{}",
		"{\"type\":5}",
		"{\"type\":\"note\"}",
		"{\"type\":\"note\",\"level\":\"loud\",\"message\":\"m\",\"source\":\"s\"}",
		"{\"type\":\"end\",\"frames\":-1}",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_test_message("%s", bad[i]);
		g_assert_false(check(schema, bad[i], &seen));
	}
	bool ok = check(schema,
			"{\"type\":\"note\",\"level\":\"warning\",\"message\":\"m\",\"source\":"
			"\"s\"}",
			&seen);
	g_assert_cmpstr(seen.first, ==, "");
	g_assert_true(ok);
	tally_schema_destroy(schema);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/schema-check/keywords", test_keywords);
	g_test_add_func("/schema-check/refused", test_refused);
	g_test_add_func("/schema-check/place", test_place);
	g_test_add_func("/schema-check/shipped", test_shipped);
	return g_test_run();
}
