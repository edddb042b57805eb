/* SPDX-License-Identifier: MIT */
#include "layer/config/metric.h"

#include "layer/base/array.h"
#include "layer/config/base.h"

#include <stdlib.h>
#include <string.h>

#define MAX_METRICS 1024
#define MAX_KEY 128
#define MAX_WORD 256

static void
clear(struct tally_config_metric *m)
{
	free(m->key);
	free(m->name);
	free(m->unit);
	free(m->dialect);
	free(m->expression);
	free(m->file);
	memset(m, 0, sizeof(*m));
}

void
tally_config_metrics_finish(struct tally_config *config)
{
	for (uint32_t i = 0; i < config->n_metrics; i++)
		clear(&config->metrics[i]);
	free(config->metrics);
	config->metrics = NULL;
	config->n_metrics = 0;
}

/* Keys are written to the log as they are, so they must contain nothing that needs escaping. */
static bool
is_key(const char *key)
{
	size_t len = strlen(key);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)key[i];
		if (c <= 0x20 || c >= 0x7f || strchr("\"\\+,*?", c))
			return false;
	}
	return len > 0 && len <= MAX_KEY;
}

static struct tally_config_metric *
find(struct tally_config *config, const char *key)
{
	for (uint32_t i = 0; i < config->n_metrics; i++) {
		if (strcmp(config->metrics[i].key, key) == 0)
			return &config->metrics[i];
	}
	return NULL;
}

static struct tally_config_metric *
add_metric(struct tally_config *config)
{
	size_t size = sizeof(*config->metrics);
	return tally_array_resize(&config->metrics, config->n_metrics + 1, size)
		       ? memset(&config->metrics[config->n_metrics], 0, size)
		       : NULL;
}

struct tally_config_metric *
tally_config_metric_begin(struct tally_config *config, const char *key, const char *file,
			  uint32_t line, const struct tally_config_place *to)
{
	if (!is_key(key)) {
		tally_config_report(
			to,
			"a metric is headed [metric NAME], with a name of at most %d "
			"printable ASCII characters, without blank and \" \\ + , * ?",
			MAX_KEY);
		return NULL;
	}
	struct tally_config_metric *m = find(config, key);
	if (m && strcmp(m->file, file) == 0) {
		tally_config_report(to,
				    "there is a metric %s already, in line %u: this one was not "
				    "read",
				    key, m->line);
		return NULL;
	}
	if (!m && config->n_metrics == MAX_METRICS) {
		tally_config_report(to, "more than %d metrics: %s was not read", MAX_METRICS,
				    key);
		return NULL;
	}
	struct tally_config_metric made = {
		.key = tally_config_copy_string(key),
		.file = tally_config_copy_string(file),
		.line = line,
	};
	bool added = !m;
	if (added && made.key && made.file)
		m = add_metric(config);
	if (!m || !made.key || !made.file) {
		tally_config_report(to, "out of memory: metric %s was not read", key);
		clear(&made);
		return NULL;
	}
	clear(m);
	*m = made;
	config->n_metrics += added;
	return m;
}

static char **
member(struct tally_config_metric *m, const char *field)
{
	const struct {
		const char *word;
		char **at;
	} rows[] = {
		{ "name", &m->name },
		{ "unit", &m->unit },
		{ "expression", &m->expression },
		{ "dialect", &m->dialect },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].word, field) == 0)
			return rows[i].at;
	}
	return NULL;
}

bool
tally_config_metric_set(struct tally_config_metric *m, const char *field,
			const char *value, uint32_t line, uint32_t column,
			const struct tally_config_place *to)
{
	char **at = member(m, field);
	if (!at)
		return tally_config_report(
			to, "a metric has no \"%.64s\": say its name, unit, expression "
			    "and dialect, each as FIELD = VALUE",
			field);
	if (!value || !*value)
		return tally_config_report(to, "the metric's %s is missing behind the '='",
					   field);
	if (*at)
		return tally_config_report(to, "the metric's %s was said before", field);
	if (at != &m->expression && strlen(value) > MAX_WORD)
		return tally_config_report(to, "the metric's %s is longer than %d bytes", field,
					   MAX_WORD);
	*at = tally_config_copy_string(value);
	if (!*at)
		return tally_config_report(to, "out of memory: the metric's %s was not read",
					   field);
	if (at == &m->expression) {
		m->expression_line = line;
		m->expression_column = column;
	}
	return true;
}

bool
tally_config_metric_end(struct tally_config *config, struct tally_config_metric *m,
			const struct tally_config_place *to)
{
	const struct tally_config_place heading = { to->complain, to->data, NULL };
	if (m->expression)
		return true;
	tally_config_report(&heading, "%s:%u: metric %s has no expression = ...: it was left out",
			    m->file, m->line, m->key);
	clear(m);
	struct tally_config_metric *last = &config->metrics[--config->n_metrics];
	if (m != last)
		*m = *last;
	return false;
}
