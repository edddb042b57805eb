#include "cli/cli.h"
#include "cli/probe.h"
#include "cli/text.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

enum { OPT_JSON, OPT_API, OPT_HELP };

static const struct tally_arg options[] = {
	[OPT_JSON] = { "json", 0, NULL,
		       "Print the `device` objects that logs would hold, one a line." },
	[OPT_API] = { "api", 0, "opengl|opengl-es|vulkan",
		      "Which API to ask; by default OpenGL (or OpenGL ES where there is no OpenGL) "
		      "and Vulkan." },
	[OPT_HELP] = { "help", 'h', NULL, "Show this." },
};

static void
help(void)
{
	puts("Usage: passtally counters [options]\n\n"
	     "Lists the counters that this machine offers, by source, with their units. Every\n"
	     "key can be named in `passtally run --counters`.\n");
	tally_args_help(options, G_N_ELEMENTS(options));
	puts("\nThe calls themselves (draws, vertices, instances, dispatches, copies, clears) are\n"
	     "always counted by the source `api` and stand beside the counters in each pass of a\n"
	     "log.\n\n"
	     "Exit status: 0; 1 no device was found; 2 usage; 125 other errors.");
}

/* What is printed, and how many devices were. */
struct output {
	bool json;
	uint32_t n;
};

static void
print_json(const struct tally_device_record *device, uint32_t number)
{
	struct tally_device_record numbered = *device;
	numbered.device = number;
	size_t len = tally_json_write_device(NULL, 0, &numbered);
	char *line = g_malloc(len + 1);
	tally_json_write_device(line, len + 1, &numbered);
	fwrite(line, 1, len, stdout);
	putchar('\n');
	g_free(line);
}

static void
print_source(const struct tally_device_record *device, const struct tally_source_info *source)
{
	char *reason = tally_text_escape(source->reason ? source->reason : "");
	printf("\n%s: %s%s%s\n", source->name, source->on ? "on" : "off", *reason ? ", " : "",
	       reason);
	g_free(reason);
	size_t widest = 0;
	for (uint32_t i = 0; i < device->n_counters; i++)
		if (strcmp(device->counters[i]->source, source->name) == 0)
			widest = MAX(widest, strlen(device->counters[i]->key));
	for (uint32_t i = 0; i < device->n_counters; i++) {
		const struct tally_counter *c = device->counters[i];
		if (strcmp(c->source, source->name) != 0)
			continue;
		char *text = tally_text_escape(c->description ? c->description : c->name);
		printf("  %-*s  %-7s  ", (int)widest, c->key, c->unit);
		size_t columns = tally_text_terminal_columns();
		tally_text_print_wrapped(stdout, text, widest + 13,
					 MAX(columns ? columns : 100, widest + 40));
		g_free(text);
	}
	if (strcmp(source->name, "api") == 0)
		puts("  draws, vertices, instances, dispatches, copies, clears: always counted");
	else if (source->on && widest == 0)
		puts("  the start and the duration of each pass");
}

static void
print_text(const struct tally_device_record *device, const char *const *facts)
{
	char *name = tally_text_escape(device->name ? device->name : "?");
	char *version = tally_text_escape(device->driver_version ? device->driver_version : "?");
	printf("%s (%s), %s%s%s\n", name, tally_api_name(device->api), version, *facts ? ", " : "",
	       *facts ? *facts : "");
	g_free(name);
	g_free(version);
	for (uint32_t i = 0; i < device->n_sources; i++)
		print_source(device, &device->sources[i]);
	bool any = false;
	for (const char *const *fact = facts; *fact; fact++) {
		if (!g_str_has_prefix(*fact, "set ") && !g_str_has_prefix(*fact, "the sets "))
			continue;
		printf("%s%s\n", any ? "" : "\n", *fact);
		any = true;
	}
}

static void
print_device(void *data, const struct tally_device_record *device, const char *const *facts)
{
	struct output *out = data;
	if (out->json)
		print_json(device, out->n++);
	else if (out->n++)
		putchar('\n');
	if (!out->json)
		print_text(device, facts);
}

/* One word of --api; -1 after a complaint. */
static int
parse_api(const char *word)
{
	int api = tally_name_find(tally_api_name, TALLY_N_APIS, word, strlen(word));
	if (api < 0)
		tally_cli_complain("counters", "--api %s: must be opengl, opengl-es or vulkan",
				   word);
	return api;
}

static int
probe(int api, bool json)
{
	/* OpenGL ES is for where there is no OpenGL, unless it is asked for. */
	static const enum tally_api order[] = { TALLY_API_OPENGL, TALLY_API_OPENGL_ES,
						TALLY_API_VULKAN };
	struct output out = { .json = json };
	char all[1600] = "";
	for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
		char why[512] = "";
		if (api >= 0 ? (int)order[i] != api : order[i] == TALLY_API_OPENGL_ES && out.n > 0)
			continue;
		if (!tally_probe(order[i], "all", print_device, &out, why, sizeof(why))) {
			size_t at = strlen(all);
			g_snprintf(all + at, sizeof(all) - at, "%s%s", at ? "; " : "", why);
		}
	}
	if (out.n > 0)
		return TALLY_EXIT_OK;
	tally_cli_complain("counters", "%s", all);
	return TALLY_EXIT_NOTHING;
}

static int
run(int argc, char **argv)
{
	struct tally_args args;
	tally_args_init(&args, argc, argv, options, G_N_ELEMENTS(options));
	const char *value;
	bool json = false;
	int api = -1, option;
	while ((option = tally_args_next(&args, &value)) != TALLY_ARG_END) {
		if (option == OPT_JSON) {
			json = true;
		} else if (option == OPT_API) {
			api = parse_api(value);
			if (api < 0)
				return TALLY_EXIT_USAGE;
		} else if (option == OPT_HELP) {
			help();
			return TALLY_EXIT_OK;
		} else {
			if (option == TALLY_ARG_POSITIONAL)
				tally_cli_complain("counters", "unexpected argument %s", value);
			return TALLY_EXIT_USAGE;
		}
	}
	return probe(api, json);
}

const struct tally_command tally_command_counters = {
	.name = "counters",
	.summary = "List the counters that this machine offers",
	.run = run,
	.help = help,
};
