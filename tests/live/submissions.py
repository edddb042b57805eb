#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What passtally makes a driver do twice: batches submitted and waits in a frame, by ioctl under Debian's real iris
and anv on the emulated Intel GPU (../shared/intel_gpu, where it is there), bare and with each set of sources.
"""

import struct
import sys

from harness import Checks, need, scratch, skip
from intel_gpu import Gpu, build

PLATFORMS = ("tgl", "bdw")
KINDS = ("submissions", "waits")
SCENES = ((0, "flush"), (0, "present"), (0, "flushes"), (3, "flush"), (3, "finish"), (0, "map"), (0, "get"))  # dispatches, and how a frame ends
FRAME_ENDS = {"flushes": "present", "map": "present", "get": "present"}  # the others by their names
READS = ("map", "get")  # one pass more
START, FRAMES = 20, 60  # counted between the marks after these, so that the program's start and end do not count
PASSES = 40
OPTIONS = {
    "api": ["--sources", "api"],
    "times": ["--sources", "gl-timestamp"],
    "statistics": ["--sources", "gl-statistics"],
    "times and statistics": ["--sources", "gl-timestamp+gl-statistics"],
    "performance queries": ["--sources", "gl-timestamp+gl-intel"],
    "default": [],
    "all counters": ["--counters", "all"],
}
# A frame may have as many submissions more than without passtally, and why; waits never. Of all counters, one makes Mesa
# submit once a frame, and another costs passes of dispatches: Mesa counts runs of compute shaders in a batch of their own.
PER_DISPATCH = 2
# A program whose frames submit nothing: passtally asks for the results of four frames at once.
UNSUBMITTED = 0.5


def allowed(name, end, dispatches):
    return UNSUBMITTED * (end == "present") + (1 + PER_DISPATCH * dispatches) * (name == "all counters"), 0


VULKAN = {"api": ["--sources", "api"], "times": ["--sources", "vk-timestamp"], "default": [],
          "draws": ["--granularity", "draw"]}


def counted(gpu, platform, program, args, options):
    counts = gpu.folder / "ioctls"
    counts.unlink(missing_ok=True)
    how = ('INTEL_MORE="INTEL_DEBUG=no-oaconfig INTEL_EMU=1" '
           f'_intel libintel_emu_drm_shim.so "{need("count_ioctls.so")}:"')
    result, log = gpu.run(platform, program, args, how, options, {"COUNT_IOCTLS_FILE": str(counts)})
    return result, log, struct.unpack("<7Q", counts.read_bytes())


def a_frame(checks, gpu, platform, scene, options):
    """Of each kind, how many."""
    if options is not None:
        options = [*options, "--frame", FRAME_ENDS.get(scene[1], scene[1])]
    args = [str(PASSES), str(scene[0]), str(FRAMES), scene[1], str(START)]
    result, log, (_, _, marks, *counts) = counted(gpu, platform, need("submit_scene"), args, options)
    checks.equal(result.status, 0, "status")
    checks.equal(marks, 2, "marks")
    if options is not None:
        passes = [p for f in log.frames for p in f["passes"]]
        checks.equal(len(passes), (PASSES + scene[0] + (scene[1] in READS)) * FRAMES, "passes")
        # The last two frames' results need not have come when the program ends.
        lost = [p for f in log.frames[:-2] for p in f["passes"] if {"lost", "incomplete"} & set(p.get("flags", []))]
        checks.that(not lost, f"{len(lost)} passes have no result")
    return [(b - a) / (FRAMES - START) for a, b in zip(counts[:2], counts[2:])]


def of_vulkan(checks, gpu, options):
    """Of each kind, how many a frame: the kit's program submits once."""
    counts = []
    for n in (START, FRAMES):
        result, log, got = counted(gpu, PLATFORMS[0], "vkora", ["bare", str(n)], None if options is None else [*options, "--frame", "submit:1"])
        checks.equal(result.status, 0, "status")
        if options is not None:
            checks.equal(len(log.frames), n, "frames")
        counts.append(got)
    return [(b - a) / (FRAMES - START) for a, b in zip(*counts)][:2]


def main():
    checks = Checks()
    with scratch() as folder:
        programs = folder / "programs"
        build(programs)
        gpu = Gpu(programs, folder)
        for platform in PLATFORMS:
            if gpu.run(platform, "glora", ["1", "bare"], "emu", [])[0].status:
                skip(f"iris does not start on the emulated {platform}")
            for scene in SCENES if platform == "tgl" else SCENES[:1]:
                bare = a_frame(checks, gpu, platform, scene, None)
                for name, options in OPTIONS.items():
                    with checks.part(f"{platform}, {scene[0]} dispatches, {scene[1]}: {name}"):
                        ours = a_frame(checks, gpu, platform, scene, options)
                        for kind, a, b, more in zip(KINDS, bare, ours, allowed(name, scene[1], scene[0])):
                            checks.that(b <= a + more + 0.3, f"{kind} a frame: {b}, without passtally {a}")
        bare = of_vulkan(checks, gpu, None)
        for name, options in VULKAN.items():
            with checks.part(f"Vulkan: {name}"):
                ours = of_vulkan(checks, gpu, options)
                for kind, a, b in zip(KINDS, bare, ours):
                    checks.that(b <= a + 0.1, f"{kind} a frame: {b}, without passtally {a}")
    checks.finish()


if __name__ == "__main__":
    sys.exit(main())
