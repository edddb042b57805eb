#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally digest: all of a log but its frames, with the same statistics and quantiles within the stated error."""

import json
import random
import sys
import unittest

from cli_case import ROOT, A, B, CliCase, simple_log
from made_fleet import run_log

sys.path.insert(0, str(ROOT / "scripts/python"))
import passtally  # pylint: disable=wrong-import-position


class Digest(CliCase):
    def digest(self, lines, name="a"):
        self.write_log(f"{name}.jsonl", lines)
        self.assertEqual(self.ok("digest", f"{name}.jsonl").stdout.decode(), f"{name}.digest.jsonl\n")
        return self.rows(self.folder / f"{name}.digest.jsonl")

    @staticmethod
    def rows(path):
        columns = passtally.statistics(path)
        return {(ident, key): {name: column[row] for name, column in columns.items()}
                for row, (ident, key) in enumerate(zip(columns["id"], columns["key"]))}

    def test_values(self):
        """Means and deviations as report has them from the frames, quantiles to 1 in 128."""
        for spread, name in ((0.05, "narrow"), (2, "wide")):
            rand = random.Random(7)
            lines = simple_log(3000)
            values = {A: [], B: []}
            for line in lines:
                for item in line.get("passes", ()) if line["type"] == "frame" else ():
                    item["gpu_ns"] = int(1e6 * rand.lognormvariate(0, spread))
                    values[item["id"]].append(item["gpu_ns"])
            found = self.digest(lines, name)
            report = json.loads(self.ok("report", "--json", "--warmup", "0", f"{name}.jsonl").stdout)["reports"][0]
            for row in report["rows"]:
                with self.subTest(name, id=row["id"]):
                    mine, theirs = found[row["id"], "gpu_ns"], row["values"]["gpu_ns"]
                    self.assertEqual([mine[key] for key in ("n", "mean", "sd_sample", "sd_population", "min", "max")],
                                     [theirs[key] for key in ("n", "mean", "sd", "sd_population", "min", "max")])
                    ordered = sorted(values[row["id"]])
                    for q in (0.01, 0.25, 0.5, 0.9, 0.99, 0.999):
                        exact = ordered[max(0, -int(-q * len(ordered) // 1) - 1)]
                        self.assertLessEqual(abs(passtally.quantile(mine["spread"], q) / exact - 1), mine["spread_error"])
            self.assertEqual(found["0" * 16, "cpu_ns"]["mean"], 16000000)

    def test_smaller(self):
        self.digest(run_log(random.Random(1), 1, n=2000))
        size = (self.folder / "a.digest.jsonl").stat().st_size
        self.assertLess(size, 8192)
        self.assertIn(b"ok, the digest of 2000 frames, 6000 passes", self.ok("check", "a.digest.jsonl").stdout)

    def test_cut_log(self):
        whole = self.digest(simple_log(100)[:-1] + [{"type": "note", "level": "info", "message": "x" * 400}], "cut")
        path = self.folder / "half.jsonl"
        path.write_bytes((self.folder / "cut.jsonl").read_bytes()[:-200])
        self.ok("digest", path)
        self.assertEqual(self.rows(self.folder / "half.digest.jsonl"), whole)
        self.assertIn(b'"reason":"cut"', (self.folder / "half.digest.jsonl").read_bytes())

    def test_standard_output(self):
        """-o - and a log from standard input give the digest there, and leave no file."""
        rows = self.digest(simple_log())
        log = (self.folder / "a.jsonl").read_bytes()
        before = sorted(self.folder.iterdir())
        for words, given in ((("-o", "-", "a.jsonl"), b""), (("-",), log), (("-o", "-", "-"), log)):
            with self.subTest(words):
                written = self.ok("digest", *words, input=given).stdout
                self.assertEqual(self.rows(self.write("b.jsonl", written)), rows)
                (self.folder / "b.jsonl").unlink()
                self.assertEqual((sorted(self.folder.iterdir()), list((self.folder / "tmp").iterdir())), (before, []))
        done = self.command("digest", "-o", "-", "a.digest.jsonl")
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_refused(self):
        self.digest(simple_log())
        data = (self.folder / "a.digest.jsonl").read_bytes()
        self.write("half.jsonl", data[:-10])
        self.write("lines.jsonl", data[:data.rindex(b'{"type":"end"')])
        self.write("bad.jsonl", (self.folder / "a.jsonl").read_bytes().replace(b'"frame":5', b'"frame":"'))
        for status, message, *words in (
                (3, "a digest, which has no frames to show: passtally check, fleet ingest and the module passtally.py", "report", "a.digest.jsonl"),
                (3, "a digest, which has no frames", "compare", "a.jsonl", "a.digest.jsonl"),
                (3, "a digest, which has no frames", "export", "--csv", "x.csv", "a.digest.jsonl"),
                (3, "a digest whose end is cut", "check", "half.jsonl"),
                (3, "a digest whose end is cut", "check", "lines.jsonl"),
                (2, "is a digest already", "digest", "a.digest.jsonl"),
                (2, "a.jsonl is the log itself", "digest", "--force", "-o", "a.jsonl", "a.jsonl"),
                (2, "is already there. Give --force to replace it, or another name by -o PATH", "digest", "a.jsonl"),
                (3, "bad.jsonl:", "digest", "bad.jsonl")):
            with self.subTest(words):
                done = self.command(*words)
                self.assertEqual((done.returncode, message in done.stderr.decode()), (status, True), done.stderr)
        self.assertEqual(list(self.folder.glob("*.digest.digest.jsonl")) + list(self.folder.glob("bad.digest*")), [])


if __name__ == "__main__":
    unittest.main()
