# SPDX-License-Identifier: MIT
"""Passes of a real program (llvmpipe) under the shim, in the counters of a simulated Mali GPU that the program drives.

`exact` gives each pass exactly the script's counts; `sampled` is off by no more than the period divided by the
pass length, at the rate of the busiest adjacent pass. In both, no count is lost: passes + unattributed = the
counter's own delta (passtally check).

    mali_passes.py [exact|sampled]...
"""

import json
import sys

import harness
import mali_harness

KERNELS = ["kbase-csf", "kbase-jm,gpu=g72,iface=11.20,cores=0x2d", "kbase-old", "panfrost,cores=0x3"]
LENGTH_MS = 20


def places(folder, text):
    """The position of each counter, by the source alone."""
    session = mali_harness.run_session(mali_harness.Machine(), folder, text, "--samples", 0)
    return session.kernel, {key: place for key, place, _ in session.counters}


def run_scene(checks, folder, text, options, *args, strict=True):
    """The log, and for each frame what the program printed: rows of passes, and the longest time between
    samples."""
    log, trace = folder / "log.jsonl", folder / "trace"
    for path in (log, trace):
        path.unlink(missing_ok=True)
    env = harness.base_env(folder, harness.capture_env(log, {"counters": "all", **options},
                                                       after=[mali_harness.find("fake_kernel.so")]))
    env.update({"FAKE_KERNEL": text, "FAKE_KERNEL_TRACE": str(trace)})
    result = harness.run([harness.need("mali_scene"), *args], env)
    if result.status == 77:
        harness.skip(result.errors)
    checks.equal(result.status, 0, f"status, {result.errors[-800:]}")
    told = [json.loads(line) for line in result.text.splitlines()]
    misuses = [line for line in trace.read_text().splitlines() if line.startswith(("misuse:", "left open"))]
    if strict:
        checks.equal(misuses, [], "misuse of the kernel")
    harness.validate(checks, log)
    return harness.Log(log), told


def check_log(checks, log, told, source):
    """The source is on, and the log has every frame and pass."""
    state = {s["name"]: s for s in log.of("device")[-1]["sources"]}.get(source)
    checks.that(state and state["state"] == "on", f"{source}: {state}")
    checks.equal([len(f["passes"]) for f in log.frames], [len(row) - 1 for row in told], "passes")
    growth = [g for g in log.of("end")[-1].get("growth", []) if g["source"] == source]
    checks.that(len(growth) >= 40, f"{len(growth)} rows of growth")
    return growth


def check_utilization(checks, log, kernel, where):
    """Cycles that the GPU was active over those of its clock; absent where the kernel does not report the
    clock."""
    clock, active = where.get("mali_clock_cycles"), where.get("MaliGPUCyclesGPUActive")
    checks.equal(bool(clock), kernel.tells_clock, "the clock is counted")
    if kernel.gpu not in ("g71", "g72", "g51", "g52", "g76", "g31"):
        return
    want = 100 * kernel.rate(active) / kernel.rate(clock) if clock else None
    wrong = {}
    for frame in log.frames:
        for one in frame["passes"]:
            got = one.get("metrics", {}).get("JM.GPU_UTILIZATION")
            if (got is None) != (want is None) or got is not None and abs(got - want) > 1e-9 * want:
                wrong[frame["frame"], one["index"]] = got
    checks.equal(wrong, {}, f"JM.GPU_UTILIZATION is not {want}")


def check_exact(checks, folder):
    for text in KERNELS:
        with checks.part(f"exact, {text}"):
            kernel, where = places(folder, text)
            log, told = run_scene(checks, folder, text, {"snapshot": "exact"}, "--frames", "30")
            growth = check_log(checks, log, told, kernel.source)
            for frame, row in zip(log.frames, told):
                for one, (script_ns, _) in zip(frame["passes"], row):
                    want = {key: kernel.rate(place) * script_ns // 1000 for key, place in where.items()}
                    got = {key: one["counters"].get(key) for key in where}
                    checks.equal({k: (got[k], want[k]) for k in want if got[k] != want[k]}, {},
                                 f"frame {frame['frame']}, pass {one['index']}")
                    checks.equal(sorted(set(one.get("estimated", [])) & set(where)), [], "estimated")
            check_utilization(checks, log, kernel, where)
            total_us = sum(script_ns for row in told for script_ns, _ in row[:-1]) // 1000
            wrong = [g for g in growth if g["growth"] != kernel.rate(where[g["key"]]) * total_us]
            checks.equal(wrong[:3], [], "growth")


def check_sampled(checks, folder):
    for text in KERNELS:
        with checks.part(f"sampled, {text}"):
            kernel, where = places(folder, text)
            log, told = run_scene(checks, folder, text, {"snapshot": "sampled", "period": "1ms"}, "--frames", "7",
                                  "--by", "clock", "--length", LENGTH_MS)
            check_log(checks, log, told, kernel.source)
            worst = 0.0
            # The first frame makes shaders, before the GPU begins; for the last one the distance to its last
            # sample is unknown.
            for frame, row, after in list(zip(log.frames, told, told[1:]))[1:]:
                # Samples are as far apart as the machine allows; the row of the later one has the distance.
                period_ns = max(1_000_000, row[-1], after[-1])
                speeds = [script_ns / length_ns for script_ns, length_ns in row[:-1]]
                for n, (one, (script_ns, length_ns)) in enumerate(zip(frame["passes"], row)):
                    # The counts between the samples around a border are apportioned by time, and a sample's own
                    # time is known to within half the distance: a pass may get more of a busier neighbor's counts
                    # than of its own.
                    most = period_ns / length_ns * max(speeds[max(n - 1, 0):n + 2]) / speeds[n]
                    # The script's clock runs on while the program waits for the CPU, when the GPU has no work of
                    # the pass.
                    outside = max(0, length_ns - one["gpu_ns"]) / length_ns
                    for key, place in where.items():
                        want = kernel.rate(place) * script_ns / 1000
                        got = one["counters"].get(key)
                        if not checks.that(got is not None, f"pass {one['index']} has no {key}"):
                            break
                        off = got / want - 1
                        worst = max(worst, off / most, (-off - outside) / most)
                        if not checks.that(-most - outside <= off <= most, f"frame {frame['frame']}, pass {one['index']}:"
                                           f" {key} is {got}, {off:.3f} off {want:.0f}; {length_ns} ns long, samples "
                                           f"up to {period_ns} ns apart"):
                            break
                    checks.equal(sorted(set(where) - set(one.get("estimated", []))), [], "not estimated")
            print(f"  off by at most {worst:.2f} of what may be")


def check_hangs(checks, folder):
    """A kernel call that takes ten minutes: frames have everything except this source's values, are flagged, and
    the log ends properly."""
    kernel, where = places(folder, "kbase-csf")
    for snapshot, fault in (("sampled", "sample:HANG600000:20"), ("exact", "sample:HANG600000:40")):
        with checks.part(f"{snapshot}, {fault}"):
            log, told = run_scene(checks, folder, f"kbase-csf,fail={fault}", {"snapshot": snapshot, "period": "1ms"},
                                  "--frames", "30", strict=False)
            checks.equal((len(log.frames), log.of("end")[-1]["frames_dropped"]), (len(told), 0), "frames, dropped ones")
            # What was in progress when the program ended has neither.
            passes = [p for f in log.frames for p in f["passes"] if "lost" not in p.get("flags", [])]
            checks.equal(len([p for p in passes if "gpu_ns" not in p]), 0, "passes without a time")
            checks.that(any("left out until it answers" in n for n in log.notes), f"notes {log.notes}")
            without = [p for p in passes if set(where) - set(p.get("counters", {}))]
            print(f"  {len(without)} of {len(passes)} passes without values")
            checks.equal([p["index"] for p in without if "unsampled" not in p.get("flags", [])], [], "and not flagged")
            checks.that(without, "the hang was not seen")


PARTS = {"exact": check_exact, "sampled": check_sampled, "hangs": check_hangs}


def main():
    checks = harness.Checks()
    with harness.scratch() as folder:
        for part in sys.argv[1:] or PARTS:
            PARTS[part](checks, folder)
    checks.finish()


if __name__ == "__main__":
    main()
