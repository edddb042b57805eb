#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's real iris over an emulated kernel (../shared/intel_gpu, where it is there): the program's own
performance queries and monitors have the results that they have without passtally, and its frames have the same
content.

The emulator's metric sets have their own numbers ("ids"), so that two sets conflict as on hardware.
"""

import os
import pathlib
import subprocess
import sys

from harness import SOURCE, Checks, Log, base_env, need, need_tool, run, scratch, skip

EMULATOR = pathlib.Path(os.environ.get("PASSTALLY_INTEL_GPU") or SOURCE.parent / "shared" / "intel_gpu")
PLATFORMS = ("tgl", "bdw")


def build(folder):
    if not (EMULATOR / "build.sh").exists():
        skip(f"no emulated Intel GPU in {EMULATOR}")
    if os.uname().machine != "x86_64":
        skip("the emulated Intel GPU is x86-64 only")
    need_tool("cc")
    made = subprocess.run(["sh", EMULATOR / "build.sh", folder], capture_output=True, text=True)
    if made.returncode:
        skip(f"the emulated Intel GPU's programs do not build: {made.stderr.strip()[-200:]}")


class Gpu:
    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder

    def env(self, more=None):
        env = base_env(self.folder, more)
        for name in ("LIBGL_ALWAYS_SOFTWARE", "GALLIUM_DRIVER"):
            env.pop(name)
        return env

    def run(self, platform, program, args, how="ids", options=None, more=None):
        """Without passtally where `options` is None, else as `passtally run OPTIONS`, with its log."""
        log = self.folder / "log.jsonl"
        argv = [str(self.programs / program), *args]
        if options is not None:
            argv = [str(need("passtally")), "run", "-q", "--force", "-o", str(log), *options, "--", *argv]
        script = f'. {EMULATOR}/env.sh {self.programs}; {how} {platform} "$@"'
        log.unlink(missing_ok=True)
        result = run(["bash", "-c", script, "bash", *argv], self.env(more), timeout=120)
        return result, Log(log)


def check_own(checks, gpu, platform, program, args, options, more=None):
    """The program prints the results of its own queries: they are the same with and without passtally."""
    bare, _ = gpu.run(platform, program, args, more=more)
    ours, log = gpu.run(platform, program, args, options=options, more=more)
    what = f"{platform} {program} {' '.join(args)} {' '.join(options)}".strip()
    checks.equal(bare.status, 0, f"{what}: status without passtally")
    checks.equal(ours.status, bare.status, f"{what}: status")
    if "glora" in program:  # one of passtally's time ticks may fall into a query of the program
        checks.equal(ours.text.count('"size":0'), bare.text.count('"size":0'), f"{what}: results without a byte")
        checks.equal(ours.text.count('"w":0'), bare.text.count('"w":0'), f"{what}: empty results")
    else:
        checks.equal(ours.text, bare.text, f"{what}: output")
    checks.that(log.frames, f"{what}: no frames in the log")
    return log


def check_game_first(checks, gpu):
    """One observation unit serves both extensions: whichever the program uses, all of passtally's queries
    yield."""
    for platform in PLATFORMS:
        with checks.part(f"own counters {platform}"):
            sets = gpu.run(platform, "glora", ["1", "list"], more={"MID": "1"})[0].text
            group = next((g for g in ("EuActivity2", "Compute Metrics Basic set") if g in sets), None)
            for options in ([], ["--counters", "all"], ["--counters", "all", "--sources", "gl-timestamp+gl-intel+gl-amd"]):
                log = check_own(checks, gpu, platform, "waitmon", [], options)
                check_flagged(checks, log, platform)
                if group:
                    for mode in (["amd", group, "0", "100"], ["intel", group]):
                        check_own(checks, gpu, platform, "glora", ["12", *mode], options, {"MID": "1"})


def check_amd_turns(checks, gpu):
    """With the set numbers of hardware, a set can begin only when nothing of another is unread."""
    for platform in PLATFORMS:
        with checks.part(f"gl-amd turns {platform}"):
            options = ["--sources", "gl-amd+gl-timestamp", "--counters", "all"]
            result, log = gpu.run(platform, "glora", ["200", "bare"], options=options)
            checks.equal(result.status, 0, "status")
            passes = [p for f in log.frames for p in f["passes"]]
            counted = sum(bool(p.get("counters")) for p in passes)
            checks.that(counted > len(passes) * 0.6, f"{counted} of {len(passes)} passes have values")
            checks.that(all(p.get("counters") or p.get("flags") for p in passes), "a pass without values or a flag")


def check_flagged(checks, log, platform):
    """waitmon counts in frame 10: from then on passtally counts nothing, and the passes say why."""
    flagged = [p for f in log.frames[11:] for p in f["passes"] if "yielded" in p.get("flags", [])]
    checks.that(flagged, f"{platform}: no pass after the program's own monitor is flagged yielded")


def check_amd_sets(checks, gpu):
    """gl-amd where it is named: a set is one group, because iris reads all counters from the first one's
    report."""
    for platform in PLATFORMS:
        for options in (["--counters", "all"], []):
            with checks.part(f"gl-amd {platform} {' '.join(options)}"):
                result, log = gpu.run(platform, "glora", ["40", "bare"], options=["--sources", "gl-amd", *options])
                checks.equal(result.status, 0, "status")
                groups = [{c["description"].split("group ")[1] for c in log.of("device")[-1]["counters"]
                           if c["source"] == "gl-amd" and c["key"] in p.get("counters", {})}
                          for f in log.frames for p in f["passes"]]
                checks.that(any(groups), "no counter has a value")
                checks.that(all(len(g) <= 1 for g in groups), "counters of several groups in one pass")
                check_numbers(checks, log)


def check_numbers(checks, log):
    """Bits of another counter, read as a number, are tiny values such as 2.96e-42."""
    values = [v for f in log.frames for p in f["passes"] for v in p.get("counters", {}).values() if isinstance(v, float)]
    checks.that(values, "no number with a fraction")
    wrong = [v for v in values if v and abs(v) < 1e-30]
    checks.that(not wrong, f"{len(wrong)} of {len(values)} numbers are bits of something else: {wrong[:3]}")


def main():
    checks = Checks()
    with scratch() as folder:
        programs = folder / "programs"
        build(programs)
        gpu = Gpu(programs, folder)
        if gpu.run("tgl", "glora", ["1", "bare"])[0].status:
            skip("iris does not start on the emulated GPU")
        check_game_first(checks, gpu)
        check_amd_sets(checks, gpu)
        check_amd_turns(checks, gpu)
    checks.finish()


if __name__ == "__main__":
    sys.exit(main())
