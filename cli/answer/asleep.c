/* SPDX-License-Identifier: MIT */
#include "cli/answer/asleep.h"

#include "cli/answer/words.h"
#include "cli/shared/text.h"

#include <glib.h>
#include <string.h>

static const struct {
	const char *call;
	enum tally_asleep_kind kind;
} calls[] = {
	{ "clock_nanosleep", TALLY_ASLEEP_SLEEP }, { "nanosleep", TALLY_ASLEEP_SLEEP },
	{ "poll", TALLY_ASLEEP_EVENTS },           { "ppoll", TALLY_ASLEEP_EVENTS },
	{ "select", TALLY_ASLEEP_EVENTS },         { "pselect6", TALLY_ASLEEP_EVENTS },
	{ "epoll_wait", TALLY_ASLEEP_EVENTS },     { "epoll_pwait", TALLY_ASLEEP_EVENTS },
	{ "futex", TALLY_ASLEEP_LOCK },            { "futex_waitv", TALLY_ASLEEP_LOCK },
	{ "ioctl", TALLY_ASLEEP_DEVICE },          { "read", TALLY_ASLEEP_READ },
	{ "readv", TALLY_ASLEEP_READ },            { "pread64", TALLY_ASLEEP_READ },
	{ "wait4", TALLY_ASLEEP_PROCESS },         { "waitid", TALLY_ASLEEP_PROCESS },
	{ "vfork", TALLY_ASLEEP_PROCESS },         { "clone", TALLY_ASLEEP_PROCESS },
	{ "clone3", TALLY_ASLEEP_PROCESS },        { "fault", TALLY_ASLEEP_PAGE },
};

enum tally_asleep_kind
tally_asleep_kind(const struct tally_asleep_record *a)
{
	if (g_strcmp0(a->of, "sleep") == 0) /* in a poll of nothing */
		return TALLY_ASLEEP_SLEEP;
	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (g_strcmp0(a->in, calls[i].call) == 0)
			return calls[i].kind;
	return TALLY_ASLEEP_OTHER;
}

bool
tally_asleep_in_file(const struct tally_asleep_record *a)
{
	return g_strcmp0(a->of, "file") == 0;
}

bool
tally_asleep_may_be_driver(const struct tally_asleep_record *a)
{
	enum tally_asleep_kind kind = tally_asleep_kind(a);
	return !a->thread && (kind == TALLY_ASLEEP_LOCK || kind == TALLY_ASLEEP_DEVICE);
}

void
tally_asleep_intern(struct tally_asleep_record *a)
{
	const char **texts[] = { &a->in, &a->of, &a->thread, &a->other_in, &a->other_of };
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		*texts[i] = g_intern_string(*texts[i]);
}

static const char *
place_text(const struct tally_asleep_record *a)
{
	static const char *const words[TALLY_N_ASLEEP_KINDS] = {
		[TALLY_ASLEEP_SLEEP] = "sleep",
		[TALLY_ASLEEP_LOCK] = "lock, or another thread",
		[TALLY_ASLEEP_PROCESS] = "another process",
		[TALLY_ASLEEP_PAGE] = "page of memory",
	};
	const char *what = words[tally_asleep_kind(a)];
	what = what ? what : a->of;
	return what ? tally_phrase("%s: %s", what, a->in) : a->in;
}

/* Whether it tells something that the thread it waited for was in that call; of the main thread,
 * which may be another, only what is no wait for work. */
static bool
is_telling(const struct tally_asleep_record *other, bool main)
{
	enum tally_asleep_kind kind = tally_asleep_kind(other);
	if (!other->in || strcmp(other->in, "running") == 0 || kind == TALLY_ASLEEP_LOCK)
		return false;
	return !main || kind == TALLY_ASLEEP_SLEEP || kind == TALLY_ASLEEP_PROCESS ||
	       kind == TALLY_ASLEEP_PAGE || tally_asleep_in_file(other);
}

const char *
tally_asleep_text(const struct tally_asleep_record *a)
{
	const struct tally_asleep_record at = { .in = a->other_in, .of = a->other_of };
	const char *other = is_telling(&at, !a->thread) ? place_text(&at) : NULL;
	if (!a->thread)
		return other ? tally_phrase("%s; main thread in %s", place_text(a), other)
			     : place_text(a);
	return other ? tally_phrase("for %s, in %s", tally_short_name(a->thread), other)
		     : tally_phrase("for %s: %s", tally_short_name(a->thread), a->in);
}
