/* SPDX-License-Identifier: MIT */
#include "query/microblaze/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layer/base/error_text.h"
#include "layer/base/small_file.h"
#include "query/microblaze/registers.h"

#define MAX_UIO 32

/* ---- choice of the device ---- */

/* The first line. */
static bool
read_text(const char *path, char *out, size_t size)
{
	size_t len = tally_small_file_read(path, out, size);
	out[strcspn(out, "\n")] = '\0';
	return len > 0;
}

static bool
read_map(const char *uio, const char *what, uint64_t *out)
{
	char path[96];
	long long number;
	snprintf(path, sizeof(path), "/sys/class/uio/%.32s/maps/map0/%s", uio, what);
	bool known = tally_small_file_number(path, &number) && number >= 0;
	*out = known ? (uint64_t)number : 0;
	return known;
}

bool
tally_mb_find_uio(const struct tally_mb_device_tree *tree, char *path, size_t size)
{
	for (unsigned i = 0; i < MAX_UIO; i++) {
		char uio[16], name_path[64], name[64];
		uint64_t address;
		snprintf(uio, sizeof(uio), "uio%u", i);
		snprintf(name_path, sizeof(name_path), "/sys/class/uio/%s/name", uio);
		if (!read_text(name_path, name, sizeof(name)))
			continue;
		bool here = tree->has_mdm && read_map(uio, "addr", &address) &&
			    address == tree->base;
		if (here || (strncmp(name, "mdm", 3) == 0 && !strstr(name, "riscv"))) {
			snprintf(path, size, "/dev/%s", uio);
			return true;
		}
	}
	return false;
}

/* ---- opening ---- */

static enum tally_status
refuse(char *reason, const char *path, int error)
{
	if (error == EACCES || error == EPERM) {
		tally_unsupported(
			reason,
			"%s: permission denied: run as root, or let root open it to "
			"this user; /dev/mem may be closed by the kernel, then bind the "
			"module to uio_pdrv_genirq",
			path);
		return TALLY_DENIED;
	}
	if (error == ENOENT || error == ENXIO || error == ENODEV)
		return tally_unsupported(reason,
					 "%s is not there: bind the debug module to "
					 "uio_pdrv_genirq, or name another with path=",
					 path);
	return tally_unsupported(reason, "%s: %.80s", path, tally_error_text(error));
}

/* The module's offset in the file, and its size. */
struct extent {
	uint64_t offset, bytes;
};

static enum tally_status
find_in_uio(const struct tally_mb_options *options, const char *path,
	    struct extent *e, char *reason)
{
	uint64_t map_bytes = 0, inside = 0;
	const char *uio = strrchr(path, '/') + 1;
	if (!read_map(uio, "size", &map_bytes)) {
		if (access(path, F_OK) != 0 && errno == ENOENT)
			return refuse(reason, path, errno);
		return tally_unsupported(
			reason, "%s: /sys/class/uio/%.32s/maps/map0/size cannot be read",
			path, uio);
	}
	/* A map need not begin on a page boundary. */
	(void)read_map(uio, "offset", &inside);
	e->offset = inside + options->base;
	e->bytes = options->base < map_bytes ? map_bytes - options->base : 0;
	return TALLY_OK;
}

static enum tally_status
find_in_memory(const struct tally_mb_options *options,
	       const struct tally_mb_device_tree *tree, struct extent *e, char *reason)
{
	if (options->said & TALLY_MB_SAID_BASE) {
		*e = (struct extent){ options->base, UINT64_MAX };
		if (tree->has_mdm && tree->base == options->base && tree->bytes)
			e->bytes = tree->bytes;
		return TALLY_OK;
	}
	if (tree->has_mdm) {
		*e = (struct extent){ tree->base, tree->bytes ? tree->bytes : UINT64_MAX };
		return TALLY_OK;
	}
	return tally_unsupported(reason, "the device tree has no debug module (mdm): say "
					 "where it is with base=ADDRESS");
}

static bool
map_module(struct tally_mb_mapping *mapping, const struct extent *e, uint32_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	/* A UIO device's offset selects the map, so what precedes the module in map 0 is mapped
	 * too. */
	uint64_t begin = mapping->uio ? 0 : e->offset - e->offset % page;
	uint64_t length = (e->offset - begin + bytes + page - 1) / page * page;
	if (length > SIZE_MAX / 2 || begin > INT64_MAX) {
		errno = EINVAL;
		return false;
	}
	void *map = mmap64(NULL, (size_t)length, PROT_READ | PROT_WRITE, MAP_SHARED, mapping->fd,
			   (off64_t)begin);
	if (map == MAP_FAILED)
		return false;
	mapping->map = map;
	mapping->map_bytes = (size_t)length;
	mapping->registers = (char *)map + (e->offset - begin);
	return true;
}

enum tally_status
tally_mb_mapping_open(struct tally_mb_mapping *mapping,
		      const struct tally_mb_options *options,
		      const struct tally_mb_device_tree *tree, uint32_t bytes,
		      char *reason)
{
	char path[sizeof(options->path)];
	struct extent e = { 0 };
	*mapping = (struct tally_mb_mapping){ .fd = -1 };
	snprintf(path, sizeof(path), "%s", options->path);
	if (!path[0] && !(options->said & TALLY_MB_SAID_BASE) &&
	    !tally_mb_find_uio(tree, path, sizeof(path)) && !tree->has_mdm)
		return tally_unsupported(
			reason,
			"neither a UIO device nor the device tree has a debug module "
			"(mdm): say "
			"where it is with path=uioN, or path=mem and base=ADDRESS");
	if (!path[0])
		snprintf(path, sizeof(path), "/dev/mem");
	mapping->uio = strcmp(path, "/dev/mem") != 0;
	enum tally_status status = mapping->uio
					   ? find_in_uio(options, path, &e, reason)
					   : find_in_memory(options, tree, &e, reason);
	if (status != TALLY_OK)
		return status;
	if (e.bytes < bytes)
		return tally_unsupported(
			reason,
			"%s: the map of the debug module has %" PRIu64
			" bytes, access=%s needs "
			"%u: give it more in the design or the device tree%s",
			path, e.bytes,
			bytes == TALLY_MDM_SERIAL_BYTES ? "serial" : "parallel", bytes,
			bytes == TALLY_MDM_SERIAL_BYTES ? "" : ", or use access=serial");
	/* O_NONBLOCK: reading from a UIO device would wait for its next interrupt. */
	mapping->fd = open(path, O_RDWR | O_SYNC | O_CLOEXEC | O_NONBLOCK);
	if (mapping->fd < 0)
		return refuse(reason, path, errno);
	if (flock(mapping->fd, LOCK_EX | LOCK_NB) != 0) {
		tally_mb_mapping_close(mapping);
		return tally_unsupported(
			reason,
			"%s is in use: another program reads its counters; end it first",
			path);
	}
	if (map_module(mapping, &e, bytes))
		return TALLY_OK;
	int error = errno;
	tally_mb_mapping_close(mapping);
	return refuse(reason, path, error);
}

void
tally_mb_mapping_close(struct tally_mb_mapping *mapping)
{
	if (mapping->map)
		munmap(mapping->map, mapping->map_bytes);
	if (mapping->fd >= 0)
		close(mapping->fd);
	*mapping = (struct tally_mb_mapping){ .fd = -1 };
}
