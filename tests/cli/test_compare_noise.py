#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally compare on recorded noise: how often it raises an alarm, and what it finds.

The files *_noise.xz are eight runs each, 300 frames of a program with 20 passes on llvmpipe, GPU times in
steps of 0.5 %: quiet (windows of long runs, at the calmest), moderate (two cores, load 4 to 12), busy (up
to 15 runnable processes), second (another program, with passes up to 12 ms, at a load of 4 to 15).
tests/bench/compare_power.py measures more of them than is tested here.
"""

import array
import itertools
import json
import lzma
import math
import pathlib
import random
import re
import sys
import unittest

from cli_case import CliCase, device, end, header, log_bytes, pass_info

RUNS, PASSES, FRAMES, STEP = 8, 20, 300, 0.005
TRIALS = 12
IDS = [f"{(0x9E3779B97F4A7C15 * (i + 1)) & 0xFFFFFFFFFFFFFFFF:016x}" for i in range(PASSES)]


def recorded(kind="busy"):
    """GPU times in ns: of each run, of each pass, of each frame."""
    raw = lzma.decompress((pathlib.Path(__file__).parent / f"{kind}_noise.xz").read_bytes())
    half = len(raw) // 2
    steps = array.array("h", bytes(byte for pair in zip(raw[:half], raw[half:]) for byte in pair))
    if sys.byteorder == "big":
        steps.byteswap()
    times = [int(1000 * math.exp(STEP * step)) for step in steps]
    return [[times[(run * PASSES + k) * FRAMES:][:FRAMES] for k in range(PASSES)] for run in range(RUNS)]


def joined(run, ends=(7, 9, 11, 14)):
    """The same frames as five passes (as many as `ends` and one), of which one is over half of the frame."""
    order = sorted(range(PASSES), key=lambda k: -sum(run[k]))
    parts = [order[begin:end] for begin, end in zip((0, *ends), (*ends, PASSES))]
    return [[sum(run[k][f] for k in part) for f in range(FRAMES)] for part in parts]


def make_log(run, slow=None, factor=1.0, every=1.0, frames=range(FRAMES)):
    """`slow`: the pass that takes `factor` as long; `every`: or all passes take that."""
    lines = [log_bytes([header(), device()]
                       + [pass_info(IDS[k], f"pass {k}", width=8, height=8) for k in range(len(run))])]
    for number, frame in enumerate(frames):
        times = [int(run[k][frame] * (factor if k == slow else 1) * every) for k in range(len(run))]
        parts = [f'{{"index":{k},"id":"{IDS[k]}","kind":"render","draws":1,"gpu_ns":{time}}}'
                 for k, time in enumerate(times)]
        total = sum(times)
        lines.append((f'{{"type":"frame","frame":{number},"device":0,"start_ns":{number * 16000000},"cpu_ns":{total},'
                      f'"gpu_ns":{total},"envelope_ns":{total},"coverage":1.0,"passes":[{",".join(parts)}],'
                      '"overhead_ns":9,"dropped_passes":0}\n').encode())
    return b"".join(lines + [log_bytes([end(len(frames), len(frames) * len(run))])])


class CompareNoise(CliCase):
    def setUp(self):
        super().setUp()
        self.runs = recorded()
        self.logs = [self.write(f"run{i}.jsonl", make_log(run)) for i, run in enumerate(self.runs)]
        self.rand = random.Random(15)

    def json(self, *args):
        done = self.command("compare", "--json", "--warmup", "0", *args)
        return done.returncode, json.loads(done.stdout)

    @staticmethod
    def changes(result):
        return {s["name"] for s in result["subjects"] for v in s["values"] if v["verdict"] in ("more", "less")}

    def test_equal_runs(self):
        """All 28 pairs of equal runs, whose frame times differ by up to 60 %: none fails."""
        alarms = [(a, b) for a, b in itertools.combinations(range(RUNS), 2)
                  if self.json("--fail-above", "5%", self.logs[a], self.logs[b])[0] == 1]
        print(f"alarms: {len(alarms)} of {RUNS * (RUNS - 1) // 2}: {alarms}", file=sys.stderr)
        self.assertLessEqual(len(alarms), 1, alarms)

    def test_equal_runs_of_two_passes(self):
        """Nothing tells the machine's speed from the program's: only a change beyond what eighths of a run differ by fails."""
        logs = [self.write(f"two{i}.jsonl", make_log(joined(run, (9,)))) for i, run in enumerate(recorded("quiet"))]
        alarms = [(a.name, b.name) for a, b in itertools.permutations(logs, 2) if self.json("--fail-above", "5%", a, b)[0] == 1]
        self.assertLessEqual(len(alarms), 2, alarms) # of 56; 10 where the error of the eighths' mean was taken

    def test_words_agree_with_intervals(self):
        """One of many values is above 0 by chance: no change is claimed, and its interval is not called one around 0."""
        rows = []
        for new in self.logs[1:]:
            text = self.command("compare", "--warmup", "0", "--all", self.logs[0], new).stdout.decode()
            rows += re.findall(r"([+-][\d.]+)% to ([+-][\d.]+)%\)? +(cannot tell|perhaps \w+|slower|faster)", text)
        self.assertGreater(len(rows), 40)
        for low, high, word in rows:
            side = (float(low) > 0) - (float(high) < 0)
            self.assertIn(word.rpartition(" ")[2], {0: ("tell",), 1: ("slower",), -1: ("faster",)}[side], (low, high))
        self.assertTrue(any(word.startswith("perhaps") for *_, word in rows))

    def test_junit_agrees_with_the_table(self):
        """The change is that of the means, and beside it the one that was judged."""
        new = self.write("new.jsonl", make_log(self.runs[1], 3, 2))
        report = self.folder / "report.xml"
        result = self.json("--fail-above", "5%", "--junit", report, self.logs[0], new)[1]
        values = {s["name"]: v for s in result["subjects"] for v in s["values"] if v["key"] == "gpu_ns"}
        said = re.findall(r'name="(pass \d+)"><\w+ message="([+-][\d.]+) %, against the other passes ([+-][\d.]+) %', report.read_text())
        self.assertTrue(said)
        for name, change, own in said:
            v = values[name]
            self.assertAlmostEqual(float(change), 100 * (v["new"]["mean"] / v["base"]["mean"] - 1), delta=0.01)
            self.assertAlmostEqual(float(own), v["against_others_pct"], delta=0.01)

    def planted(self, factor, trials):
        found, wrong = 0, []
        for trial in range(trials):
            a, b = self.rand.sample(range(RUNS), 2)
            slow = trial % PASSES
            new = self.write("new.jsonl", make_log(self.runs[b], slow, factor))
            status, result = self.json("--fail-above", "5%", self.logs[a], new)
            hit = any(s["name"] == f"pass {slow}" and v["key"] == "gpu_ns" and v["verdict"] == "more"
                      for s in result["subjects"] for v in s["values"])
            found += hit
            if not hit and status == 0:
                wrong.append((a, b, slow, result["conclusion"]))
        print(f"+{100 * factor - 100:.0f} %: found {found} of {trials}, "
              f"missed and called fine {wrong}", file=sys.stderr)
        return found, wrong

    def test_planted(self):
        """The error is found, or at least not reported as correct."""
        found, wrong = self.planted(1.1, 20)
        self.assertGreaterEqual(found, 3)
        self.assertEqual(wrong, [])
        found, _ = self.planted(1.4, 20)
        self.assertGreaterEqual(found, 12)

    def test_passes_that_move_together(self):
        """Passes of 0.3 ms or more under moderate load: one run a side fails no equal pair."""
        runs = recorded("moderate")
        large = [k for k in range(PASSES) if sorted(runs[0][k])[FRAMES // 2] >= 300e3]
        found, alarms = 0, 0
        for slow in large:
            a, b = self.rand.sample(range(RUNS), 2)
            base = self.write("base.jsonl", make_log(runs[a]))
            alarms += self.json("--fail-above", "5%", base, self.write("equal.jsonl", make_log(runs[b])))[0] == 1
            new = self.json("--keys", "gpu_ns", base, self.write("new.jsonl", make_log(runs[b], slow, 1.1)))[1]
            found += f"pass {slow}" in self.changes(new)
        print(f"moderate: found {found}, alarms {alarms} of {len(large)}", file=sys.stderr)
        self.assertGreaterEqual(found, len(large) // 3)
        self.assertLessEqual(alarms, 1)

    def test_large_pass(self):
        """Two quiet runs of five passes: +7.6 % on the one of over half the frame."""
        runs = [joined(run) for run in recorded("quiet")[:2]]
        base, equal = (self.write(f"{i}.jsonl", make_log(run)) for i, run in enumerate(runs))
        new = self.write("new.jsonl", make_log(runs[1], 0, 1.076))
        self.assertNotEqual(self.json("--fail-above", "5%", base, equal)[0], 1)
        status, result = self.json("--fail-above", "5%", base, new)
        self.assertEqual((status, result["conclusion"]), (1, "regression"))
        self.assertIn("pass 0", self.changes(result))

    def split(self, slow=None, factor=1.0):
        """Of each run one half on each side: eight logs a side."""
        halves = range(FRAMES // 2), range(FRAMES // 2, FRAMES)
        sides = [], []
        for i, run in enumerate(self.runs):
            first = self.rand.randrange(2)
            for side in (0, 1):
                log = make_log(run, slow if side else None, factor, frames=halves[first ^ side])
                sides[side].append(self.write(f"half{i}.{side}.jsonl", log))
        return self.json("--keys", "gpu_ns", "--fail-above", "5%", *sides[0], "--", *sides[1])

    def test_runs_against_the_other_passes(self):
        alarms = [self.changes(result) for _ in range(TRIALS) for result in [self.split()[1]]
                  if self.changes(result)]
        print(f"runs: alarms {alarms} of {TRIALS}", file=sys.stderr)
        found = 0
        for trial in range(TRIALS):
            slow = trial % PASSES
            status, result = self.split(slow, 1.1)
            values = {s["name"]: v for s in result["subjects"] for v in s["values"]}
            self.assertEqual({v["by"] for name, v in values.items() if name != "(not in a pass)"}, {"runs"})
            hit = values[f"pass {slow}"]["verdict"] == "more"
            found += hit
            if hit:
                self.assertTrue(values[f"pass {slow}"]["against_others"])
                self.assertTrue(2 < values[f"pass {slow}"]["against_others_pct"] < 20)
            else:
                self.assertNotEqual(status, 0)
        print(f"runs, +10 %: found {found} of {TRIALS}", file=sys.stderr)
        self.assertLessEqual(len(alarms), 1)
        self.assertGreaterEqual(found, 3 * TRIALS // 4) # 11 of 12 where it was recorded


if __name__ == "__main__":
    unittest.main()
