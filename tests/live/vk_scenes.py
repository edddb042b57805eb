# SPDX-License-Identifier: MIT
"""Every Vulkan scene of tests/apps under the layer: the log must contain exactly what the scene reports.

  vk_scenes.py [--window] [I/N | SCENE...]

Each scene runs bare, then at granularity pass twice, frame, submit and draw. Output, pixels and
exit status must be the bare run's; passes in order with their tallies, counters, flags, targets;
identities the same in every frame and run; totals the same at every granularity; times inside the
CPU's, in order, that add up.
"""

import concurrent.futures
import signal
import sys
import time

import harness as h
import vk_harness as vk

FRAMES = 4
TALLIES = ("draws", "vertices", "instances", "dispatches", "copies", "clears")
ZERO_IS_ABSENT = {"vertices", "instances", "dispatches", "copies", "clears"}
STATISTICS = ("primitives_submitted", "vertex_shader_invocations", "fragment_shader_invocations",
              "compute_shader_invocations")
SUMMED = ("primitives_submitted", "vertex_shader_invocations", "compute_shader_invocations")
# How far the mapping between lavapipe's clock and passtally's may be off.
CLOCK_NS = 100_000
NAMED = ("labels", "labels_straddle", "label_frame")  # scenes that name their framebuffer


def check_tallies(checks, got, want):
    for key in TALLIES:
        if want[key] is None:
            checks.that(key not in got, f"{key} is {got.get(key)}, but nobody can know it")
        elif key in ZERO_IS_ABSENT:
            checks.equal(got.get(key, 0), want[key], key)
        else:
            checks.equal(got.get(key), want[key], key)


def check_counters(checks, log, device, got, want, by_draw):
    counters = got.get("counters", {})
    wanted = want["counters_by_draw" if by_draw else "counters"]
    if wanted is None:
        checks.equal({k: v for k, v in counters.items() if k in STATISTICS}, {}, "counters that nobody can know")
        return
    for key, value in wanted.items():
        # Lavapipe may be queried at draws only, and not for compute_shader_invocations: it crashes.
        if key in counters or want["workloads"] != 0 and log.has_counter(device, key):
            checks.equal(counters.get(key), value, key)


def check_target(checks, log, got, want):
    info = log.info(got["id"])
    checks.equal(info["kind"], got["kind"], "pass_info.kind")
    checks.equal(info.get("label"), got.get("label"), "pass_info.label")
    target = info.get("target", {})
    for key, value in want["target"].items():
        if key == "color":
            checks.equal(" ".join(target.get("color", [])), value, "target.color")
        else:
            checks.equal(target.get(key), value, f"target.{key}")


def check_pass_time(checks, got, want, end_ns):
    timed = "gpu_ns" in got and "gpu_start_ns" in got
    if want["time"] == "own":
        checks.that(timed, "no GPU time")
    elif want["time"] == "none":
        checks.that("gpu_ns" not in got, f"gpu_ns {got.get('gpu_ns')}, but nobody can know it")
    if checks.that("cpu_start_ns" in got, "no CPU time") and timed:
        early = got["cpu_start_ns"] - got["gpu_start_ns"]
        checks.that(early < CLOCK_NS, f"began {early} ns before it was submitted")
        late = got["gpu_start_ns"] + got["gpu_ns"] - end_ns
        checks.that(late < CLOCK_NS, f"ended {late} ns after the program")


def check_pass(checks, log, device, got, want, end_ns, by_draw):
    checks.equal(got["kind"], want["kind"], "kind")
    checks.equal(got.get("label"), want["label"], "label")
    checks.equal(got.get("segment", 0), 0, "segment")
    flags = set(got.get("flags", []))
    checks.equal(sorted(flags - {"uncounted"}), sorted(want["flags"].split()), "flags")
    checks.that("uncounted" not in flags or not got.get("counters"), "flagged uncounted, and has counters")
    checks.equal(got.get("queue"), "0.0", "queue")
    check_tallies(checks, got, want)
    check_counters(checks, log, device, got, want, by_draw)
    check_target(checks, log, got, want)
    check_pass_time(checks, got, want, end_ns)


def check_order_of_starts(checks, frame):
    """One queue of lavapipe processes one pass after the other."""
    timed = [p for p in frame["passes"] if "gpu_start_ns" in p]
    for before, after in zip(timed, timed[1:]):
        checks.that(before["gpu_start_ns"] + before["gpu_ns"] <= after["gpu_start_ns"],
                    f"pass {after['index']} begins before pass {before['index']} ends")


def check_submissions(checks, frame, expected):
    numbers = {}
    for got, want in zip(frame["passes"], expected):
        numbers.setdefault(want["submission"], set()).add(got.get("submission"))
    checks.that(all(len(n) == 1 and None not in n for n in numbers.values()), f"submissions {numbers}")
    flat = [min(n) for _, n in sorted(numbers.items()) if None not in n]
    checks.equal(flat, sorted(set(flat)), "submissions in order")


def check_counters_offered(checks, log):
    """If they were absent, every exact check would be skipped."""
    for device in log.devices:
        for key in SUMMED[:2] + ("fragment_shader_invocations",):
            checks.that(log.has_counter(device, key), f"device {device} has no counter {key}")


def frames_of(log, device, want):
    """The frames that the scene describes."""
    frames = [f for f in log.frames if f["device"] == device]
    if want["partial"] or want["boundary"].startswith("label"):
        return [f for f in frames if f["passes"]]
    return log.whole_frames(device)


def expected_of(want, number):
    passes = [p for p in want["passes"] if p["device"] == number]
    return passes * want["frames"] if want["partial"] else passes


def check_frames(checks, log, want, end_ns, by_draw=False):
    """Passes of every frame against the expectation; returns identities by position."""
    devices = sorted({f["device"] for f in log.frames})
    if not want["abrupt"]:
        checks.equal(len(devices), want["devices"], "devices with frames")
    identities = {}
    for number, device in enumerate(devices):
        expected = expected_of(want, number)
        frames = frames_of(log, device, want)
        if want["abrupt"]:
            checks.that(len(frames) <= want["frames"], f"{len(frames)} frames of device {device}")
        else:
            checks.equal(len(frames), 1 if want["partial"] else want["frames"], f"frames of device {device}")
        for frame in frames:
            name = f"device {device} frame {frame['frame']}"
            kinds = [p["kind"] for p in expected]
            if not checks.equal([p["kind"] for p in frame["passes"]], kinds, f"{name} passes"):
                continue
            for i, (got, p) in enumerate(zip(frame["passes"], expected)):
                old, checks.where = checks.where, f"{checks.where}, {name} pass {i}"
                check_pass(checks, log, device, got, p, end_ns, by_draw)
                identities.setdefault((number, i), set()).add(got["id"])
                checks.where = old
            if not want["partial"]:
                check_submissions(checks, frame, expected)
            check_order_of_starts(checks, frame)
            h.check_time(checks, frame)
            checks.equal(frame.get("dropped_passes", 0), 0, f"{name} dropped passes")
    for place, ids in identities.items():
        checks.equal(len(ids), 1, f"identities of pass {place}")
    for number in range(len(devices)):
        mine = [min(ids) for (n, _), ids in identities.items() if n == number]
        checks.equal(len(set(mine)), len(mine), f"different passes of device {number} have different names")
    return {place: sorted(ids) for place, ids in identities.items()}


def check_instances(checks, log, want):
    """Every run of a command buffer has its own result."""
    starts = [p["gpu_start_ns"] for f in log.frames for p in f["passes"] if "gpu_start_ns" in p]
    if want["devices"] == 1:
        checks.equal(len(set(starts)), len(starts), "starts that differ")


def check_draws(checks, log, want):
    """Granularity draw: each command is listed, and their counts add up to the pass's."""
    # lavapipe draws a render pass tile by tile: a single draw in it has no time.
    tiled = all(line["name"].startswith("llvmpipe") for line in log.of("device"))
    for device in sorted({f["device"] for f in log.frames}):
        for frame in frames_of(log, device, want):
            if len(frame["passes"]) != len(expected_of(want, device)):
                continue
            for p, expected in zip(frame["passes"], expected_of(want, device)):
                workloads = p.get("workloads", [])
                where = f"frame {frame['frame']} pass {p['index']}"
                if expected["workloads"] is not None:
                    checks.equal(len(workloads), expected["workloads"], f"{where}: workloads")
                inside = h.union_length([(w["gpu_start_ns"], w["gpu_ns"]) for w in workloads if "gpu_ns" in w])
                checks.that(inside <= p.get("gpu_ns", inside), f"{where}: workloads take {inside} ns of {p.get('gpu_ns')}")
                if tiled and workloads and p["kind"] == "render" and "gpu_ns" in p:
                    times = [w.get("gpu_ns") for w in workloads]
                    checks.that(times in ([p["gpu_ns"]], [None] * len(times)), f"{where}: draws take {times} of {p['gpu_ns']}")
                for key in SUMMED:
                    if key in p.get("counters", {}) and workloads:
                        listed = sum(w.get("counters", {}).get(key, 0) for w in workloads)
                        checks.equal(listed, p["counters"][key], f"{where}: {key} over the workloads")


def totals(log, want):
    """Sums over all frames of what lavapipe counts exactly, tallies included; no counters where the
    log has none of the whole command buffers."""
    known = [key for key in TALLIES if all(p[key] is not None for p in want["passes"])]
    counted = all(p["counters"] for p in want["passes"] if p["kind"] == "render")
    sums = {}
    for frame in log.frames:
        for p in frame["passes"]:
            for key in known:
                sums[key] = sums.get(key, 0) + p.get(key, 0)
        for part in frame["passes"] + [frame.get("unattributed", {})]:
            for key in SUMMED if counted else ():
                if key in part.get("counters", {}):
                    sums[key] = sums.get(key, 0) + part["counters"][key]
    return sums


def capture(checks, folder, argv, name, bare, options, want, preload=None):
    """One run under the layer: same output, a valid log. Returns it, and when the run ended."""
    path = folder / f"{name}.jsonl"
    result = h.run(argv, {**vk.layer_env(folder, path, options), **(preload or {})})
    end_ns = time.monotonic_ns()
    checks.equal(result.status, bare.status, f"{name}: exit status")
    checks.equal(result.stdout, bare.stdout, f"{name}: stdout")
    checks.equal(result.stderr, bare.stderr, f"{name}: stderr")
    if not checks.that(path.exists(), f"{name}: no log"):
        return None, 0
    checks.equal(sorted(p.name for p in folder.glob(f"{name}*.jsonl")), [path.name], f"{name}: one log")
    log = h.Log(path)
    h.validate(checks, path, truncated=bool(want["abrupt"]))
    h.check_order(checks, log)
    checks.that(log.of("end") or want["abrupt"], f"{name}: no end line")
    checks.equal(log.notes, [], f"{name}: notes")
    return log, end_ns


def check_target_names(checks, log, want):
    named = {log.info(p["id"]).get("target_name") for f in log.frames for p in f["passes"] if p["kind"] == "render"}
    checks.equal(named - {want}, set(), "names of targets")


def check_scene(checks, program, name):
    argv = [program, name, "--frames", FRAMES]
    with h.scratch() as folder:
        bare = h.run(argv, vk.bare_env(folder))
        if bare.status == 77:
            print(f"{name}: {bare.errors.strip()}")
            return
        if name == "fork" and bare.status == -signal.SIGKILL:
            print("fork: skipped: this driver's exit handlers hang in a forked child")
            return
        if not checks.that(bare.status in (0, 7, 8), f"bare run gives {bare.status}: {bare.errors}"):
            return
        want = vk.expectation(program, [name, "--frames", FRAMES], vk.bare_env(folder))
        options = {"frame": want["boundary"], "counters": "all"}
        logs = {}
        for run in ("pass", "frame", "submit", "draw"):
            logs[run] = capture(checks, folder, argv, run, bare, {**options, "granularity": run}, want)
        logs["again"] = capture(checks, folder, argv, "again", bare, options, want)
        if want["abrupt"]:
            # `passtally run` preloads the shim as well, which sees _exit(): nothing is missing then.
            whole = {**want, "abrupt": 0}
            preload = h.preload_env(h.need("libpasstally_gl.so"))
            log, end_ns = capture(checks, folder, argv, "preloaded", bare, options, whole, preload)
            if log:
                check_frames(checks, log, whole, end_ns)
        if any(log is None for log, _ in logs.values()):
            return
        check_counters_offered(checks, logs["pass"][0])
        first = check_frames(checks, logs["pass"][0], want, logs["pass"][1])
        check_instances(checks, logs["pass"][0], want)
        check_target_names(checks, logs["pass"][0], "screen" if name in NAMED else None)
        if want["abrupt"]:
            return
        checks.equal(check_frames(checks, logs["again"][0], want, logs["again"][1]), first, "identities of a second run")
        old, checks.where = checks.where, checks.where + ", granularity draw"
        checks.equal(check_frames(checks, logs["draw"][0], want, logs["draw"][1], True), first, "identities")
        check_draws(checks, logs["draw"][0], want)
        checks.where = old
        wanted = totals(logs["pass"][0], want)
        for run in ("frame", "submit"):
            got = totals(logs[run][0], want)
            exact = {k: v for k, v in wanted.items() if k in got or k in TALLIES}
            checks.equal(got, exact, f"totals at granularity {run}")
            for frame in logs[run][0].frames:
                h.check_time(checks, frame)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--window"]
    vk.library()
    program = h.need("vk_scenes")
    names = vk.scene_list(program)
    if arguments and "/" in arguments[0]:
        names = h.share(names, arguments[0])
    elif arguments:
        names = arguments
    checks = h.Checks()

    def one(name):
        mine = h.Checks()
        with mine.part(name):
            check_scene(mine, program, name)
        return mine

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for mine in pool.map(one, names):
            checks.failures += mine.failures
            checks.done += mine.done
    checks.finish()


if __name__ == "__main__":
    if "--window" in sys.argv:
        with h.display():
            main()
    else:
        main()
