/* SPDX-License-Identifier: MIT */
/* tests/live/count_ioctls.h - the request by which a program marks a moment for count_ioctls.c.
 *
 * No driver knows it: without that library it fails and changes nothing.
 */
#ifndef PASSTALLY_TESTS_LIVE_COUNT_IOCTLS_H
#define PASSTALLY_TESTS_LIVE_COUNT_IOCTLS_H

#define COUNT_IOCTLS_MARK 0x5054u

#endif
