/* SPDX-License-Identifier: MIT */
#include "query/metric/expr.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/statistics/latency.h"

#define MAX_NAME 255
/* Pending operands: per nesting level at most the left sides of a sum, a product and a function
 * (two for deviation). */
#define MAX_STACK (4 * (TALLY_EXPR_MAX_DEPTH + 2))
#define MAX_DIGITS 400

enum op_code {
	OP_NUMBER = 0,
	OP_NAME,
	OP_ADD,
	OP_SUBTRACT,
	OP_MULTIPLY,
	OP_DIVIDE,
	OP_MIN,
	OP_MAX,
	OP_NEGATE,
	OP_DEVIATION, /* takes three operands */
};

/* Operations are in reverse Polish order. */
struct op {
	union {
		double number;
		uint32_t name;
	};
	enum op_code code;
};

struct tally_expr {
	struct op *ops;
	uint32_t n_ops;
	uint32_t n_names;
	const char **names;
	char *pool; /* the names' bytes */
};

struct parser {
	const char *text;
	size_t len, at;
	struct tally_expr *e;
	size_t pool_used;
	uint32_t nesting, stack;
	char word[40]; /* of describe() */
	struct tally_expr_error *error;
};

/* ---- errors ---- */

static bool __attribute__((format(printf, 3, 4)))
fail_at(struct parser *p, size_t offset, const char *format, ...)
{
	struct tally_expr_error *error = p->error;
	error->offset = offset;
	error->line = 1;
	error->column = 1;
	for (size_t i = 0; i < offset && i < p->len; i++) {
		unsigned char c = (unsigned char)p->text[i];
		if (c == '\n') {
			error->line++;
			error->column = 1;
		} else if ((c & 0xc0) != 0x80) {
			error->column++; /* the other bytes of a UTF-8 character do not count */
		}
	}
	va_list args;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return false;
}

/* ---- reading ---- */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The next character that is not blank; '\0' at the end (and for a NUL, which no rule
 * accepts). */
static char
peek(struct parser *p)
{
	while (p->at < p->len && memchr(" \t\r\n", p->text[p->at], 4))
		p->at++;
	return p->at < p->len ? p->text[p->at] : '\0';
}

static bool
take(struct parser *p, char c)
{
	if (p->at >= p->len || peek(p) != c)
		return false;
	p->at++;
	return true;
}

/* Describes the text at a position for messages: a character or word, quoted. */
static const char *
describe(struct parser *p, size_t at)
{
	size_t n = 0;
	if (at >= p->len)
		return "the end";
	const char *text = p->text + at;
	while (n < p->len - at && n < 24 && (is_letter(text[n]) || is_digit(text[n])))
		n++;
	if (n == 0)
		n = 1;
	unsigned char first = (unsigned char)text[0];
	while (first >= 0x80 && n < p->len - at && n < 4 &&
	       ((unsigned char)text[n] & 0xc0) == 0x80)
		n++;
	if (first < 0x20 || first == 0x7f)
		snprintf(p->word, sizeof(p->word), "byte 0x%02x", first);
	else
		snprintf(p->word, sizeof(p->word), "'%.*s'", (int)n, text);
	return p->word;
}

static bool
emit(struct parser *p, struct op op)
{
	if (op.code == OP_NUMBER || op.code == OP_NAME) {
		if (++p->stack > MAX_STACK)
			return fail_at(p, p->at, "nested too deeply");
	} else if (op.code == OP_DEVIATION) {
		p->stack -= 2;
	} else if (op.code != OP_NEGATE) {
		p->stack--;
	}
	p->e->ops[p->e->n_ops++] = op;
	return true;
}

/* ---- numbers ---- */

/* Calls strtod() on digits and exponent only: it rounds correctly, and the game's locale, which
 * may use a decimal comma, has no effect. */
static bool
convert(const char *digits, size_t n, long exponent, double *out)
{
	char text[MAX_DIGITS + 32];
	snprintf(text, sizeof(text), "%.*se%ld", (int)n, digits, exponent);
	*out = strtod(text, NULL);
	return isfinite(*out);
}

/* Reads the exponent (e+12) after a number; an 'e' that no digit follows is not consumed. */
static long
read_exponent(struct parser *p)
{
	size_t at = p->at;
	if (at >= p->len || (p->text[at] != 'e' && p->text[at] != 'E'))
		return 0;
	at++;
	bool minus = at < p->len && p->text[at] == '-';
	if (at < p->len && (p->text[at] == '-' || p->text[at] == '+'))
		at++;
	if (at >= p->len || !is_digit(p->text[at]))
		return 0;
	long value = 0;
	for (; at < p->len && is_digit(p->text[at]); at++)
		value = value > 99999 ? value : value * 10 + (p->text[at] - '0');
	p->at = at;
	return minus ? -value : value;
}

static bool
read_number(struct parser *p)
{
	size_t begin = p->at;
	char digits[MAX_DIGITS];
	size_t n = 0;
	long exponent = 0;
	bool point = false;
	for (; p->at < p->len; p->at++) {
		char c = p->text[p->at];
		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (!is_digit(c))
			break;
		if (n == sizeof(digits))
			return fail_at(p, begin, "a number of more than %d digits", MAX_DIGITS);
		digits[n++] = c;
		exponent -= point;
	}
	if (n == 0)
		return fail_at(p, begin, "'.' without digits is no number");
	exponent += read_exponent(p);
	struct op op = { .code = OP_NUMBER };
	if (!convert(digits, n, exponent, &op.number))
		return fail_at(p, begin, "the number is too large");
	if (p->at < p->len && (is_letter(p->text[p->at]) || p->text[p->at] == '.')) {
		return fail_at(p, p->at,
			       "an operator is missing between the number and %s",
			       describe(p, p->at));
	}
	return emit(p, op);
}

/* ---- names ---- */

static bool
emit_name(struct parser *p, size_t begin, const char *name, size_t len)
{
	struct tally_expr *e = p->e;
	struct op op = { .code = OP_NAME };
	if (len > MAX_NAME)
		return fail_at(p, begin, "a name of more than %d characters", MAX_NAME);
	while (op.name < e->n_names && (strlen(e->names[op.name]) != len ||
					memcmp(e->names[op.name], name, len) != 0))
		op.name++;
	if (op.name == TALLY_EXPR_MAX_NAMES)
		return fail_at(p, begin, "more than %d different names",
			       TALLY_EXPR_MAX_NAMES);
	if (op.name == e->n_names) {
		char *copy = e->pool + p->pool_used;
		memcpy(copy, name, len);
		copy[len] = '\0';
		p->pool_used += len + 1;
		e->names[e->n_names++] = copy;
	}
	return emit(p, op);
}

/* Scans a name without braces: letters, digits, '_', '.', and "[...]" that contains letters,
 * digits and periods. Returns the end, or SIZE_MAX after an error. */
static size_t
scan_name(struct parser *p, size_t at)
{
	for (; at < p->len; at++) {
		char c = p->text[at];
		if (is_letter(c) || is_digit(c) || c == '.')
			continue;
		if (c != '[')
			break;
		size_t open = at++;
		while (at < p->len &&
		       (is_letter(p->text[at]) || is_digit(p->text[at]) || p->text[at] == '.'))
			at++;
		if (at >= p->len || p->text[at] != ']' || at == open + 1) {
			fail_at(p, open, "'[' of a name needs a number and ']'");
			return SIZE_MAX;
		}
	}
	return at;
}

static bool
read_braced(struct parser *p, size_t begin)
{
	size_t first = p->at + 1;
	size_t end = first;
	while (end < p->len && p->text[end] != '}' && (unsigned char)p->text[end] >= 0x20 &&
	       p->text[end] != 0x7f)
		end++;
	if (end >= p->len || p->text[end] != '}')
		return fail_at(p, begin, "'${' without '}'");
	if (end == first)
		return fail_at(p, begin, "a name is missing in '${}'");
	p->at = end + 1;
	return emit_name(p, begin, p->text + first, end - first);
}

static bool
read_name(struct parser *p, size_t begin)
{
	size_t first = p->at;
	if (first >= p->len || !is_letter(p->text[first])) {
		return fail_at(p, first, "a name has to follow '$', not %s",
			       describe(p, first));
	}
	size_t end = scan_name(p, first);
	if (end == SIZE_MAX)
		return false;
	p->at = end;
	return emit_name(p, begin, p->text + first, end - first);
}

/* ---- the grammar ---- */

static bool read_sum(struct parser *p);

/* Consumes the ')' that closes the '(' at `open`. */
static bool
read_close(struct parser *p, size_t open, bool arguments)
{
	if (take(p, ')'))
		return true;
	if (peek(p) == '\0' && p->at >= p->len)
		return fail_at(p, open, "this '(' is never closed");
	return fail_at(p, p->at, "expected an operator%s or ')', not %s",
		       arguments ? ", ','" : "", describe(p, p->at));
}

static bool
enter(struct parser *p, size_t at)
{
	if (++p->nesting > TALLY_EXPR_MAX_DEPTH)
		return fail_at(p, at, "nested more than %d deep", TALLY_EXPR_MAX_DEPTH);
	return true;
}

/* Parses the arguments of a function, starting after the '('. */
static bool
read_arguments(struct parser *p, size_t open, enum op_code code)
{
	bool deviation = code == OP_DEVIATION;
	uint32_t n = 1;
	if (!enter(p, open) || !read_sum(p))
		return false;
	for (; take(p, ','); n++)
		if (!read_sum(p) || (!deviation && !emit(p, (struct op){ .code = code })))
			return false;
	if (deviation && n != 3)
		return fail_at(p, open,
			       "deviation() takes how many, their sum, and the sum of "
			       "their squares");
	p->nesting--;
	return (!deviation || emit(p, (struct op){ .code = code })) &&
	       read_close(p, open, true);
}

static bool
is_word(const char *text, size_t len, const char *lower)
{
	if (strlen(lower) != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if ((text[i] | 0x20) != lower[i])
			return false;
	}
	return true;
}

/* Parses a name, or a function call when '(' follows. */
static bool
read_word(struct parser *p)
{
	static const struct {
		const char *word;
		enum op_code code;
	} functions[] = { { "min", OP_MIN },
			  { "max", OP_MAX },
			  { "sum", OP_ADD },
			  { "deviation", OP_DEVIATION } };

	size_t begin = p->at;
	size_t end = begin;
	while (end < p->len && (is_letter(p->text[end]) || is_digit(p->text[end])))
		end++;
	size_t after = end;
	while (after < p->len && memchr(" \t\r\n", p->text[after], 4))
		after++;
	if (after >= p->len || p->text[after] != '(')
		return read_name(p, begin);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (is_word(p->text + begin, end - begin, functions[i].word)) {
			p->at = after + 1;
			return read_arguments(p, after, functions[i].code);
		}
	}
	return fail_at(p, begin,
		       "there is no function %s: there are min, max, sum and deviation",
		       describe(p, begin));
}

static bool
read_primary(struct parser *p)
{
	char c = peek(p);
	size_t at = p->at;
	if (is_digit(c) || c == '.')
		return read_number(p);
	if (c == '$') {
		p->at++;
		if (p->at < p->len && p->text[p->at] == '{')
			return read_braced(p, at);
		return read_name(p, at);
	}
	if (is_letter(c))
		return read_word(p);
	if (c == '(') {
		p->at++;
		if (!enter(p, at) || !read_sum(p))
			return false;
		p->nesting--;
		return read_close(p, at, false);
	}
	return fail_at(p, at, "expected a number, a name or '(', not %s",
		       describe(p, at));
}

static bool
read_unary(struct parser *p)
{
	bool minus = false;
	for (;;) {
		if (take(p, '-'))
			minus = !minus;
		else if (!take(p, '+'))
			break;
	}
	return read_primary(p) && (!minus || emit(p, (struct op){ .code = OP_NEGATE }));
}

/* Operands, with one of two operators between them. */
static bool
read_chain(struct parser *p, bool (*operand)(struct parser *p), const char operators[2],
	   enum op_code first, enum op_code second)
{
	if (!operand(p))
		return false;
	for (;;) {
		bool is_first = take(p, operators[0]);
		if (!is_first && !take(p, operators[1]))
			return true;
		if (!operand(p) ||
		    !emit(p, (struct op){ .code = is_first ? first : second }))
			return false;
	}
}

static bool
read_product(struct parser *p)
{
	return read_chain(p, read_unary, "*/", OP_MULTIPLY, OP_DIVIDE);
}

static bool
read_sum(struct parser *p)
{
	return read_chain(p, read_product, "+-", OP_ADD, OP_SUBTRACT);
}

static bool
read_all(struct parser *p)
{
	if (peek(p) == '\0' && p->at >= p->len)
		return fail_at(p, p->at, "an expression is missing");
	if (!read_sum(p))
		return false;
	char c = peek(p);
	if (p->at >= p->len)
		return true;
	if (c == ')')
		return fail_at(p, p->at, "')' without '('");
	if (c == ',')
		return fail_at(p, p->at,
			       "',' has its place in min(), max(), sum() and deviation() only");
	return fail_at(p, p->at, "expected an operator or the end, not %s",
		       describe(p, p->at));
}

struct tally_expr *
tally_expr_parse(const char *text, size_t len, struct tally_expr_error *error)
{
	memset(error, 0, sizeof(*error));
	struct parser p = { .text = text, .len = len, .error = error };
	if (len > TALLY_EXPR_MAX_BYTES) {
		fail_at(&p, TALLY_EXPR_MAX_BYTES, "longer than %d bytes", TALLY_EXPR_MAX_BYTES);
		return NULL;
	}
	/* Each operation and each byte of a name takes at least one byte of text. */
	struct tally_expr *e = calloc(1, sizeof(*e));
	p.e = e;
	if (e) {
		size_t names = len < TALLY_EXPR_MAX_NAMES ? len : TALLY_EXPR_MAX_NAMES;
		e->ops = malloc((len + 1) * sizeof(*e->ops));
		e->names = malloc((names + 1) * sizeof(*e->names));
		e->pool = malloc(len + 2);
	}
	if (!e || !e->ops || !e->names || !e->pool) {
		fail_at(&p, 0, "out of memory");
		tally_expr_destroy(e);
		return NULL;
	}
	if (!read_all(&p)) {
		tally_expr_destroy(e);
		return NULL;
	}
	struct op *fit = realloc(e->ops, e->n_ops * sizeof(*e->ops));
	if (fit)
		e->ops = fit;
	return e;
}

void
tally_expr_destroy(struct tally_expr *e)
{
	if (!e)
		return;
	free(e->ops);
	free(e->names);
	free(e->pool);
	free(e);
}

uint32_t
tally_expr_n_names(const struct tally_expr *e)
{
	return e->n_names;
}

const char *
tally_expr_name(const struct tally_expr *e, uint32_t i)
{
	return i < e->n_names ? e->names[i] : NULL;
}

/* ---- evaluating ---- */

static bool
binary(enum op_code code, double a, double b, double *out)
{
	switch (code) {
	case OP_ADD:
		*out = a + b;
		return true;
	case OP_SUBTRACT:
		*out = a - b;
		return true;
	case OP_MULTIPLY:
		*out = a * b;
		return true;
	case OP_DIVIDE:
		*out = a / b;
		return b != 0;
	case OP_MIN:
		*out = b < a ? b : a;
		return true;
	default:
		*out = b > a ? b : a;
		return true;
	}
}

/* Applies an operation, which takes its operands from the stack; numbers and names are done by
 * the caller. */
static bool
apply(enum op_code code, double *stack, uint32_t *n)
{
	double *last = &stack[*n - 1];
	switch (code) {
	case OP_NEGATE:
		*last = -*last;
		return true;
	case OP_DEVIATION:
		*n -= 2;
		return tally_latency_sd_of_doubles(last[-2], last[-1], last[0], &last[-2]);
	default:
		*n -= 1;
		return binary(code, last[-1], last[0], &last[-1]);
	}
}

bool
tally_expr_evaluate(const struct tally_expr *e, const double *values, const uint64_t *valid,
		    double *out)
{
	double stack[MAX_STACK];
	uint32_t n = 0;
	for (uint32_t i = 0; i < e->n_ops; i++) {
		const struct op *op = &e->ops[i];
		if (op->code == OP_NUMBER) {
			stack[n++] = op->number;
			continue;
		}
		if (op->code == OP_NAME) {
			if (!(valid[op->name / 64] >> (op->name % 64) & 1) ||
			    !isfinite(values[op->name]))
				return false;
			stack[n++] = values[op->name];
			continue;
		}
		/* Each step is checked: min() could turn an infinity into a finite number. */
		if (!apply(op->code, stack, &n) || !isfinite(stack[n - 1]))
			return false;
	}
	*out = stack[0];
	return true;
}
