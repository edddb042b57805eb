# SPDX-License-Identifier: MIT
"""scripts/check_docs.py must find each of the faults that it looks for, planted in a small tree; this tree has none."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_docs.py"
PICTURE = "```\n ├─ cli/   the command\n    ├─ log/ top/   reads\n ▼\n json/   lines\n    │  run.jsonl\n```\n"

# What is tried, the files that differ from those of a good tree, what is found.
CASES = [
    ("nothing", {}, []),
    ("too many words", {"docs/a.md": "word " * 40000}, ["40013 words"]),
    ("marks of tables are no words", {"docs/a.md": "| - | -- |\n" * 40000}, []),
    ("a long README", {"README.md": "| `cli/` | |\n| `docs/` | |\n| `json/` | |\n| `tests/` | |\n" + "\n" * 200}, ["README.md has 204 lines"]),
    ("a long CHANGELOG", {"CHANGELOG.md": "\n" * 31}, ["CHANGELOG.md has 31 lines"]),
    ("a long page on compare", {"docs/compare.md": "\n" * 151}, ["docs/compare.md has 151 lines"]),
    ("a folder of tests without a row", {"tests/new/x.c": ""}, ["tests/README.md has no row for new/"]),
    ("a folder without a row", {"data/x": ""}, ["no row for data/"]),
    ("a folder that is not shown", {"cli/new/a.c": ""}, ["does not show cli/new/"]),
    ("a folder that is gone", {"docs/design.md": PICTURE.replace("log/", "log/ old/")}, ["shows cli/old/"]),
]


class CheckDocs(unittest.TestCase):
    def run_on(self, root):
        done = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True, check=False)
        *findings, last = done.stdout.splitlines()
        self.assertEqual((last, done.returncode), (f"check_docs: {len(findings)} findings", 1 if findings else 0), done.stderr)
        return findings

    def test_cases(self):
        for what, files, wanted in CASES:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                good = {"README.md": "| `cli/` | |\n| `docs/` | |\n| `json/` | |\n| `tests/` | |\n", "CHANGELOG.md": "", "CONTRIBUTING.md": "",
                        "tests/README.md": "", "docs/compare.md": "",
                        "docs/design.md": PICTURE, "cli/log/a.c": "", "cli/top/a.c": "", "json/a.c": ""}
                for name, text in {**good, **files}.items():
                    path = pathlib.Path(folder) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
                findings = self.run_on(folder)
                self.assertEqual(len(findings), len(wanted), findings)
                for finding, want in zip(findings, wanted):
                    self.assertIn(want, finding)

    def test_this_tree(self):
        self.assertEqual(self.run_on(ROOT), [])


if __name__ == "__main__":
    unittest.main()
