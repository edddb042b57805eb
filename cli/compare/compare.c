/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare.h"
#include "cli/compare/join.h"
#include "cli/log/folder.h"
#include "cli/log/given_names.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct compare_request {
	GPtrArray *logs; /* elements: const char *: those of the base, then the new ones */
	guint n_base;
	GPtrArray *owned; /* the keys of the gates; paths of logs that were searched for */
	struct tally_compare_filter filter;
	struct tally_compare_settings settings; /* fail_above < 0: not given */
	struct tally_compare_style style;
	const char *junit;
	bool json;
};

/* Reads "5", "5%" or "5 %" as 0.05. The bounds of the row are hundredths of a
 * percent. */
static bool
take_percent(const char *command, const struct tally_arg *arg, void *to, const char *value)
{
	char *end;
	double v = g_ascii_strtod(value, &end);
	end += strspn(end, " ");
	end += *end == '%';
	double least = (double)arg->least / 100, most = (double)arg->most / 100;
	if (end == value || *end || !isfinite(v) || v < least || v > most)
		return TALLY_FAIL(false, command, "--%s %s: must be a percentage from %g to %g",
				  arg->name, value, least, most);
	*(double *)to = v / 100;
	return true;
}

static bool
add_gate(const char *command, const struct tally_arg *arg, void *to, const char *value)
{
	struct compare_request *r = to;
	struct tally_gate gate = { g_strdup(value), 1 };
	g_ptr_array_add(r->owned, gate.key);
	if (g_str_has_suffix(gate.key, ":less")) {
		gate.key[strlen(gate.key) - strlen(":less")] = '\0';
		gate.worse = -1;
	}
	g_array_append_val(r->settings.gates, gate);
	for (unsigned pace = TALLY_PACE_P99; pace < TALLY_N_PACES; pace++)
		r->filter.frame_times |= strcmp(gate.key, tally_pace_keys[pace]) == 0;
	return *gate.key ||
	       TALLY_FAIL(false, command, "--%s needs a key: KEY or KEY:less", arg->name);
}

/* Adds the words of a list to a GPtrArray *; there must be one. */
static bool
add_words(const char *command, const struct tally_arg *arg, void *to, const char *value)
{
	GPtrArray *words = *(GPtrArray **)to;
	g_auto(GStrv) items = g_strsplit_set(value, ",+", -1);
	guint before = words->len;
	for (char **item = items; *item; item++)
		if (**item)
			g_ptr_array_add(words, g_strdup(*item));
	return words->len > before ||
	       TALLY_FAIL(false, command, "--%s %s: names nothing", arg->name, value);
}

static bool
add_allowed(const char *command, const struct tally_arg *arg, void *to, const char *value)
{
	struct compare_request *r = to;
	g_auto(GStrv) items = g_strsplit_set(value, ",+", -1);
	for (char **item = items; *item; item++) {
		unsigned kind = TALLY_UNLIKE_DEVICE;
		while (kind < TALLY_N_UNLIKE && strcmp(*item, tally_unlike_names[kind]) != 0)
			kind++;
		r->settings.allowed |= kind < TALLY_N_UNLIKE ? 1u << kind : ~0u;
		if (kind == TALLY_N_UNLIKE && strcmp(*item, "all") != 0)
			return TALLY_FAIL(false, command,
					  "--%s %s: must be of device, driver, size, options, "
					  "program, all",
					  arg->name, *item);
	}
	return true;
}

static const struct tally_arg options[] = {
	{ "fail-above", take_percent, offsetof(struct compare_request, settings.fail_above), 0,
	  100000000 },
	TALLY_ARG_TAKE("gate", add_gate),
	TALLY_ARG("keys", add_words, struct compare_request, filter.patterns),
	TALLY_ARG("warmup", tally_warmup_take, struct compare_request, filter.warmup),
	TALLY_ARG_TAKE("names", tally_given_names_take),
	TALLY_ARG_WHOLE("device", struct compare_request, filter.device, 0, UINT32_MAX),
	TALLY_ARG("all", tally_arg_flag, struct compare_request, style.all),
	TALLY_ARG("base-name", tally_arg_text, struct compare_request,
		  style.names[TALLY_SIDE_BASE]),
	TALLY_ARG("new-name", tally_arg_text, struct compare_request,
		  style.names[TALLY_SIDE_NEW]),
	TALLY_ARG("json", tally_arg_flag, struct compare_request, json),
	TALLY_ARG("markdown", tally_arg_flag, struct compare_request, style.markdown),
	TALLY_ARG("junit", tally_arg_text, struct compare_request, junit),
	TALLY_ARG_TAKE("allow", add_allowed),
};

static const struct tally_arg operands =
	TALLY_ARG("LOG", tally_arg_list, struct compare_request, logs);

/* The two newest logs of `program`, or of the program that has the newest log. */
static bool
choose_newest(struct compare_request *r, const char *program)
{
	char *newest[TALLY_N_SIDES];
	if (!tally_folder_choose_two("compare", program, &newest[0], &newest[1]))
		return false;
	g_ptr_array_set_size(r->logs, 0);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		g_ptr_array_add(r->owned, newest[side]);
		g_ptr_array_add(r->logs, newest[side]);
	}
	return true;
}

/* Decides which side each log is on; the last `behind` of them are after "--". Returns false after
 * printing an error. */
static bool
choose_sides(struct compare_request *r, guint behind)
{
	const guint n = r->logs->len;
	const char *only = n == 1 ? r->logs->pdata[0] : NULL;
	bool is_log = only && (strchr(only, '/') || g_file_test(only, G_FILE_TEST_EXISTS));
	r->n_base = 1;
	if (behind && behind < n) {
		r->n_base = n - behind;
		return true;
	}
	if (n < 2 && !is_log) /* none is named, or the name of a program */
		return choose_newest(r, only);
	return n == 2 ||
	       TALLY_FAIL(false, "compare",
			  is_log ? "two logs are needed: passtally compare BASE NEW"
				 : "which of the %u logs are new? passtally compare BASE... -- "
				   "NEW...",
			  n);
}

static int
parse(struct compare_request *r, int argc, char **argv)
{
	int dashes = tally_args_dashes(argc, argv);
	int status = tally_args_read(&tally_command_compare, argc, argv, r);
	if (status != TALLY_EXIT_OK)
		return status;
	if (r->json && r->style.markdown)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "compare",
				  "--json and --markdown exclude each other");
	return choose_sides(r, (guint)MAX(argc - dashes - 1, 0)) ? TALLY_EXIT_OK : TALLY_EXIT_USAGE;
}

/* A gate on a key that no log has would always pass, so a mistyped key must be an error. */
static int
check_gates(const struct compare_request *r, const struct tally_compare *c)
{
	TALLY_EACH_OF (const struct tally_gate, gate, r->settings.gates) {
		bool found = false;
		TALLY_EACH (const struct tally_compare_row, row, c->rows)
			found |= strcmp(row->key, gate->key) == 0;
		if (!found)
			return TALLY_FAIL(TALLY_EXIT_USAGE, "compare",
					  "--gate %s: no log has a value of that key%s", gate->key,
					  r->filter.patterns->len ? " (as --keys leaves it)" : "");
	}
	return c->rows->len ? TALLY_EXIT_OK
			    : TALLY_FAIL(TALLY_EXIT_USAGE, "compare",
					 "--keys leaves nothing to compare");
}

/* Whether the run is already on that side, possibly under another name: it counts once. */
static bool
is_there(const GPtrArray *logs, const struct tally_compare_log *log)
{
	const char *run = log->aggregate.identity.run;
	TALLY_EACH (const struct tally_compare_log, other, logs) {
		const char *known = other->aggregate.identity.run;
		if (run && known ? strcmp(run, known) == 0
				 : strcmp(log->aggregate.path, other->aggregate.path) == 0)
			return true;
	}
	return false;
}

/* Returns the path, borrowed, of a run that both sides have, which would be compared with
 * itself; NULL: there is none. */
static const char *
on_both_sides(const struct tally_compare *c)
{
	const GPtrArray *base = c->logs[TALLY_SIDE_BASE], *fresh = c->logs[TALLY_SIDE_NEW];
	TALLY_EACH (const struct tally_compare_log, log, fresh)
		if (log->aggregate.identity.run && is_there(base, log))
			return log->aggregate.path;
	return NULL;
}

static int
read_sides(const struct compare_request *r, struct tally_compare *c)
{
	int status = TALLY_EXIT_OK;
	for (guint i = 0; i < r->logs->len && status == TALLY_EXIT_OK; i++) {
		GPtrArray *side = c->logs[i >= r->n_base];
		struct tally_compare_log *log;
		status = tally_compare_log_read(&log, r->logs->pdata[i], &r->filter);
		if (status != TALLY_EXIT_OK || !is_there(side, log)) {
			g_ptr_array_add(side, log);
			continue;
		}
		tally_cli_complain("compare", "%s: this run is there already and counts once",
				   log->aggregate.path);
		tally_compare_log_destroy(log);
	}
	return status;
}

char *
tally_compare_refusal(const struct tally_compare *c)
{
	const char *path = on_both_sides(c);
	if (path)
		return g_strdup_printf("NOT COMPARED: %s: this run is on both sides, of base and "
				       "new",
				       path);
	g_autoptr(GString) why = g_string_new(NULL);
	unsigned kinds = 0;
	TALLY_EACH (const struct tally_compare_unlike, u, c->unlike) {
		if (u->kind == TALLY_UNLIKE_NOTE || c->settings.allowed & 1u << u->kind)
			continue;
		kinds |= 1u << u->kind;
		g_string_append_printf(why, "%s%s: %s in base, %s in new", why->len ? "; " : "",
				       u->what, u->side[0], u->side[1]);
	}
	g_autoptr(GString) list = g_string_new(NULL);
	for (unsigned kind = TALLY_UNLIKE_DEVICE; kind < TALLY_N_UNLIKE; kind++)
		if (kinds & 1u << kind)
			g_string_append_printf(list, "%s%s", list->len ? "," : "",
					       tally_unlike_names[kind]);
	if (!kinds)
		return NULL;
	return g_strdup_printf("NOT COMPARED: %s (%s); compare --allow %s compares them all the "
			       "same",
			       kinds & 1u << TALLY_UNLIKE_PROGRAM
				       ? "not the same program"
				       : "the sides differ in what changes times by itself",
			       why->str, list->str);
}

static int
print(const struct compare_request *r, struct tally_compare *c)
{
	struct tally_compare_style style = r->style;
	style.width = style.markdown ? 0 : tally_text_terminal_columns();
	tally_compare_judge(c);
	tally_compare_conclude(c);
	if (r->json)
		tally_compare_print_json(stdout, c);
	else
		tally_compare_print(stdout, c, &style);
	int status = r->junit ? tally_compare_write_junit(r->junit, c) : TALLY_EXIT_OK;
	return status        ? status
	       : c->n_failed ? TALLY_EXIT_REGRESSION
	       : c->settings.has_fail_above && c->conclusion == TALLY_CONCLUSION_INCONCLUSIVE
		       ? TALLY_EXIT_INCONCLUSIVE
		       : TALLY_EXIT_OK;
}

static int
compare(const struct compare_request *r)
{
	struct tally_compare c;
	tally_compare_init(&c);
	c.settings = r->settings;
	c.settings.has_fail_above = r->settings.fail_above >= 0;
	int status = read_sides(r, &c);
	if (status == TALLY_EXIT_OK)
		status = tally_compare_join(&c);
	if (status == TALLY_EXIT_OK)
		status = check_gates(r, &c);
	if (status == TALLY_EXIT_OK) {
		tally_compare_find_unlike(&c);
		g_autofree char *why = tally_compare_refusal(&c);
		if (why)
			status = TALLY_FAIL(TALLY_EXIT_UNLIKE, "compare", "%s", why);
	}
	if (status == TALLY_EXIT_OK)
		status = print(r, &c);
	tally_compare_finish(&c);
	return status;
}

/* With `only_parse` no log is read. */
static int
serve(int argc, char **argv, bool only_parse)
{
	g_autoptr(GPtrArray) logs = g_ptr_array_new();
	g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GArray) gates = g_array_new(FALSE, FALSE, sizeof(struct tally_gate));
	struct compare_request r = {
		.logs = logs,
		.owned = owned,
		.filter = { .patterns = keys, .warmup = TALLY_WARMUP_AUTO, .device = -1 },
		.settings = { .confidence = TALLY_COMPARE_CONFIDENCE,
			      .fail_above = -1,
			      .gates = gates },
	};
	int status = parse(&r, argc, argv);
	return status == TALLY_EXIT_OK && !only_parse ? compare(&r) : status;
}

static int
run(int argc, char **argv)
{
	return serve(argc, argv, false);
}

int
tally_compare_check(int argc, char **argv)
{
	return serve(argc, argv, true);
}

const struct tally_command tally_command_compare =
	TALLY_COMMAND(compare, run, options, &operands);
