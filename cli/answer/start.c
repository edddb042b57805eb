/* SPDX-License-Identifier: MIT */
#include "cli/answer/start.h"

#include "cli/answer/words.h"
#include "cli/shared/text.h"

#include <glib.h>

/* The thresholds of docs/verdicts.md. */
#define SAME_NS 1000000 /* the process's start is read twice */
#define READ 1000000 /* bytes, worth a word */
#define MOSTLY 0.5
#define PART 0.2
#define APART 1.25 /* the line ends soon after the first frame */

bool
tally_start_take(struct tally_start *s, const struct tally_process_record *p,
		 uint64_t process_start_ns)
{
	uint64_t from_ns = p->time_ns - MIN(p->period_ns, p->time_ns);
	if (!process_start_ns || from_ns > process_start_ns + SAME_NS)
		return false;
	*s = (struct tally_start){ .period_ns = p->period_ns,
				   .ready_ns = p->ready_ns,
				   .disk_bytes = p->disk_bytes };
	for (uint32_t i = 0; i < MIN(p->n_threads, G_N_ELEMENTS(s->threads)); i++) {
		s->threads[i].name = g_intern_string(p->threads[i].name);
		s->threads[i].ns = p->threads[i].cpu_ns;
		s->ready_ns = MAX(s->ready_ns, p->threads[i].ready_ns);
	}
	return true;
}

const char *
tally_start_text(const struct tally_start *s, uint64_t until_ns)
{
	if (!s->period_ns || (double)s->period_ns > APART * (double)until_ns)
		return "";
	g_autoptr(GString) text = g_string_new(NULL);
	const double until = (double)until_ns;
	for (size_t i = 0; i < G_N_ELEMENTS(s->threads) && s->threads[i].name; i++)
		g_string_append_printf(text, ", %s%s worked %s",
				       i && s->threads[i].name == s->threads[0].name
					       ? "another " : "",
				       tally_short_name(s->threads[i].name),
				       tally_duration_text((double)s->threads[i].ns));
	if ((double)s->ready_ns >= PART * until)
		g_string_append_printf(text, ", no CPU was free for up to %s",
				       tally_duration_text((double)s->ready_ns));
	if ((double)(s->threads[0].ns + s->ready_ns) < MOSTLY * until)
		g_string_append(text, ", it mostly waited (disk, sleep, lock)");
	if (s->disk_bytes >= READ)
		g_string_append_printf(text, ", %.0f MB read from a disk",
				       (double)s->disk_bytes / 1e6);
	if (text->len)
		text->str[0] = ';';
	return tally_phrase("%s", text->str);
}
