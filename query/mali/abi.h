/* SPDX-License-Identifier: MIT */
/* query/mali/abi.h - structs and ioctl numbers of the kernel's Mali drivers.
 *
 * These are our own declarations: neither Arm's kbase nor panfrost installs headers on a common
 * system. The compiler checks every size against the kernel's, on 64-bit and 32-bit machines. An
 * ioctl's number, in Linux's encoding on arm, arm64 and x86, holds the size of its argument. Only
 * query/mali/ includes this. All integers are in host order; padding must be zero.
 */
#ifndef PASSTALLY_QUERY_MALI_ABI_H
#define PASSTALLY_QUERY_MALI_ABI_H

#include <stddef.h>
#include <stdint.h>

#define TALLY_ABI_SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define TALLY_ABI_AT(type, member, at) \
	_Static_assert(offsetof(struct type, member) == (at), #type "." #member)

/* ---- kbase: the device file ---- */

struct kbase_version_check {
	uint16_t major, minor;
};
struct kbase_set_flags {
	uint32_t create_flags;
};
struct kbase_get_gpuprops {
	uint64_t buffer;
	uint32_t size, flags;
};
struct kbase_hwcnt_reader_setup {
	uint32_t buffer_count, fe_mask, core_mask, tiler_mask, l2_mask;
};
struct kbase_kinstr_enum_info {
	uint32_t item_size, item_count;
	uint64_t list;
};
struct kbase_kinstr_setup_in {
	uint32_t item_count, item_size;
	uint64_t requests;
};
struct kbase_kinstr_setup_out {
	uint32_t metadata_size, mmap_size, pad[2];
};
union kbase_kinstr_setup {
	struct kbase_kinstr_setup_in in;
	struct kbase_kinstr_setup_out out;
};
TALLY_ABI_SIZE(kbase_version_check, 4);
TALLY_ABI_SIZE(kbase_set_flags, 4);
TALLY_ABI_SIZE(kbase_get_gpuprops, 16);
TALLY_ABI_SIZE(kbase_hwcnt_reader_setup, 20);
TALLY_ABI_SIZE(kbase_kinstr_enum_info, 16);
TALLY_ABI_AT(kbase_kinstr_enum_info, list, 8);
TALLY_ABI_SIZE(kbase_kinstr_setup_in, 16);
TALLY_ABI_SIZE(kbase_kinstr_setup_out, 16);

#define KBASE_VERSION_CHECK_JM 0xc0048000ul
#define KBASE_VERSION_CHECK_CSF 0xc0048034ul
#define KBASE_SET_FLAGS 0x40048001ul
#define KBASE_GET_GPUPROPS 0x40108003ul
#define KBASE_HWCNT_READER_SETUP 0x40148008ul
#define KBASE_KINSTR_ENUM_INFO 0xc0108038ul
#define KBASE_KINSTR_SETUP 0xc0108039ul

/* Marks a context that submits no work, which is all that counting needs. */
#define KBASE_SYSTEM_MONITOR 2u

/* ---- kbase before r21: the function's number is in a header, and also in the ioctl's ---- */

struct kbase_old_header {
	uint32_t id; /* out: 0, or an error number */
	uint32_t pad;
};
struct kbase_old_version_check {
	struct kbase_old_header header;
	uint16_t major, minor;
	uint32_t pad;
};
struct kbase_old_set_flags {
	struct kbase_old_header header;
	uint32_t create_flags, pad;
};
struct kbase_old_core_group {
	uint64_t core_mask;
	uint16_t n_cores, pad[3];
};
/* Only some of it is used: only the fields that are read have a name. */
struct kbase_old_props {
	struct kbase_old_header header;
	uint32_t product_id;
	uint16_t version_status, minor_revision, major_revision, pad0;
	uint8_t skipped0[36];
	uint8_t l2_log2_line_size, l2_log2_cache_size, l2_slices;
	uint8_t skipped1[45];
	uint64_t shader_present, tiler_present, l2_present, skipped2;
	uint32_t l2_features;
	uint8_t skipped3[100];
	uint32_t gpu_id;
	uint8_t skipped4[12];
	uint32_t thread_features;
	uint32_t coherency_mode, n_groups, n_core_groups, coherency, pad1;
	struct kbase_old_core_group groups[16];
};
struct kbase_old_reader_setup {
	struct kbase_old_header header;
	uint32_t buffer_count, fe_mask, core_mask, tiler_mask, l2_mask;
	int32_t fd;
};
TALLY_ABI_SIZE(kbase_old_version_check, 16);
TALLY_ABI_SIZE(kbase_old_set_flags, 16);
TALLY_ABI_SIZE(kbase_old_reader_setup, 32);
TALLY_ABI_SIZE(kbase_old_props, 536);
TALLY_ABI_AT(kbase_old_props, l2_log2_line_size, 56);
TALLY_ABI_AT(kbase_old_props, shader_present, 104);
TALLY_ABI_AT(kbase_old_props, l2_present, 120);
TALLY_ABI_AT(kbase_old_props, l2_features, 136);
TALLY_ABI_AT(kbase_old_props, gpu_id, 240);
TALLY_ABI_AT(kbase_old_props, thread_features, 256);
TALLY_ABI_AT(kbase_old_props, n_core_groups, 268);
TALLY_ABI_AT(kbase_old_props, groups, 280);

#define KBASE_OLD_ID_VERSION 0u
#define KBASE_OLD_ID_FLAGS 530u
#define KBASE_OLD_ID_PROPS 526u
#define KBASE_OLD_ID_READER 548u
#define KBASE_OLD_VERSION_CHECK 0xc0108000ul
#define KBASE_OLD_SET_FLAGS 0xc0108212ul
#define KBASE_OLD_GET_PROPS 0xc218820eul
#define KBASE_OLD_READER_SETUP 0xc0208224ul

/* ---- kinstr_prfcnt: the reader's file ---- */

enum {
	KINSTR_ENUM_BLOCK = 0x0000, /* also the end of every list */
	KINSTR_ENUM_REQUEST = 0x0001,
	KINSTR_ENUM_SAMPLE_INFO = 0x0002,
	KINSTR_REQUEST_MODE = 0x1000,
	KINSTR_REQUEST_ENABLE = 0x1001,
	KINSTR_METADATA_SAMPLE = 0x2000,
	KINSTR_METADATA_CLOCK = 0x2001,
	KINSTR_METADATA_BLOCK = 0x2002,
	KINSTR_METADATA_END = 0x0000,
};
enum { KINSTR_SET_PRIMARY = 0 };
enum { KINSTR_MODE_MANUAL = 0 };
enum { KINSTR_KIND_MODE = 0, KINSTR_KIND_ENABLE = 1 };
enum { KINSTR_CMD_START = 1, KINSTR_CMD_STOP = 2, KINSTR_CMD_SAMPLE = 3 };
#define KINSTR_SAMPLE_OVERFLOW (UINT32_C(1) << 0)
#define KINSTR_SAMPLE_ERROR (UINT32_C(1) << 30)
enum {
	KINSTR_STATE_ON = 1,
	KINSTR_STATE_OFF = 2,
	KINSTR_STATE_UNAVAILABLE = 8,
	KINSTR_STATE_PROTECTED = 32,
};

struct kinstr_item {
	uint16_t type, version;
	uint32_t pad;
};
struct kinstr_enum_item {
	struct kinstr_item item;
	union {
		struct {
			uint8_t type, set, pad[2];
			uint16_t n_instances, n_values;
			uint64_t counter_mask[2];
		} block;
		struct {
			uint16_t kind, pad;
			uint32_t versions_mask;
		} request;
		struct {
			uint32_t n_clock_domains;
		} sample_info;
		uint8_t bytes[24];
	};
};
struct kinstr_request_item {
	struct kinstr_item item;
	union {
		struct {
			uint8_t mode, pad[7];
			uint64_t period_ns;
		} mode;
		struct {
			uint8_t type, set, pad[6];
			uint64_t mask[2];
		} enable;
		uint8_t bytes[24];
	};
};
struct kinstr_metadata_item {
	struct kinstr_item item;
	union {
		struct {
			uint64_t begin_ns, end_ns, seq, user_data;
			uint32_t flags, pad;
		} sample;
		struct {
			uint32_t n_domains, pad;
			uint64_t cycles[4];
		} clock;
		struct {
			uint8_t type, index, set, pad;
			uint32_t state, values_offset;
		} block;
		uint8_t bytes[40];
	};
};
struct kinstr_command {
	uint16_t cmd, pad[3];
	uint64_t user_data;
};
struct kinstr_access {
	uint64_t sequence, offset;
};
TALLY_ABI_SIZE(kinstr_item, 8);
TALLY_ABI_SIZE(kinstr_enum_item, 32);
TALLY_ABI_AT(kinstr_enum_item, block.n_instances, 12);
TALLY_ABI_AT(kinstr_enum_item, block.counter_mask, 16);
TALLY_ABI_AT(kinstr_enum_item, request.versions_mask, 12);
TALLY_ABI_SIZE(kinstr_request_item, 32);
TALLY_ABI_AT(kinstr_request_item, mode.period_ns, 16);
TALLY_ABI_AT(kinstr_request_item, enable.mask, 16);
TALLY_ABI_SIZE(kinstr_metadata_item, 48);
TALLY_ABI_AT(kinstr_metadata_item, sample.seq, 24);
TALLY_ABI_AT(kinstr_metadata_item, sample.flags, 40);
TALLY_ABI_AT(kinstr_metadata_item, clock.cycles, 16);
TALLY_ABI_AT(kinstr_metadata_item, block.state, 12);
TALLY_ABI_AT(kinstr_metadata_item, block.values_offset, 16);
TALLY_ABI_SIZE(kinstr_command, 16);
TALLY_ABI_SIZE(kinstr_access, 16);

#define KINSTR_CMD 0x4010bf00ul
#define KINSTR_GET_SAMPLE 0x8010bf01ul
#define KINSTR_PUT_SAMPLE 0x4010bf10ul

/* ---- vinstr: the reader's file ---- */

struct vinstr_buffer {
	uint64_t timestamp_ns;
	uint32_t event, index;
};
struct vinstr_buffer_cycles {
	struct vinstr_buffer buffer;
	uint64_t top_cycles, core_cycles; /* elapsed since the last sample */
};
struct vinstr_features {
	uint32_t version, features;
};
TALLY_ABI_SIZE(vinstr_buffer, 16);
TALLY_ABI_SIZE(vinstr_buffer_cycles, 32);
TALLY_ABI_SIZE(vinstr_features, 8);
#define VINSTR_FEATURE_TOP_CYCLES UINT32_C(1)

#define VINSTR_GET_HWVER 0x8004be00ul
#define VINSTR_GET_BUFFER_SIZE 0x8004be01ul
#define VINSTR_DUMP 0x4004be10ul
#define VINSTR_CLEAR 0x4004be11ul
#define VINSTR_GET_BUFFER 0x8010be20ul
#define VINSTR_PUT_BUFFER 0x4010be21ul
/* The same two with cycles, where the features list them. */
#define VINSTR_GET_CYCLES 0x8020be20ul
#define VINSTR_PUT_CYCLES 0x4020be21ul
#define VINSTR_GET_FEATURES 0x8008befful

/* ---- panfrost ---- */

struct drm_version_query {
	int major, minor, patch;
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t description_len;
	char *description;
};
struct panfrost_get_param {
	uint32_t param, pad;
	uint64_t value;
};
struct panfrost_perfcnt_enable {
	uint32_t enable, counterset;
};
struct panfrost_perfcnt_dump {
	uint64_t buffer;
};
TALLY_ABI_SIZE(drm_version_query, sizeof(void *) == 8 ? 64 : 36);
TALLY_ABI_AT(drm_version_query, name_len, sizeof(void *) == 8 ? 16 : 12);
TALLY_ABI_SIZE(panfrost_get_param, 16);
TALLY_ABI_SIZE(panfrost_perfcnt_enable, 8);
TALLY_ABI_SIZE(panfrost_perfcnt_dump, 8);

#define DRM_VERSION (sizeof(void *) == 8 ? 0xc0406400ul : 0xc0246400ul)
#define PANFROST_GET_PARAM 0xc0106444ul
#define PANFROST_PERFCNT_ENABLE 0x40086446ul
#define PANFROST_PERFCNT_DUMP 0x40086447ul
enum {
	PANFROST_PARAM_PROD_ID = 0,
	PANFROST_PARAM_SHADER_PRESENT = 2,
	PANFROST_PARAM_L2_PRESENT = 4,
	PANFROST_PARAM_L2_FEATURES = 8,
	PANFROST_PARAM_CORE_FEATURES = 9,
	PANFROST_PARAM_MEM_FEATURES = 11,
	PANFROST_PARAM_THREAD_FEATURES = 13,
};

#endif
