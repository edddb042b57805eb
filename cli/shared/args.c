/* SPDX-License-Identifier: MIT */
#include "cli/shared/cli.h"
#include "cli/shared/near.h"
#include "cli/shared/text.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#define INDENT 28 /* where the help of an option begins */

/* An option as the help shows it: "  -o, --log PATH            Where the log goes." */
struct shown {
	char letter; /* 0 = none */
	char name[32];
	char values[64]; /* "" = a switch, "[X]" = optional */
	const char *text; /* may go on in lines that begin with INDENT blanks */
};

/* The arguments of a command, and the next of them. */
struct args {
	const struct tally_command *command;
	GArray *shown; /* elements: struct shown */
	char **argv;
	int argc, next;
};

/* ---- the help ---- */

static bool
read_shown(const char *line, struct shown *s)
{
	if (!g_str_has_prefix(line, "  -") && !g_str_has_prefix(line, "      --"))
		return false;
	const char *name = strstr(line, "--") + 2;
	size_t len = strcspn(name, " \n");
	const char *values = name + len + (name[len] == ' ');
	size_t n = strcspn(values, " \n");
	s->letter = line[2] == '-' ? line[3] : '\0';
	/* Not g_strlcpy(), which reads the whole help behind them for its result. */
	g_snprintf(s->name, sizeof(s->name), "%.*s", (int)len, name);
	g_snprintf(s->values, sizeof(s->values), "%.*s", (int)n, values);
	s->text = values + n;
	return true;
}

/* What the help says of an option, as one line. */
static char *
join_text(const struct shown *s)
{
	GString *text = g_string_new(NULL);
	const char *at = s->text;
	do {
		at += strspn(at, " \n");
		size_t len = strcspn(at, "\n");
		g_string_append_printf(text, "%s%.*s", text->len ? " " : "", (int)len, at);
		at += len;
	} while (strspn(at, "\n") == 1 && strspn(at + 1, " ") == INDENT);
	return g_string_free(text, FALSE);
}

void
tally_command_help(const struct tally_command *command)
{
	tally_text_print(stdout, "%s", strstr(command->help, "\n\n") + 2);
}

static GArray *
list_shown(const char *help)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct shown));
	struct shown s;
	for (const char *line = help; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (read_shown(line, &s))
			g_array_append_val(list, s);
	}
	return list;
}

char *
tally_command_help_of(const struct tally_command *command, const char *option)
{
	g_autoptr(GArray) list = list_shown(command->help);
	for (guint i = 0; i < list->len; i++) {
		const struct shown *s = &g_array_index(list, struct shown, i);
		if (strcmp(s->name, option) == 0)
			return join_text(s);
	}
	return NULL;
}

/* ---- reading ---- */

/* `option` is as typed, with its dashes. A list of all options would hide the answer. */
static const struct shown *
unknown_option(const struct args *args, const char *option, int len)
{
	const char *command = args->command->name;
	size_t dashes = strspn(option, "-");
	struct tally_near near;
	tally_near_begin(&near, option + dashes, MAX((size_t)len, dashes) - dashes);
	for (guint i = 0; i < args->shown->len; i++)
		tally_near_offer(&near, g_array_index(args->shown, struct shown, i).name);
	if (near.best)
		return TALLY_FAIL(
			NULL, command,
			"unknown option %.*s: did you mean --%s? (passtally %s --help "
			"lists all)",
			len, option, near.best, command);
	return TALLY_FAIL(NULL, command, "unknown option %.*s: passtally %s --help lists them",
			  len, option, command);
}

/* The option, with its value, attached or the next argument; NULL after an error. */
static const struct shown *
take_value(struct args *args, const struct shown *s, const char *attached, const char **value)
{
	*value = NULL;
	if (!s->values[0])
		return s;
	bool optional = s->values[0] == '[';
	/* "--" ends the options and is never a value; "-" represents a file. */
	const char *next = args->next < args->argc ? args->argv[args->next] : "--";
	bool may_be = optional ? next[0] != '-' || !next[1] : strcmp(next, "--") != 0;
	if (!attached && may_be) {
		attached = next;
		args->next++;
	}
	if (!attached && !optional)
		return TALLY_FAIL(NULL, args->command->name, "--%s needs a value: %s", s->name,
				  s->values);
	*value = attached;
	return s;
}

/* The option of this name or letter, with its dashes; NULL: none. No switch has a letter with a
 * value. */
static const struct shown *
find_shown(const struct args *args, const char *option, size_t len, bool has_value)
{
	for (guint i = 0; i < args->shown->len; i++) {
		const struct shown *s = &g_array_index(args->shown, struct shown, i);
		if (option[1] == '-' ? strlen(s->name) + 2 == len &&
					       strncmp(s->name, option + 2, len - 2) == 0
				     : s->letter == option[1] && (s->values[0] || !has_value))
			return s;
	}
	return NULL;
}

/* `argument` is "--log", "--log=VALUE", "-o" or "-oVALUE". */
static const struct shown *
take_option(struct args *args, const char *argument, const char **value)
{
	bool is_long = argument[1] == '-';
	size_t len = is_long ? strcspn(argument, "=") : 2;
	const char *attached = argument[len] ? argument + len + is_long : NULL;
	const struct shown *s = find_shown(args, argument, len, attached != NULL);
	if (!s)
		return unknown_option(args, argument, (int)(is_long ? len : strlen(argument)));
	if (attached && !s->values[0])
		return TALLY_FAIL(NULL, args->command->name, "--%s takes no value", s->name);
	return take_value(args, s, attached, value);
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
				   arg->name, *one, value);
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

/* Stores the operand before the next argument. */
static int
store_operand(struct args *args, const char *value, void *request)
{
	const struct tally_command *command = args->command;
	const struct tally_arg *arg = command->operands;
	if (!arg)
		return TALLY_FAIL(TALLY_EXIT_USAGE, command->name,
				  "unexpected argument %s: passtally %s --help "
				  "shows what goes where",
				  value, command->name);
	void *to = (char *)request + arg->at;
	if (arg->take)
		return arg->take(command->name, arg, to, value) ? TALLY_EXIT_OK
								: TALLY_EXIT_USAGE;
	*(char ***)to = args->argv + args->next - 1;
	args->next = args->argc;
	return TALLY_EXIT_OK;
}

/* Stores the option `argument` with its value, or prints the help. */
static int
store_option(struct args *args, const char *argument, void *request)
{
	const struct tally_command *command = args->command;
	const char *value;
	const struct shown *s = take_option(args, argument, &value);
	if (!s)
		return TALLY_EXIT_USAGE;
	if (strcmp(s->name, "help") == 0) {
		tally_command_help(command);
		return TALLY_ARG_HELPED;
	}
	const struct tally_arg other = { .name = s->name, .take = command->other };
	const struct tally_arg *arg = &other;
	for (size_t i = 0; i < command->n_options; i++)
		if (strcmp(command->options[i].name, s->name) == 0)
			arg = &command->options[i];
	return arg->take(command->name, arg, (char *)request + arg->at, value) ? TALLY_EXIT_OK
									       : TALLY_EXIT_USAGE;
}

int
tally_args_read(const struct tally_command *command, int argc, char **argv, void *request)
{
	g_autoptr(GArray) shown = list_shown(command->help);
	struct args args = { command, shown, argv, argc, 1 };
	int status = TALLY_EXIT_OK, end = tally_args_dashes(argc, argv);
	while (status == TALLY_EXIT_OK && args.next < argc) {
		const char *argument = argv[args.next];
		bool is_option = args.next < end && argument[0] == '-' && argument[1];
		if (args.next++ == end)
			continue;
		status = is_option ? store_option(&args, argument, request)
				   : store_operand(&args, argument, request);
	}
	return status;
}
