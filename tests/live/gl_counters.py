# SPDX-License-Identifier: MIT
"""Hardware counters of OpenGL have the values that the driver's script and the program's draws determine.

tests/fake_gl/perf_egl.c is between libglvnd and Mesa and offers GL_INTEL_performance_query, its
pre-standard dialect and GL_AMD_performance_monitor; tests/apps/perf_scene.c draws twenty passes
of known draws and vertices. Every number in the log is compared with the script, with every peculiarity of the
real drivers; the driver counts waits, errors and objects that are left over.

  gl_counters.py [PART ...]
"""

import json
import math
import sys

import harness as h

N_PASSES = 20
LAST_FRAMES = 6  # results of these may come too late
SCENE = []  # vertices of each draw, one list per pass

# The driver's tables: key -> (type, seed); the types "draws" and "vertices" follow the work.
AMD_TYPED = {"work_draws": ("draws", 0), "work_vertices": ("vertices", 0), "typed_uint": ("u32", 21),
             "typed_uint64": ("u64", 22), "typed_float": ("float", 23), "typed_percentage": ("percent", 24),
             "typed_wrap": ("u32", 25)}
AMD_TURNS = {"turns_turn_0": ("u64", 31), "turns_turn_1": ("u32", 32), "turns_turn_2": ("float", 33),
             "turns_turn_3": ("percent", 34), "turns_turn_4": ("u64", 35)}
AMD_LONE = {"lone": ("u32", 41)}
AMD = {**AMD_TYPED, **AMD_TURNS, **AMD_LONE}
INTEL_TYPED = {"typed_uint32": ("u32", 1), "typed_uint64": ("u64", 2), "typed_float": ("float", 3),
               "typed_double": ("double", 4), "typed_bool": ("bool", 5), "typed_wrap": ("u32", 6),
               "hardware_draws": ("draws", 0), "hardware_vertices": ("vertices", 0)}
INTEL_PIPELINE = {"n_vertices_submitted": ("vertices", 0), "n_draw_calls": ("draws", 0)}
INTEL_TURNS = {f"turn_{k}_{word}": (kind, 51 + 2 * k + add) for k in range(1, 9)
               for word, kind, add in (("count", "u64", 0), ("share", "float", 1))}
INTEL = {**INTEL_TYPED, **INTEL_PIPELINE, **INTEL_TURNS}
# In the pre-standard dialect, the positions of counters that are not plain 64-bit numbers.
OLD_FLOATS, OLD_U32, OLD_BOOLS = range(2, 17), range(17, 23), (36, 37)


def script(kind, seed, tick):
    """fake_perf_script() and fake_perf_value() of tests/fake_gl/perf_core.c."""
    number = (seed * 7919 + tick * (seed % 13 + 1)) & 0x7fffffff
    return {"u32": number, "u64": number | seed << 40, "float": number / 8, "double": number / 16,
            "percent": number % 801 / 8, "bool": number & 1}[kind]


def wanted(kind, seed, tick, vertices):
    """The value of one interval that began at `tick` and contained draws of these vertex counts."""
    if kind == "draws":
        return len(vertices)
    if kind == "vertices":
        return sum(vertices)
    return script(kind, seed, tick)


def old_counters(log):
    """The dialect's counters, by their order in the device line."""
    rows = [c for c in device(log)["counters"] if c["source"] == "gl-intel"]
    table = {}
    for c in rows:
        name = c["name"]
        place = OLD_HARDWARE.index(name) + 1 if name in OLD_HARDWARE else None
        if place is None:
            place = OLD_PIPELINE.index(name) + 1
            table[c["key"]] = ("vertices", 0) if place == 1 else ("u64", 300 + place)
            continue
        kind = ("float" if place in OLD_FLOATS else "u32" if place in OLD_U32 else
                "bool" if place in OLD_BOOLS else "u64")
        table[c["key"]] = (kind, 200 + place)
    return table


OLD_HARDWARE = """TotalTime GPUBusyTime PipelineFrontEndWaitTime PipelineFrontEndStallTime GfxCoresBusyTime
    GfxCoresStallTime VertexShaderActiveTime VertexShaderStallTime VertexShaderWaitTime FragmentShaderActiveTime
    FragmentShaderStallTime FragmentShaderWaitTime SamplerBusyTime SamplerStallTime ClipperStageActiveTime
    TriangleSetupStageActiveTime VertexShaderActivePerThread VertexShaderStallPerThread VertexShaderWaitPerThread
    FragmentShaderActivePerThread FragmentShaderStallPerThread FragmentShaderWaitPerThread
    VertexShaderThreadsCount FragmentShaderThreadsCount FragmentsBlendedCount SamplerTextureMemoryThroughput
    SamplerPostFilteredTexels GPUMemoryWriteThroughput GPUMemoryReadThroughput DepthBufferThroughput
    FragmentsKillCount AlphaTestFails PerfCounter1 PerfCounter2 CoreClocksCount SplitOccured
    CoreFrequencyChanged CoreFrequency""".split()
OLD_PIPELINE = """VerticesCount PrimitivesCount VerticesProcessed ClipperInvocations ClipperPrimitives
    FragmentsRendered""".split()


class Run:
    """The scene below the shim and above the fake driver."""

    def __init__(self, checks, folder, config, options, frames, argv=(), clean=True):
        driver = h.BUILD / "tests" / "fake_gl" / "fake_perf_egl.so"
        vendor = folder / "vendor.json"
        vendor.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {"library_path": str(driver.resolve())}}))
        report, log = folder / "report", folder / "log.jsonl"
        report.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        env = h.base_env(folder, {"__EGL_VENDOR_LIBRARY_FILENAMES": str(vendor), "FAKE_PERF": config,
                                  "FAKE_PERF_REPORT": str(report)})
        env.update(h.capture_env(log, {"counters": "all", **options}))
        got = h.run([h.need("perf_scene"), "--frames", frames, *argv], env)
        if got.status == 77:
            h.skip(got.errors.strip())
        checks.equal(got.status, 0, f"the program's status: {got.text[-200:]} {got.errors[-400:]}")
        checks.that(f"frames {frames} errors 0" in got.text, f"the program met an error: {got.text}")
        self.text = got.text
        self.log = h.Log(log)
        self.report = dict(line.split(" ", 1) for line in report.read_text().splitlines())
        for key in ("waits", "misuse", "leaks", "nested", "flushes") + (("errors",) if clean else ()):
            checks.equal(self.report[key], "0", f"{key} that the driver counts ({self.report['last_misuse']})")
        most = int(self.report["most"])
        checks.that(most <= 3500, f"{most} query objects at once")
        h.check_order(checks, self.log)
        checks.equal(len(self.log.devices), 1, "devices")


def device(log):
    return log.of("device")[-1]


def source(log, name):
    return next((s for s in device(log)["sources"] if s["name"] == name), {})


def own_values(p, table):
    return {key: value for key, value in p.get("counters", {}).items() if key in table}


def check_interval(checks, where, got, table, tick, vertices):
    for key, value in got.items():
        kind, seed = table[key]
        checks.equal(value, wanted(kind, seed, tick, vertices), f"{where}: {key}")


def is_lost(p):
    """The results were not available when the program ended."""
    return bool({"lost", "incomplete"} & set(p.get("flags", [])))


def check_frames(checks, run, table, complete=True, first=None):
    """Each value is the script's or absent; `complete`: none of those that the frame's set has is absent, except
    in the last frames, whose results came too late for the program. `first`: check only that many."""
    frames = run.log.whole_frames(0)[:first]
    keys_of_set, values = {}, 0
    in_time = frames[-1]["frame"] - LAST_FRAMES
    for frame in frames:
        checks.equal(len(frame["passes"]), N_PASSES, f"frame {frame['frame']}: passes")
        for p in frame["passes"]:
            where = f"frame {frame['frame']} pass {p['index']}"
            got = own_values(p, table)
            values += len(got)
            check_interval(checks, where, got, table, frame["frame"], SCENE[p["index"]])
            checks.that(frame["frame"] > in_time or not complete or not is_lost(p), f"{where}: lost")
            if complete and not is_lost(p):
                keys = keys_of_set.setdefault(frame.get("set"), set(got))
                checks.that(got and set(got) == keys, f"{where}: {sorted(got)}, not {sorted(keys)}")
    checks.that(values, "no value was in the log")
    return frames, keys_of_set


def check_draws(checks, run, table):
    """Granularity draw: each command by itself."""
    for frame in run.log.whole_frames(0):
        for p in frame["passes"]:
            vertices = list(SCENE[p["index"]])
            for load in p["workloads"]:
                where = f"frame {frame['frame']} pass {p['index']} {load['command']}"
                holds = [vertices.pop(0)] if load["command"] == "draw" else []
                got = own_values(load, table)
                checks.that(got or frame["frame"] > 190, f"{where}: no values")
                check_interval(checks, where, got, table, frame["frame"], holds)
            checks.equal(vertices, [], f"frame {frame['frame']} pass {p['index']}: draws without a workload")
            for key in ("work_draws", "hardware_draws", "n_draw_calls"):
                if key in p.get("counters", {}):
                    checks.equal(p["counters"][key], len(SCENE[p["index"]]), f"pass {p['index']}: {key}")


TABLES = {"amd": ("gl-amd", AMD), "intel": ("gl-intel", INTEL)}


def part_types(checks, folder):
    """Every data type, width and offset; results late and out of order; each harmless peculiarity."""
    for config in ("late=1", "late=3,shuffle=2", "ignore_size=0", "backwards,no_nul"):
        with checks.part(f"amd {config}"):
            run = Run(checks, folder, f"ext=amd,{config}", {"granularity": "pass"}, 24)
            _, sets = check_frames(checks, run, AMD)
            checks.that(set(AMD_TYPED) <= set().union(*sets.values()), f"keys {sets}")
    for config in ("late=1", "late=3,shuffle=2", "short_write", "ignore_size=0,instances=0"):
        with checks.part(f"intel {config}"):
            run = Run(checks, folder, f"ext=intel,{config}", {"granularity": "pass"}, 24)
            _, sets = check_frames(checks, run, INTEL)
            checks.equal(sorted(set().union(*sets.values())), sorted([*INTEL_TYPED, *INTEL_PIPELINE]), "keys")
    with checks.part("pre-standard"):
        run = Run(checks, folder, "ext=old,late=2,shuffle=1", {}, 24)
        table = old_counters(run.log)
        checks.equal(len(table), 44, "counters of both queries")
        _, sets = check_frames(checks, run, table)
        checks.equal(sorted(len(keys) for keys in sets.values()), [6, 38], "counters of each set")
    with checks.part("pre-standard beside the present one"):
        run = Run(checks, folder, "ext=intel+old", {}, 12)
        check_frames(checks, run, INTEL)


def part_derived(checks, folder):
    """200 frames: draws and vertices of each pass, and of each draw."""
    for ext, (_, table) in TABLES.items():
        for granularity in ("pass", "draw"):
            with checks.part(f"{ext} {granularity}"):
                run = Run(checks, folder, f"ext={ext},late=2,shuffle=1", {"granularity": granularity}, 200)
                if granularity == "draw":
                    check_draws(checks, run, table)
                else:
                    check_frames(checks, run, table)
                checks.that(len(run.log.whole_frames(0)) >= 195, "frames are missing")


def deviation(values):
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values))


def check_rotation(checks, run, table, n_sets, captured):
    frames, sets = check_frames(checks, run, table)
    frames = frames[:captured]
    checks.equal(len(frames), captured, "frames captured")
    checks.equal(len(sets), n_sets, f"sets {sorted(str(s) for s in sets)}")
    turns = {}
    for frame in frames:
        turns.setdefault(frame["set"], []).append(frame["frame"])
    for name, numbers in turns.items():
        checks.equal(len(numbers), captured // n_sets, f"turns of {name}")
    seen = {}
    for frame in frames:
        for p in frame["passes"]:
            for key, value in own_values(p, table).items():
                seen.setdefault((p["id"], p["index"], key), []).append(value)
    always = set.intersection(*sets.values())
    for (identity, index, key), values in seen.items():
        own = next((numbers for name, numbers in turns.items() if key in sets[name]), [])
        ticks = own if key not in always else [n for numbers in turns.values() for n in numbers]
        in_sets = [name for name in turns if key in sets[name]]
        if len(in_sets) == 1:
            checks.equal(len(values), captured // n_sets, f"{identity} {key}: N")
        kind, seed = table[key]
        if len(in_sets) == 1:
            want = deviation([wanted(kind, seed, tick, SCENE[index]) for tick in ticks])
            checks.equal(deviation(values), want, f"{identity} {key}: mean and deviation")
    check_statistics(checks, run, seen)
    check_report(checks, run, seen)


def check_statistics(checks, run, seen):
    """The `end` line's own sums, where it has them, over the same frames."""
    by_key = {}
    for (identity, _, key), values in seen.items():
        by_key[identity, key] = values
    for row in run.log.of("end")[0].get("statistics", []):
        values = by_key.get((row["id"], row["key"]))
        if values is None:
            continue
        mean, spread = deviation(values)
        checks.equal(row["n"], len(values), f"{row['id']} {row['key']}: n of the end line")
        checks.that(math.isclose(row["mean"], mean, rel_tol=1e-12), f"{row['key']}: mean {row['mean']}, not {mean}")
        checks.that(math.isclose(row["sd_population"], spread, rel_tol=1e-6, abs_tol=1e-3),
                    f"{row['key']}: deviation {row['sd_population']}, not {spread}")


def check_report(checks, run, seen):
    """What `passtally report` computes from it: N, mean and the sample's deviation, of each pass."""
    told = h.run([h.need("passtally"), "report", "--json", "--warmup", "0", run.log.path], dict(h.os.environ))
    checks.equal(told.status, 0, f"report: {told.errors[-300:]}")
    rows = {row["id"]: row["values"] for row in json.loads(told.text)["reports"][0]["rows"] if "id" in row}
    checks.equal(len(rows), N_PASSES, "rows of the report")
    for (identity, _, key), values in seen.items():
        got = rows.get(identity, {}).get(key, {})
        mean, spread = deviation(values)
        spread *= math.sqrt(len(values) / (len(values) - 1))
        checks.equal(got.get("n"), len(values), f"{identity} {key}: N of the report")
        checks.that(got and math.isclose(got["mean"], mean, rel_tol=1e-12), f"{identity} {key}: mean {got}, not {mean}")
        checks.that(got and math.isclose(got["sd"], spread, rel_tol=1e-6, abs_tol=1e-3),
                    f"{identity} {key}: deviation {got}, not {spread}")


def part_rotation(checks, folder):
    """Five sets, five hundred captured frames after warm-up, and twenty more frames."""
    # An instrumented writer thread cannot keep up with a program that does nothing but draw: fewer frames there.
    captured = 500 if not h.SANITIZER else 250
    options = {"skip": "5", "frames": str(captured)}
    with checks.part("amd"):
        run = Run(checks, folder, "ext=amd,sets=5,late=2,shuffle=1", options, captured + 30)
        check_rotation(checks, run, {**AMD_TURNS}, 5, captured)
    with checks.part("intel"):
        run = Run(checks, folder, "ext=intel,sets=4,late=2,shuffle=1", options, captured + 30)
        check_rotation(checks, run, INTEL, 5, captured)
    with checks.part("every second frame"):
        run = Run(checks, folder, "ext=amd,sets=4", {"every": "2", "frames": "40"}, 100)
        sets = [f.get("set") for f in run.log.whole_frames(0)]
        checks.equal({s: sets.count(s) for s in set(sets)}, {f"gl-amd-{k}": len(sets) // 4 for k in range(1, 5)},
                     "turns")
    with checks.part("every fifth of five"):
        options = {"every": "5", "skip": "3", "start-on": "frame:4", "frames": "50"}
        run = Run(checks, folder, "ext=intel,sets=4,late=2", options, 280)
        check_rotation(checks, run, INTEL, 5, 50)
    with checks.part("pinned"):
        run = Run(checks, folder, "ext=amd,sets=3", {"set": "gl-amd-2"}, 20)
        frames, sets = check_frames(checks, run, AMD)
        checks.equal(list(sets), ["gl-amd-2"], "sets")
        checks.that("turns_turn_1" in sets["gl-amd-2"], f"keys {sets}")


def check_own_use(checks, folder, ext, first, argv=()):
    run = Run(checks, folder, f"ext={ext},late=2", {}, 40, ["--own", ext, "--from", first, *argv])
    name, table = TABLES[ext]
    checks.that("own results" in run.text, "it has no results of its own")
    # The frames after these belong to the program's wait for its last result.
    frames = run.log.whole_frames(0)[:40]
    if first:
        check_frames(checks, run, table, complete=False, first=40)
    for frame in frames:
        for p in frame["passes"]:
            got = own_values(p, table)
            if frame["frame"] >= first:
                checks.equal(got, {}, f"frame {frame['frame']} pass {p['index']}: values")
    told = [n for n in run.log.of("note") if n.get("source") == name or name in n["message"]]
    state = source(run.log, name)
    checks.that(told or state.get("state") == "off", f"nothing tells of it: {run.log.notes}")


def part_own_use(checks, folder):
    """The program uses the extension itself: its names, results and errors stay its own."""
    for ext in ("amd", "intel"):
        for first in (0, 12):
            with checks.part(f"{ext} from frame {first}"):
                check_own_use(checks, folder, ext, first)
    # Mesa lets one context at a time use the GPU's counters, so those of all contexts are released.
    for first in (0, 12):
        with checks.part(f"intel in another context from frame {first}"):
            check_own_use(checks, folder, "intel", first, ["--in", "peer"])


def part_faults(checks, folder):
    """What goes wrong in the driver may make values absent, but never wrong, nor cause the program errors or a
    wait."""
    cases = [("intel", "defer_every=5"), ("intel", "exclusive"), ("intel", "sets=3,one_set,late=2"),
             ("intel", "error_every=4"), ("intel", "late=0"), ("intel", "late=40"),
             ("amd", "error_every=4"), ("amd", "error_every=1"), ("amd", "sets=3,conflict"), ("amd", "late=0"),
             ("amd", "late=40")]
    cases += [("intel", f"error_at={at}") for at in (1, 7, 20, 45, 70, 200, 500)]
    cases += [("amd", f"error_at={at}") for at in (1, 12, 60, 81, 82, 83, 200, 201, 202, 203, 204, 500)]
    for ext, config in cases:
        with checks.part(f"{ext} {config}"):
            run = Run(checks, folder, f"ext={ext},{config}", {}, 60, clean=False)
            name, table = TABLES[ext]
            values = 0
            for frame in run.log.whole_frames(0):
                for p in frame["passes"]:
                    got = own_values(p, table)
                    values += len(got)
                    check_interval(checks, f"frame {frame['frame']} pass {p['index']}", got, table, frame["frame"],
                                   SCENE[p["index"]])
            off = source(run.log, name).get("state") == "off"
            checks.that(values or off or "late" in config, "neither values nor a reason")


def part_offers(checks, folder):
    """What is missing is reported; what is offered is in the device line."""
    with checks.part("none"):
        # On llvmpipe statistics are counted only where they are named.
        run = Run(checks, folder, "ext=none", {"sources": "all+gl-statistics"}, 8)
        for name, word in (("gl-intel", "INTEL"), ("gl-amd", "AMD")):
            state = source(run.log, name)
            checks.equal(state.get("state"), "off", f"{name}: state")
            checks.that(word in state.get("reason", ""), f"{name}: reason {state.get('reason')}")
        read = [f for f in run.log.whole_frames(0) if f["passes"][0].get("counters")]
        checks.that(read, "statistics are missing too")
    with checks.part("only pipeline sets"):
        run = Run(checks, folder, "ext=intel,paranoid,vendor=Intel", {}, 12)
        _, sets = check_frames(checks, run, INTEL)
        checks.equal(set().union(*sets.values()), set(INTEL_PIPELINE), "keys")
    with checks.part("Intel's AMD extension"):
        run = Run(checks, folder, "ext=all,vendor=Intel", {}, 12)
        checks.equal(source(run.log, "gl-amd").get("state"), "off", "gl-amd")
        checks.that("--sources" in source(run.log, "gl-amd").get("reason", ""), "no reason")
        check_frames(checks, run, INTEL)
    with checks.part("overview"):
        run = Run(checks, folder, "ext=amd", {"counters": "overview"}, 12)
        frames, sets = check_frames(checks, run, AMD)
        checks.that(frames and "work_draws" in set().union(*sets.values()), f"keys {sets}")


def part_adreno(checks, folder):
    """The names of freedreno's counters: by default both metrics, and the report says what limits a pass."""
    run = Run(checks, folder, "ext=amd,adreno,vendor=freedreno", {"counters": "overview"}, 12)
    frames = run.log.whole_frames(0)[:6]
    for p, vertices in ((p, SCENE[p["index"]]) for frame in frames for p in frame["passes"]):
        metrics = p.get("metrics", {})
        checks.equal(metrics.get("adreno_texture_stall"), 100, f"pass {p['index']}: stalls as long as busy")
        alus = metrics.get("adreno_alus_working", 0)
        checks.that(abs(alus - 50 * len(vertices) / sum(vertices)) < 1e-9, f"pass {p['index']}: ALUs {alus}")
    said = h.run([h.need("passtally"), "report", "--pass", frames[0]["passes"][0]["id"], folder / "log.jsonl"],
                 h.base_env(folder))
    checks.that("100 % of their busy time the shaders wait for texture data" in " ".join(said.text.split()), said.text)


PARTS = {"adreno": part_adreno, "types": part_types, "derived": part_derived, "rotation": part_rotation, "own": part_own_use,
         "faults": part_faults, "offers": part_offers}


def main():
    h.need("libpasstally_gl.so")
    scene = h.need("perf_scene")
    if not (h.BUILD / "tests" / "fake_gl" / "fake_perf_egl.so").exists():
        h.skip("fake_perf_egl.so was not built: it needs libglvnd's headers")
    SCENE.extend(p["draws"] for p in json.loads(h.run([scene, "--expect"], dict(h.os.environ)).text))
    checks = h.Checks()
    for name in sys.argv[1:] or PARTS:
        with h.scratch() as folder, checks.part(name):
            PARTS[name](checks, folder)
    checks.finish()


main()
