# SPDX-License-Identifier: MIT
"""Counter snapshots cut into passes: the apportioned values are exactly the counted ones.

fake-snapshot's fake_total_ns increases by one each nanosecond of the CPU's clock, so with --snapshot
sampled a pass that nothing overlaps has as much of it as its GPU time. linux-perf (or linux-proc,
where perf is denied) counts this process for real. Over a log the values of passes and what is
unattributed are the growth in the end line: `passtally check` verifies it, and so do the sums that are computed
here, each in its own way.

  snapshots.py gl|vk
"""

import sys

import harness as h
import vk_harness as vk

FAKE = ["fake_total_ns", "fake_total_half_ns", "fake_total_us", "fake_total_reads"]
FRAMES = 60  # see h.long_enough()


def run_gl(folder, log, options, frames, scene="deferred"):
    env = h.base_env(folder, h.capture_env(log, {"frame": "finish", **options}))
    return h.run([h.need("scenes"), scene, "--platform", "surfaceless", "--frames", frames, "--end", "finish"], env)


def run_vk(folder, log, options, frames, scene="targets"):
    env = vk.layer_env(folder, log, {"frame": "submit:1", **options})
    return h.run([h.need("vk_scenes"), scene, "--frames", frames], env)


def check_sums(checks, log, keys):
    """Does by hand what `passtally check` does; returns the growth, by key."""
    ends = log.of("end")
    if not checks.equal(len(ends), 1, "end lines"):
        return {}
    total = {}
    for row in ends[0].get("growth", []):
        told = row.get("unlogged", 0)
        for frame in log.frames:
            if frame["device"] != row["device"]:
                continue
            parts = [p.get("counters", {}) for p in frame["passes"]]
            parts.append(frame.get("unattributed", {}).get("counters", {}))
            told += sum(p.get(row["key"], 0) for p in parts)
        checks.equal(told, row["growth"], f"the sum of {row['key']} of device {row['device']}")
        total[row["key"]] = total.get(row["key"], 0) + row["growth"] + row.get("outside", 0)
    for key in keys:
        checks.that(key in total, f"the end line does not tell of {key}")
    return total


def capture(checks, run, options, fine=lambda log: True):
    def once(frames):
        with h.scratch() as folder:
            result = run(folder, folder / "log.jsonl", options, frames)
            checks.equal(result.status, 0, f"exit status ({result.errors[-300:]!r})")
            h.validate(checks, folder / "log.jsonl")
            return h.Log(folder / "log.jsonl")

    return h.long_enough(FRAMES, once, fine)


def counts(key, n=1):
    """Whether a log has it this often."""
    return lambda log: sum(p.get("counters", {}).get(key, 0) > 0
                           for f in log.frames for p in [*f["passes"], f.get("unattributed", {})]) >= n


def passes_of(log):
    return [p for f in log.frames for p in f["passes"]]


def has_time(p):
    """The first passes may come before the source has been read for the first time."""
    return "gpu_ns" in p and not {"uncalibrated", "unsampled"} & set(p.get("flags", []))


def is_timed(log):
    return any(map(has_time, passes_of(log)))


def check_sampled(checks, run, clock):
    log = capture(checks, run, {"sources": f"api+{clock}+fake-snapshot", "counters": "fake_total_*"}, is_timed)
    check_sums(checks, log, FAKE)
    timed = 0
    for frame in log.frames:
        spans = sorted((p["gpu_start_ns"], p["gpu_start_ns"] + p["gpu_ns"]) for p in frame["passes"] if "gpu_ns" in p)
        alone = all(a[1] <= b[0] for a, b in zip(spans, spans[1:]))
        for p in frame["passes"]:
            if not (alone and has_time(p)):
                continue
            timed += 1
            checks.equal(p["counters"].get("fake_total_ns"), p["gpu_ns"], "its nanoseconds")
            checks.that(abs(p["counters"]["fake_total_half_ns"] - p["gpu_ns"] / 2) <= 1, "half of them")
            checks.equal(sorted(p.get("estimated", [])), sorted(FAKE), "what is estimated")
    checks.that(timed > 0, "no pass had a time")
    device = log.of("device")[-1]
    row = next((s for s in device["sources"] if s["name"] == "fake-snapshot"), {})
    checks.equal(row.get("state"), "on", "the source's row")
    scopes = {c["scope"] for c in device["counters"] if c["source"] == "fake-snapshot"}
    checks.equal(scopes, {"device"}, "the counters' scope")


def check_every(checks, run, clock):
    """Frames in between belong to no window: reported as outside."""
    log = capture(checks, run, {"sources": f"api+{clock}+fake-snapshot", "every": 3, "skip": 1}, counts("fake_total_ns"))
    total = check_sums(checks, log, FAKE)
    rows = {r["key"]: r for r in log.of("end")[0].get("growth", [])}
    checks.that(rows.get("fake_total_ns", {}).get("outside", 0) > 0, "nothing was outside")
    # Each reading adds 1000: with `outside` all of them are accounted for.
    checks.equal(total.get("fake_total_reads", 1) % 1000, 0, "readings that were lost")


def check_real(checks, run):
    """The counters of this process."""
    # Its events are opened thread by thread, which takes a busy machine 0.2 s.
    log = capture(checks, run, {"cpu": "on"}, counts("cpu_task_clock"))
    device = log.of("device")[-1]
    on = [s["name"] for s in device["sources"] if s["name"] in ("linux-perf", "linux-proc") and s["state"] == "on"]
    if not checks.equal(len(on), 1, "sources that count the process"):
        return
    keys = [c["key"] for c in device["counters"] if c["source"] == on[0]]
    total = check_sums(checks, log, keys)
    checks.that(total.get("cpu_task_clock", 0) > 0, "the process took no time")
    checks.that(any(p.get("counters", {}).get("cpu_task_clock", 0) > 0 for p in passes_of(log)), "no pass took any")
    checks.that(any("metrics" in f for f in log.frames), "no frame has a metric")


def check_untimed(checks, run):
    """Without GPU times values are the frame's."""
    log = capture(checks, run, {"sources": "api+fake-snapshot"}, counts("fake_total_ns"))
    check_sums(checks, log, FAKE)
    counted = False  # sources open in parallel with the game: its first frames may end before that
    for frame in log.frames:
        if not frame["passes"]:
            continue
        checks.that("no_timestamps" in frame.get("flags", []), "the frame has no flag")
        checks.that(not any("fake_total_ns" in p.get("counters", {}) for p in frame["passes"]), "a pass has a value")
        has = "fake_total_ns" in frame.get("unattributed", {}).get("counters", {})
        checks.that(has or not counted, "the frame has no value")
        counted |= has
    checks.that(counted, "no frame has a value")
    checks.that(any("no GPU times" in note for note in log.notes), "no note says why")


def check_off(checks, run):
    log = capture(checks, run, {"snapshot": "off"})
    device = log.of("device")[-1]
    names = {s["name"] for s in device["sources"]}
    checks.that(not names & {"linux-perf", "linux-proc", "mali-kbase", "mali-panfrost"}, f"sources: {sorted(names)}")
    checks.that("growth" not in log.of("end")[0], "the end line tells of growth")
    checks.that(not any("estimated" in p for p in passes_of(log)), "something is estimated")


def main():
    checks = h.Checks()
    api = sys.argv[1] if len(sys.argv) > 1 else "gl"
    run, clock = (run_gl, "gl-timestamp") if api == "gl" else (run_vk, "vk-timestamp")
    with checks.part(f"{api}: sampled"):
        check_sampled(checks, run, clock)
    with checks.part(f"{api}: not every frame"):
        check_every(checks, run, clock)
    with checks.part(f"{api}: this process"):
        check_real(checks, run)
    with checks.part(f"{api}: without times"):
        check_untimed(checks, run)
    with checks.part(f"{api}: off"):
        check_off(checks, run)
    checks.finish()


if __name__ == "__main__":
    main()
