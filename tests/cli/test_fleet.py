#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many logs in DuckDB: the same numbers as passtally report, and a planted slowdown found."""

import json
import random
import re
import shutil
import subprocess
import sys
import unittest

from cli_case import ROOT, C, CliCase, header
from made_fleet import mixed_fleet, run_log
from sql_engine import find_duckdb

CONNECT = find_duckdb()
if not CONNECT:
    print("DuckDB is not installed: scripts/deps, where there is npm")
    sys.exit(77)

FLEET = ROOT / "scripts/fleet"


class Fleet(CliCase):
    def setUp(self):
        super().setUp()
        self.rand = random.Random(5)

    def logs(self, side, runs, factor, **more):
        for i in range(runs):
            self.write_log(f"{side}{i}.jsonl", run_log(self.rand, factor, **more))

    def ask(self, base, new, db=":memory:", tags=None):
        """The rows of regress.sql by label, and the connection."""
        con = CONNECT(db)
        con.run(f"SET VARIABLE base_logs = ['{self.folder}/{base}']")
        con.run(f"SET VARIABLE new_logs = ['{self.folder}/{new}']")
        con.run("SET VARIABLE warmup = 0")
        con.run("SET VARIABLE z = 2.5758293035489004")
        if tags:
            con.run(f"SET VARIABLE tags = {tags}")
        con.run((FLEET / "load.sql").read_text(encoding="utf-8"))
        self.rows = con.rows((FLEET / "regress.sql").read_text(encoding="utf-8"))
        return {row["label"]: row for row in self.rows if row["gpu"] != "(pooled)"}, con

    def report_mean(self, side, runs, label):
        means = []
        for i in range(runs):
            report = json.loads(self.ok("report", "--json", f"{side}{i}.jsonl").stdout)["reports"][0]
            row = [p for p in report["rows"] if p["label"] == label][0]
            means.append(row["values"]["gpu_ns"]["mean"])
        return sum(means) / len(means)

    def test_slowdown(self):
        self.logs("base", 6, 1)
        self.logs("new", 6, 1.05)
        rows, _ = self.ask("base*.jsonl", "new*.jsonl")
        self.assertEqual(rows["scene/main"]["verdict"], "slower")
        self.assertEqual(rows["scene/shadow"]["verdict"], "no change seen")
        self.assertTrue(1 < rows["scene/main"]["low_pct"] < 5 < rows["scene/main"]["high_pct"])
        for side in ("base", "new"):
            for label in ("scene/main", "scene/shadow"):
                self.assertAlmostEqual(rows[label][f"{side}_ns"] / self.report_mean(side, 6, label), 1, places=9)

    def test_equal(self):
        self.logs("base", 6, 1)
        self.logs("new", 6, 1)
        rows, _ = self.ask("base*.jsonl", "new*.jsonl")
        self.assertEqual({r["verdict"] for r in rows.values()}, {"no change seen"})

    def test_packed_cut_appeared(self):
        """Logs as they occur: compressed, cut by a crash, with a pass that others lack."""
        self.logs("base", 3, 1)
        self.logs("new", 3, 1, extra=C)
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", "--rm", "base0.jsonl"], cwd=self.folder, check=True)
        path = self.folder / "base1.jsonl"
        path.write_bytes(path.read_bytes()[:-300])
        rows, _ = self.ask("base*", "new*")
        self.assertEqual(rows["scene/ui"]["verdict"], "appeared")
        self.assertEqual((rows["scene/main"]["base_runs"], rows["scene/main"]["new_runs"]), (3, 3))
        rows, _ = self.ask("new*", "base*")
        self.assertEqual(rows["scene/ui"]["verdict"], "vanished")

    def mixed(self, slow):
        for name, lines in mixed_fleet(self.rand, slow):
            self.write_log(name, lines)
        self.ask("base*", "new*")
        return {(row["gpu"], row["name"]): row["verdict"] for row in self.rows}

    def test_mixed_fleet(self):
        """One build on 30 fast and 10 slow GPUs, then on 10 and 30."""
        verdicts = self.mixed(1)
        self.assertEqual(set(verdicts.values()), {"no change seen"})
        self.assertEqual({gpu for gpu, _ in verdicts}, {"fast", "slow", "(pooled)"})
        verdicts = self.mixed(1.05)
        self.assertEqual((verdicts["slow", "scene/main"], verdicts["fast", "scene/main"]), ("slower", "no change seen"))

    def test_tags(self):
        """Within the tags that are named; no tags, and a variable that was never set, mean one stratum."""
        for scene, order, speed in (("docks", (4, 2), 1), ("hall", (2, 4), 3)):
            for side, runs in zip(("base", "new"), order):
                self.logs(f"{side}{scene}", runs, 1, speed=speed, n=20, tags={"scene": scene})
        for tags, found in (("['scene']", {"scene=docks", "scene=hall"}), ("[]", {""}), (None, {""})):
            with self.subTest(tags):
                self.ask("base*", "new*", tags=tags)
                rows = [row for row in self.rows if row["gpu"] != "(pooled)"]
                self.assertEqual({row["tags"] for row in rows}, found)
                if tags == "['scene']":
                    self.assertEqual({row["verdict"] for row in rows}, {"no change seen"})

    def test_nothing_in_common(self):
        for side, gpu in (("base", "fast"), ("new", "slow")):
            for i in range(3):
                self.write_log(f"{side}{i}.jsonl", run_log(self.rand, 1, n=20, gpu=gpu))
        self.ask("base*", "new*")
        self.assertEqual({row["verdict"] for row in self.rows},
                         {"no verdict: only the base ran on this", "no verdict: only the new ran on this"})

    def test_adds_and_counts_once(self):
        self.logs("base", 2, 1)
        self.logs("new", 2, 1)
        (self.folder / "newfoul.jsonl").write_text('{"a":1}\n', encoding="utf-8")
        self.write_log("newtwo.jsonl", [header(schema="passtally/2")])
        db = str(self.folder / "fleet.db")
        for more in (0, 1):
            if more:
                self.write_log("new7.jsonl", run_log(self.rand, 1, run="11111111-1111-4111-8111-111111111111"))
                self.write_log("new8.jsonl", run_log(self.rand, 1, run="11111111-1111-4111-8111-111111111111"))
            _, con = self.ask("base*", "new*", db)
            count = con.rows("SELECT count(*) AS n FROM header")[0]["n"]
            self.assertEqual(count, 4 + more)
            left_out = con.rows("SELECT log, why FROM left_out WHERE log LIKE '%newfoul%' OR log LIKE '%newtwo%'")
            self.assertEqual({row["why"] for row in left_out}, {"no header of a log of passtally", "schema passtally/2"})
            con.close()

    def test_page(self):
        """The statements of docs/fleet.md, as printed."""
        page = (ROOT / "docs/fleet.md").read_text(encoding="utf-8")
        sets = re.findall(r"^SET VARIABLE .*$", page, re.MULTILINE)
        self.assertEqual(len(sets), 5)
        for folder, factor in (("before", 1), ("after", 1.2)):
            (self.folder / folder).mkdir()
            for i in range(3):
                self.write_log(f"{folder}/{i}.jsonl", run_log(self.rand, factor, n=20, tags={"scene": "docks"}))
        con = CONNECT(":memory:")
        for text in sets:
            con.run(text.replace("['before/", f"['{self.folder}/before/").replace("['after/", f"['{self.folder}/after/")
                    .replace(".jsonl.zst", ".jsonl"))
        con.run((FLEET / "load.sql").read_text(encoding="utf-8"))
        rows = con.rows((FLEET / "regress.sql").read_text(encoding="utf-8"))
        self.assertEqual({(row["name"], row["tags"]): row["verdict"] for row in rows},
                         {("scene/main", "scene=docks"): "slower", ("scene/shadow", "scene=docks"): "no change seen"})

    def test_tables(self):
        self.logs("base", 2, 1)
        self.logs("new", 2, 1)
        _, con = self.ask("base*", "new*")
        tables = {"header": 4, "device": 4, "pass_info": 12, "frame": 240, "note": 0, '"end"': 4, "pass": 720}
        self.assertEqual(con.rows("SELECT current_setting('memory_limit') AS most"), [{"most": "1.8 GiB"}])
        self.assertEqual({t: con.rows(f"SELECT count(*) AS n FROM {t}")[0]["n"] for t in tables}, tables)


if __name__ == "__main__":
    unittest.main()
