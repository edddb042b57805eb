/* SPDX-License-Identifier: MIT */
#include "layer/picture/pictures.h"

#include "layer/frame/queue.h"
#include "layer/log.h"
#include "layer/picture/png.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)256 << 20) /* in flight */

static const struct tally_config *config; /* set before there are frames */
static char stem[PATH_MAX]; /* of the files: the log's path without its suffix */

static atomic_uint last_number;
static _Atomic(struct tally_picture *) ready; /* the newest first */
static atomic_size_t in_flight;

void
tally_pictures_begin(const struct tally_config *of, const char *log)
{
	config = of;
	atomic_store(&ready, NULL);
	atomic_store(&in_flight, 0);
	/* The program may change its folder. */
	if (!realpath(log, stem))
		snprintf(stem, sizeof(stem), "%s", log);
	char *suffix = strrchr(stem, '.');
	if (suffix && !strchr(suffix, '/'))
		*suffix = '\0';
}

uint32_t
tally_pictures_number(void)
{
	return atomic_fetch_add(&last_number, 1) + 1;
}

static size_t
bytes_of(enum tally_pixels pixels, uint32_t width, uint32_t height)
{
	return tally_pixels_size(pixels) * width * height;
}

struct tally_picture *
tally_picture_make(enum tally_pixels pixels, uint32_t width, uint32_t height)
{
	size_t bytes = bytes_of(pixels, width, height), others = atomic_load(&in_flight);
	if (!bytes || bytes > MAX_BYTES || others > MAX_BYTES - bytes)
		return NULL;
	struct tally_picture *p = malloc(sizeof(*p) + bytes);
	if (p)
		*p = (struct tally_picture){ .pixels = pixels, .width = width, .height = height };
	return p;
}

void
tally_pictures_hand_over(struct tally_picture *picture)
{
	atomic_fetch_add(&in_flight, bytes_of(picture->pixels, picture->width, picture->height));
	picture->next = atomic_load(&ready);
	while (!atomic_compare_exchange_weak(&ready, &picture->next, picture))
		;
	tally_queue_notify(false);
}

void
tally_pictures_refuse(uint32_t pass, const char *name, const char *why)
{
	tally_log_say(TALLY_LEVEL_INFO, "pictures", "no picture %u of %s: %s", pass, name, why);
}

/* ---- the collector ---- */

void
tally_pictures_report_end(uint64_t frames)
{
	const struct tally_trigger *asked = config ? &config->pictures : NULL;
	char what[200] = "", ended[48] = "";
	if (!asked || asked->kind == TALLY_TRIGGER_NONE || atomic_load(&last_number))
		return;
	if (asked->kind == TALLY_TRIGGER_FRAME && frames <= asked->frame)
		snprintf(ended, sizeof(ended), ": the capture ended before frame %llu",
			 (unsigned long long)frames);
	if (config->granularity <= TALLY_GRANULARITY_SUBMIT)
		snprintf(what, sizeof(what),
			 "passes have pictures; --granularity frame and submit have no passes");
	else if (asked->kind == TALLY_TRIGGER_FRAME)
		snprintf(what, sizeof(what),
			 "no pass of frame %llu was pictured%s; --pictures=frame:N takes an "
			 "earlier one, passtally trigger picture the next while it runs",
			 (unsigned long long)asked->frame, ended);
	else
		snprintf(what, sizeof(what),
			 "no pass was pictured in a frame after the label; passtally trigger "
			 "picture takes the next while it runs");
	tally_log_say(TALLY_LEVEL_INFO, "pictures", "no picture: %s", what);
}

/* NULL, or what failed. */
static const char *
write_file(const struct tally_picture *p)
{
	char path[PATH_MAX + 64];
	uint32_t width, height;
	size_t size, n = 0;
	unsigned char *rgb = tally_picture_rgb(p, &width, &height);
	unsigned char *png = rgb ? tally_png_make(rgb, width, height, &size) : NULL;
	free(rgb);
	if (!png)
		return "out of memory";
	snprintf(path, sizeof(path), "%s-%u-%s.png", stem, p->pass, p->name);
	int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags | (config->force ? O_TRUNC : O_EXCL), 0600);
	ssize_t written = fd < 0 ? -1 : 0;
	while (written >= 0 && n < size) {
		written = write(fd, png + n, size - n);
		n += written > 0 ? (size_t)written : 0;
	}
	const char *why = written < 0 ? strerror(errno) : NULL;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && why)
		unlink(path); /* a part of a picture is none */
	free(png);
	return why;
}

bool
tally_pictures_write(void)
{
	struct tally_picture *p = atomic_exchange(&ready, NULL);
	bool any = p != NULL;
	while (p) {
		struct tally_picture *next = p->next;
		const char *why = write_file(p);
		if (why)
			tally_pictures_refuse(p->pass, p->name, why);
		atomic_fetch_sub(&in_flight, bytes_of(p->pixels, p->width, p->height));
		free(p);
		p = next;
	}
	return any;
}
