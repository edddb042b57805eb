/* SPDX-License-Identifier: MIT */
/* query/metric/expr.h - the language of metrics: Arm's expressions, as their guides print them.
 *
 *   max(min(($MaliGPUCyclesFragmentActive / $MaliGPUCyclesGPUActive) * 100, 100), 0)
 *
 * Numbers, names with or without `$` (letters, digits, '_', '.', "[n]"; anything in braces:
 * `${gl-intel.x}`), + - * /, unary minus, parentheses, min(a, b, ...), max(a, b, ...), sum(a,
 * ...), deviation(n, sum, sum_sq): the population standard deviation of n whole numbers. An
 * expression is parsed once; evaluating it neither allocates nor fails: a missing input, a
 * division by zero, or a result that is not finite makes the value absent.
 */
#ifndef PASSTALLY_QUERY_EXPR_H
#define PASSTALLY_QUERY_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_EXPR_MAX_BYTES 65536
#define TALLY_EXPR_MAX_DEPTH 64
#define TALLY_EXPR_MAX_NAMES 256

struct tally_expr;

/* Where parsing stopped and why. line and column count from 1, columns in characters. */
struct tally_expr_error {
	uint32_t line, column;
	size_t offset; /* bytes */
	char message[160];
};

/* Returns NULL after filling *error (also on OOM). */
struct tally_expr *
tally_expr_parse(const char *text, size_t len, struct tally_expr_error *error);
void tally_expr_destroy(struct tally_expr *e); /* accepts NULL */

/* The names in the expression, each once and without `$`, in order of appearance. */
uint32_t tally_expr_n_names(const struct tally_expr *e);
const char *tally_expr_name(const struct tally_expr *e, uint32_t i);

/* values[i] is the value of name i where bit i of `valid` is set. False: the result is
 * absent. */
bool tally_expr_evaluate(const struct tally_expr *e, const double *values, const uint64_t *valid,
			 double *out);

#endif
