/* SPDX-License-Identifier: MIT */
#include "cli/machine/scene.h"

#include "cli/install/inject.h"
#include "cli/install/injected.h"
#include "cli/install/vk_manifest.h"

/* Only the libraries for this API: OpenGL over Vulkan has one device here. */
static bool
inject(char ***env, enum tally_api api, const struct tally_run_folder *folder, char *why,
       size_t size)
{
	struct tally_injected in;
	struct tally_vk_manifest manifest;
	bool ok = true;
	tally_injected_find(&in);
	tally_vk_manifest_find(&manifest);
	if (api == TALLY_API_VULKAN ? !manifest.library : !in.path) {
		g_snprintf(why, (gulong)size, "the library for %s programs was not found",
			   api == TALLY_API_VULKAN ? "Vulkan" : "OpenGL");
		ok = false;
	} else if (api == TALLY_API_VULKAN) {
		ok = tally_inject_vulkan(env, &manifest, folder);
	} else {
		ok = tally_inject_gl(env, &in, folder);
	}
	tally_vk_manifest_finish(&manifest);
	tally_injected_finish(&in);
	return ok;
}

static char **
make_environment(const struct tally_scene *s, const char *options)
{
	char **env = tally_inject_clean(s->folder.path);
	env = g_environ_setenv(env, "PASSTALLY_STATUS", s->folder.status, TRUE);
	env = g_environ_setenv(env, "PASSTALLY_OPTIONS", options, TRUE);
	g_auto(GStrv) parts = g_strsplit(s->log, "%", -1);
	g_autofree char *pattern = g_strjoinv("%%", parts);
	return g_environ_setenv(env, "PASSTALLY_LOG", pattern, TRUE);
}

bool
tally_scene_run(struct tally_scene *s, enum tally_api api, const char *const *words,
		const char *options, double limit_s, char *why, size_t size)
{
	bool vulkan = api == TALLY_API_VULKAN;
	*s = (struct tally_scene){ 0 };
	g_autofree char *program = tally_scenes_program(vulkan ? "passtally-scenes-vk"
							       : "passtally-scenes-gl");
	if (!program) {
		g_snprintf(why, (gulong)size,
			   "this passtally was built without the program that asks a "
			   "driver (meson configure -Dselftest=enabled)");
		return false;
	}
	if (!tally_run_folder_create(&s->folder, "doctor")) {
		g_snprintf(why, (gulong)size,
			   "no temporary folder could be created in %s", g_get_tmp_dir());
		return false;
	}
	s->log = g_build_filename(s->folder.path, TALLY_RUN_LOG, NULL);
	char **env = make_environment(s, options);
	bool ok = inject(&env, api, &s->folder, why, size);
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_ptr_array_add(argv, program);
	for (; *words; words++)
		g_ptr_array_add(argv, (gpointer)*words);
	g_ptr_array_add(argv, NULL);
	g_autofree char *shown = g_strdup_printf("the %s driver", tally_api_name(api));
	if (ok)
		tally_child_run(&s->child, (char *const *)argv->pdata, env, NULL, shown, limit_s);
	g_strfreev(env);
	return ok;
}

void
tally_scene_clear(struct tally_scene *s)
{
	tally_child_clear(&s->child);
	tally_run_folder_remove(&s->folder);
	g_free(s->log);
	*s = (struct tally_scene){ 0 };
}
