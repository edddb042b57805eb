/* SPDX-License-Identifier: MIT */
#include "json/decode.h"

#include "json/record_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 4096u

void
tally_decoder_finish(struct tally_decoder *d)
{
	/* The union of arrays and their names is the last member. */
	_Static_assert(offsetof(struct tally_decoder, arrays) + sizeof(d->arrays) ==
			       sizeof(struct tally_decoder),
		       "TALLY_N_ARRAYS");
	for (unsigned i = 0; i < TALLY_N_ARRAYS; i++)
		free(d->arrays[i].items);
	tally_words_finish(&d->words);
	tally_numbers_finish(&d->ids);
	tally_numbers_finish(&d->devices);
}

void
tally_decoder_begin_line(struct tally_decoder *d)
{
	for (unsigned i = 0; i < TALLY_N_ARRAYS; i++)
		d->arrays[i].n = 0;
}

bool
tally_array_grow(struct tally_decoder *d, struct tally_array *array, size_t n, size_t size)
{
	size_t room = 2 * array->max * size + FIRST_SIZE + n * size;
	void *items = room / size <= UINT32_MAX ? realloc(array->items, room) : NULL;
	if (!items)
		return tally_json_fail_memory(&d->json);
	array->items = items;
	array->max = (uint32_t)(room / size);
	return true;
}

bool
tally_object_open(struct tally_decoder *d, struct tally_object *o)
{
	tally_json_peek(&d->json);
	o->where = d->json.at;
	o->seen = 0;
	o->field = -1;
	return tally_json_open_object(&d->json);
}

static int
find_field(const struct tally_object *o, const struct tally_json_text *key)
{
	for (unsigned i = 0; i < o->n_fields; i++) {
		const struct tally_field *field = &o->fields[i];
		if (field->len == key->len && memcmp(field->name, key->s, key->len) == 0)
			return (int)i;
	}
	return -1;
}

/* At the closing brace: checks that everything is present. */
static bool
check_object(struct tally_decoder *d, const struct tally_object *o)
{
	uint64_t missing = o->required & ~o->seen;
	if (missing) {
		const char *name = o->fields[__builtin_ctzll(missing)].name;
		d->named = true;
		return tally_json_fail(&d->json, o->where, "%s needs the field \"%s\"", o->what,
				       name);
	}
	return true;
}

/* One of the fields after the last one, spelled as our writer does: the writer may leave some
 * out. -1: possibly another field. */
static int
take_later_field(struct tally_decoder *d, struct tally_object *o)
{
	if (!d->json.fresh && *d->json.at != ',')
		return -1;
	for (unsigned i = (unsigned)(o->field + 1); i < o->n_fields; i++) {
		const struct tally_field *field = &o->fields[i];
		if ((o->seen & TALLY_BIT(i)) ||
		    !tally_json_take_key(&d->json, field->spelled, field->len + 3))
			continue;
		o->seen |= TALLY_BIT(i);
		return o->field = (int)i;
	}
	return -1;
}

int
tally_object_next_any(struct tally_decoder *d, struct tally_object *o)
{
	struct tally_json_text key;
	int later = take_later_field(d, o);
	if (later >= 0)
		return later;
	while (tally_json_next_key(&d->json, &key)) {
		int field = find_field(o, &key);
		o->field = field;
		if (field < 0) {
			if (!tally_json_skip(&d->json))
				return -1;
			continue;
		}
		if (o->seen & TALLY_BIT(field)) {
			tally_json_fail(&d->json, key.s - 1, "the key \"%s\" stands twice in %s",
					o->fields[field].name, o->what);
			d->named = true;
			return -1;
		}
		o->seen |= TALLY_BIT(field);
		return field;
	}
	if (!d->json.failed)
		check_object(d, o);
	return -1;
}

bool
tally_object_fail(struct tally_decoder *d, const struct tally_object *o)
{
	struct tally_json_reader *r = &d->json;
	if (d->named || r->no_memory || o->field < 0)
		return false;
	d->named = true;
	char message[sizeof(r->message)];
	memcpy(message, r->message, sizeof(message));
	snprintf(r->message, sizeof(r->message), "\"%s\": %.200s", o->fields[o->field].name,
		 message);
	return false;
}

bool
tally_decode_u32(struct tally_decoder *d, uint32_t *v)
{
	tally_json_peek(&d->json);
	const char *where = d->json.at;
	uint64_t wide;
	if (!tally_json_read_u64(&d->json, &wide))
		return false;
	if (wide > UINT32_MAX)
		return tally_json_fail(&d->json, where, "the integer does not fit in 32 bits");
	*v = (uint32_t)wide;
	return true;
}

bool
tally_decode_number(struct tally_decoder *d, int64_t *v)
{
	tally_json_peek(&d->json);
	const char *where = d->json.at;
	uint64_t u;
	if (!tally_json_read_u64(&d->json, &u))
		return false;
	if (u > INT64_MAX)
		return tally_json_fail(&d->json, where, "the integer does not fit in 63 bits");
	*v = (int64_t)u;
	return true;
}

bool
tally_decode_json_text(struct tally_decoder *d, struct tally_json_text *text)
{
	if (!tally_json_read_text(&d->json, text))
		return false;
	if (!text->has_nul)
		return true;
	return tally_json_fail(&d->json, text->s - 1, "the text holds a NUL character (\\u0000)");
}

bool
tally_decode_text(struct tally_decoder *d, const char **s)
{
	struct tally_json_text text;
	if (!tally_decode_json_text(d, &text))
		return false;
	*s = text.s;
	return true;
}

static struct tally_word *
get_word(struct tally_decoder *d, const struct tally_json_text *text)
{
	bool full;
	struct tally_word *word = tally_words_get(&d->words, text->s, text->len, &full);
	if (!word && full)
		tally_json_fail(&d->json, text->s - 1,
				"more than %u different keys, units and "
				"formats in one log",
				TALLY_MAX_WORDS);
	else if (!word)
		tally_json_fail_memory(&d->json);
	return word;
}

struct tally_word *
tally_decode_word(struct tally_decoder *d)
{
	struct tally_json_text text;
	return tally_decode_json_text(d, &text) ? get_word(d, &text) : NULL;
}

bool
tally_decode_kept(struct tally_decoder *d, const char **s)
{
	struct tally_word *word = tally_decode_word(d);
	if (!word)
		return false;
	*s = word->text;
	return true;
}

bool
tally_decode_texts(struct tally_decoder *d, struct tally_array *texts, uint32_t *n,
		   bool (*take)(struct tally_decoder *, const char **))
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		const char **text = tally_array_push(d, texts, sizeof(*text));
		if (!text || !take(d, text))
			return false;
		++*n;
	}
	return !d->json.failed;
}

/* The key that followed the last one the previous time, if it follows again. */
static struct tally_word *
take_guessed_key(struct tally_decoder *d)
{
	struct tally_json_reader *r = &d->json;
	struct tally_word *guess = d->words.last ? d->words.last->next : NULL;
	if (!guess || !guess->plain || guess->epoch == d->epoch)
		return NULL;
	char *at = r->at + !r->fresh;
	if ((!r->fresh && *r->at != ',') || *at != '"' ||
	    guess->len + 3 > (size_t)(r->end - at) ||
	    !tally_swar_is_equal(at + 1, guess->text, guess->len) ||
	    at[guess->len + 1] != '"' || at[guess->len + 2] != ':')
		return NULL;
	r->at = at + guess->len + 3;
	r->fresh = false;
	d->words.last = guess;
	guess->epoch = d->epoch;
	return guess;
}

struct tally_word *
tally_decode_key(struct tally_decoder *d)
{
	struct tally_word *word = take_guessed_key(d);
	if (word)
		return word;
	struct tally_json_text key;
	if (!tally_json_next_key(&d->json, &key))
		return NULL;
	char shown[48];
	if (key.has_nul) {
		tally_json_fail(&d->json, key.s - 1, "a key holds a NUL character (\\u0000)");
		return NULL;
	}
	word = get_word(d, &key);
	if (word && word->epoch == d->epoch) {
		tally_json_fail(&d->json, key.s - 1, "the key \"%s\" stands twice in one object",
				tally_json_quote(shown, key.s, key.len));
		return NULL;
	}
	if (word)
		word->epoch = d->epoch;
	return word;
}

bool
tally_decode_enum(struct tally_decoder *d, const char *(*name)(unsigned), unsigned n,
		  unsigned *v)
{
	struct tally_json_text text;
	if (!tally_json_read_text(&d->json, &text))
		return false;
	int found = tally_name_find(name, n, text.s, text.len);
	if (found >= 0) {
		*v = (unsigned)found;
		return true;
	}
	char shown[48], list[128];
	size_t len = 0;
	for (unsigned i = 0; i < n && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					name(i));
	return tally_json_fail(&d->json, text.s - 1, "\"%s\" is none of %s",
			       tally_json_quote(shown, text.s, text.len), list);
}

bool
tally_decode_id(struct tally_decoder *d, uint64_t *id)
{
	struct tally_json_text text;
	if (!tally_json_read_text(&d->json, &text))
		return false;
	bool good = text.len == 16;
	uint64_t v = 0;
	if (good) {
		uint64_t high = tally_swar_read_hex(text.s, &good);
		v = high << 32 | tally_swar_read_hex(text.s + 8, &good);
	}
	if (!good)
		return tally_json_fail(&d->json, text.s - 1, "an id is 16 digits of 0-9 and a-f");
	*id = v;
	return true;
}

bool
tally_decode_type(struct tally_decoder *d)
{
	struct tally_json_text unused;
	return tally_json_read_text(&d->json, &unused);
}
