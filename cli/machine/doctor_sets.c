/* SPDX-License-Identifier: MIT */
#include "cli/machine/doctor_sets.h"

#include "cli/machine/doctor_print.h"
#include "cli/machine/counters_sets.h"
#include "cli/machine/permission.h"
#include "query/sources.h"

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
		g_autofree char *size = tally_set_size(found->sets[i]);
		tally_doctor_row(TALLY_DOCTOR_FACT, "", "set %s: %s", found->sets[i]->layout.set,
				 size);
	}
	if (n > MOST)
		tally_doctor_row(TALLY_DOCTOR_FACT, "",
				 "and %u more sets: `passtally counters` lists them", n - MOST);
}

void
tally_doctor_rotation(const struct tally_probe_found *found)
{
	if (!found->n_sets)
		return;
	g_autofree char *text = tally_sets_tell_rotation(found, NULL);
	tally_doctor_row(TALLY_DOCTOR_FACT, "  --counters all", "%s", text);
}

char *
tally_doctor_gives(const struct tally_device_record *device)
{
	const struct tally_source_row *row;
	GString *out = g_string_new(NULL);
	const char *sep = "";
	for (uint32_t i = 0; (row = tally_source_row(i)); i++) {
		for (uint32_t k = 0; k < device->n_sources; k++) {
			const struct tally_source_info *s = &device->sources[k];
			if (!s->on || strcmp(s->name, row->name) != 0)
				continue;
			g_string_append_printf(out, "%s%s", sep,
					       row->gives ? row->gives : row->name);
			sep = ", ";
		}
	}
	return g_string_free(out, FALSE);
}

char *
tally_doctor_remains(const struct tally_device_record *device, const char *source)
{
	const struct tally_source_row *off = tally_source_row_find(source);
	g_autofree char *gives = tally_doctor_gives(device);
	return off && off->hardware ? g_strconcat("what remains: ", gives, NULL) : NULL;
}

static void
permission_told(void *data, bool allowed, const char *sentence)
{
	(void)data;
	tally_doctor_row(allowed ? TALLY_DOCTOR_GOOD : TALLY_DOCTOR_FIX, "permission", "%s",
			 sentence);
}

void
tally_doctor_permission(void)
{
	tally_permission_tell("", geteuid() == 0, permission_told, NULL);
}
