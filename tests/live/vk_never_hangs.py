# SPDX-License-Identifier: MIT
"""A driver that fails below passtally: the program continues as without passtally, and the valid log reports it.

tests/fake_vk fails on demand. What fails for the program fails without passtally too, and must look the same to
it; what fails for passtally alone (calls about objects that it made) the program must not notice.

  vk_never_hangs.py [GROUP...]
"""

import subprocess
import sys
import time

import harness as h
import vk_fake as f
import vk_harness as vk

SCENES = ["resubmit", "present", "simultaneous", "queues", "secondary", "own_statistics_outside"]
LIMIT = 40 * (4 if h.SANITIZER else 1)  # seconds; limit for a run
FINISH = 25 * (4 if h.SANITIZER else 1)  # seconds; at most 2 of them in vkDestroyDevice
GROUPS = {
    # what the driver does, whether the program itself is affected, and what the log has to report about it
    "results": [("never", False, True), ("never,late=2", False, True), ("gaps=3", False, True), ("shuffle=2", False, False), ("late_fence=50", True, False),
                ("reset_fences=-13", False, False)],
    "requests": [("oom_device", True, False)] +
                [(f"refuse={what}", True, False) for what in (
                    "hostQueryReset", "inheritedQueries", "pipelineStatisticsQuery", "VK_EXT_calibrated_timestamps",
                    "hostQueryReset+inheritedQueries+pipelineStatisticsQuery")],
    "lost": [(f"lost={n}", True, None) for n in range(1, 7)],
    "lost_ours": [(f"lost_ours={n}", None, None) for n in range(1, 5)],
    "oom": [(f"oom={n}", True, None) for n in range(1, 41)],
    "oom_ours": [(f"oom_ours={n}", False, None) for n in range(1, 81)],
}
MEMORY = [("resubmit", {"granularity": "draw", "frame": "submit:2"}), ("secondary", {"pictures": "frame:0", "frame": "submit:1"}),
          ("samples", {"pictures": "frame:0", "frame": "submit:1"}),
          ("present", {"pipelines": "on", "black-box": "2s"}), ("rendering", {"snapshot": "exact", "sources": "all"})]
TELL = {"lost", "incomplete", "dropped"}
BARE, WHOLE = {}, {}


def says_so(log):
    flags = {flag for frame in log.frames for one in [frame, *frame["passes"]] for flag in one.get("flags", [])}
    off = any(source.get("reason") for line in log.of("device") for source in line.get("sources", []))
    return bool(flags & TELL) or bool(log.notes) or off


def measured(log):
    """How many numbers it contains."""
    passes = [one for frame in log.frames for one in frame["passes"]]
    return len(passes), sum("gpu_ns" in one for one in passes), sum(len(one.get("counters", {})) for one in passes)


def whole(scene):
    """... where nothing fails."""
    if scene not in WHOLE:
        with h.scratch() as folder:
            f.run_layer(folder, [scene], "", folder / "log.jsonl", {}, timeout=LIMIT)
            WHOLE[scene] = measured(h.Log(folder / "log.jsonl"))
    return WHOLE[scene]


def bare(folder, scene, fault):
    if (scene, fault) not in BARE:
        BARE[scene, fault] = f.run_bare(folder, [scene], fault, timeout=LIMIT)
    return BARE[scene, fault]


def check_log(checks, scene, path, told):
    command = h.built("passtally")
    if not path.exists():
        return
    log = h.Log(path)
    if command:
        r = subprocess.run([str(command), "check", str(path)], capture_output=True, timeout=h.TIMEOUT)
        checks.equal(r.returncode, 0, f"passtally check: {(r.stdout + r.stderr)[-300:]!r}")
    h.check_order(checks, log)
    if told:
        checks.that(says_so(log) or measured(log) == whole(scene), f"the log has {measured(log)} of {whole(scene)} and does not tell")


def check(checks, scene, fault, met, told):
    """`met`: the program is affected by the fault without passtally as well; None: it may be, only with
    passtally."""
    with h.scratch() as folder:
        alone, before = bare(folder, scene, fault if met else "")
        if alone.status < 0:
            print(f"# {fault} {scene}: the program waits for ever without us too")
            return
        log = folder / "log.jsonl"
        began = time.monotonic()
        got, trace = f.run_layer(folder, [scene], fault, log, {}, timeout=LIMIT)
        took = time.monotonic() - began
        checks.that(took < FINISH, f"took {took:.1f} s")
        if met is None:
            checks.that(got.status in (0, 3), f"status {got.status}: {got.errors[-300:]}")
        else:
            checks.equal((got.status, got.stdout, got.stderr), (alone.status, alone.stdout, alone.stderr),
                         "status and output")
            if "oom=" in fault or "lost" in fault:
                checks.equal(trace.faults, before.faults, "what failed")
        if met is False:
            wrong = f.compare(before, trace)
            checks.that(not wrong, wrong)
        if not (told is None and "lost" in fault):
            checks.equal(trace.rules[:3], [], "rules that are broken")
        hit = bool(trace.faults)
        if (fault, scene) == ("lost=3", "queues"):
            unread = [note for note in h.Log(log).notes if "nothing that was submitted had a result from this pass of frame 0 on" in note]
            checks.equal(len(unread), 2, "queues whose work was under way")
        check_log(checks, scene, log, told or (told is None and hit and "oom=" not in fault))


def check_memory(checks):
    """An allocation of passtally's fails, or all from one on: the program notices nothing."""
    preload = str(h.need("fail_alloc.so"))
    for scene, options in MEMORY:
        with h.scratch() as folder, checks.part(f"memory {scene}"):
            alone, _ = bare(folder, scene, "")
            for variable, numbers in (("FAIL_AT", range(0, 560, 9)), ("FAIL_FROM", range(0, 560, 40))):
                for number in numbers:
                    path = folder / "with.txt"
                    env = vk.layer_env(folder, folder / f"{variable}-{number}.jsonl", options, {
                        "VK_ICD_FILENAMES": str(f.driver()), "FAKE_VK_LOG": str(path), "LD_PRELOAD": preload, variable: str(number)})
                    got = h.run([f.program(), scene], env, timeout=LIMIT)
                    what = f"{variable}={number}"
                    checks.equal((got.status, got.stdout, got.stderr), (alone.status, alone.stdout, alone.stderr), f"{what}: status and output")
                    checks.equal(f.Trace(path).rules[:3], [], f"{what}: rules that are broken")


def main():
    f.program()
    f.driver()
    checks = h.Checks()
    groups = sys.argv[1:] or [*GROUPS, "memory"]
    if "memory" in groups and not h.SANITIZER:  # which has its own malloc
        check_memory(checks)
    for group in groups:
        for fault, met, told in GROUPS.get(group, []):
            for scene in SCENES:
                with checks.part(f"{fault} {scene}"):
                    check(checks, scene, fault, met, told)
    checks.finish()


main()
