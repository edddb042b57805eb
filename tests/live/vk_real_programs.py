# SPDX-License-Identifier: MIT
"""Vulkan programs that were not written for passtally: they behave as always, and the log is complete.

  vk_real_programs.py vkcube|info|zink

Under the layer as it is installed; zink with the shim too, as `passtally run` has it: one session,
one log, two devices, of which the lower reports that it is below the upper.
"""

import re
import signal
import sys

import harness as h
import vk_harness as vk

CUBE_FRAMES = 60
ZINK_FRAMES = 12
# zink wins over GALLIUM_DRIVER only when that is not set.
ZINK = {"MESA_LOADER_DRIVER_OVERRIDE": "zink", "GALLIUM_DRIVER": ""}


def read_log(checks, path, truncated=False):
    if not checks.that(path.exists(), "no log"):
        return None
    log = h.Log(path)
    h.validate(checks, path, truncated=truncated and not log.complete)
    h.check_order(checks, log)
    return log


def check_vulkan_frame(checks, frame):
    what = f"frame {frame['frame']}"
    for p in frame["passes"]:
        checks.that("gpu_ns" in p and "gpu_start_ns" in p, f"{what} pass {p['index']}: no GPU time")
        checks.that("submission" in p, f"{what} pass {p['index']}: no submission")
        early = p["cpu_start_ns"] - p.get("gpu_start_ns", p["cpu_start_ns"])
        checks.that(early < 100_000, f"{what} pass {p['index']} began {early} ns before it was submitted")
    checks.equal(frame.get("dropped_passes", 0), 0, f"{what}: dropped passes")
    h.check_time(checks, frame)


# ---- vkcube: one pass a frame, one draw of 36 vertices ----

def check_cube(checks, log, what):
    frames = log.whole_frames(log.devices[0])
    checks.equal(len(frames), CUBE_FRAMES, f"{what}: frames")
    names = set()
    for frame in frames:
        renders = [p for p in frame["passes"] if p["kind"] == "render"]
        checks.equal([(p["draws"], p["vertices"], p["instances"]) for p in renders], [(1, 36, 1)],
                     f"frame {frame['frame']}: draws, vertices, instances")
        # vkcube records for simultaneous use: counters are not allowed inside, and
        # the batch, which is this one pass, is timed from outside.
        checks.equal(renders[0].get("flags"), ["approximate", "simultaneous"], f"frame {frame['frame']}: flags")
        counted = [key for key in renders[0].get("counters", {}) if not key.startswith("cpu_")]
        checks.equal(counted, [], f"frame {frame['frame']}: counters")
        checks.that("surface" in renders[0], f"frame {frame['frame']}: no surface")
        names.add(renders[0]["id"])
        check_vulkan_frame(checks, frame)
    checks.equal(len(names), 1, "identities of the one pass")
    waits = {event["kind"] for frame in frames for event in frame.get("events", [])}
    # A compositor may have an image ready at once, as Mesa 25 has: waits of less than 10 us are no event.
    mesa = re.search(r"Mesa (\d+)", log.of("device")[-1].get("driver_version", ""))
    ready = "wayland" in what or mesa and int(mesa[1]) >= 25
    checks.that("acquire" in waits or ready, f"waits for images: {waits}")
    info = log.info(min(names))["target"]
    checks.equal((info["width"], info["height"]), (500, 500), "size")
    checks.equal(log.notes, [], "notes")


def cube():
    checks = h.Checks()
    program = h.need_tool("vkcube")
    argv = [program, "--c", CUBE_FRAMES]
    with h.display(), h.scratch() as folder:
        bare = h.run(argv, vk.bare_env(folder))
        for granularity in ("pass", "draw"):
            with checks.part(f"vkcube, granularity {granularity}"):
                path = folder / f"{granularity}.jsonl"
                got = h.run(argv, vk.layer_env(folder, path, {"granularity": granularity}))
                same = (got.status, got.stdout, got.stderr) == (bare.status, bare.stdout, bare.stderr)
                checks.that(same, f"status and output {got.status} {got.text[-200:]} {got.errors[-200:]}")
                log = read_log(checks, path)
                if log:
                    check_cube(checks, log, granularity)
    checks.finish()


# ---- vulkaninfo: the same text, except for what always differs, and passtally's name ----

def settled(text):
    """Heap budgets vary, pointers and window ids too; passtally's layer is in the list of layers."""
    lines = []
    for line in text.splitlines():
        if "budget" in line.lower() or "usage" in line.lower() or vk.LAYER in line:
            continue
        lines.append(re.sub(r"0x[0-9a-f]{6,}", "#", line))
    return lines


def strip_layer(lines):
    """Without the paragraph about passtally's layer in `Layers:`, and its number."""
    return [re.sub(r"count = \d+$", "count = #", line) for line in lines]


def info():
    checks = h.Checks()
    program = h.need_tool("vulkaninfo")
    with h.scratch() as folder:
        vk.manifest(folder / "data" / "vulkan" / "implicit_layer.d")  # listed in both runs
        bare = h.run([program], vk.bare_env(folder))
        with checks.part("vulkaninfo"):
            path = folder / "log.jsonl"
            got = h.run([program], vk.layer_env(folder, path))
            checks.equal(got.status, bare.status, "exit status")
            a, b = strip_layer(settled(bare.text)), strip_layer(settled(got.text))
            different = [pair for pair in zip(a, b) if pair[0] != pair[1]]
            checks.equal((len(b), different[:3]), (len(a), []), "text")
            checks.equal(got.stderr, bare.stderr, "stderr")
            checks.that(not path.exists(), "a log of a program that submits nothing")
    checks.finish()


# ---- zink: OpenGL over Vulkan, both seen ----

def check_devices(checks, log):
    last = {line["device"]: line for line in log.of("device")}
    used = sorted({f["device"] for f in log.frames if f["passes"]})
    upper = [d for d in used if last[d]["api"].startswith("opengl")]
    lower = [d for d in used if last[d]["api"] == "vulkan"]
    checks.equal((len(upper), len(lower)), (1, 1), f"devices that draw: {[last[d]['api'] for d in used]}")
    if len(upper) != 1 or len(lower) != 1:
        return None
    # A context that was thrown away may have been the first one of the upper device.
    all_upper = [d for d, line in last.items() if line["api"].startswith("opengl")]
    checks.that(last[lower[0]].get("beneath") in all_upper, f"beneath is {last[lower[0]].get('beneath')}, OpenGL's are {all_upper}")
    checks.that("beneath" not in last[upper[0]], "the upper device is beneath another")
    checks.that("zink" in (last[upper[0]].get("name", "") + last[upper[0]].get("driver", "")).lower(), "the upper device is not zink")
    return upper[0], lower[0]


def both_env(folder, path, options=None):
    """Shim and layer in one process."""
    # By default only OpenGL's passes are measured.
    env = vk.layer_env(folder, path, {"sources": "gl-*+vk-*", **(options or {})}, ZINK)
    env.update(h.preload_env(h.need("libpasstally_gl.so")))
    return env


def check_zink(checks, name, argv, least, exact):
    with checks.part(name), h.scratch() as folder:
        path = folder / "log.jsonl"
        # Each frame of such a program is two frames of the log.
        got = h.run(argv, both_env(folder, path), stop_when=None if exact else h.has_frames(path, 4 * least))
        checks.equal(got.status, h.run(argv, vk.bare_env(folder, ZINK)).status if exact else -signal.SIGTERM, "exit status")
        checks.equal(sorted(p.name for p in folder.glob("*.jsonl*")), ["log.jsonl"], "one log")
        log = read_log(checks, path, truncated=not exact)
        pair = log and check_devices(checks, log)
        if not pair:
            return
        frames = [log.whole_frames(device) for device in pair]
        checks.that(min(len(f) for f in frames) >= least, f"{[len(f) for f in frames]} frames")
        if exact:
            # glmark2 itself swaps once more before its first frame and around its scenes.
            checks.that(abs(len(frames[0]) - len(frames[1])) <= 1, f"{[len(f) for f in frames]} frames")
        for frame in frames[1]:
            check_vulkan_frame(checks, frame)
        draws = [sum(p.get("draws", 0) for f in each for p in f["passes"]) for each in frames]
        checks.that(draws[1] > 0, f"draws {draws}")
        if exact:  # gears uses display lists: their draws are unknown in the upper device
            checks.that(draws[0] > 0, f"draws {draws}")
            # Clears may become draws in the lower device, but there are never fewer draws.
            checks.that(draws[1] >= draws[0], f"draws above and below {draws}")
        expected = ("zink", "belongs to no frame", "after its last frame")
        checks.equal([n for n in log.notes if not any(e in n for e in expected)], [], "notes")


def zink():
    checks = h.Checks()
    if h.SANITIZER:
        h.skip("Mesa's own leaks under a preloaded sanitizer are not ours to count")
    with h.display():
        for name in ("glmark2", "glmark2-es2"):
            argv = [h.need_tool(name), "-s", "128x128", "-b", f"shadow:nframes={ZINK_FRAMES}:duration=600"]
            check_zink(checks, f"{name} over zink", argv, ZINK_FRAMES, True)
        check_zink(checks, "glxgears over zink", [h.need_tool("glxgears")], 5, False)
    checks.finish()


if __name__ == "__main__":
    vk.library()
    {"vkcube": cube, "info": info, "zink": zink}[sys.argv[1]]()
