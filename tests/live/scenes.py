# SPDX-License-Identifier: MIT
"""Every scene of tests/apps under passtally: the log must contain exactly what the scene reports about itself.

  scenes.py core|compat|gles|x11|glx|surfaceless [I/N | SCENE...]

Each scene runs bare, then at granularity pass twice, frame, submit and draw. Pixels must be the
bare run's; passes in order with their tallies, counters, flags, targets; identities the same in
every frame and run; totals the same at every granularity; times that add up.
"""

import concurrent.futures
import json
import sys

import harness as h

FRAMES = 4
TALLIES = ("draws", "vertices", "instances", "dispatches", "copies", "clears")
# Left out of the log when 0; `draws` is always present unless it is unknown.
ZERO_IS_ABSENT = {"vertices", "instances", "dispatches", "copies", "clears"}
SUMMED = ("primitives_submitted", "vertex_shader_invocations", "compute_shader_invocations")


def scene_list(scenes, api):
    text = h.run([scenes, "--list"], dict(h.os.environ)).text
    rows = [line.split() for line in text.splitlines()]
    return [(row[0], "surface" in row) for row in rows if api in row[1:]]


def check_tallies(checks, got, want):
    for key in TALLIES:
        if key not in want:
            continue
        if want[key] is None:
            checks.that(key not in got, f"{key} is {got.get(key)}, but nobody can know it")
        elif key in ZERO_IS_ABSENT:
            checks.equal(got.get(key, 0), want[key], key)
        else:
            checks.equal(got.get(key), want[key], key)


def check_target(checks, log, got, want):
    info = log.info(got["id"])
    checks.equal(info["kind"], got["kind"], "pass_info.kind")
    checks.equal(info.get("label"), got.get("label"), "pass_info.label")
    target = info.get("target", {})
    for key, value in want["target"].items():
        if key == "colors":
            checks.equal(len(target.get("color", [])), value, "colour targets")
        else:
            checks.equal(target.get(key), value, f"target.{key}")


def check_pass(checks, log, device, got, want):
    checks.equal(got["kind"], want["kind"], "kind")
    checks.equal(got.get("label"), want["label"], "label")
    checks.equal(got.get("segment", 0), want["segment"], "segment")
    # llvmpipe draws tile by tile: passes that share a scene have one time together, and no time of their own.
    shares = "shared_time" in got.get("flags", [])
    checks.equal(sorted(set(got.get("flags", [])) - {"shared_time"}), sorted(want["flags"].split()), "flags")
    check_tallies(checks, got, want)
    for key, value in want["counters"].items():
        if log.has_counter(device, key):
            checks.equal(got.get("counters", {}).get(key), value, key)
    check_target(checks, log, got, want)
    for key in ("gpu_ns", "gpu_start_ns"):
        checks.equal(key in got, not shares, f"{key} is there")
    checks.that("cpu_start_ns" in got, "no CPU time")


def check_counters_offered(checks, log, want):
    """On desktop GL llvmpipe has the statistics: if they were absent, every exact check would be skipped."""
    if want["gles"]:
        return
    for device in log.devices:
        for key in ("primitives_submitted", "vertex_shader_invocations", "fragment_shader_invocations"):
            checks.that(log.has_counter(device, key), f"device {device} has no counter {key}")


def map_devices(log, want):
    """The scene's numbers of its share groups to the log's, distinguished by the vertices they draw."""
    devices = sorted({f["device"] for f in log.frames})
    if want["devices"] == 1:
        return {0: devices[0]}, devices
    drawn = {d: [p.get("vertices", 0) for p in log.whole_frames(d)[0]["passes"]] for d in devices if log.whole_frames(d)}
    mapping = {}
    for number in sorted({p["device"] for p in want["passes"]}):
        vertices = [p["vertices"] for p in want["passes"] if p["device"] == number]
        mapping[number] = next(d for d, found in drawn.items() if found == vertices)
    return mapping, devices


def check_frames(checks, log, want):
    """Passes of every whole frame against the expectation; returns identities by position."""
    mapping, order = map_devices(log, want)
    checks.equal(len(order), want["devices"], "devices with frames")
    identities, contexts = {}, {}
    for number, device in mapping.items():
        expected = [(i, p) for i, p in enumerate(want["passes"]) if p["device"] == number]
        frames = log.whole_frames(device)
        checks.equal([f["frame"] for f in frames], list(range(want["frames"])), f"frames of device {device}")
        for frame in frames:
            with_name = f"frame {frame['frame']}"
            if not checks.equal([p["kind"] for p in frame["passes"]], [p["kind"] for _, p in expected], f"{with_name} passes"):
                continue
            for got, (i, p) in zip(frame["passes"], expected):
                old, checks.where = checks.where, f"{checks.where}, {with_name} pass {i}"
                check_pass(checks, log, device, got, p)
                identities.setdefault(i, set()).add(got["id"])
                contexts.setdefault(p["context"], set()).add(got["context"])
                checks.where = old
            h.check_time(checks, frame)
    for i, ids in identities.items():
        checks.equal(len(ids), 1, f"identities of pass {i} over the frames")
        same = want["passes"][i]["same_as"]
        for k, other in identities.items():
            if want["passes"][k]["device"] != want["passes"][i]["device"]:
                continue
            alike = want["passes"][k]["same_as"] == same
            checks.equal(ids == other, alike, f"pass {i} and pass {k} are the same pass")
    flat = [n for numbers in contexts.values() for n in numbers]
    checks.that(all(len(n) == 1 for n in contexts.values()) and len(flat) == len(set(flat)), f"contexts {contexts}")
    return {i: sorted(ids) for i, ids in identities.items()}


def totals(log, want):
    """Sums over all whole frames of what llvmpipe counts exactly, tallies included."""
    sums = {}
    # At frame granularity the pass of a list is all that is shown, and only the GPU knows what is in it.
    lists = any("list" in p.get("flags", []) for p in want["passes"])
    known = [key for key in TALLIES if not lists and all(p.get(key, 0) is not None for p in want["passes"])]
    for frame in log.frames:
        if "partial" in frame.get("flags", []):
            continue
        for p in frame["passes"]:
            for key in SUMMED:
                if key in p.get("counters", {}):
                    sums[key] = sums.get(key, 0) + p["counters"][key]
            for key in known:
                sums[key] = sums.get(key, 0) + p.get(key, 0)
        for key, value in frame.get("unattributed", {}).get("counters", {}).items():
            if key in SUMMED:
                sums[key] = sums.get(key, 0) + value
    return sums


def check_pass_workloads(checks, p):
    """One workload per call, in order and kind; the pass is their sum."""
    loads = p["workloads"]
    # The contents of a display list are one workload; glCallList inside glBegin is part of the glBegin.
    if "list" not in p.get("flags", []):
        checks.equal(len(loads), p.get("calls", 0), "workloads and calls")
        for word, key in (("dispatch", "dispatches"), ("copy", "copies"), ("clear", "clears")):
            checks.equal(sum(w["command"] == word for w in loads), p.get(key, 0), f"workloads that {word}")
    h.check_workload_sums(checks, p)
    if len(loads) == 1 and "gpu_ns" in p:
        checks.equal(loads[0].get("gpu_ns"), p["gpu_ns"], "time of the only workload")
    for w in loads:
        checks.that(w["command"] in ("draw", "dispatch", "copy", "clear"), f"workload {w['command']}")
        # A timestamp between two commands of a scene gives the time of neither.
        checks.that("gpu_ns" in w or "no_timestamps" in w.get("flags", []), f"no time and no word on why: {w}")
        checks.that("gpu_ns" not in w or len(loads) == 1, f"the time of one of {len(loads)} workloads: {w}")


def check_workloads(checks, log):
    for frame in log.frames:
        if "partial" in frame.get("flags", []):
            continue
        for p in frame["passes"]:
            if checks.that(p.get("workloads"), f"pass {p['index']} of {p['kind']} lists no workload"):
                check_pass_workloads(checks, p)


def capture(checks, folder, argv, name, bare, options):
    """One run under the shim: same output, a valid log."""
    path = folder / f"{name}.jsonl"
    result = h.run(argv, h.base_env(folder, h.capture_env(path, options)))
    checks.equal(result.status, bare.status, f"{name}: exit status")
    checks.equal(result.stdout, bare.stdout, f"{name}: stdout")
    checks.equal(result.stderr, bare.stderr, f"{name}: stderr")
    if not checks.that(path.exists(), f"{name}: no log"):
        return None
    log = h.Log(path)
    h.validate(checks, path)
    h.check_order(checks, log)
    checks.that(log.of("end"), f"{name}: no end line")
    # What is drawn for the checksum comes after the last frame, and may be reported as left out.
    notes = [n for n in log.notes if "after its last frame" not in n]
    checks.equal(notes, [], f"{name}: notes")
    return log


def check_scene(checks, scenes, name, words, frame_option, counters):
    argv = [scenes, name, "--frames", FRAMES, *words]
    with h.scratch() as folder:
        bare = h.run(argv, h.base_env(folder))
        if bare.status == 77:
            print(f"{name}: {bare.errors.strip()}")
            return
        if not checks.equal(bare.status, 0, f"bare run {bare.errors}"):
            return
        want = json.loads(h.run([*argv, "--expect"], h.base_env(folder)).text)
        options = {"frame": frame_option, "counters": counters, "sources": "all+gl-statistics"}
        logs = {}
        for run in ("pass", "frame", "submit", "draw"):
            logs[run] = capture(checks, folder, argv, run, bare, {**options, "granularity": run})
        logs["again"] = capture(checks, folder, argv, "again", bare, options)
        if any(log is None for log in logs.values()):
            return
        check_counters_offered(checks, logs["pass"], want)
        first = check_frames(checks, logs["pass"], want)
        checks.equal(check_frames(checks, logs["again"], want), first, "identities of a second run")
        old, checks.where = checks.where, checks.where + ", granularity draw"
        checks.equal(check_frames(checks, logs["draw"], want), first, "identities")
        check_workloads(checks, logs["draw"])
        checks.where = old
        wanted = totals(logs["pass"], want)
        for run in ("frame", "submit"):
            checks.equal(totals(logs[run], want), wanted, f"totals at granularity {run}")
            for frame in logs[run].frames:
                h.check_time(checks, frame)


def main():
    group = sys.argv[1]
    api = group if group in ("core", "compat", "gles") else None
    h.need("libpasstally_gl.so")
    scenes = h.need("scenes")
    checks = h.Checks()
    jobs = []
    if api:
        jobs = [(name, ["--api", api, "--platform", "pbuffer"], "present") for name, _ in scene_list(scenes, api)]
    elif group == "surfaceless":
        jobs = [(name, ["--platform", "surfaceless", "--end", "finish"], "finish")
                for a in ("core",) for name, surface in scene_list(scenes, a) if not surface]
    else:
        some = ("forward", "shadow", "msaa", "blit_chain", "threads", "switching", "immediate", "lists", "es2")
        jobs = [(name, ["--platform", group], "present") for name in some if not (group == "glx" and name == "es2")]
    if sys.argv[2:] and "/" in sys.argv[2]:
        jobs = h.share(jobs, sys.argv[2])
    elif sys.argv[2:]:
        jobs = [job for job in jobs if job[0] in sys.argv[2:]]

    def one(job):
        mine = h.Checks()
        with mine.part(f"{job[0]} {' '.join(job[1])}"):
            check_scene(mine, scenes, *job, "all")
        return mine

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for mine in pool.map(one, jobs):
            checks.failures += mine.failures
            checks.done += mine.done
    checks.finish()


if __name__ == "__main__":
    if sys.argv[1] in ("x11", "glx"):
        with h.display():
            main()
    else:
        main()
