/* SPDX-License-Identifier: MIT */
#include "query/microblaze/contact.h"

#include <stdio.h>
#include <string.h>

#include "query/microblaze/child_access.h"
#include "query/microblaze/device_tree.h"

#define FREE_NS UINT64_C(100000000)

/* ---- what is known in advance ---- */

static void
take_numbers(struct tally_mb_device *device, const struct tally_mb_options *o,
	     const struct tally_mb_device_tree *tree)
{
	struct tally_mb_shape *shape = &device->shape;
	*shape = (struct tally_mb_shape){ o->ne, o->nl, o->width };
	if (!(o->said & TALLY_MB_SAID_NE) && tree->has_ne)
		shape->ne = tree->ne;
	if (!(o->said & TALLY_MB_SAID_NL) && tree->has_nl)
		shape->nl = tree->nl;
	if (!(o->said & TALLY_MB_SAID_WIDTH) && tree->width)
		shape->width = tree->width;
	device->check = o->check;
	device->mdm = (struct tally_mdm){
		.serial = o->access == TALLY_MB_SERIAL,
		.ports = o->ports,
		.core = o->core,
		.unlock = o->unlock,
		.unlock_parallel = o->said & TALLY_MB_SAID_UNLOCK,
		.take = o->take,
	};
	if (o->access == TALLY_MB_AUTO && tree->has_interface)
		device->mdm.serial = tree->interface == 0;
	if (o->said & TALLY_MB_SAID_PORTS)
		return;
	if (tree->ports)
		device->mdm.ports = tree->ports;
	else if (o->core >= o->ports)
		device->mdm.ports = o->core + 1; /* until the module reports its own number */
}

/* Takes what the options give, and the rest from the device tree. */
static enum tally_status
settle_numbers(struct tally_mb_device *device, const struct tally_mb_options *o,
	       const struct tally_mb_device_tree *tree, char *reason)
{
	const struct tally_mb_shape *shape = &device->shape;
	take_numbers(device, o, tree);
	bool no_width = shape->width != 32 && shape->width != 48 && shape->width != 64;
	if (shape->ne > TALLY_MB_MAX_EVENTS || shape->nl > TALLY_MB_MAX_LATENCIES ||
	    shape->ne + shape->nl == 0 || no_width)
		return tally_unsupported(
			reason,
			"the device tree says %u event and %u latency counters of %u "
			"bits, which no core has: say ne=, nl= and width=",
			shape->ne, shape->nl, shape->width);
	if (tree->has_access && !tree->access)
		return tally_unsupported(reason, "the debug module was built without "
						 "access to its registers: build it "
						 "with C_DBG_REG_ACCESS=1");
	if (!device->mdm.serial && device->mdm.ports > 1)
		return tally_unsupported(
			reason,
			"the debug module serves %u cores, and how to choose one by the "
			"parallel registers is not known: use access=serial",
			device->mdm.ports);
	if (device->mdm.core >= device->mdm.ports)
		return tally_unsupported(
			reason, "core=%u is not there: the debug module serves %u",
			device->mdm.core, device->mdm.ports);
	return TALLY_OK;
}

/* ---- first access ---- */

struct handshake {
	const struct tally_mdm *mdm;
	uint32_t status, answer;
};

static void
look_at_status(void *data)
{
	struct handshake *c = data;
	c->status = tally_mdm_status(c->mdm);
}

/* In serial access the module identifies itself. In parallel access a counter's status has to
 * be a valid one; reading it advances the selection, which every procedure resets. */
static void
ask_who(void *data)
{
	struct handshake *c = data;
	tally_mdm_unlock(c->mdm);
	c->answer = c->mdm->serial ? tally_mdm_identify(c->mdm)
				   : tally_mdm_read(c->mdm, TALLY_MDM_STATUS);
}

static enum tally_status
go(void (*step)(void *data), struct handshake *c, char *reason)
{
	switch (tally_child_access_run(step, c)) {
	case TALLY_CHILD_ACCESS_OK:
		return TALLY_OK;
	case TALLY_CHILD_ACCESS_BUS_ERROR:
		return tally_unsupported(
			reason,
			"a bus error where the debug module should be: is the address "
			"right, its clock running, the design loaded%s?",
			c->mdm->serial ? ", the unlock key right (unlock=)" : "");
	default:
		return tally_unsupported(reason, "no process could be started to try the "
						 "debug module's registers in");
	}
}

static enum tally_status
check_answer(struct tally_mb_device *device, uint32_t answer, bool ports_said,
	     char *reason)
{
	struct tally_mdm *mdm = &device->mdm;
	struct tally_mdm_identity identity = tally_mdm_identity_of(answer);
	if (!mdm->serial) {
		if (answer <= (TALLY_MDM_FULL | TALLY_MDM_OVERFLOW))
			return TALLY_OK;
		return tally_unsupported(
			reason,
			"the parallel registers answer 0x%08x, which is no counter's "
			"state: the "
			"core may have a serial debug interface; try access=serial",
			answer);
	}
	if (!identity.is_mdm)
		return tally_unsupported(
			reason,
			"the debug module says 0x%08x where its magic number 0x42 "
			"should be: is the address right, and the unlock key (unlock=)?",
			answer);
	if (ports_said && identity.ports != mdm->ports)
		return tally_unsupported(reason,
					 "the debug module serves %u cores, not ports=%u",
					 identity.ports, mdm->ports);
	if (identity.ports <= mdm->core || identity.ports > 32)
		return tally_unsupported(
			reason, "core=%u is not there: the debug module serves %u cores",
			mdm->core, identity.ports);
	mdm->ports = identity.ports;
	return TALLY_OK;
}

static enum tally_status
make_handshake(struct tally_mb_device *device, bool ports_said, char *reason)
{
	struct handshake c = { .mdm = &device->mdm };
	enum tally_status status = go(look_at_status, &c, reason);
	if (status != TALLY_OK)
		return status;
	if (c.status >> 1)
		return tally_unsupported(
			reason,
			"the debug module's status reads 0x%08x%s: it is not there, or "
			"was built without C_DBG_REG_ACCESS",
			c.status,
			c.status == UINT32_MAX ? ", as where nobody answers" : "");
	if (c.status && !tally_mdm_wait_free(&device->mdm, FREE_NS))
		return tally_unsupported(reason, "a debugger holds the debug module's "
						 "lock: end its session first");
	status = go(ask_who, &c, reason);
	return status == TALLY_OK ? check_answer(device, c.answer, ports_said, reason)
				  : status;
}

static void
make_note(struct tally_mb_device *device, const struct tally_mb_device_tree *tree)
{
	const struct tally_mdm *mdm = &device->mdm;
	snprintf(device->note, sizeof(device->note),
		 "%s, %s registers%s%s, %u event and %u latency counters of %u bits, "
		 "core %u of %u",
		 device->mapping.uio ? "UIO" : "/dev/mem", mdm->serial ? "serial" : "parallel",
		 tree->has_mdm ? ", device tree node " : "", tree->has_mdm ? tree->node : "",
		 device->shape.ne, device->shape.nl, device->shape.width, mdm->core, mdm->ports);
}

enum tally_status
tally_mb_device_open(struct tally_mb_device *device,
		     const struct tally_mb_options *options, char *reason)
{
	struct tally_mb_device_tree tree;
	char uio[32];
	memset(device, 0, sizeof(*device));
	device->mapping.fd = -1;
	if (!options->on) {
		/* The device tree is not read either: a large one takes a tenth of a second,
		 * and this is the game's thread. */
		memset(&tree, 0, sizeof(tree));
		bool there = tally_mb_find_uio(&tree, uio, sizeof(uio));
		return tally_unsupported(
			reason, "%s",
			there ? "a debug module is there, and left alone: --microblaze "
				"on reads it"
			      : "not asked for: --microblaze says where a debug module "
				"is");
	}
	tally_mb_device_tree_find(&tree);
	enum tally_status status = settle_numbers(device, options, &tree, reason);
	if (status == TALLY_OK)
		status = tally_mb_mapping_open(&device->mapping, options, &tree,
					       device->mdm.serial
						       ? TALLY_MDM_SERIAL_BYTES
						       : TALLY_MDM_PARALLEL_BYTES,
					       reason);
	if (status != TALLY_OK)
		return status;
	device->mdm.map = device->mapping.registers;
	bool ports_said = (options->said & TALLY_MB_SAID_PORTS) || tree.ports;
	status = make_handshake(device, ports_said, reason);
	if (status != TALLY_OK) {
		tally_mb_mapping_close(&device->mapping);
		return status;
	}
	tally_mdm_select_core(&device->mdm);
	make_note(device, &tree);
	return TALLY_OK;
}

void
tally_mb_device_close(struct tally_mb_device *device)
{
	if (device->mapping.registers)
		tally_mdm_lock(&device->mdm);
	tally_mb_mapping_close(&device->mapping);
	device->mdm.map = NULL;
}
