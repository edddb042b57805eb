# SPDX-License-Identifier: MIT
"""Where a frame ends when nothing is presented, and which frames are captured."""

import re

import harness as h

BOUNDARIES = [  # what the program does, --frame, whole frames of 6, passes in each
    ("finish", "finish", 6, 2),
    ("flush", "flush", 6, 2),
    ("label", "label:frame", 6, 2),
    ("present", "present", 6, 2),
    ("terminator", "terminator", 6, 2),
]

# options, numbers of the frames in the log
CHOICES = [
    ({"frames": 2}, [0, 1]),
    ({"skip": 3}, [3, 4, 5, 6, 7]),
    ({"every": 3}, [0, 3, 6]),
    ({"skip": 1, "frames": 2, "every": 2}, None),
    ({"start-on": "frame:4"}, [4, 5, 6, 7]),
    ({"stop-on": "frame:3"}, None),
    ({"max-passes": 1}, [0, 1, 2, 3, 4, 5, 6, 7]),
]


def capture(checks, folder, argv, options):
    bare = h.run(argv, h.base_env(folder))
    if bare.status == 77:
        print(bare.errors.strip())
        return None
    if not checks.equal(bare.status, 0, f"bare run {bare.errors}"):
        return None
    path = folder / "log.jsonl"
    got = h.run(argv, h.base_env(folder, h.capture_env(path, options)))
    checks.equal((got.status, got.stdout, got.stderr), (bare.status, bare.stdout, bare.stderr), "status and output")
    if not checks.that(path.exists(), "no log"):
        return None
    log = h.Log(path)
    h.validate(checks, path)
    h.check_order(checks, log)
    return log


def check_boundary(checks, scenes, end, frame, count, passes):
    platform = "pbuffer" if end == "present" else "surfaceless"
    argv = [scenes, "shadow", "--frames", "6", "--no-read", "--end", end, "--platform", platform]
    with h.scratch() as folder:
        log = capture(checks, folder, argv, {"frame": frame})
        if not log:
            return
        # A label begins a frame: what precedes the first is a frame without passes, and what follows the last ends
        # with the context; it may be left out, but not silently.
        frames = [f for f in log.frames if f["passes"]]
        left_out = sum(int(re.match(r"\d+", n)[0]) for n in log.notes if "after its last frame" in n)
        checks.equal(sum(len(f["passes"]) for f in frames) + left_out, passes * count, "passes listed or told of")
        checks.that(len(frames) == count or (end == "label" and len(frames) == count - 1), f"{len(frames)} frames with passes")
        checks.equal([len(f["passes"]) for f in frames], [passes] * len(frames), "passes")
        for f in frames:
            h.check_time(checks, f)


def check_never(checks, scenes):
    """No boundary at all: everything is one frame, ended by the run's end."""
    argv = [scenes, "shadow", "--frames", "6", "--no-read", "--end", "nothing", "--platform", "surfaceless"]
    with h.scratch() as folder:
        log = capture(checks, folder, argv, {})
        if log:
            checks.equal([len(f["passes"]) for f in log.frames], [12], "passes of the only frame")
            checks.that("partial" in log.frames[0].get("flags", []), "the frame is not flagged partial")


def check_submit(checks, scenes):
    argv = [scenes, "shadow", "--frames", "6", "--no-read", "--end", "flush", "--platform", "surfaceless"]
    with h.scratch() as folder:
        log = capture(checks, folder, argv, {"frame": "submit:2"})
        if log:
            frames = [f for f in log.frames if f["passes"]]
            checks.equal([len(f["passes"]) for f in frames], [4, 4, 4], "passes of three frames of two submits")


def check_choice(checks, scenes, options, numbers):
    argv = [scenes, "shadow", "--frames", "8", "--no-read"]
    with h.scratch() as folder:
        log = capture(checks, folder, argv, options)
        if not log:
            return
        frames = log.whole_frames(0)
        got = [f["frame"] for f in frames]
        if numbers is not None:
            checks.equal(got, numbers, "frames captured")
        else:
            checks.that(0 < len(got) < 8, f"frames captured: {got}")
        if options.get("max-passes") == 1:
            checks.equal({len(f["passes"]) for f in frames}, {1}, "passes a frame")
            checks.equal({f["dropped_passes"] for f in frames}, {1}, "dropped passes")
        for f in frames:
            checks.that(all(p["draws"] == 2 for p in f["passes"]), "draws of a pass")


def check_workloads(checks, scenes):
    """A source that dictates its values, and its times: the sum is as it should be."""
    argv = [scenes, "forward", "--frames", "3", "--no-read"]
    with h.scratch() as folder:
        log = capture(checks, folder, argv, {"granularity": "draw", "sources": "fake"})
        if not log:
            return
        for f in log.whole_frames(0):
            for p in f["passes"]:
                loads = p["workloads"]
                checks.equal([w["command"] for w in loads], ["clear"] + ["draw"] * 3, "commands")
                checks.equal({(w["gpu_ns"], w["counters"]["fake_a"]) for w in loads}, {(1000, 1)}, "time and count of each")
                h.check_workload_sums(checks, p)
                checks.equal(p["gpu_start_ns"], loads[0]["gpu_start_ns"], "begin")
                last = loads[-1]["gpu_start_ns"] + loads[-1]["gpu_ns"]
                checks.equal(p["gpu_start_ns"] + p["gpu_ns"], last, "end")


def main():
    h.need("libpasstally_gl.so")
    scenes = h.need("scenes")
    checks = h.Checks()
    for end, frame, count, passes in BOUNDARIES:
        with checks.part(f"--frame {frame}"):
            check_boundary(checks, scenes, end, frame, count, passes)
    with checks.part("no boundary"):
        check_never(checks, scenes)
    with checks.part("--frame submit:2"):
        check_submit(checks, scenes)
    with checks.part("workloads"):
        check_workloads(checks, scenes)
    for options, numbers in CHOICES:
        with checks.part(h.options_text(options)):
            check_choice(checks, scenes, options, numbers)
    checks.finish()


main()
