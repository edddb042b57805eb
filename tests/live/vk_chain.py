# SPDX-License-Identifier: MIT
"""passtally's layer above and below each of the other layers that a distribution has: every pair is a row.

The program runs as it does with the other layer alone, its pixels are the same, and the log is valid
and has the scene's passes. What a layer above passtally's draws itself (an overlay) is work like any other and may
be listed beside them. The order is forced by the order of the manifests' folders, and checked. A layer that is not
installed is skipped by name.
"""

import harness as h
import vk_harness as vk

PARTNERS = {
    "VK_LAYER_MESA_device_select": {},
    vk.VALIDATION: {},
    "VK_LAYER_MESA_overlay": {},
    "VK_LAYER_MANGOHUD_overlay": {"MANGOHUD": "1", "MANGOHUD_CONFIG": "fps"},
    "VK_LAYER_RENDERDOC_Capture": {"ENABLE_VULKAN_RENDERDOC_CAPTURE": "1"},
    "VK_LAYER_LUNARG_gfxreconstruct": {},
}
SCENES = ("triangle", "labels", "transfers", "compute", "rendering", "secondaries", "resubmit", "simultaneous_single",
          "wait_first", "markers", "features", "features_last", "vulkan10", "window")
TALLIES = ("draws", "vertices", "instances", "dispatches", "copies", "clears")


def partner_env(folder, name):
    env = dict(PARTNERS[name])
    if name.endswith("gfxreconstruct"):
        env["GFXRECON_CAPTURE_FILE"] = str(folder / "capture.gfxr")
    if name.endswith("RENDERDOC_Capture"):
        env["TMPDIR"] = str(folder)
    return env


def partner_manifest(name, folder):
    """A copy of the installed manifest in `folder`; None: not installed."""
    source = vk.installed_manifest(name)
    if not source:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / source.name).write_bytes(source.read_bytes())
    return folder


def run_pair(folder, argv, name, above, log, options):
    """With `above` passtally's layer is above the other one, else below it; None: the other one alone."""
    theirs = partner_manifest(name, folder / "theirs")
    env = vk.bare_env(folder, partner_env(folder, name))
    if above is None:
        env.update({"VK_LAYER_PATH": str(theirs), "VK_INSTANCE_LAYERS": name})
        return h.run(argv, env)
    mine = vk.manifest(folder / "mine").parent
    # Older loaders take the order of the folders, newer ones that of the names.
    order = [(mine, vk.LAYER), (theirs, name)] if above else [(theirs, name), (mine, vk.LAYER)]
    env.update({"VK_LAYER_PATH": ":".join(str(p) for p, _ in order), "VK_INSTANCE_LAYERS": ":".join(n for _, n in order),
                "VK_LOADER_DEBUG": "layer", "PASSTALLY_LOG": str(log), "PASSTALLY_OPTIONS": h.options_text(options)})
    return h.run(argv, env)


def shape(p):
    return (p["kind"], p.get("label"), *(p.get(key, 0) for key in TALLIES))


def wanted_shape(p):
    return (p["kind"], p["label"], *(p[key] or 0 for key in TALLIES))


def contains(found, wanted):
    """Whether the scene's passes are present, in order, possibly with others between them."""
    rest = iter(found)
    return all(any(w == f for f in rest) for w in wanted)


def check_log(checks, path, want, exact):
    if not checks.that(path.exists(), "no log"):
        return
    log = h.Log(path)
    h.validate(checks, path)
    h.check_order(checks, log)
    wanted = [wanted_shape(p) for p in want["passes"]]
    found = [shape(p) for f in log.frames for p in f["passes"]]
    if exact:
        checks.equal(found, wanted * want["frames"], "passes")
        checks.equal(len(log.whole_frames(log.devices[0])), want["frames"], "frames")
    else:
        checks.that(contains(found, wanted * want["frames"]), f"the scene's passes are not among {found}")
    for frame in log.frames:
        for p in frame["passes"]:
            checks.that("gpu_ns" in p, f"frame {frame['frame']} pass {p['index']}: no GPU time")
        h.check_time(checks, frame)


def check_pair(checks, program, name, above, scene):
    argv = [program, scene, "--frames", "3"]
    with h.scratch() as folder:
        alone = run_pair(folder, argv, name, None, None, None)
        if alone.status < 0:  # the other layer's own passes, which occur occasionally
            alone = run_pair(folder, argv, name, None, None, None)
        if alone.status == 77:
            print(f"{scene}: {alone.errors.strip().splitlines()[-1:]}")
            return
        if not checks.equal(alone.status, 0, f"{scene} with {name} alone: {alone.errors[-300:]}"):
            return
        want = vk.expectation(program, argv[1:], vk.bare_env(folder))
        path = folder / "log.jsonl"
        got = run_pair(folder, argv, name, above, path, {"frame": want["boundary"]})
        checks.equal(got.status, alone.status, f"exit status: {got.errors[-300:]}")
        # What other layers print differs from run to run; the scene's own line is the last.
        checks.equal(got.text.splitlines()[-1:], alone.text.splitlines()[-1:], "pixels")
        chain = [n for n in vk.chain(got, "vkCreateInstance") if n in (vk.LAYER, name)]
        checks.equal(chain, [vk.LAYER, name] if above else [name, vk.LAYER], "layers from the program down")
        checks.equal(vk.messages(got), vk.messages(alone), "messages of validation")
        # RenderDoc makes a submission to prepare itself, an overlay draws at each present.
        check_log(checks, path, want, exact=above or not (scene == "window" or "RENDERDOC" in name))


def main():
    vk.library()
    if h.SANITIZER:
        h.skip("other layers are not built for the sanitizer")
    program = h.need("vk_scenes")
    checks = h.Checks()
    with h.display():
        for name in PARTNERS:
            if not vk.installed_manifest(name):
                print(f"skipped: {name} is not installed")
                continue
            for above in (True, False):
                for scene in SCENES:
                    if scene == "markers" and not above:
                        continue  # a layer that offers the extension keeps the markers to itself
                    with checks.part(f"{scene}, {'above' if above else 'below'} {name}"):
                        check_pair(checks, program, name, above, scene)
    checks.finish()


if __name__ == "__main__":
    main()
