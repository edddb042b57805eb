/* SPDX-License-Identifier: MIT */
/* layer/picture/pictures.h - --pictures: which frame is pictured, and the way of its targets from
 * the front ends into PNG files beside the log, LOG-NUMBER-NAME.png.
 *
 * The front ends copy on the GPU and hand over; the collector thread converts and writes. NUMBER is
 * the pass's `picture` in the log. The frame of such passes is not measured.
 */
#ifndef PASSTALLY_LAYER_PICTURE_PICTURES_H
#define PASSTALLY_LAYER_PICTURE_PICTURES_H

#include "layer/config/config.h"
#include "layer/frame/stream.h"
#include "layer/picture/picture.h"

/* A capture begins, with this log; before its collector thread does. */
void tally_pictures_begin(const struct tally_config *config, const char *log);
/* A number, from 1, for a pass that is pictured. */
uint32_t tally_pictures_number(void);

/* Room for a picture, to be filled and handed over, or freed. NULL: out of memory, or more than
 * 256 MiB are not written yet. */
struct tally_picture *tally_picture_make(enum tally_pixels pixels, uint32_t width, uint32_t height);
/* The collector writes and frees it. Any thread; takes no lock. */
void tally_pictures_hand_over(struct tally_picture *picture);
/* There is none, and a note says why. */
void tally_pictures_refuse(uint32_t pass, const char *name, const char *why);

/* For the collector, after so many frames: a note where --pictures asked for a frame and made
 * none. */
void tally_pictures_report_end(uint64_t frames);
/* For the collector: writes what was handed over. True: there was something. */
bool tally_pictures_write(void);

#endif
