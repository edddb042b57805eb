# SPDX-License-Identifier: MIT
"""Programs on Wayland, under `passtally run`, without an X display: frames, draws and passes are those
that they have on X11. The compositor is a separate program and is not measured.

  wayland.py gl|vulkan
"""

import json
import sys

import harness as h
import real_programs
import run_vulkan
import vk_harness
import vk_real_programs


def check_session(checks, log):
    head = log.of("header")[0]
    checks.equal(head.get("session"), "wayland", "session in the header")
    checks.that("weston" not in head["program"], f"measured {head['program']}")


def check_vsync(checks, path, folder):
    """The compositor shows sixty frames a second, or fewer where the machine is busy: the cube waits for them."""
    done = h.run([h.need("passtally"), "report", "--json", path], h.base_env(folder))
    bound = json.loads(done.stdout)["reports"][0]["answers"][0]["bound"]
    checks.that(bound["by"] in ("wait", "cap") or bound["gpu_busy"] > 0.5, f"bound by a wait or the cap: {bound}")


def group_gl():
    checks = h.Checks()
    h.need("passtally")
    with h.compositor():
        for name in ("glmark2-wayland", "glmark2-es2-wayland"):
            with checks.part(name):
                log = real_programs.glmark(checks, name, "shadow", 2)
                if log:
                    check_session(checks, log)
        for name in ("es2gears_wayland", "weston-simple-egl"):
            with checks.part(name):
                real_programs.gears_exact(checks, name)
    checks.finish()


def group_vulkan():
    checks = h.Checks()
    vk_harness.library()
    n = vk_real_programs.CUBE_FRAMES
    with h.compositor(), h.scratch() as folder:
        argv = [h.need_tool("vkcube-wayland"), "--c", str(n)]
        env = run_vulkan.environment(folder)
        command = h.need("passtally")
        with checks.part("vkcube-wayland"):
            bare = h.run(argv, env)
            path = folder / "log.jsonl"
            got = h.run([command, "run", "--quiet", "-o", path, "--", *argv], env)
            same = (got.status, got.stdout, got.stderr) == (bare.status, bare.stdout, bare.stderr)
            checks.that(same, f"status and output {got.status} {got.text[-200:]} {got.errors[-200:]}")
            log = vk_real_programs.read_log(checks, path)
            if log:
                vk_real_programs.check_cube(checks, log, "wayland")
                check_session(checks, log)
                check_vsync(checks, path, folder)
    checks.finish()


if __name__ == "__main__":
    {"gl": group_gl, "vulkan": group_vulkan}[sys.argv[1]]()
