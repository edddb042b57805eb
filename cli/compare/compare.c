/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare.h"
#include "cli/log/folder.h"
#include "cli/shared/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	OPT_BASE,
	OPT_NEW,
	OPT_FAIL_ABOVE,
	OPT_GATE,
	OPT_KEYS,
	OPT_CONFIDENCE,
	OPT_STATISTIC,
	OPT_WARMUP,
	OPT_DEVICE,
	OPT_ALL,
	OPT_JSON,
	OPT_MARKDOWN,
	OPT_SAME,
	OPT_ALLOW,
	OPT_PER_CLOCK,
	OPT_HELP
};

static const struct tally_arg options[] = {
	[OPT_BASE] = { "base", 0, "LOG", "A log of the base side; may be given again." },
	[OPT_NEW] = { "new", 0, "LOG", "A log of the new side; may be given again." },
	[OPT_FAIL_ABOVE] = { "fail-above", 0, "PERCENT",
			     "Exit with 1 when a time is worse by more than this and "
			     "chance does "
			     "not explain it: gpu_ns of a pass or frame, cpu_ns of a "
			     "frame." },
	[OPT_GATE] = { "gate", 0, "KEY[:less]",
		       "Let a rise of this counter or metric fail too; with :less, a "
		       "fall. p99 is the frame time's, hitches is their number in 1000 "
		       "frames. May be "
		       "given again." },
	[OPT_KEYS] = { "keys", 0, "LIST",
		       "Compare only these: gpu_ns, cpu_ns, draws, ..., counters, "
		       "metrics, with * "
		       "and ?; ',' or '+' between them. Fewer are told apart more "
		       "sharply." },
	[OPT_CONFIDENCE] = { "confidence", 0, "PERCENT",
			     "Of each interval; 100 less it is the chance that anything "
			     "at all is "
			     "told as changed where nothing is. From 50 to 99.99; "
			     "default 99." },
	[OPT_STATISTIC] = { "statistic", 0, "mean|trimmed",
			    "Compare means (default), or means without the lowest and "
			    "highest "
			    "tenth of frames, which single slow frames do not move." },
	[OPT_WARMUP] = { "warmup", 0, "N|auto",
			 "Leave out the first N frames of each device. Default auto: those "
			 "in which the program still loads. 0 keeps all." },
	[OPT_DEVICE] = { "device", 0, "N", "Only this device of each log. Default: as report." },
	[OPT_ALL] = { "all", 0, NULL, "List what did not change too." },
	[OPT_JSON] = { "json", 0, NULL, "Print JSON: everything that was compared." },
	[OPT_MARKDOWN] = { "markdown", 0, NULL, "Print Markdown, for a merge request." },
	[OPT_SAME] = { "same", 0, "PERCENT",
		       "Call a time the same when its interval is within this. Default "
		       "3." },
	[OPT_ALLOW] = { "allow", 0, "LIST",
			"Compare although these differ: device, driver, size (of the "
			"window), options, or all." },
	[OPT_PER_CLOCK] = { "per-clock", 0, NULL,
			    "Compare cycles: GPU times multiplied by the GPU clock of their "
			    "frames (metric gpu_clock). Frame times are left out." },
	[OPT_HELP] = { "help", 'h', NULL, "Show this." },
};

struct compare_request {
	GPtrArray *paths[TALLY_N_SIDES]; /* elements: const char *, given by --base and --new */
	GPtrArray *plain; /* logs without an option, before "--" */
	GPtrArray *behind; /* logs after "--" */
	GArray *gates; /* elements: struct tally_gate */
	GPtrArray *words; /* owned: the keys of the gates, paths of logs looked for */
	struct tally_compare_filter filter;
	double confidence, fail_above, same;
	unsigned allowed; /* bits, 1 << enum tally_unlike_kind */
	bool has_fail_above, trimmed, all, json, markdown;
	uint64_t warmup;
	int64_t device;
};

static void
help(void)
{
	puts("Usage: passtally compare [options] [BASE NEW]\n"
	     "       passtally compare [options] BASE... -- NEW...\n"
	     "       passtally compare [options] --base LOG --base LOG NEW...\n\n"
	     "Says what changed between two runs, or two sides of several runs each: of every\n"
	     "pass and of the frame the GPU time, counts, counters and metrics. Passes are the\n"
	     "same by their identity (docs/identity.md). BASE and NEW are logs; - is standard\n"
	     "input. They need not be of equal length. Without logs they are the two newest of\n"
	     "the program that was captured last, with the name of a program its two newest.\n");
	tally_args_help(options, G_N_ELEMENTS(options));
	puts("\nA change is told when chance does not explain it: frames resemble their "
	     "neighbours,\n"
	     "so errors come from a bootstrap of blocks of frames, and Holm's correction "
	     "stands\n"
	     "over all times, and over all other values. Intervals are of each value alone. "
	     "With\nfive logs a side or\n"
	     "more, runs are compared instead of frames, which takes in what differs "
	     "from run to\n"
	     "run. `~` marks estimates, (ratio) what is no sum. docs/compare.md has the "
	     "method.\n\n"
	     "The same logs give the same output, always.\n\n"
	     "The last line is the verdict. Exit status: 0; with --fail-above 1 a regression, "
	     "4 inconclusive;\n"
	     "5 the sides are not comparable (--allow); 2 usage; 3 a bad log, or nothing to "
	     "compare\n"
	     "in one; 125 other errors.");
}

/* Reads "5", "5%" or "5 %" as 0.05. */
static bool
parse_percent(const char *name, const char *value, double least, double most, double *out)
{
	char *end;
	double v = g_ascii_strtod(value, &end);
	end += strspn(end, " ");
	end += *end == '%';
	if (end == value || *end || !isfinite(v) || v < least || v > most) {
		tally_cli_complain("compare",
				   "--%s %s: must be a percentage from %g to %g", name,
				   value, least, most);
		return false;
	}
	*out = v / 100;
	return true;
}

static bool
add_gate(struct compare_request *r, const char *value)
{
	struct tally_gate gate = { .worse = 1 };
	char *key = g_strdup(value);
	if (g_str_has_suffix(key, ":less")) {
		key[strlen(key) - strlen(":less")] = '\0';
		gate.worse = -1;
	}
	gate.key = key;
	g_ptr_array_add(r->words, key);
	g_array_append_val(r->gates, gate);
	for (unsigned pace = TALLY_PACE_P99; pace < TALLY_N_PACES; pace++)
		r->filter.frame_times |= strcmp(key, tally_pace_key(pace)) == 0;
	if (!*key)
		tally_cli_complain("compare", "--gate needs a key: KEY or KEY:less");
	return *key != '\0';
}

static bool
add_keys(struct compare_request *r, const char *value)
{
	if (!r->filter.patterns)
		r->filter.patterns = g_ptr_array_new_with_free_func(
			(GDestroyNotify)g_pattern_spec_free);
	char **items = g_strsplit_set(value, ",+", -1);
	bool any = false;
	for (char **item = items; *item; item++) {
		if (!**item)
			continue;
		any = true;
		g_ptr_array_add(r->filter.patterns, g_pattern_spec_new(*item));
	}
	g_strfreev(items);
	if (!any)
		tally_cli_complain("compare", "--keys %s: names no key", value);
	return any;
}

static bool
add_allowed(struct compare_request *r, const char *value)
{
	char **items = g_strsplit_set(value, ",+", -1);
	bool good = true;
	for (char **item = items; *item && good; item++) {
		unsigned kind = TALLY_UNLIKE_DEVICE;
		while (kind < TALLY_N_UNLIKE && strcmp(*item, tally_unlike_name(kind)) != 0)
			kind++;
		good = kind < TALLY_N_UNLIKE || strcmp(*item, "all") == 0;
		r->allowed |= kind < TALLY_N_UNLIKE ? 1u << kind : ~0u;
		if (!good)
			tally_cli_complain("compare",
					   "--allow %s: must be of device, driver, size, "
					   "options, all",
					   *item);
	}
	g_strfreev(items);
	return good;
}

static bool
take_option(struct compare_request *r, int option, const char *value, bool behind)
{
	uint64_t number;
	switch (option) {
	case OPT_BASE:
		g_ptr_array_add(r->paths[TALLY_SIDE_BASE], (gpointer)value);
		return true;
	case OPT_NEW:
		g_ptr_array_add(r->paths[TALLY_SIDE_NEW], (gpointer)value);
		return true;
	case OPT_FAIL_ABOVE:
		r->has_fail_above = true;
		return parse_percent("fail-above", value, 0, 1e6, &r->fail_above);
	case OPT_GATE:
		return add_gate(r, value);
	case OPT_KEYS:
		return add_keys(r, value);
	case OPT_CONFIDENCE:
		return parse_percent("confidence", value, 50, 99.99, &r->confidence);
	case OPT_SAME:
		return parse_percent("same", value, 0, 100, &r->same);
	case OPT_ALLOW:
		return add_allowed(r, value);
	case OPT_STATISTIC:
		r->trimmed = strcmp(value, "trimmed") == 0;
		if (r->trimmed || strcmp(value, "mean") == 0)
			return true;
		tally_cli_complain("compare", "--statistic %s: must be mean or trimmed", value);
		return false;
	case OPT_WARMUP:
		return tally_warmup_parse("compare", value, &r->warmup);
	case OPT_DEVICE:
		if (!tally_args_read_whole("compare", "device", value, 0, UINT32_MAX, &number))
			return false;
		r->device = (int64_t)number;
		return true;
	case OPT_ALL:
		r->all = true;
		return true;
	case OPT_PER_CLOCK:
		r->filter.per_clock = true;
		return true;
	case OPT_JSON:
		r->json = true;
		return true;
	case OPT_MARKDOWN:
		r->markdown = true;
		return true;
	default:
		g_ptr_array_add(behind ? r->behind : r->plain, (gpointer)value);
		return true;
	}
}

static void
move(GPtrArray *from, GPtrArray *to)
{
	g_ptr_array_extend(to, from, NULL, NULL);
	g_ptr_array_set_size(from, 0);
}

/* The two newest logs of `program`, or of the program that has the newest log. */
static bool
choose_newest(struct compare_request *r, const char *program)
{
	char *older, *newest;
	if (!tally_folder_choose_two("compare", program, &older, &newest))
		return false;
	g_ptr_array_set_size(r->plain, 0);
	g_ptr_array_add(r->words, older);
	g_ptr_array_add(r->words, newest);
	g_ptr_array_add(r->paths[TALLY_SIDE_BASE], older);
	g_ptr_array_add(r->paths[TALLY_SIDE_NEW], newest);
	return true;
}

/* Neither side is named, and there are not two logs: none, or the name of a program. */
static bool
choose_unnamed(struct compare_request *r)
{
	const char *only = r->plain->len == 1 ? r->plain->pdata[0] : NULL;
	bool is_log = only && (strchr(only, '/') || g_file_test(only, G_FILE_TEST_EXISTS));
	if (r->plain->len < 2 && !is_log)
		return choose_newest(r, only);
	tally_cli_complain("compare",
			   is_log ? "two logs are needed: passtally compare BASE NEW"
				  : "which of the %u logs are new? passtally compare BASE... -- "
				    "NEW...",
			   r->plain->len);
	return false;
}

/* Decides which side the logs without an option are on. Returns false after printing an
 * error. */
static bool
choose_sides(struct compare_request *r)
{
	GPtrArray *base = r->paths[TALLY_SIDE_BASE], *fresh = r->paths[TALLY_SIDE_NEW];
	bool named = base->len || fresh->len;
	if (!named && r->plain->len && r->behind->len) {
		move(r->plain, base);
		move(r->behind, fresh);
		return true;
	}
	move(r->behind, r->plain); /* "--" only ended the options */
	if (!named && r->plain->len == 2) {
		g_ptr_array_add(base, r->plain->pdata[0]);
		g_ptr_array_add(fresh, r->plain->pdata[1]);
		return true;
	}
	if (!named)
		return choose_unnamed(r);
	if (r->plain->len && base->len && fresh->len) {
		tally_cli_complain(
			"compare",
			"%s: is it --base or --new? With both options each log needs one",
			(const char *)r->plain->pdata[0]);
		return false;
	}
	move(r->plain, base->len ? fresh : base);
	if (!base->len || !fresh->len)
		tally_cli_complain("compare", "no log of the %s side is named",
				   base->len ? "new" : "base");
	return base->len && fresh->len;
}

/* Returns TALLY_EXIT_OK to go on and -1 after showing the help. */
static int
parse(struct compare_request *r, int argc, char **argv)
{
	struct tally_args args;
	tally_args_init(&args, argc, argv, options, G_N_ELEMENTS(options));
	const char *value;
	int option;
	while ((option = tally_args_next(&args, &value)) != TALLY_ARG_END) {
		if (option == OPT_HELP) {
			help();
			return -1;
		}
		if (option == TALLY_ARG_ERROR ||
		    !take_option(r, option, value, args.only_positional))
			return TALLY_EXIT_USAGE;
	}
	if (r->json && r->markdown) {
		tally_cli_complain("compare", "--json and --markdown cannot be had at once");
		return TALLY_EXIT_USAGE;
	}
	if (r->filter.per_clock && !tally_compare_wants(&r->filter, "gpu_ns")) {
		tally_cli_complain("compare",
				   "--per-clock compares gpu_ns, which --keys leaves out");
		return TALLY_EXIT_USAGE;
	}
	return choose_sides(r) ? TALLY_EXIT_OK : TALLY_EXIT_USAGE;
}

/* A gate on a key that no log has would always pass, so a mistyped key must be an error. */
static int
check_gates(const struct compare_request *r, const struct tally_compare *c)
{
	for (guint i = 0; i < r->gates->len; i++) {
		const char *key = g_array_index(r->gates, struct tally_gate, i).key;
		bool found = false;
		for (guint k = 0; k < c->rows->len && !found; k++) {
			const struct tally_compare_row *row = g_ptr_array_index(c->rows, k);
			found = strcmp(row->key, key) == 0;
		}
		if (!found) {
			tally_cli_complain(
				"compare", "--gate %s: no log has a value of that key%s", key,
				r->filter.patterns    ? " (as --keys leaves it)"
				: r->filter.per_clock ? " (--per-clock leaves frame times out)"
						      : "");
			return TALLY_EXIT_USAGE;
		}
	}
	if (c->rows->len)
		return TALLY_EXIT_OK;
	tally_cli_complain("compare", "--keys leaves nothing to compare");
	return TALLY_EXIT_USAGE;
}

/* Whether the run is on that side already, perhaps under another name: it counts once. */
static bool
is_there(const GPtrArray *logs, const struct tally_compare_log *log)
{
	const char *run = log->aggregate.identity.run;
	for (guint i = 0; i < logs->len; i++) {
		const struct tally_compare_log *other = g_ptr_array_index(logs, i);
		const char *known = other->aggregate.identity.run;
		if (run && known ? strcmp(run, known) == 0
				 : strcmp(log->aggregate.path, other->aggregate.path) == 0)
			return true;
	}
	return false;
}

static int
read_sides(const struct compare_request *r, struct tally_compare *c)
{
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		for (guint i = 0; i < r->paths[side]->len; i++) {
			struct tally_compare_log *log;
			int status = tally_compare_log_read(&log, r->paths[side]->pdata[i],
							    r->warmup, r->device, &r->filter);
			if (status == TALLY_EXIT_OK && is_there(c->logs[side], log)) {
				tally_cli_complain("compare",
						   "%s: this run is there already and counts once",
						   log->aggregate.path);
				tally_compare_log_destroy(log);
				continue;
			}
			g_ptr_array_add(c->logs[side], log);
			if (status != TALLY_EXIT_OK)
				return status;
		}
	}
	return TALLY_EXIT_OK;
}

/* With --per-clock each side must have cycles: without, nothing would be judged. */
static int
check_clocks(const struct compare_request *r, const struct tally_compare *c)
{
	for (unsigned side = 0; r->filter.per_clock && side < TALLY_N_SIDES; side++) {
		bool found = false;
		for (guint i = 0; i < c->rows->len && !found; i++) {
			const struct tally_compare_row *row = g_ptr_array_index(c->rows, i);
			GPtrArray *values = tally_compare_row_values(c, row, side);
			found = tally_compare_is_cycles(c, row) && values->len;
			g_ptr_array_unref(values);
		}
		if (found)
			continue;
		tally_cli_complain("compare",
				   "--per-clock: no GPU time of the %s side has a clock: its logs "
				   "lack gpu_clock, a metric of the source gauge",
				   side ? "new" : "base");
		return TALLY_EXIT_BAD_LOG;
	}
	return TALLY_EXIT_OK;
}

/* Whether what differs between the sides would be taken for a change of the program. */
static bool
is_refused(const struct compare_request *r, const struct tally_compare *c)
{
	GString *why = g_string_new(NULL);
	unsigned kinds = 0;
	for (guint i = 0; i < c->unlike->len; i++) {
		const struct tally_compare_unlike *u = g_ptr_array_index(c->unlike, i);
		if (u->kind == TALLY_UNLIKE_NOTE || r->allowed & 1u << u->kind)
			continue;
		kinds |= 1u << u->kind;
		g_string_append_printf(why, "%s%s: %s in base, %s in new", why->len ? "; " : "",
				       u->what, u->side[0], u->side[1]);
	}
	GString *list = g_string_new(NULL);
	for (unsigned kind = TALLY_UNLIKE_DEVICE; kind < TALLY_N_UNLIKE; kind++)
		if (kinds & 1u << kind)
			g_string_append_printf(list, "%s%s", list->len ? "," : "",
					       tally_unlike_name(kind));
	if (kinds)
		tally_cli_complain("compare",
				   "NOT COMPARED: the sides are not the same (%s): a change "
				   "could come from that; --allow %s compares them",
				   why->str, list->str);
	g_string_free(list, TRUE);
	g_string_free(why, TRUE);
	return kinds != 0;
}

static int
compare(const struct compare_request *r)
{
	struct tally_compare c;
	tally_compare_init(&c);
	c.settings = (struct tally_compare_settings){
		.confidence = r->confidence,
		.trim = r->trimmed ? 0.1 : 0,
		.same = r->same,
		.per_clock = r->filter.per_clock,
		.has_fail_above = r->has_fail_above,
		.fail_above = r->fail_above,
		.gates = (const struct tally_gate *)(const void *)r->gates->data,
		.n_gates = r->gates->len,
	};
	int status = read_sides(r, &c);
	if (status == TALLY_EXIT_OK) {
		tally_compare_join(&c);
		status = check_clocks(r, &c);
		if (status == TALLY_EXIT_OK)
			status = check_gates(r, &c);
	}
	if (status == TALLY_EXIT_OK) {
		tally_compare_find_unlike(&c);
		if (is_refused(r, &c))
			status = TALLY_EXIT_UNLIKE;
	}
	if (status == TALLY_EXIT_OK) {
		tally_compare_judge(&c);
		tally_compare_conclude(&c);
		const struct tally_compare_style style = {
			.markdown = r->markdown,
			.all = r->all,
			.width = r->markdown ? 0 : tally_text_terminal_columns(),
		};
		if (r->json)
			tally_compare_print_json(stdout, &c);
		else
			tally_compare_print(stdout, &c, &style);
		if (c.n_failed)
			status = TALLY_EXIT_REGRESSION;
		else if (r->has_fail_above && c.conclusion == TALLY_CONCLUSION_INCONCLUSIVE)
			status = TALLY_EXIT_INCONCLUSIVE;
	}
	tally_compare_finish(&c);
	return status;
}

static int
run(int argc, char **argv)
{
	struct compare_request r = {
		.device = -1,
		.confidence = TALLY_COMPARE_CONFIDENCE,
		.same = TALLY_COMPARE_SAME,
		.warmup = TALLY_WARMUP_AUTO,
	};
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		r.paths[side] = g_ptr_array_new();
	r.plain = g_ptr_array_new();
	r.behind = g_ptr_array_new();
	r.gates = g_array_new(FALSE, FALSE, sizeof(struct tally_gate));
	r.words = g_ptr_array_new_with_free_func(g_free);
	int status = parse(&r, argc, argv);
	if (status == TALLY_EXIT_OK)
		status = compare(&r);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		g_ptr_array_unref(r.paths[side]);
	g_ptr_array_unref(r.plain);
	g_ptr_array_unref(r.behind);
	g_array_unref(r.gates);
	g_ptr_array_unref(r.words);
	if (r.filter.patterns)
		g_ptr_array_unref(r.filter.patterns);
	return status < 0 ? TALLY_EXIT_OK : status;
}

const struct tally_command tally_command_compare = {
	.name = "compare",
	.summary = "Say what changed between runs, pass by pass",
	.run = run,
	.help = help,
};
