/* SPDX-License-Identifier: MIT */
/* Moments of series of values, for moments_oracle.py: reads lines "u N", "i N", "f X" (a value) and
 * "r COUNT TYPE VALUE" (a value many times); "=" prints the moments of the series so far in one
 * line: N, whole?, sum, sum of squares, min, max, mean, both deviations; and begins a new
 * series. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/statistics/moments.h"

static struct tally_value
parse_value(char type, const char *text)
{
	struct tally_value v = { .storage = TALLY_STORAGE_U64 };
	if (type == 'u') {
		v.u64 = strtoull(text, NULL, 10);
	} else if (type == 'i') {
		v.storage = TALLY_STORAGE_I64;
		v.i64 = strtoll(text, NULL, 10);
	} else {
		v.storage = TALLY_STORAGE_F64;
		v.f64 = strtod(text, NULL);
	}
	return v;
}

static void
print(const struct tally_moments *m)
{
	struct tally_statistic_record record = { .id = 1, .key = "x" };
	tally_moments_record(m, &record);
	char sum[TALLY_INT192_DIGITS] = "", sum_sq[TALLY_INT192_DIGITS] = "";
	if (record.integral) {
		tally_int192_print(&record.sum, sum);
		tally_int192_print(&record.sum_sq, sum_sq);
	} else {
		snprintf(sum, sizeof(sum), "%.17g", record.sum_f64);
		snprintf(sum_sq, sizeof(sum_sq), "%.17g", record.sum_sq_f64);
	}
	printf("%" PRIu64 " %d %s %s %.17g %.17g %.17g %.17g %.17g\n", record.n,
	       record.integral, sum, sum_sq, tally_value_f64(record.min),
	       tally_value_f64(record.max), record.mean, record.sd_population,
	       record.has_sd_sample ? record.sd_sample : -1.0);
}

int
main(void)
{
	static struct tally_moments m;
	char line[256];
	while (fgets(line, sizeof(line), stdin)) {
		char type, text[200];
		unsigned long long count;
		if (line[0] == '=') {
			print(&m);
			m = (struct tally_moments){ 0 };
		} else if (sscanf(line, "r %llu %c %199s", &count, &type, text) == 3) {
			struct tally_value v = parse_value(type, text);
			while (count--)
				tally_moments_add(&m, v);
		} else if (sscanf(line, "%c %199s", &type, text) == 2) {
			tally_moments_add(&m, parse_value(type, text));
		} else {
			fprintf(stderr, "not understood: %s", line);
			return 2;
		}
	}
	return 0;
}
