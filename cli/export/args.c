/* SPDX-License-Identifier: MIT */
#include "cli/export/timeline.h"

#include "cli/report/columns.h"
#include "cli/log/stats.h"
#include "json/log_numbers.h"
#include "json/swar.h"

/* Receives the numbers of an object that json/log.fields lists, if they are known. */
struct number_watcher {
	tally_export_see *see;
	void *user;
	const char *prefix;
};

static void
see_listed(void *to, const char *name, const char *unit, bool known, struct tally_value value)
{
	const struct number_watcher *w = to;
	(void)unit;
	if (known)
		w->see(w->user, w->prefix, name, NULL, value);
}

static void
see_number(tally_export_see *see, void *user, const char *key, uint64_t v)
{
	see(user, "", key, NULL, tally_u64(v));
}

static void
see_text(tally_export_see *see, void *user, const char *key, const char *text)
{
	see(user, "", key, text, tally_u64(0));
}

static void
see_flags(tally_export_see *see, void *user, uint64_t flags)
{
	if (!flags)
		return;
	g_autofree char *text = tally_flags_text(flags, " ");
	see_text(see, user, "flags", text);
}

/* Returns whether any of the values is an estimate. */
static bool
see_values(tally_export_see *see, void *user, const char *prefix,
	   const struct tally_keyed_value *values, uint32_t n)
{
	bool estimated = false;
	for (uint32_t i = 0; i < n; i++) {
		see(user, prefix, values[i].key, NULL, values[i].value);
		estimated |= values[i].estimated;
	}
	return estimated;
}

static void
add_estimated(GString *text, const struct tally_keyed_value *values, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!values[i].estimated)
			continue;
		if (text->len)
			g_string_append_c(text, ' ');
		g_string_append(text, values[i].key);
	}
}

/* Two lists of values, followed by the list of those that are estimates. */
static void
see_lists(tally_export_see *see, void *user, const char *prefix,
	  const struct tally_keyed_value *values, uint32_t n,
	  const struct tally_keyed_value *metrics, uint32_t n_metrics)
{
	bool estimated = see_values(see, user, prefix, values, n);
	estimated |= see_values(see, user, "metrics.", metrics, n_metrics);
	if (!estimated)
		return;
	g_autoptr(GString) text = g_string_new(NULL);
	add_estimated(text, values, n);
	add_estimated(text, metrics, n_metrics);
	see_text(see, user, "estimated", text->str);
}

static void
see_frame(const struct tally_frame_record *f, tally_export_see *see, void *user)
{
	see_number(see, user, "frame", f->frame);
	see_number(see, user, "device", f->device);
	if (f->set)
		see_text(see, user, "set", f->set);
	if (f->has_gpu) {
		see_number(see, user, "gpu_ns", f->gpu_ns);
		see_number(see, user, "envelope_ns", f->envelope_ns);
	}
	if (f->has_coverage)
		see(user, "", "coverage", NULL, tally_f64(f->coverage));
	see_number(see, user, "passes", f->n_passes);
	see_number(see, user, "overhead_ns", f->overhead_ns);
	if (f->dropped_passes)
		see_number(see, user, "dropped_passes", f->dropped_passes);
	struct number_watcher watcher = { see, user, "unattributed." };
	tally_unattributed_numbers(f, see_listed, &watcher);
	see_lists(see, user, "unattributed.", f->unattributed, f->n_unattributed, f->metrics,
		  f->n_metrics);
	see_flags(see, user, f->flags);
}

static void
see_identity(const struct tally_pass_record *p, tally_export_see *see, void *user)
{
	char id[17] = "";
	tally_swar_write_hex(id, (uint32_t)(p->id >> 32));
	tally_swar_write_hex(id + 8, (uint32_t)p->id);
	see_number(see, user, "index", p->index);
	see_text(see, user, "id", id);
}

static void
see_pass(const struct tally_pass_record *p, tally_export_see *see, void *user)
{
	struct number_watcher watcher = { see, user, "" };
	see_identity(p, see, user);
	if (p->segment)
		see_number(see, user, "segment", p->segment);
	see_text(see, user, "kind", tally_pass_kind_name(p->kind));
	if (p->has_submission)
		see_number(see, user, "submission", p->submission);
	if (p->surface >= 0)
		see_number(see, user, "surface", (uint64_t)p->surface);
	tally_pass_numbers(p, see_listed, &watcher);
	see_lists(see, user, "counters.", p->counters, p->n_counters, p->metrics, p->n_metrics);
	see_flags(see, user, p->flags);
}

static void
see_workload(const struct tally_workload_record *w, tally_export_see *see, void *user)
{
	struct number_watcher watcher = { see, user, "" };
	tally_workload_numbers(w, see_listed, &watcher);
	see_lists(see, user, "counters.", w->counters, w->n_counters, NULL, 0);
	see_flags(see, user, w->flags);
}

static void
see_note(const struct tally_timeline_event *e, tally_export_see *see, void *user)
{
	const struct tally_note_record *note = e->note;
	see_text(see, user, "level", tally_level_name(note->level));
	if (note->source)
		see_text(see, user, "source", note->source);
	if (!note->has_time)
		see_text(see, user, "time", "not said: shown where the log has it");
	if (e->has_number)
		see_number(see, user, "frame", e->number);
}

void
tally_timeline_see_args(const struct tally_timeline_event *e, tally_export_see *see, void *user)
{
	if (e->note) {
		see_note(e, see, user);
		return;
	}
	if (!e->frame)
		return;
	if (!e->pass) {
		see_frame(e->frame, see, user);
		return;
	}
	see_number(see, user, "frame", e->frame->frame);
	if (e->workload) {
		see_workload(e->workload, see, user);
		return;
	}
	if (e->type == TALLY_TIMELINE_INSTANT && !e->pass->has_cpu_start)
		see_text(see, user, "time", "not known: shown where the frame began");
	if (e->brief)
		see_identity(e->pass, see, user);
	else
		see_pass(e->pass, see, user);
}
