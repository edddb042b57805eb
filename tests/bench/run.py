#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure what passtally costs a GL program, in one run on one processor.

    tests/bench/run.py --build FOLDER [--quick] [--check] [--json FILE] [--no-mesa]

The same program draws over a library that does nothing (and over Mesa's no-op driver where that is
installed): bare, with the shim loaded but disabled, and capturing with no source, with time stamps
and with everything. Printed are ns a draw and a pass on top of the bare program, ratios, bytes of
log, resident growth and start-up cost. Each figure is the best of several interleaved runs, so that
a busy machine disturbs it least; only ratios of one run are worth comparing between machines.
--check compares with tests/bench/ceilings.json; exit status 1 when something is over.
"""

import argparse
import ctypes.util
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODES = {
    "bare": None,
    "disabled": {"PASSTALLY_DISABLE": "1"},
    "no source": {"PASSTALLY_OPTIONS": "sources=api"},
    "time stamps": {"PASSTALLY_OPTIONS": "sources=gl-timestamp"},
    "statistics": {"PASSTALLY_OPTIONS": "sources=gl-timestamp+gl-statistics"},
}
CAPTURING = ("no source", "time stamps", "statistics")
FEW, MANY, ONE = (10, 1000), (1000, 10), (1, 0)


class BenchError(Exception):
    """A program did not run: there is nothing to report."""


class Bench:
    """Runs the benchmark programs and keeps the best figures."""

    def __init__(self, build, repeats, frames):
        self.program = build / "tests" / "bench" / "bench_gl"
        self.spawn = build / "tests" / "bench" / "bench_spawn"
        self.shim = build / "gl_shim" / "libpasstally_gl.so"
        for path in (self.program, self.spawn, self.shim):
            if not path.exists():
                raise BenchError(f"{path} is not there: build first")
        self.repeats = repeats
        self.frames = frames
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="passtally-bench-"))
        # Named like the library that it replaces: the shim looks at the name.
        self.stub = self.folder / "libEGL.so.1"
        self.stub.symlink_to(build / "tests" / "bench" / "libstub_gl.so")
        self.pin = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if shutil.which("taskset") else []

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, mode, more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PASSTALLY")}
        env.update(more, XDG_CONFIG_HOME=str(self.folder))
        if MODES[mode] is not None:
            env["LD_PRELOAD"] = str(self.shim)
            env["PASSTALLY_LOG"] = str(self.folder / "log.jsonl")
            env.update(MODES[mode])
        return env

    def run(self, command, mode, more=None):
        (self.folder / "log.jsonl").unlink(missing_ok=True)
        done = subprocess.run(self.pin + command, env=self.environment(mode, more or {}),
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"{' '.join(command)} ({mode}): {done.stderr.strip() or done.returncode}")
        return json.loads(done.stdout)

    def draw(self, modes, passes, draws, threads=1, library=None, more=None, frames=None):
        """Best figures by mode; the modes take turns."""
        frames = frames or self.frames
        command = [str(self.program), "--library", str(library or self.stub), "--passes", str(passes),
                   "--draws", str(draws), "--threads", str(threads), "--frames", str(frames),
                   "--pause-us", str(500 + 2 * passes)]
        best = {}
        for _ in range(self.repeats):
            for mode in modes:
                got = self.run(command, mode, more)
                if mode in CAPTURING:
                    got.update(read_log(self.folder))
                old = best.get(mode)
                best[mode] = got if old is None else {k: min(v, old[k]) for k, v in got.items()}
        return best


def read_log(folder):
    """Bytes a pass (frame lines), the same compressed, and what was dropped."""
    path = folder / "log.jsonl"
    lines = passes = dropped = 0
    frames = folder / "frames.jsonl"
    if not path.exists():
        raise BenchError("no log was written: see the log path and options")
    with open(path, encoding="utf-8") as log, open(frames, "w", encoding="utf-8") as kept:
        for line in log:
            record = json.loads(line)
            if record["type"] == "frame":
                lines += len(line.encode())
                passes += len(record["passes"])
                dropped += record.get("dropped_passes", 0)
                kept.write(line)
            elif record["type"] == "end":
                dropped += record.get("frames_dropped", 0)
    if not passes:
        raise BenchError("the log holds no pass: nothing was measured")
    found = {"bytes_a_pass": lines / passes, "dropped": dropped}
    if shutil.which("zstd"):
        packed = subprocess.run(["zstd", "-1", "-q", "-c", str(frames)], capture_output=True, check=True)
        found["zstd_a_pass"] = len(packed.stdout) / passes
    return found


def split_cost(bare, got):
    """What one draw, one pass and one frame add, in ns, from three shapes of frame."""
    few, many, one = (got[s]["frame_ns_low"] - bare[s]["frame_ns_low"] for s in (FEW, MANY, ONE))
    passes = (many - few) / (MANY[0] - FEW[0])
    frame = one - passes
    draw = (few - FEW[0] * passes - frame) / (FEW[0] * FEW[1])
    return draw, passes, frame


def measure_shapes(bench, measures):
    modes = list(MODES)
    shapes = {shape: bench.draw(modes, *shape) for shape in (FEW, MANY, ONE)}
    by_mode = {mode: {shape: shapes[shape][mode] for shape in shapes} for mode in modes}
    bare = by_mode["bare"]
    per_draw = bare[FEW]["frame_ns_low"] / (FEW[0] * FEW[1])
    measures["bare.draw_ns"] = per_draw
    print(f"Over a do-nothing library; a bare draw takes {per_draw:.2f} ns.\n")
    print(f"{'':<12} {'ns/draw':>8} {'ns/pass':>8} {'ns/frame':>9} {'10x1000':>8} {'1000x10':>8} "
          f"{'writer ns/pass':>14} {'B/pass':>7} {'zstd':>6} {'KiB':>6} {'dropped':>7}")
    for mode in modes[1:]:
        got = by_mode[mode]
        draw, one_pass, frame = split_cost(bare, got)
        few, many = (got[s]["frame_ns_low"] / bare[s]["frame_ns_low"] for s in (FEW, MANY))
        grown = got[FEW]["peak_kib"] - bare[FEW]["peak_kib"]
        key = mode.replace(" ", "_")
        measures.update({f"{key}.draw_ns": draw, f"{key}.pass_ns": one_pass, f"{key}.frame_ns": frame,
                         f"{key}.draw_ratio": 1 + draw / per_draw, f"{key}.ratio_10x1000": few,
                         f"{key}.ratio_1000x10": many, f"{key}.resident_kib": grown})
        line = f"{mode:<12} {draw:8.2f} {one_pass:8.0f} {frame:9.0f} {few:8.2f} {many:8.2f}"
        if mode in CAPTURING:
            n_passes = MANY[0] * (bench.frames + 20)
            writer = (got[MANY]["others_ns"] - bare[MANY]["others_ns"]) / n_passes
            bytes_a_pass = got[MANY]["bytes_a_pass"]
            zstd = got[MANY].get("zstd_a_pass", float("nan"))
            dropped = got[MANY]["dropped"] + got[FEW]["dropped"]
            measures.update({f"{key}.writer_ns": writer, f"{key}.bytes_a_pass": bytes_a_pass,
                             f"{key}.zstd_a_pass": zstd, f"{key}.dropped": dropped})
            line += f" {writer:14.0f} {bytes_a_pass:7.0f} {zstd:6.0f} {grown:6} {dropped:7}"
        else:
            line += f" {'':14} {'':7} {'':6} {grown:6}"
        print(line)


def growth_of(costs):
    """The largest cost over a smaller frame's. A larger frame may cost less a pass: where passes are dropped."""
    return max(later / earlier for earlier, later in itertools.combinations(costs, 2))


def measure_growth(bench, measures):
    """Is a pass as cheap in a large frame, and with several threads at once?"""
    print("\nns a pass (time stamps, 10 draws each), driver's own share taken off:")
    costs = []
    for passes in (10, 100, 1000, 10000):
        got = bench.draw(["bare", "time stamps"], passes, 10, frames=max(20, bench.frames // 5))
        added = got["time stamps"]["frame_ns_low"] - got["bare"]["frame_ns_low"]
        grown = got["time stamps"]["peak_kib"] - got["bare"]["peak_kib"]
        costs.append((added - measures["time_stamps.frame_ns"]) / passes)
        measures[f"growth.{passes}_passes_ns"] = costs[-1]
        measures[f"growth.{passes}_passes_kib"] = grown
        print(f"  {passes:6} passes a frame: {costs[-1]:7.0f}   resident +{grown} KiB"
              f"   dropped {got['time stamps']['dropped']}")
    # At ten passes the frame's fixed part is as large as what is looked for.
    measures["growth.passes_ratio"] = growth_of(costs[1:])
    costs = []
    for threads in (1, 2, 4, 8):
        got = bench.draw(["bare", "time stamps"], *MANY, threads=threads, frames=max(20, bench.frames // 5))
        added = got["time stamps"]["frame_ns_low"] - got["bare"]["frame_ns_low"]
        costs.append((added - measures["time_stamps.frame_ns"]) / MANY[0])
        measures[f"growth.{threads}_threads_ns"] = costs[-1]
        print(f"  {threads:6} threads, a context each: {costs[-1]:7.0f}   dropped "
              f"{got['time stamps']['dropped']}")
    measures["growth.threads_ratio"] = max(costs) / costs[0]


def measure_start(bench, measures):
    command = [str(bench.spawn), "300", "/bin/true"]
    best = {}
    for _ in range(bench.repeats):
        for mode in ("bare", "disabled", "time stamps"):
            got = bench.run(command, mode)["spawn_ns"]
            best[mode] = min(got, best.get(mode, got))
    print("\nStarting a program that draws nothing, us:"
          + "".join(f"  {mode} {ns / 1000:.0f}" for mode, ns in best.items()))
    measures["start.disabled_ns"] = best["disabled"] - best["bare"]
    measures["start.loaded_ns"] = best["time stamps"] - best["bare"]
    measures["start.disabled_ratio"] = best["disabled"] / best["bare"]


def measure_mesa(bench, measures):
    library = ctypes.util.find_library("EGL")
    if not library:
        print("\nMesa's no-op driver: skipped, no libEGL here")
        return
    more = {"GALLIUM_NOOP": "1", "EGL_PLATFORM": "surfaceless", "LIBGL_ALWAYS_SOFTWARE": "1"}
    print("\nOver Mesa's no-op driver, CPU time of the program's thread against bare:")
    few = bench.draw(list(MODES), *FEW, library=library, more=more)
    many = bench.draw(list(MODES), *MANY, library=library, more=more)
    for mode in list(MODES)[1:]:
        ratios = [got[mode]["frame_ns_low"] / got["bare"]["frame_ns_low"] for got in (few, many)]
        key = mode.replace(" ", "_")
        measures[f"mesa.{key}.ratio_10x1000"], measures[f"mesa.{key}.ratio_1000x10"] = ratios
        added = (many[mode]["frame_ns_low"] - many["bare"]["frame_ns_low"]) / MANY[0]
        print(f"  {mode:<12} 10x1000 {ratios[0]:5.2f}   1000x10 {ratios[1]:5.2f}   +{added:.0f} ns/pass")


FLOORS = {"time stamps": "time", "statistics": "stats"}  # GLFLOOR


def build_floor(folder):
    """The minimal library and a program for it; False where they are absent or cannot be built."""
    source = HERE.parents[2] / "shared" / "bench"
    if not (source / "glfloor.c").exists() or not shutil.which("cc"):
        return False
    shutil.copytree(source, folder)
    shim = ["cc", "-O2", "-shared", "-fPIC", "glfloor.c", "-o", "libglfloor.so", "-ldl"]
    return all(subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
               for command in (["sh", "build-glbench.sh"], shim))


def measure_floor(bench, measures):
    """CPU time of the whole process per pass, compared with that of the floor (the minimal library), which writes
    its lines in the program's thread. It is shown but not judged: each is the difference of two sums, and the
    floor's is 50 to 120 ns: with other cores busy, four runs gave 5.5 to 13.8 times and, with statistics, 2.1 to
    3.2. Instructions are judged instead, those of the program's thread and of passtally's (callgrind.py), for
    Vulkan also as multiples of the floor's (callgrind_vk.py): no other program disturbs them."""
    folder = bench.folder / "floor"
    if not build_floor(folder):
        print("\nThe floor: skipped, ../shared/bench is not here, or cc and libgl-dev, libegl-dev, libx11-dev are not")
        return
    command = [str(folder / "glbench"), "--json", "--passes", str(MANY[0]), "--draws", str(MANY[1]),
               "--frames", str(bench.frames)]
    noop = {"GALLIUM_NOOP": "1", "LIBGL_ALWAYS_SOFTWARE": "1"}
    best = {}
    for _ in range(bench.repeats):
        for mode in ("bare", *FLOORS):
            runs = {mode: (mode, noop)}
            if mode in FLOORS:
                runs[f"floor of {mode}"] = ("bare", {**noop, "GLFLOOR": FLOORS[mode],
                                                     "LD_PRELOAD": str(folder / "libglfloor.so")})
            for name, (as_mode, more) in runs.items():
                us = bench.run(command, as_mode, more)["mean_cpu_us"]
                best[name] = min(us, best.get(name, us))
    print("\nOver Mesa's no-op driver, CPU time of the process a pass of 10 draws, above bare:")
    for mode in FLOORS:
        ours, floor = ((best[name] - best["bare"]) * 1000 / MANY[0] for name in (mode, f"floor of {mode}"))
        measures[f"floor.{mode.replace(' ', '_')}.process_ratio"] = ours / floor
        print(f"  {mode:<12} {ours:6.0f} ns, the floor {floor:6.0f} ns: {ours / floor:.2f} times")


def measure_log(bench, measures):
    """The log's writer and reader compared with jansson and yajl."""
    program = bench.program.with_name("bench_json")
    if not program.exists():
        print("\nThe log's speed: skipped, built without jansson and yajl")
        return
    done = subprocess.run(bench.pin + [str(program)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(done.stderr.strip())
    *lines, last = done.stdout.strip().split("\n")
    print("\nThe log: " + "\n".join(lines))
    measures.update(json.loads(last))


SNAPSHOT_SOURCES = [
    ("fake-snapshot", None),
    ("linux-perf", None),
    ("linux-proc", None),
    ("mali-kbase", "kbase-csf,gpu=g715,clock=mono"),
    ("mali-panfrost", "panfrost,clock=mono"),
]


def snapshot_figures(bench, command, kernel=None):
    """What bench_snapshot prints; None where the source is off."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PASSTALLY")}
    if kernel:
        env.update(FAKE_KERNEL=kernel,
                   LD_PRELOAD=str(bench.program.parents[1] / "fake_kernel" / "fake_kernel.so"))
    best = {}
    for _ in range(bench.repeats):
        done = subprocess.run(bench.pin + [str(bench.program.with_name("bench_snapshot")), *command],
                              env=env, capture_output=True, text=True, check=False)
        if done.returncode == 77:
            print(f"  {done.stderr.strip()}")
            return None
        if done.returncode != 0:
            raise BenchError(done.stderr.strip() or f"bench_snapshot: {done.returncode}")
        got = json.loads(done.stdout)
        best = {k: min(v, best.get(k, v)) for k, v in got.items()}
    return best


def measure_snapshot(bench, measures):
    """Counter snapshots: taking a reading and cutting it into passes, both outside the game's threads."""
    if not bench.program.with_name("bench_snapshot").exists():
        print("\nSnapshots: skipped, bench_snapshot is not built")
        return
    print("\nSnapshots, one reading (mali-*: of the simulated kernel), and its share of a period of 1 ms:")
    for source, kernel in SNAPSHOT_SOURCES:
        got = snapshot_figures(bench, ["sample", source], kernel)
        if got:
            measures[f"snapshot.{source}_ns"] = got["sample_ns"]
            print(f"  {source:<14} {got['sample_ns']:7} ns   one in a hundred over {got['sample_ns_99']} ns   "
                  f"{got['counters']} counters   {got['sample_ns'] / 1e4:.1f} %")
    print("Cutting 150 counters into passes, ns a pass; `sampled` costs the game's threads nothing:")
    costs = []
    for passes in (10, 100, 1000, 10000):
        one, three = (snapshot_figures(bench, ["cut", str(passes), "150", overlap])["pass_ns"]
                      for overlap in ("1", "3"))
        costs.append(one)
        measures[f"snapshot.cut_{passes}_passes_ns"] = one
        print(f"  {passes:6} passes a frame: {one:7.0f}   three at once: {three:7.0f}")
    # At ten passes the fixed cost of a frame is as large as the cost of the passes.
    measures["snapshot.cut_ratio"] = max(costs[1:]) / min(costs[1:])


def measure_metrics(bench, measures):
    """Expressions: parsing them, binding them to a device, and computing their values in each pass."""
    program = bench.program.with_name("bench_metrics")
    if not program.exists():
        print("\nMetrics: skipped, bench_metrics is not built")
        return
    done = subprocess.run(bench.pin + [str(program)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(done.stderr.strip() or f"bench_metrics: {done.returncode}")
    *lines, last = done.stdout.strip().split("\n")
    print("\nMetrics of a Mali-G715, on the writer thread:\n  " + "\n  ".join(lines))
    measures.update(json.loads(last))


def compare(measures, ceilings, prefix=""):
    """True when nothing that --check examines is over its limit. Budgets in ns are shown, not judged. `prefix`
    limits it to names with that prefix; without one, to all except those of the other scripts here."""
    good = True
    print("\nAgainst tests/bench/ceilings.json:")
    for group, judged in (("ratios", True), ("floors", True), ("budgets", False)):
        for name, limit in ceilings[group].items():
            if not name.startswith(prefix) or (not prefix and name.startswith(("vk.", "report.", "programs."))):
                continue
            if name not in measures:
                print(f"  {name}: not measured in this run")
                continue
            fits = measures[name] >= limit if group == "floors" else measures[name] <= limit
            good = good and (fits or not judged)
            print(f"  {'ok' if fits else 'OVER' if group != 'floors' else 'UNDER':<5} {name} "
                  f"{measures[name]:.2f} ({'floor' if group == 'floors' else 'ceiling'} {limit}"
                  + ("" if judged else ", depends on the machine: not judged") + ")")
    return good


def options(text):
    """The options that every benchmark takes; `text` is the script's own."""
    parser = argparse.ArgumentParser(description=text.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build")
    parser.add_argument("--quick", action="store_true", help="fewer frames and repeats: rougher")
    parser.add_argument("--check", action="store_true", help="exit 1 when a ratio is over its ceiling")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    return parser


def measure_all(args, kind, steps, prefix=""):
    """Runs each step that has a benchmark of that kind, then compares; returns the exit status."""
    measures = {}
    bench = None
    try:
        bench = kind(args.build.resolve(), 2 if args.quick else 5, 100 if args.quick else 300)
        for step in steps:
            step(bench, measures)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    finally:
        if bench:
            bench.close()
    if args.json:
        args.json.write_text(json.dumps(measures, indent="\t") + "\n", encoding="utf-8")
    ceilings = json.loads((HERE / "ceilings.json").read_text(encoding="utf-8"))
    good = compare(measures, ceilings, prefix)
    return 1 if args.check and not good else 0


def main():
    parser = options(__doc__)
    parser.add_argument("--no-mesa", action="store_true", help="only the do-nothing library")
    parser.add_argument("--snapshot", action="store_true", help="only counter snapshots")
    args = parser.parse_args()
    steps = [measure_shapes, measure_growth, measure_start, measure_floor, measure_log, measure_snapshot,
             measure_metrics]
    if args.snapshot:
        return measure_all(args, Bench, [measure_snapshot], "snapshot.")
    return measure_all(args, Bench, steps if args.no_mesa else [*steps, measure_mesa])


if __name__ == "__main__":
    sys.exit(main())
