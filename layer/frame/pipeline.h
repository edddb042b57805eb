/* SPDX-License-Identifier: MIT */
/* layer/frame/pipeline.h - what draws and dispatches: a Vulkan pipeline or an OpenGL program,
 * recognized by its shaders' code.
 *
 * The identity is FNV-1a, 64 bits, over the string "p1" and, for each stage in the order of
 * enum tally_stage, "|stage:entry:code", where code is the FNV-1a of the shader's code as 16 hex
 * digits (docs/identity.md has test vectors). So it is the same in every run, on every machine and
 * in whatever order a program makes its pipelines; two pipelines that differ in fixed state alone
 * are one. Pipelines are kept for the life of the process. Any thread; nothing waits.
 */
#ifndef PASSTALLY_LAYER_FRAME_PIPELINE_H
#define PASSTALLY_LAYER_FRAME_PIPELINE_H

#include "layer/record.h"

#include <stdatomic.h>

/* What the driver says that it compiled a pipeline to. */
struct tally_pipeline_statistics {
	uint32_t n;
	struct tally_keyed_value rows[];
};

struct tally_pipeline {
	uint64_t id;
	uint32_t n_stages;
	_Atomic(const char *) name; /* NULL: none */
	_Atomic(struct tally_pipeline_statistics *) statistics; /* NULL: not known */
	/* The collector's alone: where frame.c lists it in the pass that is being listed. */
	uint64_t listed_in;
	uint32_t listed_at;
	const struct tally_stage_record *stages; /* sorted */
};

/* The pipeline of these stages, in any order; equal ones give equal pointers. Copies all of it, and
 * sorts `stages`. NULL: no stage, no memory, or 65536 others are known. Takes a lock, which is held
 * over no call. */
struct tally_pipeline *tally_pipeline_intern(struct tally_stage_record *stages, uint32_t n);
/* The program's own name for it; of several pipelines with the same shaders "A, B", in the order in
 * which they were named, while they have 512 bytes together. NULL or an empty one: no name.
 * `before`: what this object was named before, NULL = nothing; that name is replaced where it is
 * the only one. */
void tally_pipeline_set_name(struct tally_pipeline *pipeline, const char *before,
			     const char *name, size_t len);
/* Takes what malloc() gave (NULL: none); the first stays. Its keys are interned. */
void tally_pipeline_set_statistics(struct tally_pipeline *pipeline,
				   struct tally_pipeline_statistics *statistics);
/* What it does, by its stages. */
enum tally_pass_kind tally_pipeline_kind(const struct tally_stage_record *stages, uint32_t n);
uint64_t tally_pipeline_id(const struct tally_stage_record *stages, uint32_t n);
/* Around a fork: no other thread holds the lock in the child. */
void tally_pipeline_around_fork(bool begins);

#endif
