#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How the Vulkan layer is loaded, and what its presence changes: installed paths, real loader.

    vk_loading.py enable | shapes | programs | memory

`enable` tries each way to switch the layer on and off, with the manifests that `meson install` puts
into a folder and no VK_ADD_LAYER_PATH; `shapes` makes instances and devices in each way a program may
ask for them, and compares what the program is given; `programs` starts vulkaninfo and vkcube;
`memory` lets each of passtally's allocations fail.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from harness import (BUILD, SANITIZER, TIMEOUT, Checks, Log, base_env, display, need, need_tool,
                     run, scratch, skip, validate)

LAYER = "VK_LAYER_PASSTALLY_capture"
LIBRARY = "libVkLayer_passtally.so"
ICD_FOLDERS = [pathlib.Path("/usr/share/vulkan/icd.d"), pathlib.Path("/etc/vulkan/icd.d")]
MESSAGE = re.compile(r"(?:VUID|UNASSIGNED)-[\w-]+")


def driver(name):
    """The manifest of a driver, or None."""
    for folder in ICD_FOLDERS:
        for path in sorted(folder.glob(f"{name}_icd*.json")):
            return str(path)
    return None


class Installed:
    """What `meson install` installs, below a folder of the test."""

    def __init__(self, folder):
        done = subprocess.run(["meson", "install", "-C", str(BUILD), "--no-rebuild", "--destdir", str(folder)],
                              capture_output=True, text=True, check=False, timeout=TIMEOUT)
        if done.returncode != 0:
            raise RuntimeError(f"meson install: {done.stdout[-500:]}{done.stderr[-500:]}")
        self.manifests = sorted(folder.rglob("VkLayer_passtally.json"))
        self.library = next(iter(sorted(folder.rglob(LIBRARY))), None)
        self.data = self.manifests[0].parents[2] if self.manifests else None

    def without_explicit(self, folder):
        """The same with the implicit manifest alone, as other tools install theirs."""
        copy = Installed.__new__(Installed)
        shutil.copytree(self.data.parent, folder, symlinks=True)
        copy.data = folder / self.data.name
        shutil.rmtree(copy.data / "vulkan" / "explicit_layer.d")
        copy.library = folder / self.library.relative_to(self.data.parent)
        return copy

    def env(self, folder, more):
        """None of the machine's own layers except those in /usr."""
        env = base_env(folder)
        for name in list(env):
            if name.startswith("VK_") or name in ("NODEVICE_SELECT", "ENABLE_VKBASALT"):
                del env[name]
        env["VK_ICD_FILENAMES"] = driver("lvp") or ""
        env["XDG_DATA_DIRS"] = f"{self.data}:/usr/share"
        env["LD_LIBRARY_PATH"] = str(self.library.parent)  # as if it were the system's own
        env["PASSTALLY_LOG"] = str(folder / "log-%p.jsonl")
        if SANITIZER:
            env["LD_PRELOAD"] = SANITIZER
        env.update(more)
        return env


def words(result, skip_layer=True):
    lines = result.text.split("\n")
    return [line for line in lines if not (skip_layer and line.startswith("layer "))]


def was_loaded(result):
    return "layer loaded yes" in result.text


def captures(result):
    """Whether the program's vkQueueSubmit leads through passtally's layer."""
    return f"layer has vkQueueSubmit in {LIBRARY}" in result.text


def times_inserted(result):
    """From the loader's own messages, None when it prints none."""
    if "nsert instance layer" not in result.errors:
        return None
    return len(re.findall(rf'Insert instance layer "?{LAYER}"?', result.errors))


# What is set, and whether the layer is loaded and captures. The rows are those of any layer that can
# be both implicit and explicit; OFF_OR_LOADED: it is not specified which, but it must not capture.
YES, NO, OFF_OR_LOADED = "yes", "no", "off"
ROWS = [
    ("nothing", {}, [], NO),
    ("the layer's own variable", {"PASSTALLY": "1"}, [], YES),
    ("a value that is not the one", {"PASSTALLY": "true"}, [], NO),
    ("disabled by 0", {"PASSTALLY": "1", "PASSTALLY_DISABLE": "0"}, [], NO),
    ("disabled by nothing", {"PASSTALLY": "1", "PASSTALLY_DISABLE": ""}, [], NO),
    ("named", {"VK_INSTANCE_LAYERS": LAYER}, [], YES),
    ("named and disabled", {"VK_INSTANCE_LAYERS": LAYER, "PASSTALLY_DISABLE": "1"}, [], OFF_OR_LOADED),
    ("named and disabled by nothing", {"VK_INSTANCE_LAYERS": LAYER, "PASSTALLY_DISABLE": ""}, [], OFF_OR_LOADED),
    ("a glob", {"VK_LOADER_LAYERS_ENABLE": "*PASSTALLY*"}, [], YES),
    ("a glob, and disabled", {"VK_LOADER_LAYERS_ENABLE": "*PASSTALLY*", "PASSTALLY_DISABLE": "1"}, [],
     OFF_OR_LOADED),
    ("implicit layers switched off", {"PASSTALLY": "1", "VK_LOADER_LAYERS_DISABLE": "~implicit~"}, [], NO),
    ("the program names it", {}, ["--enable", LAYER], YES),
    ("both ways at once", {"PASSTALLY": "1", "VK_INSTANCE_LAYERS": LAYER}, [], YES),
    ("all three ways", {"PASSTALLY": "1", "VK_INSTANCE_LAYERS": LAYER}, ["--enable", LAYER], YES),
    ("above validation", {"PASSTALLY": "1", "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"}, [], YES),
    ("without device selection", {"PASSTALLY": "1", "NODEVICE_SELECT": "1"}, [], YES),
]


def check_row(checks, result, want):
    checks.equal(result.status, 0, f"exit status; {result.errors[-300:]}")
    checks.that("done" in result.text, "the program ends as it should")
    if want == OFF_OR_LOADED:
        checks.equal(captures(result), False, "captures")
        return
    checks.equal(was_loaded(result), want == YES, "loaded")
    checks.equal(captures(result), want == YES, "captures")
    checks.equal(f"layer tool passtally of {LAYER} for 2" in result.text, want == YES, "named by VK_EXT_tooling_info")
    if "VK_LAYER_KHRONOS_validation" not in result.text:  # as the last layer answers
        checks.that("layer tools counted" in result.text and "layer tools in one 5, 1" in result.text,
                    "tools in whole and in part")
    times = times_inserted(result)
    if times is not None:
        checks.equal(times, 1 if want == YES else 0, "times in the chain")


def enable(checks, folder, installed, program):
    names = sorted(p.parent.name for p in installed.manifests)
    checks.equal(names, ["explicit_layer.d", "implicit_layer.d"], "manifests")
    texts = {p.read_text(encoding="utf-8") for p in installed.manifests}
    checks.equal(len(texts), 1, "different manifests")
    manifest = json.loads(texts.pop())["layer"]
    checks.that(not manifest["library_path"].startswith("/"), "the manifest moves with its prefix")
    by_name = "/" not in manifest["library_path"]  # in /usr: one manifest for every architecture
    checks.equal("library_arch" in manifest, not by_name, "says for which processes it is")
    for what, env, arguments, want in ROWS:
        with checks.part(what):
            more = {**env, "VK_LOADER_DEBUG": "layer"}
            check_row(checks, run([program, *arguments], installed.env(folder, more)), want)
    with checks.part("named, with the implicit manifest alone"):
        # Why there is an explicit one: this loader filters the variable. A newer one may not.
        other = installed.without_explicit(folder / "implicit-only")
        result = run([program], other.env(folder, {"PASSTALLY": "1"}))
        check_row(checks, result, YES)
    with checks.part("below the user's data folder"):
        env = installed.env(folder, {"PASSTALLY": "1"})
        env["XDG_DATA_HOME"] = str(installed.data)
        del env["XDG_DATA_DIRS"]
        check_row(checks, run([program], env), YES)
    build_manifest = BUILD / "vk_layer"
    with checks.part("from the build folder"):
        env = installed.env(folder, {"VK_ADD_LAYER_PATH": str(build_manifest), "VK_INSTANCE_LAYERS": LAYER})
        env["XDG_DATA_DIRS"] = "/usr/share"
        del env["LD_LIBRARY_PATH"]
        check_row(checks, run([program], env), YES)


def compare(checks, installed, folder, program, arguments, more=None):
    """The output is the same with and without passtally."""
    more = more or {}
    plain = run([program, *arguments], installed.env(folder, more))
    ours = run([program, *arguments], installed.env(folder, {**more, "PASSTALLY": "1"}))
    checks.that(was_loaded(ours) and captures(ours), "loaded and captures")
    checks.equal(ours.status, plain.status, "exit status")
    checks.equal(words(ours), words(plain), "what the program is told")
    checks.equal(ours.errors, plain.errors, "stderr")
    return plain, ours


REQUESTS = ("none", "plain", "features2", "vulkan12", "reset", "statistics")


def shapes(checks, folder, installed, program):
    for api in ("1.0", "1.1", "1.2", "1.3"):
        for request in REQUESTS:
            with checks.part(f"{api}, {request}"):
                compare(checks, installed, folder, program, ["--api", api, "--request", request])
    for what in ("--two", "--no-app", "--instance-only", "--leak"):
        with checks.part(what):
            arguments = [what] if what != "--no-app" else [what, "--request", "plain"]
            plain = run([program, *arguments], installed.env(folder, {}))
            ours = run([program, *arguments], installed.env(folder, {"PASSTALLY": "1"}))
            checks.equal(ours.status, plain.status, "exit status")
            checks.equal(words(ours), words(plain), "what the program is told")
    with checks.part("validation"):
        check_validation(checks, folder, installed, program)
    with checks.part("a null device"):
        check_null_device(checks, folder, installed, program)
    checks.equal(list(folder.glob("log-*.jsonl")), [], "logs of programs that never submit")


def check_validation(checks, folder, installed, program):
    """Below passtally's layer it sees what passtally sends: no more messages than without it."""
    below = {"VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"}
    probe = run([program, "--instance-only"], installed.env(folder, {**below, "VK_LOADER_DEBUG": "layer"}))
    if "VK_LAYER_KHRONOS_validation" not in probe.errors:
        print("# the validation layer is not installed")
        return
    for api in ("1.0", "1.1", "1.3"):
        for request in ("none", "plain", "features2", "reset", "statistics"):
            arguments = ["--api", api, "--request", request]
            plain = run([program, *arguments], installed.env(folder, below))
            ours = run([program, *arguments], installed.env(folder, {**below, "PASSTALLY": "1"}))
            checks.that(captures(ours), f"{arguments}: captures")
            before = set(MESSAGE.findall(plain.text + plain.errors))
            new = set(MESSAGE.findall(ours.text + ours.errors)) - before
            checks.equal(new, set(), f"{arguments}: new messages")


def check_null_device(checks, folder, installed, program):
    """RADV without a GPU: enumerates, creates, but cannot record. Its timestamp period is infinite."""
    radeon = driver("radeon")
    if not radeon:
        print("# radv is not installed")
        return
    for family in ("navi21", "tahiti"):
        if run([program], installed.env(folder, {"VK_ICD_FILENAMES": radeon, "RADV_FORCE_FAMILY": family})).status != 0:
            print("# radv of Mesa 26.2 describes only GPUs that are there")
            return
        compare(checks, installed, folder, program, ["--keep-buffers", "--two"],
                {"VK_ICD_FILENAMES": radeon, "RADV_FORCE_FAMILY": family})


def programs(checks, folder, installed, _program):
    info = need_tool("vulkaninfo")
    with checks.part("vulkaninfo"):
        plain = run([info], installed.env(folder, {}))
        ours = run([info], installed.env(folder, {"PASSTALLY": "1"}))
        checks.equal(ours.status, plain.status, "exit status")
        # How much of its memory the driver uses differs from run to run.
        said = [re.findall(r"(?!usage)\b\S+ *= *.*", text) for text in (ours.text, plain.text)]
        checks.equal(*said, "what it prints")
    cube = need_tool("vkcube")
    with display(), checks.part("vkcube"):
        env = installed.env(folder, {"PASSTALLY": "1", "PASSTALLY_LOG": str(folder / "cube.jsonl")})
        result = run([cube, "--c", "10"], env)
        checks.equal(result.status, 0, f"exit status; {result.errors[-300:]}")
        log = Log(folder / "cube.jsonl")
        if checks.that(log.lines, "a log"):
            checks.equal([d["api"] for d in log.of("device")][:1], ["vulkan"], "the device's API")
            checks.that(len(log.frames) >= 10, f"{len(log.frames)} frames of 10")
            validate(checks, folder / "cube.jsonl")


def memory(checks, folder, installed, program):
    """Each allocation of passtally's fails once, then all from one on: the program notices nothing."""
    if SANITIZER:
        skip("the sanitizer has its own malloc")
    preload = {"LD_PRELOAD": str(need("fail_alloc.so"))}
    plain = run([program, "--two"], installed.env(folder, preload))
    reached = 0
    for variable, numbers in (("FAIL_AT", range(60)), ("FAIL_FROM", range(0, 40, 3))):
        for number in numbers:
            env = installed.env(folder, {**preload, "PASSTALLY": "1", variable: str(number)})
            ours = run([program, "--two"], env)
            what = f"{variable}={number}"
            checks.equal(ours.status, plain.status, f"{what}: exit status")
            checks.equal(words(ours), words(plain), f"{what}: what the program is told")
            reached += not captures(ours)
    checks.that(reached, "some of them leave a device unmeasured")


PARTS = {"memory": memory, "enable": enable, "shapes": shapes, "programs": programs}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PARTS:
        sys.exit(f"usage: vk_loading.py {'|'.join(PARTS)}")
    if not (BUILD / "vk_layer" / LIBRARY).exists():
        skip("the layer was not built")
    need_tool("meson")
    program = need("vk_device")
    if not driver("lvp"):
        skip("lavapipe is not installed")
    checks = Checks()
    with scratch() as folder, contextlib.suppress(BrokenPipeError):
        (folder / "tree").mkdir()
        PARTS[sys.argv[1]](checks, folder, Installed(folder / "tree"), program)
    checks.finish()


if __name__ == "__main__":
    os.umask(0o022)
    main()
