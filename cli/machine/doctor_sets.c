#include "cli/machine/doctor_sets.h"

#include "cli/machine/counters_sets.h"
#include "cli/machine/permission.h"

#include <string.h>
#include <unistd.h>

void
tally_doctor_sets(const struct tally_probe_found *found, const char *source)
{
	enum { MOST = 12 };
	uint32_t n = 0;
	for (uint32_t i = 0; i < found->n_sets; i++) {
		if (strcmp(tally_probe_set_source(found->sets[i]), source) != 0 || n++ >= MOST)
			continue;
		char *size = tally_set_size(found->sets[i]);
		tally_doctor_row(TALLY_DOCTOR_FACT, "", "set %s: %s", found->sets[i]->layout.set,
				 size);
		g_free(size);
	}
	if (n > MOST)
		tally_doctor_row(TALLY_DOCTOR_FACT, "",
				 "and %u sets more: `passtally counters` "
				 "lists them",
				 n - MOST);
}

void
tally_doctor_rotation(const struct tally_probe_found *found)
{
	if (!found->n_sets)
		return;
	char *text = tally_sets_tell_rotation(found, NULL);
	tally_doctor_row(TALLY_DOCTOR_FACT, "  --counters all", "%s", text);
	g_free(text);
}

char *
tally_doctor_remains(const struct tally_device_record *device, const char *source)
{
	static const struct {
		const char *source, *words;
		bool hardware;
	} all[] = {
		{ "api", "the program's calls", false },
		{ "gl-timestamp", "GPU times", false },
		{ "gl-statistics", "pipeline statistics", false },
		{ "gl-intel", "the counters of gl-intel", true },
		{ "gl-amd", "the counters of gl-amd", true },
		{ "vk-timestamp", "GPU times", false },
		{ "vk-statistics", "pipeline statistics", false },
		{ "vk-khr", "the counters of vk-khr", true },
	};
	bool hardware = false;
	GString *out = g_string_new("what remains: ");
	const char *sep = "";
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		hardware |= all[i].hardware && strcmp(all[i].source, source) == 0;
		for (uint32_t k = 0; k < device->n_sources; k++) {
			const struct tally_source_info *s = &device->sources[k];
			if (!s->on || strcmp(s->name, all[i].source) != 0)
				continue;
			g_string_append_printf(out, "%s%s", sep, all[i].words);
			sep = ", ";
		}
	}
	return g_string_free(out, !hardware);
}

static void
permission_told(void *data, bool allowed, const char *sentence)
{
	(void)data;
	tally_doctor_row(allowed ? TALLY_DOCTOR_GOOD : TALLY_DOCTOR_OFF, "permission", "%s",
			 sentence);
}

void
tally_doctor_permission(void)
{
	tally_permission_tell("", geteuid() == 0, permission_told, NULL);
}
