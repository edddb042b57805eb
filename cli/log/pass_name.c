/* SPDX-License-Identifier: MIT */
#include "cli/log/pass_name.h"

#include "cli/log/given_names.h"

#include <glib.h>
#include <string.h>

static const char *
kind_word(enum tally_pass_kind kind)
{
	switch (kind) {
	case TALLY_PASS_COMPUTE:
		return "Compute";
	case TALLY_PASS_TRANSFER:
		return "Copy";
	case TALLY_PASS_RAYTRACING:
		return "Ray tracing";
	case TALLY_PASS_BUILD:
		return "Build";
	case TALLY_PASS_RENDER:
		return "Render";
	default:
		return "Other";
	}
}

static void
append_size(GString *name, const struct tally_target *t)
{
	if (t->width)
		g_string_append_printf(name, " %ux%u", t->width, t->height);
	if (t->layers > 1)
		g_string_append_printf(name, " x%u layers", t->layers);
	if (t->samples > 1)
		g_string_append_printf(name, " %ux MSAA", t->samples);
}

char *
tally_pass_name(enum tally_pass_kind kind, const struct tally_target *target, bool presented)
{
	if (kind != TALLY_PASS_RENDER || !target) {
		GString *name = g_string_new(kind_word(kind));
		if (target)
			append_size(name, target);
		return g_string_free(name, FALSE);
	}
	if (presented)
		return g_strdup("Backbuffer");
	GString *name = g_string_new(NULL);
	const char *depth = target->depth.format ? target->depth.format : target->stencil.format;
	if (target->n_color == 0 && depth) {
		g_string_append(name, target->name ? target->name : "Depth");
		append_size(name, target);
	} else if (target->n_color == 0) {
		g_string_append(name, target->name ? target->name : "No attachment");
		append_size(name, target);
	} else if (target->n_color == 1) {
		g_string_append(name, target->name ? target->name
				      : depth	     ? "Color + depth"
						     : "Color");
		append_size(name, target);
		if (target->color[0].format)
			g_string_append_printf(name, " %s", target->color[0].format);
	} else {
		g_string_append_printf(name, "%s (%u targets%s)",
				       target->name ? target->name : "Color",
				       target->n_color, depth ? " + depth" : "");
		append_size(name, target);
	}
	return g_string_free(name, FALSE);
}

char *
tally_pass_number_name(const char *base, unsigned n)
{
	return n == 1 ? g_strdup(base) : g_strdup_printf("%s #%u", base, n);
}

static bool
separates(char c)
{
	return c != '\0' && c != '/' && c != ' ';
}

size_t
tally_label_part(const char *label)
{
	size_t i = 0;
	while (label[i] && !(i && label[i] == '/' && separates(label[i - 1]) &&
			     separates(label[i + 1])))
		i++;
	return i;
}

/* ---- names in a log ---- */

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
	names->given = NULL;
}

void
tally_pass_names_finish(struct tally_pass_names *names)
{
	g_hash_table_destroy(names->passes);
	g_hash_table_destroy(names->counts);
	g_clear_pointer(&names->given, g_hash_table_destroy);
}

void
tally_pass_names_program(struct tally_pass_names *names, const char *program)
{
	g_clear_pointer(&names->given, g_hash_table_destroy);
	names->given = tally_given_names_load(program);
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
	struct tally_named_pass *n = add(
		names, info->id, info->label,
		tally_pass_name(info->kind, &info->target, info->target.presented));
	n->groups = g_strdup(info->groups);
	n->size = tally_target_size(info);
}

const struct tally_named_pass *
tally_pass_names_find(struct tally_pass_names *names, const struct tally_pass_record *pass)
{
	struct tally_named_pass *n = g_hash_table_lookup(names->passes, &pass->id);
	if (!n)
		n = add(names, pass->id, pass->label, tally_pass_name(pass->kind, NULL, false));
	const struct tally_call_counts *did = &pass->call_counts;
	if (!n->seen && pass->kind == TALLY_PASS_TRANSFER && did->clears && !did->copies) {
		char *copy = n->base;
		n->base = g_strconcat("Clear", copy + strlen("Copy"), NULL);
		g_free(copy);
	}
	n->seen = TRUE;
	return n;
}

const char *
tally_pass_names_given(const struct tally_pass_names *names, const struct tally_pass_record *pass)
{
	return names->given ? g_hash_table_lookup(names->given, &pass->id) : NULL;
}

static const char *
own_base(struct tally_pass_names *names, const struct tally_pass_record *pass)
{
	const struct tally_named_pass *n = tally_pass_names_find(names, pass);
	/* Only the pass itself says whether its target belongs to a window. */
	bool window = pass->surface >= 0 && pass->kind == TALLY_PASS_RENDER;
	return n->label ? n->label : window ? "Backbuffer" : n->base;
}

const char *
tally_pass_names_base(struct tally_pass_names *names, const struct tally_pass_record *pass)
{
	const char *given = tally_pass_names_given(names, pass);
	return given ? given : own_base(names, pass);
}

char *
tally_pass_names_number(struct tally_pass_names *names, uint32_t device, const char *base)
{
	char *key = g_strdup_printf("%u|%s", device, base);
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(names->counts, key)) + 1;
	g_hash_table_replace(names->counts, key, GUINT_TO_POINTER(n));
	return tally_pass_number_name(base, n);
}

char *
tally_pass_names_next(struct tally_pass_names *names, uint32_t device,
		      const struct tally_pass_record *pass)
{
	const char *given = tally_pass_names_given(names, pass);
	g_autofree char *own = tally_pass_names_number(names, device, own_base(names, pass));
	return given ? tally_pass_names_number(names, device, given) : g_steal_pointer(&own);
}
