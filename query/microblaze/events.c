/* SPDX-License-Identifier: MIT */
#include "query/microblaze/events.h"

#include <string.h>
#include <strings.h>

#define ROW(number_, kind_, unit_, key_, name_, text_) \
	[number_] = { \
		.key = key_, \
		.name = name_, \
		.unit = unit_, \
		.description = text_, \
		.kind = TALLY_KIND_##kind_, \
	}
#define COUNT(number_, key_, name_, text_) ROW(number_, EVENT, "1", key_, name_, text_)
#define LATENCY(number_, key_, name_, text_) ROW(number_, DURATION, "cycles", key_, name_, text_)

const struct tally_mb_event tally_mb_events[TALLY_MB_N_EVENTS] = {
	COUNT(0, "instructions", "Instructions",
	      "Instructions that the core executed, of any kind: what cycles are divided "
	      "by for cycles per instruction."),
	COUNT(1, "load_word", "Word loads", "Loads of 32 bits that were executed."),
	COUNT(2, "load_half", "Halfword loads", "Loads of 16 bits that were executed."),
	COUNT(3, "load_byte", "Byte loads", "Loads of 8 bits that were executed."),
	COUNT(4, "store_word", "Word stores", "Stores of 32 bits that were executed."),
	COUNT(5, "store_half", "Halfword stores",
	      "Stores of 16 bits that were executed."),
	COUNT(6, "store_byte", "Byte stores", "Stores of 8 bits that were executed."),
	COUNT(7, "branch_uncond", "Unconditional branches",
	      "Jumps and breaks that go whatever the registers hold."),
	COUNT(8, "branch_cond_taken", "Conditional branches, taken",
	      "Conditional branches whose condition held."),
	COUNT(9, "branch_cond_not_taken", "Conditional branches, not taken",
	      "Conditional branches whose condition did not hold."),
	COUNT(10, "icache_requests", "Instruction cache requests",
	      "What was asked of the instruction cache."),
	COUNT(11, "icache_hits", "Instruction cache hits",
	      "Those of icache_requests that the cache had."),
	COUNT(12, "dcache_read_requests", "Data cache read requests",
	      "Reads that were asked of the data cache."),
	COUNT(13, "dcache_read_hits", "Data cache read hits",
	      "Those of dcache_read_requests that the cache had."),
	COUNT(14, "dcache_write_requests", "Data cache write requests",
	      "Writes that were asked of the data cache."),
	COUNT(15, "dcache_write_hits", "Data cache write hits",
	      "Those of dcache_write_requests whose line the cache had."),
	COUNT(16, "loads_via_r1", "Loads by r1",
	      "Loads that took register r1, which points to the stack by custom, as an "
	      "operand."),
	COUNT(17, "stores_via_r1", "Stores by r1",
	      "Stores that took register r1, which points to the stack by custom, as an "
	      "operand."),
	COUNT(18, "logic_ops", "Logical operations",
	      "And, or, exclusive or, and and-not instructions that were executed."),
	COUNT(19, "arith_ops", "Arithmetic operations",
	      "Integer additions, subtractions, multiplications and divisions that were "
	      "executed: multiply_ops and divide_ops are among them."),
	COUNT(20, "multiply_ops", "Multiplications", "Integer multiplications."),
	COUNT(21, "barrel_shift_ops", "Barrel shifts",
	      "Shifts by any number of bits that were executed."),
	COUNT(22, "shift_ops", "Shifts by one bit",
	      "Shifts by one bit that were executed."),
	COUNT(23, "exceptions", "Exceptions", "Exceptions that were taken."),
	COUNT(24, "interrupts", "Interrupts", "Interrupts that came."),
	COUNT(25, "stall_operand_fetch", "Stalls, operand fetch",
	      "How often the pipeline stood because of its operand fetch stage."),
	COUNT(26, "stall_execute", "Stalls, execute",
	      "How often the pipeline stood because of its execute stage."),
	COUNT(27, "stall_memory", "Stalls, memory",
	      "How often the pipeline stood because of its memory stage."),
	COUNT(28, "divide_ops", "Divisions", "Integer divisions that were executed."),
	COUNT(29, "fp_ops", "Floating-point operations",
	      "Floating-point instructions, from addition to square root."),
	ROW(30, DURATION, "cycles", "cycles", "Cycles",
	    "Clock cycles of the core. Overflowing on purpose it makes the clock by "
	    "which the others are read (interval=)."),
	COUNT(31, "imm_ops", "Immediate prefixes",
	      "Prefix instructions that widen the constant of the next one."),
	COUNT(32, "pattern_compare_ops", "Pattern compares",
	      "Comparisons of words byte by byte."),
	COUNT(33, "sign_extend_ops", "Sign extensions",
	      "Widenings of 8 or 16 bits to 32 that were executed."),
	COUNT(34, "icache_invalidate_ops", "Instruction cache invalidations",
	      "Instructions that drop a line of the instruction cache."),
	COUNT(35, "dcache_inval_flush_ops", "Data cache invalidations and flushes",
	      "Instructions that drop a line of the data cache or write it back."),
	COUNT(36, "msr_bit_ops", "Machine status changes",
	      "Instructions that set or clear bits of the machine status register."),
	COUNT(37, "branch_uncond_delay", "Unconditional branches with delay slot",
	      "Jumps after which one more instruction runs."),
	COUNT(38, "branch_cond_taken_delay",
	      "Conditional branches with delay slot, taken",
	      "Conditional branches that were taken and after which one more instruction "
	      "runs."),
	COUNT(39, "branch_cond_not_taken_delay",
	      "Conditional branches with delay slot, not taken",
	      "Conditional branches that have a delay slot and were not taken."),
	COUNT(40, "delay_slot_nops", "Empty delay slots",
	      "Delay slots in which an instruction ran that does nothing."),
	COUNT(41, "loads", "Loads", "Loads of any size that were executed."),
	COUNT(42, "stores", "Stores", "Stores of any size that were executed."),
	COUNT(43, "mmu_data_requests", "MMU requests for data",
	      "Data accesses that asked the memory management unit."),
	COUNT(44, "branch_cond", "Conditional branches",
	      "Conditional branches that were executed, taken or not."),
	COUNT(45, "branches", "Branches", "Branches of any kind that were executed."),
	COUNT(46, "dcache_requests", "Data cache requests",
	      "Reads and writes that were asked of the data cache."),
	COUNT(47, "dcache_hits", "Data cache hits",
	      "Those of dcache_requests that the cache had."),
	COUNT(48, "mmu_exceptions", "MMU exceptions",
	      "Exceptions of the memory management unit that were taken."),
	COUNT(49, "mmu_instr_exceptions", "MMU exceptions of instructions",
	      "Exceptions of the memory management unit, of fetched instructions."),
	COUNT(50, "mmu_data_exceptions", "MMU exceptions of data",
	      "Exceptions of the memory management unit, of data accesses."),
	COUNT(51, "stall_any", "Stalls",
	      "How often the pipeline stood, whatever the cause."),
	COUNT(52, "branch_target_cache_hits", "Branch target cache hits",
	      "Branches and returns whose target the branch target cache knew."),
	COUNT(53, "mmu_instr_requests", "MMU requests for instructions",
	      "Instruction fetches that asked the memory management unit."),
	COUNT(54, "itlb_hits", "Instruction TLB hits",
	      "Translations found in the small table for instructions."),
	COUNT(55, "dtlb_hits", "Data TLB hits",
	      "Translations found in the small table for data."),
	COUNT(56, "utlb_hits", "Unified TLB hits",
	      "Translations found in the large table."),
	LATENCY(57, "interrupt_latency", "Interrupt latency",
		"From the interrupt's input to its vector."),
	LATENCY(58, "dcache_read_latency", "Data cache read latency",
		"What a read from memory by way of the data cache takes."),
	LATENCY(59, "dcache_write_latency", "Data cache write latency",
		"What a write to memory by way of the data cache takes."),
	LATENCY(60, "icache_read_latency", "Instruction cache read latency",
		"What a fetch from memory by way of the instruction cache takes."),
	LATENCY(61, "mmu_lookup_latency", "MMU lookup latency",
		"What the translation of an address takes."),
	LATENCY(62, "periph_read_latency", "Peripheral read latency",
		"What a read by the peripheral data interface takes."),
	LATENCY(63, "periph_write_latency", "Peripheral write latency",
		"What a write by the peripheral data interface takes."),
};

static int
find_number(const char *text, size_t len)
{
	int number = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || number >= TALLY_MB_N_EVENTS)
			return -1;
		number = number * 10 + (text[i] - '0');
	}
	return len > 0 && number < TALLY_MB_N_EVENTS ? number : -1;
}

static bool
is_word(const char *word, const char *text, size_t len)
{
	return strlen(word) == len && strncasecmp(word, text, len) == 0;
}

int
tally_mb_find_event(const char *text, size_t len)
{
	for (int i = 0; i < TALLY_MB_N_EVENTS; i++)
		if (is_word(tally_mb_events[i].key, text, len) ||
		    is_word(tally_mb_events[i].name, text, len))
			return i;
	return find_number(text, len);
}
