/* SPDX-License-Identifier: MIT */
#include "tests/fake_mdm/model.h"

#include <stdio.h>
#include <string.h>

#define CYCLES 30
#define LATENCIES 57 /* and above */

/* Events in 1000 cycles. An event that contains others counts more. */
static const uint16_t per_1000[64] = {
	[0] = 800,  [1] = 90,   [4] = 40,    [7] = 30,   [8] = 60,  [9] = 40,   [10] = 700,
	[11] = 680, [12] = 90,  [13] = 80,   [14] = 50,  [15] = 45, [16] = 20,  [17] = 10,
	[19] = 300, [29] = 25,  [30] = 1000, [41] = 100, [42] = 60, [44] = 100, [45] = 130,
	[46] = 140, [47] = 125, [51] = 150,  [57] = 1,   [58] = 10, [59] = 5,   [60] = 20,
	[61] = 3,   [62] = 2,   [63] = 1,
};

uint64_t
fake_mdm_count(uint32_t event, uint64_t cycles)
{
	return cycles / 1000 * per_1000[event % 64] +
	       cycles % 1000 * per_1000[event % 64] / 1000;
}

void
fake_mdm_init(struct fake_mdm *m, const struct fake_mdm_config *config, uint64_t now_ns)
{
	memset(m, 0, sizeof(*m));
	m->config = *config;
	m->now_ns = now_ns;
	m->which = 1;
	for (uint32_t i = 0; i < FAKE_MDM_MAX_COUNTERS; i++)
		m->counters[i].event = config->left_over;
}

static void
wrong(struct fake_mdm *m, const char *what, uint32_t offset)
{
	m->n_wrong++;
	snprintf(m->wrong, sizeof(m->wrong), "%s at 0x%x", what, (unsigned)offset);
}

/* ---- counting ---- */

static uint64_t
mask(const struct fake_mdm *m)
{
	return m->config.width == 64 ? UINT64_MAX : (UINT64_C(1) << m->config.width) - 1;
}

static void
grow_event(struct fake_mdm *m, struct fake_mdm_counter *c, uint64_t by)
{
	uint64_t before = c->n;
	c->n = (before + by) & mask(m);
	if (c->n < before || by > mask(m)) {
		c->status |= 2;
		m->interrupt = true;
	}
}

uint64_t
fake_mdm_latency(const struct fake_mdm *m, uint64_t i)
{
	return (m->config.latency ? m->config.latency : 3) + 2 * (i % 4);
}

static void
grow_latency(struct fake_mdm *m, struct fake_mdm_counter *c, uint64_t first, uint64_t end)
{
	for (uint64_t i = first; i < end; i++) {
		uint64_t latency = fake_mdm_latency(m, i);
		if (m->config.saturated && i % 16 == 7)
			latency += 100000;
		uint64_t n = (c->n + 1) & UINT32_MAX, sum = (c->sum + latency) & mask(m);
		uint64_t sum_sq = (c->sum_sq + latency * latency) & mask(m);
		if (n < c->n || sum < c->sum || sum_sq < c->sum_sq)
			c->status |= 2;
		c->n = n;
		c->sum = sum;
		c->sum_sq = sum_sq;
		if (m->config.width == 32 && latency > 0xffff)
			latency = 0xffff;
		if (latency < c->min)
			c->min = (uint32_t)latency;
		if (latency > c->max)
			c->max = (uint32_t)latency;
		if (m->config.full)
			c->status |= 1;
	}
}

static void
run_to(struct fake_mdm *m, uint64_t now_ns)
{
	uint64_t ns = now_ns > m->now_ns ? now_ns - m->now_ns : 0;
	m->now_ns = now_ns;
	if (!m->running)
		return;
	m->ran_ns += ns;
	uint64_t before = m->cycles;
	m->cycles = m->ran_ns / 1000 * m->config.cycles_per_us +
		    m->ran_ns % 1000 * m->config.cycles_per_us / 1000;
	for (uint32_t i = 0; i < m->config.ne + m->config.nl; i++) {
		struct fake_mdm_counter *c = &m->counters[i];
		uint64_t from = fake_mdm_count(c->event, before);
		uint64_t to = fake_mdm_count(c->event, m->cycles);
		if (i < m->config.ne)
			grow_event(m, c, to - from);
		else if (c->event >= LATENCIES)
			grow_latency(m, c, from, to);
	}
}

static void
clear(struct fake_mdm *m)
{
	for (uint32_t i = 0; i < m->config.ne + m->config.nl; i++) {
		uint8_t event = m->counters[i].event;
		uint32_t least = m->config.width == 32 ? 0xffff : UINT32_MAX;
		m->counters[i] = (struct fake_mdm_counter){ .event = event, .min = least };
		if (i < m->config.ne)
			m->counters[i].n = m->config.start & mask(m);
	}
	m->ran_ns = m->cycles = 0;
	m->interrupt = false;
	m->n_clears++;
}

/* ---- items ---- */

static uint32_t
n_items(const struct fake_mdm *m, uint32_t counter)
{
	bool narrow = m->config.width == 32;
	if (counter < m->config.ne)
		return narrow ? 1 : 2;
	return narrow ? 4 : 7;
}

static uint32_t
upper(const struct fake_mdm *m, uint64_t value)
{
	return (uint32_t)(value >> 32) & (m->config.width == 48 ? 0xffff : UINT32_MAX);
}

static uint32_t
get_item(const struct fake_mdm *m, const struct fake_mdm_counter *c, uint32_t counter,
	 uint32_t item)
{
	bool narrow = m->config.width == 32;
	if (counter < m->config.ne)
		return narrow || item == 1 ? (uint32_t)c->n : upper(m, c->n);
	if (item == 0)
		return (uint32_t)c->n;
	if (narrow)
		return item == 1   ? (uint32_t)c->sum
		       : item == 2 ? (uint32_t)c->sum_sq
				   : c->min << 16 | (c->max & 0xffff);
	switch (item) {
	case 1:
		return upper(m, c->sum);
	case 2:
		return (uint32_t)c->sum;
	case 3:
		return upper(m, c->sum_sq);
	case 4:
		return (uint32_t)c->sum_sq;
	case 5:
		return c->min;
	default:
		return c->max;
	}
}

static void
set_part(const struct fake_mdm *m, uint64_t *value, bool high, uint32_t part)
{
	if (high)
		*value = (*value & UINT32_MAX) |
			 (uint64_t)(part & (m->config.width == 48 ? 0xffff : UINT32_MAX)) << 32;
	else
		*value = (*value & ~(uint64_t)UINT32_MAX) | part;
}

static void
set_item(struct fake_mdm *m, uint32_t counter, uint32_t item, uint32_t value)
{
	struct fake_mdm_counter *c = &m->counters[counter];
	bool narrow = m->config.width == 32;
	if (counter < m->config.ne) {
		set_part(m, &c->n, !narrow && item == 0, value);
	} else if (item == 0) {
		c->n = value;
	} else if (narrow) {
		if (item < 3) {
			set_part(m, item == 1 ? &c->sum : &c->sum_sq, false, value);
		} else {
			c->min = value >> 16;
			c->max = value & 0xffff;
		}
	} else if (item < 5) {
		set_part(m, item < 3 ? &c->sum : &c->sum_sq, item % 2 == 1, value);
	} else {
		*(item == 5 ? &c->min : &c->max) = value;
	}
}

/* ---- the selection ---- */

/* False: it is past the last item. */
static bool
selected(struct fake_mdm *m)
{
	uint32_t n = m->config.ne + m->config.nl;
	if (m->counter < n)
		return true;
	if (m->config.end == FAKE_MDM_END_WRAP) {
		m->counter %= n;
	} else if (m->config.end == FAKE_MDM_END_STAY) {
		m->counter = n - 1;
		m->item = n_items(m, n - 1) - 1;
	} else {
		return false;
	}
	return true;
}

static void
next_counter(struct fake_mdm *m)
{
	m->counter++;
	m->item = 0;
}

static void
next_item(struct fake_mdm *m)
{
	if (++m->item >= n_items(m, m->counter))
		next_counter(m);
}

static void
do_command(struct fake_mdm *m, uint32_t value)
{
	if (value & 1 && value != 1)
		wrong(m, "Reset together with others", value);
	if (value & 0x10)
		clear(m);
	if (value & 8)
		m->running = true;
	if (value & 2) {
		memcpy(m->sampled, m->counters, sizeof(m->sampled));
		m->n_samples++;
		m->sampled_cycles = m->cycles;
	}
	if (value & 4)
		m->running = false;
	if (value & 1)
		m->counter = m->item = 0;
}

/* Reads a register of the core, by its command. */
static void
write_register(struct fake_mdm *m, uint32_t command, uint32_t value)
{
	if (command == 0x52) {
		do_command(m, value & 0x1f);
	} else if (command == 0x51) {
		if (value > 63)
			wrong(m, "an event that is none", value);
		if (selected(m))
			m->counters[m->counter].event = value & 63;
		next_counter(m);
	} else if (command == 0x57) {
		m->written = value;
		if (selected(m)) {
			set_item(m, m->counter, m->item, value);
			next_item(m);
		}
	} else {
		wrong(m, "a write to a register that is only read", command);
	}
}

static uint32_t
read_register(struct fake_mdm *m, uint32_t command)
{
	uint32_t value = 0;
	m->n_reads++;
	if (command == 0x53) {
		if (selected(m))
			value = m->sampled[m->counter].status;
		next_counter(m);
	} else if (command == 0x56) {
		if (selected(m)) {
			value = get_item(m, &m->sampled[m->counter], m->counter, m->item);
			next_item(m);
		} else if (m->config.end == FAKE_MDM_END_HOLD) {
			value = m->written;
		}
	} else {
		wrong(m, "a read of a register that is only written", command);
	}
	return value;
}

/* ---- the module ---- */

static bool
may_go_on(struct fake_mdm *m, uint32_t offset)
{
	if (m->config.serial && m->unlocked && m->has_control && !m->config.held)
		return true;
	wrong(m, "DBG_DATA while locked, or without DBG_CTRL", offset);
	return false;
}

static uint32_t
read_data(struct fake_mdm *m)
{
	if (!may_go_on(m, 0x14))
		return 0;
	m->has_control = false;
	if (m->control == 0x6181f)
		return 0x42c70067u | m->config.ports << 8;
	if (m->control >> 17 & 1)
		return 0;
	if (m->config.ports > 1 && (m->which & (m->which - 1)))
		wrong(m, "a read of several cores", m->which);
	return read_register(m, m->control >> 9 & 0xff);
}

static void
write_data(struct fake_mdm *m, uint32_t value)
{
	if (!may_go_on(m, 0x14))
		return;
	m->has_control = false;
	if (!(m->control >> 17 & 1))
		write_register(m, m->control >> 9 & 0xff, value);
	else if ((m->control >> 9 & 0xff) == 0x0d)
		m->which = value;
}

uint32_t
fake_mdm_read(struct fake_mdm *m, uint32_t offset, uint64_t now_ns)
{
	run_to(m, now_ns);
	if (m->config.dead)
		return UINT32_MAX;
	if (offset == 0x10)
		return m->config.held;
	if (offset == 0x14)
		return read_data(m);
	if (offset >= 0x4000 && offset % 64 == 0)
		return m->config.parallel ? read_register(m, offset >> 6 & 0xff) : UINT32_MAX;
	wrong(m, "a read", offset);
	return 0;
}

void
fake_mdm_write(struct fake_mdm *m, uint32_t offset, uint32_t value, uint64_t now_ns)
{
	run_to(m, now_ns);
	if (m->config.dead)
		return;
	if (offset == 0x10) {
		m->control = value;
		m->has_control = true;
		if (value >> 18 != 1)
			wrong(m, "another access lock", value);
	} else if (offset == 0x14) {
		write_data(m, value);
	} else if (offset == 0x18) {
		m->unlocked = value == m->config.key;
	} else if (offset >= 0x4000 && offset % 64 == 0) {
		if (m->config.parallel)
			write_register(m, offset >> 6 & 0xff, value);
	} else {
		wrong(m, "a write", offset);
	}
}

void
fake_mdm_trigger(struct fake_mdm *m, bool count, uint64_t now_ns)
{
	run_to(m, now_ns);
	m->running = count;
}
