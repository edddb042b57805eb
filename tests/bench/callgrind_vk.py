#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count the instructions that passtally adds to a Vulkan draw and pass, by callgrind, and its calls for results.

    tests/bench/callgrind_vk.py BUILD

Runs bench_vk over the do-nothing driver with two numbers of draws (and of passes), with and without the
layer: the difference of the differences is exactly what one draw or pass costs in the program's own thread, on any
machine; and what it costs in passtally's threads, where the number varies a little with what they do at the same
time and includes the share of 20 frames in the statistics at the end. Over the driver that keeps a log, it counts
how often a frame of 1000 passes asks for results and resets queries. Where ../shared/bench exists, the cost of a
pass in the whole process is also given as a multiple of the cost in its layer, the minimal one that writes such
lines: one figure for any machine. Compares with tests/bench/ceilings.json. Exit status: 0, 1 over a ceiling, 77 no
valgrind here.
"""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FRAMES = 20
PASSES = 1000
SOURCES = {"api": "api", "gpu": "api+vk-*", "idle": "api+vk-*,start-on=frame:100000000"}


FLOOR = "the floor's layer"  # as sources


def build_floor(folder):
    """Builds the minimal layer; False where its source is absent or cannot be built."""
    source = HERE.parents[2] / "shared" / "bench"
    if not (source / "vkfloor.c").exists() or not shutil.which("cc"):
        return False
    shutil.copy(source / "VkLayer_floor.json", folder)
    return subprocess.run(["cc", "-O2", "-shared", "-fPIC", source / "vkfloor.c", "-o", folder / "libvkfloor.so", "-lpthread"],
                          capture_output=True, check=False).returncode == 0


def run(build, folder, sources, passes, draws, driver, prefix=(), binds=0, pipelines=0):
    """`sources` None: without the layer. Runs FRAMES frames, each ended by its submission."""
    # MALLOC_PERTURB_, which meson sets, fills memory: that is not a cost of a pass.
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PASSTALLY", "VK_", "MALLOC_"))}
    env.update(XDG_CONFIG_HOME=str(folder), NODEVICE_SELECT="1", VK_ICD_FILENAMES=str(build / "tests/fake_vk/fake_vk.json"),
               FAKE_VK_LOG=str(folder / "calls"), FAKE_VK=driver)
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    if sources == FLOOR:
        env.update(VK_LAYER_PATH=str(folder), VK_INSTANCE_LAYERS="VK_LAYER_FLOOR", VKFLOOR_OUT=str(log))
    elif sources:
        env.update(VK_ADD_LAYER_PATH=str(build / "vk_layer"), VK_INSTANCE_LAYERS="VK_LAYER_PASSTALLY_capture",
                   PASSTALLY_LOG=str(log), PASSTALLY_OPTIONS=f"frame=submit:1,sources={sources}")
    done = subprocess.run([*prefix, str(build / "tests/bench/bench_vk"), "--passes", str(passes), "--draws", str(draws), "--binds", str(binds),
                           "--pipelines", str(pipelines),
                           "--frames", str(FRAMES), "--warm-up", "0", "--pause-us", "3000"],
                          env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"callgrind_vk: {done.stderr.strip()}")
    if sources and not log.exists():
        raise SystemExit("callgrind_vk: the layer wrote no log: it was not loaded")


def count(build, folder, sources, passes, draws, binds=0, pipelines=0):
    """Instructions of the program's own thread, and of all others."""
    for old in folder.glob("callgrind.out*"):
        old.unlink()
    run(build, folder, sources, passes, draws, "bench",
        ("valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={folder}/callgrind.out"), binds, pipelines)
    own = others = 0
    for path in folder.glob("callgrind.out-*"):
        text = path.read_text(encoding="utf-8")
        found = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
        if not found:
            continue
        if "vkBeginCommandBuffer" in text:
            own = max(own, int(found.group(1)))
        else:
            others += int(found.group(1))
    return own, others


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if shutil.which("valgrind") is None:
        print("callgrind_vk: skipped, valgrind is not installed")
        return 77
    build = pathlib.Path(sys.argv[1]).resolve()
    ceilings = json.loads((HERE / "ceilings.json").read_text(encoding="utf-8"))["instructions_vk"]
    got = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        @functools.cache
        def grown(sources, small, large):
            few, many = (count(build, folder, sources, *shape) for shape in (small, large))
            return many[0] - few[0], many[1] - few[1]

        def added(what, sources, small, large, units):
            with_us, bare = (grown(s, small, large) for s in (sources, None))
            got[what] = (with_us[0] - bare[0]) / units
            got[f"{what}, our threads"] = (with_us[1] - bare[1]) / units

        for what, sources in (("", SOURCES["gpu"]), (", pipelines", f"{SOURCES['gpu']},pipelines=on")):
            added("a bind" + what, sources, (4, 100), (4, 100, 8000), FRAMES * 4 * 8000)
            added("a creation" + what, sources, (4, 100), (4, 100, 0, 1000), 1000)
        added("a draw", SOURCES["gpu"], (4, 100), (4, 8100), FRAMES * 4 * 8000)
        for what, sources in SOURCES.items():
            added(f"a pass, {what}", sources, (50, 1), (250, 1), FRAMES * 200)
        if build_floor(folder):
            added("the floor", FLOOR, (50, 1), (250, 1), FRAMES * 200)
            ours, floor = (sum(got[f"{what}{whose}"] for whose in ("", ", our threads"))
                           for what in ("a pass, gpu", "the floor"))
            got["a pass, gpu, whole process, in the floor's"] = ours / floor
        for reset, driver in (("", "version=1.3"), ("no host reset, ", "no=hostQueryReset")):
            (folder / "calls").unlink(missing_ok=True)  # the driver appends
            run(build, folder, SOURCES["gpu"], PASSES, 1, driver)
            words = [line.split(" ", 1)[0] for line in (folder / "calls").read_text(encoding="utf-8").splitlines()]
            for call in ("vkQueueSubmit", "vkGetFenceStatus", "vkGetQueryPoolResults", "vkCmdResetQueryPool"):
                got[f"calls a frame, {reset}{call}"] = words.count(call) / FRAMES
    over = False
    for what, ceiling in ceilings.items():
        if what not in got:
            print(f"{what}: not measured, ../shared/bench is not here, or no compiler")
            continue
        over = over or not got[what] <= ceiling
        print(f"{what}: {got[what]:.1f} (ceiling {ceiling})")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
