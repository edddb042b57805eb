#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure what passtally costs whole programs, each beside itself without it.

    tests/bench/run_programs.py [--build FOLDER] [--rounds N] [--only NAME]... [--check] [--json FILE]

The cases:
  lavapipe  1000 passes a frame on Mesa's software driver: CPU time of the process, and under the minimal layer
            (vkbench and vkfloor of ../shared/bench)
  vkcube    CPU time a frame, and of the first frame in the program's thread
  zink      frame time of glmark2, OpenGL over Vulkan
  paced     CPU milliseconds a second at 60 and at 1000 frames a second, 20 passes of 50 draws over Mesa's no-op driver
The modes of a case take turns, on one processor. Shown is the median of what a mode takes more than the bare run of its round,
with quartiles; `bare` is a second bare run, so its figures are the noise: what is not above it is not measured. What is not
installed is left out, with a line that says so. --check compares with the budgets of tests/bench/ceilings.json, which depend
on the machine, and fails for none of them.
"""

import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from callgrind_vk import build_floor
from run import HERE, BenchError, measure_all, options

sys.path.insert(0, str(HERE.parent / "live"))
import harness
import vk_harness

SHARED = HERE.parents[1].parent / "shared" / "bench"
LAYER = "VK_LAYER_PASSTALLY_capture"
OVERLAY = {"VK_INSTANCE_LAYERS": "VK_LAYER_MESA_overlay", "VK_LAYER_MESA_OVERLAY_CONFIG": "no_display"}
NEVER = "start-on=frame:100000000"
NOOP = {"GALLIUM_NOOP": "1", "LIBGL_ALWAYS_SOFTWARE": "1", "EGL_PLATFORM": "surfaceless"}
VKCUBE_FRAMES = 600


class Programs:
    """Where things are, and how a program is run in a mode: {mode: (environment, words before the command)}."""

    def __init__(self, build, rounds):
        self.build, self.rounds = build, rounds
        for path in (build / "cli" / "passtally", build / "tests" / "bench" / "bench_gl"):
            if not path.exists():
                raise BenchError(f"{path} is not there: build first")
        self.folder = folder = pathlib.Path(tempfile.mkdtemp(prefix="passtally-bench-"))
        self.log = folder / "log.jsonl"
        self.pin = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if shutil.which("taskset") else []
        self.base = {k: v for k, v in os.environ.items() if not k.startswith(("PASSTALLY", "VK_"))}
        self.base.update(XDG_CONFIG_HOME=str(folder), NODEVICE_SELECT="1", LD_LIBRARY_PATH=str(build))

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def shim(self, **more):
        return {"LD_PRELOAD": str(self.build / "gl_shim" / "libpasstally_gl.so"), "PASSTALLY_LOG": str(self.log), **more}, []

    def layer(self, **more):
        return {"VK_ADD_LAYER_PATH": str(self.build / "vk_layer"), "VK_INSTANCE_LAYERS": LAYER, "PASSTALLY_LOG": str(self.log),
                **more}, []

    def command(self, *words):
        return {}, [str(self.build / "cli" / "passtally"), "run", "-q", "--force", "--log", str(self.log), *words, "--"]

    def rounds_of(self, case, command, modes, figure, more=None):
        """[{mode: figure}], one of each round."""
        print(f"\n{case}: {' '.join([pathlib.Path(command[0]).name, *command[1:]])}", flush=True)
        names, found = ["bare", "bare again", *modes], []
        for turn in range(self.rounds):
            got = {}
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                env, before = modes.get(name, ({}, []))
                self.log.unlink(missing_ok=True)
                got[name] = figure(self.pin + before + command, {**self.base, **(more or {}), **env})
            found.append(got)
        return found


def run(command, env):
    """What the program prints, and the CPU seconds of all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False, timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)}: {done.stdout[-500:].strip() or done.returncode}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(rounds, unit, measures, key, ratio=False):
    """A line a mode: what it adds to the bare run of its round, or its share of it."""
    for mode in sorted(set(rounds[0]) - {"bare"}, key=str.lower):
        values = sorted(r[mode] / r["bare"] if ratio else r[mode] - r["bare"] for r in rounds)
        low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
        measures[f"programs.{key}.{mode.replace(' ', '_')}"] = middle
        sign = "" if ratio else "+"
        print(f"  {mode:<14} {middle:{sign}9.2f} [{low:{sign}.2f} to {high:{sign}.2f}] {unit}")


def measured_where_possible(case):
    """The same for measure_all(): a case that lacks something says so and is left out."""
    def step(bench, measures):
        try:
            case(bench, measures)
        except SystemExit as end:
            if end.code != 77:
                raise
    return step


def lavapipe():
    return {"VK_ICD_FILENAMES": str(vk_harness.icd())}


def measure_lavapipe(bench, measures):
    icd, folder = lavapipe(), bench.folder / "floor"
    folder.mkdir()
    if not build_floor(folder):
        harness.skip("lavapipe: ../shared/bench or cc is not here")
    shutil.copytree(SHARED, folder / "bench")
    run(["sh", str(folder / "bench" / "build-vkbench.sh")], bench.base)
    floor = {"VK_LAYER_PATH": str(folder), "VK_INSTANCE_LAYERS": "VK_LAYER_FLOOR", "VKFLOOR_OUT": "/dev/null"}
    modes = {"default": bench.layer(), "idle": bench.layer(PASSTALLY_OPTIONS=NEVER), "floor": ({**floor, "VKFLOOR": "full"}, [])}
    command = [str(folder / "bench" / "vkbench"), "--passes", "1000", "--draws", "10", "--frames", "36"]
    rounds = bench.rounds_of("lavapipe", command, modes, lambda c, env: run(c, env)[1], icd)
    show(rounds, "times the CPU of the bare process", measures, "lavapipe", ratio=True)


def measure_vkcube(bench, measures):
    icd, first = lavapipe(), []
    harness.need_tool("vkcube")

    def figure(command, env):
        _, seconds = run(command, env)
        if "PASSTALLY_OPTIONS" not in env and bench.log.exists():
            with open(bench.log, encoding="utf-8") as log:
                record = next((r for r in map(json.loads, log) if r["type"] == "frame"), None)
            if record:
                first.append(record["overhead_ns"] / 1e3)
        return seconds * 1e6 / VKCUBE_FRAMES

    modes = {"default": bench.layer(), "idle": bench.layer(PASSTALLY_OPTIONS=NEVER), "Mesa overlay": (OVERLAY, [])}
    with harness.display() as name:
        rounds = bench.rounds_of("vkcube", ["vkcube", "--c", str(VKCUBE_FRAMES)], modes, figure, {**icd, "DISPLAY": name})
    show(rounds, "us of CPU a frame", measures, "vkcube")
    if first:
        measures["programs.vkcube.first_frame"] = statistics.median(first)
        print(f"  the first frame, in the program's thread: {measures['programs.vkcube.first_frame']:.0f} us, "
              f"at least {min(first):.0f}")


def measure_zink(bench, measures):
    icd = lavapipe()
    harness.need_tool("glmark2")

    def figure(command, env):
        return statistics.geometric_mean([1 / float(fps) for fps in re.findall(r"FPS: (\d+)", run(command, env)[0])])

    modes = {"default": bench.command(), "idle": bench.command("--start-on", "frame:100000000"), "Mesa overlay": (OVERLAY, [])}
    command = ["glmark2", "-s", "160x120", "-b", "shadow:nframes=300", "-b", "build:nframes=1000"]
    with harness.display() as name:
        zink = {"MESA_LOADER_DRIVER_OVERRIDE": "zink", "LIBGL_ALWAYS_SOFTWARE": "1", **icd, "DISPLAY": name}
        rounds = bench.rounds_of("zink", command, modes, figure, zink)
    show(rounds, "times the frame time of the bare program", measures, "zink", ratio=True)


def cpu_of_threads(process):
    """CPU seconds of each thread of a process."""
    found = {}
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found[task.name] = int((task / "schedstat").read_text(encoding="utf-8").split()[0]) / 1e9
    return found


def measure_paced(bench, measures):
    modes = {"default": bench.shim(), "api": bench.shim(PASSTALLY_OPTIONS="sources=api"),
             "idle": bench.shim(PASSTALLY_OPTIONS=NEVER)}

    def figure(command, env):
        """Between the program's start, which is not of interest, and its end."""
        with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            time.sleep(0.7)
            before, since = cpu_of_threads(process), time.monotonic()
            time.sleep(1.5)
            after, until = cpu_of_threads(process), time.monotonic()
            process.terminate()
            errors = process.stderr.read()
        if not after:
            raise BenchError(f"{' '.join(command)}: {errors.strip() or 'it ended early'}")
        return sum(after[t] - before[t] for t in after if t in before) * 1e3 / (until - since)

    for rate, pause in (("60", 16500), ("1000", 930)):
        command = [str(bench.build / "tests" / "bench" / "bench_gl"), "--library", "libEGL.so.1", "--passes", "20", "--draws", "50",
                   "--frames", "1000000", "--pause-us", str(pause)]
        rounds = bench.rounds_of(f"paced, {rate} frames a second", command, modes, figure, NOOP)
        show(rounds, "ms of CPU a second", measures, f"paced_{rate}")


CASES = {"lavapipe": measure_lavapipe, "vkcube": measure_vkcube, "zink": measure_zink, "paced": measure_paced}


def main():
    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="how often each mode is run (%(default)s)")
    parser.add_argument("--only", action="append", choices=list(CASES), help="a case to measure; may be repeated")
    args = parser.parse_args()
    return measure_all(args, lambda build, _repeats, _frames: Programs(build, 3 if args.quick else args.rounds),
                       [measured_where_possible(CASES[name]) for name in args.only or CASES], "programs.")


if __name__ == "__main__":
    sys.exit(main())
