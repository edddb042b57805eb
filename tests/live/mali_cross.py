# SPDX-License-Identifier: MIT
"""The product's Mali sources, catalogue and metrics, cross-built and run by qemu-user: every way to the counters
against the simulated kernel (also cross-built), and the same catalogue and metric values as on this machine.

    mali_cross.py arm|aarch64
"""

import json
import math
import pathlib
import shutil
import subprocess
import sys

import harness
import mali_harness
import mali_kernel

COMPILERS = {"arm": "arm-linux-gnueabihf-gcc", "aarch64": "aarch64-linux-gnu-gcc"}
# The options that meson sets: 32-bit machines must handle files of more than 2 GiB, too. Debian 13's compiler for armhf sets
# _TIME_BITS, which gives ioctl() another name than the one that the simulated kernel replaces.
FLAGS = ["-U_TIME_BITS", "-std=gnu11", "-O0", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64",
         "-DHASH_NONFATAL_OOM=1", "-pthread"]
PROGRAMS = {"snapshot_main": "snapshot_main.c", "catalogue_main": "catalogue_main.c", "fake_kernel_rules": "rules.c"}


def compile_all(machine, folder):
    compiler = harness.need_tool(COMPILERS[machine])
    if not pathlib.Path("/usr/include/uthash.h").exists():
        harness.skip("uthash.h is not in /usr/include")
    root = harness.SOURCE
    generated = folder / "generated"
    generated.mkdir()
    shutil.copy("/usr/include/uthash.h", generated)
    (generated / "passtally_version.h").write_text('#define PASSTALLY_VERSION "cross"\n')
    for script, output, data in (("gen_catalogue.py", "mali_tables.c", "mali"),
                                 ("gen_metrics.py", "metric_rows.c", "metrics")):
        files = sorted(str(path) for path in (root / "data" / data).glob("*.txt"))
        call([sys.executable, root / "scripts" / script, generated / output, *files])
    call([sys.executable, root / "scripts" / "gen_blocklist.py", root / "data" / "blocklist", generated / "blocklist.c"])
    call([sys.executable, root / "scripts" / "gen_log.py", root / "json" / "log.fields", "words", generated / "record_words.c"])
    flags = [*FLAGS, "-I", root, "-I", generated]
    product = [path for pattern in ("layer/**/*.c", "query/mali/*.c", "query/source/*.c", "query/statistics/latency.c",
                                    "query/metric/*.c")
               for path in sorted(root.glob(pattern))] + sorted(generated.glob("*.c"))
    objects = []
    for path in product:
        objects.append(folder / f"{path.parent.name}_{path.stem}.o")
        call([compiler, *flags, "-c", path, "-o", objects[-1]])
    call(["ar", "rcs", folder / "libproduct.a", *objects])
    here = root / "tests" / "fake_kernel"
    for name, source in PROGRAMS.items():
        call([compiler, *flags, here / source, folder / "libproduct.a", "-o", folder / name, "-lm", "-ldl"])
    mains = set(PROGRAMS.values())
    parts = [path for path in sorted(here.glob("*.c")) if path.name not in mains]
    call([compiler, *flags, "-fPIC", "-shared", "-fvisibility=hidden", *parts, "-o", folder / "fake_kernel.so", "-ldl"])


def call(argv):
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(" ".join(map(str, argv)), done.stdout[-4000:], sep="\n")
        sys.exit(1)


def same_value(one, other):
    if one[:2] != other[:2] or len(one) != len(other):
        return False
    return one == other if len(one) > 3 else math.isclose(one[2], other[2], rel_tol=1e-12)


def check_catalogue(checks, machine, folder):
    """What two machines know and compute is the same."""
    with checks.part("catalogue and metrics"):
        told = []
        for one in (mali_harness.Machine(), machine):
            result, _ = one.run(folder, "kbase-csf", ["catalogue_main"])
            checks.equal(result.status, 0, "status")
            told.append(sorted((json.loads(line) for line in result.text.splitlines()), key=lambda row: row[:2]))
        here, there = told
        checks.that(len(here) > 3000, f"{len(here)} lines")
        checks.equal(len(there), len(here), "lines")
        different = [(a, b) for a, b in zip(here, there) if not same_value(a, b)]
        checks.equal(different[:3], [], "different")


def main():
    name = sys.argv[1]
    checks = harness.Checks()
    emulator = mali_harness.qemu(name)
    with harness.scratch() as folder:
        built = folder / "built"
        built.mkdir()
        compile_all(name, built)
        machine = mali_harness.Machine(built, built / "fake_kernel.so", emulator)
        check_catalogue(checks, machine, folder)
        for part in ("rules", "paths", "clock", "states"):
            mali_kernel.PARTS[part](checks, machine, folder)
        mali_kernel.check_faults(checks, machine, folder, every=5)
    checks.finish()


if __name__ == "__main__":
    main()
