/* SPDX-License-Identifier: MIT */
/* The fake extensions behind struct tally_gl_api, without a real driver. */
#include <string.h>

#include "query/gl/api.h"
#include "tests/fake_gl/perf.h"

static bool
has_extension(const struct tally_gl_api *api, const char *name)
{
	const char *offered;

	(void)api;
	for (unsigned i = 0; (offered = fake_perf_extension(i)); i++) {
		if (strcmp(offered, name) == 0)
			return true;
	}
	return false;
}

void
fake_perf_fill_api(struct tally_gl_api *api)
{
	*api = (struct tally_gl_api){ .version = 46, .has_extension = has_extension };
	api->driver = fake_perf.config.vendor;
	api->GetError = fake_perf_get_error;
#define TAKE(call) api->call = (__typeof__(api->call))fake_perf_function("gl" #call)
	TAKE(GetPerfMonitorGroupsAMD);
	TAKE(GetPerfMonitorCountersAMD);
	TAKE(GetPerfMonitorGroupStringAMD);
	TAKE(GetPerfMonitorCounterStringAMD);
	TAKE(GetPerfMonitorCounterInfoAMD);
	TAKE(GenPerfMonitorsAMD);
	TAKE(DeletePerfMonitorsAMD);
	TAKE(SelectPerfMonitorCountersAMD);
	TAKE(BeginPerfMonitorAMD);
	TAKE(EndPerfMonitorAMD);
	TAKE(GetPerfMonitorCounterDataAMD);
	TAKE(GetFirstPerfQueryIdINTEL);
	TAKE(GetNextPerfQueryIdINTEL);
	TAKE(GetPerfQueryInfoINTEL);
	TAKE(GetPerfCounterInfoINTEL);
	TAKE(CreatePerfQueryINTEL);
	TAKE(DeletePerfQueryINTEL);
	TAKE(BeginPerfQueryINTEL);
	TAKE(EndPerfQueryINTEL);
	TAKE(GetPerfQueryDataINTEL);
#undef TAKE
}
