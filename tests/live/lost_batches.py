#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Batches that the kernel loses (a reset of the GPU) under Debian's real iris on the emulated GPU: nothing hangs,
the program ends as without passtally, and no number of a pass whose work was lost is in the log.
"""

import sys

from harness import Checks, need, scratch, skip, validate
from intel_gpu import Gpu, build

# Values of each of glora's six passes when its work was done: vertices and primitives.
VERTICES = [6, 21, 0, 23, 18, 30]
PRIMITIVES = [2, 7, 0, 17, 6, 10]
FRAMES = "60"
SOURCES = ("gl-timestamp", "gl-timestamp+gl-statistics", None)


def check_values(checks, log, what, sources):
    lost = 0
    for p in (p for f in log.frames for p in f["passes"]):
        counters, at = p.get("counters", {}), f"{what}, pass {p['index']}"
        lost += "lost" in p.get("flags", [])
        if "lost" in p.get("flags", []):
            checks.that("gpu_ns" not in p and not counters, f"{at}: lost, and has {counters}")
        # Only a batch in the middle of a pass can go unnoticed: then the GPU did nothing, and counted nothing.
        for key, want in (("vertex_shader_invocations", VERTICES), ("primitives_submitted", PRIMITIVES)):
            checks.that(counters.get(key, 0) in (0, want[p["index"]]), f"{at}: {key} is {counters.get(key)}")
        if sources is None:
            checks.that(counters.get("gpu_time_elapsed", 1) > 0, f"{at}: a set that counted for no time")
    return lost


def check_drops(checks, gpu, platform, every):
    for sources in SOURCES:
        options = ["--sources", sources] if sources else []
        what = f"{platform}, every {every}th lost, {sources or 'default sources'}"
        result, log = gpu.run(platform, "glora", [FRAMES, "bare"], "emu", options, {"INTEL_EMU_DROP_EVERY": every})
        checks.equal(result.status, 0, f"{what}: status")
        validate(checks, log.path)
        checks.equal(len(log.frames), int(FRAMES), f"{what}: frames")
        lost = check_values(checks, log, what, sources)
        checks.that(lost, f"{what}: nothing was lost, so nothing was tested")


def values_of(log):
    """{(set, pass): {key: value}} and the passes; the first frame draws less."""
    passes = [(f.get("set"), p) for f in log.frames[1:] for p in f["passes"]]
    known = {}
    for which, p in passes:
        known.setdefault((which, p["index"]), {}).update(p.get("counters", {}))
    return known, passes


def check_against_whole(checks, gpu, platform):
    """Sources of which no value tells by itself that the work was lost, without GPU times being asked for: each value
    is the one of a run in which nothing is lost, or absent with a flag. The program does not flush before it swaps: a
    pass that ends at a flush does so from the ninth such frame on, with other values of the GPU's clock."""
    alike = {"NOFLUSH": "1"}
    for sources in ("gl-amd", "gl-amd+gl-timestamp", "gl-statistics+gl-intel"):
        options = ["--sources", sources, "--counters", "all"]
        args = ["60", "bare"]
        whole, _ = values_of(gpu.run(platform, "glora", args, "emu", options, alike)[1])
        for every in ("3", "7"):
            what = f"{platform}, every {every}th lost, {sources}"
            result, log = gpu.run(platform, "glora", args, "emu", options, {"INTEL_EMU_DROP_EVERY": every, **alike})
            checks.equal(result.status, 0, f"{what}: status")
            for which, p in values_of(log)[1]:
                counters, at = p.get("counters", {}), f"{what}, pass {p['index']} of {which}"
                checks.that(counters or p.get("flags"), f"{at}: nothing, and no flag")
                checks.that("gpu_ns" not in p or "gl-timestamp" in sources, f"{at}: a time that nobody asked for")
                wrong = {k: v for k, v in counters.items() if whole[which, p["index"]].get(k) != v}
                checks.that(not wrong, f"{at}: {wrong}")


def check_new_contexts(checks, gpu):
    """The GPU is lost for good after some submissions, and the program makes new contexts all the same. Mesa waits for
    ever in a call for the counters of work that will not be done, so that none may be asked for."""
    program = need("contexts")
    for platform in ("skl", "tgl"):
        for last in ("6", "10", "14", "40"):
            for options in (["--counters", "all"], ["--counters", "all", "--sources", "gl-intel"]):
                what = f"{platform}, lost after {last} submissions, {' '.join(options)}"
                result, log = gpu.run(platform, program, ["40", "10"], "emu", options, {"INTEL_EMU_FAIL_AFTER": last})
                checks.equal((result.status, result.text), (0, "frames 40\n"), what)
                validate(checks, log.path)
                checks.that(len(log.frames) > 35, f"{what}: {len(log.frames)} frames")


def main():
    checks = Checks()
    with scratch() as folder:
        programs = folder / "programs"
        build(programs)
        gpu = Gpu(programs, folder)
        if gpu.run("tgl", "glora", ["1", "bare"])[0].status:
            skip("iris does not start on the emulated GPU")
        for platform in ("tgl", "bdw"):
            for every in ("2", "3", "7"):
                with checks.part(f"{platform} {every}"):
                    check_drops(checks, gpu, platform, every)
            with checks.part(f"{platform} whole"):
                check_against_whole(checks, gpu, platform)
        with checks.part("new contexts"):
            check_new_contexts(checks, gpu)
    checks.finish()


if __name__ == "__main__":
    sys.exit(main())
