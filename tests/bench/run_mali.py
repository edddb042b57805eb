#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure what one sample of a Mali GPU's counters costs, against the simulated kernel of tests/fake_kernel.

    tests/bench/run_mali.py --build FOLDER [--samples N] [--repeats N] [--json FILE]

For each way to the counters and some GPUs: ns a sample as the caller sees it, how much of it was spent in the
simulated kernel, and the rest, which is passtally's (with two clock readings a call for the measuring). The best
of several runs.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

CASES = [
    ("kinstr_prfcnt", "mali-kbase", "kbase-csf,gpu=g715,cores=0x7f,l2=4"),
    ("kinstr_prfcnt", "mali-kbase", "kbase-csf,gpu=g1-ultra,cores=0xffffff,l2=8"),
    ("kinstr_prfcnt", "mali-kbase", "kbase-jm,gpu=g78,cores=0xfffff,l2=4"),
    ("vinstr", "mali-kbase", "kbase-jm,gpu=g76,iface=11.20,cores=0xfff,l2=4"),
    ("vinstr before r21", "mali-kbase", "kbase-old,gpu=g71,cores=0xff,l2=2"),
    ("panfrost", "mali-panfrost", "panfrost,gpu=g52,cores=0x3,l2=1"),
]


def measure(build, source, kernel, counters, samples):
    programs = build / "tests" / "fake_kernel"
    env = {**os.environ, "FAKE_KERNEL": kernel, "LD_PRELOAD": str(programs / "fake_kernel.so")}
    env.pop("FAKE_KERNEL_TRACE", None)
    done = subprocess.run([programs / "snapshot_main", source, "--counters", counters, "--bench", str(samples)],
                          env=env, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        step = json.loads(line)
        if step["step"] == "bench":
            return step
    sys.exit(f"run_mali: {kernel} does not count: {done.stdout}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="write the figures there, too")
    options = parser.parse_args()
    rows = []
    print(f"{'way':18} {'GPU':46} {'counters':>8} {'ns a sample':>12} {'kernel':>8} {'ours':>8}")
    for way, source, kernel in CASES:
        for counters in ("overview", "all"):
            runs = [measure(options.build.resolve(), source, kernel, counters, options.samples)
                    for _ in range(options.repeats)]
            best = min(runs, key=lambda run: run["ns"] - run["kernel_ns"])
            rows.append({"way": way, "kernel": kernel, "counters": best["counters"], "ns": best["ns"],
                         "kernel_ns": best["kernel_ns"], "ours_ns": best["ns"] - best["kernel_ns"]})
            print(f"{way:18} {kernel.partition(',')[2]:46} {best['counters']:8} {best['ns']:12} "
                  f"{best['kernel_ns']:8} {best['ns'] - best['kernel_ns']:8}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
