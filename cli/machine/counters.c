/* SPDX-License-Identifier: MIT */
#include "cli/machine/catalogue.h"
#include "cli/machine/counters_sets.h"
#include "cli/shared/cli.h"
#include "cli/shared/out.h"
#include "cli/machine/ask.h"
#include "cli/machine/wanted.h"
#include "cli/shared/text.h"
#include "layer/config/load.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* The request, and the number of devices printed. */
struct output {
	bool json, catalogue;
	int api; /* -1: all existing devices */
	const char *counters; /* as given; NULL = all */
	const char *gpu; /* of --catalogue; NULL = list the names */
	struct tally_ask_wish wish;
	uint32_t n;
	bool has_set; /* a device has the set that was requested */
};

/* Reads one word of --api. */
static bool
take_api(const char *command, const struct tally_arg *arg, void *to, const char *word)
{
	struct output *out = to;
	out->api = tally_name_find(tally_api_name, TALLY_N_APIS, word, strlen(word));
	if (out->api < 0)
		tally_cli_complain(command, "--%s %s: must be opengl, opengl-es or vulkan",
				   arg->name, word);
	return out->api >= 0;
}

static bool
take_catalogue(const char *command, const struct tally_arg *arg, void *to, const char *gpu)
{
	struct output *out = to;
	(void)command, (void)arg;
	out->catalogue = true;
	out->gpu = gpu;
	return true;
}

static const struct tally_arg options[] = {
	TALLY_ARG("json", tally_arg_flag, struct output, json),
	TALLY_ARG_TAKE("api", take_api),
	TALLY_ARG("counters", tally_arg_text, struct output, counters),
	TALLY_ARG("set", tally_arg_text, struct output, wish.set),
	TALLY_ARG_TAKE("catalogue", take_catalogue),
};

static void
print_json(const struct output *out, const struct tally_device_record *device)
{
	struct tally_device_record numbered = *device;
	numbered.device = out->n;
	size_t len = tally_json_write_device(NULL, 0, &numbered);
	g_autofree char *line = g_malloc(len + 1);
	tally_json_write_device(line, len + 1, &numbered);
	struct tally_out o;
	tally_out_init(&o, stdout);
	/* The object's closing brace comes after the member that only this command adds. */
	line[len - 1] = '\0';
	tally_out_json(&o, line);
	o.comma = true;
	if (device->n_sets)
		tally_out_u64(&o, "rotation_frames", tally_sets_rotation(device, out->wish.set));
	tally_out_put(&o, "}\n");
	tally_out_flush(&o);
}

static void
print_sets(const struct tally_device_record *device, const char *source)
{
	for (uint32_t i = 0; i < device->n_sets; i++) {
		if (strcmp(device->sets[i].source, source) != 0)
			continue;
		g_autofree char *name = tally_text_escape(device->sets[i].name);
		g_autofree char *size = tally_set_size(device, &device->sets[i]);
		tally_text_print(stdout, "  set %u, %s: %s\n", i + 1, name, size);
	}
}

static void
print_source(const struct tally_device_record *device, const struct tally_source_info *source)
{
	const char *reason = source->reason ? source->reason : "";
	putchar('\n');
	tally_text_print_folded(2, "%s: %s%s%s", source->name, source->on ? "on" : "off",
				*reason ? ", " : "", reason);
	print_sets(device, source->name);
	bool any = tally_counters_print(device, source->name);
	const struct tally_source_row *row = tally_source_row_find(source->name);
	if (row && source->on && !any && row->besides)
		printf("  %s\n", row->besides);
}

static void
print_text(const struct output *out, const struct tally_device_record *device,
	   const struct tally_ask_place *place)
{
	const char *fact = place ? place->name : device->n_facts ? device->facts[0] : NULL;
	tally_text_print_folded(2, "%s (%s), %s%s%s", device->name ? device->name : "?",
				tally_api_name(device->api),
				device->driver_version ? device->driver_version : "?",
				fact ? ", " : "", fact ? fact : "");
	bool shared = false;
	for (uint32_t i = 0; i < device->n_sources; i++) {
		bool snapshot = tally_ask_snapshot(device->sources[i].name) != NULL;
		if (snapshot && out->n)
			continue;
		if (snapshot && !shared)
			puts("\nWith each device, read by the CPU while passes run (--snapshot):");
		shared |= snapshot;
		print_source(device, &device->sources[i]);
	}
	if (!device->n_sets)
		return;
	g_autofree char *sentence = tally_sets_rotation_text(device, out->wish.set);
	putchar('\n');
	tally_text_print_folded(0, "%s", sentence);
}

static void
print_device(void *data, const struct tally_device_record *device,
	     const struct tally_ask_place *place)
{
	struct output *out = data;
	if (!out->json && out->n)
		putchar('\n');
	if (out->json)
		print_json(out, device);
	else
		print_text(out, device, place);
	out->has_set |= out->wish.set && tally_sets_rotation(device, out->wish.set);
	out->n++;
}

static int
ask_all(struct output *out)
{
	/* OpenGL ES is used only where there is no OpenGL, unless it is requested. */
	static const enum tally_api order[] = { TALLY_API_OPENGL, TALLY_API_OPENGL_ES,
						TALLY_API_VULKAN };
	char all[1600] = "";
	for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
		char why[512] = "";
		if (out->api >= 0 ? (int)order[i] != out->api
				  : order[i] == TALLY_API_OPENGL_ES && out->n > 0)
			continue;
		if (!tally_ask(order[i], &out->wish, print_device, out, why, sizeof(why))) {
			size_t at = strlen(all);
			g_snprintf(all + at, sizeof(all) - at, "%s%s", at ? "; " : "", why);
		}
	}
	if (out->n > 0 && out->wish.set && !out->has_set)
		return TALLY_FAIL(TALLY_EXIT_NOTHING, "counters",
				  "--set %s: there is no set of counters with that name here",
				  out->wish.set);
	if (out->n > 0)
		return TALLY_EXIT_OK;
	return TALLY_FAIL(TALLY_EXIT_NOTHING, "counters", "%s", all);
}

/* Whether all names of the list are known, also as metrics that the user defined; reports those
 * that are not. */
static bool
is_known(const char *list)
{
	struct tally_config config;
	tally_config_init(&config);
	tally_config_load(&config, NULL, tally_cli_ignore, NULL);
	bool known = tally_wanted_check_counters(&config, list, tally_cli_report,
						 (void *)"counters");
	tally_config_finish(&config);
	return known;
}

static int
run(int argc, char **argv)
{
	struct output out = { .api = -1 };
	int status = tally_args_read(&tally_command_counters, argc, argv, &out);
	if (status != TALLY_EXIT_OK)
		return status;
	if (out.catalogue)
		return tally_catalogue_print(out.gpu, out.json);
	if (out.counters && !is_known(out.counters))
		return TALLY_EXIT_USAGE;
	out.wish.counters = out.counters ? out.counters : "all";
	out.wish.snapshots = true;
	return ask_all(&out);
}

const struct tally_command tally_command_counters =
	TALLY_COMMAND(counters, run, options, NULL);
