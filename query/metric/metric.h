/* SPDX-License-Identifier: MIT */
/* query/metric/metric.h - derived values: which exist, which a device can have, and their
 * values.
 *
 * Built-in metrics come from data/, users' own from `[metric NAME]` in a configuration file. A
 * metric is one expression in a dialect: `arm` (current names, sums over instances), `arm-2022`
 * (names of 2022 first, shader-core values as means per core), `bifrost` (names of the Bifrost
 * document, means per core), `passtally` (our own keys). A metric is bound once to what a
 * device counts, and evaluated per pass.
 */
#ifndef PASSTALLY_QUERY_METRIC_H
#define PASSTALLY_QUERY_METRIC_H

#include "layer/config/config.h"
#include "query/mali/catalogue.h"
#include "query/metric/expr.h"
#include "query/source/snapshot.h"

enum tally_dialect {
	TALLY_DIALECT_ARM = 0,
	TALLY_DIALECT_ARM_2022,
	TALLY_DIALECT_BIFROST,
	TALLY_DIALECT_PASSTALLY,
	TALLY_N_DIALECTS,
};
const char *tally_dialect_name(unsigned dialect); /* "arm-2022"; NULL out of range */

/* A metric as it is defined. Strings are static or belong to the owner. */
struct tally_metric {
	const char *key;
	const char *name;
	const char *unit;
	const char *expression; /* the expression that is evaluated */
	const char *printed; /* the document's version where that differs, otherwise NULL */
	const char *description;
	const char *erratum; /* why it differs, or NULL */
	enum tally_dialect dialect;
	const char *layouts; /* "Mali-G715", "Mali-G71,Mali G1", "*" any Mali, "" any device */
	bool overview;
};
/* The built-in metrics; several may share a key, for different layouts. i < tally_n_metrics. */
extern const uint32_t tally_n_metrics;
struct tally_metric tally_metric_at(uint32_t i);
/* Whether the metric applies to that counter layout. NULL: the device has none. */
bool tally_metric_fits(const struct tally_metric *metric, const char *layout);

/* Reads the user's own metrics, from `[metric NAME]` sections, into `out`, which has room for
 * config->n_metrics. Returns how many are valid; for each of the others there is a complaint:
 * one line with file, line, column and reason. Metrics in a circle are invalid. Strings remain
 * the config's. */
uint32_t tally_metric_read_own(const struct tally_config *config, struct tally_metric *out,
			       tally_config_complain *complain, void *data);

/* What an expression may name. */
struct tally_metric_inputs {
	const struct tally_counter *const *counters; /* by key */
	uint32_t n_counters;
	const struct tally_mali_layout *layout; /* its aliases are valid names too; or NULL */
	const struct tally_constant *constants;
	uint32_t n_constants;
};

/* Metrics bound to one device. */
struct tally_metric_set;

/* The input values of one pass or frame. Besides its counters an expression may name `draws`,
 * `vertices`, `instances`, `dispatches`, `gpu_ns`, `pixels` (of the target), `duration_s`
 * (gpu_ns / 1e9; Arm's `$ZOOM`); these are absent where not known. */
struct tally_metric_values {
	const struct tally_keyed_value *counters; /* keys by pointer or by text */
	uint32_t n_counters;
	const struct tally_keyed_value *more; /* a second list, possibly empty: not logged */
	uint32_t n_more;
	const struct tally_call_counts *call_counts; /* NULL: none */
	uint32_t unknown; /* TALLY_UNKNOWN_* */
	bool has_gpu;
	uint64_t gpu_ns;
	uint64_t pixels; /* 0: not known */
};

#endif
