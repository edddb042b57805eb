"""scripts/check_style.py must find what is planted and leave alone what is allowed."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_style.py"


def function(lines):
    return "static void\nf(void)\n{\n" + "\tg();\n" * lines + "}\n"


HEADER = "/* layer/a.h - what it is for.\n *\n * Any thread.\n */\n"

CASES = [
    ("a function at the limit", "layer/a.c", function(100), ""),
    ("a function over it", "layer/a.c", "\n" + function(101), "layer/a.c:4: a function of 101 lines"),
    ("two short ones are not one long one", "layer/a.c", function(60) + function(60), ""),
    ("a table is no function", "layer/a.c", "static int t[] = {\n" + "\t1,\n" * 200 + "};\n", ""),
    ("a line at the limit", "layer/a.c", "/*" + "x" * 96 + "*/\n", ""),
    ("a line over it", "layer/a.c", "/*" + "x" * 97 + "*/\n", "layer/a.c:1: 101 columns"),
    ("a tab counts eight", "layer/a.c", "\t\t/*" + "x" * 81 + "*/\n", "101 columns"),
    ("blanks at the end", "layer/a.c", "int x; \n", "layer/a.c:1: blanks"),
    ("spaces for a tab", "layer/a.c", "void\nf(void)\n{\n        g();\n}\n", "layer/a.c:4: indented"),
    ("unfinished", "cli/a.c", "/* TO" "DO: think */\n", "an unfinished mark"),
    ("a header with a word on it", "layer/a.h", HEADER, ""),
    ("a header without", "layer/a.h", "#ifndef A_H\n#endif\n", "layer/a.h:1: a header opens"),
    ("a file of ours", "layer/a.c", "/* see layer/a.c */\n", ""),
    ("one that is gone", "layer/a.c", "\n/* see layer/b.h */\n", "layer/a.c:2: names layer/b.h"),
    ("in a document", "docs/a.md", "`cli/b.c`\n", "docs/a.md:1: names cli/b.c"),
    ("not ours", "layer/a.c", "/* linux/drivers/gpu/layer/b.h */\n", ""),
    ("tests count too", "tests/unit/a.c", function(101), "a function of 101"),
]


def check(root):
    return subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True,
                          check=False)


class Style(unittest.TestCase):
    def test_cases(self):
        for what, name, text, want in CASES:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True)
                path.write_text(text, encoding="utf-8")
                if path.suffix == ".md":
                    pathlib.Path(folder, "layer").mkdir()
                    pathlib.Path(folder, "layer", "c.c").write_text("", encoding="utf-8")
                done = check(folder)
                self.assertEqual(done.returncode, 1 if want else 0, done.stdout + done.stderr)
                self.assertIn(want, done.stdout)

    def test_nothing_there(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check(folder).returncode, 2)

    def test_this_tree(self):
        done = check(ROOT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
