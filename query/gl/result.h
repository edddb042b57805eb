/* SPDX-License-Identifier: MIT */
/* query/gl/result.h - reading the result of a query object without waiting for it.
 *
 * This is the one place where the GL sources read query objects. Each object is queried by
 * itself: the fact that a newer one has its result says nothing about an older one, because a
 * batch that the kernel lost at a reset of the GPU never writes its results, and the batches
 * after it do. Owner thread, context current; no query buffer may be bound, or the driver would
 * write there.
 */
#ifndef PASSTALLY_QUERY_GL_RESULT_H
#define PASSTALLY_QUERY_GL_RESULT_H

#include "query/gl/api.h"

/* Does the context have QUERY_RESULT_NO_WAIT? For tally_gl_result(); to be asked once. */
bool tally_gl_has_no_wait(const struct tally_gl_api *api);
/* The result of a query that was ended, if it is available; otherwise false, and *value is
 * undefined. Without GetQueryObjectui64v a result has 32 bits. Never blocks. */
bool tally_gl_result(const struct tally_gl_api *api, bool no_wait, unsigned id, uint64_t *value);

#endif
