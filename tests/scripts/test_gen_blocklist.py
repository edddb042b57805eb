# SPDX-License-Identifier: MIT
"""scripts/gen_blocklist.py: the order of the table, and every fault named with its line."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "gen_blocklist.py"

CASES = [
    ("[a]\nname\n", "in:2: a pattern without a reason"),
    ("[a]\nname why\nNAME why\n", "in:3: name stands in line 2 already"),
    ("name why\n", "in:1: stands before the first [group]"),
    ("[a]\n*? why\n", "in:2: *? would leave every program alone"),
    ("[a]\nbin/x why\n", "in:2: bin/x: a base name has no slash"),
    ("[a]\na+b why\n", "in:2: a+b: a base name has no slash, and + and , part lists"),
    ('[a]\nx "why"\n', "in:2: only printable ASCII"),
    ("# nothing\n", "in: holds no pattern"),
]


class Blocklist(unittest.TestCase):
    def run_on(self, text):
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, "in"), pathlib.Path(folder, "out")
            source.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, str(SCRIPT), str(source), str(target)],
                                  capture_output=True, text=True, check=False)
            return done, target.read_text(encoding="utf-8") if target.exists() else None

    def test_order(self):
        done, text = self.run_on("# c\n[g]\n--type=x  an argument\nb*  a glob\nZed\tz of z\na-b dash\naB under\n\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [line.strip() for line in text.split("\n") if line.startswith("\t")]
        self.assertEqual(rows, ['{ "a-b", "dash", "g" },', '{ "ab", "under", "g" },', '{ "zed", "z of z", "g" },',
                                '{ "b*", "a glob", "g" },', '{ "--type=x", "an argument", "g" },'])
        for name, count in (("names", 3), ("globs", 1), ("arguments", 1)):
            self.assertIn(f"tally_blocklist_{name} = {count};", text)

    def test_faults(self):
        for text, fault in CASES:
            with self.subTest(fault):
                done, out = self.run_on(text)
                self.assertEqual((done.returncode, out), (1, None))
                self.assertIn(fault, done.stderr)


if __name__ == "__main__":
    unittest.main()
