#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Work on two queues at the same time, on tests/fake_vk: the report's times of queues, of any of them and of several
at once, and the typical frame's, are those of the program's own time stamps (tests/apps/vk_queues.c). The page draws a
lane a queue from the log's times, which are checked one by one.
"""

import re
import subprocess

import harness as h
import vk_fake as f
import vk_harness as vk

FRAMES = 21  # the program's own sums leave out the first
# Dispatches on each queue, a microsecond each, and how much later the second begins.
CASES = {"partly": (3000, 2000, 500), "inside": (6000, 1000, 500), "apart": (300, 300, 4000)}
LINE = re.compile(r"queues, ms a frame: 0\.0 (\S+), 1\.0 (\S+), any of them (\S+), several at once ([^\s;]+)")


def check(checks, folder, beside, case):
    first, second, gap = case
    log = folder / "log.jsonl"
    env = vk.layer_env(folder, log, {"frame": "submit:2", "skip": "1"}, {
        "VK_ICD_FILENAMES": str(f.driver()), "FAKE_VK": f"families=gct:64:1+ct:64:1{',beside' if beside else ''}"})
    result = h.run([h.need("vk_queues"), str(FRAMES), *map(str, case)], env)
    checks.equal(result.status, 0, result.errors[-300:])
    h.validate(checks, log)
    own = [int(ns) / 1e6 / (FRAMES - 1) for ns in result.text.split()]
    report = subprocess.run([h.BUILD / "cli/passtally", "report", log], capture_output=True, text=True, check=False).stdout
    found = LINE.search(" ".join(report.split()))
    checks.that(found, f"no line of queues: {report[:600]}")
    if not found:
        return
    for what, got, want in zip(("queue 0.0", "queue 1.0", "any", "several"), map(float, found.groups()), own):
        checks.that(abs(got - want) <= 0.01 * want, f"{what}: {got} ms a frame, {want} by the program")
    at_once = own[3] > 0
    checks.equal(at_once, beside and gap < first, "as the driver was made to work")
    sentence = re.search(r"typical frame, passes of (\S+) ms, some at once: (\S+) ms on the GPU", report)
    checks.equal(bool(sentence), at_once, f"the typical frame: {report[:600]}")
    if sentence:
        checks.that(abs(float(sentence.group(2)) - own[2]) <= 0.01 * own[2], f"{sentence.group()}, {own[2]} by the program")


def main():
    checks = h.Checks()
    for beside in (True, False):
        for name, case in CASES.items():
            with checks.part(f"{name}, {'side by side' if beside else 'in turn'}"), h.scratch() as folder:
                check(checks, folder, beside, case)
    checks.finish()


if __name__ == "__main__":
    main()
