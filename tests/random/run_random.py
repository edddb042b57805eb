# SPDX-License-Identifier: MIT
"""Random programs bare and captured: what they print and how they end is the same, and the log says what they did.

  run_random.py gl|vulkan FIRST COUNT [FRAMES]

A seed is one program (random_gl.c, random_vk.c). It prints what it sees of the driver, and for each frame the passes
that the documents make of its calls; the log is compared with those lines, pass by pass, and read by `passtally
check`. A difference prints the seed and the options; a seed whose bare runs differ from each other is left out, and
so is one that crashes or hangs the driver bare: at most one in five.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))
import harness as h  # noqa: E402
import vk_harness as vk  # noqa: E402

# Options, and whether the log lists every pass of every frame.
OPTIONS = {
    "gl": [({}, True), ({"granularity": "draw"}, True), ({"snapshot": "exact", "sources": "all+linux-proc"}, True),
           ({"counters": "all", "sources": "api"}, True), ({"start-on": "frame:2", "stop-on": "frame:4"}, False),
           ({"pictures": "frame:1"}, True)],
    "vulkan": [({}, True), ({"granularity": "draw"}, True), ({"snapshot": "exact", "sources": "all+linux-proc"}, True),
               ({"counters": "all"}, True), ({"start-on": "frame:2", "stop-on": "frame:4"}, False),
           ({"pictures": "frame:1"}, True)],
}
TALLIES = ("draws", "vertices", "instances", "clears", "copies", "dispatches")
FLAGS = ("indirect", "list", "immediate", "simultaneous", "yielded")
MOST_ODD = 0.2


def truth(text):
    """The frames that a program printed: for each, its passes as (kind, {tally: number or None}, flags)."""
    frames = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["frame"]:
            frames.append([])
        elif words[:1] == ["pass"]:
            tallies = {k: None if v == "-" else int(v) for k, v in (w.split("=") for w in words if "=" in w)}
            frames[-1].append((words[1], tallies, {w for w in words[2:] if "=" not in w}))
    return frames


def listed(p, words):
    """A pass of the log in the same shape; a tally of 0 is left out of a log, and `draws` is not."""
    flags = set(p.get("flags", [])) & set(FLAGS)
    unknown = {k for k in TALLIES if words[1].get(k) is None}
    return (p["kind"], {k: None if k in unknown and k not in p else p.get(k, 0) for k in TALLIES}, flags)


def compare(checks, frames, log):
    written = [f for f in log.whole_frames(0)]
    if not checks.equal(len(written), len(frames), "frames"):
        return
    for number, (passes, frame) in enumerate(zip(frames, written)):
        got = frame["passes"]
        if not checks.equal([p["kind"] for p in got], [p[0] for p in passes], f"frame {number}, its passes"):
            return
        for i, (want, p) in enumerate(zip(passes, got)):
            want = (want[0], {k: want[1].get(k, 0) for k in TALLIES}, want[2])
            checks.equal(listed(p, want), want, f"frame {number}, pass {i}")


class Api:
    def __init__(self, name):
        self.name = name
        self.program = h.need("random_gl" if name == "gl" else "random_vk")

    def run(self, seed, frames, folder, log=None, options=None):
        argv = [self.program, str(seed), str(frames)]
        if self.name == "gl":
            env = h.base_env(folder, h.capture_env(log, options) if log else {})
        else:
            env = vk.layer_env(folder, log, {"frame": "idle", **options}) if log else vk.bare_env(folder)
        return h.run(argv, env, timeout=60)


def same(a, b):
    return (a.status, a.stdout) == (b.status, b.stdout)


def run_seed(checks, api, seed, frames, folder):
    """False: the seed says nothing, as the program's own runs differ, or the driver does not survive it."""
    bare = api.run(seed, frames, folder)
    if bare.status == 77:
        h.skip(bare.errors.strip())
    if bare.status != 0:
        return False
    for options, whole in OPTIONS[api.name]:
        with checks.part(f"seed {seed}, {h.options_text(options) or 'default options'}"):
            log = folder / f"{seed}.jsonl"
            log.unlink(missing_ok=True)
            captured = api.run(seed, frames, folder, log, options)
            if not same(bare, captured) and not same(bare, api.run(seed, frames, folder)):
                return False
            checks.equal(captured.status, bare.status, "exit status")
            checks.equal(captured.text, bare.text, "what the program sees")
            h.validate(checks, log)
            if whole:
                compare(checks, truth(bare.text), h.Log(log))
    return True


def main():
    api, first, count = Api(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    frames = int(sys.argv[4]) if len(sys.argv) > 4 else 6
    checks = h.Checks()
    odd = 0
    with h.scratch() as folder:
        for seed in range(first, first + count):
            odd += not run_seed(checks, api, seed, frames, folder)
    print(f"{count} seeds, {odd} of them left out")
    checks.that(odd <= max(1, MOST_ODD * count), f"{odd} of {count} seeds do not run bare, or differ from run to run")
    checks.finish()


if __name__ == "__main__":
    main()
