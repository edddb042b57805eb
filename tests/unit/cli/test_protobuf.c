/* SPDX-License-Identifier: MIT */
#include "cli/export/protobuf.h"

#include <glib.h>
#include <string.h>

static void
check(struct tally_protobuf *p, const char *want, size_t len)
{
	g_assert_cmpmem(p->bytes, p->len, want, len);
	tally_protobuf_finish(p);
}
#define CHECK(p, literal) check(p, literal, sizeof(literal) - 1)

static void
test_numbers(void)
{
	/* The encodings that the format's own guide gives, and the ends of the range. */
	static const struct {
		uint32_t field;
		uint64_t v;
		const char *want;
		size_t len;
	} cases[] = {
		{ 1, 150, "\x08\x96\x01", 3 },
		{ 1, 0, "\x08\x00", 2 },
		{ 15, 127, "\x78\x7f", 2 },
		{ 16, 128, "\x80\x01\x80\x01", 4 },
		{ 2, UINT64_MAX, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
		{ 2, (uint64_t)INT64_C(-2), "\x10\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
		{ 536870911, 1, "\xf8\xff\xff\xff\x0f\x01", 6 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct tally_protobuf p = { 0 };
		tally_protobuf_put_number(&p, cases[i].field, cases[i].v);
		check(&p, cases[i].want, cases[i].len);
	}
}

static void
test_others(void)
{
	struct tally_protobuf p = { 0 };
	tally_protobuf_put_text(&p, 2, "testing");
	tally_protobuf_put_text(&p, 2, "");
	tally_protobuf_put_double(&p, 3, 1.0);
	CHECK(&p, "\x12\x07testing\x12\x00\x19\x00\x00\x00\x00\x00\x00\xf0\x3f");
}

static void
test_nested(void)
{
	struct tally_protobuf p = { 0 };
	tally_protobuf_begin(&p, 3);
	tally_protobuf_put_number(&p, 1, 150);
	tally_protobuf_begin(&p, 4);
	tally_protobuf_end(&p);
	tally_protobuf_end(&p);
	tally_protobuf_put_number(&p, 5, 1);
	CHECK(&p, "\x1a\x05\x08\x96\x01\x22\x00\x28\x01");
}

/* Lengths of one, two and three bytes, in messages that are moved when the outer length grows. */
static void
test_long_messages(void)
{
	static const size_t lengths[] = { 1, 125, 126, 127, 128, 16381, 16384, 70000 };
	for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++) {
		char *text = g_strnfill(lengths[i], 'x');
		struct tally_protobuf p = { 0 };
		tally_protobuf_put_number(&p, 7, 9); /* must stay in place */
		tally_protobuf_begin(&p, 1);
		tally_protobuf_begin(&p, 2);
		tally_protobuf_put_text(&p, 3, text);
		tally_protobuf_end(&p);
		tally_protobuf_end(&p);
		g_assert_cmpmem(p.bytes, 2, "\x38\x09", 2);
		/* Unwraps it: tag, length, rest; each length equals exactly what is left. */
		size_t at = 2;
		static const uint8_t tags[] = { 0x0a, 0x12, 0x1a };
		for (size_t t = 0; t < G_N_ELEMENTS(tags); t++) {
			g_assert_cmpuint(p.bytes[at], ==, tags[t]);
			at++;
			size_t len = 0;
			for (unsigned shift = 0;; shift += 7) {
				uint8_t byte = p.bytes[at++];
				len |= (size_t)(byte & 0x7f) << shift;
				if (!(byte & 0x80)) {
					g_assert_true(byte != 0 || shift == 0); /* shortest */
					break;
				}
			}
			g_assert_cmpuint(len, ==, p.len - at);
		}
		g_assert_cmpmem(p.bytes + at, p.len - at, text, lengths[i]);
		g_free(text);
		tally_protobuf_finish(&p);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/protobuf/numbers", test_numbers);
	g_test_add_func("/protobuf/others", test_others);
	g_test_add_func("/protobuf/nested", test_nested);
	g_test_add_func("/protobuf/long-messages", test_long_messages);
	return g_test_run();
}
