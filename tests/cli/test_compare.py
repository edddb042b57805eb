#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally compare: what it joins, what it calls a change, its formats and its exit status."""

import json
import os
import pty
import random
import re
import subprocess
import unittest

from cli_case import A, B, C, COMMAND, CliCase, device, end, frame, header, log_bytes, one_pass, pass_info

PASSES = 30
IDS = [f"{(0x9E3779B97F4A7C15 * (i + 1)) & 0xFFFFFFFFFFFFFFFF:016x}" for i in range(PASSES)]


def noisy_log(seed, frames=300, slower=None, phi=0.0, noise=0.05, drift=0.0, spikes=0.0, passes=PASSES):
    """Bytes of a log of `passes` passes; `slower` maps a pass's number to a factor."""
    rng = random.Random(seed)
    slower = slower or {}
    out = [log_bytes([header(), device()]
                     + [pass_info(IDS[i], f"pass {i}", width=8, height=8) for i in range(passes)])]
    level = [rng.gauss(0, 1) for _ in range(passes)]
    rise = [drift * rng.gauss(0, 1) for _ in range(passes)]
    mean = [50000 * 1.1**i * slower.get(i, 1) for i in range(passes)]
    fresh = (1 - phi * phi) ** 0.5
    for f in range(frames):
        parts, total = [], 0
        for i in range(passes):
            level[i] = phi * level[i] + fresh * rng.gauss(0, 1)
            time = mean[i] * (1 + noise * level[i] + rise[i] * (f / frames - 0.5))
            if spikes and rng.random() < spikes:
                time *= rng.uniform(3, 10)
            total += int(time)
            parts.append(f'{{"index":{i},"id":"{IDS[i]}","kind":"render","draws":1,"gpu_ns":{int(time)}}}')
        out.append((f'{{"type":"frame","frame":{f},"device":0,"start_ns":{f * 16000000},"cpu_ns":'
                    f'{int(16e6 * (1 + 0.02 * rng.gauss(0, 1)))},"gpu_ns":{total},"envelope_ns":{total},'
                    f'"coverage":1.0,"passes":[{",".join(parts)}],"overhead_ns":9,"dropped_passes":0}}\n').encode())
    out.append(log_bytes([end(frames, frames * passes)]))
    return b"".join(out)


def times_log(times, ident=A, label="main", more=(), device_more=None, header_more=None, **pass_more):
    """A log of one pass with these GPU times."""
    lines = [header(**(header_more or {})), device(**(device_more or {})), pass_info(ident, label, width=8, height=8)]
    lines += [pass_info(i, name, width=8, height=8) for i, name in more]
    for number, time in enumerate(times):
        passes = [one_pass(0, ident, time, label, **{k: v(number) for k, v in pass_more.items()})]
        passes += [one_pass(k + 1, i, 100, name) for k, (i, name) in enumerate(more)]
        lines.append(frame(number, passes))
    return lines + [end(len(times), len(times) * (1 + len(more)))]


def wobble(mean, n=100, seed=1, size=0.01):
    rng = random.Random(seed)
    return [int(mean * (1 + size * rng.gauss(0, 1))) for _ in range(n)]


def noisy_pace(seed, n=200):
    """Frames of which a few are hitches."""
    noise, lines, start = random.Random(seed), [header(), device(), pass_info(A, "main")], 0
    for i in range(n):
        cpu = 10**7 + noise.randrange(10**5) + (6 * 10**7 if noise.random() < 0.03 else 0)
        lines.append(frame(i, [one_pass(0, A, 10**6 + noise.randrange(10**4))], start_ns=start, cpu_ns=cpu))
        start += cpu
    return lines + [end(n, n)]


class Compare(CliCase):
    def json(self, *args, status=0, **kwargs):
        done = self.command("compare", "--json", *args, **kwargs)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return json.loads(done.stdout)

    def test_a_name_is_that_of_report(self):
        """Of the new log's report; with the start of the id where another log names the pass otherwise."""
        a, b = "1" * 16, "2" * 16
        infos = [pass_info(i, None, width=8, height=8, color=["RGBA8"]) for i in (a, b)]
        logs = []
        for early in ([], [frame(0, [one_pass(0, b, 5)])]):
            lines = [header(), device(), *infos, *early, *(frame(n, [one_pass(0, a, 1000)]) for n in range(1, 20))]
            logs.append(self.write_log(f"{len(early)}.jsonl", [*lines, end(19 + len(early), 19 + len(early))]))
        names = {s.get("id"): s["name"] for s in self.json("--warmup", "0", *logs)["subjects"] if s["what"] == "pass"}
        self.assertEqual(names, {a: f"Color 8x8 RGBA8 #2 [{a[:8]}]", b: "Color 8x8 RGBA8"})
        for log, name in zip(logs, ("Color 8x8 RGBA8", "Color 8x8 RGBA8 #2")):
            rows = json.loads(self.ok("report", "--json", "--warmup", "0", "--pass", a[:8], log).stdout)["reports"][0]["rows"]
            self.assertEqual([r["name"] for r in rows], [name])
        names = {s.get("id"): s["name"] for s in self.json("--warmup", "0", *logs[::-1])["subjects"] if s["what"] == "pass"}
        self.assertEqual(names, {a: f"Color 8x8 RGBA8 [{a[:8]}]", b: f"Color 8x8 RGBA8 [{b[:8]}]"})

    def value(self, result, name, key="gpu_ns"):
        for subject in result["subjects"]:
            if subject["name"] == name:
                for value in subject["values"]:
                    if value["key"] == key:
                        return value
        self.fail(f"no {key} of {name}")
        return None

    def inconclusive(self, *args):
        done = self.command("compare", *args)
        self.assertEqual(done.returncode, 4, done.stderr.decode())
        return done.stdout.decode()

    def changes(self, result):
        return {(s["name"], v["key"]) for s in result["subjects"] for v in s["values"]
                if v["verdict"] in ("more", "less")}

    # What a comparison must show

    def test_finds_four_percent(self):
        missed = []
        for phi in (0.0, 0.3):
            for seed in range(3):
                a = self.write("a.jsonl", noisy_log(f"a{phi}{seed}", phi=phi))
                b = self.write("b.jsonl", noisy_log(f"b{phi}{seed}", phi=phi, slower={7: 1.04}))
                done = self.command("compare", "--json", "--fail-above", "1.5%", a, b)
                result = json.loads(done.stdout)
                if not self.changes(result):
                    self.assertEqual((done.returncode, result["conclusion"]), (4, "inconclusive"))
                    missed.append((phi, seed))
                    continue
                # One run a side shows the change of these two; a pass of 3 % of the frame fails no gate by it.
                self.assertEqual((done.returncode, result["conclusion"]), (4, "inconclusive"))
                self.assertEqual(self.changes(result), {("pass 7", "gpu_ns")})
                found = self.value(result, "pass 7")
                self.assertEqual((found["verdict"], found["fails"], found["by"]), ("more", False, "frames"))
                self.assertLess(found["p_holm"], 0.01)
                self.assertLess(found["low_pct"], 4)
                self.assertGreater(found["high_pct"], 4)
                self.assertEqual(result["failed"], 0)
        self.assertLessEqual(len(missed), 2, missed)

    def test_not_the_same_program(self):
        sides = []
        for name in ("one", "two"):
            text = noisy_log(name)
            text = text.replace(b'"program":"/usr/games/demo"', f'"program":"/usr/games/{name}"'.encode())
            if name == "two":
                text = re.sub(rb'"id":"([0-9a-f]{16})"', lambda found: b'"id":"' + found[1][::-1] + b'"', text)
            sides.append(self.write(f"{name}.jsonl", text))
        done = self.command("compare", *sides)
        self.assertEqual(done.returncode, 5, done.stdout)
        self.assertIn(b"NOT COMPARED: not the same program (program: one in base, two in new)", done.stderr)
        self.assertEqual(self.command("compare", "--allow", "program", *sides).returncode, 0)

    def test_advice(self):
        logs = [self.write(f"{i}.jsonl", noisy_log(f"advice {i}", spikes=0.1).replace(b'"options":{', b'"options":{"frames":"30",').replace(b',}', b'}'))
                for i in range(2)]
        done = self.command("compare", "--fail-above", "0.5%", *logs)
        self.assertEqual(done.returncode, 4)
        lines = done.stdout.decode().splitlines()
        self.assertRegex(lines[-2], r"^to decide that: passtally bench -n 20 --frames 30 --fail-above [0-9.]+% -- \S+.* --vs \S+")
        self.assertRegex(lines[-3], r"^a limit of 0.5 % is out of reach here; [0-9.]+ % is not, with 20 runs of each$")

        # Runs that differ by times their length: no command would decide anything.
        logs = [self.write_log(f"wild {i}.jsonl", times_log(wobble(1e6 * 3 ** (i % 3), seed=i))) for i in range(10)]
        text = self.command("compare", "--fail-above", "5%", *logs[:5], "--", *logs[5:]).stdout.decode()
        self.assertIn("no limit is within reach here, not even with 20 runs of each", text)
        self.assertNotIn("to decide", text)

    def test_a_run_that_changed(self):
        """A program that became slower in the middle of its run is no busy machine."""
        def run(name, step):
            lines = [header(argv=["x"]), device(), pass_info(A, "sky"), pass_info(B, "ground")]
            for i in range(200):
                draws = 9 if i >= step else 1
                gpu = 10**6 + i * 7919 % 40_000
                lines.append(frame(i, [one_pass(0, A, gpu * draws, "sky", draws=draws), one_pass(1, B, gpu, "ground")],
                                   start_ns=i * 10**8, cpu_ns=gpu * (draws + 1), gpu_ns=gpu * (draws + 1)))
            return self.write_log(name, lines + [end(200, 400)])

        base, stepped = run("a.jsonl", 999), run("b.jsonl", 100)
        text = self.command("compare", "--fail-above", "5%", base, stepped).stdout.decode()
        self.assertTrue(text.startswith("INCONCLUSIVE"), text)
        change = "from frame 100 on 5.0 times slower: 2.04 -> 10.2 ms; sky 1.02 -> 9.18 ms, 1 -> 9 draws"
        self.assertIn(f"\ndiffers: speed within the run: steady in base, {change} in new\n", text)
        self.assertNotIn("within reach", text)
        self.assertNotIn("to decide it", text)
        self.assertIn("what came after it is compared by --warmup 100\n", text)
        told = json.loads(self.command("compare", "--json", base, stepped).stdout)
        self.assertIn({"what": "speed within the run", "base": "steady", "new": change}, told["not_the_same"])
        self.assertNotIn("within the run", self.ok("compare", "--warmup", "100", base, stepped).stdout.decode())
        many = [run(f"{i}.jsonl", 100 if i > 5 else 999) for i in range(1, 11)]
        text = self.ok("compare", *many[:5], "--", *many[5:]).stdout.decode()
        self.assertIn("\ndiffers: speed within the run: steady in base, changes in new\n", text)

    def test_equal_runs_are_quiet(self):
        """50 pairs of equal runs, of all kinds of noise: at most 3 alarms at 1 %."""
        kinds = [{}, {"phi": 0.3}, {"phi": 0.6}, {"phi": 0.3, "drift": 0.04}, {"phi": 0.3, "spikes": 0.01}]
        alarms = []
        for pair in range(50):
            kind = kinds[pair % len(kinds)]
            frames = 300 if pair % 2 else 240
            a = self.write("a.jsonl", noisy_log(f"equal a {pair}", **kind))
            b = self.write("b.jsonl", noisy_log(f"equal b {pair}", frames=frames, **kind))
            result = self.json(a, b)
            self.assertEqual(result["tested"], PASSES + 2)
            if self.changes(result):
                alarms.append((pair, self.changes(result)))
        self.assertLessEqual(len(alarms), 3, alarms)

    def test_same_input_same_output(self):
        a = self.write("a.jsonl", noisy_log("x", frames=50))
        b = self.write("b.jsonl", noisy_log("y", frames=70))
        outputs = {self.ok("compare", "--json", a, b).stdout for _ in range(3)}
        self.assertEqual(len(outputs), 1)
        result = self.json(a, a)
        self.assertEqual(self.changes(result), set())
        self.assertTrue(all(v["difference"] == 0 for s in result["subjects"] for v in s["values"]))

    # Runs as units

    def test_runs(self):
        def side(name, means):
            return [self.write_log(f"{name}{i}.jsonl", times_log(wobble(mean, 40, f"{name}{i}")))
                    for i, mean in enumerate(means)]
        # Runs differ by 5 % among themselves: frames alone would indicate a change.
        a = side("a", [1000000, 1050000, 980000, 1030000, 955000])
        b = side("b", [1040000, 990000, 1060000, 975000, 1020000])
        result = self.json(*a, "--", *b)
        value = self.value(result, "main")
        self.assertEqual((value["by"], value["verdict"]), ("runs", "cannot-tell"))
        self.assertEqual(value["base"]["n"], 200)
        one = self.value(self.json(a[0], b[0]), "main")
        self.assertEqual((one["by"], one["verdict"]), ("frames", "more"))
        c = side("c", [1300000, 1350000, 1280000, 1330000, 1255000])
        self.assertEqual(self.value(self.json(*a, "--", *c), "main")["verdict"], "more")
        # Four a side: frames again, of all of them.
        four = self.value(self.json(*a[:4], "--", *c[:4]), "main")
        self.assertEqual((four["by"], four["base"]["n"]), ("frames", 160))
        self.assertIn(b"five logs a side", self.ok("compare", *a[:4], "--", *c[:4]).stdout)

    def test_a_machine_of_another_speed(self):
        """What all passes have in common is the machine's. A pass that grew, but by less, did not get faster: it
        cannot be told; a change is the one of the means beside it; one that is certain and small is the same."""
        def log(name, seed, factors, size=0.01, together=False):
            ids = [f"{k + 1:016x}" for k in range(len(factors))]
            walks = [wobble(10**6 * factor, 300, seed + k, size) for k, factor in enumerate(factors)]
            lines = [header(), device(), *(pass_info(ident, f"p{k}") for k, ident in enumerate(ids))]
            for i in range(300):
                passes = [one_pass(k, ident, times[i], f"p{k}") for k, (ident, times) in enumerate(zip(ids, walks))]
                shared = {"unattributed": {"gpu_ns": passes[-1].pop("gpu_ns")}, "coverage": 0.5} if together else {}
                if together:
                    passes[-1]["flags"] = ["shared_time"]
                lines.append(frame(i, passes, gpu_ns=sum(times[i] for times in walks), envelope_ns=sum(times[i] for times in walks), **shared))
            return self.write_log(name, [*lines, end(300, 300 * len(ids))])
        base = log("base", 1, [1] * 6)
        result = self.json(base, log("slower", 10, [1.3] * 5 + [1.15]))
        found = self.value(result, "p5")
        self.assertEqual(found["verdict"], "cannot-tell")
        self.assertGreater(found["difference_pct"], 10)
        self.assertLess(found["low_pct"], -5)
        self.assertGreater(found["high_pct"], 10)
        # So different a machine is none.
        self.assertEqual(self.value(self.json(base, log("twice", 20, [2] * 5 + [2.6])), "p5")["verdict"], "cannot-tell")
        noisy = [log("noisy", 30, [1] * 6, 0.2), log("one", 40, [1.05] * 5 + [2.1], 0.2)]
        text = self.ok("compare", *noisy).stdout.decode()
        self.assertRegex(text, r"^SLOWER: p5 \+1[01]\d%, against the other passes \+\d[\d.]+% \(99 %: \+\d")
        self.assertRegex(text, r"(?m)^p5 +[0-9.]+ +[0-9.]+ +\+1[01]\d% +\+[\d.]+%\* \(\+.*\)  slower$")
        drawn = [log("noisy", 30, [1] * 6, 0.2, True), log("one", 40, [1.05] * 5 + [2.1], 0.2, True)]
        self.assertEqual(self.ok("compare", *drawn).stdout.decode().splitlines()[0].replace("(passes drawn together)", "p5"), text.splitlines()[0])
        # Nor did one of which the mean itself is not sure.
        found = self.value(self.json(log("quick", 61, [1] * 6, 0.2), log("slow", 81, [1.3] * 5 + [1.12], 0.2)), "p5")
        self.assertEqual((found["verdict"], found["difference_pct"] > 5), ("cannot-tell", True))
        found = self.value(self.json(base, log("little", 50, [1] * 5 + [1.015])), "p5")
        self.assertEqual((found["verdict"], found["p"] < 1e-3), ("same", True))

    def test_sides(self):
        slow = self.write_log("slow.jsonl", times_log(wobble(1100000, seed=2)))
        base = self.write_log("base.jsonl", times_log(wobble(1000000)))
        more = self.write_log("more.jsonl", times_log(wobble(1000000, seed=3)))
        for args in ((base, slow), (base, "--", slow), ("--", base, slow), (base, more, "--", slow)):
            self.assertEqual(self.value(self.json(*args), "main")["verdict"], "more", args)
        done = self.ok("compare", "-", slow, input=base.read_bytes())
        self.assertIn(b"slower", done.stdout)
        for args, words in (((base,), "two logs"), ((), "no log is named"), ((base, slow, more), "which of the 3")):
            done = self.command("compare", *args)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr.decode())

    # Verdicts

    def test_gate(self):
        a = self.write_log("a.jsonl", times_log(wobble(1000000), counters=lambda i: {"samples_passed": 70 + i % 3}))
        b = self.write_log("b.jsonl", times_log(wobble(1060000, seed=2),
                                                counters=lambda i: {"samples_passed": 90 + i % 3}))
        self.assertEqual(self.json(a, b)["failed"], 0)
        self.assertEqual(self.json("--fail-above", "5%", a, b, status=1)["failed"], 2)  # the pass and the frame
        self.assertEqual(self.json("--fail-above=7", a, b)["failed"], 0)
        self.assertEqual(self.json("--fail-above", "5%", b, a)["failed"], 0)
        result = self.json("--fail-above", "10%", "--gate", "samples_passed", a, b, status=1)
        self.assertEqual(result["failed"], 2)
        self.assertTrue(self.value(result, "main", "samples_passed")["fails"])
        self.json("--fail-above", "10%", "--gate", "samples_passed:less", a, b)
        self.json("--fail-above", "10%", "--gate", "samples_passed:less", b, a, status=1)
        done = self.command("compare", "--gate", "sample_passed", a, b)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no log has a value of that key", done.stderr.decode())
        text = self.command("compare", "--fail-above", "5%", a, b).stdout.decode()
        self.assertIn("slower FAILS", text)
        self.assertIn("2 regressions above 5 %", text)
        self.assertRegex(text, r"main +samples_passed +71\.0 +91\.0 +\+28")

    # Frame times besides their mean

    @staticmethod
    def paced(seed, frames, stutter=0, mean=16.7e6):
        """A log whose frames take `mean` ns on average; each 60th takes `stutter` ns longer."""
        rng = random.Random(seed)
        lines = [header(), device(), pass_info(A, "main", width=8, height=8)]
        for number in range(frames):
            late = stutter if number % 60 == 59 else 0
            time = mean * (1 + 0.02 * rng.gauss(0, 1)) - stutter / 60 + late
            lines.append(frame(number, [one_pass(0, A, 3000000 + rng.randrange(50000), "main")],
                               cpu_ns=int(time)))
        return lines + [end(frames, frames)]

    def test_stutters_with_equal_means(self):
        gates = ("--warmup", "0", "--fail-above", "5%", "--gate", "p99", "--gate", "hitches")
        base = self.write_log("base.jsonl", self.paced("base", 3000))
        new = self.write_log("new.jsonl", self.paced("new", 3000, 20e6))
        self.json(*gates[:4], base, new) # the mean does not show it
        result = self.json(*gates, base, new, status=1)
        p99, hitches = (self.value(result, "frame", key) for key in ("p99", "hitches"))
        for value in (p99, hitches):
            self.assertEqual((value["verdict"], value["fails"]), ("more", True), value)
            self.assertGreater(value["low"], 0)
        self.assertTrue(15e6 < p99["difference"] < 25e6, p99)
        self.assertTrue(p99["low"] <= p99["difference"] <= p99["high"], p99)
        self.assertAlmostEqual(hitches["new"]["mean"], 1000 / 60, delta=0.5)
        self.assertEqual(hitches["base"]["mean"], 0)
        self.assertEqual(self.changes(result), {("frame", "p99"), ("frame", "hitches")})
        self.assertEqual(self.json(*gates, new, base)["conclusion"], "no-regression")
        text = self.command("compare", *gates, base, new).stdout.decode()
        self.assertRegex(text, r"frame, p99 .*slower FAILS")
        self.assertRegex(text, r"hitches \[per 1000 frames\] .*more FAILS")
        # A quarter of the frames: hitches are found, of p99 there are too few frames either way.
        base, new = (self.write_log(name, self.paced(name, 720, stutter))
                     for name, stutter in (("short base.jsonl", 0), ("short new.jsonl", 20e6)))
        result = self.json("--fail-above", "5%", "--warmup", "0", "--gate", "hitches", base, new, status=1)
        self.assertEqual(self.changes(result), {("frame", "hitches")})

    def test_pace_in_runs(self):
        gates = ("--warmup", "0", "--fail-above", "5%", "--gate", "p99", "--gate", "hitches")
        base, same, new = ([self.write_log(f"{name}{i}.jsonl", self.paced(f"{name}{i}", 240, stutter))
                            for i in range(6)] for name, stutter in (("base", 0), ("same", 0), ("new", 20e6)))
        result = self.json(*gates, *base, "--", *same)
        self.assertEqual(result["conclusion"], "no-regression")
        self.assertEqual(self.value(result, "frame", "p99")["by"], "runs")
        self.assertEqual(self.value(result, "frame", "hitches")["verdict"], "equal")
        result = self.json(*gates, *base, "--", *new, status=1)
        self.assertEqual(self.changes(result), {("frame", "p99"), ("frame", "hitches")})

    def test_pace_is_not_guessed(self):
        def gate(key, base, new, status):
            logs = [self.write_log(f"{key} {i}.jsonl", lines) for i, lines in enumerate((base, new))]
            return self.value(self.json("--warmup", "0", "--fail-above", "5%", "--gate", key, *logs, status=status),
                              "frame", key)
        # In 300 frames the slowest may be below the p99, and a hitch in 100 frames may be in none of them.
        short = [self.paced(f"few {i}", 300) for i in range(2)]
        for key in ("p99", "hitches"):
            self.assertEqual(gate(key, *short, 4)["verdict"], "too-few")
        # Five hitches against none are no proof of a change, but the result is not "fine" either.
        found = gate("hitches", short[0], self.paced("x", 300, 20e6), 4)
        self.assertEqual((found["verdict"], found["new"]["n"]), ("cannot-tell", 300))
        self.assertGreater(found["p"], 0.01)
        # An option that was not given adds nothing.
        logs = [self.write_log(f"{i}.jsonl", lines) for i, lines in enumerate(short)]
        self.assertNotIn("p99", json.dumps(self.json(*logs)))

    def test_pace_of_equal_runs(self):
        """40 equal pairs with stutters on both sides: at most one alarm at 1 %."""
        alarms = []
        for pair in range(40):
            logs = [self.write_log(f"{side}.jsonl", self.paced(f"{side} {pair}", 900, 20e6 * (pair % 2)))
                    for side in "ab"]
            result = self.json("--warmup", "0", "--gate", "p99", "--gate", "hitches", *logs)
            alarms += [pair] if self.changes(result) else []
        self.assertLessEqual(len(alarms), 1, alarms)

    def test_too_noisy_is_said(self):
        a = self.write_log("a.jsonl", times_log(wobble(1000000, 20, 1, 0.2)))
        b = self.write_log("b.jsonl", times_log(wobble(1000000, 20, 2, 0.2)))
        result = self.json("--fail-above", "2%", a, b, status=4)
        self.assertTrue(self.value(result, "main")["too_noisy"])
        self.assertEqual(result["conclusion"], "inconclusive")
        done = self.command("compare", "--fail-above", "2%", a, b)
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"worse and would not be seen", done.stdout)
        self.assertRegex(done.stdout.decode().splitlines()[-1], r"^INCONCLUSIVE: 2 changes cannot be told from noise, the largest .*%")
        self.assertRegex(done.stdout.decode(), r"main .* cannot tell \(\S+ %\)")

    def test_no_time_falls_by_more_than_all_of_it(self):
        noisy = ([1000 if i % 10 else 2000000 for i in range(n, n + 40)] for n in (0, 5))
        a, b = (self.write_log(f"{name}.jsonl", times_log(times)) for name, times in zip("ab", noisy))
        value = self.value(self.json(a, b), "main")
        self.assertGreater(value["high"], value["base"]["mean"])
        self.assertGreaterEqual(value["low"], -value["base"]["mean"])

    def test_too_few(self):
        a = self.write_log("a.jsonl", times_log([1000, 1001, 1002]))
        b = self.write_log("b.jsonl", times_log([2000, 2001]))
        value = self.value(self.json("--fail-above", "1%", a, b, status=4), "main")
        self.assertEqual((value["verdict"], value["difference"]), ("too-few", 999.5))
        self.assertNotIn("p", value)
        self.assertIn(b"too few to judge", self.ok("compare", a, b).stdout)

    def test_a_gate_tells_what_it_could_not_judge(self):
        a = self.write_log("a.jsonl", times_log([1000]))
        b = self.write_log("b.jsonl", times_log([2000]))
        self.assertEqual(self.json("--fail-above", "5%", a, b, status=4)["too_few"], 2) # the pass, the frame; its cpu_ns is constant
        self.assertNotIn("too_few", self.json(a, b))
        for style in ((), ("--markdown",)):
            text = self.inconclusive("--fail-above", "5%", *style, a, b)
            self.assertIn("2 gated values are known in too few frames to judge, as frame, GPU: record 8 frames a side or more", text)
        text = self.inconclusive("--fail-above", "5%", "--gate", "p99", "--gate", "hitches", *(self.write_log(f"{k}.jsonl", noisy_pace(k)) for k in (1, 2)))
        self.assertIn("1 gated value is known in too few frames to judge, as frame, p99: record 528 frames a side or more", text)
        self.assertNotRegex(text, r"-1[0-9][1-9]\.?[0-9]*% to")
        self.assertNotIn("too few frames to judge", self.inconclusive("--fail-above", "5%", a, a, "--keys", "draws"))

    def test_units_that_differ_are_not_compared(self):
        def side(name, unit, offset):
            counter = {"key": "bus", "name": "Bus", "kind": "event", "source": "s", "scope": "pass", **unit}
            return self.write_log(name, times_log(wobble(1000, 30, offset), counters=lambda n: {"bus": n % 7 + offset},
                                                  device_more={"counters": [counter]}))
        beats, octets, none = side("a", {"unit": "beats"}, 1), side("b", {"unit": "bytes"}, 16), side("c", {}, 16)
        result = self.json(beats, octets)
        values = [v for s in result["subjects"] if s["name"] == "main" for v in s["values"] if v["key"] == "bus"]
        self.assertEqual([(v["unit"], v["verdict"], "base" in v, "new" in v) for v in values],
                         [("beats", "one-side", True, False), ("bytes", "one-side", False, True)])
        self.assertIn("measured on one side only: 4 values, as bus of frame in base (--all", self.ok("compare", beats, octets).stdout.decode())
        self.assertNotEqual(self.value(self.json(none, none), "main", "bus")["verdict"], "one-side")

    def test_what_one_side_did_not_measure_is_said(self):
        def side(name, seed, times, **more):
            return self.write_log(name, times_log(times, more=[(B, "other"), (C, "third")], **more))
        a = side("a", 1, wobble(1000, 30, 1), counters=lambda n: {"old": n})
        b = side("b", 2, [None] * 30, counters=lambda n: {"new": n})
        for style in ((), ("--markdown",)):
            text = self.inconclusive("--fail-above", "5%", *style, a, b)
            self.assertIn("measured on one side only", text)
            self.assertIn("3 values, as gpu_ns of main in base (--all)", text)
        self.assertRegex(self.ok("compare", "--all", a, b).stdout.decode(), r"(?m)^main +new .* only in new$")
        self.assertNotIn("one side only", self.ok("compare", a, a).stdout.decode())

    def test_exact_values(self):
        a = self.write_log("a.jsonl", times_log(wobble(1000000), draws=lambda i: 3))
        b = self.write_log("b.jsonl", times_log(wobble(1000000, seed=2), draws=lambda i: 4))
        result = self.json(a, b)
        draws = self.value(result, "main", "draws")
        self.assertEqual((draws["verdict"], draws["p"], draws["low"], draws["high"]), ("more", 0, 1, 1))
        self.assertEqual(self.value(result, "main", "vertices")["verdict"], "equal")
        self.assertEqual(self.value(result, "frame", "draws")["verdict"], "more")

    def test_the_pass_that_makes_a_frame_slower(self):
        """A pass that one side lacks is named beside the frame's change where it makes at least half of it."""
        def log(name, fog_ns, every=1):
            lines = [header(), device(), pass_info(A, "main"), pass_info(B, "Fog")]
            for i in range(64):
                fog = [one_pass(1, B, fog_ns + i % 7)] if fog_ns and i % every == 0 else []
                lines.append(frame(i, [one_pass(0, A, 4 * 10**6 + i * 7919 % 4000), *fog], start_ns=i * 10**8,
                                   cpu_ns=5 * 10**6 + i * 7919 % 4000 + sum(p["gpu_ns"] for p in fog)))
            return self.write_log(name, [*lines, end(64, 128)])
        base, fog, seldom = log("base", 0), log("fog", 10**6), log("seldom", 4 * 10**6, every=4)
        for new, said in ((fog, "1.000"), (seldom, "1.000")):
            self.assertIn(f"): Fog is new, {said} ms a frame\n", self.ok("compare", base, new).stdout.decode())
        self.assertRegex(self.ok("compare", fog, base).stdout.decode(),
                         r"^FASTER: .*\): Fog is gone, 1\.000 ms a frame\n")
        # Another in its place: neither of them is what changed.
        mist = self.write("mist", log("mist", 10**6 + 10**4).read_bytes().replace(B.encode(), C.encode()))
        self.assertNotIn(" is new, ", self.ok("compare", fog, mist).stdout.decode())

    def test_a_pass_of_another_name_or_size(self):
        """Passes that are the same but for the label, or but for the size; never others."""
        bloom = {"label": "Bloom", "width": 480, "height": 270, "color": ["RGBA16F"], "samples": 1, "kind": "render",
                 "draws": 4, "at": 1, "every": 1, "id": B}
        large = {"width": 960, "height": 540}
        def log(name, passes):
            infos, lines = [(A, "main", {}), (C, "post", {})], []
            for p in passes:
                target = {k: p[k] for k in ("width", "height", "color", "samples")}
                infos.append((p["id"], p["label"], {"kind": p["kind"], **target}))
            for i in range(64):
                row = [(0, A, 10**6, "main", {}), (2, C, 5 * 10**5, "post", {})]
                row += [(p["at"], p["id"], p.get("ns", 350000), p["label"], {"kind": p["kind"], "draws": p["draws"]})
                        for p in passes if i % p["every"] == 0]
                row = [one_pass(k, ident, ns + i * 7919 % 4000, label, **more)
                       for k, (_, ident, ns, label, more) in enumerate(sorted(row, key=lambda r: r[0]))]
                lines.append(frame(i, row, start_ns=i * 10**8, cpu_ns=2 * 10**5 + sum(p["gpu_ns"] for p in row)))
            return self.write_log(name, [header(), device(), *(pass_info(i, n, **m) for i, n, m in infos), *lines, end(64, 192)])
        unlabeled, small = {"label": None}, {"width": 240, "height": 135, "id": "e" * 16}
        renamed, there = {"label": "Post/Bloom pass"}, {**small, "label": "Other", "ns": 1000}
        for what, base, new, name in (
                ("resized", [{}], [large], "Bloom 480x270 -> 960x540"),
                ("as many draws", [{}], [{**large, "draws": 5}], "Bloom 480x270 -> 960x540"),
                ("renamed", [{}], [renamed], "Bloom -> Post/Bloom pass"),
                ("the outer name", [{"label": "Effects/Bloom"}], [{"label": "Post/bloom"}], "Effects/Bloom -> Post/bloom"),
                ("labeled", [unlabeled], [{}], "Color 480x270 RGBA16F -> Bloom"),
                ("resized, unlabeled", [unlabeled], [{**unlabeled, **large}], "Color 480x270 RGBA16F -> Color 960x540 RGBA16F"),
                ("beside one that both have", [{}, there], [large, there], "Bloom 480x270 -> 960x540"),
                ("nothing differs", [{}], [{}], None),
                ("another in its place", [{}], [{"label": "Tonemap"}], None),
                ("both differ", [{}], [{**large, **renamed}], None),
                ("another format", [{}], [{**large, "color": ["RGBA8"]}], None),
                ("other samples", [{}], [{**large, "samples": 4}], None),
                ("another kind", [{}], [{**large, "kind": "compute"}], None),
                ("other work", [{}], [{**large, "draws": 8}], None),
                ("another place", [{}], [{**large, "at": 3}], None),
                ("in few frames", [{}], [{**large, "every": 8}], None),
                ("two of them are new", [{}], [large, small], None),
                ("two of them are gone", [{}, small], [large], None)):
            with self.subTest(what):
                sides = [log(f"{what} {k}", [{**bloom, "id": B if k == 0 else "d" * 16, "ns": 350000 * 4**k, **p} for p in passes])
                         for k, passes in enumerate((base, new))]
                passes = {s["name"]: s for s in self.json(*sides)["subjects"] if s["what"] == "pass" and s["name"] not in ("main", "post", "Other")}
                self.assertEqual([n for n, s in passes.items() if s["frames"]["base"] and s["frames"]["new"]], [name] if name else [])
                if not name:
                    self.assertNotIn(" -> ", self.ok("compare", *sides).stdout.decode())
                    continue
                self.assertEqual((passes[name]["id"], passes[name]["base_id"]), ("d" * 16, B))
                text = self.ok("compare", *sides).stdout.decode()
                self.assertRegex(text, r"^SLOWER: frame time \+5[01]\.\d% \(99 %: .*\): " + re.escape(name) + r", 0\.35\d -> 1\.40\d ms\n")
                self.assertRegex(text, "(?m)^" + re.escape(name) + r" +0\.35\d +1\.40\d +\+29\d% .* slower$")
                self.assertNotIn("Passes that are", text)

    def test_appeared_and_vanished(self):
        a = self.write_log("a.jsonl", times_log(wobble(1000000), more=[(B, "old")]))
        b = self.write_log("b.jsonl", times_log(wobble(1000000, seed=2), more=[(C, "fresh")]))
        text = self.ok("compare", a, b).stdout.decode()
        self.assertIn("The intervals are of these runs: others", " ".join(text.split()))
        self.assertRegex(text, r"Passes that are new\n  fresh: GPU time 0\.1 \S+, in 100 frames\n")
        self.assertRegex(text, r"Passes that are gone\n  old: GPU time 0\.1 \S+, in 100 frames\n")
        self.assertEqual(self.value(self.json(a, b), "fresh")["verdict"], "one-side")

    def test_another_share_of_frames(self):
        def lines(every):
            out = [header(), device(), pass_info(A, "main"), pass_info(B, "shadow")]
            for i, time in enumerate(wobble(1000, 60)):
                passes = [one_pass(0, A, time, "main")]
                if i % every == 0:
                    passes.append(one_pass(1, B, 50, "shadow"))
                out.append(frame(i, passes))
            return out
        text = self.ok("compare", self.write_log("a.jsonl", lines(1)), self.write_log("b.jsonl", lines(4))).stdout
        self.assertIn(b"shadow: 100 % of frames in base, 25 % in new", text)

    def test_estimates_and_ratios(self):
        ratio = [{"key": "load", "name": "Load", "unit": "percent", "kind": "ratio", "source": "gl-intel",
                  "scope": "pass", "description": "Load."}]
        logs = [self.write_log(f"{k}.jsonl", times_log(
            wobble(1000000, seed=k), device_more={"counters": ratio}, estimated=lambda i: ["load"],
            counters=lambda i, k=k: {"load": 30.5 + k + i % 2})) for k in (1, 5)]
        value = self.value(self.json(*logs), "main", "load")
        self.assertTrue(value["ratio"] and value["estimated"])
        self.assertIn("load [percent] (ratio)   ~32  ~36", self.ok("compare", *logs).stdout.decode())
        # No sum, so the frame has none.
        keys = [v["key"] for s in self.json(*logs)["subjects"] if s["what"] == "frame" for v in s["values"]]
        self.assertNotIn("load", keys)

    def test_segments_and_outside(self):
        def lines(scale):
            out = [header(), device(), pass_info(A, "main")]
            for i, time in enumerate(wobble(1000, 50)):
                out.append(frame(i, [one_pass(0, A, time), one_pass(1, A, scale, segment=1)],
                                 unattributed={"gpu_ns": 10 * scale + i % 3}))
            return out
        a, b = self.write_log("a.jsonl", lines(100)), self.write_log("b.jsonl", lines(200))
        result = self.json(a, b)
        self.assertAlmostEqual(self.value(result, "main")["difference"], 100)
        self.assertAlmostEqual(self.value(result, "(not in a pass)")["difference"], 1000)

    # What is left out

    def test_warmup(self):
        a = self.write_log("a.jsonl", times_log([9000000] * 20 + wobble(1000000)))
        b = self.write_log("b.jsonl", times_log([1000000] * 20 + wobble(1000000, seed=2)))
        value = self.value(self.json("--warmup", "20", a, b), "main")
        self.assertEqual((value["base"]["n"], value["verdict"]), (100, "same"))
        done = self.command("compare", "--warmup", "120", a, b)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no whole frame to compare after its warm-up", done.stderr.decode())

    def test_warmup_is_said(self):
        """How many frames were left out on each side, by a number and by --warmup auto."""
        def loading(n, name, seed):
            lines = [header(), device(), pass_info(A, "main")]
            lines += [frame(i, [one_pass(0, A, t, "main")], cpu_ns=800000000 if i < n else 16000000)
                      for i, t in enumerate(wobble(1000000, 100 + n, seed))]
            return self.write_log(name, lines + [end(100 + n, 100 + n)])
        a, b, c = loading(3, "a.jsonl", 1), loading(0, "b.jsonl", 2), loading(1, "c.jsonl", 3)
        for options, left_out in ((["--warmup", "0"], (0, 0, 0)), (["--warmup", "7"], (7, 7, 7)), ([], (3, 3, 3))):
            result = self.json(*options, a, c, "--", b)
            self.assertEqual([log["warmup_frames"] for log in result["base"] + result["new"]],
                             [left_out[0], left_out[2], left_out[1]])
            lines = self.ok("compare", *options, a, c, "--", b).stdout.decode().split("\n")
            sums = (left_out[0] + left_out[2], left_out[1])
            for line, n, kept in zip(lines[1:], sums, (204 - sums[0], 100 - sums[1])):
                said = f" frames, without {n} at the start (--warmup 0 keeps them)" if n else " frames"
                self.assertTrue(line.endswith(f", {kept}{said}"), line)
        markdown = self.ok("compare", "--markdown", a, b).stdout.decode()
        self.assertIn("without 3 at the start", markdown)

    def test_keys(self):
        a = self.write_log("a.jsonl", times_log(wobble(1000000), counters=lambda i: {"samples_passed": i}))
        result = self.json("--keys", "samples*+cpu_ns", a, a)
        self.assertEqual({v["key"] for s in result["subjects"] for v in s["values"]}, {"samples_passed", "cpu_ns"})
        done = self.command("compare", "--keys", "nonsense", a, a)
        self.assertEqual(done.returncode, 2)
        self.assertIn("leaves nothing", done.stderr.decode())

    def test_counts_alone_are_judged(self):
        def log(name, draws):
            return self.write_log(name, times_log(wobble(1000000), draws=draws))
        ten = log("ten", lambda i: 10)
        cases = (("same", log("same", lambda i: 10), "SAME: no value changed by more than 3 %"),
                 ("more", log("more", lambda i: 12), "MORE: frame, draws +20.0% (99 %: +20.0% to +20.0%)"),
                 ("less", log("less", lambda i: 9), "LESS: frame, draws -10.0% (99 %: -10.0% to -10.0%)"),
                 ("inconclusive", log("open", lambda i: 10 + 30 * (i == 50)), "INCONCLUSIVE: 2 changes cannot be told from noise, the largest "))
        for conclusion, new, words in cases:
            result = self.json("--keys", "draws", ten, new)
            self.assertEqual((result["conclusion"], result["open"]), (conclusion, 2 * (conclusion == "inconclusive")))
            lines = self.ok("compare", "--keys", "draws", ten, new).stdout.decode().splitlines()
            self.assertTrue(lines[0].startswith(words), lines[0])
            self.assertEqual(lines[-1], lines[0])
            heading = self.ok("compare", "--markdown", "--keys", "draws", ten, new).stdout.decode().splitlines()[0]
            self.assertTrue(heading.startswith("### passtally compare: " + words), heading)
        # With times the counts decide nothing; a limit needs a gate.
        self.assertEqual(self.json("--keys", "draws+gpu_ns", ten, cases[1][1])["conclusion"], "same")
        nothing = self.inconclusive("--keys", "draws", "--fail-above", "5%", ten, cases[1][1])
        self.assertEqual(nothing.splitlines()[-1], "INCONCLUSIVE: no compared value can fail: name one with --gate")
        done = self.command("compare", "--keys", "draws", "--fail-above", "5%", "--gate", "draws", ten, cases[1][1])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout.decode().splitlines()[-1], r"^REGRESSION: 2 .* the largest (main|frame), draws \+20\.0%")

    def test_both_sides_leave_out_as_many_frames(self):
        """Of two runs one loaded slowly, so that its start is left out; the other's is then, too."""
        def log(name, slow_ns, frames=60):
            lines = [header(), device(), pass_info(A, "main"), pass_info(B, "Loading")]
            for i in range(frames):
                cpu = slow_ns if i < 3 else 10**7 + i % 7 * 10**4
                lines.append(frame(i, [one_pass(0, A, 10**6 + i % 5 * 10**3), *([one_pass(1, B, 10**6)] if i < 3 else [])],
                                   start_ns=i * 10**8, cpu_ns=cpu))
            return self.write_log(name, [*lines, end(frames, frames + 3)])
        slow, quick, short = log("slow", 3 * 10**8), log("quick", 3 * 10**7), log("short", 3 * 10**7, 8)
        for sides, skipped in (((slow, quick), (3, 3)), ((quick, slow), (3, 3)), ((quick, quick), (0, 0)),
                               ((slow, short), (3, 2)), # a quarter at most
                               (("--warmup", "0", slow, quick), (0, 0))):
            told = self.json(*sides)
            self.assertEqual(tuple(told[side][0]["warmup_frames"] for side in ("base", "new")), skipped, sides)
            if skipped == (3, 3):
                self.assertNotIn("Loading", [s["name"] for s in told["subjects"]], sides)
        # What cannot be read again keeps its start.
        told = json.loads(self.ok("compare", "--json", slow, "-", input=quick.read_bytes()).stdout)
        self.assertEqual(told["new"][0]["warmup_frames"], 0)

    def test_partial_frames_are_no_frames(self):
        lines = times_log(wobble(1000000, 30))
        lines.insert(-1, frame(30, [one_pass(0, A, 1000000, "main")], cpu_ns=900000000, flags=["partial"]))
        a = self.write_log("a.jsonl", lines)
        self.assertEqual(self.value(self.json(a, a), "frame", "cpu_ns")["base"]["n"], 30)

    def test_devices(self):
        def lines(numbers, mean):
            out = [header(), *(device(n) for n in numbers), pass_info(A, "main")]
            for i, time in enumerate(wobble(mean, 60)):
                out += [frame(i, [one_pass(0, A, time * (k + 1), "main")], n) for k, n in enumerate(numbers)]
            return out
        # Numbers belong to a run: the first device of one is the first of the other.
        a, b = self.write_log("a.jsonl", lines([0, 1], 1000)), self.write_log("b.jsonl", lines([2, 5], 1200))
        done = self.command("compare", a, b)
        self.assertEqual((done.returncode, done.stdout), (5, b""))
        self.assertIn(b"--allow device compares them", done.stderr)
        result = self.json("--allow", "device", a, b)
        means = [(s["device"], round(v["base"]["mean"], -1), v["difference_pct"] > 15) for s in result["subjects"]
                 for v in s["values"] if s["what"] == "pass" and v["key"] == "gpu_ns"]
        self.assertEqual(means, [(0, 1000, True), (1, 2000, True)])
        self.assertIn(b"main, device 1", self.ok("compare", "--allow=device", a, b).stdout)
        self.assertEqual(len(self.json("--device", "1", a, a)["subjects"]), 2)
        self.assertEqual(self.command("compare", "--device", "7", a, a).returncode, 2)
        self.assertIn("devices with frames: 2 (numbers 0, 1) in base, 2 (numbers 2, 5) in new\n",
                      self.ok("compare", "--allow=device", a, b).stdout.decode())
        # The numbers are those of the first log, which --device takes.
        self.assertEqual({s["device"] for s in self.json(b, b)["subjects"]}, {2, 5})
        text = self.ok("compare", b, b).stdout.decode()
        self.assertTrue("main, device 2" in text and "main, device 5" in text and "device 1" not in text, text)
        # A device that one side lacks: its number is reported, and none of its properties is compared with
        # nothing.
        one = self.write_log("one.jsonl", lines([2], 1000))
        text = self.ok("compare", one, b).stdout.decode()
        self.assertEqual([line for line in text.splitlines() if line.startswith("differs")],
                         ["differs: devices with frames: 1 in base, 2 (numbers 2, 5) in new"])
        self.assertIn("main, device 2", text)

    def test_machines_and_clocks(self):
        def clocked(mhz, **more):
            lines = times_log(wobble(1000), header_more=more)
            return [dict(line, metrics={"gpu_clock": float(mhz)}, estimated=["gpu_clock"])
                    if line["type"] == "frame" else line for line in lines]
        def unlike(base, new):
            logs = [self.write_log(f"{i}.jsonl", lines) for i, lines in enumerate((base, new))]
            return {u["what"]: (u["base"], u["new"]) for u in self.json(*logs)["not_the_same"]}
        here = {"os": "A", "kernel": "Linux 6", "cpu": "C", "session": "x11", "tags": {"build": "1"}, "run": "1"}
        there = dict(here, kernel="Linux 7", session="headless", tags={"build": "2"}, run="2", host="h")
        self.assertEqual(unlike(clocked(1800, **here), clocked(1200, **there)),
                         {"kernel": ("Linux 6", "Linux 7"), "session": ("x11", "headless"),
                          "GPU clock": ("1800 MHz", "1200 MHz")})
        again = dict(here, run="3")
        self.assertEqual(unlike(clocked(1800, **here), clocked(1870, **again)), {})  # less than 5 %
        self.assertEqual(unlike(clocked(1800, **here), times_log(wobble(1000))), {})  # nothing is reported of the
                                                                                      # other

    def test_one_side_had_no_cpu(self):
        """Of a driver on the CPU no time is judged by single runs of which one had it beside other programs."""
        def log(name, factor, ready, worker=0, ends=30):
            lines = noisy_log(name, 100, slower={i: factor for i in range(PASSES)}).splitlines(keepends=True)
            threads = [{"name": "llvmpipe-0", "cpu_ns": 50 * 10**6, "ready_ns": ready * 10**6},
                       {"name": "worker", "cpu_ns": worker * 10**6, "ready_ns": 0},
                       {"name": "demo", "cpu_ns": ends * 10**6, "ends_frames": True}]
            for i in range(1, 16):
                lines.insert(-1, log_bytes([{"type": "process", "time_ns": i * 10**8, "period_ns": 10**8,
                                             "ready_ns": 0, "threads": threads}]))
            return self.write(name, b"".join(lines).replace(b"card 0", b"llvmpipe (LLVM 15)"))
        quiet, busy, own = log("q", 1, 1), log("b", 2, 180, ends=5), log("o", 2, 60, worker=90)
        text = self.ok("compare", quiet, busy).stdout.decode()
        self.assertRegex(text, r"^INCONCLUSIVE: \d+ changes cannot be told from a busy machine, the largest ")
        self.assertIn("\ndiffers: no CPU was free for the driver: 0 % of its time or more in base, ", text)
        self.assertEqual(self.command("compare", "--fail-above", "5%", quiet, busy).returncode, 4)
        text = self.ok("compare", quiet, own).stdout.decode()  # its own thread took the CPU
        self.assertRegex(text, "^SLOWER: ")
        self.assertNotIn("differs: no CPU", text)

    def test_a_small_pass_does_not_speak_for_the_frame(self):
        """A pass of a hundredth of the frame, known to have changed, where the frame may have by far more."""
        def log(name, small, more):
            noise, start, lines = random.Random(name), 0, [header(), device(), pass_info(A, "main"), pass_info(B, "tiny")]
            for i in range(160):
                cpu = 10**7 + noise.randrange(10**5) + (more if i >= 80 else 0)
                lines.append(frame(i, [one_pass(0, A, 9 * 10**6 + noise.randrange(10**5)),
                                       one_pass(1, B, small + noise.randrange(500))], start_ns=start, cpu_ns=cpu))
                start += cpu
            return self.write_log(name, [*lines, end(160, 320)])
        base = log("base", 100000, 0)
        text = self.ok("compare", base, log("new", 120000, 10**7)).stdout.decode()
        self.assertRegex(text, r"^INCONCLUSIVE: \d+ changes? cannot be told from noise(:|, the largest) frame time \+(49|50)")
        text = self.ok("compare", base, log("alone", 120000, 0)).stdout.decode()
        self.assertRegex(text, r"^SLOWER: tiny \+\d")

    def test_hitches_and_memory_are_said(self):
        """Where the sides differ by a fifth, and by 0.5 ms a frame or 64 MB."""
        def log(name, every=0, gpu=0, resident=0):
            lines = [header(), device(), pass_info(A, "main")]
            for i in range(300):
                more = 40 if every and i % every == 0 and i else 0
                metrics = {"metrics": {"gpu_process_memory": gpu * 10**6 * (1 + (i > 200))}} if gpu else {}
                lines.append(frame(i, [one_pass(0, A, 10**6)], start_ns=i * 10**8, cpu_ns=(10 + more) * 10**6 + i % 7, **metrics))
                if resident and i % 10 == 0:
                    lines.append({"type": "process", "time_ns": i * 10**8, "period_ns": 10**9, "resident_bytes": resident * 10**6})
            return self.write_log(name, [*lines, end(300, 300)])
        for base, new, said in (
                ({}, {"every": 30}, ["hitches cost: 0.00 ms a frame in base, 1.20 ms a frame in new"]),
                ({"every": 30}, {"every": 31}, []),
                ({"gpu": 105}, {"gpu": 240}, ["GPU memory at the end: 210 MB in base, 480 MB in new"]),
                ({"resident": 480}, {"resident": 210}, ["memory at the end: 480 MB in base, 210 MB in new"]),
                ({"resident": 100, "gpu": 50}, {"resident": 160, "gpu": 80}, []), # by less than 64 MB
                ({"resident": 1000}, {"resident": 1150}, []),
                ({"resident": 1000}, {}, [])): # not known
            with self.subTest(base=base, new=new):
                text = self.ok("compare", log("base", **base), log("new", **new)).stdout.decode()
                self.assertEqual(re.findall("(?m)^differs: (.*)$", text), said)

    def test_more_work_of_the_cpu_is_said(self):
        def log(name, work_ms):
            lines = [header(), device(), pass_info(A, "main")]
            for i in range(60):
                lines.append(frame(i, [one_pass(0, A, 10**6)], start_ns=i * 10**8, cpu_ns=(2 + work_ms) * 10**6,
                                   thread_ns=work_ms * 10**6 + i))
            return self.write_log(name, [*lines, end(60, 60)])
        text = self.ok("compare", log("a", 1), log("b", 5)).stdout.decode()
        self.assertIn("\ndiffers: the CPU works: 1.00 ms a frame in base, 5.00 ms a frame in new\n", text)
        self.assertNotIn("differs: the CPU", self.ok("compare", log("a", 10), log("b", 11)).stdout.decode())

    def test_not_the_same(self):
        a = self.write_log("a.jsonl", times_log(wobble(1000), header_more={
            "program": "/build/1/demo", "argv": ["demo"], "options": {"frame": "present", "log": "a"}}))
        b = self.write_log("b.jsonl", times_log(
            wobble(1000), header_more={"program": "/build/2/demo", "argv": ["demo", "--fast now"],
                                       "options": {"frame": "finish", "log": "b"}},
            device_more={"name": "other\x1b[2J", "driver_version": "2"}))
        for allow, left in ((), "device,driver,options"), (("--allow", "device"), "driver,options"), \
                (("--allow", "driver,device"), "options"):
            done = self.command("compare", *allow, a, b)
            self.assertEqual((done.returncode, done.stdout), (5, b""))
            self.assertIn(f"NOT COMPARED: the sides differ in what changes times by itself (", done.stderr.decode())
            self.assertIn(f"--allow {left} compares them", done.stderr.decode())
            self.assertNotIn(b"\x1b", done.stderr)
        unlike = {u["what"]: (u["base"], u["new"]) for u in self.json("--allow", "all", a, b)["not_the_same"]}
        self.assertEqual(unlike, {"device": ("card 0", "other\x1b[2J"), "driver version": ("1", "2"),
                                  "arguments": ("(none)", "'--fast now'"), "option frame": ("present", "finish")})
        text = self.ok("compare", "--allow", "all", a, b).stdout.decode()
        self.assertLess(text.index("differs: driver version: 1 in base, 2 in new"), text.index("Times"))
        self.assertNotIn("\x1b", text)
        self.assertEqual(self.json(a, a)["not_the_same"], [])
        # Differences among the logs of one side are reported too.
        unlike = {u["what"]: u["base"] for u in self.json("--allow", "all", a, b, "--", a)["not_the_same"]}
        self.assertEqual(unlike["driver version"], "1 and 2")

    def test_sides_of_mixed_machines(self):
        """Each side ran on the same two machines: no verdict of both together."""
        one, two = (self.write_log(f"{name}.jsonl", times_log(wobble(1000), device_more={"name": name})) for name in "ab")
        done = self.command("compare", one, two, "--", one, two)
        self.assertEqual((done.returncode, done.stdout), (5, b""))
        self.assertIn(b"device: a and b in base, a and b in new", done.stderr)

    def test_a_run_given_twice_counts_once(self):
        lines = times_log(wobble(1000), header_more={"run": "11111111-1111-4111-8111-111111111111"})
        a, again = self.write_log("a.jsonl", lines), self.write_log("again.jsonl", lines)
        b = self.write_log("b.jsonl", times_log(wobble(1000, seed=2)))
        for base in ((a, again), (a, a), (a, again, a)):
            done = self.ok("compare", "--json", *base, "--", b, b)
            self.assertEqual(self.value(json.loads(done.stdout), "main")["base"]["n"], 100)
            self.assertIn(b"this run is there already and counts once", done.stderr)

    # Formats

    def test_markdown(self):
        bad = "a|b `c` <img> @all #1 *x*"
        a = self.write_log("a.jsonl", times_log(wobble(1000000), label=bad))
        b = self.write_log("b.jsonl", times_log(wobble(1100000, seed=2), label=bad))
        done = self.command("compare", "--markdown", "--fail-above", "5%", a, b)
        self.assertEqual(done.returncode, 1)
        text = done.stdout.decode()
        self.assertTrue(text.startswith("### passtally compare: REGRESSION: 2 regressions above 5 %, the largest "))
        rows = [line for line in text.split("\n") if line.startswith("|")]
        self.assertEqual({row.count("|") for row in rows}, {7})
        self.assertNotRegex(text, r"<img|@all|`c`|\*x\*")
        self.assertIn("a&#124;b &#96;c&#96; &#60;img&#62; &#64;all &#35;1 &#42;x&#42;", text)

    def test_narrow_terminal(self):
        label = "a very long name of a pass " * 4
        a = self.write_log("a.jsonl", times_log(wobble(1000000), label=label))
        b = self.write_log("b.jsonl", times_log(wobble(1100000, seed=2), label=label))
        master, slave = pty.openpty()
        with subprocess.Popen([COMMAND, "compare", "--fail-above", "5", str(a), str(b)], stdout=slave,
                              env=dict(self.env, COLUMNS="80")) as child:
            os.close(slave)
            text = b""
            try:
                while chunk := os.read(master, 65536):
                    text += chunk
            except OSError:
                pass # the other end is closed
        os.close(master)
        self.assertEqual(child.returncode, 1)
        table = text.decode().split("GPU time")[1].split("\r\n\r\n")[0].split("\r\n")[1:]
        self.assertEqual(len(table), 3)
        self.assertTrue(all(len(line) <= 80 for line in table), table)

    def test_usage(self):
        a = self.write_log("a.jsonl", times_log(wobble(1000, 10)))
        for args, words in ((("--json", "--markdown"), "exclude each other"),
                            (("--fail-above", "x"), "must be a percentage"),
                            (("--fail-above", "-1"), "must be a percentage"),
                            (("--warmup", "x"), "whole number"), (("--gate", ":less"), "needs a key"),
                            (("--allow", "gpu"), "must be of device, driver, size, options, program, all"),
                            (("--wrong",), "unknown option")):
            done = self.command("compare", *args, a, a)
            self.assertEqual((done.returncode, done.stdout), (2, b""), args)
            self.assertIn(words, done.stderr.decode())
        self.assertIn(b"passtally compare [options] BASE... -- NEW...", self.ok("compare", "--help").stdout)

    def test_bad_logs(self):
        a = self.write_log("a.jsonl", times_log(wobble(1000, 10)))
        bad = self.write("bad.jsonl", a.read_bytes()[:700] + b"\n{]\n")
        done = self.command("compare", a, bad)
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        empty = self.write_log("empty.jsonl", [header(), device(), end(0, 0)])
        done = self.command("compare", empty, a)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no whole frame to compare", done.stderr.decode())
        cut = self.write("cut.jsonl", a.read_bytes()[:-20])
        done = self.ok("compare", "--json", cut, a)
        self.assertIn(b"is cut", done.stderr)
        self.assertTrue(json.loads(done.stdout)["base"][0]["truncated"])
        self.assertEqual(self.command("compare", a, self.folder / "none").returncode, 2)
        self.assertEqual(self.command("compare", "--junit", "no/such", cut, a).returncode, 2)


if __name__ == "__main__":
    unittest.main()
