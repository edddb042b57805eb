# SPDX-License-Identifier: MIT
"""The driver sees what the program sent, except passtally's queries; and the log describes what the program sent.

tests/fake_vk stands in for the driver: it logs each command, runs it far enough for exact results,
and names the rules that a stream breaks. Each scene of tests/apps/vk_stream runs bare and under the layer, on
drivers that offer more and less.

  vk_call_stream.py [ROW...]
"""

import json
import re
import sys

import harness as h
import vk_fake as f
import vk_harness as vk

TICK = 1000  # ns, duration of a command


def draws(n, ticks=None, **more):
    """A render pass of n draws of three vertices, between its begin and its end."""
    return {"kind": "render", "draws": n, "vertices": 3 * n, "instances": n, "ticks": n + 2 if ticks is None else ticks,
            "shaded": 3 * n, "fragments": 100 * n, **more}


def compute(n, ticks, groups, **more):
    return {"kind": "compute", "draws": 0, "dispatches": n, "ticks": ticks, "computed": 64 * groups, **more}


def work(kind, ticks, **more):
    return {"kind": kind, "draws": 0, "ticks": ticks, **more}


ABSENT = {"shaded": None, "fragments": None}
UNCOUNTED = {**ABSENT, "flags": ["uncounted"]}
YIELDED = {**ABSENT, "flags": ["yielded"]}
PLAIN = [draws(2)]

# Scene -> passes of each frame, in the order of submission. Written by hand from tests/apps/vk_stream_*.c.
SCENES = {
    "render_pass": [draws(3), draws(1, vertices=12, instances=2, shaded=12)],
    "subpasses": [draws(3, 7)],
    "rendering": [draws(1, vertices=8, instances=2, shaded=8)],
    "newer_end": [draws(1), draws(1)],
    "suspend_one": [draws(2, 6, **UNCOUNTED)],
    "suspend_across": [work("transfer", 1, clears=1), draws(3, 9, **UNCOUNTED)],
    "secondary": [draws(3)],
    "secondary_rendering": [draws(2)],
    "secondary_later": [draws(2, 5)],
    "secondary_outside": [draws(2), compute(1, 1, 6), draws(1), draws(4)],
    "nested": [draws(3)],
    "secondary_reused": [draws(1)] * 4,
    "secondary_moves": [draws(3)] * 3,
    "multiview": [draws(2), draws(1)],
    "multiview_subpasses": [draws(2, 5, **UNCOUNTED)],
    "multiview_suspended": [draws(2, 6, **UNCOUNTED)],
    "mesh": [draws(2, vertices=None, instances=None, **UNCOUNTED), compute(1, 1, 1)],
    "conditional": [draws(1, flags=["conditional"]), draws(2)],
    "indirect": [{"kind": "render", "draws": 4, "ticks": 3, "flags": ["indirect"]},
                 {"kind": "render", "draws": None, "ticks": 3, "flags": ["indirect"]}],
    "compute": [compute(3, 4, 11)],
    "copies": [work("transfer", 3, copies=2, clears=1), compute(1, 1, 1), work("transfer", 1, copies=1)],
    "rays": [work("build", 2), work("raytracing", 2, dispatches=2)],
    "video": [work("other", None)],
    "per_tile": [draws(1)],
    "labels": [draws(1, label="frame"), draws(2, label="frame/shadow"), draws(3, label="frame/shadow"),
               compute(1, None, 1, label="frame/post"), draws(4)],
    "markers": [draws(1, label="marked"), draws(2)],
    "own_statistics_inside": [draws(2, 4, vertices=9, instances=3, **YIELDED)],
    "own_statistics_outside": [draws(2, **YIELDED), compute(2, 2, 2, computed=None, flags=["yielded"]), draws(1)],
    "own_statistics_mesh": [draws(1, vertices=None, instances=None, **UNCOUNTED)],
    "own_statistics_meshes": [draws(2, vertices=3, instances=1, **UNCOUNTED), draws(2)],
    "own_statistics_late": [draws(2), draws(3, **YIELDED), draws(1)],
    "own_statistics_secondaries": [draws(1), draws(2, **YIELDED), compute(1, 1, 1),
                                   compute(1, 1, 1, computed=None, flags=["yielded"])],
    "own_queries": [draws(1), work("transfer", 1, copies=1, flags=["readback"])],
    "resubmit": [draws(2)] * 3,
    "submit2": [draws(1), draws(2)],
    "simultaneous": [draws(2, **ABSENT, flags=["approximate", "simultaneous"])] * 2 +
                    [{**draws(2, **ABSENT, flags=["simultaneous"]), "ticks": None}] * 2,
    "wait_before_signal": [draws(2), compute(1, 1, 3)],
    "queues": [work("transfer", 1, copies=1), compute(1, 1, 3), draws(2)],
    "two_queues": [draws(1)] * 4,
    "present": [draws(1, surface=0)] * 3,
    "present_modes": [draws(1, surface=0)] * 2 + [draws(1, surface=1)] * 2,
    "present_compute": [compute(1, 1, 1)] * 3,
    "boundary": [draws(n) for n in (1, 2, 3, 4)],
    "group": [draws(1, **ABSENT), draws(2, **ABSENT)],
    "protected": [{"kind": "render", "draws": 2, "ticks": None, "flags": ["simultaneous"]}],
    "sparse": [draws(1)],
    "plain": PLAIN, "features_core": PLAIN, "features2": PLAIN, "features_separate": PLAIN, "no_info": PLAIN,
    "vulkan10": PLAIN, "twice": PLAIN, "exit_early": PLAIN,
    "freed_early": [draws(n) for n in (1, 2, 3)],
    "pool_destroyed": [draws(1), draws(2)],
    "pool_reset": [draws(n) for n in (1, 2, 3) for _ in range(7)],
    "reused": [draws(1), draws(2)] * 3,
    "empty_submits": [draws(1)],
    "never_submitted": [draws(2)],
    "pending_frame": [draws(4)],
    "exit_pending": None,  # which results are ready when it ends is not specified
    "fork": PLAIN * 2,
    "two_devices": PLAIN * 3,
    "devices_in_turn": PLAIN * 4,
    "many": [draws(1)] * 1200,
}
FRAMES = {"present": 3, "present_modes": 4, "present_compute": 3, "boundary": 2, "two_devices": 2, "devices_in_turn": 4}

# Row -> the driver's settings, passtally's options, and what the log must contain: everything, the work without
# counters, or just valid lines.
ROWS = {
    "usual": ("", {}, "all"),
    "late": ("late=3", {}, "all"),
    "narrow": ("families=gctsp:36:2+ct:36:1+t:36:1+td:36:1,wrap,noise", {}, "all"),
    "no_host_reset": ("no=hostQueryReset+VK_EXT_host_query_reset", {}, "work"),
    "no_inherited": ("no=inheritedQueries", {}, "work"),
    "no_statistics": ("no=pipelineStatisticsQuery", {}, "work"),
    "nothing_offered": ("no=hostQueryReset+VK_EXT_host_query_reset+inheritedQueries+pipelineStatisticsQuery"
                        "+VK_EXT_calibrated_timestamps", {}, "work"),
    "no_stamps": ("families=gctsp:0:2+ct:0:1+t:0:1+td:0:1", {}, "work"),
    "one_queue": ("families=gct:64:1", {}, "work"),
    "vulkan12": ("version=1.2", {}, "work"),
    "vulkan11": ("version=1.1", {}, "work"),
    "vulkan10": ("version=1.0", {}, "work"),
    "infinite": ("period=inf", {}, "work"),
    "draw": ("", {"granularity": "draw"}, "work"),
    "draw_no_host_reset": ("no=hostQueryReset+VK_EXT_host_query_reset+inheritedQueries", {"granularity": "draw"}, "work"),
    "frame": ("", {"granularity": "frame"}, "valid"),
    "submit": ("", {"granularity": "submit"}, "valid"),
    "ungrouped": ("", {"group-work": "off"}, "valid"),
    "barrier": ("", {"split": "barrier"}, "valid"),
}
GROUP = "gpus=2,group"
BARE = {}  # (scene, driver) -> what it does without passtally


def check_pass(checks, got, want, what, full):
    where = f"pass {what}"
    checks.equal(got["kind"], want["kind"], f"{where}: kind")
    for key in ("draws", "vertices", "instances", "dispatches", "copies", "clears"):
        if key in want:
            checks.equal(got.get(key), want[key], f"{where}: {key}")
    checks.equal(got.get("label"), want.get("label"), f"{where}: label")
    if not full:
        return
    checks.equal(sorted(got.get("flags", [])), want.get("flags", []), f"{where}: flags")
    if "surface" in want:
        checks.equal(got.get("surface"), want["surface"], f"{where}: surface")
    if want["ticks"] is not None:
        checks.equal(got.get("gpu_ns"), want["ticks"] * TICK, f"{where}: gpu_ns")
    elif want["kind"] == "render":
        checks.equal(got.get("gpu_ns"), None, f"{where}: gpu_ns")
    for key, counter in (("shaded", "vertex_shader_invocations"), ("fragments", "fragment_shader_invocations"),
                         ("computed", "compute_shader_invocations")):
        if key in want:
            checks.equal(got.get("counters", {}).get(counter), want[key], f"{where}: {counter}")


def check_log(checks, scene, path, how):
    if not path.exists():
        return
    log = h.Log(path)
    if how == "all":
        h.validate(checks, path)
    h.check_order(checks, log)
    want = SCENES[scene]
    if want is None or how == "valid":
        return
    checks.equal(len(log.frames), FRAMES.get(scene, 1), "frames")
    passes = [p for frame in sorted(log.frames, key=lambda one: (one["device"], one["frame"])) for p in
              sorted(frame["passes"], key=lambda one: (one["submission"], one["index"]))]
    if not checks.equal(len(passes), len(want), "passes"):
        return
    if scene == "present_modes":
        checks.equal([(d.get("present_mode"), d.get("images")) for d in log.of("device")], [("fifo", 2), ("mailbox", 2)],
                     "how each device line says that images are shown")
    for i, (got, one) in enumerate(zip(passes, want)):
        check_pass(checks, got, one, i, how == "all")
    starts = [p["gpu_start_ns"] for p in passes if "gpu_start_ns" in p]
    if how == "all":
        checks.equal(len(set(starts)), len(starts), "each instance has a time of its own")


def check(checks, scene, offers, options, how):
    offers = ",".join(part for part in (offers, GROUP if scene == "group" else "") if part)
    with h.scratch() as folder:
        if (scene, offers) not in BARE:
            BARE[scene, offers] = f.run_bare(folder, [scene], offers)
        bare, bare_trace = BARE[scene, offers]
        if bare.status == 77:
            print(f"# {scene}: {bare.text.strip()}")
            return
        checks.equal(bare_trace.rules, [], "rules that the scene itself breaks")
        log = folder / "log.jsonl"
        got, trace = f.run_layer(folder, [scene], offers, log, {"counters": "all", **options})
        checks.equal((got.status, got.stdout, got.stderr), (bare.status, bare.stdout, bare.stderr), "status and output")
        checks.equal(trace.rules[:3], [], "rules that are broken with us")
        wrong = f.compare(bare_trace, trace)
        checks.that(not wrong, wrong)
        if checks.that(log.exists() or bare.status == 3, "no log"):
            check_log(checks, scene, log, how)
            if options.get("granularity") == "draw":
                check_draws(checks, log, "hostQueryReset" not in offers)


def check_draws(checks, path, offered):
    """Without host query reset there are no workloads, and a note says why."""
    log = h.Log(path)
    told = any("hostQueryReset" in note["message"] for note in log.of("note"))
    checks.that(told or offered or not log.frames, "no workloads, and no note says why")
    checks.that(not told or not any(p.get("workloads") for f in log.frames for p in f["passes"]),
                "workloads beside a note that there are none")


# The rules that scene breaks_rules breaks, in tests/apps/vk_stream_rules.c.
BROKEN = """vkCmdResetQueryPool-firstQuery-00796 vkCmdEndQuery-None-01923 vkCmdBeginQuery-queryPool-01922
    vkCmdResetQueryPool-None-02841 any-renderpass vkCmdEndQuery-None-07007 vkEndCommandBuffer-commandBuffer-00061
    any-commandBuffer-cmdpool vkCmdWriteTimestamp-timestampValidBits-00829 vkCmdBeginQuery-queryType-00804
    vkCmdExecuteCommands-commandBuffer-00101 vkCmdExecuteCommands-commandBuffer-00104
    vkCmdExecuteCommands-commandBuffer-00105 vkCmdBeginQuery-None-00807 vkCmdWriteTimestamp-None-00830
    VkSubmitInfo-pCommandBuffers-06015 VkSubmitInfo-pCommandBuffers-06014 vkQueueSubmit-pCommandBuffers-00071
    vkQueueSubmit-fence-00064 vkResetFences-pFences-01123 vkResetQueryPool-firstQuery-02741
    vkResetQueryPool-None-02665 vkDestroyQueryPool-queryPool-00793 vkFreeCommandBuffers-pCommandBuffers-00047
    vkQueueSubmit-pCommandBuffers-00070 vkDestroyDevice-device-00378 vkGetQueryPoolResults-None-09401""".split()


def check_driver(checks):
    """The driver detects what is broken; otherwise the absence of reports would prove nothing."""
    with h.scratch() as folder, checks.part("the driver notices"):
        result, trace = f.run_bare(folder, ["breaks_rules"], "families=gct:64:1+ct:64:1+t:0:1")
        checks.equal(result.status, 0, f"status: {result.text}{result.errors[-300:]}")
        seen = {rule.split(" ")[1].removeprefix("VUID-") for rule in trace.rules}
        checks.equal(sorted(set(BROKEN) - seen), [], "rules that it does not notice")


def check_oracle(checks):
    """A stream that was tampered with is distinguished from one that was not."""
    with h.scratch() as folder, checks.part("the comparison notices"):
        _, bare = f.run_bare(folder, ["labels"], "")
        _, got = f.run_layer(folder, ["labels"], "", folder / "log.jsonl", {})
        at = [i for i, line in enumerate(got.lines) if line.startswith("vkCmdDraw ")]
        lines = got.lines
        damaged = {
            "a lost command": lines[:at[0]] + lines[at[0] + 1:],
            "a command twice": lines[:at[0]] + lines[at[0]:at[0] + 1] + lines[at[0]:],
            "another argument": [line.replace(" 3 1 0 0", " 3 2 0 0") for line in lines],
            "another label": [line.replace('"shadow"', '"shade"') for line in lines],
            "a lost fence": [re.sub(r"(vkQueueSubmit .*commandBufferCount=1.*) Fence#\d+", r"\1 0", line) for line in lines],
            "a feature more": [line.replace("vkCreateDevice ", "vkCreateDevice robustBufferAccess ") for line in lines],
        }
        checks.equal(f.compare(bare, got), None, "what was not damaged")
        for what, got.lines in damaged.items():
            checks.that(f.compare(bare, got), what)


def check_names(checks):
    """Without the driver's own words, the log and the command say the same about it."""
    for vendor, version, want in ((0x10de, 550 << 22 | 54 << 14 | 14 << 6 | 3, ("NVIDIA", "550.54.14.3")),
                                  (0x1002, 2 << 22 | 0 << 12 | 279, ("AMD", "2.0.279")),
                                  (0x13b5, 38 << 22 | 1 << 12, ("Arm", "38.1.0")), (7, 42, ("unknown", "0.0.42"))):
        with h.scratch() as folder, checks.part(f"vendor {vendor:#x}"):
            offers, log = f"version=1.0,vendor={vendor},driver_version={version}", folder / "log.jsonl"
            f.run_layer(folder, ["labels"], offers, log, {})
            env = vk.bare_env(folder, {"VK_ICD_FILENAMES": str(f.driver()), "FAKE_VK": offers})
            listed = h.run([h.need("passtally"), "counters", "--json"], env)
            listed = [json.loads(line) for line in listed.text.splitlines()]
            for what, lines in (("the log", h.Log(log).of("device")), ("counters", listed)):
                seen = {(d["driver"], d["driver_version"]) for d in lines if d.get("api") == "vulkan"}
                checks.equal(seen, {want}, what)


def main():
    program = f.program()
    listed = h.run([program, "--list"], dict(h.os.environ)).text.split()
    checks = h.Checks()
    checks.equal(sorted(listed), sorted([*SCENES, "breaks_rules"]), "scenes of the program and of this table")
    check_driver(checks)
    check_oracle(checks)
    if "vulkan10" in sys.argv:
        check_names(checks)
    for row in sys.argv[1:] or ROWS:
        offers, options, how = ROWS[row]
        for scene in SCENES:
            with checks.part(f"{row} {scene}"):
                check(checks, scene, offers, options, how)
    checks.finish()


main()
