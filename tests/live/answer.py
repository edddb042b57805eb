# SPDX-License-Identifier: MIT
"""The answer about programs with a planted cause: tests/apps/answer_scene.c on llvmpipe, read by the command.

The machine may be busy with anything else, so effects are large, and the checks are for what a planted cause does
and noise does not: a pass that is drawn six times has a larger share than it had, frames that slept are hitches
and not the GPU's.

  answer.py
"""

import json
import subprocess
import sys

import harness as h


def answer_of(checks, folder, *options):
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    env = h.base_env(folder, h.capture_env(log, {"frame": "finish"}))
    result = h.run([h.need("answer_scene"), *options], env)
    if result.status == 77:
        h.skip(result.errors.strip() or result.text.strip())
    checks.equal(result.status, 0, f"exit status ({result.errors[-300:]!r})")
    done = subprocess.run([h.need("passtally"), "report", "--json", log], env=h.base_env(folder),
                          stdout=subprocess.PIPE, check=True)
    answers = json.loads(done.stdout)["reports"][0]["answers"]
    checks.equal(len(answers), 1, "devices with frames")
    print("\n".join([" ".join(map(str, options)), *answers[0]["lines"], ""]))
    return answers[0]


def shares(answer):
    return {p["name"]: p["share"] for p in answer["typical"]["passes"]}


def worst(answer):
    return {hitch["frame"]: hitch for hitch in answer["hitches"]["worst"]}


def check_heavy_pass(checks, folder):
    """The GPU draws all the time; a pass that draws six times has a larger share than before."""
    usual, heavy = (answer_of(checks, folder, "--frames", 60, "--heavy", n) for n in (1, 6))
    checks.equal(list(shares(heavy)), ["Shadows", "GBuffer", "Lighting"], "passes in order of execution")
    checks.that(shares(heavy)["GBuffer"] > shares(usual)["GBuffer"] + 0.2,
                f"GBuffer has {shares(usual)} and then {shares(heavy)}")
    # Steady frames may by chance take as long as the interval of a common rate; the load is then shown beside it.
    checks.that(heavy["bound"]["by"] == "gpu" or (heavy["bound"]["by"] == "cap" and heavy["bound"]["gpu_busy"] > 0.85),
                f"bound by the GPU: {heavy['bound']}")


def check_heavy_frames(checks, folder):
    """For frames in which one pass draws 40 times, the answer names the pass."""
    found = worst(answer_of(checks, folder, "--frames", 150, "--heavy", 40, "--heavy-each", 50))
    named = [n for n in (49, 99, 149) if found.get(n, {}).get("pass") == "GBuffer"]
    checks.that(len(named) >= 2, f"frames 49, 99 and 149 drew GBuffer 40 times: {found}")


def check_sleep(checks, folder):
    """Frames that slept are hitches, and not on the GPU."""
    found = worst(answer_of(checks, folder, "--frames", 150, "--sleep", 200, "--sleep-each", 50))
    outside = [n for n in (49, 99, 149) if found.get(n, {}).get("cause") in ("wait", "unknown")]
    checks.that(len(outside) >= 2, f"frames 49, 99 and 149 slept: {found}")
    for n in outside:
        checks.that(found[n]["excess_ns"] > 100e6, f"frame {n} slept for 200 ms: {found[n]}")


def check_wait(checks, folder):
    """A wait between the last draw and the frame's end is in the last pass: the answer reports it."""
    found = worst(answer_of(checks, folder, "--frames", 100, "--wait", 200, "--sleep-each", 50))
    waits = [n for n in (49, 99) if n in found and (found[n].get("or_wait") or found[n]["cause"] in ("wait", "unknown"))]
    checks.that(waits, f"frames 49 and 99 waited after their last draw: {found}")


def check_first_use(checks, folder):
    """The frame in which a long shader is made is a hitch, and the answer names what is new in it."""
    found = worst(answer_of(checks, folder, "--frames", 100, "--late", 60))
    checks.that(60 in found, f"frame 60 made a long shader: {found}")
    if 60 in found:
        checks.that("Late" in found[60]["text"], f"what frame 60 had for the first time: {found[60]['text']}")


def check_cpu(checks, folder):
    """The CPU's work; where other programs use the CPUs half of the time, the program waits for one."""
    bound = answer_of(checks, folder, "--frames", 40, "--busy", 60)["bound"]
    right = {"cpu"} if bound["cpu_busy"] > 0.9 else {"cpu", "wait", "unknown"} - ({"cpu"} if bound["cpu_busy"] < 0.3 else set())
    checks.that(bound["by"] in right, f"bound by {bound}")


def check_cpu_within(checks, folder):
    """The same work between the draws of two passes: GBuffer ends where Lighting begins, but that is not the GPU's time."""
    for place in ("--within", "--inside"):
        bound = answer_of(checks, folder, "--frames", 40, place, 60)["bound"]
        checks.that(bound["by"] in ("cpu", "unknown"), f"{place}: bound by {bound}")


def check_sleep_within(checks, folder):
    """A program that sleeps between two draws of its last pass: the GPU does not work meanwhile, though the pass lasts."""
    bound = answer_of(checks, folder, "--frames", 40, "--nap", 60)["bound"]
    checks.that(bound["by"] in ("wait", "unknown"), f"bound by {bound}")


def check_cap(checks, folder):
    """A limiter is detected where the machine lets the program keep to it; otherwise the GPU is at least not
    reported as the bound."""
    seen = []
    while len(seen) < 3 and "cap" not in seen:
        bound = answer_of(checks, folder, "--frames", 40, "--cap", 30)["bound"]
        seen.append(bound["by"])
        if bound["by"] == "cap":
            checks.equal(bound["rate"], 30, "frames a second of the cap")
    checks.that(set(seen) != {"gpu"}, f"a program that sleeps most of the time: {seen}")
    if "cap" not in seen:
        print("note: this machine is too busy for a program to keep 30 frames a second")


def main():
    checks = h.Checks()
    with h.scratch() as folder:
        for check in (check_heavy_pass, check_heavy_frames, check_sleep, check_wait, check_first_use, check_cpu,
                      check_cpu_within, check_sleep_within, check_cap):
            with checks.part(check.__name__.removeprefix("check_").replace("_", " ")):
                check(checks, folder)
    checks.finish()


main()
