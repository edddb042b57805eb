/* SPDX-License-Identifier: MIT */
#include "query/microblaze/device_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>


#define MAX_DEPTH 8
#define MAX_NODES 4096

/* A walk through the device tree. A node's address is relative to its bus: only buses that map
 * their children one to one (an empty `ranges`), or the root, give usable addresses. */
struct walk {
	struct tally_mb_device_tree *out;
	unsigned n_nodes;
};

struct cells {
	uint32_t address, size; /* number of 32-bit words of each in a child's `reg` */
};

/* ---- properties ---- */

static ssize_t
read_property(int folder, const char *name, void *out, size_t size)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, out, size);
	close(fd);
	return n;
}

static uint32_t
big_endian(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* False: *out is as it was. */
static bool
read_number(int folder, const char *name, uint32_t *out)
{
	uint8_t bytes[8];
	if (read_property(folder, name, bytes, sizeof(bytes)) != 4)
		return false;
	*out = big_endian(bytes);
	return true;
}

/* Whether a list of zero-terminated strings has this one. */
static bool
is_compatible(int folder, const char *with)
{
	char text[512];
	ssize_t n = read_property(folder, "compatible", text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	for (const char *p = text; p < text + n; p += strlen(p) + 1)
		if (strncmp(p, with, strlen(with)) == 0)
			return true;
	return false;
}

static uint64_t
read_cells(const uint8_t *bytes, uint32_t n)
{
	uint64_t value = 0;
	for (uint32_t i = 0; i < n; i++)
		value = value << 32 | big_endian(bytes + (size_t)4 * i);
	return value;
}

/* ---- nodes ---- */

static void
read_module(int folder, const char *name, const struct cells *cells,
	    struct tally_mb_device_tree *out)
{
	uint8_t reg[16];
	uint32_t number;
	ssize_t bytes = read_property(folder, "reg", reg, sizeof(reg));
	if (out->has_mdm || cells->address < 1 || cells->address > 2 || cells->size < 1 ||
	    cells->size > 2 || bytes < (ssize_t)(4 * (cells->address + cells->size)))
		return;
	out->has_mdm = true;
	out->base = read_cells(reg, cells->address);
	out->bytes = read_cells(reg + (size_t)4 * cells->address, cells->size);
	snprintf(out->node, sizeof(out->node), "%.60s", name);
	read_number(folder, "xlnx,mb-dbg-ports", &out->ports);
	out->has_access = read_number(folder, "xlnx,dbg-reg-access", &number);
	out->access = out->has_access && number != 0;
	out->has_interface |= read_number(folder, "xlnx,debug-interface",
					  &out->interface);
}

static void
read_core(int folder, struct tally_mb_device_tree *out)
{
	if (!out->has_ne)
		out->has_ne = read_number(folder, "xlnx,debug-event-counters", &out->ne);
	if (!out->has_nl)
		out->has_nl = read_number(folder, "xlnx,debug-latency-counters", &out->nl);
	if (out->width == 0)
		read_number(folder, "xlnx,debug-counter-width", &out->width);
	if (!out->has_interface)
		out->has_interface = read_number(folder, "xlnx,debug-interface",
						 &out->interface);
}

static void walk_node(struct walk *w, int folder, const char *name, struct cells cells,
		      bool addresses, unsigned depth);

static void
walk_children(struct walk *w, int folder, struct cells cells, bool addresses, unsigned depth)
{
	int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	DIR *children = copy >= 0 ? fdopendir(copy) : NULL;
	if (!children) {
		if (copy >= 0)
			close(copy);
		return;
	}
	const struct dirent *entry;
	while ((entry = readdir(children)) && w->n_nodes < MAX_NODES) {
		if (entry->d_name[0] == '.' ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		int child = openat(folder, entry->d_name,
				   O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (child < 0)
			continue;
		w->n_nodes++;
		walk_node(w, child, entry->d_name, cells, addresses, depth + 1);
		close(child);
	}
	closedir(children);
}

/* `cells`: how the parent encodes its children's addresses. */
static void
walk_node(struct walk *w, int folder, const char *name, struct cells cells, bool addresses,
	  unsigned depth)
{
	/* The debug module of MicroBlaze V has the same name but different registers. */
	if (addresses && is_compatible(folder, "xlnx,mdm-") &&
	    !is_compatible(folder, "xlnx,mdm-riscv"))
		read_module(folder, name, &cells, w->out);
	if (is_compatible(folder, "xlnx,microblaze-") &&
	    !is_compatible(folder, "xlnx,microblaze-v"))
		read_core(folder, w->out);
	if (depth >= MAX_DEPTH)
		return;
	struct cells below = { 2, 1 };
	uint8_t some[4];
	read_number(folder, "#address-cells", &below.address);
	read_number(folder, "#size-cells", &below.size);
	bool same = depth == 0 || read_property(folder, "ranges", some, sizeof(some)) == 0;
	walk_children(w, folder, below, addresses && same, depth);
}

void
tally_mb_device_tree_find_in(const char *root, struct tally_mb_device_tree *out)
{
	struct walk w = { .out = out };
	memset(out, 0, sizeof(*out));
	int folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return;
	walk_node(&w, folder, "/", (struct cells){ 2, 1 }, true, 0);
	close(folder);
}

void
tally_mb_device_tree_find(struct tally_mb_device_tree *out)
{
	tally_mb_device_tree_find_in("/sys/firmware/devicetree/base", out);
	if (!out->has_mdm)
		tally_mb_device_tree_find_in("/proc/device-tree", out);
}
