#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `passtally counters` and `passtally doctor` say of a driver is what a capture's device line says of it.

  doctor.py software|zink|intel|fakes...
"""

import json
import os
import sys

import harness as h
import vk_counters
import vk_harness as vk
from intel_gpu import EMULATOR, PLATFORMS, build
from selftest import liar_env

sys.path.insert(0, str(h.SOURCE / "tests" / "cli"))
os.environ["PASSTALLY_COMMAND"] = str(h.need("passtally"))
from cli_case import rows_of_doctor  # noqa: E402  (found by the lines above)

# The program, the scene and what ends its frames. OpenGL's context is of any version, as doctor's.
SCENES = {
    "opengl": ("passtally-scenes-gl", ["strips", "--api", "compat", "--end", "finish"], "finish"),
    "opengl-es": ("passtally-scenes-gl", ["es2", "--end", "finish"], "finish"),
    "vulkan": ("passtally-scenes-vk", ["triangle"], "submit:1"),
}
# The others are read by the CPU, and do not depend on the device.
OF_THE_DEVICE = ("api", "gl-", "vk-")


def about(device):
    """What both say of a device: its names, what was tried with the result, and each counter."""
    names = {key: device.get(key) for key in ("api", "name", "driver", "driver_version", "serialized_by")}
    sources = {s["name"]: s for s in device["sources"] if s["name"].startswith(OF_THE_DEVICE)}
    return {**names, **sources, **{c["key"]: c for c in device["counters"] if c["source"] in sources}}


def captured(folder, env, api, counters, wrap):
    """The newest device line of that API, and the number of frames."""
    program, scene, boundary = SCENES[api]
    log = folder / f"{api}.jsonl"
    log.unlink(missing_ok=True)
    done = h.run(wrap([h.need("passtally"), "run", "-q", "--counters", counters, "--frame", boundary, "-o", log, "--",
                       h.need(program), *scene, "--frames", "3"]), env)
    devices = [d for d in h.Log(log).of("device") if d["api"] == api]
    return (devices or [None])[-1], f"status {done.status}: {done.errors[-300:]}"


def check_counters(checks, folder, env, api, counters, wrap):
    """The capture's device line; None where one of the two has no device."""
    done = h.run(wrap([h.need("passtally"), "counters", "--json", "--api", api, "--counters", counters]), env)
    probed = [json.loads(line) for line in done.text.splitlines()][:1]
    device, said = captured(folder, env, api, counters, wrap)
    if not checks.that(probed and device, f"{api}: no device, in counters: {done.errors}, or in a capture: {said}"):
        return None
    got, want = about(probed[0]), about(device)
    for key in sorted(set(got) | set(want)):
        checks.equal(got.get(key), want.get(key), f"{api} --counters {counters}: {key}")
    return device


def check_api(checks, folder, env, api, doctor, wrap):
    check_counters(checks, folder, env, api, "overview", wrap)
    device = check_counters(checks, folder, env, api, "all", wrap)
    if not device:
        return
    rows = [" ".join(row.split()) for row in doctor]
    first = next((i for i, row in enumerate(rows) if row.startswith(f"ok {api} ")), None)
    if not checks.that(first is not None, f"{api}: doctor has no row of it: {rows}"):
        return
    for source in device["sources"]:
        if source["name"].startswith(OF_THE_DEVICE):
            row = next((row for row in rows[first:] if row.split(" ")[1:2] == [source["name"]]), "")
            checks.equal(row.split(" ")[0], "ok" if source["state"] == "on" else "off", f"{api}: {source['name']}: {row}")
            checks.that(source.get("reason", "") in row, f"{api}: {source['name']}: {source.get('reason')!r} is not in {row!r}")


def check_driver(checks, name, folder, env, apis, wrap=lambda argv: argv):
    with checks.part(name):
        doctor = rows_of_doctor(h.run(wrap([h.need("passtally"), "doctor"]), env).text)
        for api in apis:
            check_api(checks, folder, env, api, doctor, wrap)


def check_software(checks):
    with h.scratch() as folder:
        check_driver(checks, "llvmpipe", folder, h.base_env(folder), ("opengl", "opengl-es"))
        if h.built("passtally-scenes-vk"):
            check_driver(checks, "lavapipe", folder, vk.bare_env(folder), ("vulkan",))


def check_zink(checks):
    with h.scratch() as folder:
        env = vk.bare_env(folder, {"MESA_LOADER_DRIVER_OVERRIDE": "zink", "GALLIUM_DRIVER": ""})
        told = h.run([h.need("passtally"), "counters", "--json", "--api", "opengl"], env).text
        if '"name":"zink' not in told:
            h.skip("zink does not start here")
        check_driver(checks, "zink over lavapipe", folder, env, ("opengl", "opengl-es"))


def check_intel(checks):
    with h.scratch() as folder:
        build(folder / "programs")
        env = h.base_env(folder)
        for name in ("LIBGL_ALWAYS_SOFTWARE", "GALLIUM_DRIVER"):
            env.pop(name)
        for platform in PLATFORMS:
            script = f'. {EMULATOR}/env.sh {folder / "programs"}; ids {platform} "$@"'
            check_driver(checks, f"iris on {platform}", folder, env, ("opengl",),
                         lambda argv, script=script: ["bash", "-c", script, "bash", *argv])


def check_fakes(checks):
    for told in ("ext=intel", "ext=intel,sets=5", "ext=old+amd", "ext=amd", "ext=none"):
        with h.scratch() as folder:
            check_driver(checks, told, folder, liar_env(folder, "opengl", told), ("opengl",))
    if not h.built("passtally-scenes-vk"):
        return
    with h.scratch() as folder:
        check_driver(checks, "performance queries", folder, vk_counters.environment(folder, None, {}), ("vulkan",))
    with h.scratch() as folder:
        check_driver(checks, "a driver over lavapipe", folder, liar_env(folder, "vulkan", ""), ("vulkan",))


def main():
    checks = h.Checks()
    for word in sys.argv[1:]:
        {"software": check_software, "zink": check_zink, "intel": check_intel, "fakes": check_fakes}[word](checks)
    checks.finish()


if __name__ == "__main__":
    main()
