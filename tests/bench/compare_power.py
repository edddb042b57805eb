#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What passtally compare --fail-above 5% says of pairs made from recorded noise: equal ones, and with a planted change.

    PASSTALLY_COMMAND=build/cli/passtally tests/bench/compare_power.py [KIND...] [--quick] [--runs FOLDER]

Kinds of noise: recorded on llvmpipe, eight runs of 300 frames of 20 passes each (tests/cli/*_noise.xz), and white,
made here. Single logs are two different runs. Five a side are the halves of five runs, by chance on either side, as
when two programs run in turn. --runs takes fresh logs in their place: at least ten of one program with 20 passes.
The large pass is all passes of the upper half of the frame joined to one. Prints the table of docs/compare.md.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from test_compare_noise import FRAMES, PASSES, RUNS, joined, make_log, recorded  # noqa: E402

FIVE = 5


def white():
    """Passes of 0.05 to 2 ms: frames are independent, with 5 % of noise, and all runs have the same speed."""
    rand = random.Random(7)
    means = [50e3 * 40 ** (k / (PASSES - 1)) for k in range(PASSES)]
    return [[[int(mean * rand.lognormvariate(0, 0.05)) for _ in range(FRAMES)] for mean in means] for _ in range(RUNS)]


KINDS = {"white": white, **{kind: lambda kind=kind: recorded(kind) for kind in ("quiet", "moderate", "busy", "second")}}


def fresh(folder):
    """GPU times of the first 20 passes that are in every frame, of each log."""
    runs = []
    for path in sorted(pathlib.Path(folder).glob("*.jsonl")):
        series = {}
        for line in path.read_text().splitlines():
            record = json.loads(line)
            for one in record.get("passes", []) if record["type"] == "frame" else []:
                series.setdefault(one["id"], []).append(one.get("gpu_ns", 1))
        whole = [times[-FRAMES:] for times in series.values() if len(times) >= FRAMES]
        if len(whole) >= PASSES:
            runs.append(whole[:PASSES])
    return runs


class Judge:
    def __init__(self, folder):
        self.folder, self.n = pathlib.Path(folder), 0

    def write(self, run, **keywords):
        self.n += 1
        path = self.folder / f"{self.n}.jsonl"
        path.write_bytes(make_log(run, **keywords))
        return path

    def compare(self, base, new):
        done = subprocess.run([os.environ["PASSTALLY_COMMAND"], "compare", "--json", "--warmup", "0", "--fail-above",
                               "5%", *base, "--", *new], stdout=subprocess.PIPE, check=False)
        for path in (*base, *new):
            path.unlink()
        fails = {s["name"] for s in json.loads(done.stdout)["subjects"] for v in s["values"] if v.get("fails")}
        return done.returncode, fails


class Tally:
    """Counts what was found, and what was missed and called fine."""

    def __init__(self, judge):
        self.judge, self.found, self.wrong, self.fine, self.n = judge, 0, 0, 0, 0

    def add(self, base, new, slow=None):
        status, fails = self.judge.compare(base, new)
        self.n += 1
        self.found += f"pass {slow}" in fails
        self.wrong += bool(fails - {f"pass {slow}"}) and slow is None
        self.fine += status == 0 and slow is not None


def single(judge, runs, pairs, slow=None, factor=1.0, change=lambda run: run):
    tally = Tally(judge)
    for a, b in pairs:
        tally.add([judge.write(change(runs[a]))], [judge.write(change(runs[b]), slow=slow, factor=factor)], slow)
    return tally


def halves(judge, runs, rand, slow=None, factor=1.1):
    """Five runs a side; of ten runs or more whole ones, else halves."""
    if len(runs) >= 2 * FIVE:
        picked = rand.sample(range(len(runs)), 2 * FIVE)
        return ([judge.write(runs[i]) for i in picked[::2]],
                [judge.write(runs[i], slow=slow, factor=factor) for i in picked[1::2]])
    base, new = [], []
    for i in rand.sample(range(len(runs)), FIVE):
        first = rand.randrange(2)
        parts = range(FRAMES // 2), range(FRAMES // 2, FRAMES)
        base.append(judge.write(runs[i], frames=parts[first]))
        new.append(judge.write(runs[i], slow=slow, factor=factor, frames=parts[not first]))
    return base, new


def measure(judge, kind, runs, few):
    rand = random.Random(3)
    pairs = list(itertools.permutations(range(len(runs)), 2))
    rand.shuffle(pairs)
    pairs = pairs[:56 // few]
    equal = single(judge, runs, pairs)
    equal_few = single(judge, runs, pairs, change=joined)
    near = [(a, b) for a, b in pairs if abs(math.log(sum(map(sum, runs[a])) / sum(map(sum, runs[b])))) < 0.06]
    large = single(judge, runs, near, 0, 1.076, joined)
    five = Tally(judge)
    for _ in range(60 // few):
        five.add(*halves(judge, runs, rand))
    planted = Tally(judge)
    for trial in range(60 // few):
        planted.add(*halves(judge, runs, rand, trial % PASSES), trial % PASSES)
    print(f"| {kind} | {equal.wrong} of {equal.n} | {equal_few.wrong} of {equal_few.n} | {large.found} of {large.n} | "
          f"{five.wrong} of {five.n} | {planted.found} of {planted.n} | {planted.fine + large.fine} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--quick", action="store_true", help="a quarter of the pairs")
    parser.add_argument("--runs", metavar="FOLDER", help="fresh logs, in place of what was recorded")
    args = parser.parse_args()
    few = 4 if args.quick else 1
    print("| noise | alarms, equal single logs | the same as 5 passes | +7.6 % on over half the frame, single | "
          "alarms, five a side | +10 %, five a side | missed and called OK |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(folder)
        if args.runs:
            measure(judge, "fresh", fresh(args.runs), few)
        for kind in args.kinds or ([] if args.runs else KINDS):
            measure(judge, kind, KINDS[kind](), few)


if __name__ == "__main__":
    main()
