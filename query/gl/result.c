/* SPDX-License-Identifier: MIT */
#include "query/gl/result.h"

#define QUERY_RESULT 0x8866
#define QUERY_RESULT_AVAILABLE 0x8867
#define QUERY_RESULT_NO_WAIT 0x9194
/* No counter reaches this value; the largest value is that of a counter that overflowed. */
#define UNWRITTEN (UINT64_MAX - 1)

bool
tally_gl_has_no_wait(const struct tally_gl_api *api)
{
	return !api->es && api->GetQueryObjectui64v &&
	       (api->version >= 44 || api->has_extension(api, "GL_ARB_query_buffer_object"));
}

bool
tally_gl_result(const struct tally_gl_api *api, bool no_wait, unsigned id, uint64_t *value)
{
	unsigned narrow = 0;

	if (no_wait) {
		*value = UNWRITTEN;
		api->GetQueryObjectui64v(id, QUERY_RESULT_NO_WAIT, value);
		return *value != UNWRITTEN;
	}
	api->GetQueryObjectuiv(id, QUERY_RESULT_AVAILABLE, &narrow);
	if (!narrow)
		return false;
	if (api->GetQueryObjectui64v) {
		*value = 0;
		api->GetQueryObjectui64v(id, QUERY_RESULT, value);
	} else {
		api->GetQueryObjectuiv(id, QUERY_RESULT, &narrow);
		*value = narrow;
	}
	return true;
}
