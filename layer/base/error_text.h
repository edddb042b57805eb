/* SPDX-License-Identifier: MIT */
/* layer/base/error_text.h - the text for an errno, without a lock, a locale or an allocation
 * where the C library can do that, and a function that refuses something with a sentence.
 *
 * glibc has it from 2.32 on. Older ones translate the text; it is then valid until the thread's
 * next call. Any thread.
 */
#ifndef PASSTALLY_LAYER_BASE_ERROR_TEXT_H
#define PASSTALLY_LAYER_BASE_ERROR_TEXT_H

#include <stdio.h>
#include <string.h>

/* Writes the sentence to `why`, and returns false: for a function that refuses something. */
#define TALLY_REFUSE(why, size, ...) (snprintf(why, size, __VA_ARGS__), false)

static inline const char *
tally_error_text(int error)
{
#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 32)
	const char *text = strerrordesc_np(error);
	return text ? text : "unknown error";
#else
	static __thread char text[128];
	return strerror_r(error, text, sizeof(text));
#endif
}

#endif
