/* SPDX-License-Identifier: MIT */
/* tests/fake_kernel/wire.h - what a program and the kernel exchange, byte for byte.
 *
 * Written from the description of the kernel interfaces, apart from the product's own declarations,
 * so that a mistake in one of the two is noticed. Numbers and offsets are asserted for 64 and
 * 32 bits. u64 members are aligned to 8 on every machine.
 */
#ifndef FAKE_KERNEL_WIRE_H
#define FAKE_KERNEL_WIRE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t wire_u64 __attribute__((aligned(8)));

/* direction 1: to the kernel, 2: from it, 3: both */
#define WIRE(direction, magic, nr, size) \
	((unsigned)(direction) << 30 | (unsigned)(size) << 16 | (unsigned)(magic) << 8 | \
	 (unsigned)(nr))

/* ---- kbase, device file ---- */

struct kb_version {
	uint16_t major, minor;
};
struct kb_flags {
	uint32_t flags;
};
struct kb_props {
	wire_u64 buffer;
	uint32_t size, flags;
};
struct kb_reader_setup {
	uint32_t buffers, fe, shader, tiler, l2;
};
union kb_glb_iface {
	struct {
		uint32_t max_groups, max_streams;
		wire_u64 groups, streams;
	} in;
	struct {
		uint32_t version, features, n_groups, prfcnt_size, n_streams, instr_features;
	} out;
};
struct kb_enum_info {
	uint32_t item_size, n_items;
	wire_u64 list;
};
union kb_prfcnt_setup {
	struct {
		uint32_t n_items, item_size;
		wire_u64 items;
	} in;
	struct {
		uint32_t meta_size, map_bytes;
	} out;
};

#define KB_VERSION_JM WIRE(3, 0x80, 0x00, sizeof(struct kb_version))
#define KB_VERSION_CSF WIRE(3, 0x80, 0x34, sizeof(struct kb_version))
#define KB_SET_FLAGS WIRE(1, 0x80, 0x01, sizeof(struct kb_flags))
#define KB_GET_PROPS WIRE(1, 0x80, 0x03, sizeof(struct kb_props))
#define KB_READER_SETUP WIRE(1, 0x80, 0x08, sizeof(struct kb_reader_setup))
#define KB_GLB_IFACE WIRE(3, 0x80, 0x33, sizeof(union kb_glb_iface))
#define KB_PRFCNT_ENUM WIRE(3, 0x80, 0x38, sizeof(struct kb_enum_info))
#define KB_PRFCNT_SETUP WIRE(3, 0x80, 0x39, sizeof(union kb_prfcnt_setup))

static_assert(KB_VERSION_JM == 0xc0048000, "");
static_assert(KB_VERSION_CSF == 0xc0048034, "");
static_assert(KB_SET_FLAGS == 0x40048001, "");
static_assert(KB_GET_PROPS == 0x40108003, "");
static_assert(KB_READER_SETUP == 0x40148008, "");
static_assert(KB_GLB_IFACE == 0xc0188033, "");
static_assert(KB_PRFCNT_ENUM == 0xc0108038, "");
static_assert(KB_PRFCNT_SETUP == 0xc0108039, "");

/* ---- kinstr_prfcnt ---- */

struct pc_head {
	uint16_t type, version;
	uint32_t pad;
};
struct pc_enum {
	struct pc_head head;
	union {
		struct {
			uint8_t type, set;
			uint16_t pad, n_instances, n_values;
			wire_u64 mask[2];
		} block;
		struct {
			uint16_t kind, pad;
			uint32_t versions;
		} request;
		struct {
			uint32_t n_domains;
		} sample;
	} u;
};
struct pc_request {
	struct pc_head head;
	union {
		struct {
			uint8_t mode, pad[7];
			wire_u64 period;
		} mode;
		struct {
			uint8_t type, set, pad[6];
			wire_u64 mask[2];
		} enable;
		struct {
			uint8_t scope, pad[7];
		} scope;
	} u;
};
struct pc_meta {
	struct pc_head head;
	union {
		struct {
			wire_u64 begin, end, seq, user_data;
			uint32_t flags, pad;
		} sample;
		struct {
			uint32_t n_domains, pad;
			wire_u64 cycles[4];
		} clock;
		struct {
			uint8_t type, index, set, pad;
			uint32_t state, offset, pad2;
		} block;
	} u;
};
struct pc_command {
	uint16_t command, pad[3];
	wire_u64 user_data;
};
struct pc_access {
	wire_u64 sequence, offset;
};

#define PC_CMD WIRE(1, 0xbf, 0x00, sizeof(struct pc_command))
#define PC_GET WIRE(2, 0xbf, 0x01, sizeof(struct pc_access))
#define PC_PUT WIRE(1, 0xbf, 0x10, sizeof(struct pc_access))

static_assert(PC_CMD == 0x4010bf00, "");
static_assert(PC_GET == 0x8010bf01, "");
static_assert(PC_PUT == 0x4010bf10, "");
static_assert(sizeof(struct pc_enum) == 32 && sizeof(struct pc_request) == 32, "");
static_assert(sizeof(struct pc_meta) == 48, "");
static_assert(offsetof(struct pc_enum, u.block.n_instances) == 12, "");
static_assert(offsetof(struct pc_enum, u.block.n_values) == 14, "");
static_assert(offsetof(struct pc_enum, u.block.mask) == 16, "");
static_assert(offsetof(struct pc_enum, u.request.versions) == 12, "");
static_assert(offsetof(struct pc_request, u.mode.period) == 16, "");
static_assert(offsetof(struct pc_request, u.enable.mask) == 16, "");
static_assert(offsetof(struct pc_meta, u.sample.seq) == 24, "");
static_assert(offsetof(struct pc_meta, u.sample.flags) == 40, "");
static_assert(offsetof(struct pc_meta, u.clock.cycles) == 16, "");
static_assert(offsetof(struct pc_meta, u.block.state) == 12, "");
static_assert(offsetof(struct pc_meta, u.block.offset) == 16, "");

enum {
	PC_ENUM_BLOCK = 0x0000,
	PC_ENUM_REQUEST = 0x0001,
	PC_ENUM_SAMPLE = 0x0002,
	PC_MODE = 0x1000,
	PC_ENABLE = 0x1001,
	PC_SCOPE = 0x1002,
	PC_META_SAMPLE = 0x2000,
	PC_META_CLOCK = 0x2001,
	PC_META_BLOCK = 0x2002,
};
enum { PC_START = 1, PC_STOP, PC_SAMPLE, PC_SAMPLE_ASYNC, PC_DISCARD };
enum {
	PC_OVERFLOW = 1,
	PC_ERROR = 1 << 30,
	PC_ON = 1,
	PC_OFF = 2,
	PC_AVAILABLE = 4,
	PC_UNAVAILABLE = 8,
	PC_NORMAL = 16,
	PC_PROTECTED = 32,
};

/* ---- vinstr ---- */

struct vi_meta {
	wire_u64 timestamp;
	uint32_t event, buffer;
};
struct vi_meta_cycles {
	struct vi_meta m;
	wire_u64 top_cycles, core_cycles;
};
struct vi_features {
	uint32_t version, features;
};

#define VI_HWVER WIRE(2, 0xbe, 0x00, 4)
#define VI_BUFFER_SIZE WIRE(2, 0xbe, 0x01, 4)
#define VI_DUMP WIRE(1, 0xbe, 0x10, 4)
#define VI_CLEAR WIRE(1, 0xbe, 0x11, 4)
#define VI_GET WIRE(2, 0xbe, 0x20, sizeof(struct vi_meta))
#define VI_GET_CYCLES WIRE(2, 0xbe, 0x20, sizeof(struct vi_meta_cycles))
#define VI_PUT WIRE(1, 0xbe, 0x21, sizeof(struct vi_meta))
#define VI_PUT_CYCLES WIRE(1, 0xbe, 0x21, sizeof(struct vi_meta_cycles))
#define VI_INTERVAL WIRE(1, 0xbe, 0x30, 4)
#define VI_EVENT_ON WIRE(1, 0xbe, 0x40, 4)
#define VI_EVENT_OFF WIRE(1, 0xbe, 0x41, 4)
#define VI_API WIRE(2, 0xbe, 0xff, 4)
#define VI_API_FEATURES WIRE(2, 0xbe, 0xff, sizeof(struct vi_features))

static_assert(VI_HWVER == 0x8004be00 && VI_BUFFER_SIZE == 0x8004be01, "");
static_assert(VI_DUMP == 0x4004be10 && VI_CLEAR == 0x4004be11, "");
static_assert(VI_GET == 0x8010be20 && VI_GET_CYCLES == 0x8020be20, "");
static_assert(VI_PUT == 0x4010be21 && VI_PUT_CYCLES == 0x4020be21, "");
static_assert(VI_INTERVAL == 0x4004be30, "");
static_assert(VI_API == 0x8004beff && VI_API_FEATURES == 0x8008beff, "");

/* ---- kbase before r21: a header in front of everything, which contains the function's number
 * ---- */

struct ok_head {
	uint32_t id; /* on return: 0 or the error */
	uint32_t pad;
};
struct ok_version {
	struct ok_head head;
	uint16_t major, minor;
	uint32_t pad;
};
struct ok_flags {
	struct ok_head head;
	uint32_t flags, pad;
};
struct ok_reader_setup {
	struct ok_head head;
	uint32_t buffers, fe, shader, tiler, l2;
	int32_t fd;
};
/* Members that the simulated kernel writes are written by offset. */
#define OK_PROPS_BYTES 536

#define OK_VERSION WIRE(3, 0x80, 0, sizeof(struct ok_version))
#define OK_SET_FLAGS (WIRE(3, 0x80, 0, sizeof(struct ok_flags)) + 530)
#define OK_GET_PROPS (WIRE(3, 0x80, 0, OK_PROPS_BYTES) + 526)
#define OK_READER_SETUP (WIRE(3, 0x80, 0, sizeof(struct ok_reader_setup)) + 548)

static_assert(OK_VERSION == 0xc0108000, "");
static_assert(OK_SET_FLAGS == 0xc0108212, "");
static_assert(OK_GET_PROPS == 0xc218820e, "");
static_assert(OK_READER_SETUP == 0xc0208224, "");

/* ---- panfrost ---- */

struct pf_version {
	int32_t major, minor, patch;
	size_t name_bytes;
	char *name;
	size_t date_bytes;
	char *date;
	size_t text_bytes;
	char *text;
};
struct pf_param {
	uint32_t param, pad;
	wire_u64 value;
};
struct pf_enable {
	uint32_t enable, set;
};
struct pf_dump {
	wire_u64 buffer;
};

#define PF_VERSION WIRE(3, 0x64, 0x00, sizeof(struct pf_version))
#define PF_PARAM WIRE(3, 0x64, 0x44, sizeof(struct pf_param))
#define PF_ENABLE WIRE(1, 0x64, 0x46, sizeof(struct pf_enable))
#define PF_DUMP WIRE(1, 0x64, 0x47, sizeof(struct pf_dump))

static_assert(PF_VERSION == (sizeof(void *) == 8 ? 0xc0406400 : 0xc0246400), "");
static_assert(PF_PARAM == 0xc0106444 && PF_ENABLE == 0x40086446 && PF_DUMP == 0x40086447, "");

#endif
