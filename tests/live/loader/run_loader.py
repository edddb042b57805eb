#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the loader's programs for one machine and runs every case with the shim preloaded.

    run_loader.py --cc CC --shim LIBRARY                       the shim as it was built
    run_loader.py --machine i386|aarch64 --source ROOT --registry gl.xml   cross-built here first

With --layer LIBRARY, or --vk-registry vk.xml where it is cross-built, the Vulkan layer as well (layer.c).
Exit status: 0 all passed, 1 a case failed, 77 this machine cannot run it (the reason is printed).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHIM = "libpasstally_gl.so"
LAYER = "libVkLayer_passtally.so"

# Case, whether it is in loader-linked, and what is preloaded; "-" is the shim. "loose": with a GL library that is
# not bound to itself, so that its GetProcAddress returns our hooks.
CASES = [
    ("linked", True, "-"),
    ("default", True, "-"),
    ("next", True, "-"),
    ("third-after", True, "- libthird.so"),
    ("third-before", True, "libthird.so -"),
    ("overlay", True, "- liboverlay.so"),
    ("overlay", True, "liboverlay.so -"),
    ("get-proc-address", True, "-"),
    ("disabled", True, "-"),
    ("handle", False, "-"),
    ("missing", False, "-"),
    ("dlvsym", False, "-"),
    ("default-absent", False, "-"),
    ("local-scope", False, "-"),
    ("local-linked", False, "-"),
    ("local-linked-disabled", False, "-"),
    ("local-calls", False, "-"),
    ("reload", False, "-"),
    ("deepbind", False, "-"),
    ("old-import", False, "-"),
    ("early", False, "- libearly.so"),
    ("others", False, "-"),
    ("overlay-before", False, "liboverlay.so -"),
    ("overlay-after", False, "- liboverlay.so"),
    ("disabled", False, "-"),
    ("exit", False, "-"),
    ("linked", True, "- loose"),
    ("handle", False, "- loose"),
    ("local-linked", False, "- loose"),
    ("local-calls", False, "- loose"),
]

MACHINES = {
    "i386": ("i686-linux-gnu-gcc", "/usr/i686-linux-gnu", "ld-linux.so.2", "qemu-i386",
             "window/dlsym_i386.S"),
    "aarch64": ("aarch64-linux-gnu-gcc", "/usr/aarch64-linux-gnu", "ld-linux-aarch64.so.1",
                "qemu-aarch64", "window/dlsym_aarch64.S"),
}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(" ".join(command), done.stdout, sep="\n")
        sys.exit(1)


class Native:
    """Programs run as they are; LD_PRELOAD comes from the environment."""

    def __init__(self, folder):
        self.folder = folder

    def command(self, program, environment):
        return [program], {**os.environ, **environment}


class Emulated:
    """A cross-built program, by its own dynamic linker where the kernel can, else by qemu."""

    def __init__(self, folder, machine):
        _, root, linker, self.qemu, _ = MACHINES[machine]
        self.folder = folder
        self.root = root
        self.linker = os.path.join(root, "lib", linker)
        if not os.path.exists(self.linker):
            skip(f"{self.linker} is missing: install the libc of the cross compiler")
        self.direct = machine == "i386" and subprocess.run(
            [self.linker, "--version"], capture_output=True).returncode == 0
        if not self.direct and not shutil.which(self.qemu):
            skip(f"{self.qemu} is missing: install qemu-user")

    def command(self, program, environment):
        environment = dict(environment)
        environment["LD_LIBRARY_PATH"] += ":" + os.path.join(self.root, "lib")
        if self.direct:
            preload = environment.pop("LD_PRELOAD")
            path = environment.pop("LD_LIBRARY_PATH")
            return [self.linker, "--library-path", path, "--preload", preload, program], {
                **os.environ, **environment}
        command = [self.qemu, "-L", self.root]
        for name, value in environment.items():
            command += ["-E", f"{name}={value}"]
        return command + [program], dict(os.environ)


def build_programs(cc, folder):
    def library(name, source, *flags):
        run(cc + ["-shared", "-fPIC", "-O1", "-g", f"-Wl,-soname,{os.path.basename(name)}",
                  "-I", HERE, "-o", os.path.join(folder, name), os.path.join(HERE, source), *flags])

    gl = ["-L", folder, "-l:libGL.so.1"]
    with open(os.path.join(folder, "fake.map"), "w", encoding="utf-8") as file:
        file.write("FAKE_1 { global: *; };\n")
    versions = f"-Wl,--version-script={folder}/fake.map"
    os.mkdir(os.path.join(folder, "loose"))
    library("loose/libGL.so.1", "fake_gl.c", versions)
    library("libGL.so.1", "fake_gl.c", versions, "-Wl,-Bsymbolic-functions")
    library("libEGL.so", "fake_gl.c", "-DFAKE_ANGLE")
    library("liboverlay.so", "overlay.c")
    library("libthird.so", "helpers.c", "-DHELPER_THIRD")
    library("libbase.so", "helpers.c", "-DHELPER_BASE")
    library("libuser.so", "helpers.c", "-DHELPER_USER", *gl)
    library("libGLX_vendor.so.0", "helpers.c", "-DHELPER_VENDOR")
    library("libearly.so", "helpers.c", "-DHELPER_EARLY")
    library("libengine.so", "helpers.c", "-DHELPER_IMPOSTOR")
    program = cc + ["-fPIE", "-pie", "-O1", "-g", "-I", HERE, os.path.join(HERE, "loader.c"), "-o"]
    run(program + [os.path.join(folder, "loader")])
    run(program + [os.path.join(folder, "loader-linked"), "-DLOADER_LINKED", "-Wl,--no-as-needed",
                   *gl, "-l:libbase.so"])


def cross_build_layer(machine, source, registry, folder, flags):
    generated = os.path.join(folder, "generated_vk")
    os.makedirs(generated)
    run([sys.executable, os.path.join(source, "scripts/gen_vk.py"), "--registry", registry,
         "--rules", os.path.join(source, "vk_layer/hooks.rules"), "--out", generated])
    layer = os.path.join(folder, LAYER)
    run([MACHINES[machine][0], *flags, "-Wall", "-Wextra", "-Werror", "-I", generated, "-o", layer,
         "-Wl,-rpath,$ORIGIN", "-Wl,--version-script=" + os.path.join(source, "vk_layer/vk_layer.map"),
         *c_files(os.path.join(source, "vk_layer")), *c_files(generated),
         os.path.join(folder, "libpasstally.so.0")])
    return layer


def generate_log(source, headers, tables):
    """What json/meson.build generates from the description of the log's fields."""
    os.makedirs(os.path.join(headers, "json"))
    powers = subprocess.run([sys.executable, os.path.join(source, "scripts/gen_pow10.py")], check=True, capture_output=True)
    with open(os.path.join(headers, "json", "pow10.h"), "wb") as file:
        file.write(powers.stdout)
    for name, what, *lines in (("log_put.inc", "put"), ("log_numbers.c", "numbers"), ("record_words.c", "words"), ("log_read.inc", "read", "header", "device", "pass_info", "pipeline", "frame",
                                "process", "note", "end")):
        place = tables if name.endswith(".c") else os.path.join(headers, "json")
        run([sys.executable, os.path.join(source, "scripts/gen_log.py"), os.path.join(source, "json/log.fields"), what,
             os.path.join(place, name), *lines])


def c_files(path):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(path) for name in names if name.endswith(".c"))


def cross_build(machine, source, registry, vk_registry, folder):
    """The whole shim, layer and core, from source, into `folder`."""
    compiler, _, _, _, stub = MACHINES[machine]
    if not shutil.which(compiler):
        skip(f"{compiler} is missing")
    if not os.path.exists("/usr/include/uthash.h"):
        skip("uthash.h is not in /usr/include")
    generated = os.path.join(folder, "generated")
    os.makedirs(generated)
    run([sys.executable, os.path.join(source, "scripts/gen_gl.py"), "--registry", registry,
         "--rules", os.path.join(source, "gl_shim/hooks.rules"), "--out", generated,
         "--export", "dlsym", "--export", "dlvsym", "--export", "_exit", "--export", "_Exit",
         "--export", "exit"])
    with open(os.path.join(generated, "passtally_version.h"), "w", encoding="utf-8") as file:
        file.write('#define PASSTALLY_VERSION "cross"\n')
    shutil.copy("/usr/include/uthash.h", generated)
    os.makedirs(os.path.join(folder, "tables"))
    for script, table, data in (("gen_catalogue.py", "mali_tables.c", "mali"),
                                ("gen_metrics.py", "metric_rows.c", "metrics")):
        path = os.path.join(source, "data", data)
        run([sys.executable, os.path.join(source, "scripts", script), os.path.join(folder, "tables", table),
             *sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(".txt"))])
    run([sys.executable, os.path.join(source, "scripts/gen_blocklist.py"), os.path.join(source, "data/blocklist"),
         os.path.join(folder, "tables", "blocklist.c")])
    generate_log(source, generated, os.path.join(folder, "tables"))
    flags = ["-std=gnu11", "-O1", "-g", "-fPIC", "-fno-plt", "-fvisibility=hidden", "-D_GNU_SOURCE",
             "-DHASH_NONFATAL_OOM=1", "-I", source, "-I", generated, "-Wl,-z,defs", "-Wl,-z,now",
             "-Wl,-z,nodelete", "-Wl,-Bsymbolic", "-pthread", "-shared",
             *(["-DPASSTALLY_HAS_VULKAN"] if vk_registry else [])]

    def sources(part):
        found = c_files(os.path.join(source, part))
        return [name for name in found if vk_registry or "/query/vk/" not in name]

    core = os.path.join(folder, "libpasstally.so.0")
    run([compiler, *flags, "-fvisibility=default", "-o", core, "-Wl,-soname,libpasstally.so.0",
         "-Wl,--version-script=" + os.path.join(source, "layer/core.map"),
         *sources("layer"), *sources("query"), *sources("json"), *c_files(os.path.join(folder, "tables")), "-lm"])
    run([compiler, *flags, "-ftls-model=initial-exec", "-o", os.path.join(folder, SHIM),
         "-Wl,-rpath,$ORIGIN", "-Wl,--version-script=" + os.path.join(generated, "gl_shim.map"), *sources("gl_shim"),
         os.path.join(source, "gl_shim", stub),
         *(os.path.join(generated, name) for name in ("gl_next.c", "gl_names.c", "gl_wrappers.c", "gl_platform.c")),
         core])
    layer = vk_registry and cross_build_layer(machine, source, vk_registry, folder, flags)
    return [compiler], os.path.join(folder, SHIM), layer


def layer_fault(log, disabled):
    """What is wrong with the log of layer.c, or None."""
    if disabled:
        return "a log was written" if os.path.exists(log) else None
    if not os.path.exists(log):
        return "no log was written"
    with open(log, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    widths = sorted({line["target"]["width"] for line in lines if line["type"] == "pass_info" and "target" in line})
    if widths != [64, 128]:
        return f"targets are {widths} wide: handles were taken for each other"
    draws = [one["draws"] for line in lines if line["type"] == "frame" for one in line["passes"] if one["draws"]]
    return None if draws == [1, 1, 1, 1] else f"passes have {draws} draws"


def run_layer(runner, cc, layer):
    program = os.path.join(runner.folder, "layer")
    run(cc + ["-D_GNU_SOURCE", "-fPIE", "-pie", "-O1", "-g", "-o", program, os.path.join(HERE, "layer.c"), "-ldl"])
    failed = 0
    for disabled, words in ((False, []), (True, []), (False, ["orphan"]), (True, ["orphan"])):
        log = os.path.join(runner.folder, f"layer-{disabled}.jsonl")
        if os.path.exists(log):
            os.remove(log)
        environment = {
            "LD_PRELOAD": os.environ.get("PASSTALLY_TEST_SANITIZER", ""),
            "LD_LIBRARY_PATH": runner.folder,
            "PASSTALLY_LOG": log,
            "ASAN_OPTIONS": "detect_leaks=0",
        }
        if disabled:
            environment["PASSTALLY_DISABLE"] = "1"
        command, env = runner.command(program, environment)
        done = subprocess.run(command + [layer, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60)
        fault = f"status {done.returncode}\n{done.stdout}" if done.returncode else layer_fault(log, disabled)
        failed += fault is not None
        print(f"{'FAILED' if fault else 'ok'}: layer{' disabled' if disabled else ''} {' '.join(words)}")
        if fault:
            print(f"  {fault}")
    return failed


def run_cases(runner, shim):
    sanitizer = os.environ.get("PASSTALLY_TEST_SANITIZER", "")
    failed = 0
    for case, linked, preload in CASES:
        # It refuses RTLD_DEEPBIND, and with an overlay's dlsym in C its own first look-ups fail.
        if sanitizer and (case == "deepbind" or preload.startswith("liboverlay")):
            print(f"skipped: {case} (preload {preload}): not with a sanitizer")
            continue
        libraries = [sanitizer] if sanitizer else []
        words = preload.split()
        path = runner.folder
        if "loose" in words:
            words.remove("loose")
            path = os.path.join(path, "loose") + ":" + path
        for name in words:
            libraries.append(shim if name == "-" else os.path.join(runner.folder, name))
        environment = {
            "LD_PRELOAD": ":".join(libraries),
            "LD_LIBRARY_PATH": path,
            "PASSTALLY_LOG": os.path.join(runner.folder, "%e-%p.jsonl"),
            "ASAN_OPTIONS": "detect_leaks=0",
        }
        if case.endswith("disabled"):
            environment["PASSTALLY_DISABLE"] = "1"
        program = os.path.join(runner.folder, "loader-linked" if linked else "loader")
        command, env = runner.command(program, environment)
        done = subprocess.run(command + [case], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60)
        ok = done.returncode == 0
        failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {os.path.basename(program)} {case} (preload {preload})")
        if not ok:
            print(f"  status {done.returncode}\n{done.stdout}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cc", nargs="+")
    parser.add_argument("--shim")
    parser.add_argument("--machine", choices=sorted(MACHINES))
    parser.add_argument("--source")
    parser.add_argument("--registry")
    parser.add_argument("--layer")
    parser.add_argument("--vk-registry")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="passtally-loader-") as folder:
        if options.machine:
            cc, shim, layer = cross_build(options.machine, options.source, options.registry,
                                          options.vk_registry, folder)
            runner = Emulated(folder, options.machine)
        else:
            cc, shim = options.cc, os.path.abspath(options.shim)
            layer = options.layer and os.path.abspath(options.layer)
            runner = Native(folder)
        build_programs(cc, folder)
        failed = run_cases(runner, shim)
        if layer:
            failed += run_layer(runner, cc, layer)
    print(f"{failed} failed" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
