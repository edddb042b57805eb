/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "query/mali/choice.h"
#include "query/mali/mali.h"
#include "query/mali/reader.h"
#include "query/source/noop.h"

#define SOURCE_NAME "mali-kbase"
/* The kernel raises shorter periods to this one. */
#define LEAST_PERIOD_NS UINT64_C(100000)
/* Hardware counters have 32 bits and saturate: they take 4 s to do so at 1 GHz and one count
 * per cycle. */
#define MOST_PERIOD_NS UINT64_C(1000000000)

struct mali_kbase {
	struct tally_snapshot_source base;
	struct tally_kbase dev;
	struct tally_mali_reader reader;
	struct tally_mali_choice choice;
	struct tally_mali_sums sums;
	/* Set by probe(). */
	const struct tally_mali_reader_ops *path;
	bool workaround;
	char note[256]; /* which path is used, and why another is not */
	bool lost;
};

static struct mali_kbase *
kbase_of(struct tally_snapshot_source *src)
{
	return (struct mali_kbase *)src;
}

static void
init_reader(struct mali_kbase *kbase)
{
	kbase->reader = (struct tally_mali_reader){
		.ops = kbase->path,
		.dev = &kbase->dev,
		.sums = &kbase->sums,
		.fd = -1,
		.reason = kbase->base.reason,
	};
	kbase->reader.format.physical_cores = kbase->workaround;
}

/* ---- choice of the path ---- */

static void
note_path(struct mali_kbase *kbase, const char *why)
{
	const struct tally_kbase *dev = &kbase->dev;

	snprintf(kbase->note, sizeof(kbase->note), "%s by %s, interface %s %u.%u%s%.*s",
		 kbase->path->name, dev->node, dev->csf ? "CSF" : "JM", dev->major, dev->minor,
		 why[0] ? "; " : "", (int)sizeof(kbase->base.reason) - 96, why);
}

static const char *
no_kinstr(const struct tally_kbase *dev)
{
	return dev->old ? "the kernel's driver is older than r21"
			: "no kinstr_prfcnt before JM 11.34, CSF 1.10";
}

/* vinstr does not support blocks of 128 values, and later drivers removed it. */
static bool
may_use_vinstr(const struct tally_kbase *dev)
{
	return dev->old || (!tally_kbase_at_least(dev, 11, 40, 1, 21) &&
			    dev->product->layout->values_per_block <= TALLY_MALI_DUMP_VALUES);
}

static enum tally_status
try_vinstr(struct mali_kbase *kbase)
{
	kbase->path = &tally_mali_vinstr;
	init_reader(kbase);
	enum tally_status status = kbase->path->open(&kbase->reader);
	tally_mali_reader_close(&kbase->reader);
	return status;
}

/* kinstr_prfcnt comes first: its values have 64 bits, and it reports lost samples, errors, and
 * blocks that were off. */
static enum tally_status
choose_path(struct mali_kbase *kbase)
{
	const struct tally_kbase *dev = &kbase->dev;
	enum tally_status status = TALLY_UNSUPPORTED;
	bool has_kinstr = !dev->old && tally_kbase_at_least(dev, 11, 34, 1, 10);
	char why[TALLY_REASON_BYTES] = "";

	kbase->workaround = false;
	if (has_kinstr) {
		status = tally_mali_kinstr_try(dev, &kbase->workaround, why);
		if (!tally_kbase_at_least(dev, 11, 37, 1, 17))
			kbase->workaround = true;
		if (status == TALLY_OK) {
			kbase->path = &tally_mali_kinstr;
			note_path(kbase, kbase->workaround
						 ? "its samples are read by the rules of older "
						   "kernels"
						 : "");
			return TALLY_OK;
		}
	}
	if (may_use_vinstr(dev)) {
		kbase->workaround = false;
		status = try_vinstr(kbase);
		if (status == TALLY_OK)
			note_path(kbase, why[0] ? why : no_kinstr(dev));
		return status;
	}
	if (has_kinstr)
		snprintf(kbase->base.reason, sizeof(kbase->base.reason), "%s", why);
	else
		snprintf(kbase->base.reason, sizeof(kbase->base.reason),
			 "the kernel's driver is too old for the %s: interface %u.%u has no "
			 "kinstr_prfcnt (from JM 11.34, CSF 1.10); update it",
			 dev->product->name, dev->major, dev->minor);
	return status;
}

static enum tally_status
kbase_probe(struct tally_snapshot_source *src)
{
	struct mali_kbase *kbase = kbase_of(src);

	enum tally_status status = tally_kbase_open(&kbase->dev, src->reason);
	if (status != TALLY_OK)
		return status;
	status = choose_path(kbase);
	tally_kbase_close(&kbase->dev);
	if (status == TALLY_OK)
		snprintf(src->reason, sizeof(src->reason), "%s", kbase->note);
	return status;
}

/* ---- counting ---- */

static enum tally_status
kbase_open(struct tally_snapshot_source *src)
{
	struct mali_kbase *kbase = kbase_of(src);

	if (!kbase->path)
		return TALLY_UNSUPPORTED;
	enum tally_status status = tally_kbase_open(&kbase->dev, src->reason);
	if (status != TALLY_OK)
		return status;
	init_reader(kbase);
	status = kbase->path->open(&kbase->reader);
	if (status != TALLY_OK)
		goto close_device;
	kbase->dev.props.reports_clock = kbase->reader.reports_clock;
	status = tally_mali_choose(&kbase->choice, src, SOURCE_NAME,
				   kbase->path->width_bits, kbase->reader.n_values,
				   kbase->dev.product, &kbase->dev.props);
	if (status != TALLY_OK)
		goto close_reader;
	if (!tally_mali_sums_init(&kbase->sums, &kbase->choice)) {
		status = tally_mali_refuse(src->reason, SOURCE_NAME, ENOMEM);
		goto finish_choice;
	}
	src->least_period_ns = LEAST_PERIOD_NS + src->settle_ns;
	src->most_period_ns = MOST_PERIOD_NS;
	snprintf(src->reason, sizeof(src->reason), "%s", kbase->note);
	if (src->settle_ns)
		tally_reason_add(src->reason, "each reading waits %llu us",
				 (unsigned long long)(src->settle_ns / 1000));
	kbase->lost = false;
	return TALLY_OK;

finish_choice:
	tally_mali_choice_finish(&kbase->choice, src);
close_reader:
	tally_mali_reader_close(&kbase->reader);
close_device:
	tally_kbase_close(&kbase->dev);
	return status;
}

static enum tally_status
kbase_start(struct tally_snapshot_source *src)
{
	struct mali_kbase *kbase = kbase_of(src);

	tally_mali_sums_reset(&kbase->sums);
	return kbase->path->start(&kbase->reader);
}

/* CSF drivers before r54p0 may withhold the latest counts when the GPU goes to sleep: where the
 * user requests it, the reading waits. A signal may interrupt that wait once. */
static void
wait_for_counts(uint64_t ns)
{
	struct timespec left = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
	if (ns && nanosleep(&left, &left) != 0 && errno == EINTR)
		(void)nanosleep(&left, NULL);
}

static enum tally_status
kbase_sample(struct tally_snapshot_source *src, struct tally_totals *out)
{
	struct mali_kbase *kbase = kbase_of(src);

	if (kbase->lost)
		return TALLY_LOST;
	wait_for_counts(src->settle_ns);
	struct tally_mali_clocks first = tally_mali_clocks_read();
	enum tally_status status = tally_mali_reader_read(&kbase->reader);
	kbase->lost = status == TALLY_LOST;
	if (status != TALLY_OK)
		return status;
	struct tally_mali_clocks last = tally_mali_clocks_read();
	tally_mali_clocks_apply(&first, &last, kbase->reader.timestamp_ns, &out->begin_ns,
				&out->end_ns);
	tally_mali_sums_deliver(&kbase->sums, out);
	return TALLY_OK;
}

static void
kbase_stop(struct tally_snapshot_source *src)
{
	struct mali_kbase *kbase = kbase_of(src);
	if (!kbase->lost)
		kbase->path->stop(&kbase->reader);
}

static void
kbase_close(struct tally_snapshot_source *src)
{
	struct mali_kbase *kbase = kbase_of(src);

	tally_mali_reader_close(&kbase->reader);
	tally_kbase_close(&kbase->dev);
	tally_mali_sums_finish(&kbase->sums);
	tally_mali_choice_finish(&kbase->choice, src);
}

static void
kbase_abandon(struct tally_snapshot_source *src)
{
	struct mali_kbase *kbase = kbase_of(src);

	tally_mali_reader_close(&kbase->reader);
	tally_kbase_close(&kbase->dev);
}

static const struct tally_snapshot_ops kbase_ops = {
	.name = SOURCE_NAME,
	.probe = kbase_probe,
	.open = kbase_open,
	.start = kbase_start,
	.sample = kbase_sample,
	.stop = kbase_stop,
	.close = kbase_close,
	.abandon = kbase_abandon,
	.destroy = tally_snapshot_free,
};

struct tally_snapshot_source *
tally_mali_kbase_create(void)
{
	struct mali_kbase *kbase = calloc(1, sizeof(*kbase));
	if (!kbase)
		return NULL;
	kbase->base.ops = &kbase_ops;
	kbase->dev.fd = -1;
	kbase->reader.fd = -1;
	return &kbase->base;
}
