/* SPDX-License-Identifier: MIT */
#include "cli/shared/cli.h"
#include "cli/shared/near.h"
#include "cli/shared/text.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* The arguments of a command, and the next of them. */
struct args {
	const struct tally_command *command;
	char **argv;
	int argc, next;
};

/* `option` is as typed, with its dashes. A list of all options would hide the answer. */
static const struct tally_arg *
unknown_option(const struct args *args, const char *option, int len)
{
	const struct tally_command *command = args->command;
	size_t dashes = strspn(option, "-");
	struct tally_near near;
	tally_near_begin(&near, option + dashes, MAX((size_t)len, dashes) - dashes);
	for (size_t i = 0; i < command->n_options; i++)
		tally_near_offer(&near, command->options[i].name);
	if (near.best)
		return TALLY_FAIL(
			NULL, command->name,
			"unknown option %.*s: did you mean --%s? (passtally %s --help "
			"lists all)",
			len, option, near.best, command->name);
	return TALLY_FAIL(NULL, command->name,
			  "unknown option %.*s: passtally %s --help lists them", len,
			  option, command->name);
}

/* The option with its value, attached or the next argument; NULL after an error. */
static const struct tally_arg *
take_value(struct args *args, const struct tally_arg *arg, const char *attached,
	   const char **value)
{
	*value = NULL;
	if (!arg->values)
		return arg;
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
		return TALLY_FAIL(NULL, args->command->name, "--%s needs a value: %s",
				  arg->name, arg->values);
	*value = attached;
	return arg;
}

static const struct tally_arg *
take_long(struct args *args, const char *option, const char **value)
{
	const char *equals = strchr(option, '=');
	size_t len = equals ? (size_t)(equals - option) : strlen(option);
	for (size_t i = 0; i < args->command->n_options; i++) {
		const struct tally_arg *arg = &args->command->options[i];
		if (strlen(arg->name) + 2 != len ||
		    strncmp(arg->name, option + 2, len - 2) != 0)
			continue;
		if (equals && !arg->values)
			return TALLY_FAIL(NULL, args->command->name,
					  "--%s takes no value", arg->name);
		return take_value(args, arg, equals ? equals + 1 : NULL, value);
	}
	return unknown_option(args, option, (int)len);
}

/* `argument` is "-o" or "-oVALUE". */
static const struct tally_arg *
take_letter(struct args *args, const char *argument, const char **value)
{
	const char *rest = argument[2] ? argument + 2 : NULL;
	for (size_t i = 0; i < args->command->n_options; i++) {
		const struct tally_arg *arg = &args->command->options[i];
		if (arg->letter == argument[1] && (arg->values || !rest))
			return take_value(args, arg, rest, value);
	}
	return unknown_option(args, argument, (int)strlen(argument));
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

static const struct tally_arg *
take_option(struct args *args, const char *argument, const char **value)
{
	return argument[1] == '-' ? take_long(args, argument, value)
				  : take_letter(args, argument, value);
}

/* Stores an option, or the operand before the next argument, or prints the help. */
static int
store(struct args *args, const struct tally_arg *arg, const char *value, void *request)
{
	const struct tally_command *command = args->command;
	if (!arg)
		return TALLY_FAIL(TALLY_EXIT_USAGE, command->name,
				  "unexpected argument %s: passtally %s --help "
				  "shows what goes where",
				  value, command->name);
	void *to = (char *)request + arg->at;
	if (arg->take)
		return arg->take(command->name, arg, to, value) ? TALLY_EXIT_OK
								: TALLY_EXIT_USAGE;
	if (arg == command->operands) {
		*(char ***)to = args->argv + args->next - 1;
		args->next = args->argc;
		return TALLY_EXIT_OK;
	}
	tally_command_help(command);
	return TALLY_ARG_HELPED;
}

int
tally_args_read(const struct tally_command *command, int argc, char **argv, void *request)
{
	struct args args = { command, argv, argc, 1 };
	int status = TALLY_EXIT_OK, end = tally_args_dashes(argc, argv);
	while (status == TALLY_EXIT_OK && args.next < argc) {
		const char *argument = argv[args.next], *value = argument;
		const struct tally_arg *arg = command->operands;
		bool is_option = args.next < end && argument[0] == '-' && argument[1];
		if (args.next++ == end)
			continue;
		if (is_option)
			arg = take_option(&args, argument, &value);
		status = is_option && !arg ? TALLY_EXIT_USAGE
					   : store(&args, arg, value, request);
	}
	return status;
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
