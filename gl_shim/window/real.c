/* SPDX-License-Identifier: MIT */
#include "gl_shim/window/real.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "layer/base/keep_loaded.h"

static bool disabled;

__attribute__((hot)) GL_UNCHECKED bool
gl_shim_disabled(void)
{
	return disabled;
}

void
gl_shim_disable(void)
{
	disabled = true;
}

/* ---- the symbols of one object ---- */

/* Weak, because it lives in the dynamic linker, which must not become a
 * library that we depend on. */
extern struct r_debug _r_debug __attribute__((weak));

struct symbols {
	const ElfW(Sym) * table;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
};

GL_UNCHECKED static bool
same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

GL_UNCHECKED bool
gl_real_begins(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return !*prefix;
}

GL_UNCHECKED static struct symbols
symbols_of(const struct link_map *map)
{
	struct symbols s = { 0 };
	if (!map->l_ld)
		return s;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		/* glibc makes these addresses absolute, except if the section is read-only. */
		ElfW(Addr) at = d->d_un.d_ptr < map->l_addr ? d->d_un.d_ptr + map->l_addr
							    : d->d_un.d_ptr;
		if (d->d_tag == DT_SYMTAB)
			s.table = (const void *)at;
		else if (d->d_tag == DT_STRTAB)
			s.strings = (const void *)at;
		else if (d->d_tag == DT_GNU_HASH)
			s.gnu_hash = (const void *)at;
		else if (d->d_tag == DT_HASH)
			s.hash = (const void *)at;
	}
	return s;
}

GL_UNCHECKED static void *
defined(const struct link_map *map, const struct symbols *s, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &s->table[index];
	bool is_function = (symbol->st_info & 0xf) == STT_FUNC; /* the same for 32 and 64 bits */
	if (!is_function || symbol->st_shndx == SHN_UNDEF || !symbol->st_value ||
	    !same(s->strings + symbol->st_name, name))
		return NULL;
	return (void *)(map->l_addr + symbol->st_value);
}

/* The DT_GNU_HASH table: header, Bloom filter (not needed here), buckets, chains. */
GL_UNCHECKED static void *
find_gnu(const struct link_map *map, const struct symbols *s, const char *name)
{
	uint32_t hash = 5381;
	for (const char *p = name; *p; p++)
		hash = hash * 33 + (unsigned char)*p;
	uint32_t n_buckets = s->gnu_hash[0], first = s->gnu_hash[1], n_bloom = s->gnu_hash[2];
	const ElfW(Addr) *bloom = (const void *)&s->gnu_hash[4];
	const uint32_t *buckets = (const void *)&bloom[n_bloom];
	const uint32_t *chain = &buckets[n_buckets];
	uint32_t i = n_buckets ? buckets[hash % n_buckets] : 0;
	for (; i >= first && i != 0; i++) {
		if ((chain[i - first] | 1) == (hash | 1)) {
			void *found = defined(map, s, i, name);
			if (found)
				return found;
		}
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

GL_UNCHECKED void *
gl_real_symbol(const struct link_map *map, const char *name)
{
	struct symbols s = symbols_of(map);
	if (!s.table || !s.strings)
		return NULL;
	if (s.gnu_hash)
		return find_gnu(map, &s, name);
	for (uint32_t i = 0; s.hash && i < s.hash[1]; i++) {
		void *found = defined(map, &s, i, name);
		if (found)
			return found;
	}
	return NULL;
}

GL_UNCHECKED const char *
gl_real_basename(const struct link_map *map)
{
	const char *base = map->l_name ? map->l_name : "";
	for (const char *p = base; *p; p++) {
		if (*p == '/')
			base = p + 1;
	}
	return base;
}

/* Our library's first and last byte, as the linker laid it out. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

GL_UNCHECKED bool
gl_real_is_own(const void *address)
{
	uintptr_t at = (uintptr_t)address;
	return at >= (uintptr_t)__ehdr_start && at < (uintptr_t)_end;
}

/* ---- libc's dlsym ---- */

static _Atomic(void *) real_dlsym, real_dlvsym;

/* Does not use dlsym(RTLD_NEXT, "dlsym"), because that name is ours, nor dl_iterate_phdr(),
 * because it takes a lock and ThreadSanitizer, which calls dlsym before all else, intercepts
 * it. The list is read without a lock: the libraries that the program started with are at its
 * head and are never removed. */
GL_UNCHECKED static void
find_loader(void)
{
	if (!&_r_debug)
		return;
	for (int pass = 0; pass < 2; pass++) {
		for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
			const char *base = gl_real_basename(map);
			/* libdl has dlsym before glibc 2.34. The second pass is for
			 * a libc of another name. */
			if (pass == 0 && !gl_real_begins(base, "libc.so") &&
			    !gl_real_begins(base, "libdl.so"))
				continue;
			void *found = gl_real_symbol(map, "dlsym");
			void *versioned = gl_real_symbol(map, "dlvsym");
			if (!found || !versioned || gl_real_is_own(found))
				continue;
			atomic_store_explicit(&real_dlvsym, versioned, memory_order_relaxed);
			atomic_store_explicit(&real_dlsym, found, memory_order_release);
			return;
		}
	}
}

GL_UNCHECKED struct gl_loader
gl_loader(void)
{
	void *found = atomic_load_explicit(&real_dlsym, memory_order_acquire);
	if (!found) {
		find_loader();
		found = atomic_load_explicit(&real_dlsym, memory_order_acquire);
	}
	void *versioned = atomic_load_explicit(&real_dlvsym, memory_order_relaxed);
	struct gl_loader loader = {
		.dlsym = (void *(*)(void *, const char *))(uintptr_t)found,
		.dlvsym = (void *(*)(void *, const char *, const char *))(uintptr_t)versioned,
	};
	return loader;
}

GL_UNCHECKED void *
gl_loader_find(void *handle, const char *name, const char *version)
{
	struct gl_loader loader = gl_loader();
	if (!loader.dlsym)
		return NULL;
	void *found = version ? loader.dlvsym(handle, name, version)
			      : loader.dlsym(handle, name);
	/* This must not be a tail call: RTLD_NEXT means "after the caller, known
	 * by the return address". */
	__asm__ volatile("" : "+r"(found));
	return found;
}

GL_UNCHECKED struct link_map *
gl_real_owner(const void *address)
{
	Dl_info info;
	struct link_map *map = NULL;
	if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP))
		return NULL;
	return map;
}

void *
gl_real_next(const char *name)
{
	void *found = gl_loader_find(RTLD_NEXT, name, NULL);
	return gl_real_is_own(found) ? NULL : found;
}

/* ---- libraries that only a plug-in sees ---- */

GL_UNCHECKED void *
gl_real_opened(const char *path)
{
	return dlopen(*path ? path : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

static void *
first_loaded(const char *const *sonames)
{
	for (; *sonames; sonames++) {
		void *handle = gl_real_opened(*sonames);
		if (handle)
			return handle;
	}
	return NULL;
}

void *
gl_real_library(const char *name)
{
	static const char *const egl[] = { "libEGL.so.1", NULL };
	static const char *const glx[] = { "libGL.so.1", "libGLX.so.0", NULL };
	static const char *const gl[] = { "libGL.so.1", "libOpenGL.so.0", "libGLESv2.so.2",
					  "libGLESv1_CM.so.1", NULL };
	if (gl_real_begins(name, "egl"))
		return first_loaded(egl);
	return first_loaded(gl_real_begins(name, "glX") ? glx : gl);
}

void *
gl_real_in_library(const char *name)
{
	void *library = gl_real_library(name);
	void *found = library ? gl_loader_find(library, name, NULL) : NULL;
	/* A caller that keeps the function pins its library; until then
	 * the caller's own use does. */
	if (library)
		dlclose(library);
	return gl_real_is_own(found) ? NULL : found;
}

/* ---- the platform's functions ---- */

static _Atomic(void *) learned[GL_N_HOOKS];
static _Atomic(void *) pinned[GL_N_HOOKS];

GL_UNCHECKED void
gl_real_learn(int row, void *real)
{
	atomic_store_explicit(&learned[row], real, memory_order_release);
}

GL_UNCHECKED void *
gl_real_learned(int row)
{
	return atomic_load_explicit(&learned[row], memory_order_acquire);
}

/* The GetProcAddress for the family of names (glX, egl) that `name` belongs to, found without
 * calling GetProcAddress. */
static void *
family_lookup(const char *name)
{
	static const enum gl_hook_row glx[] = { GL_HOOK_glXGetProcAddressARB,
						GL_HOOK_glXGetProcAddress };
	static const enum gl_hook_row egl[] = { GL_HOOK_eglGetProcAddress };
	bool is_egl = name[0] == 'e';
	size_t n = is_egl ? 1 : 2;
	for (size_t i = 0; i < n; i++) {
		enum gl_hook_row row = is_egl ? egl[i] : glx[i];
		void *found = gl_real_learned((int)row);
		if (!found)
			found = gl_real_next(gl_hooks[row].name);
		if (found)
			return found;
	}
	return NULL;
}

static void *
find_real(const char *name)
{
	void *found = gl_real_next(name);
	if (found)
		return found;
	/* Possibly the game loaded its library with RTLD_LOCAL. */
	void *lookup = family_lookup(name);
	struct link_map *map = lookup ? gl_real_owner(lookup) : NULL;
	if (map)
		found = gl_real_symbol(map, name);
	bool is_lookup = strstr(name, "GetProcAddress") != NULL;
	if (!found && lookup && !is_lookup)
		found = ((void *(*)(const char *))(uintptr_t)lookup)(name);
	if (!found)
		found = gl_real_in_library(name);
	return gl_real_is_own(found) ? NULL : found;
}

void *
gl_real_named(const char *name, _Atomic(void *) *cache)
{
	void *found = atomic_load_explicit(cache, memory_order_acquire);
	if (found)
		return found;
	found = find_real(name);
	if (found) {
		tally_keep_loaded(found);
		atomic_store_explicit(cache, found, memory_order_release);
	}
	return found;
}

__attribute__((hot)) void *
gl_real(enum gl_hook_row row)
{
	void *found = gl_real_learned((int)row);
	if (!found) {
		found = find_real(gl_hooks[row].name);
		if (!found)
			return NULL;
		gl_real_learn((int)row, found);
	}
	if (atomic_load_explicit(&pinned[row], memory_order_relaxed) != found) {
		tally_keep_loaded(found);
		atomic_store_explicit(&pinned[row], found, memory_order_relaxed);
	}
	return found;
}
