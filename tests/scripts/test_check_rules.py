# SPDX-License-Identifier: MIT
"""scripts/check_rules.py must find a rule that no page has, and nothing that only looks like one; this tree has none."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_rules.py"

# What is tried, the file, its text, how many findings.
CASES = [
    ("a rule of the page", "vk_layer/a.c", "/* Reset by the host (R1). */", 0),
    ("one that is not there", "vk_layer/a.c", "/* Reset by the host (R9). */", 1),
    ("a range", "vk_layer/a.c", "/* (R1-R3) */", 1),
    ("in front of a test", "tests/unit/test_vk_a.c", "/* R9: two queues */", 1),
    ("in a line comment", "vk_layer/a.c", "// see R9\n", 1),
    ("in code, a name", "vk_layer/a.c", "int R9;", 0),
    ("a format", "vk_layer/a.c", "/* R8G8B8A8, GL_R9, R11F */", 0),
    ("OpenGL's", "gl_shim/a.c", "/* (G2) (G1) */", 1),
    ("a Mali", "query/mali/a.c", "/* Mali-G71, G72 and G76 */", 0),
    ("a document that is not in the tree", "layer/a.h", "/* FACTS 3.4 */", 1),
]


class CheckRules(unittest.TestCase):
    def test_cases(self):
        for what, name, text, wanted in CASES:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                for page, rows in (("vulkan", "| R1 | a |\n| R2 | b |\n"), ("gl", "| G1 | c |\n")):
                    (root / "docs").mkdir(exist_ok=True)
                    (root / "docs" / f"rules-{page}.md").write_text(rows, encoding="utf-8")
                (root / name).parent.mkdir(parents=True)
                (root / name).write_text(text, encoding="utf-8")
                run = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=False)
                self.assertEqual(run.stdout.splitlines()[-1], f"{wanted} findings")
                self.assertEqual(run.returncode, 1 if wanted else 0)

    def test_this_tree(self):
        run = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
        self.assertEqual(run.stdout, "0 findings\n")


if __name__ == "__main__":
    unittest.main()
