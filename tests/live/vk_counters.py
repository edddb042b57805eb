# SPDX-License-Identifier: MIT
"""Performance queries of Vulkan return what was recorded between begin and end.

tests/fake_vk_perf is below the layer and offers VK_KHR_performance_query on lavapipe; a counter called
draws_times_3 is three times the draws. tests/apps/vk_perf_scene draws twenty passes of known work.
Every number in the log is compared with that, and the layer below counts broken rules and waits.

  vk_counters.py [PART ...]
"""

import json
import re
import sys

import harness as h
import vk_harness as vk

PERF = "VK_LAYER_TEST_fake_perf"
EXTENSION = "VK_KHR_performance_query"
KEY = re.compile(r"(draws|vertices|dispatches)_times_(\d+)$")
ANYWHERE = "+".join(["draws_times_?", "draws_times_1?", "vertices_times_?", "vertices_times_1?",
                     "vertices_times_10000000019", "dispatches_times_1", "dispatches_times_14"])
LEVELS = ("percent", "hertz", "kelvin", "watts", "volts", "amps", "bytes/s")
# What validation 1.3.239 reports for a COMMAND_BUFFER query that ends last: it counts the end itself.
FALSE_ALARM = "VUID-vkCmdEndQuery-queryPool-03227"


def environment(folder, log, options, fake="", validation=False):
    library = h.BUILD / "tests" / "fake_vk_perf" / "VkLayer_perf.so"
    if not library.exists():
        h.skip("the layer of tests/fake_vk_perf was not built")
    # The loader chains the layers of VK_INSTANCE_LAYERS in the order in which it finds their manifests.
    paths = []
    if validation:
        first = folder / "layers" / "1"
        first.mkdir(parents=True, exist_ok=True)
        known = vk.installed_manifest(vk.VALIDATION)
        if not known:
            h.skip("the validation layer is not installed")
        (first / "validation.json").write_text(known.read_text())
        paths.append(first)
    second = folder / "layers" / "2"
    second.mkdir(parents=True, exist_ok=True)
    (second / "perf.json").write_text(json.dumps({"file_format_version": "1.1.2", "layer": {
        "name": PERF, "type": "GLOBAL", "library_path": str(library.resolve()), "api_version": "1.3.0",
        "implementation_version": "1", "description": "performance queries for a test",
        "device_extensions": [{"name": EXTENSION, "spec_version": "1"}]}}))
    paths.append(second)
    extra = {"VK_LAYER_PATH": ":".join(str(p) for p in paths),
             "VK_INSTANCE_LAYERS": ":".join(([vk.VALIDATION] if validation else []) + [PERF]),
             "FAKE_VK_PERF": fake, "FAKE_VK_PERF_REPORT": str(folder / "report.json")}
    if log is None:
        return vk.bare_env(folder, extra)
    return vk.layer_env(folder, log, {"frame": "submit:1", **options}, extra)


class Run:
    """One run of the scene: its log, and what the layer below saw."""

    def __init__(self, folder, options=None, fake="", args=(), frames=12, validation=False, bare=False):
        program = h.need("vk_perf_scene")
        argv = [program, "--frames", frames, *args]
        self.log_path = folder / "log.jsonl"
        for old in (self.log_path, folder / "report.json"):
            old.unlink(missing_ok=True)
        env = environment(folder, None if bare else self.log_path, options or {}, fake, validation)
        self.result = h.run(argv, env)
        report = folder / "report.json"
        self.report = json.loads(report.read_text()) if report.exists() else {}
        self.expected = json.loads(h.run([*argv, "--expect"], env).text)
        if bare:
            return
        self.log = h.Log(self.log_path)
        self.device = self.log.of("device")[-1]
        self.rows = {c["key"]: c for c in self.device["counters"] if c["source"] == "vk-khr"}
        self.source = next(s for s in self.device["sources"] if s["name"] == "vk-khr")

    def frames(self):
        return [f for f in self.log.frames if f["passes"]]


def wanted(key, work):
    quantity, factor = KEY.match(key).groups()
    return dict(zip(("draws", "vertices", "dispatches"), work))[quantity] * int(factor)


def ours(record):
    return {k: v for k, v in record.get("counters", {}).items() if KEY.match(k)}


def quiet(checks, run, what=""):
    checks.equal(run.result.status, 0, f"{what}exit status")
    checks.equal(run.report.get("misuse"), {}, f"{what}rules broken")
    checks.equal(run.report.get("locks"), run.report.get("releases"), f"{what}locks taken and given back")


def check_passes(checks, run, keys):
    """Each pass of each frame has these keys (or those of the frame's set) and their values."""
    bad = []
    for frame in run.frames():
        want = keys(frame) if callable(keys) else keys
        checks.equal(len(frame["passes"]), 20, f"passes of frame {frame['frame']}")
        for i, record in enumerate(frame["passes"]):
            got = ours(record)
            work = run.expected[frame["frame"]][i]
            if set(got) != set(want) or any(v != wanted(k, work) for k, v in got.items()):
                bad.append((frame["frame"], i, work, sorted(set(got) ^ set(want)), got))
    checks.equal(bad[:2], [], f"passes whose counters are not those of their work ({len(bad)})")


def sets_of(run):
    """Keys by set, taken from the frames themselves."""
    sets = {}
    for frame in run.frames():
        for record in frame["passes"]:
            sets.setdefault(frame.get("set"), set()).update(ours(record))
    return sets


def part_exact(checks, folder):
    with checks.part("200 frames, each pass"):
        run = Run(folder, {"counters": ANYWHERE}, frames=200)
        quiet(checks, run)
        checks.equal(len(run.rows), 20, "counters")
        check_passes(checks, run, set(run.rows))
        checks.that(len(run.frames()) >= 195, "frames in the log")
        bare = Run(folder, frames=200, bare=True)
        checks.equal(run.report["waits"], bare.report["waits"], "waits for the GPU, with us and without")
        checks.that(bare.report["waits"] >= 200, "the layer below sees waits")
    with checks.part("the device line"):
        units = {row["unit"] for row in run.rows.values()}
        checks.equal(units, {"1", "cycles", "ns", "bytes", "percent", "hertz", "bytes/s", "kelvin", "watts"}, "units")
        checks.equal(run.rows["draws_times_9"]["scope"], "workload", "scope")
        checks.that("same time" in run.rows["dispatches_times_1"]["description"], "concurrent impact is told")
        checks.that("slows" in run.rows["vertices_times_18"]["description"], "performance impact is told")
        checks.equal(run.source["state"], "on", "the source")
    with checks.part("200 frames, each draw"):
        run = Run(folder, {"counters": ANYWHERE, "granularity": "draw"}, frames=200)
        quiet(checks, run)
        bad = []
        for frame in run.frames():
            for i, record in enumerate(frame["passes"]):
                work = run.expected[frame["frame"]][i]
                n = work[0] + work[2]
                levels = {k for k, row in run.rows.items() if row["unit"] in LEVELS and n > 1}
                got = ours(record)
                if set(got) != set(run.rows) - levels or any(v != wanted(k, work) for k, v in got.items()):
                    bad.append((frame["frame"], i, work, sorted(set(got) ^ (set(run.rows) - levels))))
                for d, workload in enumerate(record.get("workloads", [])):
                    one = (1, 3 * (1 + d), 0) if work[0] else (0, 0, 1)
                    got = ours(workload)
                    if set(got) != set(run.rows) or any(v != wanted(k, one) for k, v in got.items()):
                        bad.append((frame["frame"], i, d, got))
                if len(record.get("workloads", [])) != n:
                    bad.append((frame["frame"], i, "workloads"))
        checks.equal(bad[:2], [], f"draws whose counters are not theirs ({len(bad)})")
    with checks.part("overview is one set"):
        run = Run(folder, {}, fake="room=6")
        checks.equal((len(run.rows), run.source["state"]), (0, "off"), "counters that nobody asked for")
        checks.that("on request" in run.source["reason"], f"no reason: {run.source['reason']}")
        run = Run(folder, {"sources": "all+vk-khr"}, fake="room=6")
        quiet(checks, run)
        checks.equal({f.get("set") for f in run.frames()}, {"vk-khr-1"}, "sets")
        checks.equal(len(run.rows), 6, "counters")
        check_passes(checks, run, set(run.rows))


def part_rotation(checks, folder):
    for what, options, first in (("500 frames of 5 sets", {"skip": 10, "frames": 500}, 10),
                                 ("every third frame", {"every": 3, "frames": 50}, 0)):
        with checks.part(what):
            last = first + options["frames"] * options.get("every", 1)
            run = Run(folder, {"counters": ANYWHERE, **options}, fake="room=4", frames=last + 25)
            quiet(checks, run)
            sets = sets_of(run)
            checks.equal(sorted(sets), [f"vk-khr-{n}" for n in range(1, 6)], "sets")
            checks.equal(sum(len(keys) for keys in sets.values()), 20, "counters of all sets")
            check_passes(checks, run, lambda frame: sets[frame["set"]])
            frames = run.frames()
            checks.equal(len(frames), options["frames"], "frames")
            flagged = [p for f in frames for p in f["passes"] if p.get("flags")]
            checks.equal(flagged[:1], [], "flagged passes")
            counts = {}
            for frame in frames:
                for record in frame["passes"]:
                    for key in ours(record):
                        counts[record["id"], key] = counts.get((record["id"], key), 0) + 1
            checks.equal(set(counts.values()), {options["frames"] // 5}, "N of each counter of each pass")
            checks.equal(len(counts), 20 * 20, "passes times counters")
    with checks.part("--set"):
        run = Run(folder, {"counters": ANYWHERE, "set": "vk-khr-3"}, fake="room=4")
        checks.equal(set(sets_of(run)), {"vk-khr-3"}, "sets")
        check_passes(checks, run, sets_of(run)["vk-khr-3"])
        run = Run(folder, {"counters": ANYWHERE, "set": "vk-khr-9"}, fake="room=4")
        checks.equal(sets_of(run), {None: set()}, "a set that is not there")
        notes = " ".join(n["message"] for n in run.log.of("note"))
        checks.that("vk-khr-9" in notes and "vk-khr-5" in notes, "it is told")
    with checks.part("recorded once, submitted again"):
        run = Run(folder, {"counters": ANYWHERE}, fake="room=4", args=["--kept"])
        quiet(checks, run)
        checks.equal(set(sets_of(run)), {"vk-khr-1"}, "the set that had its turn when it was recorded")
        check_passes(checks, run, sets_of(run)["vk-khr-1"])


def part_scopes(checks, folder):
    with checks.part("render pass scope"):
        keys = {"draws_times_101", "vertices_times_102"}
        for granularity in ("pass", "draw"):
            run = Run(folder, {"counters": "*_times_101+*_times_102", "granularity": granularity})
            quiet(checks, run)
            check_passes(checks, run, keys)
            checks.equal(run.rows["draws_times_101"]["scope"], "pass", "scope")
    with checks.part("command buffer scope"):
        run = Run(folder, {"counters": "*_times_20?"})
        quiet(checks, run)
        check_passes(checks, run, set())
        checks.equal(run.rows["draws_times_201"]["scope"], "submission", "scope")
        for frame in run.frames():
            draws = sum(work[0] for work in run.expected[frame["frame"]])
            checks.equal(frame["unattributed"]["counters"], {"draws_times_201": 201 * draws}, "counters of the frame")
    for granularity in ("submit", "frame"):
        with checks.part(f"granularity {granularity}"):
            run = Run(folder, {"counters": ANYWHERE + "+*_times_20?", "granularity": granularity})
            quiet(checks, run)
            bad = []
            for frame in run.frames():
                work = [sum(column) for column in zip(*run.expected[frame["frame"]])]
                got = ours(frame["passes"][0])
                if not got or any(v != wanted(k, work) for k, v in got.items()):
                    bad.append((frame["frame"], frame.get("set"), got))
            checks.equal(bad[:1], [], "sums of the frame")
            checks.equal({k for k in sets_of(run)}, {"vk-khr-1", "vk-khr-2"}, "sets")
    with checks.part("secondaries"):
        run = Run(folder, {"counters": ANYWHERE}, args=["--secondaries"])
        quiet(checks, run)
        bad = []
        for frame in run.frames():
            got, work = ours(frame["passes"][4]), run.expected[frame["frame"]][4]
            if set(got) != set(run.rows) or any(v != wanted(k, work) for k, v in got.items()):
                bad.append((frame["frame"], got))
        checks.equal(bad[:1], [], "the pass whose draws come from a secondary")
        run = Run(folder, {"counters": ANYWHERE}, fake="single", args=["--secondaries"])
        quiet(checks, run, "one pool: ")
        checks.equal({len(ours(f["passes"][4])) for f in run.frames()}, {0}, "one pool: none in secondaries")
        checks.equal({len(ours(f["passes"][5])) for f in run.frames()}, {20}, "one pool: the others have all")
        checks.equal({(i, *p.get("flags", [])) for f in run.frames() for i, p in enumerate(f["passes"]) if i in (4, 5)},
                     {(4, "uncounted"), (5,)}, "one pool: what has none is flagged")
        run = Run(folder, {"counters": "*_times_20?"}, args=["--secondaries"])
        checks.equal(run.result.status, 0, "command buffer scope: exit status")


def part_drivers(checks, folder):
    with checks.part("one pool a command buffer"):
        for granularity in ("pass", "draw"):
            run = Run(folder, {"counters": ANYWHERE, "granularity": granularity}, fake="single,room=4")
            quiet(checks, run)
            checks.that(len(sets_of(run)) == 5, "sets")
    with checks.part("late results"):
        run = Run(folder, {"counters": ANYWHERE}, fake="late=3", frames=40)
        quiet(checks, run)
        checks.that(run.report["not_ready"] > 100, "results were late")
        done = [f for f in run.frames() if f["frame"] < 20]
        checks.equal({len(ours(p)) for f in done for p in f["passes"]}, {20}, "they come nevertheless")
    with checks.part("results that never come"):
        run = Run(folder, {"counters": ANYWHERE}, fake="never", frames=60)
        quiet(checks, run)
        checks.equal({len(ours(p)) for f in run.frames() for p in f["passes"]}, {0}, "no counter")
        checks.that(all("gpu_ns" in p for f in run.frames() for p in f["passes"]), "times are there")
        checks.that(all({"lost", "incomplete"} & set(p.get("flags", [])) for f in run.frames() for p in f["passes"]),
                    "passes are flagged")
        bare = Run(folder, frames=60, bare=True)
        checks.equal(run.report["waits"], bare.report["waits"], "waits")
    with checks.part("the device is lost"):
        run = Run(folder, {"counters": ANYWHERE}, fake="lost=50", frames=12)
        checks.equal(run.result.status, 0, "exit status")
        checks.equal(run.report["misuse"], {}, "rules broken")
    for fake, word in (("lock=2", "(VkResult 2)"), ("lock=-13", "(VkResult -13)"),
                       ("no_feature", "performanceCounterQueryPools"), ("refuse", "refused the device")):
        with checks.part(fake):
            run = Run(folder, {"counters": ANYWHERE + "+overview"}, fake=fake)
            checks.equal(run.result.status, 0, "exit status")
            checks.equal(run.report["misuse"], {}, "rules broken")
            checks.equal(run.source["state"], "off", "the source")
            checks.that(word in run.source["reason"], f"why: {run.source['reason']}")
            checks.equal(run.report["begun"], 0, "queries")
            statistics = next(s for s in run.device["sources"] if s["name"] == "vk-statistics")
            checks.equal(statistics["state"], "on", "the statistics")
            checks.that(all("gpu_ns" in p for f in run.frames() for p in f["passes"]), "times are there")
    with checks.part("the game's own use"):
        run = Run(folder, {"counters": ANYWHERE}, args=["--own"])
        checks.equal(run.result.status, 0, "exit status")
        checks.equal(run.report["misuse"], {}, "rules broken")
        checks.equal(run.report["locks"], 1, "the lock is the game's")
        checks.equal(run.source["state"], "off", "the source")
        checks.that("uses performance queries itself" in run.source["reason"], "why")
        checks.equal(run.report["pools"], 0, "pools")


def part_validation(checks, folder):
    with checks.part("rules"):
        for granularity in ("pass", "draw", "submit", "frame"):
            for fake in ("room=4", "room=100,single"):
                for args in ([], ["--secondaries"], ["--kept"]):
                    name = f"{granularity} {fake} {' '.join(args)}: "
                    options = {"counters": ANYWHERE + "+*_times_101+*_times_102+samples_passed", "granularity": granularity}
                    run = Run(folder, options, fake, args, validation=True, frames=8)
                    quiet(checks, run, name)
                    checks.that(run.report["begun"] > 0, f"{name}queries")
                    found = vk.messages(run.result)
                    lines = [line for line in (run.result.text + run.result.errors).splitlines() if "VUID" in line]
                    checks.equal(found, {}, f"{name}messages {lines[:1]}")
    with checks.part("command buffer scope"):
        run = Run(folder, {"counters": "*_times_20?"}, validation=True, frames=8)
        quiet(checks, run)
        checks.equal(set(vk.messages(run.result)) - {FALSE_ALARM}, set(), "messages")


def part_radv(checks, folder):
    """Mesa's RADV without a GPU lists and makes counters, but does not record."""
    icds = [p for folder_ in vk.SYSTEM for p in sorted((folder_ / "icd.d").glob("radeon_icd.*.json"))]
    if not icds:
        h.skip("Mesa's RADV is not installed")
    env = vk.bare_env(folder, {"VK_ICD_FILENAMES": str(icds[0]), "RADV_FORCE_FAMILY": "navi21"})
    with checks.part("counters"):
        got = h.run([h.need("passtally"), "counters", "--api", "vulkan", "--json"], env, timeout=240)
        checks.equal(got.status, 0, "exit status")
        devices = [json.loads(line) for line in got.text.splitlines()]
        device = next(d for d in devices if "NAVI21" in d["name"])
        rows = [c for c in device["counters"] if c["source"] == "vk-khr"]
        checks.equal(len(rows), 17, "counters")
        checks.equal(sorted({c["unit"] for c in rows}), ["1", "bytes", "cycles", "percent"], "units")
        ratios = {c["unit"] for c in rows if "hit_ratio" in c["key"]}
        checks.equal(ratios, {"percent"}, "unit of the hit ratios, which the driver calls bytes")
    with checks.part("doctor"):
        got = h.run([h.need("passtally"), "doctor"], env, timeout=240)
        sets = re.findall(r"set vk-khr-\d: (\d+) counters", got.text)
        checks.equal(len(sets), 2, "sets, each of which the driver makes a pool of")
        checks.equal(sum(int(n) for n in sets), 17, "counters in them")
        checks.that("each counter is counted once in 2 captured frames" in " ".join(got.text.split()), "how long a round takes")
    with checks.part("without the extension"):
        got = h.run([h.need("passtally"), "doctor"], vk.bare_env(folder), timeout=240)
        checks.that(re.search(r"off +vk-khr +the driver does not offer\s+VK_KHR_performance_query", got.text), "why")
    with checks.part("a device beneath the layer"):
        log = folder / "radv.jsonl"
        layered = vk.layer_env(folder, log, {"counters": "all"}, {**env, "PASSTALLY_VERBOSE": "1"})
        got = h.run([h.need("vk_device"), "--keep-buffers"], layered, timeout=240)
        bare = h.run([h.need("vk_device"), "--keep-buffers"], env, timeout=240)
        checks.equal(got.status, bare.status, "exit status")


def part_limits(checks, folder):
    """Counters by the names that RADV and Turnip give them: in the overview, and in what the report says."""
    for name, key, words in (("VALU Busy", "valu_busy", "88 % of the time vector instructions run"),
                             ("% Texture Fetch Stall", "texture_fetch_stall", "88 % of the time the shaders wait for texture")):
        run = Run(folder, {"sources": "all+vk-khr", "counters": "overview"}, f"room=4,share={name}")
        quiet(checks, run)
        checks.equal(run.rows.get(key, {}).get("unit"), "percent", f"{name}: unit")
        record = run.frames()[0]["passes"][0]
        checks.equal(record["counters"].get(key), 88, f"{name}: value")
        said = h.run([h.need("passtally"), "report", "--pass", record["id"], run.log_path], h.base_env(folder))
        checks.that(words in " ".join(said.text.split()), f"{name}: {said.text}")


PARTS = {"limits": part_limits, "exact": part_exact, "rotation": part_rotation, "scopes": part_scopes, "drivers": part_drivers,
         "validation": part_validation, "radv": part_radv}


def main():
    checks = h.Checks()
    for name in sys.argv[1:] or PARTS:
        with checks.part(name), h.scratch() as folder:
            PARTS[name](checks, folder)
    checks.finish()


if __name__ == "__main__":
    main()
