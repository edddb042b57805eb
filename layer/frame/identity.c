/* SPDX-License-Identifier: MIT */
#include "layer/frame/identity.h"

#include "layer/base/small_file.h"
#include "layer/config/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the machine ---- */

void
tally_uuid_print(const unsigned char uuid[16], char out[37])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char any = 0;
	char *p = out;
	for (unsigned i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		*p++ = digits[uuid[i] >> 4];
		*p++ = digits[uuid[i] & 15];
		any |= uuid[i];
	}
	*(any ? p : out) = '\0';
}

/* A random UUID, version 4; "" where the kernel has no random numbers yet. */
static void
make_run(char out[37])
{
	unsigned char b[16];
	out[0] = '\0';
	if (getrandom(b, sizeof(b), GRND_NONBLOCK) != (ssize_t)sizeof(b))
		return;
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	tally_uuid_print(b, out);
}

/* PRETTY_NAME of os-release(5). In a container it is the host's, where that is shown. */
static void
read_os(char *out, size_t size)
{
	static const char *const paths[] = { "/run/host/os-release", "/etc/os-release",
					     "/usr/lib/os-release" };
	static const char key[] = "PRETTY_NAME=";
	char text[2048];
	out[0] = '\0';
	for (size_t i = 0; i < COUNT(paths) && !out[0]; i++) {
		tally_small_file_read(paths[i], text, sizeof(text));
		const char *line = text;
		while (line && strncmp(line, key, strlen(key)) != 0) {
			line = strchr(line, '\n');
			line = line ? line + 1 : NULL;
		}
		if (!line)
			continue;
		line += strlen(key);
		char quote = *line == '"' || *line == '\'' ? *line++ : '\n';
		const char end[] = { quote, '\n', '\0' };
		snprintf(out, size, "%.*s", (int)strcspn(line, end), line);
	}
}

static void
read_kernel(char *kernel, size_t size, char *host, size_t host_size)
{
	struct utsname name;
	kernel[0] = host[0] = '\0';
	if (uname(&name) != 0)
		return;
	snprintf(kernel, size, "%s %s %s", name.sysname, name.release, name.machine);
	snprintf(host, host_size, "%s", name.nodename);
}

/* Not from /proc/cpuinfo: opening it interrupts every processor on some kernels. */
static void
read_cpu(char *out, size_t size)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned words[12];
	char name[sizeof(words) + 1] = "";
	/* __get_cpuid() would ask for the maximum each time; each traps in a virtual machine. */
	if ((unsigned)__get_cpuid_max(0x80000000u, NULL) >= 0x80000004u) {
		for (unsigned i = 0; i < 3; i++)
			__cpuid(0x80000002u + i, words[4 * i], words[4 * i + 1],
				words[4 * i + 2], words[4 * i + 3]);
		memcpy(name, words, sizeof(words));
	}
	name[sizeof(words)] = '\0';
#else
	char name[128];
	tally_small_file_read("/sys/firmware/devicetree/base/model", name, sizeof(name));
#endif
	const char *begin = name + strspn(name, " ");
	size_t len = strlen(begin);
	while (len && (begin[len - 1] == ' ' || begin[len - 1] == '\n'))
		len--;
	snprintf(out, size, "%.*s", (int)len, begin);
}

static void
read_sizes(struct tally_header_record *header)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	header->cpus = cpus > 0 ? (uint32_t)cpus : 0;
	header->memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page
						     : 0;
}

/* ---- homes ---- */

static bool
is_separator(char c)
{
	return c == '/' || c == '\\';
}

/* A character that is not part of such a path: the name ends before it. */
static bool
ends_name(char c)
{
	return !c || is_separator(c) || strchr(" \t\"'`,;:+()<>|&", c);
}

/* The length of `words` at the start of `text`, where '/' also matches a backslash and letters
 * match without regard to case; 0 when they are not there. */
static size_t
match_words(const char *text, const char *words)
{
	size_t i = 0;
	for (; words[i]; i++) {
		char c = tally_lower(text[i]);
		if (words[i] == '/' ? !is_separator(c) : c != words[i])
			return 0;
	}
	return i;
}

/* The length of this user's home at the start of `text`, or 0. */
static size_t
own_home_length(const char *text, const char *own)
{
	size_t len = own ? strlen(own) : 0;
	while (len > 1 && own[len - 1] == '/')
		len--;
	return len > 1 && strncmp(text, own, len) == 0 && ends_name(text[len]) ? len : 0;
}

/* The length of anyone's home folder at the start of `text`, or 0. */
static size_t
home_length(const char *text)
{
	static const char *const parents[] = { "/home/", "/var/home/", "/users/" };
	size_t len = match_words(text, "/root");
	if (len && ends_name(text[len]))
		return len;
	for (size_t i = 0; i < COUNT(parents); i++) {
		len = match_words(text, parents[i]);
		size_t name = len;
		while (len && !ends_name(text[name]))
			name++;
		if (name > len)
			return name;
	}
	return 0;
}

/* Whether a path continues after this character. /mnt/home/x is not a home. */
static bool
goes_on(char before)
{
	return (before >= 'a' && before <= 'z') || (before >= 'A' && before <= 'Z') ||
	       (before >= '0' && before <= '9') || before == '_' || before == '.' ||
	       before == '-' || before == '~';
}

void
tally_identity_hide_homes(char *text)
{
	const char *own = tally_config_home();
	char *out = text;
	for (const char *in = text; *in;) {
		size_t len = own_home_length(in, own);
		if (!len && is_separator(*in) && !(in > text && goes_on(in[-1])))
			len = home_length(in);
		*out++ = len ? '~' : *in;
		in += len ? len : 1;
	}
	*out = '\0';
}

/* ---- all of it ---- */

static void
list_tags(struct tally_identity *id, const struct tally_config *config,
	  struct tally_header_record *header)
{
	for (uint32_t i = 0; i < config->n_tags; i++) {
		const char *value = config->tags[i].value;
		if (config->no_argv) {
			snprintf(id->tag_values[i], sizeof(id->tag_values[i]), "%s",
				 value);
			tally_identity_hide_homes(id->tag_values[i]);
			value = id->tag_values[i];
		}
		id->tags[i] = (struct tally_key_text){ config->tags[i].key, value };
	}
	header->tags = id->tags;
	header->n_tags = config->n_tags;
}

void
tally_identity_read(struct tally_identity *id, const struct tally_config *config,
		    struct tally_header_record *header)
{
	int saved_errno = errno;
	make_run(id->run);
	read_os(id->os, sizeof(id->os));
	read_kernel(id->kernel, sizeof(id->kernel), id->host, sizeof(id->host));
	read_cpu(id->cpu, sizeof(id->cpu));
	read_sizes(header);
	list_tags(id, config, header);
	header->run = id->run[0] ? id->run : NULL;
	header->os = id->os[0] ? id->os : NULL;
	header->kernel = id->kernel[0] ? id->kernel : NULL;
	header->cpu = id->cpu[0] ? id->cpu : NULL;
	header->host = config->host && id->host[0] ? id->host : NULL;
	header->session = tally_config_session();
	errno = saved_errno;
}
