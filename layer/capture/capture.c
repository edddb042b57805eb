/* SPDX-License-Identifier: MIT */
#include "layer/capture/capture.h"

static _Atomic(const struct tally_config *) in_force;
static atomic_int state;
_Atomic uint64_t tally_capture_running;
static uint64_t last_generation; /* used by begin() alone */
static _Atomic uint32_t n_devices;
static atomic_bool has_shim;
static _Atomic(tally_capture_follower *) follower;
static _Atomic(const char *) keep;

const struct tally_config *
tally_capture_config(void)
{
	return atomic_load_explicit(&in_force, memory_order_acquire);
}

void
tally_capture_use(const struct tally_config *config)
{
	atomic_store_explicit(&in_force, config, memory_order_release);
}

enum tally_state
tally_capture_state(void)
{
	return (enum tally_state)atomic_load(&state);
}

void
tally_capture_set_state(enum tally_state now)
{
	atomic_store(&state, now);
}

void
tally_capture_begin(void)
{
	atomic_store(&n_devices, 0);
	atomic_store(&tally_capture_running, ++last_generation);
}

void
tally_capture_end(void)
{
	atomic_store(&tally_capture_running, 0);
}

void
tally_capture_set_shim(void)
{
	atomic_store(&has_shim, true);
}

bool
tally_capture_has_shim(void)
{
	return atomic_load(&has_shim);
}

uint32_t
tally_capture_number_device(void)
{
	return atomic_fetch_add(&n_devices, 1);
}

void
tally_capture_follow(tally_capture_follower *by)
{
	atomic_store(&follower, by);
}

__attribute__((hot)) bool
tally_capture_wants_frame(uint64_t frame, _Atomic uint64_t *count)
{
	bool wanted = tally_capture_config() && tally_trigger_wants_frame(frame, count);
	tally_capture_follower *follow = atomic_load(&follower);
	if (follow)
		follow(wanted);
	return wanted;
}

bool
tally_capture_idles(uint64_t frame, uint64_t count)
{
	return !tally_capture_config() || tally_capture_state() == TALLY_STATE_OVER ||
	       tally_trigger_idles(frame, count);
}

const char *
tally_capture_over(uint64_t frame, uint64_t count)
{
	return tally_capture_config() ? tally_trigger_over(frame, count) : NULL;
}

bool
tally_capture_ask_keep(const char *why)
{
	const struct tally_config *config = tally_capture_config();
	if (!config || !config->black_box_ns || config->digest)
		return false;
	atomic_store(&keep, why);
	return true;
}

const char *
tally_capture_take_keep(void)
{
	return atomic_exchange(&keep, NULL);
}
