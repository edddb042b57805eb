# SPDX-License-Identifier: MIT
"""linux-perf and linux-proc on real drivers: what they count adds up and ranks passes, and one replaces the other.

tests/apps/rank_scene.c (llvmpipe) and vk_rank_scene.c (lavapipe) draw two passes a frame, the second with four times
the fragments of the first. The rasterizer's threads belong to the process, so its CPU time is the passes' cost.

  cpu_counters.py gl|vk
"""

import sys

import harness as h
import vk_harness as vk

FRAMES = 40
OVERVIEW = ["cpu_task_clock", "cpu_page_faults", "cpu_context_switches"]
PERF_ONLY = {"cpu_migrations", "cpu_cycles", "cpu_instructions"}


def run_gl(folder, log, options, deny, frames):
    denies = [h.need("deny_perf.so")] if deny else []
    env = h.base_env(folder, h.capture_env(log, {"frame": "finish", **options}, after=denies))
    env["DENY_PERF"] = deny or ""
    return h.run([h.need("rank_scene"), "--frames", frames], env)


def run_vk(folder, log, options, deny, frames):
    extra = {"DENY_PERF": deny or ""}
    if deny:
        extra.update(h.preload_env(h.need("deny_perf.so")))
    env = vk.layer_env(folder, log, {"frame": "submit:1", **options}, extra)
    return h.run([h.need("vk_rank_scene"), "--frames", frames], env)


def capture(checks, run, options, deny=None, counts=True):
    """`counts`: passes must have CPU time."""
    def once(frames):
        with h.scratch() as folder:
            log = folder / "log.jsonl"
            result = run(folder, log, options, deny, frames)
            if result.status == 77:
                h.skip(result.errors.strip() or result.text.strip())
            checks.equal(result.status, 0, f"exit status ({result.errors[-300:]!r})")
            h.validate(checks, log)  # the source that adds up every counter, for comparison with the end line
            return h.Log(log)

    return h.long_enough(FRAMES, once, lambda log: not counts or ranked(log, "cpu_task_clock")[2] >= FRAMES / 2)


def rows(log):
    return {s["name"]: s for s in log.of("device")[-1]["sources"]}


def keys_of(log, source):
    return [c["key"] for c in log.of("device")[-1]["counters"] if c["source"] == source]


def check_sums(checks, log, source):
    """Passes, the unattributed part and what was left out add up to the delta, exactly."""
    growth = {r["key"]: r for r in log.of("end")[0].get("growth", []) if r["source"] == source}
    checks.equal(sorted(growth), sorted(keys_of(log, source)), "counters of which the end line tells")
    for key, row in growth.items():
        parts = [p.get("counters", {}) for f in log.frames for p in f["passes"]]
        parts += [f.get("unattributed", {}).get("counters", {}) for f in log.frames]
        told = sum(p.get(key, 0) for p in parts) + row.get("unlogged", 0)
        checks.equal(told, row["growth"], f"the sum of {key}")
    return {key: row["growth"] for key, row in growth.items()}


def ranked(log, key):
    """The sums of the light and of the heavy pass, and how many of each have a value."""
    light = [p["counters"][key] for f in log.frames for p in f["passes"]
             if p.get("draws") == 1 and key in p.get("counters", {})]
    heavy = [p["counters"][key] for f in log.frames for p in f["passes"]
             if p.get("draws") == 4 and key in p.get("counters", {})]
    return sum(light), sum(heavy), min(len(light), len(heavy))


def check_overview(checks, log, source):
    told = rows(log)
    checks.equal(told.get(source, {}).get("state"), "on", f"{source}, of {told.keys()}")
    checks.equal(keys_of(log, source), OVERVIEW, "the overview")
    growth = check_sums(checks, log, source)
    light, heavy, n = ranked(log, "cpu_task_clock")
    print(f"{source}: {n} frames, light pass {light} ns, heavy pass {heavy} ns, in all {growth.get('cpu_task_clock')} ns")
    checks.that(n >= FRAMES / 2, f"only {n} frames have the counter in both passes")
    checks.that(heavy >= 2 * light > 0, f"the heavy pass has {heavy} ns, the light one {light} ns")
    for frame in log.frames:
        for p in frame["passes"]:
            wrong = set(p.get("counters", {})) & set(OVERVIEW) - set(p.get("estimated", []))
            checks.that(not wrong, f"shares that are not called estimates: {wrong}")


def check_all(checks, log, source):
    """All counters: of perf those that this machine has, of proc those that the kernel accounts for."""
    told = rows(log)[source]
    keys = set(keys_of(log, source))
    checks.that(set(OVERVIEW) | {"cpu_minor_faults", "cpu_major_faults"} <= keys, f"keys {sorted(keys)}")
    growth = check_sums(checks, log, source)
    if "cpu_minor_faults" in growth:
        checks.equal(growth["cpu_minor_faults"] + growth["cpu_major_faults"], growth["cpu_page_faults"], "page faults")
    if source == "linux-proc":
        checks.that(not keys & PERF_ONLY, f"keys of perf alone: {sorted(keys & PERF_ONLY)}")
        checks.that("perf" in told.get("reason", ""), f"reason {told.get('reason')!r}")


def check_denied(checks, run):
    """Perf refused: the same keys, from the kernel's accounting."""
    for error in ("EACCES", "ENOSYS"):
        with checks.part(error):
            log = capture(checks, run, {"cpu": "on"}, deny=error)
            told = rows(log)
            checks.equal(told["linux-perf"]["state"], "off", "linux-perf")
            checks.that("filter of system calls" in told["linux-perf"].get("reason", ""), f"its reason {told['linux-perf'].get('reason')!r}")
            check_overview(checks, log, "linux-proc")


def main():
    run = run_vk if sys.argv[1:] == ["vk"] else run_gl
    checks = h.Checks()
    log = capture(checks, run, {}, counts=False)
    if not log.of("device"):
        checks.finish()
    with checks.part("the default"):
        checks.equal([name for name in rows(log) if name.startswith("linux-")], [], "CPU sources that nobody asked for")
    log = capture(checks, run, {"cpu": "on"})
    perf = rows(log).get("linux-perf", {}).get("state") == "on"
    with checks.part("--cpu"):
        check_overview(checks, log, "linux-perf" if perf else "linux-proc")
    with checks.part("a counter by name"):
        log = capture(checks, run, {"counters": "cpu_page_faults"}, counts=False)
        checks.equal(keys_of(log, "linux-perf" if perf else "linux-proc"), ["cpu_page_faults"], "counters")
    with checks.part("linux-proc"):
        check_overview(checks, capture(checks, run, {"sources": "api+gl-*+vk-*+linux-proc"}), "linux-proc")
    for source in (["linux-perf"] if perf else []) + ["linux-proc"]:
        with checks.part(f"all of {source}"):
            check_all(checks, capture(checks, run, {"sources": f"api+gl-*+vk-*+{source}", "counters": "all"}), source)
    with checks.part("perf denied"):
        check_denied(checks, run)
    with checks.part("off"):
        log = capture(checks, run, {"snapshot": "off"}, counts=False)
        checks.that("linux-perf" not in rows(log), "linux-perf has a row")
    checks.finish()


main()
