/* SPDX-License-Identifier: MIT */
#include "cli/report/why.h"

#include "cli/answer/text.h"
#include "cli/log/pass_name.h"
#include "cli/log/series.h"
#include "cli/report/columns.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A value of a pass is one of its series, by key, or this. */
#define PIXELS "(pixels)"
#define VERTICES "vertices"
#define MANY_DRAWS 100 /* from so many on their size matters */

enum of { COUNTED, UNIT }; /* UNIT: of hardware counters, which say what limits a pass */

struct rule {
	enum of of;
	/* The value is top / under, of a frame; under NULL: top. */
	const char *top, *under;
	bool rest; /* 1 less that */
	double least, below; /* outside there is no sentence */
	bool percent; /* as the sentence shows it */
	const char *sentence; /* after the number */
};

/* Of hardware counters: from `least` percent on. */
#define LIMIT(key, least, sentence) \
	{ \
		UNIT, key, NULL, false, least, INFINITY, false, sentence \
	}
#define MALI_UNIT(key, unit) \
	LIMIT(key, 80, \
	      " % of the cycles " unit \
	      " works: that limits it (Arm, Streamline's performance counters)")
#define ALUS_WORKING \
	" % of their busy time the shaders calculate: arithmetic limits them " \
	"(Qualcomm, % Time ALUs Working)"

static const struct rule rules[] = {
	/* Khronos, Vulkan specification, Pipeline Statistics Queries: what is counted. */
	{ COUNTED, "fragment_shader_invocations", PIXELS, false, 0, 2, false,
	  " fragments shaded a pixel" },
	/* Arm, DUI 0555 1.6.1: sort front to back, on other GPUs too. */
	{ COUNTED, "fragment_shader_invocations", PIXELS, false, 2, INFINITY, false,
	  " fragments shaded a pixel: more than one lies over another; draw from front "
	  "to back, or depth first" },
	{ COUNTED, "vertex_shader_invocations", PIXELS, false, 0.01, INFINITY, false,
	  " vertices shaded a pixel" },
	/* Arm, Mali GPU Best Practices (101897), Triangle density: at least 10 to 20 fragments. */
	{ COUNTED, "clipping_output_primitives", PIXELS, false, 0, 0.1, false,
	  " primitives a pixel" },
	{ COUNTED, "clipping_output_primitives", PIXELS, false, 0.1, INFINITY, false,
	  " primitives a pixel: simpler models do" },
	/* Khronos, as above: primitives that leave the clipper or do not. */
	{ COUNTED, "clipping_output_primitives", "clipping_input_primitives", true, 0, 0.5, true,
	  " % of the primitives culled at the clipper" },
	{ COUNTED, "clipping_output_primitives", "clipping_input_primitives", true, 0.5, 1.01, true,
	  " % of the primitives culled at the clipper: leave out what is not seen" },
	/* Wloka, Batch, Batch, Batch, GDC 2003, slide 7: below 130 triangles a draw, of a CPU of
	 * that year, the GPU does not matter. */
	{ COUNTED, "primitives_submitted", "draws", false, 0, 130, false,
	  " primitives a draw: many small draws cost calls; merge or instance them" },
	{ COUNTED, "primitives_submitted", "draws", false, 130, INFINITY, false,
	  " primitives a draw" },
	{ COUNTED, VERTICES, "draws", false, 0, 130, false,
	  " vertices a draw: many small draws cost calls; merge or instance them" },
	MALI_UNIT("MaliShaderCoreUnitUtilizationArithmeticUnitUtilization", "the arithmetic unit"),
	MALI_UNIT("MaliShaderCoreUnitUtilizationTextureUnitUtilization", "the texture unit"),
	MALI_UNIT("MaliShaderCoreUnitUtilizationLoadStoreUnitUtilization", "the load/store unit"),
	MALI_UNIT("MaliShaderCoreUnitUtilizationVaryingUnitUtilization", "the varying unit"),
	MALI_UNIT("MaliGPUUtilizationTilerUtilization", "the tiler"),
	MALI_UNIT("SC.EE_UTILIZATION", "the arithmetic unit"), /* Bifrost */
	MALI_UNIT("SC.TEX_UTILIZATION", "the texture unit"),
	MALI_UNIT("SC.LSC_UTILIZATION", "the load/store unit"),
	MALI_UNIT("SC.VARY_UTILIZATION", "the varying unit"),
	/* Intel, VTune's user guide, EU Array Stalled, EU Array Idle: what is counted. */
	LIMIT("intel_eu_stall_share", 50,
	      " % of their active time the shader units wait, for memory or samplers: "
	      "that limits it (Intel, EU stalls)"),
	LIMIT("intel_eu_idle", 50,
	      " % of the time the shader units have no work: geometry, blending or "
	      "submission limits it (Intel, EU idle)"),
	/* AMD, GPUPerfAPI, RDNA compute counters: 100 % is optimal. RADV computes them alike:
	 * SQ_PERF_SEL_INST_CYCLES_VALU by SIMDs, _INSTS_SALU by CUs, of CPF_STAT_BUSY. */
	LIMIT("valu_busy", 80,
	      " % of the time vector instructions run: that limits it (AMD, GPUPerfAPI, VALUBusy)"),
	LIMIT("salu_busy", 80,
	      " % of the time scalar instructions run: that limits it (AMD, GPUPerfAPI, SALUBusy)"),
	/* Qualcomm, Snapdragon Profiler's metrics: what is counted, and that high values of the
	 * stalls cost time. Turnip computes them for Adreno 7xx; adreno_*: data/metrics. */
	LIMIT("time_alus_working", 80, ALUS_WORKING),
	LIMIT("adreno_alus_working", 80, ALUS_WORKING),
	LIMIT("time_efus_working", 80,
	      " % of their busy time the shaders compute sines, roots and the like: that "
	      "limits them (Qualcomm, % Time EFUs Working)"),
	LIMIT("texture_fetch_stall", 50,
	      " % of the time the shaders wait for texture data: that limits it "
	      "(Qualcomm, % Texture Fetch Stall)"),
	LIMIT("adreno_texture_stall", 50,
	      " % of their busy time the shaders wait for texture data: that limits them "
	      "(Qualcomm, % Texture Fetch Stall)"),
	LIMIT("vertex_fetch_stall", 50,
	      " % of the time vertex data is waited for: that limits it "
	      "(Qualcomm, % Vertex Fetch Stall)"),
	LIMIT("stalled_on_system_memory", 50,
	      " % of the time the L2 cache waits for memory: that limits it "
	      "(Qualcomm, % Stalled on System Memory)"),
};

static bool
find_value(const struct tally_aggregate *a, const struct tally_group *g, const char *key,
	   double *out)
{
	const struct tally_pass_row *row = tally_as_pass(g);
	if (strcmp(key, PIXELS) == 0) {
		*out = (double)row->size.pixels;
		return row->size.pixels > 0;
	}
	for (uint32_t i = 0; i < g->n_series; i++) {
		const struct tally_moments *m = &g->series[i].stats.moments;
		if (strcmp(tally_series_key(a, i)->key, key) != 0)
			continue;
		*out = m->n ? tally_moments_mean(m) : 0;
		return m->n > 0 && !g->series[i].estimated;
	}
	return false;
}

/* Adds the rule's sentence if its values were counted and are in its range: true. */
static bool
apply(const struct tally_aggregate *a, const struct tally_group *g, const struct rule *rule,
      GString *text)
{
	double v, under = 1;
	if (!find_value(a, g, rule->top, &v) ||
	    (rule->under && (!find_value(a, g, rule->under, &under) || !(under > 0))))
		return false;
	/* Vertices stand for primitives that were not counted. */
	double primitives;
	if (strcmp(rule->top, VERTICES) == 0 &&
	    find_value(a, g, "primitives_submitted", &primitives))
		return false;
	/* A few draws cost nothing. */
	if (rule->under && strcmp(rule->under, "draws") == 0 && under < MANY_DRAWS)
		return false;
	v = rule->rest ? 1 - v / under : v / under;
	if (v < rule->least || v >= rule->below)
		return false;
	g_string_append_printf(text, "%s%.3g%s", text->len ? "; " : "", rule->percent ? 100 * v : v,
			       rule->sentence);
	return true;
}

/* The caller frees it. */
static char *
bytes(uint64_t n)
{
	return n < 1000000 ? g_strdup_printf("%.3g kB", (double)n / 1e3)
			   : g_strdup_printf("%.3g MB", (double)n / 1e6);
}

/* Nothing where that is not known. */
static void
add_part_bytes(const struct tally_target_size *size, const char *verb, uint64_t n,
	       unsigned which, GString *text)
{
	static const char *const parts[] = { "", " (color)", " (depth)",
					     " (color and depth)" };
	g_autofree char *most = bytes(n);
	if (!n && !size->parts_known)
		return;
	g_string_append_printf(text, "%s%s ", text->len ? "; " : "", verb);
	if (n)
		g_string_append_printf(text, "up to %s", most);
	else
		g_string_append(text, "nothing of its targets");
	g_string_append(text, size->parts_known ? parts[which] : "");
}

static void
add_bytes(const struct tally_target_size *size, GString *text)
{
	if (!size->known)
		return;
	uint64_t least = size->color_bytes;
	add_part_bytes(size, "loads", size->loaded, size->loads, text);
	add_part_bytes(size, "stores", size->stored, size->stores, text);
	if (!least || size->loaded + size->stored <= least)
		return;
	g_autofree char *enough = bytes(least);
	g_string_append_printf(
		text, ": %s would do if all of it is drawn anew and only color is needed later",
		enough);
}

static bool
draws_nothing(const struct tally_aggregate *a, const struct tally_group *g)
{
	double draws;
	if (g->kind != TALLY_PASS_RENDER || !find_value(a, g, "draws", &draws))
		return false;
	return !(draws > 0) && !(g->flags & (TALLY_FLAG(LIST) | TALLY_FLAG(INDIRECT)));
}

char *
tally_why_text(const struct tally_aggregate *a, const struct tally_group *g)
{
	const struct tally_pass_row *row = tally_as_pass(g);
	if (!row || g->outside)
		return NULL;
	GString *text = g_string_new(NULL);
	bool units = false;
	const bool idle = draws_nothing(a, g);
	if (idle)
		g_string_append(text, "draws nothing");
	if (idle && row->size.load == TALLY_LOAD_CLEAR)
		g_string_append(text, ", it only clears: the next pass on this target "
				      "can do that as it begins");
	for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
		if (rules[i].of == UNIT || g->kind == TALLY_PASS_RENDER)
			units |= apply(a, g, &rules[i], text) && rules[i].of == UNIT;
	add_bytes(&row->size, text);
	const char *experiment =
		g->kind == TALLY_PASS_RENDER
			? "draw it at half the width and height; a quarter of the time "
			  "means fragments and bytes, the same time vertices and draws"
		: g->kind == TALLY_PASS_COMPUTE
			? "dispatch half as many groups; half the time means their work, "
			  "the same time waiting, or too few groups"
			: NULL;
	bool together = g->flags & TALLY_FLAG(SHARED_TIME);
	if (!units && experiment && !idle)
		g_string_append_printf(text, "%sto find out what limits it: %s%s",
				       text->len ? "; " : "", experiment,
				       together ? " (of all that is drawn together)" : "");
	return g_string_free(text, !text->len);
}

/* Whether a part of the answer (cli/answer/parts.h) is the pass, or has it among others: it
 * is called as its label begins. */
static bool
is_in_part(const struct tally_group *g, const char *part)
{
	if (!part || !g->label || g->given)
		return g_strcmp0(part, g->name) == 0;
	size_t n = tally_label_part(g->label);
	if (strlen(part) > n && g->label[n])
		n += 1 + tally_label_part(g->label + n + 1);
	return strlen(part) == n && strncmp(part, g->label, n) == 0;
}

/* Of the passes that a text may name, the one that this is, as the text has it; or NULL. */
static const char *
find_named(const struct tally_group *g, const char *const *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_in_part(g, parts[i]))
			return tally_short_name(parts[i]);
	return NULL;
}

static void
add_text(GString *text, const char *more)
{
	g_string_append_printf(text, "%s%s", text->len ? "; " : "", more);
}

static void
add_hitches(const struct tally_answer_device *d, const struct tally_group *g,
	    GString *text)
{
	const struct tally_answer_hitch *worst = NULL;
	uint64_t n = 0;
	for (unsigned i = d->n_listed; i-- > 0;) {
		const struct tally_answer_hitch *h = &d->hitches[i];
		const char *const parts[] = { h->pass, h->drew, h->grew };
		const char *named = find_named(g, parts, G_N_ELEMENTS(parts));
		if (!named || !strstr(tally_cause_text(h), named))
			continue;
		worst = h;
		n++;
	}
	if (!worst)
		return;
	add_text(text, tally_phrase("named in %" PRIu64 " of %" PRIu64 " hitch%s, %s%s",
				    n, d->n_hitches, d->n_hitches == 1 ? "" : "es",
				    n > 1 ? "the worst " : "",
				    tally_answer_hitch_text(worst)));
}

static void
add_changes(const struct tally_answer_device *d, const struct tally_group *g,
	    GString *text)
{
	for (unsigned i = 0; i < d->n_changes; i++) {
		const struct tally_answer_change *c = &d->changes[i];
		const char *const parts[] = { c->is_pass ? c->what : NULL, c->drew };
		const char *named = find_named(g, parts, G_N_ELEMENTS(parts));
		const char *words = tally_answer_change_text(c);
		if (named && strstr(words, named))
			add_text(text, tally_phrase("makes frames %s", words));
	}
	if (d->alternating.is_pass && is_in_part(g, d->alternating.what))
		add_text(text, tally_answer_alternating_text(d));
}

char *
tally_why_over_run_text(const struct tally_answer *answer,
			const struct tally_group *g)
{
	GString *text = g_string_new(NULL);
	TALLY_EACH (const struct tally_answer_device, d, answer->devices) {
		if (d->device != g->device || !tally_as_pass(g) || g->outside)
			continue;
		add_changes(d, g, text);
		add_hitches(d, g, text);
	}
	return g_string_free(text, !text->len);
}

void
tally_why_print(FILE *out, const struct tally_aggregate *a,
		const struct tally_answer *answer, const GPtrArray *rows)
{
	enum { MOST_PASSES = 5 };
	bool mixed = tally_rows_mix_devices(rows);
	unsigned n = 0;
	for (guint i = 0; i < rows->len && n < MOST_PASSES; i++) {
		const struct tally_group *g = g_ptr_array_index(rows, i);
		g_autofree char *over_run = tally_why_over_run_text(answer, g);
		g_autofree char *counted = tally_why_text(a, g);
		if (!over_run && !counted)
			continue;
		const char *of = mixed ? tally_phrase(" of device %u", g->device) : "";
		g_autofree char *line = g_strdup_printf("%s%s: %s%s%s", g->name, of,
							over_run ? over_run : "",
							over_run && counted ? "; " : "",
							counted ? counted : "");
		n++;
		tally_text_print_wrapped(out, line, 2, 80);
	}
}
