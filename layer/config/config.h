/* SPDX-License-Identifier: MIT */
/* layer/config/config.h - every option, from every place where it can be set.
 *
 * One table (tally_options) serves the command line, PASSTALLY_OPTIONS, the INI files and the
 * header line of the log. Precedence: command line, environment, Vulkan's settings of
 * layers, per-program file, user file, the program itself, default. An unknown key or a bad value
 * is reported through the callback, with a list of the valid ones; the caller decides whether to
 * stop (the command) or to continue with defaults (in the game). Any thread, but a struct
 * tally_config belongs to one thread until it is filled; afterwards it is read-only. Reading files
 * may block; nothing else does.
 */
#ifndef PASSTALLY_LAYER_CONFIG_H
#define PASSTALLY_LAYER_CONFIG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tally_granularity {
	TALLY_GRANULARITY_FRAME = 0,
	TALLY_GRANULARITY_SUBMIT,
	TALLY_GRANULARITY_PASS,
	TALLY_GRANULARITY_DRAW,
};

enum tally_frame_boundary {
	TALLY_FRAME_PRESENT = 0,
	TALLY_FRAME_FINISH,
	TALLY_FRAME_FLUSH,
	TALLY_FRAME_TERMINATOR,
	TALLY_FRAME_IDLE,
	TALLY_FRAME_SUBMIT, /* every frame_every submits */
	TALLY_FRAME_LABEL,  /* where the label frame_label begins */
};

enum tally_split { TALLY_SPLIT_NONE = 0, TALLY_SPLIT_GROUP, TALLY_SPLIT_BARRIER };
enum tally_snapshot { TALLY_SNAPSHOT_SAMPLED = 0, TALLY_SNAPSHOT_EXACT, TALLY_SNAPSHOT_OFF };

enum tally_trigger_kind {
	TALLY_TRIGGER_NONE = 0,
	TALLY_TRIGGER_FRAME,
	TALLY_TRIGGER_LABEL,
	TALLY_TRIGGER_SIGNAL,
	TALLY_TRIGGER_HW, /* the hardware's own trigger: MicroBlaze */
};

struct tally_trigger {
	enum tally_trigger_kind kind;
	uint64_t frame;
	char *label;
	int number; /* of the signal */
};

/* The place that a value in force came from, lowest precedence first. */
enum tally_config_origin {
	TALLY_FROM_DEFAULT = 0,
	TALLY_FROM_PROGRAM, /* the program itself: VK_EXT_layer_settings */
	TALLY_FROM_USER_FILE,
	TALLY_FROM_PROGRAM_FILE,
	TALLY_FROM_LAYER_SETTINGS, /* Vulkan's file and environment of layers */
	TALLY_FROM_ENVIRONMENT,
	TALLY_FROM_COMMAND_LINE,
};

/* A `[metric NAME]` section as written. It is parsed later, by query/metric/metric.h. */
struct tally_config_metric {
	char *key;
	char *name, *unit, *dialect; /* NULL: not given */
	char *expression;
	char *file;
	uint32_t line; /* line of the section's heading */
	uint32_t expression_line, expression_column; /* from 1, columns in characters */
};

/* A tag of the run. A later one of the same key and no lower precedence replaces it. */
#define TALLY_MAX_TAGS 32
struct tally_config_tag {
	char *key, *value;
	enum tally_config_origin origin;
};

/* The files of a black box beside the log, by its name and "before", "now" or "last"; kept ones
 * have a number from 1 as well. */
#define TALLY_BLACK_BOX_NAME "%s.%s"
#define TALLY_BLACK_BOX_KEPT_NAME "%s.%u.%s"
#define TALLY_BLACK_BOX_MOST_KEPT 9

/* What LOG.last has, for a program that is killed: the pass that began last. */
struct tally_last_pass {
	atomic_bool writing; /* what follows is not whole */
	bool any;
	atomic_bool unread; /* it is the first one without a result on a device that was lost */
	bool presented; /* its target */
	uint32_t width, height;
	uint64_t frame;
	char stopped[64]; /* why a device is measured no more; "" = none is */
	char name[416]; /* the beginning of its label, else of its target's name; "" = none */
};

/* The values in force. Strings belong to the struct. */
struct tally_config {
	char *counters; /* list, '+' or ',' between items */
	char *set;      /* NULL = rotate */
	char *sources;  /* NULL = all GPU sources whose probe succeeds */
	bool cpu;       /* CPU sources count too, regardless of `sources` */
	enum tally_granularity granularity;
	enum tally_frame_boundary frame;
	uint64_t frame_every;
	char *frame_label;
	enum tally_split split;
	bool group_work;
	bool pipelines; /* list those of each pass */
	bool pipeline_statistics; /* with what the driver says of each */
	bool digest; /* no lines of frames, but their statistics in the end line */
	bool describe; /* write a device's line when it is made, not at its first work */
	enum tally_snapshot snapshot;
	uint64_t period_ns;
	uint64_t renderdoc_over_ns; /* RenderDoc is to capture after such a frame; 0: never */
	uint64_t black_box_ns; /* the frames of about this time; 0: of all */
	uint64_t black_box_over_ns; /* keep them at a longer frame; 0: at none */
	uint64_t mali_delay_ns; /* before each exact reading of a Mali's counters */
	char *microblaze; /* its words, which query/microblaze/options.h reads; "off": none */
	uint64_t skip, frames, every; /* frames 0 = no end; every 1 = all */
	double seconds;               /* 0 = no end */
	struct tally_trigger start_on, stop_on;
	struct tally_trigger pictures; /* when; NONE: there are none */
	char *control;      /* pattern of the control socket's path; NULL or "off" = none */
	char *log;          /* pattern with %e %t %p; NULL = the default place */
	uint64_t max_log;   /* bytes, 0 = no limit */
	uint64_t log_quota; /* bytes of the default folder, 0 = no limit; used by run */
	uint32_t max_passes; /* a frame */
	bool no_argv, force;
	bool host; /* the machine's name goes into the log */
	struct tally_config_tag tags[TALLY_MAX_TAGS];
	uint32_t n_tags;
	char *block, *allow; /* lists of programs; NULL = none */
	enum tally_config_origin *origin; /* per row of tally_options */
	/* The user's own metrics. One in a per-program file overrides one of
	 * that name in the user file. */
	struct tally_config_metric *metrics;
	uint32_t n_metrics;
};

/* The type of a value, which determines how it is spelled and stored. */
enum tally_option_type {
	TALLY_OPTION_STRING = 0,
	TALLY_OPTION_WORD,    /* an enum: one of `words`, in order */
	TALLY_OPTION_SWITCH,  /* bool */
	TALLY_OPTION_COUNT,   /* a whole number within the limits, of 32 or 64 bits */
	TALLY_OPTION_SIZE,    /* bytes, with K, M or G */
	TALLY_OPTION_TIME,    /* nanoseconds within the limits, spelled with a unit */
	TALLY_OPTION_SECONDS, /* a double */
	TALLY_OPTION_FRAME,   /* frame, frame_every and frame_label */
	TALLY_OPTION_TRIGGER,
	TALLY_OPTION_TAGS, /* each mention adds to them */
};

/* One option: an entry of the table. */
struct tally_option {
	const char *key; /* "max-log" */
	enum tally_option_type type;
	size_t offset, size; /* of the member of struct tally_config */
	const char *values; /* "on|off", "LIST"; "[X]" = optional; NULL = a switch */
	const char *const *words; /* ends in NULL */
	uint64_t least, most;
	const char *valid; /* the "use ..." part of a refusal */
};

/* Called for each thing that could not be accepted, with one whole sentence. */
typedef void tally_config_complain(void *data, const char *message);

void tally_config_init(struct tally_config *config); /* defaults; may leave strings NULL on OOM */
void tally_config_finish(struct tally_config *config);

/* The option of a key, or NULL. It points into the core's own table, of which the command has a
 * copy: outside the core no index can be computed from it. */
const struct tally_option *tally_option_find(const char *key, size_t len);

/* Sets one option unless something of higher precedence already has.
 * False after a complaint. */
bool tally_config_set(struct tally_config *config, const char *key, const char *value,
		      enum tally_config_origin origin, tally_config_complain *complain,
		      void *data);
/* "counters=X,frame=submit:1": commas between options, '+' inside lists, backslash escapes. A key
 * without '=' sets a switch. `text` is at most 64 KiB. */
bool tally_config_parse_options(struct tally_config *config, const char *text,
				enum tally_config_origin origin, tally_config_complain *complain,
				void *data);

/* ASCII only: in the C library, case depends on the game's locale. */
static inline char
tally_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether PASSTALLY_DISABLE is set, to any value: then everything is a pure
 * pass-through. Read once, at load. */
bool tally_config_disabled(void);

#endif
