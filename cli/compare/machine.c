/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare.h"

#include <math.h>
#include <string.h>

/* What differs between the machines of the two sides, and how fast their GPUs were clocked. All of
 * it is said, none of it decides; what a log does not say is held against nothing. */

static void
note(struct tally_compare *c, const char *what, const char *base, const char *new)
{
	struct tally_compare_unlike *u = g_new0(struct tally_compare_unlike, 1);
	u->what = g_strdup(what);
	u->side[0] = g_strdup(base);
	u->side[1] = g_strdup(new);
	g_ptr_array_add(c->unlike, u);
}

/* The texts of a side without repetition, in order; NULL when a log of it says nothing. */
static char *
join_texts(const struct tally_compare *c, unsigned side,
	   const char *(*get)(const struct tally_log_identity *identity))
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new();
	bool all = c->logs[side]->len > 0;
	for (guint i = 0; i < c->logs[side]->len && all; i++) {
		const struct tally_compare_log *log = g_ptr_array_index(c->logs[side], i);
		const char *text = get(&log->aggregate.identity);
		all = text != NULL;
		if (all &&
		    !g_ptr_array_find_with_equal_func(texts, text, g_str_equal, NULL))
			g_ptr_array_add(texts, (gpointer)text);
	}
	g_ptr_array_add(texts, NULL);
	return all ? g_strjoinv(" and ", (char **)texts->pdata) : NULL;
}

static const char *
get_os(const struct tally_log_identity *identity)
{
	return identity->os;
}

static const char *
get_kernel(const struct tally_log_identity *identity)
{
	return identity->kernel;
}

static const char *
get_cpu(const struct tally_log_identity *identity)
{
	return identity->cpu;
}

static const char *
get_session(const struct tally_log_identity *identity)
{
	return identity->session ? tally_session_name(identity->session) : NULL;
}

/* The mean over the logs of a side and stratum of the median clock of a device; 0 when one has
 * none. */
static double
mean_clock(const struct tally_compare *c, unsigned side, uint32_t slot, uint32_t stratum)
{
	double sum = 0;
	guint n = 0;
	for (guint i = 0; i < c->logs[side]->len; i++) {
		const struct tally_compare_log *log = g_ptr_array_index(c->logs[side], i);
		struct tally_clock_range clock;
		if (log->stratum != stratum)
			continue;
		if (slot >= log->devices->len ||
		    !tally_aggregate_clock(
			    tally_aggregate_device(
				    &log->aggregate,
				    g_array_index(log->devices, uint32_t, slot)),
			    &clock))
			return 0;
		sum += clock.median_mhz;
		n++;
	}
	return n ? sum / n : 0;
}

static void
note_clock(struct tally_compare *c, uint32_t slot, uint32_t stratum)
{
	double mhz[TALLY_N_SIDES] = { mean_clock(c, 0, slot, stratum),
				      mean_clock(c, 1, slot, stratum) };
	if (mhz[0] <= 0 || mhz[1] <= 0 ||
	    fabs(mhz[1] - mhz[0]) <= TALLY_CLOCK_MOVED * mhz[0])
		return;
	char device[24] = "", of[24] = "", what[64], texts[TALLY_N_SIDES][32];
	if (c->n_slots > 1)
		g_snprintf(device, sizeof(device), " of device %u", tally_compare_device(c, slot));
	if (c->strata->len)
		g_snprintf(of, sizeof(of), ", stratum %u", stratum + 1);
	g_snprintf(what, sizeof(what), "GPU clock%s%s", device, of);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		g_snprintf(texts[side], sizeof(texts[side]), "%.0f MHz", mhz[side]);
	note(c, what, texts[0], texts[1]);
}

void
tally_compare_find_machines(struct tally_compare *c)
{
	static const struct {
		const char *what;
		const char *(*get)(const struct tally_log_identity *identity);
	} properties[] = {
		{ "operating system", get_os },
		{ "kernel", get_kernel },
		{ "processor", get_cpu },
		{ "session", get_session },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(properties); i++) {
		g_autofree char *base = join_texts(c, 0, properties[i].get);
		g_autofree char *new = join_texts(c, 1, properties[i].get);
		if (base && new &&strcmp(base, new) != 0)
			note(c, properties[i].what, base, new);
	}
	for (uint32_t slot = 0; slot < c->n_slots; slot++)
		for (uint32_t stratum = 0; stratum < MAX(c->strata->len, 1); stratum++)
			note_clock(c, slot, stratum);
}
