/* SPDX-License-Identifier: MIT */
/* json/decode_device.h - the lines that describe devices, passes and pipelines, from text to
 * records.
 *
 * One reader's thread.
 */
#ifndef PASSTALLY_JSON_DECODE_DEVICE_H
#define PASSTALLY_JSON_DECODE_DEVICE_H

#include "json/decode.h"

bool tally_decode_device(struct tally_decoder *d, struct tally_device_record *device);
bool tally_decode_pass_info(struct tally_decoder *d, struct tally_pass_info_record *info);
bool tally_decode_pipeline(struct tally_decoder *d, struct tally_pipeline_record *pipeline);

#endif
