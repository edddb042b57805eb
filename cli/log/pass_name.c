#include "cli/log/pass_name.h"

#include <glib.h>

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
		g_string_append(name, "Depth");
		append_size(name, target);
	} else if (target->n_color == 0) {
		g_string_append(name, "No attachment");
		append_size(name, target);
	} else if (target->n_color == 1) {
		g_string_append(name, depth ? "Color + depth" : "Color");
		append_size(name, target);
		if (target->color[0].format)
			g_string_append_printf(name, " %s", target->color[0].format);
	} else {
		g_string_append_printf(name, "Color (%u targets%s)", target->n_color,
				       depth ? " + depth" : "");
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
