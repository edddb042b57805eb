#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/gen_metrics.py: the same data gives the same bytes, lines, groups and variants are read as documented,
and every fault names file and line."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GENERATOR = ROOT / "scripts" / "gen_metrics.py"
DATA = sorted((ROOT / "data" / "metrics").glob("*.txt"))

TOY = """\
# a remark
dialect = arm
layouts = old
clamp = percent
group old = Mali-A, Mali-B
group all = old, Mali C

[one]
name = One
unit = percent
overview = yes
expression = $a /
	$b

[two]
name = Two
unit = 1
expression [old] = $a
expression [Mali C] = $b * 2
printed =
erratum = Why
	not.
"""


def run(texts, *arguments):
    """Exit status, standard output and error; @ in arguments is replaced by the files."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, text in enumerate(texts):
            path = pathlib.Path(folder) / f"f{number}.txt"
            path.write_text(text)
            paths.append(str(path))
        done = subprocess.run([sys.executable, str(GENERATOR), *arguments, *paths],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr.replace(folder + "/", "")


class Reading(unittest.TestCase):
    def test_rows(self):
        status, out, _ = run([TOY], "--list")
        self.assertEqual(status, 0)
        one, first, second = json.loads(out)
        self.assertEqual(one, {
            "key": "one", "name": "One", "unit": "percent", "layouts": "Mali-A,Mali-B",
            "expression": "max(min($a / $b, 100), 0)", "printed": None, "description": None,
            "erratum": None, "dialect": "arm", "overview": True})
        self.assertEqual((first["layouts"], first["expression"]), ("Mali-A,Mali-B", "$a"))
        self.assertEqual((second["layouts"], second["expression"]), ("Mali C", "$b * 2"))
        self.assertEqual((second["printed"], second["erratum"]), ("", "Why not."))
        self.assertFalse(second["overview"])

    def test_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for name in ("a.c", "b.c"):
                path = pathlib.Path(folder) / name
                subprocess.run([sys.executable, str(GENERATOR), str(path), *map(str, DATA)], check=True)
                made.append(path.read_bytes())
        self.assertEqual(made[0], made[1])
        self.assertIn(b"MaliOverdrawFragmentsPixel", made[0])
        self.assertNotIn(b"tmp", made[0])

    def test_c_strings(self):
        """Text that C would read differently is escaped."""
        with tempfile.TemporaryDirectory() as folder:
            data, made = pathlib.Path(folder) / "d.txt", pathlib.Path(folder) / "m.c"
            data.write_text('dialect = arm\n[k]\nname = a "b" \\ c\nunit = 1\nexpression = 1\n')
            subprocess.run([sys.executable, str(GENERATOR), str(made), str(data)], check=True)
            self.assertIn(r'"a \"b\" \\ c"', made.read_text())


class Faults(unittest.TestCase):
    ROWS = (
        ("", "f0.txt:1: say `dialect = `"),
        ("dialect = klingon\n", "f0.txt:1: say `dialect = `"),
        ("dialect = arm\nfoo = 1\n", "f0.txt:2: 'foo' has no place"),
        ("\tx\n", "f0.txt:1: there is no line before"),
        ("dialect = arm\n[k]\nfoo = 1\n", "f0.txt:3: there is no field 'foo'; the fields are name"),
        ("dialect = arm\n[k]\nwhat\n", "f0.txt:3: expected `field = value`"),
        ("dialect = arm\n[k l]\n", "f0.txt:2: a block begins with [KEY]"),
        ("dialect = arm\n[k]\nunit = 1\nexpression = 1\n", "f0.txt:2: [k] has no name"),
        ("dialect = arm\n[k]\nname = n\nexpression = 1\n", "f0.txt:2: [k] has no unit"),
        ("dialect = arm\n[k]\nname = n\nunit = 1\n", "f0.txt:2: [k] needs either one"),
        ("dialect = arm\n[k]\nname = n\nunit = 1\nexpression =\n", "f0.txt:2: [k] has an empty"),
        ("dialect = arm\n[k]\nname = n\nname = m\n", "f0.txt:4: name was said before"),
        ("dialect = arm\n[k]\nname = n\nunit = 1\nlayouts = nobody\nexpression = 1\n",
         "f0.txt:2: 'nobody' is neither a layout nor a group"),
        ("dialect = arm\n[k]\nname = n\nunit = 1\nlayouts = Mali-A, Mali-A\nexpression = 1\n",
         "f0.txt:2: Mali-A is named twice"),
        ("dialect = arm\n[k]\nname = n\nunit = 1\nlayouts = *\nexpression [Mali-A] = 1\n",
         "f0.txt:2: [k] says its layouts with its expressions"),
        ("dialect = arm\nlayouts = Mali-A\n[k]\nname = n\nunit = 1\nexpression = 1\n"
         "[k]\nname = n\nunit = 1\nlayouts = *\nexpression = 2\n",
         "f0.txt:7: [k] is there already, at f0.txt:3"),
        ("dialect = arm\n[k]\nname = \xe9\n", "'ascii' codec"),
    )

    def test_faults(self):
        for text, want in self.ROWS:
            with self.subTest(want):
                status, out, err = run([text], "--list")
                self.assertEqual((status, out), (1, ""))
                self.assertIn(want, err)

    def test_across_files(self):
        """A key has one meaning in all files."""
        block = "dialect = arm\n[k]\nname = n\nunit = 1\nexpression = 1\n"
        status, _, err = run([block, block], "--list")
        self.assertEqual(status, 1)
        self.assertIn("f1.txt:2: [k] is there already, at f0.txt:2", err)

    def test_usage(self):
        self.assertNotEqual(run([], "--list")[0], 0)


if __name__ == "__main__":
    unittest.main(verbosity=0)
