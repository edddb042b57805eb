# SPDX-License-Identifier: MIT
"""What the layer can do without: scenes over a layer that hides what the driver has.

tests/fake_vk_hide is below the validation layer, which is below passtally's, so whatever passtally requests in
vain, or uses although it is hidden, fails or is reported. For each row the log is valid, its passes are the
scene's, the device line says why something is missing, and no validation message is new.
"""

import json
import re

import harness as h
import vk_harness as vk

HIDE = "VK_LAYER_PASSTALLY_TEST_hide"
STATISTICS = ("primitives_submitted", "vertex_shader_invocations", "fragment_shader_invocations")

# What is hidden, the scene, what its passes must have: times, statistics ("maybe": depends on the driver), flags;
# and the words that the reason of a source must contain.
ROWS = [
    ("", "triangle", {"time": True, "statistics": True}, {}),
    ("", "triangle", {"time": True, "statistics": False, "options": {"sources": "vk-timestamp"}}, {}),
    ("inheritedQueries", "secondaries", {"time": True, "statistics": True}, {}),
    ("hostQueryReset", "triangle", {"time": True, "statistics": "maybe"}, {}),
    ("hostQueryReset", "secondaries", {"time": True, "statistics": "maybe"}, {}),
    ("hostQueryReset", "compute", {"time": True, "statistics": "maybe"}, {}),
    ("hostQueryReset", "resubmit", {"time": True, "statistics": "maybe"}, {}),
    ("hostQueryReset", "suspend_across", {"time": "maybe", "statistics": "maybe"}, {}),
    ("pipelineStatisticsQuery", "triangle", {"time": True, "statistics": False}, {"vk-statistics": "pipelineStatisticsQuery"}),
    ("api10", "vulkan10", {"time": True, "statistics": "maybe", "flags": ["uncalibrated"]}, {"vk-timestamp": "calibrated"}),
    ("api10", "features", {"time": True, "statistics": "maybe", "flags": ["uncalibrated"]}, {"vk-timestamp": "calibrated"}),
    # Where results are copied: not on a queue that cannot copy them.
    ("transferOnly", "buffers", {"time": False, "statistics": False, "flags": ["no_timestamps"]}, {}),
    ("transferOnly,noStamps", "buffers", {"time": False, "statistics": False, "flags": ["no_timestamps"]}, {}),
    ("transferOnly,hostQueryReset", "buffers",
     {"time": False, "statistics": False, "flags": ["no_timestamps"]}, {}),
    ("noStamps", "triangle", {"time": False, "statistics": True, "flags": ["no_timestamps"]}, {}),
    ("calibrated", "triangle", {"time": True, "statistics": True, "flags": ["uncalibrated"]}, {"vk-timestamp": "calibrated"}),
    ("hostQueryReset,pipelineStatisticsQuery,calibrated", "labels", {"time": True, "statistics": False, "flags": ["uncalibrated"]},
     {"vk-statistics": "pipelineStatisticsQuery", "vk-timestamp": "calibrated"}),
]


def below(folder, words):
    """The environment that puts validation above the hiding layer: the loader takes the layers of
    VK_INSTANCE_LAYERS in the order in which it finds their manifests."""
    first, second = folder / "first", folder / "second"
    first.mkdir()
    second.mkdir()
    validation = vk.installed_manifest(vk.VALIDATION)
    (first / validation.name).write_bytes(validation.read_bytes())
    (second / "hide.json").write_text(json.dumps({
        "file_format_version": "1.1.2",
        "layer": {"name": HIDE, "type": "GLOBAL", "library_path": str(hide_library()), "api_version": "1.3.239",
                  "implementation_version": "1", "description": "hides what the driver has"}}))
    return {"VK_LAYER_PATH": f"{first}:{second}", "VK_INSTANCE_LAYERS": f"{vk.VALIDATION}:{HIDE}", "FAKE_VK_HIDE": words}


def hide_library():
    for folder in ("tests/fake_vk_hide", "tests/live", "."):
        path = h.BUILD / folder / "VkLayer_hide.so"
        if path.exists():
            return path.resolve()
    h.skip("VkLayer_hide.so was not built")


def check_pass(checks, got, want, has):
    checks.equal(got["kind"], want["kind"], "kind")
    checks.equal(got.get("draws", 0), want["draws"], "draws")
    flags = sorted(set(got.get("flags", [])) - set(want["flags"].split()) - {"uncounted"})
    checks.equal(flags, has.get("flags", []), "flags beside the scene's own")
    if has["time"] != "maybe":
        checks.equal("gpu_ns" in got, has["time"], "has a time")
    counters = {k: v for k, v in got.get("counters", {}).items() if k in STATISTICS}
    if has["statistics"] is False:
        checks.equal(counters, {}, "statistics")
    elif want["counters"] is not None and got["kind"] == "render":
        if has["statistics"] is True or counters:
            checks.equal(counters, {k: v for k, v in want["counters"].items() if k in STATISTICS}, "statistics")


def check_row(checks, program, words, scene, has, reasons):
    with h.scratch() as folder:
        extra = below(folder, words)
        if "transferOnly" in words:  # no device has only such a queue: newer validation forbids it every query pool
            extra["VK_LAYER_MESSAGE_ID_FILTER"] = "VUID-vkCreateQueryPool-device-09663"
        bare = h.run([program, scene], vk.bare_env(folder, extra))
        if not checks.equal(bare.status, 0, f"bare run {bare.errors[-300:]}"):
            return
        checks.equal(vk.messages(bare), {}, "messages of the bare run")
        want = vk.expectation(program, [scene], vk.bare_env(folder))
        for granularity in ("pass", "draw", "submit"):
            with checks.part(granularity):
                path = folder / f"{granularity}.jsonl"
                options = {"frame": want["boundary"], "granularity": granularity, **has.get("options", {})}
                got = h.run([program, scene], vk.layer_env(folder, path, options, extra))
                checks.equal((got.status, got.text), (bare.status, bare.text), "status and output")
                checks.equal(vk.messages(got), {}, "new messages")
                if not checks.that(path.exists(), "no log"):
                    continue
                log = h.Log(path)
                h.validate(checks, path)
                h.check_order(checks, log)
                if granularity != "pass":
                    continue
                checks.equal(len(log.whole_frames(0)), want["frames"], "frames")
                for frame in log.whole_frames(0):
                    if checks.equal(len(frame["passes"]), len(want["passes"]), "passes"):
                        for p, expected in zip(frame["passes"], want["passes"]):
                            check_pass(checks, p, expected, has)
                    h.check_time(checks, frame)
                sources = {s["name"]: s for s in log.of("device")[-1]["sources"]}
                for name, word in reasons.items():
                    reason = sources.get(name, {}).get("reason", "")
                    checks.that(re.search(word, reason, re.I), f"the reason of {name} does not speak of {word}: {reason!r}")


def check_hidden(checks, program):
    """The hiding layer is where it should be, and refuses what it hides."""
    with checks.part("order of the layers"), h.scratch() as folder:
        extra = {**below(folder, "pipelineStatisticsQuery"), "VK_LOADER_DEBUG": "layer,driver"}
        got = h.run([program, "triangle"], vk.layer_env(folder, folder / "log.jsonl", None, extra))
        checks.equal(vk.chain(got), [vk.LAYER, vk.VALIDATION, HIDE], "layers from the program down")
        refused = h.run([program, "own_statistics"], vk.bare_env(folder, extra))
        checks.equal(refused.status, 99, "a program that asks for what is hidden")


def main():
    vk.library()
    hide_library()
    if not vk.installed_manifest(vk.VALIDATION):
        h.skip("the validation layer is not installed")
    if h.SANITIZER:
        h.skip("the validation layer is slow enough without a sanitizer")
    program = h.need("vk_scenes")
    checks = h.Checks()
    check_hidden(checks, program)
    for words, scene, has, reasons in ROWS:
        with checks.part(f"{scene} without {words or 'nothing'}"):
            check_row(checks, program, words, scene, has, reasons)
    checks.finish()


if __name__ == "__main__":
    main()
