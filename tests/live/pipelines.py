# SPDX-License-Identifier: MIT
"""--pipelines: what draws and dispatches in each pass, against identities computed here.

    pipelines.py vulkan|opengl

The scenes' shaders are computed from what their build embeds, in OpenGL from the sources that Mesa saw. A pass's pipelines have all of its draws and
dispatches, and without the option the log has none.
"""

import re
import struct
import sys

import harness as h
import vk_harness as v

FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
# Each scene's pipelines, as (stage, embedded shader) of it.
PLAIN = (("vertex", "vk_cover.vert"), ("fragment", "vk_shade.frag"))
TWO = (("vertex", "vk_cover.vert"), ("fragment", "vk_two.frag"))
VIEWS = (("vertex", "vk_views.vert"), ("fragment", "vk_shade.frag"))
FILL = (("compute", "vk_fill.comp"),)
SCENES = {
    "triangle": {PLAIN}, "subpasses": {PLAIN}, "indexed": {PLAIN}, "indirect": {PLAIN}, "multi_draw": {PLAIN},
    "rendering": {PLAIN}, "suspend_across": {PLAIN}, "secondaries": {PLAIN}, "secondary_work": {PLAIN, FILL},
    "secondary_rendering": {PLAIN}, "simultaneous": {PLAIN}, "compute": {FILL}, "threads": {PLAIN}, "transfers": {PLAIN},
}
# How many programs each scene draws with.
OPENGL = {"forward": 1, "deferred": 2, "compute": 2, "indexed": 1, "instanced": 1, "interrupted": 2, "switching": 2}


def fnv1a(data):
    value = FNV_OFFSET
    for byte in data:
        value = (value ^ byte) * FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return value


def code(shader):
    words = re.findall(r"0x[0-9a-f]{8}", (h.BUILD / "scenes" / f"{shader}.inc").read_text())
    return b"".join(struct.pack("<I", int(word, 16)) for word in words)


def identity(stages, entry):
    text = "p1" + "".join(f"|{stage}:{entry}:{fnv1a(code(shader)):016x}" for stage, shader in stages)
    return f"{fnv1a(text.encode()):016x}"


def capture(checks, folder, scene, options, opengl=None):
    """`opengl`: where Mesa is to leave the sources of each program."""
    log = folder / f"{scene}.jsonl"
    if opengl:
        env = h.base_env(folder, h.capture_env(log, options) | {"MESA_SHADER_CAPTURE_PATH": str(opengl)})
        done = h.run([h.need("scenes"), scene, "--frames", "3"], env)
    else:
        done = h.run([h.need("vk_scenes"), scene], v.layer_env(folder, log, options))
    checks.equal(done.status, 0, f"status: {done.errors[-300:]}")
    if not checks.that(log.exists(), "no log"):
        return None
    h.validate(checks, log)
    return h.Log(log)


def check_scene(checks, folder, scene, pipelines):
    log = capture(checks, folder, scene, {"pipelines": "on", "force": "on"})
    if not log:
        return
    told = {line["id"]: line for line in log.of("pipeline")}
    checks.equal(len(told), len(log.of("pipeline")), "each is described once")
    checks.equal(set(told), {identity(stages, "main") for stages in pipelines}, "identities")
    for line in told.values():
        bytes_of = [stage["bytes"] for stage in line["stages"]]
        want = [len(code(s)) for stages in pipelines if identity(stages, "main") == line["id"] for _, s in stages]
        checks.equal(bytes_of, want, "bytes of code")
    check_counts(checks, log, told)


def check_counts(checks, log, told):
    for p in (p for frame in log.frames for p in frame["passes"]):
        uses = p.get("pipelines", [])
        for what in ("draws", "dispatches", "vertices"):
            checks.equal(sum(u.get(what, 0) for u in uses), p.get(what, 0), f"{what} of a {p['kind']} pass")
        checks.that(all(u["id"] in told for u in uses), "a pipeline that no line describes")


def captured_sources(folder):
    """The identity of each program that Mesa linked: its sources are in a file."""
    found = set()
    for file in folder.glob("*.shader_test"):
        parts = re.split(rb"(?m)^\[(\w+) shader\]\n", file.read_bytes())[1:]
        text = "p1"
        for stage, source in zip(parts[::2], parts[1::2]):
            text += f"|{stage.decode()}::{fnv1a(source[:-1]):016x}"
        found.add(f"{fnv1a(text.encode()):016x}")
    return found


def check_opengl(checks, folder, scene, n):
    sources = folder / scene
    sources.mkdir()
    log = capture(checks, folder, scene, {"pipelines": "on"}, sources)
    if not log:
        return
    told = {line["id"]: line for line in log.of("pipeline")}
    checks.equal((len(log.of("pipeline")), len(told)), (n, n), "pipelines, each described once")
    checks.equal(set(told) - captured_sources(sources), set(), "identities")
    check_counts(checks, log, told)


def check_draws(checks, folder, scene, want, opengl=False):
    """Of each draw of one frame: the debug groups inside its pass, and what drew."""
    with checks.part(f"draws of {scene}"):
        log = capture(checks, folder, scene, {"granularity": "draw"}, folder if opengl else None)
        passes = log.frames[0]["passes"] if log else []
        got = [[(w["command"], w.get("group"), "pipeline" in w) for w in p["workloads"]] for p in passes[:len(want)]]
        checks.equal(got, want, "commands, groups, whether the pipeline is known")
        loads = [(p, w) for p in passes for w in p["workloads"] if "pipeline" in w]
        checks.that(all(w["pipeline"] < len(p["pipelines"]) for p, w in loads), "no such pipeline in its pass")


def opengl(checks, folder):
    draws = [("draw", name, True) for name in "ABC"]
    check_draws(checks, folder, "groups_in_pass", [[("clear", None, False), *draws], draws], True)
    for scene, n in OPENGL.items():
        with checks.part(scene):
            check_opengl(checks, folder, scene, n)
    with checks.part("without the option"):
        log = capture(checks, folder, "pingpong", {}, folder)
        if log:
            checks.equal(log.of("pipeline"), [], "pipeline lines")


def main():
    if sys.argv[1:] not in (["vulkan"], ["opengl"]):
        sys.exit(__doc__)
    if sys.argv[1] == "opengl":
        checks = h.Checks()
        with h.scratch() as folder:
            opengl(checks, folder)
        checks.finish()
        return
    checks = h.Checks()
    with h.scratch() as folder:
        for scene, pipelines in SCENES.items():
            with checks.part(scene):
                check_scene(checks, folder, scene, pipelines)
        draw, copy = [("draw", None, True)], [("copy", None, False)]
        check_draws(checks, folder, "labels", [draw, [("draw", "inside", True)], draw, copy])
        with checks.part("without the option"):
            log = capture(checks, folder, "pass2", {"force": "on"})
            if log:
                checks.equal(log.of("pipeline"), [], "pipeline lines")
                checks.that(not any("pipelines" in p for f in log.frames for p in f["passes"]), "passes list pipelines")
    checks.finish()


if __name__ == "__main__":
    main()
