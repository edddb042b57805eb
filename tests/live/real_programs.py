# SPDX-License-Identifier: MIT
"""Programs that were not written for passtally, under `passtally run` (or the bare preload where the
command was not built): they behave as always, and the log has each of their frames.

  real_programs.py gears|glmark2|toolkits|plug-ins|info
"""

import os
import re
import signal
import struct
import sys

import harness as h

# glmark2's scenes: name, and what a frame of it must contain at least (render passes).
GLMARK = [
    ("build", 1), ("shadow", 2), ("refract", 2), ("terrain", 3), ("desktop", 3), ("effect2d", 1), ("bump", 1), ("jellyfish", 1),
]
NFRAMES = 8


def captured(argv, log, options=None, env=None):
    """The argument list and environment that capture this program."""
    command = h.built("passtally")
    if command:
        words = [w for k, v in (options or {}).items() for w in ([f"--{k}"] if v is True else [f"--{k}", v])]
        return [command, "run", "--quiet", *words, "-o", log, "--", *argv], dict(env or {})
    return argv, {**h.capture_env(log, options), **(env or {})}


def mask(text):
    """Numbers, hexadecimal ones too, and the blanks that their width produces."""
    return re.sub(rb"[ \t]+", b" ", re.sub(rb"0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?", b"#", text))


def read_log(checks, path, truncated=False):
    if not checks.that(path.exists(), "no log"):
        return None
    log = h.Log(path)
    h.validate(checks, path, truncated=truncated and not log.complete)
    h.check_order(checks, log)
    return log


def check_frames(checks, log, least=1):
    """At least this many passes in each frame, with a time on the GPU."""
    for device in log.devices:
        for f in log.whole_frames(device):
            renders = [p for p in f["passes"] if p["kind"] == "render"]
            checks.that(len(renders) >= least, f"frame {f['frame']} has {len(renders)} render passes, expected {least}")
            checks.that(f.get("gpu_ns", 0) > 0, f"frame {f['frame']} took no GPU time")
            checks.that(sum(p.get("draws", 1) + p.get("clears", 0) for p in renders) > 0, f"frame {f['frame']} drew nothing")
            h.check_time(checks, f)


def whole_count(log):
    return sum(len(log.whole_frames(device)) for device in log.devices)


# ---- gears: they never end; a preload counts their swaps and can end them ----

def swaps(path):
    return struct.unpack("=Q", path.read_bytes()[:8])[0] if path.exists() else None


def gears(checks, name, first):
    """first: the counter comes before the shim, else after it."""
    program, counter, shim = h.need_tool(name), h.need("count_swaps.so"), h.need("libpasstally_gl.so")
    order = [counter, shim] if first else [shim, counter]
    with h.scratch() as folder:
        log, count = folder / "log.jsonl", folder / "count"
        env = h.base_env(folder, {**h.preload_env(*order), "PASSTALLY_LOG": str(log), "COUNT_SWAPS_FILE": str(count)})
        got = h.run([program], env, stop_when=h.has_frames(log, 200))
        checks.equal(got.status, -15, "ended by SIGTERM")
        text = read_log(checks, log, truncated=True)
        if not text:
            return
        check_frames(checks, text)
        # Work in progress that was not yet written when the signal came is lost; nothing else.
        done, written = swaps(count), whole_count(text)
        checks.that(written <= done and written > done * 3 // 4, f"{written} frames of {done}")
        numbers = [f["frame"] for f in text.frames]
        checks.equal(numbers, list(range(len(numbers))), "numbers of the frames")


def gears_exact(checks, name):
    """The counter ends the program after 40 swaps, by exit(): no frame is missing."""
    program, counter, shim = h.need_tool(name), h.need("count_swaps.so"), h.need("libpasstally_gl.so")
    with h.scratch() as folder:
        log, count = folder / "log.jsonl", folder / "count"
        extra = {"COUNT_SWAPS_FILE": str(count), "COUNT_SWAPS_LIMIT": "40"}
        bare = h.run([program], h.base_env(folder, {**h.preload_env(counter), **extra}))
        count.unlink()
        got = h.run([program], h.base_env(folder, {**h.preload_env(counter, shim), **extra, "PASSTALLY_LOG": str(log)}))
        checks.equal((got.status, mask(got.stdout), mask(got.stderr)), (bare.status, mask(bare.stdout), mask(bare.stderr)), "status and output")
        text = read_log(checks, log)
        if not text:
            return
        checks.equal(swaps(count), 40, "swaps")
        checks.equal(whole_count(text), 40, "frames")
        check_frames(checks, text)
        ids = {tuple(p["id"] for p in f["passes"]) for f in text.whole_frames(text.devices[0])}
        checks.that(len(ids) <= 2, f"{len(ids)} different lists of passes in frames that are alike")


def gears_signal(checks, name):
    """Under the command: SIGTERM to the whole group, as a terminal or a launcher sends it."""
    program, command = h.need_tool(name), h.need("passtally")
    with h.scratch() as folder:
        log = folder / "log.jsonl"
        got = h.run([command, "run", "-o", log, "--", program], h.base_env(folder), stop_when=h.has_frames(log, 20))
        checks.equal(got.status, -signal.SIGTERM, "the game's status")
        text = read_log(checks, log, truncated=True)
        if text:
            check_frames(checks, text)
            checks.that(whole_count(text) > 5, f"{whole_count(text)} frames")


def group_gears():
    checks = h.Checks()
    with h.display():
        for name in ("glxgears", "es2gears_x11"):
            for first in (False, True):
                with checks.part(f"{name}, counter {'before' if first else 'after'} the shim"):
                    gears(checks, name, first)
            with checks.part(f"{name}, 40 frames"):
                gears_exact(checks, name)
            if h.built("passtally"):
                with checks.part(f"{name}, passtally run, SIGTERM"):
                    gears_signal(checks, name)
    checks.finish()


# ---- glmark2 ----

def glmark(checks, name, scene, least):
    program = h.need_tool(name)
    argv = [program, "--size", "160x120", "-b", f"{scene}:nframes={NFRAMES}:duration=600"]  # by itself it also ends after 10 s
    with h.scratch() as folder:
        bare = h.run(argv, h.base_env(folder))
        log = folder / "log.jsonl"
        words, env = captured(argv, log)
        got = h.run(words, h.base_env(folder, env))
        checks.equal(got.status, bare.status, f"status; {got.errors}")
        checks.equal(mask(got.stdout), mask(bare.stdout), "stdout")
        checks.equal(mask(got.stderr), mask(bare.stderr), "stderr")
        text = read_log(checks, log)
        if not text:
            return
        # glmark2 draws nframes and swaps once more while it sets the scene up.
        rendered = [f for d in text.devices for f in text.whole_frames(d) if f["passes"]]
        checks.that(NFRAMES <= len(rendered) <= NFRAMES + 1, f"{len(rendered)} frames with passes of {NFRAMES}")
        body = rendered[-NFRAMES + 1:]
        for f in body:
            renders = [p for p in f["passes"] if p["kind"] == "render"]
            checks.that(len(renders) >= least, f"frame {f['frame']}: {len(renders)} render passes, expected {least}")
            checks.that(f.get("gpu_ns", 0) > 0, f"frame {f['frame']} took no GPU time")
            h.check_time(checks, f)
        checks.equal(len({tuple((p["id"], p.get("segment", 0)) for p in f["passes"]) for f in body}), 1, "lists of passes in frames that are alike")
        # The first context, which it only tries out, is cleared and thrown away.
        checks.equal([n for n in text.notes if "never shown" not in n], [], "notes")
        return text


def group_glmark2():
    checks = h.Checks()
    with h.display():
        for name in ("glmark2", "glmark2-es2"):
            for scene, least in GLMARK:
                with checks.part(f"{name} {scene}"):
                    glmark(checks, name, scene, least)
    checks.finish()


# ---- toolkits ----

def toolkit(checks, name, words, frames, passes):
    """frames: whole frames, or None where the toolkit decides (GTK); passes "any": some frames have none."""
    argv = [h.need(name), *words]
    with h.scratch() as folder:
        bare = h.run(argv, h.base_env(folder))
        if bare.status == 77:
            print(bare.errors.strip())
            return
        log = folder / "log.jsonl"
        command, env = captured(argv, log)
        got = h.run(command, h.base_env(folder, env))
        checks.equal((got.status, got.stdout), (bare.status, bare.stdout), "status and stdout")
        checks.equal(mask(got.stderr), mask(bare.stderr), "stderr")
        text = read_log(checks, log)
        if not text:
            return
        if frames is not None:
            checks.equal(whole_count(text), frames, "frames")
        if passes != "any":
            check_frames(checks, text)
        kinds = {tuple(p["kind"] for p in f["passes"]) for d in text.devices for f in text.whole_frames(d)}
        if passes not in (None, "any"):
            checks.equal(kinds, {passes}, "kinds of passes in each frame")
        return text


def check_gtk(checks):
    text = toolkit(checks, "toolkit_gtk", ["8"], None, None)
    if not text:
        return
    frames = [f for d in text.devices for f in text.whole_frames(d)]
    # Where GTK presents by Vulkan, the area's last frame has no present after it.
    drawn = sum(1 for f in text.frames for p in f["passes"] if p["kind"] == "render" and p.get("clears") and not p.get("draws"))
    checks.that(len(frames) >= 8, f"{len(frames)} frames of at least 8")
    checks.that(drawn >= 8, f"the area's own clear pass was seen {drawn} times of 8")


def check_gtk_demo(checks):
    program = h.need_tool("gtk4-demo")
    with h.scratch() as folder:
        argv = [program, "--run", "glarea", "--autoquit"]
        bare = h.run(argv, h.base_env(folder), timeout=240)
        if bare.status != 0:
            print(f"gtk4-demo does not run here: {bare.errors[-200:]}")
            return
        log = folder / "log.jsonl"
        command, env = captured(argv, log)
        got = h.run(command, h.base_env(folder, env), timeout=240)
        checks.equal(got.status, bare.status, "status")
        text = read_log(checks, log)
        if text:
            checks.that(whole_count(text) >= 1, "no frame")
            check_frames(checks, text)


def check_orphan(checks):
    """A context that ends with its display: a query that was still active made llvmpipe write to freed memory."""
    program = h.need("orphan")
    with h.scratch() as folder:
        extra = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}  # which occurs in a third of the runs
        bare = h.run([program], h.base_env(folder, extra))
        if bare.status == 77:
            print(bare.errors.strip())
            return
        for n in range(12):
            log = folder / f"log-{n}.jsonl"
            words, env = captured([program], log)
            got = h.run(words, h.base_env(folder, {**env, **extra}))
            checks.equal((got.status, got.stdout, got.stderr), (bare.status, bare.stdout, bare.stderr), "status and output")
        text = read_log(checks, log)
        if text:
            draws = [[p["draws"] for p in f["passes"]] for f in text.frames]
            checks.equal(draws, [[800]], "draws")


def group_toolkits():
    checks = h.Checks()
    with h.display():
        with checks.part("SDL 2"):
            toolkit(checks, "toolkit_sdl", ["10"], 10, ("render",))
        for extra in ([], ["egl"], ["glx", "both"], ["egl", "both"]):
            with checks.part(f"GLFW, two windows {' '.join(extra)}"):
                # GLFW itself clears and presents each new window once.
                text = toolkit(checks, "toolkit_glfw", ["10", *extra], 22, "any" if "both" in extra else ("render",))
                if text:
                    drawn = [f for f in text.frames if any(p["draws"] for p in f["passes"])]
                    checks.equal([p["vertices"] for f in drawn for p in f["passes"]], [3, 6] * 10, "vertices of the two windows in turn")
                    surfaces = {p["vertices"]: p["surface"] for f in drawn for p in f["passes"]}
                    checks.equal(len(set(surfaces.values())), 2, "surfaces")
                    # Said where the passes do not say which window a frame presents.
                    presented = [f.get("surface") for f in text.frames[2:]]
                    checks.equal(presented, [surfaces[6], surfaces[3]] * 10 if "both" in extra else [None] * 20, "presented")
        with checks.part("GTK 4"):
            check_gtk(checks)
        with checks.part("gtk4-demo"):
            check_gtk_demo(checks)
        with checks.part("context closed with its display"):
            check_orphan(checks)
    checks.finish()


# ---- programs whose GL is linked by a plug-in, loaded for the program alone ----

QML = """import QtQuick 2.15
import QtQuick.Window 2.15
Window {
    property int n: 0
    visible: true; width: 300; height: 200; color: "navy"
    Rectangle {
        width: 80; height: 80; color: "red"; anchors.centerIn: parent
        NumberAnimation on rotation { from: 0; to: 360; duration: 800; loops: Animation.Infinite }
    }
    onFrameSwapped: if (++n == 20) Qt.quit()
}
"""


def plug_in(checks, argv, least, extra=None):
    """least: frames that it must show; it may show some more."""
    with h.scratch() as folder:
        (folder / "scene.qml").write_text(QML)
        argv = [h.need_tool(argv[0]), *argv[1:]]
        bare = h.run(argv, h.base_env(folder, extra), timeout=240, cwd=folder)
        if bare.status != 0:
            print(f"does not run here: {bare.errors[-200:]}")
            return
        log = folder / "log.jsonl"
        words, env = captured(argv, log)
        got = h.run(words, h.base_env(folder, {**(extra or {}), **env}), timeout=240, cwd=folder)
        checks.equal(got.status, bare.status, f"status; {got.errors[-300:]}")
        checks.equal(mask(got.stderr), mask(bare.stderr), "stderr")
        text = read_log(checks, log)
        if not text:
            return
        # GStreamer's sink swaps once without drawing where the window is exposed before its first picture.
        drawn = [f for d in text.devices for f in text.whole_frames(d) if f["passes"]]
        checks.that(least <= len(drawn) and whole_count(text) <= len(drawn) + 3, f"{len(drawn)} frames with passes of {whole_count(text)}")
        for f in drawn:
            checks.that(any(p["kind"] == "render" for p in f["passes"]), f"frame {f['frame']} has no render pass")
            checks.that(f.get("gpu_ns", 0) > 0, f"frame {f['frame']} took no GPU time")
            h.check_time(checks, f)


def group_plug_ins():
    checks = h.Checks()
    tools = {
        "qmlscene": {
            "GLX": (["scene.qml"], {"QT_XCB_GL_INTEGRATION": "xcb_glx"}),
            "EGL": (["scene.qml"], {"QT_XCB_GL_INTEGRATION": "xcb_egl"}),
        },
        "gst-launch-1.0": {
            "GLX": (["-q", *"gltestsrc num-buffers=20 ! glimagesink sync=false".split()], {"GST_GL_PLATFORM": "glx"}),
            "EGL, GLES": (["-q", *"gltestsrc num-buffers=20 ! glimagesink sync=false".split()],
                          {"GST_GL_PLATFORM": "egl", "GST_GL_API": "gles2"}),
        },
    }
    found = [name for name in tools if h.shutil.which(name)]
    if not found:
        h.skip(f"none of {', '.join(tools)} is installed")
    with h.display():
        for name in found:
            for platform, (words, extra) in tools[name].items():
                with checks.part(f"{name}, {platform}"):
                    plug_in(checks, [name, *words], 20, extra)
    checks.finish()


# ---- programs that do not render ----

def informer(checks, argv):
    with h.scratch() as folder:
        bare = h.run(argv, h.base_env(folder))
        again = h.run(argv, h.base_env(folder))
        log = folder / "log.jsonl"
        command, env = captured(argv, log)
        got = h.run(command, h.base_env(folder, env))
        exact = bare.stdout == again.stdout
        checks.equal(got.status, bare.status, "status")
        wanted, found = (bare.stdout, got.stdout) if exact else (mask(bare.stdout), mask(got.stdout))
        checks.that(found == wanted, "stdout differs")
        checks.that(len(found) > 200, f"it said next to nothing: {got.text!r} {got.errors!r}")
        checks.equal(mask(got.stderr), mask(bare.stderr), "stderr")
        if log.exists():
            checks.equal(h.Log(log).frames, [], "frames of a program that draws none")


def group_info():
    checks = h.Checks()
    with h.display():
        for argv in (["glxinfo"], ["glxinfo", "-l"], ["eglinfo"], ["es2_info"]):
            if not h.shutil.which(argv[0]):
                print(f"{argv[0]} is not installed")
                continue
            with checks.part(" ".join(argv)):
                informer(checks, argv)
    checks.finish()


def main():
    h.need("libpasstally_gl.so")
    os.environ.pop("DISPLAY", None)
    {"gears": group_gears, "glmark2": group_glmark2, "toolkits": group_toolkits, "plug-ins": group_plug_ins,
     "info": group_info}[sys.argv[1]]()


if __name__ == "__main__":
    main()
