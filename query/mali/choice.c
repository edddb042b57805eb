/* SPDX-License-Identifier: MIT */
#include "query/mali/choice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/base/clock.h"
#include "layer/config/config.h"
#include "layer/config/list.h"

/* ---- which counters ---- */

/* For --counters: the word for each block, and the word for all of them. */
static const char *const block_sets[TALLY_N_MALI_BLOCKS] = {
	"mali-frontend",
	"mali-tiler",
	"mali-l2",
	"mali-core",
};
static const char category[] = "mali";

static bool
is_wanted(const char *list, const struct tally_mali_counter *counter)
{
	if (tally_counter_wanted(list, &counter->counter, block_sets[counter->block], category,
				 counter->overview))
		return true;
	if (!list)
		return false;
	if (counter->hw_name && tally_list_matches(list, counter->hw_name, counter->hw_name))
		return true;
	for (const char *const *alias = counter->aliases; alias && *alias; alias++) {
		if (tally_list_matches(list, *alias, *alias))
			return true;
	}
	return false;
}

struct adding {
	struct tally_mali_choice *choice;
	const struct tally_snapshot_source *src;
	const char *source;
};

/* False on OOM. */
static bool
add_counter(struct adding *a, const struct tally_mali_counter *from, uint32_t width_bits,
	    bool logged)
{
	struct tally_mali_choice *choice = a->choice;
	struct tally_counter counter = from->counter;
	uint32_t i = choice->n;

	if (!logged && !a->src->metrics_wanted)
		return true;
	counter.source = a->source;
	counter.width_bits = width_bits;
	choice->counters[i] = tally_key_table_add(a->src->keys, &counter);
	if (!choice->counters[i])
		return false;
	choice->places[i] = (struct tally_mali_place){ from->index, from->shift };
	if (logged)
		tally_bit_set(choice->logged, i);
	choice->n++;
	return true;
}

/* The clock comes after all blocks. */
static bool
add_all(struct adding *a, const struct tally_mali_layout *layout, uint32_t width_bits,
	uint32_t n_values, bool with_clock)
{
	const struct tally_mali_counter clock = { .counter = tally_mali_clock };
	const char *wanted = a->src->wanted;
	bool ok = true;
	for (unsigned block = 0; block < TALLY_N_MALI_BLOCKS; block++) {
		a->choice->first[block] = a->choice->n;
		for (uint32_t i = 0; ok && i < layout->n_counters; i++) {
			const struct tally_mali_counter *counter = &layout->counters[i];
			if (counter->block == block && counter->index < n_values)
				ok = add_counter(a, counter, width_bits,
						 is_wanted(wanted, counter));
		}
	}
	a->choice->first[TALLY_N_MALI_BLOCKS] = a->choice->n;
	return ok && (!with_clock ||
		      add_counter(a, &clock, tally_mali_clock.width_bits,
				  tally_counter_wanted(wanted, &tally_mali_clock,
						       block_sets[TALLY_MALI_FRONTEND],
						       category, false)));
}

/* ---- constants ---- */

struct named_value {
	const char *names[3];
	double value; /* 0: not known */
};

static bool
add_constants(struct tally_mali_choice *choice, const struct tally_mali_product *product,
	      const struct tally_mali_props *props)
{
	const struct tally_mali_layout *layout = product->layout;
	uint32_t cores = tally_mali_count_cores(props);
	/* Streamline's names, those of Arm's counter database, and our own names for the
	 * rest. */
	const struct named_value known[] = {
		{ { "MaliConstantsShaderCoreCount", "MALI_CONFIG_SHADER_CORE_COUNT" },
		  cores },
		{ { "MaliConstantsL2SliceCount", "MALI_CONFIG_L2_CACHE_COUNT" },
		  props->l2_slices },
		{ { "MaliConstantsBusWidthBits" }, props->bus_bits },
		{ { "MaliConstantsBusWidthBytes", "MALI_CONFIG_EXT_BUS_BYTE_SIZE" },
		  props->bus_bits / 8 },
		{ { "MaliConstantsWarpWidth" }, layout->warp_width },
		{ { "MaliConstantsExecutionEngineCount" },
		  tally_mali_engines(product, cores, props->core_features,
				     props->thread_features) },
		{ { "MaliConstantsL2SliceBytes" }, props->l2_slice_bytes },
		{ { "MaliConstantsL2Bytes" },
		  (double)props->l2_slice_bytes * props->l2_slices },
	};
	uint32_t n_known = sizeof(known) / sizeof(known[0]);

	choice->constants = calloc(n_known * 3 + layout->n_constants,
				   sizeof(*choice->constants));
	if (!choice->constants)
		return false;
	for (uint32_t i = 0; i < n_known; i++) {
		for (uint32_t k = 0; k < 3 && known[i].names[k] && known[i].value > 0; k++)
			choice->constants[choice->n_constants++] = (struct tally_constant){
				known[i].names[k], known[i].value
			};
	}
	for (uint32_t i = 0; i < layout->n_constants; i++)
		choice->constants[choice->n_constants++] = layout->constants[i];
	return true;
}

enum tally_status
tally_mali_choose(struct tally_mali_choice *choice, struct tally_snapshot_source *src,
		  const char *source, uint32_t width_bits, uint32_t n_values,
		  const struct tally_mali_product *product, const struct tally_mali_props *props)
{
	const struct tally_mali_layout *layout = product->layout;
	struct adding a = { .choice = choice, .src = src, .source = source };
	size_t room = (size_t)layout->n_counters + 1; /* one for the clock */

	*choice = (struct tally_mali_choice){ 0 };
	choice->counters = calloc(room, sizeof(*choice->counters));
	choice->places = calloc(room, sizeof(*choice->places));
	choice->logged = calloc((room + 63) / 64, sizeof(*choice->logged));
	bool ok = choice->counters && choice->places && choice->logged &&
		  add_constants(choice, product, props) &&
		  add_all(&a, layout, width_bits, n_values, props->reports_clock);
	if (!ok || choice->n == 0) {
		tally_mali_choice_finish(choice, src);
		if (ok)
			return tally_unsupported(
				src->reason,
				"--counters %s asks for none of its counters",
				src->wanted ? src->wanted : "overview");
		snprintf(src->reason, sizeof(src->reason), "out of memory");
		return TALLY_NO_MEMORY;
	}
	src->counters = choice->counters;
	src->n_counters = choice->n;
	src->logged = choice->logged;
	src->constants = choice->constants;
	src->n_constants = choice->n_constants;
	src->layout = layout->name;
	return TALLY_OK;
}

void
tally_mali_choice_finish(struct tally_mali_choice *choice, struct tally_snapshot_source *src)
{
	free(choice->counters);
	free(choice->places);
	free(choice->logged);
	free(choice->constants);
	*choice = (struct tally_mali_choice){ 0 };
	src->counters = NULL;
	src->n_counters = 0;
	src->logged = NULL;
	src->constants = NULL;
	src->n_constants = 0;
	src->layout = NULL;
}

/* ---- times ---- */

struct tally_mali_clocks
tally_mali_clocks_read(void)
{
	struct tally_mali_clocks clocks;

	clocks.before_ns = tally_clock_now_ns();
	clocks.raw_ns = tally_clock_read_ns(CLOCK_MONOTONIC_RAW);
	clocks.after_ns = tally_clock_now_ns();
	return clocks;
}

void
tally_mali_clocks_apply(const struct tally_mali_clocks *first,
			const struct tally_mali_clocks *last, uint64_t raw_ns,
			uint64_t *begin_ns, uint64_t *end_ns)
{
	*begin_ns = first->after_ns;
	*end_ns = last->before_ns > first->after_ns ? last->before_ns : first->after_ns;
	if (raw_ns < first->raw_ns || raw_ns > last->raw_ns)
		return;
	/* NTP slews one clock and not the other, by less than 0.1 %: extrapolated from either
	 * reading, the timestamp lies between these bounds, so it lies in the intersection of
	 * both. */
	uint64_t since = raw_ns - first->raw_ns, until = last->raw_ns - raw_ns;
	uint64_t earliest = first->before_ns + since - since / 1024;
	uint64_t latest = first->after_ns + since + since / 1024 + 1;
	uint64_t earliest_back = last->before_ns - until - until / 1024 - 1;
	uint64_t latest_back = last->after_ns - until + until / 1024;
	earliest = earliest_back > earliest ? earliest_back : earliest;
	latest = latest_back < latest ? latest_back : latest;
	if (earliest > latest)
		return;
	if (earliest > *begin_ns && earliest <= *end_ns)
		*begin_ns = earliest;
	if (latest < *end_ns && latest >= *begin_ns)
		*end_ns = latest;
}

/* ---- reasons ---- */

static const struct refusal {
	int error;
	enum tally_status status;
	const char *why;
} refusals[] = {
	{ EACCES, TALLY_DENIED,
	  "permission denied: run as root, or let root open the device to this user (see "
	  "ls -l /dev/mali* /dev/dri), and see whether the vendor's system locks "
	  "counters" },
	{ EPERM, TALLY_DENIED,
	  "not permitted: run as root, or unlock counters where the vendor's system "
	  "locks them" },
	{ ENODEV, TALLY_UNSUPPORTED,
	  "the device is gone, or counters are switched off by the vendor" },
	{ EIO, TALLY_UNSUPPORTED, "the device does not answer" },
	{ EBUSY, TALLY_UNSUPPORTED,
	  "somebody else uses the counters: end other profilers, then start anew" },
	{ ENOSYS, TALLY_UNSUPPORTED, "this kernel does not offer it" },
	{ ENOTTY, TALLY_UNSUPPORTED, "this kernel does not offer it" },
	{ EINVAL, TALLY_UNSUPPORTED, "this kernel does not know what was asked" },
	{ ENOMEM, TALLY_NO_MEMORY, "the kernel is out of memory" },
	{ EMFILE, TALLY_NO_MEMORY, "the program has too many files open" },
	{ ENFILE, TALLY_NO_MEMORY, "the system has too many files open" },
	{ ETIMEDOUT, TALLY_UNSUPPORTED, "the GPU does not answer" },
};

enum tally_status
tally_mali_refuse(char *reason, const char *what, int error)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (refusals[i].error == error) {
			snprintf(reason, TALLY_REASON_BYTES, "%s: %s", what,
				 refusals[i].why);
			return refusals[i].status;
		}
	}
	return tally_unsupported(reason, "%s: the kernel says error %d", what, error);
}

enum tally_status
tally_mali_find_described(const struct tally_mali_props *props, const char *node,
			  const struct tally_mali_product **out, char *reason)
{
	uint64_t id = props->gpu_id;
	*out = tally_mali_find_product(id);
	if (*out && (*out)->layout)
		return TALLY_OK;
	if (*out || id >> 16 < 0x1000 || id >> 16 == 0x6956)
		return tally_unsupported(
			reason,
			"%s is a %s: counters of the Midgard GPUs are not described here",
			node ? node : "the GPU", *out ? (*out)->name : "Midgard Mali");
	return tally_unsupported(reason,
				 "the GPU%s%s, %sid 0x%" PRIx64
				 ", is not known here: a newer passtally may know it",
				 node ? " of " : "", node ? node : "",
				 node ? "" : "product ", node ? id : id >> 16);
}
