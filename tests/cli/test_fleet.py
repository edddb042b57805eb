#!/usr/bin/env python3
"""Many logs in DuckDB: the same numbers as passtally report, and a planted slowdown found."""

import json
import os
import random
import shutil
import subprocess
import sys
import unittest

from cli_case import ROOT, A, B, C, CliCase, device, end, frame, header, log_bytes, one_pass, pass_info

FLEET = ROOT / "scripts/fleet/fleet.cjs"
NODE = shutil.which("node")
NO_DUCKDB = 77


def missing():
    """Why the script cannot run here, or None."""
    if not NODE:
        return "node is not installed (nodejs)"
    done = subprocess.run([NODE, "-e", "require('@duckdb/node-api')"], capture_output=True, cwd=FLEET.parent)
    return None if done.returncode == 0 else "DuckDB is not installed: npm install --prefix scripts/fleet"


WHY = missing()
if WHY:
    print(WHY)
    sys.exit(77)


def run_log(rand, factor, n=60, extra=None):
    """One run: a pass in two segments, one that `factor` slows, maybe another."""
    lines = [header(), device(), pass_info(A, "scene/shadow"), pass_info(B, "scene/main"), pass_info(C, "scene/ui")]
    run = rand.gauss(1, 0.005)

    def ns(mean):
        return int(mean * run * rand.gauss(1, 0.05))
    for i in range(n):
        passes = [one_pass(0, A, ns(60000)), one_pass(1, B, ns(200000 * factor)),
                  one_pass(2, A, ns(30000), segment=1)]
        if extra:
            passes.append(one_pass(3, extra, ns(5000)))
        lines.append(frame(i, passes))
    return lines + [end(n, len(passes) * n)]


class Fleet(CliCase):
    def setUp(self):
        super().setUp()
        self.rand = random.Random(5)

    def logs(self, side, runs, factor, **more):
        for i in range(runs):
            self.write_log(f"{side}{i}.jsonl", run_log(self.rand, factor, **more))

    def fleet(self, *args, status=0):
        done = subprocess.run([NODE, str(FLEET), *args], cwd=self.folder, capture_output=True, timeout=120,
                              env=dict(self.env, NODE_PATH=os.environ.get("NODE_PATH", "")))
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done

    def rows(self, *args, **kwargs):
        return {r["label"]: r for r in json.loads(self.fleet("--json", *args, **kwargs).stdout)}

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
        rows = self.rows("--fail-above", "1%", "base*.jsonl", "--", "new*.jsonl", status=1)
        self.assertEqual(rows["scene/main"]["verdict"], "slower")
        self.assertEqual(rows["scene/shadow"]["verdict"], "no change seen")
        self.assertLess(rows["scene/main"]["low_pct"], 5)
        self.assertGreater(rows["scene/main"]["high_pct"], 5)
        for side in ("base", "new"):
            for label in ("scene/main", "scene/shadow"):
                self.assertAlmostEqual(rows[label][f"{side}_ns"] / self.report_mean(side, 6, label), 1, places=9)
        # The limit is not passed for certain.
        self.fleet("--fail-above", "6%", "base*.jsonl", "--", "new*.jsonl")

    def test_equal(self):
        self.logs("base", 6, 1)
        self.logs("new", 6, 1)
        rows = self.rows("--fail-above", "0", "base*.jsonl", "--", "new*.jsonl")
        self.assertEqual({r["verdict"] for r in rows.values()}, {"no change seen"})

    def test_packed_cut_appeared(self):
        """Logs as they lie about: compressed, cut by a crash, with a pass that others lack."""
        self.logs("base", 3, 1)
        self.logs("new", 3, 1, extra=C)
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", "--rm", "base0.jsonl"], cwd=self.folder, check=True)
        path = self.folder / "base1.jsonl"
        path.write_bytes(path.read_bytes()[:-300])
        rows = self.rows("base*", "--", "new*")
        self.assertEqual(rows["scene/ui"]["verdict"], "appeared")
        self.assertEqual((rows["scene/main"]["base_runs"], rows["scene/main"]["new_runs"]), (3, 3))
        rows = self.rows("new*", "--", "base*")
        self.assertEqual(rows["scene/ui"]["verdict"], "vanished")

    def test_tables_stay(self):
        self.logs("base", 2, 1)
        self.logs("new", 2, 1)
        self.fleet("--db", "fleet.db", "base*", "--", "new*")
        ask = ("const d = require('@duckdb/node-api'); (async () => {"
               "const c = await (await d.DuckDBInstance.create('fleet.db')).connect();"
               "for (const t of ['header', 'device', 'pass_info', 'frame', 'note', '\"end\"', 'pass'])"
               "console.log(t, Number((await c.runAndReadAll('select count(*) from ' + t)).getRows()[0][0]));})();")
        env = dict(self.env, NODE_PATH=os.pathsep.join([str(FLEET.parent / "node_modules"),
                                                        os.environ.get("NODE_PATH", "")]))
        done = subprocess.run([NODE, "-e", ask], cwd=self.folder, capture_output=True, env=env, timeout=60)
        self.assertEqual(done.stdout.decode().split("\n")[:7],
                         ["header 4", "device 4", "pass_info 12", "frame 240", "note 0", '"end" 4', "pass 720"])

    def test_refused(self):
        self.logs("base", 1, 1)
        self.write("headless.jsonl", log_bytes(run_log(self.rand, 1)[1:]))
        self.assertIn(b"headless.jsonl: no header", self.fleet("base*", "--", "headless.jsonl", status=3).stderr)
        self.assertIn(b"both sides", self.fleet("base*", status=2).stderr)
        self.assertIn(b"unknown option", self.fleet("--nonsense", status=2).stderr)
        self.assertIn(b"No files found", self.fleet("base*", "--", "none*", status=125).stderr)


if __name__ == "__main__":
    unittest.main()
