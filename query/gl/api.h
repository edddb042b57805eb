/* SPDX-License-Identifier: MIT */
/* query/gl/api.h - the OpenGL calls that the gl_* sources make, as the shim or a probe passes
 * them in. They are never called by name, so that a source cannot call the shim itself.
 *
 * Plain C types are used on purpose (GLuint is unsigned, GLint64 is int64_t): no GL header
 * is needed and none can clash. There is one struct per context, used while that context is
 * current, by its thread. Functions that the context lacks are NULL; sources check before
 * they use one.
 */
#ifndef PASSTALLY_QUERY_GL_API_H
#define PASSTALLY_QUERY_GL_API_H

#include <stdbool.h>
#include <stdint.h>

#include "query/source/source.h"
#include "query/source/statistics_catalogue.h"

/* Query targets that only one query may use at a time (GL 4.6 spec 4.2; the three occlusion
 * targets share SAMPLES_PASSED; of streams, 0): enum tally_statistic, then these. The values are
 * bit numbers in app_active. */
enum tally_gl_exclusive {
	TALLY_GL_TIME_ELAPSED = TALLY_N_STATISTICS, /* reserved for the game: no source uses it */
	TALLY_GL_N_EXCLUSIVE,
};

/* The functions and properties of one context. */
struct tally_gl_api {
	bool es;
	int version; /* 10 * major + minor */
	/* Whether the exact token is in the extension list. */
	bool (*has_extension)(const struct tally_gl_api *api, const char *name);
	void *user; /* argument for has_extension */

	/* Called around passtally's calls that may fail: guard_begin() saves the errors that
	 * belong to the game; guard_end() then drops passtally's errors and returns the first,
	 * 0 when there is none. NULL: there are no errors of the game to save. */
	void (*guard_begin)(struct tally_gl_api *api);
	unsigned (*guard_end)(struct tally_gl_api *api);
	const char *sources; /* the --sources list, NULL = the default */
	bool has_statistics_source; /* set when a gl-statistics is created over it */
	const char *driver;  /* GL_VENDOR, a space, GL_RENDERER; NULL = unknown */

	/* Called for each pass. */
	void (*QueryCounter)(unsigned id, unsigned target);
	void (*BeginQuery)(unsigned target, unsigned id);
	void (*EndQuery)(unsigned target);
	void (*GetQueryObjectuiv)(unsigned id, unsigned pname, unsigned *params);
	void (*GetQueryObjectui64v)(unsigned id, unsigned pname, uint64_t *params);

	unsigned (*GetError)(void);
	void (*GetIntegerv)(unsigned pname, int *data);
	void (*GetInteger64v)(unsigned pname, int64_t *data);
	void (*Flush)(void);
	void (*GenQueries)(int n, unsigned *ids);
	void (*DeleteQueries)(int n, const unsigned *ids);
	void (*GetQueryiv)(unsigned target, unsigned pname, int *params);

	/* GL_AMD_performance_monitor. */
	void (*GetPerfMonitorGroupsAMD)(int *n, int size, unsigned *groups);
	void (*GetPerfMonitorCountersAMD)(unsigned group, int *n, int *max_active, int size,
					  unsigned *counters);
	void (*GetPerfMonitorGroupStringAMD)(unsigned group, int size, int *length, char *text);
	void (*GetPerfMonitorCounterStringAMD)(unsigned group, unsigned counter, int size,
					       int *length, char *text);
	void (*GetPerfMonitorCounterInfoAMD)(unsigned group, unsigned counter, unsigned pname,
					     void *data);
	void (*GenPerfMonitorsAMD)(int n, unsigned *monitors);
	void (*DeletePerfMonitorsAMD)(int n, unsigned *monitors);
	void (*SelectPerfMonitorCountersAMD)(unsigned monitor, unsigned char enable,
					     unsigned group, int n, unsigned *counters);
	void (*BeginPerfMonitorAMD)(unsigned monitor);
	void (*EndPerfMonitorAMD)(unsigned monitor);
	void (*GetPerfMonitorCounterDataAMD)(unsigned monitor, unsigned pname, int size,
					     unsigned *data, int *written);

	/* GL_INTEL_performance_query, and the pre-standard GL_INTEL_performance_queries. */
	void (*GetFirstPerfQueryIdINTEL)(unsigned *id);
	void (*GetNextPerfQueryIdINTEL)(unsigned id, unsigned *next);
	void (*GetPerfQueryInfoINTEL)(unsigned id, unsigned name_size, char *name,
				      unsigned *data_size, unsigned *n_counters,
				      unsigned *instances, unsigned *caps);
	void (*GetPerfCounterInfoINTEL)(unsigned id, unsigned counter, unsigned name_size,
					char *name, unsigned text_size, char *text,
					unsigned *offset, unsigned *size, unsigned *type,
					unsigned *data_type, uint64_t *raw_max);
	void (*CreatePerfQueryINTEL)(unsigned id, unsigned *handle);
	void (*DeletePerfQueryINTEL)(unsigned handle);
	void (*BeginPerfQueryINTEL)(unsigned handle);
	void (*EndPerfQueryINTEL)(unsigned handle);
	void (*GetPerfQueryDataINTEL)(unsigned handle, unsigned flags, int size, void *data,
					 unsigned *written);

	/* The driver takes a timestamp tile by tile while it rasterizes, together with the work
	 * around it, and keeps the last tile's (Mesa's llvmpipe and softpipe, seen in 22.3,
	 * lp_setup_end_query; others: query/quirks.c). A timestamp after other work shows
	 * the end of that work, as it should, unless the work after it is drawn in the same
	 * scene: the shim flags those passes SHARED_TIME. A first timestamp after a gap shows
	 * the end of what follows, so it is taken from the CPU, and does not exist if the
	 * clocks cannot be compared. */
	bool timestamps_in_tiles;

	/* One bit per exclusive target: the game uses this target now. Maintained
	 * by the shim. */
	uint32_t app_active;
	/* One bit per exclusive target that nothing in the interval that begins can raise: its
	 * result is 0, without a query. Maintained by the shim. */
	uint32_t impossible;
	/* The GPU_DISJOINT_EXT flag was seen set since the source last cleared this
	 * member (GLES). Every reader of the driver's clear-on-read flag sets it, the
	 * shim's hook included; the source calls read_disjoint, which also remembers the
	 * flag for the game. */
	bool disjoint_seen;
	bool (*read_disjoint)(struct tally_gl_api *api);
};

/* A driver function by its full name; NULL where the driver has none. */
typedef void (*tally_gl_find(void *data, const char *name))(void);

/* Fills in the functions above, under the names that the context has for them. es, version,
 * has_extension and user are set before, and also read_disjoint, which is kept only where times
 * can be disjoint. */
void tally_gl_api_fill(struct tally_gl_api *api, tally_gl_find *find, void *data);

/* Maps a GL query target to its exclusive group, -1 when it is in none of them
 * (TIMESTAMP, ...). */
int tally_gl_exclusive_of(unsigned target);
/* The target of a group; of the occlusion targets, the one that counts samples; 0:
 * no such group. */
unsigned tally_gl_exclusive_target(unsigned which);

/* Results of query objects. This is the one place where the GL sources read them. Each object is
 * queried by itself: the fact that a newer one has its result says nothing about an older one,
 * because a batch that the kernel lost at a reset of the GPU never writes its results, and the
 * batches after it do. No query buffer may be bound, or the driver would write there. */

/* Whether the context has QUERY_RESULT_NO_WAIT. For tally_gl_result(); to be called once. */
bool tally_gl_has_no_wait(const struct tally_gl_api *api);
/* The result of a query that was ended, if it is available; otherwise false, and *value is
 * undefined. Without GetQueryObjectui64v a result has 32 bits. Never blocks. */
bool tally_gl_result(const struct tally_gl_api *api, bool no_wait, unsigned id, uint64_t *value);

/* Names of query objects or monitors that no slot has yet: they are made in blocks. Zeroed is
 * empty. */
struct tally_gl_names {
	unsigned made[64];
	uint32_t n;
	bool none; /* the driver made none: it is not asked again at every pass */
};
/* A name that was never used; 0: the driver makes none. */
unsigned tally_gl_take_name(struct tally_gl_names *names, void (*make)(int n, unsigned *names));

/* Each source is created unopened, over an api that outlives it; NULL on OOM. close() or
 * abandon() frees what open() allocated; tally_source_destroy(), or the harvest that took the
 * source over, frees the source. */
struct tally_source *tally_gl_timestamp_create(struct tally_gl_api *api);
struct tally_source *tally_gl_statistics_create(struct tally_gl_api *api);
struct tally_source *tally_gl_intel_create(struct tally_gl_api *api);
struct tally_source *tally_gl_amd_create(struct tally_gl_api *api);

/* The game's intended use: `what` of a source's yield(), called before the game's call is
 * forwarded. Below TALLY_GL_N_EXCLUSIVE: the game begins a query of that group. The open slot's
 * value is given up, flagged YIELDED; app_active gets the bit afterwards. */
enum tally_gl_use {
	/* The game queries the extension, or makes or begins performance queries or monitors.
	 * Where one unit of the GPU counts both (Intel), each source ends what is active, gives
	 * up all outstanding results, deletes every object that the driver has finished with,
	 * and counts nothing more; slots in flight and slots begun from then on return no
	 * values, flagged YIELDED. Later calls try again for results that were not ready. Does
	 * not block. */
	TALLY_GL_USE_COUNTERS = TALLY_GL_N_EXCLUSIVE,
	/* The game's use includes monitors: on other drivers, too, its first monitor must get
	 * the name that it would have without passtally. Comes after TALLY_GL_USE_COUNTERS. */
	TALLY_GL_USE_MONITORS,
	/* The game begins its first query or monitor: while one of passtally's results is
	 * outstanding, an Intel driver refuses to begin another metric set, and the game would
	 * never get a result. Flushes and waits until the driver has finished with all of our
	 * queries: at most 100 ms, and once in a context's life. */
	TALLY_GL_USE_BEGINS,
};

/* Mesa's Intel drivers read the observation unit for both extensions. Asked for results earlier
 * than this, in frames, they may wait in the call for the unit's next report; and while a result of
 * one metric set is unread they refuse to begin another, so that sets take turns this slowly. */
#define TALLY_INTEL_MIN_AGE 3
#define TALLY_INTEL_LONG_TURN 16

/* Around a source's own calls that may fail; see guard_begin above. */
static inline void
tally_gl_guard_begin(struct tally_gl_api *api)
{
	if (api->guard_begin)
		api->guard_begin(api);
}

/* The first error of our own calls since tally_gl_guard_begin(), 0 when there was none. */
static inline unsigned
tally_gl_guard_end(struct tally_gl_api *api)
{
	return api->guard_end ? api->guard_end(api) : api->GetError();
}

#endif
