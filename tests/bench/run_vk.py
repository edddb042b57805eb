#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure what passtally costs a Vulkan program, in one run on one processor.

    tests/bench/run_vk.py --build FOLDER [--quick] [--check] [--json FILE]

The same program records and submits over a driver that does nothing: bare, with the layer loaded but
disabled, capturing with no source, with time stamps and with statistics, and under Mesa's overlay
layer with its statistics on, where that is installed. Printed are ns a draw, a pass, a submission and
a frame on top of the bare program, ratios, bytes of log and resident growth. Each figure is the best of
several interleaved runs; only ratios of one run are worth comparing between machines. --check
compares with tests/bench/ceilings.json (names that begin with "vk."); exit status 1 when something is
over.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from run import FEW, MANY, ONE, BenchError, growth_of, measure_all, options, read_log, split_cost

LAYER = "VK_LAYER_PASSTALLY_capture"
OVERLAY = "VK_LAYER_MESA_overlay"
MODES = {
    "bare": None,
    "disabled": {"PASSTALLY_DISABLE": "1"},
    "no source": {"PASSTALLY_OPTIONS": "sources=api"},
    "time stamps": {"PASSTALLY_OPTIONS": "sources=api+vk-timestamp"},
    "statistics": {"PASSTALLY_OPTIONS": "sources=api+vk-timestamp+vk-statistics"},
}
CAPTURING = ("no source", "time stamps", "statistics")
OTHERS = {
    "Mesa overlay": {"VK_INSTANCE_LAYERS": OVERLAY,
                     "VK_LAYER_MESA_OVERLAY_CONFIG": "no_display,gpu_timing,vertices,primitives,output_file=/dev/null"},
}
SUBMITS = 20


class Bench:
    """Runs the benchmark program and keeps the best figures."""

    def __init__(self, build, repeats, frames):
        self.program = build / "tests" / "bench" / "bench_vk"
        self.driver = build / "tests" / "fake_vk" / "fake_vk.json"
        self.layer = build / "vk_layer"
        for path in (self.program, self.driver, self.layer / "libVkLayer_passtally.so"):
            if not path.exists():
                raise BenchError(f"{path} is not there: build first")
        self.repeats = repeats
        self.frames = frames
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="passtally-bench-"))
        self.processor = max(os.sched_getaffinity(0))

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, mode, threads):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PASSTALLY", "VK_"))}
        env.update(VK_ICD_FILENAMES=str(self.driver), FAKE_VK="bench", NODEVICE_SELECT="1",
                   DISABLE_MANGOHUD="1", XDG_CONFIG_HOME=str(self.folder))
        if mode in OTHERS:
            env.update(OTHERS[mode])
        elif MODES[mode] is not None:
            env.update(VK_ADD_LAYER_PATH=str(self.layer), VK_INSTANCE_LAYERS=LAYER,
                       PASSTALLY_LOG=str(self.folder / "log.jsonl"))
            env.update(MODES[mode])
            if "PASSTALLY_OPTIONS" in env:
                env["PASSTALLY_OPTIONS"] += f",frame=submit:{threads}"
        return env

    def run(self, command, mode, threads, pin=True):
        (self.folder / "log.jsonl").unlink(missing_ok=True)
        pinned = ["taskset", "-c", str(self.processor)] if pin and shutil.which("taskset") else []
        done = subprocess.run(pinned + command, env=self.environment(mode, threads), capture_output=True,
                              text=True, check=False, timeout=600)
        if done.returncode != 0:
            raise BenchError(f"{' '.join(command)} ({mode}): {done.stderr.strip() or done.returncode}")
        return json.loads(done.stdout.strip().split("\n")[-1])

    def frame(self, modes, passes, draws, threads=1, submits=1, frames=None, more=(), pin=True):
        """Best figures by mode; the modes take turns."""
        command = [str(self.program), "--passes", str(passes), "--draws", str(draws), "--threads", str(threads),
                   "--submits", str(submits), "--frames", str(frames or self.frames),
                   "--pause-us", str(500 + 2 * passes * submits), *more]
        best = {}
        for _ in range(self.repeats):
            for mode in modes:
                got = self.run(command, mode, threads * submits, pin)
                if mode in CAPTURING and passes:
                    got.update(read_log(self.folder))
                old = best.get(mode)
                best[mode] = got if old is None else {k: min(v, old[k]) for k, v in got.items()}
        return best


def overlay_is_there():
    return pathlib.Path("/usr/share/vulkan/explicit_layer.d/VkLayer_MESA_overlay.json").exists()


def measure_shapes(bench, measures):
    modes = list(MODES) + [name for name in OTHERS if overlay_is_there()]
    shapes = {shape: bench.frame(modes, *shape) for shape in (FEW, MANY, ONE)}
    many_submits = bench.frame(modes, 1, 0, submits=SUBMITS)
    by_mode = {mode: {shape: shapes[shape][mode] for shape in shapes} for mode in modes}
    bare = by_mode["bare"]
    per_draw = bare[FEW]["frame_ns_low"] / (FEW[0] * FEW[1])
    measures["vk.bare.draw_ns"] = per_draw
    print(f"Over a do-nothing driver; a bare draw takes {per_draw:.2f} ns.\n")
    print(f"{'':<12} {'ns/draw':>8} {'ns/pass':>8} {'ns/submit':>9} {'ns/frame':>9} {'10x1000':>8} {'1000x10':>8} "
          f"{'writer ns/pass':>14} {'B/pass':>7} {'zstd':>6} {'KiB':>6} {'dropped':>7}")
    for mode in modes[1:]:
        got = by_mode[mode]
        draw, one_pass, frame = split_cost(bare, got)
        submit = (many_submits[mode]["frame_ns_low"] - many_submits["bare"]["frame_ns_low"] - one_pass - frame)
        submit = submit / (SUBMITS - 1) - one_pass
        few, many = (got[s]["frame_ns_low"] / bare[s]["frame_ns_low"] for s in (FEW, MANY))
        grown = got[FEW]["peak_kib"] - bare[FEW]["peak_kib"]
        key = "vk." + mode.replace(" ", "_")
        measures.update({f"{key}.draw_ns": draw, f"{key}.pass_ns": one_pass, f"{key}.frame_ns": frame,
                         f"{key}.submit_ns": submit, f"{key}.draw_ratio": 1 + draw / per_draw,
                         f"{key}.ratio_10x1000": few, f"{key}.ratio_1000x10": many, f"{key}.resident_kib": grown})
        line = f"{mode:<12} {draw:8.2f} {one_pass:8.0f} {submit:9.0f} {frame:9.0f} {few:8.2f} {many:8.2f}"
        if mode in CAPTURING:
            n_passes = MANY[0] * (bench.frames + 20)
            writer = (got[MANY]["others_ns"] - bare[MANY]["others_ns"]) / n_passes
            dropped = got[MANY]["dropped"] + got[FEW]["dropped"]
            bytes_a_pass, zstd = got[MANY]["bytes_a_pass"], got[MANY].get("zstd_a_pass", float("nan"))
            measures.update({f"{key}.writer_ns": writer, f"{key}.bytes_a_pass": bytes_a_pass,
                             f"{key}.zstd_a_pass": zstd, f"{key}.dropped": dropped})
            line += f" {writer:14.0f} {bytes_a_pass:7.0f} {zstd:6.0f} {grown:6} {dropped:7}"
        else:
            line += f" {'':14} {'':7} {'':6} {grown:6}"
        print(line)


def measure_reuse(bench, measures):
    """Buffers recorded once and submitted every frame: the pass costs at submission alone."""
    got = bench.frame(["bare", "time stamps"], *MANY, more=["--reuse"])
    added = (got["time stamps"]["frame_ns_low"] - got["bare"]["frame_ns_low"]) / MANY[0]
    measures["vk.reuse.pass_ns"] = added
    print(f"\nRecorded once, submitted every frame: {added:.0f} ns a pass")


def measure_growth(bench, measures):
    """Checks whether a pass is as cheap in a large frame, and with several threads recording at once."""
    frames = max(20, bench.frames // 5)
    print("\nns a pass (time stamps, 10 draws each), driver's own share taken off:")
    costs = []
    for passes in (10, 100, 1000, 10000):
        got = bench.frame(["bare", "time stamps"], passes, 10, frames=frames)
        added = got["time stamps"]["frame_ns_low"] - got["bare"]["frame_ns_low"]
        grown = got["time stamps"]["peak_kib"] - got["bare"]["peak_kib"]
        costs.append((added - measures["vk.time_stamps.frame_ns"]) / passes)
        measures[f"vk.growth.{passes}_passes_ns"] = costs[-1]
        measures[f"vk.growth.{passes}_passes_kib"] = grown
        print(f"  {passes:6} passes a frame: {costs[-1]:7.0f}   resident +{grown} KiB"
              f"   dropped {got['time stamps']['dropped']}")
    measures["vk.growth.passes_ratio"] = growth_of(costs[1:])
    costs = []
    # The number of passes a frame does not depend on the number of threads: otherwise the one processor that the
    # program and the log's writer share would drop passes, which costs little.
    for threads in (1, 2, 4, 8):
        passes = MANY[0] // threads
        got = bench.frame(["bare", "time stamps"], passes, MANY[1], threads=threads, frames=frames)
        added = got["time stamps"]["frame_ns_low"] - got["bare"]["frame_ns_low"]
        costs.append((added - measures["vk.time_stamps.frame_ns"] / threads) / passes)
        measures[f"vk.growth.{threads}_threads_ns"] = costs[-1]
        print(f"  {threads:6} threads recording: {costs[-1]:7.0f}   dropped {got['time stamps']['dropped']}")
    measures["vk.growth.threads_ratio"] = max(costs) / costs[0]


def main():
    return measure_all(options(__doc__).parse_args(), Bench, [measure_shapes, measure_reuse, measure_growth], "vk.")


if __name__ == "__main__":
    sys.exit(main())
