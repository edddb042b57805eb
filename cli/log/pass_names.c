/* SPDX-License-Identifier: MIT */
#include "cli/log/pass_names.h"

#include "cli/log/pass_name.h"

guint
tally_pass_key_hash(gconstpointer key)
{
	const struct tally_pass_key *k = key;
	return (guint)(k->id ^ k->id >> 32) ^ k->device * 2654435761u;
}

gboolean
tally_pass_key_equal(gconstpointer a, gconstpointer b)
{
	const struct tally_pass_key *x = a, *y = b;
	return x->id == y->id && x->device == y->device;
}

static void
free_pass(gpointer p)
{
	struct tally_named_pass *n = p;
	g_free(n->label);
	g_free(n->base);
	g_free(n->groups);
	g_free(n);
}

void
tally_pass_names_init(struct tally_pass_names *names)
{
	names->passes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_pass);
	names->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void
tally_pass_names_finish(struct tally_pass_names *names)
{
	g_hash_table_destroy(names->passes);
	g_hash_table_destroy(names->counts);
}

/* Takes `base`. */
static struct tally_named_pass *
add(struct tally_pass_names *names, uint64_t id, const char *label, char *base)
{
	struct tally_named_pass *n = g_new0(struct tally_named_pass, 1);
	n->label = label && *label ? g_strdup(label) : NULL;
	n->base = base;
	g_hash_table_replace(names->passes, g_memdup2(&id, sizeof(id)), n);
	return n;
}

void
tally_pass_names_add(struct tally_pass_names *names, const struct tally_pass_info_record *info)
{
	add(names, info->id, info->label,
	    tally_pass_name(info->kind, &info->target, info->target.presented))
		->groups = g_strdup(info->groups);
}

const struct tally_named_pass *
tally_pass_names_find(struct tally_pass_names *names, const struct tally_pass_record *pass)
{
	const struct tally_named_pass *n = g_hash_table_lookup(names->passes, &pass->id);
	return n ? n
		 : add(names, pass->id, pass->label, tally_pass_name(pass->kind, NULL, false));
}

const char *
tally_pass_names_base(struct tally_pass_names *names, const struct tally_pass_record *pass)
{
	const struct tally_named_pass *n = tally_pass_names_find(names, pass);
	/* Only the pass itself says whether its target belongs to a window. */
	bool window = pass->surface >= 0 && pass->kind == TALLY_PASS_RENDER;
	return n->label ? n->label : window ? "Backbuffer" : n->base;
}

char *
tally_pass_names_number(struct tally_pass_names *names, uint32_t device, const char *base)
{
	char *key = g_strdup_printf("%u|%s", device, base);
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(names->counts, key)) + 1;
	g_hash_table_replace(names->counts, key, GUINT_TO_POINTER(n));
	return tally_pass_number_name(base, n);
}
