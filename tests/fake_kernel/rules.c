/* SPDX-License-Identifier: MIT */
/* Makes valid and invalid requests of the simulated kernel and checks that it follows its
 * rules, on which the tests of the product rely. Run under it (tests/live/mali_kernel.py):
 *
 *   rules kinstr | vinstr | old | panfrost
 *
 * Prints TAP. The caller sets FAKE_KERNEL; only this program advances the script's clock.
 */
#include "tests/fake_kernel/drive.h"
#include "tests/fake_kernel/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int n_checks, n_failed;

static void
that(bool fine, const char *what)
{
	printf("%sok %d - %s\n", fine ? "" : "not ", ++n_checks, what);
	n_failed += !fine;
}

/* The errno of a call, 0 when it succeeded. */
static int
ask(int fd, unsigned long command, void *argument)
{
	return ioctl(fd, command, argument) < 0 ? errno : 0;
}

static uint64_t
misuses(void)
{
	struct fake_kernel_state *s = fake_kernel_find();
	return s ? s->n_misuses : 0;
}

static int
open_device(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	that(fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode),
	     "the node is a character device");
	that(open("/dev/mali7", O_RDONLY) < 0 && errno == ENOENT, "no other node is there");
	return fd;
}

static uint64_t
expected(unsigned block, unsigned instance, unsigned counter, uint64_t us)
{
	return fake_kernel_rate(block, instance, counter) * us;
}

/* ---- kinstr_prfcnt ---- */

static int
set_up_kinstr(int device, union kb_prfcnt_setup *out, struct pc_request *items, uint32_t n)
{
	memset(out, 0, sizeof(*out));
	out->in.n_items = n;
	out->in.item_size = sizeof(*items);
	out->in.items = (uintptr_t)items;
	return ioctl(device, KB_PRFCNT_SETUP, out);
}

static int
command(int fd, uint16_t which, uint16_t pad, uint64_t user_data)
{
	struct pc_command c = { .command = which, .pad = { pad }, .user_data = user_data };
	return ask(fd, PC_CMD, &c);
}

static void
check_requests(int device)
{
	static const struct {
		const char *what;
		struct pc_request items[3];
		uint32_t n;
	} cases[] = {
		{ "no end", { { .head.type = PC_MODE }, { .head.type = PC_ENABLE } }, 2 },
		{ "no block", { { .head.type = PC_MODE } }, 2 },
		{ "no mode", { { .head.type = PC_ENABLE } }, 2 },
		{ "padding", { { .head = { PC_MODE, 0, 1 } }, { .head.type = PC_ENABLE } }, 3 },
		{ "version", { { .head = { PC_MODE, 1, 0 } }, { .head.type = PC_ENABLE } }, 3 },
		{ "type", { { .head.type = 0x1009 }, { .head.type = PC_ENABLE } }, 3 },
		{ "count", { { .head.type = PC_MODE }, { .head.type = PC_ENABLE } }, 1 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		union kb_prfcnt_setup setup;
		struct pc_request items[3];
		uint64_t before = misuses();
		char what[64];
		memcpy(items, cases[i].items, sizeof(items));
		int fd = set_up_kinstr(device, &setup, items, cases[i].n);
		snprintf(what, sizeof(what), "refused and told: %s", cases[i].what);
		that(fd < 0 && errno == EINVAL && misuses() == before + 1, what);
	}
}

static void
check_sample(const uint8_t *map, const struct pc_access *got, uint32_t stride, uint64_t us)
{
	const struct pc_meta *meta = (const void *)(map + got->offset);
	bool sums = true;
	unsigned n_cores = 0;
	that(meta->head.type == PC_META_SAMPLE && meta->u.sample.seq == got->sequence,
	     "a sample begins with its number");
	for (; meta->head.type != 0; meta = (const void *)((const uint8_t *)meta + stride)) {
		if (meta->head.type != PC_META_BLOCK)
			continue;
		const uint64_t *values = (const void *)(map + meta->u.block.offset);
		/* Cores 0 and 2 exist. */
		unsigned instance = meta->u.block.index * (meta->u.block.type == 3 ? 2u : 1u);
		n_cores += meta->u.block.type == 3;
		sums = sums && values[10] == expected(meta->u.block.type, instance, 10, us);
	}
	that(sums && n_cores == 2, "values are the script's");
}

static void
check_order(int fd, const uint8_t *map, uint32_t stride)
{
	struct pc_access got = { 0 }, other;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	that(command(fd, PC_SAMPLE, 0, 1) == EINVAL, "no sample before the start");
	that(command(fd, PC_STOP, 0, 1) == EINVAL, "no stop before the start");
	that(command(fd, PC_START, 1, 1) == EINVAL, "padding of a command");
	that(command(fd, PC_START, 0, 1) == 0, "start");
	that(ask(fd, PC_GET, &got) == EINVAL && poll(&p, 1, 1) == 0, "nothing to get yet");
	fake_kernel_advance(2000 * 1000);
	that(command(fd, PC_SAMPLE_ASYNC, 0, 1) == EINVAL, "no such command");
	that(command(fd, PC_SAMPLE, 0, 1) == 0, "sample");
	that(poll(&p, 1, 1000) == 1 && p.revents == POLLIN, "poll sees it");
	that(ask(fd, PC_GET, &got) == 0, "get");
	that(ask(fd, PC_GET, &other) == EBUSY, "one at a time");
	check_sample(map, &got, stride, 2000);
	other = got;
	other.sequence++;
	that(ask(fd, PC_PUT, &other) == EINVAL, "an altered sample is not put back");
	that(ask(fd, PC_PUT, &got) == 0 && ask(fd, PC_PUT, &got) == EINVAL, "put back once");
	for (int i = 0; i < 31; i++)
		command(fd, PC_SAMPLE, 0, 1);
	that(command(fd, PC_SAMPLE, 0, 1) == EBUSY, "31 samples fill it");
	that(command(fd, PC_STOP, 0, 1) == 0, "one more for the stop");
}

static void
kinstr(void)
{
	struct pc_request items[] = {
		{ .head.type = PC_MODE },
		{ .head.type = PC_ENABLE, .u.enable = { .type = 0, .mask = { UINT64_MAX } } },
		{ .head.type = PC_ENABLE, .u.enable = { .type = 3, .mask = { UINT64_MAX } } },
		{ .head.type = 0 },
	};
	struct kb_version version = { 0, 0 };
	struct kb_flags flags = { 2 };
	struct kb_enum_info info = { 0 };
	union kb_prfcnt_setup setup;
	int device = open_device("/dev/mali0");
	that(ask(device, KB_SET_FLAGS, &flags) == EPERM, "the version comes first");
	that(ask(device, KB_VERSION_JM, &version) == EPERM, "not a job manager's kernel");
	that(ask(device, KB_VERSION_CSF, &version) == 0 && version.major == 1, "version");
	that(ask(device, KB_SET_FLAGS, &flags) == 0, "context");
	that(ask(device, KB_SET_FLAGS, &flags) == EPERM, "only one");
	that(ask(device, KB_PRFCNT_ENUM, &info) == 0 && info.item_size == 32,
	     "size of the list");
	info.n_items--;
	info.list = (uintptr_t)items;
	that(ask(device, KB_PRFCNT_ENUM, &info) == EINVAL, "a list of another size");
	check_requests(device);
	int fd = set_up_kinstr(device, &setup, items, 4);
	that(fd >= 0 && setup.out.meta_size == 48, "set up");
	that(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED, "not a part of it");
	that(mmap(NULL, setup.out.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) ==
		     MAP_FAILED && errno == EPERM,
	     "not to write");
	void *map = mmap(NULL, setup.out.map_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	that(map != MAP_FAILED, "map");
	if (map != MAP_FAILED)
		check_order(fd, map, setup.out.meta_size);
	close(fd);
	that(ask(fd, PC_CMD, items) != 0, "closed");
	close(device);
}

/* ---- vinstr ---- */

static void
check_reader(int fd, uint32_t n_buffers)
{
	uint32_t hwver = 0, bytes = 0;
	struct vi_meta meta = { 0 };
	that(ask(fd, VI_HWVER, &hwver) == 0 && hwver == 5, "layout 5");
	that(ask(fd, VI_BUFFER_SIZE, &bytes) == 0 && bytes == (2 + 2 + 3) * 256,
	     "size with holes");
	const uint8_t *map = mmap(NULL, (size_t)bytes * n_buffers, PROT_READ, MAP_PRIVATE,
				  fd, 0);
	that(map != MAP_FAILED, "map");
	if (map == MAP_FAILED)
		return;
	that(ask(fd, VI_CLEAR, NULL) == 0 && ask(fd, VI_GET, &meta) == EAGAIN, "nothing yet");
	that(ask(fd, VI_PUT, &meta) == EPERM, "nothing to put back");
	fake_kernel_advance(3000 * 1000);
	that(ask(fd, VI_DUMP, NULL) == 0 && ask(fd, VI_GET, &meta) == 0, "dump and get");
	const uint32_t *words = (const void *)(map + (size_t)meta.buffer * bytes);
	that(words[10] == expected(0, 0, 10, 3000), "front end");
	that(words[3 * 64 + 10] == expected(2, 1, 10, 3000), "second slice");
	that(words[4 * 64 + 10] == expected(3, 0, 10, 3000), "core 0");
	that(words[5 * 64 + 10] == 0, "a hole");
	that(words[6 * 64 + 10] == expected(3, 2, 10, 3000), "core 2");
	that(words[6 * 64 + 63] == 0, "not asked for");
	meta.buffer++;
	that(ask(fd, VI_PUT, &meta) == EINVAL, "another buffer is not put back");
	meta.buffer--;
	that(ask(fd, VI_PUT, &meta) == 0, "put back");
	fake_kernel_advance(UINT64_C(10000000) * 1000 * 1000);
	ask(fd, VI_DUMP, NULL);
	that(ask(fd, VI_GET, &meta) == 0, "get after long");
	words = (const void *)(map + (size_t)meta.buffer * bytes);
	that(words[10] == UINT32_MAX, "saturated, not wrapped");
}

static void
vinstr(void)
{
	struct kb_version version = { 0, 0 };
	struct kb_flags flags = { 2 };
	struct kb_reader_setup setup = { 4, ~0u, 0x7fff, ~0u, ~0u };
	int device = open_device("/dev/mali0");
	that(ask(device, KB_VERSION_JM, &version) == 0 && version.major == 11, "version");
	that(ask(device, KB_READER_SETUP, &setup) == EPERM, "a context comes first");
	that(ask(device, KB_SET_FLAGS, &flags) == 0, "context");
	struct kb_props props = { 0, 0, 0 };
	int bytes = ioctl(device, KB_GET_PROPS, &props);
	props.size = (uint32_t)bytes - 1;
	that(bytes > 100 && ask(device, KB_GET_PROPS, &props) == EINVAL, "too little room");
	setup.buffers = 3;
	that(ask(device, KB_READER_SETUP, &setup) == EINVAL, "no power of two");
	setup.buffers = 4;
	int fd = ioctl(device, KB_READER_SETUP, &setup);
	that(fd >= 0, "set up");
	check_reader(fd, 4);
	close(fd);
	close(device);
}

static void
old(void)
{
	struct ok_version version = { .head = { 0, 0 } };
	struct ok_flags flags = { .head = { 530, 0 }, .flags = 2 };
	struct ok_reader_setup setup = { { 548, 0 }, 4, ~0u, 0x7fff, ~0u, ~0u, -1 };
	uint32_t props[OK_PROPS_BYTES / 4] = { 526 };
	int device = open_device("/dev/mali0");
	that(ask(device, OK_VERSION, &version) == 0 && version.major == 10, "version");
	that(ask(device, OK_READER_SETUP, &setup) == EINVAL, "a context comes first");
	flags.head.id = 529;
	that(ask(device, OK_SET_FLAGS, &flags) == 0 && flags.head.id == 3, "the wrong function");
	flags.head.id = 530;
	that(ask(device, OK_SET_FLAGS, &flags) == 0 && flags.head.id == 0, "context");
	that(ask(device, OK_GET_PROPS, props) == 0 && props[240 / 4] >> 16 == 0x6001,
	     "properties");
	setup.head.id = 548;
	that(ask(device, OK_READER_SETUP, &setup) == 0 && setup.fd >= 0, "set up");
	check_reader(setup.fd, 4);
	close(setup.fd);
	close(device);
}

/* ---- panfrost ---- */

static void
panfrost(void)
{
	uint32_t words[7 * 64 + 16];
	struct pf_enable on = { 1, 0 }, off = { 0, 0 };
	struct pf_dump dump = { (uintptr_t)words };
	struct pf_param param = { .param = 2 };
	char name[16] = "";
	struct pf_version version = { .name_bytes = sizeof(name), .name = name };
	int device = open_device("/dev/dri/renderD128");
	int second = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	that(ask(device, PF_VERSION, &version) == 0 && strcmp(name, "panfrost") == 0 &&
		     version.name_bytes == 8,
	     "name");
	that(ask(device, PF_PARAM, &param) == 0 && param.value == 5, "cores");
	param.param = 99;
	that(ask(device, PF_PARAM, &param) == EINVAL, "no such parameter");
	that(ask(device, PF_DUMP, &dump) == EINVAL, "enabled first");
	on.set = 2;
	that(ask(device, PF_ENABLE, &on) == EINVAL, "no such set");
	on.set = 0;
	that(ask(device, PF_ENABLE, &on) == 0, "enable");
	that(ask(second, PF_ENABLE, &on) == EBUSY && ask(second, PF_ENABLE, &off) == EINVAL,
	     "one owner");
	fake_kernel_advance(1000 * 1000);
	memset(words, 0xee, sizeof(words));
	that(ask(device, PF_DUMP, &dump) == 0 && words[10] == expected(0, 0, 10, 1000), "dump");
	that(words[6 * 64 + 10] == expected(3, 2, 10, 1000) && words[7 * 64] == 0xeeeeeeee,
	     "holes are in it, and it ends");
	that(ask(device, PF_DUMP, &dump) == 0 && words[10] == 0, "reading clears");
	close(device);
	that(ask(second, PF_ENABLE, &on) == 0, "closing lets go");
	close(second);
}

int
main(int n, char **args)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
		{ "kinstr", kinstr },
		{ "vinstr", vinstr },
		{ "old", old },
		{ "panfrost", panfrost },
	};
	if (!fake_kernel_find()) {
		fprintf(stderr, "rules: the simulated kernel is not preloaded\n");
		return 2;
	}
	for (size_t i = 0; n > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(args[1], kinds[i].name) == 0)
			kinds[i].run();
	}
	printf("1..%d\n", n_checks);
	return n_checks == 0 || n_failed > 0;
}
