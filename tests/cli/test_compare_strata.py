#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare over fleets whose mix of GPUs differs between the sides: runs are compared within strata that are alike.

STRATA_TRIALS=20 test_compare_strata.py prints the table of docs/compare.md.
"""

import json
import os
import random
import re
import unittest

from cli_case import A, CliCase
from made_fleet import mixed_fleet, run_log

TRIALS = int(os.environ.get("STRATA_TRIALS", 3))


class Strata(CliCase):
    def setUp(self):
        super().setUp()
        self.rand = random.Random(7)

    def fleet(self, logs):
        """Writes the logs of each side."""
        sides = {"base": [], "new": []}
        for name, lines in logs:
            sides["new" if name.startswith("new") else "base"].append(self.write_log(name, lines))
        return [*sides["base"], "--", *sides["new"]]

    def compare(self, logs, *options):
        done = self.command("compare", "--json", "--keys", "gpu_ns", *options, *self.fleet(logs))
        self.assertIn(done.returncode, (0, 1, 4), done.stderr)
        return done.returncode, json.loads(done.stdout)

    def verdicts(self, result, key="gpu_ns"):
        return {(s.get("stratum"), s["name"]): v["verdict"] for s in result["subjects"] for v in s["values"]
                if v["key"] == key and s["what"] == "pass"}

    def some(self, side, n, factor=1, **more):
        return [(f"{side}{more.get('gpu', '')}{i}.jsonl", run_log(self.rand, factor, n=20, **more)) for i in range(n)]

    def test_one_build_on_another_mix(self):
        """No alarm without a change; a planted 5 % in one stratum is found there, and only there."""
        alarms = found = wrong = 0
        for _ in range(TRIALS):
            status, result = self.compare(mixed_fleet(self.rand, 1), "--fail-above", "2%")
            verdicts = self.verdicts(result)
            alarms += status == 1 or bool({"more", "less"} & set(verdicts.values()))
            self.assertEqual({stratum for stratum, _ in verdicts}, {1, 2, "all"})
            status, result = self.compare(mixed_fleet(self.rand, 1.05), "--fail-above", "2%")
            changed = {key for key, verdict in self.verdicts(result).items() if verdict in ("more", "less")}
            found += status == 1 and (2, "scene/main") in changed
            wrong += bool(changed - {(2, "scene/main"), ("all", "scene/main")})
        print(f"{TRIALS} trials: {alarms} alarms without a change; 5 % found in {found}, another alarm beside it in {wrong}")
        self.assertLessEqual(alarms, TRIALS // 10)
        self.assertGreaterEqual(found, 9 * TRIALS / 10)
        self.assertLessEqual(wrong, TRIALS // 10)
        self.assertEqual(result["strata"], [
            {"stratum": 1, "of": "fast, opengl, d, 1", "base_logs": 30, "new_logs": 10},
            {"stratum": 2, "of": "slow, opengl, d, 1", "base_logs": 10, "new_logs": 30}])

    def test_pooled_finds_what_no_stratum_does(self):
        """The weights are those of the runs, and the errors add up as the mean's do."""
        logs = []
        for gpu, speed, base, new in (("a", 1, 10, 6), ("b", 2, 6, 10), ("c", 5, 8, 8)):
            logs += self.some("base", base, gpu=gpu, speed=speed)
            logs += self.some("new", new, gpu=gpu, speed=speed, factor=1.02)
        _, result = self.compare(logs)
        rows = {s["stratum"]: s["values"][0] for s in result["subjects"] if s["name"] == "scene/main"}
        weights = {1: 60 / 16, 2: 60 / 16, 3: 4}
        mean = sum(weights[i] * rows[i]["difference_pct"] for i in weights) / sum(weights.values())
        self.assertAlmostEqual(rows["all"]["difference_pct"], mean, places=6)
        self.assertLess(rows["all"]["high_pct"] - rows["all"]["low_pct"],
                        min(rows[i]["high_pct"] - rows[i]["low_pct"] for i in weights))
        self.assertEqual(rows["all"]["verdict"], "more")

    def test_nothing_in_common(self):
        sides = self.some("base", 5, gpu="fast") + self.some("base", 5, gpu="old"), self.some("new", 5, gpu="slow")
        done = self.command("compare", *self.fleet(sides[0] + sides[1]))
        self.assertEqual((done.returncode, done.stdout), (5, b""))
        self.assertIn("NOT COMPARED: the sides differ in what changes times by itself (device: fast and old in base, slow in new)",
                      done.stderr.decode())

    def test_stratum_of_one_side(self):
        logs = self.some("base", 5, gpu="fast") + self.some("new", 5, gpu="fast") + \
            self.some("new", 5, gpu="slow", speed=3)
        text = self.ok("compare", "--wide", *self.fleet(logs)).stdout.decode()
        self.assertIn("stratum 2: slow, opengl, d, 1: 0 logs of base, 5 of new: no verdict, only new ran on it", text)
        self.assertIn("scene/main, stratum 1", text)
        self.assertNotIn("scene/main, stratum 2", text)
        self.assertNotIn("scene/main, all strata", text)
        self.assertIn("p is the false discovery rate", text)

    def test_tags_driver_and_size(self):
        """What is a stratum: --strata names tags, --allow takes a property out."""
        logs = [log for side, order in (("base", (6, 5)), ("new", (5, 6)))
                for scene, n, speed in (("docks", order[0], 1), ("hall", order[1], 3))
                for log in self.some(side + scene, n, speed=speed, tags={"scene": scene},
                                     device_more={"driver_version": {"docks": "1", "hall": "2"}[scene]})]
        self.assertEqual({s for s, _ in self.verdicts(self.compare(logs)[1])}, {1, 2, "all"})
        _, result = self.compare(logs, "--allow", "driver")
        self.assertEqual({s for s, _ in self.verdicts(result)}, {None})
        _, result = self.compare(logs, "--allow", "driver", "--strata", "scene")
        self.assertEqual([s["of"] for s in result["strata"]],
                         ["card 0, opengl, scene=docks", "card 0, opengl, scene=hall"])
        self.assertEqual(set(self.verdicts(result).values()) & {"more", "less"}, set())
        paths = self.fleet(logs)
        done = self.command("compare", "--strata", "level", *paths)
        self.assertEqual((done.returncode, done.stderr), (2, b"passtally compare: --strata level: no log has that tag\n"))
        done = self.command("compare", "--strata", "scene", "--allow", "driver", "basedocks0.jsonl", "newhall0.jsonl")
        self.assertEqual((done.returncode, done.stdout), (5, b""))
        self.assertIn(b"(tag scene: docks in base, hall in new)", done.stderr)

    def test_tags_of_any_text(self):
        """Tags whose texts run together, or that do not read as tags, are their own strata."""
        cases = (({"a": "1, b=2", "b": "3"}, {"a": "1", "b": "2, b=3"}), ({"a": "1", "b": "(not said)"}, {"a": "1"}))
        for case, (base, new) in enumerate(cases):
            logs = [log for side, tags in (("base", base), ("new", new)) for log in self.some(f"{side}{case}", 2, tags=tags)
                    + self.some(f"{side}both{case}", 2, tags={"a": "x", "b": "y"})]
            _, result = self.compare(logs, "--strata", "a", "--strata", "b")
            self.assertEqual([(s["base_logs"], s["new_logs"]) for s in result["strata"]], [(2, 0), (2, 2), (0, 2)])

    def test_page(self):
        """The page of two logs has no verdict where compare gives none."""
        run = "11111111-1111-4111-8111-111111111111"
        run_twice = self.some("base", 1, run=run)[0][1]
        cases = (
            ("gpu", run_log(self.rand, 1, n=20, gpu="fast"), run_log(self.rand, 1, n=20, gpu="slow")),
            ("driver", run_log(self.rand, 1, n=20), run_log(self.rand, 1, n=20, device_more={"driver_version": "2"})),
            ("same run", run_twice, run_twice),
        )
        for words, *logs in cases:
            with self.subTest(words):
                paths = [self.write_log(f"page{i}.jsonl", lines) for i, lines in enumerate(logs)]
                self.assertEqual(self.command("compare", *paths).returncode, 5)
                self.ok("report", "--html", str(self.folder / "page.html"), *paths)
                page = (self.folder / "page.html").read_text(encoding="utf-8")
                found = re.search(r'"verdict":(\{"refused":"[^"]*"\})', page)
                self.assertTrue(found, page[page.find('"verdict"'):][:200])
                self.assertIn({"gpu": "device: fast in A, slow in B", "driver": "driver version: 1 in A, 2 in B",
                               "same run": "A and B are the same run"}[words], found[1])

    def test_pass_timed_on_one_side(self):
        """Where a driver does not time the main pass, the pass is not faster, nor is the other driver's slower."""
        def untimed(lines):
            return [dict(line, gpu_ns=times, envelope_ns=times,
                         passes=[{k: v for k, v in p.items() if k != "gpu_ns" or p["id"] == A} for p in line["passes"]])
                    if line["type"] == "frame" and (times := sum(p["gpu_ns"] for p in line["passes"] if p["id"] == A))
                    else line for line in lines]
        all_timed = self.write_log("timed.jsonl", run_log(self.rand, 1))
        some = self.write_log("untimed.jsonl", untimed(run_log(self.rand, 1)))
        for base, new in ((all_timed, some), (some, all_timed)):
            with self.subTest(base):
                done = self.command("compare", "--json", "--keys", "gpu_ns", "--fail-above", "5%", base, new)
                self.assertEqual(done.returncode, 4, done.stderr)
                frame = next(s for s in json.loads(done.stdout)["subjects"] if s["what"] == "frame")
                self.assertEqual([v["verdict"] for v in frame["values"] if v["key"] == "gpu_ns"], ["one-side"])
                text = self.ok("compare", base, new).stdout.decode()
                self.assertIn("frame, GPU: not measured on both sides", text)
                self.assertNotIn("of frame", text)

    def test_bad_input(self):
        """A foreign file, another version, no device, a run twice or on both sides, a clock that jumps."""
        run = "11111111-1111-4111-8111-111111111111"
        good, new = self.some("base", 1, run=run)[0][1], self.some("new", 1)[0][1]
        jumps = [dict(line, start_ns=10 ** 18 if line["frame"] < 9 else 5) if line["type"] == "frame" else line
                 for line in new]
        asleep = [dict(line, cpu_ns=10 ** 13) if line.get("frame") == 9 else line for line in new]
        cases = (
            ("foreign.jsonl", [{"a": 1}], 3, "not a passtally log"),
            ("two.jsonl", [dict(good[0], schema="passtally/2"), *good[1:]], 3, "passtally/2"),
            ("nodevice.jsonl", [line for line in good if line["type"] != "device"], 3, "no device line"),
            ("again.jsonl", good, 5, "this run is on both sides"),
            ("jumps.jsonl", jumps, 0, ""),
            ("asleep.jsonl", asleep, 4, ""),
        )
        base = self.write_log("base.jsonl", good)
        for name, lines, status, words in cases:
            with self.subTest(name):
                path = self.write_log(name, lines)
                done = self.command("compare", "--fail-above", "20%", base, path)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(words, done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
