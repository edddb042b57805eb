#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally selftest on drivers that obey the laws, and on drivers that are made to lie.

  selftest.py software|zink|intel|opengl|vulkan|absent...

`opengl` and `vulkan` are tables of lies: the driver's settings, the scenes to draw, the law that must fail. A
lie that no law names fails the test, and so does a law of another kind on a driver that tells the truth.
"""

import concurrent.futures
import json
import re
import sys

import harness as h
import vk_harness as vk
from intel_gpu import EMULATOR, build

# Limit for a child, in seconds: a machine that is busy with other tests is slow, not hung.
LIMIT = 60
# What cannot hold where nothing is drawn and the clock is artificial: ../shared/intel_gpu/README.md.
EMULATED = {"fragment-shader", "times", "clock"}
# What an API or a software driver does not have.
LACKS = {
    "OpenGL": {"counters", "resubmit", "secondary"},
    "Vulkan": {"counters", "neighbor", "contexts"},
}
# (settings of the driver, scenes, laws that must fail)
OPENGL_LIES = [
    ("plus=1", "work", {"primitives", "sums"}),
    ("unequal=1", "work", {"equal"}),
    ("backwards=1", "strips", {"times"}),
    ("scale=10", "clock", {"clock"}),
    ("never=1", "strips", {"results"}),
    ("even=1000", "work", {"more"}),
    ("renamed=1,even=1000", "beside", {"neighbor"}),
    ("pixels=1", "strips", {"unchanged"}),
    ("fails=1", "strips", {"status"}),
    ("ext=intel", "twins", set()),
    ("ext=intel,unequal=1", "twins", {"counters"}),
    ("ext=amd", "twins", set()),
    ("ext=amd,absurd=10000000", "twins", {"counters"}),
    ("gl_error=2", "strips", {"starts"}),
    ("crash=2", "strips", {"starts"}),
    ("hang=2", "strips", {"starts"}),
]
VULKAN_LIES = [
    ("plus=1", "work", {"primitives", "sums"}),
    ("unequal=1", "work", {"equal"}),
    ("backwards=1", "triangle", {"times"}),
    ("scale=10", "clock", {"clock"}),
    ("never=1", "triangle", {"results"}),
    ("even=1000", "work", {"more"}),
    ("pixels=1", "triangle", {"unchanged"}),
    ("fails=1", "triangle", {"status"}),
    ("twice=3", "work", {"calls"}),
    ("lost=2", "triangle", {"starts"}),
    ("crash=2", "triangle", {"starts"}),
    ("hang=2", "triangle", {"starts"}),
    ("dead=1", "triangle", {"starts"}),
    ("stuck=1", "triangle", {"starts"}),
]


def run(folder, args, env, prefix=()):
    argv = [*prefix, h.need("passtally"), "selftest", *args]
    return h.run(argv, {**env, "TMPDIR": str(folder / "tmp")}, timeout=540)


def tried(checks, result):
    """The JSON, or None."""
    try:
        return json.loads(result.text)
    except ValueError:
        checks.that(False, f"no JSON, status {result.status}: {result.text[-300:]!r} {result.errors[-300:]!r}")
        return None


def failed(device):
    return {law["law"] for law in device["laws"] if law["result"] == "fail"}


def said(device):
    return [line for law in device["laws"] for line in law["failures"]]


def left(folder):
    return sorted(p.name for p in (folder / "tmp").iterdir())


def check_holds(checks, folder, env, apis, args=()):
    """Every law is tried; what is not offered is what the driver does not have; no files are left."""
    result = run(folder, ["--json", "--limit", LIMIT, *args], env)
    found = tried(checks, result)
    if not found:
        return
    checks.equal(sorted({d["api"] for d in found["devices"]}), sorted(apis), "APIs")
    for d in found["devices"]:
        checks.equal(failed(d), set(), f"{d['api']} {d['name']}: laws that fail {said(d)}")
        lacks = {law["law"] for law in d["laws"] if law["result"] == "not offered"}
        checks.equal(lacks, LACKS[d["api"]], f"{d['api']} {d['name']}: laws not offered")
    checks.equal((found["fail"], found["not_run"], found["kept"], result.status), (0, 0, None, 0), "the whole")
    checks.equal(left(folder), [], "left in the temporary folder")


def check_software(checks):
    with h.scratch() as folder, checks.part("llvmpipe and lavapipe"):
        check_holds(checks, folder, vk.bare_env(folder), ["OpenGL", "Vulkan"])
    with h.scratch() as folder, checks.part("the table"):
        result = run(folder, ["--scenes", "triangle", "--api", "vulkan", "--limit", LIMIT], vk.bare_env(folder))
        checks.that(re.match(r"\d+ laws hold, 0 fail, \d+ not offered(, \d+ not run)? on 1 device\n", result.text),
                    f"the verdict is not the first line: {result.text[:200]!r}")
        wide = [line for line in result.text.splitlines() if len(line) > 80]
        checks.equal(wide, [], "lines over 80 columns")


def check_zink(checks):
    with h.scratch() as folder, checks.part("zink over lavapipe"):
        env = vk.bare_env(folder, {"MESA_LOADER_DRIVER_OVERRIDE": "zink", "GALLIUM_DRIVER": ""})
        result = run(folder, ["--json", "--limit", LIMIT, "--api", "opengl"], env)
        found = tried(checks, result)
        if found and not any("zink" in d["name"] for d in found["devices"]):
            h.skip("zink does not start here")
        for d in found["devices"] if found else []:
            checks.equal(failed(d), set(), f"{d['name']}: laws that fail {said(d)}")


def check_intel(checks):
    with h.scratch() as folder:
        build(folder / "programs")
        env = h.base_env(folder)
        for name in ("LIBGL_ALWAYS_SOFTWARE", "GALLIUM_DRIVER"):
            env.pop(name)
        for api in ("opengl", "vulkan"):
            with checks.part(f"iris and anv, {api}"):
                # env.sh ends what takes a minute, so not all scenes.
                scenes = {"opengl": "strips+threads+work+twins+clock", "vulkan": "triangle+resubmit+secondaries+work+twins+clock"}
                script = f'. {EMULATOR}/env.sh {folder}/programs; emu tgl "$@"'
                found = tried(checks, run(folder, ["--json", "--limit", 50, "--api", api, "--scenes", scenes[api]], env,
                                          ["bash", "-c", script, "bash"]))
                real = [d for d in found["devices"] if "llvmpipe" not in d["name"]] if found else []
                if found and not real:
                    h.skip("iris and anv do not start on the emulated GPU")
                for d in real:
                    checks.equal(failed(d) - EMULATED, set(), f"{d['name']}: laws that fail {said(d)}")
                    checks.that("fragment-shader" in failed(d), "a GPU that draws nothing shades its fragments")


def liar_env(folder, api, told):
    if api == "vulkan":
        library = h.BUILD / "tests" / "fake_vk_lie" / "libfake_vk_lie.so"
        if not library.exists():
            h.skip("tests/fake_vk_lie was not built")
        manifest = folder / "lie.json"
        manifest.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {
            "library_path": str(library.resolve()), "api_version": "1.3.230"}}))
        driver = json.loads(vk.icd().read_text())["ICD"]["library_path"]
        return vk.bare_env(folder, {"VK_ICD_FILENAMES": str(manifest), "FAKE_VK_DRIVER": driver, "FAKE_VK_LIE": told})
    library = h.BUILD / "tests" / "fake_gl" / "fake_perf_egl.so"
    if not library.exists():
        h.skip("tests/fake_gl's driver was not built")
    vendor = folder / "vendor.json"
    vendor.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {"library_path": str(library.resolve())}}))
    counters = told.startswith("ext=")
    fakes = {"FAKE_PERF": told} if counters else {"FAKE_PERF": "ext=none", "FAKE_QUERIES": told}
    return h.base_env(folder, {"__EGL_VENDOR_LIBRARY_FILENAMES": str(vendor), **fakes})


def check_lie(checks, api, told, scenes, laws):
    with h.scratch() as folder, checks.part(f"{api} {told or 'the truth'}"):
        limit = 3 if told.startswith(("hang", "stuck")) else LIMIT
        args = ["--json", "--limit", limit, "--api", api, "--scenes", scenes]
        result = run(folder, args, liar_env(folder, api, told))
        found = tried(checks, result)
        if not found:
            return
        checks.equal(len(found["devices"]), 1, f"devices ({found['no_opengl']}, {found['no_vulkan']})")
        for d in found["devices"]:
            missed = laws - failed(d)
            checks.equal(missed, set(), f"laws that did not fail; those that did: {failed(d)} {said(d)}")
            if not laws:
                checks.equal(failed(d), set(), f"laws that fail without a lie: {said(d)}")
            checks.that(not laws or any(line.startswith((scenes, "--describe")) for line in said(d)), "no failure names the scene")
        checks.equal(result.status, 1 if laws else 0, "exit status")
        if laws:
            kept = h.pathlib.Path(found["kept"] or "/nowhere")
            checks.that((kept / "selftest.json").exists() and (kept / "doctor.out").exists(), f"no bundle in {kept}")
        else:
            checks.equal(left(folder), [], "left in the temporary folder")


def check_lies(checks, api, lies):
    """Two at a time: those of drivers that hang only wait."""
    def one(lie):
        mine = h.Checks()
        check_lie(mine, api, *lie)
        return mine

    truth = ("", "+".join(sorted({scenes for _, scenes, _ in lies})), set())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for mine in pool.map(one, [truth, *lies]):
            checks.failures += mine.failures
            checks.done += mine.done


def check_absent(checks):
    """No driver at all: one sentence for each API, and an end."""
    with h.scratch() as folder, checks.part("no driver"):
        env = vk.bare_env(folder, {"VK_ICD_FILENAMES": "/nowhere.json", "__EGL_VENDOR_LIBRARY_FILENAMES": "/nowhere.json"})
        result = run(folder, ["--limit", LIMIT], env)
        checks.equal(result.status, 1, "exit status")
        for api in ("OpenGL", "Vulkan"):
            checks.that(re.search(rf"(?m)^{api}: (no device|device 0 cannot be used): ", result.text),
                        f"no word on {api}: {result.text!r}")
        checks.equal(left(folder), [], "left in the temporary folder")


def main():
    h.need("passtally-scenes-gl")
    h.need("passtally-scenes-vk")
    checks = h.Checks()
    for part in sys.argv[1:]:
        {"software": check_software, "zink": check_zink, "intel": check_intel, "absent": check_absent,
         "opengl": lambda c: check_lies(c, "opengl", OPENGL_LIES),
         "vulkan": lambda c: check_lies(c, "vulkan", VULKAN_LIES)}[part](checks)
    checks.finish()


if __name__ == "__main__":
    main()
