/* SPDX-License-Identifier: MIT */
#include "layer/frame/black_box.h"

#include "layer/base/clock.h"
#include "layer/capture/capture.h"
#include "layer/log.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct counts {
	uint64_t frames, passes;
};

static struct {
	const struct tally_config *config;
	const struct tally_recorder_ops *ops;
	struct tally_recorder *now; /* NULL: it could not be opened, or is closed */
	char *log; /* absolute: the program may change its folder; NULL: no black box */
	uint64_t since_ns; /* when the first frame of `now` was written */
	uint64_t kept_ns;
	unsigned n_kept;
	struct counts in_now, in_before;
} box;

/* LOG.now, or with a number LOG.N.now. The caller frees it; NULL: out of memory. */
static char *
name_of(unsigned number, const char *end)
{
	char *name = NULL;
	int n = number ? asprintf(&name, TALLY_BLACK_BOX_KEPT_NAME, box.log, number, end)
		       : asprintf(&name, TALLY_BLACK_BOX_NAME, box.log, end);
	return n < 0 ? NULL : name;
}

static bool
rename_to(unsigned from_number, const char *from_end, unsigned to_number, const char *to_end)
{
	char *from = name_of(from_number, from_end), *to = name_of(to_number, to_end);
	bool done = from && to && rename(from, to) == 0;
	free(from);
	free(to);
	return done;
}

static struct tally_recorder *
open_file(const char *end)
{
	enum tally_record_status status;
	char why[512] = "out of memory", *path = name_of(0, end);
	struct tally_recorder_options options = {
		.path = path,
		.max_bytes = box.config->max_log / 2,
		.force = box.config->force,
	};
	struct tally_recorder *r = NULL;
	if (path)
		r = box.ops->open(&options, &status, why, sizeof(why));
	if (!r)
		tally_log_say(TALLY_LEVEL_ERROR, "session", "the black box ends: %s", why);
	free(path);
	return r;
}

/* ---- the last pass ---- */

/* Once set it stays mapped: threads may be writing to it. */
static _Atomic(struct tally_last_pass *) last;

/* Without it the black box works all the same. */
static void
open_last(void)
{
	char *path = name_of(0, "last");
	int other = box.config->force ? O_TRUNC : O_EXCL;
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | other, 0600) : -1;
	void *at = MAP_FAILED;
	/* On a full disk memory without its blocks would end the game when it is written. */
	if (fd >= 0 && posix_fallocate(fd, 0, sizeof(*last)) == 0)
		at = mmap(NULL, sizeof(*last), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && at == MAP_FAILED)
		unlink(path);
	atomic_store(&last, at != MAP_FAILED ? at : NULL);
	free(path);
}

static void
remove_last(void)
{
	char *path = atomic_exchange(&last, NULL) ? name_of(0, "last") : NULL;
	if (path)
		unlink(path);
	free(path);
}

void
tally_black_box_pass(uint64_t frame, const char *label, const struct tally_target *target,
		     bool unread)
{
	struct tally_last_pass *to = atomic_load(&last);
	const char *name = label ? label : target && target->name ? target->name : "";
	/* The pass that another thread is writing here is as much the last. */
	if (!to || to->unread || atomic_exchange(&to->writing, true))
		return;
	size_t len = strnlen(name, sizeof(to->name) - 1);
	memcpy(to->name, name, len);
	to->name[len] = '\0';
	to->presented = target && target->presented;
	to->width = target ? target->width : 0;
	to->height = target ? target->height : 0;
	to->frame = frame;
	to->any = true;
	to->unread = unread;
	atomic_store(&to->writing, false);
}

void
tally_black_box_stopped(const char *why)
{
	struct tally_last_pass *to = atomic_load(&last);
	if (!to || atomic_exchange(&to->writing, true))
		return;
	snprintf(to->stopped, sizeof(to->stopped), "%s", why);
	atomic_store(&to->writing, false);
}

/* ---- the files ---- */

bool
tally_black_box_begin(const struct tally_config *config, const struct tally_recorder_ops *ops,
		      const char *log)
{
	tally_black_box_forget();
	if (!config->black_box_ns || config->digest)
		return true;
	box.config = config;
	box.ops = ops;
	box.log = realpath(log, NULL);
	/* Both, so that no file of anybody is replaced later. */
	struct tally_recorder *before = box.log ? open_file("before") : NULL;
	box.now = before ? open_file("now") : NULL;
	ops->close(before);
	char *name = before && !box.now ? name_of(0, "before") : NULL;
	if (name)
		remove(name);
	free(name);
	if (box.now)
		open_last();
	return box.now;
}

bool
tally_black_box_is_on(void)
{
	return box.log;
}

struct tally_recorder *
tally_black_box_recorder(struct tally_recorder *log)
{
	return box.now ? box.now : log;
}

/* A child that is forked meanwhile must not find it. */
static void
close_now(void)
{
	struct tally_recorder *r = box.now;
	box.now = NULL;
	box.ops->close(r);
}

static void
begin_file(void)
{
	close_now();
	rename_to(0, "now", 0, "before");
	box.in_before = box.in_now;
	box.in_now = (struct counts){ 0 };
	box.now = open_file("now");
}

enum tally_record_status
tally_black_box_frame(const struct tally_frame_record *frame)
{
	uint64_t now_ns = tally_clock_now_ns();
	if (box.in_now.frames && now_ns - box.since_ns >= box.config->black_box_ns)
		begin_file();
	enum tally_record_status status = TALLY_RECORD_LIMIT;
	for (bool again = true; again && status == TALLY_RECORD_LIMIT;) {
		if (!box.now)
			return TALLY_RECORD_IO;
		status = box.ops->frame(box.now, frame);
		again = status == TALLY_RECORD_LIMIT && box.in_now.frames;
		if (again)
			begin_file();
	}
	if (status != TALLY_RECORD_OK)
		return status;
	if (!box.in_now.frames)
		box.since_ns = now_ns;
	box.in_now.frames++;
	box.in_now.passes += frame->n_passes;
	return TALLY_RECORD_OK;
}

/* ---- keeping ---- */

void
tally_black_box_judge(uint64_t ns)
{
	const struct tally_config *config = box.now ? box.config : NULL;
	if (config && config->black_box_over_ns && ns > config->black_box_over_ns &&
	    (!box.kept_ns || tally_clock_now_ns() - box.kept_ns >= config->black_box_ns))
		tally_capture_ask_keep("a long frame");
}

static void
write_end(struct tally_end_record *end)
{
	end->frames = box.in_before.frames + box.in_now.frames;
	end->passes = box.in_before.passes + box.in_now.passes;
	/* These are of the whole run. */
	end->n_growth = end->n_statistics = 0;
	box.ops->end(box.now, end);
	close_now();
}

void
tally_black_box_keep(void)
{
	const char *why = box.now ? tally_capture_take_keep() : NULL;
	if (!why)
		return;
	if (box.n_kept == TALLY_BLACK_BOX_MOST_KEPT) {
		tally_log_say(TALLY_LEVEL_INFO, "session",
			      "%s: its frames are not kept, as %u black boxes are, the "
			      "most that a run keeps",
			      why, TALLY_BLACK_BOX_MOST_KEPT);
		return;
	}
	struct tally_end_record end = { .reason = why };
	unsigned number = ++box.n_kept;
	write_end(&end);
	rename_to(0, "before", number, "before");
	if (rename_to(0, "now", number, "now"))
		tally_log_say(TALLY_LEVEL_INFO, "session",
			      "the black box is kept, as number %u: %s", number, why);
	box.kept_ns = tally_clock_now_ns();
	box.in_before = box.in_now = (struct counts){ 0 };
	box.now = open_file("now");
}

/* ---- the end ---- */

void
tally_black_box_finish(struct tally_end_record *end)
{
	if (box.now)
		write_end(end);
	remove_last();
}

void
tally_black_box_forget(void)
{
	if (box.now)
		box.ops->abandon(box.now);
	atomic_store(&last, NULL);
	free(box.log);
	memset(&box, 0, sizeof(box));
}
