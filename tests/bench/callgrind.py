#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count the instructions that passtally adds to a draw and to a pass, by callgrind.

    tests/bench/callgrind.py BENCH_GL STUB SHIM

Runs the benchmark program over the do-nothing library with two numbers of draws (and of passes), with
and without the shim: the difference of the differences is exactly what one draw or pass costs, on any machine.
What sets up the capture, in the first frame, is counted by itself.
Compares with tests/bench/ceilings.json. Exit status: 0, 1 over a ceiling, 77 no valgrind here.
"""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FRAMES = 20
TIMES = "sources=gl-timestamp"
MODES = {
    "a pass": TIMES,
    "a pass, no source": "sources=api",
    "a pass, statistics": f"{TIMES}+gl-statistics",
    "a pass, idle": f"{TIMES},start-on=frame:100000000",
}
ARRAYS, INSTANCED, LINKED = "0", "1", "2"  # bench_gl's --draw-kind
DISABLED = None  # as options
DRAWS = {
    "a draw": (TIMES, ARRAYS),
    "a draw, instanced": (TIMES, INSTANCED),
    "a draw, disabled": (DISABLED, LINKED),
}
SET_UP = "gl_set_up"


def count(folder, program, library, shim, options, passes, draws, kind=ARRAYS, only=None):
    """Instructions of the program's own thread and of passtally's, or those in one function."""
    # MALLOC_PERTURB_, which meson sets, fills memory: that is not a cost of a pass.
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PASSTALLY", "MALLOC_"))}
    env["XDG_CONFIG_HOME"] = str(folder)
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    if shim:
        env.update(LD_PRELOAD=shim, PASSTALLY_LOG=str(log))
        env.update({"PASSTALLY_DISABLE": "1"} if options is DISABLED else {"PASSTALLY_OPTIONS": options})
    out = folder / "callgrind.out"
    for old in folder.glob("callgrind.out*"):
        old.unlink()
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}",
         *([f"--toggle-collect={only}"] if only else []),
         program, "--library", str(library), "--passes", str(passes), "--draws", str(draws),
         "--frames", str(FRAMES), "--warm-up", "0", "--pause-us", "3000", "--draw-kind", kind],
        env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"callgrind: {done.stderr.strip()}")
    if shim and options is not DISABLED and not log.exists():
        raise SystemExit("callgrind: the shim wrote no log: it was not loaded")
    # The first thread is the game's; the log's writer is another.
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("callgrind.out-*"))]
    found = [int(re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE).group(1)) for text in texts]
    return found[0], sum(found[1:])


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    if shutil.which("valgrind") is None:
        print("callgrind: skipped, valgrind is not installed")
        return 77
    program, stub, shim = sys.argv[1:]
    ceilings = json.loads((HERE / "ceilings.json").read_text(encoding="utf-8"))["instructions"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        library = folder / "libEGL.so.1"
        library.symlink_to(pathlib.Path(stub).resolve())

        @functools.cache
        def grown(preload, options, small, large, kind):
            few, many = (count(folder, program, library, preload, options, *shape, kind)
                         for shape in (small, large))
            return [b - a for a, b in zip(few, many)]

        def added(small, large, units, options, kind=ARRAYS):
            return [(ours - bare) / units for ours, bare in zip(grown(shim, options, small, large, kind),
                                                                grown(None, None, small, large, kind))]

        # Many, because what a frame costs depends a little on when results arrive.
        got = {what: added((4, 100), (4, 8100), FRAMES * 4 * 8000, *how)[0] for what, how in DRAWS.items()}
        for what, options in MODES.items():
            got[what], got[f"{what}, our threads"] = added((50, 1), (250, 1), FRAMES * 200, options)
        got["the set-up"] = count(folder, program, library, shim, TIMES, 1, 1, only=SET_UP)[0]
    over = False
    for what, ceiling in ceilings.items():
        over = over or not 0 < got[what] <= ceiling  # a count of nothing is a wrong count
        print(f"{what}: {got[what]:.1f} instructions added (ceiling {ceiling})")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
