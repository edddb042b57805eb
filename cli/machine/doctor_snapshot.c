/* SPDX-License-Identifier: MIT */
#include "cli/machine/doctor_rows.h"
#include "cli/machine/snapshot_facts.h"
#include "cli/machine/snapshots.h"
#include "cli/shared/text.h"

#include <glib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

static void
row_told(void *data, bool fine, const char *what, const char *sentence)
{
	const enum tally_doctor_mark *off = data;
	tally_doctor_row(fine ? TALLY_DOCTOR_GOOD : *off, what, "%s", sentence);
}

static void
tell_kernel(void)
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

/* What a user can do about a source that is off, where its reason does not say it. For
 * hardware that is present the reason is sufficient. */
static const char *
advice(const struct tally_snapshot_found *found)
{
	const struct tally_source_row *row = &found->row->row;
	return row->hardware && found->status != TALLY_UNSUPPORTED ? NULL : row->without;
}

static const char *
on_request(const struct tally_snapshot_found *found)
{
	return found->row->with_cpu ? ", with --cpu" : "";
}

void
tally_doctor_snapshots(void)
{
	struct tally_snapshots s;
	/* No GPU needs perf, so this is not the first thing to do. */
	enum tally_doctor_mark perf = TALLY_DOCTOR_OFF, gpu = TALLY_DOCTOR_FIX;
	tally_snapshot_tell_permission("", geteuid() == 0, row_told, &gpu);
	tell_kernel();
	tally_snapshot_tell_perf("", geteuid() == 0, row_told, &perf);
	tally_snapshot_tell_nodes("", row_told, &gpu);
	tally_snapshots_find(&s, "all");
	for (uint32_t i = 0; i < s.n; i++) {
		const struct tally_snapshot_found *found = &s.found[i];
		if (found->info.on)
			tally_doctor_row(TALLY_DOCTOR_GOOD, found->info.name, "%u counter%s%s%s%s",
					 found->n_counters, TALLY_S(found->n_counters),
					 on_request(found), found->reason[0] ? "; " : "",
					 found->reason);
		else
			tally_doctor_row(TALLY_DOCTOR_OFF, found->info.name, "%s%s%s",
					 found->reason[0] ? found->reason : "no reason given",
					 advice(found) ? "; " : "",
					 advice(found) ? advice(found) : "");
	}
	tally_snapshots_finish(&s);
}
