/* SPDX-License-Identifier: MIT */
#include "cli/install/elf_file.h"
#include "cli/install/injected.h"
#include "cli/install/vk_manifest.h"
#include "cli/machine/doctor_proton.h"
#include "cli/machine/snapshot_facts.h"
#include "cli/shared/cli.h"
#include "cli/machine/doctor_rows.h"
#include "cli/machine/ask.h"
#include "passtally_version.h"
#include "layer/base/version.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"
#include "cli/machine/wanted.h"
#include "layer/config/load.h"
#include "query/sources.h"
#include "layer/config/config.h"

#include <dlfcn.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CORE "libpasstally.so.0"
#define LAYER "libVkLayer_passtally.so"

struct request {
	bool proton;
};

static const struct tally_arg options[] = {
	TALLY_ARG("proton", tally_arg_flag, struct request, proton),
};

static bool
check_library(const struct tally_injected *in)
{
	if (!in->path) {
		g_autoptr(GString) tried = g_string_new(NULL);
		for (guint i = 0; i < in->tried->len; i++)
			g_string_append_printf(tried, "%s%s", i ? ", " : "",
					       (const char *)g_ptr_array_index(in->tried, i));
		tally_doctor_row(
			TALLY_DOCTOR_BAD, "library",
			"libpasstally_gl.so was not found; looked for %s: install all of passtally",
			tried->str);
		return false;
	}
	struct tally_elf_file file = tally_elf_file_read(in->path);
	tally_doctor_row(TALLY_DOCTOR_GOOD, "library", "%s, for %s programs", in->path,
			 tally_elf_machine_name(&file));
	TALLY_EACH (const char, path, in->others) {
		file = tally_elf_file_read(path);
		tally_doctor_row(TALLY_DOCTOR_GOOD, "library", "%s, for %s programs",
				 path, tally_elf_machine_name(&file));
	}
	if (!in->preload)
		tally_doctor_row(TALLY_DOCTOR_OFF, "preload",
				 "the library's path contains a blank, a colon or a dollar sign, "
				 "which LD_PRELOAD does not accept: `passtally run` uses a link");
	if (in->others->len && (!in->preload || !strstr(in->preload, "$LIB")))
		tally_doctor_row(TALLY_DOCTOR_OFF, "architectures",
				 "the system's $LIB does not lead to the library's folder: only "
				 "programs of passtally's own architecture are captured");
	return true;
}

/* The version of a core library, read from its file; NULL if it has none. The caller frees
 * it. */
static char *
core_version(const char *path)
{
	enum { LONGEST = 64 };
	g_autofree char *bytes = NULL;
	gsize len = 0;
	if (!g_file_get_contents(path, &bytes, &len, NULL))
		return NULL;
	static const char mark[] = TALLY_VERSION_MARK;
	const char *at = memmem(bytes, len, mark, strlen(mark));
	if (!at)
		return NULL;
	at += strlen(mark);
	return g_strndup(at, MIN((size_t)(bytes + len - at), LONGEST));
}

/* A file that belongs to the library: in the same folder or, in a build tree, in the parent
 * folder or that of the layer. NULL if it is in none of them. */
static char *
beside(const char *library, const char *name)
{
	static const char *const folders[] = { ".", "..", "../vk_layer" };
	g_autofree char *folder = g_path_get_dirname(library);
	bool built = g_str_has_suffix(folder, "/gl_shim");
	for (size_t i = 0; i < (built ? G_N_ELEMENTS(folders) : 1); i++) {
		char *path = i ? g_build_filename(folder, folders[i], name, NULL)
			       : g_build_filename(folder, name, NULL);
		if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
			return path;
		g_free(path);
	}
	return NULL;
}

/* Checks the core and the layer that belong to one library. */
static bool
check_libraries_of(const char *library, bool ours)
{
	struct tally_elf_file file = tally_elf_file_read(library);
	const char *machine = tally_elf_machine_name(&file);
	enum tally_doctor_mark bad = ours ? TALLY_DOCTOR_BAD : TALLY_DOCTOR_OFF;
	g_autofree char *core = beside(library, CORE);
	g_autofree char *layer = beside(library, LAYER);
	if (!core) {
		tally_doctor_row(
			bad, "installation",
			"%s is not beside %s: %s programs cannot load it; install all of passtally",
			CORE, library, machine);
		return false;
	}
	g_autofree char *version = core_version(core);
	if (!version || strcmp(version, PASSTALLY_VERSION) != 0) {
		tally_doctor_row(bad, "installation",
				 "%s is of version %s, the command of %s: install all of "
				 "one version",
				 core, version ? version : "(unknown)", PASSTALLY_VERSION);
		return false;
	}
	if (!layer && !ours)
		tally_doctor_row(TALLY_DOCTOR_OFF, "installation",
				 "no %s beside %s: of %s programs only OpenGL can be captured",
				 LAYER, library, machine);
	return true;
}

/* The installation is complete and of one version: false if the libraries for this machine's own
 * architecture are unusable. */
static bool
check_installation(const struct tally_injected *in)
{
	bool ok = check_libraries_of(in->path, true);
	guint good = ok;
	for (guint i = 0; i < in->others->len; i++)
		good += check_libraries_of(g_ptr_array_index(in->others, i), false);
	if (good == in->others->len + 1)
		tally_doctor_row(TALLY_DOCTOR_GOOD, "installation",
				 "command and libraries are of version %s", PASSTALLY_VERSION);
	return ok;
}

/* Why the layer is not loaded: another architecture's build may have written the manifest. NULL if
 * that is not the reason; the caller frees it. */
static char *
wrong_manifest(const struct tally_vk_manifest *m)
{
	g_autofree char *named = tally_vk_manifest_names(m->path);
	if (!named || !strchr(named, '/'))
		return NULL;
	struct tally_elf_file named_file = tally_elf_file_read(named);
	struct tally_elf_file file = tally_elf_file_read(m->library);
	const char *machine = tally_elf_machine_name(&named_file);
	if (strcmp(machine, tally_elf_machine_name(&file)) == 0)
		return NULL;
	return g_strdup_printf("its manifest %s is of a build for %s programs: install "
			       "that of %s ones again",
			       m->path, machine, tally_elf_machine_name(&file));
}

/* Whether the Vulkan layer is there. Whether it is loaded, its devices show: report_layer(). */
static bool
find_layer(struct tally_vk_manifest *m)
{
	tally_vk_manifest_find(m);
	if (!m->library)
		tally_doctor_row(TALLY_DOCTOR_FIX, "layer",
				 "the Vulkan layer was not found beside the command (no %s): "
				 "only OpenGL can be captured; install all of passtally",
				 (const char *)g_ptr_array_index(m->tried, m->tried->len - 1));
	return m->library != NULL;
}

/* `why`: the reason that a program with the layer left no device; NULL: it did. */
static void
report_layer(const struct tally_vk_manifest *m, const char *why)
{
	g_autofree char *wrong = why ? wrong_manifest(m) : NULL;
	if (why)
		tally_doctor_row(wrong ? TALLY_DOCTOR_FIX : TALLY_DOCTOR_OFF, "layer",
				 "%s: %s", m->library, wrong ? wrong : why);
	else
		tally_doctor_row(
			TALLY_DOCTOR_GOOD, "layer", "%s, %s", m->library,
			m->implicit ? "found by Vulkan's loader: PASSTALLY=1 switches it on"
				    : "not where Vulkan's loader looks: `passtally run` "
				      "tells the loader its path");
}

static void
complain(void *data, const char *message)
{
	(void)data;
	tally_doctor_row(TALLY_DOCTOR_BAD, "configuration", "%s", message);
}

/* Creates a file to test it: permissions do not reveal read-only and unusual file systems.
 * The file is removed again. */
static bool
can_write_in(const char *folder)
{
	g_autofree char *path = g_build_filename(folder, ".passtally-XXXXXX", NULL);
	bool ok = g_mkdtemp(path) != NULL;
	if (ok)
		g_rmdir(path);
	return ok;
}

/* Also false for a configuration with an error: `passtally run` refuses to start with it. */
static bool
check_log(void)
{
	struct tally_config config;
	tally_config_init(&config);
	bool valid = tally_config_load(&config, "program", complain, NULL) &&
		     tally_wanted_check(&config, complain, NULL);
	if (valid)
		tally_doctor_row(TALLY_DOCTOR_GOOD, "configuration",
				 "no error in the files and the environment");
	g_autofree char *decides = NULL, *folder = tally_doctor_log_folder(&config, &decides);
	tally_config_finish(&config);
	if (!folder) {
		tally_doctor_row(
			TALLY_DOCTOR_BAD, "log",
			"neither XDG_STATE_HOME nor HOME is set: name a place with --log PATH");
		return false;
	}
	bool writable = can_write_in(decides);
	if (writable)
		tally_doctor_row(TALLY_DOCTOR_GOOD, "log", "goes to %s", folder);
	else
		tally_doctor_row(
			TALLY_DOCTOR_BAD, "log",
			"%s cannot be written to%s%s: name another place with --log "
			"PATH, or set XDG_STATE_HOME",
			decides, strcmp(decides, folder) ? " on the way to " : "",
			strcmp(decides, folder) ? folder : "");
	return valid && writable;
}

/* What a user can do about a source that is off. */
static const char *
advice(const char *source, enum tally_api api)
{
	const struct tally_source_row *row = tally_source_row_find(source);
	if (row && api == TALLY_API_OPENGL_ES && row->without_es)
		return row->without_es;
	if (row && row->without)
		return row->without;
	return "the other sources go on without it";
}

/* What was found on the way. */
struct seen {
	bool any, hardware; /* a device; counters of the GPU's own */
	bool snapshots; /* sources that are the same on each device: in a row */
	bool display; /* an OpenGL device was seen on the display */
};

/* If OpenGL was found, OpenGL ES is only among the other rows. */
static bool
in_answer(enum tally_api api, const struct seen *seen)
{
	return api != TALLY_API_OPENGL_ES || !seen->any;
}

/* `snapshot`: its row, if the CPU reads it. */
static void
add_source(const struct tally_device_record *device, const struct tally_source_info *s,
	   const struct tally_snapshot_source_row *snapshot, struct seen *seen)
{
	const struct tally_source_row *row = tally_source_row_find(s->name);
	const char *reason = s->reason ? s->reason : s->on ? "" : "no reason given";
	g_autofree char *what = g_strconcat(snapshot ? "" : "  ", s->name, NULL);
	g_autofree char *remains = tally_doctor_remains(device, s->name);
	const char *todo = snapshot  ? snapshot->row.without
			   : remains ? remains
				     : advice(s->name, device->api);
	uint32_t n = 0;
	for (uint32_t k = 0; k < device->n_counters; k++)
		n += strcmp(device->counters[k]->source, s->name) == 0;
	seen->hardware |= s->on && row && row->hardware;
	if (!s->on)
		tally_doctor_row(TALLY_DOCTOR_OFF, what, "%s%s%s", reason,
				 todo ? "; " : "", todo ? todo : "");
	else if (n || snapshot)
		tally_doctor_row(TALLY_DOCTOR_GOOD, what, "%u counter%s%s%s%s", n,
				 TALLY_S(n),
				 snapshot && snapshot->with_cpu ? ", with --cpu" : "",
				 *reason ? "; " : "", reason);
	else
		tally_doctor_row(TALLY_DOCTOR_GOOD, what, "%s", *reason ? reason : "on");
	tally_doctor_sets(device, s->name);
}

/* Those of the device, or those that the CPU reads. */
static void
add_sources(const struct tally_device_record *device, bool snapshots, struct seen *seen)
{
	for (uint32_t i = 0; i < device->n_sources; i++) {
		const struct tally_source_info *s = &device->sources[i];
		const struct tally_snapshot_source_row *row = tally_ask_snapshot(s->name);
		if ((row != NULL) == snapshots)
			add_source(device, s, row, seen);
	}
}

static void
add_device(void *data, const struct tally_device_record *device,
	    const struct tally_ask_place *place)
{
	struct seen *seen = data;
	bool answer = in_answer(device->api, seen);
	seen->any = true;
	seen->display |= place && strcmp(place->words[1], TALLY_ASK_DISPLAY) == 0;
	const char *api = tally_api_name(device->api);
	const char *name = device->name ? device->name : "?";
	const char *head = place ? place->name : device->n_facts ? device->facts[0] : NULL;
	g_autofree char *gives = tally_doctor_gives(device);
	if (answer)
		tally_doctor_row(TALLY_DOCTOR_ANSWER, api, "%s: %s", gives, name);
	tally_doctor_row(TALLY_DOCTOR_GOOD, api, "%s, %s%s%s", name,
			 device->driver_version ? device->driver_version : "?", head ? ", " : "",
			 head ? head : "");
	for (uint32_t i = place ? 0 : 1; i < device->n_facts; i++)
		tally_doctor_row(TALLY_DOCTOR_FACT, "", "%s", device->facts[i]);
	add_sources(device, false, seen);
	tally_doctor_rotation(device);
	if (!seen->snapshots)
		add_sources(device, true, seen);
	seen->snapshots = true;
}

/* `layer`: of Vulkan, if it is there. */
static void
check_api(enum tally_api api, struct seen *seen, const struct tally_vk_manifest *layer)
{
	const struct tally_ask_wish all = { .counters = "all", .snapshots = true };
	char why[512];
	bool any = tally_ask(api, &all, add_device, seen, why, sizeof(why));
	if (layer)
		report_layer(layer, any ? NULL : why);
	if (any)
		return;
	if (in_answer(api, seen))
		tally_doctor_row(TALLY_DOCTOR_ANSWER, tally_api_name(api),
				 "nothing: see its row below");
	tally_doctor_row(TALLY_DOCTOR_OFF, tally_api_name(api), "%s", why);
}

/* By OpenGL's device, which is asked for on the display first. A display that cannot be opened is
 * unset: the other drivers would wait for it. */
static void
check_display(const struct seen *seen)
{
	const char *x = g_getenv("DISPLAY"), *wayland = g_getenv("WAYLAND_DISPLAY");
	const char *variable = wayland && *wayland ? "WAYLAND_DISPLAY" : "DISPLAY";
	const char *value = g_getenv(variable);
	if (!value || !*value)
		tally_doctor_row(TALLY_DOCTOR_FIX, "display",
				 "neither DISPLAY nor WAYLAND_DISPLAY is set: programs "
				 "that open a window will not start from here; for "
				 "those: xvfb-run passtally run -- PROGRAM");
	else if (seen->display || !seen->any)
		tally_doctor_row(TALLY_DOCTOR_GOOD, "display", "%s=%s", variable, value);
	else
		tally_doctor_row(TALLY_DOCTOR_BAD, "display",
				 "%s=%s cannot be opened: programs that open a window will not "
				 "start from here; %s, or start one: xvfb-run passtally "
				 "run -- PROGRAM",
				 variable, value,
				 x == value ? "name a display that runs and that "
					      "XAUTHORITY lets you use"
					    : "name a socket in XDG_RUNTIME_DIR, or unset it");
	if (!seen->display) {
		g_unsetenv("DISPLAY");
		g_unsetenv("WAYLAND_DISPLAY");
	}
}

static void
check_layer(struct seen *seen)
{
	struct tally_vk_manifest m;
	if (find_layer(&m))
		check_api(TALLY_API_VULKAN, seen, &m);
	else
		tally_doctor_row(TALLY_DOCTOR_ANSWER, "vulkan", "nothing: see the row layer below");
	tally_vk_manifest_finish(&m);
}

static bool
check_switch(void)
{
	if (!g_getenv("PASSTALLY_DISABLE"))
		return true;
	tally_doctor_row(TALLY_DOCTOR_BAD, "disabled",
			 "PASSTALLY_DISABLE is set: nothing is captured until it is "
			 "unset");
	return false;
}

/* Where nothing can ask OpenGL's driver, nothing is known to be wrong: it is asked by EGL,
 * and programs may use GLX. */
static bool
is_unasked(bool gl)
{
	g_autofree char *asks = tally_scenes_program("passtally-scenes-gl");
	bool egl = dlopen("libEGL.so.1", RTLD_LAZY);
	return !gl && (!asks || (!egl && dlopen("libGL.so.1", RTLD_LAZY)));
}

static int
examine(void)
{
	struct tally_injected in;
	struct tally_progress progress;
	tally_progress_begin(&progress, 0);
	tally_progress_show(&progress, "asking the drivers ...");
	tally_injected_find(&in);
	bool ok = check_library(&in);
	ok = ok && check_installation(&in);
	tally_injected_finish(&in);
	struct seen seen = { 0 };
	ok &= check_switch();
	ok &= check_log();
	tally_doctor_permission("", geteuid() == 0);
	tally_doctor_kernel();
	tally_doctor_nodes("");
	check_api(TALLY_API_OPENGL, &seen, NULL);
	check_display(&seen);
	check_api(TALLY_API_OPENGL_ES, &seen, NULL);
	bool gl = seen.any;
	seen.any = false;
	check_layer(&seen);
	bool vulkan = seen.any;
	bool unasked = is_unasked(gl);
	ok &= gl || vulkan || unasked;
	const char *only = gl == vulkan || unasked ? NULL : gl ? "OpenGL" : "Vulkan";
	const char *next = "passtally report, once a program ran";
	if (!ok)
		next = "a driver that works: its row below says what it lacks";
	else if (seen.hardware)
		next = "passtally run --counters all -- PROGRAM: with the GPU's own counters";
	tally_progress_end(&progress);
	tally_doctor_print(ok, only, next);
	return ok ? TALLY_EXIT_OK : TALLY_EXIT_NOTHING;
}

static int
examine_proton(void)
{
	bool ok = tally_doctor_proton();
	tally_doctor_print(ok, NULL, "the game's launch options: passtally run -- %command%");
	return ok ? TALLY_EXIT_OK : TALLY_EXIT_NOTHING;
}

static int
run(int argc, char **argv)
{
	struct request r = { false };
	int status = tally_args_read(&tally_command_doctor, argc, argv, &r);
	if (status != TALLY_EXIT_OK)
		return status;
	return r.proton ? examine_proton() : examine();
}

const struct tally_command tally_command_doctor =
	TALLY_COMMAND(doctor, run, options, NULL);
