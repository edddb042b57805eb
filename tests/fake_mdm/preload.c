/* SPDX-License-Identifier: MIT */
/* A MicroBlaze's debug module under programs, as /dev/uio0 and in /dev/mem: preloaded after the
 * shim.
 *
 * Its registers are a mapping that may not be touched (PROT_NONE): each access is a SIGSEGV, whose
 * handler reads the instruction, asks the model (model.h) and steps over it. Any other access
 * than a single move of 32 bits ends the program, because query/microblaze/mmio.h promises no
 * other.
 *
 *   FAKE_MDM=WORD,...   ne=5 nl=1 width=32 ports=1 mhz=100 key=0xebab latency=3 start=0 size=0x6000
 *                       way=parallel|serial|both dead held full deny busy noirq hw=ON:OFF (ms)
 *   FAKE_MDM_LOG=PATH   a line for each sample ("sample COUNTS... | STATUS..."), clear and start,
 *                       and invalid access ("wrong ...")
 */
#undef _FILE_OFFSET_BITS /* open() and open64() are both replaced, and are two functions */
#undef _FORTIFY_SOURCE

#include "tests/fake_mdm/model.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define OURS __attribute__((visibility("default")))
#define DBG_STATUS 0x10u
#define BASE UINT64_C(0x44a00000) /* in /dev/mem */

/* The next function of that name, looked up once. */
#define NEXT(name) \
	static __typeof__(&name) next_##name; \
	if (!next_##name) { \
		void *symbol_ = dlsym(RTLD_NEXT, #name); \
		memcpy(&next_##name, &symbol_, sizeof(symbol_)); \
	}

static struct {
	struct fake_mdm_config config;
	uint64_t size, hw_on_ms, hw_off_ms;
	bool on, deny, busy, noirq;
} set = {
	.config = { .ne = 5,
		    .nl = 1,
		    .width = 32,
		    .ports = 1,
		    .parallel = true,
		    .serial = true,
		    .key = 0xebab,
		    .cycles_per_us = 100 },
	.size = 0x6000,
};

static struct fake_mdm mdm;
static atomic_flag model_lock = ATOMIC_FLAG_INIT;
static unsigned char *page; /* the mapped page; NULL: none */
static size_t page_bytes;
static int device = -1, log_fd = -1;
static bool armed;
static uint64_t start_ns;
static unsigned told_wrong;

static uint64_t
now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the log; written in signal handlers, too ---- */

static void __attribute__((format(printf, 1, 2))) tell(const char *format, ...)
{
	char line[2048];
	va_list args;
	if (log_fd < 0)
		return;
	va_start(args, format);
	int n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n > 0)
		syscall(SYS_write, log_fd, line, (size_t)n);
}

static void
tell_sample(void)
{
	char line[2048];
	int at = snprintf(line, sizeof(line), "sample");
	uint32_t n = mdm.config.ne + mdm.config.nl;
	for (uint32_t i = 0; i < n; i++) {
		const struct fake_mdm_counter *c = &mdm.sampled[i];
		at += snprintf(line + at, sizeof(line) - (size_t)at, " %" PRIu64, c->n);
		if (i >= mdm.config.ne)
			at += snprintf(line + at, sizeof(line) - (size_t)at,
				       ":%" PRIu64 ":%" PRIu64, c->sum, c->sum_sq);
	}
	at += snprintf(line + at, sizeof(line) - (size_t)at, " |");
	for (uint32_t i = 0; i < n; i++)
		at += snprintf(line + at, sizeof(line) - (size_t)at, " %u",
			       mdm.sampled[i].status);
	tell("%s\n", line);
}

/* ---- the interrupt ---- */

/* The descriptor can be read from once a counter has overflowed. */
static void
set_timer(void)
{
	struct itimerspec at = { 0 };
	uint64_t least = UINT64_MAX;
	uint64_t end = mdm.config.width == 64 ? UINT64_MAX
					      : (UINT64_C(1) << mdm.config.width) - 1;
	for (uint32_t i = 0; i < mdm.config.ne; i++) {
		uint64_t rate = fake_mdm_count(mdm.counters[i].event, 1000);
		uint64_t left = end - mdm.counters[i].n;
		if (rate && mdm.config.cycles_per_us && left < UINT64_C(1) << 40 &&
		    left * 1000 / rate * 1000 / mdm.config.cycles_per_us < least)
			least = left * 1000 / rate * 1000 / mdm.config.cycles_per_us;
	}
	if (armed && mdm.interrupt)
		least = 0;
	if (armed && (mdm.running || mdm.interrupt) && least != UINT64_MAX) {
		at.it_value.tv_sec = (time_t)(least / 1000000000);
		at.it_value.tv_nsec = (long)(least % 1000000000) + 1;
	}
	timerfd_settime(device, 0, &at, NULL);
}

/* ---- one access ---- */

static void
note_write(unsigned clears, unsigned samples, bool ran)
{
	if (mdm.n_clears != clears)
		tell("clear\n");
	if (mdm.n_samples != samples)
		tell_sample();
	if (mdm.running != ran)
		tell(ran ? "stop\n" : "start\n");
}

/* Another component's trigger starts and stops the counting, this long after the mapping. */
static void
run_hardware(uint64_t now)
{
	static int done;
	uint64_t ms = (now - start_ns) / 1000000;
	if (!set.hw_on_ms && done == 0)
		done = 1;
	if (done == 0 && ms >= set.hw_on_ms) {
		done = 1;
		fake_mdm_trigger(&mdm, true, now);
		tell("hardware starts\n");
	}
	if (set.hw_off_ms && done == 1 && ms >= set.hw_off_ms) {
		done = 2;
		fake_mdm_trigger(&mdm, false, now);
		tell("hardware stops\n");
	}
}

static uint32_t
do_access(uint32_t offset, bool is_write, uint32_t value)
{
	uint64_t now = now_ns();
	while (atomic_flag_test_and_set(&model_lock))
		;
	run_hardware(now);
	if (is_write) {
		unsigned clears = mdm.n_clears, samples = mdm.n_samples;
		bool ran = mdm.running;
		fake_mdm_write(&mdm, offset, value, now);
		note_write(clears, samples, ran);
		if (!set.noirq)
			set_timer();
	} else {
		value = fake_mdm_read(&mdm, offset, now);
	}
	if (mdm.n_wrong != told_wrong)
		tell("wrong %s\n", mdm.wrong);
	told_wrong = mdm.n_wrong;
	atomic_flag_clear(&model_lock);
	return value;
}

/* ---- the instruction ---- */

static const int registers[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/* Size in bytes of ModRM, SIB and displacement. */
static unsigned
operand_bytes(const unsigned char *modrm)
{
	unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7, n = 1;
	unsigned base = rm;
	if (rm == 4) {
		base = modrm[1] & 7;
		n++;
	}
	if (mod == 1)
		return n + 1;
	return mod == 2 || (mod == 0 && base == 5) ? n + 4 : n;
}

static void
give_up(const unsigned char *at)
{
	char text[120];
	int n = snprintf(text, sizeof(text),
			 "fake_mdm: no move of 32 bits: %02x %02x %02x %02x %02x %02x\n", at[0],
			 at[1], at[2], at[3], at[4], at[5]);
	syscall(SYS_write, 2, text, (size_t)n);
	tell("wrong %s", text);
	abort();
}

static void
step_over(greg_t *regs, uint32_t offset)
{
	const unsigned char *at = (const unsigned char *)regs[REG_RIP], *p = at;
	unsigned rex = 0;
	if ((*p & 0xf0) == 0x40)
		rex = *p++;
	unsigned reg = (p[1] >> 3 & 7) | (rex & 4) << 1;
	unsigned bytes = (unsigned)(p - at) + 1 + operand_bytes(p + 1);
	uint32_t value;
	if (rex & 8 || offset % 4)
		give_up(at);
	if (p[0] == 0x8b) {
		regs[registers[reg]] = (greg_t)do_access(offset, false, 0);
	} else if (p[0] == 0x89) {
		do_access(offset, true, (uint32_t)regs[registers[reg]]);
	} else if (p[0] == 0xc7 && (p[1] >> 3 & 7) == 0) {
		memcpy(&value, at + bytes, sizeof(value));
		do_access(offset, true, value);
		bytes += 4;
	} else {
		give_up(at);
	}
	regs[REG_RIP] += bytes;
}

static struct sigaction before;

static void
on_fault(int signal, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr, begin = (uintptr_t)page;
	(void)signal;
	if (!begin || address < begin || address >= begin + page_bytes) {
		sigaction(SIGSEGV, &before, NULL); /* the fault happens again */
		return;
	}
	int saved_errno = errno;
	step_over(((ucontext_t *)context)->uc_mcontext.gregs, (uint32_t)(address - begin));
	errno = saved_errno;
}

/* ---- what the model is ---- */

static uint64_t
number_of(const char *word, const char *name, uint64_t otherwise)
{
	size_t len = strlen(name);
	if (strncmp(word, name, len) != 0 || word[len] != '=')
		return otherwise;
	return strtoull(word + len + 1, NULL, 0);
}

static void
take_word(const char *word)
{
	struct fake_mdm_config *c = &set.config;
	c->ne = (uint32_t)number_of(word, "ne", c->ne);
	c->nl = (uint32_t)number_of(word, "nl", c->nl);
	c->width = (uint32_t)number_of(word, "width", c->width);
	c->ports = (uint32_t)number_of(word, "ports", c->ports);
	c->cycles_per_us = (uint32_t)number_of(word, "mhz", c->cycles_per_us);
	c->key = (uint32_t)number_of(word, "key", c->key);
	c->latency = (uint32_t)number_of(word, "latency", c->latency);
	c->start = number_of(word, "start", c->start);
	set.size = number_of(word, "size", set.size);
	if (strncmp(word, "way=", 4) == 0) {
		c->parallel = strcmp(word + 4, "serial") != 0;
		c->serial = strcmp(word + 4, "parallel") != 0;
	}
	if (strncmp(word, "hw=", 3) == 0) {
		char *end;
		set.hw_on_ms = strtoull(word + 3, &end, 10);
		set.hw_off_ms = *end ? strtoull(end + 1, NULL, 10) : 0;
	}
	c->dead |= strcmp(word, "dead") == 0;
	c->held |= strcmp(word, "held") == 0;
	c->full |= strcmp(word, "full") == 0;
	set.deny |= strcmp(word, "deny") == 0;
	set.busy |= strcmp(word, "busy") == 0;
	set.noirq |= strcmp(word, "noirq") == 0;
}

static __attribute__((constructor)) void
begin(void)
{
	const char *text = getenv("FAKE_MDM"), *path = getenv("FAKE_MDM_LOG");
	char words[512];
	if (!text)
		return;
	set.on = true;
	snprintf(words, sizeof(words), "%s", text);
	for (char *save, *word = strtok_r(words, ",", &save); word;
	     word = strtok_r(NULL, ",", &save))
		take_word(word);
	if (path)
		log_fd = (int)syscall(SYS_openat, AT_FDCWD, path,
				      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	fake_mdm_init(&mdm, &set.config, now_ns());
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	sigaction(SIGSEGV, &action, &before);
}

/* ---- files ---- */

enum whose { NOT_OURS, IS_UIO, IS_MEMORY, IS_NAME, IS_SIZE, IS_OFFSET, IS_ADDRESS, IS_ABSENT };

static enum whose
whose(const char *path)
{
	static const char uio[] = "/sys/class/uio/";
	if (!set.on || !path)
		return NOT_OURS;
	if (strcmp(path, "/dev/mem") == 0)
		return IS_MEMORY;
	if (strncmp(path, "/dev/uio", 8) == 0)
		return strcmp(path, "/dev/uio0") == 0 ? IS_UIO : IS_ABSENT;
	if (strncmp(path, uio, sizeof(uio) - 1) != 0)
		return NOT_OURS;
	path += sizeof(uio) - 1;
	return strcmp(path, "uio0/name") == 0               ? IS_NAME
	       : strcmp(path, "uio0/maps/map0/size") == 0   ? IS_SIZE
	       : strcmp(path, "uio0/maps/map0/offset") == 0 ? IS_OFFSET
	       : strcmp(path, "uio0/maps/map0/addr") == 0   ? IS_ADDRESS
							    : IS_ABSENT;
}

static int
text_file(const char *format, uint64_t number)
{
	char text[40];
	int n = snprintf(text, sizeof(text), format, number);
	int fd = (int)syscall(SYS_memfd_create, "fake_text", 1 /* close on exec */);
	if (fd < 0 || syscall(SYS_write, fd, text, (size_t)n) < 0)
		return -1;
	syscall(SYS_lseek, fd, 0, SEEK_SET);
	return fd;
}

static int
open_ours(enum whose what, int flags)
{
	switch (what) {
	case IS_NAME:
		return text_file("mdm_0\n", 0);
	case IS_SIZE:
		return text_file("0x%016" PRIx64 "\n", set.size);
	case IS_OFFSET:
		return text_file("0x%" PRIx64 "\n", 0);
	case IS_ADDRESS:
		return text_file("0x%016" PRIx64 "\n", BASE);
	case IS_UIO:
	case IS_MEMORY:
		if (set.deny) {
			errno = EACCES;
			return -1;
		}
		if (!(flags & O_CLOEXEC) || (flags & O_ACCMODE) != O_RDWR)
			tell("wrong open with 0x%x\n", (unsigned)flags);
		/* A UIO device's read() waits for the interrupt. */
		if (what == IS_UIO && !(flags & O_NONBLOCK))
			tell("wrong open of a device that makes readers wait\n");
		device = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		return device;
	default:
		errno = ENOENT;
		return -1;
	}
}

#define OPEN(name) \
	OURS int name(const char *path, int flags, ...) \
	{ \
		va_list args; \
		enum whose what = whose(path); \
		NEXT(name) \
		va_start(args, flags); \
		mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0; \
		va_end(args); \
		return what ? open_ours(what, flags) : next_##name(path, flags, mode); \
	}
OPEN(open)
OPEN(open64)

#define MMAP(name, type) \
	OURS void *name(void *at, size_t bytes, int protection, int flags, int fd, type offset) \
	{ \
		NEXT(name) \
		if (fd < 0 || fd != device) \
			return next_##name(at, bytes, protection, flags, fd, offset); \
		if (!(flags & MAP_SHARED) || (offset != 0 && (uint64_t)offset != BASE)) \
			tell("wrong mapping at 0x%" PRIx64 "\n", (uint64_t)offset); \
		void *map = next_##name(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, \
					0); \
		page = map == MAP_FAILED ? NULL : map; \
		page_bytes = bytes; \
		start_ns = now_ns(); \
		tell("map %zu\n", bytes); \
		return map; \
	}
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

OURS int
munmap(void *at, size_t bytes)
{
	NEXT(munmap)
	if (at && at == page) {
		tell("unmap\n");
		page = NULL;
	}
	return next_munmap(at, bytes);
}

OURS int
flock(int fd, int operation)
{
	static int (*next)(int, int);
	if (fd >= 0 && fd == device) {
		errno = EWOULDBLOCK;
		return set.busy ? -1 : 0;
	}
	if (!next) {
		void *symbol = dlsym(RTLD_NEXT, "flock");
		memcpy(&next, &symbol, sizeof(symbol));
	}
	return next(fd, operation);
}

OURS int
close(int fd)
{
	NEXT(close)
	if (fd >= 0 && fd == device)
		device = -1;
	return next_close(fd);
}

OURS ssize_t
write(int fd, const void *data, size_t n)
{
	NEXT(write)
	if (fd < 0 || fd != device)
		return next_write(fd, data, n);
	if (set.noirq || n != 4) {
		errno = set.noirq ? ENOSYS : EINVAL;
		return -1;
	}
	while (atomic_flag_test_and_set(&model_lock))
		;
	armed = *(const uint32_t *)data == 1;
	set_timer();
	atomic_flag_clear(&model_lock);
	return (ssize_t)n;
}

OURS ssize_t
read(int fd, void *data, size_t n)
{
	static uint32_t count;
	uint64_t expirations;
	NEXT(read)
	if (fd < 0 || fd != device)
		return next_read(fd, data, n);
	if (next_read(fd, &expirations, sizeof(expirations)) < 0 || n != sizeof(count))
		return -1;
	armed = false;
	count++;
	memcpy(data, &count, sizeof(count));
	tell("interrupt\n");
	return (ssize_t)n;
}

/* ---- signals ---- */

/* passtally's threads block all signals, and a blocked fault ends the program. */
#define MASK(name) \
	OURS int name(int how, const sigset_t *restrict set_, sigset_t *restrict old) \
	{ \
		NEXT(name) \
		sigset_t less; \
		if (set.on && set_ && how != SIG_UNBLOCK) { \
			less = *set_; \
			sigdelset(&less, SIGSEGV); \
			set_ = &less; \
		} \
		return next_##name(how, set_, old); \
	}
MASK(pthread_sigmask)
MASK(sigprocmask)
