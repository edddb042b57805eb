/* SPDX-License-Identifier: MIT */
#include "cli/export/arguments.h"

#include "cli/log/stats.h"
#include "cli/report/columns.h"
#include "json/log_numbers.h"

#include <inttypes.h>

void
tally_argument_put_number(struct tally_trace *t, const char *key, uint64_t v)
{
	tally_trace_put_argument(t, "", key, NULL, tally_u64(v));
}

void
tally_argument_put_text(struct tally_trace *t, const char *key, const char *text)
{
	tally_trace_put_argument(t, "", key, text, tally_u64(0));
}

void
tally_argument_put_flags(struct tally_trace *t, uint64_t flags)
{
	g_autofree char *text = flags ? tally_flags_text(flags, " ") : NULL;
	if (text)
		tally_argument_put_text(t, "flags", text);
}

void
tally_argument_put_listed(void *to, const char *name, const char *unit, bool known,
			  struct tally_value value)
{
	struct tally_argument_list *list = to;
	(void)unit;
	if (known)
		tally_trace_put_argument(list->t, list->prefix, name, NULL, value);
}

static void
put_values(struct tally_trace *t, const char *prefix,
	   const struct tally_keyed_value *values, uint32_t n, GString *estimated)
{
	for (uint32_t i = 0; i < n; i++) {
		tally_trace_put_argument(t, prefix, values[i].key, NULL, values[i].value);
		if (values[i].estimated)
			g_string_append_printf(estimated, "%s%s",
					       estimated->len ? " " : "", values[i].key);
	}
}

void
tally_arguments_put_lists(struct tally_trace *t, const char *prefix,
			  const struct tally_keyed_value *values, uint32_t n,
			  const struct tally_keyed_value *metrics, uint32_t n_metrics)
{
	g_autoptr(GString) estimated = g_string_new(NULL);
	put_values(t, prefix, values, n, estimated);
	put_values(t, "metrics.", metrics, n_metrics, estimated);
	if (estimated->len)
		tally_argument_put_text(t, "estimated", estimated->str);
}

void
tally_arguments_put_identity(struct tally_trace *t, uint64_t frame,
			     const struct tally_pass_record *p)
{
	char id[17];
	g_snprintf(id, sizeof(id), "%016" PRIx64, p->id);
	tally_argument_put_number(t, "frame", frame);
	tally_argument_put_number(t, "index", p->index);
	tally_argument_put_text(t, "id", id);
}

void
tally_arguments_put_pass(struct tally_trace *t, uint64_t frame,
			 const struct tally_pass_record *p)
{
	struct tally_argument_list numbers = { t, "" };
	tally_arguments_put_identity(t, frame, p);
	if (p->segment)
		tally_argument_put_number(t, "segment", p->segment);
	tally_argument_put_text(t, "kind", tally_pass_kind_name(p->kind));
	if (p->has_submission)
		tally_argument_put_number(t, "submission", p->submission);
	if (p->surface >= 0)
		tally_argument_put_number(t, "surface", (uint64_t)p->surface);
	tally_pass_numbers(p, tally_argument_put_listed, &numbers);
	tally_arguments_put_lists(t, "counters.", p->counters, p->n_counters, p->metrics,
				  p->n_metrics);
	tally_argument_put_flags(t, p->flags);
}
