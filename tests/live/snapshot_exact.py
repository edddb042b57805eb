# SPDX-License-Identifier: MIT
"""--snapshot exact: nothing hangs, sampled passes have the totals that were read around them, and the others give
the reason.

tests/apps/vk_exact.c submits work on which a wait of passtally could hang, on tests/fake_vk (which has several
queues) and on lavapipe; tests/apps/scenes.c draws on llvmpipe. The source is `fake-snapshot`: its fake_total_reads
increases by 1000 per reading (at a boundary, or occasionally one of the collector's), so a pass that has the whole
delta between two readings has a multiple of 1000, and one that was cut by time does not.

  snapshot_exact.py [fake | streams | faults | lavapipe | validation | scenes | opengl]...
"""

import sys

import harness as h
import vk_fake as f
import vk_harness as vk

LIMIT = 180 * (4 if h.SANITIZER else 1)  # seconds, of one run: a run that has not ended by then hangs
OPTIONS = {"snapshot": "exact", "sources": "api+vk-timestamp+gl-timestamp+fake-snapshot", "counters": "fake_total_*"}
QUEUES = "families=gctp:64:2"

NOT_SIGNALLED = "nothing submitted so far signals"
BEHIND = "has work before it"
# For each scene: the passes in order of submission (fills, sampled or not), and the reasons reported.
YES, NO = True, False
SCENES = {
    "pieces": ([(1, YES), (2, YES), (3, YES), (4, YES), (4, YES)], []),
    "pieces2": ([(1, YES), (2, YES), (3, YES)], []),
    "gate": ([(1, YES), (2, NO), (3, NO), (4, NO), (5, YES), (6, YES)], [NOT_SIGNALLED, BEHIND]),
    "cross": ([(1, NO), (2, YES), (3, YES), (4, YES), (5, YES)], [NOT_SIGNALLED]),
    "circle": ([(1, NO), (2, NO), (3, YES)], [NOT_SIGNALLED]),
    "binary": ([(1, YES), (2, YES), (3, YES)] * 2, []),
    # What the bind signals after the host has signaled is only seen: on a slow driver not in time.
    "sparse": ([(1, NO), (2, None)], [NOT_SIGNALLED]),
    "shared": ([(1, YES), (2, YES), (3, YES), (4, YES)], []),
    "foreign": ([(1, YES), (2, YES), (3, YES)], ["cannot be cut"]),
    # Two passes of a batch share their samples, and have no times to share by.
    "simultaneous": ([(1, YES), (1, YES), (1, NO), (1, NO)], []),
    "present": ([(1, YES), (2, YES)] * 3, []),
    "threads": (None, None),
}
TOGETHER = {"foreign", "simultaneous"}  # where passes may share one slice


def is_sampled(one):
    return "unsampled" not in one.get("flags", [])


def is_whole(reads):
    return reads is not None and reads >= 1000 and reads % 1000 == 0


def check_passes(checks, name, log, real_time):
    want, reasons = SCENES[name]
    passes = [one for frame in log.frames for one in frame["passes"]]
    passes.sort(key=lambda one: (one["submission"], one["index"]))
    told = [note for note in log.notes if "sampled" in note or "2 s" in note]
    if want is None:
        checks.equal(len(passes), 24, "passes")
    else:
        got = [(one.get("clears", 0), is_sampled(one)) for one in passes]
        if len(got) == len(want):
            want = [(n, g[1] if sampled is None else sampled) for (n, sampled), g in zip(want, got)]
        checks.equal(sorted(got) if name == "circle" else got, want, "passes, and whether they were sampled")
        for reason in reasons:
            checks.that(any(reason in note for note in told), f"no note says {reason!r}: {told}")
        checks.that(reasons or not told, f"notes of {told}")
    checks.that(not any("2 s" in note for note in told), f"a wait ran out: {told}")
    for one in passes:
        check_one(checks, name, one, real_time)


def check_one(checks, name, one, real_time):
    """`real_time`: the GPU's clock is the CPU's. tests/fake_vk takes 1000 ticks for a command, whatever the time."""
    what = f"pass {one['clears']} of submission {one['submission']}"
    reads = one.get("counters", {}).get("fake_total_reads")
    estimated = "fake_total_reads" in one.get("estimated", [])
    if not is_sampled(one):
        checks.that(reads is None or estimated, f"{what} was not sampled and has {reads}")
    elif name in TOGETHER:
        # More than 1000 where the collector, too, read in that piece; one that shares it has a part of them.
        checks.that(reads is not None and (reads <= 1000 or (is_whole(reads) and not estimated)),
                    f"{what} may share a piece and has {reads}, estimated: {estimated}")
    elif name == "threads":
        checks.that(reads is not None, f"{what} has nothing")
    else:
        checks.that(is_whole(reads) and not estimated, f"{what}: {reads}, estimated: {estimated}")
        checks.that(not real_time or one["counters"]["fake_total_ns"] >= one.get("gpu_ns", 0),
                    f"{what}: {one['counters']['fake_total_ns']} ns around {one.get('gpu_ns')} ns")


def run(folder, name, extra, options=None):
    log = folder / "log.jsonl"
    env = vk.layer_env(folder, log, {**OPTIONS, **(options or {})}, extra)
    return h.run([h.need("vk_exact"), name], env, timeout=LIMIT), log


def check_scene(checks, name, extra, options=None):
    """False: the scene does not work on this driver."""
    with h.scratch() as folder:
        bare = h.run([h.need("vk_exact"), name], vk.bare_env(folder, extra), timeout=LIMIT)
        if bare.status == 77 or (bare.status == 3 and "FAKE_VK" not in extra):
            print(f"# {name}: {bare.text.strip()}")
            return False
        checks.equal((bare.status, bare.text), (0, f"{name} done\n"), "without us")
        got, path = run(folder, name, extra, options)
        checks.equal((got.status, got.text), (bare.status, bare.text), "status and output")
        log = h.Log(path)
        h.validate(checks, path)
        h.check_order(checks, log)
        if not (options or {}).get("granularity"):
            check_passes(checks, name, log, "FAKE_VK" not in extra)
        return True


def check_coarse(checks, extra, granularity):
    """One sample before and after; a submission that could not be waited for invalidates it."""
    with h.scratch() as folder:
        for name, want in (("pieces", YES), ("gate", NO)):
            _, path = run(folder, name, extra, {"granularity": granularity})
            passes = [one for frame in h.Log(path).frames for one in frame["passes"]]
            sampled = [is_sampled(one) for one in passes]
            if granularity == "frame":
                checks.equal(sampled, [want], f"{name}: sampled")
            else:
                checks.equal(sampled[0], True, f"{name}: the first submission is sampled")
                checks.equal(all(sampled), want, f"{name}: all are")
            if want and checks.that(bool(passes), "passes"):
                checks.that(passes[0]["counters"]["fake_total_reads"] >= 1000, "totals were read around it")
            path.unlink()


def fake(checks):
    f.driver()
    extra = {"VK_ICD_FILENAMES": str(f.driver())}
    for late in ("", ",late=3"):
        for name in SCENES:
            with checks.part(f"fake{late} {name}"), h.scratch() as folder:
                trace = folder / "trace.txt"
                check_scene(checks, name, {**extra, "FAKE_VK": QUEUES + late, "FAKE_VK_LOG": str(trace)})
                checks.equal(f.Trace(trace).rules[:3], [], "rules that are broken")
    for granularity in ("submit", "frame"):
        with checks.part(f"fake granularity {granularity}"):
            check_coarse(checks, {**extra, "FAKE_VK": QUEUES}, granularity)
    with checks.part("fake, work that takes too long"), h.scratch() as folder:
        result, path = run(folder, "pieces", {**extra, "FAKE_VK": QUEUES + ",late=2500"})
        log = h.Log(path)
        checks.equal(result.text, "pieces done\n", "output")
        checks.that(any("more than 2 s" in note for note in log.notes), f"no note of it: {log.notes}")
        flags = [is_sampled(one) for frame in log.frames for one in frame["passes"]]
        checks.that(len(flags) == 5 and not any(flags), f"sampled: {flags}")


def streams(checks):
    """Everything that tests/apps/vk_stream.c submits (device groups, protected, boundaries, suspended passes),
    according to the rules."""
    names = [name for name in vk.scene_list(f.program()) if name != "breaks_rules"]
    sampled = sum(part(checks, f"stream {name}", check_stream, name) for name in names)
    checks.that(sampled > 100, f"only {sampled} passes were sampled")


def check_stream(checks, name):
    offers = "group" if name == "group" else ""
    with h.scratch() as folder:
        bare, before = f.run_bare(folder, [name], offers, timeout=LIMIT)
        if bare.status == 77:
            return 0
        log = folder / "log.jsonl"
        got, trace = f.run_layer(folder, [name], offers, log, OPTIONS, timeout=LIMIT)
        checks.equal((got.status, got.stdout, got.stderr), (bare.status, bare.stdout, bare.stderr), "as without us")
        checks.equal([one for one in trace.rules if one not in before.rules][:3], [], "rules that are broken")
        passes = [one for frame in h.Log(log).frames for one in frame["passes"]] if log.exists() else []
        return sum("fake_total_ns" in one.get("counters", {}) and is_sampled(one) for one in passes)


def faults(checks):
    """The program does not notice what fails for passtally alone; nothing hangs, and no rule is broken."""
    ours = ["never", "reset_fences=-13"] + [f"oom_ours={n}" for n in range(1, 31)]
    lost = [f"lost_ours={n}" for n in range(1, 5)] + [f"lost={n}" for n in range(1, 6)]
    for fault in ours + lost + [f"oom={n}" for n in range(8, 33)]:
        with checks.part(f"fault {fault}"), h.scratch() as folder:
            trace = folder / "trace.txt"
            extra = {"VK_ICD_FILENAMES": str(f.driver()), "FAKE_VK": f"{QUEUES},{fault}", "FAKE_VK_LOG": str(trace)}
            # A program that can no longer open its gate waits forever without passtally too.
            for name in ("pieces", "gate") if fault in ours else ("pieces", "pieces2"):
                got, _ = run(folder, name, extra)
                fine = got.status == 0 or (got.status == 3 and fault not in ours)
                checks.that(fine, f"{name}: status {got.status}: {got.text}{got.errors[-300:]}")
                checks.that("hangs" not in got.text, f"{name}: {got.text}")
                (folder / "log.jsonl").unlink(missing_ok=True)
            if "lost" not in fault:
                checks.equal(f.Trace(trace).rules[:3], [], "rules that are broken")


def lavapipe(checks):
    ran = [name for name in SCENES if part(checks, f"lavapipe {name}", check_scene, name, {})]
    checks.that({"pieces", "pieces2", "gate"} <= set(ran), f"lavapipe ran {ran}")


def part(checks, title, function, *arguments):
    with checks.part(title):
        return function(checks, *arguments)
    return False


def validation(checks):
    if not vk.installed_manifest(vk.VALIDATION):
        h.skip("the validation layer is not installed")
    extra = {"VK_INSTANCE_LAYERS": vk.VALIDATION}
    for name in ("pieces", "pieces2", "gate", "simultaneous"):
        with checks.part(f"validation {name}"), h.scratch() as folder:
            bare = h.run([h.need("vk_exact"), name], vk.bare_env(folder, extra), timeout=LIMIT)
            got, _ = run(folder, name, extra)
            checks.equal(got.status, bare.status, "status")
            more = {key: n for key, n in vk.messages(got).items() if n > vk.messages(bare).get(key, 0)}
            checks.equal(more, {}, "messages that are new")


def scenes(checks):
    """What tests/apps/vk_scenes.c draws and presents is the same as without passtally: pixels are in its
    output."""
    program = h.need("vk_scenes")
    with h.display():
        sampled = sum(part(checks, f"scene {name}", check_drawn, program, name) for name in vk.scene_list(program))
    checks.that(sampled > 100, f"only {sampled} passes were sampled")


def check_drawn(checks, program, name):
    argv = [program, name, "--frames", "2"]
    with h.scratch() as folder:
        bare = h.run(argv, vk.bare_env(folder), timeout=LIMIT)
        if bare.status == 77:
            print(f"# {name}: {bare.errors.strip()}")
            return 0
        log = folder / "log.jsonl"
        got = h.run(argv, vk.layer_env(folder, log, OPTIONS), timeout=LIMIT)
        checks.equal((got.status, got.stdout, got.stderr), (bare.status, bare.stdout, bare.stderr), "as without us")
        told = h.Log(log).notes if log.exists() else []
        checks.that(not any("2 s" in note for note in told), f"a wait ran out: {told}")
        return sum("fake_total_ns" in one.get("counters", {}) and is_sampled(one) for frame in h.Log(log).frames
                   for one in frame["passes"])


def opengl(checks):
    program = h.need("scenes")
    h.need("libpasstally_gl.so")
    rows = [line.split() for line in h.run([program, "--list"], dict(h.os.environ)).text.splitlines()]
    jobs = [(row[0], next(api for api in row[1:] if api != "surface")) for row in rows]
    sampled = sum(part(checks, f"opengl {name} {api}", check_gl, program, name, api) for name, api in jobs)
    checks.that(sampled > 100, f"only {sampled} passes were sampled")


def check_gl(checks, program, name, api):
    """How many passes were sampled."""
    argv = [program, name, "--api", api, "--platform", "pbuffer", "--frames", "2"]
    with h.scratch() as folder:
        bare = h.run(argv, h.base_env(folder), timeout=LIMIT)
        if bare.status == 77:
            print(f"# {name} {api}: {bare.errors.strip()}")
            return 0
        log = folder / "log.jsonl"
        got = h.run(argv, h.base_env(folder, h.capture_env(log, OPTIONS)), timeout=LIMIT)
        checks.equal((got.status, got.stdout, got.stderr), (bare.status, bare.stdout, bare.stderr), "as without us")
        h.validate(checks, log)
        return check_gl_log(checks, name, h.Log(log))


def check_gl_log(checks, name, log):
    n = 0
    for one in (one for frame in log.frames for one in frame["passes"]):
        flags = set(one.get("flags", []))
        reads = one.get("counters", {}).get("fake_total_reads")
        estimated = "fake_total_reads" in one.get("estimated", [])
        if "unsampled" in flags:
            # Where the program ends in a pass, or does not destroy its context, nothing may wait.
            checks.that(flags & {"incomplete", "lost", "dropped"}, f"pass {one['index']} is not sampled: {flags}")
        elif name == "threads" and estimated:
            checks.that(reads is not None, f"pass {one['index']} has nothing")
        else:
            n += 1
            checks.that(is_whole(reads) and not estimated, f"pass {one['index']}: {reads}, estimated: {estimated}")
            checks.that(one["counters"]["fake_total_ns"] >= one.get("gpu_ns", 0),
                        f"pass {one['index']}: {one['counters']['fake_total_ns']} ns around {one.get('gpu_ns')} ns")
    checks.that(not any("2 s" in note for note in log.notes), f"a wait ran out: {log.notes}")
    return n


GROUPS = {"fake": fake, "streams": streams, "faults": faults, "lavapipe": lavapipe, "validation": validation,
          "scenes": scenes, "opengl": opengl}


def main():
    checks = h.Checks()
    for group in sys.argv[1:] or GROUPS:
        GROUPS[group](checks)
    checks.finish()


main()
