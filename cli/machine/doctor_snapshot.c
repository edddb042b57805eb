/* SPDX-License-Identifier: MIT */
#include "cli/machine/ask.h"
#include "cli/machine/doctor_rows.h"
#include "cli/shared/text.h"

#include <glib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

void
tally_doctor_kernel(void)
{
	struct utsname about;
	struct rlimit limit;
	if (uname(&about) == 0)
		tally_doctor_row(TALLY_DOCTOR_FACT, "kernel", "%s %s, %s", about.sysname,
				 about.release, about.machine);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur < 1024)
		tally_doctor_row(
			TALLY_DOCTOR_OFF, "descriptors",
			"a program may have %" G_GUINT64_FORMAT
			" files open: linux-perf, which takes half of that at most, "
			"counts few threads; ulimit -n 4096 gives more",
			(guint64)limit.rlim_cur);
}

void
tally_doctor_snapshot(const struct tally_device_record *device, const struct tally_source_info *s)
{
	const struct tally_snapshot_source_row *row = tally_ask_snapshot(s->name);
	const char *reason = s->reason ? s->reason : s->on ? "" : "no reason given";
	uint32_t n = 0;
	for (uint32_t i = 0; i < device->n_counters; i++)
		n += strcmp(device->counters[i]->source, s->name) == 0;
	if (s->on)
		tally_doctor_row(TALLY_DOCTOR_GOOD, s->name, "%u counter%s%s%s%s", n, TALLY_S(n),
				 row->with_cpu ? ", with --cpu" : "", *reason ? "; " : "", reason);
	else
		tally_doctor_row(TALLY_DOCTOR_OFF, s->name, "%s%s%s", reason,
				 row->row.without ? "; " : "",
				 row->row.without ? row->row.without : "");
}
