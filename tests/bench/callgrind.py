#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count the instructions that passtally adds to a draw and to a pass, by callgrind.

    tests/bench/callgrind.py BENCH_GL STUB SHIM

Runs the benchmark program over the do-nothing library with two numbers of draws (and of passes), with
and without the shim: the difference of the differences is what one costs, exactly, on any machine.
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


def count(folder, program, library, shim, options, passes, draws):
    """Instructions of the program's own thread."""
    # MALLOC_PERTURB_, which meson sets, fills memory: that is no cost of a pass.
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PASSTALLY", "MALLOC_"))}
    env["XDG_CONFIG_HOME"] = str(folder)
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    if shim:
        env.update(LD_PRELOAD=shim, PASSTALLY_LOG=str(log), PASSTALLY_OPTIONS=options)
    out = folder / "callgrind.out"
    for old in folder.glob("callgrind.out*"):
        old.unlink()
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}",
         program, "--library", str(library), "--passes", str(passes), "--draws", str(draws),
         "--frames", str(FRAMES), "--warm-up", "0", "--pause-us", "3000"],
        env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"callgrind: {done.stderr.strip()}")
    if shim and not log.exists():
        raise SystemExit("callgrind: the shim wrote no log: it was not loaded")
    # The first thread is the game's; the log's writer is another.
    text = (folder / "callgrind.out-01").read_text(encoding="utf-8")
    return int(re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE).group(1))


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
        def grown(preload, options, small, large):
            few, many = (count(folder, program, library, preload, options, *shape)
                         for shape in (small, large))
            return many - few

        def added(small, large, units, options):
            return (grown(shim, options, small, large) - grown(None, None, small, large)) / units

        # Many, for what a frame costs depends a little on when results arrive.
        got = {"a draw": added((4, 100), (4, 8100), FRAMES * 4 * 8000, TIMES)}
        for what, options in MODES.items():
            got[what] = added((50, 1), (250, 1), FRAMES * 200, options)
    over = False
    for what, ceiling in ceilings.items():
        over = over or not got[what] <= ceiling
        print(f"{what}: {got[what]:.1f} instructions added (ceiling {ceiling})")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
