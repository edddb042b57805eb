/* SPDX-License-Identifier: MIT */
#include "query/microblaze/registers.h"

#include "layer/base/clock.h"
#include "layer/base/futex.h"
#include "query/microblaze/mmio.h"

/* Lower offsets are the registers of the module's UART: reading one consumes a character. */
#define DBG_STATUS 0x10u /* when read; a write goes to DBG_CTRL */
#define DBG_CTRL 0x10u
#define DBG_DATA 0x14u
#define DBG_LOCK 0x18u

/* Registers of the module itself. */
#define COMMAND_CONFIGURATION 0x0cu
#define COMMAND_WHICH 0x0du
#define LOCKED 0u /* any value but the key */
#define NAP_NS UINT64_C(20000)

static const struct {
	uint32_t command, bits;
} registers[TALLY_N_MDM_REGISTERS] = {
	[TALLY_MDM_EVENT] = { 0x51, 8 },  [TALLY_MDM_COMMAND] = { 0x52, 5 },
	[TALLY_MDM_STATUS] = { 0x53, 2 }, [TALLY_MDM_READ] = { 0x56, 32 },
	[TALLY_MDM_WRITE] = { 0x57, 32 },
};

uint32_t
tally_mdm_offset(enum tally_mdm_register reg)
{
	return 0x4000u | registers[reg].command << 6;
}

/* DBG_CTRL is written before every access: whether it keeps its value is not documented. */
static void
name_register(const struct tally_mdm *mdm, bool of_module, uint32_t command, uint32_t bits)
{
	tally_mmio_write(mdm->map, DBG_CTRL,
			 mdm->take << 18 | (uint32_t)of_module << 17 | command << 9 |
				 (bits - 1));
}

uint32_t
tally_mdm_read(const struct tally_mdm *mdm, enum tally_mdm_register reg)
{
	if (!mdm->serial)
		return tally_mmio_read(mdm->map, tally_mdm_offset(reg));
	name_register(mdm, false, registers[reg].command, registers[reg].bits);
	return tally_mmio_read(mdm->map, DBG_DATA);
}

void
tally_mdm_write(const struct tally_mdm *mdm, enum tally_mdm_register reg, uint32_t value)
{
	if (!mdm->serial) {
		tally_mmio_write(mdm->map, tally_mdm_offset(reg), value);
		return;
	}
	name_register(mdm, false, registers[reg].command, registers[reg].bits);
	tally_mmio_write(mdm->map, DBG_DATA, value);
}

uint32_t
tally_mdm_status(const struct tally_mdm *mdm)
{
	return tally_mmio_read(mdm->map, DBG_STATUS);
}

bool
tally_mdm_wait_free(const struct tally_mdm *mdm, uint64_t timeout_ns)
{
	static _Atomic uint32_t nobody;
	uint64_t begin_ns = tally_clock_now_ns();
	while (tally_mdm_status(mdm) & 1) {
		if (tally_clock_now_ns() - begin_ns >= timeout_ns)
			return false;
		tally_futex_wait(&nobody, 0, NAP_NS);
	}
	return true;
}

void
tally_mdm_unlock(const struct tally_mdm *mdm)
{
	if (mdm->serial || mdm->unlock_parallel)
		tally_mmio_write(mdm->map, DBG_LOCK, mdm->unlock);
}

void
tally_mdm_lock(const struct tally_mdm *mdm)
{
	if (mdm->serial || mdm->unlock_parallel)
		tally_mmio_write(mdm->map, DBG_LOCK, LOCKED);
}

void
tally_mdm_select_core(const struct tally_mdm *mdm)
{
	if (!mdm->serial || mdm->ports <= 1)
		return;
	name_register(mdm, true, COMMAND_WHICH, mdm->ports <= 8 ? 8 : mdm->ports);
	tally_mmio_write(mdm->map, DBG_DATA, UINT32_C(1) << mdm->core);
}

uint32_t
tally_mdm_identify(const struct tally_mdm *mdm)
{
	name_register(mdm, true, COMMAND_CONFIGURATION, 32);
	return tally_mmio_read(mdm->map, DBG_DATA);
}

struct tally_mdm_identity
tally_mdm_identity_of(uint32_t configuration)
{
	return (struct tally_mdm_identity){
		/* The magic number, and the next lower bit, which is always set. */
		.is_mdm = configuration >> 23 == 0x85,
		.ports = configuration >> 8 & 0xff,
	};
}
