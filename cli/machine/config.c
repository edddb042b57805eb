/* SPDX-License-Identifier: MIT */
#include "layer/config/config.h"

#include "cli/shared/cli.h"
#include "cli/shared/out.h"
#include "cli/shared/text.h"
#include "cli/machine/wanted.h"
#include "layer/config/load.h"
#include "layer/config/options.h"
#include "layer/session/block.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	bool changed, path, blocklist, json;
	const char *program; /* NULL: no particular program */
};

static const struct tally_arg options[] = {
	TALLY_ARG("changed", tally_arg_flag, struct request, changed),
	TALLY_ARG("path", tally_arg_flag, struct request, path),
	TALLY_ARG("blocklist", tally_arg_flag, struct request, blocklist),
	TALLY_ARG("json", tally_arg_flag, struct request, json),
};

static const struct tally_arg operands =
	TALLY_ARG("program", tally_arg_one, struct request, program);

/* ---- origins of values ---- */

/* The paths of the files, NULL if the home folder is not known. */
struct places {
	char *user, *program;
};

static const char *
origin_word(enum tally_config_origin origin, const char *key)
{
	static const char *const words[] = {
		[TALLY_FROM_DEFAULT] = "default",
		[TALLY_FROM_PROGRAM] = "program",
		[TALLY_FROM_USER_FILE] = "user file",
		[TALLY_FROM_PROGRAM_FILE] = "program file",
		[TALLY_FROM_LAYER_SETTINGS] = "Vulkan's layer settings",
		[TALLY_FROM_ENVIRONMENT] = "PASSTALLY_OPTIONS",
		[TALLY_FROM_COMMAND_LINE] = "command line",
	};
	const char *log = getenv("PASSTALLY_LOG");
	if (origin == TALLY_FROM_ENVIRONMENT && strcmp(key, "log") == 0 && log && *log)
		return "PASSTALLY_LOG";
	return words[origin];
}

static char *
value_of(const struct tally_config *config, size_t i)
{
	size_t len = tally_option_get(&tally_options[i], config, NULL, 0);
	char *value = g_malloc(len + 1);
	tally_option_get(&tally_options[i], config, value, len + 1);
	return value;
}

static struct tally_block_verdict
verdict_of(const struct request *r, const struct tally_config *config)
{
	if (!r->program)
		return (struct tally_block_verdict){ 0 };
	return tally_block_decide(config, r->program, NULL, 0);
}

static const char *
reason_of(const struct tally_block_verdict *v)
{
	return v->entry ? v->entry->reason : "the option block names it";
}

/* ---- text output ---- */

static void
print_place(const char *what, const char *path)
{
	g_autofree char *shown = path ? tally_text_escape(path) : NULL;
	tally_text_print(stdout, "%-13s %s%s\n", what,
			 shown ? shown : "no home is known: none is read",
			 path && access(path, F_OK) != 0 ? " (not there)" : "");
}

static void
print_variable(const char *name)
{
	const char *value = getenv(name);
	g_autofree char *shown = tally_text_escape(value ? value : "");
	tally_text_print(stdout, "%-13s %s%s%s\n", "environment", name,
			 value ? "=" : " is not set", shown);
}

static void
print_options(const struct request *r, const struct tally_config *config)
{
	size_t width = strlen("option");
	size_t wide = strlen("value"), n = 0;
	g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
	for (size_t i = 0; i < tally_n_options; i++) {
		g_autofree char *value = value_of(config, i);
		char *shown = *value ? tally_text_escape(value) : g_strdup("-");
		g_ptr_array_add(values, shown);
		width = MAX(width, strlen(tally_options[i].key));
		wide = MAX(wide, tally_text_width(shown));
		n += !r->changed || config->origin[i] != TALLY_FROM_DEFAULT;
	}
	if (n == 0) {
		puts("\nevery option has its default");
		return;
	}
	wide = MIN(wide, 40);
	tally_text_print(stdout, "\n%-*s  %-*s  %s\n", (int)width, "option", (int)wide, "value",
			 "from");
	for (size_t i = 0; i < tally_n_options; i++) {
		const char *shown = g_ptr_array_index(values, i);
		const char *key = tally_options[i].key;
		if (r->changed && config->origin[i] == TALLY_FROM_DEFAULT)
			continue;
		size_t used = tally_text_width(shown);
		tally_text_print(stdout, "%-*s  %s%*s  %s\n", (int)width, key, shown,
				 (int)(used < wide ? wide - used : 0), "",
				 origin_word(config->origin[i], key));
	}
}

static void
print_text(const struct request *r, const struct tally_config *config,
	   const struct places *places)
{
	struct tally_block_verdict v = verdict_of(r, config);
	g_autofree char *program = tally_text_escape(r->program ? r->program : "");
	if (getenv("PASSTALLY_DISABLE"))
		puts("PASSTALLY_DISABLE is set: nothing is captured until it is unset\n");
	if (v.blocked)
		tally_text_print(stdout, "%s is left alone: %s; allow=%s captures it\n\n",
				 program, reason_of(&v), v.name);
	else if (r->program)
		tally_text_print(stdout, "%s is captured%s\n\n", program,
				 v.name ? ": the option allow names it" : "");
	print_place("user file", places->user);
	if (r->program)
		print_place("program file", places->program);
	print_variable("PASSTALLY_OPTIONS");
	print_variable("PASSTALLY_LOG");
	print_options(r, config);
	for (uint32_t i = 0; i < config->n_metrics; i++) {
		const struct tally_config_metric *m = &config->metrics[i];
		g_autofree char *key = tally_text_escape(m->key);
		g_autofree char *file = tally_text_escape(m->file);
		tally_text_print(stdout, "%smetric %s  %s:%u\n", i ? "" : "\n", key, file,
				 m->line);
	}
}

static void
print_blocklist(void)
{
	const struct tally_block_entry *all = tally_blocklist;
	size_t n = tally_blocklist_names + tally_blocklist_globs + tally_blocklist_arguments;
	size_t width = 0;
	for (size_t i = 0; i < n; i++)
		width = MAX(width, strlen(all[i].pattern));
	for (size_t i = 0; i < n; i++)
		tally_text_print(stdout, "%-*s  %s\n", (int)width, all[i].pattern,
				 all[i].reason);
}

/* ---- JSON output ---- */

static void
put_file(struct tally_out *o, const char *kind, const char *path)
{
	tally_out_object(o, NULL);
	tally_out_text(o, "kind", kind);
	tally_out_text_or_null(o, "path", path);
	tally_out_bool(o, "there", path && access(path, F_OK) == 0);
	tally_out_end_object(o);
}

static void
put_options(struct tally_out *o, const struct request *r, const struct tally_config *config)
{
	tally_out_array(o, "options");
	for (size_t i = 0; i < tally_n_options; i++) {
		if (r->changed && config->origin[i] == TALLY_FROM_DEFAULT)
			continue;
		const char *key = tally_options[i].key;
		g_autofree char *value = value_of(config, i);
		g_autofree char *help = tally_command_help_of(&tally_command_run, key);
		tally_out_object(o, NULL);
		tally_out_text(o, "option", key);
		tally_out_text_or_null(o, "value", *value ? value : NULL);
		tally_out_text(o, "from", origin_word(config->origin[i], key));
		tally_out_text_or_null(o, "values", tally_options[i].values);
		tally_out_text(o, "help", help);
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
}

static void
put_metrics(struct tally_out *o, const struct tally_config *config)
{
	tally_out_array(o, "metrics");
	for (uint32_t i = 0; i < config->n_metrics; i++) {
		const struct tally_config_metric *m = &config->metrics[i];
		tally_out_object(o, NULL);
		tally_out_text_or_null(o, "metric", m->key);
		tally_out_text_or_null(o, "expression", m->expression);
		tally_out_text_or_null(o, "path", m->file);
		tally_out_u64(o, "line", m->line);
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
}

static void
print_json(const struct request *r, const struct tally_config *config,
	   const struct places *places)
{
	struct tally_out o;
	struct tally_block_verdict v = verdict_of(r, config);
	tally_out_init(&o, stdout);
	tally_out_object(&o, NULL);
	tally_out_text_or_null(&o, "program", r->program);
	tally_out_array(&o, "files");
	put_file(&o, "user file", places->user);
	if (r->program)
		put_file(&o, "program file", places->program);
	tally_out_end_array(&o);
	put_options(&o, r, config);
	put_metrics(&o, config);
	tally_out_bool(&o, "disabled", getenv("PASSTALLY_DISABLE") != NULL);
	tally_out_bool(&o, "left_alone", v.blocked);
	tally_out_text_or_null(&o, "reason", v.blocked ? reason_of(&v) : NULL);
	tally_out_end_object(&o);
	tally_out_char(&o, '\n');
	tally_out_flush(&o);
}

/* ---- the command ---- */

static int
show_path(const struct request *r, const struct places *places)
{
	const char *path = r->program ? places->program : places->user;
	if (path && isatty(STDOUT_FILENO)) {
		tally_text_print_line(stdout, "%s", path);
		return TALLY_EXIT_OK;
	}
	if (path) { /* for "$(passtally config --path)": the exact bytes, not escaped */
		struct tally_out o;
		tally_out_init(&o, stdout);
		tally_out_put(&o, path);
		tally_out_char(&o, '\n');
		tally_out_flush(&o);
		return TALLY_EXIT_OK;
	}
	if (r->program && places->user)
		tally_cli_complain("config", "the program's name is too long for its own file");
	else
		tally_cli_complain("config", "neither XDG_CONFIG_HOME nor HOME is set: "
					     "there is no place for a file");
	return TALLY_EXIT_FAILED;
}

static int
show(const struct request *r)
{
	struct places places = { tally_config_file_path(NULL), NULL };
	if (r->program)
		places.program = tally_config_file_path(r->program);
	int status = TALLY_EXIT_OK;
	if (r->path) {
		status = show_path(r, &places);
	} else {
		struct tally_config config;
		tally_config_init(&config);
		/* Reports everything that `passtally run` would refuse. */
		void *name = (void *)"config";
		bool loaded = tally_config_load(&config, r->program, tally_cli_report, name);
		if (!loaded || !tally_wanted_check(&config, tally_cli_report, name))
			status = TALLY_EXIT_USAGE;
		if (!config.origin)
			status = TALLY_EXIT_FAILED;
		else if (r->json)
			print_json(r, &config, &places);
		else
			print_text(r, &config, &places);
		tally_config_finish(&config);
	}
	free(places.user);
	free(places.program);
	return status;
}

/* Words that cannot be combined, or that are no program's name; prints an error about them. */
static bool
is_refused(const struct request *r)
{
	size_t word = r->program ? strspn(r->program, "abcdefghijklmnopqrstuvwxyz-") : 0;
	if (r->program && !*r->program)
		tally_cli_complain("config", "the name of a program cannot be empty");
	else if (word && r->program[word] == '=')
		tally_cli_complain("config",
				   "%s: config takes the name of a program and sets nothing; to "
				   "see the option in force: PASSTALLY_OPTIONS=%s passtally config",
				   r->program, r->program);
	else if ((r->path || r->blocklist) && r->path + r->blocklist + r->json + r->changed > 1)
		tally_cli_complain("config", "--path and --blocklist stand alone, or "
					     "with the name of a program");
	else
		return false;
	return true;
}

static int
run(int argc, char **argv)
{
	struct request r = { 0 };
	int status = tally_args_read(&tally_command_config, argc, argv, &r);
	if (status != TALLY_EXIT_OK)
		return status;
	if (is_refused(&r))
		return TALLY_EXIT_USAGE;
	if (!r.blocklist)
		return show(&r);
	print_blocklist();
	return TALLY_EXIT_OK;
}

const struct tally_command tally_command_config =
	TALLY_COMMAND(config, run, options, &operands);
