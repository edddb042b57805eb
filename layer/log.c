/* SPDX-License-Identifier: MIT */
#include "layer/log.h"

#include "layer/base/sandbox.h"
#include "layer/pass_id.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_NOTES 64
#define MAX_MESSAGE 480
#define MAX_REPORTED 4096
#define REPORTED_SLOTS (2 * MAX_REPORTED) /* half empty: probes stay short */

struct note {
	enum tally_level level;
	const char *source;
	bool has_time;
	uint64_t time_ns;
	char message[MAX_MESSAGE];
};

/* Guards everything below; the innermost of our locks, held for no longer than a copy. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct note queue[MAX_NOTES];
static unsigned queue_first, queue_len;
static uint64_t queue_lost;
static uint64_t reported[REPORTED_SLOTS]; /* hashes; 0 = empty */
static unsigned n_reported;
static struct note taken; /* used by the collector */

static void (*_Atomic wake)(void);

/* Shortens a text that did not fit, without splitting a UTF-8 sequence. */
static void
trim_utf8(char *text, size_t len)
{
	size_t start = len;
	while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start == 0)
		return;
	unsigned char lead = (unsigned char)text[start - 1];
	size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
	if (len - (start - 1) < need)
		text[start - 1] = '\0';
}

/* Makes a message one line, whatever characters a path or a driver string contains. */
static void
flatten(char *text)
{
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = ' ';
	}
}

/* True for a message seen the first time. Called with the lock held. */
static bool
is_news(const struct note *note)
{
	uint64_t hash = tally_fnv1a(TALLY_FNV_OFFSET, note->source, strlen(note->source) + 1);
	hash = tally_fnv1a(hash, note->message, strlen(note->message));
	if (hash == 0)
		hash = 1;
	size_t slot = hash % REPORTED_SLOTS;
	while (reported[slot] && reported[slot] != hash)
		slot = (slot + 1) % REPORTED_SLOTS;
	if (reported[slot] || n_reported == MAX_REPORTED)
		return false;
	reported[slot] = hash;
	n_reported++;
	return true;
}

/* Called with the lock held. */
static void
enqueue(const struct note *note)
{
	if (queue_len == MAX_NOTES) {
		queue_lost++;
		return;
	}
	queue[(queue_first + queue_len) % MAX_NOTES] = *note;
	queue_len++;
}

/* Which of the signals may wait for the thread already, since it had blocked them: they are left to
 * it. In a sandbox that cannot be found out. */
static void
list_pending(const sigset_t *blocked, sigset_t *out)
{
	bool any = sigismember(blocked, SIGPIPE) || sigismember(blocked, SIGXFSZ);
	sigemptyset(out);
	if (any && (tally_is_filtered() || sigpending(out) != 0))
		sigfillset(out);
}

/* Writing from the game's thread must not raise a signal in it: a closed pipe or a file size
 * limit must affect only passtally. */
static void
write_quietly(int fd, const char *line, size_t len)
{
	sigset_t deadly, before, pending;
	bool raised = false;
	sigemptyset(&deadly);
	sigaddset(&deadly, SIGPIPE);
	sigaddset(&deadly, SIGXFSZ);
	if (pthread_sigmask(SIG_BLOCK, &deadly, &before) != 0)
		return;
	list_pending(&before, &pending);
	while (len > 0 && !raised) {
		ssize_t n = write(fd, line, len);
		if (n < 0 && errno == EINTR)
			continue;
		raised = n < 0 && (errno == EPIPE || errno == EFBIG);
		if (n <= 0)
			break;
		line += n;
		len -= (size_t)n;
	}
	static const struct timespec at_once = { 0, 0 };
	if (raised && !sigismember(&pending, SIGPIPE) && !sigismember(&pending, SIGXFSZ))
		sigtimedwait(&deadly, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Only to a regular file that exists. */
static void
append_quietly(const char *path, const char *line, size_t len)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
				    O_NOCTTY);
	if (fd < 0)
		return;
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		write_quietly(fd, line, len);
	close(fd);
}

static void
tell_people(const struct note *note)
{
	/* A program with privileges that its user lacks must not be made to write to a place
	 * that the environment names. */
	if (getauxval(AT_SECURE))
		return;
	char line[MAX_MESSAGE + 128];
	int len = snprintf(line, sizeof(line), "passtally: %s: %s: %s\n",
			   tally_level_name(note->level), note->source, note->message);
	if (len <= 0 || (size_t)len >= sizeof(line))
		return;
	static const size_t prefix = sizeof("passtally: ") - 1;

	const char *verbose = getenv("PASSTALLY_VERBOSE");
	if (verbose && strcmp(verbose, "1") == 0)
		write_quietly(STDERR_FILENO, line, (size_t)len);

	const char *path = getenv("PASSTALLY_STATUS");
	if (path && *path)
		append_quietly(path, line + prefix, (size_t)len - prefix);
}

void
tally_log_say(enum tally_level level, const char *source, const char *format, ...)
{
	int saved_errno = errno;
	struct note note = { .level = level, .source = source };
	va_list args;
	va_start(args, format);
	int len = vsnprintf(note.message, sizeof(note.message), format, args);
	va_end(args);
	if (len < 0)
		goto out;
	if ((size_t)len >= sizeof(note.message))
		trim_utf8(note.message, strlen(note.message));
	flatten(note.message);

	pthread_mutex_lock(&lock);
	bool news = is_news(&note);
	if (news)
		enqueue(&note);
	pthread_mutex_unlock(&lock);
	if (!news)
		goto out;
	tell_people(&note);
	void (*notify)(void) = atomic_load(&wake);
	if (notify)
		notify();
out:
	errno = saved_errno;
}

void
tally_log_complain(void *data, const char *message)
{
	(void)data;
	tally_log_say(TALLY_LEVEL_WARNING, "config", "%s", message);
}

bool
tally_log_mark(const char *source, uint64_t time_ns, const char *message)
{
	struct note note = {
		.level = TALLY_LEVEL_INFO,
		.source = source,
		.has_time = true,
		.time_ns = time_ns,
	};
	snprintf(note.message, sizeof(note.message), "%s", message);
	trim_utf8(note.message, strlen(note.message));
	flatten(note.message);
	pthread_mutex_lock(&lock);
	bool room = queue_len < MAX_NOTES;
	enqueue(&note);
	pthread_mutex_unlock(&lock);
	void (*notify)(void) = room ? atomic_load(&wake) : NULL;
	if (notify)
		notify();
	return room;
}

bool
tally_log_take(struct tally_note_record *note)
{
	bool got = true;
	pthread_mutex_lock(&lock);
	if (queue_len) {
		taken = queue[queue_first];
		queue_first = (queue_first + 1) % MAX_NOTES;
		queue_len--;
	} else if (queue_lost) {
		taken.level = TALLY_LEVEL_WARNING;
		taken.source = "log";
		taken.has_time = false;
		snprintf(taken.message, sizeof(taken.message),
			 "%llu messages were dropped: they came faster than they could "
			 "be written",
			 (unsigned long long)queue_lost);
		queue_lost = 0;
	} else {
		got = false;
	}
	pthread_mutex_unlock(&lock);
	if (got)
		*note = (struct tally_note_record){
			.level = taken.level,
			.message = taken.message,
			.source = taken.source,
			.has_time = taken.has_time,
			.time_ns = taken.time_ns,
		};
	return got;
}

void
tally_log_reset(void)
{
	pthread_mutex_lock(&lock);
	queue_first = queue_len = 0;
	queue_lost = 0;
	memset(reported, 0, sizeof(reported));
	n_reported = 0;
	pthread_mutex_unlock(&lock);
}

void
tally_log_on_queued(void (*notify)(void))
{
	atomic_store(&wake, notify);
}

void
tally_log_around_fork(bool begins)
{
	(begins ? pthread_mutex_lock : pthread_mutex_unlock)(&lock);
}
