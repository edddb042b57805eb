# SPDX-License-Identifier: MIT
"""A MicroBlaze's counters in the log of a program that draws, from a model of its debug module.

tests/fake_mdm is below the program: it traps each access to the mapped registers, asks the model, and logs the
contents of every sample. So the log can be compared with it exactly: the passes of a log add up to what was
counted, and with --snapshot exact each pass is the difference of two samples, the same two for all its counters.
An error in the hardware or the options is reported once, the program runs as usual, and produces no number.

  microblaze.py [counts | wrong | hardware | glmark2]...
"""

import re
import shutil
import sys

import harness as h
import snapshots
import vk_harness as vk

KEYS = ["instructions", "cycles", "icache_requests", "icache_hits", "fp_ops",
        "icache_read_latency.n", "icache_read_latency.sum", "icache_read_latency.sum_sq"]
ICACHE = {"icache_read_latency.n", "icache_read_latency.sum", "icache_read_latency.sum_sq"}
FRAMES = 10  # that have values, at least
DRAWN = 5 * FRAMES  # see h.long_enough()


class Module:
    """What the model logged."""

    def __init__(self, path, preset=None):
        self.lines = path.read_text().splitlines() if path.exists() else []
        self.wrong = [line for line in self.lines if line.startswith("wrong")]
        # The last start begins what the log has; before it the configuration is probed.
        self.begin = max((i for i, line in enumerate(self.lines) if line == "start"), default=0)
        # Contents of each sample of the capture, over all clears, in the order of KEYS.
        self.samples, self.overflows, self.clears = [], 0, 0
        before, now = [0] * 100, [0] * 100
        for line in self.lines[self.begin:]:
            if line == "clear":
                self.clears += 1
                before = [a + b for a, b in zip(before, now)]
            if line.startswith("sample "):
                counts, status = line[len("sample "):].split(" | ")
                now = [int(n) for n in re.split("[ :]", counts)]
                if preset is not None:
                    now[0] = (now[0] - preset[0]) % preset[1]
                self.overflows += "2" in status.split()
                self.samples.append([a + b for a, b in zip(before, now)])

    def has(self, word):
        return any(line.startswith(word) for line in self.lines)


def preload(env):
    library = h.built("tests/fake_mdm/fake_mdm.so")
    if not library:
        h.skip("tests/fake_mdm is built for x86-64 only")
    env["LD_PRELOAD"] = ":".join(filter(None, [env.get("LD_PRELOAD"), str(library)]))
    return env


def has_values(captured):
    log, _ = captured
    return sum("cycles" in p.get("counters", {}) for p in passes_of(log)) > 2 * FRAMES


def capture(checks, mdm, microblaze, options=None, frames=None, fine=None, **more):
    """Captures this many frames; with `fine`, or without a number, as many as it takes."""
    def once(n):
        return capture_frames(checks, mdm, microblaze, options, n, **more)

    return once(frames) if frames and not fine else h.long_enough(frames or DRAWN, once, fine or has_values)


def capture_frames(checks, mdm, microblaze, options, frames, preset=None, clean=True):
    with h.scratch() as folder:
        told = folder / "mdm.txt"
        env = h.capture_env(folder / "log.jsonl", {
            "frame": "finish", "sources": "api+gl-timestamp+microblaze", "microblaze": microblaze,
            "counters": "all", **(options or {})})
        env.update({"FAKE_MDM": mdm, "FAKE_MDM_LOG": str(told)})
        argv = [h.need("scenes"), "deferred", "--platform", "surfaceless", "--frames", frames, "--end", "finish"]
        result = h.run(argv, preload(h.base_env(folder, env)))
        checks.equal(result.status, 0, f"exit status ({result.errors[-300:]!r})")
        h.validate(checks, folder / "log.jsonl")
        module = Module(told, preset)
        # A module that was not unlocked is asked once for its identity.
        checks.equal(len(module.wrong), 0 if clean else 1, f"accesses that no one should make: {module.wrong[:2]}")
        return h.Log(folder / "log.jsonl"), module


def row_of(log):
    device = log.of("device")[-1]
    return next((s for s in device["sources"] if s["name"] == "microblaze"), {})


def passes_of(log):
    return [p for f in log.frames for p in f["passes"]]


# ---- what is counted ----

def lies_between(values, a, b):
    """Whether they are the counts of one moment between two samples, interpolated linearly."""
    if not all(x <= v <= y for v, x, y in zip(values, a, b)):
        return False
    wide = max(range(len(values)), key=lambda i: b[i] - a[i])
    span, part = b[wide] - a[wide], values[wide] - a[wide]
    return all(abs((v - x) * span - (y - x) * part) <= 2 * max(span, y - x) for v, x, y in zip(values, a, b))


def check_growth(checks, log, module, keys=None):
    """What the log accounts for, all counters at one moment: it begins with one of the first samples, and ends
    where the last pass did."""
    keys = keys or KEYS
    total = snapshots.check_sums(checks, log, keys)
    samples = module.samples
    if not checks.that(len(samples) > 2, f"only {len(samples)} samples") or len(total) < len(keys):
        return
    for begin in [[0] * len(keys), *samples[:3]]:
        ends = [total[key] + begin[i] for i, key in enumerate(keys)]
        if any(lies_between(ends, a, b) for a, b in zip(samples, samples[1:])):
            break
    else:
        checks.that(False, f"growth {total} ends between no two samples, from {samples[0]} to {samples[-1]}")
    checks.that(total[keys[0]] > 0, "nothing was counted")


def check_sampled(checks, mdm, options, keys=None):
    log, module = capture(checks, mdm, options)
    checks.equal(row_of(log).get("state"), "on", f"the source's row ({row_of(log)})")
    check_growth(checks, log, module, keys)
    with_values = [p for p in passes_of(log) if "cycles" in p.get("counters", {})]
    checks.that(len(with_values) > FRAMES, f"only {len(with_values)} passes have cycles")
    for p in with_values:
        checks.that("cycles" in p.get("estimated", []), f"pass {p['index']} is not told to be estimated")


def capture_vulkan(checks, frames):
    with h.scratch() as folder:
        told = folder / "mdm.txt"
        env = vk.layer_env(folder, folder / "log.jsonl", {
            "frame": "submit:1", "sources": "api+vk-timestamp+microblaze", "microblaze": "on", "counters": "all"})
        env.update({"FAKE_MDM": "", "FAKE_MDM_LOG": str(told)})
        result = h.run([h.need("vk_scenes"), "targets", "--frames", frames], preload(env))
        checks.equal(result.status, 0, f"exit status ({result.errors[-300:]!r})")
        h.validate(checks, folder / "log.jsonl")
        return h.Log(folder / "log.jsonl"), Module(told)


def check_vulkan(checks):
    log, module = h.long_enough(DRAWN, lambda frames: capture_vulkan(checks, frames), has_values)
    checks.equal(module.wrong, [], "accesses that no one should make")
    check_growth(checks, log, module)
    checks.that(any(p.get("counters", {}).get("cycles", 0) > 0 for p in passes_of(log)), "no pass has cycles")


def check_exact(checks, mdm, options):
    log, module = capture(checks, mdm, options, {"snapshot": "exact"})
    check_growth(checks, log, module)
    apart = {}
    for i, a in enumerate(module.samples):
        for b in module.samples[i + 1:i + 12]:
            apart.setdefault(b[1] - a[1], set()).add(tuple(y - x for x, y in zip(a, b)))
    measured = 0
    for p in passes_of(log):
        got = p.get("counters", {})
        if "cycles" not in got or "cycles" in p.get("estimated", []) or "unsampled" in p.get("flags", []):
            continue
        measured += 1
        values = tuple(got.get(key) for key in KEYS)
        checks.that(values in apart.get(got["cycles"], ()), f"pass {p['index']} has {values}, between no two samples")
    checks.that(measured > FRAMES, f"only {measured} passes were measured")


def check_metrics(checks):
    """For frames: minimum and maximum are those of all the time, the mean is the quotient of its counters."""
    log, _ = capture(checks, "latency=7", "on", {"metrics": "all"})
    whole = 0
    for frame in log.frames:
        metrics = frame.get("metrics", {})
        n, total = (sum(p.get("counters", {}).get(f"icache_read_latency.{part}", 0)
                        for p in [*frame["passes"], frame.get("unattributed", {})]) for part in ("n", "sum"))
        if not n or "icache_read_latency.mean" not in metrics:
            continue
        whole += 1
        checks.that(abs(metrics["icache_read_latency.mean"] - total / n) < 1e-9 * total, f"the mean: {metrics}")
        checks.equal((metrics.get("icache_read_latency.min"), metrics.get("icache_read_latency.max")), (7, 13), "extremes")
        checks.that(7 <= metrics["icache_read_latency.mean"] <= 13, "the mean lies outside of the extremes")
        checks.that(1.2 < metrics["cpi"] < 1.3, f"cycles per instruction: {metrics.get('cpi')}")
        checks.that(0.9 < metrics["icache_hit_rate"] <= 1, f"hit rate: {metrics.get('icache_hit_rate')}")
    checks.that(whole > FRAMES // 2, f"only {whole} frames have a mean")
    for p in passes_of(log):
        checks.that("icache_read_latency.max" not in p.get("metrics", {}), "a pass has an extreme of all the time")


def overflowed(captured):
    log, module = captured
    return module.overflows and any("overflow" in f.get("flags", []) for f in log.frames)


def check_flags(checks):
    """Squares that wrap, and latencies that overlap: reported, and no value is computed from them."""
    log, module = capture(checks, "latency=100", "on", frames=500, fine=overflowed)
    checks.that(module.overflows, "no counter of the model overflowed")
    checks.that(any("overflow" in thing.get("flags", []) for f in log.frames for thing in [f, *f["passes"]]), "no flag tells of it")
    check_growth(checks, log, module, KEYS[:5])
    total = snapshots.check_sums(checks, log, KEYS)
    checks.that(0 < total.get(KEYS[5], 0) < module.samples[-1][5], f"{total.get(KEYS[5])} latencies of {module.samples[-1][5]}")
    log, module = capture(checks, "full", "on")
    for p in passes_of(log):
        checks.that(not ICACHE & set(p.get("counters", {})), "a pass has latencies that overlapped")
    checks.that(any("full" in thing.get("flags", []) for f in log.frames for thing in [f, *f["passes"]]), "no flag tells of full")
    checks.that(any("cycles" in p.get("counters", {}) for p in passes_of(log)), "no pass has cycles")


def check_interval(checks, width):
    """Read when the cycle counter overflows: as often as it does, and the readings add up."""
    cycles = 200000  # 2 ms
    log, module = capture(checks, f"width={width}", f"interval={cycles}+width={width}", preset=(2 ** width - cycles, 2 ** width))
    checks.that(module.clears > 5, f"only {module.clears} intervals")
    checks.that(module.has("interrupt"), "no interrupt was taken")
    check_growth(checks, log, module, ["cycles", "instructions", "icache_requests", "icache_hits", "fp_ops"])
    flags = {flag for f in log.frames for thing in [f, *f["passes"]] for flag in thing.get("flags", [])}
    checks.that("overflow" not in flags, "the overflow that is wanted is told of as one that is not")


def counts(checks):
    with checks.part("sampled, parallel, 32 bits"):
        check_sampled(checks, "way=parallel", "path=uio0")
    with checks.part("sampled, serial, 48 bits"):
        check_sampled(checks, "width=48,way=serial,size=0x1000", "access=serial+width=48")
    with checks.part("sampled, serial, 64 bits, second core of two"):
        check_sampled(checks, "width=64,ports=2,key=0x1234", "access=serial+width=64+ports=2+core=1+unlock=0x1234")
    with checks.part("sampled, /dev/mem"):
        check_sampled(checks, "ne=2,nl=0", "path=mem+base=0x44a00000+ne=2+nl=0+events=0:30", ["instructions", "cycles"])
    if h.built("vk_scenes"):
        with checks.part("sampled, Vulkan"):
            check_vulkan(checks)
    with checks.part("exact, parallel"):
        check_exact(checks, "", "on")
    with checks.part("exact, serial, 64 bits"):
        check_exact(checks, "width=64", "access=serial+width=64")
    with checks.part("metrics"):
        check_metrics(checks)
    with checks.part("flags"):
        check_flags(checks)
    for width in 32, 64:
        with checks.part(f"interval, {width} bits"):
            check_interval(checks, width)
    with checks.part("interval without an interrupt"):
        log, module = capture(checks, "noirq", "interval=200000")
        checks.that("no interrupt" in row_of(log).get("reason", ""), f"the source's row: {row_of(log)}")
        check_growth(checks, log, module, ["cycles", "instructions"])


# ---- what is wrong ----

WRONG = [
    ("dead", "on", "0xffffffff"),
    ("dead", "access=serial", "0xffffffff"),
    ("held", "on", "a debugger holds"),
    ("size=0x1000", "on", "4096 bytes"),
    ("size=0x10", "access=serial", "16 bytes"),
    ("deny", "on", "permission denied"),
    ("deny", "path=mem+base=0x44a00000", "permission denied"),
    ("busy", "on", "is in use"),
    ("", "path=uio7", "/dev/uio7 is not there"),
    ("", "path=mem", "base=ADDRESS"),
    ("", "ne=6", "ne="),
    ("", "ne=4", "ne="),
    ("mhz=0", "on", "stands still"),
    ("", "nl=2", "nl="),
    ("nl=0", "ne=1", "nl="),
    ("width=48", "on", "width="),
    ("width=64", "width=48", "width="),
    ("", "width=64", "width="),
    ("way=serial", "on", "access=serial"),
    ("key=0x1111", "access=serial", "unlock="),
    ("", "events=instructions:nonsense", "nonsense"),
]


def wrong(checks):
    for mdm, options, says in WRONG:
        with checks.part(f"wrong: {mdm or 'usual'} read with {options}"):
            log, module = capture(checks, mdm, options, frames=2, clean="unlock=" not in says)
            row = row_of(log)
            checks.equal(row.get("state"), "off", "the source's row")
            checks.that(says in row.get("reason", ""), f"the reason does not say {says!r}: {row.get('reason')}")
            keys = {key for p in passes_of(log) for key in p.get("counters", {})}
            checks.equal(keys & {*KEYS, *ICACHE}, set(), "counters of what was not read")
    with checks.part("wrong: doctor"):
        command = h.built("passtally")
        if not command:
            return
        for mdm, options, says in ("", "on", "ok microblaze"), ("width=64", "on", "width="), ("dead", "on", "0xffffffff"):
            with h.scratch() as folder:
                env = h.base_env(folder, {"FAKE_MDM": mdm, "PASSTALLY_OPTIONS": f"microblaze={options}", **h.preload_env()})
                row = re.search(r"(?m)^\S+ +microblaze .*(?:\n {10}.*)*", h.run([command, "doctor"], preload(env)).text)
                checks.that(row and says in " ".join(row[0].split()), f"doctor does not say {says!r}: {row and row[0]}")


# ---- the hardware's trigger ----

def hardware_run(checks, options, slow):
    """The hardware follows the clock, the program draws as fast as it can, here `slow` times as long."""
    # A frame takes at least 1 ms, the first, which compiles shaders, much longer.
    start, stop, n = (500, 2500, 4000) if h.SANITIZER else (200, 900, 3000)
    on, off = "start-on" in options, "stop-on" in options
    ran = slow * (n if off else 2 * start + 200)
    log, module = capture(checks, f"hw={slow * start if on else 0}:{slow * stop if off else 0}", "check=off", options,
                          frames=ran)
    frames = [f["frame"] for f in log.frames if "partial" not in f.get("flags", [])]
    return log, module, bool(frames and frames[0] > 0), bool(frames and frames[-1] < ran - 10)


def hardware(checks):
    """Counting that another component starts and stops is detected; frames are captured only in between."""
    for options in {"start-on": "hw", "stop-on": "hw"}, {"start-on": "hw"}, {"stop-on": "hw"}:
        with checks.part(f"hardware: {' and '.join(options)}"):
            on, off = "start-on" in options, "stop-on" in options
            for slow in 1, 4, 16:  # on a busy machine the clock is ahead of the program's start
                log, module, late, early = hardware_run(checks, options, slow)
                if (late, early) == (on, off):
                    break
            checks.that(not on or module.has("hardware starts"), "the model's hardware started nothing")
            checks.that(not off or module.has("hardware stops"), "the model's hardware stopped nothing")
            checks.that(log.frames, "no frame was captured")
            checks.equal(late, on, "frames before the start are left out")
            checks.equal(early, off, "frames after the stop are left out")
            checks.equal("start" in module.lines, not on, "whether passtally starts the counters")
            checks.that(any(p.get("counters", {}).get("cycles", 0) > 0 for p in passes_of(log)), "no pass has cycles")


def capture_glmark2(checks, program, snapshot, frames):
    with h.display(), h.scratch() as folder:
        told = folder / "mdm.txt"
        env = h.capture_env(folder / "log.jsonl", {
            "sources": "api+gl-timestamp+microblaze", "microblaze": "on", "counters": "all", "snapshot": snapshot})
        env.update({"FAKE_MDM": "", "FAKE_MDM_LOG": str(told)})
        argv = [program, "-s", "200x150", "-b", f"build:nframes={frames}:duration=600"]
        result = h.run(argv, preload(h.base_env(folder, env)))
        checks.equal(result.status, 0, f"exit status ({result.errors[-300:]!r})")
        h.validate(checks, folder / "log.jsonl")
        return h.Log(folder / "log.jsonl"), Module(told)


def glmark2(checks):
    """A program that was not written for passtally."""
    program = shutil.which("glmark2-es2") or shutil.which("glmark2")
    if not program or not shutil.which("Xvfb"):
        print("# left out: glmark2 or Xvfb is not installed")
        return
    for snapshot in "sampled", "exact":
        with checks.part(f"glmark2, {snapshot}"):
            log, module = h.long_enough(12, lambda frames, mode=snapshot: capture_glmark2(checks, program, mode, frames),
                                        lambda captured: len(captured[1].samples) > 2)
            checks.equal(module.wrong, [], "accesses that no one should make")
            check_growth(checks, log, module)


GROUPS = {"counts": counts, "wrong": wrong, "hardware": hardware, "glmark2": glmark2}


def main():
    checks = h.Checks()
    for group in sys.argv[1:] or GROUPS:
        GROUPS[group](checks)
    checks.finish()


if __name__ == "__main__":
    main()
