/* SPDX-License-Identifier: MIT */
#include "query/metric/metric.h"

#include "layer/base/array.h"
#include "query/metric/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const dialects[TALLY_N_DIALECTS] = { "arm", "arm-2022", "bifrost",
							"passtally" };

const char *
tally_dialect_name(unsigned dialect)
{
	return dialect < TALLY_N_DIALECTS ? dialects[dialect] : NULL;
}

struct tally_metric
tally_metric_at(uint32_t i)
{
	const struct tally_metric_row *row = &tally_metric_rows[i];
	return (struct tally_metric){
		.key = tally_metric_text(row->key),
		.name = tally_metric_text(row->name),
		.unit = tally_metric_text(row->unit),
		.expression = tally_metric_text(row->expression),
		.printed = tally_metric_text(row->printed),
		.description = tally_metric_text(row->description),
		.erratum = tally_metric_text(row->erratum),
		.dialect = row->dialect,
		.layouts = tally_metric_text(row->layouts),
		.overview = row->overview,
	};
}

bool
tally_metric_fits(const struct tally_metric *metric, const char *layout)
{
	if (!metric->layouts[0])
		return true;
	if (!layout)
		return false;
	if (strcmp(metric->layouts, "*") == 0)
		return true;
	size_t len = strlen(layout);
	for (const char *p = metric->layouts; *p;) {
		size_t n = strcspn(p, ",");
		if (n == len && memcmp(p, layout, n) == 0)
			return true;
		p += n + (p[n] != '\0');
	}
	return false;
}

/* ---- the user's own metrics ---- */

struct complaint {
	const struct tally_config_metric *from;
	tally_config_complain *complain;
	void *data;
};

static void
say(const struct complaint *c, uint32_t line, uint32_t column, const char *what)
{
	char text[1024];
	if (!c->complain)
		return;
	if (column)
		snprintf(text, sizeof(text), "%.300s:%u:%u: metric %.64s: %s",
			 c->from->file, line, column, c->from->key, what);
	else
		snprintf(text, sizeof(text), "%.300s:%u: metric %.64s: %s", c->from->file, line,
			 c->from->key, what);
	c->complain(c->data, text);
}

static bool
find_dialect(const char *word, enum tally_dialect *out)
{
	for (unsigned i = 0; i < TALLY_N_DIALECTS; i++) {
		if (strcmp(dialects[i], word) == 0) {
			*out = (enum tally_dialect)i;
			return true;
		}
	}
	return false;
}

static bool
check_expression(const struct complaint *c)
{
	const struct tally_config_metric *from = c->from;
	struct tally_expr_error error;
	size_t len = strlen(from->expression);
	struct tally_expr *e = tally_expr_parse(from->expression, len, &error);
	tally_expr_destroy(e);
	if (e)
		return true;
	/* A value is a single line of its file. */
	say(c, from->expression_line, from->expression_column + error.column - 1,
	    error.message);
	return false;
}

/* Which of the user's metrics name which: refs[first[i]] to refs[first[i + 1] - 1] are
 * indices. */
struct own_refs {
	uint32_t *first, *refs;
	bool *fine; /* the metric is not part of a cycle */
};

static bool
list_refs(const struct tally_metric *own, uint32_t n, struct own_refs *r)
{
	uint32_t n_refs = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct tally_expr_error error;
		const char *text = own[i].expression;
		struct tally_expr *e = tally_expr_parse(text, strlen(text), &error);
		uint32_t n_names = e ? tally_expr_n_names(e) : 0;
		bool ok = tally_array_resize(&r->refs, (size_t)n_refs + n_names + 1,
					     sizeof(*r->refs));
		r->first[i] = n_refs;
		for (uint32_t k = 0; ok && k < n_names; k++)
			for (uint32_t m = 0; m < n; m++)
				if (strcmp(own[m].key, tally_expr_name(e, k)) == 0) {
					r->refs[n_refs++] = m;
					break;
				}
		tally_expr_destroy(e);
		if (!ok)
			return false;
	}
	r->first[n] = n_refs;
	return true;
}

/* Marks a metric as fine if all that it names are fine, or if it only depends on a cycle: no
 * other unmarked metric needs it. Repeats until all that remain are in a cycle, or between
 * two. */
static void
leave_circles(struct own_refs *r, uint32_t n, bool *needed)
{
	for (bool more = true; more;) {
		more = false;
		memset(needed, 0, n * sizeof(*needed));
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = r->first[i]; k < r->first[i + 1] && !r->fine[i]; k++)
				needed[r->refs[k]] = true;
		for (uint32_t i = 0; i < n; i++) {
			bool leads_on = false;
			for (uint32_t k = r->first[i]; k < r->first[i + 1]; k++)
				leads_on |= !r->fine[r->refs[k]];
			bool fine = r->fine[i] || !needed[i] || !leads_on;
			more |= fine && !r->fine[i];
			r->fine[i] = fine;
		}
	}
}

/* Removes metrics that depend on themselves. Returns how many are left. */
static uint32_t
drop_circles(const struct tally_config *config, struct tally_metric *own, uint32_t n,
	     tally_config_complain *complain, void *data)
{
	struct own_refs r = {
		.first = calloc((size_t)n + 1, sizeof(*r.first)),
		.fine = calloc((size_t)n + 1, sizeof(*r.fine)),
	};
	uint32_t kept = n;
	bool *needed = calloc((size_t)n + 1, sizeof(*needed));
	if (r.first && r.fine && needed && list_refs(own, n, &r)) {
		leave_circles(&r, n, needed);
		kept = 0;
		for (uint32_t i = 0; i < n; i++) {
			if (r.fine[i]) {
				own[kept++] = own[i];
				continue;
			}
			const struct tally_config_metric *from = config->metrics;
			while (from->key != own[i].key)
				from++;
			say(&(struct complaint){ from, complain, data }, from->line, 0,
			    "it is in a circle of metrics that name each other: no value can be "
			    "had");
		}
	}
	free(r.first);
	free(r.refs);
	free(r.fine);
	free(needed);
	return kept;
}

uint32_t
tally_metric_read_own(const struct tally_config *config, struct tally_metric *out,
		      tally_config_complain *complain, void *data)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < config->n_metrics; i++) {
		const struct tally_config_metric *from = &config->metrics[i];
		struct complaint c = { from, complain, data };
		enum tally_dialect dialect = TALLY_DIALECT_ARM;
		if (from->dialect && !find_dialect(from->dialect, &dialect)) {
			say(&c, from->line, 0,
			    "the dialect has to be arm, arm-2022, bifrost or passtally");
			continue;
		}
		if (!check_expression(&c))
			continue;
		out[n++] = (struct tally_metric){
			.key = from->key,
			.name = from->name ? from->name : from->key,
			.unit = from->unit ? from->unit : "1",
			.expression = from->expression,
			.dialect = dialect,
			.layouts = "",
			.overview = true,
		};
	}
	return drop_circles(config, out, n, complain, data);
}
