# SPDX-License-Identifier: MIT
"""`passtally run` with programs that use OpenGL, Vulkan or both: nothing to choose, one log.

From the build folder, where Vulkan's loader must be given the path, and from a prefix like an installed one, where
one variable is enough.
"""

import json
import re
import shutil

import harness as h
import vk_harness as vk

NFRAMES = 8


def environment(folder, extra=None):
    env = h.base_env(folder, {"VK_ICD_FILENAMES": str(vk.icd()), **(extra or {})})
    for key in ("VK_INSTANCE_LAYERS", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH", "XDG_DATA_DIRS", "XDG_DATA_HOME"):
        if key not in (extra or {}):
            env.pop(key, None)
    return env


def prefix(folder):
    """The files where `meson install` puts them."""
    root = folder / "prefix"
    (root / "bin").mkdir(parents=True)
    (root / "lib").mkdir()
    shutil.copy2(h.need("passtally"), root / "bin")
    shutil.copy2(h.need("libpasstally_gl.so"), root / "lib")
    for source, name in ((h.BUILD / "vk_layer/libVkLayer_passtally.so", "libVkLayer_passtally.so"),
                         (h.BUILD / "libpasstally.so.0", "libpasstally.so.0")):
        shutil.copy2(source.resolve(), root / "lib" / name)
    manifest = json.loads((h.BUILD / "vk_layer/VkLayer_passtally.json").read_text())
    manifest["layer"]["library_path"] = "../../../lib/libVkLayer_passtally.so"
    for kind in ("implicit", "explicit"):
        where = root / f"share/vulkan/{kind}_layer.d"
        where.mkdir(parents=True)
        (where / "VkLayer_passtally.json").write_text(json.dumps(manifest))
    return root


def capture(checks, folder, command, program, env, name, *options):
    path = folder / f"{name}.jsonl"
    done = h.run([command, "run", "-o", path, "--frames", str(NFRAMES), *options, "--", *program], env)
    checks.equal(done.status, 0, f"status of {program[0]}: {done.errors[-300:]}")
    checks.equal(done.errors.count("passtally: log "), 1, "logs told of")
    if not checks.that(path.exists(), f"no log: {done.errors[-300:]}"):
        return None
    h.validate(checks, path)
    log = h.Log(path)
    h.check_order(checks, log)
    checks.equal(len(list(folder.glob(f"{name}.jsonl*"))), 1, "one log")
    return log


def apis(log):
    """The API of every device that has frames."""
    last = {line["device"]: line for line in log.of("device")}
    return sorted({last[f["device"]]["api"] for f in log.frames})


def check_identity(checks, log, width, height):
    """Where the program ran: the machine, and the surface of each frame that was shown."""
    head = log.of("header")[0]
    checks.that(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", head.get("run", "")), f"run: {head.get('run')}")
    checks.that(head.get("kernel", "").startswith("Linux ") and head.get("cpus", 0) > 0, f"machine: {head}")
    checks.that(head.get("session") in ("x11", "wayland") and "host" not in head, f"session and host: {head}")
    sizes = {(f.get("width"), f.get("height")) for f in log.frames if "partial" not in f.get("flags", [])}
    checks.equal(sizes, {(width, height)}, "surfaces")


def check_programs(checks, folder, command, env):
    with checks.part("Vulkan alone"):
        log = capture(checks, folder, command, [h.need_tool("vkcube"), "--c", str(NFRAMES + 4)], env, "vulkan")
        if log:
            checks.equal(apis(log), ["vulkan"], "devices with frames")
            check_identity(checks, log, 500, 500)
            device = log.of("device")[-1]
            checks.that(device.get("vendor_id", 0) > 0 and "device_id" in device, f"no numbers of the GPU: {device}")
            for f in log.frames:
                checks.equal([p["kind"] for p in f["passes"]], ["render"], f"passes of frame {f['frame']}")
                checks.equal(f["passes"][0].get("queue"), "0.0", "queue")
                checks.equal(f["passes"][0].get("draws"), 1, "draws")
    glmark = [h.need_tool("glmark2"), "-s", "128x128", "-b", "shadow:duration=0.5"]
    with checks.part("OpenGL alone"):
        log = capture(checks, folder, command, glmark, env, "opengl")
        if log:
            checks.equal(apis(log), ["opengl"], "devices with frames")
            check_identity(checks, log, 128, 128)
    with checks.part("OpenGL over Vulkan"):
        zink = {**env, "MESA_LOADER_DRIVER_OVERRIDE": "zink"}
        zink.pop("GALLIUM_DRIVER", None)
        log = capture(checks, folder, command, glmark, zink, "upper")
        if log:
            checks.equal(apis(log), ["opengl"], "devices with frames, by default")
            checks.that(any("vk-timestamp in --sources" in n["message"] for n in log.of("note")), "no note says which is measured")
        log = capture(checks, folder, command, glmark, zink, "both", "--sources", "gl-timestamp+vk-timestamp")
        if log:
            checks.equal(apis(log), ["opengl", "vulkan"], "devices with frames")
            upper = {d["device"] for d in log.of("device") if d["api"] == "opengl"}
            lower = [d for d in log.of("device") if d["api"] == "vulkan"][-1]
            checks.that(lower.get("beneath") in upper, f"beneath is {lower.get('beneath')}, OpenGL's are {upper}")
            report = h.run([command, "report", "--json", folder / "both.jsonl"], env)
            shown = {row["device"] for r in json.loads(report.text)["reports"] for row in r["rows"]}
            checks.that(shown and shown <= upper, f"report shows devices {shown}, OpenGL's are {upper}")
    with checks.part("nothing rendered"):
        done = h.run([command, "run", "-o", folder / "none.jsonl", "--", h.need_tool("vulkaninfo"), "--summary"], env)
        checks.equal(done.status, 0, "status of vulkaninfo")
        checks.that("nothing was rendered" in done.errors, f"not told: {done.errors[-300:]}")
        checks.that("VK_LAYER_PASSTALLY_capture" in done.text, "the loader does not list the layer")


def main():
    if h.SANITIZER:
        h.skip("programs that are not built for the sanitizer cannot load the layer")
    if not (h.BUILD / "vk_layer/libVkLayer_passtally.so").exists():
        h.skip("libVkLayer_passtally.so was not built")
    checks = h.Checks()
    command = h.need("passtally")
    with h.scratch() as folder, h.display():
        built, installed = folder / "built", folder / "installed"
        built.mkdir()
        installed.mkdir()
        with checks.part("build folder"):
            check_programs(checks, built, command, environment(built))
        root = prefix(folder)
        with checks.part("installed"):
            env = environment(installed, {"XDG_DATA_DIRS": f"{root}/share:/usr/share",
                                          "LD_LIBRARY_PATH": str(root / "lib")})
            check_programs(checks, installed, root / "bin/passtally", env)
    checks.finish()


if __name__ == "__main__":
    main()
