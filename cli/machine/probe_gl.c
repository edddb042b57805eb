/* SPDX-License-Identifier: MIT */
#include "cli/machine/probe.h"

#include "query/gl/api.h"
#include "query/gl/tiles.h"
#include "query/source/harvest.h"
#include "query/sources.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
	EGLDisplay display;
	const char *words; /* description for people */
};

struct context {
	EGLDisplay display;
	EGLContext context;
	EGLSurface surface; /* EGL_NO_SURFACE if none is needed */
};

/* The displays where a context could be made, in order of preference: the one that a game
 * would get comes first. */
static unsigned
list_places(struct place places[3])
{
	unsigned n = 0;
	if (getenv("WAYLAND_DISPLAY") || getenv("DISPLAY"))
		places[n++] = (struct place){ eglGetDisplay(EGL_DEFAULT_DISPLAY),
					      "the display" };
	bool platforms = epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_base");
	EGLDeviceEXT device;
	EGLint n_devices = 0;
	if (platforms && epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
	    epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") &&
	    eglQueryDevicesEXT(1, &device, &n_devices) && n_devices > 0)
		places[n++] = (struct place){
			eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, NULL),
			"the first EGL device, without a display",
		};
	if (platforms &&
	    epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
		places[n++] = (struct place){
			eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA,
						 EGL_DEFAULT_DISPLAY, NULL),
			"no display at all",
		};
	return n;
}

static bool
choose_config(EGLDisplay display, bool es, bool surfaceless, EGLConfig *config)
{
	const EGLint wish[] = {
		EGL_RENDERABLE_TYPE,
		es ? EGL_OPENGL_ES2_BIT : EGL_OPENGL_BIT,
		EGL_SURFACE_TYPE,
		surfaceless ? 0 : EGL_PBUFFER_BIT,
		EGL_NONE,
	};
	EGLint n = 0;
	return eglChooseConfig(display, wish, config, 1, &n) && n > 0;
}

static EGLContext
create_context(EGLDisplay display, EGLConfig config, bool es)
{
	/* If no version is requested, a driver offers its highest version, and everything it
	 * offers is wanted here. */
	static const EGLint any[] = { EGL_NONE };
	static const EGLint es3[] = { EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE };
	static const EGLint es2[] = { EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE };
	EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, es ? es3 : any);
	if (context == EGL_NO_CONTEXT && es)
		context = eglCreateContext(display, config, EGL_NO_CONTEXT, es2);
	return context;
}

static bool
open_context(struct context *c, EGLDisplay display, bool es)
{
	*c = (struct context){ .display = display };
	EGLint major, minor;
	if (display == EGL_NO_DISPLAY || !eglInitialize(display, &major, &minor))
		return false;
	bool surfaceless = epoxy_has_egl_extension(display, "EGL_KHR_surfaceless_context");
	EGLConfig config;
	if (!eglBindAPI(es ? EGL_OPENGL_ES_API : EGL_OPENGL_API) ||
	    !choose_config(display, es, surfaceless, &config))
		goto terminate;
	c->context = create_context(display, config, es);
	if (c->context == EGL_NO_CONTEXT)
		goto terminate;
	static const EGLint small[] = { EGL_WIDTH, 16, EGL_HEIGHT, 16, EGL_NONE };
	c->surface = surfaceless ? EGL_NO_SURFACE
				 : eglCreatePbufferSurface(display, config, small);
	if (eglMakeCurrent(display, c->surface, c->surface, c->context))
		return true;
	if (c->surface != EGL_NO_SURFACE)
		eglDestroySurface(display, c->surface);
	eglDestroyContext(display, c->context);
terminate:
	eglTerminate(display);
	return false;
}

static void
close_context(struct context *c)
{
	eglMakeCurrent(c->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	if (c->surface != EGL_NO_SURFACE)
		eglDestroySurface(c->display, c->surface);
	eglDestroyContext(c->display, c->context);
	eglTerminate(c->display);
}

static bool
has_extension(const struct tally_gl_api *api, const char *name)
{
	(void)api;
	return epoxy_has_gl_extension(name);
}

static bool
read_disjoint(struct tally_gl_api *api)
{
	int disjoint = 0;
	api->GetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint);
	api->disjoint_seen |= disjoint != 0;
	return disjoint != 0;
}

/* Gets the driver's function itself: libepoxy's own pointer would abort if there is none. */
static void
(*find_function(void *data, const char *name))(void)
{
	(void)data;
	return eglGetProcAddress(name);
}

static void
fill_api(struct tally_gl_api *api, bool es)
{
	*api = (struct tally_gl_api){
		.es = es,
		.version = epoxy_gl_version(),
		.has_extension = has_extension,
		.read_disjoint = read_disjoint,
	};
	tally_gl_api_fill(api, find_function, NULL);
}

/* ---- facts for people ---- */

/* A row is about the first extension that the driver offers; if it offers none, about the first
 * one. */
static const char *const perf_extensions[][2] = {
	{ "GL_INTEL_performance_query", "GL_INTEL_performance_queries" },
	{ "GL_AMD_performance_monitor" },
};
#define N_PERF_EXTENSIONS (sizeof(perf_extensions) / sizeof(perf_extensions[0]))
#define MOST_FACTS 8

struct facts {
	const char *rows[MOST_FACTS + 1]; /* the last entry stays NULL */
	unsigned n;
	char seen[80], extensions[N_PERF_EXTENSIONS][40];
};

static void
gather_facts(const struct tally_gl_api *api, const char *display, bool queries,
	     struct facts *facts)
{
	*facts = (struct facts){ .n = 0 };
	snprintf(facts->seen, sizeof(facts->seen), "seen on %s", display);
	facts->rows[facts->n++] = facts->seen;
	for (size_t i = 0; i < N_PERF_EXTENSIONS; i++) {
		char *row = facts->extensions[i];
		const char *name = perf_extensions[i][0], *old = perf_extensions[i][1];
		bool has = has_extension(api, name);
		if (!has && old && has_extension(api, old)) {
			name = old;
			has = true;
		}
		snprintf(row, sizeof(facts->extensions[i]), "%s: %s", name, has ? "yes" : "no");
		facts->rows[facts->n++] = row;
	}
	const char *version = (const char *)glGetString(GL_VERSION);
	if (!queries || !version || !strstr(version, "Mesa"))
		return;
	facts->rows[facts->n++] = "performance queries: one runs at a time, and one set "
				  "of counters at a time is unread";
	facts->rows[facts->n++] =
		"performance queries: the GPU's counters serve one program at a "
		"time; intel_gpu_top -m, GPUVis or Perfetto keep them from others";
	facts->rows[facts->n++] =
		"performance queries: a refusal is known frames later only, for "
		"Mesa's threaded context has the calls made by a thread of its "
		"own; passes until then are flagged lost";
}

/* ---- sources of the context ---- */

/* The sources that a run may use. */
static struct tally_harvest *
open_sources(struct tally_gl_api *api, const struct tally_probe_wish *wish)
{
	struct tally_source *sources[TALLY_MAX_GL_SOURCES];
	uint32_t n = 0;
	for (uint32_t i = 0; i < tally_n_gl_sources; i++) {
		const struct tally_gl_source_row *row = &tally_gl_sources[i];
		struct tally_source *src = row->row.in_tests ? NULL : row->create(api);
		if (!src)
			continue;
		src->wanted = wish->counters;
		src->pinned = wish->set;
		sources[n++] = src;
	}
	return tally_harvest_create(sources, n, 8, 8);
}

/* Uses performance queries, which Mesa offers on Intel's GPUs. */
static bool
counts_hardware(const struct tally_source_info *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < tally_n_gl_sources; k++)
			if (rows[i].on && tally_gl_sources[k].yields == TALLY_YIELDS_COUNTERS &&
			    strcmp(rows[i].name, tally_gl_sources[k].row.name) == 0)
				return true;
	}
	return false;
}

static bool
describe(enum tally_api which, const struct tally_probe_wish *wish,
	 const char *display, tally_probe_report *report, void *data)
{
	struct tally_gl_api api;
	char driver[256], serialized[512];
	const char *vendor = (const char *)glGetString(GL_VENDOR);
	const char *renderer = (const char *)glGetString(GL_RENDERER);
	fill_api(&api, which == TALLY_API_OPENGL_ES);
	snprintf(driver, sizeof(driver), "%s %s", vendor ? vendor : "",
		 renderer ? renderer : "");
	api.driver = driver;
	struct tally_harvest *harvest = open_sources(&api, wish);
	if (!harvest)
		return false;
	struct tally_device_record device = {
		.api = which,
		.name = renderer,
		.driver = vendor,
		.driver_version = (const char *)glGetString(GL_VERSION),
		.beneath = -1,
	};
	device.counters = tally_harvest_counters(harvest, &device.n_counters);
	/* API calls are always counted, as the device line of a capture says too. */
	struct tally_source_info rows[TALLY_MAX_SOURCES + 1] = { { .name = tally_api_source.name,
								    .on = true } };
	uint32_t n_rows;
	const struct tally_source_info *infos = tally_harvest_sources(harvest, &n_rows);
	if (n_rows > TALLY_MAX_SOURCES)
		n_rows = TALLY_MAX_SOURCES;
	memcpy(&rows[1], infos, n_rows * sizeof(rows[0]));
	device.sources = rows;
	device.n_sources = n_rows + 1;
	tally_harvest_serialized_by(harvest, serialized, sizeof(serialized));
	device.serialized_by = serialized[0] ? serialized : NULL;
	struct facts facts;
	gather_facts(&api, display, counts_hardware(rows, n_rows + 1), &facts);
	struct tally_probe_found found = { .device = &device, .facts = facts.rows };
	found.sets = tally_harvest_sets(harvest, &found.n_sets);
	/* A layout without a name is always counted: there is no rotation. */
	if (found.n_sets == 1 && !found.sets[0]->layout.set)
		found.n_sets = 0;
	report(data, &found);
	tally_harvest_destroy(harvest, true);
	return true;
}

/* Opens the first context that can be made. NULL: none of the `n` attempts was successful. */
static const char *
open_first(struct context *c, bool es, unsigned *n)
{
	struct place places[3];
	*n = list_places(places);
	for (unsigned i = 0; i < *n; i++)
		if (open_context(c, places[i].display, es))
			return places[i].words;
	return NULL;
}

enum tally_tiles
tally_probe_gl_tiles(bool (*meet)(void *data, const char *name, bool named), void *data)
{
	struct context c;
	struct tally_gl_api api;
	unsigned n;
	char name[TALLY_GL_DRIVER_SIZE];
	enum tally_tiles answer = TALLY_TILES_UNKNOWN;
	bool es = false;
	if (!epoxy_has_egl())
		return answer;
	if (!open_first(&c, false, &n)) {
		es = true;
		if (!open_first(&c, true, &n))
			return answer;
	}
	const char *renderer = (const char *)glGetString(GL_RENDERER);
	tally_gl_driver_name((const char *)glGetString(GL_VENDOR), renderer,
			     (const char *)glGetString(GL_VERSION), name);
	fill_api(&api, es);
	if (meet(data, name, tally_gl_tiles_by_name(renderer)))
		answer = tally_tiles_measure(&api);
	close_context(&c);
	return answer;
}

bool
tally_probe_gl(enum tally_api api, const struct tally_probe_wish *wish,
	       tally_probe_report *report, void *data, char *why, size_t size)
{
	struct context c;
	bool es = api == TALLY_API_OPENGL_ES;
	const char *words = es ? "OpenGL ES" : "OpenGL";
	if (!epoxy_has_egl()) {
		snprintf(why, size, "no %s: libEGL is not installed", words);
		return false;
	}
	unsigned n;
	const char *place = open_first(&c, es, &n);
	bool ok = place && describe(api, wish, place, report, data);
	if (!place)
		snprintf(why, size, "no %s context could be made (tried %u places%s)", words, n,
			 getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")
				 ? ""
				 : "; there is no display");
	else if (!ok)
		snprintf(why, size, "out of memory");
	if (place)
		close_context(&c);
	return ok;
}
