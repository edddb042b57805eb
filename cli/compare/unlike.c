/* SPDX-License-Identifier: MIT */
#include "cli/answer/text.h"
#include "cli/compare/compare.h"
#include "cli/compare/row.h"
#include "cli/log/device_summary.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

/* Options about where the log goes, not about what is measured. */
static const char *const no_matter[] = { "log",     "force",   "max-log", "log-quota",
					 "control", "no-argv", "host",    "tag" };

const char *const tally_unlike_names[TALLY_N_UNLIKE] = {
	[TALLY_UNLIKE_DEVICE] = "device",   [TALLY_UNLIKE_DRIVER] = "driver",
	[TALLY_UNLIKE_SIZE] = "size",       [TALLY_UNLIKE_OPTIONS] = "options",
	[TALLY_UNLIKE_PROGRAM] = "program",
};

/* Adds what a log says of a property. */
static struct tally_compare_unlike *
say(struct tally_compare *c, unsigned side, enum tally_unlike_kind kind, const char *what,
    const char *text)
{
	struct tally_compare_unlike *u = NULL;
	TALLY_EACH (struct tally_compare_unlike, known, c->unlike)
		u = strcmp(known->what, what) == 0 ? known : u;
	if (!u) {
		u = g_new0(struct tally_compare_unlike, 1);
		u->what = g_strdup(what);
		u->kind = kind;
		for (unsigned i = 0; i < TALLY_N_SIDES; i++)
			u->said[i] = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(c->unlike, u);
	}
	u->silent |= !text;
	if (text && !g_ptr_array_find_with_equal_func(u->said[side], text, g_str_equal, NULL))
		g_ptr_array_add(u->said[side], g_strdup(text));
	return u;
}

static void
say_device(struct tally_compare *c, unsigned side, const struct tally_device_summary *d,
	   uint32_t slot)
{
	const struct tally_surface *surface = tally_aggregate_surface(d);
	char suffix[24] = "", size[32] = "(none)";
	if (surface)
		g_snprintf(size, sizeof(size), "%ux%u", surface->width, surface->height);
	if (c->n_slots > 1)
		g_snprintf(suffix, sizeof(suffix), " of device %u", tally_compare_device(c, slot));
	const struct {
		const char *what, *text;
		enum tally_unlike_kind kind;
	} properties[] = {
		{ "device", d->name, TALLY_UNLIKE_DEVICE },
		{ "api", d->described ? tally_api_name(d->api) : NULL, TALLY_UNLIKE_DEVICE },
		{ "driver", d->driver, TALLY_UNLIKE_DRIVER },
		{ "driver version", d->driver_version, TALLY_UNLIKE_DRIVER },
		{ "size", size, TALLY_UNLIKE_SIZE },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(properties); i++) {
		g_autofree char *what = g_strconcat(properties[i].what, suffix, NULL);
		say(c, side, properties[i].kind, what, properties[i].text);
	}
}

static void
say_options(struct tally_compare *c, unsigned side, const struct tally_compare_log *log)
{
	TALLY_EACH (const char, option, log->aggregate.identity.options) {
		g_autofree char *key = g_strndup(option, strcspn(option, "="));
		g_autofree char *what = g_strdup_printf("option %s", key);
		bool matters = true;
		for (size_t k = 0; k < G_N_ELEMENTS(no_matter); k++)
			matters &= strcmp(key, no_matter[k]) != 0;
		if (matters)
			say(c, side, TALLY_UNLIKE_OPTIONS, what, option + strlen(key) + 1);
	}
}

/* The number of devices and, if there are several, which ones. */
static char *
devices_text(const struct tally_compare_log *log)
{
	guint n = log->devices->len;
	GString *text = g_string_new(NULL);
	g_string_printf(text, "%u", n);
	for (guint i = 0; n > 1 && i < n; i++)
		g_string_append_printf(text, "%s%u%s", i ? ", " : " (numbers ",
				       tally_compare_log_device(log, i), i + 1 < n ? "" : ")");
	return g_string_free(text, FALSE);
}

/* What is compared of a log; of its devices the first `n`, which all logs have. */
static void
say_log(struct tally_compare *c, unsigned side, const struct tally_compare_log *log, guint n)
{
	const struct tally_aggregate *a = &log->aggregate;
	const struct tally_log_identity *id = &a->identity;
	/* Each build may be in a different folder, so only the name is compared. */
	g_autofree char *program = a->program ? g_path_get_basename(a->program) : NULL;
	g_autofree char *devices = devices_text(log);
	const bool none = log->arguments && !*log->arguments;
	const struct tally_answer_change *change = tally_compare_log_change(log);
	const struct {
		const char *what, *text;
	} notes[] = {
		{ "program", program },
		{ "arguments", none ? "(none)" : log->arguments },
		{ "passtally", a->version },
		{ "devices with frames", devices },
		{ "operating system", id->os },
		{ "kernel", id->kernel },
		{ "processor", id->cpu },
		{ "session", id->session ? tally_session_name(id->session) : NULL },
		{ "speed within the run", !change ? "steady"
					  : c->logs[side]->len > 1
						  ? "changes"
						  : tally_answer_change_text(change) },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(notes); i++)
		say(c, side, TALLY_UNLIKE_NOTE, notes[i].what, notes[i].text);
	for (guint i = 0; i < n; i++)
		say_device(c, side, log->devices->pdata[i], i);
	say_options(c, side, log);
}

/* Joins the texts of a property for people. */
static char *
join(const GPtrArray *texts)
{
	GString *out = g_string_new(texts->len ? NULL : "(not said)");
	TALLY_EACH (const char, text, texts)
		g_string_append_printf(out, "%s%s", text == texts->pdata[0] ? "" : " and ", text);
	return g_string_free(out, FALSE);
}

/* What changes times by itself is one for all logs. */
static bool
is_alike(const struct tally_compare_unlike *u)
{
	const bool single = u->said[0]->len == 1 && u->said[1]->len == 1;
	return u->silent ||
	       (strcmp(u->side[0], u->side[1]) == 0 && (single || u->kind == TALLY_UNLIKE_NOTE));
}

/* What is measured of a run as a whole. */
static const struct {
	const char *what, *unit;
	int decimals;
	double part, least; /* by which it has to differ: of the base, and in its unit */
} measures[] = {
	{ "GPU clock", "MHz", 0, TALLY_CLOCK_MOVED, 0 },
	{ "the CPU works", "ms a frame", 2, 0.2, 0.5 }, /* the thread that ends frames */
	{ "hitches cost", "ms a frame", 2, 0.2, 0.5 },
	{ "GPU memory at the end", "MB", 0, 0.2, 64 },
	{ "memory at the end", "MB", 0, 0.2, 64 },
};
enum { CLOCK, WORK, HITCHES, GPU_MEMORY, MEMORY, N_MEASURES };

/* Those of a log; NAN: not known. */
static void
get_measures(const struct tally_compare_log *log, uint32_t slot, double values[N_MEASURES])
{
	const bool has = slot < log->devices->len;
	const struct tally_answer_device *d =
		has ? tally_answer_find(log->answer, tally_compare_log_device(log, slot)) : NULL;
	struct tally_clock_range range;
	for (unsigned i = 0; i < N_MEASURES; i++)
		values[i] = NAN;
	if (has && tally_aggregate_clock(log->devices->pdata[slot], &range))
		values[CLOCK] = range.median_mhz;
	if (d && d->bound.has_thread)
		values[WORK] = 1e3 * d->bound.thread * d->seconds / (double)d->frames;
	if (d) {
		values[HITCHES] = (double)d->hitch_ns / 1e6 / (double)d->frames;
		values[GPU_MEMORY] = d->memory.end / 1e6;
		values[MEMORY] = d->resident.end / 1e6;
	}
}

/* The mean of a side's logs. Hitches of a busy machine are not the program's. */
static void
get_means(const struct tally_compare *c, unsigned side, uint32_t slot, double means[N_MEASURES])
{
	memset(means, 0, N_MEASURES * sizeof(*means));
	TALLY_EACH (const struct tally_compare_log, log, c->logs[side]) {
		double values[N_MEASURES];
		get_measures(log, slot, values);
		for (unsigned i = 0; i < N_MEASURES; i++)
			means[i] += values[i] / c->logs[side]->len;
	}
	if (c->had_no_cpu > TALLY_COMPARE_BUSY)
		means[HITCHES] = NAN;
}

static void
note_measures(struct tally_compare *c, uint32_t slot)
{
	double means[TALLY_N_SIDES][N_MEASURES];
	const char *device = "";
	if (c->n_slots > 1)
		device = tally_phrase(" of device %u", tally_compare_device(c, slot));
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		get_means(c, side, slot, means[side]);
	for (unsigned i = 0; i < N_MEASURES; i++) {
		double far = fabs(means[1][i] - means[0][i]);
		if (!(far > measures[i].part * means[0][i]) || !(far > measures[i].least))
			continue;
		const char *what = tally_phrase("%s%s", measures[i].what, device);
		for (unsigned side = 0; side < TALLY_N_SIDES; side++)
			say(c, side, TALLY_UNLIKE_NOTE, what,
			    tally_phrase("%.*f %s", measures[i].decimals, means[side][i],
					 measures[i].unit));
	}
}

/* For how long no CPU was free for a driver that draws on them, at least, as a part of its time,
 * in all logs of a side; 0: a GPU draws, or not known. */
static double
find_no_cpu(const struct tally_compare *c, unsigned side)
{
	double had_none = 0, drew = 0;
	TALLY_EACH (const struct tally_compare_log, log, c->logs[side]) {
		TALLY_EACH (const struct tally_answer_device, d, log->answer->devices) {
			const struct tally_driver_load *driver = &d->bound.driver;
			had_none += MAX(driver->ns[TALLY_HAD_NO_CPU] - driver->others_ns, 0);
			drew += driver->ns[TALLY_DREW];
		}
	}
	return had_none > 0 ? had_none / (had_none + drew) : 0;
}

static void
note_no_cpu(struct tally_compare *c)
{
	const double part[TALLY_N_SIDES] = { find_no_cpu(c, 0), find_no_cpu(c, 1) };
	c->had_no_cpu = MAX(part[0], part[1]);
	for (unsigned side = 0; side < TALLY_N_SIDES && c->had_no_cpu > TALLY_COMPARE_BUSY; side++)
		say(c, side, TALLY_UNLIKE_NOTE, "no CPU was free for the driver",
		    tally_phrase("%.0f %% of its time or more", 100 * part[side]))
			->always = true;
}

/* Whether at least half of the GPU time of a side is in passes that the other has, too. */
static bool
shares_passes(const struct tally_compare *c)
{
	double all[TALLY_N_SIDES] = { 0 }, shared[TALLY_N_SIDES] = { 0 };
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		const struct tally_compare_subject *s = row->subject;
		if (s->frame || s->outside || row != s->gpu)
			continue;
		for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
			TALLY_EACH (const struct tally_compare_values, v, row->values[side]) {
				double total = tally_moments_total(&v->moments);
				all[side] += total;
				shared[side] += s->frames[0] && s->frames[1] ? total : 0;
			}
		}
	}
	return !(all[0] > 0) || !(all[1] > 0) || 2 * shared[0] >= all[0] || 2 * shared[1] >= all[1];
}

/* The number of devices that all logs have. */
static guint
count_common_devices(const struct tally_compare *c)
{
	guint n = c->n_slots;
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		TALLY_EACH (const struct tally_compare_log, log, c->logs[side])
			n = MIN(n, log->devices->len);
	return n;
}

void
tally_compare_find_unlike(struct tally_compare *c)
{
	const guint n = count_common_devices(c);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		TALLY_EACH (const struct tally_compare_log, log, c->logs[side])
			say_log(c, side, log, n);
	note_no_cpu(c);
	for (uint32_t slot = 0; slot < c->n_slots; slot++)
		note_measures(c, slot);
	for (guint i = c->unlike->len; i-- > 0;) {
		struct tally_compare_unlike *u = c->unlike->pdata[i];
		for (unsigned side = 0; side < TALLY_N_SIDES; side++)
			u->side[side] = join(u->said[side]);
		if (is_alike(u) && !u->always)
			g_ptr_array_remove_index(c->unlike, i);
		else if (strcmp(u->what, "program") == 0 && !shares_passes(c))
			u->kind = TALLY_UNLIKE_PROGRAM;
	}
}
