# SPDX-License-Identifier: MIT
"""A game can see nothing of passtally. `hygiene` prints the same bytes with and without passtally.

  hygiene.py [PART...]
"""

import difflib
import functools
import re
import sys
import zlib

import harness as h

RUNS = [
    {},
    {"counters": "all"},
    {"counters": "all", "granularity": "draw"},
    {"granularity": "frame"},
    {"counters": "all", "frame": "flush", "split": "group"},
    {"pictures": "frame:0"},
]

STATISTICS = "all+gl-statistics"  # on llvmpipe they have to be requested


def difference(want, got):
    lines = difflib.unified_diff(want.splitlines(), got.splitlines(), "without", "with", lineterm="", n=2)
    return "\n".join(list(lines)[:40])


@functools.cache
def run_bare(argv):
    with h.scratch() as folder:
        return h.run(argv, h.base_env(folder))


def compare(checks, hygiene, words, options):
    argv = (hygiene, *words)
    with h.scratch() as folder:
        bare = run_bare(argv)
        if bare.status == 77:
            print(f"{' '.join(words)}: {bare.errors.strip()}")
            return
        checks.equal(bare.status, 0, f"bare run {bare.errors}")
        log = folder / "log.jsonl"
        if options:
            options = {"sources": STATISTICS, **options}
        got = h.run(argv, h.base_env(folder, h.capture_env(log, options)))
        checks.equal(got.status, bare.status, "exit status")
        checks.equal(got.stderr, bare.stderr, "stderr")
        texts = [bare.text, got.text]
        if "pictures" in options:  # its copies take names of these
            texts = [re.sub(r"\n  (framebuffer|buffer) \d+(?=\n)", "", text) for text in texts]
            checks.that(list(folder.glob("log-*.png")), "no picture")
        checks.that(texts[0] == texts[1], f"stdout differs:\n{difference(*texts)}")
        checks.that(log.exists() and h.Log(log).frames, "nothing was captured, so nothing was tested")
        if log.exists():
            h.validate(checks, log)
            h.check_order(checks, h.Log(log))
            by_draw = options.get("granularity") == "draw"
            for p in (p for f in h.Log(log).frames for p in f["passes"] if by_draw):
                if checks.that(p.get("workloads"), "a pass without workloads"):
                    h.check_workload_sums(checks, p)


def check_yielded_workloads(checks, hygiene):
    """Only what was drawn under the game's query lacks a value, and with it the sum does."""
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        options = {"counters": "all", "granularity": "draw", "sources": STATISTICS}
        h.run([hygiene, "core", "held"], h.base_env(folder, h.capture_env(log, options)))
        loads = [w for f in h.Log(log).frames for p in f["passes"] for w in p["workloads"]]
        held = [w for w in loads if "yielded" in w.get("flags", [])]
        checks.that(held and len(held) < len(loads), f"{len(held)} of {len(loads)} workloads yielded")
        counted = [w for w in loads if w not in held]
        for w in counted:
            checks.that("samples_passed" in w.get("counters", {}), f"a workload that did not yield has no samples: {w}")


def check_yielded(checks, hygiene):
    """Where the game uses a query target that passtally needs, the pass says so instead of showing a wrong
    number."""
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        h.run([hygiene, "core", "held"], h.base_env(folder, h.capture_env(log, {"counters": "all", "sources": STATISTICS})))
        passes = [p for f in h.Log(log).frames for p in f["passes"]]
        checks.that(any("yielded" in p.get("flags", []) for p in passes), "no pass is flagged yielded")
        for p in passes:
            if "yielded" not in p.get("flags", []) and "primitives_submitted" in p.get("counters", {}):
                checks.equal(p["counters"]["primitives_submitted"], p.get("vertices", 0) // 3, "primitives of a pass that did not yield")


def first_pixels(argv, kind="color"):
    """Of the pictures, the upper left one: red, green, blue."""
    with h.scratch() as folder:
        h.run(argv, h.base_env(folder, h.capture_env(folder / "log.jsonl", {"pictures": "frame:0"})))
        for file in sorted(folder.glob(f"log-*{kind}*.png")):
            data = file.read_bytes()
            at = data.index(b"IDAT")
            yield zlib.decompress(data[at + 4:at + 4 + int.from_bytes(data[at - 4:at], "big")])[1:4]


def check_pictures(checks, hygiene):
    """What the program lets happen to the pixels that it reads does not happen to a picture: blue is blue. One of a
    texture that was deleted meanwhile is not of the texture that has its name now, which is green."""
    checks.equal(list(first_pixels([hygiene, "compat", "transfer"])), [b"\0\0\xff"], "pixels")
    for options, why in (({"pictures": "frame:9999"}, r"no pass of frame 9999 was pictured: the capture ended before frame \d+; --pictures=frame:N takes an earlier one"),
                         ({"pictures": "frame:0", "granularity": "frame"}, "submit have no passes")):
        with h.scratch() as folder:
            log = folder / "log.jsonl"
            h.run([hygiene, "compat", "transfer"], h.base_env(folder, h.capture_env(log, options)))
            checks.that(any(re.search(why, note) for note in h.Log(log).notes), f"no note says that {why}")
    pixels = list(first_pixels([hygiene, "compat", "renamed"]))
    checks.that(pixels and b"\0\xff\0" not in pixels, f"pixels, one of them of another texture: {pixels}")
    for api in ("core", "gles"):
        checks.equal(list(first_pixels([hygiene, api, "targets"]))[:2], [b"\xff\0\0"] * 2, f"pixels of a face and of samples, {api}")
        checks.equal(list(first_pixels([hygiene, api, "targets"], "depth"))[:2], [b"\xff\xff\xff"] * 2, f"the far side of depth, {api}")
    checks.equal(len(list(first_pixels([h.need("scenes"), "switching", "--frames", "4"]))), 3, "pictures, two of contexts that never present")


def main():
    h.need("libpasstally_gl.so")
    hygiene, glmark = h.need("hygiene"), h.need_tool("glmark2")
    checks = h.Checks()
    parts = sys.argv[1:] or [None]
    for api in ("core", "compat", "gles"):
        for i, options in enumerate(RUNS):
            for part in parts:
                words = [api] + ([part] if part else [])
                with checks.part(f"{' '.join(words)} {h.options_text(options) or 'defaults'}"):
                    compare(checks, hygiene, words, options)
    with checks.part("pictures"):
        check_pictures(checks, hygiene)
    with checks.part("yielded"):
        check_yielded(checks, hygiene)
    with checks.part("yielded workloads"):
        check_yielded_workloads(checks, hygiene)
    with h.display(), checks.part("compat on GLX"):
        compare(checks, hygiene, ["compat", "--platform", "glx"], {"counters": "all"})
        window = [glmark, "--visual-config", "samples=4", "-s", "64x64", "-b", "build:nframes=2:duration=600"]
        checks.that(list(first_pixels(window, "depth")), "no depth of a window of four samples")
    checks.finish()


main()
