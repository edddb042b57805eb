#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally fleet: made fleets whose truth is known, what is refused, and ClickHouse's answers from the same files."""

import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

from cli_case import C, COMMAND, CliCase, header
from made_fleet import mixed_fleet, of_build, run_log
from sql_engine import find_clickhouse

with tempfile.TemporaryDirectory() as folder:
    asked = subprocess.run([COMMAND, "fleet", "ingest", "--db", f"{folder}/db", "/dev/null"], capture_output=True, check=False)
    if b"DuckDB is not installed" in asked.stderr:
        print("DuckDB is not installed: scripts/deps, where there is npm")
        sys.exit(77)

WELCH = """
WITH in_run AS (
    SELECT build, run, gpu, driver, size, name, sum(mean * n) / least(sum(n), max(frames)) AS ns
    FROM file('db/values/**/*.parquet', Parquet) WHERE key = 'gpu_ns' GROUP BY ALL)
SELECT gpu, name, countIf(build = 'base') AS base_n, countIf(build = 'new') AS new_n, exp(avgIf(log(ns), build = 'base')) AS base_ns,
    exp(avgIf(log(ns), build = 'new')) AS new_ns, welchTTest(0.99)(log(ns), build = 'new') AS test
FROM in_run GROUP BY gpu, driver, size, name"""


class Fleet(CliCase):
    def setUp(self):
        super().setUp()
        self.rand = random.Random(5)

    def ingest(self, *paths, status=0, **more):
        done = self.command("fleet", "ingest", "--db", "db", *paths, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode().strip(), done.stderr.decode()

    def regress(self, *more, status=0, base="base", new="new"):
        """The rows by GPU and name; their texts are in self.text."""
        done = self.command("fleet", "regress", "--db", "db", "--base", base, "--new", new, "--json", *more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.answer = json.loads(done.stdout)
        self.text = self.command("fleet", "regress", "--db", "db", "--base", base, "--new", new, *more).stdout.decode()
        return {(row["gpu"], row["name"]): row for row in self.answer["rows"]}

    def builds(self, runs, factor=1, **more):
        for build in ("base", "new"):
            for i in range(runs):
                self.write_log(f"logs/{build}{i}.jsonl", of_build(self.rand, build, factor if build == "new" else 1, **more))

    def write_log(self, name, lines):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        return super().write_log(name, lines)

    def mixed(self, slow):
        shutil.rmtree(self.folder / "db", ignore_errors=True)
        for name, lines in mixed_fleet(self.rand, slow):
            self.write_log(f"logs/{name}", lines)
        self.ingest("logs")

    def test_no_change(self):
        """The share of fast GPUs differs between the builds, and that is no change."""
        self.mixed(1)
        rows = self.regress("--fail-above", "3%")
        self.assertEqual({row["verdict"] for row in rows.values()}, {"no change seen"})
        self.assertEqual(self.answer["conclusion"], "OK")
        self.regress("--fail-above", "0.5", status=4)
        self.assertRegex(self.text, "^INCONCLUSIVE: .* of 12 may be more than 0.5 % slower")
        self.regress()
        self.assertRegex(self.text, r"^NO CHANGE SEEN: none of 12 is more than \d\.\d+ % slower; least sure: ")

    def test_planted(self):
        """+5 % on one GPU is found there, with report's means."""
        self.mixed(1.05)
        rows = self.regress("--fail-above", "3%", status=1)
        self.assertEqual({key for key, row in rows.items() if row["verdict"] == "slower"},
                         {("slow", "scene/main"), ("slow", "(frame)"), ("(pooled)", "scene/main"), ("(pooled)", "(frame)")})
        found = rows["slow", "scene/main"]
        self.assertTrue(3 < found["low_pct"] < found["more_pct"] < found["high_pct"] < 7, found)
        self.assertRegex(self.text, r"^REGRESSION: 2 above 3 %, the largest \+0\.02\d+ ms \(\+\d\.\d\d %.*\) scene/main on slow, d 1, 1920x1080")
        logs = []
        for i in range(10):
            report = json.loads(self.ok("report", "--json", "--warmup", "0", f"logs/bases{i}.jsonl").stdout)["reports"][0]
            logs += [math.log(row["values"]["gpu_ns"]["mean"]) for row in report["rows"] if row["label"] == "scene/main"]
        self.assertAlmostEqual(found["base_ns"] / math.exp(statistics.mean(sorted(logs)[1:-1])), 1, places=12)

    def test_tails(self):
        """Some machines, other ones on each side, take ten times as long; and in few runs all may have been in one mode."""
        for build, factor in (("base", 1), ("new", 1.05)):
            for i in range(30):
                self.write_log(f"tails/{build}{i}.jsonl", of_build(self.rand, build, factor, speed=1 if i % 15 else 10))
            for i in range(4):
                self.write_log(f"few/{build}{i}.jsonl", of_build(self.rand, build, gpu="few", speed=1.5 if build == "new" else 1))
        self.ingest("tails", "few")
        rows = self.regress()
        self.assertEqual(rows["card 0", "scene/main"]["verdict"], "slower")
        self.assertTrue(4 < rows["card 0", "scene/main"]["more_pct"] < 6, rows)
        self.assertEqual({row["verdict"] for (gpu, _), row in rows.items() if gpu == "few"}, {"too few runs"})

    def test_clickhouse(self):
        """It has the same answers from the same files. Of nine runs a side no extremes are cut."""
        self.builds(9, 1.03)
        self.ingest("logs")
        rows = self.regress()
        connect = find_clickhouse()
        if not connect:
            self.skipTest("ClickHouse's library is not installed: scripts/deps, where there is npm (chdb)")
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        database = connect(self.folder / "database")
        theirs = {(row["gpu"], row["name"]): row for row in database.rows(WELCH)}
        database.close()
        self.assertEqual(len(theirs), 3)
        for key, row in theirs.items():
            mine = rows[key]
            self.assertEqual((mine["base_n"], mine["new_n"]), (int(row["base_n"]), int(row["new_n"])))
            _, p, low, high = row["test"].values() if isinstance(row["test"], dict) else row["test"]
            for one, other in ((mine["base_ns"], row["base_ns"]), (mine["new_ns"], row["new_ns"])):
                self.assertAlmostEqual(one / other, 1, places=9)
            self.assertAlmostEqual(math.log(mine["p"]) / math.log(p), 1, delta=0.02)
            for one, other in ((mine["low_pct"], -high), (mine["high_pct"], -low)):
                self.assertAlmostEqual(math.log1p(one / 100), other, delta=0.01 * (high - low))

    def test_drivers(self):
        """Two drivers of different speed, one of them with one build only: compared within each."""
        for build, runs in (("base", (8, 5, 3)), ("new", (5, 8, 0))):
            for version, n in enumerate(runs):
                for i in range(n):
                    self.write_log(f"logs/{build}{version}-{i}.jsonl", of_build(
                        self.rand, build, speed=1 + version, device_more={"driver_version": str(version)}))
        self.ingest("logs")
        self.regress()
        self.assertEqual({(row["driver"], row["verdict"]) for row in self.answer["rows"]},
                         {("", "no change seen"), ("d 0", "no change seen"), ("d 1", "no change seen"),
                          ("d 2", "no verdict: only the base build ran here")})

    def test_nothing_in_common(self):
        for build, gpu in (("base", "fast"), ("new", "slow")):
            for i in range(3):
                self.write_log(f"logs/{build}{i}.jsonl", of_build(self.rand, build, gpu=gpu))
        self.ingest("logs")
        self.regress(status=5)
        self.assertEqual(self.answer["conclusion"], "NOT COMPARED")
        done = self.command("fleet", "regress", "--db", "db", "--base", "base", "--new", "third")
        self.assertEqual((done.returncode, done.stderr), (2, b"passtally fleet: no run of the build third is here; there are: base, new\n"))

    def test_by(self):
        """Scenes of different length in different shares: a change out of nothing, but within the tag."""
        for scene, order, speed in (("docks", (9, 5), 1), ("hall", (5, 9), 3)):
            for build, runs in zip(("base", "new"), order):
                for i in range(runs):
                    self.write_log(f"logs/{build}{scene}{i}.jsonl", of_build(self.rand, build, speed=speed, tags={"scene": scene}))
        self.ingest("logs")
        self.regress("--by", "scene", "--all")
        self.assertEqual({row["tags"] for row in self.answer["rows"]}, {"", "scene=docks", "scene=hall"})
        self.assertEqual({row["verdict"] for row in self.answer["rows"]}, {"no change seen"})
        self.assertGreater(self.regress()["card 0", "scene/main"]["more_pct"], 30)

    def test_machines(self):
        """Runs of one machine are alike: with the names of machines each counts once. Where it ran both builds it is
        compared with itself, one by one where there are few."""
        for build in ("base", "new"):
            for machine in range(6):
                speed = self.rand.gauss(1, 0.1)
                for i in range(5):
                    self.write_log(f"logs/{build}{machine}-{i}.jsonl", of_build(self.rand, build, speed=speed, host=f"{build}{machine}"))
        self.ingest("logs")
        row = self.regress()["card 0", "scene/main"]
        self.assertEqual((row["base_n"], row["new_n"], row["verdict"]), (6, 6, "no change seen"))
        self.assertLess(row["low_pct"], -5)
        for machine in range(8):
            speed = random.Random(machine).gauss(1, 0.1) * (10 if machine == 3 else 1)
            for build, factor in (("first", 1), ("second", 1.03)):
                for i in range(3):
                    self.write_log(f"pairs/{build}{machine}-{i}.jsonl", of_build(self.rand, build, factor, speed=speed, host=f"m{machine}"))
        self.ingest("pairs")
        row = self.regress(base="first", new="second")["card 0", "scene/main"]
        self.assertEqual((row["base_n"], row["new_n"], row["verdict"]), (8, 8, "slower"))
        shutil.rmtree(self.folder / "db")
        self.ingest(*(f"logs/base{machine}-{i}.jsonl" for machine in (0, 1) for i in range(5)))
        for i in range(5):
            self.write_log(f"new{i}.jsonl", of_build(self.rand, "new", 1.05, host="base0"))
        self.ingest(*(f"new{i}.jsonl" for i in range(5)))
        self.regress()
        self.assertEqual({row["machine"] for row in self.answer["rows"] if row["base_n"] and row["new_n"]}, {"base0"})

    def test_appeared(self):
        self.builds(3)
        for i in range(3):
            self.write_log(f"logs/new{i}.jsonl", of_build(self.rand, "new", extra=C))
        self.ingest("logs")
        self.assertEqual(self.regress()["card 0", "scene/ui"]["verdict"], "appeared")
        self.assertEqual(self.regress(base="new", new="base")["card 0", "scene/ui"]["verdict"], "vanished")

    def test_counted_once(self):
        """A run twice, as a log, as its digest, compressed; in one call and in two."""
        self.builds(2)
        self.ok("digest", "logs/base0.jsonl")
        shutil.copy(self.folder / "logs/base1.jsonl", self.folder / "logs/copy.jsonl")
        said, errors = self.ingest("logs")
        self.assertEqual(said, "4 runs added, 2 there already, 0 files left out")
        self.assertEqual(errors, "")
        self.write_log("unnamed.jsonl", run_log(self.rand, 1, run="11111111-2222-4333-8444-555555555555"))
        said, errors = self.ingest("unnamed.jsonl")
        self.assertIn("1 run names no build", errors)
        self.assertEqual(said, "1 run added, 0 there already, 0 files left out")
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", self.folder / "logs/base0.digest.jsonl"], check=True)
            self.assertEqual(self.ingest("logs/base0.digest.jsonl.zst")[0], "0 runs added, 1 there already, 0 files left out")
        self.assertEqual(self.ingest("logs/new0.jsonl", "logs/new1.jsonl")[0], "0 runs added, 2 there already, 0 files left out")
        row = self.regress()["card 0", "scene/main"]
        self.assertEqual((row["base_n"], row["new_n"]), (2, 2))

    def test_left_out(self):
        """What is no log or none of this version says so, and the rest is added."""
        self.builds(2)
        self.ok("digest", "logs/base0.jsonl")
        digest = (self.folder / "logs/base0.digest.jsonl").read_bytes()
        start, _, rest = digest.partition(b"\n")
        bad = {
            "half": (digest[:-100], "a digest whose end is cut"),
            "lines": (digest[:digest.rindex(b'{"type":"end"')], "a digest whose end is cut"),
            "two": (start.replace(b"passtally/1", b"passtally/2") + b"\n" + rest, "passtally/2"),
            "log2": (json.dumps(header(schema="passtally/2")).encode() + b"\n", "passtally/2"),
            "foreign": (b'{"a":1}\n', "not a passtally log"),
            "binary": (bytes(range(256)) * 100, "not a passtally log"),
            "empty": (b"", "log"),
            "spread": (digest.replace(b'"spread":"', b'"spread":"x,9,1 '), "Could not convert string 'x'"),
            "nothing": (digest.replace(b'"statistics"', b'"other"').replace(b'"run":"', b'"run":"0'), "no values"),
        }
        for name, (data, _) in bad.items():
            self.write(f"logs/{name}.jsonl", data)
        self.write_log("logs/old.jsonl", run_log(self.rand, 1, n=5))
        bad["old"] = None, "its run has no UUID"
        (self.folder / "logs/base0.jsonl").unlink()
        said, errors = self.ingest("logs", "nowhere.jsonl", status=3)
        self.assertEqual(said, f"4 runs added, 0 there already, {len(bad) + 1} files left out")
        for name, (_, why) in bad.items():
            self.assertRegex(errors, rf"left out logs/{name}.jsonl: .*{why}")
        self.assertIn("nowhere.jsonl: No such file", errors)

    def test_foreign_folder(self):
        log = self.write_log("a.jsonl", of_build(self.rand, "1"))
        for name, text in (("db/other.txt", "x"), ("db", "x"), ("db/fleet.json", '{"format": "passtally-fleet/2"}'), ("db/fleet.json", "x")):
            with self.subTest(name, text=text):
                path = self.folder / name
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
                before = sorted(self.folder.rglob("*"))
                self.assertIn("fleet", self.ingest(log, status=2)[1])
                self.assertEqual(self.command("fleet", "regress", "--db", "db", "--base", "1", "--new", "2").returncode, 2)
                self.assertEqual(sorted(self.folder.rglob("*")), before)
                path.unlink()
                if path.parent != self.folder:
                    path.parent.rmdir()

    def test_build_and_places(self):
        """--build names the build of logs that do not; a folder for each day, build and GPU, whatever their names."""
        self.write_log("plain.jsonl", run_log(self.rand, 1, n=5, run="1-1"))
        self.write_log("odd.jsonl", of_build(self.rand, "../..='\x1b[1m", gpu="a/b 'c' \"é\""))
        self.ingest("--build", "1.2", "plain.jsonl", "odd.jsonl")
        self.assertEqual({str(path.parent.relative_to(self.folder / "db/values")) for path in self.folder.glob("db/values/**/*.parquet")},
                         {"day=2026-01-02/in_build=1.2/in_gpu=card_0", "day=2026-01-02/in_build=.._.._1m/in_gpu=a_b_c_"})
        self.regress(base="1.2", new="../..='\x1b[1m", status=5)
        self.assertNotIn("\x1b", self.text)

    def test_names(self):
        """Files and folders are what they are called, and no patterns."""
        for name in ("a[1]*/run?.jsonl", "a[1]*/it's \"x\".jsonl"):
            self.write_log(name, of_build(self.rand, "base"))
        self.ok("digest", "a[1]*/run?.jsonl")
        for said in ("2 runs added, 1 there already", "0 runs added, 3 there already"):
            done = self.ok("fleet", "ingest", "--db", "d[b]*", "a[1]*")
            self.assertIn(said, done.stdout.decode())

    def test_usage(self):
        for words in (["fleet"], ["fleet", "ingest", "--db", "db"], ["fleet", "other", "--db", "db"], ["fleet", "ingest", "a.jsonl"],
                      ["fleet", "regress", "--db", "db", "--base", "1"]):
            self.assertEqual(self.command(*words).returncode, 2, words)
        self.builds(1)
        self.ingest("logs")
        self.regress("--fail-above", "5%", status=4)
        self.assertEqual(self.command("fleet", "regress", "--db", "db", "--base", "base", "--new", "new", "--fail-above", "x").returncode, 2)


if __name__ == "__main__":
    unittest.main()
