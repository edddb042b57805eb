/* SPDX-License-Identifier: MIT */
#include "cli/selftest/show.h"

#include "cli/selftest/laws.h"
#include "cli/shared/each.h"
#include "cli/shared/out.h"
#include "cli/shared/text.h"
#include "passtally_version.h"

guint
tally_selftest_count(const struct tally_selftest_result *result, enum tally_verdict verdict)
{
	guint n = 0;
	TALLY_EACH (const struct tally_tested_device, device, result->devices)
		for (int law = 0; law < TALLY_N_LAWS; law++)
			n += device->laws[law].verdict == verdict;
	return n;
}

static const char *
api_of(const struct tally_tested_device *device)
{
	return device->vulkan ? "Vulkan" : "OpenGL";
}

static void
print_verdict(const struct tally_selftest_result *result)
{
	guint n = result->devices->len;
	guint not_run = tally_selftest_count(result, TALLY_VERDICT_NOT_RUN);
	g_autofree char *rest = not_run ? g_strdup_printf(", %u not run", not_run) : NULL;
	tally_text_print(stdout, "%u laws hold, %u fail, %u not offered%s on %u device%s\n\n",
			 tally_selftest_count(result, TALLY_VERDICT_PASS),
			 tally_selftest_count(result, TALLY_VERDICT_FAIL),
			 tally_selftest_count(result, TALLY_VERDICT_NOT_OFFERED), rest ? rest : "",
			 n, TALLY_S(n));
}

/* The device, each law, and what failed. */
static void
print_device(const struct tally_tested_device *d, guint number)
{
	tally_text_print_folded(10, "device %u  %s: %s%s%s, passtally " PASSTALLY_VERSION, number,
				api_of(d), d->name, d->version[0] ? ", " : "", d->version);
	for (int law = 0; law < TALLY_N_LAWS; law++) {
		const struct tally_finding *f = &d->laws[law];
		tally_text_print(stdout, "  %-42s %-10s  %s", tally_laws[law].title,
				 tally_laws[law].source, tally_verdict_word(f->verdict));
		if (f->n_failures)
			tally_text_print(stdout, ", %u time%s", f->n_failures,
					 TALLY_S(f->n_failures));
		tally_text_print(stdout, "\n");
		TALLY_EACH (const char, failure, f->failures)
			tally_text_print_folded(6, "      %s", failure);
	}
	tally_text_print(stdout, "\n");
}

void
tally_selftest_print(const struct tally_selftest_result *result)
{
	static const char *const apis[] = { "OpenGL", "Vulkan" };
	guint n = 0;
	print_verdict(result);
	TALLY_EACH (const struct tally_tested_device, device, result->devices)
		print_device(device, ++n);
	for (size_t i = 0; i < G_N_ELEMENTS(apis); i++)
		if (result->missing[i])
			tally_text_print_folded(10, "%s: %s", apis[i], result->missing[i]);
	if (result->kept)
		tally_text_print_folded(
			0,
			"Please send the folder %s with your report: it holds the logs, what the "
			"programs printed, what passtally doctor says and this result "
			"(selftest.json).",
			result->kept);
}

/* ---- JSON ---- */

static void
print_law_json(struct tally_out *out, const struct tally_tested_device *d, int law)
{
	const struct tally_finding *f = &d->laws[law];
	tally_out_object(out, NULL);
	tally_out_text(out, "law", tally_laws[law].key);
	tally_out_text(out, "title", tally_laws[law].title);
	tally_out_text(out, "source", *tally_laws[law].source ? tally_laws[law].source : NULL);
	tally_out_text(out, "result",
		       f->verdict == TALLY_VERDICT_FAIL ? "fail" : tally_verdict_word(f->verdict));
	tally_out_text(out, "why", f->verdict == TALLY_VERDICT_NOT_OFFERED ? f->why : NULL);
	tally_out_u64(out, "failed", f->n_failures);
	tally_out_texts(out, "failures", f->failures);
	tally_out_end_object(out);
}

void
tally_selftest_print_json(const struct tally_selftest_result *result, FILE *to)
{
	g_autofree struct tally_out *out = g_new(struct tally_out, 1);
	tally_out_init(out, to);
	tally_out_object(out, NULL);
	tally_out_text(out, "schema", "passtally-selftest/1");
	tally_out_text(out, "version", PASSTALLY_VERSION);
	tally_out_u64(out, "hold", tally_selftest_count(result, TALLY_VERDICT_PASS));
	tally_out_u64(out, "fail", tally_selftest_count(result, TALLY_VERDICT_FAIL));
	tally_out_u64(out, "not_offered", tally_selftest_count(result, TALLY_VERDICT_NOT_OFFERED));
	tally_out_u64(out, "not_run", tally_selftest_count(result, TALLY_VERDICT_NOT_RUN));
	tally_out_f64(out, "seconds", result->seconds);
	tally_out_text_or_null(out, "no_opengl", result->missing[0]);
	tally_out_text_or_null(out, "no_vulkan", result->missing[1]);
	tally_out_text_or_null(out, "kept", result->kept);
	tally_out_array(out, "devices");
	TALLY_EACH (const struct tally_tested_device, d, result->devices) {
		tally_out_object(out, NULL);
		tally_out_text(out, "api", api_of(d));
		tally_out_u64(out, "number", d->number);
		tally_out_text(out, "name", d->name);
		tally_out_text(out, "driver", d->driver);
		tally_out_text(out, "driver_version", d->version);
		tally_out_array(out, "laws");
		for (int law = 0; law < TALLY_N_LAWS; law++)
			print_law_json(out, d, law);
		tally_out_end_array(out);
		tally_out_end_object(out);
	}
	tally_out_end_array(out);
	tally_out_end_object(out);
	tally_out_char(out, '\n');
	tally_out_flush(out);
}
