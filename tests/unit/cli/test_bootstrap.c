/* SPDX-License-Identifier: MIT */
#include "cli/compare/bootstrap.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define MOST 1200

/* Reference values: incomplete beta functions to 30 digits. */
static const struct {
	double t, df, p;
} student_cases[] = {
	{ 0, 3, 1 },
	{ 1, 1, 0.5 },
	{ 2.228138851964939, 10, 0.0500000000018086 },
	{ 4, 3.5, 0.0209206163654037 },
	{ 20, 5, 5.77551637322417e-6 },
	{ 1.96, 1e6, 0.0499960675852697 },
	{ 8, 80, 8.08793818139458e-12 },
	{ 0.1, 2, 0.929465438414140 },
	{ 6, 8, 0.000323393221885149 },
};

static void
test_student(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(student_cases); i++) {
		double t = student_cases[i].t, df = student_cases[i].df, p = student_cases[i].p;
		g_test_message("t %g, df %g", t, df);
		g_assert_cmpfloat_with_epsilon(tally_student_tail(t, df) / p, 1, 1e-8);
		if (t > 0)
			g_assert_cmpfloat_with_epsilon(tally_student_quantile(p, df) / t,
						       1, 1e-8);
	}
}

/* Sums of the binomial distribution, exactly. */
static const struct {
	double x, n, p, want;
} binomial_cases[] = {
	{ 0, 5, 0.3, 1 },
	{ 1, 2, 0.5, 0.75 },
	{ 2, 2, 0.5, 0.25 },
	{ 3, 2, 0.5, 0 },
	{ 10, 10, 0.5, 0.0009765625 },
	{ 5, 10, 0.3, 0.1502683326 },
	{ 2, 100, 0.001, 0.004638068390424 },
};

static void
test_binomial(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(binomial_cases); i++) {
		double x = binomial_cases[i].x, n = binomial_cases[i].n;
		g_test_message("%g of %g", x, n);
		g_assert_cmpfloat_with_epsilon(tally_binomial_tail(x, n, binomial_cases[i].p),
					       binomial_cases[i].want, 1e-9);
	}
	/* Fractions lie in between. */
	double at = tally_binomial_tail(2.5, 10, 0.3);
	g_assert_cmpfloat(at, <, tally_binomial_tail(2, 10, 0.3));
	g_assert_cmpfloat(at, >, tally_binomial_tail(3, 10, 0.3));
}

static void
test_quantile(void)
{
	double values[MOST], out[500];
	uint32_t slow = 0, odd = 0;
	for (uint32_t i = 0; i < MOST; i++)
		values[i] = i % 60 == 59 ? 36 : 16;
	/* Each 60th value makes more than one in 100, at regular distances: few resamples lack
	 * it. */
	g_assert_cmpuint(tally_bootstrap_quantile(values, MOST, 0.99, 1, out, 500), >=, 34);
	for (uint32_t i = 0; i < 500; i++) {
		slow += out[i] == 36;
		odd += out[i] != 36 && out[i] != 16;
	}
	g_assert_cmpuint(slow, >, 475);
	g_assert_cmpuint(odd, ==, 0);
	for (uint32_t i = 0; i < 100; i++)
		values[i] = i * 37 % 100;
	double median[1], single[1];
	tally_bootstrap_quantile(values, 1, 0.99, 1, single, 1);
	g_assert_cmpfloat(single[0], ==, 0);
	tally_bootstrap_quantile(values, 100, 0.5, 1, median, 1);
	g_assert_cmpfloat(median[0], >, 20);
	g_assert_cmpfloat(median[0], <, 80);
}

static void
test_holm(void)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 };
	const double want[] = { 0.03, 0.06, 0.06, 0.02 };
	tally_holm_adjust(p, G_N_ELEMENTS(p));
	for (size_t i = 0; i < G_N_ELEMENTS(p); i++)
		g_assert_cmpfloat_with_epsilon(p[i], want[i], 1e-15);
	double large[] = { 0.9, 0.6, 0 };
	tally_holm_adjust(large, G_N_ELEMENTS(large));
	g_assert_cmpfloat(large[0], ==, 1);
	g_assert_cmpfloat(large[1], ==, 1);
	g_assert_cmpfloat(large[2], ==, 0);
	tally_holm_adjust(NULL, 0);
}

static void
test_trimmed_mean(void)
{
	const double values[] = { 100, 2, 3, 4, 5, 6, 7, 8, 9, -50 };
	g_assert_cmpfloat_with_epsilon(tally_trimmed_mean(values, 10, 0), 9.4, 1e-12);
	g_assert_cmpfloat_with_epsilon(tally_trimmed_mean(values, 10, 0.1), 5.5, 1e-12);
	/* With nine values nothing is cut. */
	g_assert_cmpfloat_with_epsilon(tally_trimmed_mean(values, 9, 0.1), 16, 1e-12);
	g_assert_cmpfloat(tally_trimmed_mean(values, 1, 0.4), ==, 100);
}

/* Synthetic frames */

static uint64_t state;

static double
uniform(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * G_PI * uniform());
}

struct noise {
	double size; /* deviation over the mean */
	double phi; /* correlation of neighbors */
	double drift; /* deviation of a run's rise from its first frame to its last */
	double spikes; /* share of frames that take 3 to 10 times as long */
};

static void
make_frames(double *v, uint32_t n, const struct noise *noise, double mean)
{
	double x = normal(), rise = noise->drift * normal();
	double fresh = sqrt(1 - noise->phi * noise->phi);
	for (uint32_t i = 0; i < n; i++) {
		x = noise->phi * x + fresh * normal();
		v[i] = mean * (1 + noise->size * x + rise * ((double)i / n - 0.5));
		if (noise->spikes > 0 && uniform() < noise->spikes)
			v[i] *= 3 + 7 * uniform();
	}
}

static void
test_block_length(void)
{
	static const struct {
		const char *what;
		double phi;
		uint32_t n, least, most;
	} cases[] = {
		{ "independent: the cube root", 0, 1000, 10, 14 },
		{ "weak", 0.3, 1000, 10, 18 },
		{ "strong", 0.9, 1000, 25, 95 },
		{ "never more than a third", 0.99, 30, 4, 10 },
		{ "four values", 0, 4, 1, 2 },
		{ "three values", 0, 3, 1, 1 },
	};
	double v[MOST], long_run;
	state = 1;
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct noise noise = { .size = 0.05, .phi = cases[i].phi };
		g_test_message("%s", cases[i].what);
		make_frames(v, cases[i].n, &noise, 100);
		uint32_t b = tally_block_length(v, cases[i].n, &long_run);
		g_assert_cmpuint(b, >=, cases[i].least);
		g_assert_cmpuint(b, <=, cases[i].most);
	}
	/* What the mean's variance is, approximately: 25 (1 + phi) / (1 - phi). */
	const struct noise strong = { .size = 0.05, .phi = 0.8 };
	double sum = 0;
	for (unsigned i = 0; i < 20; i++) {
		make_frames(v, 1000, &strong, 100);
		tally_block_length(v, 1000, &long_run);
		sum += long_run;
	}
	g_assert_cmpfloat(sum / 20, >, 0.8 * 225);
	g_assert_cmpfloat(sum / 20, <, 1.5 * 225);
	for (unsigned i = 0; i < 100; i++)
		v[i] = 7;
	g_assert_cmpuint(tally_block_length(v, 100, &long_run), >=, 1);
	g_assert_cmpfloat(long_run, ==, 0);
}

static struct tally_bootstrap_result
compare(const double *a, uint32_t n_a, const double *b, uint32_t n_b, double trim,
	bool independent)
{
	struct tally_bootstrap_side x = { .values = a, .n = n_a }, y = { .values = b, .n = n_b };
	const struct tally_bootstrap_settings settings = {
		.confidence = 0.99,
		.trim = trim,
		.resamples = 999,
		.seed = 42,
		.independent = independent,
	};
	struct tally_bootstrap_result r;
	tally_bootstrap_compare(&x, &y, &settings, &r);
	return r;
}

static void
test_compare_laws(void)
{
	const struct noise noise = { .size = 0.05, .phi = 0.4 };
	double a[MOST], b[MOST], scaled_a[MOST], scaled_b[MOST];
	state = 2;
	make_frames(a, 300, &noise, 1000);
	make_frames(b, 200, &noise, 1030);
	struct tally_bootstrap_result r = compare(a, 300, b, 200, 0, false);
	struct tally_bootstrap_result again = compare(a, 300, b, 200, 0, false);
	g_assert_cmpint(memcmp(&r, &again, sizeof(r)), ==, 0);
	g_assert_cmpfloat(r.low, <, r.difference);
	g_assert_cmpfloat(r.high, >, r.difference);
	/* A factor changes nothing but the unit. */
	for (unsigned i = 0; i < 300; i++) {
		scaled_a[i] = 1048576 * a[i];
		scaled_b[i] = 1048576 * b[i % 200];
	}
	struct tally_bootstrap_result s = compare(scaled_a, 300, scaled_b, 200, 0, false);
	g_assert_cmpfloat_with_epsilon(s.difference / 1048576, r.difference, 1e-6);
	g_assert_cmpfloat_with_epsilon(s.p, r.p, 1e-9);
	/* Sides exchanged: the sign changes too. */
	struct tally_bootstrap_result t = compare(b, 200, a, 300, 0, false);
	g_assert_cmpfloat_with_epsilon(t.difference, -r.difference, 1e-9);
	g_assert_cmpfloat_with_epsilon(t.se, r.se, 1e-9);
	/* A run does not differ from itself. */
	struct tally_bootstrap_result same = compare(a, 300, a, 300, 0, false);
	g_assert_cmpfloat(same.difference, ==, 0);
	g_assert_cmpfloat(same.p, ==, 1);
}

static void
test_constants(void)
{
	double a[20], b[20];
	for (unsigned i = 0; i < 20; i++) {
		a[i] = 3;
		b[i] = 4;
	}
	struct tally_bootstrap_result r = compare(a, 20, b, 20, 0, false);
	g_assert_cmpfloat(r.p, ==, 0);
	g_assert_cmpfloat(r.low, ==, 1);
	g_assert_cmpfloat(r.high, ==, 1);
	g_assert_cmpfloat(compare(a, 20, a, 20, 0.1, false).p, ==, 1);
	/* One side that varies is enough for an error. */
	b[7] = 40;
	r = compare(a, 20, b, 20, 0, false);
	g_assert_cmpfloat(r.se, >, 0);
	g_assert_cmpfloat(r.p, >, 0.01);
}

/* With runs as units it is Welch's test. */
static void
test_runs(void)
{
	const double a[] = { 27.5, 21.0, 19.0, 23.6, 17.0 },
		     b[] = { 27.1, 22.0, 20.8, 23.4, 40.5 };
	double mean_a = 21.62, mean_b = 26.76, ss_a = 0, ss_b = 0;
	for (unsigned i = 0; i < 5; i++) {
		ss_a += (a[i] - mean_a) * (a[i] - mean_a) / 20;
		ss_b += (b[i] - mean_b) * (b[i] - mean_b) / 20;
	}
	struct tally_bootstrap_result r = compare(a, 5, b, 5, 0, true);
	double df = (ss_a + ss_b) * (ss_a + ss_b) / (ss_a * ss_a / 4 + ss_b * ss_b / 4);
	g_assert_cmpfloat_with_epsilon(r.difference, mean_b - mean_a, 1e-9);
	g_assert_cmpfloat_with_epsilon(r.se, sqrt(ss_a + ss_b), 1e-9);
	g_assert_cmpfloat_with_epsilon(r.df, df, 1e-9);
	double t = (mean_b - mean_a) / sqrt(ss_a + ss_b);
	g_assert_cmpfloat_with_epsilon(r.p, tally_student_tail(t, df), 1e-9);
}

/* What the test has to show: 30 passes, two runs, 1 % for all alarms together. */
static const struct {
	const char *what;
	struct noise noise;
	double trim;
	uint32_t n_a, n_b;
	unsigned least_found; /* of 20 pairs in which one pass is 3 % slower */
} run_cases[] = {
	{ "independent frames", { .size = 0.05 }, 0, 300, 300, 19 },
	{ "neighbours alike", { .size = 0.05, .phi = 0.3 }, 0, 300, 300, 16 },
	{ "more alike", { .size = 0.05, .phi = 0.5 }, 0, 300, 900, 15 },
	{ "very alike", { .size = 0.05, .phi = 0.9 }, 0, 300, 300, 0 },
	{ "each run drifts its own way",
	  { .size = 0.05, .phi = 0.3, .drift = 0.05 },
	  0,
	  300,
	  300,
	  8 },
	{ "spikes, means", { .size = 0.05, .phi = 0.3, .spikes = 0.01 }, 0, 300, 300, 0 },
	{ "spikes, trimmed means",
	  { .size = 0.05, .phi = 0.3, .spikes = 0.01 },
	  0.1,
	  300,
	  300,
	  16 },
	{ "short runs", { .size = 0.05, .phi = 0.3 }, 0, 60, 40, 0 },
	{ "a long run and a short one", { .size = 0.05, .phi = 0.3 }, 0, 1200, 100, 0 },
};

/* P-values of 30 passes of two runs, corrected; pass 7 is slower by `effect`. */
static void
compare_runs(size_t row, double effect, double *p, double *difference)
{
	enum { PASSES = 30 };
	double a[MOST], b[MOST];
	uint32_t n_a = run_cases[row].n_a, n_b = run_cases[row].n_b;
	for (unsigned i = 0; i < PASSES; i++) {
		make_frames(a, n_a, &run_cases[row].noise, 1000);
		make_frames(b, n_b, &run_cases[row].noise, i == 7 ? 1000 * (1 + effect) : 1000);
		struct tally_bootstrap_result r = compare(a, n_a, b, n_b, run_cases[row].trim,
							  false);
		p[i] = r.p;
		difference[i] = r.difference;
	}
	tally_holm_adjust(p, PASSES);
}

/* With -m quick, which a sanitized build uses, the same code runs for fewer pairs: too few to
 * find something in. */
static void
test_alarms(void)
{
	double p[30], difference[30];
	unsigned equal = g_test_slow() ? 50 : 5, slower = g_test_slow() ? 20 : 1;
	for (size_t row = 0; row < G_N_ELEMENTS(run_cases); row++) {
		unsigned alarms = 0, found = 0;
		state = 1000 + row;
		for (unsigned pair = 0; pair < equal; pair++) {
			compare_runs(row, 0, p, difference);
			bool alarm = false;
			for (unsigned i = 0; i < 30; i++)
				alarm |= p[i] < 0.01;
			alarms += alarm;
		}
		for (unsigned pair = 0; pair < slower && run_cases[row].least_found; pair++) {
			compare_runs(row, 0.03, p, difference);
			found += p[7] < 0.01 && difference[7] > 0;
		}
		g_test_message("%s: %u alarms in %u equal pairs, found %u of %u",
			       run_cases[row].what, alarms, equal, found, slower);
		g_assert_cmpuint(alarms, <=, 3);
		if (g_test_slow())
			g_assert_cmpuint(found, >=, run_cases[row].least_found);
	}
}

/* An interval of 99 % contains the true value about 99 times in a hundred. */
static void
test_coverage(void)
{
	const struct noise noise = { .size = 0.05, .phi = 0.5 };
	double a[MOST], b[MOST];
	unsigned held = 0, narrow = 0;
	state = 3;
	for (unsigned i = 0; i < 1000; i++) {
		make_frames(a, 200, &noise, 1000);
		make_frames(b, 150, &noise, 1040);
		struct tally_bootstrap_result r = compare(a, 200, b, 150, 0, false);
		held += r.low <= 40 && r.high >= 40;
		narrow += r.high - r.low < 80;
	}
	g_test_message("held %u of 1000, narrow %u", held, narrow);
	g_assert_cmpuint(held, >=, 975);
	g_assert_cmpuint(held, <=, 999);
	g_assert_cmpuint(narrow, >=, 900);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/bootstrap/student", test_student);
	g_test_add_func("/bootstrap/binomial", test_binomial);
	g_test_add_func("/bootstrap/quantile", test_quantile);
	g_test_add_func("/bootstrap/holm", test_holm);
	g_test_add_func("/bootstrap/trimmed-mean", test_trimmed_mean);
	g_test_add_func("/bootstrap/block-length", test_block_length);
	g_test_add_func("/bootstrap/laws", test_compare_laws);
	g_test_add_func("/bootstrap/constants", test_constants);
	g_test_add_func("/bootstrap/runs", test_runs);
	g_test_add_func("/bootstrap/coverage", test_coverage);
	g_test_add_func("/bootstrap/alarms", test_alarms);
	return g_test_run();
}
