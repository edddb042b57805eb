/* SPDX-License-Identifier: MIT */
#include "cli/shared/cli.h"
#include "cli/shared/near.h"
#include "cli/shared/text.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

void
tally_args_init(struct tally_args *args, int argc, char **argv,
		const struct tally_arg *table, size_t n)
{
	*args = (struct tally_args){
		.command = argv[0],
		.argv = argv,
		.argc = argc,
		.next = 1,
		.table = table,
		.n = n,
	};
}

/* `option` is as typed, with its dashes. A list of all options would hide the answer. */
static int
unknown_option(const struct tally_args *args, const char *option, int len)
{
	size_t dashes = strspn(option, "-");
	struct tally_near near;
	tally_near_begin(&near, option + dashes, MAX((size_t)len, dashes) - dashes);
	for (size_t i = 0; i < args->n; i++)
		tally_near_offer(&near, args->table[i].name);
	if (near.best)
		return TALLY_FAIL(
			TALLY_ARG_ERROR, args->command,
			"unknown option %.*s: did you mean --%s? (passtally %s --help "
			"lists all)",
			len, option, near.best, args->command);
	return TALLY_FAIL(TALLY_ARG_ERROR, args->command,
			  "unknown option %.*s: passtally %s --help lists them", len,
			  option, args->command);
}

/* Gets the value of option `i`, spelled `option`: attached, or the next argument. */
static int
take_value(struct tally_args *args, size_t i, const char *attached, const char **value)
{
	const struct tally_arg *arg = &args->table[i];
	if (!arg->values)
		return (int)i;
	bool optional = arg->values[0] == '[';
	const char *next = args->next < args->argc ? args->argv[args->next] : NULL;
	/* "--" ends the options and is never a value. */
	bool may_be = next && strcmp(next, "--") != 0;
	if (optional && next && next[0] == '-')
		may_be = next[1] == '\0'; /* "-" represents a file */
	if (!attached && may_be) {
		attached = next;
		args->next++;
	}
	if (!attached && !optional)
		return TALLY_FAIL(TALLY_ARG_ERROR, args->command,
				  "--%s needs a value: %s", arg->name, arg->values);
	*value = attached;
	return (int)i;
}

static int
next_long(struct tally_args *args, const char *option, const char **value)
{
	const char *equals = strchr(option, '=');
	size_t len = equals ? (size_t)(equals - option) : strlen(option);
	for (size_t i = 0; i < args->n; i++) {
		const struct tally_arg *arg = &args->table[i];
		if (strlen(arg->name) + 2 != len ||
		    strncmp(arg->name, option + 2, len - 2) != 0)
			continue;
		if (equals && !arg->values)
			return TALLY_FAIL(TALLY_ARG_ERROR, args->command,
					  "--%s takes no value", arg->name);
		return take_value(args, i, equals ? equals + 1 : NULL, value);
	}
	return unknown_option(args, option, (int)len);
}

/* `argument` is "-o" or "-oVALUE". */
static int
next_letter(struct tally_args *args, const char *argument, const char **value)
{
	const char *rest = argument[2] ? argument + 2 : NULL;
	for (size_t i = 0; i < args->n; i++)
		if (args->table[i].letter == argument[1] && (args->table[i].values || !rest))
			return take_value(args, i, rest, value);
	return unknown_option(args, argument, (int)strlen(argument));
}

int
tally_args_next(struct tally_args *args, const char **value)
{
	*value = NULL;
	if (args->next >= args->argc)
		return TALLY_ARG_END;
	const char *argument = args->argv[args->next++];
	if (args->only_positional || argument[0] != '-' || argument[1] == '\0') {
		*value = argument;
		return TALLY_ARG_POSITIONAL;
	}
	if (strcmp(argument, "--") == 0) {
		args->only_positional = true;
		return tally_args_next(args, value);
	}
	if (argument[1] == '-')
		return next_long(args, argument, value);
	return next_letter(args, argument, value);
}

int
tally_args_dashes(int argc, char **argv)
{
	int i = 1;
	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

bool
tally_arg_flag(const char *command, const struct tally_arg *arg, void *to,
	       const char *value)
{
	(void)command, (void)arg, (void)value;
	*(bool *)to = true;
	return true;
}

bool
tally_arg_text(const char *command, const struct tally_arg *arg, void *to,
	       const char *value)
{
	(void)command, (void)arg;
	*(const char **)to = value;
	return true;
}

bool
tally_arg_list(const char *command, const struct tally_arg *arg, void *to,
	       const char *value)
{
	(void)command, (void)arg;
	g_ptr_array_add(*(GPtrArray **)to, (gpointer)value);
	return true;
}

bool
tally_arg_one(const char *command, const struct tally_arg *arg, void *to,
	      const char *value)
{
	const char **one = to;
	if (*one)
		tally_cli_complain(command, "one %s at a time: %s and %s are two",
				   arg->values, *one, value);
	else
		*one = value;
	return *one == value;
}

bool
tally_arg_whole(const char *command, const struct tally_arg *arg, void *to,
		const char *value)
{
	guint64 v;
	if (!g_ascii_string_to_unsigned(value, 10, arg->least, arg->most, &v, NULL))
		return TALLY_FAIL(
			false, command,
			"--%s %s: must be a whole number from %" G_GUINT64_FORMAT
			" to %" G_GUINT64_FORMAT,
			arg->name, value, arg->least, arg->most);
	memcpy(to, &v, sizeof(v));
	return true;
}

int
tally_args_read(const struct tally_command *command, int argc, char **argv, void *request)
{
	struct tally_args args;
	tally_args_init(&args, argc, argv, command->options, command->n_options);
	const char *value;
	int option;
	while ((option = tally_args_next(&args, &value)) != TALLY_ARG_END) {
		const struct tally_arg *arg = option >= 0 ? &command->options[option]
							  : command->operands;
		if (option == TALLY_ARG_ERROR)
			return TALLY_EXIT_USAGE;
		if (!arg)
			return TALLY_FAIL(TALLY_EXIT_USAGE, command->name,
					  "unexpected argument %s: passtally %s --help "
					  "shows what goes where",
					  value, command->name);
		if (!arg->take) {
			tally_command_help(command);
			return TALLY_ARG_HELPED;
		}
		if (!arg->take(command->name, arg, (char *)request + arg->at, value))
			return TALLY_EXIT_USAGE;
	}
	return TALLY_EXIT_OK;
}

void
tally_args_help(const struct tally_arg *table, size_t n)
{
	enum { INDENT = 28 };
	size_t columns = tally_text_columns();
	for (size_t i = 0; i < n; i++) {
		const struct tally_arg *arg = &table[i];
		char letter[5] = "    ";
		if (arg->letter)
			g_snprintf(letter, sizeof(letter), "-%c, ", arg->letter);
		g_autofree char *left = g_strdup_printf("  %s--%s%s%s", letter, arg->name,
							arg->values ? " " : "",
							arg->values ? arg->values : "");
		if (strlen(left) + 2 > INDENT)
			printf("%s\n%*s", left, INDENT, "");
		else
			printf("%-*s", INDENT, left);
		tally_text_print_wrapped(stdout, arg->help, INDENT, MAX(columns, 60));
	}
}

void
tally_command_help(const struct tally_command *command)
{
	const char *options = strchr(command->help, *TALLY_HELP_OPTIONS);
	tally_text_print(stdout, "%.*s\n", (int)(options - command->help), command->help);
	if (command->print_options)
		command->print_options();
	else
		tally_args_help(command->options, command->n_options);
	tally_text_print(stdout, "%s\n", options + 1);
}
