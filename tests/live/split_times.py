#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A driver that draws tile by tile (llvmpipe): no pass gets the time of a neighbor that was drawn in the same
scene.

tests/apps/split_scene.c draws a heavy pass next to a light one. Where the border between them does not end the
driver's scene, their time is reported as one, outside passes, and both are flagged `shared_time`; where it does,
each has its own.
"""

import statistics
import sys

import harness as h

# More fragments a nanosecond than any GPU shades: a pass that has them has another's time.
IMPOSSIBLE = 4
FRAMES = 6
# Border, options, kinds of the passes in order, whether their times are separate: of all, or of each.
CASES = [
    ("mip", {}, ["transfer", "render"], False),
    ("clear", {}, ["transfer", "render"], False),
    ("copy", {}, ["render", "transfer", "render"], False),
    ("group", {"split": "group"}, ["render", "render"], False),
    ("group", {}, ["render"], True),
    ("targets", {}, ["render", "render"], True),
    ("targets", {"granularity": "draw"}, ["render", "render"], True),
    ("mip", {"granularity": "draw"}, ["transfer", "render"], False),
    # The copy runs at its call, when the pass before it is not drawn yet.
    ("image", {}, ["render", "transfer", "render"], [False, False, True]),
    ("upload", {}, ["render", "render"], [False, True]),
    ("buffer", {}, ["render", "render"], [False, True]),
    # The swap of a pbuffer draws nothing, and the program sleeps for 100 ms before the next frame.
    ("swap", {"frame": "present"}, ["render", "render"], [True, True]),
]


def check_frame(checks, frame, kinds, apart):
    what = f"frame {frame['frame']}"
    checks.equal([p["kind"] for p in frame["passes"]], kinds, f"{what}: passes")
    each = apart if isinstance(apart, list) else [apart] * len(kinds)
    for p, apart in zip(frame["passes"], each):
        at = f"{what}, {p['kind']} {p['index']}"
        checks.equal("gpu_ns" in p, apart, f"{at}: has a time")
        checks.equal("shared_time" in p.get("flags", []), not apart, f"{at}: shared_time")
        shaded = p.get("counters", {}).get("fragment_shader_invocations", 0)
        if "gpu_ns" in p:
            checks.that(shaded <= IMPOSSIBLE * p["gpu_ns"], f"{at}: {shaded} fragments in {p['gpu_ns']} ns")
        for w in p.get("workloads", []):
            checks.that(apart or "gpu_ns" not in w, f"{at}: a workload with a time of its own")
    checks.that(frame.get("gpu_ns"), f"{what}: no GPU time")
    told = frame["gpu_ns"] - sum(p.get("gpu_ns", 0) for p in frame["passes"])
    checks.equal(frame["unattributed"]["gpu_ns"] if "unattributed" in frame else 0, told, f"{what}: time outside passes")
    if len(set(each)) == 1:
        checks.equal(frame.get("coverage", 1.0), 1.0 if apart else 0.0, f"{what}: coverage")
    h.check_time(checks, frame)


def check_case(checks, border, options, kinds, apart):
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        options = {"frame": "finish", "sources": "gl-timestamp+gl-statistics", **options}
        argv = [h.need("split_scene"), border, "--frames", FRAMES, *(["--platform", "pbuffer"] if border == "swap" else [])]
        result = h.run(argv, h.base_env(folder, h.capture_env(log, options)))
        if result.status == 77:
            h.skip(result.errors.strip() or result.text.strip())
        checks.equal(result.status, 0, f"exit status ({result.errors[-300:]!r})")
        h.validate(checks, log)
        frames = [f for f in h.Log(log).frames if "partial" not in f.get("flags", [])]
    checks.equal(len(frames), FRAMES, "frames")
    for frame in frames:
        check_frame(checks, frame, kinds, apart)
    if border == "swap":
        checks.that(statistics.median(f["passes"][1]["gpu_ns"] for f in frames) < 50e6, "the last pass has the sleep after it")
    if apart is True and len(kinds) == 2:
        heavy, light = (statistics.median(f["passes"][i]["gpu_ns"] for f in frames) for i in (0, 1))
        print(f"{border}: heavy pass {heavy} ns, light pass {light} ns")
        checks.that(heavy > 3 * light, f"the heavy pass took {heavy} ns, one of a fortieth {light}")


def main():
    checks = h.Checks()
    for border, options, kinds, apart in CASES:
        with checks.part(f"{border} {options}"):
            check_case(checks, border, options, kinds, apart)
    checks.finish()


if __name__ == "__main__":
    sys.exit(main())
