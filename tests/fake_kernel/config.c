/* SPDX-License-Identifier: MIT */
#include "tests/fake_kernel/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_config fake_config;
_Thread_local unsigned fake_hang_ms;

static const struct fake_gpu gpus[] = {
	{ "t60x", 0x6956, 64, 4 }, { "t62x", 0x0620, 64, 4 }, { "t720", 0x0720, 64, 4 },
	{ "t760", 0x0750, 64, 5 }, { "t860", 0x0860, 64, 5 }, { "g71", 0x6000, 64, 5 },
	{ "g72", 0x6001, 64, 5 },  { "g51", 0x7000, 64, 5 },  { "g76", 0x7001, 64, 5 },
	{ "g52", 0x7002, 64, 5 },  { "g31", 0x7003, 64, 5 },  { "g77", 0x9000, 64, 5 },
	{ "g57", 0x9001, 64, 5 },  { "g78", 0x9002, 64, 5 },  { "g68", 0x9004, 64, 5 },
	{ "g710", 0xa002, 64, 5 }, { "g610", 0xa007, 64, 5 }, { "g510", 0xa003, 64, 5 },
	{ "g715", 0xb002, 128, 5 }, { "g615", 0xb003, 128, 5 }, { "g720", 0xc000, 128, 5 },
	{ "g725", 0xd000, 128, 5 }, { "g1-ultra", 0xe000, 128, 5 }, { "g1-pro", 0xe003, 128, 5 },
	{ "unknown", 0xb00d, 128, 5 },
};

static bool
set_gpu(const char *name)
{
	for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		if (strcmp(gpus[i].name, name) == 0) {
			fake_config.gpu = gpus[i];
			return true;
		}
	}
	return false;
}

static const struct {
	const char *name;
	int error;
} errors[] = {
#define ERROR(name) { #name, name }
	ERROR(EPERM),  ERROR(ENOENT),    ERROR(EIO),    ERROR(EAGAIN), ERROR(ENOMEM),
	ERROR(EACCES), ERROR(EFAULT),    ERROR(EBUSY),  ERROR(ENODEV), ERROR(EINVAL),
	ERROR(ENFILE), ERROR(EMFILE),    ERROR(ENOTTY), ERROR(ENOSPC), ERROR(ENOSYS),
	ERROR(EINTR),  ERROR(ETIMEDOUT), ERROR(ENXIO),
};

/* "3" one, "3-5" these, "3-" from there on, "" always */
static void
read_range(const char *text, uint32_t *from, uint32_t *until)
{
	char *end = NULL;
	*from = text ? (uint32_t)strtoul(text, &end, 10) : 0;
	*until = *from;
	if (end && *end == '-')
		*until = end[1] ? (uint32_t)strtoul(end + 1, NULL, 10) : UINT32_MAX;
}

/* CALL:ERRNO[:RANGE] */
static bool
add_fault(char *text)
{
	struct fake_fault *fault = &fake_config.faults[fake_config.n_faults];
	char *rest = NULL;
	const char *call = strtok_r(text, ":", &rest);
	const char *name = strtok_r(NULL, ":", &rest);
	if (!call || !name || fake_config.n_faults == FAKE_MAX_RULES)
		return false;
	snprintf(fault->call, sizeof(fault->call), "%s", call);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (strcmp(errors[i].name, name) == 0)
			fault->error = errors[i].error;
	}
	if (strncmp(name, "HANG", 4) == 0)
		fault->hang_ms = (unsigned)atoi(name + 4);
	read_range(strtok_r(NULL, ":", &rest), &fault->from, &fault->until);
	fake_config.n_faults++;
	return fault->error || fault->hang_ms;
}

/* WORD[:BLOCK[INDEX]][@RANGE], BLOCK one of fe tiler l2 core */
static bool
add_rule(char *text)
{
	static const char *const blocks[] = { "fe", "tiler", "l2", "core" };
	struct fake_rule *rule = &fake_config.rules[fake_config.n_rules];
	char *range = strchr(text, '@');
	if (fake_config.n_rules == FAKE_MAX_RULES)
		return false;
	if (range)
		*range++ = '\0';
	read_range(range, &rule->at, &rule->until);
	char *block = strchr(text, ':');
	if (block)
		*block++ = '\0';
	rule->block = rule->index = -1;
	for (int i = 0; block && i < FAKE_BLOCKS; i++) {
		size_t n = strlen(blocks[i]);
		if (strncmp(block, blocks[i], n) != 0)
			continue;
		rule->block = i;
		rule->index = block[n] ? atoi(block + n) : -1;
	}
	if (block && rule->block < 0)
		return false;
	snprintf(rule->word, sizeof(rule->word), "%s", text);
	fake_config.n_rules++;
	return true;
}

static bool
set_kind(const char *word)
{
	static const struct {
		const char *word;
		enum fake_kind kind;
		bool csf;
		const char *gpu;
		uint32_t major, minor;
	} kinds[] = {
		{ "kbase-csf", FAKE_KBASE, true, "g715", 1, 24 },
		{ "kbase-jm", FAKE_KBASE, false, "g78", 11, 41 },
		{ "kbase-old", FAKE_KBASE_OLD, false, "g72", 10, 6 },
		{ "panfrost", FAKE_PANFROST, false, "g52", 1, 2 },
		{ "panthor", FAKE_PANTHOR, true, "g610", 1, 0 },
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].word, word) != 0)
			continue;
		fake_config.kind = kinds[i].kind;
		fake_config.csf = kinds[i].csf;
		fake_config.major = kinds[i].major;
		fake_config.minor = kinds[i].minor;
		return set_gpu(kinds[i].gpu);
	}
	return false;
}

static const struct {
	const char *key;
	size_t offset;
	bool flag;
} keys[] = {
#define NUMBER(name) { #name, offsetof(struct fake_config, name), false }
#define FLAG(name) { #name, offsetof(struct fake_config, name), true }
	NUMBER(l2),         NUMBER(groups),     NUMBER(node),     NUMBER(nomem),
	NUMBER(set),        NUMBER(domains),    NUMBER(features), NUMBER(unstable),
	NUMBER(enum_extra), NUMBER(meta_extra), FLAG(unknown),    FLAG(phys),
	FLAG(all_blocks),   FLAG(junk),         FLAG(decoy),      FLAG(busy),
	FLAG(longid),       FLAG(regular),      FLAG(noscope),
};

static bool
set_number(const char *key, const char *value)
{
	uint32_t number = value[0] ? (uint32_t)strtoul(value, NULL, 0) : 1;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char *at = (char *)&fake_config + keys[i].offset;
		if (strcmp(keys[i].key, key) != 0)
			continue;
		if (keys[i].flag)
			*(bool *)at = number != 0;
		else
			memcpy(at, &number, sizeof(number));
		return true;
	}
	return false;
}

static bool
set_key(const char *key, char *value)
{
	if (strcmp(key, "gpu") == 0)
		return set_gpu(value);
	if (strcmp(key, "cores") == 0)
		return (fake_config.cores = strtoull(value, NULL, 0)) != 0 &&
		       fake_config.cores >> FAKE_INSTANCES == 0;
	if (strcmp(key, "iface") == 0)
		return sscanf(value, "%u.%u", &fake_config.major, &fake_config.minor) == 2;
	if (strcmp(key, "hwver") == 0)
		return (fake_config.gpu.hwver = (uint32_t)atoi(value)) != 0;
	if (strcmp(key, "fail") == 0)
		return add_fault(value);
	if (strcmp(key, "at") == 0)
		return add_rule(value);
	if (strcmp(key, "props") == 0)
		return snprintf(fake_config.props, sizeof(fake_config.props), "%s", value) > 0;
	if (strcmp(key, "lists") == 0)
		return snprintf(fake_config.lists, sizeof(fake_config.lists), "%s", value) > 0;
	if (strcmp(key, "clock") == 0)
		return (fake_config.mono = strcmp(value, "mono") == 0) ||
		       strcmp(value, "off") == 0;
	return set_number(key, value);
}

bool
fake_configure(const char *text)
{
	char words[1024];
	char *rest = NULL;
	bool fine = true;

	memset(&fake_config, 0, sizeof(fake_config));
	fake_config.cores = 0x5;
	fake_config.l2 = 2;
	fake_config.groups = 1;
	fake_config.domains = 2;
	fake_config.features = 3;
	fake_config.unstable = 1;
	snprintf(words, sizeof(words), "%s", text);
	for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		static char none[1];
		char *value = strchr(word, '=');
		bool known = false;
		if (value)
			*value++ = '\0';
		known = fake_config.kind == FAKE_NOTHING ? set_kind(word)
							 : set_key(word, value ? value : none);
		if (!known)
			fprintf(stderr, "fake_kernel: what is '%s'?\n", word);
		fine = fine && known;
	}
	return fine;
}

const struct fake_rule *
fake_rule(const char *word, int block, int index, uint32_t sample)
{
	for (uint32_t i = 0; i < fake_config.n_rules; i++) {
		const struct fake_rule *rule = &fake_config.rules[i];
		bool when = rule->at == 0 || (sample >= rule->at && sample <= rule->until);
		bool where = block < 0 || ((rule->block < 0 || rule->block == block) &&
					   (rule->index < 0 || rule->index == index));
		if (when && where && strcmp(rule->word, word) == 0)
			return rule;
	}
	return NULL;
}

int
fake_fault(const char *call)
{
	static struct {
		const char *call;
		uint32_t n;
	} counts[32];
	uint32_t n = 0;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (counts[i].call && strcmp(counts[i].call, call) != 0)
			continue;
		counts[i].call = call;
		n = ++counts[i].n;
		break;
	}
	for (uint32_t i = 0; i < fake_config.n_faults; i++) {
		const struct fake_fault *fault = &fake_config.faults[i];
		bool when = fault->from == 0 || (n >= fault->from && n <= fault->until);
		if (when && strcmp(fault->call, call) == 0 && fault->hang_ms) {
			fake_trace("%s %u hangs", call, n);
			fake_hang_ms = fault->hang_ms;
		} else if (when && strcmp(fault->call, call) == 0) {
			fake_trace("%s %u fails by %s", call, n, strerror(fault->error));
			return fault->error;
		}
	}
	fake_trace("%s %u", call, n);
	return 0;
}

bool
fake_gone(uint32_t sample)
{
	return fake_rule("remove", -1, -1, sample) != NULL;
}
