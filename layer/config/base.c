/* SPDX-License-Identifier: MIT */
#include "layer/config/base.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

bool
tally_config_report(const struct tally_config_place *to, const char *format, ...)
{
	if (!to->complain)
		return false;
	char text[1024];
	const size_t most = sizeof(text) - 1;
	size_t at = to->where ? (size_t)snprintf(text, sizeof(text), "%s: ", to->where) : 0;
	at = at < most ? at : most;
	va_list args;
	va_start(args, format);
	vsnprintf(text + at, sizeof(text) - at, format, args);
	va_end(args);
	to->complain(to->data, text);
	return false;
}

void
tally_config_report_at(void *place, const char *message)
{
	tally_config_report(place, "%s", message);
}

bool
tally_config_is_clean(const char *text, size_t len, size_t most)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return len > 0 && len <= most;
}

char *
tally_config_copy_text(const char *text, size_t len)
{
	char *copy = malloc(len + 1);
	if (!copy)
		return NULL;
	copy[len] = '\0';
	return memcpy(copy, text, len);
}

char *
tally_config_copy_string(const char *text)
{
	return tally_config_copy_text(text, strlen(text));
}

char *
tally_config_trim(char *text)
{
	text += strspn(text, " \t\r");
	size_t len = strlen(text);
	while (len > 0 && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	return text;
}

void
tally_config_append(char *out, size_t size, size_t *len, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	size_t at = *len < size ? *len : size;
	int n = vsnprintf(at < size ? out + at : NULL, size - at, format, args);
	va_end(args);
	*len += n > 0 ? (size_t)n : 0;
}

bool
tally_config_secure(void)
{
	return getauxval(AT_SECURE) != 0;
}

const char *
tally_config_home(void)
{
	const char *home = tally_config_secure() ? NULL : getenv("HOME");
	return home && home[0] == '/' ? home : NULL;
}

enum tally_session
tally_config_session(void)
{
	static const struct {
		const char *variable;
		enum tally_session session;
	} displays[] = {
		{ "WAYLAND_DISPLAY", TALLY_SESSION_WAYLAND },
		{ "WAYLAND_SOCKET", TALLY_SESSION_WAYLAND },
		{ "DISPLAY", TALLY_SESSION_X11 },
	};
	if (tally_config_secure())
		return TALLY_SESSION_UNKNOWN;
	for (size_t i = 0; i < sizeof(displays) / sizeof(displays[0]); i++) {
		const char *value = getenv(displays[i].variable);
		if (value && *value)
			return displays[i].session;
	}
	return TALLY_SESSION_HEADLESS;
}

__attribute__((hot)) bool
tally_config_disabled(void)
{
	/* 0: not read yet. Two threads that call first read the same
	 * value, so a race is harmless. */
	static atomic_int known;
	int answer = atomic_load_explicit(&known, memory_order_relaxed);
	if (answer == 0) {
		answer = getenv("PASSTALLY_DISABLE") ? 1 : 2;
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer == 1;
}
