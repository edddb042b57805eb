/* SPDX-License-Identifier: MIT */
#include "cli/log/identity.h"

#include "cli/shared/each.h"
#include "cli/shared/sort.h"
#include "cli/shared/text.h"

#include <string.h>

void
tally_log_identity_init(struct tally_log_identity *id)
{
	*id = (struct tally_log_identity){
		.tags = g_ptr_array_new_with_free_func(g_free),
		.options = g_ptr_array_new_with_free_func(g_free),
	};
}

static void
clear(struct tally_log_identity *id)
{
	g_ptr_array_set_size(id->tags, 0);
	g_ptr_array_set_size(id->options, 0);
	g_clear_pointer(&id->argv, g_ptr_array_unref);
}

static void
add_pairs(GPtrArray *to, const struct tally_key_text *pairs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		g_ptr_array_add(to, g_strdup_printf("%s=%s", pairs[i].key,
						    pairs[i].value));
}

void
tally_log_identity_read(struct tally_log_identity *id,
			const struct tally_header_record *h)
{
	clear(id);
	id->run = g_intern_string(h->run);
	id->os = g_intern_string(h->os);
	id->kernel = g_intern_string(h->kernel);
	id->cpu = g_intern_string(h->cpu);
	id->host = g_intern_string(h->host);
	id->cpus = h->cpus;
	id->memory_bytes = h->memory_bytes;
	id->session = h->session;
	add_pairs(id->tags, h->tags, h->n_tags);
	g_ptr_array_sort(id->tags, tally_order_text);
	add_pairs(id->options, h->options, h->n_options);
	id->argv = h->has_argv ? tally_arguments_mask(h->argv, h->n_argv) : NULL;
}

void
tally_log_identity_finish(struct tally_log_identity *id)
{
	if (!id->tags)
		return;
	clear(id);
	g_ptr_array_unref(id->tags);
	g_ptr_array_unref(id->options);
	*id = (struct tally_log_identity){ 0 };
}

const char *
tally_log_option(const struct tally_log_identity *id, const char *key, const char *off)
{
	size_t len = strlen(key);
	TALLY_EACH (const char, option, id->options)
		if (strncmp(option, key, len) == 0 && option[len] == '=')
			return strcmp(option + len + 1, off) ? option + len + 1 : NULL;
	return NULL;
}

static void
append(GString *out, const char *between, const char *text)
{
	if (text)
		g_string_append_printf(out, "%s%s", out->len ? between : "", text);
}

char *
tally_log_identity_tags(const struct tally_log_identity *id, const char *between)
{
	if (!id->tags->len)
		return NULL;
	GString *out = g_string_new(NULL);
	TALLY_EACH (const char, tag, id->tags)
		append(out, between, tag);
	return g_string_free(out, FALSE);
}

char *
tally_log_identity_machine(const struct tally_log_identity *id)
{
	GString *out = g_string_new(NULL);
	append(out, "; ", id->host);
	append(out, "; ", id->cpu);
	if (id->cpus)
		g_string_append_printf(out, "%s%u CPU%s", out->len ? ", " : "", id->cpus,
				       TALLY_S(id->cpus));
	if (id->memory_bytes)
		g_string_append_printf(out, "%s%.1f GiB", out->len ? ", " : "",
				       (double)id->memory_bytes / 1073741824.0);
	append(out, "; ", id->os);
	append(out, "; ", id->kernel);
	if (id->session)
		append(out, "; ", tally_session_name(id->session));
	if (out->len)
		return g_string_free(out, FALSE);
	g_string_free(out, TRUE);
	return NULL;
}

void
tally_log_identity_put(struct tally_out *o, const struct tally_log_identity *id)
{
	tally_out_text(o, "run", id->run);
	if (id->tags->len) {
		tally_out_object(o, "tags");
		TALLY_EACH (const char, tag, id->tags) {
			g_autofree char *key = g_strndup(tag, strcspn(tag, "="));
			tally_out_text(o, key, tag + strlen(key) + 1);
		}
		tally_out_end_object(o);
	}
	tally_out_text(o, "os", id->os);
	tally_out_text(o, "kernel", id->kernel);
	tally_out_text(o, "cpu", id->cpu);
	if (id->cpus)
		tally_out_u64(o, "cpus", id->cpus);
	if (id->memory_bytes)
		tally_out_u64(o, "memory_bytes", id->memory_bytes);
	if (id->session)
		tally_out_text(o, "session", tally_session_name(id->session));
	tally_out_text(o, "host", id->host);
}

/* ---- arguments ---- */

/* Whether the name of an option looks like that of a secret. */
static bool
is_secret_name(const char *name, size_t len)
{
	static const char *const words[] = {
		"password",   "passwd",     "passphrase", "secret",      "token",
		"credential", "apikey",     "api_key",    "api-key",     "accesskey",
		"auth",       "access_key", "access-key", "sessionid",   "session_id",
		"session-id", "cookie",     "privatekey", "private_key", "private-key",
	};
	g_autofree char *lower = g_ascii_strdown(name, (gssize)len);
	bool secret = false;
	for (size_t i = 0; i < G_N_ELEMENTS(words) && !secret; i++) {
		const char *at = strstr(lower, words[i]);
		secret = at && !g_str_has_prefix(at, "author");
	}
	return secret;
}

/* Where the value of a secret begins in NAME=VALUE or NAME:VALUE, also among the parameters of a
 * URL; 0 when there is none. */
static size_t
find_secret_value(const char *word)
{
	size_t begin = 0;
	for (size_t i = 0; word[i]; i++) {
		if (strchr("?&;, ", word[i]))
			begin = i + 1;
		bool ends = word[i] == '=' || (word[i] == ':' && word[i + 1] != '/');
		if (ends && word[i + 1] && is_secret_name(word + begin, i - begin))
			return i + 1;
	}
	return 0;
}

/* The length of SCHEME://USER: in front of PASSWORD@HOST, or 0. */
static size_t
find_url_password(const char *word)
{
	const char *user = strstr(word, "://");
	if (!user)
		return 0;
	user += 3;
	size_t end = strcspn(user, "/?#");
	const char *at = g_strrstr_len(user, (gssize)end, "@");
	const char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;
	return colon ? (size_t)(colon + 1 - word) : 0;
}

static bool
is_web_token(const char *word)
{
	const char *dot = g_str_has_prefix(word, "eyJ") ? strchr(word, '.') : NULL;
	return dot && strchr(dot + 1, '.');
}

/* Whether the word after this one is a secret. */
static bool
announces_secret(const char *word)
{
	return strchr("-/+", word[0]) && word[0] && !strpbrk(word, "=:") &&
	       is_secret_name(word + 1, strlen(word + 1));
}

static char *
mask(const char *word, bool secret)
{
	if (*word && (secret || is_web_token(word)))
		return g_strdup("***");
	size_t password = find_url_password(word);
	if (password)
		return g_strdup_printf("%.*s***%s", (int)password, word,
				       strrchr(word + password, '@'));
	size_t value = find_secret_value(word);
	return value ? g_strdup_printf("%.*s***", (int)value, word) : g_strdup(word);
}

GPtrArray *
tally_arguments_mask(const char *const *argv, uint32_t n)
{
	GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t i = 0; i < n; i++)
		g_ptr_array_add(out,
				mask(argv[i], i > 1 && announces_secret(argv[i - 1])));
	return out;
}
