/* query/metric/metric.h - derived values: which there are, which a device can have, and their
 * values.
 *
 * Built-in metrics come from data/, users' own from `[metric NAME]` in a configuration file. A
 * metric is one expression in a dialect: `arm` (present names, sums over instances), `arm-2022`
 * (names of 2022 first, shader-core values as means per core), `bifrost` (names of the Bifrost
 * document, means per core), `passtally` (our own keys). Bound once to what a device counts;
 * evaluated per pass.
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

/* A metric as it is written down. Strings are static or the owner's. */
struct tally_metric {
	const char *key;
	const char *name;
	const char *unit;
	const char *expression; /* what is computed */
	const char *printed; /* as the document prints it where that differs, else NULL */
	const char *description;
	const char *erratum; /* why it differs, or NULL */
	enum tally_dialect dialect;
	const char *layouts; /* "Mali-G715", "Mali-G71,Mali G1", "*" any Mali, "" any device */
	bool overview;
};
/* The built-in ones; several may share a key, for different layouts. i < tally_n_metrics. */
extern const uint32_t tally_n_metrics;
struct tally_metric tally_metric_at(uint32_t i);
/* Does it hold for that counter layout? NULL: a device that has none. */
bool tally_metric_fits(const struct tally_metric *metric, const char *layout);

/* The user's own, of `[metric NAME]` sections, into `out`, which has room for config->n_metrics.
 * Returns how many could be read; of the others it is complained: file, line, column, why, the
 * expression and a caret below the place. Those in a circle are among the others. Strings stay the
 * config's. */
uint32_t tally_metric_read_own(const struct tally_config *config, struct tally_metric *out,
			       tally_config_complain *complain, void *data);

/* What an expression may name. */
struct tally_metric_inputs {
	const struct tally_counter *const *counters; /* by key */
	uint32_t n_counters;
	const struct tally_mali_layout *layout; /* whose aliases are known too; or NULL */
	const struct tally_constant *constants;
	uint32_t n_constants;
};

/* Metrics bound to one device. */
struct tally_metric_set;
/* Those of the built-in metrics, and of `own`, that `wanted` (--counters; NULL: overview) asks
 * for by key, name, glob or word, and whose inputs are all there. Metrics may name metrics by key
 * (no circles). Of `own` that are asked for and lack an input a note is logged. NULL on OOM.
 * Strings of `own` must outlive the set. */
struct tally_metric_set *tally_metric_set_create(const struct tally_metric_inputs *inputs,
						 const struct tally_metric *own, uint32_t n_own,
						 const char *wanted);
void tally_metric_set_destroy(struct tally_metric_set *set); /* accepts NULL */
uint32_t tally_metric_set_size(const struct tally_metric_set *set);
/* What the device line says of it. */
struct tally_metric_info tally_metric_set_info(const struct tally_metric_set *set, uint32_t i);

/* Values of one pass or frame in. Beside its counters an expression may name `draws`, `vertices`,
 * `instances`, `dispatches`, `gpu_ns`, `pixels` (of the target), `duration_s` (gpu_ns / 1e9; Arm's
 * `$ZOOM`); absent where not known. */
struct tally_metric_values {
	const struct tally_keyed_value *counters; /* keys by pointer or by text */
	uint32_t n_counters;
	const struct tally_keyed_value *more; /* a second list, may be empty: not logged */
	uint32_t n_more;
	const struct tally_call_counts *call_counts; /* NULL: none */
	uint32_t unknown; /* TALLY_UNKNOWN_* */
	bool has_gpu;
	uint64_t gpu_ns;
	uint64_t pixels; /* 0: not known */
};
/* out: room for tally_metric_set_size(); those that have a value, in order. A metric of which
 * any input is estimated is estimated. Returns how many. */
uint32_t tally_metric_set_evaluate(struct tally_metric_set *set,
				   const struct tally_metric_values *in,
				   struct tally_keyed_value *out);

#endif
