# SPDX-License-Identifier: MIT
"""The validation layer below passtally's finds nothing that it does not find without it.

  vk_validation.py scenes [I/N]
  vk_validation.py programs

Core checks and synchronization on, best practices off. Its messages are
counted by their identity, with and without passtally, for each scene of tests/apps (at granularity pass
and draw), vkcube, and glmark2 through zink. A first check shows that the validation layer is present, below
passtally's, and reports errors.
"""

import concurrent.futures
import struct
import sys
import zlib

import harness as h
import vk_harness as vk

FRAMES = 3
BENEATH = {"VK_INSTANCE_LAYERS": vk.VALIDATION, "VK_LAYER_ENABLES": "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT"}
ZINK = {"MESA_LOADER_DRIVER_OVERRIDE": "zink"}


def compare(checks, folder, argv, bare_extra, runs, leaks=False, abrupt=False):
    """The same messages, the same exit status. Where the program `leaks` its device, passtally's objects on it are
    reported like the program's: more of the same messages. One that ends `abrupt`ly may end before anything is
    written."""
    bare = h.run(argv, vk.bare_env(folder, {**BENEATH, **bare_extra}))
    if bare.status == 77:
        print(f"skipped: {bare.errors.strip().splitlines()[-1:]}")
        return None
    known = vk.messages(bare)
    for name, options in runs.items():
        log = folder / f"{name}.jsonl"
        got = h.run(argv, vk.layer_env(folder, log, options, {**BENEATH, **bare_extra}))
        checks.equal(got.status, bare.status, f"{name}: exit status")
        new = {k: n for k, n in vk.messages(got).items() if n > known.get(k, 0)
               and not (leaks and k in known)}
        lines = [line for line in (got.text + got.errors).splitlines() if any(k in line for k in new)]
        checks.equal(new, {}, f"{name}: new messages ({' '.join(lines[:1])[:400]})")
        if abrupt:
            continue
        if checks.that(log.exists() and h.Log(log).of("device"), f"{name}: nothing was captured"):
            checks.that(any(f["passes"] for f in h.Log(log).frames), f"{name}: no pass in the log")
    return known


def check_order(checks, program):
    """passtally's layer is above the validation layer, and it works."""
    with checks.part("order of the layers"), h.scratch() as folder:
        env = vk.layer_env(folder, folder / "log.jsonl", None, {**BENEATH, "VK_LOADER_DEBUG": "layer,driver"})
        got = h.run([program, "triangle", "--frames", "1"], env)
        checks.equal(vk.chain(got), [vk.LAYER, vk.VALIDATION], "layers from the program down")
        leak = h.run([program, "leak", "--frames", "1"], vk.bare_env(folder, BENEATH))
        checks.that(vk.messages(leak), "the validation layer finds nothing in a program that is wrong")


def pixels_of(path):
    """A PNG file's pixels, with the alpha of 0 that the scene draws."""
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    at = data.index(b"IDAT")
    rows = zlib.decompress(data[at + 4:at + 4 + struct.unpack(">I", data[at - 4:at])[0]])
    above, out = bytes(3 * width), bytearray()
    for y in range(height):
        row = rows[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)]
        above = bytes((a + b) & 255 for a, b in zip(above, row))
        for x in range(0, 3 * width, 3):
            out += above[x:x + 3] + b"\0"
    return bytes(out)


def check_picture(checks, program):
    """It is what the program itself reads back."""
    with checks.part("picture"), h.scratch() as folder:
        got = h.run([program, "triangle", "--frames", "1"],
                    vk.layer_env(folder, folder / "log.jsonl", {"pictures": "frame:0"}))
        value = 0xcbf29ce484222325
        for byte in pixels_of(folder / "log-1-color0.png"):
            value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
        checks.equal(f"triangle {value:016x}", got.text.strip(), "checksum of the picture's pixels")
        h.run([program, "samples", "--frames", "1"],
              vk.layer_env(folder, folder / "depth.jsonl", {"pictures": "frame:0"}))
        checks.equal([pixels_of(folder / "depth-1-depth.png")[4 * (256 * y + x)] for x, y in ((0, 0), (15, 15), (16, 15), (255, 191))],
                     [0, 0, 255, 255], "depth of several samples")


def check_scenes(checks, program, names):
    def one(name):
        mine = h.Checks()
        with mine.part(name), h.scratch() as folder:
            want = vk.expectation(program, [name], vk.bare_env(folder))
            runs = {g: {"granularity": g, "frame": want["boundary"], "counters": "all"}
                    for g in ("pass", "draw", "frame")}
            runs["pictures"] = {"pictures": "frame:0", "frame": want["boundary"]}
            compare(mine, folder, [program, name, "--frames", FRAMES], {}, runs, name == "leak", bool(want["abrupt"]))
        return mine

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for mine in pool.map(one, names):
            checks.failures += mine.failures
            checks.done += mine.done


def check_programs(checks):
    runs = {"pass": {"counters": "all"}, "draw": {"granularity": "draw"}}
    with checks.part("vkcube"), h.scratch() as folder:
        compare(checks, folder, [h.need_tool("vkcube"), "--c", "60"], {}, runs)
    glmark = h.need_tool("glmark2")
    for scene in ("build", "shadow"):
        with checks.part(f"glmark2 over zink, {scene}"), h.scratch() as folder:
            argv = [glmark, "-s", "128x128", "-b", f"{scene}:nframes=10:duration=600"]
            # GALLIUM_DRIVER would take precedence over the request for zink.
            compare(checks, folder, argv, {**ZINK, "GALLIUM_DRIVER": ""}, runs)


def main():
    what = sys.argv[1]
    vk.library()
    if not vk.installed_manifest(vk.VALIDATION):
        h.skip("the validation layer is not installed")
    if h.SANITIZER:
        h.skip("the validation layer is slow enough without a sanitizer")
    checks = h.Checks()
    with h.display():
        program = h.need("vk_scenes")
        if what == "programs":
            check_programs(checks)
        else:
            check_order(checks, program)
            check_picture(checks, program)
            check_scenes(checks, program, h.share(vk.scene_list(program), (sys.argv[2:] or ["1/1"])[0]))
    checks.finish()


if __name__ == "__main__":
    main()
