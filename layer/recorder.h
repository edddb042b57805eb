/* SPDX-License-Identifier: MIT */
/* layer/recorder.h - the destination of finished records: the ops table that json/ implements.
 *
 * The collector thread (layer/session/collector.c) is the only caller once a session runs;
 * before that, the code that opens the recorder. Nothing here is called from the game's draw
 * path. Each call writes one whole line or none. After an error every later call returns the
 * same error and writes nothing: the caller stops the capture and reports it once. Only
 * TALLY_RECORD_LIMIT leaves room: note() and end() still write after it, end() without
 * statistics if necessary.
 */
#ifndef PASSTALLY_LAYER_RECORDER_H
#define PASSTALLY_LAYER_RECORDER_H

#include "layer/record.h"

enum tally_record_status {
	TALLY_RECORD_OK = 0,
	TALLY_RECORD_EXISTS,  /* the file exists and `force` is off */
	TALLY_RECORD_DENIED,  /* no permission, a link, a missing folder: see `why` */
	TALLY_RECORD_FULL,    /* no space left on the device */
	TALLY_RECORD_LIMIT,   /* max-log reached */
	TALLY_RECORD_IO,      /* any other failure of open or write */
	TALLY_RECORD_NO_MEMORY,
};

struct tally_recorder;

struct tally_recorder_options {
	const char *path;    /* already expanded */
	uint64_t max_bytes;  /* 0 = no limit */
	bool force;          /* replace an existing file */
	bool make_folders;   /* create missing parents (only for the default place) */
};

struct tally_recorder_ops {
	/* Opens the log for writing (O_EXCL unless force, O_NOFOLLOW, O_CLOEXEC, mode 0600). On
	 * failure returns NULL, sets *status and writes a sentence into `why` (what failed, on
	 * which file, and what to do). Blocks as open(2) does. */
	struct tally_recorder *(*open)(const struct tally_recorder_options *options,
				       enum tally_record_status *status, char *why, size_t size);
	enum tally_record_status (*header)(struct tally_recorder *r,
					   const struct tally_header_record *header);
	enum tally_record_status (*device)(struct tally_recorder *r,
					   const struct tally_device_record *device);
	enum tally_record_status (*pass_info)(struct tally_recorder *r,
					      const struct tally_pass_info_record *info);
	enum tally_record_status (*pipeline)(struct tally_recorder *r,
					     const struct tally_pipeline_record *pipeline);
	/* Keys of counters and metrics are remembered by their addresses: until the next device(),
	 * or the end, they are neither changed nor freed. */
	enum tally_record_status (*frame)(struct tally_recorder *r,
					  const struct tally_frame_record *frame);
	enum tally_record_status (*process)(struct tally_recorder *r,
					    const struct tally_process_record *process);
	enum tally_record_status (*note)(struct tally_recorder *r,
					 const struct tally_note_record *note);
	enum tally_record_status (*end)(struct tally_recorder *r,
					const struct tally_end_record *end);
	/* Writes the buffer to the kernel: every complete line is then in the file even
	 * if the process is killed. */
	enum tally_record_status (*flush)(struct tally_recorder *r);
	/* The last error as a sentence; "" when there was none. */
	const char *(*why)(const struct tally_recorder *r);
	/* Flushes and closes; accepts NULL. */
	void (*close)(struct tally_recorder *r);
	/* After fork, in the child: drops the buffer and the descriptor
	 * without writing a byte. */
	void (*abandon)(struct tally_recorder *r);
};

#endif
