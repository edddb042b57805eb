/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1 << 16, BUFFER = 1 << 20, MAX_DEPTH = 8 };

static pthread_mutex_t mutex;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int file = -1;
static pid_t owner;
static char *buffer;
static size_t n_buffer;
static char line[LINE];
static size_t n_line;

static void
make_mutex(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&mutex, &attributes);
}

void
fake_lock(void)
{
	if (fake_config.bench)
		return;
	pthread_once(&once, make_mutex);
	pthread_mutex_lock(&mutex);
}

void
fake_unlock(void)
{
	if (!fake_config.bench)
		pthread_mutex_unlock(&mutex);
}

void
fake_open_log(const char *path)
{
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	owner = getpid();
	buffer = malloc(BUFFER);
	if (!buffer)
		file = -1;
}

void
fake_flush(void)
{
	if (file < 0 || getpid() != owner)
		return;
	size_t at = 0;
	while (at < n_buffer) {
		ssize_t n = write(file, buffer + at, n_buffer - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	n_buffer = 0;
}

__attribute__((destructor)) static void
flush_at_exit(void)
{
	fake_flush();
}

__attribute__((format(printf, 1, 2))) static void
put(const char *format, ...)
{
	if (file < 0)
		return;
	va_list args;
	va_start(args, format);
	int n = vsnprintf(line + n_line, LINE - n_line, format, args);
	va_end(args);
	if (n > 0)
		n_line += (size_t)n < LINE - n_line ? (size_t)n : LINE - n_line - 1;
}

static void
finish_line(void)
{
	if (file < 0)
		return;
	if (n_buffer + n_line + 1 > BUFFER)
		fake_flush();
	memcpy(buffer + n_buffer, line, n_line);
	n_buffer += n_line;
	buffer[n_buffer++] = '\n';
	n_line = 0;
}

void
fake_line_begin(const char *name)
{
	fake_lock();
	put("%s", name);
}

void
fake_line_end(void)
{
	finish_line();
	fake_unlock();
}

void
fake_put_word(const char *text)
{
	put(" %s", text);
}

static void
put_string(const char *text)
{
	put("\"");
	for (const char *c = text ? text : ""; *c; c++)
		put(*c <= ' ' || *c == '"' ? "\\x%02x" : "%c", (unsigned char)*c);
	put("\"");
}

void
fake_put_string(const char *text)
{
	put(" ");
	put_string(text);
}

void
fake_put_int(int64_t value)
{
	put(" %" PRId64, value);
}

void
fake_put_float(double value)
{
	put(" %g", value);
}

static void
put_handle(uint32_t type, uint64_t handle)
{
	const char *name = fake_handle_names[type];
	if (!handle)
		put("0");
	else if (type == FAKE_VkSurfaceKHR || type == FAKE_VkDevice || type == FAKE_VkInstance ||
		 type == FAKE_VkPhysicalDevice || type == FAKE_VkDebugUtilsMessengerEXT)
		put("%s", name); /* not an object of this driver */
	else
		put("%s#%" PRIu32 "%s", name, FAKE_OBJECT(handle)->number,
		    FAKE_OBJECT(handle)->dead ? "!dead" : "");
}

void
fake_put_handle(uint32_t type, uint64_t handle)
{
	if (file < 0)
		return;
	put(" ");
	put_handle(type, handle);
}

static uint64_t
read_int(const void *at, size_t size)
{
	uint64_t value = 0;
	memcpy(&value, at, size < 8 ? size : 8);
	return value;
}

static void put_struct(uint32_t number, const void *data, int depth);

static void
put_raw(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put("%02x", bytes[i]);
}

static void
put_element(enum fake_kind kind, uint32_t type, size_t size, const void *at, int depth)
{
	uint64_t handle = 0;
	switch (kind) {
	case FAKE_INT:
		put("%" PRIu64, read_int(at, size));
		break;
	case FAKE_FLOAT:
		put("%g", size == 8 ? *(const double *)at : (double)*(const float *)at);
		break;
	case FAKE_HANDLE:
		memcpy(&handle, at, size);
		put_handle(type, handle);
		break;
	case FAKE_STRUCT:
		put_struct(type, at, depth);
		break;
	case FAKE_RAW:
		put_raw(at, size);
		break;
	case FAKE_STRING:
		put_string(*(const char *const *)at);
		break;
	case FAKE_NEXT:
		break;
	}
}

static void
put_elements(enum fake_kind kind, uint32_t type, size_t size, const void *data, uint64_t n,
	     int depth)
{
	put("[");
	for (uint64_t i = 0; data && i < n; i++) {
		if (i)
			put(",");
		put_element(kind, type, size, (const char *)data + i * size, depth);
	}
	put("]");
}

static void
put_chain(const void *next, int depth)
{
	for (const VkBaseInStructure *s = next; s; s = s->pNext) {
		uint32_t i = 0;
		while (i < fake_n_structs &&
		       (!fake_structs[i].stype || fake_structs[i].stype != s->sType))
			i++;
		if (i == fake_n_structs) {
			put("+unknown(%d)", (int)s->sType);
			continue;
		}
		put("+%s", fake_structs[i].name);
		put_struct(i, s, depth);
	}
}

static void
put_member(const struct fake_member *m, const char *base, int depth)
{
	const char *at = base + m->offset;
	if (m->kind == FAKE_NEXT) {
		put_chain(*(const void *const *)at, depth);
		return;
	}
	put("%s=", m->name);
	if (m->kind == FAKE_STRING) {
		if (!m->stars)
			put_string(at);
		else if (m->stars == 1)
			put_string(*(const char *const *)at);
		else
			put_elements(FAKE_STRING, 0, sizeof(char *), *(const void *const *)at,
				     read_int(base + m->count_offset, m->count_size), depth);
		return;
	}
	if (m->stars) {
		uint64_t n = m->count_size ? read_int(base + m->count_offset, m->count_size) : 1;
		put_elements(m->kind, m->type, m->size, *(const void *const *)at, n, depth);
		return;
	}
	if (m->n == 1)
		put_element(m->kind, m->type, m->size, at, depth);
	else
		put_elements(m->kind, m->type, m->size, at, m->n, depth);
}

static void
put_struct(uint32_t number, const void *data, int depth)
{
	const struct fake_struct *s = &fake_structs[number];
	put("{");
	for (size_t i = 0; i < s->n_members && depth < MAX_DEPTH; i++) {
		if (i)
			put(";");
		put_member(&s->members[i], data, depth + 1);
	}
	put("}");
}

void
fake_put_array(enum fake_kind kind, uint32_t type, size_t size, const void *data, uint64_t n)
{
	if (file < 0)
		return;
	put(" ");
	put_elements(kind, type, size, data, n, 0);
}

void
fake_rule(const char *id, const char *format, ...)
{
	if (fake_config.bench || file < 0)
		return;
	/* In the middle of another line: the text so far is kept for later. */
	static char kept[LINE];
	size_t n_kept = n_line;
	memcpy(kept, line, n_line);
	n_line = 0;
	char text[256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put("RULE %s %s", id, text);
	finish_line();
	memcpy(line, kept, n_kept);
	n_line = n_kept;
}
