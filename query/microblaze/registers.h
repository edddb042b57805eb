/* SPDX-License-Identifier: MIT */
/* query/microblaze/registers.h - registers of a MicroBlaze's debug module (MDM), in either
 * access mode.
 *
 * Parallel: each register of the core has its own address. Serial: DBG_CTRL names the
 * register, and DBG_DATA carries its value, after DBG_LOCK was given its key. A read or write
 * of a counter register advances the hardware's selection, so nothing here repeats one. One
 * thread at a time. Functions wait for the other side of the module (a JTAG debugger) only
 * where stated.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_REGISTERS_H
#define PASSTALLY_QUERY_MICROBLAZE_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The minimum size of the module's address space in each access mode. */
#define TALLY_MDM_SERIAL_BYTES 0x1cu
#define TALLY_MDM_PARALLEL_BYTES 0x6000u

enum tally_mdm_register {
	TALLY_MDM_EVENT = 0, /* PCCTRLR: event of the selected counter */
	TALLY_MDM_COMMAND, /* PCCMDR */
	TALLY_MDM_STATUS, /* PCSR of the selected counter */
	TALLY_MDM_READ, /* PCDRR: the selected item */
	TALLY_MDM_WRITE, /* PCDWR */
	TALLY_N_MDM_REGISTERS,
};

/* Bits of TALLY_MDM_COMMAND and of TALLY_MDM_STATUS. */
enum {
	TALLY_MDM_RESET = 0x01, /* selects the first counter; always alone */
	TALLY_MDM_SAMPLE = 0x02,
	TALLY_MDM_STOP = 0x04,
	TALLY_MDM_START = 0x08,
	TALLY_MDM_CLEAR = 0x10,
};
enum {
	TALLY_MDM_FULL = 0x1,
	TALLY_MDM_OVERFLOW = 0x2,
};

struct tally_mdm {
	void *map;
	bool serial;
	uint32_t ports, core; /* number of cores, and the one that is read */
	uint32_t unlock; /* key of DBG_LOCK */
	bool unlock_parallel; /* also write the key in parallel access */
	uint32_t take; /* the access lock field of DBG_CTRL */
};

/* The offset of a register of the core in parallel access. */
uint32_t tally_mdm_offset(enum tally_mdm_register reg);

uint32_t tally_mdm_read(const struct tally_mdm *mdm, enum tally_mdm_register reg);
void tally_mdm_write(const struct tally_mdm *mdm, enum tally_mdm_register reg, uint32_t value);

/* DBG_STATUS: 0 free, 1 locked by JTAG, any other value: not a debug module. Changes no
 * state. */
uint32_t tally_mdm_status(const struct tally_mdm *mdm);
/* Waits until the module is free, for at most that time (0: checks once); false: it is still
 * not free. */
bool tally_mdm_wait_free(const struct tally_mdm *mdm, uint64_t timeout_ns);

void tally_mdm_unlock(const struct tally_mdm *mdm);
void tally_mdm_lock(const struct tally_mdm *mdm);
/* With several cores in serial access: selects this core from here on. */
void tally_mdm_select_core(const struct tally_mdm *mdm);

/* Reads the MDM Configuration register in serial access. */
uint32_t tally_mdm_identify(const struct tally_mdm *mdm);
struct tally_mdm_identity {
	bool is_mdm; /* the magic number is there */
	uint32_t ports;
};
struct tally_mdm_identity tally_mdm_identity_of(uint32_t configuration);

#endif
