#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often passtally compare finds a slower pass, and how often it raises a false alarm.

    PASSTALLY_COMMAND=build/cli/passtally tests/bench/compare_power.py [KIND...] [--quick]

Kinds of noise: recorded on llvmpipe, eight runs of 300 frames of 20 passes each (tests/cli/*_noise.xz),
and white, made here. One run a side. Prints a table as in docs/compare.md.

The last column is a bound that no method can exceed on these recordings: how often +10 % is found if it is known
by how much the median of each pass, less what all passes have in common, differs between equal runs.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from test_compare_noise import FRAMES, PASSES, RUNS, make_log, recorded  # noqa: E402

SMALL = 300e3  # ns


def white():
    """Passes of 0.05 to 2 ms: frames are independent, with 5 % of noise, and all runs have the same speed."""
    rand = random.Random(7)
    means = [50e3 * 40 ** (k / (PASSES - 1)) for k in range(PASSES)]
    return [[[int(mean * rand.lognormvariate(0, 0.05)) for _ in range(FRAMES)] for mean in means] for _ in range(RUNS)]


KINDS = {"white": white, **{kind: lambda kind=kind: recorded(kind) for kind in ("quiet", "moderate", "busy", "second")}}


class Judge:
    def __init__(self, folder, options):
        self.folder, self.options = pathlib.Path(folder), options

    def changes(self, base, new):
        paths = []
        for name, log in (("base.jsonl", base), ("new.jsonl", new)):
            paths.append(self.folder / name)
            paths[-1].write_bytes(log)
        done = subprocess.run([os.environ["PASSTALLY_COMMAND"], "compare", "--json", "--keys", "gpu_ns", "--warmup", "0",
                               *self.options, *paths], stdout=subprocess.PIPE, check=True)
        return {s["name"]: v["verdict"] for s in json.loads(done.stdout)["subjects"] for v in s["values"]
                if v["verdict"] in ("more", "less")}

    def alarms(self, runs, pairs):
        return sum(bool(self.changes(make_log(runs[a]), make_log(runs[b]))) for a, b in pairs)

    def power(self, runs, pairs, factor):
        """How often a change was found and tried, over all passes and over those that are not small."""
        found, tried = [0, 0], [0, 0]
        for trial, (a, b) in enumerate(pairs):
            slow = (7 * trial + trial // PASSES) % PASSES
            large = sorted(runs[a][slow])[FRAMES // 2] >= SMALL
            hit = self.changes(make_log(runs[a]), make_log(runs[b], slow, factor)).get(f"pass {slow}") == "more"
            for i in range(1 + large):
                found[i] += hit
                tried[i] += 1
        return found, tried


def at_best(runs, factor, confidence):
    """The share of passes, made `factor` slower, in which the difference of two runs passes the limit that equal runs
    pass in one comparison of all passes in 100 (at 99 %)."""
    normal = statistics.NormalDist()
    limit = normal.inv_cdf(1 - (1 - confidence / 100) / PASSES / 2)
    logs = [[math.log(statistics.median(times)) for times in run] for run in runs]
    usual = [statistics.median(column) for column in zip(*logs)]
    off = [[value - base for value, base in zip(run, usual)] for run in logs]
    common = [statistics.median(run) for run in off]
    differs = [math.sqrt(2) * statistics.stdev(run[k] - one for run, one in zip(off, common)) for k in range(PASSES)]
    return statistics.mean(normal.cdf(math.log(factor) / sd - limit) for sd in differs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--quick", action="store_true", help="a quarter of the pairs")
    parser.add_argument("--confidence", default="99", metavar="PERCENT")
    args = parser.parse_args()
    print("| noise | alarms in equal pairs | +10 % found | of passes of 0.3 ms or more | +5 % found | "
          "+10 % at best |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(folder, ["--confidence", args.confidence])
        for kind in args.kinds:
            runs = KINDS[kind]()
            pairs = list(itertools.permutations(range(RUNS), 2))
            random.Random(3).shuffle(pairs)
            pairs = pairs[:len(pairs) // (4 if args.quick else 1)]
            found, tried = judge.power(runs, pairs, 1.1)
            less = judge.power(runs, pairs, 1.05)[0][0]
            best = 100 * at_best(runs, 1.1, float(args.confidence))
            print(f"| {kind} | {judge.alarms(runs, pairs)} of {len(pairs)} | {found[0]} of {tried[0]} | "
                  f"{found[1]} of {tried[1]} | {less} of {tried[0]} | {best:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
