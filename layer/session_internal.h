/* layer/session_internal.h - what the collector asks the session.
 *
 * Any thread; nothing here blocks.
 */
#ifndef PASSTALLY_LAYER_SESSION_INTERNAL_H
#define PASSTALLY_LAYER_SESSION_INTERNAL_H

#include <stdint.h>

/* Why no frame from this number on will be captured ("frames", "seconds", "stop-on"), or NULL. The
 * device's count: see tally_session_wants_frame(). */
const char *tally_session_over(uint64_t frame, uint64_t count);

/* The collector ended the capture by itself: no new one begins in this process. */
void tally_session_ended(void);

#endif
